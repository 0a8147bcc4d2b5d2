from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clinometer.asking.plan import Plan, Selection
from clinometer.stimuli import load_study
from forking import Commands, Forked

MODEL = "openai-api/loop/m"


@pytest.fixture
def plan() -> Plan:
    """Two stereotypes in one wording, two mirrored pairs each: eight trials."""
    study = load_study("bai2025")
    return Plan([Selection(study, ["age", "power"], ["replication"])], [MODEL], iterations=4)


@pytest.fixture
def clinometer(commands: Commands, tmp_path: Path) -> Iterator[Callable[..., Forked]]:
    """Start the command line in a process of its own, in an empty folder."""
    started: list[Forked] = []

    def start(*arguments: str) -> Forked:
        started.append(commands.start(arguments, tmp_path))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.close()
