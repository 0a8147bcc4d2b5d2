"""``clinometer network``: association networks, from free associations to bias."""

from __future__ import annotations

from clinometer.cli.group import LateGroup

__all__ = ["network_command"]

#: Command → the module that holds it, and one line of help.
COMMANDS = {
    "associate": ("associate", "Ask a model for free associations to cues."),
    "build": ("build", "Build a network from associations."),
    "stats": ("describing", "Describe networks: nodes, edges, diameter, clustering."),
    "activate": ("describing", "Spread activation from primes to all words."),
    "bias": ("bias", "Measure stereotypes, valence and emotions in networks."),
    "streams": ("streams", "Show the shortest paths between two words."),
    "compare": ("bias", "Compare networks, of models or people, and write a report."),
}

network_command = LateGroup(
    COMMANDS,
    "clinometer.cli.network",
    name="network",
    help="Measure implicit bias in networks of word associations (Abramski et al. 2025).",
)
