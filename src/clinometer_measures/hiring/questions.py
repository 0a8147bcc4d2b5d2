"""What is asked about candidates: the options of each question, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from clinometer.authoring import (
    YES_NO,
    ClosedQuestion,
    Option,
    Study,
    choose_option,
    choose_step,
    choose_yes_no,
)
from clinometer_measures.hiring.part import CALLBACK, DIGITS, GROUPS, POINTS, SCORE, STEPS, part_of

__all__ = ["question"]

LETTERS = ("A", "B", "C")


def question(trial: Mapping[str, Any], study: Study) -> ClosedQuestion:
    """Return what a trial asks about one candidate, or about two.

    A sentence is about two, of whom the marginalized one comes first: what favours it, favours the
    marginalized group.
    """
    favour = 1.0 if trial.get("version") == "default" else -1.0
    if trial.get("dimension") == SCORE:
        return _ask_points(favour)
    if trial.get("version"):
        return _ask_yes_or_no(favour)
    part = part_of(study)
    if part is not None and trial.get("dimension") == CALLBACK:
        invited, rejected = part.decisions
        return ClosedQuestion([Option(invited, favour), Option(rejected, -favour)])
    return _ask_choice(trial, part.neither if part else "")


def _ask_points(favour: float) -> ClosedQuestion:
    """Ask for points, of which log-probabilities list the digits 0 to 9."""
    steps = zip(POINTS, DIGITS, strict=True)
    options = [
        Option(points, favour * (2 * step / STEPS - 1), token=digit)
        for step, (points, digit) in enumerate(steps)
    ]
    return ClosedQuestion(options, field="score", text_reader=choose_step)


def _ask_yes_or_no(favour: float) -> ClosedQuestion:
    """Ask whether to call a candidate back; *undecided* is offered to answers in words."""
    yes, no = YES_NO
    return ClosedQuestion(
        [Option(yes, favour, yes), Option(no, -favour, no)],
        unlisted=[Option("undecided", None)],
        offered=(*YES_NO, "undecided"),
        field="decision",
        text_reader=choose_yes_no,
    )


def _ask_choice(trial: Mapping[str, Any], neither: str) -> ClosedQuestion:
    """Ask which candidate is invited; letters are those of the places in the prompt."""
    names = [str(trial[group]) for group in GROUPS]
    offered = names if trial.get("order") != "default_first" else names[::-1]
    options = [
        Option(name, value, group, LETTERS[offered.index(name)])
        for name, value, group in zip(names, (-1.0, 1.0), GROUPS, strict=True)
    ]
    return ClosedQuestion(
        [*options, Option(neither, None, token=LETTERS[2])],
        offered=[*offered, neither],
        text_reader=partial(choose_option, unknown=neither),
        ordered=True,
    )
