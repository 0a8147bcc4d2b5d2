"""JSON files that users write: what is wrong in them is said with file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tiltmeter.errors import InputError

__all__ = ["read_json"]


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path
        UTF-8, with or without a byte order mark.

    Returns
    -------
    Any
        Mappings, lists, text and numbers.

    Raises
    ------
    InputError
        If the file is missing or malformed, or a field stands twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text, object_pairs_hook=lambda pairs: _mapping(pairs, path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: malformed JSON: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise InputError(f"{path}: malformed JSON: nested too deeply") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _mapping(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}: {twice!r} stands twice; give it once")
    return found
