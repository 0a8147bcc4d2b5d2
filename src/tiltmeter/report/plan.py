"""The plan of a run, read with suspicion: what decides which prompts were asked.

Every text in it is untrusted and every key may be absent: what is missing or of the wrong type
is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from tiltmeter.errors import InputError
from tiltmeter.frames import Measure

__all__ = ["Plan", "Stereotype", "read_plan", "spaced"]


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
        return _number(self.raw.get(key))

    def numbers(self, key: str) -> dict[str, float]:
        """Give a flat mapping of the plan to numbers; what is no number is left out."""
        value = self.raw.get(key)
        found = {str(k): _number(v) for k, v in value.items()} if _is_map(value) else {}
        return {name: number for name, number in found.items() if number is not None}

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
        unknown = Measure(instrument, spaced(instrument), -1, 1, 0, "", "")
        return self.instruments.get(instrument) or unknown


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
    except (ValueError, RecursionError) as error:
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


def _measure(row: Mapping[str, Any]) -> Measure:
    name = _text(row.get("instrument"))
    ends = (("low", -1.0), ("high", 1.0), ("neutral", 0.0))
    found = [(_number(row.get(key)), fallback) for key, fallback in ends]
    low, high, neutral = (fallback if value is None else value for value, fallback in found)
    title = _text(row.get("title")) or spaced(name)
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


def spaced(key: str) -> str:
    """Write a key as a title."""
    return key.replace("_", " ").capitalize()


def _number(value: object) -> float | None:
    """Give a finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


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
