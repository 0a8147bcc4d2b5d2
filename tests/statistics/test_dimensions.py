"""Dimensions side by side, against the published table and scipy."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest
from scipy import stats

from clinometer.results import SCORES, Measure
from clinometer.statistics import correlate_dimensions, estimate_measure, rank_models

MEASURE = Measure("word_association", "", -1, 1, 0, "", "")
DIMENSIONS = ("competence", "sociability", "morality")


def make_scores(means: dict[str, dict[str, float]], n: int = 40, seed: int = 0) -> pl.DataFrame:
    """Scores of models: dimension → mean, over six stereotypes in two wordings."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = [
        {
            "model": model, "study": "mist2025", "instrument": "word_association", "mode": "free",
            "intervention": "none", "category": "c", "stereotype": f"s{i % 6}",
            "dimension": dimension, "variation": f"v{i // 6 % 2}", "word_list": "plain",
            "scoring": "exact", "trial_id": f"{model}{dimension}{i}", "iteration": i,
            "pair_id": f"{model}{dimension}{i}", "marginalized": "x", "default": "y",
            "score": max(-1.0, min(1.0, rng.gauss(mean + (i % 6 - 2.5) / 10, 0.3))),
        }
        for model, dimension_means in means.items()
        for dimension, mean in dimension_means.items()
        for i in range(n)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCORES)


@pytest.fixture(scope="module")
def estimates() -> pl.DataFrame:
    means = {m: {d: 0.2 * i - 0.1 * j for j, d in enumerate(DIMENSIONS)}
             for i, m in enumerate("abcde")}  # fmt: skip
    return estimate_measure(make_scores(means), MEASURE)


def test_dimensions_are_never_pooled(estimates: pl.DataFrame) -> None:
    assert estimates["dimension"].null_count() == 0
    clustered = estimates.filter(method="clustered")
    assert clustered.filter(level="model").height == 5 * 3
    assert clustered.filter(level="stereotype").height == 5 * 3 * 6


def test_the_test_of_the_paper_takes_n_minus_1(estimates: pl.DataFrame) -> None:
    scores = make_scores({"a": {"morality": 0.1}})
    rows = estimate_measure(scores, MEASURE).filter(level="model", dimension="morality")
    clustered, row = (rows.row(by_predicate=pl.col("method") == method, named=True)
                      for method in ("clustered", "published"))  # fmt: skip
    values = scores["score"].to_numpy()
    theirs = stats.ttest_1samp(values, 0)
    assert row["sd"] * (39 / 40) ** 0.5 == pytest.approx(values.std())
    assert row["statistic"] == pytest.approx(row["estimate"] / (values.std() / 39**0.5))
    assert (row["statistic"], row["p"]) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert row["n_scored"] == 40 and row["ci_low"] is None
    assert clustered["ci_low"] < row["estimate"] < clustered["ci_high"]
    assert clustered["p"] != row["p"]


def test_scores_without_a_dimension_have_no_correlations() -> None:
    plain = estimate_measure(make_scores({"a": {"x": 0.1}}).with_columns(dimension=None), MEASURE)
    assert correlate_dimensions(plain).is_empty()


def test_correlations_are_those_of_scipy(estimates: pl.DataFrame) -> None:
    correlations = correlate_dimensions(estimates)
    pair = correlations.filter(model="c", first="competence", second="morality").rows(named=True)
    row, ranked = pair
    means = estimates.filter(level="stereotype", model="c", method="clustered").pivot(
        "dimension", index="stereotype", values="estimate"
    )
    theirs = stats.pearsonr(means["competence"], means["morality"])
    assert [(correlation["measure"], correlation["method"]) for correlation in pair] == [
        ("correlation", "fisher"), ("rank_correlation", "descriptive")
    ]  # fmt: skip
    assert (row["n"], row["level"], row["subject"]) == (6, "stereotype", "c")
    assert (row["estimate"], row["p"]) == pytest.approx((theirs.statistic, theirs.pvalue))
    interval = theirs.confidence_interval(row["confidence"])
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((interval.low, interval.high))
    rho = stats.spearmanr(means["competence"], means["morality"])
    assert ranked["estimate"] == pytest.approx(rho.statistic)
    assert ranked["p"] is ranked["ci_low"] is None


def test_models_are_points_where_there_are_several(estimates: pl.DataFrame) -> None:
    correlations = correlate_dimensions(estimates).filter(level="model", measure="correlation")
    assert correlations["n"].to_list() == [5, 5, 5] and correlations["model"].null_count() == 3
    assert correlations["estimate"].min() > 0.9  # type: ignore[operator]


def test_too_few_or_constant_points_have_a_reason() -> None:
    means = {"a": dict.fromkeys(DIMENSIONS, 0.0)}
    flat = make_scores(means).with_columns(score=pl.lit(0.5))
    notes = correlate_dimensions(estimate_measure(flat, MEASURE))["note"].unique().to_list()
    assert notes == ["a dimension does not vary"]
    few = make_scores(means).filter(pl.col("stereotype").is_in(["s0", "s1"]))
    notes = correlate_dimensions(estimate_measure(few, MEASURE))["note"].unique().to_list()
    assert notes == ["fewer than 4 points"]


def test_ranks_have_the_range_their_intervals_allow(estimates: pl.DataFrame) -> None:
    ranks = rank_models(estimates)
    for (_,), part in ranks.group_by("dimension"):
        assert part.sort("estimate")["model"].to_list() == list("edcba")
        assert (part["ci_low"] <= part["estimate"]).all()
        assert (part["estimate"] <= part["ci_high"]).all()
        assert part["n"].to_list() == [5] * 5
    ranking = rank_models(
        estimate_measure(make_scores({"a": {"x": 0.8}, "b": {"x": -0.8}}), MEASURE)
    )
    assert ranking.select("estimate", "ci_low", "ci_high").rows() == [(1, 1, 1), (2, 2, 2)]
    same = rank_models(estimate_measure(make_scores({"a": {"x": 0.0}, "b": {"x": 0.0}}), MEASURE))
    assert same.select("ci_low", "ci_high").rows() == [(1, 2), (1, 2)]


def test_a_rank_has_a_scale_of_its_own_and_no_neutral_value(estimates: pl.DataFrame) -> None:
    scale = rank_models(estimates).select("range_low", "range_high", "neutral", "direction")
    assert scale.unique().rows() == [(1.0, 5.0, None, None)]


def test_one_model_has_no_rank(estimates: pl.DataFrame) -> None:
    assert rank_models(estimates.filter(model="a")).is_empty()
