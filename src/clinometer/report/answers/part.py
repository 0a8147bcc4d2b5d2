"""The part of a report about answers: what was asked, what was found, limits and sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from clinometer.report.answers.changes import changes
from clinometer.report.answers.examples import Example, example_section, examples
from clinometer.report.answers.explicit import explicit_section
from clinometer.report.answers.instrument import answers, brief, sections, warned
from clinometer.report.answers.results import (
    AnswerResults,
    InstrumentResults,
    instrument_results,
    read_results,
    trials_text,
)
from clinometer.report.answers.sizes import size_section
from clinometer.report.answers.summary import in_brief
from clinometer.report.answers.validity import validity
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import (
    SIGNS,
    first_few,
    rank,
    scale,
    verdict,
    verdict_class,
    verdict_kind,
)
from clinometer.report.sections import Finding, Passage, ReportPart, Source, Term, made_with
from clinometer.results import DECISIONS
from clinometer.results.progress import unfinished
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
_UNFINISHED = "The numbers are about these; repeat the command of the run to ask the others."
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
    results = read_results(directory)
    plan, each, picked = results.plan, instrument_results(results), examples(results)
    changed = [changes(asked) for asked in each]
    few_changes = sum(map(len, changed)) <= MOST_CHANGES
    names = plan.models or tuple(results.estimates["model"].drop_nulls().unique())
    dimensions = tuple(dict.fromkeys(name for asked in each for name in asked.dimensions))
    made = (
        explicit_section(results),
        size_section(results),
        example_section(picked, plan, dimensions=bool(dimensions)),
    )
    table, summary = brief(each), in_brief(directory, results)
    return ReportPart(
        key="answers",
        title="Answers",
        headline=f"Implicit bias of {first_few(names)}" if names else "Implicit bias report",
        version=plan.version,
        created=plan.created,
        names=names,
        facts=_facts(plan, each, dimensions),
        measured=_measured(results, each, picked, dimensions),
        findings=(
            *(
                Finding(model, "", f"{said}. {_UNFINISHED}")
                for model, said in unfinished(results.progress).items()
            ),
            *_findings(each, changed if few_changes else [()] * len(each)),
        ),
        table=table,
        summary=summary.page() if summary else None,
        sections=tuple(section for section in made if section),
        limits=_limits(results, each, dimensions),
        notes=_notes(plan),
        sources=tuple(
            Source(source.citation, source.bibtex) for source in plan.sources if source.citation
        ),
        setting=_setting(plan),
        parts=tuple(
            _branch(place, asked, () if few_changes else own, several=len(each) > 1)
            for place, (asked, own) in enumerate(zip(each, changed, strict=True), 1)
        ),
    )


def _branch(
    place: int, asked: InstrumentResults, changed: Sequence[Finding], *, several: bool
) -> ReportPart:
    """Make the branch of one study and instrument; where it is alone, the findings stand above."""
    return ReportPart(
        key=f"part-{place}",
        title=asked.name,
        note=scale(asked.measure),
        findings=(*answers(asked), *changed) if several else (),
        sections=tuple(s.numbered(place, figures=several) for s in sections(asked)),
    )


def _findings(
    each: Sequence[InstrumentResults], changed: Sequence[Sequence[Finding]]
) -> tuple[Finding, ...]:
    """Say in brief what was found: warnings beside a table, answers without one, and changes."""
    if not each:
        return (Finding("", "There are no estimates in these results."),)
    if each[1:]:
        found = [
            finding._replace(subject=f"{asked.name}; {finding.subject}")
            for of in ([warned(asked) for asked in each], changed)
            for asked, findings in zip(each, of, strict=True)
            for finding in findings
        ]
    else:
        found = [*(answers(each[0]) or warned(each[0])), *changed[0]]
    valid = [(asked.name, line) for asked in each if (line := validity(asked))]
    found[:0] = [
        line._replace(subject=f"{line.subject}, {name}") if each[1:] else line
        for name, line in valid
    ]
    if all(asked.each.is_empty() for asked in each):
        found.append(Finding("", "There are no estimates per stereotype in these results."))
    return tuple(found)


def _systems(plan: PlanFacts) -> tuple[Term, ...]:
    return tuple(Term(name, text) for name, text in plan.interventions if text)


def _facts(
    plan: PlanFacts, each: Sequence[InstrumentResults], dimensions: Sequence[str]
) -> tuple[Term, ...]:
    """Say who was asked what, for the head of the page."""
    recorded = plan.recorded_file
    terms = (
        ("Models", plan.models),
        ("Answers", [f"recorded elsewhere, {recorded}"] if recorded else []),
        ("Response modes", plan.modes),
        ("Wordings", plan.variations),
        ("Dimensions", dimensions),
        ("System prompts", [one.name for one in _systems(plan)]),
        ("Reasoning efforts", plan.efforts),
        ("Temperatures", plan.temperatures),
        *(("Study", [source.title or source.name]) for source in plan.sources),
        ("Size", [plan.size]),
        ("Trials per stereotype and mode", [f"{one.name} {trials_text(one)}" for one in each]),
    )
    shown = ((name, ", ".join(values)) for name, values in terms)
    return tuple(Term(name, text) for name, text in shown if text)


def _measured(
    results: AnswerResults,
    each: Sequence[InstrumentResults],
    picked: Sequence[Example],
    dimensions: Sequence[str],
) -> tuple[Passage, ...]:
    """Say what was measured: each instrument, how it was asked, and the verdicts."""
    plan, systems = results.plan, _systems(results.plan)
    whole = [one for one in picked if not one.by_word] or picked
    how = (
        (_MODES, True),
        (_DIMENSIONS.format(dimensions=", ".join(dimensions)), dimensions),
        (_SYSTEMS, systems),
        (_SHOWN, whole),
    )
    first = {asked.instrument: asked for asked in reversed(each)}
    return (
        Passage("", _measured_how(each)),
        *(_instrument(asked) for asked in reversed(first.values())),
        Passage(
            "How the models were asked",
            tuple(text for text, applies in how if applies),
            systems,
            whole[0].prompt(plan) if whole else None,
        ),
        Passage("What the verdicts mean", _thresholds(plan), _verdicts(results)),
    )


def _measured_how(each: Sequence[InstrumentResults]) -> tuple[str, ...]:
    """Say whether questions show what they are about, and which."""
    titles = ", ".join(dict.fromkeys(one.measure.title for one in each if _is_explicit(one)))
    if not titles:
        return (_MEASURED + _UNASKED,)
    return (_MEASURED, _EXPLICIT.format(titles=titles))


def _is_explicit(asked: InstrumentResults) -> bool:
    return bool(asked.whole["explicit"].any())


def _instrument(asked: InstrumentResults) -> Passage:
    measure, trial = asked.measure, asked.facts.trial
    source = f" Source: {measure.reference}." if measure.reference else ""
    kind = f"Asks for {measure.asks}." if measure.asks else ""
    one = f"A trial: {trial}." if trial else ""
    how = " ".join(filter(None, (kind, measure.how, one)))
    return Passage(measure.title, tuple(filter(None, (f"{scale(measure)}{source}", how))))


def _thresholds(plan: PlanFacts) -> tuple[str, ...]:
    margin, floor = plan.margin, plan.compliance_floor
    limits = [] if margin is None else [f"Margin of equivalence: ±{margin}."]
    limits += [] if floor is None else [f"No verdict below a compliance of {floor}."]
    return (" ".join(limits),) if limits else ()


def _verdicts(results: AnswerResults) -> tuple[Term, ...]:
    """Give the verdicts of this report in the order of their meaning."""
    codes, order = results.estimates["verdict"].drop_nulls().unique(), list(SIGNS)
    return tuple(
        Term(
            verdict(code),
            explained(code) or "See the statistics of this run.",
            f"verdict {verdict_class(code)}",
        )
        for code in sorted(codes, key=lambda code: (rank(verdict_kind(code), order), code))
    )


def _limits(
    results: AnswerResults, each: Sequence[InstrumentResults], dimensions: Sequence[str]
) -> tuple[str, ...]:
    """Give what the numbers of these instruments cannot show."""
    decides = any(asked.measure.asks == DECISIONS for asked in each)
    return (
        *_FORM,
        _STIMULI.format(languages=_languages(results.plan)),
        *dict.fromkeys(limit for asked in each for limit in asked.measure.limits),
        _DECLINED,
        *((_OF_DIMENSIONS,) if dimensions else ()),
        *(_OF_EXPLICIT if any(map(_is_explicit, each)) else ()),
        _INCONCLUSIVE + ("" if decides else _ELSEWHERE),
        _NO_CERTIFICATE,
        *_conditional(results),
    )


def _languages(plan: PlanFacts) -> str:
    """Name the languages that were asked in, as far as the plan says so."""
    names = ["English" if code == "en" else f"the language “{code}”" for code in plan.languages()]
    return " and ".join(names) or "the language of their study"


def _conditional(results: AnswerResults) -> list[str]:
    """Say what intervals hold fixed: a wording, a word, a draw; with few stereotypes variances."""
    estimates = results.estimates
    usual = estimates["conditional_on"].str.contains("usual variances").any()
    frame = estimates.filter(level="stereotype").with_columns(
        fixed=pl.col("conditional_on").str.extract_all("one [a-z ]+").list.join(" and ")
    )
    named = frame.filter(pl.col("fixed") != "").group_by("fixed", maintain_order=True)
    of = pl.struct("study", "stereotype").unique(maintain_order=True)
    labels = results.plan.labels
    single = [
        f"Some intervals rest on {fixed} and do not generalise beyond it: "
        f"{', '.join(labels([(one['study'], one['stereotype']) for one in stereotypes]))}."
        for fixed, stereotypes in named.agg(of.alias("of")).iter_rows()
    ]
    return [_USUAL, *single] if usual else single


def _notes(plan: PlanFacts) -> tuple[Passage, ...]:
    """Give the notes of the study, and the defects kept of each, by stereotype."""
    each = [(study, s) for study, one in plan.studies.items() for s in one.stereotypes.values()]
    labels = plan.labels([(study, s.key) for study, s in each])
    defects = tuple(
        f"{label}: {defect}"
        for label, (_, s) in zip(labels, each, strict=True)
        for defect in s.defects
    )
    return (
        Passage("Notes of the study", points=plan.notes),
        Passage("Defects of the source kept verbatim", points=defects),
    )


def _setting(plan: PlanFacts) -> tuple[Term, ...]:
    """Say what it takes to ask the same again."""
    terms = [("Command", plan.command)]
    libraries = plan.versions
    if not plan.recorded_file:  # of recorded answers it is not known how they were asked
        terms += [("Seed", plan.seed), ("Order", plan.order), ("Word list", plan.word_list)]
        terms.append(("Trials per stereotype and wording", "; ".join(plan.planned)))
        libraries = plan.generation + libraries
    for source in plan.sources:
        hashed = f", hash {source.study_hash}" if source.study_hash else ""
        terms.append(("Study", source.name + hashed if source.name else ""))
    terms.append(("Recorded answers, SHA-256", plan.recorded_answers))
    terms = [term for term in terms if term[1]]
    terms += [(name, value or "not set") for name, value in libraries]
    setting = [Term(name, text, "code") for name, text in terms]
    return (*setting, *made_with(plan.version, plan.created))
