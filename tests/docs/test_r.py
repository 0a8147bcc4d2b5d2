"""The page on R: its blocks run in order, on the tables of the demo, and print what it shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "r.md"

#: Reads the table as CSV where R has no reader of Parquet, as Debian's has not.
WITHOUT_ARROW = """
if (!requireNamespace("arrow", quietly = TRUE)) {
  library <- function(name, ...) {
    name <- as.character(substitute(name))
    if (name != "arrow") base::library(name, character.only = TRUE)
  }
  read_parquet <- function(path) read.csv(sub("parquet$", "csv", path))
}
"""


def _has(*packages: str) -> bool:
    if shutil.which("Rscript") is None:
        return False
    needed = " && ".join(f'requireNamespace("{name}", quietly = TRUE)' for name in packages)
    done = subprocess.run(["Rscript", "-e", f"quit(status = !({needed}))"], check=False)
    return done.returncode == 0


@pytest.mark.skipif(not _has("lme4"), reason="needs R with lme4")
def test_the_page_on_r_runs_and_prints_what_it_shows(
    clinometer: Callable[..., Any], tmp_path: Path
) -> None:
    for command in (
        ("demo", "--out", "results/demo", "--no-open"),
        ("report", "results/demo", "--csv", "results/demo"),
    ):
        process = clinometer(*command)
        process.communicate()
        assert process.poll() == 0
    blocks = re.findall(r"^```(r|text)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    script = WITHOUT_ARROW + "".join(text for kind, text in blocks if kind == "r")
    (tmp_path / "page.R").write_text(script, encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "page.R"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(text for kind, text in blocks if kind == "text")
    assert (tmp_path / "stereotypes.png").stat().st_size > 1000
