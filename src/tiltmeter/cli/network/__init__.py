"""``tiltmeter network``: association networks, from free associations to bias."""

from __future__ import annotations

from tiltmeter.cli.group import LateGroup

__all__ = ["command"]

#: Command (its module has the same name) → one line of help.
COMMANDS = {
    "associate": "Ask a model for free associations to cues.",
    "build": "Build a network from associations.",
    "stats": "Describe networks: nodes, edges, diameter, clustering.",
    "activate": "Spread activation from primes to all words.",
    "bias": "Measure stereotypes, valence and emotions in networks.",
    "streams": "Show the shortest paths between two words.",
    "compare": "Compare networks, of models or people, and write a report.",
}

command = LateGroup(
    COMMANDS,
    "tiltmeter.cli.network",
    name="network",
    help="Measure implicit bias in networks of word associations (Abramski et al. 2025).",
)
