"""Valence: the third approach to the bias of one network.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, "Valence approach". Shares: Papke &
Wooldridge (1996), J. Applied Econometrics 11(6), 619–632, the logit fitted to shares by
quasi-likelihood.

*Valence* measures the slope of the valence of all rated words (NRC VAD, 0 to 1) on their normalised
activation, in one GLM per prime (`valence_slope`). One GLM with all primes of an identity gives a
Wald test that their slopes are equal (`valence_joint`). Slope (log odds): neutral 0, no bounds;
positive: perceived more positively than the other primes of the identity. The joint estimate is
√(χ² / n), Cohen's w. Unlike χ² it does not grow with n, so networks of different size can be
compared.
Deviations: the paper names neither family nor link. Binomial and logit give slopes and χ² of the
size of its figures 10 and 11; a normal family does not. Rows of method ``published`` have that
model's p and χ²; rows of method ``robust`` have sandwich p and intervals. Both assume independent
words, which neighbours in a network are not; `placebos` has what arbitrary primes give.

The slopes of shares are consistent whatever their distribution, but their standard errors in a
binomial GLM are not, so those of the sandwich (HC1) stand beside them. Fits, sandwich and Wald test
are statsmodels'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from clinometer.papers.logit import fit_logit, standardise
from clinometer.statistics.intervals import interval_around
from clinometer_measures.networks.approaches import Array, Row
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.setting import Setting
from clinometer_measures.networks.spreading import activate
from clinometer_measures.networks.study import Valence

__all__ = ["Rated", "activate_rated", "fit_shares", "slopes"]

#: A condition number of standardised columns above which one follows from the others.
_COLLINEAR = 1e6


@dataclass(frozen=True, eq=False)
class Rated:
    """The activation of rated words by the primes of an identity in one network.

    `normalised` has the shape (targets, primes).
    """

    keys: Row  # subject, study, identity, instrument
    primes: Sequence[str]
    targets: Sequence[str]  # the rated words
    valences: Array  # of the targets, 0 to 1
    normalised: Array
    setting: Setting


def activate_rated(
    network: Network, identity: Valence, ratings: Mapping[str, float], keys: Row, setting: Setting
) -> Rated:
    """Activate the primes of an identity and keep the rated words; otherwise as `activate_sides`.

    `ratings` are valences from 0 to 1.
    """
    primes = setting.present(network, identity.primes, "prime")
    rated_words = [word for word in network.words if word in ratings]
    activation = activate(network, primes, setting.spreading, targets=rated_words)
    normalised = activation.normalised(setting.norm or "l2")
    valences = np.array([ratings[word] for word in rated_words], dtype=np.float64)
    return Rated(keys, primes, rated_words, valences, normalised, setting)


def slopes(rated: Rated) -> list[Row]:
    """Fit one model per prime and a joint model of all primes; rows of `results.ESTIMATES`.

    `n` counts the rated nodes.
    """
    y, x = rated.valences, rated.normalised
    shared = {**rated.keys, "n": len(y), **rated.setting.columns()}
    prime_columns = {
        **shared,
        "measure": "valence_slope",
        "level": "prime",
        "alternative": "two-sided",
    }
    joint_columns = {
        **shared,
        "measure": "valence_joint",
        "level": "identity",
        "alternative": "greater",
    }
    rows = []
    for column, prime in enumerate(rated.primes):
        estimates = _slope(y, x[:, [column]], rated.setting.confidence)
        rows += [{**prime_columns, "prime": prime, **row} for row in estimates]
    return rows + [{**joint_columns, **row} for row in _joint(y, x)]


def _slope(y: Array, x: Array, confidence: float) -> list[Row]:
    fit = fit_shares(y, x)
    if fit is None:
        note = "activation does not vary over the rated words"
        return [{"method": "published", "note": note}]
    slope = float(fit.params[1])
    rows = list[Row]()
    for method, covariance in _covariances(fit).items():
        se = float(np.sqrt(covariance[1, 1]))
        z = abs(slope) / se if se > 0 else np.inf  # a perfect fit has no error
        p = float(2 * stats.norm.sf(z))
        rows.append({"method": method, "estimate": slope, "se": se, "p": p})
    # Only the robust row has an interval.
    low, high = interval_around(slope, rows[1]["se"], confidence)
    rows[1] |= {"confidence": confidence, "ci_low": low, "ci_high": high}
    return rows


def _joint(y: Array, x: Array) -> list[Row]:
    """Test that the slopes of all primes are equal; `x` has the shape (words, primes)."""
    primes = x.shape[1]
    if primes < 2:
        return [{"method": "published", "note": "fewer than two primes in the network"}]
    fit = fit_shares(y, x)
    if fit is None:
        note = "the primes' activations follow from one another; no joint test"
        return [{"method": "published", "note": note}]
    # Each slope is compared with the first; the first column is that of the intercept.
    contrasts = np.column_stack([np.zeros(primes - 1), np.ones(primes - 1), -np.eye(primes - 1)])
    rows = list[Row]()
    for method, covariance in _covariances(fit).items():
        wald = fit.wald_test(contrasts, cov_p=covariance, use_f=False, scalar=True)
        test = {"statistic": float(wald.statistic), "df": primes - 1, "p": float(wald.pvalue)}
        rows.append({"method": method, **test})
    size = float(np.sqrt(rows[0]["statistic"] / len(y)))
    return [{**row, "estimate": size} for row in rows]


def fit_shares(shares: Array, x: Array) -> Any:
    """Fit shares, each 0 to 1, on the columns of `x`, shape (rows, columns), and an intercept.

    Returns the `BinaryResults` of statsmodels; None where the slopes are not identified: too few
    rows, a column that follows from the others and the intercept, or no maximum.

    Examples
    --------
    >>> fit = fit_shares(np.array([0.2, 0.4, 0.5, 0.9]), np.arange(4.0)[:, None])
    >>> float(fit.params[1].round(3)), float(fit.bse[1].round(3))
    (1.032, 1.141)
    """
    n, width = x.shape
    if n < width + 2 or not (np.ptp(x, axis=0) > 0).all():
        return None
    if np.linalg.cond(standardise(x)[0]) > _COLLINEAR:
        return None
    return fit_logit(shares, np.column_stack([np.ones(n), x]))


def _covariances(fit: Any) -> dict[str, Array]:
    """Return the covariance of the coefficients of a binomial GLM, and that of the sandwich."""
    from statsmodels.stats.sandwich_covariance import cov_white_simple

    return {"published": fit.cov_params(), "robust": cov_white_simple(fit)}
