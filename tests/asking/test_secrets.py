"""Canaries: credentials that reach a run by every way, and nothing that it writes or shows."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inspect_ai._util.trace import inspect_trace_dir
from polars.testing import assert_frame_equal

from clinometer.asking.trials import _redact_message, withhold_in_logs
from clinometer.errors import InputError
from clinometer.models.opening import Connection
from clinometer.secrets import keep_secret, redacted
from clinometer.texts import by_address, keep_address
from forking import Forked
from waiting import until

MODEL = "openai-api/loop/m"
KEY, PASSWORD, QUERY, HEADER = "sk-canary-of-key", "pa%40ss-canary", "canary-of-query", "canaryhead"


def everything(folder: Path) -> bytes:
    """Return the content of every file, also of those inside logs."""
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of the logs

    content = b""
    for path in folder.rglob("*"):
        if path.is_file():
            content += path.read_bytes()
            if path.suffix == ".eval" and zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as log:
                    content += b"".join(log.read(name) for name in log.namelist())
    return content


@pytest.mark.parametrize("fails", [False, True])
def test_no_credential_is_written_or_shown(
    serve: Callable[..., Any],
    clinometer: Callable[..., Forked],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,
) -> None:
    meanwhile: list[bytes] = []

    def reply(body: dict[str, Any]) -> Any:
        meanwhile.append(everything(inspect_trace_dir()))
        echoed = f"bad key {KEY} for user:{PASSWORD} and {QUERY}, pa@ss-canary"
        if fails:
            return 401, {"error": {"message": f"{echoed} \x1b[2J\u202e", "type": "auth"}}
        return server.chat(body)

    server = serve(reply)
    monkeypatch.setenv("LOOP_API_KEY", KEY)
    address = server.url.replace("//", f"//user:{PASSWORD}@") + f"?api_key={QUERY}"
    command = ("run", MODEL, "--stereotypes", "power", "--iterations", "4", "--out", "r")
    process = clinometer(*command, "--model-base-url", address, "--max-retries", "0")
    out, err = process.communicate()
    assert process.returncode == (2 if fails else 0), err
    for more in () if fails else (["report", "r"], ["show", "r", "power"]):
        process = clinometer(*more)
        streams = process.communicate()
        assert process.returncode == 0
        out += "".join(streams)
    exposed = everything(tmp_path) + everything(inspect_trace_dir()) + out.encode() + err.encode()
    exposed += b"".join(meanwhile)
    for canary in (KEY, PASSWORD, "pa@ss-canary", QUERY):
        assert canary.encode() not in exposed, canary
    host = server.url.removesuffix("/v1")
    planned = json.loads((tmp_path / "r" / "plan.json").read_text())["command"]
    assert f"--model-base-url {host} --max-retries" in planned
    assert "\x1b" not in err and "\u202e" not in err and err.count("\n") <= 3


LONG_KEY = "sk-c4n4ry/of+a=long?key"


def encodings(secret: str) -> list[bytes]:
    """Return a secret as it is, and in base64 alone and behind a user."""
    plain, login = secret.encode(), f"user:{secret}".encode()
    return [plain, base64.b64encode(plain), base64.urlsafe_b64encode(login)]


def test_a_killed_run_leaves_no_key_that_a_server_repeats(
    serve: Callable[..., Any],
    clinometer: Callable[..., Forked],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Errors are longer than what inspect puts into a log's attachments."""
    encoded = b" ".join(encodings(LONG_KEY)).decode()

    def reply(body: dict[str, Any]) -> Any:
        count = server.prompts.total()
        if count < 12 or count % 3:  # a run whose first answer is a refusal ends
            return server.chat(body)
        return 403, {"error": {"message": f"{'no entry, ' * 40}{encoded}", "headers": [encoded]}}

    server = serve(reply, at_once=60)
    monkeypatch.setenv("LOOP_API_KEY", LONG_KEY)
    command = ("run", MODEL, "--stereotypes", "power", "--iterations", "40", "--out", "r")
    process = clinometer(*command, "--max-connections", "4")
    until(lambda: server.prompts.total() > 60, process)
    process.kill()
    process.communicate()
    server.go.set()
    clinometer("report", "r").communicate()
    clinometer("bundle", "r", "--out", "r.zip").communicate()
    content = everything(tmp_path)
    assert b"no entry" in content
    for form in encodings(LONG_KEY):
        assert form not in content and form[8:-4] not in content


