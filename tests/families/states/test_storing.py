"""States on disk."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("safetensors", reason="extra `local` not installed")

from safetensors.numpy import load_file, save_file

from clinometer.errors import ClinometerWarning, InputError
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.storing import read_states, store_path

ROWS = [("null", "nan", "a nan"), ("é|1", "é", "é"), ("null", "nan", "nan")]


@dataclass
class Counting:
    """Gives random states, and counts how often it is asked."""

    name: str = "counting"
    fingerprint: str = "f"
    layers: tuple[str, ...] = ("0", "1")
    heights: list[int] = field(default_factory=list)

    def read(self, contexts: pl.DataFrame) -> HiddenStates:
        self.heights.append(contexts.height)
        values = np.random.default_rng(0).normal(size=(2, 2, 3)).astype(np.float32)
        return HiddenStates(("null", "é|1"), self.layers, values, np.array([2, 1]))


def test_what_was_read_is_taken_from_the_store(tmp_path: Path, table: Any) -> None:
    reader = Counting()
    first, second = (read_states(reader, table(ROWS), tmp_path / "new") for _ in range(2))
    assert reader.heights == [3] and second.keys == first.keys and second.layers == first.layers
    assert np.array_equal(second.values, first.values) and second.values.dtype == np.float32
    assert list(second.counts) == [2, 1]


def test_without_a_store_nothing_is_kept(tmp_path: Path, table: Any) -> None:
    reader = Counting()
    for _ in range(2):
        read_states(reader, table(ROWS))
    assert reader.heights == [3, 3]


def test_another_model_layer_or_context_is_another_file(tmp_path: Path, table: Any) -> None:
    changed_rows = [*ROWS[:2], ("null", "nan", "nan!")]
    paths = {
        store_path(reader, table(rows), tmp_path)
        for reader, rows in [
            (Counting(), ROWS),
            (Counting(fingerprint="g"), ROWS),
            (Counting(layers=("0",)), ROWS),
            (Counting(), changed_rows),
            (Counting(), ROWS[::-1]),
        ]
    }
    assert len(paths) == 5


def test_the_file_is_safetensors_of_terms_layers_and_width(tmp_path: Path, table: Any) -> None:
    states = read_states(Counting(), table(ROWS), tmp_path)
    (path,) = tmp_path.iterdir()
    stored = load_file(path)
    assert stored["values"].shape == (2, 2, 3) and list(stored["counts"]) == [2, 1]
    assert np.array_equal(stored["values"], states.values)


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "keys", "other"])
def test_a_broken_file_is_made_anew(tmp_path: Path, table: Any, damage: str) -> None:
    reader = Counting()
    stored = read_states(reader, table(ROWS), tmp_path)
    (path,) = tmp_path.iterdir()
    if damage in ("keys", "other"):
        metadata = {"keys": '["null"]', "layers": '["0", "1"]'} if damage == "keys" else None
        save_file(load_file(path), path, metadata=metadata)
    else:
        content = path.read_bytes()
        path.write_bytes({"cut": content[:-8], "noise": b"x" * 99, "empty": b""}[damage])
    with pytest.warns(ClinometerWarning, match="made anew"):
        again = read_states(reader, table(ROWS), tmp_path)
    assert np.array_equal(again.values, stored.values) and len(reader.heights) == 2
    read_states(reader, table(ROWS), tmp_path)
    assert len(reader.heights) == 2 and list(tmp_path.iterdir()) == [path]


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path, table: Any) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="store .*file: .*name a folder"):
        read_states(Counting(), table(ROWS), tmp_path / "file")


def test_a_model_is_stored_and_read_again(tmp_path: Path, table: Any, tiny_reader: Any) -> None:
    rows = [("a", "kind", "a kind man"), ("a", "kind", "kind"), ("b", "he", "he")]
    first = read_states(tiny_reader("bert"), table(rows), tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    second = read_states(tiny_reader("bert"), table(rows), tmp_path)
    assert np.array_equal(first.values, second.values) and first.keys == second.keys == ("a", "b")
