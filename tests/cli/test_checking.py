"""``clinometer check``, at servers on the loopback interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forking import Forked

Serve = Callable[..., Any]
Run = Callable[..., Forked]


def run_check(clinometer: Run, *words: str) -> tuple[int, str]:
    process = clinometer("check", *words)
    out, _ = process.communicate()
    return process.returncode, out


def test_a_simulated_model_does_everything(clinometer: Run) -> None:
    code, out = run_check(clinometer, "simulated/leaning")
    assert code == 0 and out.count("works") == 4
    assert "no charge" in out
    assert out.endswith("next: clinometer audit simulated/leaning --mode free\n")


def test_what_a_server_can_do_is_said_with_the_command(serve: Serve, clinometer: Run) -> None:
    server = serve()
    code, out = run_check(clinometer, "openai-api/loop/m")
    assert code == 0, out
    assert server.prompts.total() == 3
    assert "free        works" in out and "8 of 8 words read" in out
    assert "structured  no: " in out and "forced      no: " in out
    assert "likelihood  no: openai-api/loop/m gives no log-probabilities of given texts" in out
    assert "tokens: stated" in out and "price not known" in out
    assert out.endswith("next: clinometer audit openai-api/loop/m --mode free\n")


def test_a_server_that_states_no_tokens_and_another_name(serve: Serve, clinometer: Run) -> None:
    def reply(body: dict[str, Any]) -> Any:
        status, payload = server.chat(body)
        return status, {**payload, "usage": None, "model": "other-7b"}

    server = serve(reply)
    _, out = run_check(clinometer, "openai-api/loop/m")
    assert "openai-api/loop/m, answers as other-7b" in out
    assert "tokens: not stated: limits of tokens and dollars are kept by estimate" in out


@pytest.mark.parametrize("command", [("check",), ("run", "--iterations", "2", "--out", "r")])
def test_an_address_without_openais_newest_interface_names_the_form_that_works(
    serve: Serve, clinometer: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    server = serve(lambda _: (404, {"error": {"message": "not found"}}))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    process = clinometer(command[0], "openai/llama3", *command[1:])
    out, err = process.communicate()
    # Of a run it is an error in the input; `check` says what works, and nothing does.
    assert process.returncode == (3 if command == ("check",) else 2)
    assert f"openai-api/local/llama3, with LOCAL_BASE_URL={server.url}" in " ".join(
        (out + err).split()
    )


def test_a_refused_key_ends_a_run_at_once(serve: Serve, clinometer: Run) -> None:
    server = serve(lambda _: (401, {"error": {"message": "bad key"}}))
    process = clinometer("run", "openai-api/loop/m", "--iterations", "2", "--out", "r")
    _, err = process.communicate()
    assert process.returncode == 2 and "the key was refused" in err
    assert server.prompts.total() <= 25  # those that were under way


def test_a_model_that_reasons_first_does_not_work_in_forced(serve: Serve, clinometer: Run) -> None:
    def reply(body: dict[str, Any]) -> Any:
        top = [{"token": "<think>", "logprob": -1e-4}, {"token": "weak", "logprob": -11.0}]
        return server.chat(body, logprobs={"content": [{**top[0], "top_logprobs": top}]})

    server = serve(reply)
    _, out = run_check(clinometer, "openai-api/loop/m")
    assert "forced      no: the options have a probability of 0, the first token '<think>'" in out
    assert "--mode forced" not in out.splitlines()[-1]
