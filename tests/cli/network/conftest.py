"""A small network and a study of it."""

from __future__ import annotations

from pathlib import Path

import pytest

EDGES = """src,tgt,wt
woman,kind,3
man,leader,4
woman,man,2
girl,kind,2
boy,leader,2
girl,boy,3
null,kind,5
"""


STUDY = """
name: mine
identities:
  gender:
    approach: stereotypes
    pairs: [{female: woman, male: man}, {female: girl, male: boy}]
    targets: {female: [kind], male: [leader]}
  family: {approach: valence, primes: [woman, man]}
"""


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    (tmp_path / "mine.yaml").write_text(STUDY, encoding="utf-8")
    path = tmp_path / "mine.csv"
    path.write_text(EDGES, encoding="utf-8")
    return path
