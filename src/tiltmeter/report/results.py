"""What a results directory holds, read with suspicion.

Every text in it is untrusted and every key of ``plan.json`` may be absent: what is missing or
of the wrong type is left out. Only the plan and the estimates must be there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.frames import ESTIMATES, REASONS, WORDS, Measure, check

__all__ = ["Plan", "Results", "Stereotype", "read_plan", "read_results"]

_GROUPS = (
    "model",
    "study",
    "instrument",
    "mode",
    "category",
    "stereotype",
    "marginalized",
    "default",
)

#: The columns the report reads of single responses.
_RESPONSES = ("model", "mode", "stereotype", "variation", "trial_id", "prompt", "response")
_SCORES = (*_GROUPS, "trial_id", "score", "reason", "coverage")


@dataclass(frozen=True)
class Stereotype:
    """One contrast as the plan describes it."""

    key: str
    label: str
    category: str
    marginalized: tuple[str, ...]
    default: tuple[str, ...]
    tied: tuple[str, ...]
    counter: tuple[str, ...]
    defects: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """``plan.json``: the texts and lists the report uses, and the raw mapping."""

    raw: Mapping[str, Any]
    instruments: Mapping[str, Measure]
    methods: Mapping[str, str]
    stereotypes: Mapping[str, Stereotype]
    interval: str = "95% interval"

    def text(self, key: str) -> str:
        """Give a scalar of the plan as text; empty where there is none."""
        return _text(self.raw.get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Give a list of the plan as texts; empty where there is none."""
        return _texts(self.raw.get(key))

    def number(self, key: str) -> float | None:
        """Give a number of the plan; None where there is none."""
        value = self.raw.get(key)
        return float(value) if isinstance(value, int | float) else None

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Give a flat mapping of the plan as pairs of texts."""
        value = self.raw.get(key)
        return tuple((str(k), _text(v)) for k, v in value.items()) if _is_map(value) else ()

    def label(self, stereotype: str) -> str:
        """Give the label of a stereotype; its key where two share a label or none is given."""
        known = self.stereotypes.get(stereotype)
        if known is None:
            return stereotype
        same = sum(other.label == known.label for other in self.stereotypes.values())
        return known.label if same == 1 else f"{known.label} ({stereotype})"

    def controls(self) -> list[str]:
        """Name the studies whose answer is known beforehand."""
        return [name for name, _ in self.pairs("controls")]

    def measure(self, instrument: str) -> Measure:
        """Give what an instrument's number means, as far as the plan says so."""
        return self.instruments.get(instrument) or Measure(instrument, instrument, -1, 1, 0, "", "")


@dataclass(frozen=True)
class Results:
    """A results directory; the frames of single responses stay on disk."""

    directory: Path
    plan: Plan
    estimates: pl.DataFrame
    words: pl.DataFrame
    compliance: pl.DataFrame
    responses: pl.LazyFrame | None
    scores: pl.LazyFrame | None


