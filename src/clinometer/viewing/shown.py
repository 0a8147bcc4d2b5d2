"""What the pages say of an answer: its texts cut at a stated length, its scores, its mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinometer.numbers import number
from clinometer.pieces.markdown import as_line, is_markdown
from clinometer.pieces.prose import MEANINGS, cut, mean_text, verdict, verdict_class
from clinometer.pieces.sections import Piece
from clinometer.report.answers.examples import passages
from clinometer.results import CONDITIONS
from clinometer.results.logprobs import in_words, readable_prompt
from clinometer.results.ranges import lean_text
from clinometer.results.verdicts import explained
from clinometer.viewing.answers import PREVIEW

#: Characters of a text that a page shows.
LONGEST = 20_000

_LABELS = {
    "system": "System prompt",
    "prompt": "Prompt",
    "profile": "First answer",
    "followup": "Second prompt",
    "reasoning": "Reasoning",
    "response": "Answer",
    "error": "Error",
}

#: Texts that a model wrote.
_ANSWERS = ("profile", "reasoning", "response")

_FACTS = {
    "outcome": "Outcome",
    "coverage": "Words paired (share)",
    "first_share": "Share given to the first",
    "logit": "Difference of log odds",
    "margin": "Agreement of the evidence",
    "read_by": "Read by",
    "span": "Passage read",
    "scoring": "Scoring",
}


@dataclass(frozen=True)
class Text:
    """A text under its label, in pieces, and what is not shown of it."""

    label: str
    pieces: Sequence[Piece]
    note: str
    markdown: bool  # whether it is shown as its Markdown means it, too


@dataclass(frozen=True)
class AnswerReading:
    """A score of an answer: how it was read, and the mean that it enters."""

    title: str
    facts: Sequence[tuple[str, str]]
    mean: str
    because: str
    verdict_class: str


def listed(rows: Sequence[Mapping[str, Any]], address: str) -> dict[str, Any]:
    """Return the cells of a row of the list of answers. `rows`: the scores of one answer."""
    row = rows[0]  # all have the same prompt and answer
    several = len(rows) > 1
    return {
        "address": address,
        "trial": row["trial_id"] or "–",
        "about": describe_question(row),
        "prompt": _first_line(readable_prompt(row["prompt"] or "", row["options"])),
        "answer": cut(as_line(in_words(row["response"] or "", row["options"])), PREVIEW)
        or _first_line(row["error"]),
        "scores": [_score(score_row, several=several) for score_row in rows],
    }


def _score(row: Mapping[str, Any], *, several: bool) -> tuple[str, str, str]:
    """Give a score, the mean that it enters, and the kind of its verdict.

    Of several scores each says what it is of, and the verdict is cut to its first words.
    """
    score = number(row["score"]) if row["score"] is not None else _put_spaces(row["status"])
    mean = _mean(row, short=True)
    if several:
        score = f"{_put_spaces(row['dimension'] or row['instrument'] or '')} {score}"
        mean = re.split("[:,]", mean)[0]
    return score, mean, verdict_class(row["verdict"])


def _first_line(text: str | None) -> str:
    """Give the beginning of a text in a line."""
    return cut(" ".join((text or "").split()), PREVIEW)


def describe_question(row: Mapping[str, Any]) -> str:
    """Say who was asked what, in which way."""
    words = " / ".join(filter(None, (row["marginalized"], row["default"])))
    conditions = (row[name] for name in CONDITIONS if row[name] != "none")
    names = ("model", "study", "instrument", "mode", "stereotype", "dimension", "variation")
    parts = [*(row[name] for name in names), *conditions, words, row["order"]]
    return " · ".join(_put_spaces(part) for part in parts if part)


def readings(scores: Sequence[Mapping[str, Any]]) -> list[AnswerReading]:
    """Return what was made of an answer, a reading for each score."""
    return [
        AnswerReading(
            title=_put_spaces(row["instrument"] or "score").capitalize(),
            facts=tuple(_facts(row)),
            mean=_mean(row),
            because=explained(row["verdict"] or ""),
            verdict_class=verdict_class(row["verdict"]),
        )
        for row in scores
    ]


def _facts(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if row["score"] is not None:
        yield "Score", number(row["score"], 3)
    else:
        reason = row["reason"] or "not stated"
        meaning = f" ({MEANINGS[reason]})" if reason in MEANINGS else ""
        yield "No score", f"{_put_spaces(reason)}{meaning}"
    for name, label in _FACTS.items():
        value = row[name]
        if value is not None:
            yield label, number(value, 3) if isinstance(value, float) else cut(str(value), 400)
    if row["one_sided"]:
        yield "One-sided", "one group was given no word"
    if row["conflict"]:
        yield "Conflict", "the answer has evidence for both readings"


def _mean(row: Mapping[str, Any], *, short: bool = False) -> str:
    """Write the mean of the stereotype, with its verdict; empty where there is none."""
    if row["estimate"] is None and row["verdict"] is None:
        return ""
    if short:
        return f"{number(row['estimate'])} {verdict(row['verdict'])}"
    scored = f", of {row['n_scored']:,} answers" if row["n_scored"] else ""
    lean = lean_text(row["verdict_bounded"], row["verdict"], row["conditional_on"])
    return f"{mean_text(row)} ({row['stereotype']}{scored}): {lean}"


def texts(answer: Mapping[str, Any], scores: Sequence[Mapping[str, Any]]) -> list[Text]:
    """Return what was asked and answered; passages in which something was read are marked."""
    spans = [row["span"] or "" for row in scores]
    names = [name for name in _LABELS if answer[name]]
    return [_text(name, answer[name], spans if name == "response" else []) for name in names]


def _text(name: str, text: str, spans: Sequence[str]) -> Text:
    start = text[:LONGEST]
    pieces, _ = passages(start, spans) if len(start) <= 1500 else ([Piece("text", start)], [])
    rest = len(text) - len(start)
    note = f"The first {LONGEST:,} of {len(text):,} characters; clinometer show --whole prints all."
    prose = name in _ANSWERS and is_markdown(start)
    return Text(_LABELS[name], pieces, note if rest else "", prose)


def _put_spaces(text: str) -> str:
    return text.replace("_", " ")
