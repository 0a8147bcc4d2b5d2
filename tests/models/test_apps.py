"""Systems of users' own: functions and endpoints, asked as models are."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import polars as pl
import pytest

import clinometer as cm
from clinometer.audits.running import Asking
from clinometer.audits.sizes import PlanOptions
from clinometer.errors import ModelError
from clinometer.models.apps import AppFailure
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.modes.mode import chat_messages

APP = """
import asyncio

calls = []

def answer(prompt):
    calls.append(prompt)
    return "Approve."

def tells(prompt):
    return {"text": "Refunded.", "tools": [{"name": "refund", "arguments": {"amount": 40}}]}

def heard(messages):
    return ", ".join(message["role"] for message in messages)

def strange(prompt):
    return {"text": {1, 2}}

async def slow(prompt):
    await asyncio.sleep(0)
    return prompt.upper()

def nothing(prompt):
    return None

def broken(prompt):
    raise KeyError("no such order")

number = 3
"""
BROKEN = "import os\nos.no_such_thing\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of an app, from which commands are run."""
    (tmp_path / "some_app.py").write_text(APP, "utf-8")
    (tmp_path / "broken_app.py").write_text(BROKEN, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("some_app", None)


def ask(name: str, prompt: str = "Hello") -> str:
    async def answer() -> str:
        model = open_model(name, Generation(), Connection(max_retries=1))
        return (await model.generate(prompt)).completion

    return anyio.run(answer)


def test_a_function_is_called_with_the_prompt_alone(folder: Path) -> None:
    assert ask("app/some_app:answer", "One prompt") == "Approve."
    assert sys.modules["some_app"].calls == ["One prompt"]
    assert ask("app/some_app:slow", "loud") == "LOUD"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("app/some_app", "expected app/MODULE:FUNCTION"),
        ("app/some_app:missing", "some_app has no missing"),
        ("app/no_such_app:answer", "No module named"),
        ("app/some_app:number", "number is no function"),
        ("app/broken_app:answer", "module 'os' has no attribute 'no_such_thing'"),
        ("app/missing.yaml", "No such file"),
    ],
)
def test_an_app_that_is_not_there_is_told_so(folder: Path, name: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        open_model(name, Generation(), Connection())


def test_what_a_function_raises_is_an_error_of_its_call(folder: Path) -> None:
    with pytest.raises(AppFailure, match="KeyError: 'no such order'"):
        ask("app/some_app:broken")
    for name, given in (("nothing", "NoneType"), ("strange", "dict")):
        with pytest.raises(AppFailure, match=f"gave {given}, and no text"):
            ask(f"app/some_app:{name}")


def test_what_a_function_did_is_kept_as_json(folder: Path) -> None:
    assert json.loads(ask("app/some_app:tells"))["tools"][0]["arguments"] == {"amount": 40}


def audited(model: str, directory: Path) -> pl.DataFrame:
    options = PlanOptions(("refunds",), ("twins",), stereotypes="age", iterations=2, controls=False)
    cm.audit(
        model,
        directory=directory,
        options=options,
        asking=Asking(connection=Connection(max_retries=0)),
        profile=False,
    )
    return cm.read_results(directory).table("scores")


def test_a_function_is_audited_and_nothing_is_asked_twice(folder: Path) -> None:
    assert audited("app/some_app:answer", folder / "run")["outcome"].to_list() == ["approve"] * 18
    calls = len(sys.modules["some_app"].calls)
    assert calls == 18
    audited("app/some_app:answer", folder / "run")
    assert len(sys.modules["some_app"].calls) == calls


class Handler(BaseHTTPRequestHandler):
    """Answers as an app may: what it was sent, or what its path says."""

    def log_message(self, *_: Any) -> None: ...

    def do_POST(self) -> None:  # noqa: N802 - the name that the library calls
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        status, reply = {
            "/text": (200, "plain text"),
            "/made": (201, "made"),
            "/odd": (200, '{"reply": {"text": ["a"]}}'),
            "/fails": (500, "out of order"),
            "/refuses": (403, "not for you"),
            "/long": (200, "x" * (5 << 20)),
        }.get(self.path, (200, json.dumps({"reply": [{"text": f"You said {body['say']}"}]})))
        if self.path == "/fails" and len(self.server.seen) > 1:  # type: ignore[attr-defined]
            status, reply = 200, "in order again"
        data = reply.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.seen = []  # type: ignore[attr-defined]
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def endpoint(server: ThreadingHTTPServer, folder: Path, path: str = "/", more: str = "") -> str:
    file = folder / "endpoint.yaml"
    file.write_text(
        f"url: http://127.0.0.1:{server.server_port}{path}\n"
        'headers: {Authorization: "Bearer ${MY_APP_KEY}"}\n'
        'body: {say: "{prompt}", loud: true}\n' + more,
        "utf-8",
    )
    return "app/endpoint.yaml"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_APP_KEY", "sk-my-app-0123456789abcdef")


def test_an_endpoint_is_asked_as_its_file_says(server: ThreadingHTTPServer, folder: Path) -> None:
    assert ask(endpoint(server, folder, more="answer: reply.0.text\n"), "Hi") == "You said Hi"
    ((_, headers, body),) = server.seen  # type: ignore[attr-defined]
    assert headers["Authorization"] == "Bearer sk-my-app-0123456789abcdef"
    assert body == {"say": "Hi", "loud": True}
    assert ask(endpoint(server, folder, "/text")) == "plain text"
    assert ask(endpoint(server, folder, "/made")) == "made"


@pytest.mark.parametrize(
    ("path", "more", "says"),
    [
        ("/odd", "answer: reply.text\n", "reply.text of the reply is no text"),
        ("/odd", "answer: reply.words\n", "the reply has no reply.words"),
        ("/text", "answer: reply\n", "the reply has no reply"),
        ("/refuses", "", "status 403: not for you"),
        ("/long", "", "larger than"),
    ],
)
def test_a_reply_without_an_answer_says_why(
    server: ThreadingHTTPServer, folder: Path, path: str, more: str, says: str
) -> None:
    with pytest.raises(Exception, match=says):
        ask(endpoint(server, folder, path, more))


def test_an_error_of_the_server_is_tried_again(server: ThreadingHTTPServer, folder: Path) -> None:
    assert ask(endpoint(server, folder, "/fails")) == "in order again"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("url: ftp://x", "url"),
        ("url: http://x\nmethod: DELETE", "method"),
        ("url: http://x\nheader: {}", "header"),
        ("[1, 2", "no YAML"),
        ("3", "file"),
        ("url: http://x\nheaders: {A: '${NO_SUCH_VARIABLE}'}", "the environment has no"),
    ],
)
def test_a_file_that_means_nothing_is_told_so(folder: Path, text: str, says: str) -> None:
    (folder / "bad.yaml").write_text(text, "utf-8")
    with pytest.raises(ModelError, match=says):
        open_model("app/bad.yaml", Generation(), Connection())


