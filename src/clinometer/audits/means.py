"""Trials in turns, and the mean of their scores: what harnesses ask, and what they show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.results import SCORES, join_methods
from clinometer.results.ranges import IN_PROMPTS

__all__ = ["mean_of_rows", "take_turns"]


def take_turns(trials: pl.DataFrame) -> pl.DataFrame:
    """Order trials so that stereotypes take turns, each beginning with another wording."""
    draw = pl.col("iteration") // 2  # both orders of a pair, one after the other
    wording, first = pl.col("variation").rank("dense"), pl.col("stereotype").rank("dense")
    by_wording = trials.sort(draw, (wording + first) % wording.max(), maintain_order=True)
    turn = pl.int_range(pl.len()).over("stereotype", "dimension")
    return by_wording.sort(turn, maintain_order=True)


def mean_of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean over all stereotypes of scores, rows of `results.SCORES`, as `estimated`."""
    from clinometer.audits.tabulating import estimate_means
    from clinometer.statistics.estimates import Inference

    table = pl.DataFrame(rows, schema=SCORES).filter(~pl.col("unnamed").fill_null(False))
    # Repetitions (epochs) are draws of their own.
    epoch = pl.int_range(pl.len()).over("trial_id")
    draws = table.with_columns(
        iteration=pl.col("iteration") + epoch * table.height,
        pair_id=pl.format("{}.epoch{}", "pair_id", epoch),
    )
    means = join_methods(estimate_means(draws, Inference()), "clustered", IN_PROMPTS)
    mean = means.filter(pl.col("control").is_null(), level="model").row(0, named=True)
    return {
        name: math.nan if mean[column] is None else mean[column]
        for name, column in _METRICS.items()
    }


#: What inspect shows of a measure → column of estimates.
_METRICS = {
    "mean": "estimate",
    "stderr": "se",
    "ci_low": "ci_low",
    "ci_high": "ci_high",
    "prompts_ci_low": "ci_low_bounded",
    "prompts_ci_high": "ci_high_bounded",
    "neutral": "neutral",
}
