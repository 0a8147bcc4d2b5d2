"""What a design can tell before it is asked: error, smallest effect, chance of `equivalent`.

Reference
    Power of t tests: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2,
    chapter 31 (non-central t); of two one-sided tests: Phillips (1990), J. Pharmacokinetics and
    Biopharmaceutics 18(2), 137–144. Designs from components of variance: Cronbach, Gleser, Nanda &
    Rajaratnam (1972), The Dependability of Behavioral Measurements (D studies).

Measures
    For each mean of a design (trials, without answers), with components of variance from a pilot:

    ==================  ==========================================================================
    se                  error of the mean where it is neutral, exact for these components
    df                  median degrees of freedom of its estimate
    half_width          median of half the width of the interval where the mean is neutral, of one
                        that holds for all means of the page at once
    smallest_effect     distance from neutral of the nearest mean above it that the two-sided test
                        finds with the stated power
    smallest_beyond     the same for a mean whose interval lies above the margin of equivalence, as
                        that of a positive control must
    equivalent_power    probability that the interval lies within the margin where the true mean is
                        neutral
    smallest_change     rise of a neutral mean, between two runs of this design, that the two-sided
                        test finds with the stated power
    ==================  ==========================================================================

How
    Errors are estimated by `targets.means` itself, from scores drawn for this design, `RUNS` times.
    Tests far from neutral may have a smaller error (`ClusteredMean.stronger`): that of the test
    against the mean half-way to the low end is taken.
    Given an estimated error and its degrees of freedom, the mean is normal about the true one; the
    probabilities are averages over the runs. With an error that is χ² this is the non-central t.
    Group words of which there is one are held fixed where the estimate does so. Another source with
    one level, as where a single wording is asked, is not in the estimates; they are scaled up by
    its part of the exact error: what a design does not see is not taken for absent.
    A change is that of one plan asked twice, trial by trial: its error is that of both runs, with
    the degrees of freedom of one, since both have the same wordings, words and draws. What these do
    to both alike would cancel; nothing is taken to. Tested is a change of 0 on a scale from
    low − high to high − low, where the error is larger than that of the change itself.

Tests
    Tests and intervals are at α / n_tests, α = 1 − confidence: for the means of a level that are
    seen together, those of all dimensions, and the levels of a page. Changes are adjusted over all
    that a comparison of two runs decides about, of every instrument and study that is neither a
    control nor explicit.

Target
    *These*: other wordings, group words, draws and answers; the same stereotypes and attributes.

Assumptions
    All answers are scored. The variance of a mean is proportional to (mean − low)(high − mean).
    Stereotypes have equal components.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from clinometer.errors import InputError
from clinometer.results import Measure, check
from clinometer.results.schemas import POWER
from clinometer.statistics.clustered import Array, ClusteredMean, check_confidence
from clinometer.statistics.designs import CROSSED, SHARED
from clinometer.statistics.estimates import Inference
from clinometer.statistics.means import means
from clinometer.statistics.sources import ERRORS, Sources
from clinometer.statistics.summaries import NEVER_POOLED, SEEN_TOGETHER, keys_of, tests_seen

__all__ = ["RUNS", "PlannedRuns", "PlannedMean", "foresee", "plan_power", "smallest_effects"]

#: Drawn estimates of each error; of the means of a model their number matters.
RUNS = 100

LEVELS = ("stereotype", "category", "model")

_RESPONSE = ERRORS.index("response")

#: The words of each group.
_WORDS = [ERRORS.index(name) for name in SHARED[1:]]

#: Shares of the scale, and of its variance, that are drawn.
_INSIDE = (1e-6, 1.0 - 1e-6)

_STEREOTYPE = ("category", "stereotype")

#: The columns that tell the means of a level apart.
_KEYS = {level: keys_of(level)[1:] for level in LEVELS}

#: A run's values of `NEVER_POOLED`.
Run = tuple[Any, ...]

#: Means that are tried, as parts of the way from neutral to the upper end of the scale.
_GRID = np.linspace(0.0, 1.0, 501)


@dataclass(frozen=True)
class PlannedMean:
    """A mean before it is measured: its error where it is neutral, and estimates of the error."""

    measure: Measure
    n: int
    n_pairs: int
    se: float
    estimated: Array  # (runs,), se
    tested: Array  # (runs,), se as the test against neutral has it
    df: Array  # (runs,)

    def chance_to_find(self, true: Array, level: float, margin: float = 0.0) -> Array:
        """Return the probability that each true mean is found above neutral by more than a margin.

        The test is two-sided.
        """
        null = self.measure.neutral + margin
        at_null = self._relative(np.array([null]))[0]
        needed = stdtrit(self.df, 1.0 - level / 2.0) * self.tested * at_null
        distance = (true - null)[:, None] - needed
        spread = np.maximum(self.se * self._relative(true)[:, None], 1e-12)
        return np.asarray(ndtr(distance / spread).mean(axis=1))

    def smallest_effect(self, power: float, level: float, margin: float = 0.0) -> float | None:
        """Return the smallest distance from neutral that is found; None if none on the scale."""
        distances = _GRID * (self.measure.high - self.measure.neutral)
        chances = self.chance_to_find(self.measure.neutral + distances, level, margin)
        reached = np.flatnonzero(chances >= power)
        return float(distances[reached[0]]) if len(reached) else None

    def equivalent(self, margin: float, level: float) -> float:
        """Return the probability that a neutral mean is shown to be within the margin."""
        at_margin = self._relative(np.array([self.measure.neutral + margin]))[0]
        room = margin - stdtrit(self.df, 1.0 - level / 2.0) * self.estimated * at_margin
        return float(np.maximum(2.0 * ndtr(room / max(self.se, 1e-12)) - 1.0, 0.0).mean())

    def smallest_change(self, power: float, level: float) -> float | None:
        """Return the smallest rise from neutral that two runs show; None if none on the scale."""
        rises = _GRID * (self.measure.high - self.measure.neutral)
        of_both = np.hypot(1.0, self._relative(self.measure.neutral + rises))
        at_no_change = (1.0 - (rises / (self.measure.high - self.measure.low)) ** 2) ** -0.5
        needed = stdtrit(self.df, 1.0 - level / 2.0) * self.estimated * at_no_change[:, None]
        relative = (rises / of_both)[:, None]
        chances = ndtr((relative - needed) / max(self.se, 1e-12)).mean(axis=1)
        reached = np.flatnonzero(chances >= power)
        return float(rises[reached[0]]) if len(reached) else None

    def half_width(self, confidence: float) -> float:
        """Return the median of half the width of the interval of a neutral mean."""
        widths = []
        for se, df in zip(self.estimated, self.df, strict=True):
            low, high = self._mean(se, df).interval(confidence)
            assert low is not None and high is not None
            widths.append(high - low)
        return float(np.median(widths)) / 2.0

    def _mean(self, se: float, df: float) -> ClusteredMean:
        measure = self.measure
        scale = (measure.neutral - measure.low) * (measure.high - measure.neutral)
        bounds = (measure.low, measure.high)
        return ClusteredMean(self.n, 2, measure.neutral, se, df, bounds=bounds, scale=scale)

    def _relative(self, true: Array) -> Array:
        """Return the error of means that are not neutral, as a part of that of a neutral one."""
        return np.asarray(np.sqrt(_scale(true, self.measure) / _scale(None, self.measure)))


def _scale(mean: Array | None, measure: Measure) -> Array:
    """Return what the variance of a mean is proportional to; of a neutral one for None."""
    mean = np.array(measure.neutral) if mean is None else mean
    return np.maximum((mean - measure.low) * (measure.high - mean), 0.0)


class PlannedRuns(NamedTuple):
    """Runs that are asked alike, before there are answers."""

    units: pl.DataFrame  # rows of `summarise`, all counted as scored
    sources: Mapping[Run, Sources]  # components of each run, by its values of `NEVER_POOLED`
    measure: Measure


def plan_power(
    plans: Sequence[PlannedRuns],
    inference: Inference | None = None,
    power: float = 0.8,
    runs: int = RUNS,
) -> pl.DataFrame:
    """Predict what the mean scores of the runs of a plan will tell.

    Returns columns of `results.schemas.POWER` without `planned_from`, a row per run and
    stereotype, category and model. Raises InputError if `power` is not between 0 and 1.
    """
    inference = inference or Inference()
    check_confidence(inference.confidence)
    if not 0 < power < 1:
        raise InputError(f"power {power}: must be between 0 and 1")
    planned_means: list[tuple[dict[str, Any], PlannedMean]] = []
    for planned in plans:
        foreseen = foresee(planned.units, planned.sources, planned.measure, runs)
        for (level, *key), mean in foreseen.items():
            row = {"level": level, **dict(zip(_KEYS[level], key, strict=True))}
            planned_means.append((row, mean))
    # Over all runs before the first row: tests are adjusted for the number of each family.
    tests = Counter((row["level"], *_family(row)) for row, _ in planned_means)
    decided = Counter(row["level"] for row, mean in planned_means if _decides(row, mean))
    rows = []
    for row, mean in planned_means:
        n_tests = _number_of_tests(row, tests)
        predicted = {"n_tests": n_tests, **_power_row(mean, n_tests, inference, power)}
        if len(mean.df) and _decides(row, mean):
            level = (1.0 - inference.confidence) / decided[row["level"]]
            predicted["smallest_change"] = mean.smallest_change(power, level)
        rows.append({**row, **predicted})
    schema = {c: t for c, t in POWER.items() if c != "planned_from"}
    return check(pl.DataFrame(rows, schema), schema, "power")


def _family(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what means share that are seen together."""
    return tuple(row[c] for c in SEEN_TOGETHER)


