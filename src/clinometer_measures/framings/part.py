"""What a study says of framings: the forms of a question, and the factors that vary around it.

Forms and marks of a test follow the literature; sentences are Clinometer's. Forms: Marcuzzi, Ning,
Schwartz & Gurevych (2026), arXiv:2606.24596 (isolated and comparative). Marks of a test: Gao &
Kreiss (2025), arXiv:2509.04373; Li et al. (2026), arXiv:2605.23055 (placeholder entities, formats
of grading, announced tests).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, model_validator

from clinometer.authoring import Name, Strict, Study, StudyError, holds
from clinometer_measures.framings.fraction import balanced_fraction

__all__ = [
    "FORM",
    "NAME",
    "Factor",
    "Framing",
    "FramingForm",
    "FramingsPart",
    "Place",
    "factors_of",
    "framings_of",
    "part_of",
]

#: The instrument, and its part of a study.
NAME = "framings"

#: The first factor, whose levels are the forms.
FORM = "form"

#: Where the text of a factor stands. What stands in `thinking` is asked in mode ``free`` alone.
Place = Literal["system", "before", "thinking", "after"]

#: The places that a sentence left open has.
_SENTENCE_PLACES = ("system", "before")


def _ends_open(text: str) -> str:
    if text and not text.endswith((" {word}", " {group}")):
        raise ValueError("must end in a space and {word} or {group}")
    return text


class FramingForm(Strict):
    """How two groups and two words are put to a model."""

    about: Literal["group", "word"]
    """What is asked about: a group, and the answer is a word; or a word, and it is a group."""
    question: Annotated[str, holds("asked first second", "beside")]
    """`asked`: the group or word that is asked about; `beside`: the other of the two; `first`,
    `second`: the answers in both orders."""
    sentence: Annotated[str, holds("group word", "first second", decision=True),
                        AfterValidator(_ends_open)] = ""  # fmt: skip
    """For mode ``likelihood``; with `first` and `second` the groups in both orders. Empty: the form
    is not asked so."""

    @model_validator(mode="after")
    def _check_orders(self) -> FramingForm:
        if ("{first}" in self.sentence) != ("{second}" in self.sentence):
            raise ValueError("sentence: {first} and {second} stand together, or neither does")
        return self


class Factor(Strict):
    """What varies around a question."""

    place: Place
    levels: dict[Name, str] = Field(min_length=2)
    """Level → its text, perhaps empty. The first is what the others are compared with."""
    mark: bool = False
    """Whether the last level is a mark of a test."""


class FramingsPart(Strict):
    """What a study says of it."""

    framings: int = Field(30, ge=8, le=120)
    """How many framings are asked: a fraction of all combinations."""
    forms: dict[Name, FramingForm] = Field(min_length=2)
    factors: dict[Name, Factor] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_factors(self) -> FramingsPart:
        if FORM in self.factors:
            raise ValueError(f"factors: {FORM} is the name of the forms; choose another")
        return self


class Framing(NamedTuple):
    """A combination of levels."""

    name: str
    """Of the variation."""
    levels: Mapping[str, str]
    """Factor → level."""
    system: str | None
    template: str
    """With the open places of its form."""


def part_of(study: Study) -> FramingsPart | None:
    """Return what a study says of the instrument, checked; None where it says nothing.

    Raises StudyError if a stereotype has no words to associate.
    """
    part = study.instruments.read(NAME, FramingsPart)
    for key, stereotype in study.stereotypes.items() if part else ():
        if not stereotype.tied:
            where = f"study {study.name}: instruments.{NAME}"
            raise StudyError(f"{where}: stereotype {key} has no tied and counter words")
    return part


def factors_of(part: FramingsPart, mode: str) -> dict[str, list[str]]:
    """Return the factors that vary in a mode, each with its levels; the forms first."""
    is_open = mode == "likelihood"
    forms = [name for name, form in part.forms.items() if form.sentence or not is_open]
    factors = {FORM: forms}
    for name, factor in part.factors.items():
        if (
            factor.place in _SENTENCE_PLACES
            if is_open
            else mode == "free" or factor.place != "thinking"
        ):
            factors[name] = [*factor.levels]
    return factors


def framings_of(part: FramingsPart, mode: str) -> dict[str, Framing]:
    """Return the framings that a mode asks, by the name of their variation.

    Modes but ``likelihood`` share the fraction; where nothing is thought aloud, that factor is left
    out of the text. No two framings have the same text beside the system prompt, as far as there
    are so many.
    """
    is_open = mode == "likelihood"
    fraction_factors = factors_of(part, mode if is_open else "free")
    mode_factors = factors_of(part, mode)
    framings = {}
    for number, levels in enumerate(_fraction(part, fraction_factors)):
        mode_levels = {name: level for name, level in levels.items() if name in mode_factors}
        name = f"{levels[FORM]}_{'s' if is_open else ''}{number + 1:02d}"
        system = " ".join(_texts(part, mode_levels, "system")) or None
        template = _template(part, mode_levels, is_open=is_open)
        framings[name] = Framing(name, mode_levels, system, template)
    return framings


def _fraction(part: FramingsPart, factors: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return the levels of each framing of the fraction."""
    if not factors[FORM]:
        return []
    names = [*factors]
    # In every mode: what is thought aloud tells no texts apart where it is not asked.
    distinct_factors = [
        FORM,
        *(n for n, f in part.factors.items() if f.place in ("before", "after")),
    ]
    distinct = tuple(names.index(name) for name in distinct_factors if name in names)
    n_texts = 1
    for place in distinct:
        n_texts *= len(factors[names[place]])
    n_levels = tuple(map(len, factors.values()))
    runs = balanced_fraction(n_levels, min(part.framings, n_texts), distinct)
    return [
        {name: factors[name][level] for name, level in zip(names, run, strict=True)} for run in runs
    ]


def _texts(part: FramingsPart, levels: Mapping[str, str], place: Place) -> list[str]:
    """Return the texts that stand in a place, in the order of the study."""
    texts = [
        factor.levels[levels[name]]
        for name, factor in part.factors.items()
        if factor.place == place and name in levels
    ]
    return [text for text in texts if text]


def _template(part: FramingsPart, levels: Mapping[str, str], *, is_open: bool) -> str:
    """Write a framing, with the places of its form open."""
    form = part.forms[levels[FORM]]
    question = form.sentence if is_open else form.question
    begin = " ".join([*_texts(part, levels, "before"), question])
    if is_open:
        return begin
    end = " ".join([*_texts(part, levels, "thinking"), *_texts(part, levels, "after")])
    return f"{begin}\n\n{end}" if end else begin
