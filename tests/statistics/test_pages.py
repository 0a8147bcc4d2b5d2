"""What is told on a page: weighted Benjamini–Hochberg, and intervals that agree with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from clinometer.results import ESTIMATES, Measure
from clinometer.statistics import estimate_measure, rows
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.looks import Looks, level_of_look
from clinometer.statistics.pages import adjust_means, worst_ends

STEREOTYPES, CATEGORIES = {"level": "stereotype"}, {"level": "category", "n_stereotypes": 2}
MODEL = {"level": "model", "n_stereotypes": 4}


def mean_row(p: float, **extra: Any) -> dict[str, Any]:
    """Return a row of a mean above 0 with a two-sided p; with infinite df its se follows."""
    z = -float(np.asarray(ClusteredMean(9, 9, 0.0, 1.0, 1e9).interval(1 - p))[0])
    mean = ClusteredMean(9, 9, 0.2, 0.2 / z, 1e9)
    empty = dict.fromkeys(ESTIMATES) | {"subject": "m", "study": "s", "instrument": "i"}
    row = empty | {"estimate": 0.2, "tost_margin": 0.1, "neutral": 0.0, "mode": "free"}
    row |= {"range": "other_prompts", "n_stereotypes": 1, "n_scored": 9, "n": 9}
    return row | rows.tested_row(mean, 0.95) | extra


def page(*rows: dict[str, Any], **options: Any) -> pl.DataFrame:
    return adjust_means(pl.DataFrame(rows, schema=ESTIMATES), **options)


def leaning(frame: pl.DataFrame) -> list[bool]:
    return (frame["p_bh"] < 0.05).to_list()


def test_the_levels_of_a_page_have_parts_of_one_share_of_errors() -> None:
    """Weights of the seven rows: 7 · .5 / 4, 7 · .25 / 2, 7 · .25 / 1."""
    p = [0.02, 0.2, 0.3, 0.4, 0.02, 0.9, 0.02]
    levels = [STEREOTYPES] * 4 + [CATEGORIES] * 2 + [MODEL]
    page_rows = page(*(mean_row(value, **level) for value, level in zip(p, levels, strict=True)))
    weights = np.repeat([0.875, 0.875, 1.75], [4, 2, 1])
    scaled = np.minimum(np.array(p) / weights, 1)
    assert page_rows["p_bh"].to_numpy() == pytest.approx(multipletests(scaled, method="fdr_bh")[1])
    # .02 / 1.75 passes the first of seven steps at .2, and not at .05.
    assert leaning(page_rows) == [False] * 7
    rejected = page(*(mean_row(value, **level) for value, level in zip(p, levels, strict=True)),
                    confidence=0.8)  # fmt: skip
    assert (rejected["p_bh"] < 0.2).to_list() == [True, False, False, False, True, False, True]
    assert rejected["n_tests"].to_list() == pytest.approx(7 / (3 * weights))


@pytest.mark.parametrize("tests", [1, 5, 30])
def test_rows_of_one_level_are_those_of_statsmodels(tests: int) -> None:
    p = np.random.default_rng(tests).uniform(0.001, 0.3, tests)
    page_rows = page(*(mean_row(value, **STEREOTYPES) for value in p))
    assert page_rows["p_bh"].to_numpy() == pytest.approx(multipletests(p, method="fdr_bh")[1])


@given(st.lists(st.floats(1e-6, 0.99), min_size=1, max_size=12), st.integers(0, 2))
def test_an_interval_excludes_neutral_where_the_row_is_told(p: list[float], kinds: int) -> None:
    levels = [STEREOTYPES, CATEGORIES, MODEL][: kinds + 1]
    rows = [mean_row(value, **levels[k % len(levels)]) for k, value in enumerate(p)]
    page_rows = page(*rows).filter((pl.col("p_bh") - 0.05).abs() > 1e-6)
    outside = ~page_rows.select(pl.lit(0.0).is_between("ci_low", "ci_high")).to_series()
    assert outside.to_list() == leaning(page_rows)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_told_for_other_prompts_is_told_for_these(sign: float) -> None:
    """On the side of neutral alone, and a wider interval for other prompts changes nothing."""
    beyond, prompts = {**STEREOTYPES, "range": "other_prompts"}, {**STEREOTYPES, "range": "prompts"}
    turned = {"neutral": 0.0 if sign > 0 else 0.4}
    narrower = page(mean_row(0.01, **beyond, **turned), mean_row(0.3, **prompts, **turned))
    near, far = ("ci_low", "ci_high") if sign > 0 else ("ci_high", "ci_low")
    assert narrower[near][0] == narrower[near][1] and narrower["p_bh"].to_list() == pytest.approx(
        [0.01, 0.01]
    )
    alone = page(mean_row(0.3, **prompts, **turned))
    assert narrower[far][1] == alone[far][0]
    wider = page(mean_row(0.3, **beyond, **turned), mean_row(0.01, **prompts, **turned))
    assert wider.row(1) == page(mean_row(0.01, **prompts, **turned)).row(0)


def test_what_repeats_a_lower_level_is_decided_with_it_and_counts_once() -> None:
    """A category of one stereotype, and the mean of a lone category."""
    single = {"level": "category", "n_stereotypes": 1}
    plain = page(mean_row(0.03, **STEREOTYPES), mean_row(0.4, **STEREOTYPES))
    repeated = [mean_row(0.03, **single), mean_row(0.4, **single)]
    joint = page(mean_row(0.03, **STEREOTYPES), mean_row(0.4, **STEREOTYPES), *repeated)
    assert joint["p_bh"].to_list() == pytest.approx(plain["p_bh"].to_list() * 2)
    assert joint["n_tests"].to_list() == pytest.approx(plain["n_tests"].to_list() * 2)


@pytest.mark.parametrize(
    "difference",
    [{"control": "positive"}, {"explicit": True}, {"subject": "n"}, {"range": "prompts"}],
)
def test_controls_explicit_measures_models_and_ranges_are_families(
    difference: dict[str, Any],
) -> None:
    alone = page(mean_row(0.04, **STEREOTYPES))
    peers = [mean_row(0.9, **STEREOTYPES, **difference) for _ in range(5)]
    joint = page(mean_row(0.04, **STEREOTYPES), *peers)
    assert joint.head(1).drop("adjusted_over").equals(alone.drop("adjusted_over"))


@pytest.mark.parametrize("shared", [{"study": "t"}, {"instrument": "j"}, {"dimension": "warmth"}])
def test_studies_instruments_and_dimensions_are_seen_at_once(shared: dict[str, Any]) -> None:
    peers = [mean_row(0.9, **STEREOTYPES, **shared) for _ in range(5)]
    joint = page(mean_row(0.04, **STEREOTYPES), *peers)
    assert joint["p_bh"][0] == pytest.approx(0.24)


def test_looks_make_each_test_smaller() -> None:
    looks = Looks((0.5, 1.0))
    page_rows = page(mean_row(0.03, **STEREOTYPES), looks=looks)
    assert page_rows["n_tests"][0] == pytest.approx(0.05 / level_of_look(0.05, (0.5, 1.0)))
    assert page_rows["ci_low"][0] < 0 < page_rows["pointwise_low"][0]
    assert page_rows["p_bh"][0] > 0.05 > page_rows["p"][0]
    # p of a look is as rare, over all looks, as the level of which it is the boundary.
    for level in (0.05, 0.01):
        boundary_row = page(mean_row(level_of_look(level, (0.5, 1.0)), **STEREOTYPES), looks=looks)
        assert boundary_row["p_bh"][0] == pytest.approx(level)


@given(st.lists(st.floats(1e-4, 0.2), min_size=1, max_size=6))
def test_with_looks_too_a_mean_is_told_where_its_interval_excludes_neutral(
    small: list[float],
) -> None:
    looks = Looks((0.25, 0.5, 1.0), {("s", "i", "free"): (0.4, 0.7, 1.0)})
    page_rows = page(*(mean_row(p, **STEREOTYPES) for p in small), looks=looks)
    for p, low in page_rows.select("p_bh", "ci_low").iter_rows():
        assert (p < 0.05) == (low > 0) or abs(low) < 1e-6


def test_worst_ends_have_the_missing_scores_at_the_ends() -> None:
    """Of 100 answers 80 have a score: .8 of the mean's distance, and the error of the share."""
    row = {"estimate": 0.5, "bound_low": 0.2, "bound_high": 0.6, "n": 100, "n_scored": 80,
           "range_low": -1.0, "range_high": 1.0}  # fmt: skip
    low, high = worst_ends(row, 0.3, 0.7, 0.95)
    half_width = 1.959964 * (0.8 * 0.2 / 100) ** 0.5
    assert low == pytest.approx(0.2 - np.hypot(0.8 * 0.2, half_width * 1.5))
    assert high == pytest.approx(0.6 + np.hypot(0.8 * 0.2, half_width * 0.5))
    assert worst_ends({**row, "n": 80}, 0.3, 0.7, 0.95) == (0.3, 0.7)
    assert worst_ends(row, None, None, 0.95) == (None, None)


