"""The pages in a real browser, from a real server."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_core_python
import pytest

from clinometer.viewing.views import Views
from waiting import HANGS_S

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --enable-logging=stderr "
    "--virtual-time-budget=15000 --dump-dom"
).split()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on the path"),
]

Served = Callable[[Path], str]


def opened(address: str, *flags: str) -> tuple[str, list[str]]:
    """Give the DOM after all scripts ran, and the lines of the console."""
    assert BROWSER is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [BROWSER, *FLAGS, *flags, f"--user-data-dir={profile}", address],
            capture_output=True,
            timeout=HANGS_S,
            check=True,
        )
    log = done.stderr.decode(errors="replace")
    return done.stdout.decode(), [line for line in log.splitlines() if ":CONSOLE" in line]


def page_of(address: str) -> str:
    with urllib.request.urlopen(address, timeout=HANGS_S) as page:
        return str(page.read().decode())


def measured(page: str, script: str, size: str = "1280,800") -> Any:
    """Run a script in a copy of a page; give what it resolves to."""
    reporter = f"Promise.resolve((() => {{{script}}})()).then((said) => "
    reporter += "{ document.documentElement.dataset.said = JSON.stringify(said); });"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "page.html"
        path.write_text(page.replace("</body>", f"<script>{reporter}</script></body>"), "utf-8")
        dom, _ = opened(path.as_uri(), f"--window-size={size}")
    match = re.search('data-said="([^"]*)"', dom)
    assert match
    return json.loads(html.unescape(match[1]))


def addresses(served: str) -> list[str]:
    """Give the address of each kind of page."""
    listed = page_of(f"{served}")
    run = re.search('href="([^"]*/runs/[^"/]*/)"', listed)
    assert run
    base = served[: served.index("/", 8)] + run[1]
    link = re.search('href="([^"]*answer[?][^"]*)"', page_of(f"{base}answers"))
    assert link
    return [base, f"{base}answers", served[: served.index("/", 8)] + html.unescape(link[1])]


def test_pages_are_shown_without_a_word_in_the_console(finished: Path, served: Served) -> None:
    for address in addresses(served(finished)):
        dom, console = opened(address)
        assert console == [], address
        assert "pwned" not in str(re.search("<title>(.*?)</title>", dom))
        assert re.search("<h1>.+</h1>", dom)


def test_the_numbers_follow_the_run(
    half: Path, served: Served, more: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, requests = Views.progress, []

    def look(views: Views, request: Any) -> Any:
        requests.append(request)
        if len(requests) <= 3:  # an answer comes before each of the first looks
            more(half, 3 + len(requests), 4 + len(requests))
        return looked(views, request)

    monkeypatch.setattr(Views, "progress", look)
    address = addresses(served(half))[0]
    assert "4 of 8 (50%)" in page_of(address)
    dom, console = opened(address)
    assert "7 of 8 (88%)" in dom and "4 of 8" not in dom
    assert console == []


def test_inspects_viewer_shows_a_trial(logged: Path, served: Served) -> None:
    run, _, answer_page = addresses(served(logged))
    (trial,) = re.findall("trial=([^&]+)", answer_page)
    with urllib.request.urlopen(f"{run}log?model=openai-api/loop/m&trial={trial}") as response:
        dom, _ = opened(response.url)
    assert f"Sample {trial} (Epoch 1)" in re.sub("<[^>]*>", "", dom)
    assert "INFO" in dom.upper() and "could not" not in dom


def test_an_automated_audit_finds_no_barrier(finished: Path, half: Path, served: Served) -> None:
    """axe-core: WCAG 2.1 A and AA and good practice."""
    axe = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    script = (
        axe.replace("</script", "<\\/script")
        + """; const rules = ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"];
        return window.axe.run(document, {runOnly: rules, resultTypes: ["violations"]}).then((all) =>
          all.violations.map((one) => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 99)]));
        """
    )
    pages = addresses(served(finished))
    pages += [served(finished.parent), addresses(served(half))[0]]
    for address in pages:
        assert measured(page_of(address), script) == [], address


def test_nothing_is_cut_on_a_phone(finished: Path, served: Served) -> None:
    for address in addresses(served(finished)):
        beyond = measured(
            page_of(address),
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth;",
            "500,844",  # the narrowest window of the browser
        )
        assert beyond == 0, address
