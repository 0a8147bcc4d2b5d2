"""Association shards: answers of a model, one JSON object a line, as ``network associate`` writes.

A line is ``{"cue": str, "repetition": int, "responses": [str, ...], "error": str or null, ...}``.
A run that was stopped leaves a torn line, one that was resumed may ask twice: torn lines are
skipped, and of several answers to one question the last counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.errors import InputError
from tiltmeter.results.columns import Schema
from tiltmeter.results.records import find_fault, read_lines

__all__ = ["answers"]

#: Lines held at a time.
PIECE = 50_000


def answers(folder: Path, skipped: Counter[str]) -> Iterator[pl.DataFrame]:
    """Read a directory of shards piece by piece.

    Parameters
    ----------
    folder
        A directory of results (its shards are below ``answers/``), or one of shards; of one
        model.
    skipped
        Is told how many lines were ``malformed``, ``failed`` (with an error) and ``repeated``.

    Yields
    ------
    polars.DataFrame
        Columns ``answer`` (a number per line), ``cue`` and ``response`` (text); one row per
        response, in the order given.

    Raises
    ------
    InputError
        If the directory holds no ``.jsonl`` file, or those of several models.
    """
    shards = _find(folder)
    last = _last(shards)
    rows: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(_answers(shards, skipped)):
        if not last[number]:
            skipped["repeated"] += 1
            continue
        rows.append((number, line["cue"], line["responses"]))
        if len(rows) == PIECE:
            yield _frame(rows)
            rows = []
    yield _frame(rows)


def _find(folder: Path) -> list[Path]:
    within = folder / "answers" if (folder / "answers").is_dir() else folder
    shards = sorted(within.rglob("*.jsonl"))
    if not shards:
        raise InputError(f"{folder}: no .jsonl file in {within.name}/; expected association shards")
    models = sorted({str(shard.parent) for shard in shards})
    if len(models) > 1:
        raise InputError(f"{folder}: answers of several models; name one: {', '.join(models)}")
    return shards


def _last(shards: list[Path]) -> NDArray[np.bool_]:
    """Mark the lines that no later line replaces, holding one number per line."""
    lines = _answers(shards, Counter())
    keys = np.fromiter((hash((line["cue"], line["repetition"])) for line in lines), np.int64)
    _, from_end = np.unique(keys[::-1], return_index=True)
    last = np.zeros(len(keys), dtype=bool)
    last[len(keys) - 1 - from_end] = True
    return last


def _answers(shards: list[Path], skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    for shard in shards:
        for line in read_lines(shard):
            fault = find_fault(line)
            if line is None or fault is not None:
                skipped[fault or "malformed"] += 1
            else:
                yield line


def _frame(rows: list[tuple[int, str, list[str]]]) -> pl.DataFrame:
    schema: Schema = {"answer": pl.Int64(), "cue": pl.String(), "response": pl.List(pl.String())}
    return pl.DataFrame(rows, schema=schema, orient="row").explode("response", empty_as_null=True)
