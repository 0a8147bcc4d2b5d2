"""Placebos of effects: the same effect for arbitrary primes, or for arbitrary targets.

Zero is not what an effect is where there is nothing to find: words of one category may have more
or stronger associations, and activate all targets more. Two placebos say what it is instead.

Method ``placebo``: arbitrary pairs of primes, targets as they are. Each prime is replaced by a word
of like degree and strength, drawn from the `NEAREST` by rank. Each set of primes is normalised as
the primes of the study are.
Method ``placebo_targets``: arbitrary targets, primes as they are. Each target is replaced in the
same way. One spreading activates all words that can be drawn.

Primes and targets of the study are never drawn. `estimate` is the effect itself; `placebo_mean`,
`placebo_low` and `placebo_high` describe the effects of the placebos; p is the rank of the effect
among them (`statistics.placebos`; two-sided, 1 / (placebos + 1) at the least). A claim is about the
distance of the effect from `placebo_mean`. It needs both placebos: targets that are related to each
other lean together after any primes, so that arbitrary targets alone would support a claim for over
half of all arbitrary primes (`benchmarks/placebos.py`); and primes that activate everything more
would pass beside arbitrary primes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import rankdata

from tiltmeter.networks.approaches import Array, Contrast, Row, adjust, describe_effect, paired
from tiltmeter.networks.network import Network
from tiltmeter.networks.spreading import activate
from tiltmeter.statistics.placebos import place
from tiltmeter.statistics.two_samples import effects_of_rows, signed_rank_effect

__all__ = ["NEAREST", "nearest_words", "placebo_effects"]

Places = NDArray[np.intp]

#: Words that each prime or target can be replaced by.
NEAREST = 50

_FEW = f"fewer than {NEAREST} other words to draw placebos from"


def placebo_effects(network: Network, contrast: Contrast) -> list[Row]:
    """Compare the effects of a contrast with those of placebos; rows of `results.ESTIMATES`.

    `contrast.setting.placebos` of each kind are drawn; with 0 there are no rows. An effect that is
    null, or a network with too few other words, has rows without p.
    """
    setting = contrast.setting
    if not setting.placebos:
        return []
    names = [name for name, words in contrast.sets.items() if words and contrast.primes]
    words = [*contrast.primes, *contrast.places]
    few = len(network) < len(words) + NEAREST
    drawn: dict[str, Mapping[str, Array]] = {"placebo": {}, "placebo_targets": {}}
    if names and not few:
        near = dict(zip(words, nearest_words(network, words), strict=True))
        rng = np.random.default_rng(setting.seed)
        drawn["placebo"] = _of_primes(network, contrast, names, near, rng)
        drawn["placebo_targets"] = _of_targets(network, contrast, names, near, rng)
    rows = []
    for method, effects in drawn.items():
        own = [_placed(contrast, name, effects.get(name), few) for name in contrast.sets]
        adjust(own, "sets of a network and identity")
        rows += [{**row, "method": method} for row in own]
    return rows


def _placed(contrast: Contrast, name: str, effects: Array | None, few: bool) -> Row:
    """Find the effect of a set of targets among those of placebos."""
    row = {**describe_effect(contrast, name), "alternative": "two-sided"}
    if effects is None:
        return {**row, "note": _FEW if few else "no pair of primes and target in the network"}
    confidence = contrast.setting.confidence
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
    network: Network,
    contrast: Contrast,
    names: Sequence[str],
    near: Mapping[str, Places],
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Measure the effects of arbitrary primes on each set of targets."""
    setting, pools = contrast.setting, np.stack([near[prime] for prime in contrast.primes])
    pool, where = np.unique(pools, return_inverse=True)
    primes = [network.words[place] for place in pool]
    activation = activate(network, primes, setting.spreading, targets=list(contrast.places))
    picks = _draw(where.reshape(pools.shape), setting.placebos, rng)
    norm = setting.norm or "l2"
    levels = np.stack([activation.of(drawn).normalised(norm) for drawn in picks])
    rows = {name: [contrast.places[word] for word in contrast.sets[name]] for name in names}
    return {
        name: signed_rank_effect(paired(levels[:, at]).reshape(len(picks), -1))
        for name, at in rows.items()
    }


def _of_targets(
    network: Network,
    contrast: Contrast,
    names: Sequence[str],
    near: Mapping[str, Places],
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Measure the effects of the primes on arbitrary targets in place of each set."""
    setting, targets = contrast.setting, list(contrast.places)
    pools = np.stack([near[word] for word in targets])
    pool, where = np.unique(pools, return_inverse=True)
    words = [network.words[place] for place in pool]
    activation = activate(network, contrast.primes, setting.spreading, targets=words)
    differences = paired(activation.normalised(setting.norm or "l2"))
    of = where.reshape(pools.shape)
    rows = {name: [contrast.places[word] for word in contrast.sets[name]] for name in names}
    return {
        name: effects_of_rows(differences, _draw(of[at], setting.placebos, rng))
        for name, at in rows.items()
    }


def _draw(pools: Places, draws: int, rng: np.random.Generator) -> Places:
    """Draw one of each pool (a row) independently, `draws` times, shape (draws, pools)."""
    count, size = pools.shape
    return pools[np.arange(count), rng.integers(0, size, size=(draws, count))]