def _number_of_tests(row: Mapping[str, Any], means: Mapping[tuple[Any, ...], int]) -> int:
    """Return by what the level of a test is divided; `means`: how many a level and family has."""
    levels = LEVELS if row["control"] is None else (row["level"],)
    return tests_seen(row["level"], {name: means[name, *_family(row)] for name in levels})


def _decides(row: Mapping[str, Any], mean: PlannedMean) -> bool:
    """Whether the change of a mean is among those that a comparison decides about."""
    return row["control"] is None and not mean.measure.explicit


def _power_row(mean: PlannedMean, tests: int, inference: Inference, power: float) -> dict[str, Any]:
    """Return what a mean can tell, one of so many tests, in columns of `results.schemas.POWER`."""
    row: dict[str, Any] = {
        "n": mean.n,
        "n_pairs": mean.n_pairs,
        "tost_margin": inference.margin,
        "confidence": inference.confidence,
        "se": mean.se,
    }
    if not len(mean.df):  # no drawn estimate has an error: too few trials for an interval
        return row
    level = (1.0 - inference.confidence) / tests
    return {
        **row,
        "df": float(np.median(mean.df)),
        "half_width": mean.half_width(1.0 - level),
        "smallest_effect": mean.smallest_effect(power, level),
        "smallest_beyond": mean.smallest_effect(power, level, inference.margin),
        "equivalent_power": mean.equivalent(inference.margin, level),
    }


