"""Components of variance and power, against simulation with known components and textbooks."""

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

from clinometer.errors import InputError
from clinometer.results import SCORES, Measure
from clinometer.statistics.means import means
from clinometer.statistics.planned_means import PlannedMean, PlannedRuns, exact_errors, foresee
from clinometer.statistics.planning import (
    PlannedPage,
    equivalence_power,
    plan_power,
    smallest_change,
    smallest_effects,
)
from clinometer.statistics.prompts import BoundedMean, unpaired_difference
from clinometer.statistics.sources import Sources, components, read_sources
from clinometer.statistics.summaries import summarise

MEASURE = Measure("word_association", "", -1.0, 1.0, 0.0, "", "")
PAIRS = 2

#: What is never pooled, of the runs that `draw_run` draws.
RUN = ("x", "word_association", "free", "none", None, None, None, None, "exact", None)

SD = {"variation": 0.12, "marginalized": 0.1, "response": 0.15}


def draw_run(rng, *, stereotypes=8, wordings=4, words=3, shared=0.0, shift=0.0):
    """Draw scores of every wording × word, with known standard deviations."""
    common = rng.normal(0, shared, wordings)
    rows = []
    for s in range(stereotypes):
        w = common + rng.normal(0, (SD["variation"] ** 2 - shared**2) ** 0.5, wordings)
        m = rng.normal(0, SD["marginalized"], words)
        for i, j, k in np.ndindex(wordings, words, PAIRS):
            value = shift + w[i] + m[j] + rng.normal(0, SD["response"])
            draw = (i * words + j) * PAIRS + k
            pair_row = {"stereotype": f"s{s}", "variation": f"v{i}", "marginalized": f"m{j}"}
            pair_row |= {"pair_id": f"{s}.{draw}", "iteration": draw, "score": value}
            rows += [{**pair_row, "order": o} for o in ("marginalized_first", "default_first")]
    labels = {"model": "m", "study": "x", "instrument": "word_association", "mode": "free"}
    labels |= {"intervention": "none", "category": "c", "default": "d", "scoring": "exact"}
    frame = pl.DataFrame(rows).with_columns(pl.lit(v).alias(k) for k, v in labels.items())
    absent = [c for c in SCORES if c not in frame.columns]
    frame = frame.with_columns(pl.lit(None).alias(c) for c in absent)
    return frame.select(pl.col(c).cast(t) for c, t in SCORES.items())


def true_sources(shared: float = 0.0) -> Sources:
    """Return the components of `draw_run`, whose scores are near neutral."""
    variances = [SD["variation"] ** 2, SD["marginalized"] ** 2, 0, 0, 0, SD["response"] ** 2]
    return Sources(np.array(variances), np.zeros(6), shared**2, 2.0)


def test_components_of_a_large_pilot_are_those_it_was_drawn_with():
    scores = draw_run(np.random.default_rng(1), stereotypes=60, wordings=6, words=6)
    table = components(scores, MEASURE).select("error_source", "relative_variance")
    variances = dict(table.rows())
    for source, sd in SD.items():
        # Medians of what variances may be, of six wordings and words each.
        assert variances[source] == pytest.approx(sd**2, rel=0.25), source
    # Of one default word nothing is known; cells are nearly nothing.
    assert variances["default"] == variances["draw"] == 0.0
    assert variances["cell"] == pytest.approx(0.0, abs=0.002)


def test_the_error_is_that_of_simulated_means():
    rng = np.random.default_rng(3)
    planned = PlannedRuns(summarise(draw_run(rng, shared=0.08)), {RUN: true_sources(0.08)}, MEASURE)
    errors = exact_errors(planned)
    model = [draw_run(rng, shared=0.08)["score"].mean() for _ in range(300)]
    assert errors["model", *RUN] == pytest.approx(np.std(model), rel=0.12)
    single = SD["variation"] ** 2 / 4 + SD["marginalized"] ** 2 / 3 + SD["response"] ** 2 / 24
    assert errors["stereotype", *RUN, "c", "s0"] == pytest.approx(single**0.5)
    assert foresee(planned, runs=2)["model", *RUN].se == errors["model", *RUN]


@cache
def pilots() -> tuple[dict[tuple, PlannedMean], pl.DataFrame]:
    """Return the means of a design before they are measured, and 60 neutral pilots of it."""
    rng = np.random.default_rng(4)
    foreseen = foresee(
        PlannedRuns(summarise(draw_run(rng)), {RUN: true_sources()}, MEASURE), runs=40
    )
    runs = [draw_run(rng).with_columns(model=pl.lit(f"{k}")) for k in range(60)]
    return foreseen, pl.concat(runs)


