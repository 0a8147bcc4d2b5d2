"""The server answers other clients as the provider answers inspect."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from openai import OpenAI
from starlette.testclient import TestClient

import clinometer as cm
from clinometer.cli.simulating import simulate_command
from clinometer.contracts.design import Design
from clinometer.errors import InputError
from clinometer.simulated.answering import UNKNOWN
from clinometer.simulated.provider import SimulatedModel
from clinometer.stimuli import load_study
from clinometer.viewing.serving import listening
from clinometer.viewing.simulated_server import make_simulated_app, serve_simulated

PROMPT = 'For the word "agony", pick a word — old or young.'
LIST = cm.draw("bai2025", Design(iterations=1), stereotypes="age")["prompt"][0]


@pytest.fixture
def client() -> TestClient:
    return TestClient(make_simulated_app(SimulatedModel("leaning")))


def complete(client: TestClient, text: str, **body: Any) -> Any:
    sent = {"model": "any", "messages": [{"role": "user", "content": text}], **body}
    return client.post("/v1/chat/completions", json=sent)


def texts(reply: Any) -> list[str]:
    return [choice["message"]["content"] for choice in reply.json()["choices"]]


def test_the_model_is_named_as_simulated(client: TestClient) -> None:
    assert client.get("/v1/models").json()["data"][0]["id"] == "simulated/leaning"
    assert complete(client, PROMPT).json()["model"] == "simulated/leaning"


def test_a_seed_fixes_the_answer_and_repetitions_differ(client: TestClient) -> None:
    fixed = [texts(complete(client, LIST, seed=4))[0] for _ in range(2)]
    free = [texts(complete(client, LIST))[0] for _ in range(4)]
    assert fixed[0] == fixed[1] and len(set(free)) > 1
    again = TestClient(make_simulated_app(SimulatedModel("leaning")))
    assert [texts(complete(again, LIST))[0] for _ in range(4)] == free
    assert (
        texts(complete(TestClient(make_simulated_app(SimulatedModel("leaning"))), LIST, n=4))
        == free
    )


def test_a_schema_closes_the_answer(client: TestClient) -> None:
    schema = {"type": "object", "properties": {"agony": {"enum": ["old", "young"]}}}
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    assert texts(complete(client, LIST, response_format=form))[0] in (
        '{"agony": "old"}',
        '{"agony": "young"}',
    )


@pytest.mark.parametrize(
    "closed",
    [{"structured_outputs": {"choice": ["old", "young"]}}, {"guided_choice": ["old", "young"]}],
)
def test_options_have_log_probabilities(client: TestClient, closed: dict[str, Any]) -> None:
    body = {"logprobs": True, "top_logprobs": 2, "max_tokens": 1, **closed}
    choice = complete(client, PROMPT, **body).json()["choices"][0]
    (first,) = choice["logprobs"]["content"]
    assert {candidate["token"] for candidate in first["top_logprobs"]} == {"old", "young"}


def test_parts_of_a_message_are_one_text(client: TestClient) -> None:
    parts = [{"type": "text", "text": PROMPT[:9]}, {"type": "text", "text": PROMPT[9:]}]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
    reply = client.post("/v1/chat/completions", json={"messages": messages})
    assert texts(reply) != [UNKNOWN]


def test_an_answer_is_cut_off(client: TestClient) -> None:
    choice = complete(client, LIST, max_completion_tokens=2).json()["choices"][0]
    assert (choice["finish_reason"], len(choice["message"]["content"])) == ("length", 8)


def test_a_streamed_answer_is_the_same(client: TestClient) -> None:
    events = complete(client, LIST, seed=4, stream=True).text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    first, last = (json.loads(event.removeprefix("data: ")) for event in events[:-2])
    assert first["choices"][0]["delta"]["content"] == texts(complete(client, LIST, seed=4))[0]
    assert last["usage"]["completion_tokens"] > 0


def test_other_prompts_are_told_so(client: TestClient) -> None:
    assert texts(complete(client, "Hello")) == [UNKNOWN]


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '{"messages": []}', '{"messages": [1]}', '{"messages": {"a": 1}}',
             '{"messages": [{"role": "user", "content": "a"}], "n": 1000}',
             '{"messages": [{"role": "user", "content": "a"}], "max_tokens": "x"}',
             '{"messages": [{"role": "user", "content": "a"}], "top_logprobs": {}, "seed": "s"}']
)  # fmt: skip
def test_what_is_no_request_is_refused(client: TestClient, body: str) -> None:
    reply = client.post("/v1/chat/completions", content=body)
    assert reply.status_code == 400 and reply.json()["error"]["type"] == "invalid_request_error"


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Serve a model as the command does; gives the address."""
    command = [sys.executable, "-m", "clinometer", "simulate", *arguments, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    file = tmp_path / "own.yaml"
    file.write_text("lean: {default: 1}\n")
    with serving(str(file)) as address:
        yield address


def test_any_prompt_is_answered_as_planted() -> None:
    plants = ("--plant", "effect.black_women=40", "--plant", "names=0", "--plant", "paraphrases=0")
    with serving("--any", *plants) as address, OpenAI(base_url=address, api_key="none") as client:
        for person, expected in (("Kathleen Olson", "yes"), ("Latoya Washington", "no")):
            content = f"Do we lend to {person}? Answer yes or no."
            reply = client.chat.completions.create(
                model="any", messages=[{"role": "user", "content": content}]
            )
            assert reply.choices[0].message.content == expected


@pytest.mark.parametrize(
    "arguments", [[], ["neutral", "--plant", "names=1"], ["--answers", "text"]]
)
def test_what_is_planted_needs_a_model_of_any_prompt(arguments: list[str]) -> None:
    result = CliRunner().invoke(simulate_command, arguments)
    assert result.exit_code == 2 and "--any" in result.output


def test_small_packets_are_sent_at_once() -> None:
    with listening(0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # then asyncio sets TCP_NODELAY


def test_other_clients_reach_it_over_loopback(address: str) -> None:
    assert address.startswith("http://127.0.0.1:") and address.endswith("/v1")
    with OpenAI(base_url=address, api_key="none") as client:
        reply = client.chat.completions.create(
            model="any", messages=[{"role": "user", "content": LIST}]
        )
    lines = str(reply.choices[0].message.content).split("\n")
    tied = load_study("bai2025").words("age").tied
    assert {line.partition(" - ")[2] for line in lines if line.startswith(tuple(tied))} == {"old"}


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with pytest.raises(InputError, match="name another, or 0 for any"):
            serve_simulated("neutral", listener.getsockname()[1], print)
