"""Heat maps of activation: targets against primes, one per network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.drawing.charts import Row, bare, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import ACTIVATION
from tiltmeter.report.networks.results import Networks, numbered
from tiltmeter.report.prose import number

__all__ = ["heat_maps"]

#: Above this many cells a network has no heat map; above this many networks the others have none.
MOST_CELLS = 6_000
MOST_MAPS = 6

_CELL_WIDTH, _CELL_HEIGHT = 30, 17
_WORD = 110


def heat_maps(networks: Networks) -> tuple[list[Figure], str]:
    """Draw the activations behind the effects of stereotypes.

    Result: a figure per identity and network, and what is not drawn; empty where all are.
    """
    parts = [
        (identity, network, part)
        for identity, frame in networks.of("network_activations", "stereotypes")
        for (network,), part in frame.drop_nulls(["normalised", "prime"]).group_by(
            "network", maintain_order=True
        )
    ]
    small = [part for part in parts if part[2].height <= MOST_CELLS]
    shown = [part for part in small if part[1] in networks.names[:MOST_MAPS]]
    left = len(parts) - len(shown)
    note = (
        f"{left} of {len(parts)} heat maps are left out, for their size or number; "
        "tables/network_activations has every value."
        if left
        else ""
    )
    names = numbered("network-activations", len(shown))
    figures = [
        _figure(part, networks.label(identity), str(network), name)
        for (identity, network, part), name in zip(shown, names, strict=True)
    ]
    return figures, note


def _figure(part: pl.DataFrame, label: str, network: str, name: str) -> Figure:
    largest = max(part["normalised"].to_list())
    top = 1.0 if 0.5 < largest <= 1 or largest <= 0 else largest
    steps = _steps(top)
    rows = [
        {
            "set": f"{row['targets']} targets",
            "target": row["target"],
            "category": f"{row['category']} primes",
            "prime": row["prime"],
            "value": round(row["normalised"], 4),
            "step": steps[min(int(max(row["normalised"], 0) / top * len(steps)), len(steps) - 1)],
        }
        for row in part.iter_rows(named=True)
    ]
    caption = (
        f"Normalised activation of each target by each prime: {label}, {network}. Rows: targets, "
        "one column of panels per set; columns: primes, grouped by category. From 0, light (in the "
        f"dark scheme dark), to {number(top, 2 if top >= 0.1 else 3)}; no neutral value and no "
        "interval. Stereotype-consistent are darker (brighter) cells where targets and primes are "
        "of the same category. A column that stands out is a prime that carries the lean by itself."
    )
    return Figure(name, caption, _summary(part), _drawing(rows, steps))


def _steps(top: float) -> list[str]:
    """Name the classes of colour."""
    digits = 1 if top == 1 else 2 if top >= 0.1 else 3
    ends = [number(top * place / len(ACTIVATION), digits) for place in range(len(ACTIVATION) + 1)]
    return [f"{low} to {high}" for low, high in zip(ends, ends[1:], strict=False)]


def _drawing(rows: Sequence[Row], steps: Sequence[str]) -> Row:
    sets = list(dict.fromkeys(row["set"] for row in rows))
    blocks = [_block(rows, name, steps) for name in sets]
    whole = {
        "$schema": alt.SCHEMA_URL,
        "data": {"name": "rows"},
        "hconcat": blocks,
        "spacing": 24,
        "resolve": {"scale": {"color": "shared", "y": "independent"}},
    }
    return vega_lite(whole, rows)


def _block(rows: Sequence[Row], name: str, steps: Sequence[str]) -> Row:
    """Draw one set of targets: a panel per category of primes, side by side."""
    mine = [row for row in rows if row["set"] == name]
    categories = list(dict.fromkeys(row["category"] for row in mine))
    header = {"title": None, "labelAnchor": "start", "labelPadding": 4, "labelFontSize": 12}
    return {
        "title": name,
        "transform": [{"filter": {"field": "set", "equal": name}}],
        "facet": {
            "column": {"field": "category", "type": "nominal", "sort": categories, "header": header}
        },
        "spacing": 7,
        "resolve": {"scale": {"x": "independent"}},
        "spec": {
            **bare(_cells(mine, steps)),
            "width": {"step": _CELL_WIDTH},
            "height": {"step": _CELL_HEIGHT},
        },
    }


def _cells(mine: Sequence[Row], steps: Sequence[str]) -> Any:
    primes, targets = (list(dict.fromkeys(row[key] for row in mine)) for key in ("prime", "target"))
    legend = alt.Legend(
        title="Normalised activation", symbolType="square", symbolSize=170, columns=len(steps)
    )
    scale = alt.Scale(domain=list(steps), range=list(ACTIVATION))
    across = alt.Axis(title=None, labelAngle=-45, labelLimit=120, grid=False, orient="bottom")
    down = alt.Axis(title=None, labelLimit=_WORD, grid=False, ticks=False, labelPadding=5)
    told = (("Target", "target"), ("Prime", "prime"), ("Category", "category"))
    return (
        alt.Chart()
        .mark_rect(stroke="var(--paper)", strokeWidth=0.6)
        .encode(
            x=alt.X("prime:N", sort=primes, axis=across),
            y=alt.Y("target:N", sort=targets, axis=down),
            color=alt.Color("step:O", scale=scale, legend=legend),
            tooltip=[
                *(alt.Tooltip(f"{field}:N", title=title) for title, field in told),
                alt.Tooltip("value:Q", title="Normalised activation", format=".3f"),
            ],
        )
    )


def _summary(part: pl.DataFrame) -> str:
    """Say which category activates which targets more, on average and how often."""
    told = []
    for (targets,), mine in part.group_by("targets", maintain_order=True):
        means = mine.group_by("category", maintain_order=True).agg(pl.col("normalised").mean())
        shown = " and ".join(
            f"{number(mean, 3)} by {category} primes" for category, mean in means.iter_rows()
        )
        most = means.sort("normalised", descending=True)
        by_word = mine.group_by("target", "category").agg(pl.col("normalised").mean())
        top = by_word.filter(pl.col("normalised") == pl.col("normalised").max().over("target"))
        often = top.filter(category=most["category"][0]).height
        told.append(
            f"Targets {targets}: activated {shown} on average; {often} of "
            f"{mine['target'].n_unique()} most by {most['category'][0]} ones."
        )
    return " ".join(told)
