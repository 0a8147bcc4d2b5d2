"""What promptfoo calls: trials as tests, and the score of an answer as an assertion.

Reference
    promptfoo, documentation of Python assertions and of test generators in Python.

``python FILE results.json``, with what ``promptfoo eval -o results.json`` wrote, prints the mean of
each provider, study and instrument with its interval for other prompts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinometer.audits.means import mean_of_rows
from clinometer.errors import ClinometerError
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


def means(results: Mapping[str, Any]) -> dict[tuple[str, str, str], dict[str, float]]:
    """Return means, as `means.mean_of_rows`, by provider, study and instrument.

    `results`: what ``promptfoo eval -o FILE.json`` writes; tests that are no trials are left out.
    """
    rows_by_run: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in results["results"]["results"]:
        has_output = (row.get("response") or {}).get("output") is not None
        if has_output and (trial := row["vars"].get("trial")):
            study_and_instrument = row["vars"]["study"], json.loads(trial)["instrument"]
            rows_by_run[row["provider"]["id"], *study_and_instrument].append(row)
    means_by_run = {}
    for run, rows in rows_by_run.items():
        answers = [str(row["response"]["output"]) for row in rows]
        scores = score_answers([row["vars"] for row in rows], answers, run[0])
        means_by_run[run] = mean_of_rows(scores.to_dicts())
    return means_by_run


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print the means of what promptfoo wrote.")
    parser.add_argument("results", type=Path, help="written by promptfoo eval -o FILE.json")
    path = parser.parse_args().results
    try:
        means_by_run = means(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ClinometerError) as error:
        sys.exit(f"{path}: not what promptfoo eval -o FILE.json writes: {error}")
    for run, mean in means_by_run.items():
        ends = interval(mean["ci_low"], mean["ci_high"])
        print(f"{', '.join(run)}: {number(mean['mean'])} [{ends}]")
