"""Results directories as a run writes them, half way and at the end, and clients of their pages."""

from __future__ import annotations

import html
import re
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sessions import ask_models
from clinometer.audits.tabulating import tabulate
from clinometer.models.opening import Connection, open_models
from clinometer.results.records import Journal
from clinometer.stimuli import load_study
from clinometer.viewing.app import make_app
from waiting import until

MODEL, TOKEN = "openai-api/loop/m", "token"

#: Instead of the last answers; the first is too long to be shown whole.
HOSTILE = [
    "tragic - old\n" + "long " * 5000,
    "<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">",
    "{{7*7}} \u202egnp.exe\u202c \x1b[31m \x00",
    "I'm sorry, but I can't help with that.",
]


def make_plan() -> Plan:
    """Two stereotypes in one wording, two mirrored pairs each: eight trials."""
    study = load_study("bai2025")
    return Plan([Selection(study, ["age", "power"], ["replication"])], [MODEL], iterations=4)


def answer(directory: Path, start: int, stop: int) -> None:
    """Answer some trials of the plan, as a run does: line by line, into the journal."""
    pair_words = sys.modules["loopback"].pair_words
    journal = Journal(directory, MODEL)
    for place, row in enumerate(make_plan().trials().iter_rows(named=True)):
        if start <= place < stop:
            text = HOSTILE[place - 4] if place >= 4 else pair_words(row["prompt"])
            journal.append({"trial_id": row["trial_id"], "response": text, "stop_reason": "stop"})
    journal.close()


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A run that has answered four of its eight trials, and has no tables yet."""
    claim(tmp_path / "half", make_plan())
    answer(tmp_path / "half", 0, 4)
    return tmp_path / "half"


@pytest.fixture(scope="session")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("finished") / "run"
    claim(directory, make_plan())
    answer(directory, 0, 8)
    tabulate(directory)
    policy = "default-src 'none'; script-src 'sha256-x'"
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    (directory / "report.html").write_text(f"<!DOCTYPE html>{meta}<title>The report</title>")
    return directory


@pytest.fixture
def finished(_finished: Path, tmp_path: Path) -> Path:
    """A run that has ended, with tables and a page for its report."""
    return Path(shutil.copytree(_finished, tmp_path / "run"))


@pytest.fixture
def logged(tmp_path: Path, serve: Any, plan: Any) -> Path:
    """A run that was asked through inspect."""
    serve()
    claim(tmp_path / "logged", plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=0))
    assert ask_models(plan.pieces, models, tmp_path / "logged", Budget()).complete
    return tmp_path / "logged"


class Pages:
    """Asks for the pages of a directory."""

    def __init__(self, directory: Path, folder: Path) -> None:
        app = make_app(directory, folder, TOKEN)
        self.client = TestClient(
            app, "http://127.0.0.1:7000", raise_server_exceptions=False, follow_redirects=False
        )
        response = self.client.get(f"/{TOKEN}/")
        self.run = response.headers.get("location", "")

    def __call__(self, page: str = "", status: int = 200) -> str:
        """Return a page of the only run, which has a status."""
        response = self.client.get(self.run + page)
        assert response.status_code == status, response.text
        return response.text

    def addresses(self, page: str, within: str) -> list[str]:
        """Return the addresses on a page that have something in them."""
        links = map(html.unescape, re.findall('href="([^"]*)"', self(page)))
        return [address for address in links if within in address]


@pytest.fixture
def pages(tmp_path: Path) -> Callable[[Path], Pages]:
    """Make what asks for the pages of a directory."""
    return lambda directory: Pages(directory, tmp_path / "own")


@contextmanager
def serving(directory: Path, folder: Path) -> Iterator[str]:
    """Serve a directory as the command does; give the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        make_app(directory, folder, TOKEN), log_config=None, lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/{TOKEN}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[[Path], str]]:
    """Serve directories until the test has ended."""
    open_ = []

    def start(directory: Path) -> str:
        open_.append(serving(directory, tmp_path / "own"))
        return open_[-1].__enter__()

    yield start
    for server in open_:
        server.__exit__(None, None, None)


@pytest.fixture
def more() -> Callable[[Path, int, int], None]:
    """Give what answers further trials of a run."""
    return answer
