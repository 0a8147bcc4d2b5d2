"""Which words or tasks carry a lean: a heat map by pairs of group words, and contributions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from tiltmeter.report.answers.results import Asked
from tiltmeter.report.drawing.charts import Row, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import HEAT, HEAT_STEPS
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import interval, number, place
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, Column, Table, render_table

__all__ = ["word_section"]

#: Above this many cells the page shows the mean over the pairs of group words.
MOST_CELLS = 15_000
#: The file for print does so above this many pairs per stereotype.
MOST_PAIRS = 6
#: Above this many words the table has those of each stereotype that contribute most.
MOST_ITEMS = 400
MOST_WORDS = 3

#: The classes of colour, in words.
_STEPS = (
    f"below {HEAT_STEPS[0]:.2f}",
    *(f"{low:.2f} to {high:.2f}" for low, high in pairwise(HEAT_STEPS)),
    f"from {HEAT_STEPS[-1]:.2f}",
)
_SHARE = "Share of the marginalized group"
_TIPS = (("attribute", "Word or task"), ("set", "Set"), ("pair", "Group words"))
_CAPTION = (
    "Share of answers (forced mode: mean probability) that give the word or task to the "
    "marginalized group; neutral .50. Stereotype-consistent answers have high values in the rows "
    "tied to the marginalized group and low values in the counter rows."
)
_CONTRIBUTION = (
    "Contribution of each word to the mean score of its stereotype, relative to the other words of "
    "its set; positive: the word makes the score more stereotype-consistent; neutral 0. Mean "
    "without it: the mean score if the word is left out. Share: of the marginalized group."
)
_STRONGEST = (
    f" The {MOST_WORDS} words of each stereotype with the largest contributions; items.parquet has "
    "all."
)
_POOLED = " Means over all pairs of group words; words.parquet has each pair."


def word_section(asked: Asked) -> Section | None:
    """Show which words or tasks go to which group, and what each contributes to the score.

    None where there are no words.
    """
    words, items, plan = asked.tables.words.drop_nulls("share"), asked.tables.items, asked.plan
    if words.is_empty() and items.is_empty():
        return None
    figures = _figures(words, plan)
    table = () if items.is_empty() else (("Table of contributions", _item_table(items, plan)),)
    return Section("words", "Words and tasks", (), figures, table, short="Words")


def _figures(words: pl.DataFrame, plan: Plan) -> tuple[Figure, ...]:
    """Draw the heat map with its two selectors, and for files every stereotype of one panel."""
    rows = _rows(words, plan, pooled=pl.lit(False))
    pooled = len(rows) > MOST_CELLS
    rows = _rows(words, plan, pooled=pl.lit(True)) if pooled else rows
    if not rows:
        return ()
    labels = {key: plan.label(key) for key in dict.fromkeys(row["stereotype"] for row in rows)}
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    widest = max(rows, key=lambda row: abs(row["share"] - 0.5))
    summary = (
        f"{len(labels)} stereotypes, {len(rows)} cells. Furthest from neutral: "
        f"{widest['attribute']} for {widest['pair']} ({labels[widest['stereotype']]}, "
        f"{widest['panel']}) at {number(widest['share'])}."
    )
    figure = Figure(
        name="words",
        caption=_CAPTION + _POOLED * pooled,
        summary=summary,
        spec=_selected(rows, labels, panels),
        static=_small_multiples(words, plan, labels, panels[0]),
    )
    return (figure,)


def _item_table(items: pl.DataFrame, plan: Plan) -> Table:
    """Set out what each word contributes; of many words, those that contribute most."""
    many = items.height > MOST_ITEMS
    shown = _strongest(items) if many else items
    caption = _CONTRIBUTION + _STRONGEST * many + f" {plan.interval}, over draws."
    columns = [
        Column("Stereotype", lambda r: plan.label(r["stereotype"]), "head"),
        *FROM,
        Column("Set", lambda r: r["set"], "text", fold=True),
        Column("Word or task", lambda r: r["attribute"], "text"),
        Column("Contribution", lambda r: number(r["contribution"], 3)),
        Column("Interval", lambda r: interval(r["ci_low"], r["ci_high"], 3)),
        Column("Mean without it", lambda r: number(r["score_without"], 3)),
        Column("Share", lambda r: "" if r["share"] is None else number(r["share"])),
        Column("n", lambda r: str(r["n"])),
    ]
    by = ["set", "contribution"]
    return render_table(in_order(shown.sort(by, descending=True), plan), caption, columns)


def _strongest(items: pl.DataFrame) -> pl.DataFrame:
    """Pick the words of each stereotype with the largest contributions, of either sign."""
    size = pl.col("contribution").abs()
    place = size.rank("ordinal", descending=True).over("model", "mode", "stereotype")
    return items.filter(place <= MOST_WORDS)


def _mean(words: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Average over the other factors, weighted by n."""
    weight = pl.col("n").clip(lower_bound=1)
    return words.group_by(by, maintain_order=True).agg(
        ((pl.col("share") * weight).sum() / weight.sum()).alias("share"), pl.col("n").sum()
    )


