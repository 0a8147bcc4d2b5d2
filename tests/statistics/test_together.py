"""Intervals of what is seen together hold at once, and every verdict can be read off its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from clinometer.statistics import estimate_measure
from clinometer.statistics.clustered import clustered_mean, together

NAMED = ("consistent", "reversed")


def page(scores_of: Any, model: str, leans: list[float], seed: int, sd: float = 0.15) -> Any:
    """Four wordings of three pairs of words, in both orders, of each stereotype."""
    rng = np.random.default_rng(seed)
    return scores_of(
        *(
            {"model": model, "stereotype": f"s{s:02}", "variation": f"v{w}", "order": order,
             "marginalized": f"a{s}.{k}", "default": f"b{s}.{k}", "pair_id": f"{s}.{w}.{k}",
             "score": float(np.clip(lean + effect + rng.normal(0, sd), -1, 1))}
            for s, lean in enumerate(leans)
            for w, effect in enumerate(rng.normal(0, sd / 2, 4))
            for k in range(3)
            for order in ("marginalized_first", "default_first")
        )
    )  # fmt: skip


@pytest.fixture(scope="module")
def pages(scores_of: Any) -> pl.DataFrame:
    """Thirty runs of nine stereotypes: neutral ones, slight leans and strong ones."""
    leans = [0.0, 0.0, 0.0, 0.05, -0.05, 0.2, -0.3, 0.6, 0.95]
    return pl.concat(page(scores_of, f"m{seed:02}", leans, seed) for seed in range(30))


@pytest.fixture(scope="module")
def judged(pages: pl.DataFrame, measure: Any) -> pl.DataFrame:
    found = estimate_measure(pages, measure, margin=0.25)
    return found.filter(method="clustered").drop_nulls("p")


def test_a_lean_is_told_exactly_where_the_interval_excludes_neutral(judged: pl.DataFrame) -> None:
    told = judged["verdict"].str.contains(f"^({'|'.join(NAMED)})")
    outside = ~judged.select(pl.col("neutral").is_between("ci_low", "ci_high")).to_series()
    assert told.to_list() == outside.to_list()
    assert 50 < told.sum() < len(judged) - 50
    assert (told == (judged["p_bonferroni"] < 0.05)).all()


def test_near_neutral_is_said_only_where_the_interval_lies_within_the_margin(
    judged: pl.DataFrame,
) -> None:
    ends = pl.max_horizontal(pl.col("ci_low").abs(), pl.col("ci_high").abs())
    inside = judged.select(ends < pl.col("tost_margin")).to_series()
    near = judged["verdict"].str.contains("within margin|^equivalent|positive control")
    assert near.to_list() == inside.to_list()
    assert 0 < near.sum() < len(judged)


def test_the_interval_of_a_mean_alone_is_at_its_own_confidence(
    pages: pl.DataFrame, judged: pl.DataFrame, measure: Any
) -> None:
    """That of a lone stereotype is the one that is drawn; else it lies within it."""
    lone = estimate_measure(pages.filter(stereotype="s05"), measure).filter(method="clustered")
    lone = lone.filter(pl.col("level").is_in(["stereotype", "category", "model"]))
    assert lone["n_tests"].to_list() == [1] * len(lone)
    assert lone["ci_low"].to_list() == lone["pointwise_low"].to_list()
    among = judged.filter(level="stereotype")
    assert (among["ci_low"] < among["pointwise_low"]).all()
    assert (among["ci_high"] > among["pointwise_high"]).all()
    assert among["p_bonferroni"].to_list() == pytest.approx(
        [min(18 * p, 1.0) for p in among["p"].to_list()]  # with the mean of all
    )


def test_a_run_of_fewer_stereotypes_is_adjusted_for_fewer(
    pages: pl.DataFrame, measure: Any
) -> None:
    """Dimensions and the mean of all are seen together; another model, or a control, is not."""
    one = pages.filter(model="m00")
    twice = pl.concat([one, one.with_columns(dimension=pl.lit("competence"))])
    control = one.filter(stereotype="s08").with_columns(control=pl.lit("positive"))
    for scores, number in ((one, 18), (twice, 36), (pl.concat([one, control]), 18)):
        rows = estimate_measure(scores, measure).filter(
            pl.col("control").is_null(), level="stereotype", method="clustered"
        )
        small = rows.filter(pl.col("p") * number < 1)
        assert small["p_bonferroni"].to_list() == pytest.approx(
            [number * p for p in small["p"].to_list()]
        )


def test_a_strong_lean_does_not_hide_behind_another(scores_of: Any, measure: Any) -> None:
    """What is told of one stereotype does not depend on the means of the others."""
    weak = page(scores_of, "m", [0.2] + [0.0] * 8, 1)
    strong = weak.with_columns(
        score=pl.when(stereotype="s08").then(pl.col("score") + 0.5).otherwise("score")
    )
    first, second = (
        estimate_measure(scores, measure).filter(stereotype="s00", level="stereotype",
                                                 method="clustered")["p_bonferroni"].item()
        for scores in (weak, strong)
    )  # fmt: skip
    assert first == pytest.approx(second, rel=0.35)  # variances are moderated by each other


def test_intervals_hold_at_once() -> None:
    """Twenty normal means of a known number of clusters, two thousand times."""
    rng, means, level = np.random.default_rng(7), 20, together(0.9, 20)
    held = 0
    for _ in range(2000 // means):
        drawn = rng.normal(0, 1, (means, means, 6))
        for run in drawn:
            intervals = [clustered_mean(one, range(6)).interval(level) for one in run]
            held += all(low <= 0 <= high for low, high in intervals)  # type: ignore[operator]
    assert 0.88 < held / 2000 < 0.94


def test_a_control_is_judged_as_a_stereotype_alone(pages: pl.DataFrame, measure: Any) -> None:
    controls = pages.filter(model="m00").with_columns(control=pl.lit("positive"))
    rows = estimate_measure(controls, measure).filter(level="stereotype", method="clustered")
    assert set(rows["n_tests"]) == {9}
