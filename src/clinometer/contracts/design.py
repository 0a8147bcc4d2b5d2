"""How trials are drawn: which words, in which orders, how often.

Every draw is a function of the study's content, the seed, the cell and the draw's number. Model,
mode and a larger number of iterations do not change it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from clinometer.errors import InputError
from clinometer.modes import MODES
from clinometer.stimuli import StereotypeWords

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Design:
    """How trials are drawn; the same design gives every model the same trials.

    Parameters
    ----------
    mode
        Response mode, one of `modes.MODES`.
    iterations
        Trials per stereotype and wording.
    order
        ``"mirrored"``: each draw in both orders of the groups; ``"random"``: as in the paper.
    word_list
        ``"plain"``: attributes separated by commas; ``"as_released"``: the list of the released
        code.
    options
        What a forced choice offers: the group ``"words"``, or the ``"labels"`` A and B.
    seed
        Seed of the draws.
    intervention
        Name of the system prompt; it does not affect the draws.
    system
        Text of the system prompt; None: no system prompt.
    reasoning_effort
        One of `EFFORTS`, or the most tokens of reasoning, in digits; None: the provider's default.
        It does not affect the draws.
    temperature
        Sampling temperature, in digits; None: that of the run. It does not affect the draws.
    """

    mode: str = next(iter(MODES))
    iterations: int = 50
    order: str = "mirrored"
    word_list: str = "plain"
    options: str = "words"
    seed: int = 0
    intervention: str = "none"
    system: str | None = None
    reasoning_effort: str | None = None
    temperature: str | None = None

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        for name, allowed in _ALLOWED.items():
            if (value := getattr(self, name)) not in allowed:
                raise InputError(f"{name} {value!r}: allowed are {', '.join(allowed)}")
        if self.iterations < 1:
            raise InputError(f"iterations {self.iterations}: at least 1")
        effort = self.reasoning_effort
        if effort not in (None, *EFFORTS) and not _is_budget(effort):
            raise InputError(
                f"reasoning_effort {effort!r}: allowed are {', '.join(EFFORTS)}, or a number of "
                "tokens"
            )


def _is_budget(effort: str | None) -> bool:
    """Whether an effort is a number of tokens."""
    text = effort or ""
    return text.isascii() and text.isdecimal() and int(text) > 0


#: Levels of reasoning effort, from the lowest.
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_ALLOWED: dict[str, Collection[str]] = {
    "mode": MODES.keys(),
    "order": ("mirrored", "random"),
    "word_list": ("plain", "as_released"),
    "options": ("words", "labels"),
}


@dataclass(frozen=True)
class Groups:
    """The pairs of group words of a cell: all, or where words are aligned, each with its partner.

    `len` is the number of pairs.
    """

    marginalized: Sequence[str]
    default: Sequence[str]
    aligned: bool

    @classmethod
    def of(cls, words: StereotypeWords) -> Groups:
        """Return the group words in the order of the study."""
        return cls(words.marginalized, words.default, words.aligned)

    def shuffled(self, rng: random.Random) -> Groups:
        """Return them in another order; partners stay together."""
        marginalized = rng.sample(self.marginalized, k=len(self.marginalized))
        if self.aligned:
            partner = dict(zip(self.marginalized, self.default, strict=True))
            return Groups(marginalized, [partner[word] for word in marginalized], True)
        return Groups(marginalized, rng.sample(self.default, k=len(self.default)), False)

    def draw(self, rng: random.Random) -> tuple[str, str]:
        """Draw any pair."""
        if self.aligned:
            return rng.choice([*zip(self.marginalized, self.default, strict=True)])
        return rng.choice(self.marginalized), rng.choice(self.default)

    def pair(self, k: int) -> tuple[str, str]:
        """Return pair k of a sequence that uses all words early and every pair once per round."""
        ours, theirs = self.marginalized, self.default
        # After the least common multiple both lists start anew together: a shift by one then
        # makes other pairs.
        shift = 0 if self.aligned else k // math.lcm(len(ours), len(theirs))
        return ours[k % len(ours)], theirs[(k + shift) % len(theirs)]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.marginalized) * (1 if self.aligned else len(self.default))


@dataclass(frozen=True)
class Rotation:
    """Where a wording stands among those that the pairs of a stereotype go round."""

    seeded: str
    """Identity of the order of pairs, the same for all of them."""
    place: int
    among: int

    def number(self, pair: int) -> int:
        """Return which pair of the stereotype is a wording's own pair of this number."""
        return self.place + self.among * pair

    def balanced_pair(self, groups: Groups, pair: int) -> tuple[str, str]:
        """Return a pair such that every wording shows all words, and early pairs have others.

        Unlike `Groups.pair` of a `number`, by which each of nine wordings shows two of six words,
        so that words cannot be told from wordings.
        """
        ours, theirs = groups.marginalized, groups.default
        cycle = len(ours) if groups.aligned else math.lcm(len(ours), len(theirs))
        # Steps of `among` are back at the first word before all were shown.
        k = self.among * pair + pair % cycle // (cycle // math.gcd(cycle, self.among))
        first = k + self.place
        # Sides go round in opposite directions, so that wordings have other partners.
        second = first if groups.aligned else k - self.place + pair // cycle
        return ours[first % len(ours)], theirs[second % len(theirs)]

    def distinct(self, groups: Groups) -> int:
        """Return how many pairs a wording shows before it repeats one."""
        return len(groups) // math.gcd(len(groups), self.among)