def _rows(words: pl.DataFrame, plan: Plan, *, pooled: pl.Expr) -> list[Row]:
    """Give a row per word and pair of group words, or per word where they are pooled."""
    pair = pl.when(pooled).then(pl.lit("all pairs"))
    words = words.filter(pl.col("set") != "extra").with_columns(  # no valence: they carry nothing
        pair=pair.otherwise(pl.format("{} / {}", "marginalized", "default")),
        panel=pl.format("{} · {}", "model", "mode"),
    )
    by = ["stereotype", "panel", "set", "attribute"]
    rank = _mean(words, by).sort("share", "attribute", descending=[True, False])
    rank = rank.with_row_index("rank").select(*by, "rank")
    rows = _mean(words, [*by, "pair"]).join(rank, on=by)
    rows = rows.sort(place("stereotype", plan.stereotypes), "panel", "rank", "pair")
    return [
        {**row, "step": _STEPS[bisect_right(HEAT_STEPS, row["share"])]}
        for row in rows.with_columns(pl.col("share").round(4)).iter_rows(named=True)
    ]


def _selected(rows: Sequence[Row], labels: dict[str, str], panels: Sequence[str]) -> Row:
    """Draw one stereotype of one panel, with a selector for either."""
    choices = (
        ("stereotype", "Stereotype", list(labels), list(labels.values())),
        ("panel", "Model and mode", list(panels), list(panels)),
    )
    params = [
        {
            "name": name,
            "value": options[0],
            "bind": {"input": "select", "options": options, "labels": shown, "name": title},
        }
        for name, title, options, shown in choices
    ]
    wanted = "datum.stereotype === stereotype && datum.panel === panel"
    return vega_lite({**_cells(rows, wanted), "params": params}, rows)


def _small_multiples(words: pl.DataFrame, plan: Plan, labels: dict[str, str], panel: str) -> Row:
    """Draw every stereotype at once, for a file without selectors."""
    first = words.filter(pl.format("{} · {}", "model", "mode") == panel)
    pairs = pl.struct("marginalized", "default").n_unique().over("stereotype")
    rows = _rows(first, plan, pooled=pairs > MOST_PAIRS)
    blocks = [
        {**_cells(mine, {"field": "stereotype", "equal": key}), "title": label}
        for key, label in labels.items()
        if (mine := [row for row in rows if row["stereotype"] == key])
    ]
    whole = {"concat": blocks, "columns": 3, "spacing": 30, "title": panel}
    return vega_lite(whole, rows)


def _cells(rows: Sequence[Row], wanted: Any) -> Row:
    """Draw one block of cells per set of words, over the same pairs."""
    sets = sorted({row["set"] for row in rows}, reverse=True)
    blocks = [_block(name, wanted, first=name == sets[0]) for name in sets]
    return {"vconcat": blocks, "spacing": 8, "resolve": {"scale": {"x": "shared"}}}


def _block(name: str, wanted: Any, *, first: bool) -> Row:
    """Draw a block as plain Vega-Lite: altair takes long over one for each stereotype."""
    axis: Row = {"titleAnchor": "start", "orient": "top", "labelAngle": -40, "labelLimit": 240}
    x = {"title": "marginalized / default group word", "axis": {**axis, "grid": False}}
    sort = {"field": "rank", "op": "min"}
    legend: Row = {"symbolType": "square", "symbolSize": 150, "columns": 4}
    classes = {"domain": list(_STEPS), "range": list(HEAT)}
    share = {"field": "share", "type": "quantitative", "format": ".2f"}
    color = {"scale": classes, "legend": {"title": f"{_SHARE} (neutral .50)", **legend}}
    return {
        "transform": [{"filter": wanted}, {"filter": {"field": "set", "equal": name}}],
        "encoding": {
            "x": {**_nominal("pair"), **(x if first else {"title": None, "axis": None})},
            "y": {**_nominal("attribute"), "title": name, "sort": sort},
            "tooltip": [
                *(_nominal(field, title=title) for field, title in _TIPS),
                {**share, "title": _SHARE},
                {"field": "n", "type": "quantitative", "title": "n"},
            ],
        },
        "layer": [
            {
                "mark": {"type": "rect"},
                "encoding": {"color": {"field": "step", "type": "ordinal", **color}},
            },
            {
                "mark": {"type": "text", "fontSize": 11, "color": "var(--ink)"},
                "encoding": {"text": share},
            },
        ],
        "width": {"step": 46},
        "height": {"step": 22},
    }


def _nominal(field: str, **options: str) -> Row:
    return {"field": field, "type": "nominal", **options}
