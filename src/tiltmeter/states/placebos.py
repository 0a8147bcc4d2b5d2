"""Placebos of profiles: axes whose poles are the same words with their labels shuffled.

Words of two groups differ in many ways, so they differ on most axes, also on those without meaning,
and a test that takes words for independent draws then finds a difference. The placebo is the same
difference on axes without meaning: the dictionary's words of both poles of a dimension are pooled
and split at random into two poles of the same sizes. The other axes of the space stay as they are,
and so does the unit: that of the axis as labelled. Each shuffle is the same in all layers, so that
the mean over layers has its placebos too.
Method ``placebo``: p is the rank of a difference among those of the shuffles, as in
`statistics.placebos`. It is uniform if the labels of the poles say nothing. With few words at the
poles there are few different shuffles, and p cannot be small.

The unit has to stay. Standardised anew on every shuffled axis, differences are at most 2, and where
poles differ much, so do shuffled ones: a dimension on which all words of both poles and both groups
are apart would then have a p above .05.

The coordinate of a word x on one axis of a space is r·x / r·r, where r is what the other axes leave
of this axis (Frisch–Waugh–Lovell theorem). The others are taken out of the states of the poles'
words once; a shuffle is then a product with weights of these words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models.readers.states import States
from tiltmeter.states.axes import pole_states, spaces
from tiltmeter.states.dictionary import Dictionary
from tiltmeter.statistics.placebos import shuffle_labels

__all__ = ["shuffle_poles"]

Array = NDArray[np.float64]


def shuffle_poles(
    poles: States, dictionary: Dictionary, states: Array, *, draws: int, seed: int
) -> Array:
    """Give coordinates with the labels of each dimension's poles shuffled.

    Parameters
    ----------
    poles, dictionary
        As of `build_axes`.
    states
        States of words, or means of such, shape (states, layers, width).
    draws, seed
        Shuffles of each dimension.

    Returns
    -------
    numpy.ndarray
        In the unit of the axes as labelled, shape (layers + 1, dimensions, states, draws); the last
        layer is the mean over layers, and dimensions are as of `build_axes`.
    """
    rng, found = np.random.default_rng(seed), []
    for space in spaces(dictionary).values():
        ends = [
            [pole_states(poles, dictionary, of, way) for way in ("high", "low")]
            for of in space.values()
        ]
        axes = np.stack([high.mean(axis=0) - low.mean(axis=0) for high, low in ends])
        for at, pair in enumerate(ends):
            weights = shuffle_labels(len(pair[0]), len(pair[1]), draws, rng)
            words, others = np.concatenate(pair), np.delete(axes, at, axis=0)
            layers = [
                _coordinates(words[:, layer], axis, others[:, layer], states[:, layer], weights)
                for layer, axis in enumerate(axes[at])
            ]
            found.append(np.stack([*layers, np.mean(layers, axis=0)]))
    return np.stack(found, axis=1)


def _coordinates(words: Array, axis: Array, others: Array, states: Array, weights: Array) -> Array:
    """Give coordinates of states on the axes that weights of words make, shape (states, draws).

    `axis` is as labelled and gives the unit; `others` are the axes that stay. All but `weights`
    have the shape (…, width).
    """
    basis = np.linalg.qr(others.T)[0]
    left, own = (of - (of @ basis) @ basis.T for of in (words, axis))
    return np.asarray(states @ left.T @ weights.T / (own @ own))
