"""Tasks of lm-evaluation-harness, run by the harness itself with a simulated model."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import clinometer as cm
from clinometer.results import RESPONSES
from clinometer.stimuli import load_study

lm_eval = pytest.importorskip("lm_eval")


def evaluate(task: str, **metadata: str | int):
    """Return what the harness says of a task, and the answers by trial."""
    from inspect_ai.model import get_model
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    simulated = get_model("simulated/leaning")

    class Simulated(LM):
        """The simulated model, as a model of the harness."""

        def generate_until(self, requests, disable_tqdm=False):
            prompts = [request.args[0] for request in requests]
            return [asyncio.run(simulated.generate(prompt)).completion for prompt in prompts]

        def loglikelihood(self, requests, disable_tqdm=False):
            raise NotImplementedError

        def loglikelihood_rolling(self, requests, disable_tqdm=False):
            raise NotImplementedError

    folder = subprocess.run(
        [sys.executable, "-m", "clinometer.lm_eval_tasks"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    manager = TaskManager(include_path=folder, include_defaults=False, metadata=metadata)
    done = lm_eval.simple_evaluate(Simulated(), tasks=[task], task_manager=manager)
    return done["results"][task], done["samples"][task]


@pytest.mark.parametrize(
    ("task", "study"),
    [
        ("word_association", "bai2025"),
        ("relative_decision", "bai2025"),
        ("twins", "refunds"),
    ],
)
def test_the_harness_gives_the_mean_that_the_answers_give(task: str, study: str) -> None:
    results, samples = evaluate(f"clinometer_{task}", study=study, iterations=2)
    rows = [
        {
            **{name: json.loads(sample["doc"]["trial"]).get(name) for name in RESPONSES},
            "model": "lm_eval",
            "response": sample["filtered_resps"][0],
        }
        for sample in samples
    ]
    scores, _ = cm.score(pl.DataFrame(rows, schema=RESPONSES), load_study(study))
    estimates = cm.estimate(scores.filter(instrument=task))
    (mean,) = estimates.filter(
        pl.col("factor").is_null() & pl.col("control").is_null(),
        level="model",
        range="other_prompts",
        measure=task,
    ).to_dicts()
    assert results["mean,none"] == pytest.approx(mean["estimate"], abs=1e-12)
    assert results["ci_low,none"] == pytest.approx(mean["ci_low"], abs=1e-12)
    assert results["ci_high,none"] == pytest.approx(mean["ci_high"], abs=1e-12)
    assert results["scored,none"] == scores.filter(instrument=task)["score"].is_not_null().mean()


def test_a_study_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(cm.ClinometerError, match=r"none\.yaml"):
        evaluate("clinometer_twins", study=str(tmp_path / "none.yaml"))
