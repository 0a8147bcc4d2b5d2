"""Placebos of effects and slopes: the same for arbitrary primes, or for arbitrary targets.

Zero is not what an effect is where there is nothing to find: words of one category may have more
or stronger associations, and activate all targets more. Two placebos say what it is instead.

Method ``placebo``: arbitrary primes, targets as they are. Each prime is replaced by a word of like
degree and strength, drawn from the `NEAREST` by rank. Each set of primes is normalised as the
primes of the study are.
Method ``placebo_targets``: arbitrary targets, primes as they are. Each target is replaced in the
same way. One spreading activates all words that can be drawn.

Primes and targets of the study are never drawn. `estimate` is the effect itself; `placebo_mean`,
`placebo_low` and `placebo_high` describe the effects of the placebos; p is the rank of the effect
among them (`statistics.placebos`; two-sided, 1 / (placebos + 1) at the least). A claim is about the
distance of the effect from `placebo_mean`. It needs both placebos: targets that are related to each
other lean together after any primes, so that arbitrary targets alone would support a claim for over
half of all arbitrary primes (`benchmarks/placebos.py`); and primes that activate everything more
would pass beside arbitrary primes.

Slopes of valence, and their joint statistic, have the first kind: the targets are all rated words,
which leaves none to replace them by. Neighbours have like valences, so that arbitrary primes have
slopes too. Each placebo takes a regression per prime; `MOST_SLOPES` are drawn at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import rankdata

from clinometer.families.networks.approaches import (
    Array,
    Contrast,
    Rated,
    Row,
    adjust,
    describe_effect,
    paired,
    slopes,
)
from clinometer.families.networks.network import Network
from clinometer.families.networks.setting import FEWEST, Setting
from clinometer.families.networks.spreading import activate
from clinometer.statistics.placebos import place
from clinometer.statistics.two_samples import effects_of_rows, signed_rank_effect

__all__ = ["FEW_WORDS", "NEAREST", "draw_words", "nearest_words", "place_row", "placebo_effects",
           "placebo_slopes"]  # fmt: skip

Places = NDArray[np.intp]
Rows = Mapping[str, list[int]]

#: Words that each prime or target can be replaced by.
NEAREST = 50
#: Placebos of slopes: with 199, p adjusted for ten primes can reach .05.
MOST_SLOPES = 199

FEW_WORDS = f"fewer than {NEAREST} other words to draw placebos from"


def placebo_effects(network: Network, contrast: Contrast) -> list[Row]:
    """Compare the effects of a contrast with those of placebos; rows of `results.ESTIMATES`.

    `contrast.setting.placebos` of each kind are drawn; with 0 there are no rows. An effect that is
    null, or a network with too few other words, has rows without p.
    """
    setting = contrast.setting
    if not setting.placebos:
        return []
    sets = {name: words for name, words in contrast.sets.items() if words and contrast.primes}
    rows = {name: contrast.rows(words) for name, words in sets.items()}
    words = [*contrast.primes, *contrast.places]
    few = len(network) < len(words) + NEAREST
    drawn: dict[str, Mapping[str, Array]] = {"placebo": {}, "placebo_targets": {}}
    if rows and not few:
        pools = np.split(nearest_words(network, words), [len(contrast.primes)])
        rng = np.random.default_rng(setting.seed)
        drawn["placebo"] = _of_primes(network, contrast, rows, pools[0], rng)
        drawn["placebo_targets"] = _of_targets(network, contrast, rows, pools[1], rng)
    placed, note = [], FEW_WORDS if few else "no pair of primes and target in the network"
    for method, effects in drawn.items():
        own = [
            place_row(describe_effect(contrast, name), effects.get(name), setting, note)
            for name in contrast.sets
        ]
        adjust(own, "sets of a network and identity")
        placed += [{**row, "method": method} for row in own]
    return placed


def placebo_slopes(network: Network, rated: Rated) -> list[Row]:
    """Compare slopes of valence, and their joint statistic, with those of arbitrary primes.

    Rows of `results.ESTIMATES`, as of `placebo_effects`; `n_resamples` counts the placebos that
    have a slope.
    """
    setting, primes = rated.setting, list(rated.primes)
    if not setting.placebos:
        return []
    own = slopes(rated)
    drawn = np.empty((0, len(_estimates(own))))
    few = len(network) < len(primes) + NEAREST
    if primes and not few:
        rng, draws = np.random.default_rng(setting.seed), min(setting.placebos, MOST_SLOPES)
        levels = _with_primes(network, rated, nearest_words(network, primes), draws, rng)
        drawn = np.array([_estimates(slopes(replace(rated, normalised=one))) for one in levels])
    rows, note = [], FEW_WORDS if few else f"fewer than {FEWEST} placebos with a number"
    for row, effects in zip(_published(own), drawn.T, strict=True):
        known = effects[np.isfinite(effects)]
        enough = row.get("estimate") is not None and len(known) >= FEWEST
        stated = {name: value for name, value in row.items() if name not in _TESTED}
        rows.append(place_row(stated, known if enough else None, setting, note))
    adjust([row for row in rows if "prime" in row], "primes of a network and identity")
    return [{**row, "method": "placebo"} for row in rows]


#: Columns of the published test, which a placebo has not.
_TESTED = ("se", "p", "statistic", "df")


def _published(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["method"] == "published"]


def _estimates(rows: Sequence[Row]) -> list[float]:
    """Return the slopes and their joint statistic, nan where there is no number."""
    return [row.get("estimate", np.nan) for row in _published(rows)]


def place_row(row: Row, effects: Array | None, setting: Setting, note: str) -> Row:
    """Find an estimate among those of placebos; without any, `note` says why."""
    row = {**row, "alternative": "two-sided"}
    if effects is None:
        return {**row, "note": row.get("note") or note}
    confidence = setting.confidence
    p, mean, low, high = map(float, place(row["estimate"], effects, confidence=confidence))
    ends = {"placebo_mean": mean, "placebo_low": low, "placebo_high": high}
    return {**row, "p": p, **ends, "confidence": confidence, "n_resamples": len(effects)}


def nearest_words(network: Network, words: Sequence[str]) -> Places:
    """Find for each word the `NEAREST` others by rank of degree and strength.

    The distance of two words is the larger of the two differences in rank. None of `words` is found
    for another. Shape (words, NEAREST): indices of nodes.
    """
    ranks = np.stack([rankdata(of) for of in _connectivity(network)])
    places = network.places(words)
    free = np.setdiff1d(np.arange(len(network)), places)
    # One word at a time: a lexicon has thousands.
    distances = (np.abs(ranks[:, free] - ranks[:, [at]]).max(axis=0) for at in places)
    return np.stack([free[np.argpartition(of, NEAREST - 1)[:NEAREST]] for of in distances])


def _connectivity(network: Network) -> tuple[Array, Array]:
    """Return the degree and the strength of every node, over edges in both directions."""
    weights = network.weights
    both = sp.csr_array(weights + weights.T) if network.directed else weights
    degree = np.diff(both.indptr).astype(np.float64)
    return degree, np.asarray(both.sum(axis=1), dtype=np.float64)


def _of_primes(
    network: Network, contrast: Contrast, rows: Rows, pools: Places, rng: np.random.Generator
) -> dict[str, Array]:
    """Measure the effects of arbitrary primes on each set of targets."""
    each = _with_primes(network, contrast, pools, contrast.setting.placebos, rng)
    levels = np.stack(list(each))
    return {
        name: signed_rank_effect(paired(levels[:, at]).reshape(len(levels), -1))
        for name, at in rows.items()
    }


def _with_primes(
    network: Network, made: Contrast | Rated, pools: Places, draws: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Yield the normalised activation of targets with each prime drawn from its pool."""
    primes, pools = _numbered(network, pools)
    activation = activate(network, primes, made.setting.spreading, targets=made.targets)
    for drawn in draw_words(pools, draws, rng):
        yield activation.select_primes(drawn).normalised(made.setting.norm or "l2")


def _of_targets(
    network: Network, contrast: Contrast, rows: Rows, pools: Places, rng: np.random.Generator
) -> dict[str, Array]:
    """Measure the effects of the primes on arbitrary targets in place of each set."""
    setting, (words, pools) = contrast.setting, _numbered(network, pools)
    activation = activate(network, contrast.primes, setting.spreading, targets=words)
    differences = paired(activation.normalised(setting.norm or "l2"))
    return {
        name: effects_of_rows(differences, draw_words(pools[at], setting.placebos, rng))
        for name, at in rows.items()
    }


def _numbered(network: Network, pools: Places) -> tuple[list[str], Places]:
    """List the words of pools once, and number the words of each pool by this list."""
    pool, where = np.unique(pools, return_inverse=True)
    return [network.words[place] for place in pool], where.reshape(pools.shape)


def draw_words(pools: Places, draws: int, rng: np.random.Generator) -> Places:
    """Draw one of each pool (a row) independently, `draws` times, shape (draws, pools)."""
    count, size = pools.shape
    return pools[np.arange(count), rng.integers(0, size, size=(draws, count))]
