"""How far a run has come, and who answered: what keeps a model from being cleared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from clinometer.results.verdicts import SERVED, UNFINISHED

#: Why a stereotype was asked no more (`asking.stages`) → what is said of so many.
_ENDED = {
    "decided": "decided",
    "hopeless": "that all trials would hardly decide",
    "unpaid": "that the limits do not pay for",
    "last look": "open after all trials",
}


def unfinished(progress: pl.DataFrame) -> dict[str, str]:
    """Say of each model that has not answered every trial of the plan how many it has.

    `progress` has columns of `schemas.PROGRESS`.
    """
    return {
        str(row["model"]): f"{row['n_answered']:,} of {row['n_trials']:,} trials have an answer"
        for row in progress.iter_rows(named=True)
        if row["n_answered"] < row["n_trials"]
    }


def elsewhere_sentences(progress: pl.DataFrame) -> tuple[str, ...]:
    """Say of each model which answers were not asked with the key of the plan, if there are any.

    `progress` has columns of `schemas.PROGRESS`.
    """
    rows = progress.select("model", "elsewhere").drop_nulls().iter_rows()
    return tuple(f"{model}: {text}" for model, text in rows)


def doubts(progress: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Say of each model what keeps it from being cleared: a verdict, and its reason in words.

    Trials that were not asked yet, and several models that answered under one name. A trial that
    ended in an error was asked; its answer is missing.
    """
    reasons_by_model: dict[str, dict[str, str]] = {}
    for row in progress.iter_rows(named=True):
        model = str(row["model"])
        reasons: dict[str, str] = {}
        unasked = row["n_trials"] - row["n_answered"] - row["n_error"]
        if unasked:
            reasons[UNFINISHED] = (
                f"{unasked:,} of {row['n_trials']:,} trials of {model} were not asked yet"
            )
        if (row["n_served"] or 0) > 1:
            reasons[SERVED] = (
                f"{model} was answered by {row['n_served']} models: {row['served_as']}"
            )
        if reasons:
            reasons_by_model[model] = reasons
    return reasons_by_model


def doubtful(progress: pl.DataFrame) -> Mapping[str, str]:
    """Return the verdict that stands in place of "equivalent", by model."""
    # Of several doubts the first: one verdict stands in the table.
    return {model: next(iter(reasons)) for model, reasons in doubts(progress).items()}


def ended_text(reasons: Sequence[str], going: int = 0) -> str:
    """Say how many stereotypes are asked no more, by reason, and how many go on."""
    counts = Counter(reasons)
    parts = [f"{counts[reason]} {text}" for reason, text in _ENDED.items() if counts[reason]]
    parts += [f"{going} asked on"] if going else []
    return f"of {len(reasons) + going} stereotypes {', '.join(parts)}"
