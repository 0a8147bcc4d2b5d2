"""Mindset streams: the shortest paths between two words, drawn hop by hop from left to right.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 8 and 9: positive words
blue, negative ones red. Here a sign tells them apart too, and words that are not rated stand apart
from neutral ones.

Vega-Lite has no layered drawing; places are computed here, in pixels. All boxes of a column are
as wide as its widest word, so that no line crosses a word.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from clinometer.errors import InputError
from clinometer.numbers import many, number
from clinometer.pieces.drawing.charts import Row, in_layers, tooltips, vega_lite
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.prose import counted, cut, file_names
from clinometer.results import check
from clinometer.texts import visible
from clinometer_measures.networks.layered_paths import TONES, path_types, paths_from
from clinometer_measures.networks.tables import STREAM_EDGES, STREAM_NODES

__all__ = ["stream_figures"]

#: Words of a hop that the summary lists.
_LISTED = 10

_KEYS = ["network", "source", "target"]

#: How a tone is called in keys and sentences, and what stands before a word of it.
_NAMES = {**{tone: tone for tone in TONES}, "unknown": "not rated"}
_SIGNS = {"positive": "+ ", "neutral": "", "negative": "− ", "unknown": ""}

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


def stream_figures(nodes: pl.DataFrame, edges: pl.DataFrame) -> list[Figure]:
    """Draw each stream of a table, in its order, with distinct names.

    `nodes` and `edges`: with the columns STREAM_NODES and STREAM_EDGES.
    Raises InputError if a column is missing, or words and edges are not of the same stream.
    """
    unnamed = pl.col("network").fill_null("")  # a network without a name is read back as null
    nodes = check(nodes, STREAM_NODES, "nodes").with_columns(unnamed)
    edges = check(edges, STREAM_EDGES, "edges").with_columns(unnamed)
    parts = nodes.partition_by(_KEYS, as_dict=True, maintain_order=True)
    links = edges.partition_by(_KEYS, as_dict=True)
    names = file_names([f"stream {' '.join(key)}" for key in parts])
    figures = []
    for (key, part), name in zip(parts.items(), names, strict=True):
        figures.append(_figure(part, links.get(key, edges.clear()), name))
    return figures


def _figure(nodes: pl.DataFrame, edges: pl.DataFrame, name: str) -> Figure:
    """Draw one stream: a column per hop, the words coloured by their tone."""
    hop = dict(nodes.select("word", "hop").iter_rows())
    ends = {word for column in ("src", "tgt") for word in edges[column]}
    if not ends or ends - hop.keys():
        raise InputError("edges: not those of the stream in nodes; take both of one run")
    nodes = nodes.sort("hop", maintain_order=True)
    edges = edges.sort(pl.col("src").replace_strict(hop, return_dtype=pl.Int64))
    first = nodes.row(0, named=True)
    tones = dict(nodes.select("word", "tone").iter_rows())
    steps = list(edges.select("src", "tgt").iter_rows())
    types = path_types(steps, tones, first["source"], first["target"])
    length = f"{counted(nodes['hop'][-1], 'hop')}, {counted(sum(types.values()), 'path')}"
    network = f" · {first['network']}" if first["network"] else ""
    title = visible(f"{first['source']} → {first['target']}{network}: {length}")
    drawing = _draw_layers(nodes.filter("shown"), edges.filter("shown"), title)
    return Figure(name, _caption(nodes, edges, types), _summary(nodes, types, length), drawing)


def _caption(nodes: pl.DataFrame, edges: pl.DataFrame, types: Mapping[str, int]) -> str:
    """Say what is drawn, how, and what is not."""
    first = nodes.row(0, named=True)
    place = f" in {first['network']}" if first["network"] else ""
    weights = sorted(edges["weight"].to_list())
    span = dict.fromkeys(f"{weight:g}" for weight in (weights[0], weights[-1]))
    parts = [
        f"Mindset stream from {first['source']} to {first['target']}{place}.",
        "All shortest paths, hop by hop from left to right; "
        f"the thicker a line, the larger the weight of the edge ({' to '.join(span)}).",
    ]
    unknown = nodes["tone"].eq("unknown").sum()
    if unknown == nodes.height:
        parts.append("No word is rated: no lexicon of valence was given, or it has none of them.")
    else:
        parts.append("Colour and sign: how positive people rate the word; neutral ones are grey.")
    if 0 < unknown < nodes.height:
        parts.append(
            f"Slanted and dashed: not in the lexicon ({unknown:,} of {nodes.height:,} words), "
            "and so not known to be neutral; the types of paths ignore them."
        )
    if not nodes["shown"].all():
        parts.append(_omission_text(nodes, edges, sum(types.values())))
    return visible(" ".join(parts))


def _omission_text(nodes: pl.DataFrame, edges: pl.DataFrame, n_paths: int) -> str:
    """Say what is left out of a drawing."""
    first = nodes.row(0, named=True)
    steps = edges.filter("shown").select("src", "tgt").iter_rows()
    n_visible = paths_from(steps, first["source"]).get(first["target"], 0)
    return (
        f"Shown are {nodes['shown'].sum() - 2:,} of {nodes.height - 2:,} inner words and "
        f"{many(n_visible)} of {many(n_paths)} paths; left out are those with the weakest links."
    )


def _summary(nodes: pl.DataFrame, types: Mapping[str, int], length: str) -> str:
    """Say the same in words: length, paths and their types, the words of each hop."""
    kinds = [f"{many(n)} {kind}" for kind, n in types.items() if n and kind != "unknown"]
    if types["unknown"] and kinds:
        kinds.append(f"{many(types['unknown'])} of unknown type")
    parts = [f"{length}{': ' if kinds else ''}{', '.join(kinds)}."]
    inner = nodes.slice(1, nodes.height - 2)
    rated = (nodes["tone"] != "unknown").any()
    if inner.height and rated:
        counts = Counter(inner["tone"])
        tone_counts = ", ".join(
            f"{counts[tone]:,} {_NAMES[tone]}" for tone in TONES if counts[tone]
        )
        parts.append(f"Inner words: {tone_counts}.")
    last = nodes["hop"][-1]
    for (hop,), part in nodes.partition_by("hop", as_dict=True, maintain_order=True).items():
        words = part.filter("shown").head(_LISTED)
        more = part.height - words.height
        rest = f"; and {more:,} more" if more else ""
        if hop == 0:
            heading = "Start"
        else:
            heading = "End" if hop == last else counted(hop, "hop")
        words_text = _list_by_tone(words) if rated else ", ".join(words["word"])
        parts.append(f"{heading}: {words_text}{rest}.")
    return visible(" ".join(parts))


def _list_by_tone(words: pl.DataFrame) -> str:
    """List words, those of a tone together."""
    texts = []
    for tone in TONES:
        words_of_tone = words.filter(tone=tone)["word"]
        if len(words_of_tone):
            texts.append(f"{', '.join(words_of_tone)} ({_NAMES[tone]})")
    return "; ".join(texts)


def _draw_layers(nodes: pl.DataFrame, edges: pl.DataFrame, title: str) -> Row:
    """Draw all of a stream: lines first, boxes on them, words in the boxes."""
    words, width, height = _place_words(nodes, edges)
    tones = {word["tone"] for word in words.values()}
    keys = [] if _PLAIN in tones else list(_key_boxes(tones))
    width = max(width, *(key["right"] for key in keys), 0.0)
    rows = [*_lines(words, edges), *words.values(), *keys]
    place = {
        "x": {"scale": {"domain": [0, width], "nice": False}, "axis": None},
        "y": {"scale": {"domain": [height, 0], "nice": False}, "axis": None},
    }
    heading = {"text": title, "offset": 12}
    layers = in_layers(_marks(rows, tones), place)
    return vega_lite({"title": heading, "width": width, "height": height, **layers}, rows)


def _place_words(nodes: pl.DataFrame, edges: pl.DataFrame) -> tuple[dict[str, Row], float, float]:
    """Give each word its box, and the width and height of all."""
    rated = (nodes["tone"] != "unknown").any()
    steps = list(edges.select("src", "tgt").iter_rows())
    layers = [part["word"].to_list() for part in nodes.partition_by("hop", maintain_order=True)]
    rows = _order_layers(layers, steps)
    head = _KEY if rated else 0
    tallest = max(map(len, layers)) * _ROW
    by_word = {row["word"]: row for row in nodes.iter_rows(named=True)}
    boxes: dict[str, Row] = {}
    x = 1.0
    for layer in layers:
        labels = {word: _label(by_word[word]) for word in layer}
        end = x + max(map(_width, labels.values()))
        for word, label in labels.items():
            tone = by_word[word]["tone"] if rated else _PLAIN
            box = _box(label, tone, x, end, head + tallest / 2 + _ROW * rows[word])
            boxes[word] = {**box, **_tooltip_texts(by_word[word])}
        # The steepest line from this column to the next decides the room between them.
        rise = max((abs(rows[a] - rows[b]) for a, b in steps if a in labels), default=0)
        x = end + min(max(_GAP, rise * _ROW / _STEEPEST), _WIDEST)
    # The two ends of the stream stand out.
    for word in (layers[0][0], layers[-1][-1]):
        boxes[word]["stroke"] = 2.4
    return boxes, end + 1, head + tallest


def _order_layers(
    layers: Sequence[list[str]], steps: Sequence[tuple[str, str]]
) -> dict[str, float]:
    """Sort each layer so that words stand near their neighbours, in passes there and back.

    Gives each word's row, counted from the middle.
    """
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for start, end in steps:
        before.setdefault(end, []).append(start)
        after.setdefault(start, []).append(end)
    rows = {}
    for layer in layers:
        rows.update(_rows_of_layer(layer))

    def middle(word: str, neighbours: Mapping[str, list[str]]) -> float:
        """Average the rows of a word's neighbours; a word without any stays where it is."""
        near = neighbours.get(word, [word])
        return sum(rows[neighbour] for neighbour in near) / len(near)

    # Forwards by the neighbours before, then back by those after.
    for back in (False, True) * _PASSES:
        for layer in reversed(layers) if back else layers:
            layer.sort(key=partial(middle, neighbours=after if back else before))
            rows.update(_rows_of_layer(layer))
    return rows


