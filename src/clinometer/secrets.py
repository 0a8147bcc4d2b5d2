"""Keys and passwords, known by their value: they are left out wherever a text leaves the process.

Secrets are the keys of the environment, what opens an address (user, password, query, long parts of
the path), and arguments of a model that carry credentials. Whatever learns of one names it
(`keep_secret`). Two functions leave them out:

`withhold`
    Anything that is written or shown. It looks for secrets of 16 characters or more, and for their
    base64. A shorter text, or a word, may be part of what is measured, and stays.
`redacted`
    What a server, a user or a library said *about* a call: errors, commands, messages. It also
    leaves out shorter secrets, and all of an address but scheme and host.

An answer that holds a secret is not altered: it is set aside as an error (`describe_repetition`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

#: Stands where a secret stood.
MARK = "[redacted]"

#: A shorter text is no secret: it stands in other words, too.
_SHORTEST = 6

#: From this length on a text is left out wherever it stands.
_LONG = 16

#: What people give where a server asks for no key.
_DUMMIES = frozenset(
    "ollama lm-studio not-needed notneeded no-key nokey no-key-required sk-no-key-required empty"
    " none dummy placeholder unused anything disabled enabled default local localhost fake-key"
    " test-key changeme api-key apikey token-abc123 your-api-key".split()
)

#: Names of arguments whose values must not be written or shown.
_SECRET_NAME = re.compile(
    r"key|token(?!izer)|secret|password|credential|auth|header|cookie|signature"
    r"|^code$|(?:^|[_-])(?:sig|sas|pwd|pass)$",
    re.IGNORECASE,
)

#: Names of variables that hold secrets. Not PWD, which is a folder.
_SECRET_VARIABLE = re.compile(
    r"_(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|AUTH|SAS|SIG)$",
    re.IGNORECASE,
)

#: More consonants in a row than a word of one case has.
_UNSPEAKABLE = re.compile("[b-df-hj-np-tv-xz]{5}")

#: A scheme has a longest length: else the time is quadratic in a long word.
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]{0,30})://(?P<rest>[^\s\"'<>|]*)", re.IGNORECASE)

#: Texts that are left out of remarks, and those that are left out of everything.
_remark_forms: set[str] = set()
_long_forms: set[str] = set()

#: Hosts of models, of whose addresses nothing else is shown.
_hosts: set[str] = set()


def keep_secret(*texts: str) -> None:
    """Name texts that must not be written or shown, in any form that URLs and JSON write them."""
    for text in texts:
        if len(text) < _SHORTEST or text.lower() in _DUMMIES:
            continue
        plain = unquote(text)
        forms = {text, plain, quote(plain, safe=""), json.dumps(plain)[1:-1]}
        _remark_forms.update(form for form in forms if len(form) >= _SHORTEST)
        if len(plain) >= _LONG and not _is_word(plain):
            _long_forms.update(forms)
            _long_forms.update(_base64_forms(plain.encode("utf-8", "surrogatepass")))


def keep_environment(model: str = "") -> None:
    """Name the keys that the environment holds, but for what is part of a model's name."""
    for variable, value in os.environ.items():
        # A variable may hold the path of a file with a key; a path is none.
        if not _SECRET_VARIABLE.search(variable) or os.path.exists(value):
            continue
        parts = [part for part in value.split() if len(part) >= _LONG]  # of ``Bearer KEY``
        keep_secret(*(text for text in [value, *parts] if text not in model))


def keep_base_address(address: str, model: str) -> None:
    """Name what opens the address of a model; of the address only scheme and host are shown.

    A long part of its path may be a key, unless it is part of the model's name.
    """
    parts = urlsplit(address)
    if parts.hostname:
        _hosts.add(parts.hostname)
    keys = [part for part in parts.path.split("/") if len(part) >= _LONG and part not in model]
    keep_secret(*address_secrets(address), *keys)


def address_secrets(address: str) -> Iterator[str]:
    """Yield user, password, and the values of the query of an address."""
    parts = urlsplit(address)
    if "@" in parts.netloc:
        user, _, password = parts.netloc.rpartition("@")[0].partition(":")
        yield from (f"{user}:{password}", password) if password else (user,)
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        yield value or name  # a key may stand alone behind the question mark


def is_secret(name: str) -> bool:
    """Whether a name is that of a key, a header or another credential."""
    return bool(_SECRET_NAME.search(name))


def has_secrets() -> bool:
    """Whether a secret was named."""
    return bool(_remark_forms)


def holds_secret(data: str | bytes) -> bool:
    """Whether a text, or bytes, hold a secret that `withhold` would leave out."""
    if isinstance(data, bytes):
        return any(form.encode("utf-8", "surrogatepass") in data for form in _long_forms)
    return any(form in data for form in _long_forms)


def withhold(text: str) -> str:
    """Leave every long secret, and its base64, out of a text."""
    return _without(_long_forms, text)


def redacted(text: str) -> str:
    """Leave every secret out of a remark, and of its addresses all but scheme and host.

    The path of an address stays where it is not that of a model.

    Examples
    --------
    >>> redacted("GET https://me:pw@example.org/v1?sig=0123 failed")
    'GET https://example.org/v1 failed'
    """
    return _without(_remark_forms | _long_forms, _ADDRESS.sub(_bare_address, text))


def change_texts(record: Any, change: Callable[[str], str]) -> Any:
    """Return a record of JSON with every text in it, names of fields included, changed."""
    if isinstance(record, str):
        return change(record)
    if isinstance(record, Mapping):
        return {change_texts(name, change): change_texts(v, change) for name, v in record.items()}
    if isinstance(record, list | tuple):
        return [change_texts(value, change) for value in record]
    return record


def describe_repetition(answer: str) -> str:
    """Say that an answer repeats a secret, so that it is no answer; by its hash it can be found."""
    digest = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
    return f"the answer repeats a key or password and was not kept; its SHA-256 is {digest}"


def _without(forms: set[str], text: str) -> str:
    # The longest first: one secret may be the beginning of another.
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, MARK)
    return text


def _bare_address(match: re.Match[str]) -> str:
    """Return an address without user and query; of a model's, or one that is none, the host."""
    scheme, rest = match["scheme"], match["rest"]
    place = re.split(r"[?#]", rest, maxsplit=1)[0]
    host, slash, path = place.partition("/")
    host = host.rpartition("@")[2]
    if re.sub(r":\d*$", "", host).strip("[]").lower() in _hosts:
        # What ended the sentence was taken for a part of the address.
        return f"{scheme}://{host}" + (rest[-1:] if rest[-1:] in ").,;:" else "")
    return f"{scheme}://{host}{slash}{path}"


def _is_word(text: str) -> bool:
    """Whether a text may be a word: letters, cased as words are, that can be spoken."""
    is_cased = text in (text.lower(), text.upper(), text.title())
    return text.isalpha() and is_cased and not _UNSPEAKABLE.search(text.lower())


def _base64_forms(secret: bytes) -> Iterator[str]:
    """Yield what of a secret's base64 is the same in any longer text that is encoded.

    A character of base64 stands for six bits. Where the secret begins is one of three places in a
    group of three bytes; characters that also stand for a neighbour's bits are left away.
    """
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret).decode("ascii")
        first, last = -(-8 * before // 6), 8 * (before + len(secret)) // 6
        core = encoded[first:last]
        yield core
        yield core.replace("+", "-").replace("/", "_")
