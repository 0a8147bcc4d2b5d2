"""Text from files and from strangers: read, written whole or not at all, and made safe to show."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

from clinometer.errors import ClinometerError, InputError
from clinometer.secrets import address_secrets, keep_secret, redacted, withhold

#: Path on this machine → address, of the places elsewhere that are used.
_addresses: dict[str, str] = {}

#: Categories of characters that a terminal or page acts on.
_ACTING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def read_text(
    path: Path, limit: int | None = None, error: type[ClinometerError] = InputError
) -> str:
    """Read a UTF-8 text file of at most `limit` bytes; every way this fails is an `error`."""
    try:
        if limit is not None and path.stat().st_size > limit:
            raise error(f"{path}: larger than {limit:,} bytes")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as cause:
        raise error(f"{path}: not UTF-8 at byte {cause.start}; save it as UTF-8") from None
    except FileNotFoundError:
        raise error(f"{path}: no such file") from None
    except OSError as cause:
        raise error(f"{path}: {cause.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file, as `write_bytes`; half surrogates become ``?``.

    Keys are left out, as `secrets.withhold` does.
    """
    write_bytes(path, withhold(text).encode("utf-8", "replace"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and the folders it needs.

    Raises InputError if it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise InputError(f"{path}: {error.strerror}") from None


def keep_address(copy: Path, address: str) -> None:
    """Name the address that a path is the copy of; it is shown without secrets."""
    keep_secret(*address_secrets(address))
    _addresses[str(copy)] = redacted(address)


def by_address(text: str) -> str:
    """Put its address in the place of each path that is a copy."""
    for copy, address in _addresses.items():
        text = text.replace(copy, address)
    return text


def encodable(text: str) -> str:
    """Replace characters that UTF-8 cannot encode, such as unpaired surrogates in JSON."""
    return text.encode("utf-8", "replace").decode("utf-8")


def visible(text: str) -> str:
    """Show control and direction characters instead of obeying them.

    ASCII control characters are shown as their pictures (U+2400…), other control, format and
    separator characters and those that stand for no character by their number; joiners, line breaks
    and tabs stay.
    """
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_picture(character) for character in text)


def _picture(character: str) -> str:
    """Return a picture of a character that acts invisibly; any other as it is."""
    code = ord(character)
    if character in "\n\t\u200d\u200c":  # lines, tabs, and what joins or parts letters
        return character
    if code < 0x20:  # a control has a picture of its own
        return chr(0x2400 + code)
    if code == 0x7F:  # as has the one that deletes
        return "\u2421"
    # Unicode leaves the last two of each plane, and 32 more, without a character.
    is_noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    if is_noncharacter or unicodedata.category(character) in _ACTING:
        return f"⟨U+{code:04X}⟩"
    return character


def value_at(value: Any, path: str) -> Any:
    """Return what stands at a path in a JSON value: names and numbers, with dots between.

    Raises LookupError, TypeError or ValueError where nothing does.

    >>> value_at({"tools": [{"name": "refund"}]}, "tools.0.name")
    'refund'
    """
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value
