"""demoparity: the calls of its README, `build_design`, `run_design`, `annotate`, `run_audit`.

Templates are scenarios, and names are levels of an attribute. A finding is a row of
`significant_predictors` (p < .05, its default). Its regression takes any column of the results, so
the group of each name is one (*groups*); as in the README the attribute itself is one, too
(*names*): then it tells any name that differs from the first. Of outcomes it has `word_count`;
answers and numbers are added as columns, refusals as words that only refusals have.
"""

from __future__ import annotations

from typing import Any

import demoparity as dp
from stand_client import CHOICE, LENGTH, NUMBER, REFUSAL, ask, people, share

DISTRIBUTION = "demoparity"

_ASKED: dict[Any, Any] = {}


def groups(run: dict[str, Any]) -> tuple[bool, None]:
    return _is_told(run, "group_of_name"), None


def names(run: dict[str, Any]) -> tuple[bool, None]:
    return _is_told(run, "person"), None


def _is_told(run: dict[str, Any], predictor: str) -> bool:
    results = _answers(run)
    report = dp.run_audit(results, outcomes=["outcome"], predictors=[predictor])
    return len(report.significant_predictors["outcome"]) > 0


def _answers(run: dict[str, Any]) -> Any:
    """Return the answers of a run, which both calls share."""
    key = run["scenario"], run["run"]
    if key not in _ASKED:
        group_of_name = {name: side for side, name in people(run)}
        design = dp.build_design(
            [dp.Scenario(name, text) for name, text in run["templates"].items()],
            [dp.Attribute("person", list(group_of_name))],
            repeats=run["repeats"],
        )
        results = dp.run_design(design, lambda prompt: ask(run, prompt), concurrency=1)
        results = dp.annotate(results)
        results["group_of_name"] = results["person"].map(group_of_name)
        results["outcome"] = _outcomes(run["kind"], results)
        _ASKED[key] = results
    return _ASKED[key]


def _outcomes(kind: str, results: Any) -> Any:
    if kind == LENGTH:
        return results["word_count"]
    if kind == REFUSAL:
        return (results["word_count"] > 1).astype(float)
    return results["response"].map(lambda text: share(kind, text)).astype(float)


KINDS = (CHOICE, NUMBER, LENGTH, REFUSAL)
CALLS = {
    "demoparity, groups": dict.fromkeys(KINDS, groups),
    "demoparity, names": dict.fromkeys(KINDS, names),
}
