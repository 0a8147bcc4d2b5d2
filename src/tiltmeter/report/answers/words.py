"""Which words or tasks carry a lean: a heat map of them against pairs of group words."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.drawing.charts import ROWS, Row, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import HEAT, HEAT_STEPS
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import number
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import word_table

__all__ = ["word_section"]

#: Above this many cells the page shows the mean over the pairs of group words.
MOST_CELLS = 15_000
#: The file for print does so above this many pairs per stereotype.
MOST_PAIRS = 6

#: The classes of colour, in words.
STEPS = (
    f"below {HEAT_STEPS[0]:.2f}",
    *(f"{low:.2f} to {high:.2f}" for low, high in pairwise(HEAT_STEPS)),
    f"from {HEAT_STEPS[-1]:.2f}",
)

_CAPTION = (
    "Share of answers (forced mode: mean probability) that give the word or task to the "
    "marginalized group; neutral .50. A stereotype-consistent answer pattern has high values in "
    "the rows tied to the marginalized group and low values in the counter rows."
)


def word_section(words: pl.DataFrame, plan: Plan) -> Section | None:
    """Show which words or tasks go to which group; None where there are no words.

    `words`: rows of the WORDS schema of one study and instrument.
    """
    drawn = word_figures(words, plan)
    if not drawn:
        return None
    most = in_order(strongest(words, plan), plan)
    caption = (
        "The three words or tasks given most often to each group, with the share of the "
        "marginalized group (neutral .50)."
    )
    return Section(
        key="words",
        title="Words and tasks",
        short="Words",
        figures=tuple(drawn),
        tables=(("Table of the words that lean most", word_table(most, caption)),),
    )


def word_figures(words: pl.DataFrame, plan: Plan) -> list[Figure]:
    """Draw the heat map with its two selectors.

    `words`: rows of the WORDS schema of one instrument.
    Result: one figure; none where there are no words.
    """
    words = words.drop_nulls("share")
    if words.is_empty():
        return []
    rows = _rows(words, plan, pooled=False)
    pooled = len(rows) > MOST_CELLS
    rows = _rows(words, plan, pooled=True) if pooled else rows
    labels = {key: plan.label(key) for key in dict.fromkeys(row["stereotype"] for row in rows)}
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    note = " Means over all pairs of group words; the table of words has each." if pooled else ""
    return [
        Figure(
            name="words",
            caption=_CAPTION + note,
            summary=_summary(rows, labels),
            spec=_selected(rows, labels, panels),
            static=_small_multiples(words, plan, labels, panels[0]),
        )
    ]


def strongest(words: pl.DataFrame, plan: Plan, most: int = 3) -> pl.DataFrame:
    """Name the words that lean most, per model, mode and stereotype.

    `words`: rows of the WORDS schema.
    `most`: how many words to name on each side.
    Result: the factors, ``label, marginalized, default``: the words given most often to the
        marginalized and to the default group, with their shares.
    """
    group = ["model", "mode", "plain_mode", "category", "stereotype", "dimension"]
    mean = _mean(words.drop_nulls("share"), [*group, "attribute"])
    mean = mean.sort(*group, "share", "attribute")
    text = pl.format("{} ({})", "attribute", pl.col("share").map_elements(number, pl.String))
    return (
        mean.with_columns(text=text)
        .group_by(group, maintain_order=True)
        .agg(
            pl.col("text").reverse().head(most).str.join(", ").alias("marginalized"),
            pl.col("text").head(most).str.join(", ").alias("default"),
        )
        .with_columns(label=pl.col("stereotype").map_elements(plan.label, pl.String))
    )


def _mean(words: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Average over the other factors, weighted by n."""
    weight = pl.col("n").clip(lower_bound=1)
    return words.group_by(by, maintain_order=True).agg(
        ((pl.col("share") * weight).sum() / weight.sum()).alias("share"), pl.col("n").sum()
    )


def _rows(words: pl.DataFrame, plan: Plan, *, pooled: bool) -> list[Row]:
    pair = pl.lit("all pairs") if pooled else pl.format("{} / {}", "marginalized", "default")
    words = words.filter(pl.col("set") != "extra")  # no valence: they carry nothing
    words = words.with_columns(pair=pair, panel=pl.format("{} · {}", "model", "mode"))
    by = ["stereotype", "panel", "set", "attribute"]
    rank = _mean(words, by).sort("share", "attribute", descending=[True, False])
    rank = rank.with_row_index("rank").select(*by, "rank")
    places = {key: place for place, key in enumerate(plan.stereotypes)}
    rows = _mean(words, [*by, "pair"]).join(rank, on=by).sort("panel", "rank", "pair")
    named = [
        {**row, "step": STEPS[bisect_right(HEAT_STEPS, row["share"])]}
        for row in rows.with_columns(pl.col("share").round(4)).iter_rows(named=True)
    ]
    return sorted(named, key=lambda row: places.get(row["stereotype"], len(places)))


