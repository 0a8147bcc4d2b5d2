"""How an instrument is answered by a model with a known lean; the provider is room `simulated`.

An instrument says what a model would answer that has a given expected score on its questions
(`Instrument.simulate`), the form of the text aside. Nothing here is shared with the readers: what
is planted here is found again only if asking, reading and scoring work.

Leans are on one scale for all instruments: −1 always against the stereotype, 0 neutral, 1 always
with it. The expected score is ``neutral + lean · (high − low) / 2`` of the measure. Where a lean
and a lean towards the group named first exclude each other, the answer is as close as it can be.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from clinometer.modes import LIKELIHOODS, LOGITS
from clinometer.stimuli import Study

#: Log-probabilities of words after a sentence, from the rarest on.
USUAL = (-14.0, -6.0)

#: Half the range within which a probability departs at random from the expected one.
JITTER = 0.1

#: A word and its role: ``marginalized``, ``default``, ``tied``, ``counter``, ``extra``, ``object``.
Word = tuple[str, str]


@dataclass(frozen=True)
class RecognisedPrompt:
    """One prompt of an instrument, as far as its text shows."""

    study: Study
    instrument: str
    stereotype: str
    variation: str
    kind: str
    """Kind of answer that is asked for: `modes.TEXT`, `CHOICES` or `LOGITS`."""
    words: tuple[Word, ...] = ()
    """Words of the study that stand alone, in the order of the prompt."""
    listed: tuple[Word, ...] = ()
    """Words of the study that stand in a list."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Columns of `results.TRIALS` that all trials with this text share but for their words."""
    followup: bool = False
    """Whether it is the second of two prompts."""
    stereotypes: tuple[str, ...] = ()
    """All stereotypes of the study whose prompts have this text; `stereotype` is the first."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label of an option → the group word it stands for."""

    @cached_property
    def groups(self) -> tuple[Word, ...]:
        """The group words, each once, in the order of the prompt."""
        words = (word for word in self.words if word[1] in ("marginalized", "default"))
        return tuple(dict.fromkeys(words))

    @cached_property
    def attributes(self) -> tuple[Word, ...]:
        """The attributes that stand alone, each once, in the order of the prompt."""
        words = (word for word in self.words if word[1] in ("tied", "counter", "extra"))
        return tuple(dict.fromkeys(words))

    @property
    def marginalized_first(self) -> bool:
        """Whether the first group word is one of the marginalized group."""
        return self.groups[0][1] == "marginalized"

    @property
    def identity(self) -> str:
        """The question without the order of its words: what the trials of a pair share."""
        words = sorted({word for word, _ in (*self.words, *self.listed)})
        return "/".join([self.instrument, self.stereotype, self.variation, *words])


#: Prompt → the question it puts; None if it is of something else.
Recogniser = Callable[[str], RecognisedPrompt | None]


@dataclass(frozen=True)
class PlantedLean:
    """What a model has in mind about one question."""

    score: float
    """Expected lean, −1…1."""
    order: float
    """Lean towards the group named first, −1…1."""
    rng: random.Random
    """Differs between answers."""
    seed: str
    """The same for all answers of the model; seeds what trials of a pair share."""
    of_stereotype: Callable[[str], float] = lambda _: 0.0
    """Stereotype → its expected lean in this wording, for questions that touch several; group
    words do not add."""

    def shared(self, question: RecognisedPrompt) -> random.Random:
        """Return random numbers that both orders of a question share."""
        return random.Random(f"{self.seed}/{question.identity}")

    def chance(self, sign: float, order: float = 0.0) -> float:
        """Return ½ + sign · lean / 2 + order · lean towards the first / 2, within 0…1."""
        return min(1.0, max(0.0, (1 + sign * self.score + order * self.order) / 2))

    def word_share(self, variation: str, word: str, odds: float) -> float:
        """Return how probable a word is after a sentence.

        It is as frequent as `USUAL` has it, the same after all groups, times what `odds` is the
        logarithm of.
        """
        usual = random.Random(f"{self.seed}/{variation}/{word}").uniform(*USUAL)
        return math.exp(usual + odds)


def jittered(p: float, rng: random.Random) -> float:
    """Move a probability at random; its expectation stays."""
    width = min(JITTER, p, 1 - p)
    return p + width * (2 * rng.random() - 1)


@dataclass(frozen=True)
class PairedWords:
    """Attributes and the group word given to each."""

    pairs: Mapping[str, str]


