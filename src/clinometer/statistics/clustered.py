"""The mean of clustered scores, its clusters, error, test and interval; and what stands beside it.

Reference
    Bell & McCaffrey (2002), Survey Methodology 28(2), 169–181; Pustejovsky & Tipton (2018),
    J. Business & Economic Statistics 36(4), 672–683: CR2, the bias-reduced linearisation, with
    Satterthwaite degrees of freedom, both under a working model of independence. The one-sample
    t test as Bai et al. (2025), PNAS 122(8), report it, and Cohen's d. TOST, the two one-sided
    tests: Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15, 657–680. Holm (1979),
    Scandinavian J. Statistics 6, 65–70; Benjamini & Hochberg (1995), JRSS B 57(1), 289–300.

Measures
    A mean, and how far it would move with other clusters (wordings, group words, stereotypes).
    With residual sums ``u_g`` and sizes ``n_g`` of the clusters, and ``N = Σ n_g``, CR2 of a mean
    has the closed form

        V  = N⁻² Σ u_g² / (1 − n_g/N)
        df = N² / (Σ n_g² + (Σ w_g)² − Σ w_g²),   w_g = n_g² / (N − n_g)

    because the adjustment matrix ``(I − 11ᵀ/N)^(−1/2)`` of a cluster only ever meets the vector
    of ones, an eigenvector. Clusters of size 1 give the ordinary standard error and n − 1.

Deviations from the source
    Where every cluster has the same mean there is no variance to estimate, and t would be
    infinite (a deterministic model; a habit of order, which makes every mirrored pair ½). An
    exact bound takes its place: see `ClusteredMean`. The papers' t test takes all responses for
    independent, which they are not; it is kept as `naive`. TOST takes the clustered error. Holm
    and Benjamini–Hochberg are written out, since `statsmodels.stats.multitest.multipletests`
    collects garbage at every call and `scipy.stats` takes longer to import than scores to estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from clinometer.errors import InputError
from clinometer.results import ESTIMATES, columns
from clinometer.statistics.intervals import critical_value

#: Name of the test where all clusters have the same mean.
UNANIMOUS = "unanimous"

#: Cluster means that differ by less than this share of their size differ by rounding alone.
ROUNDING = 1e-12


Array = NDArray[np.float64]
Row = dict[str, float | int | str | None]


@dataclass(frozen=True)
class ClusteredMean:
    """A mean with its cluster-robust error.

    `se` and `df` are null with fewer than two clusters: nothing then tells how clusters differ.

    If all `n_clusters` = G clusters have the same mean c, `unanimous` is true, `se` is 0 and
    there is no t. Its place takes an exact bound that needs only the ends of the scale: given
    the first cluster, the other G − 1 agree with it with probability q^(G−1), q being the share
    of such clusters. A true mean of m < c needs q ≤ (m − low) / (c − low), hence

        p = ((m − low) / (c − low))^(G−1),

    and, inverted, q ≥ (1 − confidence)^(1/(G−1)) bounds the mean on both sides. Clusters are
    taken as exchangeable and of equal weight. Without `bounds`, p and interval are null.

    With `scale`, the variance is proportional to (mean − low)(high − mean), as that of a share is,
    and `se` is the error where this product is `scale`. Test and interval are then Wilson's (1927,
    JASA 22(158), 209–212), with t for the normal: the variance is that of the hypothesis, and the
    interval stays inside `bounds`. Where every score is at one end, Clopper and Pearson's (1934,
    Biometrika 26(4), 404–413) for as many answers of two values take their place if they are wider.
    """

    n: int
    n_clusters: int
    mean: float | None
    se: float | None
    df: float | None
    unanimous: bool = False
    bounds: tuple[float, float] | None = None
    scale: float | None = None

    def interval(self, confidence: float = 0.95) -> tuple[float | None, float | None]:
        """Interval for the mean; both ends null where there is none.

        It excludes a value exactly where the two-sided test against it is below 1 − confidence.
        """
        if self.mean is None or self.se is None or self.df is None:
            return None, None
        if not self.unanimous:
            low, high = self._interval(critical_value(confidence, self.df))
            return self._at_least_exact(low, high, 0.5 - confidence / 2)
        if self.bounds is None:
            return None, None
        # At most this share of clusters has another mean than those seen, see the class.
        deviant = 1.0 - (1.0 - confidence) ** (1.0 / (self.n_clusters - 1))
        low, high = self.bounds
        return self.mean - deviant * (self.mean - low), self.mean + deviant * (high - self.mean)

    def _interval(self, errors: float) -> tuple[float, float]:
        """Return the interval of so many standard errors to either side, Wilson's with `scale`."""
        assert self.mean is not None and self.se is not None
        half = errors * self.se
        if self.scale is None or self.bounds is None:
            return self.mean - half, self.mean + half
        low, high = self.bounds
        k = half**2 / self.scale
        # The ends are the roots of m² − 2 centre m + product, where |mean − m| is `half`.
        centre = (self.mean + k * (low + high) / 2.0) / (1.0 + k)
        product = (self.mean**2 + k * low * high) / (1.0 + k)
        width = max(centre**2 - product, 0.0) ** 0.5
        lower, upper = max(centre - width, low), min(centre + width, high)
        return low if self.mean <= low else lower, high if self.mean >= high else upper  # exactly

    def _at_least_exact(self, low: float, high: float, tail: float) -> tuple[float, float]:
        """Widen an interval to Clopper and Pearson's where every score is at one end."""
        if self._common_end is None or self.bounds is None:
            return low, high
        lowest, highest = self.bounds
        reach = (highest - lowest) * tail ** (1.0 / self.n_clusters)
        if self._common_end > 0:
            return min(low, lowest + reach), high
        return low, max(high, highest - reach)

    @property
    def _common_end(self) -> float | None:
        """The end that all scores are at, 1 or −1, where variances depend on the mean."""
        if self.scale is None or self.bounds is None or self.mean is None:
            return None
        low, high = self.bounds
        return 1.0 if self.mean >= high else -1.0 if self.mean <= low else None

    def plus(self, variance: float, df: float) -> ClusteredMean:
        """Return the mean with a further variance, known with `df`; Satterthwaite's df of both."""
        error_variance = (self.se or 0.0) ** 2
        total = error_variance + variance
        uncertain = error_variance**2 / (self.df or 1.0) + variance**2 / df
        total_df = total**2 / uncertain
        return replace(self, se=total**0.5, df=total_df, unanimous=False)

    def t(self, null: float = 0.0) -> float | None:
        """Return t of the mean against `null`; null where there is no variance."""
        if self.mean is None or self.se is None or self.unanimous:
            return None
        if self.scale is None or self.bounds is None:
            return (self.mean - null) / self.se
        low, high = self.bounds
        distance = self.mean - null
        # Wilson's: the variance that a mean at `null` would have, 0 at the ends of the scale.
        variance = max((null - low) * (high - null), 0.0) / self.scale * self.se**2
        if variance > 0 or distance == 0:
            return distance / variance**0.5 if variance > 0 else 0.0
        return math.copysign(math.inf, distance)

    def p(self, null: float = 0.0) -> float | None:
        """Two-sided p of the hypothesis that the mean is `null`."""
        # The smaller one-sided p is that of the side on which the mean lies.
        p = self._one_sided(null, 1.0 if self.mean is not None and self.mean > null else -1.0)
        # The exact bound of unanimous clusters has nothing on its other side to add.
        return p if p is None or self.unanimous else 2.0 * p

    def p_above(self, null: float = 0.0) -> float | None:
        """One-sided p; small where the mean lies above `null`."""
        return self._one_sided(null, 1.0)

    def p_below(self, null: float = 0.0) -> float | None:
        """One-sided p; small where the mean lies below `null`."""
        return self._one_sided(null, -1.0)

    def tost(self, margin: float, neutral: float = 0.0) -> float | None:
        """Return p of the equivalence test: the larger of two one-sided p; `margin` is above 0."""
        above, below = self.p_above(neutral - margin), self.p_below(neutral + margin)
        return None if above is None or below is None else max(above, below)

    def row(self, confidence: float, null: float = 0.0) -> Row:
        """Return the test against `null` and the interval, in columns of `results.ESTIMATES`."""
        p = self.p(null)
        low, high = self.interval(confidence)
        return {
            "test": None if p is None else UNANIMOUS if self.unanimous else "t",
            "se": self.se,
            "df": self.df,
            "statistic": self.t(null),
            "p": p,
            "confidence": confidence,
            "ci_low": low,
            "ci_high": high,
            "n_clusters": self.n_clusters,
        }

    def _one_sided(self, null: float, side: float) -> float | None:
        t = self.t(null)
        if t is not None and self.df is not None:
            p = float(stdtr(self.df, -side * t))
            return p if self._common_end != side else max(p, self._p_of_two_values(null, side))
        if self.mean is None or self.bounds is None or not self.unanimous:
            return None
        # Distances from the end that clusters of another mean would pull towards.
        end = self.bounds[0] if side > 0 else self.bounds[1]
        to_null = side * (null - end)
        to_mean = side * (self.mean - end)
        if to_mean <= to_null:
            return 1.0
        return float((max(to_null, 0.0) / to_mean) ** (self.n_clusters - 1))

    def _p_of_two_values(self, null: float, side: float) -> float:
        """Return the one-sided p of answers at either end that are all at one."""
        assert self.bounds is not None
        low, high = self.bounds
        distance = null - low if side > 0 else high - null
        return float(min(max(distance / (high - low), 0.0), 1.0)) ** self.n_clusters


