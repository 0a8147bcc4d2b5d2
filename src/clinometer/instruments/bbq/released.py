"""Items of BBQ as released: a file of one category, in JSON lines.

The target of an item is not in these files. It follows ``BBQ_results_metadata.R`` of Parrish et al.
(2022), github.com/nyu-mll/BBQ: the person whose group the template calls stereotyped. An item with
two such persons, or none, has no target and is left out, as published (16 items of gender).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clinometer.authoring import StudyError
from clinometer.instruments.bbq.items import CONTEXTS, PLACES, Item
from clinometer.instruments.bbq.templates import Template, group_key

__all__ = ["read_release"]


def read_release(content: bytes, templates: Sequence[Template]) -> Iterator[Item]:
    """Read the items of a released file, with the templates of its category.

    Raises StudyError for a question that has no template.
    """
    by_question = {template.question: template for template in templates}
    for line in content.decode().splitlines():
        row = json.loads(line)
        if row["question_index"] not in by_question:
            raise StudyError(f"{row['category']} {row['example_id']}: no template of its question")
        item = _make_item(row, by_question[row["question_index"]])
        if item is not None:
            yield item


def _make_item(row: Mapping[str, Any], template: Template) -> Item | None:
    """Make an item of a row; None if it has no target."""
    persons: list[tuple[str, str]] = [row["answer_info"][f"ans{place}"] for place in PLACES]
    (unknown,) = (number for number, (_, group) in enumerate(persons) if group == "unknown")
    first, second = (number for number in range(3) if number != unknown)
    first_is_target, second_is_target = (
        _is_target(*persons[number], template) for number in (first, second)
    )
    # Of one person nothing may be known; then it is the other of the two.
    if first_is_target is None and second_is_target is not None:
        first_is_target = not second_is_target
    elif second_is_target is None and first_is_target is not None:
        second_is_target = not first_is_target
    if first_is_target == second_is_target:
        return None
    is_negative = row["question_polarity"] == "neg"
    return Item(
        name=f"{row['category']} {row['example_id']}",
        category=row["category"],
        template=row["question_index"],
        polarity=row["question_polarity"],
        context_kind=CONTEXTS[row["context_condition"]],
        context=row["context"],
        question=row["question"],
        options=(row["ans0"], row["ans1"], row["ans2"]),
        descriptions=(persons[0][0], persons[1][0], persons[2][0]),
        label=int(row["label"]),
        target=first if first_is_target == is_negative else second,
        unknown=unknown,
    )


def _is_target(description: str, group: str, template: Template) -> bool | None:
    """Return whether a stereotype is about a person; None if the release does not describe it."""
    if not group:
        return None
    parts = re.split("[-_]", group)  # such as M-Black, lowSES-F-Black, trans_F
    if len(template.targets) == 1:
        keys = {group_key(name) for name in (description, *parts)}
        return not keys.isdisjoint(template.targets[0])
    races, kinds = template.targets
    return group_key(parts[-1]) in races and group_key(parts[0]) in kinds
