"""What to ask next: which questions narrow an interval for the fewest tokens.

Reference
    Decision studies of generalizability theory: Brennan (2001); Messing (2026), arXiv:2604.11581.

Values
    An interval over N framings has a half-width as √(V / N), with V the variance between framings,
    of which a part is noise that K draws of words leave. A larger fraction makes it narrower; it
    has other framings, which are asked anew. More draws in the framings that there are cost less,
    and help as far as it is noise that makes the interval wide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["NARROWER", "Precision", "next_questions"]

#: What intervals are to be multiplied by, so that their prices compare.
NARROWER = 0.8

#: Beyond this many times what was asked nothing is proposed.
MOST = 100


@dataclass(frozen=True)
class Precision:
    """An interval, what makes it wide, and what its questions cost."""

    target: str
    estimate: float
    half_width: float
    variance: float
    """Between its framings, noise included."""
    noise: float
    """The part of the variance that is noise."""
    n_draws: float
    n_framings: int
    """On which its width depends."""
    framings: str
    """Which framings these are."""
    tokens: float
    """Of one draw in one of these framings."""
    tokens_of_any: float | None = None
    """Of one draw in any framing, if it takes draws in all; None: the same."""
    n_all: int | None = None
    """All framings; None: the same."""

    def price(self, narrower: float) -> tuple[float, int, str] | None:
        """Return the fewest tokens for which the half-width is multiplied by a number below 1.

        With how many of what to ask; None where it takes too much.
        """
        offers = []
        n_framings = math.ceil(self.n_framings / narrower**2)
        if n_framings <= MOST * self.n_framings:
            tokens = n_framings * self.n_draws * self.tokens
            offers.append((tokens, n_framings, f"{self.framings}, asked anew"))
        # By chance the noise may be estimated as more than the variance it is a part of.
        noise = min(self.noise, self.variance)
        remaining = narrower**2 * self.variance - (self.variance - noise)
        if remaining > 0:
            n_draws = math.ceil(self.n_draws * (noise / remaining - 1))
            tokens = n_draws * (self.n_all or self.n_framings) * (self.tokens_of_any or self.tokens)
            if n_draws <= MOST * self.n_draws:
                offers.append((tokens, n_draws, "more draws of words in each framing"))
        return min(offers, default=None)


def next_questions(precisions: Iterable[Precision]) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``framing_next``, the cheapest to decide first, then those decided."""
    rows = []
    for precision in precisions:
        price = precision.price(NARROWER)
        is_open = abs(precision.estimate) < precision.half_width
        to_decide = None
        if is_open and precision.estimate:
            to_decide = precision.price(abs(precision.estimate) / precision.half_width)
        row = {
            "next_target": precision.target,
            "estimate": precision.estimate,
            "half_width_now": precision.half_width,
            "next_ask": price[2] if price else None,
            "n_next": price[1] if price else None,
            "tokens_more": price[0] if price else None,
            "tokens_to_decide": to_decide[0] if to_decide else None,
        }
        rows.append(row)
    rows.sort(key=lambda row: (row["tokens_to_decide"] is None, row["tokens_to_decide"] or 0.0))
    yield from rows