def clustered_mean(
    values: ArrayLike,
    clusters: Sequence[object] | NDArray[np.generic],
    *,
    bounds: tuple[float, float] | None = None,
) -> ClusteredMean:
    """Return the mean of `values` with its cluster-robust (CR2) error.

    Parameters
    ----------
    values
        Numbers, shape (n,), in any unit.
    clusters
        A label for each value, shape (n,); values that share one are not independent.
    bounds
        The ends of the scale. Only needed where all clusters have the same mean.

    Returns
    -------
    ClusteredMean
        In the unit of `values`.

    Raises
    ------
    InputError
        If the shapes differ, or a value is not a finite number.

    Notes
    -----
    CR2 of an intercept-only regression, as R's ``clubSandwich::coef_test(lm(y ~ 1), vcov =
    "CR2", cluster = g, test = "Satterthwaite")`` defines it; time and memory are linear.

    Examples
    --------
    >>> result = clustered_mean([0.1, 0.3, 0.5, 0.9], ["a", "a", "b", "c"])
    >>> round(result.mean, 3), round(result.se, 3), round(result.df, 3)
    (0.45, 0.22, 1.8)
    """
    array = np.asarray(values, dtype=np.float64)
    labels = np.asarray(clusters)
    if array.ndim != 1 or array.shape != labels.shape:
        raise InputError(
            f"clusters: shape {labels.shape}; needs one label for each of the values, "
            f"shape {array.shape}, in one dimension"
        )
    if not np.isfinite(array).all():
        raise InputError("values: nan or infinity; leave out what was not measured")
    _, member = np.unique(labels, return_inverse=True)
    sizes = np.bincount(member)
    return mean_of_clusters(sizes, np.bincount(member, weights=array), bounds=bounds)


