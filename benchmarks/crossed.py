"""The factors that trials share, as numbers: for simulating their effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clinometer.instruments.catalogue import INSTRUMENTS
from clinometer.results import SCORES
from clinometer.stimuli import load_study

__all__ = ["CONTRAST", "as_scores", "attributes", "codes", "factors", "lists", "turn"]

#: What a stereotype is on one page.
CONTRAST = ("stereotype", "dimension")

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


def as_scores(trials: pl.DataFrame) -> pl.DataFrame:
    """Give trials the columns of scores, all scored."""
    known = {"model": "simulated", "scoring": "exact", "coverage": 1.0, "one_sided": False}
    filled = trials.with_columns(pl.lit(value).alias(name) for name, value in known.items())
    empty = [name for name in SCORES if name not in filled.columns]
    filled = filled.with_columns(pl.lit(None).alias(name) for name in empty)
    return filled.select(pl.col(name).cast(dtype) for name, dtype in SCORES.items())


def codes(trials: pl.DataFrame, *columns: str) -> Codes:
    """Return a number for each combination of columns, in order of appearance."""
    combined = pl.concat_str(pl.col(columns).fill_null(""), separator="\t").alias("code")
    names = trials.select(combined).to_series()
    known = {name: k for k, name in enumerate(names.unique(maintain_order=True))}
    return names.replace_strict(known, return_dtype=pl.Int64).to_numpy()


def factors(trials: pl.DataFrame) -> dict[str, Codes]:
    """Return the levels of each crossed factor; wordings share draws where the study says so."""
    first = trials.row(0, named=True)
    wordings = getattr(load_study(first["study"]).instruments, first["instrument"], None)
    of_draw = () if getattr(wordings, "shared_draws", False) else ("variation",)
    pairs = trials.with_columns(pair=pl.col("pair_id").str.extract(r"\.p(\d+)$"))
    return {
        "wording": codes(trials, "variation"),
        "stereotype_wording": codes(trials, *CONTRAST, "variation"),
        "marginalized": codes(trials, *CONTRAST, "marginalized"),
        "default": codes(trials, *CONTRAST, "default"),
        "draw": codes(pairs, *CONTRAST, *of_draw, "pair"),
    }


def turn(trials: pl.DataFrame) -> Array:
    """Return 1 or −1 for each trial: the two trials of a mirrored pair differ in sign."""
    if trials["version"].null_count() == 0:
        return np.where(trials["version"] == "default", 1.0, -1.0)
    first = np.where(trials["order"] == "marginalized_first", 1.0, -1.0)
    tied = (trials["attribute_order"] == "counter_first").fill_null(False)
    return np.where(tied, -first, first)


def attributes(trials: pl.DataFrame) -> tuple[csr_array, csr_array]:
    """Return weights of attribute words, shape (trials, words): those shown, the whole lists."""
    numbers: dict[tuple[str, str], int] = {}
    shown, listed = _Weights(numbers), _Weights(numbers)
    of_cells: dict[tuple[str, ...], list[list[str]]] = {}
    for row, trial in enumerate(trials.iter_rows(named=True)):
        cell = tuple(trial[c] for c in ("study", "stereotype", "variation", "dimension"))
        if cell not in of_cells:
            of_cells[cell] = lists(trial)
        contrast = f"{trial['stereotype']} {trial['dimension']}"
        for words in of_cells[cell]:
            asked = [word for word in words if word in trial["attributes"]]
            shown.add(row, contrast, asked)
            listed.add(row, contrast, words)
    shape = (len(trials), len(numbers))
    return shown.matrix(shape), listed.matrix(shape)


def lists(trial: Mapping[str, Any]) -> list[list[str]]:
    """Return the lists that the attribute words of a trial were drawn from."""
    study = load_study(trial["study"])
    if trial["object"] is not None:
        return [list(study.objects)]
    key = INSTRUMENTS[trial["instrument"]].key(
        study, trial["stereotype"], trial["variation"], trial["dimension"]
    )
    return [key.words.tied, key.words.counter]


class _Weights:
    """A sparse matrix under construction; the words of a list share a weight of 1."""

    def __init__(self, numbers: dict[tuple[str, str], int]) -> None:
        self.numbers = numbers
        self.entries: list[tuple[int, int, float]] = []

    def add(self, row: int, contrast: str, words: Sequence[str]) -> None:
        for word in words:
            column = self.numbers.setdefault((contrast, word), len(self.numbers))
            self.entries.append((row, column, 1 / len(words)))

    def matrix(self, shape: tuple[int, int]) -> csr_array:
        rows, columns, weights = zip(*self.entries, strict=True)
        return csr_array((weights, (rows, columns)), shape=shape)
