"""Facts from a JSON file, read with suspicion.

Every text in them is untrusted and every key may be absent: what is missing or of the wrong type
is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clinometer.errors import InputError
from clinometer.numbers import as_number


@dataclass(frozen=True)
class Facts:
    """A mapping of a file; each method gives what has the right type, and nothing for the rest."""

    raw: Mapping[str, Any] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return a text, or a number as text; empty where there is none."""
        return _as_text(self.raw.get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts of a list, or a text alone; empty where there is none."""
        value = self.raw.get(key)
        if isinstance(value, str):
            return (value,)
        return tuple(filter(None, map(_as_text, self._items(key))))

    def number(self, key: str) -> float | None:
        """Return a finite number; None where there is none."""
        return as_number(self.raw.get(key))

    def numbers(self, key: str) -> dict[str, float]:
        """Return a flat mapping to numbers; what is no number is left out."""
        numbers = {name: as_number(value) for name, value in self._mapping(key).items()}
        return {name: number for name, number in numbers.items() if number is not None}

    def is_false(self, key: str) -> bool:
        """Return whether a fact is given and false."""
        return self.raw.get(key) is False

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return a flat mapping as pairs of texts."""
        return tuple((name, _as_text(value)) for name, value in self._mapping(key).items())

    def labels(self, key: str) -> dict[str, str]:
        """Return labels by name, each given as a text or under ``label``; the name without one."""
        by_name = self.parts_by_name(key)
        texts = dict(self.pairs(key))
        return {
            name: (by_name[name].text("label") if name in by_name else text) or name
            for name, text in texts.items()
        }

    def part(self, key: str) -> Facts:
        """Return a mapping in it as facts; none where there is no mapping."""
        return Facts(self._mapping(key))

    def parts(self, key: str) -> tuple[Facts, ...]:
        """Return each mapping of a list as facts."""
        return tuple(Facts(item) for item in self._items(key) if isinstance(item, Mapping))

    def parts_by_name(self, key: str) -> dict[str, Facts]:
        """Return each mapping of a mapping as facts, by its name."""
        items = self._mapping(key).items()
        return {name: Facts(value) for name, value in items if isinstance(value, Mapping)}

    def _items(self, key: str) -> list[Any]:
        value = self.raw.get(key)
        return list(value) if isinstance(value, list | tuple) else []

    def _mapping(self, key: str) -> dict[str, Any]:
        value = self.raw.get(key)
        return (
            {str(name): item for name, item in value.items()} if isinstance(value, Mapping) else {}
        )


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
    if not isinstance(raw, Mapping):
        raise InputError(f"{path}: a JSON object is expected, not {type(raw).__name__}")
    return Facts(raw)


def spaced(key: str) -> str:
    """Write a key as a title."""
    return key.replace("_", " ").capitalize()


def _as_text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else ""
