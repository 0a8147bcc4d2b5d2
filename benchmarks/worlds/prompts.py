"""The prompts of simulated pages: which words are asked about in which wording."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.trials import as_scores
from benchmarks.worlds.planted import World

__all__ = ["draw_prompts"]

Codes = NDArray[np.int64]


def draw_prompts(world: World, seed: int = 0, control: str | None = None) -> pl.DataFrame:
    """Pair words for every wording; a word is asked about as often as others, or once more.

    Parameters
    ----------
    world
        What is asked.
    seed
        Of the pairs of words. Prompts of two seeds have other ids.
    control
        Kind of control that the stereotypes are; they are a study of their own then.

    Returns
    -------
    polars.DataFrame
        Columns of `results.SCORES`, without scores.
    """
    rng = np.random.default_rng(seed)
    turns = 2 if world.mirrored else 1
    pairs = world.answers // turns
    shape = world.stereotypes, world.wordings, pairs
    stereotype, wording, _ = np.indices(shape).reshape(3, -1)
    numbers = {
        "stereotype": stereotype,
        "wording": wording,
        "pair": np.arange(len(stereotype)),
        "marginalized": _deal_words(world, rng),
        "default": _deal_words(world, rng),
    }
    repeated = {name: np.repeat(values, turns) for name, values in numbers.items()}
    frame = pl.DataFrame(repeated).with_columns(turn=pl.int_range(pl.len()) % turns)
    return _name_prompts(frame, world, seed, control)


def _deal_words(world: World, rng: np.random.Generator) -> Codes:
    """Return a word for each pair; within a stereotype all come before any comes again."""
    pairs = world.wordings * (world.answers // (2 if world.mirrored else 1))
    rounds = -(-pairs // world.words)
    size = world.stereotypes, rounds, world.words
    words = rng.permuted(np.broadcast_to(np.arange(world.words), size), axis=2)
    return words.reshape(world.stereotypes, -1)[:, :pairs].ravel()


def _name_prompts(
    prompts: pl.DataFrame, world: World, seed: int, control: str | None
) -> pl.DataFrame:
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
