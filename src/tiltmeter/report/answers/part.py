"""The part of a report about answers: what was asked, what was found, limits and sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from tiltmeter.report.answers.examples import Example, example_section, examples
from tiltmeter.report.answers.instrument import Asked, all_asked, brief
from tiltmeter.report.answers.results import Results, read_results
from tiltmeter.report.answers.sizes import size_section
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import SIGNS, first_few, scale, verdict, verdict_class, verdict_kind
from tiltmeter.report.sections import Finding, Part, Passage, Source, Term, made_with
from tiltmeter.results.verdicts import VERDICTS

__all__ = ["answer_part"]

#: Above this many, what system prompts change stands with each measure, not in brief.
MOST_CHANGES = 6

_MEASURED = (
    "An implicit bias shows in what a model does, not in what it says about itself. The models "
    "were given prompts about pairs of social groups, and their answers were scored. Nobody asked "
    "them for an opinion."
)
_MODES = (
    "Response modes ask for the answer in different ways: “free” text as published; “structured”, "
    "limited to the options given; “forced”, one word at a time, read from the probabilities of "
    "the two options. They measure related but different things and are never pooled."
)
_DIMENSIONS = (
    "Where a study tells dimensions of stereotype content apart ({dimensions}), each stereotype is "
    "asked about with the words of one dimension at a time. The dimension is named beside the "
    "mode, and never pooled."
)
_SYSTEMS = (
    "Every prompt was also asked with a system prompt before it, which is named beside the mode."
)
_SHOWN = "Answers to such prompts stand under “Prompts and answers”."

#: What these numbers cannot show; the second few of decisions, of attributions, of either alone.
_FORM = (
    "The test borrows its form from the Implicit Association Test, but it is not one: no person is "
    "measured, no reaction time is taken, and scores cannot be set beside human IAT scores.",
    "A score describes answers to these prompts. It shows no intent, belief or inner state.",
    "Stimuli are English and come mostly from research in the United States. They do not stand for "
    "other languages, cultures or groups, and two-group contrasts leave out everyone else.",
    "The groups are called “marginalized” and “default” as in the source study; the words fix the "
    "sign of the score, not the worth of anyone.",
)
_OF_DECISIONS = (
    "The decision tasks are built from the same word lists as the association test, so that the "
    "two can be compared. They are hypothetical and few: they do not stand for the decisions a "
    "model takes part in elsewhere, and they are no audit of hiring or of any other practice.",
    "A rule reads the decisions from free text. How well it agrees with the labels the authors "
    "gave by hand is measured; the README of Tiltmeter has the numbers. The marked passages under "
    "“Prompts and answers” let anyone check.",
    "A model that declines is not thereby unbiased: what it would have decided is unknown, and "
    "whom it declines to speak about may itself depend on the group. The worst-case bounds state "
    "the gap.",
)
_OF_ATTRIBUTIONS = (
    "Comedy and tragedy are a model’s names for its own description of a thing, after it was made "
    "to think of somebody. They are no judgement it passes on a group, and do not say what it "
    "would write or decide about one. Answers that name neither or both count as neutral, though "
    "neutral was not among the options.",
)
_DECLINED = (
    "A model that declines is not thereby unbiased: what it would have answered is unknown, and "
    "after which groups it declines is itself a result. The worst-case bounds state the gap."
)
_OF_DIMENSIONS = (
    "Dimensions rest on different words. Where the mean of one is larger than that of another, the "
    "words may be the reason, and not only what they stand for."
)
_NO_ALL_CLEAR = (
    "Nothing here is an all-clear. “Inconclusive” is not “unbiased”, and a score near neutral says "
    "nothing about tasks that were not measured."
)
_ELSEWHERE = " Whether a lean shows in decisions must be measured there."
_NO_CERTIFICATE = (
    "A score on its own does not certify a model, and a low one is no ground to skip testing in "
    "the setting where the model will be used."
)


def answer_part(directory: Path) -> Part | None:
    """Make the part of a report about answers, with a branch per study and instrument.

    `directory`: may hold ``plan.json`` and ``estimates.parquet``.
    Raises InputError if there are no estimates, or a table is malformed.
    None where there is no plan: without one nothing was asked.
    """
    if not (directory / "plan.json").is_file():
        return None
    results = read_results(directory)
    plan, asked, picked = results.plan, all_asked(results), examples(results)
    few_changes = sum(len(one.changes) for one in asked) <= MOST_CHANGES
    names = plan.texts("models") or tuple(results.estimates["model"].drop_nulls().unique())
    dimensions, decides = bool(_dimensions(asked)), any(one.decides for one in asked)
    made = (
        size_section(results),
        example_section(picked, plan, dimensions=dimensions, decides=decides),
    )
    return Part(
        key="answers",
        title="Answers",
        headline=f"Implicit bias of {first_few(names)}" if names else "Implicit bias report",
        plan=plan,
        names=names,
        facts=_facts(plan, _dimensions(asked)),
        measured=_measured(results, asked, picked),
        findings=_findings(asked, few_changes=few_changes),
        table=brief(asked, plan),
        sections=tuple(section for section in made if section),
        limits=_limits(results, asked),
        notes=_notes(plan),
        sources=tuple(Source(o["citation"], o["bibtex"]) for o in plan.sources() if o["citation"]),
        setting=_setting(plan),
        parts=tuple(
            Part(
                key=f"part-{place}",
                title=one.name,
                note=scale(one.measure),
                findings=(*one.answers, *(() if few_changes else one.changes)) if asked[1:] else (),
                sections=one.sections,
            )
            for place, one in enumerate(asked, 1)
        ),
    )


def _findings(asked: Sequence[Asked], *, few_changes: bool) -> tuple[Finding, ...]:
    """Say in brief what was found: warnings beside a table, answers without one, and changes."""
    if not asked:
        return (Finding("", "There are no estimates in these results."),)
    several = len(asked) > 1
    findings = [] if several else list(asked[0].answers)
    if several or not findings:
        findings += [
            Finding(_of(one, f"{row['model']}, mode {row['mode']}", several), "", row["warning"])
            for one in asked
            for row in one.briefs
            if row["warning"]
        ]
    if few_changes:
        findings += [
            change._replace(subject=_of(one, change.subject, several))
            for one in asked
            for change in one.changes
        ]
    if not any(one.briefs for one in asked):
        findings.append(Finding("", "There are no estimates per stereotype in these results."))
    return tuple(findings)


def _of(one: Asked, subject: str, several: bool) -> str:
    return f"{one.name}; {subject}" if several else subject


def _dimensions(asked: Sequence[Asked]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in asked for name in one.dimensions))


def _systems(plan: Plan) -> tuple[Term, ...]:
    return tuple(Term(name, text) for name, text in plan.pairs("interventions") if text)


def _facts(plan: Plan, dimensions: Sequence[str]) -> tuple[Term, ...]:
    """Say who was asked what, for the head of the page."""
    draws = f", {plan.text('iterations')} draws per stereotype, wording and mode"
    size = plan.text("size") + (draws if plan.text("iterations") else "")
    terms = (
        ("Models", plan.texts("models")),
        ("Response modes", plan.texts("modes")),
        ("Wordings", plan.texts("variations")),
        ("Dimensions", dimensions),
        ("System prompts", [one.name for one in _systems(plan)]),
        *(("Study", [one["title"] or one["name"]]) for one in plan.sources()),
        ("Size", [size] if plan.text("size") else []),
    )
    shown = ((name, ", ".join(values)) for name, values in terms)
    return tuple(Term(name, text) for name, text in shown if text)


def _measured(
    results: Results, asked: Sequence[Asked], picked: Sequence[Example]
) -> tuple[Passage, ...]:
    """Say what was measured: each instrument, how it was asked, and the verdicts."""
    plan, dimensions, systems = results.plan, _dimensions(asked), _systems(results.plan)
    each = {one.instrument: one for one in reversed(asked)}
    of_dimensions = _DIMENSIONS.format(dimensions=", ".join(dimensions))
    whole = [one for one in picked if not one.by_word] or picked
    return (
        Passage("", (_MEASURED,)),
        *(_measure(each[name]) for name in reversed(each)),
        Passage(
            "How the models were asked",
            (
                _MODES,
                *([of_dimensions] if dimensions else []),
                *([_SYSTEMS] if systems else []),
                *([_SHOWN] if whole else []),
            ),
            systems,
            whole[0].prompt(plan) if whole else None,
        ),
        Passage("What the verdicts mean", _thresholds(plan), _verdicts(results)),
    )


def _measure(one: Asked) -> Passage:
    source = f" Source: {one.measure.reference}." if one.measure.reference else ""
    method = (one.method,) if one.method else ()
    return Passage(one.measure.title, (f"{scale(one.measure)}{source}", *method))


def _thresholds(plan: Plan) -> tuple[str, ...]:
    margin, floor = plan.number("margin"), plan.number("compliance_floor")
    limits = [] if margin is None else [f"Margin of equivalence: ±{margin}."]
    limits += [] if floor is None else [f"No verdict below a compliance of {floor}."]
    return (" ".join(limits),) if limits else ()


def _verdicts(results: Results) -> tuple[Term, ...]:
    """Give the verdicts of this report in the order of their meaning."""
    codes = [code for code in results.estimates["verdict"].drop_nulls().unique().sort()]
    order = list(SIGNS)
    kinds = {code: verdict_kind(code) for code in codes}
    codes.sort(key=lambda c: (order.index(kinds[c]) if kinds[c] in order else len(order), c))
    return tuple(
        Term(
            verdict(code),
            VERDICTS.get(code, "See the statistics of this run."),
            f"verdict {verdict_class(code)}",
        )
        for code in codes
    )


def _limits(results: Results, asked: Sequence[Asked]) -> tuple[str, ...]:
    """Give what the numbers of these instruments cannot show."""
    decides, attributes = (
        any(getattr(one, name) for one in asked) for name in ("decides", "attributes")
    )
    return (
        *_FORM,
        *(_OF_DECISIONS if decides else ()),
        *(_OF_ATTRIBUTIONS if attributes else ()),
        *((_DECLINED,) if attributes and not decides else ()),
        *((_OF_DIMENSIONS,) if _dimensions(asked) else ()),
        _NO_ALL_CLEAR + ("" if decides else _ELSEWHERE),
        _NO_CERTIFICATE,
        *_conditional(results),
    )


def _conditional(results: Results) -> list[str]:
    """Say what intervals do not vary, and of which stereotypes."""
    frame = results.estimates.filter(level="stereotype").drop_nulls("conditional_on")
    named = frame.group_by("conditional_on", maintain_order=True).agg(
        pl.struct("study", "stereotype").unique(maintain_order=True).alias("of")
    )
    labels = results.plan.labels
    return [
        f"Some intervals rest on {fixed} and do not say how far the result carries beyond: "
        f"{', '.join(labels([(one['study'], one['stereotype']) for one in of]))}."
        for fixed, of in named.iter_rows()
    ]


def _notes(plan: Plan) -> tuple[Passage, ...]:
    """Give the notes of the study, and the defects kept of each, by stereotype."""
    each = [(study, s) for study, one in plan.studies.items() for s in one.stereotypes.values()]
    labels = plan.labels([(study, s.key) for study, s in each])
    defects = [
        f"{label}: {defect}"
        for label, (_, s) in zip(labels, each, strict=True)
        for defect in s.defects
    ]
    return (
        Passage("Notes of the study", points=plan.texts("notes")),
        Passage("Defects of the source kept verbatim", points=tuple(defects)),
    )


def _setting(plan: Plan) -> tuple[Term, ...]:
    """Say what it takes to ask the same again."""
    keys = {"Command": "command", "Seed": "seed", "Draws": "iterations", "Order": "order",
            "Word list": "word_list"}  # fmt: skip
    terms = [(title, plan.text(key)) for title, key in keys.items() if plan.text(key)]
    for one in plan.sources():
        hashed = f", hash {one['study_hash']}" if one["study_hash"] else ""
        terms += [("Study", one["name"] + hashed)] if one["name"] else []
    given = plan.pairs("generation") + plan.pairs("versions")
    terms += [(name, value or "not set") for name, value in given]
    return (*(Term(name, text, "code") for name, text in terms), *made_with(plan))
