"""inspect's logs in inspect's own viewer."""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from clinometer.viewing.runs import find_runs
from waiting import HANGS_S


def test_the_viewer_and_its_logs_are_served(logged: Path, pages: Any, plan: Any) -> None:
    ask = pages(logged)
    assert "inspect&#39;s logs" in ask()
    viewer = ask("inspect/")
    assert "Content-Security-Policy" in viewer and "log_dir_context" in viewer
    listing = json.loads(ask("inspect/logs/listing.json"))
    (log,) = (path.name for path in logged.glob("logs/*.eval"))
    assert list(listing) == [log]
    for asset in re.findall(r'(?:src|href)="\./(assets/[^"]+)"', viewer):
        ask(f"inspect/{asset}")
    trial = plan.trials()["trial_id"][3]
    answer_page = next(a for a in ask.addresses("answers", "answer?") if trial in a)
    (link,) = ask.addresses(answer_page.removeprefix(ask.run), "/log?")
    place = ask.client.get(link).headers["location"]
    assert place == f"{ask.run}inspect/#/logs/{log}/samples/sample/{trial}/1/"


def test_no_address_leads_to_another_file(logged: Path, served: Any) -> None:
    """As they stand: a client for people would resolve them before it asks."""
    parts = urlsplit(served(logged))
    connection = HTTPConnection(parts.netloc, timeout=HANGS_S)

    def get(address: str) -> tuple[int, str]:
        connection.request("GET", address)
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")

    assert get(parts.path)[0] == 303
    run = f"{parts.path}runs/{find_runs(logged)[0].key}/"
    assert get(f"{run}inspect/")[0] == 200
    for up in ("../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..%5c", "/"):
        for place in ("inspect/", "inspect/logs/", ""):
            for depth in range(1, 6):
                status, text = get(f"{run}{place}{up * depth}plan.json")
                assert status == 404 and '"seal"' not in text, (place, up, depth)
    assert get(f"{run}inspect//etc/passwd")[0] == 404
    connection.close()


def test_a_trial_that_no_log_has_leads_to_the_list(logged: Path, pages: Any) -> None:
    ask = pages(logged)
    place = ask.client.get(f"{ask.run}log?model=openai-api/loop/m&trial=none").headers["location"]
    assert place == f"{ask.run}inspect/"


def test_large_logs_are_shown_by_a_command(
    logged: Path, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clinometer.viewing.logs.MOST_BYTES", 10)
    assert "inspect view start --log-dir" in pages(logged)("inspect/", 500)


def test_without_logs_there_is_no_link(finished: Path, pages: Any) -> None:
    ask = pages(finished)
    assert "inspect&#39;s logs" not in ask()
    assert "no inspect logs" in ask("inspect/", 500)


def test_a_damaged_log_is_no_traceback(logged: Path, pages: Any) -> None:
    (log,) = logged.glob("logs/*.eval")
    log.write_bytes(b"no log")
    ask = pages(logged)
    response = ask.client.get(f"{ask.run}log?model=openai-api/loop/m&trial=x")
    assert response.status_code == 303
    assert "Traceback" not in ask.client.get(f"{ask.run}inspect/").text
