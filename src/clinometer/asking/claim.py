"""Binds a results directory to one plan.

The plan is written before anything is asked. Later runs compare their plan's identity with the one
on disk; a different plan is refused, and the error names the differences.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from clinometer import __version__
from clinometer.errors import InputError, PlanError
from clinometer.results.evidence import Note, elsewhere_notes, lasting_notes, refuse_elsewhere
from clinometer.results.locks import LOCK, writing
from clinometer.results.origins import make_key
from clinometer.results.records import read_plan, text_hash, write_plan
from clinometer.secrets import redacted
from clinometer.texts import write_text


class Claimant(Protocol):
    """A plan that a directory, or a file, can belong to."""

    def file(self, out: Path) -> Path:
        """Return where the plan is kept: within a directory, or beside a file."""
        ...

    def identity(self) -> dict[str, Any]:
        """Return the settings that must be equal for a run to continue another."""
        ...

    def grows(self) -> dict[str, int]:
        """Return settings that may grow, but not shrink, when the plan is continued."""
        return {}

    def describe(self) -> dict[str, Any]:
        """Return further facts for readers of the results."""
        return {}

    def attachments(self) -> dict[str, str]:
        """Return files to store with the plan: path in the directory → text."""
        return {}


def claim(
    out: Path, plan: Claimant, command: str = "", *, from_elsewhere: bool = False
) -> dict[str, Any]:
    """Bind `out` to a plan, or confirm that it is bound to the same one.

    Parameters
    ----------
    out
        A directory, made if absent, or a file that the plan stands beside.
    plan
        What is to be asked.
    command
        The command line, for the record.
    from_elsewhere
        Whether a plan, and answers, that were not made with the user's key are continued.

    Returns
    -------
    dict
        The plan on disk.

    Raises
    ------
    PlanError
        If `out` holds another plan or other files, or was written in another layout, or elsewhere;
        nothing is written then.
    InputError
        If the plan cannot be written.
    """
    path = plan.file(out)
    if not path.exists():
        _refuse_foreign(out, path, plan.attachments())
    if path.parent != out:
        return _bind(out, plan, command, from_elsewhere)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made ({error.strerror})") from None
    with writing(out):  # of two processes with different plans, the second is refused
        return _bind(out, plan, command, from_elsewhere)


def _bind(out: Path, plan: Claimant, command: str, from_elsewhere: bool) -> dict[str, Any]:
    """Write the plan, or compare it with the one that is there."""
    path = plan.file(out)
    # By which its answers are told from those of every other run.
    described: dict[str, Any] = {"run": secrets.token_hex(8)}
    if path.exists():
        earlier = read_plan(path)
        _compare(out, earlier, plan)
        # Of a file, the plan and the folder of answers stand beside it.
        notes = elsewhere_notes(path, out if path.parent == out else Path(f"{out}.answers"))
        if not from_elsewhere:
            refuse_elsewhere(notes)
        described |= {**earlier, **plan.grows(), **_continued(earlier, path, notes)}
        if described == earlier:
            return earlier
    else:
        created = datetime.now(UTC).isoformat(timespec="seconds")
        described |= {"clinometer": __version__, "created": created, "command": redacted(command)}
        described |= {**plan.identity(), **plan.grows(), **plan.describe()}
    for name, text in plan.attachments().items():
        write_text(out / name, text)
    # Last: a directory without a plan is not claimed, and is claimed anew.
    write_plan(path, described, make_key())
    return described


def _continued(
    earlier: Mapping[str, Any], path: Path, notes: Mapping[Path, Note]
) -> dict[str, Any]:
    """Return what a plan says of itself, and of answers that were changed, when it is continued.

    Which answers are of another key, or of none, their lines say themselves.
    """
    lasting = lasting_notes(earlier)
    for place, note in notes.items():
        if note.changed or place == path:
            lasting[place.name] = note.text
    return {"elsewhere": lasting} if lasting else {}


def _compare(out: Path, earlier: Mapping[str, Any], plan: Claimant) -> None:
    """Raise PlanError, which names the differences, if the plan is another than the earlier one."""
    differing: list[str] = []
    for name, value in plan.identity().items():
        # As it is read back: tuples are lists.
        differing += _differences(name, earlier.get(name), json.loads(json.dumps(value)))
    for name, number in plan.grows().items():
        before = earlier.get(name)
        if type(before) is not int or before > number:  # not isinstance: True is no number
            differing.append(
                f"{name} is {_short_text(before)} there, {number} here "
                "(more may be asked, not fewer)"
            )
    if differing:
        raise PlanError(
            f"{out} holds another plan: {'; '.join(differing)}. "
            "Repeat its command to continue it, or name another with --out"
        )


def _refuse_foreign(out: Path, path: Path, attached: Mapping[str, str]) -> None:
    """Refuse files other than those that an interrupted claim leaves."""
    if out.is_dir():
        attachment_names = {name.partition("/")[0] for name in attached}  # their folders, or names
        claim_names = {LOCK, f"{path.name}.part", *attachment_names}
        foreign = any(entry.name not in claim_names for entry in out.iterdir())
    else:
        foreign = out.exists()
    if foreign and not path.exists():  # another process may have claimed it meanwhile
        state = "not empty and was" if out.is_dir() else "a file that was"
        raise PlanError(f"{out}: {state} not made by this command; name another with --out")


def short_hash(text: str) -> str:
    """Return the first 16 hexadecimal digits of a text's SHA-256."""
    return text_hash(text)[:16]


def _differences(name: str, before: Any, now: Any) -> Iterator[str]:
    """Say what differs of a value; of a mapping, of each of its keys that differs."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in {**before, **now}:
            yield from _differences(f"{name} {key}", before.get(key), now.get(key))
    elif before != now:
        yield f"{name} is {_short_text(before)} there, {_short_text(now)} here"


#: Characters of a value in a message.
_LONGEST = 80

#: A SHA-256, of which a few digits tell two apart.
_HASH = re.compile("[0-9a-f]{64}")


def _short_text(value: Any) -> str:
    """Write a value in a few words: names are told whole, or by how many there are."""
    if value is None:
        return "absent"
    if isinstance(value, str) and _HASH.fullmatch(value):
        return f"{value[:8]}…"
    names = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) for name in names):
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    text = ", ".join(names) or "none"
    return (
        text if len(text) <= _LONGEST or not names[1:] else f"{names[0]} and {len(names) - 1} more"
    )
