"""What a report shows of one study and instrument: its sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tiltmeter.report import tables
from tiltmeter.report.answers.attributions import INSTRUMENT as ATTRIBUTION
from tiltmeter.report.answers.attributions import attribution_section
from tiltmeter.report.answers.chained import chained_section
from tiltmeter.report.answers.compliance import compliance_section
from tiltmeter.report.answers.content import content_section
from tiltmeter.report.answers.controls import control_table, warnings
from tiltmeter.report.answers.interventions import changes, intervention_section
from tiltmeter.report.answers.published import published_section
from tiltmeter.report.answers.results import Results
from tiltmeter.report.answers.stereotypes import order_section, stereotype_section, wording_section
from tiltmeter.report.answers.words import word_section
from tiltmeter.report.answers.yes_shares import yes_section
from tiltmeter.report.drawing import figures
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import CONTROL, answer, scale
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import Table
from tiltmeter.results import LEVELS, Measure

__all__ = ["Part", "brief", "make_parts"]

#: Above this many models and modes the summary is a table.
MOST_ANSWERS = 4

#: What the sides of neutral mean, by whether the model named the mood of its descriptions.
_SIDES = {
    False: "Right of the dotted line the answers side with the stereotype, left of it against it.",
    True: "Right of the dotted line the answers favour the default group, left of it the "
    "marginalized one.",
}


@dataclass(frozen=True)
class Part:
    """One study and instrument; a section without data is left out."""

    name: str
    instrument: str
    measure: Measure
    scale: str
    method: str
    dimensions: tuple[str, ...]  # of stereotype content
    briefs: tuple[dict[str, Any], ...]  # a row per model and mode for `brief`
    answers: tuple[tuple[str, str, str], ...]  # who, warning, text; empty for many
    changes: tuple[tuple[str, str], ...]
    categories: tuple[list[Figure], Table]
    controls: Table | None
    sections: tuple[Section, ...]
    estimates: tuple[Table, Table]  # clustered, naive

    @property
    def decides(self) -> bool:
        """Whether the model was asked to decide about people."""
        return "decision" in self.instrument

    @property
    def attributes(self) -> bool:
        """Whether the model named the mood of its own descriptions."""
        return self.instrument == ATTRIBUTION

    def figures(self) -> Iterator[Figure]:
        """Give every figure, in the order of the page."""
        yield from self.categories[0]
        for section in self.sections:
            yield from section.figures


def make_parts(results: Results) -> list[Part]:
    """Make a part of each study and instrument; controls go with the instrument they check.

    Parameters
    ----------
    results
        A results directory.

    Returns
    -------
    list of Part
        In the order of the plan's instruments, then of the estimates. With several, figure
        names end in their number.
    """
    plan, estimates = results.plan, results.estimates
    rows = estimates.select("study", "instrument").unique(maintain_order=True).rows()
    known = list(plan.instruments)
    rows.sort(key=lambda row: known.index(row[1]) if row[1] in known else len(known))
    pairs = [(s, i) for s, i in rows if i and s not in plan.controls()]
    pairs = pairs or [(s, i) for s, i in rows if i]
    studies = len({study for study, _ in pairs})
    parts = [_part(results, study, instrument, studies > 1) for study, instrument in pairs]
    return [_numbered(part, place) for place, part in enumerate(parts, 1)] if parts[1:] else parts


def brief(parts: Sequence[Part], plan: Plan) -> Table | None:
    """Set out all parts in one table, where there are several or one of many rows.

    Parameters
    ----------
    parts
        What `make_parts` made.
    plan
        For the width of intervals.

    Returns
    -------
    Table or None
        None where sentences say it.
    """
    rows = [row for part in parts for row in part.briefs]
    if not rows or not (parts[1:] or not parts[0].answers):
        return None
    caption = "How many stereotypes got which verdict, and the mean over all of them."
    if not parts[1:]:
        caption += f" {parts[0].scale}"
    return tables.brief_table(rows, plan, caption)


def _part(results: Results, study: str, instrument: str, several_studies: bool) -> Part:
    plan, measure = results.plan.of(study), _measure(results, instrument)
    mine = results.of(study, instrument)
    frame = results.estimates.filter(instrument=instrument)
    control = pl.col("study").is_in(plan.controls()) | (pl.col("category") == CONTROL).fill_null(
        False
    )
    checks = frame.filter(control & (pl.col("level") == "stereotype"))
    own = frame.filter(~control, study=study)
    by_level = {level: in_order(own.filter(level=level), plan) for level in LEVELS}
    each, groups, whole = (by_level[level] for level in ("stereotype", "category", "model"))
    several = own["model"].drop_nulls().n_unique() > 1
    verdicts = pl.concat([groups, whole, *([by_level["overall"]] if several else [])])
    name = f"{measure.title} ({study})" if several_studies else measure.title
    return Part(
        name=name,
        instrument=instrument,
        measure=measure,
        scale=scale(measure),
        method=plan.methods.get(instrument, ""),
        dimensions=tuple(
            plan.dimension(key)
            for key in each["dimension"].drop_nulls().unique(maintain_order=True)
        ),
        **_in_brief(name, plan, measure, each, whole, warnings(checks, plan)),
        changes=changes(mine.contrasts, plan),
        categories=(
            figures.category_figures(pl.concat([groups, whole]), plan, measure),
            tables.category_table(verdicts, plan, "Verdict per category and over all stereotypes."),
        ),
        controls=control_table(checks, plan),
        sections=_sections(mine, study, by_level, plan, measure),
        estimates=(
            tables.estimate_table(
                each, plan, "Estimates per stereotype; intervals and p values are clustered."
            ),
            tables.naive_table(
                each, plan, "The papers’ t test, which takes every answer for independent (naive)."
            ),
        ),
    )


def _sections(
    results: Results,
    study: str,
    by_level: Mapping[str, pl.DataFrame],
    plan: Plan,
    measure: Measure,
) -> tuple[Section, ...]:
    """Make the sections of a part, in the order of the page, of what `results` narrowed holds."""
    each, instrument = by_level["stereotype"], measure.name
    attributes = instrument == ATTRIBUTION
    named, other = results.attributions, results.attribution_contrasts
    made = (
        content_section(
            each, results.dimension_tests, results.dimension_correlations, results.ranks, plan,
            measure,
        ),
        attribution_section(named, other, plan, measure) if attributes else None,
        stereotype_section(each, plan, measure, _SIDES[attributes]),
        yes_section(results.yes_shares, study, plan) if instrument == "absolute_decision" else None,
        chained_section(results.regressions, results.chained, study, plan)
        if instrument == "chained_decision"
        else None,
        intervention_section(results.contrasts, plan, measure),
        compliance_section(results.compliance, plan),
        None if attributes else order_section(each, plan, measure),
        wording_section(by_level["cell"], plan, measure),
        word_section(results.words, plan),
        published_section(study, each, by_level["model"], named, plan, measure),
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
    found = ends.row(0)
    if None in found:
        return measure
    return replace(measure, low=found[0], high=found[1], neutral=found[2])


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
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    warned: dict[tuple[str, str], str] = {}
    for row in each.iter_rows(named=True):
        found.setdefault((row["model"], row["mode"]), []).append(row)
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
        for (model, mode), part in found.items()
    )
    answers = tuple(
        (
            f"{model}, mode {mode}",
            warned[model, mode],
            answer(plan, measure, totals.get((model, mode)), part),
        )
        for (model, mode), part in found.items()
    )
    return {"briefs": briefs, "answers": answers if len(found) <= MOST_ANSWERS else ()}


def _numbered(part: Part, place: int) -> Part:
    drawn = [replace(figure, name=f"{figure.name}-{place}") for figure in part.categories[0]]
    return replace(
        part,
        categories=(drawn, part.categories[1]),
        sections=tuple(section.numbered(place) for section in part.sections),
    )
