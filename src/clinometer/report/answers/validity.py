"""Whether an instrument is valid on a model: its controls, and its reliability beside them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import polars as pl

from clinometer.report.answers.instrument import MOST_ANSWERS
from clinometer.report.answers.results import InstrumentResults
from clinometer.report.prose import number
from clinometer.report.sections import Finding
from clinometer.results.verdicts import FAILED, PASSED

__all__ = ["Judged", "judged", "validity"]

#: Kind of a control → what is said where it was not asked.
_KINDS = {"positive": "positive control", "negative": "placebo"}

#: What is said where so many kinds of control passed, and none failed.
_PASSED = ("not tested", "partly tested", "valid")


class Judged(NamedTuple):
    """What the controls say of one model and mode."""

    verdict: str  # valid, not valid, partly tested, not tested
    outcomes: tuple[str, ...]  # of the positive and the negative control
    reliability: str

    @property
    def failed(self) -> str:
        """Name the controls that did not pass or were not asked."""
        return ", ".join(one for one in self.outcomes if not one.endswith(f" {PASSED}"))


def validity(asked: InstrumentResults) -> Finding | None:
    """Say in one line whether the instrument is valid on each model, per mode.

    Valid: every positive control and every placebo passed. Not valid: one failed. Partly tested or
    not tested: one kind of control, or both, was not asked or is not known. None where there are no
    estimates.
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


def judged(asked: InstrumentResults) -> dict[tuple[str | None, str], Judged]:
    """Judge each model and mode by its controls, and state its reliability."""
    runs = asked.each.select("model", "control_mode").unique(maintain_order=True).rows()
    return {(model, mode): _judged(asked, model, mode) for model, mode in runs}


def _judged(asked: InstrumentResults, model: str | None, mode: str) -> Judged:
    same = pl.col("model").eq_missing(pl.lit(model)) & (pl.col("control_mode") == mode)
    checks = asked.checks.filter(same)
    found = {kind: _worst(checks.filter(control=kind)["verdict"].to_list()) for kind in _KINDS}
    says = tuple(
        f"{name} {found[kind]}" if found[kind] else f"no {name}" for kind, name in _KINDS.items()
    )
    number = [*found.values()].count(PASSED)
    verdict = "not valid" if FAILED in found.values() else _PASSED[number]
    return Judged(verdict, says, _reliability(asked, model, mode))


def _worst(verdicts: list[str]) -> str:
    """Return the worst verdict of some controls of a kind; empty where there is none."""
    others = (one for one in verdicts if one != PASSED)
    failed = FAILED if FAILED in verdicts else next(others, "")
    return failed or (PASSED if verdicts else "")


def _reliability(asked: InstrumentResults, model: str | None, mode: str) -> str:
    """State the split-half reliability; of several dimensions, the lowest and the highest."""
    same = pl.col("model").eq_missing(pl.lit(model)) & (pl.col("control_mode") == mode)
    rows = asked.tables.reliability.filter(same, measure="split_half").drop_nulls("estimate")
    if rows.is_empty():
        return "reliability not known"
    ends = pl.col("estimate").min().alias("low"), pl.col("estimate").max().alias("high")
    low, high = map(number, rows.select(ends).row(0))
    return f"split-half reliability {low if low == high else f'{low} to {high}'}"
