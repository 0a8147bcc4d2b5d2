"""Responses out of inspect logs, so that ``inspect eval tiltmeter/…`` feeds ``tiltmeter score``.

An ``.eval`` file is a zip with one member of JSON per sample. Members are read one at a time:
building inspect's own sample objects takes some 15 ms each.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.modes.mode import encodable
from tiltmeter.results import RESPONSES

__all__ = ["read_logs"]

PIECE = 5_000


def read_logs(path: Path) -> Iterator[pl.DataFrame]:
    """Yield the responses of a log, or of all logs in a folder.

    Parameters
    ----------
    path
        An ``.eval`` file, finished or not, or a folder with such files.

    Yields
    ------
    polars.DataFrame
        Columns of `frames.RESPONSES`; samples that were never asked are left out.

    Raises
    ------
    InputError
        If there is no log, a log is not readable, or its samples are not Tiltmeter's.
    """
    paths = sorted(path.glob("**/*.eval")) if path.is_dir() else [path]
    if not paths:
        raise InputError(f"{path}: no .eval log in this folder")
    rows: list[dict[str, Any]] = []
    for log in paths:
        for row in _rows(log):
            rows.append(row)
            if len(rows) == PIECE:
                yield pl.DataFrame(rows, schema=RESPONSES)
                rows = []
    yield pl.DataFrame(rows, schema=RESPONSES)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of the logs

    try:
        with zipfile.ZipFile(path) as log:
            names = log.namelist()
            start = "header.json" if "header.json" in names else "_journal/start.json"
            model = json.loads(log.read(start))["eval"]["model"]
            for name in names:
                if name.startswith("samples/"):
                    sample = json.loads(log.read(name))
                    if (row := _row(sample, model)) is not None:
                        yield row
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise InputError(f"{path}: not readable as a Tiltmeter log: {error}") from None


def _row(sample: dict[str, Any], model: str) -> dict[str, Any] | None:
    trial = sample["metadata"]
    if "trial_id" not in trial:
        raise KeyError(f"sample {sample.get('id')} has no trial in its metadata")
    if trial.get("unasked"):
        return None
    error = sample.get("error")
    choices = sample["output"].get("choices") or [{}]
    usage = sample["output"].get("usage") or {}
    return {
        "model": model,
        **{name: trial.get(name) for name in RESPONSES if name in trial},
        "response": None
        if error
        else encodable(_text(choices[0].get("message", {}).get("content", ""))),
        "stop_reason": choices[0].get("stop_reason"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "error": error["message"] if error else None,
    }


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if part.get("type") == "text")
