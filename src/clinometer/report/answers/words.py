"""Which words or tasks carry a lean: a heat map by pairs of group words, and contributions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise, starmap

import polars as pl

from clinometer.numbers import interval, number
from clinometer.pieces.drawing.charts import Row, vega_lite
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.theme import HEAT, HEAT_STEPS
from clinometer.pieces.frames import in_order, place
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, STEREOTYPE, ReportTable, TableColumn, TableSpec
from clinometer.pieces.views import InstrumentResults

#: Above this many pairs per stereotype the mean over them is shown.
MOST_PAIRS = 3
#: Above this many cells only their colours show the shares.
MOST_NUMBERS = 1_500
#: Above this many words the table has those of each stereotype that contribute most.
MOST_ITEMS = 400
MOST_WORDS = 3

#: The classes of colour, in words.
_STEPS = (
    f"below {number(HEAT_STEPS[0])}",
    *starmap(interval, pairwise(HEAT_STEPS)),
    f"from {number(HEAT_STEPS[-1])}",
)
_SHARE = "Share of the marginalized group"
_TIPS = (("attribute", "Word or task"), ("set", "Set"), ("column", "Group words or run"))
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


def word_section(results: InstrumentResults) -> Section | None:
    """Show which words or tasks go to which group, and what each contributes to the score.

    None where there are no words.
    """
    plan = results.plan
    words = results.tables.details["words"].drop_nulls("share")
    items = results.tables.details["items"]
    if words.is_empty() and items.is_empty():
        return None
    figures = _figures(words, plan)
    table = () if items.is_empty() else (("Table of contributions", _item_table(items, plan)),)
    return Section("words", "Words and tasks", (), figures, table, short="Words")


def _figures(words: pl.DataFrame, plan: PlanFacts) -> tuple[Figure, ...]:
    """Draw heat maps: the columns are pairs of group words or, of several runs, the runs."""
    words = words.filter(pl.col("set") != "extra")  # no valence: they carry nothing
    several_runs = words.select("model", "mode").n_unique() > 1
    rows = _rows(words.with_columns(column=_column(several_runs)), plan)
    if not rows:
        return ()
    names = dict(words.select("stereotype", "about").unique().iter_rows())
    labels = {row["stereotype"]: names[row["stereotype"]] for row in rows}
    widest = max(rows, key=lambda row: abs(row["share"] - 0.5))
    summary = (
        f"{len(labels)} stereotypes, {len(rows)} cells. Furthest from neutral: "
        f"{widest['attribute']} for {widest['column']} ({labels[widest['stereotype']]}) at "
        f"{number(widest['share'])}."
    )
    pooled = several_runs or "all pairs" in {row["column"] for row in rows}
    title = "model and mode" if several_runs else "marginalized / default group word"
    caption = _CAPTION + _POOLED * pooled
    return (Figure("words", caption, summary, _heat_maps(rows, labels, title)),)


def _column(several_runs: bool) -> pl.Expr:
    """Name the column of a heat map: the run or, of one run, the pair of group words."""
    if several_runs:
        return pl.format("{} · {}", "model", "mode")
    pairs = pl.struct("marginalized", "default").n_unique().over("stereotype")
    pair = pl.format("{} / {}", "marginalized", "default")
    return pl.when(pairs > MOST_PAIRS).then(pl.lit("all pairs")).otherwise(pair)


_ITEMS = TableSpec(
    f"{_CONTRIBUTION}{{choice}} {{interval}}, over draws.",
    (
        STEREOTYPE,
        *FROM,
        TableColumn("Set", "set", same="in caption"),
        "attribute",
        "contribution",
        TableColumn("Interval", "ci_low ci_high", interval, digits=3),
        "score_without",
        TableColumn("Share", "share", number, missing=""),
        "n",
    ),
)


def _item_table(items: pl.DataFrame, plan: PlanFacts) -> ReportTable:
    """Set out what each word contributes; of many words, those that contribute most."""
    many = items.height > MOST_ITEMS
    listed = _strongest(items) if many else items
    # Within what `in_order` sorts by: first the words tied to the group, the strongest first.
    listed = listed.sort("set", "contribution", descending=True, maintain_order=True)
    return _ITEMS.render(in_order(listed, plan), interval=plan.interval, choice=_STRONGEST * many)


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


def _rows(words: pl.DataFrame, plan: PlanFacts) -> list[Row]:
    """Return a row per word and ``column``; words stand in the order of their shares."""
    by = ["stereotype", "set", "attribute"]
    means = _mean(words, by).sort("share", "attribute", descending=[True, False])
    ranks = means.with_row_index("rank").select(*by, "rank")
    cells = _mean(words, [*by, "column"]).join(ranks, on=by, maintain_order="left")
    cells = cells.sort(place("stereotype", plan.stereotypes), "rank", maintain_order=True)
    cells = cells.with_columns(pl.col("share").round(4))
    return [
        {**cell, "step": _STEPS[bisect_right(HEAT_STEPS, cell["share"])]}
        for cell in cells.iter_rows(named=True)
    ]


def _heat_maps(rows: Sequence[Row], labels: dict[str, str], title: str) -> Row:
    """Draw one heat map per stereotype; of very many cells without their numbers."""
    bare = len(rows) > MOST_NUMBERS
    sets: dict[str, set[str]] = {}
    for row in rows:
        sets.setdefault(row["stereotype"], set()).add(row["set"])
    # Every map filters the same rows, which the specification holds once.
    maps = [
        {**_heat_map(key, sorted(sets[key], reverse=True), title, bare=bare), "title": label}
        for key, label in labels.items()
    ]
    return vega_lite({"concat": maps, "columns": 3, "spacing": 30}, rows)


def _heat_map(stereotype: str, sets: Sequence[str], title: str, *, bare: bool) -> Row:
    """Draw one block of cells per set of words, over the same columns; only the first has heads."""
    is_stereotype = {"field": "stereotype", "equal": stereotype}
    blocks = [
        _block(name, is_stereotype, title if name == sets[0] else None, bare=bare) for name in sets
    ]
    return {"vconcat": blocks, "spacing": 8, "resolve": {"scale": {"x": "shared"}}}


def _block(name: str, is_stereotype: Row, title: str | None, *, bare: bool) -> Row:
    """Draw a block as plain Vega-Lite: altair takes long over one for each stereotype."""
    axis: Row = {"titleAnchor": "start", "orient": "top", "labelAngle": -40}
    x = {"title": title, "axis": {**axis, "grid": False} if title else None}
    sort = {"field": "rank", "op": "min"}
    legend: Row = {"symbolType": "square", "symbolSize": 150, "columns": 4}
    classes = {"domain": list(_STEPS), "range": list(HEAT)}
    share = {"field": "share", "type": "quantitative", "format": ".2f"}
    numbers: Row = {
        "mark": {"type": "text", "fontSize": 11, "color": "var(--ink)"},
        "encoding": {"text": share},
    }
    color = {"scale": classes, "legend": {"title": f"{_SHARE} (neutral .50)", **legend}}
    return {
        "transform": [{"filter": is_stereotype}, {"filter": {"field": "set", "equal": name}}],
        "encoding": {
            "x": {**_nominal("column"), **x, "sort": None},
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
            *([] if bare else [numbers]),
        ],
        "width": {"step": 24 if bare else 46},
        "height": {"step": 22},
    }


def _nominal(field: str, **options: str) -> Row:
    return {"field": field, "type": "nominal", **options}
