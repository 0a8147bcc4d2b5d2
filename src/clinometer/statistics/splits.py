"""Means of scores beside those of random splits of the same group words: their placebos.

Reference
    `placebos`, for p. Effects of words by least squares: David (1988), The Method of Paired
    Comparisons, ch. 4.

Measures
    Of one stereotype the mean score of a marginalized word m with a default word d, over wordings
    and draws, is ``neutral + f(m) − f(d)`` with an effect f of each word, by least squares
    weighted by answers. The mean of all scores is then ``neutral + Σ w(m) f(m) − Σ w(d) f(d)``,
    exactly, with w the parts of the answers that each word has. A split draws anew which of the
    words count as marginalized, as many as there are, and which w each word has. If the words of
    both groups are alike to the model, the split into groups is one of many.

Range
    Words that no chain of pairs joins have effects on scales of their own. So words are split
    among those that pairs join, a *block*. With one word a side there are two splits: the mean and
    its mirror image.

Levels
    The mean over several stereotypes is compared with means over their splits, weighed as its
    estimate is. Blocks with the same words are split alike, others independently.

Deviations from the source
    Pairs within a group are not asked, so that the effects of other splits have larger errors than
    the split into groups. With large errors p is conservative; without, it is uniform.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results import ESTIMATES, NO_ESTIMATES
from clinometer.statistics.intervals import quantile, tails
from clinometer.statistics.placebos import share_as_far
from clinometer.statistics.summaries import LEVEL_KEYS, NEVER_POOLED, keys_of

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Levels whose means have placebos.
SPLIT_LEVELS = ("stereotype", "category", "model")

#: Splits drawn where there are more than `_ENUMERATED`.
DRAWS = 999
_ENUMERATED = 1000

#: With fewer splits there is no p: a split and its mirror image are equally far from the median,
#: so that p could not reach .05.
FEWEST_SPLITS = 40
_NOTHING = 1e-9
_FEW = f"placebo: fewer than {FEWEST_SPLITS} splits of the group words"

_STEREOTYPE = ("model", *NEVER_POOLED, "category", "stereotype")
_SIDES = ("marginalized", "default")
_PLACEBO_COLUMNS = ("p", "placebo_mean", "placebo_low", "placebo_high", "n_resamples", "note")


@dataclass(frozen=True)
class _Block:
    """Words that pairs join, the marginalized ones first, in one stereotype or several."""

    words: tuple[str, ...]
    n_marginalized: int
    effects: Array  # (stereotypes, words), of which only differences mean something
    answers: Array  # (stereotypes, words), parts of the stereotype's; negative for default words

    @property
    def splits(self) -> int:
        """Number of ways to choose the words that count as marginalized."""
        return comb(len(self.words), self.n_marginalized)

    @cached_property
    def share(self) -> float:
        """The part of the answers, added up over stereotypes."""
        return float(self.answers.clip(0).sum())

    @cached_property
    def even(self) -> bool:
        """Whether all words of a side have as many answers."""
        sides = self.answers[:, : self.n_marginalized], self.answers[:, self.n_marginalized :]
        return all(bool(np.ptp(side, axis=1).max() < _NOTHING) for side in sides)

    def sums(self, places: Codes) -> Array:
        """Return the sum of scores where place k has word ``places[:, k]``, shape (splits,)."""
        return np.asarray(np.einsum("sdk,sk->d", self.effects[:, places], self.answers))


def split_words(units: pl.DataFrame, estimates: pl.DataFrame, *, seed: int = 0) -> pl.DataFrame:
    """Compare means of scores with those of random splits of their group words.

    Parameters
    ----------
    units
        Rows of `summarise`, of one instrument.
    estimates
        Columns of `results.ESTIMATES`: the means, of which those of `SPLIT_LEVELS` are compared.
    seed
        Of the splits, drawn where there are too many to take all.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, a row of method ``placebo`` for each of the means whose
        answers all name their group words. `n_resamples` is the number of other splits; with fewer
        than `FEWEST_SPLITS` in all, p is null and the note says so.
    """
    means = estimates.filter(
        pl.col("method") == "clustered", pl.col("level").is_in(SPLIT_LEVELS)
    ).select(_MEAN_COLUMNS)
    if means.is_empty():
        return NO_ESTIMATES
    scored = units.filter(pl.col("n_scored") > 0)
    blocks = _all_blocks(scored.with_columns(pl.col("mean") - means["neutral"][0]))
    positions, splits, few = [], [], []
    for position, row in enumerate(means.iter_rows(named=True)):
        row_blocks = blocks.get((row["level"], *(row[key] for key in keys_of(row["level"]))))
        if row_blocks:
            merged = _join_blocks(row_blocks)
            positions.append(position)
            splits.append(row["neutral"] + _means(merged, seed))
            few.append(prod(block.splits for block in merged) < FEWEST_SPLITS)
    # One confidence: that of the intervals, null where no answer has a score.
    placebos = _find_among_splits(splits, few, means.select(pl.max("confidence")).item())
    rows = means[positions].hstack(placebos)
    rows = rows.with_columns(method=pl.lit("placebo"), alternative=pl.lit("two-sided"))
    return pl.concat([NO_ESTIMATES, rows], how="diagonal")


#: What the row of a placebo shares with that of its mean.
_MEAN_COLUMNS = (
    "family",
    "subject",
    "measure",
    "level",
    *NEVER_POOLED,
    "n",
    "n_scored",
    "compliance",
    "estimate",
    "confidence",
    "range_low",
    "range_high",
    "neutral",
    "direction",
    *LEVEL_KEYS["cell"],
)


def _all_blocks(scored: pl.DataFrame) -> dict[tuple[Any, ...], list[_Block]]:
    """Return the blocks of each mean, by level and keys; none where words are unknown.

    `mean` of the rows is the distance from neutral.
    """
    n = pl.col("n_scored")
    blocks: dict[tuple[Any, ...], list[_Block]] = {}
    unnamed: set[tuple[Any, ...]] = set()
    pairs = scored.group_by(*_STEREOTYPE, *_SIDES, maintain_order=True).agg(
        value=(n * pl.col("mean")).sum() / n.sum(), weight=n.sum().cast(pl.Float64)
    )
    lists = pairs.group_by(*_STEREOTYPE, maintain_order=True).agg(*_SIDES, "value", "weight")
    for row in lists.iter_rows(named=True):
        has_names = None not in (*row["marginalized"], *row["default"])
        stereotype_blocks = list(_blocks(row)) if has_names else []
        for level in SPLIT_LEVELS:
            group = (level, *(row[name] for name in keys_of(level)))
            blocks.setdefault(group, []).extend(stereotype_blocks)
            if not has_names:
                unnamed.add(group)
    for group in unnamed:
        del blocks[group]
    return blocks


def _blocks(pairs: Mapping[str, Any]) -> Iterator[_Block]:
    """Estimate the effects of the words of one stereotype, block by block."""
    marginalized, first = np.unique(pairs["marginalized"], return_inverse=True)
    default, second = np.unique(pairs["default"], return_inverse=True)
    n = len(marginalized)
    second = second + n  # words of both sides are numbered on, the marginalized ones first
    words = [*(f"marginalized {w}" for w in marginalized), *(f"default {w}" for w in default)]
    values, weights = np.array(pairs["value"]), np.array(pairs["weight"])
    effects = _effects(first, second, values, weights, len(words))
    first_answers = np.bincount(first, weights, len(words))
    second_answers = np.bincount(second, weights, len(words))
    answers = np.asarray((first_answers - second_answers) / weights.sum(), np.float64)
    labels = _labels(first, second, len(words))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        names = tuple(words[k] for k in members)
        yield _Block(
            names, int((members < n).sum()), effects[None, members], answers[None, members]
        )


def _effects(first: Codes, second: Codes, values: Array, weights: Array, n: int) -> Array:
    """Return effects with ``values ≈ effects[first] − effects[second]``, of least size."""
    rows = np.arange(len(values))
    root = np.sqrt(weights)
    design = np.zeros((len(values), n))
    design[rows, first] = root
    design[rows, second] = -root
    # `lstsq`, as the effects of a block are known but for a constant: it takes those of least size.
    return np.asarray(np.linalg.lstsq(design, root * values, rcond=1e-9)[0])


def _labels(first: Codes, second: Codes, n: int) -> Codes:
    """Return the block of each word: the least number of a word that pairs join it to."""
    labels = np.arange(n)
    while True:
        least = np.minimum(labels[first], labels[second])
        after = labels.copy()
        np.minimum.at(after, first, least)
        np.minimum.at(after, second, least)
        if (after == labels).all():
            return labels
        labels = after


def _find_among_splits(
    splits: Sequence[Array], few: Sequence[bool], confidence: float
) -> pl.DataFrame:
    """Find means, each the first of its splits, among these; columns `_PLACEBO_COLUMNS`.

    With `few` splits there is no p.
    """
    sizes = np.array([len(means) for means in splits], int)
    numbers = np.empty((len(splits), 4))
    for size in np.unique(sizes):  # all with as many splits at once
        table = np.array([means for means in splits if len(means) == size])
        low, high = quantile(table, tails(confidence), method="inverted_cdf")
        numbers[sizes == size] = np.column_stack(
            [share_as_far(table), table.mean(axis=1), low, high]
        )
    numbers[np.array(few, bool), 0] = np.nan
    notes = [_FEW if is_few else None for is_few in few]
    return pl.DataFrame(
        dict(zip(_PLACEBO_COLUMNS, (*numbers.T, sizes - 1, notes), strict=True)),
        schema={name: ESTIMATES[name] for name in _PLACEBO_COLUMNS},
        nan_to_null=True,
    )


def _join_blocks(blocks: Iterable[_Block]) -> list[_Block]:
    """Join blocks with the same words."""
    by_words: dict[tuple[str, ...], list[_Block]] = {}
    for block in blocks:
        by_words.setdefault(block.words, []).append(block)
    merged = []
    for same_words in by_words.values():
        if len(same_words) == 1:
            merged += same_words
            continue
        effects = np.concatenate([block.effects for block in same_words])
        answers = np.concatenate([block.answers for block in same_words])
        merged.append(replace(same_words[0], effects=effects, answers=answers))
    return merged


def _means(blocks: Sequence[_Block], seed: int) -> Array:
    """Return the means of splits from neutral, that into groups first."""
    n_splits = prod(block.splits for block in blocks)
    # With uneven answers, which word has which number of them matters too: drawn, not listed.
    if n_splits <= _ENUMERATED and all(block.even for block in blocks):
        sums = np.zeros(1)
        for block in blocks:
            block_sums = block.sums(_all_splits(len(block.words), block.n_marginalized))
            sums = np.add.outer(sums, block_sums).ravel()
    else:
        rng = np.random.default_rng(seed)
        sums = np.zeros(DRAWS + 1)
        for block in blocks:
            places = np.tile(np.arange(len(block.words)), (DRAWS + 1, 1))
            rng.permuted(places[1:], axis=1, out=places[1:])  # the first row stays: the groups
            sums += block.sums(places)
    return np.asarray(sums / sum(block.share for block in blocks))


@cache
def _all_splits(words: int, marginalized: int) -> Codes:
    """Return the words in order of their places, shape (splits, words); the first is as given."""
    splits = []
    for first in combinations(range(words), marginalized):
        second = [word for word in range(words) if word not in first]
        splits.append([*first, *second])
    return np.array(splits)
