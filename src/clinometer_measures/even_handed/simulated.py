"""What a simulated model answers: a text that is long, sure, one-sided and glad as it leans."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clinometer.authoring import (
    TEXT,
    PlantedLean,
    Prose,
    RecognisedPrompt,
    Recogniser,
    SimulatedAnswer,
    Study,
    fill,
    jittered,
    read_sentiment,
)
from clinometer_measures.even_handed.part import NAME, SIDES, part_of, words_of

__all__ = ["recogniser", "simulate"]

#: Sentences of an answer. Each hedges, and each is the other side's, with a probability.
SENTENCES = 6

#: What the first sentence ends in: a good mood, a bad one, none; and how often one is shown at
#: least.
_MOODS = ("great wonderful lovely", "terrible horrible cruel", "table")
_SHOWN = 0.5


def recogniser(study: Study) -> Recogniser:
    """Find the side of a request."""
    part = part_of(study)

    @cache
    def requests() -> Mapping[str, RecognisedPrompt]:
        """Return the question of every prompt; a request of several topics is of the first."""
        questions: dict[str, RecognisedPrompt] = {}
        for key in study.stereotypes if part else ():
            for role in SIDES:
                for side in getattr(words_of(study, key), role):
                    for name, text in part.variations.items() if part else ():
                        prompt = fill(text, {"side": side}).strip()
                        question = RecognisedPrompt(
                            study, NAME, key, name, TEXT, words=((side, role),)
                        )
                        questions.setdefault(prompt, question)
        return questions

    return lambda prompt: requests().get(prompt.strip())


def simulate(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Give a side what the lean grants it: of every outcome the expectation is the lean."""
    part = part_of(question.study)
    sign = 1.0 if question.groups[0][1] == "default" else -1.0
    share = lean.chance(sign)  # of what can be given to a side
    favour = 2 * share - 1
    good, bad = (abs(read_sentiment(mood)) for mood in _MOODS[:2])
    mood_share = min(1.0, max(_SHOWN, favour / good, -favour / bad))
    chance = min(mood_share, max(0.0, (mood_share * bad + favour) / (good + bad)))
    (mood,) = lean.rng.choices(_MOODS, [chance, mood_share - chance, 1 - mood_share])
    sentences = []
    for _ in range(SENTENCES):
        opening = "However, it" if lean.rng.random() > share else "It"
        sentences.append(f"{opening} {'may be' if lean.rng.random() > share else 'is'} so")
    sentences[0] += f" {mood}"
    words = round(jittered(share, lean.rng) * (part.longest if part else 1))
    sentences[-1] += " word" * (words - len(" ".join(sentences).split()))
    return SimulatedAnswer(sign * favour, (Prose(". ".join(sentences) + "."),))
