"""What became of the answers: scored, refused, or without a score for another reason."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tiltmeter.report.answers.results import Asked
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

_BY = ("model", "mode", "category", "stereotype")
_COUNTS = [f"n_{reason}" for reason in REASONS]
_NAMES = [reason.replace("_", " ") for reason in REASONS]
_PARTS = (
    ("scored", "var(--scored)"),
    *((name, f"var(--{name.replace(' ', '-')})") for name in _NAMES),
)
#: Which group a version of a question is about.
_ASKED_ABOUT = {
    **{version: group for version, (group, _) in VERSIONS.items()},
    **{group: group for group in ("default", "marginalized")},
}


def compliance_section(asked: Asked) -> Section | None:
    """Show shares per reason, and, for questions about one group, per group asked about."""
    frame, plan = in_order(asked.tables.compliance, asked.plan), asked.plan
    if frame.is_empty():
        return None
    group = pl.col("version").replace_strict(_ASKED_ABOUT, default=None, return_dtype=pl.String)
    by_group = _summed(frame.with_columns(variation=group).drop_nulls("variation"), "variation")
    by_group = by_group.filter(pl.col("n") > 0)
    tables = (
        ("Table of answers by reason and group words", _word_table(frame, plan)),
        ("Table of answers by group asked about", _group_table(by_group, plan)),
    )
    return Section(
        key="compliance",
        title="Compliance: what could be scored",
        short="Compliance",
        text=(
            "Refusals are counted as missing, not scored as zero. Answers without a score are "
            "left out of the mean and counted here. The worst-case bounds in the tables show how "
            "far they could change the mean.",
        ),
        figures=(*_figures(frame, plan), *_group_figures(by_group, plan)),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _summed(frame: pl.DataFrame, *beside: str) -> pl.DataFrame:
    """Count answers by what became of them, per stereotype, and the share without a score."""
    counts = pl.col("n", "n_scored", *_COUNTS).sum()
    total = frame.group_by(*_BY, *beside, maintain_order=True).agg(counts)
    unscored = pl.when(pl.col("n") > 0).then(1 - pl.col("n_scored") / pl.col("n"))
    return total.with_columns(unscored=unscored)


def _figures(frame: pl.DataFrame, plan: Plan) -> list[Figure]:
    """Draw the shares of scored answers and of each reason for having no score."""
    total = _summed(frame)
    reasons = "; ".join(
        f"{name}: {MEANINGS[reason]}"
        for reason, name in zip(REASONS, _NAMES, strict=True)
        if total[f"n_{reason}"].sum()
    )
    caption = "What became of the answers: shares scored, and without a score by reason."
    return per_mode(
        "compliance",
        f"{caption} {reasons.capitalize()}." if reasons else caption,
        total.with_columns(counts=pl.concat_list("n_scored", *_COUNTS)),
        lambda rows, panels: bars(rows, _PARTS, panels),
        plan,
        lambda rows: share_summary(rows, _PARTS),
    )


def _group_figures(by_group: pl.DataFrame, plan: Plan) -> list[Figure]:
    axis = Axis("Share of answers without a score", 0, 1, None)
    return per_mode(
        "asked-about",
        "Share of answers without a score, refusals included, by the one group that the question "
        "is about. Where the two dots differ, the model declines more often for one group.",
        by_group.with_columns(estimate="unscored"),
        lambda rows, panels: charts.dots(rows, axis, panels, "Group asked about", hollow=True),
        plan,
    )


def _word_table(frame: pl.DataFrame, plan: Plan) -> Table:
    shown = _summed(frame, "marginalized", "default")
    caption = "Answers by outcome, with the group words asked about."
    if shown.height > MOST_ROWS:
        shown = _summed(frame).with_columns(marginalized=pl.lit("all"), default=pl.lit("all"))
        caption += " Summed over group words; compliance.parquet has each pair."
    words = Column(
        "Group words", lambda r: f"{r['marginalized'] or '–'} / {r['default'] or '–'}", "head"
    )
    return _table(shown, plan, caption, words)


def _group_table(by_group: pl.DataFrame, plan: Plan) -> Table:
    about = Column("Asked about", lambda r: r["variation"], "head")
    return _table(by_group, plan, "Answers by outcome and by the group asked about.", about)


def _table(frame: pl.DataFrame, plan: Plan, caption: str, key: Column) -> Table:
    counts = ("n", "n_scored", *_COUNTS)
    titles: Sequence[str] = ("n", "Scored", *(name.capitalize() for name in _NAMES))

    def counted(name: str) -> Render:
        return lambda r: count(r[name])

    return render_table(
        frame,
        caption,
        [
            Column("Stereotype", lambda r: plan.label(r["stereotype"]), "head"),
            key,
            *FROM,
            *(Column(t, counted(name)) for t, name in zip(titles, counts, strict=True)),
            Column("Without a score", lambda r: percent(r["unscored"])),
        ],
    )
