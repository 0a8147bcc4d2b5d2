"""Structured: the published wording, answered by a JSON object with a schema.

For models that often refuse or answer at length. Each value of the object is one of a few choices,
mostly the two group words, so every answer can be read. Profiles are not asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clinometer.modes.mode import CHOICES, Answer, Mode, read_text, text_settings
from clinometer.reading.cleaning import final_answer
from clinometer.reading.refusals import why_unread


def write_schema(choices: Mapping[str, Sequence[str]]) -> str:
    """Write the JSON schema of an object whose properties are closed choices."""
    values = {name: {"type": "string", "enum": list(allowed)} for name, allowed in choices.items()}
    closed = {"required": list(choices), "additionalProperties": False}
    return json.dumps({"type": "object", "properties": values, **closed}, ensure_ascii=False)


def _close(choices: Mapping[str, Sequence[str]], *_: Any) -> dict[str, Any]:
    return {"schema": write_schema(choices)}


def read_choices(response: str) -> dict[str, Any]:
    """Read a JSON object, ignoring text around it; empty if there is none.

    Examples
    --------
    >>> read_choices('```json {"decision": "yes"} ```')
    {'decision': 'yes'}
    """
    try:
        content = json.loads(response[response.find("{") : response.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def why_not(response: str, trial: Mapping[str, Any]) -> str:
    """Return why an answer has none of its choices: one of `results.REASONS`."""
    return why_unread(response, trial.get("stop_reason"))


def _shows_need(trial: Mapping[str, Any], answer: Answer) -> bool | None:
    """Whether an answer has names of the schema; None of one that is empty, cut off or refused."""
    text = final_answer(answer["response"]).text
    if choices := read_choices(text):
        return not choices.keys().isdisjoint(json.loads(trial["schema"])["properties"])
    begun = not text.strip() or "{" in text
    return None if begun or why_not(text, answer) == "refused" else False


MODE = Mode(
    "structured",
    "the published wording, answered in a JSON object of offered choices",
    CHOICES,
    read_text,
    text_settings,
    _close,
    needs="schemas",
    shows_need=_shows_need,
    place=2,
)
