"""A few prompts and answers per stereotype, read without loading all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from tiltmeter.report.prose import number
from tiltmeter.report.plan import Plan
from tiltmeter.report.results import Results

__all__ = ["LONGEST", "Example", "examples", "grouped"]

#: Characters of an answer shown; the rest stays in responses.parquet.
LONGEST = 1500


@dataclass(frozen=True)
class Example:
    """One prompt, its answer and what became of it."""

    stereotype: str
    about: str
    outcome: str
    prompt: str
    answer: str
    cut: int

    @property
    def by_word(self) -> bool:
        """Whether the prompt was asked once for each word."""
        return "{attribute}" in self.prompt


def examples(results: Results, scored: int = 2, unscored: int = 1) -> list[Example]:
    """Pick the first few trials of each stereotype, mode and model.

    Parameters
    ----------
    results
        A results directory with responses and scores; without them there are no examples.
    scored
        How many answers with a score to pick.
    unscored
        How many answers without one.

    Returns
    -------
    list of Example
        In the order of the plan. Only ids are read to choose, then only the chosen texts.
    """
    if results.responses is None or results.scores is None:
        return []
    group = ["model", "mode", "stereotype"]
    has = pl.col("score").is_not_null()
    chosen = (
        results.scores.group_by(group)
        .agg(
            pl.concat_list(
                pl.col("trial_id").filter(has).sort().head(scored).implode(),
                pl.col("trial_id").filter(~has).sort().head(unscored).implode(),
            ).alias("trial_id")
        )
        .explode("trial_id")
        .drop_nulls("trial_id")
        .collect(engine="streaming")
    )
    keys = [*group, "trial_id"]
    marks = results.scores.select(*keys, "score", "reason", "coverage")
    texts = results.responses.select(
        *keys,
        "variation",
        pl.col("prompt").str.slice(0, 4 * LONGEST),
        pl.col("response").str.slice(0, LONGEST),
        pl.col("response").str.len_chars().alias("length"),
    )
    ids = pl.col("trial_id").is_in(chosen["trial_id"].unique().implode())
    rows = (
        texts.filter(ids)
        .join(chosen.lazy(), on=keys, how="semi")
        .join(marks.filter(ids), on=keys, how="left")
        .sort("model", "mode", pl.col("score").is_null(), "trial_id")
        .collect(engine="streaming")
    )
    places = {key: place for place, key in enumerate(results.plan.stereotypes)}
    shown = [_example(row) for row in rows.iter_rows(named=True)]
    return sorted(shown, key=lambda e: (places.get(e.stereotype, len(places)), e.stereotype))


def grouped(shown: list[Example], plan: Plan) -> list[tuple[str, list[Example]]]:
    """Group examples under the labels of their stereotypes."""
    return [(plan.label(key), list(part)) for key, part in groupby(shown, lambda e: e.stereotype)]


def _example(row: Mapping[str, Any]) -> Example:
    if row["score"] is not None:
        outcome = f"score {number(row['score'])}"
        if row["coverage"] is not None and row["coverage"] < 1:
            outcome += f", coverage {number(row['coverage'])}"
    else:
        outcome = f"no score: {row['reason'] or 'not scored'}"
    return Example(
        stereotype=row["stereotype"],
        about=f"{row['model']} · {row['mode']} · {row['variation']}",
        outcome=outcome,
        prompt=row["prompt"] or "",
        answer=row["response"] or "",
        cut=max(0, (row["length"] or 0) - LONGEST),
    )
