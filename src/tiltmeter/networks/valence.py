"""Valence: whether the words that a prime activates are pleasant or unpleasant.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, "Valence approach"; ratings from a
lexicon of the user's (NRC VAD).
Measures, for each prime (`valence_slope`), the slope of the valence of all rated words (0 to 1) on
their normalised activation, in a GLM of its own; and for all primes of an identity
(`valence_joint`), in one GLM with all of them, a Wald test that the slopes are equal. Activations
are divided by the L2 norm of columns, then rows over the primes of the identity.
Slope (log odds): neutral 0, no bounds; positive: perceived more positively than the other primes of
the identity. The joint estimate is √(χ² / n), Cohen's
w: χ² grows with n, so it compares networks of different size.
Deviations: the paper names neither family nor link; binomial and logit give slopes and χ² of the
size of its figures 10 and 11, a normal family does not. Rows of method ``published`` have that
model's p and χ², rows of method ``robust`` the sandwich's p and intervals. Both take words for
independent, which neighbours in a network are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import Setting, spread_columns
from tiltmeter.networks.spreading import activate
from tiltmeter.statistics.logit import equal_slopes, fit_shares
from tiltmeter.stimuli.network_study import Valence

__all__ = ["slopes"]

Array = NDArray[np.float64]


def slopes(
    network: Network,
    identity: Valence,
    ratings: Mapping[str, float],
    about: Mapping[str, Any],
    setting: Setting,
) -> list[dict[str, Any]]:
    """Fit a model per prime, and one of all primes for the joint test; rows of `results.ESTIMATES`.

    Of each what the binomial model says, and what the sandwich does; `n` counts the rated nodes.
    `ratings` are valences from 0 to 1, `about` has ``subject``, ``study``, ``identity`` and
    ``instrument``. Raises InputError if a prime is no node and the setting does not skip it.
    """
    norm = setting.norm or "l2"
    primes = setting.present(network, identity.primes, "prime")
    rated = [word for word in network.words if word in ratings]
    x = activate(network, primes, setting.spreading, targets=rated).normalised(norm)
    y = np.array([ratings[word] for word in rated], dtype=np.float64)
    shared = {**about, "n": len(rated), **spread_columns(setting.spreading, norm)}
    rows = []
    for place, prime in enumerate(primes):
        of_prime = {**shared, "measure": "valence_slope", "level": "prime", "prime": prime}
        rows += [{**of_prime, **row} for row in _slope(y, x[:, [place]], setting.confidence)]
    of_identity = {**shared, "measure": "valence_joint", "level": "identity"}
    return rows + [{**of_identity, **row} for row in _joint(y, x)]


def _slope(y: Array, x: Array, confidence: float) -> list[dict[str, Any]]:
    shared = {"alternative": "two-sided"}
    fit = fit_shares(y, x)
    if fit is None:
        note = "activation does not vary over the rated words"
        return [{**shared, "method": "published", "note": note}]
    slope = float(fit.slopes[0])
    se, robust_se = (float(np.sqrt(matrix[0, 0])) for matrix in (fit.covariance, fit.robust))
    reach = float(stats.norm.ppf((1 + confidence) / 2)) * robust_se
    rows = [
        {
            **shared,
            "method": method,
            "estimate": slope,
            "se": error,
            "p": float(2 * stats.norm.sf(abs(slope) / error)),
        }
        for method, error in (("published", se), ("robust", robust_se))
    ]
    rows[1] |= {"confidence": confidence, "ci_low": slope - reach, "ci_high": slope + reach}
    return rows


def _joint(y: Array, x: Array) -> list[dict[str, Any]]:
    shared = {"alternative": "greater"}
    if x.shape[1] < 2:
        note = "fewer than two primes in the network"
        return [{**shared, "method": "published", "note": note}]
    fit = fit_shares(y, x)
    wald = equal_slopes(fit.slopes, fit.covariance) if fit is not None else None
    robust = equal_slopes(fit.slopes, fit.robust) if fit is not None else None
    if wald is None or robust is None:
        note = "the primes' activations follow from one another; no joint test"
        return [{**shared, "method": "published", "note": note}]
    return [
        {
            **shared,
            "method": method,
            "estimate": float(np.sqrt(wald.statistic / len(y))),
            "statistic": test.statistic,
            "df": float(test.df),
            "p": test.p,
        }
        for method, test in (("published", wald), ("robust", robust))
    ]
