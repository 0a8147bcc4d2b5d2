"""Controls: whether an instrument is shown to work on a model. One rule, for every reader.

Rule
    Only *passed* counts. A control without a verdict on its mean is not known: nothing scored, too
    few answers scored, no standard error.

    ==========  ==================================  ===============================================
    control     passed                              failed
    ==========  ==================================  ===============================================
    positive    the interval, and that of the       the interval does not reach beyond the margin
                bounds, lie beyond the margin
                toward `direction`
    negative    the interval has neutral in it,     otherwise: an effect where nothing is
                or lies within the margin
    ==========  ==================================  ===============================================

    A positive control between the two is not known: too few trials.

Reach
    A control speaks for what was asked of the same model alike: instrument, mode, conditions. One
    that was asked in the wordings of a study speaks for that study only; a control study, which has
    wordings of its own, for all. One with a dimension speaks for that dimension only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from clinometer.results.columns import CONDITIONS
from clinometer.results.ranges import rows_of_range
from clinometer.results.verdicts import (
    FAILED,
    NOT_KNOWN,
    NOT_KNOWN_CLUSTER,
    NOT_KNOWN_COMPLIANCE,
    NOT_KNOWN_NOTHING,
    PASSED,
)

__all__ = [
    "KINDS",
    "NOT_ASKED",
    "SPEAKS_FOR",
    "Control",
    "control_rows",
    "control_verdict",
    "controls_of",
    "describe_lacking_controls",
    "passed",
    "within_study",
]

KINDS = ("positive", "negative")

#: What is said of a kind of control that was not asked.
NOT_ASKED = "not asked"

#: Columns by which a control speaks for estimates of its model.
SPEAKS_FOR = ("instrument", "mode", *CONDITIONS, "word_list", "scoring")


@cache
def control_verdict(compliance_floor: float) -> pl.Expr:
    """Return the verdict of a mean of a control, of columns of `results.ESTIMATES`."""
    neutral, margin = pl.col("neutral"), pl.col("tost_margin")
    ends = {name: pl.col(name) - neutral for name in ("ci_low", "ci_high")}
    least = pl.coalesce("bound_ci_low", "ci_low") - neutral
    most = pl.coalesce("bound_ci_high", "ci_high") - neutral
    below = (pl.col("direction") == "below").fill_null(False)
    # Both ends toward `direction`: where that is below neutral, the interval is turned round.
    low = pl.when(below).then(-pl.max_horizontal(ends["ci_high"], most)).otherwise(
        pl.min_horizontal(ends["ci_low"], least)
    )  # fmt: skip
    high = pl.when(below).then(-ends["ci_low"]).otherwise(ends["ci_high"])
    within = (ends["ci_low"] > -margin) & (ends["ci_high"] < margin)
    has_effect = (pl.col("p_bh") < 1 - pl.col("confidence")) & ~within
    positive = pl.col("control") == "positive"
    # The first rule that applies; what is no positive control is a negative one.
    rules = (
        (pl.col("n_scored") == 0, NOT_KNOWN_NOTHING),
        (pl.col("compliance") < compliance_floor, NOT_KNOWN_COMPLIANCE),
        (pl.col("p").is_null(), NOT_KNOWN_CLUSTER),
        (positive & (low > margin), PASSED),
        (positive & (high <= margin), FAILED),
        (positive, NOT_KNOWN),
        (has_effect, FAILED),
    )
    verdicts = (pl.when(holds).then(pl.lit(verdict)) for holds, verdict in rules)
    return pl.coalesce(*verdicts, pl.lit(PASSED))


def control_rows(judged: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the rows of one kind of control, a row per stereotype, of judged estimates."""
    means = (pl.col("control") == kind) & pl.col("factor").is_null()  # and no differences
    rows = rows_of_range(judged, "other_prompts")
    return rows.filter(means, level="stereotype").drop_nulls("verdict")


def passed(judged: pl.DataFrame, kind: str, *, needed: bool) -> pl.Expr:
    """Return whether every control of a kind that speaks for a row passed.

    Without one, whether none is `needed`. Rows of all models together need it of each model.
    """
    if judged["control"].null_count() == judged.height:  # no control at all
        return pl.lit(not needed)
    rows = control_rows(judged, kind)
    within = within_study(judged)
    none_failed = ~_has_control(rows.filter(pl.col("verdict") != PASSED), within)
    return none_failed & _has_control(rows, within) if needed else none_failed


