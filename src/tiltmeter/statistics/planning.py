"""What a design can tell before it is asked: error, smallest effect, chance of `equivalent`.

Reference
    Power of t tests: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2,
    chapter 31 (non-central t); of two one-sided tests: Phillips (1990), J. Pharmacokinetics and
    Biopharmaceutics 18(2), 137–144. Allocation by components of variance: Cronbach, Gleser, Nanda &
    Rajaratnam (1972), The Dependability of Behavioral Measurements (D studies).

Measures
    For each mean of a design (trials, without answers), with components of variance from a pilot:

    ==================  ==========================================================================
    se, df              error of the mean where it is neutral, and its degrees of freedom, on
                        average over pilots with these components (`targets.foreseen`)
    half_width          half the width of the interval where the mean is neutral
    smallest_effect     distance from neutral of the nearest mean above it that the two-sided test
                        finds with the stated power
    equivalent_power    probability that both one-sided tests at the margin are significant where
                        the true mean is neutral
    ==================  ==========================================================================

Tests
    Tests are at α / m, α = 1 − confidence, for the m means of a level that are adjusted together:
    the level that Holm's method gives to its first test. A mean that is not the first is found
    more often.

Target
    *These*: other wordings, group words, draws and answers; the same stereotypes and attributes.

Assumptions
    All answers are scored. Means are normal; their variance is proportional to
    (mean − low)(high − mean). Stereotypes have equal components. With fewer than `FEWEST` stereotypes
    the error is that of the widest clusters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from scipy.special import gammaincinv, ndtr, stdtrit

from tiltmeter.errors import InputError
from tiltmeter.results import Measure, check, columns
from tiltmeter.results.schemas import COMPONENTS, POWER
from tiltmeter.statistics.clustered import Array, ClusteredMean, check_confidence
from tiltmeter.statistics.crossed import CROSSED, FEWEST
from tiltmeter.statistics.estimates import Inference, check_range
from tiltmeter.statistics.summaries import LEVEL_KEYS, NEVER_POOLED, summarise
from tiltmeter.statistics.targets import Sources, foreseen, sources

__all__ = ["chance_equivalent", "chance_found", "components", "plan_power", "read_sources"]

#: Rows of a table of components, in the order of `Sources.components`.
_ERRORS = (*CROSSED, "response")

_SHARED = "shared_variation"

#: Probabilities at which the distribution of an estimated variance is evaluated.
_AT = (np.arange(200) + 0.5) / 200

#: Means that are tried, as parts of the way from neutral to the upper end of the scale.
_GRID = np.linspace(0.0, 1.0, 501)


def components(scores: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Estimate the components of variance of a pilot.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`, of one measure and any number of runs.
    measure
        What the number means; gives the ends of the scale.

    Returns
    -------
    polars.DataFrame
        Columns of `results.schemas.COMPONENTS`: a row per run (model, study, mode, intervention,
        dimension) and error source. `relative_variance` is a part of (mean − low)(high − mean), `df`
        the levels less one, summed over stereotypes. Sources that the pilot does not tell apart,
        as where each wording shows one pair of words, share their variance; draws with one
        response each are counted as responses.

    Raises
    ------
    InputError
        If no run has `crossed.FEWEST` stereotypes and any variance, a column is missing, or a
        score lies outside the range.
    """
    units = summarise(scores)
    check_range(units, measure, "lowest", "highest")
    rows = [row for run, of_run in sources(units, (measure.low, measure.high))
            for row in _rows(dict(zip(("model", *NEVER_POOLED), run, strict=True)), of_run)]  # fmt: skip
    if not rows:
        raise InputError(
            f"scores: {measure.name}: no run has {FEWEST} stereotypes whose scores vary; "
            "components of variance need them"
        )
    counts = units.group_by("model", *NEVER_POOLED).agg(pl.col("n_scored").sum())
    frame = pl.DataFrame(rows, infer_schema_length=None)
    joined = frame.cast({c: counts.schema[c] for c in NEVER_POOLED}).join(
        counts, on=["model", *NEVER_POOLED], nulls_equal=True, maintain_order="left"
    )
    return check(joined, COMPONENTS, "components")


def _rows(run: dict[str, Any], of_run: Sources) -> Iterable[dict[str, Any]]:
    known = {**run, "prior_df": of_run.prior_df, "answers_per_unit": of_run.answers}
    variances = [*of_run.components, of_run.shared]
    of_wordings = of_run.df[CROSSED.index("variation")]
    for name, variance, df in zip(
        (*_ERRORS, _SHARED), variances, (*of_run.df, of_wordings), strict=True
    ):
        yield {**known, "error_source": name, "relative_variance": variance, "df": df}


