"""Scores reduced to their sufficient statistics, of mirrored pairs.

Everything `estimates` reports follows from counts, means and sums of squares per pair. The
summaries of several models are joined with `polars.concat`, so the scores of only one model
need to be in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from clinometer.errors import InputError
from clinometer.results import (
    ASKED_ABOUT,
    COMPLIANCE,
    CONDITIONS,
    FACTORS,
    REASONS,
    SCORES,
    check,
)
from clinometer.results.verdicts import ONE_ORDER, SOME_VERSIONS

__all__ = [
    "COUNTED_BY",
    "LEVEL_KEYS",
    "NEVER_POOLED",
    "SEEN_TOGETHER",
    "UNBALANCED",
    "compliance",
    "fill_missing",
    "keys_of",
    "balance_turns",
    "pool_pairs",
    "refuse_split",
    "scores_by_turn",
    "summarise",
    "turn",
    "unbalanced",
    "unbalanced_text",
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

#: The two orders of the groups.
_ORDERS = ("marginalized_first", "default_first")

#: Turns of a trial are its order and the version that was asked. They are numbered within an
#: instrument; where there are more, the last number has several.
_TURNS = range(4)

#: Flags of means over answers that are not in all turns, with what `conditional_on` calls them.
UNBALANCED = {"one_order": ONE_ORDER, "some_versions": SOME_VERSIONS}

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
    from the mean; sums and counts of `first_share` and `logit`; what `scores_by_turn` counts; of
    pairs scored in both orders, their number `order_n` and `order_sum`, the mean score with the
    marginalized group first minus that with the default group first; and `value` and `weight`, of
    `balance_turns`.

    Raises InputError if a column is missing, a score is not finite, a missing score has no reason,
    or the trials of one pair differ in more than their order.
    """
    frame = _check_scores(check(scores, SCORES, "scores")).with_row_index("row")
    names = (pl.col(name).fill_null("") for name in ("model", "stereotype"))
    single_response = pl.format("{} {} response {}", *names, "row")
    frame = frame.with_columns(turn(), unit=pl.coalesce("pair_id", single_response))
    # Sorted, so that sums come out the same to the last digit whatever the order of the answers.
    frame = frame.sort("unit", "order", "score")
    keys = [*_UNIT_KEYS, "marginalized", "default", "unit"]
    first, second = (pl.col("score").filter(order=order).mean() for order in _ORDERS)
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
        *scores_by_turn(),
        (first - second).is_not_null().cast(pl.Int64).alias("order_n"),
        (first - second).fill_null(0.0).alias("order_sum"),
    )
    refuse_split(units)
    return balance_turns(units)


def fill_missing(units: pl.DataFrame, end: float, level: str = "stereotype") -> pl.DataFrame:
    """Return summaries with `value` and `weight` as if each missing score were at `end`."""
    total = pl.col("n_scored") * pl.col("mean").fill_null(0.0)
    by_turn: list[pl.Expr] = []
    for turn in _TURNS:
        n_asked, n_scored = pl.col(f"turn{turn}_asked_n"), pl.col(f"turn{turn}_n")
        filled_sum = pl.col(f"turn{turn}_sum") + (n_asked - n_scored) * end
        by_turn += [filled_sum, n_asked.alias(f"turn{turn}_n")]
    complete = units.with_columns(
        *by_turn,
        mean=(total + (pl.col("n") - pl.col("n_scored")) * end) / pl.col("n"),
        n_scored="n",
    )
    balanced = balance_turns(complete, level).select("value", "weight")
    return units.with_columns(balanced)


def balance_turns(units: pl.DataFrame, level: str = "stereotype") -> pl.DataFrame:
    """Add `value` and `weight`: the mean of each unit, such that all turns count the same.

    Turns are the orders and the versions of a question. Where each unit of a group of `level` has
    as many scores in one turn as in any other, these are `mean` and `n_scored`. Else a score counts
    for as much less as its turn has more scores than others, and what the turn's mean differs from
    that of all turns by is taken out of it, so that the mean of the group is that of its means in
    each turn. Scores in a turn lie closer to their own mean than to the true one; they are moved
    away from it by √(n / (n − 1)), so that they vary as they should. Where no wording has all
    turns, nothing tells their effect from that of wordings, and nothing is changed.
    """
    # Scores whose turn is unknown count once.
    n_known, known = pl.lit(0), pl.lit(0.0)
    weight, total = pl.lit(0.0), pl.lit(0.0)
    for turn in _TURNS:
        n, scores, by = pl.col(f"turn{turn}_n"), pl.col(f"turn{turn}_sum"), pl.col(f"by{turn}")
        moved = scores + (scores - n * pl.col(f"mean{turn}")) * (pl.col(f"away{turn}") - 1.0)
        weight += n * by
        total += (moved - n * (pl.col(f"mean{turn}") - pl.col("middle"))) * by
        n_known, known = n_known + n, known + scores
    weight += pl.col("n_scored") - n_known
    total += pl.col("n_scored") * pl.col("mean").fill_null(0.0) - known
    unchanged = ~pl.col("all_turns") | pl.col("even")
    plain = pl.col("n_scored").cast(pl.Float64)
    uneven = pl.when(pl.col("n_scored") > 0).then(total / weight)
    group = keys_of(level)
    groups = _turn_means(units, group)
    return (
        units.drop("value", "weight", strict=False)
        .join(groups, on=group, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            value=pl.when(unchanged).then("mean").otherwise(uneven),
            weight=pl.when(unchanged).then(plain).otherwise(weight),
        )
        .drop("^(mean|away|by)[0-9]$", "middle", "all_turns", "even")
    )


