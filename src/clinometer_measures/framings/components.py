"""What scores in many framings depend on: main effects, components of variance, new framings.

Reference
    Main effects of a fraction: Wu & Hamada (2009), Experiments. Simultaneous intervals by the
    largest |t|: Hothorn, Bretz & Westfall (2008), Biometrical J. 50, 346–363. Noncentral F for the
    variance of fixed effects: Steiger (2004), Psychological Methods 9, 164–182. Pivots for
    components: Weerahandi (1993), J. American Statistical Association 88, 899–905. Components as
    what to plan by: Brennan (2001), Generalizability Theory; Messing (2026), arXiv:2604.11581.

Model
    Scores have the shape (framings, stereotypes, draws); a draw is a pair of groups and of words,
    which several framings show. With the level l(k) of factor k in framing f,

        y = mean + stereotype s + Σ factor k, l(k) + framing f
            + Σ stereotype s × factor k, l(k) + stereotype s × framing f + words of s + noise

    *Framing* is what combinations of levels do beyond the factors one by one. Stereotypes and
    levels are fixed: theirs is the mean square of their effects. Framings, words and noise are
    random. Noise is of one draw: what words do in some framings alone, and the model's chance.
    A component has the noise in it taken off, and is at least 0. Its interval comes from the
    distribution of its mean square; that of a share, of its part of all but the noise, from draws
    of all components.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.clustered import benjamini_hochberg
from clinometer.statistics.intervals import (
    critical_value,
    mean_interval,
    percentile_interval,
    quantile,
)
from clinometer_measures.framings.fraction import effect_columns

__all__ = [
    "FramedScores",
    "Holding",
    "LevelContrast",
    "VarianceComponent",
    "components",
    "contrasts",
    "holding",
    "level_weights",
]

Array = NDArray[np.float64]
K = TypeVar("K")

CONFIDENCE = 0.95

#: With fewer degrees of freedom of framings beyond their factors there is no analysis.
FEWEST_DF = 4

#: With a larger part of the cells missing there is no analysis.
MOST_MISSING = 0.2

#: Draws of components and of the largest |t|, and their seed.
DRAWS, T_DRAWS, SEED = 4000, 20_000, 0

#: Noncentralities among which the one that fits is looked for, as squares of these.
_ROOTS = np.linspace(0.0, 40.0, 401)

_TINY = 1e-12


@dataclass(frozen=True)
class FramedScores:
    """Mean scores of every draw in every framing, and the levels of the framings."""

    values: Array
    """(framings, stereotypes, draws); nan where there is none."""
    levels: NDArray[np.int64]
    """(framings, factors)."""
    n_levels: tuple[int, ...]
    """Of each factor."""

    @cached_property
    def fits(self) -> list[_DrawFit]:
        """Return what each stereotype's scores are made of."""
        return [_fit_draws(self.values[:, s]) for s in range(self.values.shape[1])]

    @cached_property
    def cells(self) -> Array:
        """The mean of each stereotype in each framing, as if it had all draws: its shape."""
        return np.column_stack([cells for cells, _ in self._adjusted])

    @cached_property
    def noise_of_cell(self) -> float:
        """The variance of the mean of a cell that is noise."""
        return self.noise[0] * float(np.mean([part for _, part in self._adjusted]))

    @cached_property
    def _adjusted(self) -> list[tuple[Array, float]]:
        """The cells of each stereotype, and their variance by that of one draw."""
        observed, _, part = self.words
        sigma = self.noise[0]
        # How far effects of draws are drawn to 0: all the way where words do nothing.
        shrinkage = sigma / max(observed - sigma * part, _TINY) if sigma > 0 else 0.0
        by_stereotype = np.moveaxis(self.values, 1, 0)
        return [_adjust(values, min(shrinkage, 1 / _TINY)) for values in by_stereotype]

    @cached_property
    def noise(self) -> tuple[float, int]:
        """The variance of one draw in one framing, and its degrees of freedom."""
        df = sum(fit.df for fit in self.fits)
        return (sum(fit.squares for fit in self.fits) / df if df else math.nan), df

    @cached_property
    def words(self) -> tuple[float, int, float]:
        """The variance of effects of draws, its degrees of freedom, and the part of the noise."""
        fits = [fit for fit in self.fits if len(fit.effects) > 1]
        df = sum(len(fit.effects) - 1 for fit in fits)
        observed = sum(float(fit.effects @ fit.effects) for fit in fits) / max(df, 1)
        part = sum(fit.effect_variance * (len(fit.effects) - 1) for fit in fits) / max(df, 1)
        return observed, df, part

    @cached_property
    def is_sufficient(self) -> bool:
        """Whether there is enough for an analysis."""
        missing = float((~np.isfinite(self.cells)).mean())
        return (
            self.noise[1] > 0 and self.df_framings >= FEWEST_DF and missing <= MOST_MISSING
            and bool(np.isfinite(self.cells).any(axis=0).all())
            and bool(np.isfinite(self.cells).any(axis=1).all())
        )  # fmt: skip

    @cached_property
    def complete(self) -> tuple[Array, int]:
        """The cells, with missing ones as their framing and stereotype have it; and how many."""
        table, is_missing = self.cells.copy(), ~np.isfinite(self.cells)
        if not is_missing.any():
            return table, 0
        table[is_missing] = np.nanmean(table)
        for _ in range(200):
            fitted = table.mean(axis=1)[:, None] + table.mean(axis=0) - table.mean()
            change = np.abs(table[is_missing] - fitted[is_missing]).max()
            table[is_missing] = fitted[is_missing]
            if change < _TINY:
                break
        return table, int(is_missing.sum())

    @cached_property
    def columns(self) -> list[Array]:
        """The columns of each factor; a level that no framing has any more is left out."""
        return effect_columns(self.levels, self.n_levels)

    @cached_property
    def design(self) -> Array:
        """The columns of the mean and all factors: (framings, columns)."""
        return np.column_stack([np.ones(len(self.levels)), *self.columns])

    @cached_property
    def df_framings(self) -> int:
        """The degrees of freedom of framings beyond their factors."""
        return len(self.design) - int(np.linalg.matrix_rank(self.design))

    @cached_property
    def framing_regression(self) -> tuple[Array, Array, float]:
        """Coefficients of the means of framings, (XʹX)⁻¹, and the variance that is left."""
        means = self.complete[0].mean(axis=1)
        inverse = np.asarray(np.linalg.pinv(self.design.T @ self.design), float)
        coefficients: Array = inverse @ (self.design.T @ means)
        residuals = means - self.design @ coefficients
        return coefficients, inverse, float(residuals @ residuals) / self.df_framings