def test_an_answer_that_repeats_a_key_is_set_aside_with_its_hash(
    serve: Callable[..., Any],
    clinometer: Callable[..., Forked],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = f"julia - {LONG_KEY}"

    def reply(body: dict[str, Any]) -> Any:
        status, content = server.chat(body)
        content |= {"model": f"m of {LONG_KEY}", "id": LONG_KEY}  # beside an answer they cost none
        if server.prompts.total() == 3:
            content["choices"][0]["message"]["content"] = answer
        return status, content

    server = serve(reply)
    monkeypatch.setenv("LOOP_API_KEY", LONG_KEY)
    run = ("run", MODEL, "--stereotypes", "power", "--iterations", "4", "--out", "r")
    process = clinometer(*run, "--max-connections", "1")
    process.communicate()
    responses = pl.read_parquet(tmp_path / "r" / "responses.parquet")
    errors = responses["error"].drop_nulls()
    assert process.returncode != 0 and errors.len() == 1
    assert hashlib.sha256(answer.encode()).hexdigest() in errors[0]
    assert LONG_KEY.encode() not in everything(tmp_path)


def test_a_message_has_no_secret_in_any_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text, what it carries for the trace and its error; others are as they were."""
    monkeypatch.setattr("clinometer.secrets._remark_forms", {KEY})
    try:
        raise ValueError(f"at {KEY}")
    except ValueError as error:
        failed = (ValueError, error, error.__traceback__)
    record = logging.makeLogRecord({"msg": "%s asked %s", "args": (KEY, "m"), "exc_info": failed})
    record.detail, record.duration = f"GET ?key={KEY}", 3.5
    assert _redact_message(record)
    assert record.getMessage() == "[redacted] asked m" and record.detail == "GET ?key=[redacted]"
    assert KEY not in logging.Formatter().format(record) and record.duration == 3.5
    monkeypatch.setattr("clinometer.secrets._remark_forms", set())
    plain = logging.makeLogRecord({"msg": "%s asked", "args": (KEY,)})
    assert _redact_message(plain) and plain.args == (KEY,)


def test_arguments_that_carry_credentials_are_refused_or_kept_secret(
    clinometer: Callable[..., Forked],
) -> None:
    for name in ("default_headers", "api_key", "authorization"):
        process = clinometer("run", MODEL, "-M", f"{name}={HEADER}", "--out", "r")
        _, err = process.communicate()
        assert process.returncode == 2 and HEADER not in err
        assert f"-M {name}=…: give keys in the environment" in err
    headers = {"Authorization": "Bearer canary-in-header"}
    Connection(model_args={"default_headers": headers})
    assert redacted("it was Bearer canary-in-header") == "it was [redacted]"
    assert redacted("it was canary-in-header") == "it was [redacted]"


def test_a_short_text_is_no_secret() -> None:
    Connection(base_url="http://me:you@localhost/v1")
    assert redacted("you and me") == "you and me"
    with pytest.raises(InputError):
        Connection(timeout_s=0)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("LOOP_API_KEY", "ollama"), ("LOOP_API_KEY", "loop-m"), ("METRICS_TOKEN", "confident"),
     ("METRICS_TOKEN", "dominant")],
)  # fmt: skip
def test_a_key_that_is_a_word_changes_nothing_that_was_measured(
    serve: Callable[..., Any],
    clinometer: Callable[..., Forked],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
) -> None:
    serve()
    command = ("run", MODEL, "--stereotypes", "power", "--iterations", "4", "--out")
    for name in ("plain", "keyed", "keyed"):  # and can be continued
        if name == "keyed":
            monkeypatch.setenv(variable, value)
        process = clinometer(*command, name)
        out, _ = process.communicate()
        assert process.returncode == 0 and "[redacted]" not in out
    plain, keyed = (
        pl.read_parquet(tmp_path / name / "scores.parquet") for name in ("plain", "keyed")
    )
    assert_frame_equal(plain, keyed)
    answers = [
        [path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*.jsonl")]
        for name in ("plain", "keyed")
    ]
    assert answers[0] == answers[1]


def test_an_address_of_results_is_shown_without_its_password(tmp_path: Path) -> None:
    keep_address(tmp_path / "a", "s3://me:canary-in-place@host/a?X-Signature=canary-signature")
    message = by_address(f"{tmp_path / 'a'}: no such file")
    assert message == "s3://host/a: no such file"


def test_a_log_that_was_cut_off_stays(tmp_path: Path) -> None:
    keep_secret("canary-in-the-log-1")
    (tmp_path / "a.eval").write_bytes(b"PK cut off")
    with zipfile.ZipFile(tmp_path / "b.eval", "w") as log:
        log.writestr("header.json", '{"error": {"message": "it was canary-in-the-log-1"}}')
    withhold_in_logs(tmp_path)
    assert (tmp_path / "a.eval").read_bytes() == b"PK cut off"
    assert b"canary" not in everything(tmp_path) and len(list(tmp_path.iterdir())) == 2