def smallest_effects(
    estimates: pl.DataFrame, measure: Measure, power: float = 0.8
) -> list[float | None]:
    """Return what the tests of measured means would have found, from their own errors.

    Parameters
    ----------
    estimates
        Means of a measure: rows of ``clustered`` in columns of `results.ESTIMATES`.
    measure
        Its scale.
    power
        Probability with which an effect is to be found, by tests at the level of the estimates.

    Returns
    -------
    list of float or None
        For each row the smallest distance from neutral that its test finds with this probability;
        None where there is no error, or none on the scale is found.
    """
    effects: list[float | None] = []
    for row in estimates.iter_rows(named=True):
        se = _null_error(row, measure)
        if se is None or row["df"] is None or row["n_tests"] is None:
            effects.append(None)
            continue
        error, df = np.array([se]), np.array([row["df"]])
        mean = PlannedMean(measure, row["n"], 0, se, error, error, df)
        effects.append(mean.smallest_effect(power, (1.0 - row["confidence"]) / row["n_tests"]))
    return effects


def _null_error(row: Mapping[str, Any], measure: Measure) -> float | None:
    """Return the error that a mean has where it is neutral, as its test against neutral has it."""
    # No score; or an error of 0, where all answers have one score: there is no t.
    if row["estimate"] is None or not row["se"]:
        return None
    if row["statistic"]:
        return float((row["estimate"] - measure.neutral) / row["statistic"])
    return float(row["se"])


