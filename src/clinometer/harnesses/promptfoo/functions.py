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

from clinometer.audits.registry import mean_of_rows
from clinometer.harnesses.trials import score_answers, trials_of


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
        "reason": row["reason"] or f"score {value:g}",
        "namedScores": {} if value is None else {row["instrument"]: value},
    }


def means(results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the mean of each provider, as `registry.mean_of_rows`.

    `results`: what ``promptfoo eval -o FILE.json`` writes.
    """
    asked: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in results["results"]["results"]:
        if (row.get("response") or {}).get("output") is not None:
            asked[row["provider"]["id"]].append(row)
    found = {}
    for provider, rows in asked.items():
        answers = [str(row["response"]["output"]) for row in rows]
        scores = score_answers([row["vars"] for row in rows], answers, provider)
        found[provider] = mean_of_rows(scores.to_dicts())
    return found


if __name__ == "__main__":
    found = means(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    for provider, mean in found.items():
        print(f"{provider}: {mean['mean']:.2f} [{mean['ci_low']:.2f} to {mean['ci_high']:.2f}]")
