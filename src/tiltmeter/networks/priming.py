"""The priming check: whether activation follows human reaction times.

Reference: Abramski et al. 2025, "The LLM World of Words", Sci. Data 12:803, after the Semantic
Priming Project (Hutchison et al. 2013). People decide faster that a target is a word when a
related word went before it. In a network that models their memory, the related prime activates the
target more than the unrelated one does, and the more it does, the faster they are.
Measures, over 50 triplets of target, related and unrelated prime, Spearman's correlation of
normalised activation and reaction time (100 pairs; expected: negative) and Wilcoxon's effect of
related − unrelated (50 pairs; expected: positive). Activations are normalised over all primes of
the triplets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from io import BytesIO

import numpy as np
import polars as pl
from scipy import stats

from tiltmeter.networks.network import Network
from tiltmeter.networks.spreading import Spreading, activate
from tiltmeter.results.networks import PRIMING
from tiltmeter.statistics.paired import signed_rank

__all__ = ["Triplet", "check_priming", "triplets"]


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


def check_priming(network: Network, spreading: Spreading | None = None) -> pl.DataFrame:
    """Hold a network against human reaction times.

    Parameters
    ----------
    network
        Any network of English words; triplets with a word that it lacks are left out.
    spreading
        How activation spreads.

    Returns
    -------
    polars.DataFrame
        One row with the columns PRIMING; nulls with fewer than 3 triplets.
    """
    how = (spreading or Spreading()).within(network)
    words = {word for one in triplets() for word in (one.target, one.related, one.unrelated)}
    known = [
        one for one in triplets() if not network.absent([one.target, one.related, one.unrelated])
    ]
    row = {
        **dict.fromkeys(PRIMING),
        "network": network.name,
        "n": len(known),
        "missing": network.absent(sorted(words)),
        "time_steps": how.time_steps,
    }
    if len(known) < 3:
        return pl.DataFrame([row], schema=PRIMING)
    primes = list(dict.fromkeys(word for one in known for word in (one.related, one.unrelated)))
    targets = list(dict.fromkeys(one.target for one in known))
    levels = activate(network, primes, how, targets=targets).normalised()
    at, column = ({word: place for place, word in enumerate(part)} for part in (targets, primes))
    related = np.array([levels[at[one.target], column[one.related]] for one in known])
    unrelated = np.array([levels[at[one.target], column[one.unrelated]] for one in known])
    times = [one.related_rt for one in known] + [one.unrelated_rt for one in known]
    found = stats.spearmanr(np.concatenate([related, unrelated]), times)
    effect = signed_rank(related - unrelated, "greater")
    return pl.DataFrame(
        [
            row
            | {
                "spearman": float(found.statistic),
                "p": float(found.pvalue),
                "effect": effect.effect,
                "effect_p": effect.p,
            }
        ],
        schema=PRIMING,
    )
