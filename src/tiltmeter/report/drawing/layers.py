"""The drawing of a stream: a column of words per hop, lines from each to those of the next.

Vega-Lite has no layered drawing; places are computed here, in pixels. All boxes of a column are
as wide as its widest word, so that no line crosses a word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.drawing.charts import Row, bare, tooltips, vega_lite
from tiltmeter.report.prose import number, visible
from tiltmeter.statistics.paths import TONES

__all__ = ["NAMES", "layered", "many"]

#: What stands before a word of each tone.
SIGNS = {"positive": "+ ", "neutral": "", "negative": "− ", "unknown": ""}

#: How a tone is called in keys and sentences.
NAMES = {**{tone: tone for tone in TONES}, "unknown": "not rated"}

#: Where no word is rated there is nothing to tell apart.
_PLAIN = "plain"
_COLORS = {**{tone: f"var(--tone-{tone})" for tone in TONES}, _PLAIN: "var(--ink)"}

#: In pixels: from one word to the next below, the height of its box, the height of the key.
_ROW, _BOX, _KEY = 27, 20, 40
#: From a column to the next: room for lines to rise not steeper than this, within bounds.
_STEEPEST, _GAP, _WIDEST = 4.0, 64, 170
#: The width of a letter and the room beside a word.
_LETTER, _PAD = 7.1, 9
#: Characters of a word; the tooltip has all of it.
_LONGEST = 28
#: The width of the lines of the least and of the largest weight.
_THIN, _THICK = 0.7, 5.0
#: Passes that put words near their neighbours.
_PASSES = 4


def layered(nodes: pl.DataFrame, edges: pl.DataFrame, title: str) -> Row:
    """Draw a stream: lines first, boxes on them, words in the boxes.

    `nodes` and `edges`: with the columns STREAM_NODES and STREAM_EDGES, of one stream; all of it is
    drawn.
    """
    words, width, height = _placed(nodes, edges)
    lines = _lines(words, edges)
    rated = any(word["tone"] != _PLAIN for word in words.values())
    keys = list(_keys(words.values())) if rated else []
    width = max(width, *(key["right"] for key in keys), 0.0)
    rows = [*lines, *words.values(), *keys]
    place = {
        "x": {"scale": {"domain": [0, width], "nice": False}, "axis": None},
        "y": {"scale": {"domain": [height, 0], "nice": False}, "axis": None},
    }
    drawn = {
        "$schema": alt.SCHEMA_URL,
        "data": {"name": "rows"},
        "title": {"text": title, "offset": 12},
        "width": width,
        "height": height,
        "layer": [_at(bare(mark), place) for mark in _marks(rows)],
    }
    return vega_lite(drawn, rows)


def _at(mark: Row, place: Mapping[str, Row]) -> Row:
    encoding = {
        name: {**channel, **place[name]} if name in place else channel
        for name, channel in mark["encoding"].items()
    }
    return {**mark, "encoding": encoding}


def _placed(nodes: pl.DataFrame, edges: pl.DataFrame) -> tuple[dict[str, Row], float, float]:
    """Give each word its box, and the width and height of all."""
    rated = (nodes["tone"] != "unknown").any()
    steps = list(edges.select("src", "tgt").iter_rows())
    layers = [part["word"].to_list() for part in nodes.partition_by("hop", maintain_order=True)]
    rows = _ordered(layers, steps)
    head = _KEY if rated else 0
    tallest = max(map(len, layers)) * _ROW
    by_word = {row["word"]: row for row in nodes.iter_rows(named=True)}
    placed: dict[str, Row] = {}
    left = 1.0
    for layer in layers:
        labels = {word: _label(by_word[word]) for word in layer}
        right = left + max(map(_width, labels.values()))
        for word, label in labels.items():
            tone = by_word[word]["tone"] if rated else _PLAIN
            box = _box(label, tone, left, right, head + tallest / 2 + _ROW * rows[word])
            placed[word] = {**box, **_tips(by_word[word])}
        rise = max((abs(rows[a] - rows[b]) for a, b in steps if a in labels), default=0)
        left = right + min(max(_GAP, rise * _ROW / _STEEPEST), _WIDEST)
    for word in (layers[0][0], layers[-1][-1]):
        placed[word]["stroke"] = 2.4
    return placed, right + 1, head + tallest


def _ordered(layers: Sequence[list[str]], steps: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Sort each layer so that words stand near their neighbours, in passes there and back.

    Gives each word's row, counted from the middle.
    """
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for start, end in steps:
        before.setdefault(end, []).append(start)
        after.setdefault(start, []).append(end)
    rows = {
        word: place - (len(layer) - 1) / 2 for layer in layers for place, word in enumerate(layer)
    }

    def middle(word: str, neighbours: Mapping[str, list[str]]) -> float:
        near = neighbours.get(word, [word])
        return sum(rows[one] for one in near) / len(near)

    for back in (False, True) * _PASSES:
        for layer in reversed(layers) if back else layers:
            layer.sort(key=partial(middle, neighbours=after if back else before))
            for place, word in enumerate(layer):
                rows[word] = place - (len(layer) - 1) / 2
    return rows


