"""A weighted network of words.

Nodes are concepts, edges are associations between them, and the weight of an edge is the number of
times that one was given as a response to the other (Abramski, Rossetti & Stella 2025,
arXiv:2510.24488, "Network construction").
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from clinometer.errors import InputError, one_line, shortened
from clinometer.results.tables import need_columns

__all__ = ["Network", "check_networks"]

#: Maximum number of absent words that an error names.
MOST_MENTIONS = 5


@dataclass(frozen=True, eq=False)
class Network:
    """Words and the weights of the edges between them.

    Parameters
    ----------
    words
        The nodes, without duplicates.
    weights
        Shape (nodes, nodes), float64, positive where there is an edge; row: source, column: target.
        Symmetric if undirected.
    directed
        Whether an edge leads only from its cue to the answer.
    name
        Name in tables and figures.

    Examples
    --------
    >>> edges = pl.DataFrame({"src": ["old", "old"], "tgt": ["age", "young"], "wt": [3, 2]})
    >>> network = Network.from_edges(edges, name="two edges")
    >>> network
    Network('two edges', 3 nodes, 2 edges)
    >>> network.edges().rows()
    [('old', 'age', 3.0), ('old', 'young', 2.0)]
    """

    words: tuple[str, ...]
    weights: sp.csr_array
    directed: bool = False
    name: str = ""

    @classmethod
    def from_edges(cls, edges: pl.DataFrame, *, directed: bool = False, name: str = "") -> Network:
        """Make a network from a list of edges.

        Parameters
        ----------
        edges
            Columns ``src``, ``tgt`` (text) and ``wt`` (positive numbers); each edge once; if
            undirected, in either direction.
        directed, name
            As above.

        Returns
        -------
        Network
            Words in the order in which they first occur.

        Raises
        ------
        InputError
            If there are no edges, a word is empty, a weight is not a positive number, or an edge is
            repeated.
        """
        prefix = f"{name}: " if name else ""
        need_columns(edges, ("src", "tgt", "wt"), name or "edges")
        if edges.is_empty():
            raise InputError(f"{prefix}no edges; a network needs at least one")
        ends = edges.select(pl.col("src", "tgt").cast(pl.String), "wt")
        _check_edges(ends, prefix, directed)
        words = pl.concat([ends["src"], ends["tgt"]]).unique(maintain_order=True)
        places = pl.DataFrame({"word": words}).with_row_index("place")
        source, target = (_join_places(ends[column], places) for column in ("src", "tgt"))
        weight = ends["wt"].cast(pl.Float64).to_numpy()
        if not directed:
            # Each edge also in the other direction; a loop would be doubled.
            no_loop = source != target
            back, forth = target[no_loop], source[no_loop]
            source, target = np.append(source, back), np.append(target, forth)
            weight = np.append(weight, weight[no_loop])
        shape = (len(words), len(words))
        matrix = sp.coo_array((weight, (source, target)), shape=shape).tocsr()
        matrix.sort_indices()
        return cls(tuple(words), matrix, directed, name)

    def __repr__(self) -> str:
        """Return the name and size."""
        return f"Network({self.name!r}, {len(self):,} nodes, {self.n_edges:,} edges)"

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Return whether a word is a node."""
        return word in self._places

    @cached_property
    def _places(self) -> dict[str, int]:
        # Cached in the instance's `__dict__`, which even a frozen dataclass has.
        return {word: place for place, word in enumerate(self.words)}

    @property
    def n_edges(self) -> int:
        """Count the edges, self-loops included; in an undirected network each once."""
        if self.directed:
            return int(self.weights.nnz)
        return int(self.weights.nnz + self.n_loops) // 2

    @cached_property
    def n_loops(self) -> int:
        """Count the edges that lead from a node to itself."""
        return int(np.count_nonzero(self.weights.diagonal()))

    def edges(self) -> pl.DataFrame:
        """List the edges: ``src``, ``tgt``, ``wt``; in an undirected network each once."""
        matrix = sp.coo_array(self.weights if self.directed else sp.triu(self.weights))
        words = pl.Series(self.words, dtype=pl.String)
        source, target = (words.gather(ends.astype(np.int64)) for ends in matrix.coords)
        return pl.DataFrame({"src": source, "tgt": target, "wt": matrix.data})

    def places(self, words: Iterable[str], what: str = "word") -> NDArray[np.intp]:
        """Find nodes by their words.

        Parameters
        ----------
        words
            The words, spelt as in the network.
        what
            Role of the words, for errors: ``"prime"``, ``"target"``.

        Returns
        -------
        numpy.ndarray
            Indices into `Network.words`, in the given order.

        Raises
        ------
        InputError
            If a word is not a node; similar spellings are suggested.
        """
        nodes = list(words)  # an iterator is read twice below
        absent = self.absent(nodes)
        if absent:
            raise InputError(self.say_absent(absent, what))
        return np.array([self._places[word] for word in nodes], dtype=np.intp)

    def absent(self, words: Iterable[str]) -> list[str]:
        """List the words that are not nodes, without duplicates."""
        return [word for word in dict.fromkeys(words) if word not in self._places]

    def say_absent(self, absent: Sequence[str], what: str) -> str:
        """Return one line that names the absent words and suggests nodes of similar spelling."""
        mentions = []
        for word in absent[:MOST_MENTIONS]:
            near = difflib.get_close_matches(word.lower(), self.words, n=3, cutoff=0.75)
            mentions.append(f"{word!r}" + (f" (did you mean {', '.join(near)}?)" if near else ""))
        rest = len(absent) - MOST_MENTIONS
        more = f" and {rest} more" if rest > 0 else ""
        network = f"network {self.name!r}" if self.name else "the network"
        return f"{what} not in {network}: {', '.join(mentions)}{more}"


