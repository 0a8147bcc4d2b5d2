"""Rows of a comparison: differences with tests, intervals, and how many trials would tell more.

Measures
    A difference is candidate − baseline, in the unit of the score; neutral 0. With a margin, the
    largest difference that does not matter, each row also has the equivalence test.

Two intervals
    The interval that holds for all rows of a family at once (Bonferroni): `ci_low` to `ci_high`;
    and that of each alone: `pointwise_low` to `pointwise_high`. `comparing.harm` has what follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from clinometer.errors import InputError, unknown
from clinometer.results import Measure, Schema, as_estimates, check, columns
from clinometer.results.estimates import COMMON_MEASURES
from clinometer.results.schemas import MATCHES
from clinometer.statistics.clustered import (
    Row,
    adjusted,
    benjamini_hochberg,
    bonferroni_confidence,
    by_method,
    check_confidence,
    cohen_d,
    table_columns,
)
from clinometer.statistics.means import METHODS, RANGES, Ranges
from clinometer.statistics.rows import TESTED, mean_of_row, tested_row
from clinometer.statistics.summaries import (
    FAMILY_KEYS,
    LEVEL_KEYS,
    NEVER_POOLED,
    UNBALANCED,
    keys_of,
    unbalanced_text,
)

#: What tells groups apart beside the candidate.
_GROUP_KEYS = ("level", *NEVER_POOLED, *LEVEL_KEYS["cell"])

_GROUP_COLUMNS = (
    "row",
    "subject",
    "level",
    "factor",
    "baseline",
    "candidate",
    "matched_by",
    *NEVER_POOLED,
    *LEVEL_KEYS["cell"],
    "n",
)
_ESTIMATE_COLUMNS = (
    "measure",
    "n_scored",
    "estimate",
    "baseline_estimate",
    "candidate_estimate",
    "n_stereotypes",
)

#: What a row of a difference has of the change of compliance, after ``compliance_``.
_COMPLIANCE_TESTS = ("estimate", "p", "ci_low", "ci_high")
_COMPLIANCE_COLUMNS = (*_COMPLIANCE_TESTS, "baseline_estimate", "candidate_estimate")

_COMPLIANCE_SCHEMA: Schema = {f"compliance_{name}": pl.Float64() for name in _COMPLIANCE_TESTS}
_RANGE_SCHEMA: Schema = {
    **TESTED,
    **columns("range", "clustered_by", "conditional_on", "estimate", "tost_margin", "tost_p"),
    **columns("bound_low", "bound_high", "bound_ci_low", "bound_ci_high"),
}

#: The columns of a difference that depend on the others of its family.
_FAMILY_SCHEMA: Schema = columns("p_bonferroni", "p_bh", "ci_low", "ci_high")

#: Means by level and keys: ``level, candidate``, then those of `keys_of`.
RangesByKey = Mapping[tuple[Any, ...], Ranges]


class Contrasted(NamedTuple):
    """Differences before the verdict, and the trials that were matched for them."""

    estimates: pl.DataFrame
    matches: pl.DataFrame


@dataclass(frozen=True)
class Compared:
    """What is compared, and how: the settings of a contrast."""

    factor: str
    baseline: str
    matched_by: str
    confidence: float
    margin: float | None

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        check_confidence(self.confidence)
        if self.margin is not None and not self.margin > 0:
            raise InputError(f"margin {self.margin}: must be above 0, in the unit of the scores")


@dataclass(frozen=True)
class Changes:
    """Differences before they are set out."""

    described: Mapping[str, pl.DataFrame]  # by level: a row per candidate and group
    scores: RangesByKey
    compliance: RangesByKey
    # If missing scores make the difference least, and greatest; empty where none is missing.
    worst: tuple[RangesByKey, RangesByKey]


def candidates(scores: pl.DataFrame, factor: str, baseline: str) -> list[str]:
    """Return the values of a factor that a baseline is compared with, sorted.

    Raises InputError if the baseline is missing, or nothing else was asked.
    """
    values = scores[factor].drop_nulls().unique().sort().to_list()
    if baseline not in values:
        raise InputError(f"baseline: {unknown(factor, baseline, values)}")
    if values == [baseline]:
        raise InputError(f"scores: {factor} is {baseline!r} throughout; nothing to compare with")
    return [name for name in values if name != baseline]


def contrasted(changes: Changes, measure: Measure, settings: Compared) -> Contrasted:
    """Set out differences: columns of `results.ESTIMATES` and of `results.schemas.MATCHES`."""
    tables = []
    for level, groups in changes.described.items():
        tables += [_add_inference(level, groups, changes, settings, name) for name in RANGES]
    # Relaxed: a level whose rows are all null in a column has no type for it.
    rows = pl.concat(tables, how="diagonal_relaxed").with_columns(
        factor=pl.lit(settings.factor),
        baseline=pl.lit(settings.baseline),
        matched_by=pl.lit(settings.matched_by),
        pairing_gain=None,
    )
    family = ("level", "model", *FAMILY_KEYS)
    estimates = adjust_differences(_as_estimates(rows, measure), family)
    return Contrasted(estimates, check(rows.filter(range="prompts"), MATCHES, "matches"))


def adjust_differences(differences: pl.DataFrame, family: Sequence[str]) -> pl.DataFrame:
    """Give each difference of scores the interval and the tests it has among its family.

    `differences` have columns of `results.ESTIMATES`, and those of `family`, which tell families
    apart besides the method.
    """
    numbered = differences.with_row_index("row")
    tested = numbered.filter(pl.col("adjusted_over").is_not_null(), pl.col("p").is_not_null())
    tested = tested.with_columns(
        p_bh=adjusted(benjamini_hochberg, "method", *family),
        tests=pl.len().over("method", *family),
    )
    adjusted_rows = [_adjusted_row(row) for row in tested.iter_rows(named=True)]
    adjusted_columns = pl.DataFrame(adjusted_rows, schema={"row": pl.UInt32(), **_FAMILY_SCHEMA})
    # With nulls: what a row has alone must not stay where it has nothing among its family.
    return numbered.update(adjusted_columns, on="row", include_nulls=True).drop("row")


def _adjusted_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tests and the interval of one difference among `tests` of its family."""
    mean = mean_of_row(row)
    assert mean is not None  # it has a test
    low, high = mean.interval(bonferroni_confidence(row["confidence"], row["tests"]))
    p_bonferroni = min(row["tests"] * row["p"], 1.0)
    adjusted_tests = {"p_bonferroni": p_bonferroni, "p_bh": row["p_bh"]}
    return {"row": row["row"], **adjusted_tests, "ci_low": low, "ci_high": high}


