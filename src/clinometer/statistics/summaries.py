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
    "filled",
    "in_one_order",
    "keys_of",
    "of_both_orders",
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

#: A number about a response beside its score, averaged over the scored responses that have it.
_BESIDE = ("first_share", "logit")

#: The two orders, by their names in the columns of summaries.
ORDERED = {"first": "marginalized_first", "second": "default_first"}

#: What tells the rows of `compliance` apart, in their order.
COUNTED_BY = [name for name in COMPLIANCE if name in SCORES and name != "coverage"]

_SCORED = pl.col("score").is_not_null()

#: What tells summaries apart, beside group words and pair.
_KEYS_OF_UNITS = (*FACTORS, "control", "word_list", "scoring")


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
    minus that with the default group first; and `value` and `weight`, of `of_both_orders`.

    Raises InputError if a column is missing, a score is not finite, a missing score has no reason,
    or the trials of one pair differ in more than their order.
    """
    frame = _valid(check(scores, SCORES, "scores")).with_row_index("row")
    named = (pl.col(name).fill_null("") for name in ("model", "stereotype"))
    alone = pl.format("{} {} response {}", *named, "row")
    frame = frame.with_columns(unit=pl.coalesce("pair_id", alone)).sort("unit", "order", "score")
    keys = [*_KEYS_OF_UNITS, "marginalized", "default", "unit"]
    first, second = (pl.col("score").filter(order=order).mean() for order in ORDERED.values())
    units = frame.group_by(keys, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n"),
        pl.col("iteration").min().alias("draw"),
        *_counts(),
        pl.col("score").min().alias("lowest"),
        pl.col("score").max().alias("highest"),
        pl.col("score").mean().alias("mean"),
        ((pl.col("score") - pl.col("score").mean()) ** 2).sum().alias("m2"),
        *(pl.col(c).filter(_SCORED).cast(pl.Float64).sum().alias(f"{c}_sum") for c in _BESIDE),
        *(pl.col(c).filter(_SCORED).count().cast(pl.Int64).alias(f"{c}_n") for c in _BESIDE),
        *scores_by_order(),
        (first - second).is_not_null().cast(pl.Int64).alias("order_n"),
        (first - second).fill_null(0.0).alias("order_sum"),
    )
    refuse_split(units)
    return of_both_orders(units)


def filled(units: pl.DataFrame, end: float, level: str = "stereotype") -> pl.DataFrame:
    """Return summaries with `value` and `weight` as if each missing score were at `end`."""
    total = pl.col("n_scored") * pl.col("mean").fill_null(0.0)
    missing = {of: pl.col(f"{of}_asked_n") - pl.col(f"{of}_scored_n") for of in ORDERED}
    sums = {f"{of}_scored_sum": pl.col(f"{of}_scored_sum") + missing[of] * end for of in ORDERED}
    whole = units.with_columns(
        **sums,
        **{f"{of}_scored_n": pl.col(f"{of}_asked_n") for of in ORDERED},
        mean=(total + (pl.col("n") - pl.col("n_scored")) * end) / pl.col("n"),
        n_scored="n",
    )
    both = of_both_orders(whole, level).select("value", "weight")
    return units.with_columns(both)


def of_both_orders(units: pl.DataFrame, level: str = "stereotype") -> pl.DataFrame:
    """Add `value` and `weight`: the mean of each unit, such that both orders count the same.

    Where each unit of a group of `level` has as many scores in one order as in the other, these are
    `mean` and `n_scored`. Else a score counts half the number of scores by those in its order, and
    the difference of the orders is taken out of units that have more of one, so that the mean of
    the group is that of its means in each order. Scores in an order lie closer to their own mean
    than to the true one; they are moved away from it by √(n / (n − 1)), so that they vary as they
    should. Where no wording has both orders, nothing tells their effect from that of wordings, and
    nothing is changed.
    """
    (n, s), (m, t) = ((pl.col(f"{of}_scored_n"), pl.col(f"{of}_scored_sum")) for of in ORDERED)
    known, first, second = (n.sum() > 0) & (m.sum() > 0), n.sum(), m.sum()
    group = keys_of(level)
    both = units.group_by(*group, of_wording="variation").agg(known=known)
    groups = units.group_by(group, maintain_order=True).agg(
        mean_first=s.sum() / first,
        mean_second=t.sum() / second,
        away_first=_away(first),
        away_second=_away(second),
        whole=(n == m).all(),
        by_first=(first + second) / (2 * first),
        by_second=(first + second) / (2 * second),
    )
    told = both.group_by(group).agg(pl.col("known").any())
    groups = groups.join(told, on=group, nulls_equal=True)
    half = (pl.col("mean_first") - pl.col("mean_second")) / 2.0
    moved_s, moved_t = (
        sums + (sums - number * pl.col(f"mean_{of}")) * (pl.col(f"away_{of}") - 1.0)
        for of, number, sums in (("first", n, s), ("second", m, t))
    )
    weight = n * pl.col("by_first") + m * pl.col("by_second") + (pl.col("n_scored") - n - m)
    total = (
        (moved_s - n * half) * pl.col("by_first")
        + (moved_t + m * half) * pl.col("by_second")
        + (pl.col("n_scored") * pl.col("mean").fill_null(0.0) - s - t)
    )
    even = ~pl.col("known") | pl.col("whole")
    plain = pl.col("n_scored").cast(pl.Float64)
    uneven = pl.when(pl.col("n_scored") > 0).then(total / weight)
    return (
        units.drop("value", "weight", strict=False)
        .join(groups, on=group, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            value=pl.when(even).then("mean").otherwise(uneven),
            weight=pl.when(even).then(plain).otherwise(weight),
        )
        .drop("^(mean|away|by)_(first|second)$", "known", "whole")
    )


def _away(number: pl.Expr) -> pl.Expr:
    return pl.when(number > 1).then((number / (number - 1)).sqrt()).otherwise(1.0)


def in_one_order() -> pl.Expr:
    """Tell whether all scores of units are known to be in the same order of the groups."""
    scored = [pl.col(f"{of}_scored_n").sum() for of in ORDERED]
    whole = pl.col("n_scored").sum()
    return (whole > 0) & pl.any_horizontal(one == whole for one in scored)


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
    alone = scored.n_unique().over(NEVER_POOLED) < 2
    single = units.filter(alone).drop("unit", strict=False)
    keys = [*_KEYS_OF_UNITS, "marginalized", "default"]
    n, mean, weight = pl.col("n_scored"), pl.col("mean"), pl.col("weight")
    centre = (n * mean).sum() / n.sum()
    sums = [c for c in units.columns if c.startswith("n_") or c.endswith(("_n", "_sum"))]
    joined = (
        units.filter(~alone)
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
    return pl.concat([single, joined.select(single.columns)])


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
    frame = _valid(check(scores, SCORES, "scores"))
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
    for of, order in ORDERED.items():
        score = pl.col("score").filter(order=order)
        yield (pl.col("order") == order).sum().cast(pl.Int64).alias(f"{of}_asked_n")
        yield score.count().cast(pl.Int64).alias(f"{of}_scored_n")
        yield score.sum().alias(f"{of}_scored_sum")


def _counts() -> list[pl.Expr]:
    """Return the number of scores, and of missing ones by reason."""
    missing = {f"n_{reason}": ~_SCORED & (pl.col("reason") == reason) for reason in REASONS}
    counted = {"n_scored": _SCORED, **missing}
    return [flag.sum().cast(pl.Int64).alias(name) for name, flag in counted.items()]


def _valid(scores: pl.DataFrame) -> pl.DataFrame:
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
