"""Text from files and from strangers: read, written whole or not at all, and made safe to show.

Secrets are keys in the environment and in the address and arguments of a model. Whatever opens a
model names them (`keep_secret`). They are left out where they enter: errors, addresses, commands
and headers pass through `redacted`, which shows ``[redacted]`` in their place. Prompts, answers,
names and stimuli never do: a key may be a word, as ``ollama`` is where there is none to give.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from clinometer.errors import ClinometerError, InputError

__all__ = [
    "address_secrets",
    "by_address",
    "encodable",
    "has_secrets",
    "is_secret",
    "keep_address",
    "keep_secret",
    "read_text",
    "redacted",
    "redacted_fields",
    "visible",
    "write_bytes",
    "write_text",
]

#: A shorter text is no secret: it stands in other words, too.
_SHORTEST = 6

#: What people give where a server asks for no key.
_DUMMIES = frozenset(
    "ollama lm-studio not-needed notneeded no-key nokey no-key-required sk-no-key-required empty"
    " none dummy placeholder unused anything disabled enabled default local localhost fake-key"
    " test-key changeme api-key apikey token-abc123 your-api-key".split()
)

#: Fields of records that hold what a server, a user or an address said, and nothing measured.
_TOLD = frozenset(
    "error errors traceback traceback_ansi command base_url model_base_url model_args headers"
    " extra_headers said".split()
)

#: Names whose values must not be written or shown.
_SECRET = re.compile(
    "key|token(?!izer)|secret|password|credential|auth|header|cookie|signature", re.IGNORECASE
)

_secrets: set[str] = set()

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
        raise error(f"{path}: not UTF-8 at byte {cause.start}") from None
    except FileNotFoundError:
        raise error(f"{path}: no such file") from None
    except OSError as cause:
        raise error(f"{path}: {cause.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file, as `write_bytes`; half surrogates become ``?``."""
    write_bytes(path, text.encode("utf-8", "replace"))


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


def keep_secret(*texts: str) -> None:
    """Name texts that must not be written or shown, as they are or as URL or JSON write them."""
    for text in texts:
        if text.lower() in _DUMMIES:
            continue
        forms = {text, quote(text, safe=""), unquote(text), json.dumps(text)[1:-1]}
        _secrets.update(form for form in forms if len(form) >= _SHORTEST)


def has_secrets() -> bool:
    """Whether a secret was named."""
    return bool(_secrets)


def redacted(text: str) -> str:
    """Leave out every secret of a text."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, "[redacted]")
    return text


def redacted_fields(record: Any, told: bool = False) -> Any:
    """Leave secrets out of the fields of a record that hold errors, addresses and commands."""
    if isinstance(record, str):
        return redacted(record) if told else record
    if isinstance(record, Mapping):
        # In inspect's logs: a call that failed has an error for an answer; what was logged.
        failed = {"call"} if record.get("error") else set()
        logged = {"message"} if record.get("event") == "logger" else set()
        names = _TOLD | failed | logged
        return {
            name: redacted_fields(value, told or name in names) for name, value in record.items()
        }
    if isinstance(record, list | tuple):
        return [redacted_fields(value, told) for value in record]
    return record


def keep_address(copy: Path, address: str) -> None:
    """Name the address that a path is the copy of; it is shown without secrets."""
    keep_secret(*address_secrets(address))
    _addresses[str(copy)] = redacted(address)


def address_secrets(address: str) -> Iterator[str]:
    """Yield user, password and keys of an address."""
    parts = urlsplit(address)
    if "@" in parts.netloc:
        user, _, password = parts.netloc.rpartition("@")[0].partition(":")
        yield from (f"{user}:{password}", password) if password else (user,)
    for name, value in parse_qsl(parts.query):
        if is_secret(name):
            yield value


def is_secret(name: str) -> bool:
    """Whether a name is that of a key, a header or another credential."""
    return bool(_SECRET.search(name))


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
    code = ord(character)
    if character in "\n\t\u200d\u200c":
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    none = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    if none or unicodedata.category(character) in _ACTING:
        return f"⟨U+{code:04X}⟩"
    return character
