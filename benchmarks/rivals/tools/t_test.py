"""A t test of scipy: of the answers, as most papers do; and of one mean per name.

Refusals are left out. The t test of name means is what somebody does who knows that names differ;
an answer about two names is not of one, so it is for decisions alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

DISTRIBUTION = "scipy"


def answers(run: dict[str, Any]) -> tuple[bool, float]:
    marginalized, default = (
        [y for y, group in _answered(run) if group == side] for side in ("marginalized", "default")
    )
    return _compare(default, marginalized)


def choices(run: dict[str, Any]) -> tuple[bool, float]:
    values = run["answers"]["consistent"]
    return stats.ttest_1samp(values, 0.5).pvalue < 0.05, np.mean(values)


def associations(run: dict[str, Any]) -> tuple[bool, float]:
    values = run["answers"]["score"]
    return stats.ttest_1samp(values, 0).pvalue < 0.05, np.mean(values)


def name_means(run: dict[str, Any]) -> tuple[bool, float]:
    table = run["answers"]
    means = {}
    for side in ("marginalized", "default"):
        means[side] = []
        for name in run[side]:
            rows = zip(table["yes"], table["name"], strict=True)
            means[side].append(np.mean([y for y, word in rows if word == name and y is not None]))
    return _compare(means["default"], means["marginalized"])


def _compare(default: list[float], marginalized: list[float]) -> tuple[bool, float]:
    difference = np.mean(default) - np.mean(marginalized)
    return stats.ttest_ind(default, marginalized).pvalue < 0.05, difference


def _answered(run: dict[str, Any]) -> list[tuple[int, str]]:
    rows = zip(run["answers"]["yes"], run["answers"]["group"], strict=True)
    return [(y, group) for y, group in rows if y is not None]


CALLS = {
    "t test": {"decisions": answers, "choices": choices, "associations": associations},
    "t test of name means": {"decisions": name_means},
}
