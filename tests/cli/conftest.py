"""The command line, called in an empty folder."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clinometer.cli.group import run_group


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Call the command line in an empty folder; gives exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["clinometer", *arguments])
        code = 0
        try:
            code = run_group()
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="session")
def run_in() -> Callable[..., tuple[int, str, str]]:
    """Call the command line in a folder that tests share; gives exit code, output, errors."""

    def call(folder: Path, *arguments: str) -> tuple[int, str, str]:
        with (
            pytest.MonkeyPatch.context() as patched,
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            patched.chdir(folder)
            patched.setattr(sys, "argv", ["clinometer", *arguments])
            code = 0
            try:
                code = run_group()
            except SystemExit as stop:
                code = int(stop.code or 0)
        return code, out.getvalue(), err.getvalue()

    return call
