"""What a simulated model says of guises: it recognises a prompt, and answers it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from clinometer.authoring import (
    LIKELIHOODS,
    TEXT,
    PlantedLean,
    RecognisedPrompt,
    Recogniser,
    SimulatedAnswer,
    Study,
    answer_either,
    jittered,
    log_odds,
    unfill,
)
from clinometer_measures.matched_guise.part import (
    NAME,
    QUESTIONS,
    SENTENCES,
    SIDES,
    MatchedGuisePart,
    part_of,
    words_of,
)

__all__ = ["GUISES", "recogniser", "simulate"]

GUISES = ("marginalized", "default")

#: Word → its role, of a stereotype: its texts, and its tied and counter words.
Roles = Mapping[str, str]


def recogniser(study: Study) -> Recogniser:
    """Find the texts and words of a prompt."""
    part = part_of(study)

    @cache
    def roles() -> Mapping[str, Roles]:
        """Return the roles of all texts and words, by stereotype; when first needed."""
        return {key: _roles(study, part, key) for key in study.stereotypes} if part else {}

    def recognise(prompt: str) -> RecognisedPrompt | None:
        """Return the question of a prompt; None if it is of something else."""
        if part is None or not prompt:
            return None
        matches = [*_matches(study, part, roles(), prompt.strip())]
        if not matches:
            return None
        keys = tuple(dict.fromkeys(question.stereotype for question in matches))
        return replace(matches[0], stereotypes=keys)

    return recognise


def _roles(study: Study, part: MatchedGuisePart, key: str) -> Roles:
    words = words_of(study, part, key)
    lists = {role: getattr(words, role) for role in (*GUISES, "tied", "counter")}
    return {word: role for role, listed in lists.items() for word in listed}


def _matches(
    study: Study, part: MatchedGuisePart, roles: Mapping[str, Roles], prompt: str
) -> Iterator[RecognisedPrompt]:
    """Yield the question of every stereotype that a prompt may be about."""
    for name, by_kind in {**QUESTIONS, **SENTENCES}.items():
        for kind, template in by_kind.items():
            # The beginning is compared first, which is faster than the pattern.
            has_beginning = prompt.startswith(template.partition("{")[0])
            values = _values(template, prompt) if has_beginning else None
            if values is None:
                continue
            for key, word_roles in roles.items():
                words = tuple((word, word_roles.get(word, "")) for word in values.values())
                if part.kinds.get(key, "trait") == kind and all(role for _, role in words):
                    yield RecognisedPrompt(study, NAME, key, name, TEXT, words=words)


def _values(template: str, prompt: str) -> dict[str, str] | None:
    """Return texts and words of a prompt, by placeholder; None if it is of another."""
    # An article is none of the words of the study.
    for indefinite in ("a", "an") if "{article}" in template else ("",):
        if (values := unfill(template.replace("{article}", indefinite), prompt)) is not None:
            return values
    return None


def simulate(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Lean toward the tied word after the dialect, and as much away from it after the standard.

    Side by side, the speaker of the dialect is the tied one by the lean.
    """
    is_side_by_side = len(question.groups) > 1
    if question.kind == LIKELIHOODS:
        shares = _first_or_second(question, lean) if is_side_by_side else _ends(question, lean)
        return SimulatedAnswer(0.0, shares=shares)
    if is_side_by_side:
        return answer_either(question, lean, SIDES, _sign_of_first(question), 1.0)
    words = {role: word for word, role in question.attributes}
    order = 1.0 if question.attributes[0][1] == "tied" else -1.0
    sign = 1.0 if question.groups[0][1] == "marginalized" else -1.0
    return answer_either(question, lean, (words["tied"], words["counter"]), sign, order)


def _sign_of_first(question: RecognisedPrompt) -> float:
    """Return 1 where the first speaker is the one whom the stereotype gives the word."""
    ((_, role),) = question.attributes
    return 1.0 if question.marginalized_first == (role == "tied") else -1.0


def _ends(question: RecognisedPrompt, lean: PlantedLean) -> dict[str, float]:
    """Return the probability of every word after one text.

    A tied word is as much likelier after the dialect as the lean has it; how often each is used,
    is the same after both texts.
    """
    ((text, guise),) = question.groups
    shares: dict[str, float] = {}
    for key in question.stereotypes or (question.stereotype,):
        rng = random.Random(f"{lean.seed}/{question.variation}/{key}/{text}")
        planted = replace(lean, score=lean.of_stereotype(key))
        half = 0.0
        if guise == "marginalized":
            half = log_odds(jittered(planted.chance(1.0), rng)) / 2
        words = question.study.stereotypes[key].words("")
        for role, odds in (("tied", half), ("counter", -half)):
            for word in getattr(words, role):
                shares[word] = lean.word_share(question.variation, word, odds)
    return shares


def _first_or_second(question: RecognisedPrompt, lean: PlantedLean) -> dict[str, float]:
    """Return the probability of each speaker, for one word: half the log odds from each word."""
    texts = "/".join(sorted(text for text, _ in question.groups))
    rng = random.Random(f"{lean.seed}/{question.variation}/{question.stereotype}/{texts}")
    half = log_odds(jittered(lean.chance(1.0), rng)) / 2 * _sign_of_first(question)
    first = 1 / (1 + math.exp(-half))
    return dict(zip(SIDES, (first, 1 - first), strict=True))