@pytest.mark.parametrize(("level", "shift"), [("stereotype", 0.25), ("model", 0.1)])
def test_predicted_power_is_that_of_simulated_pilots(level, shift):
    foreseen, runs = pilots()
    alpha = 0.05 / (8 if level == "stereotype" else 1)
    planned = [mean for (mean_level, *_), mean in foreseen.items() if mean_level == level]
    predicted = np.mean(
        [PlannedPage([mean], ALONE, alpha).chances(shift).item() for mean in planned]
    )
    shifted = summarise(runs.with_columns(pl.col("score") + shift))
    measured_ = means(shifted, (-1.0, 1.0), levels=[level]).values()
    simulated = np.mean([mean.other_prompts.p_above(0.0) < alpha / 2 for mean in measured_])
    assert 0.3 < predicted < 0.95
    assert simulated == pytest.approx(predicted, abs=0.12)


#: The divisor of a mean that is seen alone.
ALONE = np.ones(1)


@pytest.mark.parametrize("stereotypes", [2, 8])
def test_group_words_of_which_all_have_one_have_no_error(stereotypes):
    units = summarise(draw_run(np.random.default_rng(6), stereotypes=stereotypes, words=1))
    errors = exact_errors(PlannedRuns(units, {RUN: true_sources()}, MEASURE))
    single = SD["variation"] ** 2 / 4 + SD["response"] ** 2 / 8
    assert errors["stereotype", *RUN, "c", "s0"] == pytest.approx(single**0.5)


def test_one_group_word_is_charged_in_means_over_several_alone():
    units = summarise(draw_run(np.random.default_rng(7), stereotypes=4))
    units = units.filter((pl.col("stereotype") != "s0") | (pl.col("marginalized") == "m0"))
    errors = exact_errors(PlannedRuns(units, {RUN: true_sources()}, MEASURE))
    wording, word, response = (SD[name] ** 2 for name in ("variation", "marginalized", "response"))
    assert errors["stereotype", *RUN, "c", "s0"] ** 2 == pytest.approx(wording / 4 + response / 8)
    charged = wording / 4 + word + response / 8
    uncharged = wording / 4 + word / 3 + response / 24
    assert errors["model", *RUN] ** 2 == pytest.approx((charged + 3 * uncharged) / 16)


def test_where_every_facet_is_open_these_prompts_are_predicted():
    units = summarise(draw_run(np.random.default_rng(8), stereotypes=3, wordings=1, words=1))
    units = pl.concat([units.with_columns(unit=pl.format("{}{}", "unit", pl.lit(k))) for k in "ab"])
    mean = foresee(PlannedRuns(units, {RUN: true_sources()}, MEASURE), runs=3)["model", *RUN]
    assert mean.range == "prompts" and mean.is_tested
    assert mean.se == pytest.approx(SD["response"] / 12**0.5)


def chi_square(df: float = 7.0, draws: int = 4000, error: float = 0.1) -> PlannedMean:
    """Return a mean whose estimated variance is χ², on so wide a scale that it has no ends."""
    wide = Measure("wide", "", -1e6, 1e6, 0.0, "", "")
    quantiles = scipy.stats.chi2.ppf((np.arange(draws) + 0.5) / draws, df)
    errors = error * (quantiles / df) ** 0.5
    counts = (8, 8, frozenset({0}), "other_prompts")
    effects = np.array([error]), np.ones(1, bool)
    return PlannedMean(wide, *counts, *effects, errors, np.full(draws, df), ())


def test_with_a_chi_square_error_power_is_that_of_the_non_central_t():
    page, critical = PlannedPage([chi_square()], ALONE, 0.05), scipy.stats.t.ppf(0.975, 7)
    for true in (0.0, 0.1, 0.3):
        reference = scipy.stats.nct.sf(critical, 7, true / 0.1) if true else 0.025
        assert page.chances(true).item() == pytest.approx(reference, abs=1e-3)


def test_the_chance_of_equivalence_is_that_of_simulated_t_tests():
    rng = np.random.default_rng(5)
    means_ = rng.normal(0, 0.1, 40_000)
    errors = 0.1 * (rng.chisquare(7, 40_000) / 7) ** 0.5
    within = abs(means_) < 0.3 - scipy.stats.t.ppf(0.975, 7) * errors
    assert equivalence_power(chi_square(), 0.3, 0.05) == pytest.approx(within.mean(), abs=0.01)


