"""How much the scores of words vary that name no group.

Measures
    The variance of a word, as a part of the scale, that the mean squares of placebos tell: of words
    on either side, which is neither group's, pooled over placebos. A mean square of words is scaled
    χ² about what answers to the same words vary by, plus the variance of words as often as a word
    comes again. What answers vary by is told by the stereotypes of the run whose words come again.

Prior
    The standard deviation of words is half-Cauchy with the scale `PRIOR`, relative to that of
    answers, whose logarithm is uniform. The prior of `variances` expects words to vary little,
    which is safe where words are names of one group; here a lean has to exceed what they vary by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import SHARED, WORDS
from clinometer.statistics.variances import Squares

#: Scale of the standard deviation of words, relative to that of answers.
PRIOR = 0.5

#: The least variance of answers: where all are alike.
_NOTHING = 1e-9

#: The standard deviations of words that are tried, relative to that of answers, and the variances
#: of answers, relative to the mean of all mean squares; evenly in logs.
_RATIOS = np.geomspace(1e-3, 10.0, 80)[:, None]
_ANSWERS = np.geomspace(1e-2, 3.0, 60)


def variance_of_words(squares: Squares, placebos: Sequence[int]) -> Array:
    """Return mean and variance of the variance of a word, (2,), as parts of the scale.

    Parameters
    ----------
    squares
        Of all stereotypes of the run.
    placebos
        The places of those whose words name no group, with several on each side.
    """
    same_words = slice(len(SHARED), None)
    df_of_answers = squares.df[:, same_words].sum()
    sum_of_answers = squares.observed[:, same_words].sum()
    df, observed = (array[placebos][:, WORDS].ravel() for array in (squares.df, squares.observed))
    times = squares.expected[placebos][:, WORDS][:, :, WORDS].sum(axis=-1).ravel()
    largest = (sum_of_answers + observed.sum()) / max(df_of_answers + df.sum(), 1.0)
    answers = max(largest, _NOTHING) * _ANSWERS
    words = answers * _RATIOS**2  # (ratios, answers)
    logs = df_of_answers * np.log(answers) + sum_of_answers / answers
    for number, total, often in zip(df, observed, times, strict=True):
        expected = answers + often * words
        logs = logs + number * np.log(expected) + total / expected
    log_weights = np.log(_RATIOS) - np.log1p((_RATIOS / PRIOR) ** 2) - 0.5 * logs
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = float((weights * words).sum())
    return np.array([mean, float((weights * words**2).sum()) - mean**2])
