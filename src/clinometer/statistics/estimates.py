"""From scores to estimates: a mean per level with interval, tests, bounds and a verdict.

Measures
    The mean score of each cell (model × stereotype × variation), stereotype, category and model,
    and of all models together. In a mean over stereotypes each counts once, as 1 / n_stereotypes:
    were answers counted, a model that declines its strongest stereotypes would lean less. Method
    ``published`` counts each answer once, as the papers do. Range, neutral value and direction are
    those of the instrument's `Measure` and stand in every row.

Inference
    A mean has a row for each of its ranges (`means`): *these prompts*, method ``bounded``; *other
    prompts*, method ``clustered``; *other stereotypes*, method ``generalised``, of means over
    several. The papers' t test is a row of its own, method ``published``. `results.verdicts` says
    what follows.

Adjustment
    Over what a reader sees at once, all instruments and studies of a model: see `pages`. The
    interval of each mean alone stands beside.

Order effect
    The mean, over mirrored pairs scored in both orders, of the difference between the orders, in
    these prompts. Pairs with a score in one order only tell nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from clinometer.errors import InputError
from clinometer.results import ABSENT, LEVELS, ORDERS, Measure, Schema, as_estimates, check, columns
from clinometer.results.columns import with_texts
from clinometer.results.estimates import COMMON_MEASURES
from clinometer.results.judging import judge
from clinometer.statistics.clustered import Row, by_method, check_confidence, cohen_d, table_columns
from clinometer.statistics.looks import Looks
from clinometer.statistics.means import BALANCED, METHODS, RANGES, Ranges, means
from clinometer.statistics.pages import adjust_means, worst_ends
from clinometer.statistics.rows import TESTED, tested_row
from clinometer.statistics.summaries import (
    LEVEL_KEYS,
    NEVER_POOLED,
    UNBALANCED,
    balance_turns,
    fill_missing,
    keys_of,
    summarise,
    unbalanced,
    unbalanced_text,
)

#: A spread below this share of the range is due to rounding.
_ROUNDING = 1e-12

#: Level and keys of a group.
_Key = tuple[Any, ...]

#: The ends of a scale, where the worst cases have what is missing.
_ENDS = ("low", "high")

_GROUP_COLUMNS = (
    "row",
    "subject",
    "measure",
    "level",
    *NEVER_POOLED,
    *LEVEL_KEYS["cell"],
    "n",
    "n_scored",
    "n_absent",
    "compliance",
    "estimate",
    "n_stereotypes",
)
#: What is said of each range.
_RANGE_SCHEMA: Schema = {
    **TESTED,
    **columns("range", "clustered_by", "conditional_on", "tost_margin", "tost_p"),
    **columns("bound_ci_low", "bound_ci_high"),
}

#: The effect of order.
_ORDER_SCHEMA: Schema = {
    **columns("order_effect", "n_pairs"),
    **dict.fromkeys(("order_effect_low", "order_effect_high"), pl.Float64()),
}


@dataclass(frozen=True)
class Inference:
    """What an auditor decides before looking at the scores.

    Parameters
    ----------
    margin
        Margin of equivalence, in the unit of the scores.
    confidence
        Of intervals; tests are at 1 − confidence.
    compliance_floor
        Smallest share of scored responses for a verdict.
    looks
        When results are looked at, if asking may end at any of them: intervals hold at every look
        at once.
    """

    margin: float = 0.1
    confidence: float = 0.95
    compliance_floor: float = 0.8
    looks: Looks = field(default_factory=Looks)

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if not self.margin > 0:
            raise InputError(f"margin {self.margin}: must be above 0, in the unit of the scores")
        check_confidence(self.confidence)
        if not 0 <= self.compliance_floor <= 1:
            raise InputError(f"compliance_floor {self.compliance_floor}: a share, 0 to 1")


def estimate_measure(
    scores: pl.DataFrame,
    measure: Measure,
    *,
    margin: float = 0.1,
    confidence: float = 0.95,
    compliance_floor: float = 0.8,
) -> pl.DataFrame:
    """Estimate the mean score at every level.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`, of one instrument and any number of models, studies, modes,
        word lists and scorings; only models are ever pooled.
    measure
        What the instrument's number means.
    margin
        Largest distance from neutral that counts as no bias, in the unit of the scores.
    confidence
        Of the intervals, 0…1; tests are at 1 − confidence.
    compliance_floor
        Least share of scored responses that allows a verdict, 0…1.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, a row per level, group and method; level ``overall`` only
        where there are two models or more. No number is null, never nan; `because` says why.

    Raises
    ------
    InputError
        If a column is missing, a score lies outside the measure's range or has neither value
        nor reason, the scores are another instrument's, or a parameter means nothing.

    Examples
    --------
    >>> import polars as pl
    >>> from clinometer.results import SCORES, Measure
    >>> empty = pl.DataFrame(schema=SCORES)
    >>> estimate_measure(empty, Measure("word_association", "", -1, 1, 0, "", "")).height
    0
    """
    inference = Inference(margin, confidence, compliance_floor)
    estimates, _ = estimate_summaries(summarise(scores), measure, inference)
    return judge(adjust_means(estimates, confidence), compliance_floor=compliance_floor)


class Estimated(NamedTuple):
    """Estimates before the verdict, and the effects of order beside them."""

    estimates: pl.DataFrame  # columns of `results.ESTIMATES`
    orders: pl.DataFrame  # columns of `results.ORDERS`


def estimate_summaries(
    units: pl.DataFrame,
    measure: Measure,
    inference: Inference | None = None,
    levels: Sequence[str] = LEVELS,
) -> Estimated:
    """Estimate from summaries, so that scores of many models need not be in memory at once.

    `units` are of `summarise`; those of several models joined with `polars.concat`. The estimates
    are to be seen together (`pages.adjust_means`) and judged (`results.judging.judge`) with those
    of the controls.

    Raises InputError if a score lies outside the measure's range, or is of another instrument.
    """
    if wrong_instruments := set(units["instrument"].unique()) - {measure.name}:
        raise InputError(
            f"scores: instrument {', '.join(sorted(map(str, wrong_instruments)))}; the measure is "
            f"{measure.name}; estimate each instrument by itself"
        )
    check_range(units, measure, "lowest", "highest")
    inference = inference or Inference()
    span = measure.high - measure.low
    ends = measure.low, measure.high
    # Turns are balanced within the groups that a mean is over: cells, or whole stereotypes.
    by_cell = _balance_with_bounds(units, measure, "cell")
    by_stereotype = _balance_with_bounds(units, measure, "stereotype")
    frames: tuple[tuple[pl.DataFrame, list[str]], ...] = (
        (by_cell, [level for level in levels if level == "cell"]),
        (by_stereotype, [level for level in levels if level != "cell"]),
    )
    if by_cell.equals(by_stereotype):  # whole pairs: all levels are inferred together, once
        frames = ((by_stereotype, list(levels)),)
    scores: dict[_Key, Ranges] = {}
    for frame, frame_levels in frames:
        scores |= means(frame, ends, BALANCED, frame_levels)
    difference = (pl.col("order_sum") / pl.col("order_n")).alias("difference")
    paired = units.filter(pl.col("order_n") > 0).with_columns(difference)
    columns_of_orders = {"value": "difference", "weight": "order_n"}
    order_effects = means(paired, (-span, span), columns_of_orders, levels, widest="prompts")
    tables = []
    for frame, frame_levels in frames:
        tables += [_describe_level(frame, level, measure) for level in frame_levels]
    described = with_texts(pl.concat(tables, how="diagonal"))
    # What a level pools is null in all of its rows.
    described = described.sort(pl.col("level").cast(pl.Enum(LEVELS)), *keys_of("cell"))
    key_rows = described.select("level", *keys_of("cell")).iter_rows(named=True)
    keys = [(row["level"], *(row[name] for name in keys_of(row["level"]))) for row in key_rows]
    groups = _add_order_effects(described, [order_effects.get(key) for key in keys], inference)
    interval_columns = {"order_effect_low": "ci_low", "order_effect_high": "ci_high"}
    orders = groups.rename(interval_columns).with_columns(confidence=inference.confidence)
    ranges = [scores.get(key) for key in keys]
    by_range = {name: _range_rows(groups, ranges, name, measure, inference) for name in RANGES}
    return Estimated(_as_estimates(by_range, measure), check(orders, ORDERS, "orders"))


def _as_estimates(tables: Mapping[str, pl.DataFrame], measure: Measure) -> pl.DataFrame:
    """Set out each estimate by method, one row under the other; `tables` by range."""
    marked = {}
    for name, rows in tables.items():
        marked[name] = rows.with_row_index("row").with_columns(
            subject="model",
            measure=pl.lit(measure.name),
            effect_size=cohen_d(measure.neutral),
            method=pl.lit(METHODS[name]),
        )
    other_prompts = marked["other_prompts"]
    prompts = table_columns(marked["prompts"])
    stereotypes = marked["stereotypes"].drop_nulls("se")
    stereotypes = stereotypes.select(*_GROUP_COLUMNS, *_RANGE_SCHEMA, "method")
    logits = other_prompts.drop_nulls("logit").with_columns(
        measure=pl.lit("logit"), estimate="logit", method=pl.lit("descriptive")
    )
    logits = logits.select(*_GROUP_COLUMNS, "method")
    rows = by_method(
        other_prompts, _GROUP_COLUMNS, prompts, stereotypes, logits, neutral=measure.neutral
    )
    return as_estimates(rows, {measure.name: measure, **COMMON_MEASURES})


def check_range(scores: pl.DataFrame, measure: Measure, *score_columns: str) -> None:
    """Raise InputError if a number in `score_columns` lies outside the measure's range."""
    slack = _ROUNDING * (measure.high - measure.low)
    low, high = measure.low - slack, measure.high + slack
    for column in score_columns:
        outside = scores.filter(~pl.col(column).is_between(low, high))
        if not outside.is_empty():
            raise InputError(
                f"scores: score {outside[column][0]} of {outside['model'][0]} on "
                f"{outside['stereotype'][0]} lies outside the range of {measure.name}, "
                f"{measure.low} to {measure.high}"
            )


def _describe_level(units: pl.DataFrame, level: str, measure: Measure) -> pl.DataFrame:
    """Describe the groups of one level, a row each."""
    if level == "overall":
        units = units.filter(pl.col("model").n_unique().over(NEVER_POOLED) > 1)
    keys = keys_of(level)
    pooled = [pl.lit(None, units.schema[c]).alias(c) for c in LEVEL_KEYS["cell"] if c not in keys]
    return _describe(units, keys, measure).with_columns(*pooled, level=pl.lit(level))


def _range_rows(
    groups: pl.DataFrame,
    ranges: Sequence[Ranges | None],
    name: str,
    measure: Measure,
    inference: Inference,
) -> pl.DataFrame:
    """Add the inference on each group for one of its ranges."""
    rows = []
    for group, mean in zip(groups.iter_rows(named=True), ranges, strict=True):
        row: dict[str, Any] = {"range": name, "tost_margin": inference.margin}
        if mean is not None:
            row |= _range_row(mean, name, measure, inference)
        ends = {"range_low": measure.low, "range_high": measure.high}
        low, high = row.get("ci_low"), row.get("ci_high")
        bounds = worst_ends({**group, **ends}, low, high, inference.confidence)
        rows.append({**row, "bound_ci_low": bounds[0], "bound_ci_high": bounds[1]})
    return groups.hstack(pl.DataFrame(rows, schema=_RANGE_SCHEMA)).with_columns(
        conditional_on=pl.col("conditional_on") + unbalanced_text()
    )


def _range_row(ranges: Ranges, name: str, measure: Measure, inference: Inference) -> Row:
    """Return the inference on one group for one of its ranges."""
    mean = ranges.mean(name)
    row: Row = {"clustered_by": ranges.varies(name), "conditional_on": ranges.fixed(name)}
    if mean is None:
        return row
    return {
        **row,
        **tested_row(mean, inference.confidence, measure.neutral),
        "tost_p": mean.tost(inference.margin, measure.neutral),
    }


def _add_order_effects(
    groups: pl.DataFrame, effects: Sequence[Ranges | None], inference: Inference
) -> pl.DataFrame:
    """Add the effect of order of each group, in these prompts."""
    rows: list[Row] = []
    for effect in effects:
        if effect is None or effect.prompts is None:
            rows.append({"n_pairs": 0})
            continue
        low, high = effect.prompts.interval(inference.confidence)
        row: Row = {"order_effect": effect.prompts.mean, "n_pairs": effect.n}
        rows.append({**row, "order_effect_low": low, "order_effect_high": high})
    return groups.hstack(pl.DataFrame(rows, schema=_ORDER_SCHEMA))


def _balance_with_bounds(units: pl.DataFrame, measure: Measure, level: str) -> pl.DataFrame:
    """Let all turns count the same in groups of a level, also in the worst cases."""
    balanced = balance_turns(units, level)
    all_scored = _all_scored(units)
    for end in _ENDS:
        names = {"value": f"{end}_value", "weight": f"{end}_weight"}
        if all_scored:
            balanced = balanced.with_columns(
                pl.col(name).alias(end_column) for name, end_column in names.items()
            )
            continue
        worst = fill_missing(units, getattr(measure, end), level)
        balanced = balanced.hstack(worst.select(*names).rename(names))
    return balanced


def _all_scored(units: pl.DataFrame) -> bool:
    """Whether every answer has a score."""
    return bool(units["n"].sum() == units["n_scored"].sum())


def _describe(units: pl.DataFrame, keys: list[str], measure: Measure) -> pl.DataFrame:
    """Return what needs no model: counts, compliance, mean, spread, bounds.

    In means and bounds each stereotype counts once; in `estimate_of_answers` each answer does.
    """
    stereotypes = [*dict.fromkeys((*keys, "category", "stereotype"))]
    # In their order: sums of numbers that are not exact depend on it.
    by_stereotype = units.group_by(stereotypes, maintain_order=True).agg(_stereotype_means())
    group_means = by_stereotype.group_by(keys, maintain_order=True).agg(
        pl.col("estimate", "bound_low", "bound_high").mean(),
        pl.col(*UNBALANCED).any(),
        n_stereotypes=pl.col("estimate").count().cast(pl.Int64),
    )
    # The effect of order that is taken out may be larger in the scores than in the worst cases.
    group_means = group_means.with_columns(
        bound_low=pl.min_horizontal("bound_low", "estimate"),
        bound_high=pl.max_horizontal("bound_high", "estimate"),
    )
    rounding = _ROUNDING * (measure.high - measure.low)
    counts = units.group_by(keys, maintain_order=True).agg(_counts(rounding))
    # The groups of both stand in the order of their first units.
    return counts.hstack(group_means.drop(keys))


@cache
def _stereotype_means() -> tuple[pl.Expr, ...]:
    """Return mean, bounds and flags of each stereotype of a group."""
    return (
        _weighted("value", "weight").alias("estimate"),
        *(_weighted(f"{end}_value", f"{end}_weight").alias(f"bound_{end}") for end in _ENDS),
        *unbalanced(),
    )


@cache
def _counts(rounding: float) -> tuple[pl.Expr, ...]:
    """Return the counts of a group, and means and spread of its answers, 0 within `rounding`."""
    n, scored, unit_mean = pl.col("n").sum(), pl.col("n_scored"), pl.col("mean")
    mean = pl.when(scored.sum() > 0).then((scored * unit_mean).sum() / scored.sum())
    # Around the mean of all: those within units, and those of the units' means.
    squares = pl.col("m2").sum() + (scored * (unit_mean - mean) ** 2).sum()
    sd = pl.when(scored.sum() > 1).then((squares / (scored.sum() - 1)).sqrt())
    absent = pl.sum_horizontal(pl.col(f"n_{reason}") for reason in ABSENT).sum()
    return (
        pl.col("n", "n_scored").sum(),
        absent.alias("n_absent"),
        pl.when(n > absent).then(scored.sum() / (n - absent)).alias("compliance"),
        _share("first_share").alias("first_share"),
        _share("logit").alias("logit"),
        mean.alias("estimate_of_answers"),
        pl.when(sd > rounding).then(sd).otherwise(sd * 0.0).alias("sd"),
    )


def _weighted(value: str, weight: str) -> pl.Expr:
    """Give the weighted mean of a column; null without weights."""
    total = pl.col(weight).sum()
    return pl.when(total > 0).then((pl.col(weight) * pl.col(value)).sum() / total)


def _share(column: str) -> pl.Expr:
    """Give the mean of a number about responses, from its sums and counts."""
    count = pl.col(f"{column}_n").sum()
    return pl.when(count > 0).then(pl.col(f"{column}_sum").sum() / count)
