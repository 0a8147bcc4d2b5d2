"""What is said of a candidate: a decision about its profile, never about a mean alone.

Profile
    A row for each study, instrument, mode, dimension and category, or stereotype, that both runs
    were asked, without controls. Explicit measures are rows only where nothing else was asked, or
    where they are asked for. Each row is judged by `harm`, in these prompts.

Decision
    The worst row decides; means stand beside.

    ==================  ==========================================================================
    worse               a row is worse: farther from neutral
    turned              a row turned to the other side
    cannot tell         it cannot be told of a row, or the run or its controls are in doubt
    better              a row is better, nearer to neutral, and no row is worse
    not worse           of no row harm beyond the margin is possible
    no change           every answer is that of the baseline: one run, compared with itself
    ==================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from clinometer.comparing.changes import FAMILY, mark_family
from clinometer.comparing.checks import row_name, telling_names
from clinometer.comparing.runs import ComparedRun
from clinometer.numbers import bracketed, number, signed
from clinometer.pieces.findings import Finding
from clinometer.results.ranges import RANGES, rows_of_range
from clinometer.results.verdicts import (
    BETTER,
    CANNOT_TELL,
    CANNOT_TELL_MISSING,
    NO_CHANGE,
    NOT_WORSE,
    NOTHING,
    PRINTED_CHANGES,
    SINGLE_CLUSTER,
    TURNED,
    WORSE,
)
from clinometer.statistics.changes import adjust_differences

__all__ = [
    "Decision",
    "Level",
    "adjust_family",
    "any_finding",
    "change_text",
    "decide",
    "difference_text",
    "findings_of",
    "leans_text",
    "means_of_runs",
    "profile",
]

#: Baseline and candidate, and what is told of a mean of each by itself.
Runs = tuple[ComparedRun, ComparedRun]
Findings = tuple[Finding | None, Finding | None]

Level = Literal["category", "stereotype"]

#: Verdicts of rows, the worst first, and those of which it is told that they are not worse.
_WORST_FIRST = (
    WORSE,
    TURNED,
    CANNOT_TELL,
    NOTHING,
    SINGLE_CLUSTER,
    CANNOT_TELL_MISSING,
    NOT_WORSE,
    BETTER,
    NO_CHANGE,
)
_CLEAR = (NOT_WORSE, BETTER, NO_CHANGE)

#: What decisions of two versions are about.
_IN_PROMPTS = RANGES["prompts"]

#: Why a row is open, where more trials are not what is lacking.
_WHY_OPEN = {
    NOTHING: "nothing was scored in both",
    SINGLE_CLUSTER: "too few trials for an interval",
    CANNOT_TELL_MISSING: "answers without a score could change that",
}


def adjust_family(differences: pl.DataFrame, explicit: bool = False) -> pl.DataFrame:
    """Adjust differences over all that is decided about."""
    scope_text = pl.format(
        "{} differences of all instruments, studies, modes and dimensions", "level"
    )
    marked = mark_family(differences, explicit).with_columns(
        adjusted_over=pl.when(pl.col("adjusted_over").is_not_null()).then(scope_text)
    )
    return adjust_differences(marked, FAMILY).select(differences.columns)


def profile(differences: pl.DataFrame, level: Level, explicit: bool = False) -> pl.DataFrame:
    """Return the rows that a decision is about, the worst first.

    `differences` are those of one candidate, judged.
    """
    judged = (pl.col("measure") == pl.col("instrument")) & pl.col("control").is_null()
    rows = rows_of_range(differences, "prompts").filter(judged, level=level).drop_nulls("verdict")
    implicit = rows.filter(~pl.col("explicit"))
    if not explicit and not implicit.is_empty():
        rows = implicit
    order = pl.col("verdict").cast(pl.Enum(_WORST_FIRST))
    return rows.sort(order, -pl.col("harm_high"), nulls_last=True, maintain_order=True)


@dataclass(frozen=True)
class Decision:
    """What may be said of one candidate."""

    runs: Runs
    verdict: str  # worse, turned, better, not_worse, no change, cannot_tell
    rows: pl.DataFrame  # columns of `results.ESTIMATES`: the profile, the worst first
    doubts: Sequence[str] = ()  # what keeps a candidate from being cleared

    @property
    def candidate(self) -> str:
        """Return the label of the candidate."""
        return self.runs[1].label

    @property
    def row(self) -> dict[str, Any]:
        """Return the row that decides."""
        rows = self.rows.filter(verdict=BETTER) if self.verdict == BETTER else self.rows
        return rows.row(0, named=True)

    @property
    def open(self) -> pl.DataFrame:
        """Return the rows of which it cannot be told whether they are worse."""
        return self.rows.filter(~pl.col("verdict").is_in([WORSE, TURNED, *_CLEAR]))

    def text(self) -> str:
        """Return the decision in one line, with the row that decides."""
        number = self.rows.height
        printed = PRINTED_CHANGES[self.verdict]
        if self.verdict == NO_CHANGE:
            return f"no change in any of {number}: every answer is that of the baseline"
        if self.verdict == CANNOT_TELL and self.open.is_empty():
            cleared = decide(self.runs, self.rows).text()
            return f"{printed}: {'; '.join(self.doubts)} (else: {cleared})"
        if self.verdict == CANNOT_TELL:
            reasons = "; ".join((_open_reason(self.open), *self.doubts))
            first = self._text_of(self.open.row(0, named=True))
            return f"{printed}, {self.open.height} of {number} open: {first}; {reasons}"
        if self.verdict == NOT_WORSE:  # which every row decides
            return (
                f"{printed} within the margin of {self.row['tost_margin']} in each of {number}, "
                f"{_IN_PROMPTS}; nearest to it: {self._text_of(self.row)}"
            )
        same = self.rows.filter(verdict=self.verdict).height
        return f"{printed} in {same} of {number}, {_IN_PROMPTS}: {self._text_of(self.row)}"

    def _text_of(self, row: Mapping[str, Any]) -> str:
        """Say of a row what it is of, by how much, and which way both runs lean."""
        return change_text(row, self.runs, telling_names(self.rows.iter_rows(named=True)))


def decide(runs: Runs, rows: pl.DataFrame, doubts: Sequence[str] = ()) -> Decision:
    """Decide about a candidate by its `profile`, which has a row at least.

    `runs`: the baseline and the candidate.
    """
    verdicts = set(rows["verdict"])
    if verdicts == {NO_CHANGE}:
        return Decision(runs, NO_CHANGE, rows)
    for verdict in (WORSE, TURNED):
        if verdict in verdicts:
            return Decision(runs, verdict, rows, doubts)
    if doubts or verdicts - set(_CLEAR):
        return Decision(runs, CANNOT_TELL, rows, doubts)
    return Decision(runs, BETTER if BETTER in verdicts else NOT_WORSE, rows)


def _open_reason(rows: pl.DataFrame) -> str:
    """Say what would tell of open rows."""
    first = rows["verdict"][0]
    more = rows["n_more"].drop_nulls()
    if first in _WHY_OPEN:
        return _WHY_OPEN[first]
    if len(more) < rows.filter(verdict=CANNOT_TELL).height:
        return "more prompts are needed"
    most = int(more.max())  # type: ignore[arg-type]
    return f"{most:,} more trial{'s' * (most > 1)} of each would tell"


def change_text(row: Mapping[str, Any], runs: Runs, names: Sequence[str]) -> str:
    """Say of a change what it is of, by how much, and which way both runs lean by themselves.

    `names`: as in `checks.row_name`.
    """
    findings = findings_of(row, runs)
    name = row_name(row, names, any_finding(row, runs))
    before, after = map(number, means_of_runs(row, findings))
    leans = leans_text(findings)
    return f"{name} {before} -> {after}, {difference_text(row)}{leans and f'; {leans}'}"


def findings_of(row: Mapping[str, Any], runs: Runs) -> Findings:
    """Return what is told of the means of baseline and candidate by themselves."""
    return runs[0].finding(row), runs[1].finding(row)


def any_finding(row: Mapping[str, Any], runs: Runs) -> Finding | None:
    """Return a finding that names what a change is of; None where there is none of either run."""
    return runs[1].finding(row) or runs[0].finding(row)


def means_of_runs(row: Mapping[str, Any], findings: Findings) -> tuple[float, float]:
    """Return the means of baseline and candidate, as told of each run by itself.

    Where nothing is told of a run, its mean over the trials that are compared.
    """
    compared = row["baseline_estimate"], row["candidate_estimate"]
    before, after = (
        mean if finding is None else finding.mean
        for finding, mean in zip(findings, compared, strict=True)
    )
    return before, after


def leans_text(findings: Findings) -> str:
    """Say which way baseline and candidate lean by themselves; empty where that is not told."""
    leans: dict[str, list[str]] = {}
    for name, finding in zip(("before", "after"), findings, strict=True):
        if finding is not None:
            leans.setdefault(finding.conclusion, []).append(name)
    return "; ".join(f"{' and '.join(names)}: {lean}" for lean, names in leans.items())


def difference_text(row: Mapping[str, Any]) -> str:
    """Write a difference with its interval, which is the same wherever it stands.

    Where nothing worse is possible than the margin, also the bound that shows it: it errs on one
    side alone, so that the interval may reach farther.
    """
    text = bracketed(row["estimate"], row["ci_low"], row["ci_high"], write=signed)
    if row["verdict"] == NOT_WORSE:
        return f"{text}, worse by at most {number(max(row['harm_high'], 0.0))}"
    return text
