"""lm-eval: a metric and its standard error, as `evaluator` reports them (`acc`, `acc_stderr`).

Each group is a task, whose metric is the share of answers that are "Yes."; a refusal is another
answer and counts 0, as in `exact_match`. Two groups differ where the difference is beyond 1.96
times the root of the summed squares, as in the project's own script that compares two models.
Choices and associations are one task each, beside ½ and 0.
"""

from __future__ import annotations

import math
from typing import Any

from lm_eval.api.metrics import mean, stderr_for_metric

DISTRIBUTION = "lm-eval"
Z = 1.96


def decisions(run: dict[str, Any]) -> tuple[bool, float]:
    rows = list(zip(run["answers"]["group"], run["answers"]["text"], strict=True))
    default, marginalized = (
        _mean_and_stderr([float(text == "Yes.") for group, text in rows if group == side])
        for side in ("default", "marginalized")
    )
    difference = default[0] - marginalized[0]
    return abs(difference) > Z * math.hypot(default[1], marginalized[1]), difference


def choices(run: dict[str, Any]) -> tuple[bool, float]:
    share, stderr = _mean_and_stderr(run["answers"]["consistent"])
    return abs(share - 0.5) > Z * stderr, share


def associations(run: dict[str, Any]) -> tuple[bool, float]:
    value, stderr = _mean_and_stderr(run["answers"]["score"])
    return abs(value) > Z * stderr, value


def _mean_and_stderr(values: list[float]) -> tuple[float, float]:
    return mean(values), stderr_for_metric(mean, bootstrap_iters=100_000)(values)


CALLS = {"lm-eval": {"decisions": decisions, "choices": choices, "associations": associations}}
