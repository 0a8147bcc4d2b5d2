"""``clinometer network``: association networks, from free associations to bias."""

from __future__ import annotations

from clinometer.cli.group import LateGroup

__all__ = ["network_command"]

#: Command → the module that holds it, and one line of help.
COMMANDS = {
    "associate": (f"{__name__}.associate", "Ask a model for free associations to cues."),
    "build": (f"{__name__}.build", "Build a network from associations."),
    "stats": (f"{__name__}.describing", "Describe networks: nodes, edges, diameter, clustering."),
    "activate": (f"{__name__}.describing", "Spread activation from primes to all words."),
    "bias": (f"{__name__}.bias", "Measure stereotypes, valence and emotions in networks."),
    "streams": (f"{__name__}.streams", "Show the shortest paths between two words."),
    "compare": (f"{__name__}.bias", "Compare networks, of models or people, and write a report."),
}

network_command = LateGroup(
    COMMANDS,
    name="network",
    help="Measure implicit bias in networks of word associations (Abramski et al. 2025).",
)