@dataclass(frozen=True)
class AssignedTasks:
    """Group words and the task given to each; of a prompt that names one task, who gets it."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ChosenOption:
    """One of a few options."""

    option: str
    alone: bool = False
    """Whether anything else in the answer would spoil it."""


@dataclass(frozen=True)
class Prose:
    """A text that no form of answer changes."""

    text: str


@dataclass(frozen=True)
class SimulatedAnswer:
    """An answer before it is written."""

    lean: float
    """How stereotype-consistent it is, −1…1; 0 where that cannot be said."""
    parts: tuple[PairedWords | AssignedTasks | ChosenOption | Prose, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    """Option → its probability, which is what an answer in log-probabilities consists of."""
    numbered: bool = False
    """Whether the parts answer tasks with numbers."""
    reasoning_tokens: int | None = None


def answer_pairs(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Answer a word association: pair listed words with groups, or one word in `LOGITS`."""
    if question.kind == LIKELIHOODS:
        return _answer_ends(question, lean)
    if question.kind == LOGITS:
        return _answer_word(question, lean)
    pairs, score = pair_words(question, lean)
    return SimulatedAnswer(score, (PairedWords(pairs),))


def _answer_ends(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Make words likelier after a sentence by the log odds that one group's lean gives them.

    How often a word is used, and how far it departs at random, is the same after all groups.
    """
    marginalized = question.groups[0][1] == "marginalized"
    shares = {}
    for word, role in question.listed:
        sign = {"tied": 1.0, "counter": -1.0}.get(role, 0.0)
        seed = f"{lean.seed}/{question.variation}/{word}"
        chance = lean.chance(sign)
        # Stereotypes may share the sentence of a default group: it departs at random for none.
        stereotype_rng = random.Random(f"{seed}/{question.stereotype}")
        odds = log_odds(jittered(chance, stereotype_rng)) if marginalized else -log_odds(chance)
        shares[word] = lean.word_share(question.variation, word, odds)
    return SimulatedAnswer(0.0, shares=shares)


def _answer_word(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Give the one word of a prompt to a group, by probability."""
    sign = {"tied": 1.0, "counter": -1.0}.get(question.attributes[0][1], 0.0)
    order = 1.0 if question.marginalized_first else -1.0
    p = jittered(lean.chance(sign, order), lean.rng)
    return SimulatedAnswer(sign * (2 * p - 1), shares=_group_shares(question, p))


def _group_shares(question: RecognisedPrompt, p: float) -> dict[str, float]:
    """Return the probability of each group word, or of the label that stands for it."""
    label = {word: name for name, word in question.labels.items()}
    shares = {"marginalized": p, "default": 1 - p}
    return {label.get(word, word): shares[role] for word, role in question.groups}


def pair_words(question: RecognisedPrompt, lean: PlantedLean) -> tuple[dict[str, str], float]:
    """Pair the listed words so that the expectation of equation 1 is the lean.

    Of N words, M go to the marginalized group, which depends on the lean towards the group named
    first alone. Given M the score is linear in the number of tied words among them, whose
    expectation follows from the lean.
    """
    by_role: dict[str, list[str]] = {"tied": [], "counter": [], "extra": []}
    for word, role in question.listed:
        by_role[role].append(word)
    n_tied, n_counter = len(by_role["tied"]), len(by_role["counter"])
    first = 1.0 if question.marginalized_first else -1.0
    n = n_tied + n_counter
    m = _round_at_random(n * (1 + first * lean.order) / 2, lean.rng)
    least, most = max(0, m - n_counter), min(n_tied, m)
    if 0 < m < n:
        # Equation 1 with t tied words among the M is t · per_word + constant.
        per_word = 1 / m + 1 / (n - m)
        expected = (lean.score + 1 - (n_counter - m) / (n - m)) / per_word
        p = (expected - least) / (most - least) if most > least else 0.0
        tied = least + sum(lean.rng.random() < p for _ in range(most - least))
        score = tied * per_word + (n_counter - m) / (n - m) - 1
    else:
        tied = least
        score = 0.0  # ½ + ½ − 1, if both sets have as many words
    to_marginalized = set(lean.rng.sample(by_role["tied"], tied))
    to_marginalized.update(lean.rng.sample(by_role["counter"], m - tied))
    groups = {role: word for word, role in question.groups}
    pairs = {}
    for word, role in question.listed:
        is_marginalized = lean.rng.random() < 0.5 if role == "extra" else word in to_marginalized
        pairs[word] = groups["marginalized" if is_marginalized else "default"]
    return pairs, score


def _round_at_random(value: float, rng: random.Random) -> int:
    """Round at random to one of the two nearest whole numbers; the expectation is the value."""
    below = math.floor(value)
    return below + (rng.random() < value - below)


def answer_assignment(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Answer a relative decision: assign two tasks to two groups, or one task in `LOGITS`."""
    groups, tasks = question.groups, question.attributes
    if question.kind == LIKELIHOODS:
        return _answer_tasks(question, lean)
    if question.kind == LOGITS:
        return _answer_task(question, lean)
    profiles = Prose(_profiles(groups))
    if not tasks:  # the first of two prompts
        return SimulatedAnswer(0.0, (profiles,))
    aligned = (groups[0][1] == "marginalized") == (tasks[0][1] == "tied")
    first = lean.rng.random() < lean.chance(1.0 if aligned else -1.0, 1.0)
    takers = groups if first else groups[::-1]  # of the first task, and of the second
    pairs = tuple((taker, task) for (taker, _), (task, _) in zip(takers, tasks, strict=False))
    parts = (AssignedTasks(pairs),) if question.followup else (profiles, AssignedTasks(pairs))
    return SimulatedAnswer(1.0 if first == aligned else -1.0, parts)


def _answer_task(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Give the log odds of a task half the log odds of the consistent assignment, by its sign."""
    consistent = jittered(lean.chance(1.0), lean.shared(question))
    sign = 1.0 if question.words[-3][1] == "tied" else -1.0  # before the two groups at the end
    order = 1.0 if question.marginalized_first else -1.0
    logit = sign * log_odds(consistent) / 2 + order * log_odds((1 + lean.order) / 2)
    return SimulatedAnswer(
        2 * consistent - 1, shares=_group_shares(question, 1 / (1 + math.exp(-logit)))
    )


def _answer_tasks(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Make each task likelier by half the log odds of the consistent assignment, by its sign.

    Those of the default group follow from the leans of its own words alone, as in `_answer_ends`.
    """
    marginalized = question.groups[0][1] == "marginalized"
    listed = "/".join(sorted(word for word, _ in question.listed))
    consistent = lean.chance(1.0)
    if marginalized:
        seed = f"{lean.seed}/{question.variation}/{listed}/{question.stereotype}"
        consistent = jittered(consistent, random.Random(seed))
    half = log_odds(consistent) / 2
    shares = {}
    for word, role in question.listed:
        odds = half if (role == "tied") == marginalized else -half
        shares[word] = lean.word_share(question.variation, word, odds)
    return SimulatedAnswer(0.0, shares=shares)


def log_odds(p: float) -> float:
    """Return the log odds of a probability; finite at 0 and 1, too."""
    bounded = min(1 - 1e-9, max(1e-9, p))
    return math.log(bounded / (1 - bounded))


def _profiles(groups: Sequence[Word]) -> str:
    """Describe a member of each group, in words that belong to no stereotype."""
    texts = ("lives near the station and likes to cook", "lives by the park and likes to read")
    lines = [f"{word}: This person {text}." for (word, _), text in zip(groups, texts, strict=True)]
    return "\n".join(lines)


def answer_either(
    question: RecognisedPrompt,
    lean: PlantedLean,
    options: tuple[str, str],
    sign: float,
    order: float = 0.0,
) -> SimulatedAnswer:
    """Choose the first of two options; with a `sign` of 1 it is the consistent one, with −1 not.

    `order`: 1 if the prompt names it first, −1 if last, 0 if it has no order. The sign follows from
    the roles of words and the version of a trial, and never from what its instrument reads.
    """
    p = lean.chance(sign, order)
    if question.kind in (LOGITS, LIKELIHOODS):
        p = jittered(p, lean.rng)
        return SimulatedAnswer(
            sign * (2 * p - 1), shares=dict(zip(options, (p, 1 - p), strict=True))
        )
    first = lean.rng.random() < p
    return SimulatedAnswer(sign if first else -sign, (ChosenOption(options[0 if first else 1]),))


def answer_scale(
    question: RecognisedPrompt, lean: PlantedLean, numbers: Sequence[str], sign: float
) -> SimulatedAnswer:
    """Choose a step, from the low end of a scale on; with a `sign` of 1 the high end is consistent.

    Steps are distributed as the number of successes in `len(numbers)` − 1 trials.
    """
    steps = len(numbers) - 1
    p = lean.chance(sign)
    if question.kind == LOGITS:
        p = jittered(p, lean.rng)
        masses = [math.comb(steps, k) * p**k * (1 - p) ** (steps - k) for k in range(steps + 1)]
        return SimulatedAnswer(sign * (2 * p - 1), shares=dict(zip(numbers, masses, strict=True)))
    step = sum(lean.rng.random() < p for _ in range(steps))
    return SimulatedAnswer(sign * (2 * step / steps - 1), (ChosenOption(numbers[step]),))
