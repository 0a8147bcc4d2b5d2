"""Whether plan and answers of a directory are as they were made here: a check by the user's key.

What is not marked by the key (`origins`) came from elsewhere, or cannot be told from that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clinometer.errors import PlanError
from clinometer.results.origins import (
    ALTERED,
    COLLECTED,
    JUDGE,
    MarkKey,
    Origins,
    elsewhere_counts,
    elsewhere_text,
    find_key,
    origin_name,
    read_count,
    run_scope,
)
from clinometer.results.records import (
    COUNT,
    ends_torn,
    journal_files,
    parse_line,
    plan_key,
    plan_origin,
    read_plan,
    slug,
    split_sum,
)

#: What to do about answers that were not asked here.
_CONTINUE = "ask anew with another --out, or add --continue-from-elsewhere"


class Note(NamedTuple):
    """What of a plan, or of a model's answers, was not made here."""

    text: str
    changed: bool = False
    """Whether this key shows that lines were changed, moved or left out since."""
    collected: bool = False
    """Whether it is about nothing but answers that this user collected from files."""


def lasting_notes(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return what a plan says was not made here when the run was continued: place → text."""
    notes = plan.get("elsewhere")
    if not isinstance(notes, Mapping):
        return {}
    return {str(place): str(text) for place, text in notes.items()}


def refuse_elsewhere(notes: Mapping[Path, Note]) -> None:
    """Raise PlanError with the first note on what this user did not put there, if there is one."""
    for place, note in notes.items():
        if not note.collected:
            raise PlanError(f"{place}: {note.text}; {_CONTINUE}")


def elsewhere_notes(plan: Path, directory: Path) -> Mapping[Path, Note]:
    """Say what was not made here: of the plan, and of the answers in each folder of a directory.

    Raises PlanError if the plan cannot be read.
    """
    key = find_key()
    notes = {}
    if plan_key(plan) is None:
        origin = plan_origin(plan)
        is_changed = key is not None and origin == key.id
        name = origin_name(ALTERED if is_changed else origin)
        notes[plan] = Note(f"the plan was not made here: {name}", is_changed)
    folders = sorted((*directory.glob("answers/*"), *directory.glob(f"{JUDGE}/answers/*")))
    is_recorded = read_plan(plan).get("recorded") is not None
    if not folders and not is_recorded and (directory / "responses.parquet").is_file():
        notes[directory / "answers"] = Note("the answers that the tables were made of are missing")
    for folder in folders:
        origins = _scan(folder, key)
        text = elsewhere_text(origins.answers, origins.missing, key.id if key else "")
        if text:
            is_changed = bool(origins.answers[ALTERED] or origins.missing)
            # The key marked what they are, so that nobody else put them there.
            counts = elsewhere_counts(origins.answers, key.id if key else "")
            notes[folder] = Note(text, is_changed, not is_changed and set(counts) == {COLLECTED})
    return notes


def run_notes(directory: Path) -> Mapping[Path, Note]:
    """Say what of a results directory was not made here, now or when it was continued."""
    plan = directory / "plan.json"
    if not plan.is_file():
        return {}
    notes = {}
    for name, text in lasting_notes(read_plan(plan)).items():
        notes[plan if name == plan.name else directory / "answers" / name] = Note(text)
    return {**notes, **elsewhere_notes(plan, directory)}


def notes_of_model(model: str, notes: Mapping[Path, Note]) -> list[Note]:
    """Return the notes that are about a model: about the plan, its answers, or a judge's."""
    return [
        note
        for place, note in notes.items()
        if place.name in ("plan.json", "answers", slug(model)) or place.parts[-3] == JUDGE
    ]


def _scan(folder: Path, key: MarkKey | None) -> Origins:
    """Count where the lines of a journal come from."""
    origins = Origins(key, run_scope(folder))
    # Before the lines: another process may add some meanwhile.
    count = read_count(folder / f"{key.id}{COUNT}", key, origins.scope) if key else 0
    is_torn = ends_torn(folder)
    for path in journal_files(folder):
        with path.open("rb") as file:
            for text in file:
                before, is_intact = split_sum(text)
                if is_intact:  # others are torn, and ignored
                    # There may be many lines: only those with something to say are parsed.
                    is_telling = b'"error": "' in before or b'"origin": "' in before
                    origins.take(before, parse_line(text) or {} if is_telling else {})
    origins.end(count, is_torn)
    return origins
