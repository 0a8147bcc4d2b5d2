"""The prompts of simulated pages: which words are asked about in which wording."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.crossed import as_scores
from benchmarks.worlds.planted import World

__all__ = ["draw_prompts", "name_prompts"]


def draw_prompts(world: World, rng: np.random.Generator) -> pl.DataFrame:
    """Pair words for every wording; within a stereotype each is asked as often, or once more."""
    turns = 2 if world.mirrored else 1
    pairs = world.answers // turns
    length = world.wordings * pairs
    stereotype, wording, _ = np.indices((world.stereotypes, world.wordings, pairs)).reshape(3, -1)
    sides = [
        np.concatenate([_deal(world.words, length, rng) for _ in range(world.stereotypes)])
        for _ in range(2)
    ]
    pair = np.arange(world.stereotypes * length)
    columns = {"stereotype": stereotype, "wording": wording, "pair": pair}
    columns |= {"marginalized": sides[0], "default": sides[1]}
    repeated = {name: np.repeat(values, turns) for name, values in columns.items()}
    return pl.DataFrame(repeated).with_columns(turn=pl.int_range(pl.len()) % turns)


def _deal(words: int, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return numbers of words in random order, all of them before any comes again."""
    rounds = -(-length // words)
    return np.concatenate([rng.permutation(words) for _ in range(rounds)])[:length]


def name_prompts(
    prompts: pl.DataFrame, world: World, seed: int, control: str | None
) -> pl.DataFrame:
    """Return prompts with the columns of `results.SCORES`; prompts of two seeds have other ids."""
    study = "worlds" if control is None else f"worlds_{control}"
    order = pl.when(turn=0).then(pl.lit("marginalized_first")).otherwise(pl.lit("default_first"))
    stereotype = pl.format("{} s{}", pl.lit(study), "stereotype")
    source = pl.lit("all") if world.shared_words else stereotype
    category = pl.col("stereotype") % world.categories
    pair = pl.format("{} {} {}", pl.lit(study), pl.lit(seed), "pair")
    trials = prompts.select(
        study=pl.lit(study),
        instrument=pl.lit("word_association"),
        mode=pl.lit("free"),
        intervention=pl.lit("none"),
        word_list=pl.lit("plain"),
        control=pl.lit(control),
        category=pl.format("{} c{}", pl.lit(study), category),
        stereotype=stereotype,
        variation=pl.format("w{}", pl.col("wording").cast(pl.String).str.zfill(2)),
        trial_id=pl.format("{} {}", pair, "turn"),
        iteration=pl.col("pair"),
        pair_id=pair if world.mirrored else None,
        order=order if world.mirrored else None,
        marginalized=pl.format("{} m{}", source, "marginalized"),
        default=pl.format("{} d{}", source, "default"),
    )
    return as_scores(trials)
