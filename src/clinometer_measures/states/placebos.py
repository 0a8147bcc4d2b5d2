"""Placebos of profiles and of association tests: the same words with their labels shuffled.

Profiles
--------
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

Association tests
-----------------
Targets also differ in their association with attributes without meaning. The placebo shuffles the
words of the two sets of references (attributes; of RIPA the groups) between them. Of MAC, which
compares no second group, it takes as many words of both groups at random in place of the group. The
unit stays the standard deviation with the references as they are. Of CEAT so do the draws of
contexts, and the unit is the mean standard deviation of the draws: weights that follow from the
effects, as those of the combined effect, would favour the labels as they are.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.placebos import place, shuffle_labels
from clinometer_measures.states.axes import pole_states, spaces
from clinometer_measures.states.dictionary import Dictionary
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.word_tests import TestSetting

__all__ = ["TOO_FEW", "place_test", "shuffle_poles"]

Array = NDArray[np.float64]

#: With fewer splits of the references p of the placebos cannot reach .05: a split and its
#: mirror image are equally far from 0.
_FEWEST_SPLITS = 40
TOO_FEW = "too few words to shuffle between two sets"


def shuffle_poles(
    poles: HiddenStates, dictionary: Dictionary, states: Array, *, draws: int, seed: int
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
    rng = np.random.default_rng(seed)
    coordinates: list[Array] = []  # of each dimension, shape (layers + 1, states, draws)
    for space in spaces(dictionary).values():
        pole_pairs = []
        for parts in space.values():
            high = pole_states(poles, dictionary, parts, "high")
            low = pole_states(poles, dictionary, parts, "low")
            pole_pairs.append((high, low))
        # Shape (dimensions, layers, width).
        axes = np.stack([high.mean(axis=0) - low.mean(axis=0) for high, low in pole_pairs])
        for dimension, (high, low) in enumerate(pole_pairs):
            weights = shuffle_labels(len(high), len(low), draws, rng)
            words = np.concatenate([high, low])
            remaining_axes = np.delete(axes, dimension, axis=0)
            layers = []
            for layer, axis in enumerate(axes[dimension]):
                layers.append(
                    _coordinates(
                        words[:, layer], axis, remaining_axes[:, layer], states[:, layer], weights
                    )
                )
            coordinates.append(np.stack([*layers, np.mean(layers, axis=0)]))
    return np.stack(coordinates, axis=1)


def _coordinates(
    words: Array, axis: Array, remaining_axes: Array, states: Array, weights: Array
) -> Array:
    """Give coordinates of states on the axes that weights of words make, shape (states, draws).

    `axis` is as labelled and gives the unit; `remaining_axes` are those that stay. All but
    `weights` have the shape (…, width).
    """
    # What the other axes leave of words and axis; see the theorem in the module's docstring.
    basis = np.linalg.qr(remaining_axes.T)[0]
    words_rest = words - (words @ basis) @ basis.T
    axis_rest = axis - (axis @ basis) @ basis.T
    return np.asarray(states @ words_rest.T @ weights.T / (axis_rest @ axis_rest))


def place_test(
    by_reference: Array, n_first: int, setting: TestSetting, *, contrast: bool = True
) -> dict[str, Array]:
    """Find effects among those with the references shuffled between two sets.

    Parameters
    ----------
    by_reference
        The effect of each reference alone, shape (…, references), the first set first.
    n_first
        References of the first set.
    setting
        With the number of shuffles, seed and confidence level.
    contrast
        Whether an effect is the mean over the first set minus that over the second; else it is the
        mean over the first alone.

    Returns
    -------
    dict
        Columns ``p_placebo``, ``placebo_mean``, ``placebo_low`` and ``placebo_high``, shape (…,);
        empty with too few references to shuffle.
    """
    n_second = by_reference.shape[-1] - n_first
    if not setting.placebos or comb(n_first + n_second, n_first) < _FEWEST_SPLITS:
        return {}
    rng = np.random.default_rng(setting.seed)
    weights = shuffle_labels(n_first, n_second, setting.placebos, rng)
    unshuffled = np.repeat([1 / n_first, -1 / n_second], [n_first, n_second])
    # Without a contrast the second set has no weight: its negative weights become 0.
    weights = np.vstack([unshuffled, weights]).clip(-1 if contrast else 0)
    # Shape (…, 1 + draws): the effect itself, then its placebos.
    effects = by_reference @ weights.T
    names = ("p_placebo", "placebo_mean", "placebo_low", "placebo_high")
    placement = place(effects[..., 0], effects[..., 1:], confidence=setting.confidence)
    return dict(zip(names, placement, strict=True))