class _DrawFit(NamedTuple):
    """The scores of one stereotype, by framing and draw."""

    squares: float
    """Of what is left, with its degrees of freedom."""
    df: int
    effects: Array
    """(draws with scores,): of draws, around 0; empty if framings share too few to tell."""
    effect_variance: float
    """The variance of an effect, among effects, by that of one draw."""


def _fit_draws(values: Array) -> _DrawFit:
    """Fit the scores of one stereotype, (framings, draws), by framing and draw: least squares."""
    y, by_framing, by_draw = _indicators(values)
    n, k = by_framing.shape[1], by_draw.shape[1]
    around_0 = np.vstack([np.eye(k - 1), -np.ones(k - 1)]) if k > 1 else np.zeros((k, 0))
    design = np.column_stack([by_framing, by_draw @ around_0])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        design, around_0 = by_framing, np.zeros((0, 0))
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ (design.T @ y)
    residuals = y - design @ coefficients
    covariance = np.asarray(around_0 @ inverse[n:, n:] @ around_0.T, float)
    effects = around_0 @ coefficients[n:]
    return _DrawFit(
        float(residuals @ residuals), len(y) - design.shape[1], effects, _among(covariance)
    )


def _adjust(values: Array, shrinkage: float) -> tuple[Array, float]:
    """Return the cells of one stereotype with effects of draws as random (Henderson's equations).

    `shrinkage`: the variance of noise by that of draws. Also the variance of cells, among cells, by
    that of noise. A cell without a score is nan.
    """
    y, by_framing, by_draw = _indicators(values)
    n, k = by_framing.shape[1], by_draw.shape[1]
    design = np.column_stack([by_framing, by_draw])
    normal = design.T @ design
    normal[n:, n:] += shrinkage * np.eye(k)
    inverse = np.asarray(np.linalg.pinv(normal, hermitian=True), float)
    cells = np.full(len(values), np.nan)
    cells[np.isfinite(values).any(axis=1)] = (inverse @ (design.T @ y))[:n]
    return cells, _among(inverse[:n, :n])


