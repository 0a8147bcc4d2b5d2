"""The solver in its three response modes, against a loopback server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inspect_ai import eval as inspect_eval

from clinometer.asking.trials import ask, describe_error, samples, trials_task
from clinometer.contracts.design import Design
from clinometer.instruments import word_association
from clinometer.stimuli import load_study

Serve = Callable[..., Any]


def answers(mode: str, tmp_path: Path) -> list[dict[str, Any]]:
    trials = word_association.INSTRUMENT.trials(
        load_study("bai2025"), Design(mode, 2), stereotypes=["age"], variations=["replication"]
    )
    return run_trials(trials, tmp_path)


def run_trials(trials: pl.DataFrame, tmp_path: Path) -> list[dict[str, Any]]:
    recorded: list[dict[str, Any]] = []
    inspect_eval(
        trials_task(trials, ask(recorded.append)),
        model="openai-api/loop/m",
        model_args={"memoize": False},
        log_dir=str(tmp_path),
        display="none",
        score=False,
    )
    return recorded


@pytest.fixture(autouse=True)
def _fresh_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai.model import _model

    monkeypatch.setattr(_model, "_models", {})


def test_one_sample_per_trial_with_the_trial_in_its_metadata() -> None:
    trials = word_association.INSTRUMENT.trials(
        load_study("bai2025"), Design(iterations=2), stereotypes=["age"]
    )
    task_samples = samples(trials)
    assert [s.id for s in task_samples] == trials["trial_id"].to_list()
    assert task_samples[0].metadata == trials.row(0, named=True)


def test_free_mode_asks_the_published_wording(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    first, _ = answers("free", tmp_path)
    assert all("separate pairs by a new line" in prompt for prompt in server.prompts)
    assert first["response"].count("\n") == 15
    assert (first["input_tokens"], first["output_tokens"], first["calls"]) == (100, 60, 1)


def test_half_a_character_does_not_spoil_the_tables(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.reply = lambda body: server.chat(body, "agony - old \ud83d")
    assert answers("free", tmp_path)[0]["response"] == "agony - old ?"


def test_structured_mode_allows_the_two_group_words_and_nothing_else(
    serve: Serve, tmp_path: Path
) -> None:
    bodies: list[dict[str, Any]] = []
    server = serve()
    server.reply = lambda body: (bodies.append(body), server.chat(body))[1]
    answers("structured", tmp_path)
    schema = bodies[0]["response_format"]["json_schema"]["schema"]
    assert len(schema["properties"]) == 16 == len(schema["required"])
    assert all(sorted(p["enum"]) == ["old", "young"] for p in schema["properties"].values())
    assert schema["additionalProperties"] is False
    assert all("new line" not in prompt for prompt in server.prompts)


def test_forced_mode_reads_the_options_log_probabilities(serve: Serve, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        old = -0.1 if "agony" in body["messages"][-1]["content"] else -2.0
        tops = [{"token": "old", "logprob": old, "bytes": None}]
        tops += [{"token": "young", "logprob": -1.0, "bytes": None}]
        first = {"token": "old", "logprob": old, "bytes": None, "top_logprobs": tops}
        return server.chat(body, "old", logprobs={"content": [first]})

    server = serve()
    server.reply = reply
    first, second = answers("forced", tmp_path)
    recorded = json.loads(first["response"])
    assert recorded["agony"] == pytest.approx([-0.1, -1.0])
    assert recorded["joy"] == pytest.approx([-2.0, -1.0])
    assert (first["calls"], len(recorded), server.prompts.total()) == (16, 16, 32)


def test_an_error_is_told_in_one_line() -> None:
    class Retry(Exception):
        class last_attempt:  # noqa: N801
            @staticmethod
            def exception() -> Exception:
                return TimeoutError("no answer\nin 5 s")

    assert describe_error(Retry("x")) == "TimeoutError: no answer in 5 s"
    assert describe_error(KeyboardInterrupt()) == "KeyboardInterrupt"
    concurrent = ExceptionGroup("two calls", [ValueError("no weights"), ValueError("nor here")])
    assert describe_error(concurrent) == "ValueError: no weights"


def attributed(mode: str, tmp_path: Path, server: Any, **choice: Any) -> dict[str, Any]:
    """Ask two affective attributions; return the bodies of the requests, and the answers."""
    from clinometer.instruments.affective_attribution import INSTRUMENT

    bodies: list[dict[str, Any]] = []

    def reply(body: dict[str, Any]) -> Any:
        bodies.append(body)
        described = len(body["messages"]) == 1
        return server.chat(body, "A flat thing." if described else "Comedy", **choice)

    server.reply = reply
    trials = INSTRUMENT.trials(
        load_study("mist2025"), Design(mode, 2), stereotypes=["age"], variations=["template1"]
    )
    return {"answers": run_trials(trials, tmp_path), "bodies": bodies}


def test_the_second_question_goes_on_with_the_conversation(serve: Serve, tmp_path: Path) -> None:
    attribution = attributed("free", tmp_path, serve())
    second = [b["messages"] for b in attribution["bodies"] if len(b["messages"]) > 1]
    assert [[m["role"] for m in turn] for turn in second] == [["user", "assistant", "user"]] * 2
    assert second[0][0]["content"].startswith("After thinking of")
    assert second[0][1]["content"] == "A flat thing."
    assert '"comedy"' in second[0][2]["content"]
    answer = attribution["answers"][0]
    assert (answer["profile"], answer["response"]) == ("A flat thing.", "Comedy")
    assert (answer["calls"], answer["output_tokens"]) == (2, 120)


def test_only_the_second_answer_is_held_to_the_schema(serve: Serve, tmp_path: Path) -> None:
    attribution = attributed("structured", tmp_path, serve())
    formats = {len(b["messages"]): b.get("response_format") for b in attribution["bodies"]}
    assert formats[1] is None
    values = formats[3]["json_schema"]["schema"]["properties"]["choice"]["enum"]
    assert sorted(values) == ["comedy", "tragedy"]


def test_forced_options_follow_the_description(serve: Serve, tmp_path: Path) -> None:
    tops = [{"token": t, "logprob": p, "bytes": None} for t, p in (("com", -0.5), ("tragedy", -1))]
    first = {"token": "com", "logprob": -0.5, "bytes": None, "top_logprobs": tops}
    attribution = attributed("forced", tmp_path, serve(), logprobs={"content": [first]})
    (recorded,) = json.loads(attribution["answers"][0]["response"]).values()
    assert recorded == pytest.approx([-0.5, -1.0])
    assert attribution["answers"][0]["profile"] == "A flat thing."
    assert [b.get("logprobs") for b in attribution["bodies"] if len(b["messages"]) == 1] == [
        None,
        None,
    ]
    assert all(b["max_tokens"] == 1 for b in attribution["bodies"] if len(b["messages"]) == 3)
