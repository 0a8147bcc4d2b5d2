"""What stands inside models, in a results directory: the tables, and where they came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.audits.state_facts import check_names, say_measured, say_read
from tiltmeter.audits.states import (
    Profiling,
    Tables,
    Testing,
    join_tables,
    measure_states,
)
from tiltmeter.models.readers.states import Reader
from tiltmeter.results.states import REPRESENTATION_TABLES
from tiltmeter.results.tables import keep_table

__all__ = ["FACTS", "measure_each", "write_representation"]

#: The file that says what was measured, beside the tables.
FACTS = "representation.json"


def measure_each(
    readers: Iterable[Reader],
    profiling: Profiling | None,
    testing: Testing | None,
    *,
    removed: Sequence[int] = (0,),
    store: Path | None = None,
) -> Iterator[tuple[dict[str, Any], Tables]]:
    """Measure models one after another.

    Parameters
    ----------
    readers
        The models, with distinct names; where they are opened one by one, none is held while the
        next is opened.
    profiling, testing, removed, store
        As for `measure_states`.

    Yields
    ------
    said : dict
        Which model was read, and how (`say_read`).
    tables : dict
        As `measure_states` gives them.

    Raises
    ------
    InputError, ModelError
        As for `measure_states`; also if two models have one name.
    """
    names: list[str] = []
    for reader in readers:
        check_names([*names, reader.name])
        names.append(reader.name)
        tables = measure_states(reader, profiling, testing, removed=removed, store=store)
        said = say_read(reader)
        del reader
        yield said, tables


def write_representation(
    readers: Iterable[Reader],
    profiling: Profiling | None,
    testing: Testing | None,
    directory: Path,
    *,
    removed: Sequence[int] = (0,),
    store: Path | None = None,
) -> Tables:
    """Measure models and write the tables down, anew after each model.

    Parameters
    ----------
    readers, profiling, testing, removed, store
        As for `measure_each`.
    directory
        A results directory; each table becomes a parquet file of the name in
        REPRESENTATION_TABLES.

    Returns
    -------
    dict
        Name → table, those with rows.

    Raises
    ------
    InputError, ModelError
        As for `measure_each`; the models before are written by then.
    """
    new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    told: list[dict[str, Any]] = []
    tables: Tables = {}
    how: dict[str, Any] = {"removed": removed, "store": store}
    try:
        for said, found in measure_each(readers, profiling, testing, **how):
            told.append(said)
            tables = join_tables([tables, found])
            _write(tables, say_measured(told, profiling, testing, removed), directory)
    finally:
        if new and not told:
            with suppress(OSError):  # the store may be in it
                directory.rmdir()
    return tables


def _write(tables: Tables, facts: dict[str, Any], directory: Path) -> None:
    for name in REPRESENTATION_TABLES:
        keep_table(tables.get(name, pl.DataFrame()), directory / f"{name}.parquet")
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    (directory / FACTS).write_text(text + "\n", encoding="utf-8")
