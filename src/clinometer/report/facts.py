"""Facts from a JSON file, read with suspicion.

Every text in them is untrusted and every key may be absent: what is missing or of the wrong type
is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from clinometer.errors import InputError

__all__ = [
    "Facts",
    "as_facts",
    "as_items",
    "as_list",
    "as_number",
    "as_text",
    "as_texts",
    "is_map",
    "read_facts",
    "spaced",
]


@dataclass(frozen=True)
class Facts:
    """A mapping of a file; each method gives what has the right type, and nothing for the rest."""

    raw: Mapping[str, Any] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return a scalar as text; empty where there is none."""
        return as_text(self.raw.get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list as texts; empty where there is none."""
        return as_texts(self.raw.get(key))

    def number(self, key: str) -> float | None:
        """Return a number; None where there is none."""
        return as_number(self.raw.get(key))

    def numbers(self, key: str) -> dict[str, float]:
        """Return a flat mapping to numbers; what is no number is left out."""
        value = self.raw.get(key)
        numbers = {str(k): as_number(v) for k, v in value.items()} if is_map(value) else {}
        return {name: number for name, number in numbers.items() if number is not None}

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return a flat mapping as pairs of texts."""
        value = self.raw.get(key)
        return tuple((str(k), as_text(v)) for k, v in value.items()) if is_map(value) else ()

    def part(self, key: str) -> Facts:
        """Return a mapping in it as facts; none where there is no mapping."""
        return as_facts(self.raw.get(key))

    def parts(self, key: str) -> tuple[Facts, ...]:
        """Return each mapping of a list as facts."""
        return tuple(as_facts(item) for item in as_list(self.raw.get(key)) if is_map(item))


def read_facts(path: Path) -> Facts:
    """Read a JSON file of facts; empty where there is no such file.

    Raises InputError if it is not a JSON object.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return Facts()
    except (ValueError, RecursionError) as error:  # of brackets nested without end
        raise InputError(f"{path}: not JSON: {error}") from None
    if not is_map(raw):
        raise InputError(f"{path}: a JSON object is expected, not {type(raw).__name__}")
    return Facts(raw)


def as_facts(value: object) -> Facts:
    """Return a mapping as facts; none for anything else."""
    return Facts(value if is_map(value) else {})


def spaced(key: str) -> str:
    """Write a key as a title."""
    return key.replace("_", " ").capitalize()


def as_number(value: object) -> float | None:
    """Return a finite number; None for anything else."""
    # To Python a truth value is an integer; here it is no number.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # an integer that is too large for a float
        return None


def is_map(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is a mapping."""
    return isinstance(value, Mapping)


def as_items(value: object) -> list[tuple[str, Any]]:
    """Return the items of a mapping, keys as text; none for anything else."""
    return [(str(key), item) for key, item in value.items()] if is_map(value) else []


def as_list(value: object) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return list(value) if isinstance(value, list | tuple) else []


def as_text(value: object) -> str:
    """Return a text or a number as text; empty for anything else."""
    return str(value) if isinstance(value, str | int | float) else ""


def as_texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or a text alone; none for anything else."""
    if isinstance(value, str):
        return (value,)
    return tuple(as_text(item) for item in as_list(value) if as_text(item))
