"""Models by their names; embeddings of a service, from a server on the loopback interface."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from clinometer.errors import InputError, ModelError
from clinometer_measures.states.readers.opening import open_reader, shows_states

Reply = Callable[[dict[str, Any]], tuple[int, Any]]
Serve = Callable[[Reply], list[dict[str, Any]]]

NAME = "openai-api/my-loop/embedder"


def lengths(body: dict[str, Any]) -> tuple[int, Any]:
    """Embed a text as its length and 1; the last text comes first."""
    data = [
        {"object": "embedding", "index": index, "embedding": [len(text), 1]}
        for index, text in enumerate(body["input"])
    ]
    return 200, {"object": "list", "model": body["model"], "data": data[::-1]}


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start a server, point the service ``my-loop`` at it; gives the list of requests."""
    servers: list[ThreadingHTTPServer] = []

    def start(reply: Reply = lengths) -> list[dict[str, Any]]:
        requests: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.append(body)
                status, answer = reply(body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        url = f"http://127.0.0.1:{servers[-1].server_address[1]}/v1"
        monkeypatch.setenv("MY_LOOP_BASE_URL", url)
        monkeypatch.setenv("MY_LOOP_API_KEY", "sk-secret")
        threading.Thread(target=servers[-1].serve_forever, args=(0.05,), daemon=True).start()
        return requests

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_state_is_the_mean_embedding_of_whole_contexts(serve: Serve, table: Any) -> None:
    requests = serve(lengths)
    rows = [("a", "kind", "kind"), ("b", "he", "he is"), ("a", "kind", "a kind man")]
    states = open_reader(NAME).read(table(rows))
    assert states.keys == ("a", "b") and states.layers == ("0",) and list(states.counts) == [2, 1]
    np.testing.assert_array_equal(states.values, [[[7, 1]], [[5, 1]]])
    assert requests[0]["model"] == "embedder"


def test_contexts_go_in_batches_and_equal_ones_once(serve: Serve, table: Any) -> None:
    requests = serve(lengths)
    rows = [(str(n), "kind", f"kind {'x' * (n % 40)}") for n in range(80)]
    states = open_reader(NAME).read(table(rows))
    assert [len(body["input"]) for body in requests] == [32, 8]
    assert list(states.values[:, 0, 0]) == [5 + n % 40 for n in range(80)]


def test_a_busy_service_is_asked_again(serve: Serve, table: Any) -> None:
    requests = serve(lambda body: (503, {}) if len(requests) == 1 else lengths(body))
    assert open_reader(NAME).read(table([("a", "a", "a")])).keys == ("a",)
    assert len(requests) == 2


@pytest.mark.parametrize("status", [400, 401, 404])
def test_the_key_is_in_no_error(serve: Serve, table: Any, status: int) -> None:
    serve(lambda body: (status, {"error": {"message": "no to sk-secret"}}))
    reader = open_reader(NAME)
    with pytest.raises(ModelError, match=f"model '{NAME}': ") as error:
        reader.read(table([("a", "a", "a")]))
    assert "sk-secret" not in str(error.value) and "\n" not in str(error.value)
    assert "sk-secret" not in repr(reader) + reader.fingerprint


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"data": []}, "0 embeddings of 2 contexts"),
        ({"choices": []}, "no list of embeddings"),
        ({"data": [{"index": i, "embedding": [0.0, 0.0]} for i in (0, 1)]}, "layer 0 is all zero"),
        ({"data": [{"index": i, "embedding": [1.0] * (i + 1)} for i in (0, 1)]}, "no list of"),
    ],
)
def test_what_is_no_embedding_is_refused(
    serve: Serve, table: Any, answer: Any, message: str
) -> None:
    serve(lambda body: (200, answer))
    with pytest.raises(ModelError, match=message):
        open_reader(NAME).read(table([("a", "a", "a"), ("b", "b", "b")]))


def test_a_term_that_is_not_there_costs_no_request(serve: Serve, table: Any) -> None:
    requests = serve(lengths)
    with pytest.raises(InputError, match="row 1: term 'kind'"):
        open_reader(NAME).read(table([("a", "kind", "rude")]))
    assert not requests


def test_the_fingerprint_knows_model_and_address(serve: Serve) -> None:
    serve(lengths)
    first, second = open_reader(NAME), open_reader("openai-api/my-loop/other")
    serve(lengths)
    assert len({first.fingerprint, second.fingerprint, open_reader(NAME).fingerprint}) == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai/text-embedding-3-small", "OPENAI_API_KEY is not set"),
        ("openai-api/my-loop/x", "MY_LOOP_API_KEY is not set"),
        ("openai-api/my-loop", "expected openai/MODEL"),
        ("openai/", "expected openai/MODEL"),
    ],
)
def test_what_is_missing_is_named(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "MY_LOOP_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ModelError, match=message):
        open_reader(name)


def test_a_service_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, table: Any) -> None:
    monkeypatch.setattr("clinometer_measures.states.readers.opening.MAX_RETRIES", 0)
    monkeypatch.setenv("MY_LOOP_BASE_URL", "http://me:word@127.0.0.1:9/v1")
    monkeypatch.setenv("MY_LOOP_API_KEY", "sk-secret")
    with pytest.raises(ModelError, match="127.0.0.1:9 cannot be reached") as error:
        open_reader(NAME).read(table([("a", "a", "a")]))
    assert "word" not in str(error.value)


@pytest.mark.parametrize("name", ["clinometer/other", "hf/", ""])
def test_a_name_that_names_nothing_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="smollm2|expected hf/"):
        open_reader(name)


def test_which_names_show_states() -> None:
    names = [
        "clinometer/smollm2",
        "hf/a/b",
        "./a",
        "openai/text-embedding-3-small",
        "mockllm/model",
    ]
    assert [shows_states(name) for name in names] == [True, True, True, False, False]


def test_a_model_of_the_hub_is_read_from_its_folder(tiny_folder: Callable[[str], Any]) -> None:
    assert open_reader("hf/any", folder=str(tiny_folder("llama"))).name == "hf/any"
