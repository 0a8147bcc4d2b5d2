"""Canaries: credentials that reach a run by every way, and nothing that it writes or shows."""

from __future__ import annotations

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

from clinometer.asking.trials import _redact_message, redact_logs
from clinometer.errors import InputError
from clinometer.models.opening import Connection
from clinometer.texts import by_address, keep_address, keep_secret, redacted, redacted_fields
from forking import Forked

MODEL = "openai-api/loop/m"
KEY, PASSWORD, QUERY, HEADER = "sk-canary-of-key", "pa%40ss-canary", "canary-of-query", "canaryhead"


def everything(folder: Path) -> bytes:
    """Return the content of every file, also of those inside logs."""
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of the logs

    found = b""
    for path in folder.rglob("*"):
        if path.is_file():
            found += path.read_bytes()
            if path.suffix == ".eval" and zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as log:
                    found += b"".join(log.read(name) for name in log.namelist())
    return found


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
        shown = process.communicate()
        assert process.returncode == 0
        out += "".join(shown)
    held = everything(tmp_path) + everything(inspect_trace_dir()) + out.encode() + err.encode()
    held += b"".join(meanwhile)
    for canary in (KEY, PASSWORD, "pa@ss-canary", QUERY):
        assert canary.encode() not in held, canary
    assert "[redacted]" in json.loads((tmp_path / "r" / "plan.json").read_text())["command"]
    assert "\x1b" not in err and "\u202e" not in err and err.count("\n") <= 3


def test_a_message_has_no_secret_in_any_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text, what it carries for the trace and its error; others are as they were."""
    monkeypatch.setattr("clinometer.texts._secrets", {KEY})
    try:
        raise ValueError(f"at {KEY}")
    except ValueError as error:
        failed = (ValueError, error, error.__traceback__)
    record = logging.makeLogRecord({"msg": "%s asked %s", "args": (KEY, "m"), "exc_info": failed})
    record.detail, record.duration = f"GET ?key={KEY}", 3.5
    assert _redact_message(record)
    assert record.getMessage() == "[redacted] asked m" and record.detail == "GET ?key=[redacted]"
    assert KEY not in logging.Formatter().format(record) and record.duration == 3.5
    monkeypatch.setattr("clinometer.texts._secrets", set())
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


def test_only_what_was_told_is_left_out_of_a_record() -> None:
    keep_secret("canary-in-record")
    record = {"response": "canary-in-record", "error": {"message": ["canary-in-record"]}}
    assert redacted_fields(record) == {
        "response": "canary-in-record", "error": {"message": ["[redacted]"]}
    }  # fmt: skip


def test_an_address_of_results_is_shown_without_its_password(tmp_path: Path) -> None:
    keep_address(tmp_path / "a", "s3://me:canary-in-place@host/a?X-Signature=canary-signature")
    shown = by_address(f"{tmp_path / 'a'}: no such file")
    assert "canary" not in shown and shown.startswith("s3://[redacted]@host/a")


def test_a_log_that_was_cut_off_stays(tmp_path: Path) -> None:
    keep_secret("canary-in-log")
    (tmp_path / "a.eval").write_bytes(b"PK cut off")
    with zipfile.ZipFile(tmp_path / "b.eval", "w") as log:
        log.writestr("header.json", '{"error": {"message": "it was canary-in-log"}}')
    redact_logs(tmp_path)
    assert (tmp_path / "a.eval").read_bytes() == b"PK cut off"
    assert b"canary" not in everything(tmp_path) and len(list(tmp_path.iterdir())) == 2
