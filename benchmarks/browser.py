"""Chromium, without a window."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000")


def chromium(address: str, *flags: str) -> str:
    """Open an address; return what was printed."""
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *FLAGS, f"--user-data-dir={profile}", *flags, address]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode()


def height(text: str, width: int, window: int) -> int:
    """Return the height of a page in pixels, in a window of a width and height."""
    said = "document.documentElement.dataset.said = document.documentElement.scrollHeight;"
    page = re.sub("<meta http-equiv[^>]*>", "", text).replace(
        "</body>", f"<script>{said}</script></body>"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, "utf-8")
        shown = chromium(path.as_uri(), f"--window-size={width},{window}", "--dump-dom")
    found = re.search('data-said="([0-9]+)"', shown)
    if found is None:
        raise RuntimeError("the page did not run its script")
    return int(found[1])
