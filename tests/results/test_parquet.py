"""Damage to parquet files is an InputError, wherever it shows, and nothing else is printed."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.exceptions import PanicException

from clinometer.errors import InputError
from clinometer.results import parquet
from clinometer.results.columns import columns
from clinometer.results.tables import as_frame, pieces, read_table, scan_table

SCHEMA = columns("model", "trial_id", "score")
FRAME = pl.DataFrame(
    {
        "model": ["m", "n"] * 300,
        "trial_id": [str(n * 7919) for n in range(600)],
        "score": [n / 600 if n % 3 else None for n in range(600)],
    }
)
READERS: list[Callable[[Path], object]] = [
    read_table,
    lambda path: list(pieces(path, 100)),
    lambda path: scan_table(path, SCHEMA).collect(),
    lambda path: scan_table(path, SCHEMA).filter(model="m").select("score").collect(),
    lambda path: as_frame(str(path), "scores"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    FRAME.write_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def damage(path: Path, seed: int) -> None:
    """Flip bytes in pages or in the footer, zero some, or cut the file off."""
    rng, data = random.Random(seed), bytearray(path.read_bytes())
    pages = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    kind = seed % 5
    if kind == 4:
        data = data[: rng.randrange(len(data))]
    elif kind == 3:
        start = rng.randrange(len(data))
        data[start : start + 64] = bytes(len(data[start : start + 64]))
    else:
        places = range(4, pages) if kind else range(pages, len(data))
        for place in rng.sample(places, rng.choice([1, 3, 20])):
            data[place] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_is_read_or_refused(
    path: Path, seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    damage(path, seed)
    for reader in READERS:
        try:
            reader(path)
        except InputError as error:
            assert str(error).startswith(f"{path}: ") and len(str(error).splitlines()) == 1
    assert capfd.readouterr() == ("", "")


def test_a_panic_is_not_printed(
    path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def panic(*_: object, **__: object) -> None:
        os.write(2, b"thread panicked at ...")
        raise PanicException("offset + length <= self.length")

    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    monkeypatch.setattr(pl, "read_parquet", panic)
    for reader in (READERS[0], READERS[1]):
        with pytest.raises(InputError, match="damaged; restore the file"):
            reader(path)
    os.write(2, b"after")
    assert capfd.readouterr().err == "after"


def test_what_others_print_while_a_table_is_read_is_passed_on(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with parquet.reading(path), parquet.reading(path):
        os.write(2, b"one, ")
    with pytest.raises(InputError), parquet.reading(path), parquet.reading(path):
        os.write(2, b"two")
        raise pl.exceptions.ComputeError("damaged")
    assert capfd.readouterr().err == "one, two"


def test_a_table_is_read_without_standard_error(path: Path) -> None:
    real = os.dup(2)
    os.close(2)
    try:
        assert read_table(path).equals(FRAME)
    finally:
        os.dup2(real, 2)
        os.close(real)


def test_a_scan_gives_what_reading_gives(path: Path) -> None:
    scan = scan_table(path, SCHEMA)
    assert scan.collect().equals(FRAME)
    assert (
        scan.filter(model="n")
        .select("score")
        .sum()
        .collect()
        .equals(FRAME.filter(model="n").select("score").sum())
    )
    assert scan.slice(5, 10).select("trial_id").collect().equals(FRAME[5:15].select("trial_id"))
    assert scan.filter(model="n").head(3).collect().equals(FRAME.filter(model="n").head(3))
    assert scan.select(pl.len()).collect().item() == 600
    merged = scan.join(scan.filter(model="m"), on="trial_id", how="semi").collect()
    assert merged.equals(FRAME.filter(model="m"))
