"""Drawing a token or an option by inversion: one uniform number each, in double precision.

The numbers come from Python's Mersenne Twister, seeded with the SHA-256 of the seed and the
prompt's tokens: they are the same on every machine and independent of other requests.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

__all__ = ["Sampling", "draw", "pick", "uniform_source"]


@dataclass(frozen=True)
class Sampling:
    """How tokens and options are drawn.

    Attributes
    ----------
    temperature
        0 takes the most probable, the first of equals.
    top_p, top_k
        Nucleus and cut-off of free text; None for no limit.
    max_tokens
        The longest free text.
    stops
        Texts that end it; they are not part of it.
    seed
        None draws differently every time. The same seed and prompt give the same answer.
    top_logprobs
        Alternatives to list per position; None to list no log-probabilities at all.
    """

    temperature: float = 1.0
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int = 256
    stops: tuple[str, ...] = ()
    seed: int | None = None
    top_logprobs: int | None = None


def draw(row: torch.Tensor, sampling: Sampling, uniform: Callable[[], float]) -> int:
    """Draw a token from a row of log-probabilities, by inversion and in double precision."""
    point = uniform()
    if sampling.temperature == 0:
        return int(row.argmax())
    weights = (row.double() / sampling.temperature).softmax(dim=0)
    order = None
    if (sampling.top_p is not None and sampling.top_p < 1) or sampling.top_k is not None:
        weights, order = weights.sort(descending=True, stable=True)
        weights = _nucleus(weights[: sampling.top_k], sampling.top_p)
    sums = weights.cumsum(0)
    index = int(torch.searchsorted(sums, point * sums[-1], right=True).clamp(max=len(sums) - 1))
    return index if order is None else int(order[index])


def _nucleus(weights: torch.Tensor, top_p: float | None) -> torch.Tensor:
    """Keep the first of the sorted weights until they hold the share `top_p`, at least one."""
    if top_p is None:
        return weights
    share = weights.cumsum(0) / weights.sum()
    return weights[: int((share < top_p).sum()) + 1]


def pick(scores: Sequence[float], temperature: float, uniform: float) -> int:
    """Draw an option, given the log-probability of each and a number in [0, 1)."""
    best = max(scores)
    if temperature == 0:
        return scores.index(best)
    weights = [math.exp((score - best) / temperature) for score in scores]
    left = uniform * math.fsum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return scores.index(best)


def uniform_source(seed: int | None, prompt: Sequence[int]) -> Callable[[], float]:
    """Return a source of numbers in [0, 1) that depends on seed and prompt alone."""
    if seed is None:
        return random.Random(os.urandom(16)).random
    digest = hashlib.sha256(repr((seed, tuple(prompt))).encode()).digest()
    return random.Random(digest).random
