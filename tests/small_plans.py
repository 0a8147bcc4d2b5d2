from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clinometer.asking.plan import Plan, Selection
from clinometer.stimuli import load_study

MODEL = "openai-api/loop/m"


@pytest.fixture
def plan() -> Plan:
    """Two stereotypes in one wording, two mirrored pairs each: eight trials."""
    study = load_study("bai2025")
    return Plan([Selection(study, ["age", "power"], ["replication"])], [MODEL], iterations=4)


@pytest.fixture
def clinometer(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start the command line in a process of its own, in an empty folder."""

    def start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", "from clinometer.cli import main; main()", *arguments],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell's background jobs ignore Ctrl-C, and so would their children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return start
