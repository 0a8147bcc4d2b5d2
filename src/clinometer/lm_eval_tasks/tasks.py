"""What the tasks of lm-evaluation-harness call: trials, the score of an answer, and the mean.

Reference
    EleutherAI/lm-evaluation-harness, ``docs/task_guide.md``: ``custom_dataset``,
    ``process_results``, aggregations.

The trials are those of `clinometer run`, answers are read by the same readers, and the mean is that
of `clinometer estimate`, in which each stereotype counts once. Metrics of a task: `mean`, the ends
of its interval for other prompts, and `scored`, the share of answers that could be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.audits.registry import mean_of_rows, take_turns
from clinometer.contracts.catalogue import INSTRUMENTS, select
from clinometer.contracts.design import Design
from clinometer.results import RESPONSES
from clinometer.scoring import score as score_responses
from clinometer.stimuli import load_study


def trials(
    instrument: str,
    study: str | None = None,
    stereotypes: str | None = None,
    variations: str | None = None,
    iterations: int | None = None,
    seed: int = 0,
    **_: Any,
) -> Mapping[str, Any]:
    """Return the trials of an instrument as the split ``test``, stereotypes in turns.

    Options are those of `clinometer run`; the harness gives more that are not for a task.

    Raises InputError if a study, stereotype or wording is not known.
    """
    import datasets  # the harness has it

    asked = INSTRUMENTS[instrument]
    name = study or asked.study
    loaded = load_study(name)
    keys, wordings = select(loaded, instrument, stereotypes, variations)
    design = Design(iterations=iterations or asked.iterations, seed=seed)
    drawn = asked.trials(loaded, design, stereotypes=keys, variations=wordings)
    rows = [
        {"study": name, "prompt": trial["prompt"], "trial": json.dumps(trial)}
        for trial in take_turns(drawn).iter_rows(named=True)
    ]
    return {"test": datasets.Dataset.from_list(rows)}


def score(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Score an answer; metrics but `scored` are the row, which aggregations make a mean of."""
    trial = json.loads(doc["trial"])
    known = {name: trial.get(name) for name in RESPONSES}
    answer = {"model": "lm_eval", "response": results[0]}
    scores, _ = score_responses(
        pl.DataFrame([known | answer], schema=RESPONSES), load_study(doc["study"])
    )
    row = scores.filter(instrument=scores["instrument"][-1]).row(0, named=True)
    return {
        **dict.fromkeys(("mean", "ci_low", "ci_high"), row),
        "scored": float(row["score"] is not None),
    }


def mean(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the mean over stereotypes."""
    return mean_of_rows(rows)["mean"]


def ci_low(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the lower end of its interval for other prompts."""
    return mean_of_rows(rows)["ci_low"]


def ci_high(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the upper end of its interval for other prompts."""
    return mean_of_rows(rows)["ci_high"]
