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
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from clinometer.errors import InputError, unknown
from clinometer.results import Measure, Schema, as_estimates, check, columns
from clinometer.results.estimates import OTHER_MEASURES
from clinometer.results.schemas import MATCHES
from clinometer.statistics.clustered import (
    AMONG,
    Row,
    adjusted,
    benjamini_hochberg,
    by_method,
    check_confidence,
    cohen_d,
)
from clinometer.statistics.pooling import LIKE_THESE, OF_TARGET, THESE, Targets
from clinometer.statistics.summaries import (
    LEVEL_KEYS,
    NEVER_POOLED,
    SEEN_TOGETHER,
    UNBALANCED,
    keys_of,
    unbalanced_text,
)

__all__ = ["Changes", "Compared", "Contrasted", "TargetsByKey", "candidates", "contrasted",
           "seen_together"]  # fmt: skip

_GROUP_COLUMNS = (
    *("row", "subject", "level", "factor", "baseline", "candidate", "matched_by"),
    *(*NEVER_POOLED, *LEVEL_KEYS["cell"], "n"),
)
_ESTIMATE_COLUMNS = (
    *("measure", "n_scored", "estimate", "baseline_estimate", "candidate_estimate"),
    "n_stereotypes",
)

#: What a row of a difference has of the change of compliance, after ``compliance_``.
_COMPLIANCE_TESTS = ("estimate", "p", "ci_low", "ci_high")
_COMPLIANCE_COLUMNS = (*_COMPLIANCE_TESTS, "baseline_estimate", "candidate_estimate")

_COMPLIANCE_SCHEMA: Schema = {f"compliance_{name}": pl.Float64() for name in _COMPLIANCE_TESTS}
_THESE_SCHEMA: Schema = {
    **OF_TARGET,
    **columns("estimate", "tost_margin", "tost_p"),
    **columns("bound_low", "bound_high", "bound_ci_low", "bound_ci_high"),
    **_COMPLIANCE_SCHEMA,
}

#: The columns of a difference that depend on the others of its family.
_FAMILY_SCHEMA: Schema = {**AMONG, **columns("p_bh")}

#: Means for both targets, by level and keys: ``level, candidate``, then those of `keys_of`.
TargetsByKey = Mapping[tuple[Any, ...], Targets]


class Contrasted(NamedTuple):
    """Differences before the verdict, and the trials that were matched for them."""

    estimates: pl.DataFrame
    matches: pl.DataFrame
    targets: TargetsByKey = MappingProxyType({})  # of the scores, as `seen_together` needs them


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
    scores: TargetsByKey
    compliance: TargetsByKey
    # If missing scores make the difference least, and greatest; empty where none is missing.
    worst: tuple[TargetsByKey, TargetsByKey]


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
        tables.append(_add_inference(level, groups, changes, measure, settings))
    # Relaxed: a level whose rows are all null in a column has no type for it.
    rows = pl.concat(tables, how="diagonal_relaxed").with_columns(
        factor=pl.lit(settings.factor),
        baseline=pl.lit(settings.baseline),
        matched_by=pl.lit(settings.matched_by),
        pairing_gain=None,
    )
    family = ("level", "model", *SEEN_TOGETHER)
    estimates = seen_together(_as_estimates(rows, measure), changes.scores, family)
    return Contrasted(estimates, check(rows, MATCHES, "matches"), changes.scores)


def seen_together(
    differences: pl.DataFrame, targets: TargetsByKey, family: Sequence[str]
) -> pl.DataFrame:
    """Give each difference of scores the interval and the tests it has among its family.

    `differences` have columns of `results.ESTIMATES`, and those of `family`, which tell families
    apart besides the method; `targets` has the means that they were estimated from.
    """
    numbered = differences.with_row_index("row")
    tested = numbered.filter(pl.col("adjusted_over").is_not_null(), pl.col("p").is_not_null())
    tested = tested.with_columns(
        p_bh=adjusted(benjamini_hochberg, "method", *family),
        tests=pl.len().over("method", *family),
    )
    adjusted_rows = [_adjusted_row(row, targets) for row in tested.iter_rows(named=True)]
    adjusted_columns = pl.DataFrame(adjusted_rows, schema={"row": pl.UInt32(), **_FAMILY_SCHEMA})
    # With nulls: what a row has alone must not stay where it has nothing among its family.
    return numbered.update(adjusted_columns, on="row", include_nulls=True).drop("row")


