"""Stereotype content: what groups are paired with, one dimension apart from the other.

Reference: Li et al. 2025, MIST, arXiv:2506.14161, figure 3, Table 1, section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.report.answers.ranks import rank_figures, rank_table
from tiltmeter.report.drawing.charts import Axis, Row, forest
from tiltmeter.report.drawing.figures import Figure, drawn
from tiltmeter.report.drawing.intervals import range_text
from tiltmeter.report.drawing.radar import FEWEST, MOST, radar
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import file_names, interval, number, p_value, scale, short_names
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, VERDICT, Column, Table, count, render_table
from tiltmeter.results import Measure

__all__ = ["content_section"]

#: Up to this many models share a radar, a radar per dimension; above, each has its own, with a
#: line per dimension.
MOST_LINES = 4
#: Above this many models and dimensions their verdicts are counted per dimension.
MOST_SENTENCES = 12

_CAUTION = (
    "A radar shows means without their uncertainty: a distant point may rest on a few answers, and "
    "the shape depends on the order of the axes. Use the interval plot below it for comparisons; "
    "it shows the same means with their intervals."
)


def content_section(
    each: pl.DataFrame,
    whole: pl.DataFrame,
    correlations: pl.DataFrame,
    ranks: pl.DataFrame,
    plan: Plan,
    measure: Measure,
) -> Section | None:
    """Show the dimensions side by side; None where there are no dimensions.

    `each`: estimates per stereotype of one study and instrument.
    `tests`, `correlations`, `ranks`: rows of DIMENSION_TESTS, CORRELATIONS and RANKS of the same;
        empty where there are none.
    """
    each = each.drop_nulls("dimension").with_columns(mode="control_mode")
    if each.is_empty():
        return None
    dimensions = list(each["dimension"].unique(maintain_order=True))
    whole, correlations, ranks = (
        in_order(frame.with_columns(mode="control_mode"), plan)
        for frame in (whole.drop_nulls("dimension"), correlations, ranks.drop_nulls("dimension"))
    )
    tables = (
        ("", _test_table(whole, plan)),
        ("Table of correlations between dimensions", _correlation_table(correlations, plan)),
        ("Table of ranks", rank_table(ranks, plan)),
    )
    return Section(
        key="content",
        title="Stereotype content",
        short="Stereotype content",
        text=(
            "Each stereotype was asked about with words of "
            f"{_listed([plan.dimension(key) for key in dimensions])}. These are dimensions of what "
            "is believed about a group; they need not agree, and are never pooled.",
            _CAUTION,
            *_on_correlations(correlations, several=len(dimensions) > 1),
        ),
        figures=(*_content_figures(each, plan, measure), *rank_figures(ranks, plan, measure)),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _listed(names: Sequence[str]) -> str:
    """Write names as a sentence does."""
    *most, last = names
    kinds = "one dimension" if not most else f"{len(names)} dimensions"
    return f"{kinds}: {', '.join(most)} and {last}" if most else f"{kinds}: {last}"


def _content_figures(each: pl.DataFrame, plan: Plan, measure: Measure) -> list[Figure]:
    """Draw radars and intervals of each mode, one after the other."""
    modes = list(each["mode"].drop_nulls().unique(maintain_order=True))
    models = list(each["model"].drop_nulls().unique(maintain_order=True))
    short = short_names(models)
    figures = []
    for mode, file in zip(modes, file_names(modes), strict=True):
        rows = [_row(row, plan, short) for row in each.filter(mode=mode).iter_rows(named=True)]
        if not any(row["mean"] is not None for row in rows):
            continue
        end, mode_note = (f"-{file}", f" Mode: {mode}.") if modes[1:] else ("", "")
        axes = len({row["label"] for row in rows})
        if FEWEST <= axes <= MOST:
            figures.append(_radar_figure(rows, f"radar{end}", mode_note, measure))
        figures.append(_interval_figure(rows, f"content{end}", mode_note, plan, measure))
    return figures


def _row(row: Mapping[str, Any], plan: Plan, short: Mapping[str, str]) -> Row:
    of_model = short.get(row["model"], row["model"] or "")
    dimension = plan.dimension(row["dimension"])
    return {**drawn(row, plan, dimension), "dimension": dimension, "who": of_model}


def _radar_figure(rows: Sequence[Row], name: str, mode_note: str, measure: Measure) -> Figure:
    models = list(dict.fromkeys(row["who"] for row in rows))
    dimensions = list(dict.fromkeys(row["dimension"] for row in rows))
    per_model = len(models) > MOST_LINES
    panels, lines, title = (
        (models, dimensions, "Dimension") if per_model else (dimensions, models, "Model")
    )
    placed = [
        {
            **row,
            "panel": row["who"] if per_model else row["dimension"],
            "line": row["dimension"] if per_model else row["who"],
        }
        for row in rows
    ]
    told_apart = [{**row, "variation": row["line"] if lines[1:] else None} for row in placed]
    layout = "a radar per model, a line per dimension" if per_model else "a radar per dimension"
    caption = (
        f"Mean score of each stereotype: {layout}.{mode_note} An axis per stereotype: centre "
        f"{number(measure.low, 0)}, dotted ring {measure.neutral:g} (neutral), rim "
        f"{number(measure.high, 0)}; a line is broken where there is no score. Without intervals: "
        "see the next figure."
    )
    drawing = radar(placed, panels, lines, title, measure)
    return Figure(name, caption, range_text(told_apart), drawing)


def _interval_figure(
    rows: Sequence[Row], name: str, mode_note: str, plan: Plan, measure: Measure
) -> Figure:
    """Draw the same means with intervals: a column per dimension, a block per model."""
    several = len({row["who"] for row in rows}) > 1
    blocked = [{**row, "block": row["who"]} for row in rows] if several else list(rows)
    axis = Axis.of(measure, plan.number("margin"))
    panels = list(dict.fromkeys(row["panel"] for row in blocked))
    caption = (
        f"The same means with their clustered {plan.interval}s, a column per dimension.{mode_note} "
        "Dot: mean; thick line: interval; thin line: worst case, were every missing answer at "
        f"one end of the scale; dotted line: neutral. {scale(measure)}"
    )
    return Figure(name, caption, _verdicts(blocked), forest(blocked, axis, panels))


def _verdicts(rows: Sequence[Row]) -> str:
    """Count the verdicts of each model and dimension; of many models, of each dimension."""
    models = {row["who"] for row in rows}
    few = 1 < len(models) and len({(row["who"], row["panel"]) for row in rows}) <= MOST_SENTENCES
    verdicts: dict[str, list[str]] = {}
    for row in rows:
        of = f"{row['who']}, {row['panel']}" if few else row["panel"]
        verdicts.setdefault(of, []).append((row["verdict"] or "no verdict").split(" ", 1)[-1])
    return " ".join(
        f"{of}: {', '.join(f'{texts.count(text)} {text}' for text in dict.fromkeys(texts))}."
        for of, texts in verdicts.items()
    )


def _test_table(frame: pl.DataFrame, plan: Plan) -> Table:
    return render_table(
        frame,
        "Means per dimension, with the spread and the t test of Li et al. (2025, Table 1), which "
        "take every answer for independent (naive), beside the clustered interval and p.",
        [
            Column("Dimension", lambda r: plan.dimension(r["dimension"]), "head"),
            *FROM,
            VERDICT,
            Column("Scored / asked", lambda r: f"{count(r['n_scored'])} / {count(r['n'])}"),
            Column("Mean", lambda r: number(r["estimate"], 3)),
            Column("SD (population)", lambda r: number(_population_sd(r), 3)),
            Column("t (naive)", lambda r: number(r["statistic_published"])),
            Column("p (naive)", lambda r: p_value(r["p_published"])),
            Column(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"], 3)),
            Column("p (clustered)", lambda r: p_value(r["p"])),
        ],
    )


def _population_sd(row: Mapping[str, Any]) -> float | None:
    """Give the spread that divides by n, as the paper does."""
    if row["n_scored"] == 1:
        return 0.0
    return None if row["sd"] is None else row["sd"] * math.sqrt(1 - 1 / row["n_scored"])


def _on_correlations(frame: pl.DataFrame, *, several: bool) -> tuple[str, ...]:
    """Say how to read correlations, or that there are none."""
    if frame.is_empty():
        return ("There are no correlations between dimensions in these results.",) * several
    known = frame.drop_nulls("estimate")
    if known.is_empty():
        reasons = "; ".join(frame["note"].drop_nulls().unique(maintain_order=True))
        return (f"No two dimensions could be correlated ({reasons or 'no reason given'}).",)
    return (
        "Correlations say whether a group that is disfavoured on one dimension is so on another. "
        "Their points are few and share groups and words: an interval describes these points and "
        "is no test of others.",
    )


def _correlation_table(frame: pl.DataFrame, plan: Plan) -> Table:
    def both(row: Mapping[str, Any]) -> str:
        ends = [row["first"] or "", row["second"] or ""]
        listed = [key for key in plan.dimensions if key in ends]
        return " and ".join(plan.dimension(key) for key in (listed if listed[1:] else ends))

    def points(row: Mapping[str, Any]) -> str:
        return "models" if row["level"] == "model" else "stereotypes of a model"

    return render_table(
        frame,
        "Correlation of the means of two dimensions, over the stereotypes of each model and over "
        "models. Range −1 to 1; neutral 0. Interval: 95%, by Fisher’s z.",
        [
            Column("Dimensions", both, "head"),
            *FROM,
            Column("Over", points, "text"),
            Column("Points", lambda r: count(r["n"])),
            Column("Pearson", lambda r: number(r["estimate"])),
            Column("Interval", lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("p", lambda r: p_value(r["p"])),
            Column("Spearman", lambda r: number(r["spearman"])),
            Column("Note", lambda r: r["note"] or "", "text"),
        ],
    )
