"""Pictures of every page, to be looked at: ``python -m benchmarks.pictures RESULTS FOLDER``.

The report (first screen, whole, unfolded; light, dark, on a phone; in print), the pages of
``clinometer view`` and, where it was built, the documentation. Needs Chromium.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.browser import chromium, height
from benchmarks.measuring import REPOSITORY

DESKTOP, PHONE = (1280, 800), (390, 844)
DARK = "--blink-settings=preferredColorScheme=0"
SITE = ("index", "tutorials/engineer", "reference/api", "notebooks/results-with-pandas")


def main(results: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page = results / "report.html"
    text = page.read_text(encoding="utf-8")
    _picture(page.resolve().as_uri(), folder / "report.png")
    _picture(page.resolve().as_uri(), folder / "report-dark.png", DARK)
    _picture(page.resolve().as_uri(), folder / "report-whole.png", tall=_height(text))
    opened = text.replace("<details", "<details open")
    with _written(opened) as address:
        _picture(address, folder / "report-unfolded.png", tall=_height(opened))
    with _written(_on_a_phone(page.resolve().as_uri())) as address:
        _picture(address, folder / "report-phone.png")
    chromium(page.resolve().as_uri(), f"--print-to-pdf={folder / 'report.pdf'}")
    with _viewed(results) as address:
        for name in ("", "answers"):
            for scheme, flags in (("", ()), ("-dark", (DARK,))):
                to = folder / f"view-{name or 'overview'}{scheme}.png"
                _picture(f"{address}{name}", to, *flags)
    for name in SITE:
        built = REPOSITORY / "site" / "html" / f"{name}.html"
        if built.is_file():
            _picture(built.as_uri(), folder / f"site-{Path(name).name}.png")


def _picture(address: str, to: Path, *flags: str, tall: int = DESKTOP[1]) -> None:
    size = f"--window-size={DESKTOP[0]},{tall}"
    chromium(address, size, "--hide-scrollbars", f"--screenshot={to.resolve()}", *flags)
    print(to)


def _height(text: str) -> int:
    """Return the height of a page on a desktop, as far as a picture can have it."""
    return min(height(text, *DESKTOP), 16_000)


@contextmanager
def _written(text: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(text, encoding="utf-8")
        yield path.as_uri()


def _on_a_phone(address: str) -> str:
    """Return a page with three windows of a phone, one below the other in the same page."""
    width, height = PHONE
    views = "".join(
        f'<div style="float:left;margin:8px;overflow:hidden;width:{width}px;height:{height}px">'
        f'<iframe src="{html.escape(address)}" style="border:0;width:{width}px;height:9000px;'
        f'margin-top:-{number * height}px"></iframe></div>'
        for number in range(3)
    )
    return f"<!doctype html><title>A phone</title><body>{views}"


@contextmanager
def _viewed(results: Path) -> Iterator[str]:
    """Serve the pages of ``clinometer view``; give the address of the overview."""
    code = "from clinometer.cli import main; main()"
    command = [sys.executable, "-u", "-c", code, "view", str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        try:
            said = server.stdout.readline() if server.stdout else ""
            found = re.search(r"http://\S+", said)
            if found is None:
                raise RuntimeError(f"no address: {said}")
            with urllib.request.urlopen(found[0]) as answer:
                yield answer.url
        finally:
            server.terminate()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m benchmarks.pictures RESULTS FOLDER")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