def test_a_mean_that_must_lie_beyond_a_margin_is_found_as_simulated_intervals_say():
    rng = np.random.default_rng(6)
    errors = 0.1 * (rng.chisquare(7, 40_000) / 7) ** 0.5
    above = rng.normal(0.5, 0.1, 40_000) - scipy.stats.t.ppf(0.975, 7) * errors > 0.1
    predicted = PlannedPage([chi_square()], ALONE, 0.05).chances(0.5, [0.1])
    assert predicted.item() == pytest.approx(above.mean(), abs=0.01)


def with_loadings(loadings: np.ndarray) -> PlannedMean:
    """Return a mean with effects whose error is known."""
    mean = replace(chi_square(), loadings=loadings, is_random=np.ones(len(loadings), bool))
    return replace(mean, errors=np.full(1, mean.se), df=np.full(1, np.inf))


def page_of(number: int, divisor: float) -> PlannedPage:
    """Return a page of independent means with known errors."""
    planned = [
        replace(with_loadings(loadings), stereotypes=frozenset({k}))
        for k, loadings in enumerate(0.1 * np.eye(number))
    ]
    return PlannedPage(planned, np.full(number, divisor), 0.05)


def test_what_a_page_tells_is_what_benjamini_and_hochberg_tell():
    """Against statsmodels, of pages of six means with normal errors."""
    predicted = page_of(6, 6.0).chances(0.25).mean()
    z = np.random.default_rng(12).normal(2.5, 1.0, (4000, 6))
    p = 2 * scipy.stats.norm.sf(abs(z))
    adjusted = [multipletests(row, method="fdr_bh")[1] for row in p]
    assert predicted == pytest.approx((np.array(adjusted) <= 0.05).mean(), abs=0.015)


def test_means_that_share_effects_are_told_together():
    """A mean of 20 others is low where they are, and then fewer of them are told beside it."""
    number, level, effect = 20, 0.05, 0.15
    stereotype_loadings = np.column_stack([np.full(number, 0.055), 0.084 * np.eye(number)])
    loadings = np.vstack([stereotype_loadings, stereotype_loadings.mean(axis=0)])
    members = [*(frozenset({k}) for k in range(number)), frozenset(range(number))]
    planned = [
        replace(with_loadings(mean_loadings), stereotypes=stereotypes)
        for mean_loadings, stereotypes in zip(loadings, members, strict=True)
    ]
    divisors = np.array([42.0] * number + [2.1])  # the mean has half of the weight
    predicted = PlannedPage(planned, divisors, level).chances(effect)[0]
    standard = np.random.default_rng(13).normal(0.0, 1.0, (20_000, number + 1))
    t = (effect + standard @ loadings.T) / np.linalg.norm(loadings, axis=1)
    scaled = 2 * scipy.stats.norm.sf(abs(t)) * divisors / level
    steps = np.arange(1, number + 2)
    is_leaning = scaled <= ((np.sort(scaled) <= steps) * steps).max(axis=1, keepdims=True)
    assert predicted[:number].mean() == pytest.approx(is_leaning[:, :number].mean(), abs=0.01)
    assert predicted[-1] == pytest.approx(is_leaning[:, -1].mean(), abs=0.01)


def test_a_mean_that_repeats_another_does_not_help_it():
    single = page_of(1, 2.0)
    twice = PlannedPage([*single.means, *single.means], np.full(2, 2.0), 0.05)
    assert twice.chances(0.2).tolist() == np.tile(single.chances(0.2), 2).tolist()


def test_more_means_tested_together_need_a_larger_effect():
    mean = replace(chi_square(), measure=MEASURE)
    single, many, none = (
        PlannedPage([mean], np.array([n]), 0.05).smallest_effects(0.8)[0][0] for n in (1, 21, 1e12)
    )
    assert single < many and none is None


@pytest.mark.parametrize("level", [0.05, 0.05 / 5])
def test_a_change_is_shown_as_often_as_promised(level):
    baseline = BoundedMean(0.0, 0.08, 60, 60.0, 60.0, (-1.0, 1.0))
    rise = smallest_change(replace(chi_square(), measure=MEASURE, prompts=[baseline]), 0.8, level)
    before, after = np.random.default_rng(7).normal([[0.0], [rise]], 0.08, (2, 2000))
    is_significant = [
        unpaired_difference(replace(baseline, mean=b), replace(baseline, mean=a)).p() < level
        for b, a in zip(before, after, strict=True)
    ]
    assert np.mean(is_significant) == pytest.approx(0.8, abs=0.05)


