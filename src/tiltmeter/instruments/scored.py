"""What every instrument says about one response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Scored"]


@dataclass(frozen=True, slots=True)
class Scored:
    """One number for one response, or none and the reason."""

    score: float | None
    reason: str | None
    coverage: float
    one_sided: bool | None = None
    first_share: float | None = None
    logit: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    """Attribute → probability (or 0/1 choice) of the marginalized group."""
    span: str | None = None
    """The passage in which a decision was read."""
    margin: float | None = None
    conflict: bool | None = None
    read_by: str | None = None
    outcome: str | None = None
    """What an affective attribution said: one of `frames.OUTCOMES`."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Group and attribute words by role, where the response tells which were asked."""
