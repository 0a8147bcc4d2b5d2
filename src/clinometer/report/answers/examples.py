"""A few prompts and answers per stereotype, read without loading all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import polars as pl

from clinometer.numbers import number
from clinometer.pieces.frames import rank
from clinometer.pieces.markdown import is_markdown
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import InstrumentFacts, PlanFacts
from clinometer.pieces.prose import MEANINGS
from clinometer.pieces.sections import Exchange, Piece, Quote, Section
from clinometer.pieces.views import AnswerResults
from clinometer.results import CONDITIONS
from clinometer.results.logprobs import readable_prompt

#: Up to this many groups of answers (model × mode × stereotype …), each shows all it should.
MOST_GROUPS = 400
#: Above this many, each stereotype of an instrument shows one model and mode, the next another.
MOST_EXAMPLES = 600
#: Answers shown of each group: with a score, of which very many groups show one, and without.
SCORED, UNSCORED = 2, 1
#: Characters of an answer shown at a stretch; the rest stays in responses.parquet.
LONGEST = 1500
#: Characters shown of the opening, and around a passage, where passages are marked further on.
OPENING, AROUND = 500, 300
#: Characters of an answer that are searched for passages.
_SEARCHED = 40_000

#: Each combination of these has its examples; of very many, a group shows one combination of the
#: second few.
_GROUP = ["study", "model", "mode", *CONDITIONS, "instrument", "stereotype"]
_WITHIN = ["dimension", "version"]
_KEYS = ["study", "model", "mode", *CONDITIONS, "stereotype", "trial_id"]
#: What is shown of how an answer was read.
_READING = (
    "instrument",
    "dimension",
    "version",
    "object",
    "outcome",
    "score",
    "reason",
    "coverage",
    "span",
    "margin",
    "conflict",
)
#: Column of the responses → the label of what it quotes.
_LABELS = {
    "system": "System prompt",
    "prompt": "Prompt",
    "profile": "First answer",
    "followup": "Second prompt",
}
#: Label of the answer where each word of a trial was asked for, and probabilities were read.
_LOG_PROBABILITIES = "Log-probabilities read: marginalized, default"


@dataclass(frozen=True)
class ExampleAnswer:
    """One prompt, its answer and what became of it."""

    study: str
    stereotype: str
    about: str
    exchange: Exchange
    by_word: bool  # whether the prompt was asked once for each word

    def prompt(self, plan: PlanFacts) -> Quote:
        """Quote the prompt, under the label of its stereotype."""
        label = plan.for_study(self.study).labels[self.stereotype]
        prompt = next(quote for quote in self.exchange.quotes if quote.label.startswith("Prompt"))
        return Quote(f"One of the prompts ({label}; {self.about})", prompt.pieces)


def examples(answers: AnswerResults) -> list[ExampleAnswer]:
    """Pick the first few trials of each stereotype, dimension, instrument, mode and model.

    Result: in the order of the plan; an answer with several scores once. Only ids are read to
        choose, then only the texts of these.
    """
    if answers.responses is None or answers.scores is None:
        return []
    rows = _read_trials(answers.responses, answers.scores, _pick_keys(answers.scores))
    picks = [
        _example(row, answers.plan.for_study(row["study"])) for row in rows.iter_rows(named=True)
    ]
    studies = [answers.plan.study, *answers.plan.studies]
    stereotypes = {
        pick.study: list(answers.plan.for_study(pick.study).stereotypes) for pick in picks
    }

    def order(example: ExampleAnswer) -> tuple[Any, ...]:
        """Sort by the plan: first by study, then by stereotype."""
        study, stereotype = example.study, example.stereotype
        # What the plan does not list comes last, by its name.
        return (rank(study, studies), study, rank(stereotype, stereotypes[study]), stereotype)

    return sorted(picks, key=order)


def _read_trials(responses: pl.LazyFrame, scores: pl.LazyFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """Read the texts of a few trials, each with its scores in the list ``readings``."""
    # Filtered by id first: a join alone would read the texts of all trials.
    ids = pl.col("trial_id").is_in(keys["trial_id"].unique().implode())
    marks = scores.select(*_KEYS, *_READING).filter(ids)
    readings = (
        marks.join(keys.lazy(), on=_KEYS, how="semi", nulls_equal=True)
        .group_by(_KEYS)
        .agg(pl.struct(pl.all().exclude(_KEYS)).alias("readings"))
    )
    texts = responses.select(
        *_KEYS,
        "variation",
        "system",
        "options",
        pl.col("prompt", "profile", "followup").str.slice(0, 4 * LONGEST),
        pl.col("response").str.slice(0, _SEARCHED),
        pl.col("response").str.len_chars().alias("length"),
    ).filter(ids)
    return (
        texts.join(readings, on=_KEYS, how="inner", nulls_equal=True)
        .sort("model", "mode", *CONDITIONS, "trial_id")
        .collect(engine="streaming")
    )


def example_section(picks: Sequence[ExampleAnswer], answers: AnswerResults) -> Section | None:
    """Show examples under the labels of their stereotypes; None where there are none."""
    if not picks:
        return None
    exchanges: dict[tuple[str, str], list[Exchange]] = {}
    for example in picks:
        exchanges.setdefault((example.study, example.stereotype), []).append(example.exchange)
    labels = [answers.plan.full_labels.get(key, key[1]) for key in exchanges]
    values = {
        "has_dimensions": bool(answers.dimensions),
        "has_marks": any(map(_has_mark, picks)),
    }
    return Section(
        key="examples",
        title="Prompts and answers",
        text=Paragraphs("examples", values),
        examples=tuple(
            (f"{label} ({len(stereotype_exchanges)})", tuple(stereotype_exchanges))
            for label, stereotype_exchanges in zip(labels, exchanges.values(), strict=True)
        ),
    )


def _has_mark(example: ExampleAnswer) -> bool:
    """Whether a passage of an answer is marked."""
    quotes = example.exchange.quotes
    return any(piece.kind == "mark" for quote in quotes for piece in quote.pieces)


def _pick_keys(scores: pl.LazyFrame) -> pl.DataFrame:
    """Pick the answers to show; a row of keys for each."""
    has_score, trials = pl.col("score").is_not_null(), pl.col("trial_id")
    groups = (
        scores.group_by(*_GROUP, *_WITHIN)
        .agg(
            trials.filter(has_score).sort().head(SCORED).alias("scored"),
            trials.filter(~has_score).sort().head(UNSCORED).alias("unscored"),
        )
        .sort(*_GROUP, *_WITHIN)
        .collect(engine="streaming")
    )
    if groups.height > MOST_GROUPS:
        # One model shows one dimension or group, the next the next.
        turn = pl.col("model").rank("dense") + pl.col("stereotype").rank("dense")
        ranked = groups.with_columns(turn=turn.fill_null(0).cast(pl.Int64))
        groups = ranked.filter(_is_turn(_GROUP)).with_columns(pl.col("scored").list.head(1))
    if groups.height > MOST_EXAMPLES:
        # `turn` is there: MOST_EXAMPLES lies above MOST_GROUPS.
        groups = groups.filter(_is_turn(["study", "instrument", "stereotype"]))
    trial_ids = pl.concat_list("scored", "unscored").alias("trial_id")
    keys = groups.select(*_GROUP, trial_ids).explode("trial_id")
    return keys.drop_nulls("trial_id").select(_KEYS)


def _is_turn(keys: Sequence[str]) -> pl.Expr:
    """Tell of the rows that share `keys` which one is at the place that ``turn`` says."""
    return pl.int_range(pl.len()).over(keys) == pl.col("turn") % pl.len().over(keys)


def _example(row: Mapping[str, Any], plan: PlanFacts) -> ExampleAnswer:
    """Make the example of one trial, from its texts and its readings."""
    order = list(plan.instruments)
    marks = sorted(row["readings"], key=lambda mark: rank(mark["instrument"], order))
    several = len(marks) > 1
    pieces, is_marked = passages(row["response"] or "", [mark["span"] or "" for mark in marks])
    pairs = list(zip(marks, is_marked, strict=True))
    titles = [plan.measure(mark["instrument"]).title for mark in marks]
    outcomes = [_outcome(mark, marked=marked) for mark, marked in pairs]
    # A passage that could not be marked in the answer stands below it.
    excerpts = [mark["span"] for mark, marked in pairs if mark["span"] and not marked]
    context = _context_label(row, marks[0], plan, "" if several else titles[0])
    exchange = Exchange(
        about=context if several else f"{context} — {outcomes[0]}",
        quotes=(
            *_prompts(row),
            Quote(_answer_label(row), tuple(pieces), markdown=is_markdown(row["response"] or "")),
            *(Quote.from_text("Passage read", text[:LONGEST], excerpt=True) for text in excerpts),
        ),
        readings=tuple(f"{t}: {o}" for t, o in zip(titles, outcomes, strict=True) if several),
        note=_rest_note(row["length"] or 0, pieces),
    )
    return ExampleAnswer(row["study"] or "", row["stereotype"], context, exchange, _is_by_word(row))


def _is_by_option(row: Mapping[str, Any]) -> bool:
    """Whether a sentence was read to its end with each of two words."""
    return "{option}" in (row["prompt"] or "")


def _is_by_word(row: Mapping[str, Any]) -> bool:
    """Whether the prompt was asked once for each word."""
    return "{attribute}" in (row["prompt"] or "")


def _prompts(row: Mapping[str, Any]) -> list[Quote]:
    """Quote what a model was asked, in the order in which it was."""
    texts, labels = row, _LABELS
    if _is_by_option(row):
        labels = _LABELS | {"prompt": "Prompt, a sentence read to its end with each word"}
        texts = {**row, "prompt": readable_prompt(row["prompt"], row["options"])}
    elif _is_by_word(row):
        labels = _LABELS | {"prompt": "Prompt, asked for each word"}
    return [
        Quote.from_text(label, texts[key] or "", markdown=key == "profile")
        for key, label in labels.items()
        if texts[key] or key == "prompt"
    ]


def _answer_label(row: Mapping[str, Any]) -> str:
    if _is_by_option(row) or _is_by_word(row):
        return _LOG_PROBABILITIES
    return "Second answer" if row["profile"] else "Answer"


def _context_label(
    row: Mapping[str, Any], mark: Mapping[str, Any], plan: PlanFacts, measure: str
) -> str:
    """Say who was asked in which way, and what else the prompt was about."""
    facts = plan.facts.get(mark["instrument"], InstrumentFacts())
    details = (
        row["model"],
        row["mode"],
        *(row[name] for name in CONDITIONS if row[name] != "none"),
        measure if len(plan.instruments) > 1 else None,
        row["variation"],
        plan.dimensions[mark["dimension"]],
        facts.versions.get(mark["version"] or ""),
        mark["object"],
    )
    return " · ".join(filter(None, details))


def _rest_note(length: int, pieces: Sequence[Piece]) -> str:
    """Say how much of an answer of this length is not shown; empty where all of it is."""
    rest = length - sum(len(piece.text) for piece in pieces if piece.kind != "gap")
    if rest <= 0:
        return ""
    if len(pieces) == 1:
        return f"The first {len(pieces[0].text)} characters; {rest} more are in responses.parquet."
    return f"{rest} more characters are in responses.parquet."


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
    positions = [_position(text, span) for span in spans]
    marks = [position for position in positions if position]
    opening = OPENING if len(text) > LONGEST and marks else LONGEST
    windows = [(0, opening), *((start - AROUND, end + AROUND) for start, end in marks)]
    # Between two cuts that follow one another, all characters are of one kind.
    cuts = {min(max(cut, 0), len(text)) for stretch in (*marks, *windows) for cut in stretch}

    def kind(stretch: tuple[int, int]) -> str:
        """Tell whether a stretch between two cuts is a mark, a text or a gap."""
        first = stretch[0]
        if any(start <= first < end for start, end in marks):
            return "mark"
        return "text" if any(start <= first < end for start, end in windows) else "gap"

    pieces = []
    for name, group in groupby(pairwise(sorted(cuts)), kind):
        stretches = list(group)
        start, end = stretches[0][0], stretches[-1][1]
        gap = f"{end - start:,} characters left out"
        pieces.append(Piece(name, gap if name == "gap" else text[start:end]))
    return pieces, [position is not None for position in positions]


def _position(text: str, span: str) -> tuple[int, int] | None:
    """Find the last occurrence, for decisions close an answer; none of an endless passage."""
    if not span.strip() or len(span) > LONGEST:
        return None
    start = text.rfind(span)
    return None if start < 0 else (start, start + len(span))