def mean_of_clusters(
    sizes: ArrayLike, totals: ArrayLike, *, bounds: tuple[float, float] | None = None
) -> ClusteredMean:
    """Return the clustered mean from the numbers of values in the clusters, and their sums.

    Both have shape (clusters,); clusters of no values are left out. `bounds` are the ends of the
    scale, needed only where all clusters have the same mean.
    """
    n = np.asarray(sizes, dtype=np.float64)
    total = np.asarray(totals, dtype=np.float64)[n > 0]
    n = n[n > 0]
    count = n.sum()
    if count == 0:
        return ClusteredMean(0, 0, None, None, None)
    mean = float(total.sum() / count)
    if len(n) == 1:
        return ClusteredMean(int(count), 1, mean, None, None)
    w = n**2 / (count - n)  # as in the formula at the top
    df = float(count**2 / (np.sum(n**2) + np.sum(w) ** 2 - np.sum(w**2)))
    means = total / n
    if np.ptp(means) <= ROUNDING * max(1.0, float(np.abs(means).max())):
        return ClusteredMean(int(count), len(n), mean, 0.0, df, True, bounds)
    residual = total - n * mean
    se = float(np.sqrt(np.sum(residual**2 / (1.0 - n / count))) / count)
    return ClusteredMean(int(count), len(n), mean, se, df)


def naive_t(mean: float | None, sd: float | None, n: int, *, neutral: float = 0.0) -> Row:
    """Return the one-sample t test that takes all scores for independent; p is two-sided.

    Empty with fewer than two scores; without spread there is no t and no p.
    """
    if mean is None or sd is None:
        return {}
    se, df = sd / n**0.5, float(n - 1)
    if se == 0:
        return {"se": 0.0, "df": df}
    t = (mean - neutral) / se
    return {"test": "t", "se": se, "df": df, "statistic": t, "p": 2.0 * float(stdtr(df, -abs(t)))}


