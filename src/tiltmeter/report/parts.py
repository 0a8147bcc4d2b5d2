"""What a report shows of one study and instrument: its sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tiltmeter.frames import Measure
from tiltmeter.report import figures, tables
from tiltmeter.report.comparison import Note, beside_published
from tiltmeter.report.controls import CONTROLS, warnings
from tiltmeter.report.figures import Figure
from tiltmeter.report.prose import CONTROL, answer, scale
from tiltmeter.report.plan import Plan
from tiltmeter.report.results import Results
from tiltmeter.report.tables import Table
from tiltmeter.report.words import strongest, word_figures

__all__ = ["Part", "make_parts"]

#: Above this many rows the page shows compliance per stereotype; the file has every pair.
MOST_ROWS = 150
#: Above this many models and modes the summary is a table.
MOST_ANSWERS = 4


@dataclass(frozen=True)
class Part:
    """One study and instrument; an empty list or None is a section left out."""

    name: str
    measure: Measure
    scale: str
    method: str
    answers: tuple[tuple[str, str, str], ...]
    brief: Table | None
    categories: tuple[list[Figure], Table]
    controls: Table | None
    stereotypes: tuple[list[Figure], Table, Table]
    compliance: tuple[list[Figure], Table] | None
    order: tuple[list[Figure], Table] | None
    variations: list[Figure]
    words: tuple[list[Figure], Table] | None
    published: tuple[list[Figure], Table] | None
    notes: tuple[Note, ...]

    def figures(self) -> Iterator[Figure]:
        """Give every figure, in the order of the page."""
        yield from self.categories[0]
        yield from self.stereotypes[0]
        for section in (self.compliance, self.order, self.words, self.published):
            yield from section[0] if section else ()
        yield from self.variations


def make_parts(results: Results) -> list[Part]:
    """Make a part of each study and instrument; controls go with the instrument they check.

    Parameters
    ----------
    results
        A results directory.

    Returns
    -------
    list of Part
        In the order of the estimates. With several, figure names end in their number.
    """
    plan, estimates = results.plan, results.estimates
    rows = estimates.select("study", "instrument").unique(maintain_order=True).rows()
    pairs = [(s, i) for s, i in rows if i and s not in plan.controls()]
    pairs = pairs or [(s, i) for s, i in rows if i]
    parts = [_part(results, study, instrument) for study, instrument in pairs]
    return [_numbered(part, place) for place, part in enumerate(parts, 1)] if parts[1:] else parts


def _part(results: Results, study: str, instrument: str) -> Part:
    plan, measure = results.plan, results.plan.measure(instrument)
    of = results.estimates.filter(instrument=instrument)
    control = pl.col("study").is_in(plan.controls()) | (pl.col("category") == CONTROL).fill_null(
        False
    )
    checks = of.filter(control & (pl.col("level") == "stereotype"))
    own = of.filter(~control, study=study)
    cells, each, groups, whole, over = (
        _in_order(own.filter(level=level), plan)
        for level in ("cell", "stereotype", "category", "model", "overall")
    )
    several = own["model"].drop_nulls().n_unique() > 1
    verdicts = pl.concat([groups, whole, over] if several else [groups, whole])
    return Part(
        name=f"{study} · {instrument}",
        measure=measure,
        scale=scale(measure),
        method=plan.methods.get(instrument, ""),
        **_in_brief(plan, measure, each, whole, warnings(checks, plan)),
        categories=(
            figures.category_figures(pl.concat([groups, whole]), plan, measure),
            tables.category_table(verdicts, plan, "Verdict per category and over all stereotypes."),
        ),
        controls=_controls(checks, plan),
        stereotypes=(
            figures.stereotype_figures(each, plan, measure),
            tables.estimate_table(
                each, plan, "Estimates per stereotype; intervals and p values are clustered."
            ),
            tables.naive_table(
                each, plan, "The papers’ t test, which takes every answer for independent (naive)."
            ),
        ),
        compliance=_compliance(results, study, instrument),
        order=_order(each, plan, measure),
        variations=_variations(cells, plan, measure),
        words=_words(results, study, instrument),
        **beside_published(study, each, plan, measure),
    )


def _in_brief(
    plan: Plan,
    measure: Measure,
    each: pl.DataFrame,
    whole: pl.DataFrame,
    warnings: dict[tuple[str, str], str],
) -> dict[str, Any]:
    """Answer in a paragraph for each of a few models and modes, in a table for many."""
    totals = {(row["model"], row["mode"]): row for row in whole.iter_rows(named=True)}
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in each.iter_rows(named=True):
        found.setdefault((row["model"], row["mode"]), []).append(row)
    if len(found) > MOST_ANSWERS:
        rows = [
            {
                "model": model,
                "mode": mode,
                "total": totals.get((model, mode)),
                "verdicts": [row["verdict"] for row in part],
            }
            for (model, mode), part in found.items()
        ]
        caption = "How many stereotypes got which verdict, and the mean over all of them."
        return {"answers": (), "brief": tables.brief_table(rows, plan, caption)}
    answers = tuple(
        (
            f"{model}, mode {mode}",
            warnings.get((model, mode), ""),
            answer(plan, measure, totals.get((model, mode)), part),
        )
        for (model, mode), part in found.items()
    )
    return {"answers": answers, "brief": None}


def _controls(frame: pl.DataFrame, plan: Plan) -> Table | None:
    if frame.is_empty():
        return None
    caption = "Controls: stimuli whose answer is known beforehand. " + " ".join(
        CONTROLS[kind].format(study=study)
        for study, kind in plan.pairs("controls")
        if kind in CONTROLS
    )
    return tables.estimate_table(frame, plan, caption)


def _compliance(results: Results, study: str, instrument: str) -> tuple[list[Figure], Table] | None:
    plan = results.plan
    frame = results.compliance.filter(
        (pl.col("instrument") == instrument).fill_null(True),
        (pl.col("study") == study).fill_null(True),
    )
    if frame.is_empty():
        return None
    frame = _in_order(frame, plan)
    shown, note = frame, ""
    if frame.height > MOST_ROWS:
        by = ["model", "mode", "category", "stereotype"]
        counts = [name for name in frame.columns if name == "n" or name.startswith("n_")]
        shown = frame.group_by(by, maintain_order=True).agg(
            pl.col(counts).sum(), marginalized=pl.lit("all"), default=pl.lit("all")
        )
        note = " Summed over group words; the file compliance has each pair."
    table = tables.compliance_table(
        shown, plan, f"Answers by what became of them, with the group words asked about.{note}"
    )
    return figures.compliance_figures(frame, plan), table


def _order(each: pl.DataFrame, plan: Plan, measure: Measure) -> tuple[list[Figure], Table] | None:
    known = each.filter(pl.col("order_effect").is_not_null() | pl.col("first_share").is_not_null())
    if known.is_empty():
        return None
    caption = (
        "Order effect and share of words given to the group named first (neutral .50), per "
        "stereotype."
    )
    drawn = figures.order_figures(known, plan, measure)
    return drawn, tables.order_table(known, plan, caption)


def _variations(cells: pl.DataFrame, plan: Plan, measure: Measure) -> list[Figure]:
    if cells["variation"].n_unique() < 2:
        return []
    return figures.variation_figures(cells, plan, measure)


def _words(results: Results, study: str, instrument: str) -> tuple[list[Figure], Table] | None:
    words = results.words.filter(instrument=instrument, study=study)
    drawn = word_figures(words, results.plan)
    if not drawn:
        return None
    most = _in_order(strongest(words, results.plan), results.plan)
    caption = (
        "The three words given most often to each group, with the share of the marginalized "
        "group (neutral .50)."
    )
    return drawn, tables.word_table(most, caption)


def _in_order(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Sort as the plan lists models, modes and stereotypes."""
    keys = {"stereotype": list(plan.stereotypes), "category": _categories(plan)}
    keys |= {"model": list(plan.texts("models")), "mode": list(plan.texts("modes"))}
    places = [
        pl.col(name)
        .replace_strict(
            {key: i for i, key in enumerate(known)}, default=len(known), return_dtype=pl.Int64
        )
        .alias(f"place_{name}")
        for name in ("category", "stereotype", "model", "mode")
        if (known := keys[name])
    ]
    if not places:
        return frame
    placed = frame.with_columns(places)
    by = [name for name in placed.columns if name.startswith("place_")]
    return placed.sort(by, maintain_order=True).drop(by)


def _categories(plan: Plan) -> list[str]:
    return list(dict.fromkeys(item.category for item in plan.stereotypes.values()))


def _numbered(part: Part, place: int) -> Part:
    def renamed(figure: Figure) -> Figure:
        return replace(figure, name=f"{figure.name}-{place}")

    def section(pair: Any) -> Any:
        return pair and ([renamed(figure) for figure in pair[0]], *pair[1:])

    return replace(
        part,
        categories=section(part.categories),
        stereotypes=section(part.stereotypes),
        compliance=section(part.compliance),
        order=section(part.order),
        variations=[renamed(figure) for figure in part.variations],
        words=section(part.words),
        published=section(part.published),
    )
