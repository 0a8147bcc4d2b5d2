"""What was asked for a file of contexts, and what came of it: ``OUT.record.json``."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter import __version__
from tiltmeter.errors import InputError, PlanError
from tiltmeter.models.opening import Generation
from tiltmeter.reading.contexts import wording

__all__ = ["claim_contexts", "identify_contexts", "write_record"]


def identify_contexts(
    model: str, senses: pl.DataFrame, generation: Generation, seed: int
) -> dict[str, Any]:
    """Return what must be equal for two runs to ask the same.

    Parameters
    ----------
    model
        Whom.
    senses
        Columns `key`, `term` and `definition`: what about.
    generation, seed
        How answers are sampled.
    """
    asked = senses.select("key", "term", "definition").rows()
    return {
        "model": model,
        "prompt_hash": _hash(wording()),
        "senses_hash": _hash(json.dumps(asked)),
        "seed": seed,
        "temperature": generation.temperature,
        "top_p": generation.top_p,
        "max_tokens": generation.max_tokens,
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def claim_contexts(out: Path, identity: dict[str, Any]) -> dict[str, Any]:
    """Make `out` this plan's, or confirm that it is.

    Parameters
    ----------
    out
        The file of contexts, not there yet or made by the same plan.
    identity
        From `identify_contexts`.

    Returns
    -------
    dict
        What the record begins with.

    Raises
    ------
    PlanError
        If it belongs to another plan, or is another file.
    InputError
        If it has another ending, or the record cannot be written.
    """
    if out.suffix != ".jsonl":
        raise InputError(f"out {str(out)!r}: the file of contexts must end in .jsonl")
    path = _record_of(out)
    if path.exists():
        _compare(out, identity)
    elif out.exists():
        raise PlanError(f"{out}: was not made by this command; name another file with --out")
    record = {**identity, "tiltmeter": __version__}
    if not path.exists():
        write_record(out, record)
    return record


def _compare(out: Path, identity: dict[str, Any]) -> None:
    path = _record_of(out)
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        differing = [
            f"{name} is {held.get(name)!r} there, {value!r} here"
            for name, value in identity.items()
            if held.get(name) != value
        ]
    except (ValueError, AttributeError, OSError):
        raise PlanError(f"{path}: not readable as a record of contexts") from None
    if differing:
        raise PlanError(
            f"{out} holds other contexts: {'; '.join(differing)}. Repeat its command to "
            "continue it, or name another file with --out"
        )


def _record_of(out: Path) -> Path:
    return out.with_name(f"{out.name}.record.json")


def write_record(out: Path, record: dict[str, Any]) -> None:
    """Write the record of a file of contexts beside it, whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    path = _record_of(out)
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
