"""What a report shows of one study and instrument: its sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tiltmeter.report import tables
from tiltmeter.report.answers.attributions import attribution_section
from tiltmeter.report.answers.compliance import compliance_section
from tiltmeter.report.answers.content import content_section
from tiltmeter.report.answers.decisions import chained_section, yes_section
from tiltmeter.report.answers.estimates import (
    estimate_section,
    order_section,
    stereotype_section,
    verdict_section,
    warnings,
    wording_section,
)
from tiltmeter.report.answers.interventions import changes, intervention_section
from tiltmeter.report.answers.published import published_section
from tiltmeter.report.answers.results import Results
from tiltmeter.report.answers.words import word_section
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import CONTROL, answer, scale
from tiltmeter.report.sections import Finding, Section, in_order
from tiltmeter.report.tables import Table
from tiltmeter.results import LEVELS, Measure

__all__ = ["Asked", "all_asked", "brief"]

#: Above this many models and modes the summary is a table.
MOST_ANSWERS = 4

#: What the sides of neutral mean, by whether the model named the mood of its descriptions.
_SIDES = {
    False: "Right of the dotted line the answers side with the stereotype, left of it against it.",
    True: "Right of the dotted line the answers favour the default group, left of it the "
    "marginalized one.",
}


@dataclass(frozen=True)
class Asked:
    """What there is to show of one study and instrument; a section without data is left out."""

    name: str
    instrument: str
    measure: Measure
    method: str
    dimensions: tuple[str, ...]  # of stereotype content
    attributes: bool  # whether the model named the mood of its own descriptions
    briefs: tuple[dict[str, Any], ...]  # a row per model and mode for `brief`
    answers: tuple[Finding, ...]  # empty for many
    changes: tuple[Finding, ...]
    sections: tuple[Section, ...]

    @property
    def decides(self) -> bool:
        """Whether the model was asked to decide: its score is the share of decisions, 0 to 1."""
        return self.measure.low == 0


def all_asked(results: Results) -> list[Asked]:
    """Show each study and instrument; controls go with the instrument they check.

    Result: in the order of the plan's instruments, then of the estimates. Keys of sections end in
    their number; with several, names of figures too.
    """
    plan, estimates = results.plan, results.estimates
    rows = estimates.select("study", "instrument").unique(maintain_order=True).rows()
    known = list(plan.instruments)
    rows.sort(key=lambda row: known.index(row[1]) if row[1] in known else len(known))
    pairs = [(s, i) for s, i in rows if i and s not in plan.controls()]
    pairs = pairs or [(s, i) for s, i in rows if i]
    studies = len({study for study, _ in pairs})
    each = [_asked(results, study, instrument, studies > 1) for study, instrument in pairs]
    return [
        replace(one, sections=tuple(s.numbered(place, figures=len(each) > 1) for s in one.sections))
        for place, one in enumerate(each, 1)
    ]


def brief(parts: Sequence[Asked], plan: Plan) -> Table | None:
    """Set out all parts in one table, where there are several or one of many rows.

    `parts`: what `all_asked` gave.
    None where sentences say it.
    """
    rows = [row for part in parts for row in part.briefs]
    if not rows or not (parts[1:] or not parts[0].answers):
        return None
    caption = "How many stereotypes got which verdict, and the mean over all of them."
    if not parts[1:]:
        caption += f" {scale(parts[0].measure)}"
    return tables.brief_table(rows, plan, caption)


def _asked(results: Results, study: str, instrument: str, several_studies: bool) -> Asked:
    plan, measure = results.plan.of(study), _measure(results, instrument)
    mine = results.of(study, instrument)
    frame = results.estimates.filter(instrument=instrument)
    control = pl.col("study").is_in(plan.controls()) | (pl.col("category") == CONTROL).fill_null(
        False
    )
    checks = frame.filter(control & (pl.col("level") == "stereotype"))
    own = frame.filter(~control, study=study)
    by_level = {level: in_order(own.filter(level=level), plan) for level in LEVELS}
    each, whole = by_level["stereotype"], by_level["model"]
    name = f"{measure.title} ({study})" if several_studies else measure.title
    return Asked(
        name=name,
        instrument=instrument,
        measure=measure,
        method=plan.methods.get(instrument, ""),
        dimensions=tuple(
            plan.dimension(key)
            for key in each["dimension"].drop_nulls().unique(maintain_order=True)
        ),
        attributes=not mine.attributions.is_empty(),
        **_in_brief(name, plan, measure, each, whole, warnings(checks, plan)),
        changes=changes(mine.contrasts, plan),
        sections=_sections(mine, study, by_level, checks, plan, measure),
    )


def _sections(
    results: Results,
    study: str,
    by_level: Mapping[str, pl.DataFrame],
    checks: pl.DataFrame,
    plan: Plan,
    measure: Measure,
) -> tuple[Section, ...]:
    """Make the sections in the order of the page, of what `results` narrowed holds."""
    each, named = by_level["stereotype"], results.attributions
    attributes = not named.is_empty()
    made = (
        verdict_section(by_level, checks, plan, measure),
        content_section(
            each, by_level["model"], results.correlations, results.ranks, plan, measure
        ),
        attribution_section(named, results.attribution_contrasts, plan, measure),
        stereotype_section(each, plan, measure, _SIDES[attributes]),
        yes_section(results.yes_shares, study, plan),
        chained_section(results.regressions, results.chained, study, plan),
        intervention_section(results.contrasts, plan, measure),
        compliance_section(results.compliance, plan),
        None if attributes else order_section(each, plan, measure),
        wording_section(by_level["cell"], plan, measure),
        word_section(results.words, plan),
        published_section(study, each, by_level["model"], named, plan, measure),
        estimate_section(each, plan),
    )  # fmt: skip
    return tuple(section for section in made if section)


def _measure(results: Results, instrument: str) -> Measure:
    """Give what a number means; of an instrument the plan leaves out, as the estimates say."""
    measure = results.plan.measure(instrument)
    if instrument in results.plan.instruments:
        return measure
    ends = results.estimates.filter(instrument=instrument).select(
        pl.col("range_low", "range_high", "neutral").drop_nulls().first()
    )
    scale_ends = ends.row(0)
    if None in scale_ends:
        return measure
    return replace(measure, low=scale_ends[0], high=scale_ends[1], neutral=scale_ends[2])


def _in_brief(
    name: str,
    plan: Plan,
    measure: Measure,
    each: pl.DataFrame,
    whole: pl.DataFrame,
    warnings: dict[tuple[str, str], str],
) -> dict[str, Any]:
    """Answer for each model and mode: a row of a table, and for a few a paragraph."""
    totals = {(row["model"], row["mode"]): row for row in whole.iter_rows(named=True)}
    by_mode: dict[tuple[str, str], list[dict[str, Any]]] = {}
    warned: dict[tuple[str, str], str] = {}
    for row in each.iter_rows(named=True):
        by_mode.setdefault((row["model"], row["mode"]), []).append(row)
        warning = warnings.get((row["model"], row["control_mode"]), "")
        warned[row["model"], row["mode"]] = warning
    briefs = tuple(
        {
            "measure": name,
            "neutral": measure.neutral,
            "model": model,
            "mode": mode,
            "warning": warned[model, mode],
            "total": totals.get((model, mode)),
            "verdicts": [row["verdict"] for row in part],
        }
        for (model, mode), part in by_mode.items()
    )
    answers = tuple(
        Finding(
            f"{model}, mode {mode}",
            answer(plan, measure, totals.get((model, mode)), part),
            warned[model, mode],
        )
        for (model, mode), part in by_mode.items()
    )
    return {"briefs": briefs, "answers": answers if len(by_mode) <= MOST_ANSWERS else ()}
