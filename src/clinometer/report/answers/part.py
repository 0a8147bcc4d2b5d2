"""The part of a report about answers: what was asked, what was found, limits and sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from clinometer.report.answers.changes import changes
from clinometer.report.answers.examples import Example, example_section, examples
from clinometer.report.answers.explicit import explicit_section
from clinometer.report.answers.findings import answer_findings, brief_findings, verdict_table
from clinometer.report.answers.instrument import sections
from clinometer.report.answers.results import (
    AnswerResults,
    InstrumentResults,
    read_results,
    trials_text,
)
from clinometer.report.answers.sensitivity import sensitivity
from clinometer.report.answers.sizes import size_section
from clinometer.report.answers.summary import sum_up
from clinometer.report.frames import rank
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import (
    SIGNS,
    first_few,
    scale,
    verdict,
    verdict_class,
    verdict_kind,
)
from clinometer.report.sections import (
    Finding,
    Passage,
    ReportPart,
    Section,
    Source,
    Term,
    made_with,
)
from clinometer.results import DECISIONS
from clinometer.results.verdicts import explained

__all__ = ["answer_part"]

#: Above this many, what system prompts change stands with each measure, not in brief.
MOST_CHANGES = 6

_MEASURED = (
    "Implicit bias shows in what a model does, not in what it says about itself. The models were "
    "given prompts about pairs of social groups, and their answers were scored."
)
_UNASKED = " They were not asked for an opinion."
_EXPLICIT = (
    "Some questions show what they are about ({titles}). They measure what a model says where it "
    "can tell that groups are compared, beside what it does."
)
_MODES = (
    "Response modes ask for the answer in different ways: “free” text as published; “structured”, "
    "limited to the options given; “forced”, one word at a time, read from the probabilities of "
    "the two options. They measure related but different things and are never pooled."
)
_DIMENSIONS = (
    "If a study distinguishes dimensions of stereotype content ({dimensions}), each stereotype is "
    "measured with the words of one dimension at a time. The dimension is named beside the mode. "
    "Dimensions are never pooled."
)
_SYSTEMS = (
    "Each prompt was also asked with a system prompt before it. The system prompt is named beside "
    "the mode."
)
_SHOWN = "Answers to such prompts are shown under “Prompts and answers”."

#: What these numbers cannot show.
_FORM = (
    "A score describes answers to these prompts. It shows no intent, belief or inner state.",
    "The groups are called “marginalized” and “default” as in the source study. The words fix the "
    "sign of the score, not the worth of anyone.",
)
_STIMULI = (
    "Stimuli are in {languages}, written for the places that their study is about. They do not "
    "represent other languages, cultures or groups, and two-group contrasts leave out everyone "
    "else."
)
_DECLINED = (
    "A model that declines is not thereby unbiased: its answer is unknown, and whether it declines "
    "may depend on the group. The worst-case bounds include every possible answer."
)
_OF_DIMENSIONS = (
    "Dimensions rest on different words. A difference between the means of two dimensions may be "
    "due to these words rather than to the dimensions."
)
_OF_EXPLICIT = (
    "Where a question shows what it is about, a model may answer as it was trained to answer such "
    "questions. An answer near neutral does not show that there is no implicit bias, and a "
    "difference between both kinds of measure does not show that a model hides one. Their scores "
    "have the same range, not the same unit.",
)
_INCONCLUSIVE = (
    "“Inconclusive” does not mean “unbiased”, and a score near neutral says nothing about tasks "
    "that were not measured."
)
_ELSEWHERE = " Bias in decisions must be measured with decisions."
_USUAL = (
    "Where fewer than five stereotypes were asked, or no answers differ, intervals take wordings, "
    "words and answers to vary as they usually do. If they vary far more, these are too narrow."
)
_NO_CERTIFICATE = (
    "A score alone does not certify a model. A low score does not replace a test in the setting "
    "where the model will be used."
)


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
    models = plan.models or tuple(answers.estimates["model"].drop_nulls().unique())
    dimensions = _dimensions(instruments)
    brief_changes, branch_changes = _split_changes(instruments)
    summary = sum_up(directory, answers)
    return ReportPart(
        key="answers",
        title="Answers",
        headline=f"Implicit bias of {first_few(models)}" if models else "Implicit bias report",
        version=plan.version,
        created=plan.created,
        names=models,
        facts=_facts(plan, instruments, dimensions),
        measured=_measured(answers, instruments, picks, dimensions),
        findings=brief_findings(answers, brief_changes),
        table=verdict_table(instruments),
        summary=summary.page() if summary else None,
        sections=_sections(answers, picks, dimensions),
        limits=_limits(answers, instruments, dimensions),
        notes=_notes(plan),
        sources=_sources(plan),
        setting=_setting(plan),
        parts=_branches(instruments, branch_changes),
    )


def _dimensions(instruments: Sequence[InstrumentResults]) -> tuple[str, ...]:
    """Return the dimensions of stereotype content that any instrument has, each once."""
    return tuple(dict.fromkeys(name for results in instruments for name in results.dimensions))


def _split_changes(
    instruments: Sequence[InstrumentResults],
) -> tuple[list[tuple[Finding, ...]], list[tuple[Finding, ...]]]:
    """Return what changes with each instrument: what is said in brief, and with the measure.

    Of few, all is said in brief; of many, all stands with the measure.
    """
    findings = [changes(results) for results in instruments]
    nothing: list[tuple[Finding, ...]] = [()] * len(instruments)
    few = sum(map(len, findings)) <= MOST_CHANGES
    return (findings, nothing) if few else (nothing, findings)


def _sections(
    answers: AnswerResults, picks: Sequence[Example], dimensions: Sequence[str]
) -> tuple[Section, ...]:
    """Make the sections that are about several instruments."""
    in_order = (
        explicit_section(answers),
        size_section(answers.plan, answers.instruments),
        example_section(picks, answers.plan, dimensions=bool(dimensions)),
    )
    return tuple(section for section in in_order if section)


def _sources(plan: PlanFacts) -> tuple[Source, ...]:
    """Return what to cite."""
    return tuple(
        Source(source.citation, source.bibtex) for source in plan.sources if source.citation
    )


def _branches(
    instruments: Sequence[InstrumentResults], change_findings: Sequence[Sequence[Finding]]
) -> tuple[ReportPart, ...]:
    """Make a branch for each study and instrument, with what changes there."""
    several = len(instruments) > 1
    return tuple(
        _branch(place, results, findings, several=several)
        for place, (results, findings) in enumerate(
            zip(instruments, change_findings, strict=True), 1
        )
    )


def _branch(
    place: int, results: InstrumentResults, change_findings: Sequence[Finding], *, several: bool
) -> ReportPart:
    """Make the branch of one study and instrument; where it is alone, the findings stand above."""
    return ReportPart(
        key=f"part-{place}",
        title=results.name,
        note=scale(results.measure),
        findings=(*answer_findings(results), *change_findings) if several else (),
        sections=tuple(s.numbered(place, figures=several) for s in sections(results)),
    )


def _system_prompts(plan: PlanFacts) -> tuple[Term, ...]:
    return tuple(Term(name, text) for name, text in plan.interventions if text)


def _facts(
    plan: PlanFacts, instruments: Sequence[InstrumentResults], dimensions: Sequence[str]
) -> tuple[Term, ...]:
    """Say who was asked what, for the head of the page."""
    recorded = plan.recorded_file
    trials = [f"{results.name} {trials_text(results)}" for results in instruments]
    terms = (
        ("Models", plan.models),
        ("Answers", [f"recorded elsewhere, {recorded}"] if recorded else []),
        ("Response modes", plan.modes),
        ("Wordings", plan.variations),
        ("Dimensions", dimensions),
        ("System prompts", [prompt.name for prompt in _system_prompts(plan)]),
        ("Reasoning efforts", plan.efforts),
        ("Temperatures", plan.temperatures),
        *(("Study", [source.title or source.name]) for source in plan.sources),
        ("Size", [plan.size]),
        ("Trials per stereotype and mode", trials),
    )
    texts = ((name, ", ".join(values)) for name, values in terms)
    return tuple(Term(name, text) for name, text in texts if text)


def _measured(
    answers: AnswerResults,
    instruments: Sequence[InstrumentResults],
    picks: Sequence[Example],
    dimensions: Sequence[str],
) -> tuple[Passage, ...]:
    """Say what was measured: each instrument, how it was asked, and the verdicts."""
    plan = answers.plan
    prompts = _system_prompts(plan)
    # A prompt that is asked word by word is the worse example.
    quotable = [example for example in picks if not example.by_word] or picks
    texts = (
        (_MODES, True),
        (_DIMENSIONS.format(dimensions=", ".join(dimensions)), dimensions),
        (_SYSTEMS, prompts),
        (_SHOWN, quotable),
    )
    # Twice reversed: of an instrument in two studies the first stays, in its place.
    first = {results.instrument: results for results in reversed(instruments)}
    return (
        Passage("", _measured_how(instruments)),
        *map(_instrument_passage, reversed(first.values())),
        Passage(
            "How the models were asked",
            tuple(text for text, applies in texts if applies),
            prompts,
            quotable[0].prompt(plan) if quotable else None,
        ),
        Passage("What the verdicts mean", _thresholds(plan), _verdicts(answers)),
    )


def _measured_how(instruments: Sequence[InstrumentResults]) -> tuple[str, ...]:
    """Say whether questions show what they are about, and which."""
    explicit = [results.measure.title for results in instruments if results.is_explicit]
    if not explicit:
        return (_MEASURED + _UNASKED,)
    return (_MEASURED, _EXPLICIT.format(titles=", ".join(dict.fromkeys(explicit))))


def _instrument_passage(results: InstrumentResults) -> Passage:
    """State the scale and source of an instrument, and what a trial of it is."""
    measure = results.measure
    source = f" Source: {measure.reference}." if measure.reference else ""
    kind = f"Asks for {measure.asks}." if measure.asks else ""
    trial = f"A trial: {results.facts.trial}." if results.facts.trial else ""
    method = " ".join(filter(None, (kind, measure.how, trial)))
    texts = (f"{scale(measure)}{source}", method, sensitivity(results))
    return Passage(measure.title, tuple(filter(None, texts)))


def _thresholds(plan: PlanFacts) -> tuple[str, ...]:
    margin, floor = plan.margin, plan.compliance_floor
    limits = [] if margin is None else [f"Margin of equivalence: ±{margin}."]
    limits += [] if floor is None else [f"No verdict below a compliance of {floor}."]
    return (" ".join(limits),) if limits else ()


def _verdicts(answers: AnswerResults) -> tuple[Term, ...]:
    """Explain the verdicts of this report, in the order of their meaning."""
    order = list(SIGNS)
    codes = answers.estimates["verdict"].drop_nulls().unique()
    terms = []
    for code in sorted(codes, key=lambda code: (rank(verdict_kind(code), order), code)):
        text = explained(code) or "See the statistics of this run."
        terms.append(Term(verdict(code), text, f"verdict {verdict_class(code)}"))
    return tuple(terms)


def _limits(
    answers: AnswerResults, instruments: Sequence[InstrumentResults], dimensions: Sequence[str]
) -> tuple[str, ...]:
    """Say what the numbers of these instruments cannot show."""
    decides = any(results.measure.asks == DECISIONS for results in instruments)
    return (
        *_FORM,
        _STIMULI.format(languages=_languages(answers.plan)),
        *dict.fromkeys(limit for results in instruments for limit in results.measure.limits),
        _DECLINED,
        *((_OF_DIMENSIONS,) if dimensions else ()),
        *(_OF_EXPLICIT if any(results.is_explicit for results in instruments) else ()),
        _INCONCLUSIVE + ("" if decides else _ELSEWHERE),
        _NO_CERTIFICATE,
        *_conditional(answers),
    )


def _languages(plan: PlanFacts) -> str:
    """Name the languages that were asked in, as far as the plan says so."""
    codes = dict.fromkeys(source.language for source in plan.sources if source.language)
    names = ["English" if code == "en" else f"the language “{code}”" for code in codes]
    return " and ".join(names) or "the language of their study"


def _conditional(answers: AnswerResults) -> list[str]:
    """Say what intervals hold fixed: a wording, a word, a draw; with few stereotypes variances."""
    estimates = answers.estimates
    usual = estimates["conditional_on"].str.contains("usual variances").any()
    frame = estimates.filter(level="stereotype").with_columns(
        fixed=pl.col("conditional_on").str.extract_all("one [a-z ]+").list.join(" and ")
    )
    by_fixed = frame.filter(pl.col("fixed") != "").group_by("fixed", maintain_order=True)
    keys = pl.struct("study", "stereotype").unique(maintain_order=True)
    sentences = [_USUAL] if usual else []
    for fixed, stereotypes in by_fixed.agg(keys.alias("stereotypes")).iter_rows():
        labels = answers.plan.labels([(key["study"], key["stereotype"]) for key in stereotypes])
        sentences.append(
            f"Some intervals rest on {fixed} and do not generalise beyond it: {', '.join(labels)}."
        )
    return sentences


def _notes(plan: PlanFacts) -> tuple[Passage, ...]:
    """Return the notes of the study, and the defects that were kept, by stereotype."""
    stereotypes = [
        (study, stereotype)
        for study, stimuli in plan.studies.items()
        for stereotype in stimuli.stereotypes.values()
    ]
    labels = plan.labels([(study, stereotype.key) for study, stereotype in stereotypes])
    defects = []
    for label, (_, stereotype) in zip(labels, stereotypes, strict=True):
        defects += [f"{label}: {defect}" for defect in stereotype.defects]
    return (
        Passage("Notes of the study", points=plan.notes),
        Passage("Defects of the source kept verbatim", points=tuple(defects)),
    )


def _setting(plan: PlanFacts) -> tuple[Term, ...]:
    """Say what it takes to ask the same again."""
    terms = [("Command", plan.command)]
    values = plan.versions
    if not plan.recorded_file:  # of recorded answers it is not known how they were asked
        terms += [("Seed", plan.seed), ("Order", plan.order), ("Word list", plan.word_list)]
        terms.append(("Trials per stereotype and wording", "; ".join(plan.planned)))
        values = plan.generation + values
    for source in plan.sources:
        study_hash = f", hash {source.study_hash}" if source.study_hash else ""
        terms.append(("Study", source.name + study_hash if source.name else ""))
    terms.append(("Recorded answers, SHA-256", plan.recorded_answers))
    terms = [term for term in terms if term[1]]
    # After the filter: a setting of the generation that is empty says so.
    terms += [(name, value or "not set") for name, value in values]
    setting = [Term(name, text, "code") for name, text in terms]
    return (*setting, *made_with(plan.version, plan.created))
