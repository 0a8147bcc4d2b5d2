"""Whether an instrument is valid on a model: its controls, and its reliability beside them."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from clinometer.numbers import number
from clinometer.results.verdicts import FAILED, PASSED

#: A model, and a mode as controls name it.
Run = tuple[str | None, str]

#: Kind of a control → what is said where it was not asked.
_KINDS = {"positive": "positive control", "negative": "placebo"}

#: The verdict where a placebo failed, or positive controls did and none passed.
NOT_VALID = "not valid"

#: Verdicts with which more trials may show that there is no lean.
CLEARING = ("valid", "partly tested")

#: Verdict → as it is printed.
PRINTED_VALIDITY = {
    "valid": "works here",
    "valid in part": "works here for some kinds",
    NOT_VALID: "does not work here",
    "partly tested": "works here as far as is known",
    "not known": "not known whether it works here",
    "not tested": "not tested whether it works here",
}

#: The verdict where so many kinds of control passed, and none failed.
_VERDICTS = ("not known", "partly tested", "valid")


class Validity(NamedTuple):
    """What the controls say of one model and mode."""

    verdict: str  # valid, valid in part, not valid, partly tested, not known, not tested
    outcomes: tuple[str, ...]  # of the positive and the negative controls
    reliability: str

    @property
    def failed(self) -> str:
        """Name the controls that did not pass or were not asked."""
        return ", ".join(text for text in self.outcomes if f" {PASSED}" not in text)


def judge_runs(
    estimates: pl.DataFrame, controls: pl.DataFrame, reliability: pl.DataFrame
) -> dict[Run, Validity]:
    """Judge each model and mode of an instrument by its controls, and state its reliability.

    Valid: every positive control and every placebo passed. Not valid: a placebo failed, or positive
    controls did and none passed. Valid in part: those of some constructs failed, of others passed.
    Partly tested: one kind of control was not asked or is not known. Not known: neither passed. Not
    tested: neither was asked.

    `estimates`: of its stereotypes; their models and modes are judged.
    `controls`: the estimates of its controls.
    `reliability`: its coefficients of reliability.
    """
    runs = estimates.select("model", "control_mode").unique(maintain_order=True).rows()
    validities = {}
    for run in runs:
        checks, coefficients = controls.filter(is_run(run)), reliability.filter(is_run(run))
        validities[run] = _judge_run(checks, coefficients.filter(measure="split_half"))
    return validities


def is_run(run: Run) -> pl.Expr:
    """Tell which rows are of one model and mode; null stands for a model without a name."""
    model, mode = run
    return pl.col("model").eq_missing(pl.lit(model)) & (pl.col("control_mode") == mode)


def _judge_run(checks: pl.DataFrame, halves: pl.DataFrame) -> Validity:
    """Judge a model and mode by its controls."""
    by_kind = {name: checks.filter(control=kind) for kind, name in _KINDS.items()}
    outcomes = tuple(text for kind in by_kind.items() for text in _outcome_texts(*kind))
    verdict = _verdict(*(kind_checks["verdict"] for kind_checks in by_kind.values()))
    return Validity(verdict, outcomes, _reliability(halves))


def _verdict(positive: pl.Series, negative: pl.Series) -> str:
    """Return the verdict that the verdicts of both kinds of controls give; see `judge_runs`."""
    if positive.is_empty() and negative.is_empty():
        return "not tested"
    failed = positive == FAILED
    if (negative == FAILED).any() or (failed.any() and not (positive == PASSED).any()):
        return NOT_VALID
    if failed.any():
        return "valid in part"
    passed = [not kind.is_empty() and (kind == PASSED).all() for kind in (positive, negative)]
    return _VERDICTS[sum(passed)]


def _outcome_texts(name: str, checks: pl.DataFrame) -> list[str]:
    """Say what controls of a kind say; where constructs differ, which each verdict is of."""
    if checks.is_empty():
        return [f"no {name}"]
    verdicts: dict[str, list[str]] = {}
    for (construct,), construct_checks in checks.group_by("construct", maintain_order=True):
        verdict = _worst_verdict(construct_checks["verdict"].to_list())
        verdicts.setdefault(verdict, []).append(str(construct or "others"))
    if len(verdicts) == 1:
        return [f"{name} {verdict}" for verdict in verdicts]
    return [
        f"{name} {verdict} ({', '.join(constructs)})" for verdict, constructs in verdicts.items()
    ]


def _worst_verdict(verdicts: list[str]) -> str:
    """Return the worst of some verdicts of controls."""
    if FAILED in verdicts:
        return FAILED
    # What neither passed nor failed could not be told, which is worse than a pass.
    return next((verdict for verdict in verdicts if verdict != PASSED), PASSED)


def _reliability(halves: pl.DataFrame) -> str:
    """State the split-half reliability; of several dimensions, the lowest and the highest."""
    rows = halves.drop_nulls("estimate")
    if rows.is_empty():
        return "reliability not known"
    ends = pl.col("estimate").min().alias("low"), pl.col("estimate").max().alias("high")
    low, high = map(number, rows.select(ends).row(0))
    return f"split-half reliability {low if low == high else f'{low} to {high}'}"
