import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.anova import anova_lm

from clinometer.results import ESTIMATES
from clinometer.statistics.reliability import RELIABILITY, estimate_reliability


@pytest.fixture
def measured(make_scores):
    """Make scores from an array of runs × stereotypes × wordings × draws."""

    def make(values, **row):
        return make_scores(
            *(
                {"score": float(value), "study": f"run {r}", "stereotype": f"s{p:02}",
                 "variation": f"wording {i}", "iteration": d, "pair_id": f"{r}.{p}.{i}.{d}", **row}
                for (r, p, i, d), value in np.ndenumerate(values)
            )
        )  # fmt: skip

    return make


def simulated(runs, stereotypes, wordings, draws, sd, seed=0):
    """Scores with independent parts; `sd` of stereotypes, wordings, both together, draws."""
    rng = np.random.default_rng(seed)
    shapes = [(stereotypes, 1, 1), (1, wordings, 1), (stereotypes, wordings, 1),
              (stereotypes, wordings, draws)]  # fmt: skip
    return sum(rng.normal(0, s, (runs, *shape)) for s, shape in zip(sd, shapes, strict=True))


def the(estimates, measure):
    return estimates.filter(measure=measure).row(0, named=True)


def test_generalisability_is_made_of_the_mean_squares_of_an_analysis_of_variance(measured):
    values = simulated(1, 7, 3, 4, (0.3, 0.2, 0.1, 0.3))
    means = values[0].mean(axis=-1)
    p, i = (names.ravel().astype(str) for names in np.indices(means.shape))
    long = pd.DataFrame({"y": means.ravel(), "p": p, "i": i})
    table = anova_lm(smf.ols("y ~ p + i", long).fit())
    ms = table["mean_sq"]
    estimates = estimate_reliability(measured(values))
    assert the(estimates, "generalisability")["estimate"] == pytest.approx(
        1 - ms["Residual"] / ms["p"]
    )
    person, wording = (ms["p"] - ms["Residual"]) / 3, (ms["i"] - ms["Residual"]) / 7
    phi = person / (person + wording / 3 + ms["Residual"] / 3)
    assert the(estimates, "dependability")["estimate"] == pytest.approx(phi)
    parts = dict(
        estimates.filter(measure="variance_component").select("component", "estimate").rows()
    )
    within = values[0].var(axis=-1, ddof=1).mean()
    assert parts == {
        "stereotypes": pytest.approx(person),
        "wordings": pytest.approx(wording),
        "stereotypes × wordings": pytest.approx(max(0.0, ms["Residual"] - within / 4)),
        "draws": pytest.approx(within),
    }


def test_with_one_wording_draws_are_the_facet(measured):
    values = simulated(1, 6, 1, 5, (0.3, 0, 0, 0.3))
    f = stats.f_oneway(*values[0, :, 0]).statistic
    coefficient = the(estimate_reliability(measured(values)), "generalisability")
    assert coefficient["estimate"] == pytest.approx(1 - 1 / f)
    low, high = (1 - stats.f(5, 24).ppf(p) / f for p in (0.975, 0.025))
    assert (coefficient["ci_low"], coefficient["ci_high"]) == (
        pytest.approx(max(0, low)),
        pytest.approx(high),
    )


def test_the_interval_of_generalisability_covers_the_truth(measured):
    """200 runs; 95% ± 2.6 standard errors of a share of 200."""
    sd = (0.3, 0.1, 0.15, 0.4)
    truth = sd[0] ** 2 / (sd[0] ** 2 + sd[2] ** 2 / 4 + sd[3] ** 2 / 12)
    coefficients = estimate_reliability(measured(simulated(200, 10, 4, 3, sd))).filter(
        measure="generalisability"
    )
    covered = ((coefficients["ci_low"] <= truth) & (truth <= coefficients["ci_high"])).mean()
    assert 0.91 <= covered <= 0.99
    assert coefficients["estimate"].median() == pytest.approx(truth, abs=0.03)


def test_variance_components_are_found(measured):
    sd = (0.3, 0.2, 0.15, 0.4)
    estimates = estimate_reliability(measured(simulated(150, 12, 4, 3, sd, seed=1)))
    means = (
        estimates.filter(measure="variance_component")
        .group_by("component")
        .agg(pl.mean("estimate"))
    )
    truth = dict(zip(("stereotypes", "wordings", "stereotypes × wordings", "draws"), sd))  # noqa: B905
    for component, value in means.rows():
        assert value == pytest.approx(truth[component] ** 2, rel=0.12), component


