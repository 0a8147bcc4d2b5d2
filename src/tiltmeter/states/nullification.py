"""All-but-the-top: states without what most of them share.

Reference
    Mu & Viswanath (2018), ICLR, "All-but-the-top". States of one layer share a mean and a few
    directions along which they vary most, often how frequent a word is or where it stands; both
    make cosines alike. Bai et al. (2025), SI sections J and O, take components out before WEAT.

Measures
    Nothing by itself: it gives states from which any measure can be taken, with how many
    components are removed as a factor (0, 1, 2, …; the caller's loop). A rule of thumb of the
    paper is one for each hundred dimensions.

The components are those of given states, over all their keys together, layer by layer: by default
of the states they are taken out of. With other words there are other components.

Deviations from the source
    The paper takes the mean out, too. Here it is added back, so that with 0 components the states
    are the same and what a component does is not mixed with what the mean does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from tiltmeter.errors import InputError
from tiltmeter.models.readers.states import States

__all__ = ["remove_components"]

Array = NDArray[np.float64]


def remove_components(states: States, k: int, of: States | None = None) -> States:
    """Take the leading principal components out of states, layer by layer.

    Parameters
    ----------
    states
        Of any words.
    k
        How many; 0 gives the same states.
    of
        Whose mean and components; by default those of `states`. What is compared needs the same.

    Returns
    -------
    States

    Raises
    ------
    InputError
        If `k` is below 0, a layer's states vary in no more than `k` directions, or `of` has other
        layers or another width.

    Examples
    --------
    >>> values = np.array([[[0, 1]], [[9, 4]], [[18, 1]]], dtype=np.float32)
    >>> states = States(("a", "b", "c"), ("0",), values, np.ones(3, dtype=np.int64))
    >>> remove_components(states, 1).values[:, 0].round(1).tolist()
    [[9.0, 1.0], [9.0, 4.0], [9.0, 1.0]]
    """
    if k < 0 or k != int(k):
        raise InputError(f"components {k}: a whole number, 0 or more")
    if k == 0:
        return states
    of = states if of is None else of
    if of.layers != states.layers or of.values.shape[2] != states.values.shape[2]:
        raise InputError("components of states of other layers, or of another width")
    values = np.empty_like(states.values)
    for at, layer in enumerate(states.layers):
        whose = of.values[:, at].astype(np.float64)
        mean = whose.mean(axis=0)
        directions = _leading(whose - mean, k)
        if directions is None:
            raise InputError(
                f"components {k}: states of {len(of.keys)} words vary in no more directions at "
                f"layer {layer}; remove fewer"
            )
        own = states.values[:, at].astype(np.float64)
        values[:, at] = own - ((own - mean) @ directions) @ directions.T
    return replace(states, values=values)


def _leading(centred: Array, k: int) -> Array | None:
    """Give the `k` directions of most variance, shape (width, k); None where it has no more."""
    words, width = centred.shape
    if k >= min(words, width):
        return None
    # The smaller of the two matrices of products; a whole decomposition of long states is slow.
    few = words < width
    products = centred @ centred.T if few else centred.T @ centred
    size = len(products)
    variance, vectors = eigh(products, subset_by_index=[size - k - 1, size - 1])
    rounding = max(words, width) * float(np.finfo(np.float32).eps)
    if variance[0] <= variance[-1] * rounding**2:
        return None
    leading = centred.T @ vectors[:, 1:] / np.sqrt(variance[1:]) if few else vectors[:, 1:]
    return np.asarray(leading, dtype=np.float64)