def _indicators(values: Array) -> tuple[Array, Array, Array]:
    """Return the scores that there are, and which framing and which draw each is of."""
    has = np.isfinite(values)
    framings, draws = np.flatnonzero(has.any(axis=1)), np.flatnonzero(has.any(axis=0))
    rows, columns = np.nonzero(has[np.ix_(framings, draws)])
    y = values[framings[rows], draws[columns]]
    return y, np.eye(len(framings))[rows], np.eye(len(draws))[columns]


def _among(covariance: Array) -> float:
    """Return the expected variance among numbers that have a covariance, with n − 1."""
    n = len(covariance)
    return float((np.trace(covariance) - covariance.sum() / n) / (n - 1)) if n > 1 else 0.0


class VarianceComponent(NamedTuple):
    """A component of variance, on the scale of scores."""

    variance: float
    low: float
    high: float
    share: float
    """Of all but the noise; nan for the noise."""
    share_low: float
    share_high: float


class _Source(NamedTuple):
    """A source of variance: its point, and draws of what it may be."""

    variance: float
    draws: Array


def components(scores: FramedScores, factors: Sequence[str]) -> dict[str, VarianceComponent]:
    """Return the components by source; `scores` is sufficient.

    Sources: ``stereotype``, every factor, ``framing``, ``stereotype × `` each of these, ``words``,
    ``noise``. Of one stereotype, or one draw, sources that it does not show are left out.
    """
    rng = np.random.default_rng(SEED)
    sources = _sources(scores, factors, rng)
    noise = sources.pop("noise")
    total = sum(source.variance for source in sources.values())
    total_draws = np.sum([source.draws for source in sources.values()], axis=0)
    rows = {}
    for name, source in sources.items():
        shares = source.draws / np.maximum(total_draws, _TINY)
        share = source.variance / total if total > 0 else math.nan
        rows[name] = VarianceComponent(source.variance, *_ends(source.draws), share, *_ends(shares))
    nothing = (math.nan,) * 3
    rows["noise"] = VarianceComponent(noise.variance, *_ends(noise.draws), *nothing)
    return rows


def _ends(draws: Array) -> tuple[float, float]:
    return percentile_interval(draws, CONFIDENCE)


def _sources(
    scores: FramedScores, factors: Sequence[str], rng: np.random.Generator
) -> dict[str, _Source]:
    """Return all sources; those of framings and of stereotypes are told apart by mean squares."""
    sigma, df_noise = scores.noise
    noise = _Source(sigma, sigma * df_noise / rng.chisquare(df_noise, DRAWS))
    words = _words(scores, noise.draws, rng)
    cell_noise = _Source(scores.noise_of_cell, noise.draws * scores.noise_of_cell / sigma)
    sources: dict[str, _Source] = {}
    interaction: dict[str, _Source] = {}
    rest = cell_noise
    if scores.values.shape[1] > 1:
        by_factor, mean_square, df = _crossed(scores)
        rest = _Source(mean_square, mean_square * df / rng.chisquare(df, DRAWS))
        sources["stereotype"] = _stereotype_source(scores, (mean_square, df), words, rng)
        unit = mean_square / scores.cells.size
        for name, (squares, df_factor) in zip(factors, by_factor, strict=True):
            interaction[f"stereotype × {name}"] = _fixed(
                squares / mean_square, (df_factor, df), unit, rng
            )
        interaction["stereotype × framing"] = _random(
            rest.variance - cell_noise.variance, rest.draws - cell_noise.draws
        )
    sources |= _factor_sources(scores, factors, rng)
    residual_variance, residual_df = scores.framing_regression[2], scores.df_framings
    residual_draws = residual_variance * residual_df / rng.chisquare(residual_df, DRAWS)
    n = scores.values.shape[1]
    sources["framing"] = _random(
        residual_variance - rest.variance / n, residual_draws - rest.draws / n
    )
    sources |= interaction
    if words is not None:
        sources["words"] = words
    return {**sources, "noise": noise}


def _factor_sources(
    scores: FramedScores, factors: Sequence[str], rng: np.random.Generator
) -> dict[str, _Source]:
    """Return the mean square of the levels of each factor."""
    coefficients, inverse, residual_variance = scores.framing_regression
    sources = {}
    start = 1
    for name, columns in zip(factors, scores.columns, strict=True):
        block = slice(start, start + columns.shape[1])
        start += columns.shape[1]
        effect = coefficients[block]
        ratio = float(effect @ np.linalg.pinv(inverse[block, block]) @ effect) / residual_variance
        df = (columns.shape[1], scores.df_framings)
        sources[name] = _fixed(ratio, df, residual_variance / len(scores.levels), rng)
    return sources


