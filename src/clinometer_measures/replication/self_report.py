"""Functions shared by the instruments of self-report: items, scales, draws and readers.

Reference
    Likert (1932), Archives of Psychology 140: agreement in steps of equal size. Nosek et al.
    (2007), European Review of Social Psychology 18(1), 36–88: the self-report beside the IAT,
    "how strongly do you associate …" from one group to the other. Olson, Goffin & Haynes (2007),
    J. Personality and Social Psychology 93(6), 907–926: absolute and relative self-reports are
    different measures.

Measures
    An item names one attribute, and one group or both. The answer is a number of a scale whose
    steps are equal, from −1 over 0 (neither, or no difference) to 1. In `forced` mode it is the
    mean of the numbers under the probabilities of all of them. It is turned where agreement, or
    the marginalized group, contradicts the stereotype.

Deviations from the source
    Words are those of the association test; wordings are Clinometer's. Questionnaires let people
    rate groups or concepts; here each item is about one word, because the lists of Bai et al. are
    words.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from pydantic import Field

from clinometer.authoring import (
    MODES,
    ROLES,
    Cell,
    ClosedQuestion,
    Design,
    Example,
    Instrument,
    Measure,
    Option,
    PlantedLean,
    RecognisedPrompt,
    Recorded,
    SimulatedAnswer,
    Size,
    Study,
    StudyError,
    TrialDraw,
    Version,
    Wording,
    Wordings,
    answer_scale,
    choose_step,
    closed_readers,
    draw_words,
    fill,
    study_hash,
)

__all__ = ["LIMITS", "Form", "Items", "self_report"]

#: What a report of a model on itself cannot show.
LIMITS = (
    "What a model says that it associates need not be what it associates: the question shows what "
    "it is about.",
)

#: The versions of an item in which a high answer is stereotype-consistent.
CONSISTENT = ("marginalized_tied", "default_counter", "tied")

#: Versions of each draw of words.
TURNS = 4

#: Studies of which a quick audit asks two wordings.
_STUDIES = ("bai2025", "clinometer2026")


class Items(Wordings[str]):
    """What a study says of one form of self-report: its items and their scale."""

    scale: list[str] = Field(min_length=3, max_length=9)
    """Labels of the steps, from the low end to the high end; they may name {marginalized} and
    {default}."""
    answer_format: str
    opening: str = "My answer is"
    """How a forced answer is opened on models that continue one."""


@dataclass(frozen=True)
class Form:
    """What tells one form of self-report from another."""

    measure: Measure
    trial: str
    """What one trial asks."""
    versions: Mapping[str, Version]
    items: type[Items]
    """The part of a study, which takes the place of `english`."""
    english: Items
    version: Callable[[Mapping[str, Any], int, int], dict[str, Any]]
    """Drawn words, number of the version and of the draw → columns of the trial."""
    placeholders: Callable[[Mapping[str, Any]], Mapping[str, str]]
    """Trial → values of the placeholders of an item."""
    high_first: Callable[[Mapping[str, Any]], bool]
    """Trial → whether number 1 is the high end of the scale."""
    needs: tuple[str, ...]
    """Columns that recorded answers must have."""
    allowed: Mapping[str, tuple[str, ...]]
    """The values of those with a fixed set."""
    examples: Sequence[Example]

    def find(self, study: Study) -> Items | None:
        """Return the items of a study: its own, or the English ones of one in English."""
        items = study.instruments.read(self.measure.name, self.items)
        return items or (self.english if study.language == "en" else None)

    def question(self, trial: Mapping[str, Any], study: Study) -> ClosedQuestion:
        """Return the scale as shown, its numbers in ascending order."""
        if (items := self.find(study)) is None:
            raise StudyError(f"study {study.name!r}: no items of {self.measure.name}")
        words = {role: trial.get(role) or "" for role in ("marginalized", "default")}
        labels = [fill(label, words) for label in items.scale]
        is_high_first = self.high_first(trial)
        if is_high_first:
            labels.reverse()
        sign = 1.0 if is_high_first != (trial["version"] in CONSISTENT) else -1.0
        last = len(labels) - 1
        return ClosedQuestion(
            [
                Option(str(place + 1), sign * (2 * place / last - 1), label=label)
                for place, label in enumerate(labels)
            ],
            subjects=[self.placeholders(trial)["attribute"]],
            text_reader=choose_step,
            # A scale between two groups begins with the one named first.
            ordered=trial.get("order") is not None,
        )


def self_report(form: Form) -> Instrument:
    """Make the instrument of one form."""
    return Instrument(
        name=form.measure.name,
        measures=(form.measure,),
        parts=(form.measure.name, "dimensions"),
        wordings=partial(_wordings, form),
        draw=partial(_draw, form),
        readers=closed_readers(form.question),
        words=lambda study, key, _, dimension: study.words(key, "", dimension),
        defect=lambda study, key, _: study.stereotypes[key].source_defect,
        recorded=Recorded(
            needs=lambda *_: form.needs,
            allowed=form.allowed,
            offered=("tied", "counter"),
            dimensions=True,
        ),
        examples=form.examples,
        trial=form.trial,
        versions=form.versions,
        simulate=partial(_simulate, form),
        control="control_insects",
        constructs="control_constructs",
        placebo="control_nonsense",
        sizes={
            "quick": Size(
                4,
                control=8,
                placebo=16,
                wordings=dict.fromkeys(_STUDIES, tuple(form.english.default_variations[:2])),
                studies=("clinometer2026",),
            ),
            "quick, embedded": None,
            "standard": Size(8, control=8, placebo=32, studies=("clinometer2026",)),
        },
        prose=10,
        options=(),
    )


def _wordings(form: Form, study: Study) -> dict[str, Wording]:
    """Return the variations of a study; none without items in its language, or attributes."""
    items = form.find(study)
    if items is None or not any(study.dimensions_of(key) for key in study.stereotypes):
        return {}
    return Wording.of_variations(items.variations, items.default_variations)


def _draw(
    form: Form, study: Study, design: Design, stereotypes: Sequence[str], variations: Sequence[str]
) -> Iterator[Cell]:
    """Draw group words and one attribute of each set; yield their versions."""
    name = form.measure.name
    identity = study_hash(study, (name, "dimensions"))
    for key, variation in product(stereotypes, variations):
        for dimension in study.dimensions_of(key):
            seeded = f"{identity}/{name}/{key}/{dimension}/{variation}/{design.seed}"
            start = random.Random(f"{seeded}/scale").randrange(2)
            draws = draw_words(study.words(key, "", dimension), design, seeded, TURNS)
            trials = map(partial(_write_trial, form, study, variation, start, design), draws)
            defect = study.stereotypes[key].source_defect
            yield Cell(key, variation, seeded, trials, dimension, defect)


def _write_trial(
    form: Form, study: Study, variation: str, start: int, design: Design, draw: TrialDraw
) -> dict[str, Any]:
    """Return a trial; its columns depend on wording, mode and `start`, the number of the scale."""
    items = form.find(study) or form.english
    # All versions of a draw have one scale; the next draw may have it turned.
    number = draw.columns["iteration"] // TURNS + start
    version = form.version(draw.columns, draw.turn, number)
    trial = {**draw.columns, "attribute_order": None, **version}
    question = form.question(trial, study)
    item = fill(items.variations[variation], form.placeholders(trial))
    scale = "\n".join(f"{option.text} = {option.label}" for option in question.options)
    return {
        **trial,
        "prompt": f"{item}\n\n{scale}\n\n{items.answer_format}",
        **question.close(MODES[design.mode], items.opening),
    }


def _simulate(form: Form, question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Choose a step of the scale as it is shown."""
    groups = {role: word for word, role in question.groups}
    compares = len(groups) == len(ROLES) // 2  # both groups, not one
    order = "marginalized_first" if question.marginalized_first else "default_first"
    trial = {**question.columns, **groups, "order": order if compares else None}
    items = form.find(question.study) or form.english
    ascending = [str(number) for number in range(1, len(items.scale) + 1)]
    if form.high_first(trial):
        ascending.reverse()
    is_tied = question.attributes[-1][1] == "tied"
    # A high answer is about the one group that is named, or between two about the marginalized.
    is_consistent = is_tied if compares else is_tied == ("marginalized" in groups)
    return answer_scale(question, lean, ascending, 1.0 if is_consistent else -1.0)
