"""Statistics that stand beside the clustered mean.

Reference
    The one-sample t test as Bai et al. (2025), PNAS 122(8), report it, and Cohen's d; the two
    one-sided tests (TOST) of Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15,
    657–680; Holm (1979), Scandinavian J. Statistics 6, 65–70.

Deviations from the source
    The papers' t test takes all responses for independent, which they are not; it is kept as
    `naive`. TOST takes the clustered error. Holm is written out, since
    `statsmodels.stats.multitest.multipletests` collects garbage at every call.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from tiltmeter.errors import InputError
from tiltmeter.statistics.clustered import ClusteredMean

__all__ = ["cohen_d", "holm", "naive_t", "tost"]


def cohen_d(mean: float | None, sd: float | None, *, neutral: float = 0.0) -> float | None:
    """Return Cohen's d of one sample, (mean − neutral) / sd; null where there is no spread."""
    return (mean - neutral) / sd if mean is not None and sd else None


def naive_t(
    mean: float | None, sd: float | None, n: int, *, neutral: float = 0.0
) -> dict[str, float | None]:
    """Return the one-sample t test that takes all scores for independent; p is two-sided.

    Null with fewer than two scores; t and p are null where there is no spread.
    """
    if mean is None or sd is None:
        return {"naive_se": None, "naive_t": None, "naive_df": None, "naive_p": None}
    se, df = sd / n**0.5, float(n - 1)
    if se == 0:
        return {"naive_se": 0.0, "naive_t": None, "naive_df": df, "naive_p": None}
    t = (mean - neutral) / se
    p = 2.0 * float(stdtr(df, -abs(t)))
    return {"naive_se": se, "naive_t": t, "naive_df": df, "naive_p": p}


def tost(estimate: ClusteredMean, *, margin: float, neutral: float = 0.0) -> float | None:
    """Test whether the mean is equivalent to neutral: the larger p of the two one-sided tests.

    Small where the mean lies within `margin`, in the unit of the scores; null where the estimate
    has no test.
    """
    if not margin > 0:
        raise InputError(f"margin {margin}: must be above 0, in the unit of the scores")
    above, below = estimate.p_above(neutral - margin), estimate.p_below(neutral + margin)
    return None if above is None or below is None else max(above, below)


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust the p-values of one family to bound the chance of any false rejection.

    Parameters
    ----------
    p
        p-values, shape (tests,).

    Returns
    -------
    numpy.ndarray
        Adjusted p-values in the same order (Holm 1979).
    """
    order, tests = np.argsort(p, kind="stable"), len(p)
    adjusted = np.empty(tests)
    adjusted[order] = np.maximum.accumulate(p[order] * (tests - np.arange(tests)))
    return np.minimum(adjusted, 1.0)
