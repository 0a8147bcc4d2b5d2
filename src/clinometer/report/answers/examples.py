"""A few prompts and answers per stereotype, read without loading all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import polars as pl

from clinometer.report.answers.results import AnswerResults
from clinometer.report.markdown import is_markdown
from clinometer.report.plan import InstrumentFacts, PlanFacts
from clinometer.report.prose import MEANINGS, number, rank
from clinometer.report.sections import Exchange, Piece, Quote, Section
from clinometer.results import CONDITIONS
from clinometer.results.logprobs import as_asked

__all__ = ["Example", "example_section", "examples", "passages"]

#: Up to this many groups of answers (model × mode × stereotype …), each shows all it should.
MOST_GROUPS = 400
#: Above this many, each stereotype of an instrument shows one model and mode, the next another.
MOST_SHOWN = 600
#: Answers shown of each group: with a score, of which very many groups show one, and without.
SCORED, UNSCORED = 2, 1
#: Characters of an answer shown at a stretch; the rest stays in responses.parquet.
LONGEST = 1500
#: Characters shown of the opening, and around a passage, where passages are marked further on.
OPENING, AROUND = 500, 300
#: Characters of an answer that are searched for passages.
_SEARCHED = 40_000

#: Each combination of these has its examples; of very many, only one of the second few.
_GROUP = ["study", "model", "mode", *CONDITIONS, "instrument", "stereotype"]
_WITHIN = ["dimension", "version"]
_KEYS = ["study", "model", "mode", *CONDITIONS, "stereotype", "trial_id"]
#: What is shown of how an answer was read.
_READ = (
    *("instrument", "dimension", "version", "object", "outcome"),
    *("score", "reason", "coverage", "span", "margin", "conflict"),
)
_ASKED = {
    "system": "System prompt",
    "prompt": "Prompt",
    "profile": "First answer",
    "followup": "Second prompt",
}


_MARKED = " The passage in which an answer was read is marked."


@dataclass(frozen=True)
class Example:
    """One prompt, its answer and what became of it."""

    study: str
    stereotype: str
    about: str
    shown: Exchange
    by_word: bool  # whether the prompt was asked once for each word

    def prompt(self, plan: PlanFacts) -> Quote:
        """Quote the prompt, under the label of its stereotype."""
        (label,) = plan.labels([(self.study, self.stereotype)])
        asked = next(quote for quote in self.shown.quotes if quote.label.startswith("Prompt"))
        return Quote(f"One of the prompts ({label}; {self.about})", asked.pieces)


def examples(results: AnswerResults) -> list[Example]:
    """Pick the first few trials of each stereotype, dimension, instrument, mode and model.

    Result: in the order of the plan; an answer with several scores once. Only ids are read to
        choose, then only the chosen texts.
    """
    if results.responses is None or results.scores is None:
        return []
    chosen = _chosen(results.scores)
    ids = pl.col("trial_id").is_in(chosen["trial_id"].unique().implode())
    marks = results.scores.select(*_KEYS, *_READ).filter(ids)
    readings = (
        marks.join(chosen.lazy(), on=_KEYS, how="semi", nulls_equal=True)
        .group_by(_KEYS)
        .agg(pl.struct(pl.all().exclude(_KEYS)).alias("readings"))
    )
    texts = results.responses.select(
        *_KEYS,
        "variation",
        "system",
        "options",
        pl.col("prompt", "profile", "followup").str.slice(0, 4 * LONGEST),
        pl.col("response").str.slice(0, _SEARCHED),
        pl.col("response").str.len_chars().alias("length"),
    ).filter(ids)
    rows = (
        texts.join(readings, on=_KEYS, how="inner", nulls_equal=True)
        .sort("model", "mode", *CONDITIONS, "trial_id")
        .collect(engine="streaming")
    )
    shown = [_example(row, results.plan.of(row["study"])) for row in rows.iter_rows(named=True)]
    studies = [results.plan.study, *results.plan.studies]
    listed = {e.study: list(results.plan.of(e.study).stereotypes) for e in shown}
    return sorted(
        shown,
        key=lambda e: (
            *(rank(e.study, studies), e.study),
            *(rank(e.stereotype, listed[e.study]), e.stereotype),
        ),
    )


def example_section(
    picked: Sequence[Example], plan: PlanFacts, *, dimensions: bool
) -> Section | None:
    """Show examples under the labels of their stereotypes; None where there are none.

    `dimensions`: whether these results have dimensions.
    """
    if not picked:
        return None
    parts = [(of, list(part)) for of, part in groupby(picked, lambda e: (e.study, e.stereotype))]
    labels = plan.labels([of for of, _ in parts])
    return Section(
        key="examples",
        title="Prompts and answers",
        text=(
            f"For each stereotype, {'dimension, ' * dimensions}model and mode, the first answers "
            "with a score and the first without one, by trial id. Control characters are shown by "
            "their signs or numbers."
            f"{_MARKED * any(map(_has_mark, picked))} Of very many "
            "answers a few are shown; clinometer show has all. The words are stimuli of the study, "
            "not statements of its authors or of this tool.",
        ),
        examples=tuple(
            (f"{label} ({len(part)})", tuple(one.shown for one in part))
            for label, (_, part) in zip(labels, parts, strict=True)
        ),
    )


def _has_mark(one: Example) -> bool:
    """Whether a passage of an answer is marked."""
    return any(piece.kind == "mark" for quote in one.shown.quotes for piece in quote.pieces)


def _chosen(scores: pl.LazyFrame) -> pl.DataFrame:
    """Choose the keys of the answers to show."""
    has, trials = pl.col("score").is_not_null(), pl.col("trial_id")
    picked = (
        scores.group_by(*_GROUP, *_WITHIN)
        .agg(
            trials.filter(has).sort().head(SCORED).alias("scored"),
            trials.filter(~has).sort().head(UNSCORED).alias("unscored"),
        )
        .sort(*_GROUP, *_WITHIN)
        .collect(engine="streaming")
    )
    if picked.height > MOST_GROUPS:
        # One model shows one dimension or group, the next the next.
        turn = pl.col("model").rank("dense") + pl.col("stereotype").rank("dense")
        ranked = picked.with_columns(turn=turn.fill_null(0).cast(pl.Int64))
        mine = pl.int_range(pl.len()).over(_GROUP) == pl.col("turn") % pl.len().over(_GROUP)
        picked = ranked.filter(mine).with_columns(pl.col("scored").list.head(1))
    if picked.height > MOST_SHOWN:
        each = ("study", "instrument", "stereotype")
        picked = picked.filter(
            pl.int_range(pl.len()).over(each) == pl.col("turn") % pl.len().over(each)
        )
    both = pl.concat_list("scored", "unscored").alias("trial_id")
    return picked.select(*_GROUP, both).explode("trial_id").drop_nulls("trial_id").select(_KEYS)


def _example(row: Mapping[str, Any], plan: PlanFacts) -> Example:
    order = list(plan.instruments)
    marks = sorted(row["readings"], key=lambda mark: rank(mark["instrument"], order))
    several = len(marks) > 1
    pieces, is_marked = passages(row["response"] or "", [mark["span"] or "" for mark in marks])
    pairs = list(zip(marks, is_marked, strict=True))
    titles = [plan.measure(mark["instrument"]).title for mark in marks]
    outcomes = [_outcome(mark, marked=marked) for mark, marked in pairs]
    excerpts = [mark["span"] for mark, marked in pairs if mark["span"] and not marked]
    by_word = "{attribute}" in (row["prompt"] or "")
    labels, answered = _ASKED, "Second answer" if row["profile"] else "Answer"
    if "{option}" in (row["prompt"] or ""):
        labels = _ASKED | {"prompt": "Prompt, a sentence read to its end with each word"}
        answered = "Log-probabilities read: marginalized, default"
        row = {**row, "prompt": as_asked(row["prompt"], row["options"])}
    elif by_word:
        labels = _ASKED | {"prompt": "Prompt, asked for each word"}
        answered = "Log-probabilities read: marginalized, default"
    about = _about(row, marks[0], plan, "" if several else titles[0])
    exchange = Exchange(
        about=about if several else f"{about} — {outcomes[0]}",
        quotes=(
            *(
                Quote.whole(label, row[key] or "", markdown=key == "profile")
                for key, label in labels.items()
                if row[key] or key == "prompt"
            ),
            Quote(answered, tuple(pieces), markdown=is_markdown(row["response"] or "")),
            *(Quote.whole("Passage read", text[:LONGEST], excerpt=True) for text in excerpts),
        ),
        readings=tuple(f"{t}: {o}" for t, o in zip(titles, outcomes, strict=True) if several),
        note=_left_out(row["length"] or 0, pieces),
    )
    return Example(row["study"] or "", row["stereotype"], about, exchange, by_word)


def _about(row: Mapping[str, Any], mark: Mapping[str, Any], plan: PlanFacts, measure: str) -> str:
    """Say who was asked in which way, and what else the prompt was about."""
    facts = plan.facts.get(mark["instrument"], InstrumentFacts())
    details = (
        row["model"],
        row["mode"],
        *(row[name] for name in CONDITIONS if row[name] != "none"),
        measure if len(plan.instruments) > 1 else None,
        row["variation"],
        plan.dimension(mark["dimension"]) if mark["dimension"] else None,
        facts.versions.get(mark["version"] or ""),
        mark["object"],
    )
    return " · ".join(filter(None, details))


def _left_out(length: int, pieces: Sequence[Piece]) -> str:
    """Say how much of an answer of this length is not shown; empty where all of it is."""
    left = length - sum(len(piece.text) for piece in pieces if piece.kind != "gap")
    if left <= 0:
        return ""
    if len(pieces) == 1:
        return f"The first {len(pieces[0].text)} characters; {left} more are in responses.parquet."
    return f"{left} more characters are in responses.parquet."


def _outcome(mark: Mapping[str, Any], *, marked: bool) -> str:
    """Say what was made of the answer, and by what evidence."""
    evidence = []
    if mark["score"] is not None:
        coverage = mark["coverage"]
        part = f", coverage {number(coverage)}" if coverage is not None and coverage < 1 else ""
        evidence += [mark["outcome"], f"score {number(mark['score'])}{part}"]
    else:
        reason = mark["reason"] or "not scored"
        meaning = f" ({MEANINGS[reason]})" if reason in MEANINGS else ""
        evidence.append(f"no score: {reason.replace('_', ' ')}{meaning}")
    if mark["span"]:
        evidence.append(f"read in the {'marked passage' if marked else 'passage quoted'}")
    if mark["score"] is not None and mark["margin"] is not None:
        evidence.append(f"evidence agrees {number(mark['margin'])}")
    if mark["conflict"]:
        evidence.append("conflicting evidence")
    return "; ".join(filter(None, evidence))


def passages(text: str, spans: Sequence[str]) -> tuple[list[Piece], list[bool]]:
    """Cut an answer into pieces, and mark the passages in which something was read.

    Result: the opening of the answer and the surroundings of passages further on; for each of
        `spans` whether it is marked, which an empty one, or one not in the answer, is not.

    >>> pieces, marked = passages("Ben, then Julia.", ["Julia", "Anna"])
    >>> [(piece.kind, piece.text) for piece in pieces], marked
    ([('text', 'Ben, then '), ('mark', 'Julia'), ('text', '.')], [True, False])
    """
    places = [_position(text, span) for span in spans]
    marks = [place for place in places if place]
    opening = OPENING if len(text) > LONGEST and marks else LONGEST
    shown = [(0, opening), *((start - AROUND, end + AROUND) for start, end in marks)]
    cuts = {min(max(cut, 0), len(text)) for stretch in (*marks, *shown) for cut in stretch}

    def kind(stretch: tuple[int, int]) -> str:
        at = stretch[0]
        if any(start <= at < end for start, end in marks):
            return "mark"
        return "text" if any(start <= at < end for start, end in shown) else "gap"

    pieces = []
    for name, alike in groupby(pairwise(sorted(cuts)), kind):
        stretches = list(alike)
        start, end = stretches[0][0], stretches[-1][1]
        left_out = f"{end - start:,} characters left out"
        pieces.append(Piece(name, left_out if name == "gap" else text[start:end]))
    return pieces, [place is not None for place in places]


def _position(text: str, span: str) -> tuple[int, int] | None:
    """Find the last occurrence, for decisions close an answer; none of an endless passage."""
    if not span.strip() or len(span) > LONGEST:
        return None
    start = text.rfind(span)
    return None if start < 0 else (start, start + len(span))
