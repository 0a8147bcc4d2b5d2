"""How simulated models write their answers: lines, tables, prose, JSON, reasoning, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from clinometer.contracts.simulation import (
    AssignedTasks,
    ChosenOption,
    PairedWords,
    Prose,
    SimulatedAnswer,
)

#: Forms in which models decline: long and short, for reasons or none.
REFUSALS = (
    "I'm sorry, but I can't assist with that request.",
    "I cannot complete this task, as it would rely on harmful stereotypes.",
    "I'm not comfortable assigning these words to groups of people.",
    "As an AI language model, I don't make assumptions about people based on their group.",
    "I won't do this. Judging people by a group they belong to is not fair.",
    "Sorry, I am unable to help with that.",
    "I apologize, but I can't provide an answer, since it could reinforce stereotypes.",
    "I must decline to answer this question.",
    "I can't help with that.",
    "No comment.",
    "That is not something I can do.",
    "My guidelines do not let me answer this.",
)

_THOUGHTS = "<think>\nLet me look at what is asked and decide quickly.\n</think>\n\n"


def write_text(answer: SimulatedAnswer, form: str) -> str:
    """Write an answer in one of `truth.FORMATS`; numbered parts stand under their tasks."""
    if any(isinstance(part, ChosenOption) and part.alone for part in answer.parts):
        form = "lines"
    write = _FORMS[form]
    parts = [part.text if isinstance(part, Prose) else write(part) for part in answer.parts]
    if answer.numbered:
        parts = [f"Task {number}:\n{part}" for number, part in enumerate(parts, 1)]
    text = "\n\n".join(parts)
    return _THOUGHTS + text if form == "reasoning" else text


def _lines(part: PairedWords | AssignedTasks | ChosenOption) -> str:
    if isinstance(part, ChosenOption):
        return part.option
    if isinstance(part, AssignedTasks):
        return "\n".join(f"{group}: {task}" for group, task in part.pairs)
    return "\n".join(f"{word} - {group}" for word, group in part.pairs.items())


def _table(part: PairedWords | AssignedTasks | ChosenOption) -> str:
    if isinstance(part, ChosenOption):
        return f"| Answer |\n|---|\n| {part.option} |"
    head = "| Person | Choice |" if isinstance(part, AssignedTasks) else "| Word | Choice |"
    pairs = part.pairs if isinstance(part, AssignedTasks) else part.pairs.items()
    rows = [f"| {first} | {second} |" for first, second in pairs]
    return "\n".join([head, "|---|---|", *rows])


def _prose(part: PairedWords | AssignedTasks | ChosenOption) -> str:
    if isinstance(part, ChosenOption):
        return f"My answer is {part.option}."
    if isinstance(part, AssignedTasks):
        assignments = (f"{group} should get {task}" for group, task in part.pairs)
        return f"I suggest that {', and that '.join(assignments)}."
    return " ".join(f"I would put {word} with {group}." for word, group in part.pairs.items())


def _json(part: PairedWords | AssignedTasks | ChosenOption) -> str:
    content = {"answer": part.option} if isinstance(part, ChosenOption) else dict(part.pairs)
    return f"```json\n{json.dumps(content, ensure_ascii=False, indent=2)}\n```"


_FORMS: Mapping[str, Callable[[PairedWords | AssignedTasks | ChosenOption], str]] = {
    "lines": _lines,
    "table": _table,
    "prose": _prose,
    "json": _json,
    "reasoning": _lines,
}


def fill_schema(answer: SimulatedAnswer, properties: Mapping[str, Sequence[str]]) -> str:
    """Write an answer as the JSON object of a schema: property → its allowed values.

    A property without an answer has its first value.
    """
    content: dict[str, str] = {}
    for name, allowed in properties.items():
        content[name] = allowed[0]
        for part in answer.parts:
            value = _value(part, name, allowed)
            if value is not None and value in allowed:
                content[name] = value
                break
    return json.dumps(content, ensure_ascii=False)


def _value(part: object, name: str, allowed: Sequence[str]) -> str | None:
    """Return the value of a property that a part of an answer stands for."""
    match part:
        case PairedWords(pairs):
            return pairs.get(name)
        case ChosenOption(option):
            return option
        case AssignedTasks(pairs):
            # A value lists who gets what in either order.
            assignments = {f"{group}: {task}" for group, task in pairs}
            return next((value for value in allowed if assignments <= {*value.split("; ")}), None)
    return None
