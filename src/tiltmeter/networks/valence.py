"""Valence: whether the words that a prime activates are pleasant or unpleasant.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, "Valence approach"; ratings from a
lexicon of the user's (NRC VAD).
Measures, for each prime, the slope of the valence of all rated words (0 to 1) on their normalised
activation, in a GLM of its own; and for all primes of an identity, in one GLM with all of them, a
Wald test that the slopes are equal. Activations are divided by the L2 norm of columns, then rows
over the primes of the identity.
Slope (log odds): neutral 0, no bounds; positive: perceived more positively than the other primes of
the identity. χ² grows with n, so √(χ² / n) stands beside it to compare networks of different size.
Deviations: the paper names neither family nor link; binomial and logit give slopes and χ² of the
size of its figures 10 and 11, a normal family does not. p and χ² are that model's, as published;
the intervals and `p_robust` are the sandwich's. Both take words for independent, which neighbours
in a network are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from tiltmeter.networks.network import Network
from tiltmeter.networks.setting import Setting
from tiltmeter.networks.spreading import activate
from tiltmeter.results.networks import COEFFICIENTS
from tiltmeter.statistics.logit import equal_slopes, fit_shares
from tiltmeter.stimuli.network_study import Valence

__all__ = ["coefficients"]

Array = NDArray[np.float64]


def coefficients(
    network: Network,
    identity: Valence,
    ratings: Mapping[str, float],
    about: dict[str, str],
    setting: Setting,
) -> pl.DataFrame:
    """Fit a model per prime, and one of all primes for the joint test.

    Parameters
    ----------
    network
        Where activation spreads.
    identity
        The primes.
    ratings
        Word → valence, 0 to 1, from `lexicons.read_valence`.
    about
        ``study`` and ``identity``, for the table.
    setting
        How.

    Returns
    -------
    polars.DataFrame
        Columns COEFFICIENTS: a row per prime, and one without a prime for the joint test.

    Raises
    ------
    InputError
        If a prime is no node and the setting does not skip it.
    """
    how, norm = setting.within(network), setting.norm or "l2"
    primes = how.present(network, identity.primes, "prime")
    rated = [word for word in network.words if word in ratings]
    x = activate(network, primes, how.spreading, targets=rated).normalised(norm)
    y = np.array([ratings[word] for word in rated], dtype=np.float64)
    shared = {
        **dict.fromkeys(COEFFICIENTS),
        "network": network.name,
        **about,
        "approach": "valence",
        "confidence": how.confidence,
        "n": len(rated),
        "n_nodes": len(network),
        "missing": network.absent(identity.primes),
        **how.columns(norm),
    }
    rows = [
        {**shared, "prime": prime, **_slope(y, x[:, [place]], how.confidence)}
        for place, prime in enumerate(primes)
    ]
    return pl.DataFrame([*rows, {**shared, **_joint(y, x)}], schema=COEFFICIENTS)


def _slope(y: Array, x: Array, confidence: float) -> dict[str, Any]:
    fit = fit_shares(y, x)
    if fit is None:
        return {"note": "activation does not vary over the rated words"}
    slope = float(fit.slopes[0])
    se, robust_se = (float(np.sqrt(matrix[0, 0])) for matrix in (fit.covariance, fit.robust))
    reach = float(stats.norm.ppf((1 + confidence) / 2)) * robust_se
    return {
        "coefficient": slope,
        "se": se,
        "ci_low": slope - reach,
        "ci_high": slope + reach,
        "p": float(2 * stats.norm.sf(abs(slope) / se)),
        "p_robust": float(2 * stats.norm.sf(abs(slope) / robust_se)),
    }


def _joint(y: Array, x: Array) -> dict[str, Any]:
    if x.shape[1] < 2:
        return {"note": "fewer than two primes in the network"}
    fit = fit_shares(y, x)
    wald = equal_slopes(fit.slopes, fit.covariance) if fit is not None else None
    robust = equal_slopes(fit.slopes, fit.robust) if fit is not None else None
    if wald is None or robust is None:
        return {"note": "the primes' activations follow from one another; no joint test"}
    return {
        "wald": wald.statistic,
        "wald_df": wald.df,
        "p": wald.p,
        "p_robust": robust.p,
        "effect": float(np.sqrt(wald.statistic / len(y))),
    }
