"""What a results directory says of answers, and what of it is of one study and instrument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from clinometer.pieces.frames import mode_name, rank
from clinometer.pieces.plan import InstrumentFacts, PlanFacts
from clinometer.pieces.prose import name_in_text, scale, short_names, with_numbers
from clinometer.pieces.spread import with_spread
from clinometer.pieces.validity import NOT_VALID, Run, Validity, judge_runs
from clinometer.results import DECISIONS, LEVELS, Measure
from clinometer.results.controls import within_study
from clinometer.results.ranges import lean_text


@dataclass(frozen=True)
class AnswerResults:
    """The tables of answers of a results directory; frames of single responses stay on disk.

    Frames of estimates have a row per estimate: the columns of ESTIMATES as the clustered method
    gives them, what the published one says as ``p_published`` and so on.
    """

    argument: str  # the directory as commands take it
    plan: PlanFacts
    rows: pl.DataFrame  # every estimate of answers: a row per method
    estimates: pl.DataFrame  # of scores, with the effect of order and whether they are `directed`
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

    def narrow_to_instrument(self, study: str, instrument: str) -> AnswerResults:
        """Narrow the tables, but for the estimates, to one study and instrument.

        A row that is about no single study or instrument stays.
        """
        keys = {"study": study, "instrument": instrument}

        def narrow(table: pl.DataFrame) -> pl.DataFrame:
            """Narrow one table."""
            if table.is_empty():
                return table
            names = [name for name in keys if name in table.columns]
            # A null key says that the row is about all studies, or all instruments.
            is_of_keys = [(pl.col(name) == keys[name]).fill_null(True) for name in names]
            # A table of an instrument may have neither column; polars wants a predicate.
            return table.filter(pl.lit(True), *is_of_keys)

        narrowed: dict[str, Any] = {}
        for name, table in vars(self).items():
            if isinstance(table, pl.DataFrame) and name not in ("estimates", "progress"):
                narrowed[name] = narrow(table)
        details = {name: narrow(table) for name, table in self.details.items()}
        return replace(self, **narrowed, details=details)

    def narrow_to_model(self, model: str) -> AnswerResults:
        """Narrow the estimates and answers to one model; tables of details stay as they are."""
        narrowed: dict[str, Any] = {}
        for name, table in vars(self).items():
            if isinstance(table, pl.DataFrame | pl.LazyFrame):
                has_models = "model" in table.collect_schema().names()
                narrowed[name] = table.filter(pl.col("model") == model) if has_models else table
        return replace(self, **narrowed)


@dataclass(frozen=True)
class InstrumentResults:
    """One study and instrument: its tables, and what its number means."""

    study: str
    instrument: str
    name: str  # its title, with the study where there are several
    in_text: str  # its name in running text
    plan: PlanFacts  # of the study
    measure: Measure
    scale: str  # of the measure, in a sentence
    facts: InstrumentFacts
    levels: Mapping[str, pl.DataFrame]  # its estimates by level, with the columns of `_leans`
    by_stereotype: pl.DataFrame  # of them those per stereotype; ``in_headline``: see `headline`
    words: pl.DataFrame  # of a study of people, those of the words and things; see `_words`
    by_model: pl.DataFrame  # and those over all stereotypes
    controls: pl.DataFrame  # the estimates of its controls, one row each
    tables: AnswerResults  # of both
    dimensions: tuple[str, ...]  # of stereotype content, by their labels
    short_names: Mapping[str, str]  # of the models, "" for one without a name, as they differ
    validities: Mapping[Run, Validity]  # of each model and mode

    @property
    def headline(self) -> pl.DataFrame:
        """The estimates per stereotype that headlines count: no word that is asked as people."""
        return self.by_stereotype.filter("in_headline")

    @property
    def several_runs(self) -> bool:
        """Whether there are several models or modes."""
        return self.by_stereotype.select("model", "mode").n_unique() > 1

    def works(self, run: Run) -> bool:
        """Whether no control failed of a model and mode; else nothing is told of its means."""
        validity = self.validities.get(run)
        return validity is None or validity.verdict != NOT_VALID

    @property
    def works_somewhere(self) -> bool:
        """Whether it works on any model in any mode, as far as is known."""
        return not self.validities or any(map(self.works, self.validities))

    @property
    def is_explicit(self) -> bool:
        """Whether the questions show what they are about."""
        return bool(self.by_model["explicit"].any())


def split(answers: AnswerResults) -> tuple[InstrumentResults, ...]:
    """Split results by study and instrument; controls go with the instrument they check.

    Result: in the order of the plan's instruments, then of the estimates.
    """
    planned = list(answers.plan.instruments)
    measured = answers.estimates.filter(pl.col("control").is_null())
    if measured.is_empty():  # controls alone
        measured = answers.estimates
    pairs = measured.select("study", "instrument").unique(maintain_order=True)
    measures = pairs.drop_nulls("instrument").rows()
    names = list(dict.fromkeys(study for study, _ in measures))
    word_studies = answers.plan.word_studies

    def sort_key(measure: tuple[str, str]) -> tuple[int, int, bool]:
        """Return the place of a study and instrument: people stand before their words."""
        study, instrument = measure
        study_rank = rank(word_studies.get(study, study), names)
        return rank(instrument, planned), study_rank, study not in word_studies

    measures.sort(key=sort_key)
    several = len(names) > 1
    return tuple(_narrow(answers, study, instrument, several) for study, instrument in measures)


def _narrow(
    answers: AnswerResults, study: str, instrument: str, several_studies: bool
) -> InstrumentResults:
    """Narrow results to one study and instrument, with the controls of the instrument."""
    plan = answers.plan.for_study(study)
    measure = _measure(answers, instrument)
    is_control = pl.col("control").is_not_null()
    # Of this study, and of control studies, which are controls of every study.
    is_in_scope = (pl.col("study") == study) | ~within_study(answers.estimates)
    estimates = answers.estimates.filter(is_in_scope, instrument=instrument)
    tables = answers.narrow_to_instrument(study, instrument)
    if estimates.filter(is_control)["dimension"].is_not_null().any():
        # A control of one dimension says nothing of the others: they are told apart by the mode.
        control_mode = mode_name("control_mode", "dimension").alias("control_mode")
        estimates = estimates.with_columns(control_mode)
        tables = replace(tables, reliability=tables.reliability.with_columns(control_mode))
    study_means = _leans(with_spread(estimates.filter(~is_control, study=study)), measure)
    in_headline = ~_is_named_as_people(answers, study, instrument)
    study_means = study_means.with_columns(in_headline=in_headline)
    levels = {level: study_means.filter(level=level) for level in LEVELS}
    dimensions = levels["stereotype"]["dimension"].drop_nulls().unique(maintain_order=True)
    # Those of decisions are ways of deciding.
    content_dimensions = dimensions.clear() if measure.asks == DECISIONS else dimensions
    controls = estimates.filter(is_control, level="stereotype")
    models = dict.fromkeys(model or "" for model in levels["stereotype"]["model"])
    return InstrumentResults(
        study=study,
        instrument=instrument,
        name=f"{measure.title} ({study})" if several_studies else measure.title,
        in_text=name_in_text(instrument, measure.title),
        plan=plan,
        measure=measure,
        scale=scale(measure),
        facts=plan.facts.get(instrument, InstrumentFacts()),
        levels=levels,
        by_stereotype=levels["stereotype"],
        words=_leans(with_spread(_words(answers, study, instrument)), measure),
        by_model=levels["model"],
        controls=controls,
        tables=tables,
        dimensions=tuple(plan.dimensions[key] for key in content_dimensions),
        short_names=short_names(list(models)),
        validities=judge_runs(levels["stereotype"], controls, tables.reliability),
    )


def _is_named_as_people(answers: AnswerResults, study: str, instrument: str) -> pl.Expr:
    """Tell which stereotypes of a study are asked in a study of people, too."""
    studies = [people for people, words in answers.plan.word_studies.items() if words == study]
    keys = _measured_stereotypes(answers, studies, instrument)
    return pl.col("stereotype").is_in(keys).fill_null(False)


def _measured_stereotypes(
    answers: AnswerResults, studies: Sequence[str], instrument: str
) -> list[str]:
    """Return the stereotypes of some studies that have estimates, controls left out."""
    rows = answers.estimates.filter(
        pl.col("study").is_in(studies), pl.col("control").is_null(), instrument=instrument
    )
    return rows["stereotype"].drop_nulls().unique().to_list()


def _words(answers: AnswerResults, study: str, instrument: str) -> pl.DataFrame:
    """Return the estimates of the words, and of the things, that a study of people stands for.

    `people_key`: the stereotype that they are of. No rows for another study.
    """
    word_study = answers.plan.word_studies.get(study, "")
    stereotypes = answers.plan.for_study(word_study).stereotypes
    names = {key: facts.control_for or key for key, facts in stereotypes.items()}
    rows = answers.estimates.filter(
        pl.col("control").fill_null("things") == "things",  # null: the words themselves
        *(pl.col("study") == word_study, pl.col("level") == "stereotype"),
        instrument=instrument,
    )
    people_key = pl.col("stereotype").replace_strict(names, default=None, return_dtype=pl.String)
    keys = _measured_stereotypes(answers, [study], instrument)
    return rows.with_columns(people_key=people_key).filter(pl.col("people_key").is_in(keys))


def _leans(means: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Add what a reader makes of each mean, and where it lies on the scale of all instruments.

    ``shown`` and ``interval``, as text; ``lean``, whether it leans in these prompts and in others,
    in words; ``share, share_low, share_high``, of the mean and its interval, and those of its
    interval in these prompts: shares of the way from neutral (0) to the end of the scale (1).
    `means`: with the columns of `with_spread`.
    """
    half = (measure.high - measure.low) / 2.0
    middle = measure.low + half if measure.neutral is None else measure.neutral
    ends = {
        "share": "estimate",
        **{"share_low": "ci_low", "share_high": "ci_high"},
        **{"share_low_bounded": "ci_low_bounded", "share_high_bounded": "ci_high_bounded"},
    }
    verdicts = means.select("verdict_bounded", "verdict", "conditional_on").rows()
    texts = (lean_text(*row, directed=measure.directed) for row in verdicts)
    leans = [
        ", ".join(filter(None, lean_texts))
        for lean_texts in zip(texts, means["mixed"], strict=True)
    ]
    return with_numbers(means).with_columns(
        pl.Series("lean", leans, dtype=pl.String),
        **{name: (pl.col(end) - middle) / half for name, end in ends.items()},
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
