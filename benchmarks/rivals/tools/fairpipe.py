"""fairpipe: the p of `FairnessAnalyzer.demographic_parity_difference` (README, Quick start).

Its documentation: only `p_value` supports a claim of significance. Refusals are missing values,
which are dropped with a caveat. Its evaluations of language models ask a model themselves and
measure by how much texts differ, with no calibrated interval by default.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from fairpipe.metrics import FairnessAnalyzer

DISTRIBUTION = "fairpipe"


def p_value(run: dict[str, Any]) -> tuple[bool, float]:
    yes = np.array([np.nan if y is None else y for y in run["answers"]["yes"]], float)
    result = FairnessAnalyzer().demographic_parity_difference(
        y_pred=yes, sensitive=np.array(run["answers"]["group"]), with_ci=True
    )
    return result.p_value < 0.05, result.value


CALLS = {"fairpipe": {"decisions": p_value}}
ONE_GROUP = "rows of one group each are compared; here an answer is about both groups"
CANNOT = {"choices": ONE_GROUP, "associations": ONE_GROUP}
