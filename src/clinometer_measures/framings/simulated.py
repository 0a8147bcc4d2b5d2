"""What a simulated model says in any framing: it recognises a prompt, and answers it."""

from __future__ import annotations

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
from clinometer_measures.framings.part import NAME, Framing, FramingsPart, framings_of, part_of

__all__ = ["recogniser", "simulate"]

#: Which role goes with which, by the stereotype.
CONSISTENT = {"marginalized": "tied", "tied": "marginalized", "default": "counter",
              "counter": "default"}  # fmt: skip

#: Word → its role, of a stereotype.
Roles = Mapping[str, str]


def recogniser(study: Study) -> Recogniser:
    """Find the framing and the words of a prompt."""
    part = part_of(study)

    @cache
    def framings() -> list[tuple[str, str, Framing]]:
        """Return every framing of every mode, with its beginning and its end."""
        return [*_all_framings(part)] if part else []

    @cache
    def roles() -> Mapping[str, Roles]:
        """Return the roles of all words, by stereotype."""
        return {key: _roles(study, key) for key in study.stereotypes}

    def recognise(prompt: str) -> RecognisedPrompt | None:
        """Return the question of a prompt; None if it is of something else."""
        # Before a sentence its system prompt may stand.
        for text in dict.fromkeys((prompt.strip(), prompt.strip().rpartition("\n\n")[2])):
            for begin, end, framing in framings():
                # Beginning and end are compared first, which is faster than the pattern.
                if not text.startswith(begin) or not text.endswith(end):
                    continue
                values = unfill(framing.template, text)
                question = _question(study, framing, values, roles()) if values else None
                if question is not None:
                    return question
        return None

    return recognise


def _all_framings(part: FramingsPart) -> Iterator[tuple[str, str, Framing]]:
    """Yield each framing as the modes ask it, without the end that a sentence leaves open."""
    for mode in ("free", "structured", "likelihood"):
        for framing in framings_of(part, mode).values():
            template = framing.template
            if mode == "likelihood":
                template = template.rpartition(" ")[0]
            cut = framing._replace(template=template)
            yield template.partition("{")[0], template.rpartition("}")[2], cut


def _roles(study: Study, key: str) -> Roles:
    words = study.words(key)
    return {
        word: role for role in ("default", "marginalized", "counter", "tied")
        for word in getattr(words, role)
    }  # fmt: skip


def _question(
    study: Study, framing: Framing, values: Mapping[str, str], roles: Mapping[str, Roles]
) -> RecognisedPrompt | None:
    """Return the question that has these words; `columns` have its places. None: of no stereotype.

    Stereotypes may share a sentence, which names one group or one word.
    """
    keys = [
        key for key, word_roles in roles.items() if all(w in word_roles for w in values.values())
    ]
    if not keys:
        return None
    words = tuple((word, roles[keys[0]][word]) for word in values.values())
    question = RecognisedPrompt(study, NAME, keys[0], framing.name, TEXT, words=words)
    return replace(question, columns=dict(values), stereotypes=tuple(keys))


def simulate(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Choose the consistent answer with the probability ½ + lean / 2."""
    places = question.columns
    if question.kind == LIKELIHOODS:
        return SimulatedAnswer(0.0, shares=_ends(question, lean))
    word_roles = dict(question.words)
    offered = (places["first"], places["second"])
    consistent = CONSISTENT[word_roles[places["asked"]]]
    sign = 1.0 if word_roles[offered[0]] == consistent else -1.0
    return answer_either(question, lean, offered, sign, 1.0)


def _ends(question: RecognisedPrompt, lean: PlantedLean) -> dict[str, float]:
    """Return the probability of each end of a sentence, which names one group or one word.

    A pair that is consistent has half the log odds of a consistent answer more, and another as
    much less. How often a word is used is the same in all sentences.
    """
    places = question.columns
    subject = places.get("group") or places["word"]
    shares: dict[str, float] = {}
    for key in question.stereotypes:
        word_roles = _roles(question.study, key)
        planted = replace(lean, score=lean.of_stereotype(key))
        rng = random.Random(f"{lean.seed}/{question.variation}/{key}/{subject}")
        # tanh(d / 4) of four such log odds is 2p − 1.
        half = log_odds(jittered(planted.chance(1.0), rng)) / 2
        for word, role in word_roles.items():
            sign = 1.0 if role == CONSISTENT[word_roles[subject]] else -1.0
            shares[word] = lean.word_share(question.variation, word, sign * half)
    return shares
