"""``clinometer plan``, ``submit`` and ``collect``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from batch_service import BatchService
from clinometer.asking import batches
from loopback import pair_words
from message_batches import MessageBatches
from sharded_plans import reply

Run = Callable[..., tuple[int, str, str]]
FEW_TRIALS = (
    "--size",
    "run",
    "--stereotypes",
    "age",
    "--variations",
    "replication",
    "--iterations",
    "12",
)
MODEL = "vllm/m"


def answer(files: list[Path]) -> None:
    """Answer shards as an engine does, beside them."""
    for path in files:
        lines = []
        for line in path.read_text().splitlines():
            request = json.loads(line)
            text = pair_words(request["body"]["messages"][-1]["content"])
            choice = {"index": 0, "message": {"role": "assistant", "content": text},
                      "finish_reason": "stop"}  # fmt: skip
            body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m",
                    "choices": [choice]}  # fmt: skip
            response = {"status_code": 200, "body": body}
            lines.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
        path.with_suffix(".answers.jsonl").write_text("\n".join(lines))


def shards(directory: Path) -> list[Path]:
    paths = directory.glob("shards/*/*/*.jsonl")
    return sorted(path for path in paths if not path.name.endswith(".answers.jsonl"))


def test_from_shards_to_tables(run: Run, tmp_path: Path) -> None:
    code, stdout, _ = run("plan", MODEL, *FEW_TRIALS, "--shards", "2", "--out", "r")
    assert code == 0 and "clinometer collect r" in stdout
    assert run("collect", "r")[0] == 3
    first, second = shards(tmp_path / "r")
    answer([first])
    code, stdout, _ = run("collect", "r")
    assert code == 3 and "in shards without answers" in stdout
    assert second.name in stdout and first.name not in stdout
    answer([second])
    code, stdout, _ = run("collect", "r")
    assert code == 0 and f"{MODEL}: 12 of 12 answered" in stdout
    assert (tmp_path / "r" / "estimates.parquet").is_file()
    assert run("report", "r")[0] == 0


def test_a_directory_is_not_planned_twice(run: Run) -> None:
    run("plan", MODEL, *FEW_TRIALS, "--out", "r")
    code, _, stderr = run("plan", MODEL, *FEW_TRIALS, "--out", "r")
    assert code == 2 and "has shards already" in stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("plan", MODEL, *FEW_TRIALS, "--shards", "0"), "shards 0: at least 1"),
        (("plan", "gpt-4o", *FEW_TRIALS), "expected PROVIDER/NAME"),
        (("network", "associate", MODEL, "--cues", "sea", "--shards", "0"), "0 is not in"),
    ],
)
def test_what_cannot_be_planned(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    code, _, stderr = run(*arguments, "--out", "r")
    assert code == 2 and expected in stderr
    assert not (tmp_path / "r").exists()


def test_without_shards_there_is_nothing_to_collect(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, _, stderr = run("collect", "empty")
    assert code == 2 and "no shards" in stderr
    run("plan", MODEL, *FEW_TRIALS, "--out", "r")
    code, _, stderr = run("collect", "r", "nothing.jsonl")
    assert code == 2 and "nothing.jsonl: No such file" in stderr


def test_cues_are_written_as_shards(run: Run, tmp_path: Path) -> None:
    command = ("network", "associate", MODEL, "--cues", "sea,bread", "--repetitions", "3")
    assert run(*command, "--shards", "1", "--out", "r")[0] == 0
    (path,) = shards(tmp_path / "r")
    bodies = [json.loads(line)["body"] for line in path.read_text().splitlines()]
    assert [body["n"] for body in bodies] == [3, 3]
    answer([path])
    assert run("collect", "r")[0] == 3  # one of three answers to each call


def test_shards_are_answered_here(run: Run, serve: Callable[..., Any], tmp_path: Path) -> None:
    serve()
    code, stdout, _ = run("plan", "openai-api/loop/m", *FEW_TRIALS, "--shards", "2", "--out", "r")
    assert "or: clinometer answer r" in stdout
    assert run("answer", "r", "--shard", "1")[:2] == (
        0, "next: clinometer collect r, when all shards are answered\n",
    )  # fmt: skip
    assert len(list((tmp_path / "r").glob("shards/1/*/*.answers.jsonl"))) == 1
    code, stdout, _ = run("answer", "r")
    assert code == 0 and stdout.splitlines()[-1] == "next: clinometer report r"


def test_answers_that_fail_are_said(run: Run, serve: Callable[..., Any]) -> None:
    serve(lambda body: (400, {"error": {"message": "too long"}}))
    run("plan", "openai-api/loop/m", *FEW_TRIALS, "--out", "r")
    code, _, noted = run("answer", "r", "--max-retries", "0")
    assert code == 3 and "12 requests failed" in noted and "too long" in noted
    assert noted.splitlines()[-1].endswith("the same command asks what failed again")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--max-cost", "-1"), "max_cost -1.0: at least 0"),
        (("--shard", "7"), "has 0 to 0"),
    ],
)
def test_what_cannot_be_answered(run: Run, arguments: tuple[str, ...], expected: str) -> None:
    run("plan", MODEL, *FEW_TRIALS, "--out", "r")
    code, _, noted = run("answer", "r", *arguments)
    assert code == 2 and noted.count("\n") == 1 and expected in noted


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchService]:
    batch_service = BatchService(reply)
    monkeypatch.setenv("LOOP_BASE_URL", batch_service.url)
    monkeypatch.setenv("LOOP_API_KEY", "sk-loop-0123456789")
    yield batch_service
    batch_service.close()


def test_shards_are_submitted_and_collected(run: Run, service: BatchService) -> None:
    code, stdout, _ = run("plan", "openai-api/loop/m", *FEW_TRIALS, "--out", "r")
    assert stdout.splitlines()[-1] == "or: clinometer submit r"
    service.looks = 3
    code, stdout, noted = run("submit", "r", "--no-wait")
    assert code == 3 and "0 of 12 answered" in stdout
    assert "12 answers are missing; 1 batch goes on at the provider" in noted
    code, stdout, noted = run("submit", "r", "--poll", "0.01")
    assert code == 0 and stdout.splitlines()[-1] == "next: clinometer report r"
    assert "1 batch (1 in progress): 12 of 12 requests answered" in noted
    assert set(service.paid.values()) == {1}


def test_batches_go_on_when_waiting_is_stopped(
    run: Run, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    run("plan", "openai-api/loop/m", *FEW_TRIALS, "--out", "r")
    with monkeypatch.context() as patch:
        patch.setattr(batches.time, "sleep", stop)
        code, _, noted = run("submit", "r")
    assert code == 130
    assert noted.splitlines()[-1].endswith(
        "batches go on at the provider, the same command continues"
    )
    assert run("submit", "r")[0] == 0 and len(service.batches) == 1


def test_a_key_that_is_refused_is_one_line_without_it(run: Run, service: BatchService) -> None:
    run("plan", "openai-api/loop/m", *FEW_TRIALS, "--out", "r")
    service.key = "another"
    code, _, noted = run("submit", "r")
    assert code == 2 and noted.count("\n") == 1 and "status 401" in noted
    assert "sk-loop" not in noted


def test_other_providers_are_refused_in_one_line(run: Run) -> None:
    run("plan", MODEL, *FEW_TRIALS, "--out", "r")
    code, _, noted = run("submit", "r")
    assert code == 2 and noted.count("\n") == 1 and MODEL in noted


def test_the_price_in_batches_is_printed(run: Run) -> None:
    output = run("cost", "openai/gpt-4o-mini")[1]
    assert "about $0.22; in batches about $0.11, within 24 hours" in output
    assert "batches" not in run("cost", "openai-api/loop/m")[1]


@pytest.mark.parametrize("command", ["plan", "cost", "run", "audit", "power"])
def test_what_the_provider_cannot_do_is_said_before_anything_is_asked(
    command: str, run: Run, tmp_path: Path
) -> None:
    options = FEW_TRIALS if command in ("plan", "cost") else FEW_TRIALS[2:]
    out = () if command in ("cost", "power") else ("--out", "r")
    arguments = (
        command,
        "anthropic/m",
        "hf/m",
        *options,
        "--mode",
        "forced",
        "--mode",
        "structured",
    )
    code, stdout, error = run(*arguments, *out)
    assert code == 2 and not stdout and not (tmp_path / "r").exists()
    assert [line.split()[1] for line in error.splitlines()] == ["anthropic/m", "hf/m"]


def test_what_is_not_known_of_a_service_is_said(run: Run) -> None:
    code, _, stderr = run("plan", "openai-api/x/m", *FEW_TRIALS, "--mode", "forced", "--out", "r")
    assert code == 0 and stderr.count("\n") == 1
    assert "whether openai-api/x/m gives log-probabilities" in stderr and "not known" in stderr


def test_an_engine_that_ignores_schemas_is_named(run: Run, tmp_path: Path) -> None:
    run("plan", MODEL, *FEW_TRIALS, "--mode", "structured", "--out", "r")
    answer(shards(tmp_path / "r"))
    code, stdout, error = run("collect", "r")
    assert code == 3 and f"{MODEL}: 0 of 12 answered" in stdout
    assert f"{MODEL} does not close answers to a JSON schema" in error
    assert not (tmp_path / "r" / "scores.parquet").exists()


CLAUDE = "anthropic/claude-haiku-4-5"


def test_batches_of_a_provider_are_waited_for(
    run: Run, message_batches: MessageBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    code, stdout, noted = run("run", CLAUDE, *FEW_TRIALS[2:], "--batch", "--out", "one")
    assert code == 0 and "; in batches " in stdout and "Created batch" not in stdout
    assert "may pay again for up to 12 requests; clinometer plan and submit never" in noted
    assert "Created batch msgbatch_0 with" in noted and sum(message_batches.sizes) == 12
    assert (
        "or: clinometer answer two --batch" in run("plan", CLAUDE, *FEW_TRIALS, "--out", "two")[1]
    )
    code, stdout, noted = run("answer", "two", "--batch")
    assert code == 0 and "12 of 12 answered" in stdout and "for up to 12 requests" in noted
    assert not message_batches.alone


def test_batches_that_nobody_has_are_refused_in_one_line(run: Run) -> None:
    run("plan", MODEL, *FEW_TRIALS, "--out", "r")
    for command in (("answer", "r"), ("run", MODEL, *FEW_TRIALS[2:]), ("audit", MODEL)):
        code, _, noted = run(*command, "--batch")
        assert code == 2 and noted.endswith(
            "clinometer: vllm/m: no batches while a command waits; allowed: anthropic, google, "
            "grok, openai, together\n"
        )
