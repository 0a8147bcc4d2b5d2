"""Templates of BBQ, and how two persons fill one in.

The templates are those of Parrish et al. (2022), github.com/nyu-mll/BBQ, as one table with the
columns of the release. Texts are filled in after ``utils.py`` there; slips of the texts stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from clinometer.authoring import BenchmarkItems, read_items

__all__ = ["Person", "Template", "fill_template", "group_key", "read_templates"]

#: A sentence of a template → its column.
_TEXTS = {
    "ambiguous": "Ambiguous_Context",
    "disambiguating": "Disambiguating_Context",
    "neg": "Question_negative_stereotype",
    "nonneg": "Question_non_negative",
    "neg_answer": "Answer_negative",
    "nonneg_answer": "Answer_non_negative",
}
_COLUMNS = (
    *("Category", "Q_id", "Subcategory", "Names", "Lexical_diversity", "Proper_nouns_only"),
    *("Known_stereotyped_groups", "Known_stereotyped_race", "Known_stereotyped_var2", "Var2_info"),
    *("NAME1_info", "NAME2_info", "Stated_gender_info", *_TEXTS.values()),
)

#: Words that groups are also named by.
_ALIASES = {"man": "m", "boy": "m", "woman": "f", "girl": "f"}

#: The name of a list of words, with or without braces.
_LIST_NAME = re.compile(r"\W*(?:NAME|WORD)([12])\W*:")

#: What reads wrong once it is filled in, and what is written instead.
_MENDED = {"lesbian man": "lesbian woman", "Latino woman": "Latina woman"}


class Person(NamedTuple):
    """Who fills a place of a template."""

    name: str
    """A group, a description or a proper name."""
    groups: tuple[str, ...]
    """The group on each axis of the category."""
    kind: str = ""
    """On the second axis, what the text says: man, woman, an occupation, rich, …"""

    @property
    def description(self) -> str:
        """What the release calls the person."""
        return f"{self.name} {self.kind}".strip()


class Template(NamedTuple):
    """A question of which groups, and its texts with places for two persons."""

    key: str
    """Where it stands in the table; question and version together."""
    category: str
    question: str
    subcategory: str
    texts: Mapping[str, str]
    names: tuple[Sequence[str], Sequence[str]]
    """Who may fill the first and the second place; empty if words of the category do."""
    words: tuple[Sequence[str], Sequence[str]]
    """What may fill the places of other words."""
    kinds: Mapping[str, Sequence[str]]
    """Group of the second axis → how a text may call it; empty if occupations or names tell it."""
    is_named: bool
    """Whether persons have proper names."""
    targets: tuple[frozenset[str], ...]
    """The stereotyped groups, on each axis."""
    place_groups: tuple[str, str]
    """The groups of the persons in the two places, where the text itself says them."""
    gender: str

    def is_target(self, place: int, person: Person) -> bool:
        """Return whether the stereotype is about a person in a place, 0 or 1.

        Where the text says the group, it is that of the place. (The release keeps it with the name
        where two proper names change places, and so errs in questions 35 and 36 of gender and 8 of
        SES.)
        """
        groups = (self.place_groups[place],) if self.place_groups[place] else person.groups
        return all(
            group_key(group) in targets for group, targets in zip(groups, self.targets, strict=True)
        )


def group_key(group: str) -> str:
    """Return a group as it is compared: ``low SES`` is ``lowSES``, and a boy is male."""
    key = group.replace(" ", "").lower()
    return _ALIASES.get(key, key)


@lru_cache(maxsize=4)
def read_templates(items: BenchmarkItems, study: str) -> Mapping[str, Sequence[Template]]:
    """Read a table of templates, by category; `study` is the path of the study file."""
    templates: dict[str, list[Template]] = {}
    for number, row in enumerate(read_items(items, study, _COLUMNS).iter_rows(named=True)):
        templates.setdefault(row["Category"], []).append(_make_template(str(number), row))
    return templates


def _make_template(key: str, row: Mapping[str, str]) -> Template:
    """Make a template of a row."""
    second_axis = row["Known_stereotyped_var2"]
    is_intersection = bool(second_axis)
    groups = row["Known_stereotyped_race"] if is_intersection else row["Known_stereotyped_groups"]
    targets = [json.loads(groups)]
    kinds: dict[str, list[str]] = {}
    if is_intersection:
        targets.append([second_axis])
        # A name is a word, or a list of words.
        for group, words in zip(_load(row["Var2_info"]), _load(row["Names"]), strict=True):
            kinds[group] = [words] if isinstance(words, str) else words
    return Template(
        key=key,
        category=row["Category"],
        question=row["Q_id"],
        subcategory=row["Subcategory"],
        texts={name: row[column] for name, column in _TEXTS.items()},
        names=([], []) if is_intersection else _read_lists(row["Names"]),
        words=_read_lists(row["Lexical_diversity"]),
        kinds=kinds,
        is_named=row["Proper_nouns_only"] == "TRUE",
        targets=tuple(frozenset(map(group_key, axis)) for axis in targets),
        place_groups=(row["NAME1_info"], row["NAME2_info"]),
        gender=row["Stated_gender_info"] or (second_axis if second_axis in ("F", "M") else ""),
    )


def _load(text: str) -> list[Any]:
    """Return a list that is written as JSON; an empty one for an empty text."""
    return json.loads(text) if text else []


def _read_lists(text: str) -> tuple[list[str], list[str]]:
    """Return the words for the first and for the second place: ``NAME1: [a, b]; NAME2: [c]``.

    As released, a part that the text does not end with is no second list: two templates whose lists
    are written in another way have fewer items, or none.
    """
    lists: dict[str, list[str]] = {}
    for part in text.split(";"):
        lists.pop("2", None)
        if name := _LIST_NAME.match(part):
            words = part[name.end() :].replace("[", "").replace("]", "")
            lists[name[1]] = [word.strip() for word in words.split(",")]
    return lists.get("1", []), lists.get("2", [])


def fill_template(
    template: Template, persons: Sequence[Person], words: Sequence[str]
) -> dict[str, str]:
    """Return the texts of a template with persons and words in their places."""
    values: dict[str, str] = {}
    for place, (person, word) in enumerate(zip(persons, words, strict=True), 1):
        values |= {f"{{{{NAME{place}}}}}": person.name, f"{{{{WORD{place}}}}}": word}
        if person.kind:
            values |= {f"{{{{{slot}{place}}}}}": person.kind for slot in ("GEN", "OCC")}
    starts = [start for person in persons for start in (person.name, person.kind)]
    needs_articles = any(re.match("[aeiou]", start.lower()) for start in starts)
    return {name: _fill_text(text, values, needs_articles) for name, text in template.texts.items()}


def _fill_text(text: str, values: Mapping[str, str], needs_articles: bool) -> str:
    for slot, value in values.items():
        text = text.replace(slot, value)
    for wrong, right in _MENDED.items():
        text = text.replace(wrong, right)
    if needs_articles:
        # As released: only where a person begins with a vowel, then before every vowel.
        text = re.sub(r"(\s[aA])(\s[aeiouAEIOU])", r"\1n\2", text)
        text = text.replace(" an European", " a European")
    return text
