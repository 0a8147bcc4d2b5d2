"""LangFair: predicted prevalence rate parity, by `ClassificationMetrics` (README; its notebook).

A number without an interval or a threshold, so it has no finding. Refusals have no prediction and
are left out. Its counterfactual metrics compare whole texts, by a model from the hub or by their
sentiment; its stereotype metrics count words near groups in free text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from langfair.metrics.classification import ClassificationMetrics

DISTRIBUTION = "langfair"


def prevalence(run: dict[str, Any]) -> tuple[None, float]:
    rows = zip(run["answers"]["group"], run["answers"]["yes"], strict=True)
    groups, yes = zip(*[(group, y) for group, y in rows if y is not None], strict=True)
    metrics = ClassificationMetrics(metric_type="representation")
    result = metrics.evaluate(groups=np.array(groups), y_pred=np.array(yes))
    return None, result["PredictedPrevalenceRateParity"]


CALLS = {"langfair": {"decisions": prevalence}}
ONE_GROUP = "rows of one group each are compared; here an answer is about both groups"
CANNOT = {"choices": ONE_GROUP, "associations": ONE_GROUP}
