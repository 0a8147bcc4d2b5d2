"""Scores reduced to their sufficient statistics, of mirrored pairs.

Everything `estimates` reports follows from counts, means and sums of squares per pair. The
summaries of several models are joined with `polars.concat`, so the scores of only one model
need to be in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from clinometer.errors import InputError
from clinometer.results import COMPLIANCE, CONDITIONS, FACTORS, REASONS, SCORES, check

__all__ = [
    "COUNTED_BY",
    "LEVEL_KEYS",
    "NEVER_POOLED",
    "ORDERED",
    "SEEN_TOGETHER",
    "compliance",
    "fill_missing",
    "in_one_order",
    "keys_of",
    "balance_orders",
    "pool_pairs",
    "refuse_split",
    "scores_by_order",
    "summarise",
]

#: Factors that no level pools over.
NEVER_POOLED = (
    *("study", "instrument", "mode", *CONDITIONS, "dimension", "word_list", "scoring"),
    "control",
)

#: Factors that a family of tests does not reach over. A reader sees all dimensions at once.
SEEN_TOGETHER = tuple(name for name in NEVER_POOLED if name != "dimension")

#: The columns that tell the groups of a level apart, beside what is never pooled.
LEVEL_KEYS = {
    "cell": ("model", "category", "stereotype", "variation"),
    "stereotype": ("model", "category", "stereotype"),
    "category": ("model", "category"),
    "model": ("model",),
    "overall": (),
}

#: Numbers about a response that are averaged over the scored responses that have them.
_AVERAGED = ("first_share", "logit")

#: The two orders, by their names in the columns of summaries.
ORDERED = {"first": "marginalized_first", "second": "default_first"}

#: What tells the rows of `compliance` apart, in their order.
COUNTED_BY = [name for name in COMPLIANCE if name in SCORES and name != "coverage"]

_SCORED = pl.col("score").is_not_null()

#: What tells summaries apart, beside group words and pair.
_UNIT_KEYS = (*FACTORS, "control", "word_list", "scoring")


def keys_of(level: str) -> list[str]:
    """Return the columns that tell the groups of a level apart, the model first."""
    return [*LEVEL_KEYS[level][:1], *NEVER_POOLED, *LEVEL_KEYS[level][1:]]


def summarise(scores: pl.DataFrame) -> pl.DataFrame:
    """Reduce the scores of a model, columns of `results.SCORES`, to one row per mirrored pair.

    Returns the factors, `word_list`, `scoring` and group words; `unit`, the pair, or the response
    where there is none; `draw`, the number of its first draw; `n`, `n_scored`,
    ``n_<reason>``; the `lowest`, `highest` and `mean` score and `m2`, the sum of squared deviations
    from the mean; sums and counts of `first_share` and `logit`; of each order the number of answers
    and of scores, and their sum (`ORDERED`); of pairs scored in both
    orders, their number `order_n` and `order_sum`, the mean score with the marginalized group first
    minus that with the default group first; and `value` and `weight`, of `balance_orders`.

    Raises InputError if a column is missing, a score is not finite, a missing score has no reason,
    or the trials of one pair differ in more than their order.
    """
    frame = _check_scores(check(scores, SCORES, "scores")).with_row_index("row")
    names = (pl.col(name).fill_null("") for name in ("model", "stereotype"))
    single_response = pl.format("{} {} response {}", *names, "row")
    frame = frame.with_columns(unit=pl.coalesce("pair_id", single_response))
    # Sorted, so that sums come out the same to the last digit whatever the order of the answers.
    frame = frame.sort("unit", "order", "score")
    keys = [*_UNIT_KEYS, "marginalized", "default", "unit"]
    first, second = (pl.col("score").filter(order=order).mean() for order in ORDERED.values())
    units = frame.group_by(keys, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n"),
        pl.col("iteration").min().alias("draw"),
        *_counts(),
        pl.col("score").min().alias("lowest"),
        pl.col("score").max().alias("highest"),
        pl.col("score").mean().alias("mean"),
        ((pl.col("score") - pl.col("score").mean()) ** 2).sum().alias("m2"),
        *(pl.col(c).filter(_SCORED).cast(pl.Float64).sum().alias(f"{c}_sum") for c in _AVERAGED),
        *(pl.col(c).filter(_SCORED).count().cast(pl.Int64).alias(f"{c}_n") for c in _AVERAGED),
        *scores_by_order(),
        (first - second).is_not_null().cast(pl.Int64).alias("order_n"),
        (first - second).fill_null(0.0).alias("order_sum"),
    )
    refuse_split(units)
    return balance_orders(units)


def fill_missing(units: pl.DataFrame, end: float, level: str = "stereotype") -> pl.DataFrame:
    """Return summaries with `value` and `weight` as if each missing score were at `end`."""
    total = pl.col("n_scored") * pl.col("mean").fill_null(0.0)
    by_order: list[pl.Expr] = []
    for order in ORDERED:
        n_asked, n_scored = pl.col(f"{order}_asked_n"), pl.col(f"{order}_scored_n")
        filled_sum = pl.col(f"{order}_scored_sum") + (n_asked - n_scored) * end
        by_order += [filled_sum, n_asked.alias(f"{order}_scored_n")]
    complete = units.with_columns(
        *by_order,
        mean=(total + (pl.col("n") - pl.col("n_scored")) * end) / pl.col("n"),
        n_scored="n",
    )
    balanced = balance_orders(complete, level).select("value", "weight")
    return units.with_columns(balanced)


def balance_orders(units: pl.DataFrame, level: str = "stereotype") -> pl.DataFrame:
    """Add `value` and `weight`: the mean of each unit, such that both orders count the same.

    Where each unit of a group of `level` has as many scores in one order as in the other, these are
    `mean` and `n_scored`. Else a score counts half the number of scores by those in its order, and
    the difference of the orders is taken out of units that have more of one, so that the mean of
    the group is that of its means in each order. Scores in an order lie closer to their own mean
    than to the true one; they are moved away from it by √(n / (n − 1)), so that they vary as they
    should. Where no wording has both orders, nothing tells their effect from that of wordings, and
    nothing is changed.
    """
    n_first, sum_first = pl.col("first_scored_n"), pl.col("first_scored_sum")
    n_second, sum_second = pl.col("second_scored_n"), pl.col("second_scored_sum")
    half = (pl.col("mean_first") - pl.col("mean_second")) / 2.0
    deviation_first = sum_first - n_first * pl.col("mean_first")
    deviation_second = sum_second - n_second * pl.col("mean_second")
    moved_first = sum_first + deviation_first * (pl.col("away_first") - 1.0)
    moved_second = sum_second + deviation_second * (pl.col("away_second") - 1.0)
    # The last term: scores whose order is unknown count once.
    weight = (
        n_first * pl.col("by_first")
        + n_second * pl.col("by_second")
        + (pl.col("n_scored") - n_first - n_second)
    )
    total = (
        (moved_first - n_first * half) * pl.col("by_first")
        + (moved_second + n_second * half) * pl.col("by_second")
        + (pl.col("n_scored") * pl.col("mean").fill_null(0.0) - sum_first - sum_second)
    )
    unchanged = ~pl.col("both_orders") | pl.col("even")
    plain = pl.col("n_scored").cast(pl.Float64)
    uneven = pl.when(pl.col("n_scored") > 0).then(total / weight)
    group = keys_of(level)
    groups = _order_means(units, group)
    return (
        units.drop("value", "weight", strict=False)
        .join(groups, on=group, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            value=pl.when(unchanged).then("mean").otherwise(uneven),
            weight=pl.when(unchanged).then(plain).otherwise(weight),
        )
        .drop("^(mean|away|by)_(first|second)$", "both_orders", "even")
    )


def _order_means(units: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    """Return what the orders of each group are like, for `balance_orders`.

    Of each order the `mean`, how far scores are moved `away` from it, and `by` what they count;
    `both_orders`, if a wording has both, and `even`, if each unit has as many of one as of the
    other.
    """
    n_first, n_second = pl.col("first_scored_n"), pl.col("second_scored_n")
    total_first, total_second = n_first.sum(), n_second.sum()
    groups = units.group_by(group, maintain_order=True).agg(
        mean_first=pl.col("first_scored_sum").sum() / total_first,
        mean_second=pl.col("second_scored_sum").sum() / total_second,
        away_first=_spread_factor(total_first),
        away_second=_spread_factor(total_second),
        even=(n_first == n_second).all(),
        by_first=(total_first + total_second) / (2 * total_first),
        by_second=(total_first + total_second) / (2 * total_second),
    )
    in_both = (total_first > 0) & (total_second > 0)
    # Another name, as at the level of cells the wording is a key of the group already.
    wordings = units.group_by(*group, of_wording="variation").agg(both_orders=in_both)
    both_orders = wordings.group_by(group).agg(pl.col("both_orders").any())
    return groups.join(both_orders, on=group, nulls_equal=True)


def _spread_factor(number: pl.Expr) -> pl.Expr:
    """Give √(n / (n − 1)), by which scores lie too close to their own mean; 1 for a single one."""
    return pl.when(number > 1).then((number / (number - 1)).sqrt()).otherwise(1.0)


def in_one_order() -> pl.Expr:
    """Tell whether all scores of units are known to be in the same order of the groups."""
    scored = [pl.col(f"{order}_scored_n").sum() for order in ORDERED]
    total = pl.col("n_scored").sum()
    return (total > 0) & pl.any_horizontal(count == total for count in scored)


def refuse_split(units: pl.DataFrame) -> None:
    """Raise InputError if the trials of one pair differ in more than their order."""
    split = units.filter(pl.struct("model", *NEVER_POOLED, "unit").is_duplicated())
    if not split.is_empty():
        raise InputError(
            f"scores: pair_id {split['unit'][0]!r} is used for trials that differ in "
            "stereotype, variation or group words; a mirrored pair differs in order alone"
        )


def pool_pairs(units: pl.DataFrame) -> pl.DataFrame:
    """Join the pairs of one model that share wording and group words, for levels that pool models.

    `units`, from `summarise`, stay as they are where there is but one wording or group pair, as
    pairs are the clusters then; `unit` is left out.
    """
    cells = ("stereotype", "variation", "marginalized", "default")
    scored = pl.struct(cells).filter(pl.col("n_scored") > 0)
    single_cell = scored.n_unique().over(NEVER_POOLED) < 2
    unpooled = units.filter(single_cell).drop("unit", strict=False)
    keys = [*_UNIT_KEYS, "marginalized", "default"]
    n, mean, weight = pl.col("n_scored"), pl.col("mean"), pl.col("weight")
    centre = (n * mean).sum() / n.sum()
    # By their names, as the reasons of missing scores are columns too.
    sums = [c for c in units.columns if c.startswith("n_") or c.endswith(("_n", "_sum"))]
    pooled = (
        units.filter(~single_cell)
        .group_by(keys, maintain_order=True)
        .agg(
            pl.col("n", *sums).sum(),
            pl.col("lowest").min(),
            pl.col("highest").max(),
            pl.when(n.sum() > 0).then(centre).alias("mean"),
            (pl.col("m2").sum() + (n * (mean - centre) ** 2).sum()).alias("m2"),
            pl.when(n.sum() > 0)
            .then((weight * pl.col("value")).sum() / weight.sum())
            .alias("value"),
            weight.sum(),
            pl.col("draw").min(),
        )
    )
    return pl.concat([unpooled, pooled.select(unpooled.columns)])


def compliance(scores: pl.DataFrame) -> pl.DataFrame:
    """Count the responses without a score by reason, for each wording, group pair and order.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`.

    Returns
    -------
    polars.DataFrame
        Columns of `results.COMPLIANCE`, a row per wording, group pair, order and version;
        `n_scored` and ``n_<reason>`` add up to `n`.

    Raises
    ------
    InputError
        If a column is missing, a score is not finite, or a missing score has no reason.
    """
    frame = _check_scores(check(scores, SCORES, "scores"))
    counted = frame.group_by(COUNTED_BY).agg(
        pl.len().cast(pl.Int64).alias("n"),
        pl.col("iteration").min().alias("draw"),
        *_counts(),
        one_sided_share=pl.col("one_sided").filter(_SCORED).cast(pl.Float64).mean(),
        coverage=pl.col("coverage").filter(_SCORED).mean(),
    )
    return check(counted, COMPLIANCE, "compliance").sort(COUNTED_BY)


def scores_by_order() -> Iterator[pl.Expr]:
    """Yield the number of answers and of scores in each order, and the sum of the scores."""
    for prefix, order in ORDERED.items():
        score = pl.col("score").filter(order=order)
        yield (pl.col("order") == order).sum().cast(pl.Int64).alias(f"{prefix}_asked_n")
        yield score.count().cast(pl.Int64).alias(f"{prefix}_scored_n")
        yield score.sum().alias(f"{prefix}_scored_sum")


def _counts() -> list[pl.Expr]:
    """Return the number of scores, and of missing ones by reason."""
    missing = {f"n_{reason}": ~_SCORED & (pl.col("reason") == reason) for reason in REASONS}
    counted = {"n_scored": _SCORED, **missing}
    return [flag.sum().cast(pl.Int64).alias(name) for name, flag in counted.items()]


def _check_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """Return scores; raises InputError if one is not finite, or is missing without a reason."""
    if not scores.filter(_SCORED & ~pl.col("score").is_finite()).is_empty():
        raise InputError("scores: score is nan or infinite; a missing score is null with a reason")
    unexplained = scores.filter(~_SCORED & ~pl.col("reason").is_in(REASONS).fill_null(False))
    if not unexplained.is_empty():
        reason, trial = unexplained.select("reason", "trial_id").row(0)
        raise InputError(
            f"scores: {len(unexplained)} without a score and with reason {reason!r} "
            f"(first: trial {trial}); allowed: {', '.join(REASONS)}"
        )
    return scores
