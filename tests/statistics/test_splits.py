"""Means beside random splits of their words: by scipy, uniform among alike words, planted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from clinometer.results import Measure
from clinometer.statistics.estimates import estimate_summaries
from clinometer.statistics.splits import DRAWS, split_words
from clinometer.statistics.summaries import summarise

Table = Callable[..., pl.DataFrame]
Row = dict[str, Any]


@pytest.fixture(scope="session")
def make_words(make_scores: Table) -> Table:
    """Return a maker of scores f(m) − f(d) of all pairs, of given effects of words."""

    def make(first: Any, second: Any, noise: float = 0, seed: int = 0, **row: Any) -> Any:
        rng = np.random.default_rng(seed)
        pairs = product(enumerate(first), enumerate(second))
        name = row.get("stereotype", "age")
        return make_scores(
            *(
                {
                    "pair_id": f"{name}{m}-{d}",
                    "score": f - g + noise * rng.normal(),
                    "marginalized": f"m{m}",
                    "default": f"d{d}",
                    **row,
                }
                for (m, f), (d, g) in pairs
            )
        )

    return make


def placebos(scores: pl.DataFrame, measure: Measure, **options: Any) -> pl.DataFrame:
    units = summarise(scores)
    return split_words(units, estimate_summaries(units, measure).estimates, **options)


def only(scores: pl.DataFrame, measure: Measure, level: str = "stereotype") -> Row:
    return placebos(scores, measure).filter(level=level).row(0, named=True)


def many(make_words: Table, runs: int, words: int, shift: float = 0.0, noise: float = 0.0) -> Any:
    """Return scores of many stereotypes whose words are drawn alike, but for a shift."""
    effects = 0.1 * np.random.default_rng(3).normal(size=(runs, 2, words)).clip(-3, 3)
    effects[:, 0] += shift
    return pl.concat(
        make_words(*pair, noise, seed=k, stereotype=f"s{k}") for k, pair in enumerate(effects)
    )


def test_all_splits_are_those_of_scipys_permutation_test(
    make_words: Table, measure: Measure
) -> None:
    rng = np.random.default_rng(1)
    first, second = 0.1 * rng.normal(size=4), 0.1 * rng.normal(size=4)
    test = stats.permutation_test((first, second), lambda x, y: x.mean() - y.mean())
    row = only(make_words(first, second), measure)
    assert row["estimate"] == pytest.approx(test.statistic)
    assert row["p"] == pytest.approx(test.pvalue)
    assert row["n_resamples"] == 69
    high = np.quantile(test.null_distribution, 0.975)
    assert row["placebo_high"] == pytest.approx(high, abs=0.01)


def test_p_is_uniform_where_words_are_alike(make_words: Table, measure: Measure) -> None:
    p = placebos(many(make_words, 250, 5), measure).filter(level="stereotype")["p"]
    assert stats.kstest(p.to_numpy(), "uniform").pvalue > 0.01
    assert 0.02 < (p <= 0.05).mean() < 0.08


def test_noise_makes_p_larger_and_not_smaller(make_words: Table, measure: Measure) -> None:
    p = placebos(many(make_words, 250, 4, noise=0.1), measure).filter(level="stereotype")["p"]
    assert (p <= 0.05).mean() < 0.07
    assert (p <= 0.5).mean() < 0.56


def test_a_difference_of_the_groups_is_found(make_words: Table, measure: Measure) -> None:
    p = placebos(many(make_words, 60, 6, shift=0.2, noise=0.05), measure).filter(level="stereotype")
    assert (p["p"] <= 0.05).mean() > 0.6
    assert (p["placebo_mean"].abs() < 0.02).all()


def test_words_that_pairs_do_not_join_keep_their_pairs(make_words: Table, measure: Measure) -> None:
    """Scores of separate pairs of words can but change their sign."""
    alone = make_words([0.1, 0.2, 0.3, 0.1, 0.2, 0.1], [0.0, 0.1, 0.0, 0.1, -0.2, 0.15])
    pairs = alone.filter(pl.col("marginalized").str.slice(1) == pl.col("default").str.slice(1))
    row = only(pairs, measure)
    signs = np.array(list(product([1, -1], repeat=6)))
    means = np.abs(signs @ pairs["score"].to_numpy() / 6)
    assert row["n_resamples"] == 63
    assert row["p"] == pytest.approx(np.mean(means >= means[0] - 1e-12))


def test_one_word_a_side_has_two_splits_and_no_p(make_words: Table, measure: Measure) -> None:
    row = only(make_words([0.2], [0.0]), measure)
    assert (row["p"], row["n_resamples"]) == (None, 1)
    assert "fewer than 40 splits" in row["note"]
    assert [row["placebo_low"], row["placebo_high"]] == pytest.approx([-0.2, 0.2])


def test_uneven_pairs_keep_the_estimate_among_the_splits(
    make_words: Table, measure: Measure
) -> None:
    scores = make_words([0.1, 0.3, 0.2, 0.0], [0.1, 0.0, -0.1, 0.1])
    uneven = pl.concat(
        [scores, scores.head(5).with_columns(pair_id=pl.format("{}again", "pair_id"))]
    )
    row = only(uneven, measure)
    assert row["n_resamples"] == DRAWS
    # an estimate that lies beyond all splits has the least p
    distant = make_words([0.3] * 4, [0.0] * 4)
    distant = pl.concat(
        [distant, distant.head(5).with_columns(pair_id=pl.format("{}again", "pair_id"))]
    )
    assert only(distant, measure)["p"] < 0.05
    assert only(distant, measure)["placebo_high"] <= 0.3 + 1e-9


def test_swapped_groups_and_decisions_have_the_same_p(make_words: Table, measure: Measure) -> None:
    scores = make_words([0.1, 0.3, 0.2, 0.0, 0.1], [0.1, 0.0, -0.1, 0.15, 0.05], noise=0.02)
    row = only(scores, measure)
    swapped = scores.with_columns(
        score=-pl.col("score"), marginalized="default", default="marginalized"
    )
    turned = only(swapped, measure)
    assert turned["p"] == pytest.approx(row["p"])
    assert turned["placebo_low"] == pytest.approx(-row["placebo_high"])
    decided = scores.with_columns(score=(1 + pl.col("score")) / 2)
    half = only(decided, Measure("word_association", "", 0.0, 1.0, 0.5, "", ""))
    assert half["p"] == pytest.approx(row["p"])
    assert half["placebo_low"] == pytest.approx((1 + row["placebo_low"]) / 2)


def test_levels_pool_stereotypes(make_words: Table, measure: Measure) -> None:
    effects = np.random.default_rng(8).normal(0, 0.1, (3, 2, 4))
    parts = [make_words(*pair, stereotype=f"s{k}") for k, pair in enumerate(effects)]
    rows = placebos(pl.concat(parts), measure)
    assert rows["level"].to_list() == ["stereotype"] * 3 + ["category", "model"]
    pooled, model = rows[3], rows[4]
    for column in ("p", "estimate", "placebo_low", "n_resamples"):
        assert pooled[column].item() == model[column].item()
    # the words have the same names, so that they are split alike: one stereotype of mean effects
    averaged = only(make_words(*effects.mean(axis=0)), measure)
    assert pooled["p"].item() == pytest.approx(averaged["p"])
    assert pooled["placebo_low"].item() == pytest.approx(averaged["placebo_low"])


def test_one_word_a_side_of_several_stereotypes_has_two_splits(
    make_words: Table, measure: Measure
) -> None:
    parts = [make_words([0.2], [0.0], stereotype=f"s{k}") for k in range(6)]
    row = only(pl.concat(parts), measure, "category")
    assert (row["p"], row["n_resamples"]) == (None, 1)
    assert "fewer than 40 splits" in row["note"]


def test_other_words_are_split_independently(make_words: Table, measure: Measure) -> None:
    effects = np.random.default_rng(9).normal(0, 0.1, (2, 4))
    first = make_words(*effects, stereotype="s0")
    second = make_words(*effects, stereotype="s1").with_columns(
        pl.format("other {}", c).alias(c) for c in ("marginalized", "default")
    )
    rows = placebos(pl.concat([first, second]), measure)
    width = rows["placebo_high"] - rows["placebo_low"]
    assert width[2] / width[0] == pytest.approx(0.5**0.5, rel=0.12)


def test_answers_without_words_have_no_placebo(make_words: Table, measure: Measure) -> None:
    scores = make_words([0.1, 0.2], [0.0, 0.1]).with_columns(default=pl.lit(None, pl.String))
    assert placebos(scores, measure).is_empty()


def test_the_seed_sets_the_splits(make_words: Table, measure: Measure) -> None:
    scores = make_words(np.linspace(0, 0.3, 8), np.linspace(-0.1, 0.2, 8))
    ends = [placebos(scores, measure, seed=k)["placebo_low"].to_list() for k in (0, 0, 1)]
    assert ends[0] == ends[1] != ends[2]
