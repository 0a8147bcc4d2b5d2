"""Answers any prompt about people, with planted effects: for other tools, and to try them.

An answer follows from one sum, in log odds of the better answer:

    request + context · words / 100 + names + paraphrases + openings + pairs + effect · ±½

where the effect of a contrast counts half for its default side, and half against its marginalized
side. Of two answers the good one is given with the probability of the sum, to which `order` is
added if the prompt names it first, or from which it is taken. A number, and the length of a text,
is a quarter of the sum plus noise, from −1 to 1, on the way from the lowest to the highest; the
sentences of a text are warm with the probability of the sum, and else cool.
"""

from __future__ import annotations

import math
import random
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, model_validator

from clinometer.contracts.simulation import ChosenOption, Prose, SimulatedAnswer
from clinometer.simulated.prompts import CHOICE, NUMBER, PROSE, AnyPrompt
from clinometer.stimuli import Strict

Spread = Annotated[float, Field(ge=0, allow_inf_nan=False)]
LogOdds = Annotated[float, Field(ge=-50, le=50, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

#: What is asked for, as it may be declared → the kind of a prompt that it stands for.
ANSWERS = {"yes/no": CHOICE, "number": NUMBER, "text": PROSE}

#: The sum at which a number is at an end of its scale.
END = 4.0

_WARM = (
    "That sounds very good to me.",
    "I am glad to help with this request.",
    "This is an excellent case and I support it fully.",
    "You can count on a kind and quick reply.",
)
_COOL = (
    "That looks rather doubtful to me.",
    "I have serious concerns about this request.",
    "This is a weak case and I would be careful.",
    "Expect delays and some trouble with it.",
)


class Anything(Strict):
    """What is planted in answers to any prompt; effects are log odds, spreads standard deviations.

    Effects of names, wordings and openings are drawn once per seed.
    """

    answers: Literal["prompt", "yes/no", "number", "text"] = "prompt"
    """The kind of answer; ``prompt``: what the prompt asks for."""
    request: LogOdds = 0.0
    """Log odds of the good answer to anybody, in any wording."""
    effect: dict[str, LogOdds] = {}
    """Contrast → what its default side has more than its marginalized side."""
    names: Spread = 0.0
    names_more: dict[str, Spread] = {}
    """Contrast → spread of people on its marginalized side, in place of `names`."""
    paraphrases: Spread = 0.0
    openings: Spread = 0.0
    """Spread of what wordings share that begin with the same three words."""
    pairs: Spread = 0.0
    """Spread of what a person has in one wording alone."""
    skewed: bool = False
    """Whether all that is drawn is exponential instead of normal."""
    noise: Spread = 1.0
    """Spread of answers that are numbers, and of lengths of texts."""
    order: LogOdds = 0.0
    """Log odds added to the answer that the prompt names first."""
    context: LogOdds = 0.0
    """Log odds added for every 100 words of the prompt."""
    refused: Rate = 0.0
    refused_more: dict[str, Rate] = {}
    """Contrast → share of refusals about its marginalized side, beyond `refused`."""
    lowest: float = 0.0
    highest: float = 100.0
    """Ends of numbers where the prompt says none."""
    words: Annotated[int, Field(ge=1, le=2000)] = 60
    """Of a text in the middle of its scale."""

    @model_validator(mode="after")
    def _check_ends(self) -> Anything:
        if not self.lowest < self.highest:
            raise ValueError(f"lowest {self.lowest:g} must lie below highest {self.highest:g}")
        return self

    @property
    def contrasts(self) -> tuple[str, ...]:
        """The contrasts that are named."""
        return (*self.effect, *self.names_more, *self.refused_more)


def tendency(planted: Anything, prompt: AnyPrompt, seed: int) -> float:
    """Return the log odds of the good answer, but for the order of options."""
    spread = planted.names
    total = planted.request + planted.context * prompt.n_words / 100
    for contrast, side in prompt.sides.items():
        is_default = side == "default"
        total += planted.effect.get(contrast, 0.0) * (0.5 if is_default else -0.5)
        if contrast in planted.names_more and not is_default:
            spread = planted.names_more[contrast]
    for person in prompt.people:
        total += spread * _standard_effect(f"{seed}/name/{person}", planted.skewed)
        pair = f"{seed}/pair/{person}/{prompt.wording}"
        total += planted.pairs * _standard_effect(pair, planted.skewed) if planted.pairs else 0.0
    total += planted.paraphrases * _standard_effect(
        f"{seed}/wording/{prompt.wording}", planted.skewed
    )
    return total + planted.openings * _standard_effect(
        f"{seed}/opening/{prompt.opening}", planted.skewed
    )


@lru_cache(maxsize=65536)
def _standard_effect(seed: str, skewed: bool) -> float:
    return draw_standard(random.Random(seed), skewed)


def draw_standard(rng: random.Random, skewed: bool) -> float:
    """Draw a number of mean 0 and standard deviation 1."""
    return rng.expovariate(1.0) - 1.0 if skewed else rng.gauss(0.0, 1.0)


def answer_anything(
    planted: Anything, prompt: AnyPrompt, seed: int, rng: random.Random
) -> SimulatedAnswer | None:
    """Answer a prompt; None is a refusal. The lean of an answer is how good it is, −1 to 1."""
    total = tendency(planted, prompt, seed)
    kind = ANSWERS.get(planted.answers, prompt.kind)
    if kind == CHOICE:
        answer = _choose(planted, prompt, total, rng)
    else:
        noise = planted.noise * draw_standard(rng, planted.skewed)
        value = min(1.0, max(-1.0, (total + noise) / END))
        text = (
            _write_number(planted, prompt, value)
            if kind == NUMBER
            else _write_prose(planted, value, _probability(total), rng)
        )
        answer = SimulatedAnswer(value, (Prose(text),))
    # A number is drawn whether anything is refused or not: other answers stay as they are.
    return None if rng.random() < _refusal_rate(planted, prompt) else answer


def _refusal_rate(planted: Anything, prompt: AnyPrompt) -> float:
    rate = planted.refused
    for contrast, more in planted.refused_more.items():
        rate += more if prompt.sides.get(contrast) == "marginalized" else 0.0
    return rate


def _probability(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


def _choose(
    planted: Anything, prompt: AnyPrompt, total: float, rng: random.Random
) -> SimulatedAnswer:
    p = _probability(total + (planted.order if prompt.good_first else -planted.order))
    good, bad = prompt.options
    is_good = rng.random() < p
    option = ChosenOption(good if is_good else bad, alone=True)
    return SimulatedAnswer(1.0 if is_good else -1.0, (option,), shares={good: p, bad: 1 - p})


def _write_number(planted: Anything, prompt: AnyPrompt, value: float) -> str:
    lowest, highest = prompt.ends or (planted.lowest, planted.highest)
    number = lowest + (1 + value) / 2 * (highest - lowest)
    return str(round(number) if highest - lowest >= 20 else round(number, 1))


def _write_prose(planted: Anything, value: float, warm: float, rng: random.Random) -> str:
    longest = max(1, round(planted.words * (1 + value)))
    words: list[str] = []
    while len(words) < longest:
        words += rng.choice(_WARM if rng.random() < warm else _COOL).split()
    return " ".join(words[:longest])
