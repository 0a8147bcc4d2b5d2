"""Decisions: how often a model says yes about either group.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), figure S4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from clinometer.authoring import VERSIONS, YES_SHARES
from clinometer.pieces import (
    FROM,
    LABELS,
    STEREOTYPE,
    YES,
    Figure,
    InstrumentResults,
    Row,
    Section,
    TableColumn,
    TableSpec,
    category_title,
    counted,
    endings,
    in_layers,
    interval,
    number,
    styled_channel,
    tooltips,
    vega_lite,
    who,
)

__all__ = ["yes_section"]

#: Above this many models and modes there are no sentences.
MOST_SENTENCES = 4

#: The two groups stand beside each other for the same task.
_COLUMNS = {
    version: f"{VERSIONS[version][0]}|{VERSIONS[version][1]} task"
    for version in ("marginalized_tied", "default_tied", "marginalized_counter", "default_counter")
}
#: The classes of colour, in words; five of equal width.
_STEPS = tuple(interval(step / 5, (step + 1) / 5, 1) for step in range(5))

_TIPS = (
    ("Stereotype", "label"),
    ("Asked about", "about"),
    ("Share of yes", "shown"),
    ("Answers", "answers"),
)

_LEVELS = (
    "Each question is about one person and one task. Compare the two groups for the same task: a "
    "model that says yes to everybody has a high share in all columns; bias is a difference "
    "between the groups."
)


def yes_section(results: InstrumentResults) -> Section | None:
    """Show the share of yes of each stereotype and version, one map per model and mode."""
    shares = results.tables.details["yes_shares"]
    frame = shares.filter(pl.col("version").is_in(list(_COLUMNS)))
    if frame["yes_share"].is_null().all():
        return None
    # A model and mode without any answer yes or no has rows in the table, but no map.
    with_shares = frame.filter(pl.col("yes_share").count().over("model", "mode") > 0)
    parts = with_shares.partition_by("model", "mode", maintain_order=True)
    ends = endings([f"{part['model'][0]} {part['mode'][0]}" for part in parts])
    text = [_LEVELS, *(f"{who(part)}: {_means_text(part)}." for part in parts[:MOST_SENTENCES])]
    if published := YES_SHARES.get(results.study):
        text.append(f"Published for GPT-4 (2025), as context: {_shares_text(published)}.")
    figures = [_yes_figure(part, f"yes-shares{end}") for part, end in zip(parts, ends, strict=True)]
    return Section(
        key="yes",
        title="Share of yes by group and task",
        short="Share of yes",
        text=tuple(text),
        figures=tuple(figures),
        tables=(("Table of answers yes and no", _SHARES.render(_by_version(frame))),),
    )


def _means_text(part: pl.DataFrame) -> str:
    """State the four means over stereotypes."""
    means = dict(part.group_by("version").agg(pl.col("yes_share").mean()).iter_rows())
    stereotypes = counted(part["stereotype"].n_unique(), "stereotype")
    return f"mean shares of yes over {stereotypes}: {_shares_text(means)}"


def _shares_text(shares: Mapping[str, float | None]) -> str:
    """State four shares, by version."""
    return "; ".join(
        f"{group} group {number(shares.get(f'{group}_tied'))} for the tied task and "
        f"{number(shares.get(f'{group}_counter'))} for the counter task"
        for group in ("marginalized", "default")
    )


def _yes_figure(part: pl.DataFrame, name: str) -> Figure:
    caption = (
        "Share of yes among the answers yes and no, per stereotype and version; "
        f"{who(part)}. Range 0 to 1, where 1 is always yes; there is no neutral value. "
        "Tied: the task stereotypically tied to the marginalized group; counter: the other one. "
        "Last row: mean over stereotypes. –: no answer was yes or no."
    )
    means = part.group_by("version", maintain_order=True).agg(
        pl.col("yes_share").mean(), pl.col("n", "n_yes", "n_no").sum()
    )
    cells = [_yes_cell(row) for row in part.iter_rows(named=True)]
    with_share = [cell for cell in cells if cell["share"] is not None]
    low = min(with_share, key=lambda cell: cell["share"])
    high = max(with_share, key=lambda cell: cell["share"])
    summary = (
        f"{_means_text(part)}. Lowest: {low['shown']} ({low['label']}, {low['about']}); "
        f"highest: {high['shown']} ({high['label']}, {high['about']})."
    )
    cells += [_yes_cell(row) for row in means.iter_rows(named=True)]
    return Figure(name, caption, summary, _yes_map(cells))


def _yes_cell(row: Mapping[str, Any]) -> Row:
    """Return a cell of the map; a mean has neither stereotype nor category."""
    key = row.get("stereotype")
    share = row["yes_share"]
    group, task = VERSIONS[row["version"]]
    return {
        "label": row["about"] if key else "Mean",
        "block": category_title(row["category"]) if key else "All",
        "column": _COLUMNS[row["version"]],
        "about": f"{group} group, {task} task",
        "share": share,
        "shown": "–" if share is None else number(share),
        "step": None if share is None else _STEPS[min(max(int(share * 5), 0), 4)],
        "answers": f"{row['n_yes']:.4g} yes, {row['n_no']:.4g} no, {row['n']} asked",
    }


def _yes_map(rows: Sequence[Row]) -> Row:
    """Draw a block of cells per category, over the same four columns."""
    columns = list(_COLUMNS.values())
    names = list(dict.fromkeys(row["block"] for row in rows))
    plain: Row = {"title": None, "grid": False, "ticks": False, "domain": False}
    split = alt.Axis(
        orient="top", labelExpr="split(datum.label, '|')", labelAngle=0, labelPadding=24, **plain
    )
    down = alt.Axis(minExtent=LABELS, maxExtent=LABELS, labelPadding=6, **plain)
    chart = alt.Chart().encode(
        x=alt.X("column:N", sort=columns, scale=alt.Scale(domain=columns), axis=split),
        y=alt.Y("label:N", sort=None, axis=down),
        tooltip=tooltips(rows, *_TIPS),
    )
    legend = alt.Legend(title="Share of yes", symbolType="square", symbolSize=150)
    color = styled_channel(alt.Color, "step", dict(zip(_STEPS, YES, strict=True)), legend=legend)
    cells = chart.mark_rect(stroke="var(--paper)", strokeWidth=1.5).encode(color=color)
    text = chart.mark_text(fontSize=12, color="var(--ink)").encode(text=alt.Text("shown:N"))
    layers = in_layers([cells.transform_filter("datum.step !== null"), text])
    header = {"title": None, "labelOrient": "top", "labelAnchor": "start", "labelPadding": 4}
    row = {"field": "block", "type": "nominal", "sort": names,
           "header": {**header, "labelFontWeight": "bold"}}  # fmt: skip
    block = {**layers, "width": {"step": 108}, "height": {"step": 23}}
    separation = {"resolve": {"scale": {"y": "independent"}}, "spacing": 6}
    return vega_lite({"facet": {"row": row}, **separation, "spec": block}, rows)


def _share_text(answers: Mapping[str, Any]) -> str:
    """Write a share of yes, with the numbers behind it."""
    numbers = f"{answers['n_yes']:.4g} yes, {answers['n_no']:.4g} no of {answers['n']}"
    return f"{number(answers['yes_share'])} ({numbers})"


_SHARES = TableSpec(
    "Share of yes among yes and no; in brackets the numbers of each and of all asked.",
    (
        STEREOTYPE,
        *FROM,
        *(
            TableColumn(title.replace("|", ", ").capitalize(), version, _share_text)
            for version, title in _COLUMNS.items()
        ),
    ),
)


def _by_version(frame: pl.DataFrame) -> pl.DataFrame:
    """Put the versions of a stereotype in one row, each under its name."""
    keys = ("model", "mode", "category", "stereotype", "about")
    return frame.group_by(keys, maintain_order=True).agg(
        pl.struct(
            pl.col("yes_share").filter(version=version).mean(),
            pl.col("n", "n_yes", "n_no").filter(version=version).sum(),
        ).alias(version)
        for version in _COLUMNS
    )
