"""From scores to estimates: a mean per level with interval, tests, bounds and a verdict.

Measures
    The mean score of each cell (model × stereotype × variation), stereotype, category and model,
    and of all models together. In a mean over stereotypes each counts once, as 1 / n_stereotypes:
    were answers counted, a model that declines its strongest stereotypes would lean less. Method
    ``published`` counts each answer once, as the papers do. Range, neutral value and direction are
    those of the instrument's `Measure` and stand in every row.

Inference
    Wordings, group words, draws and stereotypes are crossed (`targets`, `crossed`). Method
    ``clustered`` is for the target *these*: other wordings, group words, draws and answers, the
    same stereotypes and attribute words. Method ``generalised`` is for the target *like these*. The
    papers' t test is a row of its own, method ``published``. `results.verdicts` says what follows.

Adjustment
    Over what a reader sees at once: the stereotypes, categories and mean of a model, study,
    instrument, mode, word list and scoring, with all dimensions. The mean has half of the
    error rate, the other levels equal parts of the rest, and the m means of a level parts of these
    (`tests_seen`): with three levels the interval of a stereotype is at 1 − α / 4m, so that all
    hold at once (Bonferroni). It is all that a verdict rests on: a lean where it excludes neutral,
    none where it lies within the margin. Holm's steps find a little
    more, but leave intervals that contradict them. The interval of each mean alone stands beside.
    Controls are judged as stereotypes alone.

Order effect
    The mean, over mirrored pairs scored in both orders, of the difference between the orders,
    with the inference of the mean. Pairs with a score in one order only tell nothing about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from clinometer.errors import InputError
from clinometer.results import ABSENT, LEVELS, ORDERS, Measure, Schema, as_estimates, check, columns
from clinometer.results.columns import with_texts
from clinometer.results.estimates import OTHER_MEASURES
from clinometer.results.judging import judge
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
from clinometer.statistics.items import contributions, word_variance
from clinometer.statistics.looks import Looks
from clinometer.statistics.pooling import LIKE_THESE, OF_TARGET, THESE, Targets
from clinometer.statistics.summaries import (
    LEVEL_KEYS,
    LEVELS_OF_A_PAGE,
    NEVER_POOLED,
    SEEN_TOGETHER,
    UNBALANCED,
    balance_turns,
    fill_missing,
    keys_of,
    summarise,
    tests_seen,
    unbalanced,
    unbalanced_text,
)
from clinometer.statistics.targets import means, with_words

__all__ = ["Estimated", "Inference", "check_range", "estimate_measure", "estimate_summaries"]

#: A spread below this share of the range is due to rounding.
_ROUNDING = 1e-12

#: Level and keys of a group.
_Key = tuple[Any, ...]

#: The ends of an interval.
_Ends = tuple[float | None, float | None]

#: The ends of a scale, where the worst cases have what is missing.
_ENDS = ("low", "high")

_GROUP_COLUMNS = (
    *("row", "subject", "measure", "level", *NEVER_POOLED, *LEVEL_KEYS["cell"]),
    *("n", "n_scored", "n_absent", "compliance", "estimate", "n_stereotypes"),
)
#: What is said of both targets.
_TARGET_SCHEMA: Schema = {**OF_TARGET, **AMONG, **columns("n_tests", "tost_margin", "tost_p")}

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
    words = word_variance(contributions(scores))
    estimates, _ = estimate_summaries(summarise(scores), measure, inference, words=words)
    return judge(estimates, compliance_floor=compliance_floor)


class Estimated(NamedTuple):
    """Estimates before the verdict, and the effects of order beside them."""

    estimates: pl.DataFrame  # columns of `results.ESTIMATES`
    orders: pl.DataFrame  # columns of `results.ORDERS`


def estimate_summaries(
    units: pl.DataFrame,
    measure: Measure,
    inference: Inference | None = None,
    levels: Sequence[str] = LEVELS,
    words: pl.DataFrame | None = None,
) -> Estimated:
    """Estimate from summaries, so that scores of many models need not be in memory at once.

    `units` are of `summarise`; those of several models joined with `polars.concat`. `words` are of
    `word_variance`; without them no stereotype has the target *like these*. The estimates
    are to be judged by `results.verdicts.judge` together with those of the controls.

    Raises InputError if a score lies outside the measure's range, or is of another instrument.
    """
    if other_instruments := set(units["instrument"].unique()) - {measure.name}:
        raise InputError(
            f"scores: instrument {', '.join(sorted(map(str, other_instruments)))}; the measure is "
            f"{measure.name}; estimate each instrument by itself"
        )
    check_range(units, measure, "lowest", "highest")
    inference = inference or Inference()
    span = measure.high - measure.low
    ends = measure.low, measure.high
    # Turns are balanced within the groups that a mean is over: cells, or whole stereotypes.
    by_cell = _balance_with_bounds(units, measure, "cell")
    by_stereotype = _balance_with_bounds(units, measure, "stereotype")
    frames = (
        (by_cell, [level for level in levels if level == "cell"]),
        (by_stereotype, [level for level in levels if level != "cell"]),
    )
    scores: dict[_Key, Targets] = {}
    for frame, frame_levels in frames:
        scores |= means(frame, ends, "value", "weight", frame_levels, neutral=measure.neutral)
    scores = with_words(scores, {} if words is None else _word_variances(words))
    tests = _Tests(scores, measure, inference)
    worst: dict[_Key, _Ends] = {}
    for frame, frame_levels in frames:  # after the tests, whose number the intervals depend on
        worst |= _worst_ends(frame, measure, inference, tests, frame_levels)
    difference = (pl.col("order_sum") / pl.col("order_n")).alias("difference")
    paired = units.filter(pl.col("order_n") > 0).with_columns(difference)
    order_effects = means(paired, (-span, span), "difference", "order_n", levels)
    tables = []
    for frame, frame_levels in frames:
        tables += [_describe_level(frame, level, measure) for level in frame_levels]
    described = with_texts(pl.concat(tables, how="diagonal"))
    # What a level pools is null in all of its rows.
    described = described.sort(pl.col("level").cast(pl.Enum(LEVELS)), *keys_of("cell"))
    named_keys = described.select("level", *keys_of("cell")).iter_rows(named=True)
    keys = [(row["level"], *(row[name] for name in keys_of(row["level"]))) for row in named_keys]
    targets = [(scores.get(key), order_effects.get(key)) for key in keys]
    inferred = _add_inference(described, keys, targets, measure, inference, tests)
    groups = _add_bounds(inferred, [worst.get(key, (None, None)) for key in keys])
    interval_columns = {"order_effect_low": "ci_low", "order_effect_high": "ci_high"}
    orders = groups.drop(interval_columns.values()).rename(interval_columns)
    return Estimated(_as_estimates(groups, measure), check(orders, ORDERS, "orders"))


def _as_estimates(rows: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Set out each estimate by method, one row under the other."""
    shared = pl.col("control").is_null() & pl.col("level").is_in(LEVELS_OF_A_PAGE)
    numbered = rows.with_row_index("row").with_columns(
        subject="model",
        measure=pl.lit(measure.name),
        effect_size=cohen_d(measure.neutral),
        adjusted_over=pl.format(
            "{} estimates of a model, study, instrument, mode, intervention, word list and "
            "scoring, over dimensions{}",
            "level",
            pl.when(shared).then(pl.lit("; levels share the error rate")).otherwise(pl.lit("")),
        ),
    )
    these = _adjusted(numbered).drop("like_these")
    # Columns of *these* make room for those of the same names in the struct.
    like_these = numbered.drop(_TARGET_SCHEMA).unnest("like_these").drop_nulls("se")
    like_these = _adjusted(like_these).select(
        *(*_GROUP_COLUMNS, "p_bh", "adjusted_over"),
        *_TARGET_SCHEMA,
        method=pl.lit("generalised"),
    )
    logits = numbered.drop_nulls("logit").with_columns(
        measure=pl.lit("logit"), estimate="logit", method=pl.lit("descriptive")
    )
    logits = logits.select(*_GROUP_COLUMNS, "method")
    rows = by_method(these, _GROUP_COLUMNS, like_these, logits, neutral=measure.neutral)
    return as_estimates(rows, {measure.name: measure, **OTHER_MEASURES})


