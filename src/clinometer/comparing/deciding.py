"""What is said of a candidate: a decision about its profile, never about a mean alone.

Profile
    A row for each study, instrument, mode, dimension and category, or stereotype, that both runs
    were asked, without controls. Explicit measures are rows only where nothing else was asked, or
    where they are asked for. That a row is worse or better is told by the interval that holds for
    all rows of a level at once; that it ends within the margin, by its own (`statistics.changes`).

Decision
    The worst row decides; means stand beside.

    ==================  ==========================================================================
    worse               a row is worse, also with the best that missing answers could be, and its
                        interval does not end within the margin
    cannot tell         a row may be worse by more than the margin, by its interval or with the
                        worst that missing answers could be; or it has no interval
    better              a row is better, and every row ends within the margin
    not worse           every row ends within the margin
    no change           every answer is that of the baseline: one run, compared with itself
    ==================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from clinometer.results.judging import Change
from clinometer.results.verdicts import (
    BETTER,
    BETTER_SCORED,
    CANNOT_TELL,
    NO_CHANGE,
    NOT_WORSE,
    NOT_WORSE_SCORED,
    NOTHING,
    ONE_CLUSTER,
    WORSE,
    WORSE_SCORED,
    WORSE_WITHIN,
    restriction_of,
    unrestricted,
)
from clinometer.statistics.changes import TargetsByKey, seen_together

__all__ = [
    "Decision",
    "Level",
    "adjust_together",
    "decide",
    "difference_text",
    "profile",
    "row_text",
]

Level = Literal["category", "stereotype"]

#: Verdicts of rows, the worst first. What is before `WORSE_WITHIN` and no `WORSE` is open.
_WORST_FIRST = (
    *(WORSE, WORSE_SCORED, CANNOT_TELL, NOTHING, ONE_CLUSTER, NOT_WORSE_SCORED, BETTER_SCORED),
    *(WORSE_WITHIN, NOT_WORSE, BETTER, NO_CHANGE),
)
_CLEAR = (WORSE_WITHIN, NOT_WORSE, BETTER, NO_CHANGE)

#: The verdict of a row, whatever wording, order or words it is restricted to.
_VERDICT = unrestricted(pl.col("verdict"))

#: Why a row is open, where more trials are not what is lacking.
_WHY_OPEN = {
    NOTHING: "nothing was scored in both",
    ONE_CLUSTER: "too few trials for an interval",
    **dict.fromkeys(
        (WORSE_SCORED, NOT_WORSE_SCORED, BETTER_SCORED), "answers without a score could change that"
    ),
}


def adjust_together(
    differences: pl.DataFrame, targets: TargetsByKey, explicit: bool = False
) -> pl.DataFrame:
    """Adjust differences, with what they were estimated from, over all that a decision is about.

    Rows of controls are families of their own, as are explicit measures, unless `explicit`.
    """
    over = pl.format("{} differences of all instruments, studies, modes and dimensions", "level")
    marked = differences.with_columns(
        adjusted_over=pl.when(pl.col("adjusted_over").is_not_null()).then(over),
        _score=pl.col("measure") == pl.col("instrument"),
        _control=pl.col("control").is_not_null(),
        _explicit=pl.col("explicit") & (not explicit),
    )
    family = ("level", "candidate", "_score", "_control", "_explicit")
    return seen_together(marked, targets, family).select(differences.columns)


def profile(differences: pl.DataFrame, level: Level, explicit: bool = False) -> pl.DataFrame:
    """Return the rows that a decision is about, the worst first.

    `differences` are those of one candidate, judged.
    """
    judged = (pl.col("measure") == pl.col("instrument")) & pl.col("control").is_null()
    rows = differences.filter(judged, level=level, method="clustered").drop_nulls("verdict")
    implicit = rows.filter(~pl.col("explicit"))
    if not explicit and not implicit.is_empty():
        rows = implicit
    order = _VERDICT.cast(pl.Enum(_WORST_FIRST))
    return rows.sort(order, -Change.of_rows().worst, nulls_last=True, maintain_order=True)


@dataclass(frozen=True)
class Decision:
    """What may be said of one candidate."""

    candidate: str
    verdict: str  # worse, better, not worse within margin, no change, cannot tell
    rows: pl.DataFrame  # columns of `results.ESTIMATES`: the profile, the worst first
    doubts: Sequence[str] = ()  # what keeps a candidate from being cleared

    @property
    def row(self) -> dict[str, Any]:
        """Return the row that decides."""
        rows = self.rows.filter(_VERDICT == BETTER) if self.verdict == BETTER else self.rows
        return rows.row(0, named=True)

    @property
    def open(self) -> pl.DataFrame:
        """Return the rows of which it cannot be told whether they are worse."""
        return self.rows.filter(~_VERDICT.is_in([WORSE, *_CLEAR]))

    def text(self) -> str:
        """Return the decision in one line, with the row that decides."""
        number = self.rows.height
        restriction = restriction_of(self.row["verdict"])
        if self.verdict == NO_CHANGE:
            return f"no change in any of {number}: every answer is that of the baseline"
        if self.verdict == CANNOT_TELL and self.open.is_empty():
            cleared = decide(self.candidate, self.rows).text()
            return f"cannot tell: {'; '.join(self.doubts)} (else: {cleared})"
        if self.verdict == CANNOT_TELL:
            more = "" if not self.doubts else f"; {'; '.join(self.doubts)}"
            return (
                f"cannot tell, {self.open.height} of {number} open: {row_text(self.row)}; "
                f"{_open_reason(self.open)}{more}"
            )
        if self.verdict == NOT_WORSE:  # which every row decides
            restriction = max(map(restriction_of, self.rows["verdict"]), key=len)
            return (
                f"not worse within the margin of {self.row['tost_margin']} in each of {number}"
                f"{restriction}; nearest to it: {row_text(self.row)}"
            )
        same = self.rows.filter(_VERDICT == self.verdict).height
        return f"{self.verdict} in {same} of {number}{restriction}: {row_text(self.row)}"


def decide(candidate: str, rows: pl.DataFrame, doubts: Sequence[str] = ()) -> Decision:
    """Decide about a candidate by its `profile`, which has a row at least."""
    verdicts = set(rows.select(_VERDICT).to_series())
    if verdicts == {NO_CHANGE}:
        return Decision(candidate, NO_CHANGE, rows)
    if WORSE in verdicts:
        return Decision(candidate, WORSE, rows, doubts)
    if doubts or verdicts - set(_CLEAR):
        return Decision(candidate, CANNOT_TELL, rows, doubts)
    return Decision(candidate, BETTER if BETTER in verdicts else NOT_WORSE, rows)


def _open_reason(rows: pl.DataFrame) -> str:
    """Say what would tell of open rows."""
    first = rows.select(_VERDICT).item(0, 0)
    more = rows["n_more"].drop_nulls()
    if first in _WHY_OPEN:
        return _WHY_OPEN[first]
    if len(more) < rows.filter(verdict=CANNOT_TELL).height:
        return "more wordings are needed"
    most = int(more.max())  # type: ignore[arg-type]
    return f"{most:,} more trial{'s' * (most > 1)} of each would tell"


def row_text(row: dict[str, Any]) -> str:
    """Name a row of a profile with its values, difference and interval."""
    subject = row["stereotype"] or row["category"] or "all stereotypes"
    names = (row[name] for name in ("instrument", "study", "dimension", "mode"))
    before, after = (_number(row[f"{run}_estimate"]) for run in ("baseline", "candidate"))
    return (
        f"{subject} ({', '.join(filter(None, names))}) {before} -> {after}, {difference_text(row)}"
    )


def difference_text(row: Mapping[str, Any]) -> str:
    """Write a difference with the interval that its verdict rests on."""
    among = row["pointwise_low"] is None or (row["verdict"] or "").startswith((WORSE, BETTER))
    which = "ci" if among else "pointwise"
    mean, *ends = (_number(row[c], "+") for c in ("estimate", f"{which}_low", f"{which}_high"))
    return f"{mean} [{', '.join(ends)}]" if row["ci_low"] is not None else mean


def _number(value: float | None, sign: str = "") -> str:
    """Write a number with two digits; 0 has no sign."""
    if value is None:
        return "–"
    text = f"{value:{sign}.2f}"
    return text if float(text) else "0.00"
