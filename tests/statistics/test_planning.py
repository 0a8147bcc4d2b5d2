"""Components of variance and power, against simulation with known components and textbooks."""

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
import scipy.stats

from clinometer.errors import InputError
from clinometer.results import SCORES, Measure
from clinometer.statistics.means import means
from clinometer.statistics.planning import (
    PlannedMean,
    PlannedRuns,
    foresee,
    plan_power,
    smallest_effects,
)
from clinometer.statistics.sources import Sources, components, read_sources
from clinometer.statistics.summaries import summarise

MEASURE = Measure("word_association", "", -1.0, 1.0, 0.0, "", "")
PAIRS = 2

#: What is never pooled, of the runs that `drawn` draws.
RUN = ("x", "word_association", "free", "none", None, None, None, None, "exact", None)

SD = {"variation": 0.12, "marginalized": 0.1, "response": 0.15}


def drawn(rng, *, stereotypes=8, wordings=4, words=3, shared=0.0, shift=0.0):
    """Draw scores of every wording × word, with known standard deviations."""
    of_wording = rng.normal(0, shared, wordings)
    rows = []
    for s in range(stereotypes):
        w = of_wording + rng.normal(0, (SD["variation"] ** 2 - shared**2) ** 0.5, wordings)
        m = rng.normal(0, SD["marginalized"], words)
        for i, j, k in np.ndindex(wordings, words, PAIRS):
            value = shift + w[i] + m[j] + rng.normal(0, SD["response"])
            draw = (i * words + j) * PAIRS + k
            of_pair = {"stereotype": f"s{s}", "variation": f"v{i}", "marginalized": f"m{j}"}
            of_pair |= {"pair_id": f"{s}.{draw}", "iteration": draw, "score": value}
            rows += [{**of_pair, "order": o} for o in ("marginalized_first", "default_first")]
    known = {"model": "m", "study": "x", "instrument": "word_association", "mode": "free"}
    known |= {"intervention": "none", "category": "c", "default": "d", "scoring": "exact"}
    frame = pl.DataFrame(rows).with_columns(pl.lit(v).alias(k) for k, v in known.items())
    absent = [c for c in SCORES if c not in frame.columns]
    frame = frame.with_columns(pl.lit(None).alias(c) for c in absent)
    return frame.select(pl.col(c).cast(t) for c, t in SCORES.items())


def known(shared: float = 0.0) -> Sources:
    """Return the components of `drawn`, whose scores are near neutral."""
    variances = [SD["variation"] ** 2, SD["marginalized"] ** 2, 0, 0, 0, SD["response"] ** 2]
    return Sources(np.array(variances), np.zeros(6), shared**2, 2.0)


def test_components_of_a_large_pilot_are_those_it_was_drawn_with():
    scores = drawn(np.random.default_rng(1), stereotypes=60, wordings=6, words=6)
    found = dict(components(scores, MEASURE).select("error_source", "relative_variance").rows())
    for source, sd in SD.items():
        assert found[source] == pytest.approx(sd**2, rel=0.2), source
    assert found["default"] == found["draw"] == 0.0
    assert found["cell"] == pytest.approx(0.0, abs=0.002)


def test_wordings_that_all_stereotypes_share_are_told_apart():
    scores = drawn(np.random.default_rng(2), stereotypes=60, wordings=40, words=2, shared=0.1)
    found = dict(components(scores, MEASURE).select("error_source", "relative_variance").rows())
    assert found["shared_variation"] == pytest.approx(0.01, rel=0.4)


def test_the_error_is_that_of_simulated_means():
    rng = np.random.default_rng(3)
    units = summarise(drawn(rng, shared=0.08))
    foreseen = foresee(units, {RUN: known(0.08)}, MEASURE, runs=2)
    model = [drawn(rng, shared=0.08)["score"].mean() for _ in range(300)]
    assert foreseen["model", *RUN].se == pytest.approx(np.std(model), rel=0.12)
    of_one = SD["variation"] ** 2 / 4 + SD["marginalized"] ** 2 / 3 + SD["response"] ** 2 / 24
    assert foreseen["stereotype", *RUN, "c", "s0"].se == pytest.approx(of_one**0.5)