def _stereotype_source(
    scores: FramedScores, rest: tuple[float, int], words: _Source | None, rng: np.random.Generator
) -> _Source:
    """Return the mean square of stereotypes, whose means have the error of their words, too."""
    table, _ = scores.complete
    n_framings, n_stereotypes = table.shape
    n_draws = int(np.isfinite(scores.values).any(axis=0).sum())
    word_variance = words.variance * n_framings * n_stereotypes / n_draws if words else 0.0
    error, df = rest[0] + word_variance, float(rest[1])
    if word_variance:
        # Satterthwaite's degrees of freedom of the sum.
        parts = rest[0] ** 2 / rest[1] + word_variance**2 / max(n_draws - n_stereotypes, 1)
        df = error**2 / parts
    spread = float(((table.mean(axis=0) - table.mean()) ** 2).sum()) * n_framings
    return _fixed(spread / error, (n_stereotypes - 1, df), error / table.size, rng)


def _crossed(scores: FramedScores) -> tuple[list[tuple[float, int]], float, int]:
    """Split the interaction of stereotypes and framings by factor, in their order.

    Returns the sum of squares of each with its degrees of freedom, and the mean square and degrees
    of freedom of what is left.
    """
    table, n_missing = scores.complete
    n = table.shape[1] - 1
    # What is left of cells on top of the means of framings and of stereotypes.
    residuals = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    by_factor = []
    basis = np.ones((len(table), 1)) / math.sqrt(len(table))
    for columns in scores.columns:
        outside = columns - basis @ (basis.T @ columns)
        vectors, values, _ = np.linalg.svd(outside, full_matrices=False)
        added = vectors[:, values > 1e-9]
        explained = added @ (added.T @ residuals)
        by_factor.append((float((explained**2).sum()), n * added.shape[1]))
        residuals = residuals - explained
        basis = np.column_stack([basis, added])
    df = max(n * (len(table) - basis.shape[1]) - n_missing, 1)
    return by_factor, max(float((residuals**2).sum()) / df, _TINY), df


def _words(scores: FramedScores, noise: Array, rng: np.random.Generator) -> _Source | None:
    """Return the variance of draws within stereotypes, over all framings; None: not told."""
    observed, df, part = scores.words
    if not df:
        return None
    draws = observed * df / rng.chisquare(df, DRAWS)
    return _random(observed - scores.noise[0] * part, draws - noise * part)


def _random(variance: float, draws: Array) -> _Source:
    return _Source(max(variance, 0.0), np.maximum(draws, 0.0))


def _fixed(ratio: float, df: tuple[int, float], unit: float, rng: np.random.Generator) -> _Source:
    """Return the mean square of fixed effects, from the noncentralities that go with its F.

    `ratio`: the sum of squares by the mean square of the error; `unit`: the mean square of effects
    by the noncentrality.
    """
    from scipy.special import ncfdtr  # scipy takes long to import

    above, below = df
    uniform = rng.random(DRAWS)
    if ratio > _ROOTS[-1] ** 2 / 4:
        # Far from 0 the root of the noncentrality is normal around that of the ratio.
        scaled = ratio * rng.chisquare(below, DRAWS) / below
        noncentralities = (np.sqrt(scaled) + rng.standard_normal(DRAWS)) ** 2
    else:
        # The probability of a smaller F falls with the noncentrality: a distribution of it.
        confidence = 1 - ncfdtr(above, below, _ROOTS**2, ratio / above)
        noncentralities = np.interp(uniform, np.maximum.accumulate(confidence), _ROOTS**2)
        noncentralities[uniform <= confidence[0]] = 0.0
    return _Source(max(ratio - above, 0.0) * unit, noncentralities * unit)


class LevelContrast(NamedTuple):
    """A level of a factor less its first, over all stereotypes and the other factors."""

    estimate: float
    se: float
    low: float
    """Ends of the simultaneous interval of all contrasts."""
    high: float
    pointwise_low: float
    pointwise_high: float
    p: float
    p_adjusted: float


