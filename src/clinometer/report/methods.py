"""How a run was made, as a paragraph for a methods section: from its plan and its scores."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl

from clinometer.directory.results import read_results
from clinometer.errors import InputError
from clinometer.numbers import number, percent, thousands
from clinometer.pieces.plan import PlanFacts, read_plan
from clinometer.pieces.prose import join_names
from clinometer.results.subjects import say_simulated

_INFERENCE = (
    "Intervals are 95% intervals of means in which each stereotype counts once. In these prompts "
    "they are about answers, draws and orders, and allow for units that were not seen (Gaffke, "
    "2005); in other prompts they are also about other wordings and group words of the kind, which "
    "cross (Clinometer, methods bounded and clustered). Of all leans that are told, at most 5% are "
    "expected to be wrong (Benjamini & Hochberg, 1995; intervals: Benjamini & Yekutieli, 2005)."
)


def methods_paragraph(directory: Path) -> str:
    """Describe a run: who was asked what, when and how, what is left out, and how it is judged.

    Parameters
    ----------
    directory
        A results directory of answers.

    Returns
    -------
    str
        Sentences in one line; what the plan does not say is left out.

    Raises
    ------
    InputError
        If it has no plan or no scores.
    """
    plan = read_plan(directory / "plan.json")
    scores = read_results(directory).table("scores")
    if scores.is_empty():
        raise InputError(f"{directory}: no scores; methods are written of answers alone")
    return " ".join([*_asking(plan), *_answers(plan, scores), *_judging(plan), *_software(plan)])


def _asking(plan: PlanFacts) -> Iterator[str]:
    """Yield who was asked, and under which settings."""
    if plan.recorded_file:  # under settings that the plan does not know
        yield f"The answers of {join_names(plan.models)} were recorded elsewhere."
        return
    day = date.fromisoformat(plan.created[:10])
    yield f"We asked {join_names(plan.models)} from {day.day} {day:%B %Y} on."
    if simulated_text := say_simulated(plan.models):
        yield f"{simulated_text}."
    settings = [f"{_words(name)} {value}" for name, value in plan.generation]
    settings += [f"temperature {value}" for value in plan.temperatures]
    settings += [f"reasoning effort {value}" for value in plan.efforts]
    if settings:
        yield f"Settings were {', '.join(settings)}."
    for name, prompt in plan.interventions:
        if prompt:
            yield f"Under the condition {name} the system prompt was “{prompt}”."


def _answers(plan: PlanFacts, scores: pl.DataFrame) -> Iterator[str]:
    """Yield what was asked with each instrument of each study, and what has no score."""
    titles = {source.name: source.title or source.name for source in plan.sources}
    measured = scores.filter(pl.col("control").is_null())
    for (study, name), rows in measured.group_by("study", "instrument", maintain_order=True):
        measure = plan.measure(name)
        reference = f" ({measure.reference})" if measure.reference else ""
        modes = join_names(rows["mode"].unique().sort())
        n_scored = rows["score"].count()
        yield (
            f"The {measure.title}{reference} was asked of {_count(rows, 'stereotype')} in "
            f"{_count(rows, 'variation')} (study “{titles.get(study, study)}”, mode "
            f"{modes}): {thousands(rows.height)} answers, of which "
            f"{thousands(n_scored)} have a score."
        )
        if n_scored < rows.height:
            reasons = rows["reason"].drop_nulls().value_counts(sort=True).rows()
            excluded = [f"{thousands(n)} {_words(reason)}" for reason, n in reasons]
            yield f"Left out were {join_names(excluded)}."
    if n_controls := scores.height - measured.height:
        yield f"{thousands(n_controls)} more answers are to controls."
    if plan.order and not plan.recorded_file:
        yield f"The order of the groups was {plan.order}; draws follow from seed {plan.seed}."


def _count(rows: pl.DataFrame, column: str) -> str:
    """Say how many stereotypes or wordings there are; a few are named."""
    names = rows[column].drop_nulls().unique(maintain_order=True).to_list()
    noun = {"stereotype": "stereotype", "variation": "wording"}[column]
    named = f" ({', '.join(names)})" if len(names) <= 8 else ""
    return f"{len(names)} {noun}{'' if len(names) == 1 else 's'}{named}"


def _judging(plan: PlanFacts) -> Iterator[str]:
    """Yield how means are judged."""
    yield _INFERENCE
    if plan.margin is not None:
        yield (
            f"“No lean found” is told only within ±{number(plan.margin)} of neutral (two one-sided "
            "tests), with the worst that missing answers could be, and where a positive control "
            "passed."
        )
    if plan.compliance_floor is not None:
        yield f"Below {percent(plan.compliance_floor)} of scored answers no verdict is given."


def _software(plan: PlanFacts) -> Iterator[str]:
    """Yield the versions of what asked and computed."""
    versions = dict(plan.versions)
    others = [f"{name} {versions[name]}" for name in ("inspect-ai", "python") if name in versions]
    yield f"The run was made with Clinometer {plan.version} ({', '.join(others)})."


def _words(name: str) -> str:
    """Write the name of a setting or of a reason in words."""
    return name.replace("_", " ")