@cache
def pilots() -> tuple[dict[tuple, PlannedMean], pl.DataFrame]:
    """Return the means of a design before they are measured, and 150 neutral pilots of it."""
    rng = np.random.default_rng(4)
    foreseen = foresee(summarise(drawn(rng)), {RUN: known()}, MEASURE, runs=120)
    runs = [drawn(rng).with_columns(model=pl.lit(f"{k}")) for k in range(150)]
    return foreseen, pl.concat(runs)


@pytest.mark.parametrize("level", ["stereotype", "model"])
def test_predicted_power_is_that_of_simulated_pilots(level):
    foreseen, runs = pilots()
    alpha = 0.05 / (8 if level == "stereotype" else 1)
    shift = 0.3 if level == "stereotype" else 0.1
    ours = [one for (own, *_), one in foreseen.items() if own == level]
    predicted = np.mean([one.chance_to_find(np.array([shift]), alpha) for one in ours])
    shifted = summarise(runs.with_columns(pl.col("score") + shift))
    found = means(shifted, (-1.0, 1.0), levels=[level]).values()
    simulated = np.mean([one.these.p_above(0.0) < alpha / 2 for one in found])
    assert 0.3 < predicted < 0.95
    assert simulated == pytest.approx(predicted, abs=0.12)


@pytest.mark.parametrize("stereotypes", [2, 8])
def test_group_words_that_the_estimate_holds_fixed_have_no_error(stereotypes):
    units = summarise(drawn(np.random.default_rng(6), stereotypes=stereotypes, words=1))
    foreseen = foresee(units, {RUN: known()}, MEASURE, runs=2)
    of_one = SD["variation"] ** 2 / 4 + SD["response"] ** 2 / 8
    assert foreseen["stereotype", *RUN, "c", "s0"].se == pytest.approx(of_one**0.5)


@pytest.mark.parametrize(("stereotypes", "lent"), [(4, False), (5, True)])
def test_one_group_word_is_charged_in_means_over_several_alone(stereotypes, lent):
    units = summarise(drawn(np.random.default_rng(7), stereotypes=stereotypes))
    units = units.filter((pl.col("stereotype") != "s0") | (pl.col("marginalized") == "m0"))
    foreseen = foresee(units, {RUN: known()}, MEASURE, runs=2)
    of_one, of_words, of_others = (
        SD["variation"] ** 2 / 4 + words * SD["marginalized"] ** 2 + SD["response"] ** 2 / pairs
        for words, pairs in ((0.0, 8), (float(lent), 8), (1 / 3, 24))
    )
    assert foreseen["stereotype", *RUN, "c", "s0"].se == pytest.approx(of_one**0.5)
    whole = 1 + 3 * (stereotypes - 1)  # answers, in those of the first
    of_model = (of_words + 9 * (stereotypes - 1) * of_others) / whole**2
    assert foreseen["model", *RUN].se == pytest.approx(of_model**0.5)


def exact(df: float = 7.0, draws: int = 4000) -> PlannedMean:
    """Return a mean whose estimated variance is χ², on so wide a scale that it has no ends."""
    wide = Measure("wide", "", -1e6, 1e6, 0.0, "", "")
    quantiles = scipy.stats.chi2.ppf((np.arange(draws) + 0.5) / draws, df)
    errors = 0.1 * (quantiles / df) ** 0.5
    return PlannedMean(wide, 8, 8, 0.1, errors, errors, np.full(draws, df))


def test_with_a_chi_square_error_power_is_that_of_the_non_central_t():
    mean, critical = exact(), scipy.stats.t.ppf(0.975, 7)
    for true in (0.0, 0.1, 0.3):
        reference = scipy.stats.nct.sf(critical, 7, true / 0.1) if true else 0.025
        assert mean.chance_to_find(np.array([true]), 0.05)[0] == pytest.approx(reference, abs=1e-3)


def test_the_chance_of_equivalence_is_that_of_simulated_t_tests():
    rng = np.random.default_rng(5)
    means_ = rng.normal(0, 0.1, 40_000)
    errors = 0.1 * (rng.chisquare(7, 40_000) / 7) ** 0.5
    told = abs(means_) < 0.3 - scipy.stats.t.ppf(0.975, 7) * errors
    assert exact().equivalent(0.3, 0.05) == pytest.approx(told.mean(), abs=0.01)