def _adjusted(rows: pl.DataFrame) -> pl.DataFrame:
    """Adjust the tests of each family for the share of false ones among those found."""
    return rows.with_columns(p_bh=adjusted(benjamini_hochberg, "level", "model", *SEEN_TOGETHER))


class _Tests:
    """How many means of a target a reader sees at once, by their level and keys."""

    def __init__(
        self, scores: Mapping[_Key, Targets], measure: Measure, inference: Inference
    ) -> None:
        self._inference = inference
        self._number = Counter[_Key]()
        for key, targets in scores.items():
            for target in (THESE, LIKE_THESE):
                if targets.mean(target).p(measure.neutral) is not None:
                    self._number[target, *self._family(key)] += 1

    def number(self, key: _Key, target: str = THESE) -> int:
        """Return by what the level of a test is divided, looked at once."""
        level, *family = self._family(key)
        levels = (level,) if self._named(key)["control"] else (level, *LEVELS_OF_A_PAGE)
        return tests_seen(level, {name: self._number[target, name, *family] for name in levels})

    def at_any_look(self, number: int, key: _Key) -> float:
        """Return the same where results may be looked at several times."""
        named = self._named(key)
        study, instrument, mode = (str(named[name]) for name in ("study", "instrument", "mode"))
        level = 1.0 - self._inference.confidence
        return self._inference.looks.tests(number, level, (study, instrument, mode))

    def _family(self, key: _Key) -> tuple[str, *tuple[Any, ...]]:
        by_name = self._named(key)
        return (str(key[0]), *(by_name.get(name) for name in ("model", *SEEN_TOGETHER)))

    @staticmethod
    def _named(key: _Key) -> dict[str, Any]:
        """Return the keys of a level by their names."""
        level, *values = key
        return dict(zip(keys_of(str(level)), values, strict=True))


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


