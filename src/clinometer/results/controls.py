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
    negative    the interval lies within what is    the interval does not have neutral in it, and
                claimed                             reaches beyond the margin
    ==========  ==================================  ===============================================

    A control between the two is not known: too few trials. Claimed is the smallest lean that is
    told of what the control speaks for, other words not open; where none is told, the margin.
    Arbitrary words in place of a single one are no placebo: what they vary by is in the intervals
    of what they stand beside. They fail where there is an effect. Things that a single word is also
    said of are measured, and have the verdict of a mean.

Reach
    A control speaks for what was asked of the same model alike: instrument, mode, conditions. One
    that was asked in the wordings of a study speaks for that study only; a control study, which has
    wordings of its own, for all. One with a dimension speaks for that dimension only. A positive
    control with a construct speaks for stereotypes of that construct, for those that state none,
    and for means that have such stereotypes in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from clinometer.results.columns import CONDITIONS
from clinometer.results.ranges import is_open_in_words, rows_of_range
from clinometer.results.verdicts import (
    CONSISTENT,
    FAILED,
    NOT_KNOWN_CLUSTER,
    NOT_KNOWN_COMPLIANCE,
    NOT_KNOWN_NOTHING,
    PASSED,
    REVERSED,
    UNDECIDED,
    first_verdict,
    verdict_kind,
)

KINDS = ("positive", "negative")

#: Kinds of controls whose words name no group. `KINDS` lacks those that decide nothing.
NULLS = ("negative", "words", "things")

#: Of them those whose words are arbitrary, and tell what words vary by. Things are what the words
#: of a stereotype are also said of.
ARBITRARY = ("negative", "words")

#: Kinds whose rows have the verdict of `control_verdict`; those of others have that of a mean.
JUDGED_KINDS = (*KINDS, "words")

#: What is said of a kind of control that was not asked.
UNASKED = "not asked"

#: Columns by which a control speaks for estimates of its model.
CONTROL_KEYS = ("instrument", "mode", *CONDITIONS, "word_list", "scoring")


@cache
def control_verdict(compliance_floor: float) -> pl.Expr:
    """Return the verdict of a mean of a control, of columns of `results.ESTIMATES` and `claimed`.

    `claimed`: the distance from neutral that a placebo must lie within.
    """
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
    is_claimed = (ends["ci_low"] > -pl.col("claimed")) & (ends["ci_high"] < pl.col("claimed"))
    positive, placebo = pl.col("control") == "positive", pl.col("control") == "negative"
    return first_verdict(
        (pl.col("n_scored") == 0, NOT_KNOWN_NOTHING),
        (pl.col("compliance") < compliance_floor, NOT_KNOWN_COMPLIANCE),
        (pl.col("p").is_null(), NOT_KNOWN_CLUSTER),
        (positive & (low > margin), PASSED),
        (positive & (high <= margin), FAILED),
        (positive, UNDECIDED),
        (has_effect, FAILED),
        (placebo & ~is_claimed, UNDECIDED),
        otherwise=PASSED,
    )