def test_no_change_is_told_of_controls_and_explicit_measures_and_all_others_count():
    units, sources = simulate_studies([("x", 4)])
    control = simulate_studies([("y", 2)])
    marked = control[0].with_columns(control=pl.lit("positive"))
    control_sources = {(*key[:-1], "positive"): value for key, value in control[1].items()}
    single = PlannedRuns(units, sources, MEASURE)
    peers = [
        PlannedRuns(marked, control_sources, MEASURE),
        PlannedRuns(units, sources, replace(MEASURE, explicit=True)),
    ]
    alone, twice, several = (
        plan_power(parts, runs=4) for parts in ([single], [single] * 2, [single, *peers])
    )
    changes = [table["smallest_change"][: alone.height] for table in (alone, twice, several)]
    assert changes[0].null_count() < len(changes[0])
    assert changes[2].equals(changes[0])
    assert several["smallest_change"][alone.height :].null_count() == several.height - alone.height
    assert (changes[1] > changes[0]).any() and not (changes[1] < changes[0]).any()


def simulate_studies(runs: list[tuple[str, int]]) -> tuple[pl.DataFrame, dict[tuple, Sources]]:
    """Return units of several studies, with as many stereotypes, and their components."""
    rng = np.random.default_rng(0)
    parts = [
        draw_run(rng, stereotypes=n).with_columns(
            study=pl.lit(study), pair_id=pl.format("{}.{}", pl.lit(study), "pair_id")
        )
        for study, n in runs
    ]
    return summarise(pl.concat(parts)), {(study, *RUN[1:]): true_sources() for study, _ in runs}


def test_the_dimensions_of_a_study_are_seen_together():
    units = summarise(draw_run(np.random.default_rng(0)))
    dims = pl.concat(units.with_columns(dimension=pl.lit(d)) for d in ("a", "b"))
    runs = {(*RUN[:6], d, *RUN[7:]): true_sources() for d in ("a", "b")}
    predicted = plan_power([PlannedRuns(dims, runs, MEASURE)], runs=2)
    # The only category repeats the mean of all; each has half of the weight of a page.
    stereotypes = predicted.filter(level="stereotype")["n_tests"]
    assert stereotypes.to_list() == pytest.approx([24.0] * 16)


def test_what_is_asked_of_no_run_is_refused():
    units = summarise(draw_run(np.random.default_rng(0), stereotypes=5, words=1))
    with pytest.raises(InputError, match="power 1: "):
        plan_power([PlannedRuns(units, {RUN: true_sources()}, MEASURE)], power=1)
    table = components(draw_run(np.random.default_rng(0)), MEASURE)
    with pytest.raises(InputError, match="error_source draw"):
        read_sources(table.filter(pl.col("error_source") != "draw"))
    with pytest.raises(InputError, match="0 or more"):
        read_sources(table.with_columns(relative_variance=-1.0))


def measured(**row) -> pl.DataFrame:
    """Return a mean as it stands in the table of estimates."""
    defaults = {"estimate": 0.2, "statistic": 20.0, "se": 0.005, "df": 1e6, "n": 80, "n_tests": 1}
    return pl.DataFrame([{**defaults, "confidence": 0.95, **row}])


def test_an_effect_that_was_in_reach_is_2_8_errors_of_a_neutral_mean():
    """Cohen (1988), table 2.4.1: z of .975 and of .8 together."""
    (effect,) = smallest_effects(measured(), MEASURE)
    assert effect == pytest.approx((1.95996 + 0.84162) * 0.01, abs=0.002)  # a step of the grid


def test_few_degrees_of_freedom_and_many_tests_need_a_larger_effect():
    (single,) = smallest_effects(measured(), MEASURE)
    (many,) = smallest_effects(measured(n_tests=21), MEASURE)
    (rough,) = smallest_effects(measured(df=2.0), MEASURE)
    assert single < many and rough == pytest.approx((4.30265 + 0.84162) * 0.01, abs=0.002)


def test_without_an_error_no_effect_is_named():
    assert smallest_effects(measured(se=None, df=None), MEASURE) == [None]
    assert smallest_effects(measured(se=0.0, statistic=None), MEASURE) == [None]
    assert smallest_effects(measured(estimate=None), MEASURE) == [None]
    assert smallest_effects(measured(df=1.0, n_tests=10_000), MEASURE) == [None]