def contrasts(scores: FramedScores, weights: Mapping[K, Array]) -> dict[K, LevelContrast]:
    """Return contrasts with simultaneous intervals; those that the framings do not tell are absent.

    Parameters
    ----------
    scores
        Sufficient.
    weights
        Of each contrast the weights of the columns of `design`; see `level_weights`.
    """
    from scipy.special import stdtr  # scipy takes long to import

    coefficients, inverse, residual_variance = scores.framing_regression
    projection = inverse @ (scores.design.T @ scores.design)
    estimable = {name: row for name, row in weights.items() if np.allclose(row @ projection, row)}
    if not estimable:
        return {}
    rows, df = np.array([*estimable.values()]), scores.df_framings
    covariance = rows @ inverse @ rows.T
    unit = np.sqrt(np.diag(covariance))
    estimates, errors = rows @ coefficients, np.maximum(unit * math.sqrt(residual_variance), _TINY)
    largest = _largest_t(covariance / np.outer(unit, unit), df)
    # Of the interval of all at once, and of that of one alone.
    widths = (float(quantile(largest, CONFIDENCE)), critical_value(CONFIDENCE, df))
    level_contrasts = {}
    for name, estimate, error in zip(
        estimable, map(float, estimates), map(float, errors), strict=True
    ):
        t = abs(estimate) / error
        level_contrasts[name] = LevelContrast(
            estimate,
            error,
            estimate - widths[0] * error,
            estimate + widths[0] * error,
            estimate - widths[1] * error,
            estimate + widths[1] * error,
            2 * float(stdtr(df, -t)),
            float((1 + (largest >= t).sum()) / (1 + len(largest))),
        )
    return level_contrasts


def _largest_t(correlation: Array, df: int) -> Array:
    """Draw the largest |t| of contrasts that share an error."""
    rng = np.random.default_rng(SEED)
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = rng.standard_normal((T_DRAWS, len(values))) @ root.T
    error = np.sqrt(rng.chisquare(df, T_DRAWS) / df)
    return np.asarray(np.abs(normal).max(axis=1) / error)


def level_weights(n_levels: Sequence[int], factor: int, level: int) -> Array:
    """Return the weights of the columns of a design for a level less the first of its factor."""
    starts = 1 + np.cumsum([0, *(n - 1 for n in n_levels)])
    weights = np.zeros(starts[-1])
    # The effect of the first level is the sum of the others, with the other sign.
    weights[starts[factor] : starts[factor + 1]] = 1.0
    weights[starts[factor] + level - 1] += 1.0
    return weights


class Holding(NamedTuple):
    """In how many framings a lean holds, of one stereotype or of their mean."""

    mean: float
    low: float
    """Ends of the interval of the mean over framings of this kind."""
    high: float
    spread: float
    """Standard deviation of framings, the noise taken off."""
    n_framings: int
    n_positive: int
    """Framings whose own interval lies above 0."""
    n_negative: int
    share: float
    """Of framings of this kind that are on the side of the mean, were they normal."""
    share_low: float
    share_high: float
    new_low: float
    """Ends of the prediction of the true mean in one more framing."""
    new_high: float


def holding(cells: Array, noise: float, df_noise: int) -> Holding:
    """Say in how many framings a lean holds.

    Parameters
    ----------
    cells
        (framings,): the mean score in each.
    noise
        Variance of a cell that is noise, with its degrees of freedom.

    Examples
    --------
    >>> holding(np.array([0.2, 0.4, 0.3, 0.3, 0.2, 0.4]), 0.0001, 50)[5:7]
    (6, 0)
    """
    from scipy.special import ndtr, stdtr  # scipy takes long to import

    n, mean = len(cells), float(cells.mean())
    variance = float(cells.var(ddof=1))
    between = max(variance - noise, 0.0)
    p_values = 2 * stdtr(df_noise, -np.abs(cells) / math.sqrt(max(noise, _TINY)))
    is_clear = benjamini_hochberg(p_values) <= 1 - CONFIDENCE
    rng = np.random.default_rng(SEED)
    variances = variance * (n - 1) / rng.chisquare(n - 1, DRAWS)
    means = mean + rng.standard_normal(DRAWS) * np.sqrt(variances / n)
    spreads = np.sqrt(
        np.maximum(variances - noise * df_noise / rng.chisquare(df_noise, DRAWS), _TINY)
    )
    side = 1.0 if mean >= 0 else -1.0
    share_low, share_high = _ends(ndtr(side * means / spreads))
    new_low, new_high = _ends(means + spreads * rng.standard_normal(DRAWS))
    return Holding(
        mean, *mean_interval(cells, CONFIDENCE), math.sqrt(between), n,
        int((is_clear & (cells > 0)).sum()), int((is_clear & (cells < 0)).sum()),
        float(ndtr(abs(mean) / math.sqrt(max(between, _TINY)))), share_low, share_high,
        new_low, new_high,
    )  # fmt: skip
