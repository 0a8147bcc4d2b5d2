"""What laws, standards and reporting checklists ask of a dossier, and whether it answers.

Each is a data file in ``clauses/``: entries in our own words, with the source, the date on which
it was seen, and how certain its wording is. An entry names the keys of the dossier that answer it,
or says why a dossier cannot answer it, or why it does not apply. Whether it does is decided here,
by looking whether these keys have content. Nothing here says that a law is complied with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from clinometer.errors import InputError

Status = Literal["answered", "not answered", "not applicable"]

#: Beginning of the keys that only people can fill.
_STATEMENT = "profile.statements."


class _Frozen(BaseModel):
    """A mapping with known keys only."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Entry(_Frozen):
    """A clause or item, in our own words."""

    id: str
    text: str
    answered_by: list[str] = []
    """Keys of the dossier, as ``profile.owner``; all have to have content."""
    not_answered: str | None = None
    """Why no dossier can answer it."""
    not_applicable: str | None = None
    certainty: str | None = None

    @model_validator(mode="after")
    def _check_answer(self) -> Entry:
        filled = [bool(self.answered_by), bool(self.not_answered), bool(self.not_applicable)]
        if filled.count(True) != 1:
            raise ValueError(f"{self.id}: answered_by, not_answered or not_applicable, one of them")
        return self


class Checklist(_Frozen):
    """A law, a standard, or a checklist of what to report."""

    id: str
    title: str
    kind: Literal["law", "standard", "completeness"]
    source: str
    retrieved: str
    """Date on which the source was looked at."""
    certainty: str
    """How far the wording is that of the source."""
    entries: list[Entry]


@dataclass(frozen=True)
class EntryAnswer:
    """Whether a dossier answers an entry, and by what."""

    entry: Entry
    status: Status
    reason: str
    """The keys that answer; what is missing; or why it does not apply."""


@cache
def checklists() -> tuple[Checklist, ...]:
    """Return every checklist, laws first.

    Raises InputError if a data file is malformed, which a test of the package would have found.
    """
    folder = files("clinometer.dossier") / "clauses"
    lists = []
    for file in folder.iterdir():
        if not file.name.endswith(".yaml"):
            continue
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        try:
            lists.append(Checklist.model_validate(content))
        except ValueError as error:
            raise InputError(f"{file.name}: {error}") from None
    order = ("completeness", "law", "standard")
    return tuple(sorted(lists, key=lambda checklist: (order.index(checklist.kind), checklist.id)))


def entry_names() -> list[str]:
    """Return the names by which a profile may call a checklist or an entry not applicable."""
    names = []
    for checklist in checklists():
        names += [checklist.id, *(f"{checklist.id}.{entry.id}" for entry in checklist.entries)]
    return names


def statement_names() -> list[str]:
    """Return the keys of the statements that some entry asks for."""
    keys = {
        key.removeprefix(_STATEMENT)
        for checklist in checklists()
        for entry in checklist.entries
        for key in entry.answered_by
        if key.startswith(_STATEMENT)
    }
    return sorted(keys)


def answers(
    checklist: Checklist, dossier: Mapping[str, Any], not_applicable: Mapping[str, str]
) -> list[EntryAnswer]:
    """Say of each entry whether a dossier answers it.

    `dossier`: its content. `not_applicable`: name of a checklist or entry → reason.
    """
    return list(_answers(checklist, dossier, not_applicable))


def _answers(
    checklist: Checklist, dossier: Mapping[str, Any], not_applicable: Mapping[str, str]
) -> Iterator[EntryAnswer]:
    for entry in checklist.entries:
        exemption = not_applicable.get(
            f"{checklist.id}.{entry.id}", not_applicable.get(checklist.id)
        )
        reason = exemption or entry.not_applicable
        if reason is not None:
            yield EntryAnswer(entry, "not applicable", reason)
        elif entry.not_answered is not None:
            yield EntryAnswer(entry, "not answered", entry.not_answered)
        else:
            yield _look_up(entry, dossier)


def _look_up(entry: Entry, dossier: Mapping[str, Any]) -> EntryAnswer:
    """Look whether every key of an entry has content."""
    missing = [key for key in entry.answered_by if not _has_content(dossier, key.split("."))]
    if missing:
        return EntryAnswer(entry, "not answered", f"nothing in {', '.join(missing)}")
    return EntryAnswer(entry, "answered", ", ".join(entry.answered_by))


def _has_content(value: Any, path: Sequence[str]) -> bool:
    """Whether there is something at a path; 0 and False are something."""
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return value is not None and value != "" and value != [] and value != {}
