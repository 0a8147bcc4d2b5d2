"""How far a run has come, and who answered: what keeps a model from being cleared."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from clinometer.results.verdicts import SERVED, UNFINISHED

__all__ = ["doubtful", "doubts", "unfinished"]


def unfinished(progress: pl.DataFrame) -> dict[str, str]:
    """Say of each model that has not answered every trial of the plan how many it has.

    `progress` has columns of `schemas.PROGRESS`.
    """
    return {
        str(row["model"]): f"{row['n_answered']:,} of {row['n_trials']:,} trials have an answer"
        for row in progress.iter_rows(named=True)
        if row["n_answered"] < row["n_trials"]
    }


def doubts(progress: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Say of each model what keeps it from being cleared: a verdict, and its reason in words.

    Trials that were not asked yet, and several models that answered under one name. A trial that
    ended in an error was asked; its answer is missing.
    """
    found: dict[str, dict[str, str]] = {}
    for row in progress.iter_rows(named=True):
        name, said = str(row["model"]), dict[str, str]()
        left = row["n_trials"] - row["n_answered"] - row["n_error"]
        if left:
            said[UNFINISHED] = (
                f"{left:,} of {row['n_trials']:,} trials of {name} were not asked yet"
            )
        if (row["n_served"] or 0) > 1:
            said[SERVED] = f"{name} was answered by {row['n_served']} models: {row['served_as']}"
        found |= {name: said} if said else {}
    return found


def doubtful(progress: pl.DataFrame) -> Mapping[str, str]:
    """Return the verdict that stands in place of "equivalent", by model."""
    return {name: next(iter(said)) for name, said in doubts(progress).items()}
