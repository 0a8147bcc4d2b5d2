"""Items: what each attribute word contributes to the score of its stereotype.

Reference
    Influence function: Hampel (1974), JASA 69, 383–393. Attribute words as a sample of the words
    that could have been used: Clark (1973), J. Verbal Learning and Verbal Behavior 12, 335–359.

Measures
    With w the weight of a word, x its share for the marginalized group, and sums over the words of
    a response, A = Σ w x and C = Σ w (1 − x) over tied words, B and D the same over counter words,
    equation 1 of Bai et al. (2025) is A / (A + B) + D / (C + D) − 1. Its derivative with respect to
    w at 1 is the influence of a word:

        tied       x B / (A + B)² − (1 − x) D / (C + D)²
        counter    −x A / (A + B)² + (1 − x) C / (C + D)²

    In forced mode, score = mean x(tied) − mean x(counter), and the influences are x / n(tied) and
    −x / n(counter). Where a trial shows one word of a set (decisions, described objects), the
    influence is the score. The *contribution* of a word is its influence less the mean influence of
    its set, averaged over all responses of the stereotype; contributions of a set add up to 0.

    `score_without`: the mean score with the word left out of every response (exact, not by the
    derivative); responses that show no other word of its set are left out with it.

Standard errors
    Over draws: the two trials of a mirrored pair are one draw. They hold fixed which words a draw
    shows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results import SCORES, check
from clinometer.results.columns import with_codes
from clinometer.results.schemas import ITEMS
from clinometer.results.shares import read_shares
from clinometer.statistics.clustered import Array
from clinometer.statistics.intervals import critical_value
from clinometer.statistics.summaries import NEVER_POOLED

Flags = NDArray[np.bool_]

#: Responses whose words are in memory at a time.
_PIECE = 10_000

#: What tells groups of contributions apart.
GROUP = ("model", *NEVER_POOLED, "category", "stereotype")

#: What tells the rows of `contributions` apart, in their order.
ITEM_KEYS = (*GROUP, "set", "attribute")

#: Columns with the one word of a set that a trial shows.
_SINGLE = ("tied", "counter", "object")

_SET = ("of", "set")
_LONG = (*_SET, "attribute", "draw", "share", "influence", "gain", "lost")


def contributions(scores: pl.DataFrame, confidence: float = 0.95) -> pl.DataFrame:
    """Give the contribution of each attribute word to the mean score of its stereotype.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`; responses without a score are left out.
    confidence
        Level of the intervals, 0 to 1.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ITEMS`: a row per model, factors that are never pooled, stereotype, set
        and word. Words without stereotype (set ``extra``) are left out. Intervals are of t with
        `n_clusters` − 1 degrees of freedom, with `n_clusters` draws that show the word; null for 1.

    Raises
    ------
    InputError
        If a column is missing, or a text of `shares` is malformed.
    """
    frame = check(scores, SCORES, "scores")
    if all(frame[name].null_count() == frame.height for name in ("shares", *_SINGLE)):
        return pl.DataFrame(schema=ITEMS)
    items = _items(frame)
    degrees = items["n_clusters"].to_numpy() - 1.0
    half = items["se"] * critical_value(confidence, np.where(degrees > 0, degrees, np.nan))
    bounded = items.with_columns(
        confidence=pl.lit(confidence),
        ci_low=pl.col("contribution") - half,
        ci_high=pl.col("contribution") + half,
    )
    return check(bounded, ITEMS, "items").sort(ITEM_KEYS)


def word_variance(items: pl.DataFrame) -> pl.DataFrame:
    """Estimate the variance of each stereotype's mean score due to the choice of attribute words.

    The words of a set are taken for a random sample of words like these. Tied and counter words (or
    objects) are sampled separately, so their variances add up.

    Parameters
    ----------
    items
        Columns of `results.ITEMS`, of `contributions`.

    Returns
    -------
    polars.DataFrame
        A row per group (`GROUP`) and `set`, with `n_words`; `noise`, the variance that the errors
        of the contributions lead one to expect, k/(k − 1) Σ se² over k words; `variance`,
        k/(k − 1) Σ contribution² less the noise, at least 0, in squared units of the score; and
        `df`, its degrees of freedom by Satterthwaite (null if the variance is 0). One word has no
        variance. The error of a word shown in one draw is unknown and counts as 0, which makes the
        variance too large.

    Raises
    ------
    InputError
        If a column is missing.
    """
    k = pl.len()
    observed = (pl.col("contribution") ** 2).sum() * k / (k - 1)
    noise = (pl.col("se") ** 2).sum() * k / (k - 1)
    words = check(items, ITEMS, "items").group_by(*GROUP, "set", maintain_order=True).agg(
        k.cast(pl.Int64).alias("n_words"),
        pl.col("n_clusters").mean(),
        observed=pl.when(k > 1).then(observed),
        noise=pl.when(k > 1).then(noise),
    )  # fmt: skip
    variance = (pl.col("observed") - pl.col("noise")).clip(lower_bound=0)
    degrees = pl.col("n_words") - 1
    draws = (pl.col("n_clusters") - 1).clip(lower_bound=1)
    spread = (pl.col("observed") ** 2 + pl.col("noise") ** 2 / draws) / degrees
    df = pl.when(variance > 0).then(variance**2 / spread)
    estimates = words.with_columns(variance=variance, df=df).sort(*GROUP, "set")
    return estimates.select(*GROUP, "set", "n_words", "noise", "variance", "df")


def _items(scores: pl.DataFrame) -> pl.DataFrame:
    """Average the influences of each word over responses."""
    scored = scores.filter(pl.col("score").is_not_null()).with_row_index("response")
    pairs = pl.col("pair_id").rank("dense").cast(pl.Int64)
    scored = scored.with_columns(
        draw=pl.coalesce(pairs, -1 - pl.col("response").cast(pl.Int64)),
        of=pl.struct(GROUP).rank("dense"),
    )
    groups = scored.group_by("of", maintain_order=True).agg(
        pl.col(*GROUP).first(),
        pl.len().alias("n_responses"),
        pl.col("score").sum(),
    )
    influences = pl.concat([_pair_influences(scored), _single_influences(scored)])
    return _sum_over_draws(influences).join(groups, on="of").with_columns(**_ESTIMATES)


def _pair_influences(scored: pl.DataFrame) -> pl.DataFrame:
    """Give the influence of each word on each response that pairs many words."""
    responses = scored.select("response", "of", "draw", "score", "logit", "shares")
    pieces = responses.iter_slices(_PIECE) if responses.height else [responses]
    return pl.concat(_piece_influences(piece) for piece in pieces)


def _piece_influences(responses: pl.DataFrame) -> pl.DataFrame:
    """Do so for a part of the responses."""
    words = read_shares(responses).filter(pl.col("set").is_in(["tied", "counter"]))
    response = words["response"].rle_id().to_numpy()  # numbered from 0 on, for `bincount`
    x = words["share"].to_numpy()
    tied = (words["set"] == "tied").to_numpy()
    sums = _Sums(*(_total(response, summand) for summand in _summands(x, tied)))  # A, B, C, D
    n_tied, n_counter = _total(response, tied), _total(response, ~tied)
    # Responses of forced mode have a logit.
    forced = words["logit"].is_not_null().to_numpy()
    by_means = _mean_influence(x, tied, n_tied, n_counter)
    influence = np.where(forced, by_means, _score_influence(x, tied, sums))
    change_of_means = _change_of_means(x, tied, sums, n_tied, n_counter)
    change = np.where(forced, change_of_means, _change_of_score(x, tied, sums))
    # Without the only word of its set a response has no score, and its own is taken away.
    lost = np.where(tied, n_tied, n_counter) == 1
    gain = np.where(lost, -words["score"].to_numpy(), change)
    words = words.with_columns(
        influence=pl.Series(influence), gain=pl.Series(gain), lost=pl.Series(lost)
    )
    return with_codes(words.select(_LONG))


class _Sums(NamedTuple):
    """A, B, C, D of equation 1 for the response of each word."""

    a: Array
    b: Array
    c: Array
    d: Array


def _summands(x: Array, tied: Flags) -> tuple[Array, Array, Array, Array]:
    """Give what each word adds to A, B, C, D."""
    return x * tied, x * ~tied, (1 - x) * tied, (1 - x) * ~tied


def _total(response: NDArray[np.uint32], values: Array | Flags) -> Array:
    """Add up values over each response, and repeat the sum for each of its words."""
    totals: Array = np.bincount(response, values).astype(np.float64)
    return totals[response]


def _score_influence(x: Array, tied: Flags, sums: _Sums) -> Array:
    """Give the influence of each word by equation 1."""
    a, b, c, d = sums
    marginalized = _divide(np.where(tied, x * b, -x * a), (a + b) ** 2)
    default = _divide(np.where(tied, (x - 1) * d, (1 - x) * c), (c + d) ** 2)
    return marginalized + default


def _change_of_score(x: Array, tied: Flags, sums: _Sums) -> Array:
    """Give the change of equation 1 when the word is left out."""
    summands = _summands(x, tied)
    a, b, c, d = (total - summand for total, summand in zip(sums, summands, strict=True))
    with_word = _divide(sums.a, sums.a + sums.b, 0.5) + _divide(sums.d, sums.c + sums.d, 0.5)
    return _divide(a, a + b, 0.5) + _divide(d, c + d, 0.5) - with_word


def _mean_influence(x: Array, tied: Flags, n_tied: Array, n_counter: Array) -> Array:
    """Give the influence of each word on the difference of means."""
    return np.where(tied, _divide(x, n_tied), -_divide(x, n_counter))


def _change_of_means(x: Array, tied: Flags, sums: _Sums, n_tied: Array, n_counter: Array) -> Array:
    """Give the change of the difference of means when the word is left out."""
    tied_change = _divide(sums.a - x, n_tied - 1) - _divide(sums.a, n_tied)
    counter_change = _divide(sums.b - x, n_counter - 1) - _divide(sums.b, n_counter)
    return np.where(tied, tied_change, -counter_change)


def _divide(numerator: Array, denominator: Array, nothing: float = 0.0) -> Array:
    """Divide; `nothing` where the denominator is 0."""
    ratio: Array = np.divide(
        numerator, denominator, out=np.full(len(numerator), nothing), where=denominator > 0
    )
    return ratio


def _single_influences(scored: pl.DataFrame) -> pl.DataFrame:
    """Give the influence of the word of a response that shows one word of each set.

    An absolute decision asks about the word of one set, which its `version` ends in.
    """
    single = scored.filter(pl.col("shares").is_null())
    index = ["of", "draw", "score", "version"]
    words = single.unpivot(_SINGLE, index=index, variable_name="set", value_name="attribute")
    version_set = pl.col("version").str.split("_").list.last()
    is_foreign = version_set.is_in(_SINGLE) & (version_set != pl.col("set"))
    return (
        words.filter(pl.col("attribute").is_not_null(), ~is_foreign.fill_null(False))
        .with_columns(
            share=pl.lit(math.nan),  # null if unknown, once averaged
            influence=pl.col("score"),
            gain=-pl.col("score"),
            lost=pl.lit(True),
        )
        .select(_LONG)
        .pipe(with_codes)
    )


def _sum_over_draws(influences: pl.DataFrame) -> pl.DataFrame:
    """Sum what each word adds to the scores, and the squares of its errors over draws.

    With x the influences of a word in a draw less the mean of its set, e is x less the mean of the
    word times how often the draw shows it, so that the words shown in each draw are held fixed. The
    error of a draw is e − b y: y is e summed over the set, and b the share of the word in it.
    """
    x, e, ey = pl.col("x"), pl.col("e"), pl.col("ey")
    word = (*_SET, "attribute")
    by_draw = (
        influences.with_columns(x=pl.col("influence") - pl.col("influence").mean().over(_SET))
        .group_by(*word, "draw", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("n"), pl.col("x", "share", "gain", "lost").sum())
        .with_columns(e=x - pl.col("n") * x.sum().over(word) / pl.col("n").sum().over(word))
        .with_columns(ey=e * e.sum().over(*_SET, "draw"))
    )
    summed = by_draw.group_by(*word, maintain_order=True).agg(
        pl.col("n", "x", "ey", "share", "gain", "lost").sum(),
        squares=(e**2).sum(),
        n_clusters=pl.len().cast(pl.Int64),
    )
    b = pl.col("n") / pl.col("n").sum().over(_SET)
    error = pl.col("squares") - 2 * b * ey + b**2 * ey.sum().over(_SET)  # Σ e y over words is Σ y²
    return summed.with_columns(squares=error)


_N, _DRAWS = pl.col("n_responses"), pl.col("n_clusters")

#: Estimates from the sums of a word and of its group.
_ESTIMATES = {
    "share": (pl.col("share") / pl.col("n")).fill_nan(None),
    "contribution": pl.col("x") / _N,
    "se": pl.when(_DRAWS > 1)
    .then(pl.col("squares").clip(lower_bound=0) * _DRAWS / (_DRAWS - 1))
    .sqrt()
    / _N,
    "score_without": pl.when(_N > pl.col("lost")).then(
        (pl.col("score") + pl.col("gain")) / (_N - pl.col("lost"))
    ),
}  # fmt: skip
