"""The priming check: whether activation follows human reaction times.

Reference: Abramski et al. 2025, "The LLM World of Words", Sci. Data 12:803, after the Semantic
Priming Project (Hutchison et al. 2013). People decide faster that a target is a word when a
related word went before it. In a network that models their memory, the related prime activates the
target more than the unrelated one does, and the more it does, the faster they are.
Measures, over 50 triplets of target, related and unrelated prime, Spearman's correlation of
normalised activation and reaction time (`priming_correlation`; 100 pairs; expected: negative) and
Wilcoxon's effect of related − unrelated (`priming_effect`; 50 pairs; expected: positive). Both
range from −1 to 1, neutral 0. Activations are normalised over all primes of the triplets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from io import BytesIO
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import FAMILY, INSTRUMENT, MEASURES, spread_columns
from tiltmeter.networks.spreading import Spreading, activate
from tiltmeter.results import as_estimates
from tiltmeter.statistics.two_samples import signed_rank

__all__ = ["Triplet", "absent_words", "check_priming", "triplets"]


@dataclass(frozen=True)
class Triplet:
    """A target, its primes, and the z-scored reaction times after each."""

    target: str
    related: str
    unrelated: str
    related_rt: float
    unrelated_rt: float


@lru_cache(maxsize=1)
def triplets() -> tuple[Triplet, ...]:
    """Return the 50 published triplets."""
    data = (resources.files("tiltmeter.networks") / "priming.csv").read_bytes()
    text = pl.read_csv(BytesIO(data), infer_schema=False)
    return tuple(
        Triplet(target, related, unrelated, float(fast), float(slow))
        for target, related, unrelated, fast, slow in text.iter_rows()
    )


def absent_words(network: Network) -> list[str]:
    """List the words of the triplets that are no nodes."""
    words = {word for one in triplets() for word in (one.target, one.related, one.unrelated)}
    return network.absent(sorted(words))


def check_priming(network: Network, spreading: Spreading | None = None) -> pl.DataFrame:
    """Compare a network with human reaction times.

    Parameters
    ----------
    network
        Any network of English words; triplets with a word that it lacks are left out.
    spreading
        How activation spreads.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, a row per measure; `n` counts triplets. No estimate with
        fewer than 3.
    """
    how = (spreading or Spreading()).within(network)
    known = [
        one for one in triplets() if not network.absent([one.target, one.related, one.unrelated])
    ]
    tests = _tests(network, known, how) if len(known) > 2 else [{}, {}]
    shared = {
        "subject": network.name,
        "instrument": INSTRUMENT,
        "level": "subject",
        "method": "published",
        "n": len(known),
        **spread_columns(how, "l2"),
        "note": None if len(known) > 2 else "fewer than three triplets in the network",
    }
    sides = {"priming_correlation": "two-sided", "priming_effect": "greater"}
    rows = [
        {**shared, "measure": measure, "alternative": side, **row}
        for (measure, side), row in zip(sides.items(), tests, strict=True)
    ]
    return as_estimates(rows, MEASURES, FAMILY)


def _tests(network: Network, known: list[Triplet], how: Spreading) -> list[dict[str, Any]]:
    primes = list(dict.fromkeys(word for one in known for word in (one.related, one.unrelated)))
    targets = list(dict.fromkeys(one.target for one in known))
    levels = activate(network, primes, how, targets=targets).normalised()
    at, column = ({word: place for place, word in enumerate(part)} for part in (targets, primes))
    related = np.array([levels[at[one.target], column[one.related]] for one in known])
    unrelated = np.array([levels[at[one.target], column[one.unrelated]] for one in known])
    times = [one.related_rt for one in known] + [one.unrelated_rt for one in known]
    correlation = stats.spearmanr(np.concatenate([related, unrelated]), times)
    effect = signed_rank(related - unrelated, "greater")
    return [
        {"estimate": float(correlation.statistic), "p": float(correlation.pvalue)},
        {"estimate": effect.effect, "p": effect.p},
    ]
