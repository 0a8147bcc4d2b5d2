"""What promptfoo calls: trials as tests, and the score of an answer as an assertion.

Reference
    promptfoo, documentation of Python assertions and of test generators in Python.

``python FILE results.json``, with what ``promptfoo eval -o results.json`` wrote, prints the mean of
each provider with its interval for other prompts.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinometer.audits.means import mean_of_rows
from clinometer.harnesses.trials import score_answers, trials_of
from clinometer.numbers import interval, number


def trials(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a test for each trial; `config`: the instrument, and options of `trials_of`."""
    return [{"vars": trial} for trial in trials_of(**config)]


def score(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Score an answer under the name of its instrument; it passes if it could be read.

    That one answer leans says nothing of a model: the mean does, `means`.
    """
    scores = score_answers([context["vars"]], [str(output)], "promptfoo")
    row = scores.row(0, named=True)
    value = row["score"]
    return {
        "pass": value is not None,
        "score": float(value is not None),
        "reason": row["reason"] or f"score {number(value)}",
        "namedScores": {} if value is None else {row["instrument"]: value},
    }


def means(results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the mean of each provider, as `means.mean_of_rows`.

    `results`: what ``promptfoo eval -o FILE.json`` writes.
    """
    rows_by_provider: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in results["results"]["results"]:
        if (row.get("response") or {}).get("output") is not None:
            rows_by_provider[row["provider"]["id"]].append(row)
    means_by_provider = {}
    for provider, rows in rows_by_provider.items():
        answers = [str(row["response"]["output"]) for row in rows]
        scores = score_answers([row["vars"] for row in rows], answers, provider)
        means_by_provider[provider] = mean_of_rows(scores.to_dicts())
    return means_by_provider


if __name__ == "__main__":
    results = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for provider, mean in means(results).items():
        print(f"{provider}: {number(mean['mean'])} [{interval(mean['ci_low'], mean['ci_high'])}]")
