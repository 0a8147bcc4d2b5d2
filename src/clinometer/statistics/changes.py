"""Rows of a comparison: differences with tests, intervals, and how many trials would tell more.

Measures
    A difference is candidate − baseline, in the unit of the score; neutral 0. With a margin, the
    largest difference that does not matter, each row also has the equivalence test and the number
    of further trials that would give a verdict: its own interval has to end within the margin, or
    that of all rows together on one side of 0. The part of the variance that wordings have does not
    fall with more trials in the same wordings; where it alone is too large, no number of trials
    helps.

Two intervals
    That a row is worse or better is told among all rows of its family, by the interval that holds
    for all of them at once (Bonferroni): `ci_low` to `ci_high`. That every row ends within the
    margin needs no adjustment (Berger 1982, Technometrics 24(4), 295–300), and is told by the
    interval of each alone: `pointwise_low` to `pointwise_high`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from clinometer.errors import InputError, unknown
from clinometer.results import Measure, Schema, as_estimates, check, columns
from clinometer.results.estimates import OTHER_MEASURES
from clinometer.results.schemas import MATCHES
from clinometer.results.verdicts import ONE_ORDER
from clinometer.statistics.clustered import (
    AMONG,
    Row,
    adjusted,
    benjamini_hochberg,
    by_method,
    check_confidence,
    cohen_d,
    together,
)
from clinometer.statistics.pooling import LIKE_THESE, OF_TARGET, THESE, Targets
from clinometer.statistics.summaries import LEVEL_KEYS, NEVER_POOLED, SEEN_TOGETHER, keys_of

__all__ = ["Changes", "Compared", "Contrasted", "Found", "candidates", "contrasted",
           "seen_together"]  # fmt: skip

_STATED = (
    *("row", "subject", "level", "factor", "baseline", "candidate", "matched_by"),
    *(*NEVER_POOLED, *LEVEL_KEYS["cell"], "n"),
)
_ESTIMATED = (
    *("measure", "n_scored", "estimate", "baseline_estimate", "candidate_estimate"),
    "n_stereotypes",
)

#: What is stated of the change of compliance; in the rows of differences, after ``compliance_``.
_TESTED_COMPLIANCE = ("estimate", "p", "ci_low", "ci_high")
_OF_COMPLIANCE = (*_TESTED_COMPLIANCE, "baseline_estimate", "candidate_estimate")

_OF_CHANGE: Schema = {f"compliance_{name}": pl.Float64() for name in _TESTED_COMPLIANCE}
_OF_THESE: Schema = {
    **OF_TARGET,
    **columns("estimate", "tost_margin", "tost_p"),
    **columns("bound_low", "bound_high", "bound_ci_low", "bound_ci_high"),
    **_OF_CHANGE,
}

#: What is told of a difference among those of its family.
_OF_FAMILY: Schema = {**AMONG, **columns("p_bh", "n_more")}

#: With more times as many trials it is other wordings that are needed.
_MOST_TIMES = 1e4

#: A difference, by level and keys: ``level, candidate``, then those of `keys_of`.
Found = Mapping[tuple[Any, ...], Targets]


class Contrasted(NamedTuple):
    """Differences before the verdict, and the trials that were matched for them."""

    estimates: pl.DataFrame
    matches: pl.DataFrame
    found: Found = MappingProxyType({})  # of the scores, for `seen_together`


@dataclass(frozen=True)
class Compared:
    """What is compared, and how."""

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
    scores: Found
    compliance: Found
    worst: tuple[Found, Found]  # if missing scores make it least, and greatest; empty: none missing


def candidates(scores: pl.DataFrame, factor: str, baseline: str) -> list[str]:
    """Return the values of a factor that a baseline is compared with, sorted.

    Raises InputError if the baseline is missing, or nothing else was asked.
    """
    known = scores[factor].drop_nulls().unique().sort().to_list()
    if baseline not in known:
        raise InputError(f"baseline: {unknown(factor, baseline, known)}")
    if known == [baseline]:
        raise InputError(f"scores: {factor} is {baseline!r} throughout; nothing to compare with")
    return [name for name in known if name != baseline]


def contrasted(changes: Changes, measure: Measure, how: Compared) -> Contrasted:
    """Set out differences: columns of `results.ESTIMATES` and of `results.schemas.MATCHES`."""
    described = changes.described.items()
    levels = [_inferred(level, rows, changes, measure, how) for level, rows in described]
    rows = pl.concat(levels, how="diagonal_relaxed").with_columns(
        factor=pl.lit(how.factor),
        baseline=pl.lit(how.baseline),
        matched_by=pl.lit(how.matched_by),
        pairing_gain=None,
    )
    family = ("level", "model", *SEEN_TOGETHER)
    estimates = seen_together(_as_estimates(rows, measure), changes.scores, family)
    return Contrasted(estimates, check(rows, MATCHES, "matches"), changes.scores)


def seen_together(differences: pl.DataFrame, found: Found, family: Sequence[str]) -> pl.DataFrame:
    """Give each difference of scores the interval and the tests it has among its family.

    `differences` have columns of `results.ESTIMATES`, and those of `family`, which tell families
    apart besides the method; `found` has what they were estimated from.
    """
    numbered = differences.with_row_index("row")
    tested = numbered.filter(pl.col("adjusted_over").is_not_null(), pl.col("p").is_not_null())
    tested = tested.with_columns(
        p_bh=adjusted(benjamini_hochberg, "method", *family),
        tests=pl.len().over("method", *family),
    )
    told = [_among(row, found) for row in tested.iter_rows(named=True)]
    among = pl.DataFrame(told, schema={"row": pl.UInt32(), **_OF_FAMILY})
    return numbered.update(among, on="row", include_nulls=True).drop("row")


def _among(row: Mapping[str, Any], found: Found) -> dict[str, Any]:
    """Return what is told of one of so many differences."""
    targets = found[row["level"], *(row[name] for name in ("candidate", *keys_of(row["level"])))]
    confidence, tests = row["confidence"], row["tests"]
    more = _more(targets, row) if row["tost_margin"] is not None else None
    among = targets.mean(row["target"]).among(tests, confidence)
    return {"row": row["row"], **among, "p_bh": row["p_bh"], "n_more": more}


def _inferred(
    level: str, described: pl.DataFrame, changes: Changes, measure: Measure, how: Compared
) -> pl.DataFrame:
    """Add the inference on each group, of its scores and its compliance."""
    these, other = [], []
    for row in described.iter_rows(named=True):
        key = (level, *(row[name] for name in ("candidate", *keys_of(level))))
        found, compliance = changes.scores.get(key), changes.compliance.get(key)
        change = _change(compliance, how.confidence)
        bounds = _bounds(key, changes, how.confidence)
        these.append({**_of_these(found, how), **bounds, **change})
        other.append(found.row(LIKE_THESE, how.confidence) if found else {})
    held = pl.when("one_order").then(pl.lit(f", {ONE_ORDER}")).otherwise(pl.lit(""))
    told = described.hstack(pl.DataFrame(these, schema=_OF_THESE)).with_columns(
        candidate_estimate=pl.col("baseline_estimate") + pl.col("estimate"),
        level=pl.lit(level),
        like_these=pl.Series(other, dtype=pl.Struct(OF_TARGET)),
        conditional_on=pl.col("conditional_on") + held,
    )
    return told.drop("one_order")


def _bounds(key: tuple[Any, ...], changes: Changes, confidence: float) -> Row:
    """Return the worst cases with their interval, those of the scores where none is missing."""
    least, most = (one.get(key, changes.scores.get(key)) for one in changes.worst)
    cases = changes.scores, *changes.worst
    intervals = [one[key].these.interval(confidence) for one in cases if key in one]
    lows, highs = ([one[side] for one in intervals] for side in (0, 1))
    return {
        "bound_low": least.these.mean if least else None,
        "bound_high": most.these.mean if most else None,
        "bound_ci_low": min((low for low in lows if low is not None), default=None),
        "bound_ci_high": max((high for high in highs if high is not None), default=None),
    }


def _of_these(found: Targets | None, how: Compared) -> Row:
    """Return the test and the interval for *these*, against the margin too."""
    if found is None:
        return {}
    row = {"estimate": found.these.mean, **found.row(THESE, how.confidence)}
    if how.margin is None:
        return row
    return {**row, "tost_margin": how.margin, "tost_p": found.these.tost(how.margin)}


def _more(found: Targets, row: Mapping[str, Any]) -> int | None:
    """Return how many further trials would give a verdict; None where there is one, or none can."""
    n, confidence, below = int(row["n"]), row["confidence"], row["direction"] == "below"
    margin = float(row["tost_margin"])

    def told(times: float) -> bool:
        mean = found.with_trials(times)
        low, high = mean.interval(confidence)
        among_low, among_high = mean.interval(together(confidence, row["tests"]))
        if low is None or high is None or among_low is None or among_high is None:
            return False
        worst = -low if below else high
        return among_low > 0 or among_high < 0 or worst < margin

    if told(1.0) or not told(_MOST_TIMES):
        return None
    few, enough = 1.0, _MOST_TIMES
    while n * (enough - few) > 0.5:
        middle = (few * enough) ** 0.5
        few, enough = (few, middle) if told(middle) else (middle, enough)
    return max(math.ceil(n * (enough - 1.0)), 1)


def _change(found: Targets | None, confidence: float) -> Row:
    """Return the change of compliance."""
    if found is None:
        return {}
    of_change = {"estimate": found.these.mean, **found.these.row(confidence)}
    return {f"compliance_{name}": of_change[name] for name in _TESTED_COMPLIANCE}


def _as_estimates(rows: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Set out each difference by method, and the change of compliance under it."""
    span = measure.high - measure.low
    difference = replace(measure, low=-span, high=span, neutral=0.0)
    named = rows.with_row_index("row").with_columns(
        subject="model",
        measure=pl.lit(measure.name),
        effect_size=cohen_d(),
        adjusted_over=pl.format(
            "{} differences of a model, study, instrument, mode, word list and scoring, over "
            "dimensions and candidates",
            "level",
        ),
    )
    other = named.drop(OF_TARGET).unnest("like_these").drop_nulls("se")
    other = other.select(
        *(*_STATED, *_ESTIMATED, "adjusted_over"), *OF_TARGET, method=pl.lit("generalised")
    )
    compliance = named.select(
        *(*_STATED, "n_clusters", "target", "clustered_by", "conditional_on", "confidence"),
        measure=pl.lit("compliance"),
        method=pl.lit("clustered"),
        **{name: f"compliance_{name}" for name in _OF_COMPLIANCE},
    )
    whole = by_method(named.drop("like_these"), [*_STATED, *_ESTIMATED], other, compliance)
    if rows["sd"].dtype == pl.Null:  # the papers' test is of pairs
        whole = whole.filter(pl.col("method") != "published")
    return as_estimates(whole, {**OTHER_MEASURES, measure.name: difference})