def read_sources(table: pl.DataFrame) -> Sources:
    """Return the components of one run from its rows of `COMPONENTS`.

    Raises InputError where a source is missing, or a number is negative or missing.
    """
    of = dict(table.select("error_source", "relative_variance").iter_rows())
    if missing := [name for name in (*_ERRORS, _SHARED) if of.get(name) is None]:
        raise InputError(f"components: no relative_variance of error_source {', '.join(missing)}")
    if min(of.values()) < 0 or sum(of[name] for name in _ERRORS) <= 0:
        raise InputError("components: relative_variance is 0 or more, and not 0 for all sources")
    first = table.row(0, named=True)
    df = dict(table.select("error_source", "df").iter_rows())
    return Sources(
        components=np.array([of[name] for name in _ERRORS]),
        df=np.array([df[name] for name in _ERRORS], float),
        prior_df=first["prior_df"],
        shared=min(of[_SHARED], of["variation"]),
        answers=first["answers_per_unit"],
    )


def plan_power(
    units: pl.DataFrame,
    known: Sources,
    measure: Measure,
    inference: Inference | None = None,
    power: float = 0.8,
) -> pl.DataFrame:
    """Predict what the mean scores of one run will tell.

    `units` are rows of `summarise` of the trials, all counted as scored. Returns columns of
    `results.schemas.POWER` without `planned_from`, a row per stereotype, category and model.
    Raises InputError if `power` is not a probability.
    """
    inference = inference or Inference()
    if not 0 < power < 1:
        raise InputError(f"power {power}: must be between 0 and 1")
    check_confidence(inference.confidence)
    means = foreseen(units, known, (measure.low, measure.high), measure.neutral)
    run = units.select(*NEVER_POOLED).row(0, named=True)
    tests: dict[str, int] = {}
    for level, *_ in means:
        tests[level] = tests.get(level, 0) + 1
    rows = []
    for (level, *key), mean in means.items():
        named = dict(zip(LEVEL_KEYS[level][1:], key, strict=True))
        predicted = _predicted(mean, tests[level], measure, inference, power)
        rows.append({**run, "level": level, **named, "n_tests": tests[level], **predicted})
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        tost_margin=pl.lit(inference.margin), confidence=pl.lit(inference.confidence)
    )
    schema = {c: t for c, t in POWER.items() if c != "planned_from"}
    absent = [c for c in schema if c not in frame.columns]
    frame = frame.with_columns(pl.lit(None).alias(c) for c in absent)
    return frame.select(pl.col(c).cast(t) for c, t in schema.items())


def _predicted(
    mean: ClusteredMean, tests: int, measure: Measure, inference: Inference, power: float
) -> dict[str, Any]:
    """Return the predictions for one mean."""
    counts = {"n": mean.n, "n_pairs": mean.n_clusters}
    if mean.se is None or mean.df is None:
        return counts
    low, high = mean.interval(inference.confidence)
    assert low is not None and high is not None
    level = (1.0 - inference.confidence) / tests
    chances = chance_found(mean, measure.neutral + _GRID * (measure.high - measure.neutral), level)
    reached = np.flatnonzero(chances >= power)
    smallest = None
    if len(reached):
        smallest = float(_GRID[reached[0]] * (measure.high - measure.neutral))
    return {
        **counts,
        "se": mean.se,
        "df": mean.df,
        "half_width": (high - low) / 2.0,
        "smallest_effect": smallest,
        "equivalent_power": chance_equivalent(mean, inference.margin, level),
    }


def chance_found(mean: ClusteredMean, true: Array, level: float) -> Array:
    """Return the probability that a mean is found above neutral, for each true mean.

    `mean` is neutral and has its error there; `level` is that of the two-sided test.
    """
    neutral, se, df, errors = _known(mean)
    needed = stdtrit(df, 1.0 - level / 2.0) * se * errors
    distance = (true - neutral)[:, None] - needed
    spread = se * _spread(mean, true)[:, None]
    certain = (distance > 0).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, ndtr(distance / spread), certain).mean(axis=1)


def chance_equivalent(mean: ClusteredMean, margin: float, level: float) -> float:
    """Return the probability of equivalence at level `level` where the true mean is neutral."""
    neutral, se, df, errors = _known(mean)
    at_margin = se * _spread(mean, np.array([neutral + margin]))[0]
    room = margin - stdtrit(df, 1.0 - level) * at_margin * errors
    return float(np.maximum(2.0 * ndtr(room / se) - 1.0, 0.0).mean())


def _known(mean: ClusteredMean) -> tuple[float, float, float, Array]:
    """Return mean, se, df, and the quantiles of an estimated se as a part of the true one."""
    if mean.mean is None or mean.se is None or mean.df is None:
        raise InputError("a mean without an error has no power")
    return mean.mean, mean.se, mean.df, (2.0 * gammaincinv(mean.df / 2.0, _AT) / mean.df) ** 0.5


def _spread(mean: ClusteredMean, true: Array) -> Array:
    """Return the error of means of which `true` are the true ones, as a part of the neutral one."""
    if mean.scale is None or mean.bounds is None:
        return np.ones(len(true))
    low, high = mean.bounds
    return np.asarray((np.maximum((true - low) * (high - true), 0.0) / mean.scale) ** 0.5)