def test_a_mean_without_an_error_is_within_every_margin():
    nothing = np.zeros(3)
    exact_mean = PlannedMean(MEASURE, 8, 8, 0.0, nothing, nothing, np.full(3, 5.0))
    assert exact_mean.equivalent(0.1, 0.05) == 1.0


def test_more_means_tested_together_need_a_larger_effect():
    mean = exact()
    wide = PlannedMean(MEASURE, 8, 8, 0.1, mean.estimated, mean.tested, mean.df)
    one, many = wide.smallest_effect(0.8, 0.05), wide.smallest_effect(0.8, 0.05 / 21)
    assert one is not None and many is not None and one < many
    assert wide.smallest_effect(0.999, 1e-9) is None


def test_a_mean_that_must_lie_beyond_a_margin_is_found_as_simulated_intervals_say():
    rng = np.random.default_rng(6)
    errors = 0.1 * (rng.chisquare(7, 40_000) / 7) ** 0.5
    above = rng.normal(0.5, 0.1, 40_000) - scipy.stats.t.ppf(0.975, 7) * errors > 0.1
    predicted = exact().chance_to_find(np.array([0.5]), 0.05, margin=0.1)[0]
    assert predicted == pytest.approx(above.mean(), abs=0.01)


def test_a_change_is_told_as_often_as_by_simulated_paired_t_tests():
    mean = exact()
    planned = PlannedMean(MEASURE, 8, 8, 0.1, mean.estimated, mean.tested, mean.df)
    rise = planned.smallest_change(0.8, 0.05)
    assert rise is not None
    rng = np.random.default_rng(7)
    error = 0.1 * (2 - rise**2) ** 0.5  # the second mean is not neutral
    change = rise + rng.normal(0, error, 40_000)
    estimated = error * (rng.chisquare(7, 40_000) / 7) ** 0.5
    of_no_change = estimated / (1 - (rise / 2) ** 2) ** 0.5  # on a scale from -2 to 2
    told = change > scipy.stats.t.ppf(0.975, 7) * of_no_change
    assert told.mean() == pytest.approx(0.8, abs=0.02)


def test_no_change_is_told_of_controls_and_explicit_measures_and_all_others_count():
    units, known_ = both([("x", 4)])
    control = both([("y", 2)])
    marked = control[0].with_columns(control=pl.lit("positive"))
    of_control = {(*key[:-1], "positive"): value for key, value in control[1].items()}
    explicit = PlannedRuns(units, known_, replace(MEASURE, explicit=True))
    alone, twice, beside = (
        plan_power(parts, runs=10)
        for parts in (
            [PlannedRuns(units, known_, MEASURE)],
            [PlannedRuns(units, known_, MEASURE)] * 2,
            [
                PlannedRuns(units, known_, MEASURE),
                PlannedRuns(marked, of_control, MEASURE),
                explicit,
            ],
        )
    )
    changes = [table["smallest_change"][: alone.height] for table in (alone, twice, beside)]
    assert changes[0].null_count() < len(changes[0])
    assert changes[2].equals(changes[0])
    assert beside["smallest_change"][alone.height :].null_count() == beside.height - alone.height
    assert (changes[1] >= changes[0]).all() and (changes[1] > changes[0]).any()


def both(runs: list[tuple[str, int]]) -> tuple[pl.DataFrame, dict[tuple, Sources]]:
    """Return units of several studies, with as many stereotypes, and their components."""
    rng = np.random.default_rng(0)
    parts = [
        drawn(rng, stereotypes=n).with_columns(
            study=pl.lit(study), pair_id=pl.format("{}.{}", pl.lit(study), "pair_id")
        )
        for study, n in runs
    ]
    return summarise(pl.concat(parts)), {(study, *RUN[1:]): known() for study, _ in runs}


