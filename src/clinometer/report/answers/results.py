"""What a results directory holds, read with suspicion, and what of it is of one instrument.

A table that is read gets the names a reader sees: ``about``, the label of a stereotype, "Gender,
all" or "All"; ``dimension_label``; ``mode`` ("forced, Competence, egalitarian"); ``control_mode``,
the same without the dimension, unless the controls have one; and ``plain_mode``, the mode alone.

Every text in it is untrusted. Only the plan and the estimates must be there; a table that is
absent leaves its section out, a malformed one is named in an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.directory.results import read_details, read_estimates
from clinometer.report.plan import InstrumentFacts, PlanFacts, read_plan
from clinometer.report.prose import category_title, interval_title, rank
from clinometer.report.sections import add_columns, in_order
from clinometer.results import (
    CONDITIONS,
    DECISIONS,
    LEVELS,
    REASONS,
    RESPONSES,
    SCORES,
    Measure,
    Schema,
    join_methods,
)
from clinometer.results.estimates import KEYS
from clinometer.results.parquet import scan_parquet
from clinometer.results.schemas import ORDERS
from clinometer.statistics.explicitness import EXPLICIT_GAP
from clinometer.statistics.reliability import RELIABILITY

__all__ = [
    "AnswerResults",
    "InstrumentResults",
    "instrument_results",
    "read_results",
    "trials_text",
    "who",
]

#: What compliance is counted by.
_GROUPS = (
    *("model", "study", "instrument", "mode", "category", "stereotype", "dimension"),
    *("marginalized", "default", "version"),
)

#: What tells rows of estimates apart but for the measure, and effects of order.
_SUBJECT = [name for name in KEYS if name != "measure"]
_ORDER = [name for name in ORDERS if name in KEYS]

#: What the papers' test, the wider target and random splits say, beside the clustered inference.
_PUBLISHED = {
    "published": ("se", "statistic", "df", "p"),
    "generalised": ("ci_low", "ci_high"),
    "placebo": ("p", "placebo_low", "placebo_high"),
}


@dataclass(frozen=True)
class AnswerResults:
    """The tables of answers of a results directory; frames of single responses stay on disk.

    Frames of estimates have a row per estimate: the columns of ESTIMATES as the clustered method
    gives them, what the published one says as ``p_published`` and so on.
    """

    plan: PlanFacts
    rows: pl.DataFrame  # every estimate of answers: a row per method
    estimates: pl.DataFrame  # of scores, with the effect of order
    contrasts: pl.DataFrame  # between values of CONDITIONS, with the change of compliance
    gaps: pl.DataFrame  # between implicit and explicit measures
    correlations: pl.DataFrame  # between dimensions, with Spearman's
    ranks: pl.DataFrame  # with the means that are ranked
    reliability: pl.DataFrame  # coefficients, and correlations between wordings, modes and so on
    progress: pl.DataFrame  # how much of the plan has an answer
    details: Mapping[str, pl.DataFrame]  # words, items, compliance, and the tables of instruments
    responses: pl.LazyFrame | None
    scores: pl.LazyFrame | None

    def of(self, study: str, instrument: str) -> AnswerResults:
        """Narrow the tables, but for the estimates, to one study and instrument.

        Rows come in the order of the plan; a row that is about no single study or instrument stays.
        """
        keys = {"study": study, "instrument": instrument}
        plan = self.plan.of(study)

        def narrow(table: pl.DataFrame) -> pl.DataFrame:
            """Narrow one table, and sort it."""
            names = [name for name in keys if name in table.columns]
            # A null key says that the row is about all studies, or all instruments.
            is_of_keys = [(pl.col(name) == keys[name]).fill_null(True) for name in names]
            # A table of an instrument may have neither column; polars wants a predicate.
            return in_order(table.filter(pl.lit(True), *is_of_keys), plan)

        narrowed: dict[str, Any] = {}
        for name, table in vars(self).items():
            if isinstance(table, pl.DataFrame) and name not in ("estimates", "progress"):
                narrowed[name] = narrow(table)
        details = {name: narrow(table) for name, table in self.details.items()}
        return replace(self, **narrowed, details=details)

    def clustered(self, *predicates: pl.Expr) -> pl.DataFrame:
        """Select estimates, with other methods beside the clustered one."""
        return _clustered(self.rows.filter(*predicates))


@dataclass(frozen=True)
class InstrumentResults:
    """One study and instrument: its tables, and what its number means."""

    study: str
    instrument: str
    name: str  # its title, with the study where there are several
    plan: PlanFacts  # of the study
    measure: Measure
    facts: InstrumentFacts
    levels: Mapping[str, pl.DataFrame]  # its estimates by level, in the order of the plan
    by_stereotype: pl.DataFrame  # of them those per stereotype
    over_all: pl.DataFrame  # and those over all stereotypes
    controls: pl.DataFrame  # the estimates of its controls, one row each
    tables: AnswerResults  # of both
    dimensions: tuple[str, ...]  # of stereotype content, by their labels


def instrument_results(answers: AnswerResults) -> list[InstrumentResults]:
    """Split results by study and instrument; controls go with the instrument they check.

    Result: in the order of the plan's instruments, then of the estimates.
    """
    planned = list(answers.plan.instruments)
    measured = answers.estimates.filter(pl.col("control").is_null())
    if measured.is_empty():  # controls alone
        measured = answers.estimates
    pairs = measured.select("study", "instrument").unique(maintain_order=True)
    measures = pairs.drop_nulls("instrument").rows()
    measures.sort(key=lambda measure: rank(measure[1], planned))
    several = len({study for study, _ in measures}) > 1
    return [_narrow(answers, study, instrument, several) for study, instrument in measures]


def _narrow(
    answers: AnswerResults, study: str, instrument: str, several_studies: bool
) -> InstrumentResults:
    """Narrow results to one study and instrument, with the controls of the instrument."""
    plan = answers.plan.of(study)
    measure = _measure(answers, instrument)
    # Of every study: the controls of an instrument are studies of their own.
    estimates = answers.estimates.filter(instrument=instrument)
    is_control = pl.col("control").is_not_null()
    tables = answers.of(study, instrument)
    if estimates.filter(is_control)["dimension"].is_not_null().any():
        # A control of one dimension says nothing of the others: they are told apart by the mode.
        control_mode = _mode("control_mode", "dimension").alias("control_mode")
        estimates = estimates.with_columns(control_mode)
        tables = replace(tables, reliability=tables.reliability.with_columns(control_mode))
    of_study = estimates.filter(~is_control, study=study)
    levels = {level: in_order(of_study.filter(level=level), plan) for level in LEVELS}
    dimensions = levels["stereotype"]["dimension"].drop_nulls().unique(maintain_order=True)
    # Those of decisions are ways of deciding.
    of_content = dimensions.clear() if measure.asks == DECISIONS else dimensions
    return InstrumentResults(
        study=study,
        instrument=instrument,
        name=f"{measure.title} ({study})" if several_studies else measure.title,
        plan=plan,
        measure=measure,
        facts=plan.facts.get(instrument, InstrumentFacts()),
        levels=levels,
        by_stereotype=levels["stereotype"],
        over_all=levels["model"],
        controls=estimates.filter(is_control, level="stereotype"),
        tables=tables,
        dimensions=tuple(plan.dimension(key) for key in of_content),
    )


def _measure(answers: AnswerResults, instrument: str) -> Measure:
    """Say what a number means; of an instrument the plan leaves out, as the estimates say."""
    measure = answers.plan.measure(instrument)
    rows = answers.estimates.filter(instrument=instrument)
    scale = rows.select(pl.col("range_low", "range_high", "neutral").drop_nulls().first()).row(0)
    if instrument in answers.plan.instruments or None in scale:
        return measure
    low, high, neutral = scale
    return replace(measure, low=low, high=high, neutral=neutral)


def trials_text(results: InstrumentResults) -> str:
    """Say how many trials about a stereotype one model was asked in one mode."""
    counts = results.by_stereotype["n"].drop_nulls()
    if counts.is_empty():
        return "not known"
    # By way of text: to the type checker the ends of a column may be of any type.
    low, high = int(str(counts.min())), int(str(counts.max()))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def who(part: pl.DataFrame) -> str:
    """Name the model and mode of rows that share both."""
    return f"{part['model'][0]}, mode {part['mode'][0]}"


#: Factors named beside the mode where there are several values of one.
_FACTORS = (*CONDITIONS, "word_list", "scoring")


def varying_factors(estimates: pl.DataFrame) -> list[str]:
    """Return the factors to name beside the mode: those with several values."""
    factors = (name for name in _FACTORS if name in estimates.columns)
    return [name for name in factors if estimates[name].drop_nulls().n_unique() > 1]


#: What a row may be about, and by which it is labelled.
_LABELLED = ("study", "category", "stereotype", "dimension")


def name_rows(frame: pl.DataFrame, factors: Sequence[str], plan: PlanFacts) -> pl.DataFrame:
    """Add what a reader calls each row: its subject, its dimension and its mode.

    `factors`: those whose values are named with the mode.
    """
    labelled = _label_rows(frame, plan)
    if "mode" not in frame.columns:
        return labelled
    columns = [name for name in factors if name in frame.columns]
    # "none" is the value of a trial without the factor: nothing is named then.
    values = [pl.when(pl.col(name) != "none").then(name) for name in columns]
    return labelled.with_columns(
        _mode("mode", "dimension_label", *values),
        _mode("mode", *values).alias("control_mode"),
        plain_mode="mode",
    )


def _label_rows(frame: pl.DataFrame, plan: PlanFacts) -> pl.DataFrame:
    """Add ``about`` and ``dimension_label``, each by the labels of the study of a row."""
    columns = [name for name in _LABELLED if name in frame.columns]
    if not columns:
        return frame.with_columns(about=pl.lit("All"), dimension_label=pl.lit(None, pl.String))
    subjects = frame.select(columns).unique()
    names: dict[str, list[str | None]] = {"about": [], "dimension_label": []}
    for row in subjects.iter_rows(named=True):
        of_study = plan.of(row["study"]) if row.get("study") else plan
        key = row.get("dimension")
        names["about"].append(_about(row, of_study))
        names["dimension_label"].append(of_study.dimension(key) if key else None)
    labels = pl.DataFrame(names, schema=dict.fromkeys(names, pl.String))
    return add_columns(frame, pl.concat([subjects, labels], how="horizontal"), *columns)


def _about(row: Mapping[str, Any], plan: PlanFacts) -> str:
    """Name what a row is about: one stereotype, those of a category, or all."""
    if row.get("stereotype"):
        return plan.label(row["stereotype"])
    return f"{category_title(row['category'])}, all" if row.get("category") else "All"


def _mode(*names: str | pl.Expr) -> pl.Expr:
    return pl.concat_str(names, separator=", ", ignore_nulls=True).alias("mode")


def _add_measure(rows: pl.DataFrame, measure: pl.DataFrame, **columns: str) -> pl.DataFrame:
    """Set columns of the estimates of a second measure beside those of the first."""
    return add_columns(rows, measure.select(*_SUBJECT, **columns), *_SUBJECT)


def read_results(directory: Path) -> AnswerResults:
    """Read a results directory: small tables in memory, those of single responses as scans.

    Raises InputError if the plan or the estimates are missing, or a table is malformed.
    """
    plan = read_plan(directory / "plan.json")
    rows = read_estimates(directory).filter(family="answers")
    details = read_details(directory, "answers")
    of_scores = _is_of_scores(rows)
    factors = varying_factors(rows.filter(of_scores, method="clustered"))
    rows = name_rows(rows, factors, plan)
    # After the rows are named, which keeps the order of rows that `of_scores` marks.
    scores = _clustered(rows.filter(of_scores))
    details["compliance"] = _compliance(details["compliance"], factors)
    tables = {name: name_rows(table, factors, plan) for name, table in details.items()}
    return AnswerResults(
        plan=replace(plan, interval=interval_title(scores)),
        rows=rows,
        **_estimates(rows, scores, tables["orders"]),
        progress=details["progress"],
        details=tables,
        responses=_scan(directory / "responses.parquet", RESPONSES),
        scores=_scan(directory / "scores.parquet", SCORES),
    )


def _is_of_scores(rows: pl.DataFrame) -> pl.Series:
    """Tell which rows are means of scores: those of measures that have a margin somewhere."""
    # A row with a factor is a difference, whose margin says nothing about its measure.
    means = rows.filter(pl.col("factor").is_null())
    scored = means.drop_nulls("tost_margin")["measure"].unique().implode()
    is_of_scores = pl.col("factor").is_null() & pl.col("measure").is_in(scored)
    return rows.select(is_of_scores).to_series()


def _estimates(
    rows: pl.DataFrame, scores: pl.DataFrame, orders: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """Return the estimates of each kind, with what other rows and tables say of them."""
    effects = orders.select(
        *_ORDER, "order_effect", "first_share", order_low="ci_low", order_high="ci_high"
    )
    treated = rows.filter(pl.col("factor").is_in(CONDITIONS))
    return {
        "estimates": add_columns(scores, effects, *_ORDER),
        "contrasts": _add_measure(
            _clustered(treated),
            treated.filter(measure="compliance", method="clustered"),
            compliance_change="estimate",
            compliance_low="ci_low",
            compliance_high="ci_high",
        ),
        "gaps": rows.filter(measure=EXPLICIT_GAP.name),
        "correlations": _add_measure(
            rows.filter(measure="correlation"),
            rows.filter(measure="rank_correlation"),
            spearman="estimate",
        ),
        "reliability": rows.filter(pl.col("measure").is_in(RELIABILITY)),
        "ranks": _add_measure(
            rows.filter(measure="rank"),
            scores,
            mean="estimate",
            mean_low="ci_low",
            mean_high="ci_high",
        ),
    }


def _clustered(rows: pl.DataFrame) -> pl.DataFrame:
    """Set other methods beside the clustered one; the change of compliance is left out."""
    return join_methods(rows.filter(pl.col("measure") != "compliance"), "clustered", _PUBLISHED)


def _compliance(frame: pl.DataFrame, factors: Sequence[str]) -> pl.DataFrame:
    """Count responses by reason per stereotype, dimension, pair of group words and version."""
    keys = [*_GROUPS, *factors]
    counts = ("n", "n_scored", *(f"n_{reason}" for reason in REASONS))
    return frame.group_by(keys).agg(pl.col(counts).sum()).sort(keys)


def _scan(path: Path, schema: Schema) -> pl.LazyFrame | None:
    return scan_parquet(path, schema) if path.is_file() else None
