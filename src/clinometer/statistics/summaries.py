"""Scores reduced to their sufficient statistics, of mirrored pairs.

Everything `estimates` reports follows from counts, means and sums of squares per pair. The
summaries of several models are joined with `polars.concat`, so the scores of only one model
need to be in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import InputError
from clinometer.results import (
    COMPLIANCE,
    CONDITIONS,
    FACTORS,
    REASONS,
    SCORES,
    TOPIC_VERSIONS,
    check,
)
from clinometer.results.verdicts import SINGLE_ORDER, SINGLE_VERSION
from clinometer.statistics.clustered import Array, mean_of_clusters

#: Factors that no level pools over.
NEVER_POOLED = (
    "study",
    "instrument",
    "mode",
    *CONDITIONS,
    "dimension",
    "word_list",
    "scoring",
    "control",
)

#: Factors that a family of tests does not reach over. A reader sees all dimensions at once.
FAMILY_KEYS = tuple(name for name in NEVER_POOLED if name != "dimension")

#: Levels of means that a reader sees on one page.
LEVELS_OF_A_PAGE = ("stereotype", "category", "model")

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

#: Flags of means over answers in a single turn, with what `conditional_on` calls them.
UNBALANCED = {"one_order": SINGLE_ORDER, "one_version": SINGLE_VERSION}

#: What tells the rows of `compliance` apart, in their order.
COMPLIANCE_KEYS = [name for name in COMPLIANCE if name in SCORES and name != "coverage"]

_SCORED = pl.col("score").is_not_null()

#: What tells summaries apart, beside group words and pair.
_UNIT_KEYS = (*FACTORS, "control", "word_list", "scoring", "one_person")


def keys_of(level: str) -> list[str]:
    """Return the columns that tell the groups of a level apart, the model first."""
    return [*LEVEL_KEYS[level][:1], *NEVER_POOLED, *LEVEL_KEYS[level][1:]]


def summarise(scores: pl.DataFrame) -> pl.DataFrame:
    """Reduce the scores of a model, columns of `results.SCORES`, to one row per mirrored pair.

    Returns the factors, `word_list`, `scoring` and group words; `one_person`, of
    `is_of_one_person`; `unit`, the pair, or the response where there is none; `draw`, the number of
    its first draw; `n`, `n_scored`, ``n_<reason>``; the `lowest`, `highest` and `mean` score and
    `m2`, the sum of squared deviations from the mean; sums and counts of `first_share` and `logit`;
    what `scores_by_turn` counts; of pairs scored in both orders, their number `order_n` and
    `order_sum`, the mean score with the marginalized group first minus that with the default group
    first; and `value` and `weight`, of `balance_turns`.

    Raises InputError if a column is missing, a score is not finite, a missing score has no reason,
    or the trials of one pair differ in more than their order.
    """
    frame = _check_scores(check(scores, SCORES, "scores")).with_row_index("row")
    names = (pl.col(name).fill_null("") for name in ("model", "stereotype"))
    single_response = pl.format("{} {} response {}", *names, "row")
    unit = pl.coalesce("pair_id", single_response)
    frame = frame.with_columns(turn_number(), one_person=is_of_one_person(), unit=unit)
    # Sorted, so that sums come out the same to the last digit whatever the order of the answers.
    frame = frame.sort("unit", "order", "score")
    keys = [*_UNIT_KEYS, "marginalized", "default", "unit"]
    units = frame.group_by(keys, maintain_order=True).agg(_sums_of_pairs())
    refuse_split(units)
    return balance_turns(units)


def is_of_one_person() -> pl.Expr:
    """Whether a trial is about one of the two people of its pair, which its version names."""
    is_side = pl.col("version").is_in(["marginalized", "default"]).fill_null(value=False)
    return is_side & pl.col("order").is_null() & pl.col("pair_id").is_not_null()


@cache
def _sums_of_pairs() -> tuple[pl.Expr, ...]:
    """Return what `summarise` gives of each pair."""
    first, second = (pl.col("score").filter(order=order).mean() for order in _ORDERS)
    return (
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


def fill_missing(units: pl.DataFrame, end: float, level: str = "stereotype") -> pl.DataFrame:
    """Return summaries with `value` and `weight` as if each missing score were at `end`."""
    total = pl.col("n_scored") * pl.col("mean").fill_null(0.0)
    by_turn: list[pl.Expr] = []
    for turn in _TURNS:
        n_answers, n_scored = pl.col(f"turn{turn}_asked_n"), pl.col(f"turn{turn}_n")
        filled_sum = pl.col(f"turn{turn}_sum") + (n_answers - n_scored) * end
        by_turn += [filled_sum, n_answers.alias(f"turn{turn}_n")]
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
    n = units.select(f"turn{turn}_n" for turn in _TURNS).to_numpy().astype(float)
    scores = units.select(f"turn{turn}_sum" for turn in _TURNS).to_numpy().astype(float)
    n_scored = units["n_scored"].to_numpy().astype(float)
    mean = units["mean"].cast(pl.Float64)
    used = n[:, n.any(axis=0)]
    if (used == used[:, :1]).all():
        return units.with_columns(value=mean, weight=n_scored)
    codes = _codes(units, keys_of(level))
    turns = _Turns(codes, n, scores)
    away, means = turns.away[codes], turns.means[codes]
    moved = scores + (scores - n * means) * (away - 1.0)
    moved -= n * (means - turns.middle[codes, None])
    # Scores whose turn is unknown count once.
    weight = (n * turns.counts_for[codes]).sum(axis=1) + n_scored - n.sum(axis=1)
    unknown = n_scored * mean.fill_null(0.0).to_numpy() - scores.sum(axis=1)
    total = (moved * turns.counts_for[codes]).sum(axis=1) + unknown
    changed = turns.uneven(n, _codes(units, [*keys_of(level), "variation"]))[codes]
    value = np.divide(total, weight, out=np.full_like(total, np.nan), where=n_scored > 0)
    return units.with_columns(
        value=pl.when(pl.Series(changed)).then(pl.Series(value).fill_nan(None)).otherwise(mean),
        weight=np.where(changed, weight, n_scored),
    )


class _Turns:
    """What the turns of each group are like; arrays have shape (groups, turns)."""

    def __init__(self, codes: NDArray[np.intp], n: Array, scores: Array) -> None:
        """Add up the numbers of scores and their sums, both (units, turns), by group."""
        self.codes = codes
        totals, sums = _by_group(codes, n), _by_group(codes, scores)
        self.present = totals > 0
        self.number = self.present.sum(axis=1)  # (groups,)
        self.means = np.divide(sums, totals, out=np.zeros_like(sums), where=self.present)
        self.middle = self.means.sum(axis=1) / np.maximum(self.number, 1)  # (groups,)
        # What a score counts for, so that all turns count the same.
        self.counts_for = np.divide(
            totals.sum(axis=1, keepdims=True),
            self.number[:, None] * totals,
            out=np.zeros_like(totals),
            where=self.present,
        )
        # By how much scores lie too close to the mean of their turn.
        self.away = np.divide(totals, totals - 1.0, out=np.ones_like(totals), where=totals > 1)
        self.away **= 0.5

    def uneven(self, n: Array, wordings: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Say which groups have scores to be balanced, (groups,).

        Those in which a unit has more scores in one turn than in another, and a wording has all.
        """
        present = self.present[self.codes]
        most = np.where(present, n, -np.inf).max(axis=1, initial=-np.inf)
        least = np.where(present, n, np.inf).min(axis=1, initial=np.inf)
        n_turns = (_by_group(wordings, n) > 0).sum(axis=1)[wordings]
        has_all = n_turns == self.number[self.codes]
        counts = _by_group(self.codes, np.column_stack([most > least, has_all]))
        return np.asarray((self.number > 1) & (counts > 0).all(axis=1))