def test_a_control_is_planned_with_the_variance_of_the_studies_beside_it():
    alone, beside = (
        plan_power([PlannedRuns(*both(runs), MEASURE)], runs=20)
        for runs in ([("control", 1)], [("x", 12), ("control", 1)])
    )
    one, other = (
        table.filter(study="control", level="stereotype").row(0, named=True)
        for table in (alone, beside)
    )
    assert one["se"] == pytest.approx(other["se"])
    assert other["df"] > one["df"]
    assert other["smallest_beyond"] < one["smallest_beyond"]


def test_where_lower_scores_are_the_stronger_case_their_error_is_that_of_the_test():
    found = foresee(summarise(drawn(np.random.default_rng(0))), {RUN: known()}, MEASURE, runs=20)
    one, model = found["stereotype", *RUN, "c", "s0"], found["model", *RUN]
    assert (one.tested <= one.estimated + 1e-12).all() and (one.tested < one.estimated).any()
    assert model.tested == pytest.approx(model.estimated)


def test_the_dimensions_of_a_study_are_tested_together():
    units = summarise(drawn(np.random.default_rng(0)))
    dims = pl.concat(units.with_columns(dimension=pl.lit(d)) for d in ("a", "b"))
    runs = {(*RUN[:6], d, *RUN[7:]): known() for d in ("a", "b")}
    told = plan_power([PlannedRuns(dims, runs, MEASURE)], runs=5)
    assert dict(told.select("level", "n_tests").unique().rows()) == {
        "stereotype": 32, "category": 4, "model": 4
    }  # fmt: skip


def test_responses_that_vary_widely_keep_their_variance_on_the_scale():
    units = summarise(drawn(np.random.default_rng(0)))
    variances = np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.6])
    found = []
    for part in (1.0, 0.05):
        sources = Sources(part * variances, np.zeros(6), 0.0, 2.0)
        means_ = foresee(units, {RUN: sources}, MEASURE, runs=40)
        errors = [one.estimated / one.se for key, one in means_.items() if key[0] == "stereotype"]
        found.append(np.mean(np.concatenate(errors) ** 2))
    assert found[0] == pytest.approx(found[1], rel=0.1)


def test_what_is_asked_of_no_run_is_refused():
    with pytest.raises(InputError, match="5 stereotypes"):
        components(drawn(np.random.default_rng(0), stereotypes=4), MEASURE)
    units = summarise(drawn(np.random.default_rng(0), stereotypes=5, words=1))
    with pytest.raises(InputError, match="power 1: "):
        plan_power([PlannedRuns(units, {RUN: known()}, MEASURE)], power=1)
    table = components(drawn(np.random.default_rng(0)), MEASURE)
    with pytest.raises(InputError, match="error_source draw"):
        read_sources(table.filter(pl.col("error_source") != "draw"))
    with pytest.raises(InputError, match="0 or more"):
        read_sources(table.with_columns(relative_variance=-1.0))


def measured(**row) -> pl.DataFrame:
    """Return a mean as it stands in the table of estimates."""
    of_row = {"estimate": 0.2, "statistic": 20.0, "se": 0.005, "df": 1e6, "n": 80, "n_tests": 1}
    return pl.DataFrame([{**of_row, "confidence": 0.95, **row}])


def test_an_effect_that_was_in_reach_is_2_8_errors_of_a_neutral_mean():
    """Cohen (1988), table 2.4.1: z of .975 and of .8 together."""
    (effect,) = smallest_effects(measured(), MEASURE)
    assert effect == pytest.approx((1.95996 + 0.84162) * 0.01, abs=0.002)  # a step of the grid


def test_few_degrees_of_freedom_and_many_tests_need_a_larger_effect():
    (one,) = smallest_effects(measured(), MEASURE)
    (many,) = smallest_effects(measured(n_tests=21), MEASURE)
    (rough,) = smallest_effects(measured(df=2.0), MEASURE)
    assert one < many and rough == pytest.approx((4.30265 + 0.84162) * 0.01, abs=0.002)


def test_without_an_error_no_effect_is_named():
    assert smallest_effects(measured(se=None, df=None), MEASURE) == [None]
    assert smallest_effects(measured(se=0.0, statistic=None), MEASURE) == [None]
    assert smallest_effects(measured(estimate=None), MEASURE) == [None]
    assert smallest_effects(measured(df=1.0, n_tests=10_000), MEASURE) == [None]
