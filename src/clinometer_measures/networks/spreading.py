"""Spreading activation: how strongly a prime activates every word of a network.

Reference: Siew 2019, spreadr, Behav. Res. Methods 51, 910–929; Abramski, Rossetti & Stella 2025,
arXiv:2510.24488, "Spreading activation". The prime starts with an activation. At each step every
word keeps a share of its activation (retention) and passes the rest to its neighbours, in
proportion to the weights of the edges to them::

    x ← (r·I + (1 − r)·Pᵀ) x,    P[i, j] = weight of i → j / strength of i

Then a share is lost to decay, and activation below `suppress` becomes 0. A word without edges keeps
its activation. Activation is 0 or more; without decay and suppression its sum is constant.

Deviation from spreadr: spreadr loses the activation that a self-loop returns. Here it is kept; with
`spreadr_loops=True` it is lost too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from clinometer.errors import ClinometerWarning, InputError
from clinometer_measures.networks.network import Network, check_networks
from clinometer_measures.networks.running import HOLD, run_all
from clinometer_measures.networks.structure import diameter

__all__ = ["Activation", "NORMS", "Spreading", "activate", "spread", "transition"]

Array = NDArray[np.float64]

#: Norms by which columns and then rows of activations are divided.
NORMS = ("l2", "l1", "none")


@dataclass(frozen=True)
class Spreading:
    """How activation spreads; the defaults are the paper's.

    Parameters
    ----------
    retention
        Share of its activation that a word keeps at each step, 0 to 1; one number, or one for
        each node.
    time_steps
        Number of steps; None for twice the diameter of the network.
    start
        Activation given to the prime; None for the number of nodes.
    decay
        Share of all activation lost at each step, 0 to 1.
    suppress
        Activation below this becomes 0 at each step.
    weighted
        Whether activation follows the weights; else it is divided equally among the edges.
    spreadr_loops
        Whether activation over self-loops is lost, as in spreadr.
    """

    retention: float | Sequence[float] = 0.5
    time_steps: int | None = None
    start: float | None = None
    decay: float = 0.0
    suppress: float = 0.0
    weighted: bool = True
    spreadr_loops: bool = False

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        # An array also for a single number: the same test serves both.
        retention = np.asarray(self.retention, dtype=np.float64)
        for name, valid, allowed in (
            ("retention", np.all((retention >= 0) & (retention <= 1)), "allowed is 0 to 1"),
            ("decay", 0 <= self.decay <= 1, "allowed is 0 to 1"),
            ("time_steps", self.time_steps is None or self.time_steps >= 1, "at least 1"),
            ("start", self.start is None or 0 < self.start < np.inf, "a number above 0"),
            ("suppress", 0 <= self.suppress < np.inf, "0 or more"),
        ):
            if not valid:
                raise InputError(f"{name} {getattr(self, name)}: {allowed}")

    def within(self, network: Network) -> Spreading:
        """Return the spreading with the number of steps and the start that `network` implies.

        Raises
        ------
        InputError
            If it is not a network, or the number of retentions is not the number of nodes.
        """
        check_networks(network)
        count = np.size(self.retention)
        if np.ndim(self.retention) and count != len(network):
            raise InputError(f"retention: {count} numbers for {len(network)} nodes")
        steps = self.time_steps or 2 * diameter(network)
        return replace(self, time_steps=max(steps, 1), start=self.start or float(len(network)))


@dataclass(frozen=True, eq=False)
class Activation:
    """The activation of words (rows) after each of several primes (columns).

    `values`, shape (words, primes), is not normalised; `l1` and `l2`, shape (primes,), are norms
    over *all* nodes of the network.
    """

    words: tuple[str, ...]
    primes: tuple[str, ...]
    values: Array
    l1: Array
    l2: Array

    def normalised(self, norm: str = "l2") -> Array:
        """Divide columns by their norm over all nodes, then rows by theirs over the primes.

        This removes differences in centrality between words and between primes. What remains is how
        much more one of *these* primes activates a word than another. A row that no prime reaches
        stays 0.

        Shape (words, primes), 0 to 1 unless `norm` is none. Raises InputError if `norm` is not one
        of NORMS.
        """
        if norm not in NORMS:
            raise InputError(f"norm {norm!r}: allowed are {', '.join(NORMS)}")
        if norm == "none":
            return self.values
        columns = self.l2 if norm == "l2" else self.l1
        scaled = self.values / np.where(columns > 0, columns, 1.0)
        rows = np.linalg.norm(scaled, ord=2 if norm == "l2" else 1, axis=1, keepdims=True)
        return np.asarray(scaled / np.where(rows > 0, rows, 1.0), dtype=np.float64)

    def select_primes(self, columns: NDArray[np.intp]) -> Activation:
        """Return the activation after some of the primes, given by their columns."""
        primes = tuple(self.primes[column] for column in columns)
        return Activation(
            self.words, primes, self.values[:, columns], self.l1[columns], self.l2[columns]
        )

    def frame(self, norm: str = "none") -> pl.DataFrame:
        """Return a table: ``node`` and a column per prime."""
        columns = dict(zip(self.primes, self.normalised(norm).T, strict=True))
        return pl.DataFrame({"node": pl.Series(self.words, dtype=pl.String), **columns})


def activate(
    network: Network,
    primes: Sequence[str],
    spreading: Spreading | None = None,
    *,
    targets: Sequence[str] | None = None,
) -> Activation:
    """Activate each prime separately and spread its activation.

    Parameters
    ----------
    network
        The network in which activation spreads.
    primes
        Words of the network.
    spreading
        Parameters of spreading; by default as in the paper.
    targets
        Words whose activation is kept; by default all. With targets, memory grows with targets ×
        primes instead of nodes × primes.

    Returns
    -------
    Activation

    Raises
    ------
    InputError
        If a prime or target is not a node (similar spellings are suggested), or a prime is
        repeated.

    Examples
    --------
    >>> edges = pl.DataFrame({"src": ["old", "old"], "tgt": ["age", "young"], "wt": [3, 1]})
    >>> network = Network.from_edges(edges)
    >>> activate(network, ["old"], Spreading(time_steps=1)).frame().rows()
    [('old', 1.5), ('age', 1.125), ('young', 0.375)]
    """
    check_networks(network)
    if isinstance(primes, str):
        raise InputError(f"primes {primes!r}: a list of words is expected, as in [{primes!r}]")
    repeated = sorted({prime for prime in primes if list(primes).count(prime) > 1})
    if repeated:
        raise InputError(f"primes: {', '.join(repeated)} stands twice")
    words = network.words if targets is None else tuple(targets)
    places = network.places(primes, "prime")
    step, positions, full = _prepare(network, spreading)
    rows = positions if targets is None else positions[network.places(words, "target")]
    values = np.empty((len(words), len(primes)), order="F")  # written by blocks of columns
    l1, l2 = np.empty(len(primes)), np.empty(len(primes))
    # With targets memory is to stay small: no results of leaders are held.
    hold = HOLD if targets is None else 0
    for columns, block in run_all(step, positions[places], full, hold):
        values[:, columns] = block.take(rows, axis=0)
        l1[columns] = np.einsum("ij->j", block)  # activation is never negative
        l2[columns] = np.sqrt(np.einsum("ij,ij->j", block, block))
    return Activation(words, tuple(primes), values, l1, l2)


def spread(
    network: Network,
    primes: Sequence[str],
    spreading: Spreading | None = None,
    *,
    hold: int = HOLD,
) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """Yield the activation of all nodes in blocks of primes, in any order.

    Yields the indices of the primes and their activation, shape (nodes, primes of the block).
    `hold` is the memory in bytes that saves runs of some primes (see `running`).
    """
    places = network.places(primes, "prime")
    step, positions, full = _prepare(network, spreading)
    for columns, block in run_all(step, positions[places], full, hold):
        yield columns, block.take(positions, axis=0)


def transition(network: Network, spreading: Spreading) -> sp.csr_array:
    """Make the matrix of one step, r·I + (1 − r)·Pᵀ, shape (nodes, nodes)."""
    size = len(network)
    retention = np.broadcast_to(np.asarray(spreading.retention, dtype=np.float64), size)
    weights = network.weights
    if not spreading.weighted:
        weights = weights.astype(bool).astype(np.float64)
    strength = np.asarray(weights.sum(axis=1), dtype=np.float64)
    per_weight = np.divide(1 - retention, strength, out=np.zeros(size), where=strength > 0)
    flow = weights.T.tocsr() if network.directed else weights.copy()
    flow.data *= per_weight[flow.indices]  # indices: columns, the words that pass activation on
    if spreading.spreadr_loops:
        flow = flow - sp.diags_array(flow.diagonal())
    retained = np.where(strength > 0, retention, 1.0)
    matrix = sp.csr_array(flow + sp.diags_array(retained))
    matrix.sort_indices()
    return matrix


def _prepare(
    network: Network, spreading: Spreading | None
) -> tuple[sp.csc_array, NDArray[np.intp], Spreading]:
    """Make the matrix of one step, ordered so that neighbours are close together.

    This order improves cache use. The matrix is stored by columns: consecutive entries then add to
    different rows and need not wait for each other. It is kept for the next call with the same
    network, because bias is measured for one identity and setting after another. Returns the
    matrix, the index of each node in it, and the spreading with steps and start.
    """
    full = (spreading or Spreading()).within(network)
    parameters = (np.asarray(full.retention).tobytes(), full.weighted, full.spreadr_loops)
    prepared = _PREPARED.get(network)
    if prepared is None or prepared[0] != parameters:
        matrix = transition(network, full)
        order = np.asarray(reverse_cuthill_mckee(matrix, symmetric_mode=False), dtype=np.intp)
        step = sp.csc_array(matrix[order][:, order])
        step.sort_indices()
        # The inverse of the order: node → its row of the matrix.
        prepared = (parameters, step, np.argsort(order))
        _PREPARED[network] = prepared
    if network.n_loops:
        lost = "is lost, as in spreadr" if full.spreadr_loops else "comes back to them"
        text = f"{network.n_loops} self-loops: what they carry {lost}"
        warnings.warn(text, ClinometerWarning, stacklevel=3)
    _, step, positions = prepared
    return step, positions, full


#: Network → its last setting, the matrix of one step, and the indices of its nodes.
_PREPARED: WeakKeyDictionary[Network, tuple[Any, sp.csc_array, NDArray[np.intp]]] = (
    WeakKeyDictionary()
)