def read_plan(path: Path) -> Plan:
    """Read ``plan.json``.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Plan
        What of it could be understood.

    Raises
    ------
    InputError
        If there is no such file or it is not a JSON object.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        raise InputError(f"{path}: not found; give a directory that a run has written") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not _is_map(raw):
        raise InputError(f"{path}: a JSON object is expected, not {type(raw).__name__}")
    rows = [row for row in _list(raw.get("instruments")) if _is_map(row)]
    stereotypes = raw.get("stereotypes")
    return Plan(
        raw=raw,
        instruments={_text(row.get("instrument")): _measure(row) for row in rows},
        methods={_text(row.get("instrument")): _text(row.get("how")) for row in rows},
        stereotypes={
            str(key): _stereotype(str(key), row)
            for key, row in (stereotypes.items() if _is_map(stereotypes) else ())
            if _is_map(row)
        },
    )


def read_results(directory: str | Path) -> Results:
    """Read a results directory.

    Parameters
    ----------
    directory
        Holds ``plan.json`` and ``estimates.parquet``; ``responses.parquet``,
        ``scores.parquet``, ``words.parquet`` and ``compliance.parquet`` where there are any.

    Returns
    -------
    Results
        Small tables in memory, responses and scores as scans.

    Raises
    ------
    InputError
        If the plan or the estimates are missing or malformed.
    """
    path = Path(directory)
    plan = read_plan(path / "plan.json")
    if not (path / "estimates.parquet").is_file():
        raise InputError(f"{path / 'estimates.parquet'}: not found; estimate the scores first")
    estimates = check(_parquet(path / "estimates.parquet"), ESTIMATES, "estimates.parquet")
    confidences = estimates["confidence"].drop_nulls().unique().sort()
    shown = " or ".join(f"{100 * value:g}%" for value in confidences) or "95%"
    scores = _scan(path / "scores.parquet", _SCORES)
    words = path / "words.parquet"
    return Results(
        directory=path,
        plan=replace(plan, interval=f"{shown} interval"),
        estimates=_never_pooled(estimates),
        words=(
            check(_parquet(words), WORDS, "words.parquet")
            if words.is_file()
            else pl.DataFrame(schema=WORDS)
        ),
        compliance=_compliance(path / "compliance.parquet", scores),
        responses=_scan(path / "responses.parquet", _RESPONSES),
        scores=scores,
    )


def _never_pooled(frame: pl.DataFrame) -> pl.DataFrame:
    """Name word list and scoring beside the mode where there are several of them."""
    beside = [
        pl.col(name)
        for name in ("word_list", "scoring")
        if name in frame.columns and frame[name].drop_nulls().n_unique() > 1
    ]
    if not beside:
        return frame
    return frame.with_columns(pl.concat_str(["mode", *beside], separator=", ", ignore_nulls=True))


def _compliance(path: Path, scores: pl.LazyFrame | None) -> pl.DataFrame:
    """Count responses by reason per stereotype and pair of group words."""
    counts = [f"n_{reason}" for reason in REASONS]
    if path.is_file():
        frame = _never_pooled(_parquet(path))
        if {"model", "mode", "stereotype", "n", "n_scored", *counts} <= set(frame.columns):
            absent = [pl.lit(None, pl.String).alias(c) for c in _GROUPS if c not in frame.columns]
            frame = frame.with_columns(absent)
            return frame.group_by(_GROUPS).agg(pl.col("n", "n_scored", *counts).sum()).sort(_GROUPS)
    if scores is None:
        numbers = dict.fromkeys(["n", "n_scored", *counts], pl.Int64())
        return pl.DataFrame(schema={**dict.fromkeys(_GROUPS, pl.String()), **numbers})
    reasons = [(pl.col("reason") == reason).sum().alias(f"n_{reason}") for reason in REASONS]
    tally = scores.group_by(_GROUPS).agg(
        pl.len().alias("n"), pl.col("score").count().alias("n_scored"), *reasons
    )
    tally = tally.with_columns(pl.col("n", "n_scored", *counts).cast(pl.Int64))
    return tally.sort(_GROUPS).collect(engine="streaming")


def _parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not a parquet table: {str(error).splitlines()[0]}") from None


def _scan(path: Path, columns: tuple[str, ...]) -> pl.LazyFrame | None:
    if not path.is_file():
        return None
    try:
        frame = pl.scan_parquet(path)
        names = set(frame.collect_schema().names())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not a parquet table: {str(error).splitlines()[0]}") from None
    missing = [column for column in columns if column not in names]
    if missing:
        raise InputError(f"{path}: missing column {', '.join(missing)}")
    return frame


def _measure(row: Mapping[str, Any]) -> Measure:
    name = _text(row.get("instrument"))
    low, high, neutral = (
        float(value) if isinstance(value := row.get(key), int | float) else fallback
        for key, fallback in (("low", -1.0), ("high", 1.0), ("neutral", 0.0))
    )
    title = _text(row.get("title")) or name
    return Measure(
        name, title, low, high, neutral, _text(row.get("direction")), _text(row.get("reference"))
    )


def _stereotype(key: str, row: Mapping[str, Any]) -> Stereotype:
    return Stereotype(
        key=key,
        label=_text(row.get("label")) or key,
        category=_text(row.get("category")),
        marginalized=_texts(row.get("marginalized")),
        default=_texts(row.get("default")),
        tied=_texts(row.get("tied")),
        counter=_texts(row.get("counter")),
        defects=_texts(row.get("defects")),
    )


def _is_map(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(_text(item) for item in _list(value) if _text(item))
