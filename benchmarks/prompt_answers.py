"""Units of known means on a scale from −1 to 1, for the benchmark `prompts`.

Kinds
    Two values; pairs, the means of two answers, with draws that are alike or pull both answers to
    one side; pairs of answers of variance .53, with −1, 0 and 1; whole words; continuous scores, of
    which many are at an end; scores within .02 of each other, and rare ones at the far end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.clustered import Array

__all__ = ["CHANGES", "KINDS", "Change", "Design", "Draw", "Generator", "draw_cells",
           "draw_neutral_page"]  # fmt: skip

Generator = np.random.Generator
Codes = NDArray[np.intp]

#: Expected values of units → units, shape (n,).
Draw = Callable[[Array, Generator], Array]

#: Expected values of baseline and candidate → units of both.
Change = Callable[[Array, Array, Generator], tuple[Array, Array]]


@dataclass(frozen=True)
class Design:
    """How many units a mean has: stereotypes × wordings × units."""

    stereotypes: int
    wordings: int
    units: int

    @property
    def labels(self) -> tuple[Codes, Codes]:
        """Return the stereotype and the wording of each unit, shape (n,)."""
        numbers = np.indices((self.stereotypes, self.wordings, self.units)).reshape(3, -1)
        return numbers[0], numbers[1]

    def expand(self, means: Sequence[float]) -> Array:
        """Give each unit the mean of its wording; means are repeated where there are few."""
        return np.repeat(np.resize(means, self.stereotypes * self.wordings), self.units)

    def __str__(self) -> str:
        """Name the design in rows of the table."""
        sizes = (self.stereotypes, self.wordings, self.units)
        return " × ".join(map(str, sizes))


def draw_two_values(means: Array, rng: Generator) -> Array:
    """Draw single answers of −1 and 1."""
    return np.where(rng.random(means.shape) < (1 + means) / 2, 1.0, -1.0)


def draw_pairs(means: Array, rng: Generator) -> Array:
    """Draw means of two answers of −1 and 1."""
    return (draw_two_values(means, rng) + draw_two_values(means, rng)) / 2


def draw_pulled_pairs(means: Array, rng: Generator) -> Array:
    """Draw pairs whose draws pull both answers to one side."""
    pull = rng.uniform(-1, 1, means.shape) * (1 - np.abs(means))
    return draw_pairs(means + pull, rng)


def draw_answers(means: Array, rng: Generator) -> Array:
    """Draw pairs of answers of −1, 0 and 1, of variance .53 where the mean is 0."""
    neutral = np.minimum(0.47, 1 - np.abs(means))
    sides = np.array([draw_two_values(means / (1 - neutral), rng) for _ in range(2)])
    answers = np.where(rng.random(sides.shape) < neutral, 0.0, sides)
    return np.asarray(answers.mean(axis=0))


def draw_whole_words(means: Array, rng: Generator) -> Array:
    """Draw pairs of answers about eight words each."""
    return rng.binomial(16, (1 + means) / 2) / 8 - 1


def draw_continuous(means: Array, rng: Generator) -> Array:
    """Draw the nearer end, or uniformly from the whole scale."""
    side = np.where(means >= 0, 1.0, -1.0)
    uniform = rng.uniform(-1, 1, means.shape)
    return np.where(rng.random(means.shape) < 1 - np.abs(means), uniform, side)


def draw_rarely_far(means: Array, rng: Generator, share: float) -> Array:
    """Draw scores within .02 of each other, and a share of them at the far end."""
    side = np.where(means >= 0, 1.0, -1.0)
    far = np.minimum(share, (1 - np.abs(means)) / 2)  # the middle is at the end, at most
    middle = (np.abs(means) + far) / (1 - far)
    jitter = rng.uniform(-1, 1, means.shape) * np.minimum(0.01, 1 - middle)
    return side * np.where(rng.random(means.shape) < far, -1.0, middle + jitter)


KINDS: dict[str, Draw] = {
    "two values": draw_two_values,
    "pairs": draw_pairs,
    "pulled pairs": draw_pulled_pairs,
    "answers of variance .53": draw_answers,
    "whole words": draw_whole_words,
    "continuous": draw_continuous,
    "rarely far (.05)": partial(draw_rarely_far, share=0.05),
    "rarely far (.02)": partial(draw_rarely_far, share=0.02),
}


def draw_independently(
    baseline: Array, candidate: Array, rng: Generator, draw: Draw
) -> tuple[Array, Array]:
    """Draw both versions with nothing in common but their means."""
    return draw(baseline, rng), draw(candidate, rng)


def draw_alike(baseline: Array, candidate: Array, rng: Generator) -> tuple[Array, Array]:
    """Draw two versions that answer the same but for what has to change: at temperature 0."""
    answers = draw_two_values(baseline, rng)
    rise = candidate - baseline
    room = np.where(rise > 0, 1 - baseline, 1 + baseline)
    moved = rng.random(answers.shape) < np.abs(rise) / np.maximum(room, 1e-9)
    return answers, np.where(moved, np.where(rise > 0, 1.0, -1.0), answers)


CHANGES: dict[str, Change] = {
    "answers of variance .53": partial(draw_independently, draw=draw_answers),
    "pairs": partial(draw_independently, draw=draw_pairs),
    "whole words": partial(draw_independently, draw=draw_whole_words),
    "rarely far (.05)": partial(draw_independently, draw=partial(draw_rarely_far, share=0.05)),
    "alike": draw_alike,
}


def draw_cells(design: Design, truth: float, rng: Generator) -> Array:
    """Draw the cell of each unit, one of 16, whose means lie to both sides of the truth."""
    reach = 0.5 * (1 - abs(truth))
    cell_means = truth + reach * rng.choice([-1.0, 1.0], 16)
    return cell_means[rng.integers(0, 16, len(design.expand([truth])))]


def draw_neutral_page(draw: Draw, rng: Generator) -> tuple[Array, Codes, Codes]:
    """Draw units of 21 neutral stereotypes in four wordings, five each, and their labels."""
    design = Design(21, 4, 5)
    return draw(design.expand([0.0]), rng), *design.labels
