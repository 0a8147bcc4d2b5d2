"""Loading models here: the libraries of the extra ``local``, and hashes of files."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinometer.errors import ModelError

#: Seconds in which the hub must answer.
HUB_S = 5.0


def require_libraries(name: str, *libraries: str) -> None:
    """Check, without importing them, that libraries of the extra ``local`` are installed.

    Raises ModelError if one that the model `name` needs is missing.
    """
    missing = [library for library in libraries if importlib.util.find_spec(library) is None]
    if missing:
        raise ModelError(
            f"model {name!r} needs {', '.join(missing)}, not installed here; "
            "run: pip install 'clinometer[local]'"
        )


def use_cache_if_offline(source: str) -> None:
    """Let a model on the hub be read from files of earlier times, where the hub does not answer.

    Its client asks five times for each file, for a minute, before it looks for them. A source that
    is a folder asks nobody.
    """
    if Path(source).exists() or importlib.util.find_spec("huggingface_hub") is None:
        return
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return
    try:
        get_session().head(constants.ENDPOINT, timeout=HUB_S)
    except Exception:  # of a client, a proxy, the name of a host
        constants.HF_HUB_OFFLINE = True


def hash_file(path: Path) -> str:
    """Give the SHA-256 of a file, in hexadecimal digits."""
    status = path.stat()
    return _sha256(path.resolve(), status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    """Hash a file; size and time only tell whether it is the file hashed before."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' progress bars and reports off the terminal while loading."""
    from transformers.utils import logging

    has_bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