def pairs(trials: int, per_pair: int) -> Iterator[tuple[int, range]]:
    """Yield the number of each pair, and the numbers of its trials."""
    for pair, start in enumerate(range(0, trials, per_pair)):
        yield pair, range(start, min(start + per_pair, trials))


def turns(
    questions: Iterable[T], design: Design, per_draw: int
) -> Iterator[tuple[T, int, int, dict[str, Any]]]:
    """Yield each turn of each drawn question: with the numbers of the draw and of the turn.

    Last its columns `iteration` and `pair`: of several turns two that follow each other are a pair.
    If answers are not sampled, a question that was drawn before is left out.
    """
    earlier: set[T] = set()
    drawn = zip(pairs(design.iterations, per_draw), questions, strict=False)
    for (number, iterations), question in drawn:
        if question in earlier and not MODES[design.mode].sampled:
            continue
        earlier.add(question)
        for turn, iteration in enumerate(iterations):
            pair = iteration // 2 if per_draw > 1 else number
            yield question, number, turn, {"iteration": iteration, "pair": pair}


def draws(
    words: StereotypeWords,
    design: Design,
    seeded: str,
    per_set: int | None = None,
    rotation: Rotation | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the trials of one cell without prompt.

    A pair has two trials if orders are mirrored, else one; a sentence that names one group has no
    order. With `per_set`, a draw shows that many words of each set, the same in both orders of a
    pair. Without `rotation`, the wording has an order of pairs of its own.
    """
    rotation = rotation or Rotation(seeded, 0, 1)
    rng = random.Random(f"{rotation.seeded}/groups")
    cycle = Groups.of(words).shuffled(rng)
    mode = MODES[design.mode]
    sampled = mode.sampled
    ordered = not mode.sentences
    per_pair = 2 if ordered and (design.order == "mirrored" or not sampled) else 1
    distinct = per_pair * rotation.distinct(cycle)
    repeats = not sampled and per_set is None  # more trials would be the same questions again
    limit = min(design.iterations, distinct) if repeats else design.iterations
    for pair, numbers in pairs(limit, per_pair):
        # The order of what is drawn is part of the design: another would change every trial.
        rng.seed(f"{seeded}/{pair}")
        first = rng.random() < 0.5
        tied, counter = words.tied, words.counter
        if per_set is not None:
            tied, counter = rng.sample(tied, k=per_set), rng.sample(counter, k=per_set)
        attributes = [*tied, *counter, *words.extra]
        rng.shuffle(attributes)
        is_random = ordered and per_pair == 1
        groups = Groups.of(words).draw(rng) if is_random else cycle.pair(rotation.number(pair))
        for turn, iteration in enumerate(numbers):
            yield {
                "iteration": iteration,
                "pair": pair,
                "order": _order(first != bool(turn)) if ordered else None,
                "marginalized": groups[0],
                "default": groups[1],
                "attributes": attributes,
            }


def _order(marginalized_first: bool) -> str:
    return "marginalized_first" if marginalized_first else "default_first"


def in_rounds(words: Sequence[str], identity: str) -> Iterator[str]:
    """Yield all words in each round, in a new order, without end."""
    for number in count():
        yield from random.Random(f"{identity}/{number}").sample(words, k=len(words))
