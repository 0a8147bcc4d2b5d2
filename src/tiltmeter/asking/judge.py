"""Ask a judge about the decisions that rules leave open, and keep what it said.

The judge's answers have a journal of their own beside those of the models, so that scoring
anew asks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.asking.budget import Budget
from tiltmeter.asking.sessions import Outcome, ask_models
from tiltmeter.errors import InputError
from tiltmeter.instruments.scoring import open_decisions
from tiltmeter.results import TRIALS
from tiltmeter.results.records import journals
from tiltmeter.stimuli import Study

__all__ = ["JUDGE", "ask_judge", "by_study", "verdicts"]

#: The folder of a judge's answers, inside a results directory.
JUDGE = "judge"


def ask_judge(  # noqa: PLR0913 - what a run shares with its judge
    responses: Iterable[pl.DataFrame],
    studies: dict[str, Study],
    grader: tuple[str, Any],
    directory: Path,
    budget: Budget,
    prices: Path | None = None,
    judge_all: bool = False,
) -> Outcome:
    """Ask about every open decision that was not judged yet.

    Parameters
    ----------
    responses
        Pieces of a table of responses that say their `instrument`.
    studies
        The studies by name. With one study, the table needs no `study` column.
    grader
        The judge's name and model, from `open_models`.
    directory
        Where its answers are kept.
    budget
        Limits; shared with the run.
    prices
        See `budget.price`.
    judge_all
        See `instruments.scoring.open_decisions`.

    Returns
    -------
    Outcome
    """
    found = [pl.DataFrame(schema=TRIALS)]
    for piece in responses:
        for study, part in by_study(piece, studies):
            found.append(open_decisions(part, study, judge_all=judge_all))
    trials = pl.concat(found).unique("trial_id", maintain_order=True)
    directory.mkdir(parents=True, exist_ok=True)
    return ask_models(trials, dict([grader]), directory, budget, prices=prices)


def verdicts(directory: Path) -> dict[str, str]:
    """Read what judges said, question by question; empty where none was asked."""
    return {
        answer["trial_id"]: answer["response"]
        for journal in journals(directory)
        for answer in journal
        if answer.get("error") is None
    }


def by_study(
    piece: pl.DataFrame, studies: Mapping[str, Study]
) -> Iterator[tuple[Study, pl.DataFrame]]:
    """Yield the part of a table that belongs to each study; with one study, all of it.

    Raises
    ------
    InputError
        If a row names another study.
    """
    if len(studies) == 1 or piece.is_empty():
        yield next(iter(studies.values())), piece
        return
    for (name,), part in piece.group_by("study", maintain_order=True):
        if name not in studies:
            raise InputError(f"responses: study {name!r} is none of {', '.join(studies)}")
        yield studies[str(name)], part
