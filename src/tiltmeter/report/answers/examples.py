"""A few prompts and answers per stereotype, read without loading all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from tiltmeter.report.answers.attributions import GROUPS
from tiltmeter.report.answers.results import Results
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import MEANINGS, number
from tiltmeter.report.sections import Exchange, Piece, Quote, Section

__all__ = ["LONGEST", "Example", "example_section", "examples", "passages"]

#: Up to this many groups of answers (model × mode × stereotype …), each shows all it should.
MOST_GROUPS = 400
#: Characters of an answer shown at a stretch; the rest stays in responses.parquet.
LONGEST = 1500
#: Characters shown of the opening, and around a passage, where passages are marked further on.
OPENING, AROUND = 500, 300
#: Characters of an answer looked at.
_LOOKED_AT = 40_000

#: Each combination of these has its examples; of very many, only one of the second few.
_GROUP = ["study", "model", "mode", "intervention", "instrument", "stereotype"]
_WITHIN = ["dimension", "version"]
_KEYS = ["study", "model", "mode", "intervention", "stereotype", "trial_id"]
#: What is shown of how an answer was read.
_READ = (
    *("instrument", "dimension", "version", "object", "outcome"),
    *("score", "reason", "coverage", "span", "margin", "conflict"),
)

_MARKED = " The passage in which a decision was read is marked."


@dataclass(frozen=True)
class Example:
    """One prompt, its answer and what became of it."""

    study: str
    stereotype: str
    about: str
    shown: Exchange
    by_word: bool  # whether the prompt was asked once for each word

    def prompt(self, plan: Plan) -> Quote:
        """Quote the prompt, under the label of its stereotype."""
        (label,) = plan.labels([(self.study, self.stereotype)])
        asked = next(quote for quote in self.shown.quotes if quote.label.startswith("Prompt"))
        return Quote(f"One of the prompts ({label}; {self.about})", asked.pieces)


def examples(results: Results, scored: int = 2, unscored: int = 1) -> list[Example]:
    """Pick the first few trials of each stereotype, dimension, instrument, mode and model.

    `results`: a results directory with responses and scores; without them there are no examples.
    `scored`: how many answers with a score to pick; one where there are very many groups.
    `unscored`: how many answers without one.
    Result: in the order of the plan; an answer with several scores once. Only ids are read to
        choose, then only the chosen texts.
    """
    if results.responses is None or results.scores is None:
        return []
    chosen = _chosen(results.scores, scored, unscored)
    ids = pl.col("trial_id").is_in(chosen["trial_id"].unique().implode())
    mine = chosen.lazy()
    marks = results.scores.select(*_KEYS, *_READ).filter(ids)
    readings = (
        marks.join(mine, on=_KEYS, how="semi", nulls_equal=True)
        .group_by(_KEYS)
        .agg(pl.struct(pl.all().exclude(_KEYS)).alias("readings"))
    )
    texts = results.responses.select(
        *_KEYS,
        "variation",
        "system",
        pl.col("prompt", "profile", "followup").str.slice(0, 4 * LONGEST),
        pl.col("response").str.slice(0, _LOOKED_AT),
        pl.col("response").str.len_chars().alias("length"),
    ).filter(ids)
    rows = (
        texts.join(readings, on=_KEYS, how="inner", nulls_equal=True)
        .sort("model", "mode", "intervention", "trial_id")
        .collect(engine="streaming")
    )
    shown = [_example(row, results.plan.of(row["study"])) for row in rows.iter_rows(named=True)]
    studies = [results.plan.text("study"), *results.plan.studies]
    listed = {e.study: list(results.plan.of(e.study).stereotypes) for e in shown}
    return sorted(
        shown,
        key=lambda e: (
            *(_place(e.study, studies), e.study),
            *(_place(e.stereotype, listed[e.study]), e.stereotype),
        ),
    )


def example_section(
    picked: Sequence[Example], plan: Plan, *, dimensions: bool, decides: bool
) -> Section | None:
    """Show examples under the labels of their stereotypes; None where there are none.

    `picked`: what `examples` gave.
    `dimensions` and `decides`: whether dimensions are told apart, and decisions read, in these
        results.
    """
    if not picked:
        return None
    parts = [(of, list(part)) for of, part in groupby(picked, lambda e: (e.study, e.stereotype))]
    labels = plan.labels([of for of, _ in parts])
    return Section(
        key="examples",
        title="Prompts and answers",
        short="Prompts and answers",
        text=(
            f"A few answers per stereotype, {'dimension, ' * dimensions}model and mode, as the "
            "model gave them: the first with a score and the first without one, by trial id. "
            "Control characters are shown by their signs or numbers."
            f"{_MARKED * decides} The words are stimuli of the study, not statements of its "
            "authors or of this tool.",
        ),
        examples=tuple(
            (f"{label} ({len(part)})", tuple(one.shown for one in part))
            for label, (_, part) in zip(labels, parts, strict=True)
        ),
    )


def _chosen(scores: pl.LazyFrame, scored: int, unscored: int) -> pl.DataFrame:
    """Choose the keys of the answers to show."""
    has = pl.col("score").is_not_null()
    picked = (
        scores.group_by(*_GROUP, *_WITHIN)
        .agg(
            pl.col("trial_id").filter(has).sort().head(scored).alias("scored"),
            pl.col("trial_id").filter(~has).sort().head(unscored).alias("unscored"),
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
    both = pl.concat_list("scored", "unscored").alias("trial_id")
    return picked.select(*_GROUP, both).explode("trial_id").drop_nulls("trial_id").select(_KEYS)


def _example(row: Mapping[str, Any], plan: Plan) -> Example:
    text, marks = row["response"] or "", _in_turn(row["readings"], plan)
    pieces, is_marked = passages(text, [mark["span"] or "" for mark in marks])
    several = len(marks) > 1
    shown = sum(len(piece.text) for piece in pieces if piece.kind != "gap")
    beside = [row["intervention"]] if row["intervention"] not in (None, "none") else []
    alone = several or len(plan.instruments) < 2
    asked = "" if alone else plan.measure(marks[0]["instrument"]).title
    details = [
        row["model"],
        row["mode"],
        *beside,
        asked,
        row["variation"],
        *_details(marks[0], plan),
    ]
    about = " · ".join(filter(None, details))
    outcomes = [
        _outcome(mark, plan, several=several, marked=marked)
        for mark, marked in zip(marks, is_marked, strict=True)
    ]
    unmarked = [
        mark["span"] or "" for mark, marked in zip(marks, is_marked, strict=True) if not marked
    ]
    by_word = "{attribute}" in (row["prompt"] or "")
    exchange = Exchange(
        about=about if several else f"{about} — {outcomes[0]}",
        quotes=(
            *_asked(row, by_word=by_word),
            Quote(_answered(row, by_word=by_word), tuple(pieces)),
            *(Quote.whole("Passage read", s[:LONGEST], excerpt=True) for s in unmarked if s),
        ),
        readings=tuple(outcomes) if several else (),
        note=_left_out(max(0, (row["length"] or 0) - shown), pieces),
    )
    return Example(row["study"] or "", row["stereotype"], about, exchange, by_word)


def _asked(row: Mapping[str, Any], *, by_word: bool) -> list[Quote]:
    """Quote what came before the answer that was read."""
    labels = {"system": "System prompt", "prompt": "Prompt, asked for each word"
              if by_word else "Prompt", "profile": "First answer",
              "followup": "Second prompt"}  # fmt: skip
    return [
        Quote.whole(label, row[key] or "")
        for key, label in labels.items()
        if row[key] or key == "prompt"
    ]


def _answered(row: Mapping[str, Any], *, by_word: bool) -> str:
    if by_word:
        return "Log-probabilities read: marginalized, default"
    return "Second answer" if row["profile"] else "Answer"


def _left_out(cut: int, pieces: Sequence[Piece]) -> str:
    """Say how much of the answer is not shown; empty where all of it is."""
    if not cut:
        return ""
    if len(pieces) == 1:
        return f"The first {len(pieces[0].text)} characters; {cut} more are in responses.parquet."
    return f"{cut} more characters are in responses.parquet."


def _details(mark: Mapping[str, Any], plan: Plan) -> list[str]:
    """Say what else the prompt was about: a dimension, or a group and an object."""
    details = [plan.dimension(mark["dimension"])] if mark["dimension"] else []
    if mark["version"] in GROUPS:
        details.append(f"thinking of the {mark['version']} group")
    return [*details, mark["object"] or ""]


def _in_turn(readings: Sequence[Mapping[str, Any]], plan: Plan) -> list[Mapping[str, Any]]:
    order = list(plan.instruments)
    return sorted(readings, key=lambda r: _place(r["instrument"], order))


def _place(item: str, known: Sequence[str]) -> int:
    return known.index(item) if item in known else len(known)


def _outcome(mark: Mapping[str, Any], plan: Plan, *, several: bool, marked: bool) -> str:
    """Say what was made of the answer, and by what evidence."""
    if mark["score"] is not None:
        outcome = f"{mark['outcome']}; " if mark["outcome"] else ""
        outcome += f"score {number(mark['score'])}"
        if mark["coverage"] is not None and mark["coverage"] < 1:
            outcome += f", coverage {number(mark['coverage'])}"
    else:
        reason = mark["reason"] or "not scored"
        meaning = MEANINGS.get(reason)
        outcome = f"no score: {reason.replace('_', ' ')}" + (f" ({meaning})" if meaning else "")
    if mark["span"]:
        outcome += "; read in the marked passage" if marked else "; read in the passage quoted"
    if mark["score"] is not None and mark["margin"] is not None:
        outcome += f"; evidence agrees {number(mark['margin'])}"
    if mark["conflict"]:
        outcome += "; conflicting evidence"
    lead = f"{plan.measure(mark['instrument']).title}: " if several else ""
    return lead + outcome


def passages(text: str, spans: Sequence[str]) -> tuple[list[Piece], list[bool]]:
    """Cut an answer into pieces, with the passages marked in which something was read.

    Parameters
    ----------
    text
        The answer, as the model gave it.
    spans
        Passages to mark; an empty one, or one that is not in the answer, is not.

    Returns
    -------
    pieces : list of Piece
        The opening of the answer, and the surroundings of passages further on.
    found : list of bool
        For each passage whether it is marked.

    Examples
    --------
    >>> pieces, found = passages("Ben, then Julia.", ["Julia", "Anna"])
    >>> [(piece.kind, piece.text) for piece in pieces], found
    ([('text', 'Ben, then '), ('mark', 'Julia'), ('text', '.')], [True, False])
    """
    places = [_position(text, span) for span in spans]
    marks = _joined([place for place in places if place])
    far = len(text) > LONGEST and bool(marks)
    shown = _joined(
        [(0, min(len(text), OPENING if far else LONGEST))]
        + [(max(0, start - AROUND), min(len(text), end + AROUND)) for start, end in marks]
    )
    pieces: list[Piece] = []
    reached = 0
    for start, end in shown:
        if start > reached:
            pieces.append(Piece("gap", f"{start - reached:,} characters left out"))
        pieces += _marked(text, start, end, marks)
        reached = end
    return pieces, [place is not None for place in places]


def _position(text: str, span: str) -> tuple[int, int] | None:
    """Find the last occurrence, for decisions close an answer; none of an endless passage."""
    if not span.strip() or len(span) > LONGEST:
        return None
    start = text.rfind(span)
    return None if start < 0 else (start, start + len(span))


def _joined(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches that touch."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _marked(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> list[Piece]:
    pieces = []
    for left, right in marks:
        if start <= left < end:
            pieces += [Piece("text", text[start:left]), Piece("mark", text[left:right])]
            start = right
    pieces.append(Piece("text", text[start:end]))
    return [piece for piece in pieces if piece.text]
