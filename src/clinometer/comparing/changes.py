"""The changes of a comparison, row by row: differences with the means of both runs, judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from clinometer.comparing.harm import (
    Change,
    Limits,
    RowVerdict,
    confidences,
    further_trials,
    judge_change,
)
from clinometer.results.estimates import ESTIMATES, KEYS
from clinometer.results.verdicts import BECAUSE, CANNOT_TELL, NO_CHANGE
from clinometer.statistics.looks import Looks

__all__ = ["FAMILY", "RunMeans", "judge_changes", "mark_family"]

#: What tells the rows apart that are decided about at once; see `mark_family`.
FAMILY = ("level", "candidate", "_score", "_control", "_explicit")

#: Methods whose differences are judged.
_JUDGED = ("bounded", "clustered")

#: What a difference and the means of its runs have in common.
_RUN_KEYS = ("family", "subject", "model", "factor", "baseline", "candidate")
_SAME = (*(name for name in KEYS if name not in _RUN_KEYS), "method")


@dataclass(frozen=True)
class RunMeans:
    """The means of each run by itself, by its label and by what they are about."""

    rows: Mapping[tuple[Any, ...], dict[str, Any]]

    @classmethod
    def from_tables(cls, tables: Mapping[str, pl.DataFrame]) -> RunMeans:
        """Take the means from the estimates of runs, by label."""
        rows = {}
        for label, estimates in tables.items():
            means = estimates.filter(pl.col("factor").is_null(), pl.col("method").is_in(_JUDGED))
            for row in means.iter_rows(named=True):
                rows[(label, *(row[name] for name in _SAME))] = row
        return cls(rows)

    def change(self, difference: Mapping[str, Any]) -> Change:
        """Put the means of both runs beside a difference; None where a run has none."""
        key = [difference[name] for name in _SAME]
        baseline, candidate = (
            self.rows.get((difference[run], *key)) for run in ("baseline", "candidate")
        )
        return Change(difference, baseline, candidate)


def mark_family(differences: pl.DataFrame, explicit: bool) -> pl.DataFrame:
    """Add the columns of `FAMILY`.

    Rows of controls are families of their own, as are explicit measures, unless `explicit`.
    """
    return differences.with_columns(
        _score=pl.col("measure") == pl.col("instrument"),
        _control=pl.col("control").is_not_null(),
        _explicit=pl.col("explicit") & (not explicit),
    )


def judge_changes(
    differences: pl.DataFrame,
    means: RunMeans,
    confidence: float,
    looks: Mapping[str, Looks],
    unchanged: Collection[str],
    *,
    explicit: bool = False,
) -> pl.DataFrame:
    """Add `verdict`, `because`, `harm_high` and `n_more` to the differences of runs.

    Parameters
    ----------
    differences
        Columns of `results.ESTIMATES`; those with a margin are judged.
    means
        Of the runs by themselves.
    confidence
        Of the decision, 0…1.
    looks
        By candidate, when it or the baseline was looked at.
    unchanged
        Candidates whose answers are those of the baseline.
    explicit
        Whether explicit measures are decided about together with the others.
    """
    is_judged = pl.col("method").is_in(_JUDGED) & pl.col("adjusted_over").is_not_null()
    marked = mark_family(differences, explicit).with_columns(
        _judged=is_judged & pl.col("tost_margin").is_not_null()
    )
    rows = marked.with_columns(_rows=pl.col("_judged").sum().over("method", *FAMILY))
    columns: dict[str, list[Any]] = {"verdict": [], "harm_high": [], "n_more": []}
    for row in rows.iter_rows(named=True):
        judged: tuple[RowVerdict, int | None] | None = None
        if row["_judged"] and row["candidate"] in unchanged:
            judged = RowVerdict(NO_CHANGE, 0.0), None
        elif row["_judged"]:
            levels = confidences(row["_rows"], confidence, looks[row["candidate"]])
            limits = Limits(row["tost_margin"], 0.0, *levels)
            judged = _judge_row(means.change(row), limits)
        verdict, n_more = judged or (None, None)
        columns["verdict"].append(verdict and verdict.verdict)
        columns["harm_high"].append(verdict and verdict.harm_high)
        columns["n_more"].append(n_more)
    reasons = pl.col("verdict").replace_strict(BECAUSE, default=None, return_dtype=pl.String)
    series = [pl.Series(name, values, ESTIMATES[name]) for name, values in columns.items()]
    return differences.with_columns(series).with_columns(because=reasons)


def _judge_row(change: Change, limits: Limits) -> tuple[RowVerdict, int | None]:
    """Judge a change, and say how many trials would tell where it is open, but for one wording."""
    judged = judge_change(change, limits)
    asks_more = judged.verdict == CANNOT_TELL and change.difference["level"] != "cell"
    return judged, further_trials(change, limits) if asks_more else None
