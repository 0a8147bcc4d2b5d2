"""``clinometer network associate``, against a loopback server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]
Serve = Callable[..., Any]
MODEL = "openai-api/loop/m"
COMMAND = ("network", "associate")


@pytest.fixture
def server(serve: Serve) -> Any:
    """Gives three words to every call, one choice each."""
    started = serve()
    started.reply = lambda body: started.chat(body, "1. sand\n2. wave\n3. null")
    return started


def test_answers_are_kept_and_the_next_command_named(server: Any, run: Run, tmp_path: Path) -> None:
    code, out, err = run(
        *COMMAND, MODEL, "--cues", "sea,null,sea", "--repetitions", "3", "--out", "a"
    )
    assert (code, err) == (0, "")
    assert "2 cues (1 repeated) × 3 repetitions: 6 answers" in out
    assert "6 of 6 answers in 6 calls of up to 1; 100.0% readable, 3.00 associates" in out
    assert out.endswith("next: clinometer network build a --out network.csv\n")
    shard = tmp_path / "a" / "answers" / "openai-api-loop-m" / "00000.jsonl"
    answers = [json.loads(line) for line in shard.read_text().splitlines()]
    assert {answer["cue"] for answer in answers} == {"sea", "null"}
    assert all(answer["responses"] == ["sand", "wave", "null"] for answer in answers)


def test_several_models_have_a_folder_and_a_next_command_each(server: Any, run: Run) -> None:
    models = (MODEL, "openai-api/loop/n", MODEL)
    code, out, _ = run(*COMMAND, *models, "--cues", "sea", "--repetitions", "2", "--out", "a")
    assert code == 0 and "2 repetitions × 2 models: 4 answers" in out
    for name in ("m", "n"):
        folder = f"openai-api-loop-{name}"
        assert f"network build a/answers/{folder} --out {folder}.csv" in out


def test_the_words_of_a_network_can_be_cues(server: Any, run: Run, tmp_path: Path) -> None:
    (tmp_path / "network.csv").write_text("src,tgt,wt\nsea,sand,2\nsea,nan,1\n")
    code, out, _ = run(*COMMAND, MODEL, "--cues", "network.csv", "--repetitions", "1", "--out", "a")
    assert code == 0 and "3 of 3 answers" in out
    assert set(server.prompts) == {"sea", "sand", "nan"}


def test_a_continuation_is_asked_as_one_text(server: Any, run: Run) -> None:
    bodies: list[dict[str, Any]] = []
    server.reply = lambda body: (bodies.append(body), server.chat(body, " sand, wave\nmoon: sun"))[
        1
    ]
    code, out, _ = run(
        *COMMAND, MODEL, "--cues", "sea", "--repetitions", "1", "--continuation", "--out", "a"
    )
    assert code == 0 and "2.00 associates" in out
    (message,) = bodies[0]["messages"]
    assert message["role"] == "user" and message["content"].endswith("\nsea:")
    assert (bodies[0]["stop"], bodies[0]["max_tokens"]) == (["\n"], 16)


def test_a_limit_stops_with_exit_code_3_and_the_same_command_goes_on(server: Any, run: Run) -> None:
    command = (*COMMAND, MODEL, "--cues", "sea", "--repetitions", "6", "--out", "a")
    code, out, err = run(*command, "--max-calls", "2")
    assert code == 3 and "2 of 6 answers" in out and "next:" not in out
    assert err == (
        "clinometer: stopped at --max-calls 2: repeat the command to continue, nothing is asked "
        "twice\n"
    )
    assert run(*command)[0] == 0
    assert server.prompts["sea"] == 6


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--cues", "missing.txt"), "missing.txt: no such file"),
        (("--cues", ","), "none; give a file or words"),
        (("--cues", "a", "--repetitions", "0"), "repetitions 0: at least 1"),
        (("--cues", "a", "--choices", "0"), "choices 0: at least 1"),
        (("--cues", "a", "--temperature", "3"), "temperature 3.0: allowed is 0 to 2"),
        (("--cues", "a", "--max-calls", "-1"), "max_calls -1: at least 0"),
        (("--cues", "a", "-M", "api_key=x"), "give keys in the environment"),
        ((), "Missing option '--cues'"),
    ],
)
def test_errors_are_one_line(options: tuple[str, ...], says: str, server: Any, run: Run) -> None:
    code, out, err = run(*COMMAND, MODEL, "--out", "a", *options)
    assert code == 2 and says in err and len(err.splitlines()) == 1
    assert not server.prompts


def test_a_model_that_cannot_be_opened_writes_nothing(run: Run, tmp_path: Path) -> None:
    code, _, err = run(*COMMAND, "openai/gpt-4o", "--cues", "a", "--out", "a")
    assert code == 2 and "OPENAI_API_KEY" in err and not (tmp_path / "a").exists()


def test_another_plan_in_the_directory_is_refused(server: Any, run: Run) -> None:
    command = (*COMMAND, MODEL, "--repetitions", "1", "--out", "a", "--cues")
    assert run(*command, "sea")[0] == 0
    code, _, err = run(*command, "sea,sand")
    assert code == 2 and "cues is 1 there, 2 here" in err