def _add_inference(
    level: str, groups: pl.DataFrame, changes: Changes, settings: Compared, range_name: str
) -> pl.DataFrame:
    """Add the inference on each group for a range, of its scores and its compliance."""
    keys = ("candidate", *keys_of(level))
    rows: list[Row] = []
    for group in groups.iter_rows(named=True):
        key = (level, *(group[name] for name in keys))
        row = _range_row(changes.scores.get(key), settings, range_name)
        row |= _bounds(key, changes, row, settings.confidence)
        rows.append(row | _compliance_change(changes.compliance.get(key), settings.confidence))
    schema = {**_RANGE_SCHEMA, **_COMPLIANCE_SCHEMA}
    inferred = groups.hstack(pl.DataFrame(rows, schema=schema)).with_columns(
        candidate_estimate=pl.col("baseline_estimate") + pl.col("estimate"),
        level=pl.lit(level),
        conditional_on=pl.col("conditional_on") + unbalanced_text(),
    )
    return inferred.drop(*UNBALANCED)


def _range_row(ranges: Ranges | None, settings: Compared, range_name: str) -> Row:
    """Return the test and the interval for a range, against the margin too."""
    row: Row = {"range": range_name, "tost_margin": settings.margin}
    if ranges is None:
        return row
    mean = ranges.mean(range_name)
    row |= {"clustered_by": ranges.varies(range_name), "conditional_on": ranges.fixed(range_name)}
    row["estimate"] = ranges.other_prompts.mean
    if mean is None:
        return row
    row |= tested_row(mean, settings.confidence)
    return row if settings.margin is None else {**row, "tost_p": mean.tost(settings.margin)}


def _bounds(
    key: tuple[Any, ...], changes: Changes, row: Mapping[str, Any], confidence: float
) -> Row:
    """Return the worst cases with their interval, those of the scores where none is missing.

    The interval is that of the worst cases in these prompts, and never narrower than the range's.
    """
    low, high = row.get("pointwise_low"), row.get("pointwise_high")
    ends = {"bound_low": row.get("estimate"), "bound_high": row.get("estimate")}
    least, most = (case.get(key) for case in changes.worst)
    if least is not None and least.prompts is not None:
        ends["bound_low"] = least.prompts.mean
        low = None if low is None else min(low, least.prompts.interval(confidence)[0])
    if most is not None and most.prompts is not None:
        ends["bound_high"] = most.prompts.mean
        high = None if high is None else max(high, most.prompts.interval(confidence)[1])
    return {**ends, "bound_ci_low": low, "bound_ci_high": high}


def _compliance_change(ranges: Ranges | None, confidence: float) -> Row:
    """Return the change of compliance, in these prompts."""
    if ranges is None or ranges.prompts is None:
        return {}
    change = {"estimate": ranges.prompts.mean, **tested_row(ranges.prompts, confidence)}
    return {f"compliance_{name}": change[name] for name in _COMPLIANCE_TESTS}


def _as_estimates(rows: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Set out each difference by method, and the change of compliance under it."""
    span = measure.high - measure.low
    difference = replace(measure, low=-span, high=span, neutral=0.0)
    # The ranges of a difference have the same number.
    numbered = rows.with_columns(
        row=pl.struct("candidate", *_GROUP_KEYS).rank("dense"),
        subject="model",
        measure=pl.lit(measure.name),
        effect_size=cohen_d(),
        method=pl.col("range").replace_strict(METHODS),
        adjusted_over=pl.format(
            "{} differences of a model, study, instrument, mode, word list and scoring, over "
            "dimensions and candidates",
            "level",
        ),
    )
    by_range = {name: numbered.filter(range=name) for name in RANGES}
    stereotypes = by_range["stereotypes"].drop_nulls("se")
    compliance = by_range["prompts"].select(
        *(*_GROUP_COLUMNS, "n_clusters", "range", "clustered_by", "conditional_on", "confidence"),
        measure=pl.lit("compliance"),
        method=pl.lit("bounded"),
        **{name: f"compliance_{name}" for name in _COMPLIANCE_COLUMNS},
    )
    by_methods = by_method(
        by_range["other_prompts"],
        [*_GROUP_COLUMNS, *_ESTIMATE_COLUMNS],
        *(table_columns(by_range["prompts"]), table_columns(stereotypes), compliance),
    )
    if rows["sd"].dtype == pl.Null:  # the papers' test is of pairs
        by_methods = by_methods.filter(pl.col("method") != "published")
    return as_estimates(by_methods, {**COMMON_MEASURES, measure.name: difference})
