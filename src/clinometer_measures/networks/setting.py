"""Scales, parameters and handling of absent words, shared by all measures of bias in networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from clinometer.errors import InputError
from clinometer.results import Measure
from clinometer.results.estimates import COMMON_MEASURES
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.spreading import NORMS, Spreading

__all__ = ["FAMILY", "INSTRUMENT", "MEASURES", "Setting"]

#: Values of the columns `family` and `instrument` in every estimate.
FAMILY, INSTRUMENT = "networks", "association_network"

_SOURCE = "Abramski, Rossetti & Stella (2025), arXiv:2510.24488"
_PRIMING = "Abramski et al. (2025), Sci. Data 12:803"
_FIRST = "positive: more activation by the first"

#: Measures of networks. Effects are Wilcoxon's z / √n, at most ±.87 for many pairs.
MEASURES = {
    measure.name: measure
    for measure in (
        Measure("activation_effect", "Effect on the activation of targets", -1.0, 1.0, 0.0,
                _FIRST, _SOURCE, consistent=None),
        Measure("emotion_effect", "Effect on the activation of words of an emotion", -1.0, 1.0, 0.0,
                _FIRST, _SOURCE, consistent=None),
        Measure("valence_slope", "Log odds of valence per unit of normalised activation",
                -math.inf, math.inf, 0.0,
                "positive: more positive than the other primes of the identity", _SOURCE,
                consistent=None),
        Measure("valence_joint", "Difference in valence between primes, √(χ² / n)", 0.0, math.inf,
                0.0, "larger: the slopes of the primes differ more", _SOURCE, consistent=None),
        Measure("path_difference", "Hops between prime and target, inconsistent − consistent pairs",
                -math.inf, math.inf, 0.0, "positive: stereotype-consistent paths are shorter",
                _SOURCE),
        Measure("false_alarm_rate", "Share of rewired networks with a published p of at most .05",
                0.0, 1.0, 0.05, "above .05: the published p is too small",
                "Maslov & Sneppen (2002), Science 296, 910–913", consistent=None),
        Measure("priming_correlation", "Correlation of activation with reaction time", -1.0, 1.0,
                0.0, "negative: as in people", _PRIMING, consistent=None),
        Measure("priming_effect", "Effect of related primes on activation", -1.0, 1.0, 0.0,
                "positive: as in people", _PRIMING, consistent=None),
        COMMON_MEASURES["rank_correlation"],
    )
}  # fmt: skip

#: With fewer placebos or rewired networks p cannot reach .05.
FEWEST = 19


@dataclass(frozen=True)
class Setting:
    """Parameters of measuring bias; the defaults are the paper's.

    Parameters
    ----------
    spreading
        How activation spreads.
    norm
        Norm by which activations are divided, one of NORMS; None: that of the identity, else l2.
    missing
        If a prime or target is not a node: ``"error"``, or ``"skip"`` to leave it out and list it
        in `absences`. If one prime of a pair is absent, the pair is skipped.
    confidence
        Confidence level of every interval.
    draws
        Bootstrap samples of targets; 0 for no intervals.
    placebos
        Number of placebos of each kind to compare effects with (see `placebos`); 0 for none.
    rewirings
        Number of rewired networks to compare effects with (see `controls`); 0 for none.
    seed
        Seed of all random draws.
    """

    spreading: Spreading = field(default_factory=Spreading)
    norm: str | None = None
    missing: Literal["error", "skip"] = "error"
    confidence: float = 0.95
    draws: int = 2_000
    placebos: int = 999
    rewirings: int = 99
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        few = f"at least {FEWEST}, with which p can reach .05, or 0"
        for name, valid, allowed in (
            ("norm", self.norm in (None, *NORMS), f"allowed are {', '.join(NORMS)}"),
            ("missing", self.missing in ("error", "skip"), "allowed are error, skip"),
            ("confidence", 0 < self.confidence < 1, "between 0 and 1"),
            ("draws", not self.draws or self.draws >= 100, "at least 100, or 0 for no intervals"),
            ("placebos", not self.placebos or self.placebos >= FEWEST, few),
            ("rewirings", not self.rewirings or self.rewirings >= FEWEST, few),
        ):
            if not valid:
                raise InputError(f"{name} {getattr(self, name)!r}: {allowed}")

    def within(self, network: Network) -> Setting:
        """Return the setting with the steps and the start that `network` implies."""
        return replace(self, spreading=self.spreading.within(network))

    def present(self, network: Network, words: Sequence[str], what: str) -> list[str]:
        """Return the words that are nodes; absent words raise InputError unless skipped."""
        absent = network.absent(words)
        if absent and self.missing == "error":
            message = network.say_absent(absent, what)
            raise InputError(f"{message}; missing='skip' (--missing skip) leaves them out")
        return [word for word in words if word not in absent]

    def columns(self) -> dict[str, Any]:
        """Return columns of estimates: ``retention``, ``time_steps``, ``norm``, ``weighted``."""
        retention = self.spreading.retention
        return {
            "retention": float(retention) if isinstance(retention, float | int) else None,
            "time_steps": self.spreading.time_steps,
            "norm": self.norm or "l2",
            "weighted": self.spreading.weighted,
        }
