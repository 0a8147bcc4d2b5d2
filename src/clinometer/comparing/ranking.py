"""The order of several runs by how far their means lie from neutral, as far as it can be told.

Method
    Each pair of runs is compared as `compare` does, in these prompts, with the confidence of all
    pairs of an instrument at once (Bonferroni). The rank of a run reaches from one more than the
    number of runs that are shown to lie nearer to neutral, to the number of runs less those that
    are shown to lie farther: all ranks at once hold with the confidence that is asked for.

Reference
    Mogstad, Romano, Shaikh & Wilhelm (2024): Inference for ranks with applications to mobility
    across neighbourhoods and academic achievement across countries. Review of Economic Studies
    91(1), 476-518. https://doi.org/10.1093/restud/rdad006
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any

import polars as pl

from clinometer.comparing.changes import RunMeans
from clinometer.comparing.comparison import Comparison, contrast_runs
from clinometer.comparing.harm import Limits, judge_change
from clinometer.results.controls import controls_of
from clinometer.results.estimates import ESTIMATES
from clinometer.results.ranges import rows_of_range
from clinometer.results.verdicts import BETTER, FAILED, WORSE
from clinometer.statistics.clustered import bonferroni_confidence
from clinometer.statistics.summaries import NEVER_POOLED

__all__ = ["rank"]


#: The columns of `rank`, and by what those of one rank are sorted.
_RANKED = {
    **{name: ESTIMATES[name] for name in NEVER_POOLED},
    "run": pl.String(),
    **dict.fromkeys(("mean", "low", "high", "neutral", "distance"), pl.Float64()),
    **dict.fromkeys(("rank_low", "rank_high", "runs"), pl.Int64()),
}


@lru_cache(maxsize=1)  # a terminal and a page show the same
def rank(comparison: Comparison) -> pl.DataFrame:
    """Order the runs of a comparison by how far their means lie from neutral.

    Parameters
    ----------
    comparison
        From `compare`; the baseline is one of the runs, and all ranks of an instrument at once hold
        with its confidence.

    Returns
    -------
    polars.DataFrame
        A row for each instrument and run, the nearest to neutral first: what was measured (the
        columns that are never pooled), `run`, its `mean` with `low` and `high` in these prompts
        and `neutral` (unit of the scores), `rank_low` and `rank_high` (1: nearest to neutral), and
        `runs`, how many are ranked. Runs on which a control of the instrument failed are left
        out, as is what one run alone was asked.
    """
    means = _means_over_all(comparison)
    farther: set[tuple[Any, ...]] = set()
    for row, verdict in _judge_pairs(comparison):
        key = tuple(row[name] for name in NEVER_POOLED)
        if verdict in (WORSE, BETTER):
            ends = (row["candidate"], row["baseline"])
            farther.add((*key, *(ends if verdict == WORSE else reversed(ends))))
    ranked = [{**row, **_rank_of(row, means, farther)} for row in means]
    table = pl.DataFrame(ranked, schema=_RANKED).filter(pl.col("runs") > 1)
    return table.sort(*NEVER_POOLED, "rank_low", "rank_high", "distance").drop("distance")


def _means_over_all(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the mean over all stereotypes of each run and instrument that works on it."""
    rows = []
    for run in (comparison.baseline, *comparison.candidates):
        own = comparison.own[run.label]
        is_mean = pl.col("control").is_null() & pl.col("tost_margin").is_not_null()
        judged = rows_of_range(own, "prompts").filter(
            is_mean, pl.col("factor").is_null(), ~pl.col("explicit"), level="model"
        )
        for row in judged.drop_nulls(["estimate", "ci_low"]).iter_rows(named=True):
            controls = controls_of(
                own, judged.filter(instrument=row["instrument"], mode=row["mode"])
            )
            if any(control.outcome == FAILED for control in controls):
                continue
            rows.append(
                {
                    **{name: row[name] for name in NEVER_POOLED},
                    "run": run.label,
                    "mean": row["estimate"],
                    "low": row["ci_low"],
                    "high": row["ci_high"],
                    "neutral": row["neutral"] or 0.0,
                    "distance": abs(row["estimate"] - (row["neutral"] or 0.0)),
                }
            )
    return rows


def _judge_pairs(comparison: Comparison) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the difference of each pair of runs over all stereotypes, and what is told of it."""
    runs = (comparison.baseline, *comparison.candidates)
    pairs = [*combinations(runs, 2)]
    all_pairs = bonferroni_confidence(comparison.confidence, len(pairs))
    limits = Limits(0.0, 0.0, all_pairs, all_pairs, turned="allowed")
    means = RunMeans.from_tables(comparison.own)
    for ours, theirs in pairs:
        for contrasted in contrast_runs(ours, theirs, all_pairs, comparison.margin):
            differences = rows_of_range(contrasted.estimates, "prompts").filter(
                pl.col("measure") == pl.col("instrument"),
                pl.col("control").is_null(),
                level="model",
            )
            for row in differences.drop_nulls("estimate").iter_rows(named=True):
                yield row, judge_change(means.change(row), limits).verdict


def _rank_of(
    row: Mapping[str, Any], means: Iterable[Mapping[str, Any]], farther: set[tuple[Any, ...]]
) -> dict[str, int]:
    """Return the ends of the rank of a run: of those asked the same, how many are told apart."""
    key = tuple(row[name] for name in NEVER_POOLED)
    others = [
        mean["run"]
        for mean in means
        if tuple(mean[name] for name in NEVER_POOLED) == key and mean["run"] != row["run"]
    ]
    nearer_runs = sum((*key, row["run"], other) in farther for other in others)
    farther_runs = sum((*key, other, row["run"]) in farther for other in others)
    runs = len(others) + 1
    return {"rank_low": 1 + nearer_runs, "rank_high": runs - farther_runs, "runs": runs}
