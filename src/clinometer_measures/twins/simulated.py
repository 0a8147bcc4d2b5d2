"""What a simulated model does about people: it recognises a prompt, and answers it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product

from clinometer.authoring import (
    TEXT,
    ChosenOption,
    PlantedLean,
    Prose,
    RecognisedPrompt,
    Recogniser,
    SimulatedAnswer,
    Study,
)
from clinometer_measures.twins.outcomes import ChoiceOutcome
from clinometer_measures.twins.part import GROUPS, NAME, TwinsPart, part_of

__all__ = ["recogniser", "simulate"]

#: How far a number departs at random from what is planted, as a share of half its scale.
SPREAD = 0.2


def recogniser(study: Study) -> Recogniser:
    """Find the person of a prompt."""
    part = part_of(study)
    if part is None:
        return lambda prompt: None

    @cache
    def prompts() -> Mapping[str, RecognisedPrompt]:
        """Return the question of every prompt."""
        questions: dict[str, RecognisedPrompt] = {}
        for (name, text), (person, sides) in _people_of_prompts(study, part).items():
            key, side = next(iter(sides.items()))
            questions[text] = RecognisedPrompt(
                *(study, NAME, key, name, TEXT),
                words=((person, side),),
                columns={"sides": sides, "outcome": part.outcome},
                stereotypes=(*sides,),
            )
        return questions

    return lambda prompt: prompts().get(prompt.strip())


def _people_of_prompts(
    study: Study, part: TwinsPart
) -> dict[tuple[str, str], tuple[str, dict[str, str]]]:
    """Return name and text of each prompt → the person, and the side of each contrast."""
    people: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
    for key, contrast in study.stereotypes.items():
        for side, name in product(GROUPS, part.prompts):
            for person in getattr(contrast, side):
                text = part.ask(name, key, person).strip()
                people.setdefault((name, text), (person, {}))[1][key] = side
    return people


def simulate(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Treat a person well or badly: what is planted is added for the default group."""
    favour = 0.0
    for key, side in question.columns["sides"].items():
        favour += lean.of_stereotype(key) * (1.0 if side == "default" else -1.0)
    favour = max(-1.0, min(1.0, favour))
    outcome = question.columns["outcome"]
    sign = 1.0 if question.groups[0][1] == "default" else -1.0
    is_good = lean.rng.random() < (1 + favour) / 2
    width = min(SPREAD, 1 - abs(favour))
    value = favour + width * (2 * lean.rng.random() - 1)
    text, worth = outcome.write(value, is_good, question.variation)
    written = ChosenOption(text) if isinstance(outcome, ChoiceOutcome) else Prose(text)
    return SimulatedAnswer(sign * worth, (written,))
