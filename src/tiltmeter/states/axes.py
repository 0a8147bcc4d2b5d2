"""Axes of a stereotype space, and the coordinates of states on them.

Reference: Schuster et al. 2024, section 3.3, after Mathew et al. 2020 (POLAR) and Engler et al.
2022 (SensePOLAR). A pole is the mean state of its words; an axis is its high pole minus its low
one; with the axes of a space as the rows of A, coordinates of a state x are pinv(Aᵀ)·x, layer by
layer.
Two spaces stand side by side: the broad dimensions (warmth, competence) and the dictionary's own.

A coordinate is a number without bounds; higher is nearer the high pole. Its zero means little: all
states of a model share a large part that has coordinates too. Differences between words mean more.
The mean over layers is that of raw coordinates, as published: layers with large numbers weigh more.

Senses of the dictionary that have no state are left out of the poles and named in `absent`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import InputError
from tiltmeter.models.readers.states import States
from tiltmeter.states.dictionary import Dictionary

__all__ = ["Axes", "build_axes"]

Array = NDArray[np.float64]

#: Axes whose least singular value is a smaller share of the greatest do not span their space.
RANK = 1e-6


@dataclass(frozen=True, eq=False)
class Axes:
    """What takes states to coordinates.

    `labels`: space (broad, fine) and dimension of each coordinate; `layers`: as of the states;
    `inverse`: shape (layers, coordinates, width); `absent`: keys of senses without a state, which
    no pole holds.
    """

    labels: tuple[tuple[str, str], ...]
    layers: tuple[str, ...]
    inverse: Array
    absent: tuple[str, ...]

    def coordinates(self, states: States, rows: NDArray[np.intp] | None = None) -> Array:
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
        projected = [
            inverse @ (values if rows is None else values[rows]).T.astype(np.float64)
            for inverse, values in zip(self.inverse, states.values.swapaxes(0, 1), strict=True)
        ]
        return np.stack([*projected, np.mean(projected, axis=0)])


def build_axes(poles: States, dictionary: Dictionary) -> Axes:
    """Make the axes of both spaces from the states of a dictionary's senses.

    Raises InputError if no word of a pole has a state, or the axes of a space do not span it.
    """
    place = {key: at for at, key in enumerate(poles.keys)}
    spaces = {"broad": dict(dictionary.broad)}
    spaces["fine"] = {name: (name,) for name in dictionary.dimensions}
    inverses = []
    for space in (dimensions for dimensions in spaces.values() if dimensions):
        basis = np.stack(
            [
                _pole(poles, place, dictionary, parts, "high")
                - _pole(poles, place, dictionary, parts, "low")
                for parts in space.values()
            ],
            axis=1,
        )
        _check_rank(basis, [*space], poles.layers)
        inverses.append(np.linalg.pinv(basis.swapaxes(1, 2)))
    absent = tuple(key for key in dictionary.terms if key not in place)
    inverse = np.concatenate(inverses, axis=1)
    labels = tuple((space, name) for space, dimensions in spaces.items() for name in dimensions)
    return Axes(labels, poles.layers, inverse, absent)


def _pole(
    poles: States,
    place: dict[str, int],
    dictionary: Dictionary,
    parts: Iterable[str],
    direction: str,
) -> Array:
    """Return the mean state of a pole's words, shape (layers, width)."""
    rows = [place[key] for key in dictionary.pole(parts, direction) if key in place]
    if not rows:
        raise InputError(
            f"{dictionary.name}: no state of any {direction} word of {'/'.join(parts)}; give its "
            "senses contexts"
        )
    return np.asarray(poles.values[rows].mean(axis=0, dtype=np.float64), dtype=np.float64)


def _check_rank(basis: Array, dimensions: list[str], layers: tuple[str, ...]) -> None:
    """Refuse axes that lie in fewer dimensions than there are of them."""
    singular = np.linalg.svd(basis, compute_uv=False)
    ranks = (singular > RANK * singular[:, :1]).sum(axis=1)
    for layer, rank in zip(layers, ranks.tolist(), strict=True):
        if rank < len(dimensions):
            raise InputError(
                f"layer {layer}: the poles of {', '.join(dimensions)} span {rank} of "
                f"{len(dimensions)} dimensions; give the dictionary other words or drop one"
            )
