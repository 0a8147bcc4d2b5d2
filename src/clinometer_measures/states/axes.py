"""Directions among hidden states: axes of a stereotype space, and components taken out.

Reference
    Axes: Schuster et al. 2024, section 3.3, after Mathew et al. 2020 (POLAR) and Engler et al. 2022
    (SensePOLAR). Components: Mu & Viswanath (2018), ICLR, "All-but-the-top"; Bai et al. (2025), SI
    sections J and O, remove them before WEAT.

Measures
    A pole is the mean state of its words; an axis is its high pole minus its low one. With the axes
    of a space as the rows of A, the coordinates of a state x are pinv(Aᵀ)·x, layer by layer. There
    are two spaces: the broad dimensions (warmth, competence) and the dictionary's own. A coordinate
    is a number without bounds; higher is nearer the high pole. Its zero means little, because all
    states of a model share a large part that has coordinates too; differences between words mean
    more. The mean over layers is that of raw coordinates, as published: layers with large numbers
    weigh more. Senses of the dictionary that have no state are left out of the poles.

    States of one layer share a mean and a few directions of large variance, often word frequency or
    position, which make all cosines alike. `remove_components` removes the leading principal
    components of all given keys together, layer by layer. Any measure can be taken of what is left;
    the number of components is a factor (0, 1, 2, …). Rule of thumb of the paper: one for each
    hundred dimensions. Other words have other components.

Deviations from the source
    Mu & Viswanath remove the mean, too. Here it is added back, so that 0 components leave the
    states as they are and the effect of a component is not mixed with that of the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from clinometer.errors import InputError
from clinometer_measures.states.dictionary import Dictionary
from clinometer_measures.states.readers.states import HiddenStates

__all__ = ["Axes", "build_axes", "pole_states", "remove_components", "spaces"]

Array = NDArray[np.float64]

#: Axes whose least singular value is a smaller share of the greatest do not span their space.
RANK = 1e-6


@dataclass(frozen=True, eq=False)
class Axes:
    """The projection of states onto the axes.

    `labels`: space (broad, fine) and dimension of each coordinate; `layers`: as of the states;
    `inverse`: shape (layers, coordinates, width).
    """

    labels: tuple[tuple[str, str], ...]
    layers: tuple[str, ...]
    inverse: Array

    def coordinates(self, states: HiddenStates, rows: NDArray[np.intp] | None = None) -> Array:
        """Project states, whether of terms or of terms in one context; `rows`: some of them only.

        Shape (layers + 1, coordinates, rows); the last layer is the mean over layers. Raises
        InputError if the states have other layers or another width.
        """
        if states.layers != self.layers or states.values.shape[2] != self.inverse.shape[2]:
            raise InputError(
                f"states of {len(states.layers)} layers, {states.values.shape[2]} wide; the poles "
                f"have {len(self.layers)}, {self.inverse.shape[2]} wide: read both with one model"
            )
        # One layer at a time: float64 copies of all layers of a large model would not fit.
        projected = []
        for inverse, values in zip(self.inverse, states.values.swapaxes(0, 1), strict=True):
            vectors = values if rows is None else values[rows]
            projected.append(inverse @ vectors.T.astype(np.float64))
        return np.stack([*projected, np.mean(projected, axis=0)])


def build_axes(poles: HiddenStates, dictionary: Dictionary) -> Axes:
    """Make the axes of both spaces from the states of a dictionary's senses.

    Raises InputError if no word of a pole has a state, or the axes of a space do not span it.
    """
    labels = []
    inverses = []
    for space, dimensions in spaces(dictionary).items():
        labels += [(space, dimension) for dimension in dimensions]
        inverses.append(_inverse(poles, dictionary, dimensions))
    return Axes(tuple(labels), poles.layers, np.concatenate(inverses, axis=1))


def spaces(dictionary: Dictionary) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """Give the spaces of a dictionary: name → coordinate → the dimensions it is made of."""
    fine = {name: (name,) for name in dictionary.dimensions}
    return {"broad": dictionary.broad, "fine": fine} if dictionary.broad else {"fine": fine}


def _inverse(
    poles: HiddenStates, dictionary: Dictionary, space: Mapping[str, tuple[str, ...]]
) -> Array:
    """Invert the axes of one space, shape (layers, coordinates, width)."""
    axes = []
    for parts in space.values():
        high = pole_states(poles, dictionary, parts, "high").mean(axis=0)
        low = pole_states(poles, dictionary, parts, "low").mean(axis=0)
        axes.append(high - low)
    basis = np.stack(axes, axis=1)  # (layers, coordinates, width)
    singular = np.linalg.svd(basis, compute_uv=False)
    ranks = (singular > RANK * singular[:, :1]).sum(axis=1)
    for layer, rank in zip(poles.layers, ranks.tolist(), strict=True):
        if rank < len(space):
            raise InputError(
                f"layer {layer}: the poles of {', '.join(space)} span {rank} of {len(space)} "
                "dimensions; give the dictionary other words or drop one"
            )
    # The axes as columns: the inverse then takes a state to its coordinates.
    return np.asarray(np.linalg.pinv(basis.swapaxes(1, 2)))


def pole_states(
    poles: HiddenStates, dictionary: Dictionary, parts: Iterable[str], direction: str
) -> Array:
    """Return the states of a pole's words, shape (words, layers, width)."""
    in_states = set(poles.keys)
    keys = [key for key in dictionary.pole(parts, direction) if key in in_states]
    if not keys:
        raise InputError(
            f"{dictionary.name}: no state of any {direction} word of {'/'.join(parts)}; give its "
            "senses contexts"
        )
    return poles.of(keys)


