"""Simulated pages have the leans, the effects and the errors that are planted."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from benchmarks.worlds.planted import WORLDS, World
from benchmarks.worlds.prompts import draw_prompts
from benchmarks.worlds.simulation import Simulation

from clinometer.results import SCORES

PAGES = 400


def draw_pages(world, pages=PAGES):
    """Return means and truths in these prompts, both (pages, stereotypes)."""
    simulation, rng = Simulation(world), np.random.default_rng(3)
    draws = [simulation.draw(rng) for _ in range(pages)]
    means = np.array([simulation.means(scores) for scores, _ in draws])
    return means, np.array([truths["prompts"] for _, truths in draws])


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("lean", [0.0, 0.3, 0.85])
def test_planted_leans_are_the_means_of_answers_and_of_truths(name, lean):
    world = replace(WORLDS[name], stereotypes=3, wordings=4, words=4, answers=8, lean=lean)
    for values in draw_pages(world):
        by_page = values.mean(axis=1)
        assert abs(by_page.mean() - lean) < 4 * by_page.std() / PAGES**0.5 + 1e-4


def test_truths_vary_by_the_words_that_are_drawn():
    _, truths = draw_pages(World(word=0.2, lean=0.0, stereotypes=1, words=8))
    assert truths.std() == pytest.approx(0.5 * 0.2 * (2 / 8) ** 0.5, rel=0.15)


def test_truths_vary_by_wordings_of_all_stereotypes():
    _, truths = draw_pages(World(shared_wording=0.2, stereotypes=5))
    assert truths.mean(axis=1).std() == pytest.approx(0.5 * 0.2 / 2, rel=0.15)


def test_a_word_that_is_alone_on_its_side_is_part_of_the_lean():
    _, truths = draw_pages(World(word=0.5, words=1, lean=0.2))
    assert truths == pytest.approx(0.2, abs=1e-4)


def test_the_oracle_knows_the_error_of_calm_answers():
    oracle = Simulation(World()).oracle(np.random.default_rng(0))
    for name in ("prompts", "other_prompts"):
        assert oracle[name, "stereotype"] == pytest.approx(0.5 / 48**0.5, rel=0.1)
        assert oracle[name, "model"] == pytest.approx(0.5 / 240**0.5, rel=0.1)


def test_the_error_of_the_oracle_is_that_of_means_over_pages():
    world = replace(WORLDS["medium"], lean=0.3)
    means, _ = draw_pages(world)
    oracle = Simulation(world).oracle(np.random.default_rng(1))
    error = ((means - 0.3) ** 2).mean() ** 0.5
    assert oracle["other_prompts", "stereotype"].mean() == pytest.approx(error, rel=0.1)


def test_other_prompts_err_more_than_these_where_words_differ():
    oracle = Simulation(WORLDS["words"]).oracle(np.random.default_rng(2))
    assert (oracle["other_prompts", "model"] > 1.1 * oracle["prompts", "model"]).all()


@pytest.mark.parametrize(
    ("answer", "kind", "values"), [(1.0, "three", {-1, 1}), (0.5, "three", {-1, 0, 1})]
)
def test_discrete_answers(answer, kind, values):
    scores, _ = Simulation(World(answer, kind)).draw(np.random.default_rng(0))
    assert set(scores) == values


@pytest.mark.parametrize("kind", ["beta", "three"])
def test_neutral_answers_have_the_standard_deviation_of_their_world(kind):
    simulation, rng = Simulation(World(0.6, kind, stereotypes=21)), np.random.default_rng(0)
    scores = np.concatenate([simulation.draw(rng)[0] for _ in range(20)])
    assert scores.std() == pytest.approx(0.6, rel=0.02)


def test_the_first_stereotypes_are_neutral():
    world = World(lean=0.5, neutral=0.5, stereotypes=4)
    assert list(Simulation(world).draw_leans(np.random.default_rng(0))) == [0, 0, 0.5, 0.5]


def test_means_of_levels_are_named_in_their_order():
    simulation = Simulation(World(stereotypes=5))
    keys = simulation.keys_of_means("category")["category"].to_list()
    assert keys == ["worlds c0", "worlds c1"]
    means = simulation.level_means(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert list(means["category"]) == [3.0, 3.0]
    assert list(means["model"]) == [3.0]


def test_a_page_is_a_table_of_scores():
    simulation = Simulation(WORLDS["medium"])
    scores, _ = simulation.draw(np.random.default_rng(0))
    page = simulation.page(scores, "m")
    assert dict(page.schema) == dict(SCORES)
    assert page["score"].to_list() == scores.tolist()


def test_versions_of_two_seeds_share_effects_and_no_prompt():
    first, second = (
        Simulation(WORLDS["words"], draw_prompts(WORLDS["words"], seed)) for seed in (1, 2)
    )
    assert not set(first.frame["trial_id"]) & set(second.frame["trial_id"])
    effects, rng = first.draw_effects(np.random.default_rng(0)), np.random.default_rng(1)
    leans = np.full(5, 0.2)
    truths = [
        first.draw_answers(leans, effects, rng)[1],
        second.draw_answers(leans, effects, rng)[1],
    ]
    assert truths[0] == pytest.approx(truths[1])


def test_mirrored_pairs_ask_about_the_same_words_in_both_orders():
    frame = Simulation(World(words=6)).frame
    pairs = frame.group_by("pair_id").agg(pl.n_unique("order", "marginalized", "default"))
    assert pairs.select("order", "marginalized", "default").unique().rows() == [(2, 1, 1)]
    counts = frame.group_by("stereotype", "marginalized").len()["len"]
    assert counts.unique().to_list() == [8]


def test_stereotypes_share_words_where_the_world_says_so():
    frame = Simulation(WORLDS["shared words"]).frame
    assert frame["marginalized"].n_unique() == 6


def test_an_answer_without_a_number_is_refused():
    simulation = Simulation(World())
    scores, _ = simulation.draw(np.random.default_rng(0))
    scores[0] = np.nan
    page = simulation.page(scores, "m")
    assert page.filter(pl.col("score").is_null())["reason"].to_list() == ["refused"]
