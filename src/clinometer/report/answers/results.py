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

from clinometer.directory.results import read_details, read_estimates, scan_table
from clinometer.report.answers.validity import Run, Validity, judge_runs
from clinometer.report.frames import add_columns, in_order, mode_name, name_rows, rank
from clinometer.report.plan import InstrumentFacts, PlanFacts, read_plan
from clinometer.report.prose import interval_title, name_in_text, short_names
from clinometer.results import CONDITIONS, DECISIONS, LEVELS, REASONS, Measure, join_methods
from clinometer.results.estimates import KEYS
from clinometer.results.progress import unfinished
from clinometer.results.schemas import ORDERS
from clinometer.statistics.explicitness import EXPLICIT_GAP
from clinometer.statistics.reliability import RELIABILITY

__all__ = [
    "AnswerResults",
    "InstrumentResults",
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
    gaps: pl.DataFrame  # between implicit and explicit measures, in the order of the plan
    correlations: pl.DataFrame  # between dimensions, with Spearman's
    ranks: pl.DataFrame  # with the means that are ranked
    reliability: pl.DataFrame  # coefficients, and correlations between wordings, modes and so on
    progress: pl.DataFrame  # how much of the plan has an answer
    details: Mapping[str, pl.DataFrame]  # words, items, compliance, and the tables of instruments
    responses: pl.LazyFrame | None
    scores: pl.LazyFrame | None
    unfinished: Mapping[str, str]  # model → how many of its trials have an answer
    instruments: tuple[InstrumentResults, ...]  # each with its part of these tables

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions of stereotype content that any instrument has, each once."""
        names = [name for results in self.instruments for name in results.dimensions]
        return tuple(dict.fromkeys(names))

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

    def of_model(self, model: str) -> AnswerResults:
        """Narrow the estimates and answers to one model; tables of details stay as they are."""
        narrowed: dict[str, Any] = {}
        for name, table in vars(self).items():
            if isinstance(table, pl.DataFrame | pl.LazyFrame):
                has_models = "model" in table.collect_schema().names()
                narrowed[name] = table.filter(pl.col("model") == model) if has_models else table
        return replace(self, **narrowed)

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
    validities: Mapping[Run, Validity]  # of each model and mode

    @property
    def in_text(self) -> str:
        """Its name in running text."""
        return name_in_text(self.instrument, self.measure.title)

    @property
    def short_names(self) -> dict[str, str]:
        """Its models by the names that tell them apart; "" stands for one without a name."""
        return short_names(list(dict.fromkeys(model or "" for model, _ in self.validities)))

    @property
    def is_explicit(self) -> bool:
        """Whether the questions show what they are about."""
        return bool(self.over_all["explicit"].any())


def _split(answers: AnswerResults) -> tuple[InstrumentResults, ...]:
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
    return tuple(_narrow(answers, study, instrument, several) for study, instrument in measures)


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
        control_mode = mode_name("control_mode", "dimension").alias("control_mode")
        estimates = estimates.with_columns(control_mode)
        tables = replace(tables, reliability=tables.reliability.with_columns(control_mode))
    of_study = estimates.filter(~is_control, study=study)
    levels = {level: in_order(of_study.filter(level=level), plan) for level in LEVELS}
    dimensions = levels["stereotype"]["dimension"].drop_nulls().unique(maintain_order=True)
    # Those of decisions are ways of deciding.
    of_content = dimensions.clear() if measure.asks == DECISIONS else dimensions
    controls = estimates.filter(is_control, level="stereotype")
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
        controls=controls,
        tables=tables,
        dimensions=tuple(plan.dimension(key) for key in of_content),
        validities=judge_runs(levels["stereotype"], controls, tables.reliability),
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


def read_results(directory: Path, model: str | None = None) -> AnswerResults:
    """Read a results directory: small tables in memory, those of single responses as scans.

    `model`: the only one whose estimates and answers are kept; by default all are.
    Raises InputError if the plan or the estimates are missing, or a table is malformed.
    """
    answers = _read_tables(directory)
    if model is not None:
        answers = answers.of_model(model)
    return replace(answers, instruments=_split(answers))


def _read_tables(directory: Path) -> AnswerResults:
    """Read the plan and every table, and name their rows."""
    plan = read_plan(directory / "plan.json")
    rows = read_estimates(directory).filter(family="answers")
    details = read_details(directory, "answers")
    responses = scan_table(directory, "responses")
    scores = scan_table(directory, "scores")
    of_scores = _is_of_scores(rows)
    factors = varying_factors(rows.filter(of_scores, method="clustered"))
    details["compliance"] = _compliance(details["compliance"], factors)
    tables = {name: name_rows(table, factors, plan) for name, table in details.items()}
    # Naming keeps the order of rows, which `of_scores` marks.
    rows = name_rows(rows, factors, plan)
    means = _clustered(rows.filter(of_scores))
    return AnswerResults(
        plan=replace(plan, interval=interval_title(means)),
        rows=rows,
        **_estimates(rows, means, tables["orders"]),
        gaps=in_order(rows.filter(measure=EXPLICIT_GAP.name), plan),
        progress=details["progress"],
        details=tables,
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
        "contrasts": add_columns(_clustered(treated), compliance),
        "correlations": add_columns(rows.filter(measure="correlation"), spearman),
        "reliability": rows.filter(pl.col("measure").is_in(RELIABILITY)),
        "ranks": add_columns(rows.filter(measure="rank"), ranked),
    }


def _clustered(rows: pl.DataFrame) -> pl.DataFrame:
    """Set other methods beside the clustered one; the change of compliance is left out."""
    return join_methods(rows.filter(pl.col("measure") != "compliance"), "clustered", _PUBLISHED)


def _compliance(frame: pl.DataFrame, factors: Sequence[str]) -> pl.DataFrame:
    """Count responses by reason per stereotype, dimension, pair of group words and version."""
    keys = [*_GROUPS, *factors]
    counts = ("n", "n_scored", *(f"n_{reason}" for reason in REASONS))
    return frame.group_by(keys).agg(pl.col(counts).sum()).sort(keys)
