"""Static word vectors, read from a file as FastText writes it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from clinometer.errors import ClinometerWarning, ModelError
from clinometer_measures.states.contexts import alone, in_templates
from clinometer_measures.states.readers.opening import open_reader

LINES = "4 3\nwarm 1 0 0 \nold -0.5 2 1e-1 \nfriend 0 4 0 \nMary 3 3 3 \n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.vec"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_a_word_has_its_vector_whatever_its_context(path: Path) -> None:
    reader = open_reader(str(path))
    states = reader.read(pl.concat([alone(["Warm"]), in_templates(["Mary"])]))
    assert (states.layers, states.keys[:2]) == (("0",), ("Warm", "Mary|1"))
    assert states.values[:, 0].tolist() == [[1, 0, 0], *[[3, 3, 3]] * 7]
    assert states.counts.tolist() == [1] * 8


def test_a_phrase_is_the_mean_of_its_words(path: Path) -> None:
    states = open_reader(str(path)).read(alone(["old friend", "warm-old"]))
    assert states.values[:, 0] == pytest.approx(np.array([[-0.25, 3, 0.05], [0.25, 1, 0.05]]))


def test_terms_without_a_vector_are_left_out(path: Path) -> None:
    with pytest.warns(ClinometerWarning, match=r"no vector of 2 of 3 terms.*cold, old foe"):
        states = open_reader(str(path)).read(alone(["cold", "warm", "old foe"]))
    assert states.keys == ("warm",)
    with pytest.raises(ModelError, match="none of 1 terms has a vector"):
        open_reader(str(path)).read(alone(["cold"]))


def test_packed_and_without_a_first_line_it_is_the_same(path: Path, tmp_path: Path) -> None:
    packed = tmp_path / "tiny.vec.gz"
    packed.write_bytes(gzip.compress(LINES.partition("\n")[2].encode()))
    plain_reader, packed_reader = (open_reader(str(file)) for file in (path, packed))
    frame = alone(["warm", "old"])
    assert plain_reader.read(frame).values.tolist() == packed_reader.read(frame).values.tolist()
    assert plain_reader.fingerprint != packed_reader.fingerprint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no vectors"),
        ("4 3\n", "no vectors"),
        ("warm\n", "line 1: expected a word and its numbers"),
        ("warm 1 0 0\nold 1 0\n", "line 2: old: 2 numbers; 3 are expected"),
        ("warm 1 0 0\nold 1 x 0\n", "line 2: old: expected numbers"),
        ("warm 1 0 0\nold 1 nan 0\n", "line 2: old: a number is not finite"),
        ("warm 1 0 0\nold 1 1e999 0\n", "line 2: old: a number is not finite"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.vec"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        open_reader(str(path)).read(alone(["warm", "old"]))


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="No such file"):
        open_reader(str(tmp_path / "none.vec"))
    (tmp_path / "bad.vec.gz").write_bytes(b"not packed")
    with pytest.raises(ModelError, match="gzip"):
        open_reader(str(tmp_path / "bad.vec.gz"))
