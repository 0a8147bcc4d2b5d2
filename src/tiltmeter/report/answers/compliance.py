"""What became of the answers: scored, refused, or without a score for another reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.drawing import charts
from tiltmeter.report.drawing.charts import Axis
from tiltmeter.report.drawing.comparison import bars, share_summary
from tiltmeter.report.drawing.figures import Figure, per_mode
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import MEANINGS, percent
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, Column, Render, Table, count, render_table
from tiltmeter.results import REASONS, VERSIONS

__all__ = ["compliance_section"]

#: Above this many rows the page shows compliance per stereotype; the file has every pair.
MOST_ROWS = 150

_COUNTS = [f"n_{reason}" for reason in REASONS]
_PARTS = (
    ("scored", "var(--scored)"),
    *((reason.replace("_", " "), f"var(--{reason.replace('_', '-')})") for reason in REASONS),
)
_BY = ("model", "mode", "category", "stereotype")

#: Which group a version of a question is about.
_ASKED_ABOUT = {
    **{version: group for version, (group, _) in VERSIONS.items()},
    **{group: group for group in ("default", "marginalized")},
}


def compliance_section(frame: pl.DataFrame, plan: Plan) -> Section | None:
    """Show shares per reason, and, for questions about one group, per group asked about.

    `frame`: counts of one study and instrument, per pair of group words and version.
    None where nothing was counted.
    """
    if frame.is_empty():
        return None
    frame = in_order(frame, plan)
    asked = _asked(frame)
    drawn = _figures(frame, plan) + _group_figures(asked, plan)
    tables = [("Table of answers by reason and group words", _table(frame, plan))]
    if not asked.is_empty():
        tables.append(("Table of answers by group asked about", _group_table(asked, plan)))
    return Section(
        key="compliance",
        title="Compliance: what could be scored",
        short="Compliance",
        text=(
            "A refusal is an outcome, not a zero. Answers without a score are left out of the "
            "mean and counted here; the worst-case bounds in the tables say how far they could "
            "move it.",
        ),
        figures=tuple(drawn),
        tables=tuple(tables),
    )


def _figures(frame: pl.DataFrame, plan: Plan) -> list[Figure]:
    """Draw the shares of scored answers and of each reason for having no score."""
    total = frame.group_by(_BY, maintain_order=True).agg(pl.col("n", "n_scored", *_COUNTS).sum())
    reasons = [
        reason for reason, name in zip(REASONS, _COUNTS, strict=True) if (total[name].sum() or 0)
    ]
    caption = "What became of the answers: shares scored, and without a score by reason. "
    caption += "; ".join(f"{r.replace('_', ' ')}: {MEANINGS[r]}" for r in reasons).capitalize()
    caption = caption.strip() + "." * bool(reasons)

    return per_mode(
        "compliance",
        caption,
        total.with_columns(counts=pl.concat_list("n_scored", *_COUNTS)),
        lambda rows, panels: bars(rows, _PARTS, panels),
        plan,
        lambda rows: share_summary(rows, _PARTS),
    )


def _asked(frame: pl.DataFrame) -> pl.DataFrame:
    """Count per group asked about, where only one is; `mean` is the share without a score."""
    about = pl.col("version").replace_strict(_ASKED_ABOUT, default=None, return_dtype=pl.String)
    known = frame.with_columns(variation=about).drop_nulls("variation")
    total = known.group_by(*_BY, "variation", maintain_order=True).agg(
        pl.col("n", "n_scored", *_COUNTS).sum()
    )
    share = 1 - pl.col("n_scored") / pl.col("n")
    return total.filter(pl.col("n") > 0).with_columns(estimate=share)


def _group_figures(asked: pl.DataFrame, plan: Plan) -> list[Figure]:
    axis = Axis("Share of answers without a score", 0, 1, None)
    caption = (
        "Share of answers refused or without a score otherwise, by the one group that the question "
        "is about. Dots that lie apart: the model declines more often for one group."
    )
    return per_mode(
        "asked-about",
        caption,
        asked,
        lambda rows, panels: charts.dots(rows, axis, panels, "Group asked about", hollow=True),
        plan,
    )


def _table(frame: pl.DataFrame, plan: Plan) -> Table:
    """Set out what became of the answers, per stereotype and pair of group words."""
    by = [*_BY, "marginalized", "default"]
    shown = frame.group_by(by, maintain_order=True).agg(pl.col("n", "n_scored", *_COUNTS).sum())
    caption = "Answers by what became of them, with the group words asked about."
    if shown.height > MOST_ROWS:
        shown = shown.group_by(_BY, maintain_order=True).agg(
            pl.col("n", "n_scored", *_COUNTS).sum(),
            marginalized=pl.lit("all"),
            default=pl.lit("all"),
        )
        caption += " Summed over group words; compliance.parquet has each pair."
    words = Column(
        "Group words", lambda r: f"{r['marginalized'] or '–'} / {r['default'] or '–'}", "head"
    )
    return _counted(shown, plan, caption, words)


def _group_table(asked: pl.DataFrame, plan: Plan) -> Table:
    caption = "Answers by what became of them, and by the group asked about."
    about = Column("Asked about", lambda r: r["variation"], "head")
    return _counted(asked, plan, caption, about)


def _counted(frame: pl.DataFrame, plan: Plan, caption: str, key: Column) -> Table:
    def reason(name: str) -> Render:
        return lambda r: count(r[f"n_{name}"])

    return render_table(
        frame,
        caption,
        [
            Column("Stereotype", lambda r: plan.label(r["stereotype"]), "head"),
            key,
            *FROM,
            Column("n", lambda r: count(r["n"])),
            Column("Scored", lambda r: count(r["n_scored"])),
            *(Column(name.replace("_", " ").capitalize(), reason(name)) for name in REASONS),
            Column("Without a score", lambda r: percent(_missing(r))),
        ],
    )


def _missing(row: Mapping[str, Any]) -> float | None:
    return 1 - row["n_scored"] / row["n"] if row["n"] else None