def _codes(units: pl.DataFrame, keys: list[str]) -> NDArray[np.intp]:
    """Return numbers from 0 on of the groups of units with the same keys, (units,)."""
    group = pl.struct(*dict.fromkeys(keys)).rank("dense")
    return units.select(group).to_series().to_numpy().astype(np.intp) - 1


def _by_group(codes: NDArray[np.intp], values: NDArray[Any]) -> Array:
    """Add up values by group, (units, columns) → (groups, columns)."""
    n_groups = int(codes.max(initial=-1)) + 1
    return np.array([np.bincount(codes, column, n_groups) for column in values.T], float).T


def unbalanced() -> Iterator[pl.Expr]:
    """Yield flags, of the names in `UNBALANCED`, of units whose scores are in a single turn.

    Whether all scores are known to be in one order of the groups, or in one version of a question.
    """
    scored = pl.col("n_scored").sum()
    in_order = [pl.col(f"{order}_n").sum() for order in _ORDERS]
    is_single_order = (scored > 0) & pl.any_horizontal(count == scored for count in in_order)
    yield is_single_order.alias("one_order")
    in_turn = [pl.col(f"turn{turn}_n").sum() for turn in _TURNS]
    is_single_turn = (scored > 0) & pl.any_horizontal(count == scored for count in in_turn)
    yield (is_single_turn & ~is_single_order).alias("one_version")


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
    counted = frame.group_by(COMPLIANCE_KEYS).agg(
        pl.len().cast(pl.Int64).alias("n"),
        pl.col("iteration").min().alias("draw"),
        *_counts(),
        one_sided_share=pl.col("one_sided").filter(_SCORED).cast(pl.Float64).mean(),
        coverage=pl.col("coverage").filter(_SCORED).mean(),
    )
    return check(counted, COMPLIANCE, "compliance").sort(COMPLIANCE_KEYS)


