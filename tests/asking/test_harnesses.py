"""Instruments in lm-evaluation-harness and in promptfoo, by their own programs where they are."""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import clinometer as cm
from clinometer.audits.means import mean_of_rows
from clinometer.harnesses.promptfoo import functions
from clinometer.harnesses.trials import score_answers
from clinometer.results import RESPONSES
from clinometer.stimuli import load_study


def evaluate(task: str, **metadata: str | int):
    """Return what lm-evaluation-harness says of a task, and the answers by trial."""
    lm_eval = pytest.importorskip("lm_eval")
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
        [sys.executable, "-m", "clinometer.harnesses", "lm_eval"],
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


def test_promptfoo_s_assertion_scores_an_answer_and_judges_none() -> None:
    trials = functions.trials({"instrument": "twins", "study": "refunds", "iterations": 2})
    context = trials[0]
    side = json.loads(context["vars"]["trial"])["version"]
    approved = functions.score("Approve.", context)
    assert approved["pass"]
    assert approved["namedScores"] == {"twins": 1.0 if side == "default" else -1.0}
    unread = functions.score("Hm.", context)
    assert not unread["pass"]
    assert unread["namedScores"] == {}
    assert unread["reason"] == "unparsed"


def written(trials: list[dict], answer: str | None) -> list[dict]:
    """Return what promptfoo writes of the answers of a provider to trials."""
    response = {} if answer is None else {"output": answer}
    return [{"provider": {"id": "p"}, "vars": t["vars"], "response": response} for t in trials]


def test_means_of_what_promptfoo_wrote_are_told_apart_and_other_tests_left_out() -> None:
    asked = {"study": "refunds", "iterations": 2}
    twins = functions.trials({"instrument": "twins", **asked})
    pairs = functions.trials({"instrument": "word_association", "study": "bai2025",
                              "stereotypes": "age", "iterations": 2})  # fmt: skip
    other = [{"vars": {"topic": "weather"}}]
    rows = written(twins, "Approve.") + written(pairs, "?") + written(other, "Rain.")
    found = functions.means({"results": {"results": rows + written(twins, None)}})
    assert [run for run, _ in found.items()] == [
        ("p", "refunds", "twins"),
        ("p", "bai2025", "word_association"),
    ]
    scores = score_answers([t["vars"] for t in twins], ["Approve."] * len(twins), "p")
    assert found["p", "refunds", "twins"] == mean_of_rows(scores.to_dicts())
    assert math.isnan(found["p", "bai2025", "word_association"]["mean"])


@pytest.mark.parametrize("content", [None, "no JSON", "[]", '{"results": {}}'])
def test_what_promptfoo_did_not_write_is_refused_in_a_line(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "results.json"
    if content is not None:
        path.write_text(content)
    done = subprocess.run(
        [sys.executable, functions.__file__, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{path}: not what promptfoo")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_promptfoo_asks_and_its_answers_give_the_mean(tmp_path: Path) -> None:
    program = shutil.which("promptfoo")
    if program is None:
        pytest.skip("needs promptfoo (npm install --global promptfoo)")
    file = Path(functions.__file__)
    provider = tmp_path / "provider.py"
    provider.write_text(
        "def call_api(prompt, options, context):\n"
        "    return {'output': 'Approve.' if len(prompt) % 3 else 'Deny.'}\n"
    )
    config = {
        "prompts": ["{{prompt}}"],
        "providers": [f"file://{provider}"],
        "tests": [
            {
                "path": f"file://{file}:trials",
                "config": {"instrument": "twins", "study": "refunds", "iterations": 2},
            }
        ],
        "defaultTest": {"assert": [{"type": "python", "value": f"file://{file}:score"}]},
    }
    path, out = tmp_path / "promptfooconfig.json", tmp_path / "results.json"
    path.write_text(json.dumps(config))
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    variables = {**os.environ, **quiet, "PROMPTFOO_PYTHON": sys.executable}
    variables["PROMPTFOO_CONFIG_DIR"] = str(tmp_path / "home")
    command = [program, "eval", "-c", str(path), "-o", str(out), "--no-cache", "-j", "2"]
    done = subprocess.run(
        command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert out.exists(), done.stdout + done.stderr
    results = json.loads(out.read_text())
    ((run, found),) = functions.means(results).items()
    assert run[1:] == ("refunds", "twins")
    trials = functions.trials(config["tests"][0]["config"])
    answers = ["Approve." if len(t["vars"]["prompt"]) % 3 else "Deny." for t in trials]
    scores = score_answers([t["vars"] for t in trials], answers, "any")
    assert found["mean"] == pytest.approx(mean_of_rows(scores.to_dicts())["mean"], abs=1e-12)
    told = [row["namedScores"]["twins"] for row in results["results"]["results"]]
    assert sorted(told) == sorted(scores["score"].to_list())
