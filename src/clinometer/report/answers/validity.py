"""Whether an instrument is valid on a model: its controls, and its reliability beside them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import polars as pl

from clinometer.report.answers.instrument import MOST_ANSWERS, failed_control
from clinometer.report.answers.results import Asked
from clinometer.report.prose import number
from clinometer.report.sections import Finding

__all__ = ["Judged", "judged", "validity"]

#: Kind of a control → what is said where it passes, fails, and was not asked.
_OUTCOMES = {
    "positive": ("positive control detected", "positive control not detected",
                 "no positive control"),
    "negative": ("no effect in the placebo", "an effect in the placebo", "no placebo"),
}  # fmt: skip


#: What is said where so many kinds of control were asked, and none failed.
_PASSED = ("not tested", "partly tested", "valid")


class Judged(NamedTuple):
    """What the controls say of one model and mode."""

    verdict: str  # valid, not valid, partly tested, not tested
    outcomes: tuple[str, ...]  # of the positive and the negative control
    reliability: str

    @property
    def failed(self) -> str:
        """Name the controls that failed or were not asked."""
        passed = [says[0] for says in _OUTCOMES.values()]
        return ", ".join(one for one in self.outcomes if one not in passed)


def validity(asked: Asked) -> Finding | None:
    """Say in one line whether the instrument is valid on each model, per mode.

    Valid: it detects the known association of the positive control, and none in the placebo. Not
    valid: a control fails. Partly tested or not tested: one kind of control, or both, was not
    asked. None where there are no estimates.
    """
    runs = judged(asked)
    if not runs:
        return None
    if len(runs) > MOST_ANSWERS:
        counts = Counter(one.verdict for one in runs.values())
        said = [f"{verdict} in {n} of {len(runs)}" for verdict, n in counts.items()]
        return Finding("Validity", f"Models and modes: {', '.join(said)}.")
    said = [
        f"{model}, mode {mode}: {one.verdict} ({', '.join([*one.outcomes, one.reliability])})"
        for (model, mode), one in runs.items()
    ]
    return Finding("Validity", f"{'; '.join(said)}.")


def judged(asked: Asked) -> dict[tuple[str | None, str], Judged]:
    """Judge each model and mode by its controls, and state its reliability."""
    runs = asked.each.select("model", "control_mode").unique(maintain_order=True).rows()
    return {(model, mode): _judged(asked, model, mode) for model, mode in runs}


def _judged(asked: Asked, model: str | None, mode: str) -> Judged:
    failed = _failed(asked, model, mode)
    outcomes = tuple(says[failed.get(kind, 2)] for kind, says in _OUTCOMES.items())
    verdict = "not valid" if any(failed.values()) else _PASSED[len(failed)]
    return Judged(verdict, outcomes, _reliability(asked, model, mode))


def _failed(asked: Asked, model: str | None, mode: str) -> dict[str, bool]:
    """Say of each kind of control that was asked whether one of them fails."""
    expected = dict(asked.plan.pairs("controls"))
    failed: dict[str, bool] = {}
    same = pl.col("model").eq_missing(pl.lit(model)) & (pl.col("control_mode") == mode)
    for row in asked.checks.filter(same).iter_rows(named=True):
        kind = expected.get(row["study"], "")
        if kind in _OUTCOMES:
            failed[kind] = failed.get(kind, False) or bool(failed_control(row, kind, asked.plan))
    return failed


def _reliability(asked: Asked, model: str | None, mode: str) -> str:
    """State the split-half reliability; of several dimensions, the lowest and the highest."""
    same = pl.col("model").eq_missing(pl.lit(model)) & (pl.col("control_mode") == mode)
    rows = asked.tables.reliability.filter(same, measure="split_half").drop_nulls("estimate")
    if rows.is_empty():
        return "reliability not known"
    ends = pl.col("estimate").min().alias("low"), pl.col("estimate").max().alias("high")
    low, high = map(number, rows.select(ends).row(0))
    return f"split-half reliability {low if low == high else f'{low} to {high}'}"
