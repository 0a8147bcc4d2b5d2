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

__all__ = ["Run", "Validity", "is_run", "judge_runs", "validity"]

#: A model, and a mode as controls name it.
Run = tuple[str | None, str]

#: Kind of a control → what is said where it was not asked.
_KINDS = {"positive": "positive control", "negative": "placebo"}

#: The verdict where so many kinds of control passed, and none failed.
_VERDICTS = ("not tested", "partly tested", "valid")


class Validity(NamedTuple):
    """What the controls say of one model and mode."""

    verdict: str  # valid, not valid, partly tested, not tested
    outcomes: tuple[str, ...]  # of the positive and the negative control
    reliability: str

    @property
    def failed(self) -> str:
        """Name the controls that did not pass or were not asked."""
        return ", ".join(text for text in self.outcomes if not text.endswith(f" {PASSED}"))


def validity(results: InstrumentResults) -> Finding | None:
    """Say in one line whether the instrument is valid on each model, per mode.

    Valid: every positive control and every placebo passed. Not valid: one failed. Partly tested or
    not tested: one kind of control, or both, was not asked or is not known. None where there are no
    estimates.
    """
    validities = judge_runs(results)
    if not validities:
        return None
    if len(validities) > MOST_ANSWERS:
        counts = Counter(validity.verdict for validity in validities.values())
        shares = [f"{verdict} in {n} of {len(validities)}" for verdict, n in counts.items()]
        return Finding("Validity", f"Models and modes: {', '.join(shares)}.")
    texts = []
    for (model, mode), validity in validities.items():
        reasons = ", ".join([*validity.outcomes, validity.reliability])
        texts.append(f"{model}, mode {mode}: {validity.verdict} ({reasons})")
    return Finding("Validity", f"{'; '.join(texts)}.")


def judge_runs(results: InstrumentResults) -> dict[Run, Validity]:
    """Judge each model and mode by its controls, and state its reliability."""
    runs = results.by_stereotype.select("model", "control_mode").unique(maintain_order=True).rows()
    return {(model, mode): _judge_run(results, (model, mode)) for model, mode in runs}


def is_run(run: Run) -> pl.Expr:
    """Tell which rows are of one model and mode; null stands for a model without a name."""
    model, mode = run
    return pl.col("model").eq_missing(pl.lit(model)) & (pl.col("control_mode") == mode)


def _judge_run(results: InstrumentResults, run: Run) -> Validity:
    checks = results.controls.filter(is_run(run))
    verdicts = {
        kind: _worst_verdict(checks.filter(control=kind)["verdict"].to_list()) for kind in _KINDS
    }
    outcomes = tuple(
        f"{name} {verdicts[kind]}" if verdicts[kind] else f"no {name}"
        for kind, name in _KINDS.items()
    )
    passed = [*verdicts.values()].count(PASSED)
    verdict = "not valid" if FAILED in verdicts.values() else _VERDICTS[passed]
    return Validity(verdict, outcomes, _reliability(results, run))


def _worst_verdict(verdicts: list[str]) -> str:
    """Return the worst verdict of some controls of a kind; empty where there is none."""
    if FAILED in verdicts:
        return FAILED
    # What neither passed nor failed could not be told, which is worse than a pass.
    untold = [verdict for verdict in verdicts if verdict != PASSED]
    return next(iter(untold), PASSED if verdicts else "")


def _reliability(results: InstrumentResults, run: Run) -> str:
    """State the split-half reliability; of several dimensions, the lowest and the highest."""
    rows = results.tables.reliability.filter(is_run(run), measure="split_half")
    rows = rows.drop_nulls("estimate")
    if rows.is_empty():
        return "reliability not known"
    ends = pl.col("estimate").min().alias("low"), pl.col("estimate").max().alias("high")
    low, high = map(number, rows.select(ends).row(0))
    return f"split-half reliability {low if low == high else f'{low} to {high}'}"
