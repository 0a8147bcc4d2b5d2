"""``tiltmeter network``: association networks, from free associations to bias."""

from __future__ import annotations

from tiltmeter.cli.group import LateGroup

__all__ = ["command"]

#: Command (its module has the same name) → one line of help.
COMMANDS = {
    "associate": "Ask a model what words make it think of.",
    "build": "Turn associations into a network.",
    "stats": "Describe networks: nodes, edges, diameter, clustering.",
    "activate": "Let activation spread from primes to every word.",
    "bias": "Measure stereotypes, valence and emotions in networks.",
    "streams": "Show the shortest paths between two words.",
    "compare": "Set networks side by side, humans among them, and write a report.",
}

command = LateGroup(
    COMMANDS,
    "tiltmeter.cli.network",
    name="network",
    help="Measure implicit bias in networks of word associations (Abramski et al. 2025).",
)
