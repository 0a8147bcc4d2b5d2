"""The data files are those of the index."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import clinometer_measures.networks

FOLDER = Path(clinometer_measures.networks.__file__).parent
FILES = [FOLDER / "priming.csv", *sorted((FOLDER / "wordnet").glob("*[!.md]"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_the_one_in_the_index(path: Path) -> None:
    index = (path.parent / "README.md").read_text(encoding="utf-8")
    checksum = re.search(rf"`{re.escape(path.name)}`.*?`([0-9a-f]{{64}})`", index)
    assert checksum, path.name
    assert hashlib.sha256(path.read_bytes()).hexdigest() == checksum[1]
