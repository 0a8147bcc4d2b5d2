"""The part of a report about answers: what was asked, what was found, limits and sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from clinometer.pieces.frames import rank
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts, SourceFacts
from clinometer.pieces.prose import SIGNS, first_few, verdict, verdict_class, verdict_kind
from clinometer.pieces.sections import Passage, ReportPart, Source, Statement, Term, version_terms
from clinometer.pieces.views import AnswerResults, InstrumentResults, trials_text
from clinometer.report.answers.changes import changes
from clinometer.report.answers.earlier import read_earlier
from clinometer.report.answers.examples import ExampleAnswer, example_section, examples
from clinometer.report.answers.explicit import explicit_section
from clinometer.report.answers.findings import answer_findings, brief_findings, verdict_table
from clinometer.report.answers.instrument import instrument_sections
from clinometer.report.answers.reading import read_results
from clinometer.report.answers.sensitivity import sensitivity
from clinometer.report.answers.sizes import size_section
from clinometer.report.answers.summary import sum_up
from clinometer.results import DECISIONS
from clinometer.results.verdicts import explained

#: Above this many, what system prompts change stands with each measure, not in brief.
MOST_CHANGES = 6


def answer_part(directory: Path) -> ReportPart | None:
    """Make the part of a report about answers, with a branch per study and instrument.

    `directory`: may hold ``plan.json`` and ``estimates.parquet``.
    Raises InputError if there are no estimates, or a table is malformed.
    None where there is no plan: without one nothing was asked.
    """
    if not (directory / "plan.json").is_file():
        return None
    answers = read_results(directory)
    plan = answers.plan
    instruments = answers.instruments
    picks = examples(answers)
    example_answers = example_section(picks, answers)
    summary = sum_up(answers, read_earlier(directory, plan))
    sections = (explicit_section(answers), size_section(plan, instruments), example_answers)
    brief_changes, branch_changes = _split_changes(instruments)
    models = plan.models or tuple(answers.estimates["model"].drop_nulls().unique())
    return ReportPart(
        key="answers",
        title="Answers",
        headline=f"Implicit bias of {first_few(models)}" if models else "Implicit bias report",
        version=plan.version,
        created=plan.created,
        names=models,
        # What was found.
        summary=summary.page() if summary else None,
        findings=brief_findings(answers, brief_changes),
        table=verdict_table(instruments),
        sections=tuple(section for section in sections if section),
        parts=_branches(instruments, branch_changes),
        # What was asked, and what that cannot show.
        facts=_facts(answers),
        measured=_measured(answers, picks),
        limits=_limits(answers),
        notes=_notes(plan),
        sources=_sources(plan),
        setting=_setting(plan),
    )


def _split_changes(
    instruments: Sequence[InstrumentResults],
) -> tuple[list[tuple[Statement, ...]], list[tuple[Statement, ...]]]:
    """Return what changes with each instrument: what is said in brief, and with the measure.

    Of few, all is said in brief; of many, all stands with the measure.
    """
    findings = [changes(results) for results in instruments]
    nothing: list[tuple[Statement, ...]] = [()] * len(instruments)
    few = sum(map(len, findings)) <= MOST_CHANGES
    return (findings, nothing) if few else (nothing, findings)


def _sources(plan: PlanFacts) -> tuple[Source, ...]:
    """Return what to cite."""
    return tuple(
        Source(source.citation, source.bibtex) for source in plan.sources if source.citation
    )


def _branches(
    instruments: Sequence[InstrumentResults], change_findings: Sequence[Sequence[Statement]]
) -> tuple[ReportPart, ...]:
    """Make a branch for each study and instrument, with what changes there."""
    several = len(instruments) > 1
    branches = []
    for place, (results, changed) in enumerate(zip(instruments, change_findings, strict=True), 1):
        sections = instrument_sections(results)
        branch = ReportPart(
            key=f"part-{place}",
            title=results.name,
            note=results.scale,
            # Where it is alone, the findings stand above.
            findings=(*answer_findings(results), *changed) if several else (),
            sections=tuple(section.numbered(place, figures=several) for section in sections),
        )
        branches.append(branch)
    return tuple(branches)


def _system_prompts(plan: PlanFacts) -> tuple[Term, ...]:
    return tuple(Term(name, text) for name, text in plan.interventions if text)


def _facts(answers: AnswerResults) -> tuple[Term, ...]:
    """Say who was asked what, for the head of the page."""
    plan = answers.plan
    recorded = plan.recorded_file
    trials = [f"{results.name} {trials_text(results)}" for results in answers.instruments]
    terms = (
        ("Models", plan.models),
        ("Answers", [f"recorded elsewhere, {recorded}"] if recorded else []),
        ("Response modes", plan.modes),
        ("Wordings", plan.variations),
        ("Dimensions", answers.dimensions),
        ("System prompts", [prompt.name for prompt in _system_prompts(plan)]),
        ("Reasoning efforts", plan.efforts),
        ("Temperatures", plan.temperatures),
        *(("Study", [source.title or source.name]) for source in plan.sources),
        ("Size", [plan.size]),
        ("Trials per stereotype and mode", trials),
    )
    texts = ((name, ", ".join(values)) for name, values in terms)
    return tuple(Term(name, text) for name, text in texts if text)


def _measured(answers: AnswerResults, picks: Sequence[ExampleAnswer]) -> tuple[Passage, ...]:
    """Say what was measured: each instrument, how it was asked, and the verdicts."""
    plan = answers.plan
    prompts = _system_prompts(plan)
    # A prompt that is asked word by word is the worse example.
    quotable = [example for example in picks if not example.by_word] or picks
    explicit = [results.measure.title for results in answers.instruments if results.is_explicit]
    values = {
        "dimensions": answers.dimensions,
        "has_system_prompts": bool(prompts),
        "has_examples": bool(picks),
    }
    # Twice reversed: of an instrument in two studies the first stays, in its place.
    first = {results.instrument: results for results in reversed(answers.instruments)}
    return (
        Passage("", Paragraphs("measured", {"explicit": tuple(dict.fromkeys(explicit))})),
        *map(_instrument_passage, reversed(first.values())),
        Passage(
            "How the models were asked",
            Paragraphs("asked", values),
            prompts,
            quotable[0].prompt(plan) if quotable else None,
        ),
        Passage("What the verdicts mean", _thresholds(plan), _verdicts(answers)),
    )


def _instrument_passage(results: InstrumentResults) -> Passage:
    """State the scale and source of an instrument, and what a trial of it is."""
    measure = results.measure
    source = f" Source: {measure.reference}." if measure.reference else ""
    kind = f"Asks for {measure.asks}." if measure.asks else ""
    trial = f"A trial: {results.facts.trial}." if results.facts.trial else ""
    method = " ".join(filter(None, (kind, measure.how, trial)))
    texts = (f"{results.scale}{source}", method, sensitivity(results))
    return Passage(measure.title, tuple(filter(None, texts)))


def _thresholds(plan: PlanFacts) -> tuple[str, ...]:
    margin, floor = plan.margin, plan.compliance_floor
    limits = [] if margin is None else [f"Margin of equivalence: ±{margin}."]
    limits += [] if floor is None else [f"No verdict below a compliance of {floor}."]
    return (" ".join(limits),) if limits else ()


def _verdicts(answers: AnswerResults) -> tuple[Term, ...]:
    """Explain the verdicts of this report, in the order of their meaning."""
    order = list(SIGNS)
    columns_by_range = ("verdict", "verdict_bounded")
    verdicts = (
        pl.concat([answers.estimates.select("directed", verdict=name) for name in columns_by_range])
        .drop_nulls("verdict")
        .unique()
        .select("verdict", "directed")
        .rows()
    )
    terms = {}
    for code, directed in sorted(
        verdicts, key=lambda row: (rank(verdict_kind(row[0]), order), row)
    ):
        name = verdict(code, directed=directed)
        text = explained(code, directed=directed) or "See the statistics of this run."
        terms[name] = Term(name, text, f"verdict {verdict_class(code)}")
    return tuple(terms.values())


def _limits(answers: AnswerResults) -> Paragraphs:
    """Say what the numbers of these instruments cannot show."""
    measures = [results.measure for results in answers.instruments]
    limits = [limit for measure in measures for limit in measure.limits]
    values = {
        "languages": _languages(answers.plan),
        "limits": tuple(dict.fromkeys(limits)),
        "has_dimensions": bool(answers.dimensions),
        "is_explicit": any(results.is_explicit for results in answers.instruments),
        "decides": any(measure.asks == DECISIONS for measure in measures),
        "conditional": _conditional(answers.estimates, answers.plan),
    }
    return Paragraphs("limits", values)


def _languages(plan: PlanFacts) -> str:
    """Name the languages that were asked in, as far as the plan says so."""
    codes = dict.fromkeys(source.language for source in plan.sources if source.language)
    names = ["English" if code == "en" else f"the language “{code}”" for code in codes]
    return " and ".join(names) or "the language of their study"


def _conditional(estimates: pl.DataFrame, plan: PlanFacts) -> list[tuple[str, list[str]]]:
    """Return what intervals hold fixed (a wording, a word, a draw), and of which stereotypes."""
    frame = estimates.filter(level="stereotype").with_columns(
        fixed=pl.col("conditional_on").str.extract_all("one [a-z ]+").list.join(" and ")
    )
    by_fixed = frame.filter(pl.col("fixed") != "").group_by("fixed", maintain_order=True)
    labels = {}
    for (fixed,), rows in by_fixed:
        keys = rows.select("study", "stereotype").unique(maintain_order=True).rows()
        labels[str(fixed)] = [plan.full_labels.get(key, key[1]) for key in keys]
    return list(labels.items())


def _notes(plan: PlanFacts) -> tuple[Passage, ...]:
    """Return the notes of the study, and the defects that were kept, by stereotype."""
    defects = []
    for (study, key), label in plan.full_labels.items():
        stereotype = plan.studies[study].stereotypes[key]
        defects += [f"{label}: {defect}" for defect in stereotype.defects]
    return (
        Passage("Notes of the study", points=plan.notes),
        Passage("Defects of the source kept verbatim", points=tuple(defects)),
    )


def _setting(plan: PlanFacts) -> tuple[Term, ...]:
    """Say what it takes to ask the same again."""
    question_terms = (
        ("Seed", plan.seed),
        ("Order", plan.order),
        ("Word list", plan.word_list),
        ("Trials per stereotype and wording", "; ".join(plan.planned)),
    )
    terms = (
        ("Command", plan.command),
        # Of recorded answers it is not known how they were asked.
        *(() if plan.recorded_file else question_terms),
        *(("Study", _study_text(source)) for source in plan.sources),
        ("Recorded answers, SHA-256", plan.recorded_answers),
    )
    values = plan.versions if plan.recorded_file else plan.generation + plan.versions
    return (
        *(Term(name, text, "code") for name, text in terms if text),
        *(Term(name, value or "not set", "code") for name, value in values),
        *version_terms(plan.version, plan.created),
    )


def _study_text(source: SourceFacts) -> str:
    """Name a study, with the hash of its file; empty where it has no name."""
    study_hash = f", hash {source.study_hash}" if source.study_hash else ""
    return source.name + study_hash if source.name else ""
