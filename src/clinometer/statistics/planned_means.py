"""Means before they are measured: their errors, and what the inference would make of them.

How
    Neutral scores with known components of variance are drawn for a design (trials, without
    answers), and inferred as answers are (`means`). Responses have a beta distribution, which keeps
    them on the scale. The error of a mean is exact for these components; what the drawings give are
    estimates of it, with their degrees of freedom, and the means in these prompts.

Range
    Other prompts. A factor of which no member of a mean has several levels, as where a single
    wording is asked, is held fixed: that facet is open. Words are not where a placebo of the study
    has several, which then stand for others. Where all facets are open, these prompts: the interval
    is then that of a normal with the width of the bound.

Assumptions
    All answers are scored. The variance of a mean is proportional to (mean − low)(high − mean).
    Stereotypes of a run have equal components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results import Measure
from clinometer.results.controls import ARBITRARY
from clinometer.statistics.clustered import Array, ClusteredMean
from clinometer.statistics.designs import CROSSED, SHARED
from clinometer.statistics.intervals import critical_value
from clinometer.statistics.means import Ranges, drawn_means
from clinometer.statistics.prompts import BoundedMean
from clinometer.statistics.sources import ERRORS, Sources
from clinometer.statistics.summaries import NEVER_POOLED, keys_of

__all__ = ["LEVELS", "RUNS", "PlannedMean", "PlannedRuns", "exact_errors", "foresee"]

#: Drawn estimates of each error, where a plan has one instrument and mode.
RUNS = 40

#: Of these, the means in these prompts that are used; their errors differ little.
_RUNS_OF_PROMPTS = 6

LEVELS = ("stereotype", "category", "model")

#: At which a bound and a normal interval are made as wide as each other.
_CONFIDENCE = 0.95

_RESPONSE = ERRORS.index("response")

#: Draws and responses are new in every run.
_RUN_ERRORS = [ERRORS.index("draw"), _RESPONSE]

_WORDS = [ERRORS.index(name) for name in SHARED[1:]]

#: Shares of the scale, and of its variance, that are drawn.
_INSIDE = (1e-6, 1.0 - 1e-6)

_STEREOTYPE = ("category", "stereotype")

#: A run's values of `NEVER_POOLED`.
Run = tuple[Any, ...]

#: Level, a run, and the keys of the level.
Key = tuple[Any, ...]


class PlannedRuns(NamedTuple):
    """Runs that are asked alike, before there are answers."""

    units: pl.DataFrame  # rows of `summarise`, all counted as scored
    sources: Mapping[Run, Sources]  # components of each run, by its values of `NEVER_POOLED`
    measure: Measure


@dataclass(frozen=True)
class PlannedMean:
    """A mean before it is measured: what makes it vary, and what was drawn of its error."""

    measure: Measure
    n: int
    n_pairs: int
    stereotypes: frozenset[int]
    range: str
    """``other_prompts``; ``prompts`` where nothing is to be told of others."""
    loadings: Array
    """What it gains by one standard deviation of each effect of the design, (effects,)."""
    is_random: NDArray[np.bool_]
    """Effects of facets that are not held fixed: those that its error is about, (effects,)."""
    errors: Array
    """Drawn estimates of its error where it is neutral, (runs,); infinite where there is none."""
    df: Array
    """Degrees of freedom of these, (runs,)."""
    prompts: Sequence[BoundedMean]
    """Some of them in these prompts, placed at neutral."""

    @property
    def se(self) -> float:
        """Error of the mean where it is neutral."""
        return float(np.linalg.norm(self.loadings[self.is_random]))

    @property
    def is_tested(self) -> bool:
        """Whether an estimate has an error."""
        return bool(np.isfinite(self.errors).any())

    def relative_error(self, distances: Array) -> Array:
        """Return the error of means so far above neutral, as a part of that of a neutral one."""
        means_ = self.measure.neutral + distances
        return np.asarray((scale_at(means_, self.measure) / scale_at(None, self.measure)) ** 0.5)


def scale_at(means_: Array | None, measure: Measure) -> Array:
    """Return what the variances of means are proportional to; of a neutral one for None."""
    locations = np.array(measure.neutral) if means_ is None else means_
    return np.maximum((locations - measure.low) * (measure.high - locations), 0.0)


def foresee(planned: PlannedRuns, runs: int = RUNS, seed: int = 0) -> dict[Key, PlannedMean]:
    """Return the means of runs before they are measured, by level, run and keys of the level.

    The values of `planned.units` do not matter; what their runs have in common is inferred
    together.
    """
    units, _, measure = planned
    design = _Design(planned)
    ends = measure.low, measure.high
    draws = design.draw(runs, seed)
    simulated = drawn_means(design.units, draws, ends, LEVELS, _RUNS_OF_PROMPTS)
    by_key = {(level, *key): ranges for (level, _, *key), ranges in simulated.items()}
    return {
        key: design.planned_mean(member, by_key[key]) for key, member in _members(units).items()
    }


def exact_errors(planned: PlannedRuns) -> dict[Key, float]:
    """Return the errors of neutral means, by the keys of `foresee`; nothing is drawn."""
    design = _Design(planned)
    errors = {}
    for key, member in _members(planned.units).items():
        loadings, is_random = design.loadings(member)
        errors[key] = float(np.linalg.norm(loadings[is_random]))
    return errors


def _members(units: pl.DataFrame) -> dict[Key, NDArray[np.int64]]:
    """Return the rows of the units of each mean."""
    rows = units.select(*NEVER_POOLED, *_STEREOTYPE).with_row_index("row")
    members = {}
    for level in LEVELS:
        for key, group in rows.group_by(keys_of(level)[1:], maintain_order=True):
            members[level, *key] = group["row"].to_numpy().astype(np.int64)
    return members


class _Design:
    """The factors of units, and the standard deviations of their effects."""

    def __init__(self, planned: PlannedRuns) -> None:
        self.units, sources, self.measure = planned
        self.weights = self.units["n"].to_numpy().astype(float)
        self.stereotypes = _combination_codes(self.units, _STEREOTYPE)
        self.codes = [
            *_factor_codes(self.units),
            np.arange(len(self.units)),
            _combination_codes(self.units, ["variation"]),
        ]
        self.studies = self.units["study"].to_numpy()
        self.charging = _with_arbitrary_words(self.units)
        runs = self.units.select(NEVER_POOLED).rows()
        self.sd = np.array([_effect_sds(sources[run], self.measure) for run in runs])
        answers = np.array([sources[run].answers for run in runs])
        # A response of the pilot is the mean of so many answers; one of this plan of `weights`.
        self.sd[:, _RESPONSE] *= (answers / self.weights) ** 0.5

    def draw(self, runs: int, seed: int) -> list[Array]:
        """Draw neutral scores, (units,) of each run."""
        rng = np.random.default_rng(seed)
        varies = self._varies(np.arange(len(self.weights)))
        return [self._scores(rng, varies) for _ in range(runs)]

    def _scores(self, rng: np.random.Generator, varies: Array) -> Array:
        """Draw effects, and responses about them."""
        effects = np.zeros(len(self.weights))
        for source, (codes, sd) in enumerate(zip(self.codes, self.sd.T, strict=True)):
            if source != _RESPONSE and varies[source]:
                effects += sd * rng.normal(0.0, 1.0, codes.max() + 1)[codes]
        low, high = self.measure.low, self.measure.high
        share = ((self.measure.neutral + effects - low) / (high - low)).clip(*_INSIDE)
        count = 1.0 / self._relative_variance(varies) - 1.0
        return np.asarray(low + (high - low) * rng.beta(share * count, (1.0 - share) * count))

    def _relative_variance(self, varies: Array) -> Array:
        """Return the variance of responses as a part of (mean − low)(high − mean), by unit.

        It is smaller where other effects move the mean; on average it is that of the components.
        """
        variances = self.sd**2 * varies / float(scale_at(None, self.measure))
        response = variances[:, _RESPONSE]
        return np.asarray((response / (1.0 + response - variances.sum(axis=1))).clip(*_INSIDE))

    def _varies(self, member: NDArray[np.int64]) -> Array:
        """Return 1 for each source that moves a mean, 0 for a factor that is held fixed."""
        stereotypes = self.stereotypes[member]
        number = len(np.unique(stereotypes))
        # More pairs of stereotype and level than stereotypes: some stereotype has two levels.
        levels = [len({*zip(stereotypes, codes[member], strict=True)}) for codes in self.codes]
        varies = np.array([float(count > number) for count in levels])
        varies[_RUN_ERRORS] = 1.0
        if {*self.studies[member]} <= self.charging:
            varies[_WORDS] = 1.0
        return varies

    def loadings(self, member: NDArray[np.int64]) -> tuple[Array, NDArray[np.bool_]]:
        """Return what the mean of some units gains by each effect's sd, and which are random.

        Each stereotype counts once. Shapes (effects,).
        """
        _, stereotypes = np.unique(self.stereotypes[member], return_inverse=True)
        weights = self.weights[member] / np.bincount(stereotypes, self.weights[member])[stereotypes]
        weights /= stereotypes.max() + 1
        by_source = [
            np.bincount(codes[member], weights * sd[member], codes.max() + 1)
            for codes, sd in zip(self.codes, self.sd.T, strict=True)
        ]
        is_random = np.repeat(self._varies(member) > 0, [len(effects) for effects in by_source])
        return np.concatenate(by_source), is_random

    def planned_mean(self, member: NDArray[np.int64], simulated: Sequence[Ranges]) -> PlannedMean:
        """Return the mean of some units, with what was drawn of it."""
        neutral = self.measure.neutral
        prompts = [_neutralise(ranges.prompts, neutral) for ranges in simulated if ranges.prompts]
        wide = [ranges.other_prompts for ranges in simulated]
        is_open = all(mean.se is None for mean in wide)
        loadings, is_random = self.loadings(member)
        if is_open:
            errors = [_error_of_bound(mean) for mean in prompts]
        else:
            errors = [self._error_at_neutral(mean) for mean in wide]
        return PlannedMean(
            measure=self.measure,
            n=int(self.weights[member].sum()),
            n_pairs=len(member),
            stereotypes=frozenset(self.stereotypes[member].tolist()),
            range="prompts" if is_open else "other_prompts",
            loadings=loadings,
            is_random=is_random,
            errors=np.array(errors),
            df=np.array([(np.inf if is_open else mean.df) or 1.0 for mean in wide]),
            prompts=prompts[:_RUNS_OF_PROMPTS],
        )

    def _error_at_neutral(self, mean: ClusteredMean) -> float:
        """Return the error of an estimate where it is neutral; infinite without one."""
        if not mean.se or not mean.df or not mean.scale:
            return np.inf
        return float(mean.se * (scale_at(None, self.measure) / mean.scale) ** 0.5)


def _neutralise(mean: BoundedMean, neutral: float) -> BoundedMean:
    return replace(mean, mean=neutral)


def _error_of_bound(mean: BoundedMean) -> float:
    """Return the error of a normal mean whose interval is as wide."""
    low, high = mean.interval(_CONFIDENCE)
    return (high - low) / 2.0 / critical_value(_CONFIDENCE)


def _effect_sds(sources: Sources, measure: Measure) -> Array:
    """Return the standard deviations of the effects: of `ERRORS`, and of shared wordings."""
    variances = np.array([*sources.components, sources.shared])
    variances[0] -= sources.shared  # of the wordings, the first: what is left of each stereotype's
    return np.asarray((float(scale_at(None, measure)) * variances) ** 0.5)


def _with_arbitrary_words(units: pl.DataFrame) -> set[str]:
    """Return the studies of which a placebo has several words on both sides."""
    words = units.filter(pl.col("control").is_in(ARBITRARY)).group_by("study", *_STEREOTYPE).agg(
        pl.col(SHARED[1:]).n_unique()
    )  # fmt: skip
    several = words.filter(pl.all_horizontal(pl.col(SHARED[1:]) > 1))
    return {*several["study"]}


def _factor_codes(units: pl.DataFrame) -> list[NDArray[np.int64]]:
    """Return the levels of each crossed factor, within stereotypes."""
    codes = []
    for factor in CROSSED:
        columns = SHARED if factor == "cell" else (factor,)  # a cell is a wording with two words
        codes.append(_combination_codes(units, [*_STEREOTYPE, *columns]))
    return codes


def _combination_codes(units: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each combination of columns, within runs."""
    coded = units.select(pl.struct(*NEVER_POOLED, *columns).rank("dense") - 1)
    return coded.to_series().to_numpy().astype(int)
