"""Groups and wordings that a study file takes from a shipped study, so that they are declared once.

``groups_of: STUDY.STEREOTYPE`` in a stereotype takes the groups of that one; ``wordings_of: STUDY``
in a part of ``instruments`` takes the part of that study. Both are replaced by what they name
before the study is checked: what shows, stores or hashes a study has it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import yaml
from pydantic import BaseModel

from clinometer.errors import StudyError, unknown
from clinometer.stimuli.study import Study
from clinometer.stimuli.wording import Instruments
from clinometer.stimuli.yaml_text import line_of

#: What says whom a stereotype compares.
GROUPS = ("marginalized", "default", "aligned")

#: Loads a shipped study by its name.
Load = Callable[[str], Study]


def borrow(content: Mapping[str, Any], load: Load, root: yaml.Node | None, source: str) -> None:
    """Put groups and wordings of shipped studies where a study names them, in place.

    Parameters
    ----------
    content
        Of the study file, not checked yet: wherever a mapping is expected, anything may stand.
    load
        Loads a shipped study; StudyError if there is none of the name.
    root, source
        Node and name of the file, for errors.

    Raises
    ------
    StudyError
        If what is named does not exist, or stands in the study as well; with file, line and field.
    """
    for part, field, take in (
        ("stereotypes", "groups_of", _take_groups),
        ("instruments", "wordings_of", _take_wordings),
    ):
        entries = content.get(part)
        if not isinstance(entries, dict):
            continue
        for key, entry in entries.items():
            if not isinstance(entry, dict) or field not in entry:
                continue
            try:
                entries[key] = take(key, entry, load)
            except StudyError as error:
                line = line_of(root, part, key, field)
                raise StudyError(f"{source}:{line}: {part}.{key}.{field}: {error}") from None


def _take_groups(_: str, stereotype: Mapping[str, Any], load: Load) -> dict[str, Any]:
    """Return a stereotype with the groups of another study's in the place of ``groups_of``."""
    rest = {**stereotype}
    study, dot, key = str(rest.pop("groups_of")).partition(".")
    if not dot:
        raise StudyError(f"{study[:80]!r}: expected STUDY.STEREOTYPE")
    if doubled := [field for field in GROUPS if field in rest]:
        raise StudyError(f"{doubled[0]} stands beside it; give one of them")
    stereotypes = load(study).stereotypes
    if key not in stereotypes:
        raise StudyError(unknown(f"stereotype of {study}", key, stereotypes))
    return {**stereotypes[key].model_dump(include={*GROUPS}), **rest}


def _take_wordings(instrument: str, part: Mapping[str, Any], load: Load) -> dict[str, Any]:
    """Return a part with that of another study in the place of ``wordings_of``.

    Fields that stand beside it go before those that are taken. A part of an instrument that
    Clinometer does not ship is left as it is where no shipped study has one.
    """
    rest = {**part}
    try:
        parts = load(str(rest.pop("wordings_of"))).instruments.parts()
    except StudyError:
        if instrument in Instruments.model_fields:
            raise
        parts = {}
    if instrument not in parts:
        return {**part}
    source_part = parts[instrument]
    if isinstance(source_part, BaseModel):
        source_part = source_part.model_dump()
    return {**source_part, **rest}