def _turn_means(units: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    """Return what the turns of each group are like, for `balance_turns`.

    Of each turn the mean, how far scores are moved `away` from it, and `by` what they count; the
    mean of these means, `middle`; `all_turns`, if there are several and a wording has all, and
    `even`, if each unit has as many of one as of any other.
    """
    counts = {turn: pl.col(f"turn{turn}_n") for turn in _TURNS}
    totals = {turn: n.sum() for turn, n in counts.items()}
    n_turns = pl.sum_horizontal(total > 0 for total in totals.values())
    scores = pl.sum_horizontal(totals.values())
    means = {
        turn: pl.when(total > 0).then(pl.col(f"turn{turn}_sum").sum() / total)
        for turn, total in totals.items()
    }
    of_turns_present = [pl.when(total > 0).then(counts[turn]) for turn, total in totals.items()]
    groups = units.group_by(group, maintain_order=True).agg(
        *(mean.fill_null(0.0).alias(f"mean{turn}") for turn, mean in means.items()),
        *(_spread_factor(total).alias(f"away{turn}") for turn, total in totals.items()),
        *(
            pl.when(total > 0).then(scores / (n_turns * total)).otherwise(0.0).alias(f"by{turn}")
            for turn, total in totals.items()
        ),
        middle=pl.mean_horizontal(means.values()).fill_null(0.0),
        even=(pl.min_horizontal(of_turns_present) == pl.max_horizontal(of_turns_present)).all(),
        n_turns=n_turns,
    )
    # Another name, as at the level of cells the wording is a key of the group already.
    of_wordings = units.group_by(*group, of_wording="variation").agg(n_of_wording=n_turns)
    most = of_wordings.group_by(group).agg(pl.col("n_of_wording").max())
    joined = groups.join(most, on=group, nulls_equal=True, maintain_order="left")
    n = pl.col("n_turns")
    all_turns = (n > 1) & (pl.col("n_of_wording") == n)
    return joined.with_columns(all_turns=all_turns).drop("n_turns", "n_of_wording")


def _spread_factor(number: pl.Expr) -> pl.Expr:
    """Give √(n / (n − 1)), by which scores lie too close to their own mean; 1 for a single one."""
    return pl.when(number > 1).then((number / (number - 1)).sqrt()).otherwise(1.0)


def unbalanced() -> Iterator[pl.Expr]:
    """Yield flags, of the names in `UNBALANCED`, of units that are not in all turns.

    Whether all scores are known to be in one order of the groups; whether they are in one of
    several versions of the question, or a version that was asked has none.
    """
    scored = pl.col("n_scored").sum()
    in_order = [pl.col(f"{order}_n").sum() for order in _ORDERS]
    one_order = (scored > 0) & pl.any_horizontal(count == scored for count in in_order)
    yield one_order.alias("one_order")
    turns = [(pl.col(f"turn{t}_asked_n").sum(), pl.col(f"turn{t}_n").sum()) for t in _TURNS]
    unanswered = pl.any_horizontal((asked > 0) & (n == 0) for asked, n in turns)
    alone = pl.any_horizontal(n == scored for _, n in turns)
    some = (scored > 0) & ~one_order & (unanswered | alone)
    yield some.alias("some_versions")


def unbalanced_text() -> pl.Expr:
    """Give what `conditional_on` says of means with the flags of `UNBALANCED`: ", one order"."""
    texts = (
        pl.when(flag).then(pl.lit(f", {text}")).otherwise(pl.lit(""))
        for flag, text in UNBALANCED.items()
    )
    return pl.concat_str(*texts)


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


def turn() -> pl.Expr:
    """Give the number of the turn of each trial within its instrument; null without any."""
    order = pl.col("order").replace_strict(
        {name: number for number, name in enumerate(_ORDERS, 1)},
        default=0,
        return_dtype=pl.Int32,
    )
    version = pl.col("version").replace_strict(
        {name: number for number, name in enumerate(ASKED_ABOUT, 1)},
        default=0,
        return_dtype=pl.Int32,
    )
    code = order * (len(ASKED_ABOUT) + 1) + version
    number = pl.when(code > 0).then(code).rank("dense").over("instrument").cast(pl.Int32) - 1
    return number.clip(upper_bound=_TURNS[-1]).alias("turn")


def scores_by_turn() -> Iterator[pl.Expr]:
    """Yield the number of answers and of scores in each turn, the sum of the scores, by `turn`.

    And the number of scores in each order.
    """
    for turn in _TURNS:
        score = pl.col("score").filter(turn=turn)
        yield (pl.col("turn") == turn).sum().cast(pl.Int64).alias(f"turn{turn}_asked_n")
        yield score.count().cast(pl.Int64).alias(f"turn{turn}_n")
        yield score.sum().alias(f"turn{turn}_sum")
    for order in _ORDERS:
        yield pl.col("score").filter(order=order).count().cast(pl.Int64).alias(f"{order}_n")


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
