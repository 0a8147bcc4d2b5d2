"""From counts of free associations to a network of words.

As Abramski, Rossetti & Stella (2025, arXiv:2510.24488, "Network construction") and the code of
LWOW (`graphFromEdgeList`, `makeUndirected`, `WNfilter`, `idiosynfilter`, `CC`): an edge from cue
to response, weighted by how often it was given; both directions made one with the larger weight;
words in WordNet 3.0 only; answers given once left out; largest connected component.
"""

from __future__ import annotations

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.networks.network import Network
from tiltmeter.networks.rewriting import in_wordnet
from tiltmeter.networks.structure import largest_component
from tiltmeter.results.tables import need_columns

__all__ = ["build"]


def build(  # noqa: PLR0913 - the steps, each of which may be left out
    associations: pl.DataFrame,
    *,
    directed: bool = False,
    wordnet: bool = True,
    min_weight: float = 2,
    component: bool = True,
    name: str = "",
) -> tuple[Network, pl.DataFrame]:
    """Build a network of free associations.

    Parameters
    ----------
    associations
        Columns ``cue``, ``response`` (text) and ``count`` (numbers above 0); counts of equal
        pairs are added up.
    directed
        Whether edges keep their direction, from cue to response; otherwise an edge has the
        larger weight of the two directions.
    wordnet
        Whether to keep only words that WordNet 3.0 knows, inflected or not.
    min_weight
        The least weight of an edge; 2 leaves out answers that were given once.
    component
        Whether to keep only the largest connected component (weakly connected where directed; of
        components of one size, that with the edge first in the alphabet).
    name
        What to call the network.

    Returns
    -------
    tuple
        The network; and a row per step: ``step``, ``nodes`` (words with an edge) and ``edges``
        after it.

    Raises
    ------
    InputError
        If a column is missing, a word is empty, a count is no number above 0, or a step leaves
        no edge.

    Examples
    --------
    >>> given = {"cue": ["cat", "dog"], "response": ["dog", "cat"], "count": [2, 5]}
    >>> network, _ = build(pl.DataFrame(given))
    >>> network.edges().rows()
    [('cat', 'dog', 5.0)]
    """
    if not min_weight >= 0:
        raise InputError(f"min_weight: {min_weight}; expected a number from 0")
    edges = _count(associations)
    log = [_logged("associations", edges)]
    edges = edges.filter(pl.col("src") != pl.col("tgt"))
    log.append(_logged("no_loops", edges))
    if not directed:
        edges = _join_directions(edges)
        log.append(_logged("undirected", edges))
    if wordnet:
        known = sorted(in_wordnet(_words(edges)))
        edges = edges.filter(pl.all_horizontal(pl.col("src", "tgt").is_in(known)))
        log.append(_logged("wordnet", edges))
    if min_weight > 0:
        edges = edges.filter(pl.col("wt") >= min_weight)
        log.append(_logged("min_weight", edges))
    network = Network.from_edges(edges.sort("src", "tgt"), directed=directed, name=name)
    if component:
        network = largest_component(network)
        log.append({"step": "component", "nodes": len(network), "edges": network.n_edges})
    return network, pl.DataFrame(log)


def _count(associations: pl.DataFrame) -> pl.DataFrame:
    need_columns(associations, ("cue", "response", "count"), "associations")
    edges = associations.select(src="cue", tgt="response", wt="count")
    edges = edges.with_columns(pl.col("wt").cast(pl.Float64, strict=False))
    right = pl.col("wt").is_finite() & (pl.col("wt") > 0)
    for column in ("src", "tgt"):
        right &= pl.col(column).cast(pl.String).str.strip_chars() != ""
    wrong = associations.filter(~edges.select(right.fill_null(False)).to_series())
    if not wrong.is_empty():
        cue, response, count = wrong.select("cue", "response", "count").row(0)
        raise InputError(
            f"associations: {cue!r} – {response!r}: count {count!r}; expected two words and a "
            "number above 0"
        )
    return edges.group_by("src", "tgt").agg(pl.col("wt").sum())


def _join_directions(edges: pl.DataFrame) -> pl.DataFrame:
    first, second = pl.min_horizontal("src", "tgt"), pl.max_horizontal("src", "tgt")
    return edges.group_by(src=first, tgt=second).agg(pl.col("wt").max())


def _words(edges: pl.DataFrame) -> pl.Series:
    return pl.concat([edges["src"], edges["tgt"]]).unique()


def _logged(step: str, edges: pl.DataFrame) -> dict[str, object]:
    if edges.is_empty():
        raise InputError(f"associations: step {step!r} left no edge; a network needs at least one")
    return {"step": step, "nodes": len(_words(edges)), "edges": edges.height}