def _adjusted_row(row: Mapping[str, Any], targets_by_key: TargetsByKey) -> dict[str, Any]:
    """Return the tests and the intervals of one difference among `tests` of its family."""
    keys = ("candidate", *keys_of(row["level"]))
    targets = targets_by_key[row["level"], *(row[name] for name in keys)]
    among_family = targets.mean(row["target"]).among(row["tests"], row["confidence"])
    return {"row": row["row"], **among_family, "p_bh": row["p_bh"]}


def _add_inference(
    level: str, groups: pl.DataFrame, changes: Changes, measure: Measure, settings: Compared
) -> pl.DataFrame:
    """Add the inference on each group, of its scores and its compliance."""
    keys = ("candidate", *keys_of(level))
    rows_for_these: list[Row] = []
    rows_like_these: list[Row] = []
    for group in groups.iter_rows(named=True):
        key = (level, *(group[name] for name in keys))
        scores = changes.scores.get(key)
        row = _row_for_these(scores, settings) | _bounds(key, changes, settings.confidence)
        row |= _compliance_change(changes.compliance.get(key), settings.confidence)
        rows_for_these.append(row)
        rows_like_these.append(scores.row(LIKE_THESE, settings.confidence) if scores else {})
    inferred = groups.hstack(pl.DataFrame(rows_for_these, schema=_THESE_SCHEMA)).with_columns(
        candidate_estimate=pl.col("baseline_estimate") + pl.col("estimate"),
        level=pl.lit(level),
        like_these=pl.Series(rows_like_these, dtype=pl.Struct(OF_TARGET)),
        conditional_on=pl.col("conditional_on") + unbalanced_text(),
    )
    return inferred.drop(*UNBALANCED)


def _bounds(key: tuple[Any, ...], changes: Changes, confidence: float) -> Row:
    """Return the worst cases with their interval, those of the scores where none is missing."""
    least, most = (case.get(key, changes.scores.get(key)) for case in changes.worst)
    # Never narrower than the interval of the scores, which is all there is where none is missing.
    lows: list[float] = []
    highs: list[float] = []
    for case in (changes.scores, *changes.worst):
        if key not in case:
            continue
        low, high = case[key].these.interval(confidence)
        lows += [] if low is None else [low]
        highs += [] if high is None else [high]
    return {
        "bound_low": least.these.mean if least else None,
        "bound_high": most.these.mean if most else None,
        "bound_ci_low": min(lows, default=None),
        "bound_ci_high": max(highs, default=None),
    }


def _row_for_these(targets: Targets | None, settings: Compared) -> Row:
    """Return the test and the interval for *these*, against the margin too."""
    if targets is None:
        return {}
    row = {"estimate": targets.these.mean, **targets.row(THESE, settings.confidence)}
    if settings.margin is None:
        return row
    return {**row, "tost_margin": settings.margin, "tost_p": targets.these.tost(settings.margin)}


def _compliance_change(targets: Targets | None, confidence: float) -> Row:
    """Return the change of compliance."""
    if targets is None:
        return {}
    change = {"estimate": targets.these.mean, **targets.these.row(confidence)}
    return {f"compliance_{name}": change[name] for name in _COMPLIANCE_TESTS}


def _as_estimates(rows: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Set out each difference by method, and the change of compliance under it."""
    span = measure.high - measure.low
    difference = replace(measure, low=-span, high=span, neutral=0.0)
    differences = rows.with_row_index("row").with_columns(
        subject="model",
        measure=pl.lit(measure.name),
        effect_size=cohen_d(),
        adjusted_over=pl.format(
            "{} differences of a model, study, instrument, mode, word list and scoring, over "
            "dimensions and candidates",
            "level",
        ),
    )
    # Columns of *these* make room for those of the same names in the struct.
    like_these = differences.drop(OF_TARGET).unnest("like_these").drop_nulls("se")
    like_these = like_these.select(
        *(*_GROUP_COLUMNS, *_ESTIMATE_COLUMNS, "adjusted_over"),
        *OF_TARGET,
        method=pl.lit("generalised"),
    )
    compliance = differences.select(
        *(*_GROUP_COLUMNS, "n_clusters", "target", "clustered_by", "conditional_on", "confidence"),
        measure=pl.lit("compliance"),
        method=pl.lit("clustered"),
        **{name: f"compliance_{name}" for name in _COMPLIANCE_COLUMNS},
    )
    by_methods = by_method(
        differences.drop("like_these"),
        [*_GROUP_COLUMNS, *_ESTIMATE_COLUMNS],
        like_these,
        compliance,
    )
    if rows["sd"].dtype == pl.Null:  # the papers' test is of pairs
        by_methods = by_methods.filter(pl.col("method") != "published")
    return as_estimates(by_methods, {**OTHER_MEASURES, measure.name: difference})