def within_study(judged: pl.DataFrame) -> pl.Expr:
    """Return whether a control was asked in the wordings of a study in which others are measured.

    `judged`: all estimates of the run. Else its study is a control throughout, and speaks for all.
    """
    measured = judged.filter(pl.col("control").is_null())["study"].drop_nulls().unique()
    return pl.col("study").is_in(measured.implode())


def _has_control(controls: pl.DataFrame, within: pl.Expr) -> pl.Expr:
    """Return whether one of the controls speaks for a row."""
    of_dimension = pl.col("dimension").is_not_null()
    by_reach = {("study",): within, (): ~within}
    by_dimension = {("dimension",): of_dimension, (): ~of_dimension}
    agrees = [pl.lit(False)]
    for reach, dimension in product(by_reach, by_dimension):
        some = controls.filter(by_reach[reach], by_dimension[dimension])
        if not some.is_empty():
            agrees.append(_agrees_with(some, *SPEAKS_FOR, *reach, *dimension))
    return pl.any_horizontal(agrees)


def _agrees_with(controls: pl.DataFrame, *keys: str) -> pl.Expr:
    """Return whether one of the controls has the same keys, and the same model if there is one."""
    of_model = _is_among(controls, ["model", *keys])
    of_any_model = _is_among(controls, [*keys])
    return of_model | (pl.col("model").is_null() & of_any_model)


def _is_among(controls: pl.DataFrame, columns: list[str]) -> pl.Expr:
    """Return whether a row agrees with one of the controls in all columns."""
    # As structs: null equals null within them, which it does not in a comparison of columns.
    return pl.struct(columns).is_in(controls.select(pl.struct(columns)).to_series().implode())


class Control(NamedTuple):
    """One control of what was asked, or that there is none."""

    kind: str  # positive or negative
    subject: Mapping[str, Any]  # instrument, mode, dimension
    outcome: str  # a verdict of control rows, or `NOT_ASKED`
    row: Mapping[str, Any] | None = None  # columns of `results.ESTIMATES`

    def __str__(self) -> str:
        """Name the control."""
        names = (self.subject[name] for name in ("instrument", "mode", "dimension"))
        return f"{self.kind} control of {', '.join(filter(None, names))}"


def controls_of(judged: pl.DataFrame, conditions: pl.DataFrame) -> Iterator[Control]:
    """Yield the controls that speak for what was asked, of judged estimates of one model.

    `conditions` has columns ``study``, of `SPEAKS_FOR` and `dimension`. A control study, and a
    control without a dimension, stands once for all that it speaks for.
    """
    within = within_study(judged)
    for key, part in conditions.group_by(SPEAKS_FOR, maintain_order=True):
        same_condition = [
            pl.col(name).eq_missing(pl.lit(value))
            for name, value in zip(SPEAKS_FOR, key, strict=True)
        ]
        estimates = judged.filter(*same_condition)
        subject = {"instrument": part["instrument"][0], "mode": part["mode"][0], "dimension": None}
        dimensions = part["dimension"].unique().to_list()
        studies = part["study"].unique(maintain_order=True)
        for kind in KINDS:
            rows = control_rows(estimates, kind)
            rows = rows.filter(~within | pl.col("study").is_in(studies.implode()))
            if None not in dimensions:
                speaks = pl.col("dimension").is_in(dimensions)
                rows = rows.filter(speaks.fill_null(True))  # without one it speaks for all
            of_all = rows.filter(~within)
            if of_all.is_empty() and not set(studies) <= set(rows["study"]):
                yield Control(kind, subject, NOT_ASKED)
            for row in rows.iter_rows(named=True):
                of_row = {**subject, "dimension": row["dimension"]}
                yield Control(kind, of_row, row["verdict"], row)


def describe_lacking_controls(controls: Iterable[Control]) -> str:
    """Name the controls that did not pass; empty where all did."""
    lacking = [control for control in controls if control.outcome != PASSED]
    if len(lacking) > 1 and all(control.outcome == NOT_ASKED for control in lacking):
        return f"{len(lacking)} controls were not asked (first: {lacking[0]})"
    return ", ".join(f"{control}: {control.outcome}" for control in lacking)
