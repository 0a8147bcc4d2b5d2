"""How trials are drawn: which words, in which orders, how often.

Every draw is a function of the study's content, the seed, the cell and the draw's number, so a
model, a mode or a larger number of iterations never changes an earlier draw.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tiltmeter.errors import InputError
from tiltmeter.stimuli import Words

__all__ = ["Design", "Draw", "draws"]


@dataclass(frozen=True)
class Design:
    """How trials are drawn; the same design gives every model the same trials."""

    mode: str = "free"
    iterations: int = 50
    order: str = "mirrored"  # mirrored | random
    word_list: str = "plain"  # plain | as_released
    options: str = "words"  # forced mode shows the group words, or A and B: words | labels
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        for name, allowed in _ALLOWED.items():
            if (value := getattr(self, name)) not in allowed:
                raise InputError(f"{name} {value!r}: allowed are {', '.join(allowed)}")
        if self.iterations < 1:
            raise InputError(f"iterations {self.iterations}: at least 1")


_ALLOWED = {
    "mode": ("free", "structured", "forced"),
    "order": ("mirrored", "random"),
    "word_list": ("plain", "as_released"),
    "options": ("words", "labels"),
}


@dataclass(frozen=True)
class Draw:
    """The words and orders of one trial."""

    iteration: int
    pair: int
    marginalized_first: bool
    marginalized: str
    default: str
    attributes: list[str]
    seed: int


def draws(words: Words, design: Design, identity: str) -> Iterator[Draw]:
    """Yield the draws of one cell: two a pair where orders are mirrored, else one."""
    rng = random.Random(f"{identity}/{design.seed}/groups")
    marginalized = rng.sample(words.marginalized, k=len(words.marginalized))
    default = rng.sample(words.default, k=len(words.default))
    forced = design.mode == "forced"
    per_pair = 2 if design.order == "mirrored" or forced else 1
    distinct = per_pair * len(marginalized) * len(default)
    limit = min(design.iterations, distinct) if forced else design.iterations
    for iteration in range(limit):
        pair, turn = divmod(iteration, per_pair)
        rng = random.Random(f"{identity}/{design.seed}/{pair}")
        first = rng.random() < 0.5
        attributes = words.tied + words.counter + words.extra
        rng.shuffle(attributes)
        if per_pair == 1:
            groups = rng.choice(words.marginalized), rng.choice(words.default)
        else:
            groups = _balanced(marginalized, default, pair)
        sampling = random.Random(f"{identity}/{design.seed}/{iteration}/sampling").getrandbits(31)
        yield Draw(iteration, pair, first != bool(turn), *groups, attributes, sampling)


def _balanced(marginalized: Sequence[str], default: Sequence[str], k: int) -> tuple[str, str]:
    """Pair k of a sequence that uses every word early and meets every pair once a round."""
    shift = k // math.lcm(len(marginalized), len(default))
    return marginalized[k % len(marginalized)], default[(k + shift) % len(default)]
