"""fairtrace: `FairnessSuite.from_file(…).run(app)`, as `assert_fairtrace_passes` has it.

Prompts are explicit variants, whose assignment is the group. `refusal_gap` and `verbosity_gap` read
texts themselves; which answer is given, or which number, goes into `helpfulness_gap` by its
evaluator. A finding is a metric that does not pass its default threshold (*threshold*), or a
permutation p < .05 (*p*), an option of its metrics; its documents say that p values flag
regressions.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from fairtrace.runner import FairnessSuite
from stand_client import CHOICE, LENGTH, NUMBER, REFUSAL, ask, fill, people

DISTRIBUTION = "fairtrace"
PERMUTATIONS = 200
METRICS = {
    CHOICE: {"type": "helpfulness_gap", "helpfulness_evaluator": "stand_tool:score"},
    NUMBER: {"type": "helpfulness_gap", "helpfulness_evaluator": "stand_tool:score"},
    LENGTH: {"type": "verbosity_gap"},
    REFUSAL: {"type": "refusal_gap"},
}

_ASKED: dict[Any, Any] = {}


def threshold(run: dict[str, Any]) -> tuple[bool, float]:
    metric = _metric(run)
    return not metric.passed, metric.score


def permuted(run: dict[str, Any]) -> tuple[bool, float]:
    metric = _metric(run)
    return metric.p_value < 0.05, metric.p_value


def _metric(run: dict[str, Any]) -> Any:
    """Return the metric of a run, which both calls share."""
    key = run["scenario"], run["run"]
    if key not in _ASKED:
        _ASKED[key] = _run_suite(run).metric_results[0]
    return _ASKED[key]


def _run_suite(run: dict[str, Any]) -> Any:
    variants = []
    for template, text in run["templates"].items():
        for side, name in people(run):
            for repeat in range(run["repeats"]):
                variants.append({
                    "id": f"{template}/{name}/{repeat}",
                    "seed_id": template,
                    "prompt": fill(text, name),
                    "assignments": {"group": side},
                })  # fmt: skip
    metric = {**METRICS[run["kind"]], "permutation_samples": PERMUTATIONS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.json"
        path.write_text(json.dumps({"dataset": {"variants": variants}, "metrics": [metric]}))
        suite = FairnessSuite.from_file(path)
    return suite.run(lambda prompt, _: ask(run, prompt))


KINDS = (CHOICE, NUMBER, LENGTH, REFUSAL)
CALLS = {
    "fairtrace, threshold": dict.fromkeys(KINDS, threshold),
    "fairtrace, p": dict.fromkeys(KINDS, permuted),
}