def unscored_share(estimates: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Estimate the share of answers without a score, its interval clustered by stereotype.

    `estimates`: columns of `results.ESTIMATES`, a row per stereotype.
    `keys`: columns that the stereotypes of a share have in common.
    Result: `keys`, then ``estimate``, ``ci_low`` and ``ci_high``, 0 to 1, in the order given.
    """
    rows = []
    for key, part in estimates.filter(pl.col("n") > 0).group_by(keys, maintain_order=True):
        share = mean_of_clusters(part["n"], part["n"] - part["n_scored"], bounds=(0.0, 1.0))
        confidence = part.select(pl.col("confidence").max()).item() or 0.95
        rows.append((*key, share.mean, *share.interval(confidence)))
    schema = {name: estimates.schema[name] for name in keys}
    schema |= dict.fromkeys(("estimate", "ci_low", "ci_high"), pl.Float64())
    shares = pl.DataFrame(rows, schema=schema, orient="row")
    return shares.with_columns(pl.col("ci_low", "ci_high").clip(0.0, 1.0))


def turn_number() -> pl.Expr:
    """Give the number of the turn of each trial within its instrument; null without any."""
    order = pl.col("order").replace_strict(
        {name: number for number, name in enumerate(_ORDERS, 1)},
        default=0,
        return_dtype=pl.Int32,
    )
    version = pl.col("version").replace_strict(
        {name: number for number, name in enumerate(TOPIC_VERSIONS, 1)},
        default=0,
        return_dtype=pl.Int32,
    )
    code = order * (len(TOPIC_VERSIONS) + 1) + version
    number = pl.when(code > 0).then(code).rank("dense").over("instrument").cast(pl.Int32) - 1
    return number.clip(upper_bound=_TURNS[-1]).alias("turn")


def scores_by_turn() -> Iterator[pl.Expr]:
    """Yield the number of answers and of scores in each turn, the sum of the scores, by `turn`.

    And the number of scores in each order.
    """
    for turn in _TURNS:
        in_turn = (pl.col("turn") == turn).fill_null(value=False)
        yield in_turn.sum().cast(pl.Int64).alias(f"turn{turn}_asked_n")
        yield (in_turn & _SCORED).sum().cast(pl.Int64).alias(f"turn{turn}_n")
        yield pl.when(in_turn).then("score").sum().alias(f"turn{turn}_sum")
    for order in _ORDERS:
        in_order = (pl.col("order") == order).fill_null(value=False)
        yield (in_order & _SCORED).sum().cast(pl.Int64).alias(f"{order}_n")


def _counts() -> list[pl.Expr]:
    """Return the number of scores, and of missing ones by reason."""
    missing = {f"n_{reason}": ~_SCORED & (pl.col("reason") == reason) for reason in REASONS}
    counted = {"n_scored": _SCORED, **missing}
    return [flag.sum().cast(pl.Int64).alias(name) for name, flag in counted.items()]


def _check_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """Return scores; raises InputError if one is not finite, or is missing without a reason."""
    score = scores["score"]
    if np.isfinite(score.to_numpy()).sum() + score.null_count() < len(score):
        raise InputError("scores: score is nan or infinite; a missing score is null with a reason")
    if not score.null_count():
        return scores
    unexplained = scores.filter(~_SCORED & ~pl.col("reason").is_in(REASONS).fill_null(False))
    if not unexplained.is_empty():
        reason, trial = unexplained.select("reason", "trial_id").row(0)
        raise InputError(
            f"scores: {len(unexplained)} without a score and with reason {reason!r} "
            f"(first: trial {trial}); allowed: {', '.join(REASONS)}"
        )
    return scores
