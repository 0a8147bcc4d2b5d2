"""What a report shows of one study and instrument: its sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tiltmeter.frames import Measure
from tiltmeter.report import figures, tables
from tiltmeter.report.chained import chained_section
from tiltmeter.report.comparison import published_section
from tiltmeter.report.compliance import compliance_section
from tiltmeter.report.controls import CONTROLS, warnings
from tiltmeter.report.figures import Figure
from tiltmeter.report.interventions import changes, intervention_section
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import CONTROL, answer, scale
from tiltmeter.report.results import Results
from tiltmeter.report.sections import Section, in_order, of
from tiltmeter.report.tables import Table
from tiltmeter.report.words import word_section
from tiltmeter.report.yes_shares import yes_section

__all__ = ["Part", "brief", "make_parts"]

#: Above this many models and modes the summary is a table.
MOST_ANSWERS = 4


@dataclass(frozen=True)
class Part:
    """One study and instrument; a section without data is left out."""

    name: str
    instrument: str
    measure: Measure
    scale: str
    method: str
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
    plan, measure = results.plan, _measure(results, instrument)
    frame = results.estimates.filter(instrument=instrument)
    control = pl.col("study").is_in(plan.controls()) | (pl.col("category") == CONTROL).fill_null(
        False
    )
    checks = frame.filter(control & (pl.col("level") == "stereotype"))
    own = frame.filter(~control, study=study)
    cells, each, groups, whole, over = (
        in_order(own.filter(level=level), plan)
        for level in ("cell", "stereotype", "category", "model", "overall")
    )
    several = own["model"].drop_nulls().n_unique() > 1
    verdicts = pl.concat([groups, whole, over] if several else [groups, whole])
    contrasts = of(results.contrasts.filter(instrument=instrument), study=study)
    return Part(
        name=f"{measure.title} ({study})" if several_studies else measure.title,
        instrument=instrument,
        measure=measure,
        scale=scale(measure),
        method=plan.methods.get(instrument, ""),
        **_in_brief(plan, measure, each, whole, warnings(checks, plan)),
        changes=changes(contrasts, plan),
        categories=(
            figures.category_figures(pl.concat([groups, whole]), plan, measure),
            tables.category_table(verdicts, plan, "Verdict per category and over all stereotypes."),
        ),
        controls=_controls(checks, plan),
        sections=_sections(results, (study, instrument), (cells, each), contrasts, measure),
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
    name: tuple[str, str],
    rows: tuple[pl.DataFrame, pl.DataFrame],
    contrasts: pl.DataFrame,
    measure: Measure,
) -> tuple[Section, ...]:
    """Make the sections of a part, in the order of the page; `rows` are cells and stereotypes."""
    plan, (study, instrument), (cells, each) = results.plan, name, rows
    shares = results.yes_shares if instrument == "absolute_decision" else results.yes_shares.clear()
    fits = results.regressions if instrument == "chained_decision" else results.regressions.clear()
    made = (
        _stereotypes(each, plan, measure),
        yes_section(of(shares, study=study), study, plan),
        chained_section(of(fits, study=study), results.chained, study, plan),
        intervention_section(contrasts, plan, measure),
        compliance_section(of(results.compliance, study=study, instrument=instrument), plan),
        _order(each, plan, measure),
        _variations(cells, plan, measure),
        word_section(results.words.filter(instrument=instrument, study=study), plan),
        published_section(study, each, plan, measure),
    )
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
    plan: Plan,
    measure: Measure,
    each: pl.DataFrame,
    whole: pl.DataFrame,
    warnings: dict[tuple[str, str], str],
) -> dict[str, Any]:
    """Answer for each model and mode: a row of a table, and for a few a paragraph."""
    totals = {(row["model"], row["mode"]): row for row in whole.iter_rows(named=True)}
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in each.iter_rows(named=True):
        found.setdefault((row["model"], row["mode"]), []).append(row)
    briefs = tuple(
        {
            "measure": measure.title,
            "neutral": measure.neutral,
            "model": model,
            "mode": mode,
            "warning": warnings.get((model, mode), ""),
            "total": totals.get((model, mode)),
            "verdicts": [row["verdict"] for row in part],
        }
        for (model, mode), part in found.items()
    )
    answers = tuple(
        (
            f"{model}, mode {mode}",
            warnings.get((model, mode), ""),
            answer(plan, measure, totals.get((model, mode)), part),
        )
        for (model, mode), part in found.items()
    )
    return {"briefs": briefs, "answers": answers if len(found) <= MOST_ANSWERS else ()}


def _controls(frame: pl.DataFrame, plan: Plan) -> Table | None:
    if frame.is_empty():
        return None
    caption = "Controls: stimuli whose answer is known beforehand. " + " ".join(
        CONTROLS[kind].format(study=study)
        for study, kind in plan.pairs("controls")
        if kind in CONTROLS
    )
    return tables.estimate_table(frame, plan, caption)


def _stereotypes(each: pl.DataFrame, plan: Plan, measure: Measure) -> Section:
    return Section(
        key="stereotypes",
        title="Each stereotype",
        short="Stereotypes",
        text=(
            "Right of the dotted line the answers side with the stereotype, left of it against "
            "it. An interval that crosses the line does not tell the two apart. Its width covers "
            "other wordings and group words of the same kind, not other languages or other "
            "stereotypes.",
        ),
        figures=tuple(figures.stereotype_figures(each, plan, measure)),
    )


def _order(each: pl.DataFrame, plan: Plan, measure: Measure) -> Section | None:
    known = each.filter(pl.col("order_effect").is_not_null() | pl.col("first_share").is_not_null())
    if known.is_empty():
        return None
    caption = (
        "Order effect, and share given to the group named first (neutral .50), per stereotype."
    )
    return Section(
        key="order",
        title="Order of the groups",
        short="Order of the groups",
        text=(
            "Models may favour whichever group is named first. That habit is not bias against a "
            "group, and it is reported on its own.",
        ),
        figures=tuple(figures.order_figures(known, plan, measure)),
        tables=(("Table of order effects", tables.order_table(known, plan, caption)),),
    )


def _variations(cells: pl.DataFrame, plan: Plan, measure: Measure) -> Section | None:
    if cells["variation"].n_unique() < 2:
        return None
    return Section(
        key="variations",
        title="Spread over wordings",
        short="Wordings",
        text=(
            "The same question asked in other words. Where the dots of a stereotype lie far "
            "apart, the result depends on the wording.",
        ),
        figures=tuple(figures.variation_figures(cells, plan, measure)),
    )


def _numbered(part: Part, place: int) -> Part:
    drawn = [replace(figure, name=f"{figure.name}-{place}") for figure in part.categories[0]]
    return replace(
        part,
        categories=(drawn, part.categories[1]),
        sections=tuple(section.numbered(place) for section in part.sections),
    )
