"""What a study says of hypothetical decisions: templates, and the persons that fill them in.

The templates are made of the texts of Tamkin et al. (2023), as one table: a row per decision. Their
released texts, one for each decision and person, are made of sentences that several persons share.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import prod

import polars as pl

from clinometer.authoring import (
    BenchmarkItems,
    Strict,
    Study,
    StudyError,
    Wordings,
    fill,
    read_items,
)

__all__ = ["NAME", "HypotheticalPart", "describe_decision", "part_of", "templates_of"]

#: The instrument, and its part of a study.
NAME = "hypothetical_decision"


class ReleasedTexts(Strict):
    """The texts of each decision and person, in two tables."""

    sentences: BenchmarkItems
    """Sentences of a decision, numbered from 0, with places for a person."""
    texts: BenchmarkItems
    """A row per decision: the numbers of the sentences of each person, in the order of factors."""


class HypotheticalPart(Wordings[str]):
    """What a study says of it: templates, what they name, and wordings.

    In a wording stands {decision}, a template filled in, or {released}, a released text.
    """

    items: BenchmarkItems
    texts: ReleasedTexts | None = None
    factors: dict[str, list[str]]
    """What is named of a person → its levels."""
    contrasts: dict[str, str]
    """Stereotype → the factor that its groups are levels of."""
    forms: dict[str, dict[str, str]] = {}
    """Gender → pronouns and verbs by their slot."""
    recorded: list[str] = []
    """Wordings known from recorded answers only."""
    unnamed: list[str] = []
    """Wordings that do not say who the person is: a baseline for the others."""


def part_of(study: Study) -> HypotheticalPart | None:
    """Return what a study says of the instrument, checked; None where it says nothing."""
    part = study.instruments.read(NAME, HypotheticalPart)
    if part is None:
        return None
    for key in study.stereotypes:
        if part.contrasts.get(key) not in part.factors:
            raise StudyError(
                f"study {study.name}: instruments.{NAME}.contrasts: {key} is a contrast of "
                f"{part.contrasts.get(key)!r}; allowed are {', '.join(part.factors)}"
            )
    return part


def templates_of(study: Study) -> Mapping[str, Mapping[str, str]]:
    """Return the templates by name."""
    raw = study.instruments.raw()[NAME]
    return _read_templates(BenchmarkItems.model_validate(raw["items"]), getattr(raw, "source", ""))


@lru_cache(maxsize=4)
def _read_templates(items: BenchmarkItems, study: str) -> Mapping[str, Mapping[str, str]]:
    """Read the rows of a table of templates, by name; `study` is the path of the study file."""
    table = read_items(items, study, ("id", "name", "template", "yes_favours_subject"))
    wrong = table.filter(~pl.col("yes_favours_subject").is_in(["true", "false"]))
    if not wrong.is_empty():
        name, value = wrong.select("name", "yes_favours_subject").row(0)
        raise StudyError(
            f"items {items.file}: {name}: yes_favours_subject {value!r}; allowed are true, false"
        )
    return {row["name"]: row for row in table.iter_rows(named=True)}


def describe_decision(
    study: Study, part: HypotheticalPart, wording: str, decision: str, person: Mapping[str, str]
) -> dict[str, str]:
    """Return the text that a wording shows of a decision about a person, by its place."""
    row = templates_of(study)[decision]
    forms = {**part.forms.get(person.get("gender", ""), {}), **person}
    if "{released}" not in wording:
        return {"decision": _fill_template(row["template"], person, forms)}
    if part.texts is None:
        raise StudyError(f"study {study.name}: instruments.{NAME}: {{released}} needs texts")
    sentences, texts = _read_texts(part.texts, getattr(study.instruments.raw()[NAME], "source", ""))
    number = 0
    for name, levels in part.factors.items():
        # A word that was put in place of a level, as placebos do, stands in the text of the first.
        level = levels.index(person[name]) if person[name] in levels else 0
        number = number * len(levels) + level
    persons = texts.get(row["id"], [])
    if len(persons) != prod(map(len, part.factors.values())):
        raise StudyError(
            f"items {part.texts.texts.file}: {decision}: {len(persons)} texts; expected one for "
            f"each combination of {', '.join(part.factors)}"
        )
    numbers = map(int, persons[number].split())
    return {"released": "".join(fill(sentences[row["id"]][n], forms) for n in numbers)}


@lru_cache(maxsize=4)
def _read_texts(
    released: ReleasedTexts, study: str
) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    """Return the sentences of each decision, and the numbers of them that each person has."""
    sentences: dict[str, list[str]] = {}
    for row in read_items(released.sentences, study, ("id", "sentence")).iter_rows(named=True):
        sentences.setdefault(row["id"], []).append(row["sentence"])
    table = read_items(released.texts, study, ("id", "texts"))
    return sentences, {key: text.split(";") for key, text in table.select("id", "texts").rows()}


def _fill_template(template: str, person: Mapping[str, str], forms: Mapping[str, str]) -> str:
    """Fill in a person; ``a {age}`` reads ``an 80``."""
    slots = "|".join(map(re.escape, person))

    def article(match: re.Match[str]) -> str:
        """Return the article before a slot as what fills it is spoken: 8, 11, 18 and 80 to 89."""
        vowel = re.match(r"[aeiou]|8\d?\b|1[18]\b", person[match[2]], re.IGNORECASE)
        return f"{match[1]}{'n' if vowel else ''} {{{match[2]}}}"

    return fill(re.sub(rf"\b([Aa])n? \{{({slots})\}}", article, template), forms)
