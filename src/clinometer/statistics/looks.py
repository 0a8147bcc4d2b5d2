"""Tests of answers that are looked at more than once.

Who looks after every batch, and stops where a test is significant, errs more often than each test
does. Every look is therefore tested at a smaller level, the same for all (Pocock), such that any of
them errs with the level wanted.

Reference
    Pocock (1977), Biometrika 64(2), 191–199. The recursion: Armitage, McPherson & Rowe (1969),
    J. Royal Statistical Society A 132(2), 235–244. Intervals at this level hold at every look
    at once: Jennison & Turnbull (1989), J. Royal Statistical Society B 51(3), 305–361.

Assumption
    The correlation of the means at two looks is the square root of the ratio of their information
    (one over the variance), as where answers are added to answers. What all looks share, such as
    the wordings, adds no information. Where its part of the variance is not known, information is
    taken to grow as the answers do, which makes looks less alike than they are, and errors rarer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import ndtr, ndtri

from clinometer.errors import InputError

#: Points of the integral over what is not decided at a look: errors of levels are below 1e-8.
_POINTS = 201


#: Study, measure and mode.
Run = tuple[str, str, str]


@dataclass(frozen=True)
class Looks:
    """When results are looked at.

    Parameters
    ----------
    shares
        Shares of all answers that are there at each look, rising to 1; empty: one look at the end.
    information
        By study, measure and mode, shares of the information that is there; else it is taken to
        grow as the answers do.
    """

    shares: tuple[float, ...] = ()
    information: Mapping[Run, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse shares that do not rise to 1."""
        for shares in (self.shares, *self.information.values()):
            _check_rising(shares)
            if len(shares) != len(self.shares):
                raise InputError(f"looks: {len(self.shares)}; {len(shares)} shares of information")

    def tests(self, number: int, level: float, run: Run | None = None) -> float:
        """Return by how many to divide `level`, for a number of means that are seen at once.

        Without a run, of any.
        """
        shares = self._shares_of(run)
        if len(shares) < 2:
            return float(number)
        return level / level_of_look(level / number, shares)

    def p(self, p: float, run: Run) -> float:
        """Return the probability that p is so small at any look, where nothing is there."""
        shares = self._shares_of(run)
        if len(shares) < 2 or not 0.0 < p < 1.0:
            return p
        return _chance_beyond(-float(ndtri(p / 2.0)), shares)

    def _shares_of(self, run: Run | None) -> tuple[float, ...]:
        return self.shares if run is None else self.information.get(run, self.shares)

    def confidence(self, confidence: float) -> float:
        """Return the confidence of an interval, at one look, that holds at all of them."""
        if len(self.shares) < 2:
            return confidence
        return 1.0 - level_of_look(1.0 - confidence, self.shares)


def _check_rising(shares: Sequence[float]) -> None:
    """Raise InputError unless shares rise to 1."""
    rising = all(before < after for before, after in zip((0.0, *shares), shares, strict=False))
    if shares and not (rising and shares[-1] == 1.0):
        raise InputError(f"looks {list(shares)}: expected shares that rise to 1")


@cache
def level_of_look(level: float, looks: tuple[float, ...]) -> float:
    """Return the level of each of two or more two-sided tests of a growing number of answers.

    Parameters
    ----------
    level
        Probability that any of them is significant where nothing is there, between 0 and 1.
    looks
        Shares of all information that are there at each look, rising to 1.

    Examples
    --------
    >>> round(level_of_look(0.05, (0.5, 1.0)), 4)  # as in Pocock's table
    0.0294
    """
    from scipy.optimize import brentq  # takes long to import; few runs have looks

    # Between one test and tests that have nothing in common.
    least, most = ndtri(1.0 - level / 2.0), ndtri(1.0 - level / 2.0 / len(looks))
    boundary = brentq(lambda z: _chance_beyond(z, looks) - level, least, most, xtol=1e-12)
    return float(2.0 * ndtr(-boundary))


def _chance_beyond(boundary: float, looks: tuple[float, ...]) -> float:
    """Return the probability that |z| is beyond a boundary at any look."""
    points, weights = leggauss(_POINTS)
    # The sum of the scores at a look, in units of all of it, where no look before was beyond.
    sums = boundary * looks[0] ** 0.5 * points
    density = np.exp(-(sums**2) / (2.0 * looks[0])) / (2.0 * np.pi * looks[0]) ** 0.5
    mass = density * weights * boundary * looks[0] ** 0.5
    for before, now in zip(looks, looks[1:], strict=False):
        later = boundary * now**0.5 * points
        step = (later[:, None] - sums) ** 2 / (2.0 * (now - before))
        density = np.exp(-step) @ mass / (2.0 * np.pi * (now - before)) ** 0.5
        sums, mass = later, density * weights * boundary * now**0.5
    return 1.0 - float(mass.sum())
