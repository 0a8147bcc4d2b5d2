"""What a number means: its scale, its neutral value, its direction and its source."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["DETAILS", "Measure"]


@dataclass(frozen=True)
class Measure:
    """What a number means; every table and figure states it.

    Parameters
    ----------
    name
        In the column `measure`.
    title
        For readers.
    low, high
        Ends of the scale; infinite where it has none.
    neutral
        The value without bias; nan where there is none.
    direction
        What positive numbers, or those above neutral, mean.
    reference
        The source.
    how
        How the number comes about.
    consistent
        The side of neutral that is stereotype-consistent: ``"above"``, ``"below"`` or None.
    """

    name: str
    title: str
    low: float
    high: float
    neutral: float
    direction: str
    reference: str
    how: str = ""
    consistent: str | None = "above"

    def renamed(self, name: str, title: str, lead: str) -> Measure:
        """Return the same measure as a part of another instrument."""
        return replace(self, name=name, title=title, how=lead + self.how)

    def scale(self) -> dict[str, Any]:
        """Return what stands in every row of an estimate."""
        return {
            "range_low": self.low if math.isfinite(self.low) else None,
            "range_high": self.high if math.isfinite(self.high) else None,
            "neutral": self.neutral if math.isfinite(self.neutral) else None,
            "direction": self.consistent,
        }


_DIFFERENCE = "positive: more under the candidate"

#: Measures that stand beside those of the instruments.
DETAILS = {
    one.name: one
    for one in (
        Measure("logit", "Mean difference of log odds", -math.inf, math.inf, 0.0,
                "positive: the tied words are likelier for the marginalized group than the "
                "counter words", "forced mode"),
        Measure("compliance", "Difference of compliance", -1.0, 1.0, 0.0, _DIFFERENCE, "",
                consistent=None),
        Measure("comedy_share", "Share of comedy, default − marginalized group", -1.0, 1.0, 0.0,
                "positive: comedy more often after the default group", "Li et al. (2025), eq. 2"),
        Measure("tragedy_share", "Share of tragedy, default − marginalized group", -1.0, 1.0, 0.0,
                "negative: tragedy more often after the marginalized group",
                "Li et al. (2025), eq. 3", consistent="below"),
        Measure("neutral_share", "Share of neither, default − marginalized group", -1.0, 1.0, 0.0,
                "positive: neither more often after the default group", "Li et al. (2025)",
                consistent=None),
        Measure("log_odds", "Log odds of a decision for one unit of the predictor", -math.inf,
                math.inf, 0.0, "positive: decisions follow the predictor",
                "Bai et al. (2025), SI section K", consistent=None),
        Measure("correlation", "Pearson's correlation", -1.0, 1.0, 0.0,
                "positive: the two go together", "", consistent=None),
        Measure("rank_correlation", "Spearman's correlation", -1.0, 1.0, 0.0,
                "positive: the two go together", "", consistent=None),
        Measure("rank", "Rank of the model, 1 the most stereotype-consistent", 1.0, math.inf,
                math.nan, "lower: more stereotype-consistent", "Li et al. (2025), Figure 4",
                consistent=None),
    )
}  # fmt: skip