# Pages of scores


def simulate_page(make_scores: Callable[..., pl.DataFrame], leans: Sequence[float]) -> pl.DataFrame:
    """Return four wordings of three pairs of words, in both orders, of each stereotype."""
    rng = np.random.default_rng(len(leans))
    return make_scores(
        *(
            {"stereotype": f"s{s:02}", "variation": f"v{w}", "order": order,
             "marginalized": f"a{s}.{k}", "default": f"b{s}.{k}", "pair_id": f"{s}.{w}.{k}",
             "score": float(np.clip(lean + rng.normal(0, 0.15), -1, 1))}
            for s, lean in enumerate(leans)
            for w in range(4)
            for k in range(3)
            for order in ("marginalized_first", "default_first")
        )
    )  # fmt: skip


def test_every_verdict_can_be_read_off_its_interval(
    make_scores: Callable[..., pl.DataFrame], measure: Measure
) -> None:
    leans = [0.0, 0.0, 0.0, 0.05, -0.05, 0.2, -0.3, 0.6, 0.95]
    estimates = estimate_measure(simulate_page(make_scores, leans), measure, margin=0.25)
    judged = estimates.filter(pl.col("method").is_in(["bounded", "clustered"])).drop_nulls("p")
    leaning = judged["verdict"].str.contains("^(consistent|reversed)")
    outside = ~judged.select(pl.col("neutral").is_between("ci_low", "ci_high")).to_series()
    assert leaning.to_list() == outside.to_list()
    ends = pl.max_horizontal(pl.col("ci_low").abs(), pl.col("ci_high").abs())
    near = judged["verdict"].str.contains("within margin|^equivalent|positive control")
    assert near.to_list() == judged.select(ends < pl.col("tost_margin")).to_series().to_list()
    assert 5 < leaning.sum() < len(judged) - 5 and 0 < near.sum() < len(judged)


def test_a_lone_stereotype_is_told_by_its_test_alone(
    make_scores: Callable[..., pl.DataFrame], measure: Measure
) -> None:
    estimates = estimate_measure(simulate_page(make_scores, [0.1]), measure)
    levels = estimates.filter(pl.col("level").is_in(["stereotype", "category", "model"]))
    judged = levels.filter(pl.col("method").is_in(["bounded", "clustered"]))
    assert judged["n_tests"].to_list() == pytest.approx([1] * len(judged))
    assert judged["p"].n_unique() == 2  # for these prompts, and for others
    beyond = judged.filter(range="other_prompts")
    assert beyond["ci_low"].to_list() == pytest.approx(beyond["pointwise_low"].to_list())
    assert beyond["p_bh"].to_list() == pytest.approx(beyond["p"].to_list())
