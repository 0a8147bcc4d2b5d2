"""How far the logarithm of a share may be off, in standard errors, by draws of counts.

Reference
    Parametric bootstrap of a studentized statistic: Efron & Tibshirani (1993), *An introduction to
    the bootstrap*, chapter 12.

Draws
    A rate is drawn around its centre: on a logarithmic scale by what occupations add, then from the
    beta distribution that makes a binomial count as dispersed as names make it. Both variances are
    drawn too, as chi-squared variables, and estimated as in the data, so that the quantiles contain
    what Student's distribution allows for. Centres have an expected count of 3.7 at least, at which
    none is selected with a probability of .025: if none are, fewer would tell nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.intervals import critical_value, quantile

__all__ = ["log_rate", "share_quantiles"]

Array = NDArray[np.float64]

#: Draws, and their seed.
DRAWS, SEED = 2000, 0

#: Expected count, for independent answers, of which none is selected in .025.
_FEWEST = 3.688879454113936

#: Rates end here.
_LARGEST = 1 - 1e-9


def log_rate(selected: Array | float, decided: Array | float) -> Array:
    """Return the logarithm of a rate, with ½ added to both counts."""
    logs: Array = np.log((np.asarray(selected) + 0.5) / (np.asarray(decided) + 0.5))
    return logs


class _Model(NamedTuple):
    """What counts are drawn from, whatever the rates."""

    decided: Array
    """(groups,)."""
    dispersion: float
    occupation_variance: float
    degrees: tuple[int, int]


class _Drawn(NamedTuple):
    """Logarithms of rates, and the variances that are estimated from the same draw."""

    logs: Array
    """(draws, groups)."""
    name_variances: Array
    """(draws, groups)."""
    occupation_variances: Array
    """(draws,): of a difference."""


def share_quantiles(
    logs: Array,
    decided: Array,
    dispersion: float,
    occupation_variance: float,
    degrees: tuple[int, int],
    *,
    contrasts: Array,
) -> tuple[Array, Array]:
    """Return how many standard errors contrasts of logarithms reach down and up: (groups,) each.

    Parameters
    ----------
    logs, decided
        The logarithm of each group's rate, and how many were decided about: (groups,).
    dispersion
        The variance over names by that of independent answers, 1 or more.
    occupation_variance
        The variance of the difference of two logarithms over occupations.
    degrees
        The degrees of freedom of both.
    contrasts
        A row of weights for each, (groups, groups).
    """
    model = _Model(decided, dispersion, occupation_variance, degrees)
    centres = _not_too_few(logs, model)
    sample = _draw(centres, model)
    variances = sample.name_variances + sample.occupation_variances[:, None] / 2
    errors = (sample.logs - centres) @ contrasts.T / np.sqrt(variances @ (contrasts**2).T)
    return _reach(errors), _reach(-errors)


def _not_too_few(centres: Array, model: _Model) -> Array:
    """Return centres, raised where the expected count is below `_FEWEST`."""
    least = _FEWEST * model.dispersion / np.maximum(model.decided, 1)
    return np.asarray(np.maximum(centres, np.log(least.clip(None, 0.5))))


def _draw(centres: Array, model: _Model) -> _Drawn:
    """Draw counts of groups with these logarithms of rates, and what is estimated from them."""
    rng = np.random.default_rng(SEED)
    decided, dispersion, occupation_variance, degrees = model
    shape = (DRAWS, len(centres))
    spread = np.sqrt(occupation_variance / 2)
    rates = np.exp(centres + spread * rng.standard_normal(shape)).clip(None, _LARGEST)
    # The correlation of two answers about a group that multiplies the variance of its count.
    correlation = ((dispersion - 1) / np.maximum(decided - 1, 1)).clip(None, _LARGEST)
    if dispersion > 1:
        size = (1 - correlation) / correlation
        rates = rng.beta(rates * size, (1 - rates) * size)
    selected = rng.binomial(decided.astype(np.int64), rates).astype(float)
    independent = 1 / (selected + 0.5) - 1 / (decided + 1)
    name_factors, occupation_factors = (rng.chisquare(df, DRAWS) / df for df in degrees)
    dispersions = np.maximum(dispersion * name_factors, 1.0)
    # Estimated as what occupations show beyond cells, which is 0 or more.
    cell_variances = 2 * independent.mean(axis=1)
    beyond = np.maximum(
        (cell_variances + occupation_variance) * occupation_factors - cell_variances, 0.0
    )
    return _Drawn(log_rate(selected, decided), dispersions[:, None] * independent, beyond)


def _reach(errors: Array) -> Array:
    """Return quantile .975 of each group, not below 0; of a group without errors the normal one."""
    quantiles = quantile(errors, 0.975, axis=0)
    normal = critical_value(0.95)
    return np.asarray(np.maximum(np.where(np.isnan(quantiles), normal, quantiles), 0.0))
