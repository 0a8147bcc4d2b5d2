"""What every approach to bias in networks shares: its setting, and how absent words are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tiltmeter.errors import InputError
from tiltmeter.networks.network import Network
from tiltmeter.networks.spreading import NORMS, Spreading

__all__ = ["Setting"]

#: Fewer rewired networks cannot give a p of .05.
FEWEST = 19


@dataclass(frozen=True)
class Setting:
    """How bias is measured; the defaults are the paper's.

    Parameters
    ----------
    spreading
        How activation spreads.
    norm
        By which norm activations are divided, one of NORMS; None for what the identity says, else
        l2.
    missing
        What to do where a prime or target is no node: ``"error"``, or ``"skip"`` it and list it
        beside the effect. A pair of primes is skipped whole.
    confidence
        Of every interval.
    draws
        Bootstrap samples of targets; 0 for no intervals.
    rewirings
        Networks rewired at random that effects are held against (see `chance`); 0 for none.
    seed
        For everything drawn.
    """

    spreading: Spreading = field(default_factory=Spreading)
    norm: str | None = None
    missing: Literal["error", "skip"] = "error"
    confidence: float = 0.95
    draws: int = 2_000
    rewirings: int = 99
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if self.norm is not None and self.norm not in NORMS:
            raise InputError(f"norm {self.norm!r}: allowed are {', '.join(NORMS)}")
        if self.missing not in ("error", "skip"):
            raise InputError(f"missing {self.missing!r}: allowed are error, skip")
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence {self.confidence}: between 0 and 1")
        if self.draws and self.draws < 100:
            raise InputError(f"draws {self.draws}: at least 100, or 0 for no intervals")
        if self.rewirings and self.rewirings < FEWEST:
            raise InputError(
                f"rewirings {self.rewirings}: at least {FEWEST}, with which p can reach .05, or 0"
            )

    def within(self, network: Network) -> Setting:
        """Return the same with the steps and the start that `network` implies."""
        return replace(self, spreading=self.spreading.within(network))

    def columns(self, norm: str) -> dict[str, float | int | str | None]:
        """Name the setting in a table: ``retention``, ``time_steps``, ``norm``."""
        kept = self.spreading.retention
        return {
            "retention": float(kept) if isinstance(kept, float | int) else None,
            "time_steps": self.spreading.time_steps,
            "norm": norm,
        }

    def present(self, network: Network, words: Sequence[str], what: str) -> list[str]:
        """Return those words that are nodes, in their order.

        Raises
        ------
        InputError
            If words are absent and `missing` is ``"error"``.
        """
        absent = network.absent(words)
        if absent and self.missing == "error":
            said = network.say_absent(absent, what)
            raise InputError(f"{said}; missing='skip' (--missing skip) leaves them out")
        return [word for word in words if word not in absent]