def foresee(
    units: pl.DataFrame,
    sources: Mapping[Run, Sources],
    measure: Measure,
    runs: int = RUNS,
    seed: int = 0,
) -> dict[tuple[Any, ...], PlannedMean]:
    """Return means before they are measured, by level and `NEVER_POOLED` with the level's keys.

    `units`, rows of `summarise`, are of runs that are asked alike, so that variances are moderated
    over all of them; their values do not matter.
    """
    design = _Design(units, sources, measure)
    ends = measure.low, measure.high
    drawn_means = means(design.draw(runs, seed), ends, levels=LEVELS)
    estimates: dict[tuple[Any, ...], list[ClusteredMean]] = {}
    for (level, _, *key), ranges in drawn_means.items():
        estimates.setdefault((level, *key), []).append(ranges.other_prompts)
    rows = units.select(*NEVER_POOLED, "category", "stereotype").with_row_index("row")
    planned: dict[tuple[Any, ...], PlannedMean] = {}
    for level in LEVELS:
        for group_key, group in rows.group_by(_KEYS[level], maintain_order=True):
            of_group = estimates[level, *group_key]
            planned[level, *group_key] = design.planned_mean(group["row"].to_numpy(), of_group)
    return planned


class _Design:
    """The factors of units, and the standard deviations of their effects."""

    def __init__(
        self, units: pl.DataFrame, sources: Mapping[Run, Sources], measure: Measure
    ) -> None:
        self.units = units
        self.measure = measure
        self.weights = units["n"].to_numpy().astype(float)
        self.codes = [
            *_factor_codes(units),
            np.arange(len(units)),
            _combination_codes(units, ["variation"]),
        ]
        runs = units.select(NEVER_POOLED).rows()
        self.sd = np.array([_effect_sds(sources[run], measure) for run in runs])
        answers = np.array([sources[run].answers for run in runs])
        # A response of the pilot is the mean of so many answers; one of this plan of `weights`.
        self.sd[:, _RESPONSE] *= (answers / self.weights) ** 0.5
        self.sd[:, _WORDS] *= _estimable_words(units)
        self.stereotypes = _combination_codes(units, _STEREOTYPE)
        self.estimable = _several_levels(self.stereotypes, self.codes)
        self.null = (measure.low + measure.neutral) / 2.0

    def draw(self, runs: int, seed: int) -> pl.DataFrame:
        """Draw neutral scores: rows of `summarise`, each run a model."""
        rng = np.random.default_rng(seed)
        draws = []
        for run in range(runs):
            scores = pl.Series(self._scores(rng))
            name = pl.lit(f"run {run:04}")  # padded, so that runs sort in their order
            draws.append(self.units.with_columns(model=name, mean=scores, n_scored="n"))
        return pl.concat(draws)

    def _scores(self, rng: np.random.Generator) -> Array:
        """Draw effects, and responses of a beta distribution, which keeps them on the scale."""
        effects = np.zeros(len(self.weights))
        for source, (codes, sd) in enumerate(zip(self.codes, self.sd.T, strict=True)):
            if source != _RESPONSE:
                effects += sd * rng.normal(0.0, 1.0, codes.max() + 1)[codes]
        low, high = self.measure.low, self.measure.high
        share = ((self.measure.neutral + effects - low) / (high - low)).clip(*_INSIDE)
        count = 1.0 / self._relative_variance() - 1.0
        return np.asarray(low + (high - low) * rng.beta(share * count, (1.0 - share) * count))

    def _relative_variance(self) -> Array:
        """Return the variance of responses as a part of (mean − low)(high − mean), by unit.

        It is smaller where other effects move the mean; on average it is that of the components.
        """
        variances = self.sd**2 / float(_scale(None, self.measure))
        response = variances[:, _RESPONSE]
        return np.asarray((response / (1.0 + response - variances.sum(axis=1))).clip(*_INSIDE))

    def planned_mean(self, member: NDArray[Any], estimates: Sequence[ClusteredMean]) -> PlannedMean:
        """Return the mean of some units with its exact error and the estimated ones."""
        weights = self.weights[member] / self.weights[member].sum()
        sources = []  # the variance of the mean that each source has
        for codes, sd in zip(self.codes, self.sd.T, strict=True):
            sources.append(float((np.bincount(codes[member], weights * sd[member]) ** 2).sum()))
        variances = np.array(sources)
        usable = [mean for mean in estimates if mean.se and mean.df]
        estimable = self.estimable
        if len(np.unique(self.stereotypes[member])) == 1:
            estimable = np.array([float(np.ptp(codes[member]) > 0) for codes in self.codes])
            variances[_WORDS] *= estimable[_WORDS]  # held fixed
        in_estimates = float(variances @ estimable)
        # Scaled up by what the estimates cannot see, see "How" at the top.
        unseen = (variances.sum() / in_estimates) ** 0.5 if in_estimates > 0 else 1.0
        return PlannedMean(
            measure=self.measure,
            n=int(self.weights[member].sum()),
            n_pairs=len(member),
            se=float(variances.sum()) ** 0.5,
            estimated=unseen * np.array([self._error_at_neutral(mean) for mean in usable]),
            tested=unseen * np.array([self._error_tested(mean) for mean in usable]),
            df=np.array([mean.df for mean in usable], float),
        )

    def _error_tested(self, mean: ClusteredMean) -> float:
        """Return the error that a test makes of a mean, where it is neutral.

        Of the test against a mean that is half-way to the low end, as that of a mean half-way to
        the high end against neutral.
        """
        t = mean.t(self.null)
        if not t or mean.mean is None:
            return self._error_at_neutral(mean)
        at_null = (mean.mean - self.null) / t
        if not mean.scale:
            return at_null
        relative = _scale(None, self.measure) / _scale(np.array(self.null), self.measure)
        return float(at_null * relative**0.5)

    def _error_at_neutral(self, mean: ClusteredMean) -> float:
        """Return the error of a mean where it is neutral."""
        assert mean.se is not None
        if not mean.scale:
            return mean.se
        return float(mean.se * (_scale(None, self.measure) / mean.scale) ** 0.5)


