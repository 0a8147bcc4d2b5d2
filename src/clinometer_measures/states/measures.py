"""What the numbers about hidden states mean."""

from __future__ import annotations

import math

from clinometer.results.estimates import COMMON_MEASURES, Measure

__all__ = ["MEASURES"]

_SCHUSTER = "Schuster et al. (2024), arXiv:2411.16527"
_HIGHER = "positive: nearer to the high pole"
_ATTRIBUTES = "positive: the first targets are closer to `toward`, which is stereotype-consistent"

_ALL = (
    Measure("profile_mean", "Mean coordinate of a group, in standard deviations of the "
            "compared words", -math.inf, math.inf, 0.0, _HIGHER, _SCHUSTER, consistent=None),
    Measure("profile_raw", "Mean coordinate of a group before standardisation", -math.inf,
            math.inf, math.nan, "higher: nearer to the high pole", _SCHUSTER, consistent=None),
    Measure("profile_difference", "Difference of two groups, first − second, in standard "
            "deviations of the compared words", -math.inf, math.inf, 0.0,
            "positive: the first group is nearer to the high pole", _SCHUSTER,
            consistent=None),
    Measure("direction_accuracy", "Share of terms on the side where the dictionary has them",
            0.0, 1.0, math.nan, "above neutral: more often right than always naming the more "
            "frequent side", _SCHUSTER, consistent=None),
    Measure("direction_balanced_accuracy", "Mean of the accuracies of high and of low terms",
            0.0, 1.0, 0.5, "above: more often right than chance", _SCHUSTER, consistent=None),
    Measure("weat", "Word embedding association test", -2.0, 2.0, 0.0, _ATTRIBUTES,
            "Caliskan, Bryson & Narayanan (2017)"),
    Measure("seat", "Sentence encoder association test", -2.0, 2.0, 0.0, _ATTRIBUTES,
            "May et al. (2019)"),
    Measure("ceat", "Contextualised embedding association test", -2.0, 2.0, 0.0, _ATTRIBUTES,
            "Guo & Caliskan (2021)"),
    Measure("ripa", "Relational inner product association", -2.0, 2.0, 0.0, _ATTRIBUTES,
            "Ethayarajh, Duvenaud & Hirst (2019)"),
    Measure("mac", "Difference of mean average cosine distances, of one group", -2.0, 2.0, 0.0,
            "positive: the group is closer to `toward`, which is stereotype-consistent",
            "Manzini et al. (2019)"),
    *(COMMON_MEASURES[name] for name in ("correlation", "rank_correlation", "log_odds")),
)  # fmt: skip

#: The measures of hidden states, by name.
MEASURES = {measure.name: measure for measure in _ALL}
