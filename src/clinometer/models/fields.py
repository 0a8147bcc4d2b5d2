"""Fields of what a server sent, whatever they hold: numbers, objects, lists and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from clinometer.numbers import as_number
from clinometer.secrets import withhold
from clinometer.texts import encodable, visible

#: Longest name of a model, error and token that is kept, in characters.
LONGEST = 400

#: Objects and lists that hold parts of an answer, or say what went wrong, are read so deep.
DEEPEST = 4

#: A greater number of tokens counts as this one, which every column and price can hold.
_GREATEST = 10**12


def as_count(value: Any) -> int | None:
    """Return a number of tokens; None for what cannot be one, such as a text or one below 0."""
    # NaN is not from 0 on, either. `math.isfinite` refuses integers of more than 308 digits.
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        return None
    return int(min(value, _GREATEST))


def as_object(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one in the place of anything else."""
    return value if isinstance(value, Mapping) else {}


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def clean_text(value: Any) -> str:
    """Return a text in one line, without what a terminal acts on, and cut; else a number as one."""
    if isinstance(value, str):
        # Before it is cut: a part of a key is not known by its value any more.
        return visible(encodable(" ".join(withhold(value).split())))[:LONGEST]
    return "" if (number := as_number(value)) is None else f"{number:.15g}"


def describe_kind(value: Any) -> str:
    """Say what stands in a field, in a word or two."""
    if value is None:
        return "missing"
    if isinstance(value, Sequence | Mapping) and not value:
        return "empty"
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "a list" if isinstance(value, Sequence) else "an object")
