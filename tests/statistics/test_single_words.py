"""A stereotype with one word a side, beside placebos whose words are arbitrary."""

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

from clinometer.results.ranges import has_open_words, lean_text
from clinometer.statistics.means import means
from clinometer.statistics.summaries import NEVER_POOLED

SIDES = (-1.0, 1.0)
UNPOOLED = dict.fromkeys(NEVER_POOLED, "x") | {"control": None}


def units(name: str, words: int, spread: float = 0.0, seed: int = 0, **keys: str) -> pl.DataFrame:
    """Return 24 pairs in four wordings, of so many words a side that lean by themselves."""
    rng = np.random.default_rng(seed)
    # Evenly spaced, so that they vary by just so much on each side.
    even = ndtri((np.arange(words) + 0.5) / words)
    leans = [spread * rng.permutation(even / (even.std(ddof=1) if words > 1 else 1)) for _ in "md"]
    draw = np.arange(24)
    first, second = draw % words, (draw // 4 + draw) % words
    mean = leans[0][first] + leans[1][second] + 0.2 * rng.normal(size=24)
    return pl.DataFrame(
        {
            "model": "m",
            "category": "c",
            "stereotype": name,
            "variation": [f"v{number % 4}" for number in draw],
            "draw": draw,
            "n_scored": 2,
            "marginalized": [f"{name} m{word}" for word in first],
            "default": [f"{name} d{word}" for word in second],
            "mean": mean.clip(-1, 1),
            "one_person": False,
        }
    ).with_columns(**{key: pl.lit(value, pl.String) for key, value in (UNPOOLED | keys).items()})


def single_mean(*placebos: pl.DataFrame, level: str = "stereotype"):
    """Return the ranges of a stereotype with one word a side, asked beside placebos."""
    ranges = means(pl.concat([units("age", 1), *placebos], how="diagonal_relaxed"), SIDES)
    means_by_name = {key[-1]: mean for key, mean in ranges.items() if key[0] == level}
    return means_by_name["age" if level == "stereotype" else "v0"]


PLACEBO = {"control": "negative"}


def test_other_words_are_taken_to_vary_as_arbitrary_ones_do():
    alone = single_mean()
    charged = single_mean(units("words_age", 6, 0.3, seed=1, **PLACEBO))
    assert has_open_words(alone.fixed("other_prompts"))
    assert not has_open_words(charged.fixed("other_prompts"))
    assert charged.varies("other_prompts") == "wordings, arbitrary words, draws, answers"
    # Two words of sd .3 each: an error of .42, which six words a side tell roughly.
    assert alone.other_prompts.se < 0.1 and 0.25 < charged.other_prompts.se < 0.6
    assert charged.prompts.interval(0.95) == pytest.approx(alone.prompts.interval(0.95))


def test_words_that_do_not_vary_add_little():
    charged = single_mean(units("words_age", 6, 0.0, seed=1, **PLACEBO))
    assert charged.other_prompts.se < 0.15


@pytest.mark.parametrize(
    "keys",
    [{"control": "positive"}, {"control": "things"}, {}, PLACEBO | {"study": "another"}],
    ids=str,
)
def test_only_placebos_of_the_study_tell_of_arbitrary_words(keys):
    charged = single_mean(units("other", 6, 0.3, seed=1, **keys))
    assert has_open_words(charged.fixed("other_prompts")) and not charged.charged


def test_a_placebo_with_one_word_a_side_tells_nothing():
    assert has_open_words(single_mean(units("p", 1, **PLACEBO)).fixed("other_prompts"))


@pytest.mark.parametrize("seed", range(4))
def test_the_words_of_a_placebo_vary_as_arbitrary_ones(seed: int) -> None:
    """Six words a side of sd .3 give the mean an error of .17; names are taken to vary less."""
    errors = {}
    for control in (None, "negative"):
        rows = units("p", 6, 0.3, seed=seed).with_columns(control=pl.lit(control, pl.String))
        peers = [units(name, 6, seed=10 + seed) for name in ("age", "sex", "race")]
        ranges = means(pl.concat([rows, *peers], how="diagonal_relaxed"), SIDES)
        errors[control] = next(r for key, r in ranges.items() if key[-1] == "p").other_prompts.se
    assert errors["negative"] > errors[None]
    assert 0.12 < errors["negative"] < 0.3


def test_stereotypes_with_several_words_and_single_wordings_are_not_charged():
    placebo = units("words_age", 6, 0.3, seed=1, **PLACEBO)
    pooled = means(pl.concat([units("age", 1), units("names", 4, 0.1), placebo]), SIDES)
    assert [r.charged for key, r in pooled.items() if key[-1] == "names"] == [()]
    assert not single_mean(placebo, level="cell").charged


def test_a_mean_of_stereotypes_with_one_word_is_charged_too():
    stereotypes = [units(name, 1, seed=seed) for seed, name in enumerate(("age", "sex"))]
    placebo = units("words_age", 6, 0.3, seed=3, **PLACEBO)
    model = [
        next(
            mean
            for key, mean in means(pl.concat(rows), SIDES).items()
            if key[0] == "model" and "negative" not in key
        )
        for rows in (stereotypes, [*stereotypes, placebo])
    ]
    assert has_open_words(model[0].fixed("other_prompts"))
    assert model[1].other_prompts.se > 2 * model[0].other_prompts.se
    assert model[1].charged == ("marginalized", "default")


def test_a_row_says_that_words_stand_for_others():
    text = lean_text("consistent", "consistent", "stereotypes, words as arbitrary ones")
    assert text == ("leans as the stereotype says (words as arbitrary ones)")
