"""The hidden states of terms, at every layer of a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.errors import InputError

__all__ = ["Reader", "States"]


@dataclass(frozen=True, eq=False)
class States:
    """The mean state of each term over its contexts, layer by layer.

    Parameters
    ----------
    keys
        What each row is of: a term, a sense of it, or a term in one context.
    layers
        Labels, from "0", the embeddings below the first block.
    values
        Shape (keys, layers, width), float32.
    counts
        Shape (keys,): contexts behind each row.
    """

    keys: tuple[str, ...]
    layers: tuple[str, ...]
    values: NDArray[np.float32]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse shapes that do not fit, and keys that stand twice."""
        shape = (len(self.keys), len(self.layers))
        if self.values.ndim != 3 or self.values.shape[:2] != shape:
            raise InputError(f"values of shape {self.values.shape}; expected {shape} and a width")
        if self.counts.shape != shape[:1] or len(set(self.keys)) != len(self.keys):
            raise InputError("states need a count for each key, and no key twice")

    def of(self, keys: Iterable[str]) -> NDArray[np.float64]:
        """Give the states of some keys, in their order.

        Returns
        -------
        numpy.ndarray
            Shape (keys, layers, width), float64.

        Raises
        ------
        InputError
            If a key has no state.
        """
        place = {key: at for at, key in enumerate(self.keys)}
        wanted = list(keys)
        absent = [key for key in wanted if key not in place]
        if absent:
            raise InputError(f"no states of {', '.join(map(repr, absent[:5]))}")
        return self.values[[place[key] for key in wanted]].astype(np.float64)


class Reader(Protocol):
    """A model whose states can be read."""

    @property
    def name(self) -> str:
        """As the user named it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Another one for other weights, another revision, another precision."""
        ...

    @property
    def layers(self) -> tuple[str, ...]:
        """Labels of what `read` gives."""
        ...

    def read(self, contexts: pl.DataFrame) -> States:
        """Read the states of terms in contexts (columns CONTEXTS); a row per key."""
        ...