def _label(row: Mapping[str, Any]) -> str:
    word = visible(row["word"])
    cut = word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"
    return SIGNS[row["tone"]] + cut


def _width(label: str) -> float:
    """Give the width of a label; letters of East Asia take two places."""
    places = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in label)
    return places * _LETTER + 2 * _PAD


def _box(label: str, tone: str, left: float, right: float, middle: float) -> Row:
    return {
        "kind": "word",
        "label": label,
        "tone": tone,
        "stroke": 1.2,
        "left": left,
        "right": right,
        "top": middle - _BOX / 2,
        "bottom": middle + _BOX / 2,
        "x": (left + right) / 2,
        "y": middle,
    }


def _tips(row: Mapping[str, Any]) -> Row:
    return {
        "word": visible(row["word"]),
        "tone_name": NAMES[row["tone"]],
        "valence": None if row["valence"] is None else number(row["valence"]),
        "hops": str(row["hop"]),
        "paths": many(row["paths"]),
    }


def _lines(words: Mapping[str, Row], edges: pl.DataFrame) -> list[Row]:
    """Give the line of each edge, from box to box; its width grows with the root of its weight."""
    largest = edges["weight"].max()
    lines = []
    for row in edges.iter_rows(named=True):
        start, end = words[row["src"]], words[row["tgt"]]
        share = (row["weight"] / largest) ** 0.5
        lines.append(
            {
                "kind": "edge",
                "edge": visible(f"{row['src']} → {row['tgt']}"),
                "left": start["right"],
                "top": start["y"],
                "right": end["left"],
                "bottom": end["y"],
                "stroke": round(_THIN + (_THICK - _THIN) * share, 2),
                "weight": f"{row['weight']:g}",
                "paths": many(row["paths"]),
            }
        )
    return lines


def _keys(words: Iterable[Row]) -> Iterator[Row]:
    """Give the key: a box for each tone there is, above the drawing."""
    seen, left = {word["tone"] for word in words}, 1.0
    for tone in TONES:
        if tone in seen:
            label = SIGNS[tone] + NAMES[tone]
            box = _box(label, tone, left, left + _width(label), 1 + _BOX / 2)
            yield box
            left = box["right"] + 10


def _marks(rows: Sequence[Row]) -> list[Any]:
    """Draw the rows."""

    def of(field: str, *values: str) -> Any:
        chosen = alt.FieldOneOfPredicate(field=field, oneOf=list(values))
        return alt.Chart().transform_filter(chosen)

    box = {"x": "left:Q", "x2": "right:Q", "y": "top:Q", "y2": "bottom:Q"}
    width = alt.StrokeWidth("stroke:Q", scale=None, legend=None)
    scale = alt.Scale(domain=list(_COLORS), range=list(_COLORS.values()))
    tips = tooltips(
        rows,
        *(("Word", "word"), ("Tone", "tone_name"), ("Valence", "valence"), ("Hops", "hops")),
        ("Paths through it", "paths"),
    )
    about = tooltips(rows, ("Edge", "edge"), ("Weight", "weight"), ("Paths over it", "paths"))
    marks = [
        of("kind", "edge")
        .mark_rule(color="var(--soft)", opacity=0.5, strokeCap="butt")
        .encode(**box, strokeWidth=width, tooltip=about)
    ]
    for tones, dash, style in ((TONES[:3], [1, 0], "normal"), ((_PLAIN,), [1, 0], "normal"),
                               (("unknown",), [3, 2], "italic")):  # fmt: skip
        if any(row.get("tone") in tones for row in rows):
            chosen = of("tone", *tones)
            color: dict[str, Any] = {"scale": scale, "legend": None}
            stroke = alt.value("var(--line)") if _PLAIN in tones else alt.Stroke("tone:N", **color)
            marks += [
                chosen.mark_rect(fill="var(--paper)", cornerRadius=4, strokeDash=dash).encode(
                    **box, stroke=stroke, strokeWidth=width, tooltip=tips
                ),
                chosen.mark_text(fontSize=12, fontStyle=style, baseline="middle").encode(
                    x="x:Q", y="y:Q", text="label:N", tooltip=tips,
                    color=alt.Color("tone:N", **color),
                ),
            ]  # fmt: skip
    return marks


def many(count: int | str) -> str:
    """Write a whole number; one of more than 15 digits as a power of ten."""
    exact = Decimal(count)
    if exact < 10**15:
        return f"{int(exact):,}"
    digits, power = f"{exact:.1e}".split("e+")
    return f"{digits} × 10^{power}"
