"""Within and between parts of a predictor, on draws whose truth is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.special import expit

from clinometer.papers.logistic import Regression, regress
from clinometer.papers.samples import fit, samples


def draw(
    seed: int, clusters: int, rows: int, *, within: float, between: float, slope_sd: float = 0.0
) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    member = np.repeat(np.arange(clusters), rows)
    x = rng.normal(0, 1, clusters)[member] + rng.normal(0, 1, clusters * rows)
    mean = (np.bincount(member, x) / rows)[member]
    intercept, slope = rng.normal(0, 1, (2, clusters))[:, member]
    eta = 0.8 * intercept + between * mean + (within + slope_sd * slope) * (x - mean)
    decision = (rng.random(len(x)) < expit(eta)).astype(int)
    return pl.DataFrame({"x": x, "decision": decision, "cluster": member})


def row(regression: Regression, method: str, component: str) -> dict:
    rows = regression.estimates.hstack(
        regression.fits.select("cluster_sd", "slope_sd", "n_missing")
    )
    return rows.filter(method=method, component=component, part="all").row(0, named=True)


def test_rows_are_told_apart_by_method_and_component():
    regression = regress(draw(0, 8, 20, within=1, between=0), "x", clusters="cluster")
    assert regression.estimates.select("method", "component").rows() == [
        ("published", "total"),
        ("clustered", "total"),
        ("clustered", "within"),
        ("clustered", "between"),
        ("mixed", "within"),
        ("mixed", "between"),
    ]
    assert regression.fits["component"].to_list() == regression.estimates["component"].to_list()


def test_nothing_within_and_much_between_are_told_apart():
    """One coefficient for both, of the predictor as it is, lies between the two."""
    regression = regress(draw(1, 200, 30, within=0, between=1.5), "x", clusters="cluster")
    for method, attenuated in (("clustered", 0.8), ("mixed", 1.0)):
        within, between = (row(regression, method, part) for part in ("within", "between"))
        assert abs(within["estimate"]) < 3 * within["se"] < 0.2
        assert between["estimate"] == pytest.approx(1.5 * attenuated, abs=0.3)
    assert 0.2 < row(regression, "clustered", "total")["estimate"] < 1.2


def test_mixed_finds_slopes_that_vary():
    frame = draw(2, 250, 25, within=1, between=0.5, slope_sd=0.8)
    mixed = row(regress(frame, "x", clusters="cluster"), "mixed", "within")
    assert mixed["estimate"] == pytest.approx(1, abs=3 * mixed["se"])
    assert mixed["se"] < 0.1
    assert mixed["slope_sd"] == pytest.approx(0.8, abs=0.12)
    assert mixed["cluster_sd"] == pytest.approx(0.8, abs=0.12)


@pytest.mark.parametrize("unit", [0.01, 100.0])
def test_unit_of_the_predictor_changes_nothing_else(unit):
    frame = draw(3, 10, 30, within=1, between=0.5, slope_sd=0.5)
    plain = regress(frame, "x", clusters="cluster")
    scaled = regress(frame.with_columns(pl.col("x") * unit), "x", clusters="cluster")
    for part in ("within", "between"):
        original, rescaled = (row(fitted, "mixed", part) for fitted in (plain, scaled))
        assert rescaled["estimate"] * unit == pytest.approx(original["estimate"], rel=1e-4)
        assert rescaled["slope_sd"] * unit == pytest.approx(original["slope_sd"], rel=1e-3)
        assert rescaled["cluster_sd"] == pytest.approx(original["cluster_sd"], rel=1e-3)
        assert rescaled["p"] == pytest.approx(original["p"], rel=1e-3)


def test_clustered_parts_are_those_of_statsmodels():
    """Coefficients of a regression on both parts; with many clusters, its cluster-robust errors."""
    frame = draw(4, 400, 6, within=1, between=0.5, slope_sd=0.5)
    mean = pl.col("x").mean().over("cluster")
    parts = frame.select(pl.col("x") - mean, between=mean).to_numpy()
    fit = sm.Logit(frame["decision"].to_numpy(), sm.add_constant(parts)).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": frame["cluster"].to_numpy()}
    )
    regression = regress(frame, "x", clusters="cluster")
    for index, part in enumerate(("within", "between"), start=1):
        ours = row(regression, "clustered", part)
        assert ours["estimate"] == pytest.approx(fit.params[index], rel=1e-6)
        assert ours["se"] == pytest.approx(fit.bse[index], rel=0.02)


def test_intervals_hold_where_slopes_vary():
    """10 clusters of 20 rows, slope sd 1; without clusters the interval covers .69."""
    covered = {"published": 0, "clustered": 0, "mixed": 0}
    for seed in range(80):
        frame = draw(seed, 10, 20, within=0, between=1.5, slope_sd=1)
        (sample,) = samples(frame, ["x"], "decision", "cluster", None)
        parts = np.column_stack(list(sample.components().values()))
        for method in covered:
            slope = fit(sample, parts, method, slopes=[0]).coefficient(1, 0.95)
            covered[method] += slope["ci_low"] <= 0 <= slope["ci_high"]
    assert covered["clustered"] / 80 >= 0.875  # of .95: 5 in 1,000 fall below
    assert covered["mixed"] / 80 >= 0.875
    assert covered["published"] / 80 < 0.8


def test_a_part_that_does_not_vary_has_a_note_and_the_other_a_number():
    frame = draw(5, 8, 20, within=1, between=0.5)
    centred = frame.with_columns(pl.col("x") - pl.col("x").mean().over("cluster"))
    regression = regress(centred, "x", clusters="cluster")
    means = frame.with_columns(x=1e6 + pl.col("x").mean().over("cluster"))
    between_only = regress(means, "x", clusters="cluster")
    for method in ("clustered", "mixed"):
        assert row(regression, method, "within")["estimate"] is not None
        assert (
            row(regression, method, "between")["note"] == "predictor does not vary between clusters"
        )
        assert row(between_only, method, "between")["estimate"] is not None
        assert (
            row(between_only, method, "within")["note"] == "predictor does not vary within clusters"
        )
    assert row(between_only, "mixed", "between")["slope_sd"] is None


def test_two_clusters_tell_nothing_of_what_is_between_them():
    regression = regress(draw(6, 2, 60, within=1, between=0), "x", clusters="cluster")
    for method in ("clustered", "mixed"):
        assert row(regression, method, "within")["df"] == pytest.approx(1, abs=0.1)
        assert row(regression, method, "between")["note"] == "fewer than 3 clusters"
