"""Lines of a file of contexts; what is wrong in one is said with its number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiltmeter.errors import InputError
from tiltmeter.models.readers.terms import locate

__all__ = ["holds", "read_lines"]


def read_lines(
    path: Path, wanted: Mapping[str, str], most: int, skip_missing: bool
) -> dict[str, list[str]]:
    """Read the sentences of some senses.

    Parameters
    ----------
    path
        A file of JSON lines.
    wanted
        The keys of the senses and their terms; other lines are left out.
    most
        Sentences per sense, the first ones.
    skip_missing
        Leave out a sentence that does not hold its term.

    Returns
    -------
    dict
        Key → sentences; only what the file has.

    Raises
    ------
    InputError
        See `examples.read_examples`.
    """
    found: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for number, row in _lines(path):
        key, given = _sense(row, f"{path}:{number}")
        if key not in wanted:
            continue
        if found.setdefault(key, given) != given:
            raise InputError(
                f"{path}:{number}: {key!r} has other examples in line {lines[key]}; keep one line"
            )
        lines.setdefault(key, number)
    held = {}
    for key, given in found.items():
        term = wanted[key]
        kept = [text for text in given if holds(term, text)] if skip_missing else given
        held[key] = kept[:most]
        for text in held[key]:
            if not holds(term, text):
                raise InputError(
                    f"{path}:{lines[key]}: {term!r} is no word of the example {text!r}; correct "
                    "it, or skip such examples"
                )
    return held


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield what stands in the lines of a file that are not blank, with their numbers."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 after line {number}: {error.reason}") from None
    except (ValueError, RecursionError):
        raise InputError(
            f'{path}:{number}: not a line of JSON, such as {{"term": "warm", "examples": ["…"]}}'
        ) from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _sense(row: Any, where: str) -> tuple[str, list[str]]:
    """Read a line: the key and the examples."""
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected an object with term and examples")
    term, synset, given = row.get("term"), row.get("synset"), row.get("examples")
    if not isinstance(term, str) or not term.strip():
        raise InputError(f"{where}: term {term!r}: expected a word")
    if synset is not None and not isinstance(synset, str):
        raise InputError(f"{where}: synset {synset!r}: expected a text such as warm.a.02, or null")
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise InputError(f"{where}: examples of {term!r}: expected a list of sentences")
    term = term.strip()
    return (f"{term}|{synset}" if synset else term), [text for text in given if text.strip()]


def holds(term: str, text: str) -> bool:
    """Tell whether a term stands in a text as a word of its own."""
    try:
        locate(term, text)
    except InputError:
        return False
    return True