def remove_components(states: HiddenStates, k: int, of: HiddenStates | None = None) -> HiddenStates:
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
    HiddenStates

    Raises
    ------
    InputError
        If `k` is below 0, a layer's states vary in no more than `k` directions, or `of` has other
        layers or another width.

    Examples
    --------
    >>> values = np.array([[[0, 1]], [[9, 4]], [[18, 1]]], dtype=np.float32)
    >>> states = HiddenStates(("a", "b", "c"), ("0",), values, np.ones(3, dtype=np.int64))
    >>> remove_components(states, 1).values[:, 0].round(1).tolist()
    [[9.0, 1.0], [9.0, 4.0], [9.0, 1.0]]
    """
    if k < 0 or k != int(k):
        raise InputError(f"components {k}: a whole number, 0 or more")
    if k == 0:
        return states
    source = states if of is None else of
    if source.layers != states.layers or source.values.shape[2] != states.values.shape[2]:
        raise InputError("components of states of other layers, or of another width")
    values = np.empty_like(states.values)
    # One layer at a time, as in `Axes.coordinates`; both arrays have shape (keys, width).
    for index, layer in enumerate(states.layers):
        source_vectors = source.values[:, index].astype(np.float64)
        mean = source_vectors.mean(axis=0)
        directions = _leading_directions(source_vectors - mean, k)
        if directions is None:
            raise InputError(
                f"components {k}: states of {len(source.keys)} words vary in no more directions "
                f"at layer {layer}; remove fewer"
            )
        vectors = states.values[:, index].astype(np.float64)
        values[:, index] = vectors - ((vectors - mean) @ directions) @ directions.T
    return replace(states, values=values)


def _leading_directions(centred: Array, k: int) -> Array | None:
    """Give the `k` directions of most variance, shape (width, k); None where it has no more."""
    words, width = centred.shape
    if k >= min(words, width):  # there are no k + 1 variances to look at
        return None
    # The smaller of the two matrices of products; a whole decomposition of long states is slow.
    few = words < width
    products = centred @ centred.T if few else centred.T @ centred
    size = len(products)
    # The k + 1 largest, in ascending order: the first of them tells whether more than k vary.
    variance, vectors = eigh(products, subset_by_index=[size - k - 1, size - 1])
    # States were read in float32; variances are squares, so their rounding is squared below.
    rounding = max(words, width) * float(np.finfo(np.float32).eps)
    if variance[0] <= variance[-1] * rounding**2:
        return None
    leading = centred.T @ vectors[:, 1:] / np.sqrt(variance[1:]) if few else vectors[:, 1:]
    return np.asarray(leading, dtype=np.float64)