def cohen_d(neutral: float = 0.0) -> pl.Expr:
    """Give Cohen's d, (estimate − neutral) / sd; null where there is no spread."""
    return pl.when(pl.col("sd") > 0).then((pl.col("estimate") - neutral) / pl.col("sd"))


def table_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out what is no column of `results.ESTIMATES`, but the number of the row."""
    return rows.select(name for name in rows.columns if name == "row" or name in ESTIMATES)


#: Ending of columns of means in which each answer counts once.
_ANSWERS_SUFFIX = "_of_answers"


def by_method(
    groups: pl.DataFrame,
    shared_columns: Sequence[str],
    *other_methods: pl.DataFrame,
    neutral: float = 0.0,
) -> pl.DataFrame:
    """Set out each estimate by method, ``clustered``, ``published`` and others, row under row.

    `groups` have a `row` that numbers them, as `other_methods` have, and the columns of the method
    ``clustered``; the other methods share the columns `shared_columns`. Method ``published`` takes
    a column with the ending ``_of_answers`` in place of the one without.
    """
    columns_of_estimates = [name for name in groups.columns if name in ESTIMATES]
    clustered = groups.with_columns(method=pl.lit("clustered"))
    clustered = clustered.select("row", *dict.fromkeys((*columns_of_estimates, "method")))
    answer_columns = [
        c.removesuffix(_ANSWERS_SUFFIX) for c in groups.columns if c.endswith(_ANSWERS_SUFFIX)
    ]
    by_answer = groups.with_columns(
        pl.col(f"{c}{_ANSWERS_SUFFIX}").alias(c) for c in answer_columns
    )
    numbers = by_answer.select("estimate", "sd", "n_scored").rows()
    tests = pl.DataFrame(
        [naive_t(mean, sd, n, neutral=neutral) for mean, sd, n in numbers],
        schema=columns("test", "se", "df", "statistic", "p"),
    )
    # The papers' test is of answers, and knows no number of stereotypes.
    published_columns = [name for name in shared_columns if name != "n_stereotypes"]
    published = by_answer.select(
        *published_columns, "sd", effect_size=cohen_d(neutral), method=pl.lit("published")
    ).hstack(tests)
    return row_by_row([clustered, published, *other_methods])  # the order of methods in a row


def row_by_row(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Put together the rows of several tables that have the same number in the column `row`."""
    return pl.concat(tables, how="diagonal").sort("row", maintain_order=True).drop("row")


def bonferroni_confidence(confidence: float, tests: float) -> float:
    """Return the confidence of each of several intervals that hold at once with `confidence`."""
    return 1.0 - (1.0 - confidence) / tests


def holm(p: Array) -> Array:
    """Adjust the p-values of one family, in their order (Holm 1979), shape (tests,)."""
    order = np.argsort(p, kind="stable")
    tests = len(p)
    adjusted = np.empty(tests)
    # Once a step fails none after it may pass: the running maximum.
    adjusted[order] = np.maximum.accumulate(p[order] * (tests - np.arange(tests)))
    return np.minimum(adjusted, 1.0)


def benjamini_hochberg(p: Array) -> Array:
    """Adjust the p-values of one family, in their order, shape (tests,)."""
    order = np.argsort(p, kind="stable")
    tests = len(p)
    adjusted = np.empty(tests)
    scaled = p[order] * (tests / np.arange(1, tests + 1))
    # A step up: what passes takes all smaller p with it, hence the running minimum from the end.
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(adjusted, 1.0)


def adjusted(method: Callable[[Array], Array], *family: str, column: str = "p") -> pl.Expr:
    """Adjust the known p-values of rows that share their values in the columns `family`."""

    def adjust_tested(p: pl.Series) -> pl.Series:
        """Adjust the numbers of one family; null stays null and counts as no test."""
        values = np.full(len(p), np.nan)
        tested = p.is_not_null().to_numpy()
        values[tested] = method(p.drop_nulls().to_numpy())
        return pl.Series(values, nan_to_null=True)

    return pl.col(column).map_batches(adjust_tested, pl.Float64()).over(family)


def check_confidence(confidence: float) -> None:
    """Raise InputError if `confidence` is no level of an interval."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: must lie between 0 and 1, as 0.95")
