"""Reads what a results directory says of answers, with suspicion: once, for every page.

A table that is read gets the names a reader sees: ``about``, the label of a stereotype, "Gender,
all" or "All"; ``dimension_label``; ``mode`` ("forced, Competence, egalitarian"); ``control_mode``,
the same without the dimension, unless the controls have one; and ``plain_mode``, the mode alone.
Its rows come in the order of the plan.

Every text in it is untrusted. Only the plan and the estimates must be there; a table that is
absent leaves its section out, a malformed one is named in an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from clinometer.directory.results import read_details, read_estimates, scan_answers
from clinometer.pieces.frames import add_columns, clustered, name_and_sort_rows
from clinometer.pieces.plan import read_plan
from clinometer.pieces.prose import as_argument, interval_title
from clinometer.pieces.views import AnswerResults, split
from clinometer.results import CONDITIONS, REASONS
from clinometer.results.estimates import KEYS
from clinometer.results.progress import unfinished
from clinometer.results.schemas import ORDERS
from clinometer.statistics.explicitness import EXPLICIT_GAP
from clinometer.statistics.reliability import RELIABILITY

#: What compliance is counted by.
_GROUPS = (
    "model",
    "study",
    "instrument",
    "mode",
    "category",
    "stereotype",
    "dimension",
    "marginalized",
    "default",
    "version",
)

#: What tells rows of estimates apart but for the measure, and effects of order.
_SUBJECT = [name for name in KEYS if name != "measure"]
_ORDER = [name for name in ORDERS if name in KEYS]


def read_results(directory: Path, model: str | None = None) -> AnswerResults:
    """Read a results directory: small tables in memory, those of single responses as scans.

    `model`: the only one whose estimates and answers are kept; by default all are.
    Raises InputError if the plan or the estimates are missing, or a table is malformed.
    """
    answers = _read_tables(directory)
    if model is not None:
        answers = answers.narrow_to_model(model)
    return replace(answers, instruments=split(answers))


def _read_tables(directory: Path) -> AnswerResults:
    """Read the plan and every table, and name and sort their rows."""
    plan = read_plan(directory / "plan.json")
    rows = read_estimates(directory).filter(family="answers")
    details = read_details(directory, "answers")
    responses, scores = scan_answers(directory)
    is_of_scores = _is_of_scores(rows)
    factors = varying_factors(rows.filter(is_of_scores, method="clustered"))
    details["compliance"] = _compliance(details["compliance"], factors)
    undirected = [name for name, measure in plan.instruments.items() if not measure.directed]
    is_directed = ~pl.col("instrument").is_in(undirected).fill_null(value=False)
    means = clustered(rows.filter(is_of_scores)).with_columns(directed=is_directed)
    estimates = {"rows": rows, **_estimates(rows, means, details["orders"])}
    return AnswerResults(
        **{name: name_and_sort_rows(table, factors, plan) for name, table in estimates.items()},
        details={name: name_and_sort_rows(table, factors, plan) for name, table in details.items()},
        argument=as_argument(directory),
        plan=replace(plan, interval=interval_title(means)),
        progress=details["progress"],
        responses=responses,
        scores=scores,
        unfinished=unfinished(details["progress"]),
        instruments=(),
    )


#: Factors named beside the mode where there are several values of one.
_FACTORS = (*CONDITIONS, "word_list", "scoring")


def varying_factors(estimates: pl.DataFrame) -> list[str]:
    """Return the factors to name beside the mode: those with several values."""
    factors = (name for name in _FACTORS if name in estimates.columns)
    return [name for name in factors if estimates[name].drop_nulls().n_unique() > 1]


def _is_of_scores(rows: pl.DataFrame) -> pl.Series:
    """Tell which rows are means of scores: those of measures that have a margin somewhere."""
    # A row with a factor is a difference, whose margin says nothing about its measure.
    means = rows.filter(pl.col("factor").is_null())
    scored = means.drop_nulls("tost_margin")["measure"].unique().implode()
    is_of_scores = pl.col("factor").is_null() & pl.col("measure").is_in(scored)
    return rows.select(is_of_scores).to_series()


def _estimates(
    rows: pl.DataFrame, means: pl.DataFrame, orders: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """Return the estimates of each kind, with what other rows and tables say of them."""
    effects = orders.select(
        *_ORDER, "order_effect", "first_share", order_low="ci_low", order_high="ci_high"
    )
    treated = rows.filter(pl.col("factor").is_in(CONDITIONS))
    compliance = treated.filter(measure="compliance", method="clustered").select(
        *_SUBJECT,
        compliance_change="estimate",
        compliance_low="ci_low",
        compliance_high="ci_high",
    )
    spearman = rows.filter(measure="rank_correlation").select(*_SUBJECT, spearman="estimate")
    ranked = means.select(*_SUBJECT, mean="estimate", mean_low="ci_low", mean_high="ci_high")
    return {
        "estimates": add_columns(means, effects),
        "contrasts": add_columns(clustered(treated), compliance),
        "correlations": add_columns(rows.filter(measure="correlation"), spearman),
        "gaps": rows.filter(measure=EXPLICIT_GAP.name),
        "reliability": rows.filter(pl.col("measure").is_in(RELIABILITY)),
        "ranks": add_columns(rows.filter(measure="rank"), ranked),
    }


def _compliance(frame: pl.DataFrame, factors: Sequence[str]) -> pl.DataFrame:
    """Count responses by reason per stereotype, dimension, pair of group words and version."""
    keys = [*_GROUPS, *factors]
    counts = ("n", "n_scored", *(f"n_{reason}" for reason in REASONS))
    return frame.group_by(keys).agg(pl.col(counts).sum()).sort(keys)
