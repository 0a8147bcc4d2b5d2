"""The ratio of two rates of independent people: its interval, and the exact test of no difference.

Reference
    Koopman (1984), Biometrics 40, 513–517; Gart & Nam (1988), Biometrics 44, 323–338: the interval
    has the ratios that the score test does not reject. Fisher (1935), J. Royal Statistical Society
    98, 39–82: the exact test, two-sided, as `scipy.stats.fisher_exact` has it.

Measures
    θ = (selected ÷ n) ÷ (reference selected ÷ reference n), from 0; equal rates: 1. With both rates
    as likely as they can be where their ratio is θ, the score is
    z = (p₁ − θ p₀) ÷ √(p₁′q₁′/n₁ + θ² p₀′q₀′/n₀), primes for those rates.

Deviations from the source
    None.
"""

from __future__ import annotations

import math

import numpy as np

from clinometer.statistics.intervals import critical_value

#: Ratios beyond which none is looked for.
_LEAST, _MOST = 1e-9, 1e9


def ratio_interval(
    selected: float, n: float, reference: tuple[float, float], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval of a ratio of rates; None where the reference has no rate above 0.

    `reference`: how many were selected, of how many. The high end is infinite where only few
    references were selected at all.

    Examples
    --------
    >>> [round(end, 2) for end in ratio_interval(36, 40, (16, 80))]
    [2.94, 7.15]
    """
    from scipy.optimize import brentq  # scipy takes long to import

    if not n or not reference[0]:
        return None
    limit = critical_value(confidence)
    ratio = selected / n / (reference[0] / reference[1])

    def beyond(log_ratio: float, sign: int) -> float:
        """Return by how much the score of a ratio exceeds what the test allows."""
        return sign * _score(math.exp(log_ratio), selected, n, reference) - limit

    middle, least, most = math.log(max(ratio, _LEAST)), math.log(_LEAST), math.log(_MOST)
    low = math.exp(brentq(beyond, least, middle, args=(1,))) if ratio > _LEAST else 0.0
    is_open = beyond(most, -1) < 0
    return low, math.inf if is_open else math.exp(brentq(beyond, middle, most, args=(-1,)))


def _score(ratio: float, selected: float, n: float, reference: tuple[float, float]) -> float:
    """Return the score of a ratio: positive where the ratio that was seen is larger."""
    reference_selected, reference_n = reference
    # The likeliest reference rate under the ratio is a root of a x² + b x + c.
    a = (n + reference_n) * ratio
    b = -(n * ratio + selected + reference_n + reference_selected * ratio)
    c = selected + reference_selected
    # This form of the root has no difference of large numbers.
    reference_rate = 2 * c / (-b + math.sqrt(max(b * b - 4 * a * c, 0.0)))
    rate = min(ratio * reference_rate, 1.0)
    variance = rate * (1 - rate) / n
    variance += ratio**2 * reference_rate * (1 - min(reference_rate, 1.0)) / reference_n
    difference = selected / n - ratio * reference_selected / reference_n
    # Of rounding alone, at the ratio that was seen, where all of both were selected.
    if abs(difference) < 1e-12:
        return 0.0
    return difference / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, difference)


def fisher_p(selected: int, n: int, reference: tuple[int, int]) -> float:
    """Return the two-sided p of Fisher's exact test that both rates are equal.

    Examples
    --------
    >>> round(fisher_p(1, 10, (11, 14)), 4)  # Fisher's own kind of table: diet by sex
    0.0028
    """
    from scipy.stats import fisher_exact

    reference_selected, reference_n = reference
    table = [[selected, n - selected], [reference_selected, reference_n - reference_selected]]
    return float(fisher_exact(np.array(table)).pvalue)