def _selected(rows: Sequence[Row], labels: dict[str, str], panels: Sequence[str]) -> Row:
    choices = (
        ("stereotype", list(labels), list(labels.values()), "Stereotype"),
        ("panel", list(panels), list(panels), "Model and mode"),
    )
    selectors = [
        alt.param(
            name=name,
            value=options[0],
            bind=alt.binding_select(options=options, labels=shown, name=title),
        )
        for name, options, shown, title in choices
    ]
    wanted = "datum.stereotype === stereotype && datum.panel === panel"
    sets = sorted({row["set"] for row in rows}, reverse=True)
    return vega_lite(_cells(sets, wanted).add_params(*selectors), rows)


def _small_multiples(words: pl.DataFrame, plan: Plan, labels: dict[str, str], panel: str) -> Row:
    """Draw every stereotype at once, for a file without selectors."""
    first = words.filter(pl.format("{} · {}", "model", "mode") == panel)
    blocks, drawn = [], []
    for key, label in labels.items():
        part = first.filter(stereotype=key)
        pairs = part.select("marginalized", "default").n_unique()
        if rows := _rows(part, plan, pooled=pairs > MOST_PAIRS):
            sets = tuple(sorted({row["set"] for row in rows}, reverse=True))
            blocks.append({**_one_of_many(sets, key), "title": label})
            drawn += rows
    whole = {"concat": blocks, "columns": 3, "spacing": 30, "title": panel}
    return vega_lite({"$schema": alt.SCHEMA_URL, "data": {"name": "rows"}, **whole}, drawn)


def _one_of_many(sets: tuple[str, ...], key: str) -> Row:
    """Draw the block of one stereotype; all are made of one drawing, which is slow to make."""
    drawing = json.loads(_template(sets))
    for block in drawing["vconcat"]:
        block["transform"][0]["filter"]["equal"] = key
    return dict(drawing)


@cache
def _template(sets: tuple[str, ...]) -> str:
    wanted = alt.FieldEqualPredicate(field="stereotype", equal="")
    drawing = _cells(sets, wanted).to_dict(validate=False)
    return json.dumps({key: drawing[key] for key in ("vconcat", "spacing", "resolve")})


def _cells(sets: Sequence[str], wanted: Any) -> Any:
    """Draw one block of cells per set of words, over the same pairs."""
    blocks = [
        _block(name, first=name == sets[0])
        .transform_filter(wanted)
        .transform_filter(alt.FieldEqualPredicate(field="set", equal=name))
        for name in sets
    ]
    return alt.vconcat(*blocks, data=ROWS, spacing=8).resolve_scale(x="shared")


def _block(name: str, *, first: bool) -> Any:
    axis = alt.Axis(titleAnchor="start", orient="top", labelAngle=-40, labelLimit=240, grid=False)
    title = "marginalized / default group word"
    cell = alt.Chart().encode(
        x=alt.X("pair:N", title=title if first else None, axis=axis if first else None),
        y=alt.Y("attribute:N", title=name, sort=alt.EncodingSortField("rank", op="min")),
        tooltip=[
            alt.Tooltip("attribute:N", title="Word or task"),
            alt.Tooltip("set:N", title="Set"),
            alt.Tooltip("pair:N", title="Group words"),
            alt.Tooltip("share:Q", title="Share of the marginalized group", format=".2f"),
            alt.Tooltip("n:Q", title="n"),
        ],
    )
    legend = alt.Legend(
        title="Share of the marginalized group (neutral .50)",
        symbolType="square",
        symbolSize=150,
        columns=4,
    )
    scale = alt.Scale(domain=list(STEPS), range=list(HEAT))
    color = alt.Color("step:O", scale=scale, legend=legend)
    text = alt.Text("share:Q", format=".2f")
    return alt.layer(
        cell.mark_rect().encode(color=color),
        cell.mark_text(fontSize=11, color="var(--ink)").encode(text=text),
    ).properties(width={"step": 46}, height={"step": 22})


def _summary(rows: Sequence[Row], labels: dict[str, str]) -> str:
    widest = max(rows, key=lambda row: abs(row["share"] - 0.5))
    return (
        f"{len(labels)} stereotypes, {len(rows)} cells. Furthest from neutral: "
        f"{widest['attribute']} for {widest['pair']} ({labels[widest['stereotype']]}, "
        f"{widest['panel']}) at {number(widest['share'])}."
    )