def test_an_app_s_key_stands_nowhere_in_its_run(server: ThreadingHTTPServer, folder: Path) -> None:
    audited(endpoint(server, folder, more="answer: reply.0.text\n"), folder / "run")
    for path in (folder / "run").rglob("*"):
        assert not path.is_file() or b"sk-my-app-0123456789abcdef" not in path.read_bytes(), path


CHAT = [("system", "Be kind."), ("user", "Hi"), ("assistant", "Hello."), ("user", "Help")]


def chat(name: str, **arguments: Any) -> str:
    async def answer() -> str:
        model = open_model(name, Generation(), Connection(max_retries=0, model_args=arguments))
        messages = chat_messages([{"role": role, "content": text} for role, text in CHAT])
        return (await model.generate(messages)).completion

    return anyio.run(answer)


def test_of_a_chat_an_app_has_the_messages(server: ThreadingHTTPServer, folder: Path) -> None:
    assert chat("app/some_app:heard") == "system, user, assistant, user"
    with pytest.raises(ModelError, match="the body has no {messages}"):
        chat(endpoint(server, folder))
    (folder / "chat.yaml").write_text(
        f"url: http://127.0.0.1:{server.server_port}/\nbody: {{say: '{{messages}}'}}", "utf-8"
    )
    assert "'content': 'Be kind.'" in chat("app/chat.yaml")


SOLVER = """
from inspect_ai.solver import chain, generate, solver, use_tools
from inspect_ai.tool import tool

@tool
def refund():
    async def execute(amount: int):
        \"\"\"Pay back.

        Args:
            amount: Dollars.
        \"\"\"
        return "paid"
    return execute

@solver
def agent():
    return chain(use_tools(refund()), generate())

@solver
def once():
    async def solve(state, generate):
        return await generate(state, tool_calls="none", temperature=0.0)
    return solve

made = once()
"""


@pytest.fixture
def solvers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (folder / "some_solvers.py").write_text(SOLVER, "utf-8")
    yield
    sys.modules.pop("some_solvers", None)


def test_a_solver_says_what_it_answered_and_which_tools_it_called(solvers: None) -> None:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "refund", {"amount": 40}),
        ModelOutput.from_content("mockllm/model", "It is done."),
    ]
    for output in outputs:  # else it is counted, by a tokeniser that is loaded from afar
        output.usage = ModelUsage()
    model = get_model("mockllm/model", custom_outputs=outputs)
    given = json.loads(chat("app/some_solvers:agent", solver_model=model))
    assert given["text"] == "It is done."
    assert given["tools"] == [{"name": "refund", "arguments": {"amount": 40}}]


@pytest.mark.parametrize("name", ["once", "made"])
def test_a_solver_without_tools_has_called_none(solvers: None, name: str) -> None:
    given = json.loads(chat(f"app/some_solvers:{name}", solver_model="app/some_app:heard"))
    assert given == {"text": "system, user, assistant, user", "tools": []}


def test_a_solver_without_a_model_is_told_so(solvers: None) -> None:
    with pytest.raises(ModelError, match="-M solver_model="):
        chat("app/some_solvers:agent")


def test_a_function_of_this_process_is_a_model(tmp_path: Path) -> None:
    asked = []

    def deny(prompt: str) -> str:
        asked.append(prompt)
        return "Deny."

    name = cm.as_model(deny)
    assert name.startswith("app/") and "/" not in name.removeprefix("app/")
    assert audited(name, tmp_path / "run")["outcome"].to_list() == ["deny"] * len(asked)
