"""The tables about association networks that describe and are no estimates.

Humans are a network like the others. What is measured in networks stands in `results.ESTIMATES`.
"""

from __future__ import annotations

from tiltmeter.results.columns import Schema, columns

__all__ = ["ABSENCES", "ACTIVATIONS", "NETWORKS", "OVERLAPS", "STREAM_EDGES", "STREAM_NODES"]

#: One row per network.
NETWORKS: Schema = columns(
    *("network", "directed", "nodes", "edges", "density", "average_degree", "components"),
    *("diameter", "mean_path_length", "path_sources", "clustering"),
)

#: One row per pair of networks, of their nodes and of their edges: what they share.
OVERLAPS: Schema = columns(
    *("network_a", "network_b", "of", "only_a", "shared", "only_b", "n_a", "n_b", "n_shared"),
)

#: One row per network, identity, prime and target.
ACTIVATIONS: Schema = columns(
    *("network", "study", "identity", "group", "prime", "targets", "target", "activation"),
    "normalised",
)

#: One row per network, identity and set of targets with words that are no nodes; without an
#: identity: words of the priming check.
ABSENCES: Schema = columns("network", "study", "identity", "targets", "absent")

#: One row per word on a shortest path.
STREAM_NODES: Schema = columns(
    *("network", "source", "target", "word", "hop", "valence", "tone", "paths", "shown"),
)

#: One row per edge of a shortest path.
STREAM_EDGES: Schema = columns(
    *("network", "source", "target", "src", "tgt", "weight", "paths", "shown"),
)
