"""What the tasks of lm-evaluation-harness call: trials, the score of an answer, and the mean.

Reference
    EleutherAI/lm-evaluation-harness, ``docs/task_guide.md``: ``custom_dataset``,
    ``process_results``, aggregations.

Metrics of a task: `mean`, the ends of its interval for other prompts, and `scored`, the share of
answers that could be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinometer.audits.means import mean_of_rows
from clinometer.harnesses.trials import score_answers, trials_of

#: The options of a task; the harness gives more, as the version.
_OPTIONS = ("study", "stereotypes", "variations", "iterations", "seed")


def trials(instrument: str, **metadata: Any) -> Mapping[str, Any]:
    """Return the trials of an instrument as the split ``test``; options as of `trials_of`."""
    import datasets  # the harness has it

    options = {name: metadata[name] for name in _OPTIONS if name in metadata}
    return {"test": datasets.Dataset.from_list([*trials_of(instrument, **options)])}


def score(doc: Mapping[str, str], results: Sequence[str]) -> dict[str, Any]:
    """Score an answer; metrics but `scored` are its row, of which aggregations make a mean."""
    row = score_answers([doc], results[:1], "lm_eval").row(0, named=True)
    is_scored = float(row["score"] is not None)
    return {**dict.fromkeys(("mean", "ci_low", "ci_high"), row), "scored": is_scored}


def mean(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the mean over stereotypes."""
    return mean_of_rows(rows)["mean"]


def ci_low(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the lower end of its interval for other prompts."""
    return mean_of_rows(rows)["ci_low"]


def ci_high(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the upper end of its interval for other prompts."""
    return mean_of_rows(rows)["ci_high"]
