"""What a design can tell before it is asked: error, smallest effect, chance of `equivalent`.

Reference
    Power of t tests: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2,
    chapter 31 (non-central t); of two one-sided tests: Phillips (1990), J. Pharmacokinetics and
    Biopharmaceutics 18(2), 137–144. Designs from components of variance: Cronbach, Gleser, Nanda &
    Rajaratnam (1972), The Dependability of Behavioral Measurements (D studies). Power of tests by
    false discovery rate: Genovese & Wasserman (2002), JRSS B 64(3), 499–517.

Measures
    For each mean of a design (trials, without answers), with components of variance from a pilot:

    ==================  ==========================================================================
    se                  error of the mean where it is neutral, exact for these components
    df                  median degrees of freedom of its estimate
    half_width          median of half the width of the interval where the page is neutral
    smallest_effect     distance from neutral from which on the mean is told with the stated power,
                        where the other means of its run lie as far from neutral
    smallest_beyond     the same for a mean whose interval lies above the margin of equivalence, as
                        that of a positive control must
    equivalent_power    probability that the interval lies within the margin where the page is
                        neutral
    smallest_change     rise of a neutral mean, between two runs of this design, that is shown with
                        the stated power, in these prompts
    ==================  ==========================================================================

How
    Errors are estimated by the inference itself, from drawn scores (`planned_means`). Means are
    drawn, together, about the true ones with the covariances that the design gives them: where one
    is low those that share stereotypes or prompts with it are, too, and fewer are told beside it.
    With an error that is χ² and one mean this is the non-central t.

Tests
    Those of a page (`pages`): a mean is told at α w R / m, of m means with the weight w, where R
    are told. R is counted in each drawing among the means of the same run; the means of other runs
    count in m alone.
    A change is shown by an interval that is adjusted over all rows of its level that a comparison
    of two runs decides about: those of every instrument and study that is neither a control nor
    explicit. Its error is that of two runs whose trials are not the same: what equal trials do to
    both alike is not taken out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from clinometer.errors import InputError
from clinometer.results import ESTIMATES, Measure, check
from clinometer.results.schemas import POWER
from clinometer.statistics.clustered import Array, ClusteredMean, check_confidence
from clinometer.statistics.estimates import Inference
from clinometer.statistics.intervals import critical_value
from clinometer.statistics.pages import adjust_means
from clinometer.statistics.planned_means import (
    RUNS,
    PlannedMean,
    PlannedRuns,
    foresee,
    scale_at,
)
from clinometer.statistics.prompts import BoundedMean, unpaired_difference
from clinometer.statistics.summaries import NEVER_POOLED, keys_of

__all__ = ["Counting", "PlannedPage", "plan_power", "smallest_effects", "uncounted"]

#: Takes the number of steps, and yields what is called after each.
Counting = Callable[[int], AbstractContextManager[Callable[[], None]]]


def uncounted(total: int) -> AbstractContextManager[Callable[[], None]]:
    """Show nothing of any number of steps."""
    return nullcontext(lambda: None)


#: Drawn estimates over all plans, and of each at least.
_RUNS_OF_ALL, _LEAST_RUNS = 60, 12

#: Means that are tried, as parts of the way from neutral to the upper end of the scale.
_GRID = np.linspace(0.0, 1.0, 51)

#: Drawings of the means of a page, as a power of two; as evenly spread as can be.
_DRAWINGS = 11

#: Within which ranks have a normal quantile.
_WITHIN = (1e-9, 1.0 - 1e-9)

#: An error of answers that are all alike, in whose place 0 would be.
_LEAST_ERROR = 1e-12


class PlannedPage:
    """The means of a run that are seen together, before they are measured."""

    def __init__(self, means: Sequence[PlannedMean], divisors: Array, level: float) -> None:
        """Draw how the means depart from those that are true, together.

        Parameters
        ----------
        means
            Those of lower levels first; a mean of the same stereotypes as an earlier one repeats
            it.
        divisors
            By what the level of each is divided where nothing else is told, m / w; shape (means,).
        level
            The share of errors, α.
        """
        from scipy.stats.qmc import Sobol  # takes half of the time of importing all else

        self.means, self.divisors = means, divisors
        members = [mean.stereotypes for mean in means]
        self._counted = np.array([members.index(m) == k for k, m in enumerate(members)])
        # What is told beside a mean varies by the effects that are held fixed in the others, too.
        loadings = [mean.loadings * mean.is_random for mean in means]
        loadings += [mean.loadings for mean in means]
        # Columns whose products are the covariances.
        roots = np.linalg.qr(np.array(loadings).T, mode="r")
        uniform = Sobol(len(roots) + 1, seed=0).random_base2(_DRAWINGS).clip(*_WITHIN)
        # Departures of each mean, and of the others beside it; (drawings, means) each.
        self._departures, self._neighbour_departures = np.hsplit(ndtri(uniform[:, 1:]) @ roots, 2)
        # Errors were estimated together, too: each drawing has those of one run.
        self._runs = (uniform[:, 0] * len(means[0].errors)).astype(int)
        self._errors = np.array([mean.errors for mean in means]).T[self._runs]  # (drawings, means)
        df = np.array([mean.df for mean in means]).T
        # The |t| that tells a mean where so many are told, (number told, runs, means).
        numbers = np.arange(len(means) + 1).clip(1)[:, None, None]
        self._critical = critical_value(1.0 - np.minimum(level * numbers / divisors, 1.0), df)

    def chances(self, effect: float, margins: Sequence[float] = (0.0,)) -> Array:
        """Return the probability that each mean is told, where all lie so far above neutral.

        With a margin: that its interval lies above it. Shape (margins, means).
        """
        # All means of a run are of one measure.
        *margin_errors, effect_error = self.means[0].relative_error(np.array([*margins, effect]))
        neighbour_t = np.abs(effect + self._neighbour_departures * effect_error) / self._errors
        needed = self._critical[self._count_rejected(neighbour_t), self._runs] * self._errors
        estimates = effect + self._departures * effect_error
        return np.array(
            [
                (estimates - margin > needed * error).mean(axis=0)
                for margin, error in zip(margins, margin_errors, strict=True)
            ]
        )

    def _count_rejected(self, t: Array) -> NDArray[np.int64]:
        """Return how many means are told in each drawing; one that repeats another never counts."""
        n_rejected = np.full(len(t), len(self.means))
        while True:  # down to the largest number at which so many pass
            passed = (t >= self._critical[n_rejected, self._runs]) & self._counted
            n_passed = passed.sum(axis=1)
            if np.array_equal(n_passed, n_rejected):
                return n_rejected
            n_rejected = n_passed

    def smallest_effects(
        self, power: float, margins: Sequence[float] = (0.0,)
    ) -> list[list[float | None]]:
        """Return the distances from which on each mean is told, by margin as in `chances`.

        None if none on the scale is.
        """
        measure = self.means[0].measure
        effects = _GRID * (measure.high - measure.neutral)
        chances_at = cache(lambda step: self.chances(float(effects[step]), margins))
        # Means of equal designs are alike: their drawings add up.
        alike: dict[tuple[int, float], list[int]] = {}
        for place, mean in enumerate(self.means):
            alike.setdefault((len(mean.stereotypes), round(mean.se, 9)), []).append(place)
        smallest: list[list[float | None]] = [[None] * len(self.means) for _ in margins]
        for row, places in product(range(len(margins)), alike.values()):

            def chance(step: int, row: int = row, places: list[int] = places) -> float:
                """Return the mean chance of means that are alike."""
                return float(chances_at(step)[row, places].mean())

            reached = _first_reached(effects, chance, power)
            for place in places:
                smallest[row][place] = reached
        return smallest


def _first_reached(effects: Array, chance: Callable[[int], float], power: float) -> float | None:
    """Return the effect at which a chance reaches the power, between points by a line.

    `chance`: of the effect at a place; it rises with the effect.
    """
    last = bisect_left(range(len(effects)), True, key=lambda step: chance(step) >= power)
    if last == len(effects):
        return None
    if not last:
        return float(effects[0])
    around = [last - 1, last]
    return float(np.interp(power, [chance(step) for step in around], effects[around]))


def equivalence_power(mean: PlannedMean, margin: float, level: float) -> float:
    """Return the probability that a neutral mean is shown to be within the margin."""
    (margin_error,) = mean.relative_error(np.array([margin]))
    room = margin - critical_value(1.0 - level, mean.df) * mean.errors * margin_error
    chances = 2.0 * ndtr(room / max(mean.se, _LEAST_ERROR)) - 1.0
    return float(np.maximum(chances, 0.0).mean())


def half_width(mean: PlannedMean, confidence: float) -> float:
    """Return the median of half the width of the interval of a neutral mean."""
    measure = mean.measure
    ends = measure.low, measure.high
    scale = float(scale_at(None, measure))
    widths = []
    for se, df in zip(mean.errors, mean.df, strict=True):
        if not np.isfinite(se):
            continue
        neutral = ClusteredMean(mean.n, 2, measure.neutral, se, df, bounds=ends, scale=scale)
        low, high = neutral.interval(confidence)
        assert low is not None and high is not None
        widths.append(high - low)
    return float(np.median(widths)) / 2.0


def smallest_change(mean: PlannedMean, power: float, level: float) -> float | None:
    """Return the rise from neutral that two runs show; None if none on the scale is.

    The median over drawings.
    """
    rises = [_detectable_rise(baseline, mean.measure, power, level) for baseline in mean.prompts]
    possible_rises = [rise for rise in rises if rise is not None]
    return float(np.median(possible_rises)) if 2 * len(possible_rises) > len(rises) else None


def _detectable_rise(
    baseline: BoundedMean, measure: Measure, power: float, level: float
) -> float | None:
    """Return the rise from a neutral mean that an interval at a level shows."""
    most = measure.high - measure.neutral

    def change(rise: float) -> BoundedMean:
        """Return the change of a neutral mean that rises so far."""
        (after,) = np.sqrt(
            scale_at(np.array([measure.neutral + rise]), measure) / scale_at(None, measure)
        )
        candidate = replace(baseline, mean=baseline.mean + rise, se=baseline.se * after)
        return unpaired_difference(baseline, candidate)

    def room(rise: float) -> float:
        """Return how far above 0 the interval of the change ends."""
        return change(rise).interval(1.0 - level)[0]

    if room(most) <= 0:
        return None
    least = brentq(room, 0.0, most, xtol=1e-3)
    rise = least + float(ndtri(power)) * change(least).se
    return rise if rise <= most else None


def plan_power(
    plans: Sequence[PlannedRuns],
    inference: Inference | None = None,
    power: float = 0.8,
    runs: int | None = None,
    counting: Counting = uncounted,
) -> pl.DataFrame:
    """Predict what the mean scores of the runs of a plan will tell.

    Returns columns of `results.schemas.POWER` without `planned_from`, a row per run and
    stereotype, category and model. `runs` is the number of drawn estimates of each error, by
    default fewer where there are many plans; `counting` shows how many plans are predicted. Raises
    InputError if `power` is not between 0 and 1.
    """
    inference = inference or Inference()
    check_confidence(inference.confidence)
    if not 0 < power < 1:
        raise InputError(f"power {power}: must be between 0 and 1")
    runs = runs or max(_LEAST_RUNS, min(RUNS, _RUNS_OF_ALL // max(len(plans), 1)))
    planned: list[_Planned] = []
    with counting(len(plans)) as advance:
        for plan in plans:
            for (level, *key), mean in foresee(plan, runs).items():
                names = keys_of(level)[1:]  # without the model
                planned.append(({"level": level, **dict(zip(names, key, strict=True))}, mean))
            advance()
    # Over all runs before the first row: tests are adjusted for what is seen together.
    divisors = _divisors(planned)
    decided = Counter(row["level"] for row, mean in planned if _decides(row, mean))
    rows: list[dict[str, Any]] = []
    for places in _pages(planned):
        means_ = [planned[place][1] for place in places]
        page = PlannedPage(means_, divisors[places], 1.0 - inference.confidence)
        for place, predicted in zip(places, _page_rows(page, inference, power), strict=True):
            row, mean = planned[place]
            if mean.is_tested and _decides(row, mean):
                level = (1.0 - inference.confidence) / decided[row["level"]]
                predicted["smallest_change"] = smallest_change(mean, power, level)
            rows.append({**row, **predicted})
    schema = {c: t for c, t in POWER.items() if c != "planned_from"}
    return check(pl.DataFrame(rows, schema), schema, "power")


def _decides(row: Mapping[str, Any], mean: PlannedMean) -> bool:
    """Whether the change of a mean is among those that a comparison decides about."""
    return row["control"] is None and not mean.measure.explicit


#: A mean with its level, run and keys.
_Planned = tuple[Mapping[str, Any], PlannedMean]


def _pages(planned: Sequence[_Planned]) -> list[list[int]]:
    """Return the places of the means of each run and range; of a control, of each level of it."""
    pages: dict[tuple[Any, ...], list[int]] = {}
    for place, (row, mean) in enumerate(planned):
        run = tuple(row[name] for name in NEVER_POOLED)
        level = row["level"] if row["control"] else None
        pages.setdefault((*run, mean.range, level), []).append(place)
    return [*pages.values()]


def _divisors(planned: Sequence[_Planned]) -> Array:
    """Return by what a page divides the level of each mean where it tells nothing else."""
    # Of all means there is something to tell in these prompts, of some in others.
    wide_places = [place for place, (_, mean) in enumerate(planned) if mean.range != "prompts"]
    divisors = _untold_divisors(planned, "prompts")
    wide = [planned[place] for place in wide_places]
    divisors[wide_places] = _untold_divisors(wide, "other_prompts")
    return divisors


def _untold_divisors(planned: Sequence[_Planned], range_name: str) -> Array:
    """Return the divisors of means of a range by a page on which none is told."""
    rows = []
    for row, mean in planned:
        names = {name: row.get(name) for name in ("level", *NEVER_POOLED)}
        page_keys = {"subject": "planned", "range": range_name, "explicit": mean.measure.explicit}
        counts = {"n": mean.n, "n_scored": mean.n, "n_stereotypes": len(mean.stereotypes)}
        # Any mean with p = 1: its level is as if it alone were told.
        tested = {"estimate": 0.0, "se": 1.0, "df": 1.0, "p": 1.0, "tost_margin": 0.0}
        rows.append({**dict.fromkeys(ESTIMATES), **names, **page_keys, **counts, **tested})
    table = adjust_means(pl.DataFrame(rows, schema=ESTIMATES))
    return table["n_tests"].to_numpy().copy()


def _page_rows(page: PlannedPage, inference: Inference, power: float) -> list[dict[str, Any]]:
    """Return what the means of a page can tell, in columns of `results.schemas.POWER`."""
    level = 1.0 - inference.confidence
    effects, beyond = page.smallest_effects(power, (0.0, inference.margin))
    rows = []
    for place, mean in enumerate(page.means):
        row: dict[str, Any] = {
            "range": mean.range,
            "n": mean.n,
            "n_pairs": mean.n_pairs,
            "tost_margin": inference.margin,
            "confidence": inference.confidence,
            "n_tests": page.divisors[place],
            "se": mean.se,
        }
        if mean.is_tested:  # else there are too few trials for an interval
            alone = level / page.divisors[place]
            row["df"] = float(np.median(mean.df))
            row["half_width"] = half_width(mean, 1.0 - alone)
            row["smallest_effect"] = effects[place]
            row["smallest_beyond"] = beyond[place]
            row["equivalent_power"] = equivalence_power(mean, inference.margin, alone)
        rows.append(row)
    return rows


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
        level = (1.0 - row["confidence"]) / row["n_tests"]
        needed = critical_value(1.0 - level, row["df"]) * se
        effects.append(_effect_beyond(needed, se, measure, power))
    return effects


def _effect_beyond(needed: float, se: float, measure: Measure, power: float) -> float | None:
    """Return the effect whose estimates, of an error `se`, are beyond `needed` with a power."""
    most = measure.high - measure.neutral
    if needed >= most:
        return None
    neutral_scale = float(scale_at(None, measure))

    def room(effect: float) -> float:
        """Return how far beyond `needed` estimates of an effect lie with the power."""
        scale = float(scale_at(np.array(measure.neutral + effect), measure))
        return float(effect - needed - ndtri(power) * se * (scale / neutral_scale) ** 0.5)

    return float(brentq(room, 0.0, most)) if room(0.0) < 0 else 0.0


def _null_error(row: Mapping[str, Any], measure: Measure) -> float | None:
    """Return the error that a mean has where it is neutral, as its test against neutral has it."""
    # No score; or an error of 0, where all answers have one score: there is no t.
    if row["estimate"] is None or not row["se"]:
        return None
    if row["statistic"]:
        return float((row["estimate"] - measure.neutral) / row["statistic"])
    return float(row["se"])