def _join_places(words: pl.Series, places: pl.DataFrame) -> NDArray[np.int32]:
    """Return the index of each word; `places` has the columns ``word`` and ``place``."""
    table = words.to_frame("word").join(places, on="word", how="left", maintain_order="left")
    return table["place"].to_numpy().astype(np.int32)


def _check_edges(ends: pl.DataFrame, prefix: str, directed: bool) -> None:
    words = pl.col("src", "tgt").fill_null("").str.strip_chars()
    empty = ends.with_row_index("row").filter(pl.any_horizontal(words == ""))
    if not empty.is_empty():
        raise InputError(f"{prefix}edge {empty['row'][0] + 1}: a word is empty")
    weight = pl.col("wt").cast(pl.Float64, strict=False)
    wrong = ends.filter(~(weight.is_finite() & (weight > 0)).fill_null(False))
    if not wrong.is_empty():
        source, target, value = wrong.row(0)
        raise InputError(
            f"{prefix}edge {shortened([source])!r} – {shortened([target])!r}: weight "
            f"{one_line(repr(value))}; weights are numbers above 0, "
            "leave out edges without weight"
        )
    # The same key for both directions of an undirected edge.
    unordered = [pl.min_horizontal("src", "tgt"), pl.max_horizontal("src", "tgt").alias("last")]
    key = pl.struct(["src", "tgt"] if directed else unordered)
    repeated = ends.filter(~key.is_first_distinct())
    if not repeated.is_empty():
        source, target, _ = repeated.row(0)
        rule = "" if directed else " (an undirected edge is listed once, in either direction)"
        hint = "clinometer network build merges such edges"
        raise InputError(f"{prefix}edge {source!r} – {target!r} stands twice{rule}; {hint}")


def check_networks(*networks: object) -> None:
    """Raise InputError if an argument is not a `Network`, for example a path."""
    for network in networks:
        if not isinstance(network, Network):
            raise InputError(
                f"network {network!r}: expected a Network, as "
                "clinometer.networks.read_network(PATH) reads"
            )
