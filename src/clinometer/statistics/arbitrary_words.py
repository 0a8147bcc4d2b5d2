"""How much the scores of words vary that name no group.

Measures
    The variance of a word, as a part of the scale, that the mean squares of placebos tell: of words
    on either side, which is neither group's, pooled over placebos. Given it, and what else varies
    in each placebo, a mean square is scaled χ².

Prior
    The standard deviation is half-Cauchy with the scale `PRIOR`, relative to that of responses.
    That of `variances` expects words to vary little, which is safe where words are names of one
    group; here the variance is what a lean has to exceed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import SHARED
from clinometer.statistics.variances import Squares, Variances

__all__ = ["WORDS", "variance_of_words"]

#: The places of the words on both sides among the factors.
WORDS = [SHARED.index("marginalized"), SHARED.index("default")]

#: Scale of the standard deviation of words, relative to that of responses.
PRIOR = 0.35

#: The standard deviations that are tried, relative to that of responses; evenly in logs.
_RATIOS = np.geomspace(1e-3, 10.0, 80)


def variance_of_words(squares: Squares, found: Variances, placebos: Sequence[int]) -> Array:
    """Return mean and variance of the variance of a word, (2,), as parts of the scale.

    Parameters
    ----------
    squares, found
        Of all stereotypes of the run.
    placebos
        The places of those whose words name no group, with several on each side.
    """
    others = found.of_stereotypes()[placebos]  # (placebos, sources)
    others[:, WORDS] = 0.0
    response = float(others[:, -1].mean())
    variances = response * _RATIOS**2
    # (placebos, sides, ratios)
    by_others = np.einsum("pws,ps->pw", squares.expected[placebos][:, WORDS], others)
    by_words = squares.expected[placebos][:, WORDS][:, :, WORDS].sum(axis=-1)
    expected = by_others[..., None] + by_words[..., None] * variances
    df, observed = (array[placebos][:, WORDS] for array in (squares.df, squares.observed))
    told = df > 0
    logs = df[told, None] * np.log(expected[told]) + observed[told, None] / expected[told]
    prior = np.log(_RATIOS) - np.log1p((_RATIOS / PRIOR) ** 2)
    log_weights = prior - 0.5 * logs.sum(axis=0)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = float(weights @ variances)
    return np.array([mean, weights @ variances**2 - mean**2])
