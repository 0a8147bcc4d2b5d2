"""Stereotypes: whether primes of a category activate the words that are tied to it.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, "Stereotypes approach".
Measures the difference in normalised activation of a target between the two primes of a matched
pair (woman − man), over all targets tied to a category and all pairs. Activations are divided by
the L2 norm of their column over all nodes, then by that of their row over the primes.
Range of the effect (z / √n): ±.87 for many pairs, up to ±1 for few; neutral 0; positive: the first
category activates these targets more. `stereotype` is the effect turned so that positive is
stereotype-consistent.
Deviations: none in effect and p; both are beside a permutation test, an interval and Holm's p.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tiltmeter.networks.contrasts import Contrast, Paired
from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import Setting
from tiltmeter.networks.spreading import Activation, activate
from tiltmeter.results.networks import ACTIVATIONS
from tiltmeter.stimuli.network_study import Stereotypes

__all__ = ["contrast"]


def contrast(
    network: Network, identity: Stereotypes, about: dict[str, str], setting: Setting
) -> tuple[Contrast, pl.DataFrame]:
    """Activate the primes and take the differences of matched pairs.

    Parameters
    ----------
    network
        Where activation spreads.
    identity
        Pairs of primes and targets.
    about
        ``study`` and ``identity``, for the tables.
    setting
        How.

    Returns
    -------
    Contrast
        A set of targets per category.
    polars.DataFrame
        Columns ACTIVATIONS, for the heat map.

    Raises
    ------
    InputError
        If a prime or target is no node and the setting does not skip it.
    """
    how, norm = setting.within(network), setting.norm or "l2"
    first, second = identity.categories
    asked = [(pair[first], pair[second]) for pair in identity.pairs]
    known = set(how.present(network, [word for pair in asked for word in pair], "prime"))
    pairs = [pair for pair in asked if known.issuperset(pair)]
    absent = network.absent(word for pair in asked for word in pair)
    targets = {
        category: how.present(network, words, "target")
        for category, words in identity.targets.items()
    }
    primes = [word for pair in pairs for word in pair]
    rows = list(dict.fromkeys(word for words in targets.values() for word in words))
    found = activate(network, primes, how.spreading, targets=rows)
    normalised = found.normalised(norm)
    place = {word: at for at, word in enumerate(rows)}
    sets = {}
    for category in identity.categories:
        activation = normalised[[place[word] for word in targets[category]]]
        sets[category] = Paired(
            targets=tuple(targets[category]),
            differences=activation[:, 0::2] - activation[:, 1::2],
            activation=activation,
            sign=1 if category == first else -1,
        )
    about = {"network": network.name, **about, "approach": "stereotypes"}
    missing = {
        category: [*absent, *network.absent(words)] for category, words in identity.targets.items()
    }
    made = Contrast(about, first, second, tuple(primes), sets, missing, how, norm)
    return made, _activations(made, found, normalised, identity)


def _activations(
    made: Contrast, found: Activation, normalised: np.ndarray, identity: Stereotypes
) -> pl.DataFrame:
    place = {word: at for at, word in enumerate(found.words)}
    rows = [
        {
            **made.about,
            "category": identity.primes[prime],
            "prime": prime,
            "targets": name,
            "target": word,
            "activation": float(found.values[place[word], column]),
            "normalised": float(normalised[place[word], column]),
        }
        for name, paired in made.sets.items()
        for word in paired.targets
        for column, prime in enumerate(found.primes)
    ]
    return pl.DataFrame(rows, schema=ACTIVATIONS)