def _effect_sds(sources: Sources, measure: Measure) -> Array:
    """Return the standard deviations of the effects: of `ERRORS`, and of shared wordings."""
    variances = np.array([*sources.components, sources.shared])
    variances[0] -= sources.shared  # of the wordings, the first: what is left of each stereotype's
    return np.asarray((float(_scale(None, measure)) * variances) ** 0.5)


def _several_levels(stereotypes: NDArray[np.int64], codes: Sequence[NDArray[np.int64]]) -> Array:
    """Return 1 for each source that has several levels in some stereotype, else 0."""
    # More pairs of stereotype and level than stereotypes: some stereotype has two levels.
    levels = [len({*zip(stereotypes, factor_codes, strict=True)}) for factor_codes in codes]
    return np.array([float(number > stereotypes.max() + 1) for number in levels])


def _estimable_words(units: pl.DataFrame) -> NDArray[np.bool_]:
    """Say of which units the variance of words can be estimated, shape (units, 2).

    Of those whose stereotype has several; others are charged with it in means over several.
    """
    keys = (*NEVER_POOLED, *_STEREOTYPE)
    several = units.select(pl.col(SHARED[1:]).n_unique().over(keys) > 1).to_numpy()
    return np.broadcast_to(several.any(axis=0), several.shape)


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