def control_rows(judged: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the rows of one kind of control, a row per stereotype, of judged estimates."""
    means = (pl.col("control") == kind) & pl.col("factor").is_null()  # and no differences
    rows = rows_of_range(judged, "other_prompts")
    return rows.filter(means, level="stereotype").drop_nulls("verdict")


def with_claimed_leans(judged: pl.DataFrame) -> pl.DataFrame:
    """Add `claimed`: the smallest lean that is told of what a placebo speaks for, else the margin.

    `judged` has the verdicts of all but controls.
    """
    leans = rows_of_range(judged, "other_prompts").filter(
        pl.col("control").is_null() & pl.col("factor").is_null(),
        verdict_kind(pl.col("verdict")).is_in([CONSISTENT, REVERSED]),
        ~is_open_in_words(pl.col("conditional_on")),
    )
    leans = leans.with_columns(claimed=(pl.col("estimate") - pl.col("neutral")).abs())
    numbered = judged.with_row_index("row").with_columns(within=within_study(judged))
    smallest = []
    for row in numbered.filter(control="negative").iter_rows(named=True):
        keys = ["model", *CONTROL_KEYS]
        keys += ["study"] if row["within"] else []
        keys += ["dimension"] if row["dimension"] is not None else []
        alike = leans.filter(pl.col(key).eq_missing(pl.lit(row[key])) for key in keys)
        smallest.append({"row": row["row"], "claimed": alike["claimed"].min()})
    claimed = pl.DataFrame(smallest, schema={"row": pl.UInt32(), "claimed": pl.Float64()})
    claimed_rows = numbered.join(claimed, on="row", how="left", maintain_order="left")
    return claimed_rows.with_columns(pl.coalesce("claimed", "tost_margin")).drop("row", "within")


def passes_positive_controls(judged: pl.DataFrame) -> pl.Expr:
    """Return whether what is known was found of all constructs of a row.

    Of each, a positive control speaks for the row, and every one that does passed. Rows of all
    models together need it of each model.
    """
    rows = control_rows(judged, "positive")
    if rows.is_empty():
        return pl.lit(False)
    within = within_study(judged)
    passes = pl.lit(True)
    constructs = judged.filter(pl.col("control").is_null())["construct"].drop_nulls().unique()
    for construct in (None, *constructs):
        construct_rows = rows
        if construct is not None:
            construct_rows = rows.filter(
                pl.col("construct").is_null() | (pl.col("construct") == construct)
            )
        failed = construct_rows.filter(pl.col("verdict") != PASSED)
        passed = _has_control(construct_rows, within) & ~_has_control(failed, within)
        passes &= passed | ~_has_construct(judged, construct)
    return passes


def _has_construct(judged: pl.DataFrame, construct: str | None) -> pl.Expr:
    """Return whether a row is of a construct, or a mean of stereotypes of which one is.

    A mean of stereotypes that the table lacks is of none that is stated.
    """
    is_of_construct = pl.col("construct").eq_missing(pl.lit(construct, pl.String))
    is_stereotype = pl.col("level").is_in(["cell", "stereotype"])
    stereotypes = judged.filter(pl.col("control").is_null(), is_stereotype)
    in_mean = _is_in_mean(stereotypes.filter(is_of_construct))
    if construct is None:
        in_mean |= ~_is_in_mean(stereotypes)
    return pl.when(is_stereotype).then(is_of_construct).otherwise(in_mean)


def _is_in_mean(stereotypes: pl.DataFrame) -> pl.Expr:
    """Return whether one of the stereotypes is in the mean of a row, of a category or of all."""
    keys = [*CONTROL_KEYS, "study", "dimension"]
    is_in_category = _is_among(stereotypes, [*keys, "category"])
    is_in_all = _is_among(stereotypes, keys)
    return pl.when(pl.col("category").is_null()).then(is_in_all).otherwise(is_in_category)


def passes_placebos(judged: pl.DataFrame) -> pl.Expr:
    """Return whether every placebo that speaks for a row passed, and lies within the margin."""
    rows = control_rows(judged, "negative")
    if rows.is_empty():
        return pl.lit(True)
    far = pl.max_horizontal(
        (pl.col(end) - pl.col("neutral")).abs() for end in ("ci_low", "ci_high")
    )
    may_err = rows.filter((pl.col("verdict") != PASSED) | (far >= pl.col("tost_margin")))
    return ~_has_control(may_err, within_study(judged))


def within_study(judged: pl.DataFrame) -> pl.Expr:
    """Return whether a control was asked in the wordings of a study in which others are measured.

    `judged`: all estimates of the run. Else its study is a control throughout, and speaks for all.
    """
    measured = judged.filter(pl.col("control").is_null())["study"].drop_nulls().unique()
    return pl.col("study").is_in(measured.implode())


def _has_control(controls: pl.DataFrame, within: pl.Expr) -> pl.Expr:
    """Return whether one of the controls speaks for a row."""
    has_dimension = pl.col("dimension").is_not_null()
    by_reach = {("study",): within, (): ~within}
    by_dimension = {("dimension",): has_dimension, (): ~has_dimension}
    agrees = [pl.lit(False)]
    for reach, dimension in product(by_reach, by_dimension):
        some = controls.filter(by_reach[reach], by_dimension[dimension])
        if not some.is_empty():
            agrees.append(_agrees_with(some, *CONTROL_KEYS, *reach, *dimension))
    return pl.any_horizontal(agrees)


def _agrees_with(controls: pl.DataFrame, *keys: str) -> pl.Expr:
    """Return whether one of the controls has the same keys, and the same model if there is one."""
    matches_model = _is_among(controls, ["model", *keys])
    matches_keys = _is_among(controls, [*keys])
    return matches_model | (pl.col("model").is_null() & matches_keys)


def _is_among(controls: pl.DataFrame, columns: list[str]) -> pl.Expr:
    """Return whether a row agrees with one of the controls in all columns."""
    # As structs: null equals null within them, which it does not in a comparison of columns.
    return pl.struct(columns).is_in(controls.select(pl.struct(columns)).to_series().implode())


class Control(NamedTuple):
    """One control of what was asked, or that there is none."""

    kind: str  # positive or negative
    subject: Mapping[str, Any]  # instrument, mode, dimension
    outcome: str  # a verdict of control rows, or `UNASKED`
    row: Mapping[str, Any] | None = None  # columns of `results.ESTIMATES`

    @property
    def holds_for_changes(self) -> bool:
        """Whether it says enough of a change between two runs: what a placebo errs by cancels."""
        untold = self.kind == "negative" and self.outcome == UNDECIDED
        return untold or self.outcome == PASSED

    def lies_within(self, distance: float) -> bool:
        """Whether its interval lies so near to neutral."""
        if self.row is None or self.row["ci_low"] is None:
            return False
        ends = (self.row[end] - self.row["neutral"] for end in ("ci_low", "ci_high"))
        return all(abs(end) < distance for end in ends)

    def __str__(self) -> str:
        """Name the control."""
        names = (self.subject[name] for name in ("instrument", "mode", "dimension"))
        return f"{self.kind} control of {', '.join(filter(None, names))}"


def controls_of(judged: pl.DataFrame, decided: pl.DataFrame) -> Iterator[Control]:
    """Yield the controls that speak for what is decided about.

    A control study, and a control without a dimension, stands once for all that it speaks for.

    Parameters
    ----------
    judged
        Judged estimates of one model, columns of `results.ESTIMATES`.
    decided
        Estimates of the same columns, which may be differences: those that something is said of.
    """
    within = within_study(judged)
    for key, part in decided.group_by(CONTROL_KEYS, maintain_order=True):
        same_condition = [
            pl.col(name).eq_missing(pl.lit(value))
            for name, value in zip(CONTROL_KEYS, key, strict=True)
        ]
        estimates = judged.filter(*same_condition)
        subject = {"instrument": part["instrument"][0], "mode": part["mode"][0], "dimension": None}
        dimensions = part["dimension"].unique().to_list()
        studies = part["study"].unique(maintain_order=True)
        for kind in KINDS:
            rows = control_rows(estimates, kind)
            rows = rows.filter(~within | pl.col("study").is_in(studies.implode()))
            rows = rows.filter(_speaks_for_any(rows, estimates, part))
            if None not in dimensions:
                speaks = pl.col("dimension").is_in(dimensions)
                rows = rows.filter(speaks.fill_null(True))  # without one it speaks for all
            general_rows = rows.filter(~within)
            if general_rows.is_empty() and not set(studies) <= set(rows["study"]):
                yield Control(kind, subject, UNASKED)
            for row in rows.iter_rows(named=True):
                row_subject = {**subject, "dimension": row["dimension"]}
                yield Control(kind, row_subject, row["verdict"], row)


def _speaks_for_any(controls: pl.DataFrame, judged: pl.DataFrame, decided: pl.DataFrame) -> pl.Expr:
    """Return whether the construct of a control is that of something that is decided about."""
    states_none = _has_construct(judged, None)
    needed = [
        construct
        for construct in controls["construct"].drop_nulls().unique()
        if decided.select((_has_construct(judged, construct) | states_none).any()).item()
    ]
    return pl.col("construct").is_null() | pl.col("construct").is_in(needed)


def describe_lacking_controls(controls: Iterable[Control]) -> str:
    """Name the controls that do not say enough of a change; empty where all do."""
    lacking = [control for control in controls if not control.holds_for_changes]
    if len(lacking) > 1 and all(control.outcome == UNASKED for control in lacking):
        return f"{len(lacking)} controls were not asked (first: {lacking[0]})"
    return ", ".join(f"{control}: {control.outcome}" for control in lacking)
