"""A family of measures may come with another package: it is found, and a broken one is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAMILY = """
from clinometer.families import Family


def _tables():
    import polars as pl

    from clinometer.results.columns import Column, columns
    from clinometer.results.schemas import Table

    own = {"gaze": Column(pl.Float64(), "seconds that a word is looked at")}
    return {"gazes": Table("gazes", columns("model", "gaze", own=own), "a row per word", own)}


FAMILY = Family(
    name="gazes",
    title="Gazes",
    record="gazes.json",
    record_meaning="whose gazes were measured",
    tables=_tables,
    part=lambda directory: None,
    findings=lambda directory: [],
    measure_again=lambda directory, inputs: None,
    commands={"gaze": ("gazes_of_readers", "Measure gazes.")},
)
SECOND = Family(**{**vars(FAMILY), "name": "networks"})
"""


def run(folder: Path, target: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with a package beside ours that names a family, as pip would lay it out."""
    about = folder / "readers-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: readers\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[clinometer.families]\ngazes = {target}\n")
    (folder / "gazes_of_readers.py").write_text(FAMILY)
    path = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_family_of_another_package_is_found(tmp_path: Path) -> None:
    target = "gazes_of_readers:FAMILY"
    listed = run(tmp_path, target, "-m", "clinometer")
    assert "  gaze      Measure gazes." in listed.stdout and listed.returncode == 0


def test_its_tables_stand_in_the_codebook(tmp_path: Path) -> None:
    book = run(tmp_path, "gazes_of_readers:FAMILY", "-m", "clinometer.directory.codebook")
    assert "## Gazes\n" in book.stdout and "seconds that a word is looked at" in book.stdout


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("gazes_of_readers:_tables", "gazes_of_readers:_tables is no Family"),
        ("gazes_of_readers:SECOND", "'networks' already exists; rename it"),
        ("not_there:FAMILY", "No module named 'not_there'"),
    ],
)
def test_a_broken_one_is_named_and_stops_nothing(tmp_path: Path, target: str, says: str) -> None:
    done = run(tmp_path, target, "-m", "clinometer", "list")
    assert done.returncode == 0 and "word_association" in done.stdout
    assert done.stderr == f"clinometer: family 'gazes' of readers is left out: {says}\n"
