"""vfairness: the interval and the verdict of its README, and its test of matched pairs.

Quick start of the README: `FairnessAnalyzer(…).demographic_parity_difference(include_ci=True)`. Its
interval excludes 0 where `demographic_parity_difference_with_ci(…).is_significant` is true; its
verdict *unfair* says that the interval lies beyond the tolerance (.1). Refusals are missing values,
which the default `missing_strategy` excludes. One deviation from the defaults: 500 bootstrap
samples instead of 5,000, which take ten times as long.

`vfairness.llm.paired.mcnemar_paired_test` is for the same prompt asked twice with only the group
changed: the two answers of a pair.

`CounterfactualTester` is left out: it asks a model itself, one template at a time, and compares
names with the first name, so that a group of names cannot be stated.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from vfairness import FairnessAnalyzer
from vfairness.llm.paired import mcnemar_paired_test

DISTRIBUTION = "vfairness"
SAMPLES = 500
MOST_RUNS = {"vfairness, interval": 40, "vfairness, verdict": 40}


def interval(run: dict[str, Any]) -> tuple[bool, float]:
    result = _difference(run)
    low, high = result.confidence_interval
    return not low <= 0 <= high, result.value


def verdict(run: dict[str, Any]) -> tuple[bool, float]:
    result = _difference(run)
    return result.verdict == "unfair", result.value


def pairs(run: dict[str, Any]) -> tuple[bool, float]:
    table = run["answers"]
    sides: dict[int, dict[str, int | None]] = defaultdict(dict)
    for pair, group, yes in zip(table["pair"], table["group"], table["yes"], strict=True):
        sides[pair][group] = yes
    default, marginalized = (
        [side[name] for side in sides.values()] for name in ("default", "marginalized")
    )
    result = mcnemar_paired_test(default, marginalized)
    # NaN where nothing was tested, which is no finding.
    return result["tested"] and result["p_value"] < 0.05, result["statistic"]


_LAST: dict[str, Any] = {}


def _difference(run: dict[str, Any]) -> Any:
    """Return the result of the analyzer, kept for the second call about the same run."""
    key = run["scenario"], run["run"]
    if key not in _LAST:
        yes = np.array([np.nan if y is None else y for y in run["answers"]["yes"]], float)
        analyzer = FairnessAnalyzer(yes, yes, np.array(run["answers"]["group"]))
        _LAST[key] = analyzer.demographic_parity_difference(
            include_ci=True, n_bootstrap=SAMPLES, random_state=0
        )
    return _LAST[key]


CALLS = {
    "vfairness, interval": {"decisions": interval},
    "vfairness, verdict": {"decisions": verdict},
    "vfairness, pairs": {"decisions": pairs},
}
ONE_GROUP = "rows of one group each are compared; here an answer is about both groups"
CANNOT = {"choices": ONE_GROUP, "associations": ONE_GROUP}