def _add_inference(
    described: pl.DataFrame,
    keys: Sequence[_Key],
    targets: Sequence[tuple[Targets | None, Targets | None]],
    measure: Measure,
    inference: Inference,
    tests: _Tests,
) -> pl.DataFrame:
    """Add the inference on each group, of its scores and its effect of order."""
    rows: dict[str, list[Row]] = {THESE: [], LIKE_THESE: []}
    for key, (score, order) in zip(keys, targets, strict=True):
        for target, rows_of_target in rows.items():
            number = tests.number(key, target)
            at_any_look = tests.at_any_look(number, key)
            row = _target_row(score, target, at_any_look, measure, inference)
            row["n_tests"] = number if score else None
            rows_of_target.append(row)
        rows[THESE][-1] |= _order_row(order, inference)
    these = pl.DataFrame(rows[THESE], schema={**_TARGET_SCHEMA, **_ORDER_SCHEMA})
    like_these = pl.DataFrame(rows[LIKE_THESE], schema=_TARGET_SCHEMA).to_struct("like_these")
    return described.hstack(these).with_columns(
        like_these, conditional_on=pl.col("conditional_on") + unbalanced_text()
    )


def _word_variances(words: pl.DataFrame) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Add up the variances due to the tied and to the counter words of each stereotype."""
    variance, df = pl.col("variance"), pl.col("df")
    summed = (
        words.drop_nulls("variance")
        .group_by(keys_of("stereotype"))
        .agg(total=variance.sum(), uncertain=(variance**2 / df).sum())
    )
    rows = summed.with_columns(df=pl.col("total") ** 2 / pl.col("uncertain")).drop("uncertain")
    return {tuple(key): (total, df or 1.0) for *key, total, df in rows.fill_nan(None).iter_rows()}


def _balance_with_bounds(units: pl.DataFrame, measure: Measure, level: str) -> pl.DataFrame:
    """Let all turns count the same in groups of a level, also in the worst cases."""
    balanced = balance_turns(units, level)
    all_scored = _all_scored(units)
    for end in _ENDS:
        names = {"value": f"{end}_value", "weight": f"{end}_weight"}
        if all_scored:
            balanced = balanced.with_columns(
                pl.col(name).alias(of_end) for name, of_end in names.items()
            )
            continue
        worst = fill_missing(units, getattr(measure, end), level)
        balanced = balanced.hstack(worst.select(*names).rename(names))
    return balanced


def _all_scored(units: pl.DataFrame) -> bool:
    """Whether every answer has a score."""
    return bool(units["n"].sum() == units["n_scored"].sum())


def _worst_ends(
    units: pl.DataFrame,
    measure: Measure,
    inference: Inference,
    tests: _Tests,
    levels: Sequence[str],
) -> dict[_Key, _Ends]:
    """Return the ends that intervals have if missing scores are all lowest, or all highest.

    By level and keys; empty if no score is missing.
    """
    if _all_scored(units):
        return {}
    bounds = (measure.low, measure.high)
    neutral = measure.neutral
    lowest = means(units, bounds, "low_value", "low_weight", levels, neutral=neutral)
    highest = means(units, bounds, "high_value", "high_weight", levels, neutral=neutral)
    ends: dict[_Key, _Ends] = {}
    for key in lowest:
        confidence = together(inference.confidence, tests.at_any_look(tests.number(key), key))
        low, _ = lowest[key].these.interval(confidence, neutral)
        _, high = highest[key].these.interval(confidence, neutral)
        ends[key] = low, high
    return ends


def _add_bounds(
    rows: pl.DataFrame, ends: Sequence[tuple[float | None, float | None]]
) -> pl.DataFrame:
    """Add the interval of the worst-case bounds: that of the scores where none is missing."""
    worst = pl.DataFrame(ends, schema={"low": pl.Float64(), "high": pl.Float64()}, orient="row")
    return rows.hstack(worst).select(
        pl.exclude("low", "high"),
        bound_ci_low=pl.min_horizontal("low", "ci_low"),
        bound_ci_high=pl.max_horizontal("high", "ci_high"),
    )


def _describe(units: pl.DataFrame, keys: list[str], measure: Measure) -> pl.DataFrame:
    """Return what needs no model: counts, compliance, mean, spread, bounds.

    In means and bounds each stereotype counts once; in `estimate_of_answers` each answer does.
    """
    stereotypes = [*dict.fromkeys((*keys, "category", "stereotype"))]
    # In their order: sums of numbers that are not exact depend on it.
    by_stereotype = units.group_by(stereotypes, maintain_order=True).agg(_stereotype_means())
    over_stereotypes = by_stereotype.group_by(keys, maintain_order=True).agg(
        pl.col("estimate", "bound_low", "bound_high").mean(),
        pl.col(*UNBALANCED).any(),
        n_stereotypes=pl.col("estimate").count().cast(pl.Int64),
    )
    # The effect of order that is taken out may be larger in the scores than in the worst cases.
    over_stereotypes = over_stereotypes.with_columns(
        bound_low=pl.min_horizontal("bound_low", "estimate"),
        bound_high=pl.max_horizontal("bound_high", "estimate"),
    )
    rounding = _ROUNDING * (measure.high - measure.low)
    counts = units.group_by(keys, maintain_order=True).agg(_counts(rounding))
    # The groups of both stand in the order of their first units.
    return counts.hstack(over_stereotypes.drop(keys))


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


def _target_row(
    targets: Targets | None, target: str, tests: float, measure: Measure, inference: Inference
) -> Row:
    """Return the inference on one group for one target, one of some that are seen together."""
    if targets is None:
        return {"target": target, "tost_margin": inference.margin}
    mean = targets.mean(target)
    return {
        **targets.row(target, inference.confidence, measure.neutral),
        **mean.among(tests, inference.confidence, measure.neutral),
        "tost_margin": inference.margin,
        "tost_p": mean.tost(inference.margin, measure.neutral),
    }


def _order_row(order: Targets | None, inference: Inference) -> Row:
    """Return the effect of order of one group."""
    if order is None:
        return {"n_pairs": 0}
    low, high = order.these.interval(inference.confidence)
    ends = {"order_effect_low": low, "order_effect_high": high}
    return {"order_effect": order.these.mean, "n_pairs": order.these.n, **ends}