def _rows_of_layer(layer: Sequence[str]) -> dict[str, float]:
    return {word: place - (len(layer) - 1) / 2 for place, word in enumerate(layer)}


def _label(row: Mapping[str, Any]) -> str:
    return _SIGNS[row["tone"]] + cut(visible(row["word"]), _LONGEST)


def _width(label: str) -> float:
    """Give the width of a label; letters of East Asia take two places."""
    places = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in label)
    return places * _LETTER + 2 * _PAD


def _box(label: str, tone: str, start: float, end: float, middle: float) -> Row:
    return {
        "kind": "word",
        "label": label,
        "tone": tone,
        "stroke": 1.2,
        "left": start,
        "right": end,
        "top": middle - _BOX / 2,
        "bottom": middle + _BOX / 2,
        "x": (start + end) / 2,
        "y": middle,
    }


def _tooltip_texts(row: Mapping[str, Any]) -> Row:
    return {
        "word": visible(row["word"]),
        "tone_name": _NAMES[row["tone"]],
        "valence": number(row["valence"]),
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


def _key_boxes(tones: set[str]) -> Iterator[Row]:
    """Give the key: a box for each tone there is, above the drawing."""
    x = 1.0
    for tone in TONES:
        if tone in tones:
            label = _SIGNS[tone] + _NAMES[tone]
            box = _box(label, tone, x, x + _width(label), 1 + _BOX / 2)
            yield box
            x = box["right"] + 10


def _marks(rows: Sequence[Row], tones: set[str]) -> list[Any]:
    place = {
        "x": alt.X("left:Q"),
        "x2": alt.X2("right:Q"),
        "y": alt.Y("top:Q"),
        "y2": alt.Y2("bottom:Q"),
    }
    extent = {**place, "strokeWidth": alt.StrokeWidth("stroke:Q", scale=None, legend=None)}
    edge_tips = tooltips(rows, ("Edge", "edge"), ("Weight", "weight"), ("Paths over it", "paths"))
    edge = alt.Chart().transform_filter("datum.kind === 'edge'")
    line = edge.mark_rule(color="var(--soft)", opacity=0.5, strokeCap="butt")
    marks = [line.encode(**extent, tooltip=edge_tips)]
    word_tips = tooltips(
        rows,
        *(("Word", "word"), ("Tone", "tone_name"), ("Valence", "valence"), ("Hops", "hops")),
        ("Paths through it", "paths"),
    )
    color: Row = {"scale": alt.Scale(domain=list(_COLORS), range=list(_COLORS.values()))}
    ink = alt.Color("tone:N", **color, legend=None)
    outline = alt.Stroke("tone:N", **color, legend=None)
    plain = alt.value("var(--line)")
    for group_tones, stroke, dash, style in (
        (TONES[:3], outline, [1, 0], "normal"),
        ((_PLAIN,), plain, [1, 0], "normal"),
        (("unknown",), outline, [3, 2], "italic"),
    ):
        if tones.isdisjoint(group_tones):
            continue
        is_of_tones = alt.FieldOneOfPredicate(field="tone", oneOf=list(group_tones))
        word = alt.Chart().transform_filter(is_of_tones).encode(tooltip=word_tips)
        box = word.mark_rect(fill="var(--paper)", cornerRadius=4, strokeDash=dash)
        text = word.mark_text(fontSize=12, fontStyle=style, baseline="middle")
        marks += [
            box.encode(**extent, stroke=stroke),
            text.encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("label:N"), color=ink),
        ]
    return marks