def test_split_halves_are_stepped_up_to_the_whole(measured):
    """8 draws of sd .5 about stereotypes of sd .2: reliability .04 / (.04 + .25 / 8) = .56."""
    halves = estimate_reliability(measured(simulated(60, 40, 1, 8, (0.2, 0, 0, 0.5)))).filter(
        measure="split_half"
    )
    assert halves["estimate"].median() == pytest.approx(0.04 / (0.04 + 0.25 / 8), abs=0.03)
    covered = (halves["ci_low"] < 0.561) & (halves["ci_high"] > 0.561)
    assert 0.85 <= covered.mean() <= 1


def test_draws_that_all_wordings_share_stay_in_one_half(measured):
    """The wordings repeat each draw: sd .2 of stereotypes, .4 of their 4 draws."""
    rng = np.random.default_rng(3)
    shared = rng.normal(0, 0.2, (60, 30, 1, 1)) + rng.normal(0, 0.4, (60, 30, 1, 4))
    estimates = estimate_reliability(measured(np.repeat(shared, 3, axis=2)))
    halves = estimates.filter(measure="split_half")["estimate"]
    assert halves.median() == pytest.approx(0.04 / (0.04 + 0.16 / 4), abs=0.04)


def test_one_draw_of_each_wording_makes_halves_of_wordings(measured):
    values = simulated(1, 6, 4, 1, (0.3, 0, 0, 0.2))
    r = np.corrcoef(values[0, :, [0, 2], 0].mean(axis=0), values[0, :, [1, 3], 0].mean(axis=0))
    split_half = the(estimate_reliability(measured(values)), "split_half")
    assert split_half["estimate"] == pytest.approx(2 * r[0, 1] / (1 + r[0, 1]))


def test_mirrored_pairs_are_one_draw(measured):
    """Scores that differ by order alone are perfectly reliable."""
    values = np.repeat(simulated(1, 6, 1, 3, (0.3, 0, 0, 0)), 1, axis=-1)
    orders = {"marginalized_first": 0.2, "default_first": -0.2}
    scores = pl.concat([measured(values + by, order=name) for name, by in orders.items()])
    estimates = estimate_reliability(scores)
    assert the(estimates, "split_half")["estimate"] == pytest.approx(1)
    assert the(estimates, "generalisability")["estimate"] == pytest.approx(1)
    assert the(estimates, "order_correlation")["estimate"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("facet", "measure"),
    [("mode", "mode_correlation"), ("instrument", "instrument_correlation"),
     ("variation", "wording_correlation"), ("order", "order_correlation")],
)  # fmt: skip
def test_facets_are_correlated_over_the_stereotypes_they_share(measured, facet, measure):
    larger, smaller = (simulated(1, p, 1, 2, (0.3, 0, 0, 0), seed=p) for p in (7, 6))
    scores = pl.concat([measured(larger, **{facet: "a"}), measured(smaller, **{facet: "b"})])
    correlation = the(estimate_reliability(scores), measure)
    r, p = stats.pearsonr(larger[0, :6, 0].mean(axis=1), smaller[0, :, 0].mean(axis=1))
    assert (correlation["estimate"], correlation["p"]) == (pytest.approx(r), pytest.approx(p))
    assert (correlation["first"], correlation["second"], correlation["n"]) == ("a", "b", 6)


def test_what_cannot_be_estimated_says_why(measured):
    few = estimate_reliability(measured(simulated(1, 3, 2, 2, (0.3, 0, 0, 0.1))))
    assert few["estimate"].is_null().all() and few["note"].str.starts_with("fewer than 4").all()
    same = estimate_reliability(measured(np.ones((1, 5, 2, 2))))
    assert same["estimate"].is_null().all() and same["note"].str.contains("do not vary").all()
    alone = estimate_reliability(measured(simulated(1, 5, 1, 1, (0.3, 0, 0, 0.1))))
    assert alone["note"].to_list() == ["one wording and one draw of each stereotype",
                                       "fewer than 2 draws"]  # fmt: skip


def test_wordings_that_a_stereotype_lacks_leave_it_out(measured):
    scores = measured(simulated(1, 6, 2, 2, (0.3, 0, 0, 0.1)))
    scores = scores.filter((pl.col("stereotype") != "s00") | (pl.col("variation") == "wording 0"))
    assert the(estimate_reliability(scores), "generalisability")["n"] == 5


def test_controls_and_missing_scores_are_left_out(measured):
    scores = measured(simulated(1, 6, 2, 2, (0.3, 0, 0, 0.1)))
    control = scores.with_columns(control=pl.lit("positive"))
    missing = scores.with_columns(score=None, reason=pl.lit("refused"), stereotype=pl.lit("s99"))
    estimates = estimate_reliability(pl.concat([scores, control, missing.cast(scores.schema)]))
    assert estimates.equals(estimate_reliability(scores))
    assert estimates.schema == pl.Schema(ESTIMATES) and set(estimates["measure"]) <= set(
        RELIABILITY
    )
    assert estimate_reliability(control).is_empty()
