"""Ranks of the models per dimension, with the ranks their intervals allow.

Reference: Li et al. 2025, MIST, arXiv:2506.14161, figure 4, which has no intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.drawing.charts import ROWS, Row, tooltips, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import line_styles
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import file_names, interval, number, scale, short_names
from tiltmeter.report.tables import FROM, Column, Table, count, render_table
from tiltmeter.results import Measure

__all__ = ["rank_figures", "rank_table"]

#: How far the models of one dimension spread to either side, in steps between dimensions.
_SPREAD = 0.3
_TIPS = (
    *(("Model", "model"), ("Dimension", "dimension"), ("Rank", "shown")),
    *(("Ranks the intervals allow", "allowed"), ("Mean", "mean"), ("Interval", "interval")),
)


def rank_figures(frame: pl.DataFrame, plan: Plan, measure: Measure) -> list[Figure]:
    """Draw how ranks shift from dimension to dimension, one figure per mode.

    `frame`: rows of RANKS of one study and instrument, with a dimension, in the order of the plan.
    None for a mode with fewer than two ranked models.
    """
    modes = list(frame["mode"].drop_nulls().unique(maintain_order=True))
    figures = []
    for mode, file in zip(modes, file_names(modes), strict=True):
        part = frame.filter(mode=mode)
        if part.drop_nulls("estimate")["model"].n_unique() < 2:
            continue
        mode_note = f" Mode: {mode}." if modes[1:] else ""
        caption = (
            f"Rank of the models in each dimension.{mode_note} 1 leans most the stereotypical way. "
            "Line and dot: rank of the mean; bar: from the best to the worst rank that the "
            "intervals allow, counting only models whose intervals lie apart. Models whose bars "
            f"overlap are not told apart. {scale(measure)}"
        )
        rows = _rows(part, plan)
        name = f"ranks-{file}" if modes[1:] else "ranks"
        figures.append(Figure(name, caption, _summary(rows), _bump(rows)))
    return figures


def rank_table(frame: pl.DataFrame, plan: Plan) -> Table:
    """Set out ranks and the ranks the intervals allow."""
    return render_table(
        frame,
        "Ranks of the models per dimension; 1 leans most the stereotypical way, equal means share "
        "the better rank.",
        [
            Column("Dimension", lambda r: plan.dimension(r["dimension"]), "head"),
            *FROM,
            Column("Rank", lambda r: _of(r["estimate"], r["n"])),
            Column("Ranks the intervals allow", _allowed),
            Column("Mean", lambda r: number(r["mean"], 3)),
            Column(plan.interval, lambda r: interval(r["mean_low"], r["mean_high"], 3)),
        ],
    )


def _of(rank: float | None, models: int | None) -> str:
    return "no rank" if rank is None else f"{rank:g} of {count(models)}"


def _allowed(row: Mapping[str, Any]) -> str:
    if row["ci_low"] is None or row["ci_high"] is None:
        return "n/a"
    return f"{row['ci_low']:g} to {row['ci_high']:g}"


def _rows(part: pl.DataFrame, plan: Plan) -> list[Row]:
    """Give a row per model and dimension that has a rank, set apart sideways by model."""
    ranked = part.drop_nulls("estimate").sort("estimate", "mean", descending=[False, True])
    models = list(part.drop_nulls("estimate")["model"].unique(maintain_order=True))
    dimensions = list(part["dimension"].unique(maintain_order=True))
    short = short_names(models)
    taken: dict[str, int] = {}
    rows = []
    for row in ranked.iter_rows(named=True):
        place = dimensions.index(row["dimension"])
        taken[row["dimension"]] = taken.get(row["dimension"], 0) + 1
        aside = (models.index(row["model"]) + 0.5) / len(models) - 0.5
        rows.append(
            {
                "model": short[row["model"]],
                "dimension": plan.dimension(row["dimension"]),
                "place": place,
                "x": round(place + 2 * _SPREAD * aside, 4),
                "rank": row["estimate"],
                "row": taken[row["dimension"]],  # its name stands here: equal ranks share no line
                "best": row["ci_low"],
                "worst": row["ci_high"],
                "shown": _of(row["estimate"], row["n"]),
                "allowed": _allowed(row),
                "mean": number(row["mean"], 3),
                "interval": interval(row["mean_low"], row["mean_high"], 3),
            }
        )
    return sorted(rows, key=lambda row: row["place"])


def _bump(rows: Sequence[Row]) -> Row:
    models = list(dict.fromkeys(row["model"] for row in rows))
    last = max(row["place"] for row in rows)
    most = round(max(max(row["rank"], row["worst"] or 0, row["row"]) for row in rows))
    styles = line_styles(len(models))
    color = alt.Color(
        "model:N",
        scale=alt.Scale(domain=models, range=[style["color"] for style in styles]),
        legend=None,
    )
    dash = alt.StrokeDash(
        "model:N",
        scale=alt.Scale(domain=models, range=[style["dash"] for style in styles]),
        legend=None,
    )
    # Names stand left and right of the lines; with one dimension, on the right alone.
    across = alt.Scale(domain=[-1.0 if last else -0.5, last + 1.0], nice=False)
    down = alt.Scale(domain=[0.2, most + 0.6], nice=False, reverse=True)
    ticks = alt.Axis(
        title="Rank", values=list(range(1, most + 1)), format="d", grid=True, domain=False
    )
    x = alt.X("x:Q", scale=across, axis=None)
    y = alt.Y("rank:Q", scale=down, axis=ticks)
    chart = alt.Chart(ROWS).encode(x=x, y=y, color=color, tooltip=tooltips(rows, *_TIPS))
    ranges = chart.mark_rule(strokeWidth=7, opacity=0.28, strokeCap="round").transform_filter(
        "isValid(datum.best) && isValid(datum.worst)"
    )
    drawing = alt.layer(
        ranges.encode(y=alt.Y("best:Q", scale=down, axis=ticks), y2="worst:Q"),
        chart.mark_line(strokeWidth=2.2).encode(strokeDash=dash, order="place:Q"),
        chart.mark_point(filled=True, size=85, opacity=1),
        *_named(chart.encode(y=alt.Y("row:Q", scale=down, axis=ticks)), last),
        _titles(chart.encode(y=alt.Y(datum=0.4, scale=down, axis=ticks))),
    )
    return vega_lite(drawing.properties(width=225 * (last + 2), height=30 * most + 40), rows)


def _named(chart: Any, last: int) -> list[Any]:
    """Write the names of the models beside their first and last ranks, on a ground of paper."""
    sides = [(0, "right", -_SPREAD - 0.04)] if last else []
    texts = []
    for place, align, aside in (*sides, (last, "left", _SPREAD + 0.04)):
        wanted = alt.FieldEqualPredicate(field="place", equal=place)
        for ink in ({"stroke": "var(--paper)", "strokeWidth": 5}, {}):
            mark = chart.mark_text(align=align, fontSize=12, limit=145, **ink)
            texts.append(
                mark.transform_filter(wanted).encode(
                    x=alt.X(datum=place + aside, axis=None),
                    text="model:N",
                    color=alt.value("var(--paper)" if ink else "var(--ink)"),
                )
            )
    return texts


def _titles(chart: Any) -> Any:
    """Write the name of each dimension above its ranks."""
    once = chart.transform_aggregate(count="count()", groupby=["place", "dimension"])
    return once.mark_text(fontSize=13, fontWeight="bold", limit=220).encode(
        x=alt.X("place:Q", axis=None),
        text="dimension:N",
        color=alt.value("var(--ink)"),
        tooltip=alt.value(None),
    )


def _summary(rows: Sequence[Row]) -> str:
    parts = []
    for dimension in dict.fromkeys(row["dimension"] for row in rows):
        ranked = sorted(
            (row for row in rows if row["dimension"] == dimension), key=lambda row: row["row"]
        )
        places = [f"{row['rank']:g} {row['model']} ({row['allowed']})" for row in ranked]
        parts.append(f"{dimension}: {', '.join(places)}.")
    return " ".join(parts)
