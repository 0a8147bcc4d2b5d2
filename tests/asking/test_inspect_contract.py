"""What Clinometer uses of inspect, which moves fast: these tell what a new version changed."""

from __future__ import annotations

import inspect as python_inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score

from clinometer.asking import generating
from clinometer.asking.trials import read_logs
from clinometer.audits.registry import TASKS
from clinometer.errors import InputError
from clinometer.scoring import score
from clinometer.stimuli import load_study

Serve = Callable[..., Any]


@pytest.mark.parametrize(
    "name",
    ["temperature", "top_p", "max_tokens", "seed", "logprobs", "top_logprobs", "response_schema",
     "max_retries", "attempt_timeout", "max_connections", "batch"],
)  # fmt: skip
def test_the_settings_we_send(name: str) -> None:
    assert name in GenerateConfig.model_fields


@pytest.mark.parametrize(
    "name", ["display", "log_dir", "log_realtime", "score", "fail_on_error", "max_tasks"]
)
def test_the_arguments_of_eval_we_use(name: str) -> None:
    assert name in python_inspect.signature(inspect_eval).parameters


def test_events_of_earlier_calls_can_be_dropped() -> None:
    from inspect_ai.log import transcript

    before = transcript()
    generating.forget_events()
    assert transcript() is not before and not transcript().events


def test_a_missing_score_has_a_reason() -> None:
    assert Score.unscored(reason="refused").reason == "refused"


def test_the_entry_point_brings_the_embedded_provider() -> None:
    with pytest.raises(Exception, match="unknown embedded model 'gpt'"):
        get_model("clinometer/gpt")


def test_the_task_runs_by_its_name_and_its_log_feeds_score(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    refusal = "I'm sorry, I can't help with that."
    server.reply = lambda body: server.chat(
        body, refusal if "old or young" in body["messages"][-1]["content"] else None
    )
    monkeypatch.chdir(tmp_path)
    (log,) = inspect_eval(
        "clinometer/word_association",
        model=get_model("openai-api/loop/m", memoize=False),
        task_args={"stereotypes": "age,power", "variations": "replication", "iterations": 2},
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success" and log.results is not None
    metrics = {metric.name: metric.value for metric in log.results.scores[0].metrics.values()}
    assert metrics["neutral"] == 0
    assert metrics["prompts_ci_low"] < metrics["mean"] < metrics["prompts_ci_high"]
    assert log.results.scores[0].unscored_samples == 1  # the order that named old first
    responses = pl.concat(read_logs(tmp_path / "logs"))
    assert responses.height == 4
    assert responses["model"].unique().to_list() == ["openai-api/loop/m"]
    assert responses["prompt"].is_in(list(server.prompts)).all()
    full = read_eval_log(list_eval_logs(str(tmp_path / "logs"))[0].name)
    by_id = dict(responses.select("trial_id", "response").rows())
    assert all(by_id[s.id] == s.output.completion for s in full.samples or [])


def run_task(log_dir: Path, fails: set[int], **more: Any) -> Any:
    """Ask four trials, one after another; the calls that are numbered fail."""
    calls = iter(range(100))

    def say(*_: Any) -> ModelOutput:
        if (number := next(calls)) in fails:
            raise RuntimeError("down")
        output = ModelOutput.from_content("mockllm/model", f"answer {number}")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # is counted
        return output

    model = get_model("mockllm/model", custom_outputs=say, memoize=False)
    task = TASKS["word_association"](stereotypes="power", variations="replication", iterations=4)
    options = {"display": "none", "fail_on_error": False, "max_samples": 1, **more}
    return inspect_eval(task, model=model, log_dir=str(log_dir), **options)[0]


#: inspect's `eval_retry` patches asyncio for the whole process: it has one of its own.
RETRY = """
import sys
from pathlib import Path
from inspect_ai import eval_retry
sys.path[:0] = sys.argv[2:]
from test_inspect_contract import run_task
eval_retry(run_task(Path(sys.argv[1]), {1, 2}), log_dir=sys.argv[1], display="none")
"""


@pytest.mark.slow
def test_of_a_retried_task_each_trial_counts_once(tmp_path: Path) -> None:
    folder = Path(__file__).parent
    command = [sys.executable, "-c", RETRY, str(tmp_path), str(folder), str(folder.parent)]
    subprocess.run(command, check=True, capture_output=True)
    assert len(list(tmp_path.glob("*.eval"))) == 2
    responses = pl.concat(read_logs(tmp_path))
    assert responses.height == responses["trial_id"].n_unique() == 4
    assert responses["error"].null_count() >= 2


def test_repetitions_are_draws_of_their_own(tmp_path: Path) -> None:
    run_task(tmp_path, set(), epochs=3)
    responses = pl.concat(read_logs(tmp_path))
    assert responses.height == responses["trial_id"].n_unique() == 12
    assert responses["iteration"].n_unique() == 12 and responses["pair_id"].n_unique() == 6


def test_an_encrypted_log_is_one_line(tmp_path: Path) -> None:
    run_task(tmp_path, set())
    (log,) = tmp_path.glob("*.eval")
    data = bytearray(log.read_bytes())
    offset = data.find(b"PK\x03\x04")
    while offset >= 0:  # the flag of encryption, here and in the list at the end
        data[offset + 6] |= 1
        offset = data.find(b"PK\x03\x04", offset + 4)
    offset = data.find(b"PK\x01\x02")
    while offset >= 0:
        data[offset + 8] |= 1
        offset = data.find(b"PK\x01\x02", offset + 4)
    log.write_bytes(data)
    with pytest.raises(InputError, match=r"\.eval: header\.json: encrypted"):
        list(read_logs(log))


def test_the_options_of_a_task() -> None:
    parameters = {
        name: [*python_inspect.signature(task).parameters] for name, task in TASKS.items()
    }
    assert parameters["word_association"] == [
        "study", "stereotypes", "variations", "mode", "iterations", "order", "word_list", "options",
        "intervention", "seed",
    ]  # fmt: skip
    assert parameters["absolute_decision"] == [
        "study", "stereotypes", "variations", "mode", "iterations", "intervention", "seed"
    ]  # fmt: skip


def test_an_attribution_runs_by_its_name_and_its_log_feeds_score(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    server.reply = lambda body: server.chat(
        body, "A flat thing." if len(body["messages"]) == 1 else "It: Comedy."
    )
    (log,) = inspect_eval(
        "clinometer/affective_attribution",
        model=get_model("openai-api/loop/m", memoize=False),
        task_args={"stereotypes": "age", "variations": "template1", "iterations": 4},
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success" and log.results is not None
    mean, *_ = log.results.scores[0].metrics.values()
    assert (mean.name, mean.value) == ("mean", 0)  # comedy for either group
    responses = pl.concat(read_logs(tmp_path / "logs"))
    assert responses["profile"].to_list() == ["A flat thing."] * 4
    scores, _ = score(responses, load_study("mist2025"))
    assert scores.group_by("version").agg(pl.col("score").unique()).sort("version").rows() == [
        ("default", [1.0]), ("marginalized", [-1.0])
    ]  # fmt: skip


def test_a_log_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.eval").write_bytes(b"not a zip")
    with pytest.raises(InputError, match=r"x\.eval: not a zip archive, or damaged"):
        list(read_logs(tmp_path / "x.eval"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no .eval log"):
        list(read_logs(tmp_path / "empty"))
