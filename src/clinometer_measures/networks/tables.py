"""Tables of association networks, and the columns that only they have."""

from __future__ import annotations

import polars as pl

from clinometer.results.columns import Meaning, Schema, columns, typed_columns
from clinometer.results.schemas import Table

__all__ = [
    "ABSENCES",
    "ACTIVATIONS",
    "COLUMNS",
    "NETWORKS",
    "OVERLAPS",
    "PATH_LENGTHS",
    "STREAM_EDGES",
    "STREAM_NODES",
    "TABLES",
]

#: The columns that only these tables have.
COLUMNS = {
    **typed_columns(
        pl.String(),
        network="the network; in estimates it is the subject",
        network_a="the first of two networks",
        network_b="the second of two networks",
        of=Meaning("what is compared: nodes, or edges between nodes of both networks", "Shared"),
        source="first word of a stream",
        word="a word on a shortest path",
        tone="valence of the word: positive, neutral, negative or unknown",
        paths="number of shortest paths through the word or edge, as text in digits",
        src="one end of an edge",
        tgt="the other end of an edge",
    ),
    **typed_columns(
        pl.Int64(),
        nodes=Meaning("words of the network", format="thousands"),
        edges=Meaning("associations of the network", format="thousands"),
        components=Meaning("connected components", format="thousands"),
        diameter="diameter: longest shortest path of the largest component, in hops",
        path_sources="nodes whose paths were measured; null: all",
        n_a=Meaning("nodes or edges of the first network", "Of the first", "thousands"),
        n_b=Meaning("nodes or edges of the second", "Of the second", "thousands"),
        n_shared=Meaning("nodes or edges of both", "In both", "thousands"),
        hop="hops from the first word of the stream",
        hops="hops of the shortest paths from the prime to the target",
    ),
    **typed_columns(
        pl.Float64(),
        density=Meaning("edges / possible edges", digits=5),
        average_degree=Meaning("mean number of edges of a node", digits=1),
        mean_path_length="mean shortest path over pairs of words of the largest component, in hops",
        clustering=Meaning("mean local clustering coefficient, unweighted", digits=3),
        only_a=Meaning(
            "share of the first network's nodes or edges that the second lacks",
            "Only the first",
            "share",
        ),
        shared=Meaning("share of all nodes or edges that both have (Jaccard)", "Both", "share"),
        only_b=Meaning(
            "share of the second network's nodes or edges that the first lacks",
            "Only the second",
            "share",
        ),
        activation="activation of the target after the prime, unnormalised",
        normalised="activation divided by the norm over all nodes",
        valence="valence, 0 (negative) to 1 (positive)",
        weight="weight of an edge",
    ),
    **typed_columns(
        pl.Boolean(),
        directed="whether edges are directed",
        shown="whether the drawing shows it",
    ),
    **typed_columns(
        pl.List(pl.String()),
        absent="primes and targets that are not in the network",
    ),
}

NETWORKS: Schema = columns(
    *("network", "directed", "nodes", "edges", "density", "average_degree", "components"),
    *("diameter", "mean_path_length", "path_sources", "clustering"),
    own=COLUMNS,
)

OVERLAPS: Schema = columns(
    *("network_a", "network_b", "of", "only_a", "shared", "only_b", "n_a", "n_b", "n_shared"),
    own=COLUMNS,
)

ACTIVATIONS: Schema = columns(
    *("network", "study", "identity", "group", "prime", "targets", "target", "activation"),
    "normalised",
    own=COLUMNS,
)

#: `hops` is null where no path leads from the prime to the target.
PATH_LENGTHS: Schema = columns(
    *("network", "study", "identity", "group", "prime", "targets", "target", "hops"),
    own=COLUMNS,
)

#: `identity` is null for words of the priming check.
ABSENCES: Schema = columns("network", "study", "identity", "targets", "absent", own=COLUMNS)

STREAM_NODES: Schema = columns(
    *("network", "source", "target", "word", "hop", "valence", "tone", "paths", "shown"),
    own=COLUMNS,
)

STREAM_EDGES: Schema = columns(
    *("network", "source", "target", "src", "tgt", "weight", "paths", "shown"),
    own=COLUMNS,
)

#: The tables of a results directory.
TABLES = {
    name: Table("networks", schema, meaning, COLUMNS)
    for name, schema, meaning in (
        ("networks", NETWORKS, "a row per network: its size and structure"),
        ("network_overlaps", OVERLAPS, "a row per pair of networks, nodes or edges"),
        ("network_activations", ACTIVATIONS, "a row per prime and target"),
        ("network_paths", PATH_LENGTHS, "a row per prime and target: hops between"),
        ("network_absences", ABSENCES, "a row per identity and set: absent words"),
        ("network_stream_nodes", STREAM_NODES, "a row per word on a shortest path"),
        ("network_stream_edges", STREAM_EDGES, "a row per edge of such a path"),
    )
}
