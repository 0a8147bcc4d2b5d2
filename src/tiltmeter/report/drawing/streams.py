"""Mindset streams: the shortest paths between two words, drawn hop by hop from left to right.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 8 and 9: positive words
blue, negative ones red. Here a sign tells them apart too, and words that are not rated stand apart
from neutral ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.layers import NAMES, layered, many
from tiltmeter.report.prose import file_names, visible
from tiltmeter.results import check
from tiltmeter.results.schemas import STREAM_EDGES, STREAM_NODES
from tiltmeter.statistics.paths import TONES, path_types, paths_from

__all__ = ["stream_figure", "stream_figures"]

#: Words of a hop that the summary lists.
_LISTED = 10

_KEYS = ["network", "source", "target"]


def stream_figures(nodes: pl.DataFrame, edges: pl.DataFrame) -> list[Figure]:
    """Draw each stream of a table.

    Parameters
    ----------
    nodes, edges
        With the columns STREAM_NODES and STREAM_EDGES.

    Returns
    -------
    list of Figure
        In the order of the table, with distinct names.
    """
    nodes, edges = _checked(nodes, edges)
    parts = nodes.partition_by(_KEYS, maintain_order=True)
    links = edges.partition_by(_KEYS, as_dict=True)
    keys = [part.select(_KEYS).row(0) for part in parts]
    names = file_names([f"stream {' '.join(key)}" for key in keys])
    return [
        stream_figure(part, links.get(key, edges.clear()), name=name)
        for part, key, name in zip(parts, keys, names, strict=True)
    ]


def stream_figure(nodes: pl.DataFrame, edges: pl.DataFrame, *, name: str = "stream") -> Figure:
    """Draw one stream: a column per hop, the words coloured by their tone.

    Parameters
    ----------
    nodes, edges
        With the columns STREAM_NODES and STREAM_EDGES, of one network, source and target.
    name
        Of the figure and its files.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        If a column is missing, or there are several streams or none.
    """
    nodes, edges = _checked(nodes, edges)
    streams = nodes.select(_KEYS).n_unique() if nodes.height else 0
    if streams != 1:
        raise InputError(f"nodes: {streams} streams; a figure shows one network, source and target")
    hop = dict(nodes.select("word", "hop").iter_rows())
    ends = {word for column in ("src", "tgt") for word in edges[column]}
    if not ends or ends - hop.keys():
        raise InputError("edges: not those of the stream in nodes; take both of one run")
    nodes = nodes.sort("hop", maintain_order=True)
    edges = edges.sort(pl.col("src").replace_strict(hop, return_dtype=pl.Int64))
    steps = list(edges.select("src", "tgt").iter_rows())
    first = nodes.row(0, named=True)
    tones = dict(nodes.select("word", "tone").iter_rows())
    types = path_types(steps, tones, first["source"], first["target"])
    hops = nodes["hop"].to_list()[-1]
    title = _title(first, hops, sum(types.values()))
    drawing = layered(nodes.filter("shown"), edges.filter("shown"), title)
    return Figure(name, _caption(nodes, edges, types), _summary(nodes, types, hops), drawing)


def _checked(nodes: pl.DataFrame, edges: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Check the columns; a network without a name is read back as null."""
    named = pl.col("network").fill_null("")
    return (
        check(nodes, STREAM_NODES, "nodes").with_columns(named),
        check(edges, STREAM_EDGES, "edges").with_columns(named),
    )


def _title(first: Mapping[str, Any], hops: int, paths: int) -> str:
    of = f" · {first['network']}" if first["network"] else ""
    return visible(
        f"{first['source']} → {first['target']}{of}: {_counted(hops, 'hop')}, "
        f"{_counted(paths, 'path')}"
    )


def _counted(count: int, noun: str) -> str:
    return f"{many(count)} {noun}{'' if count == 1 else 's'}"


def _caption(nodes: pl.DataFrame, edges: pl.DataFrame, types: Mapping[str, int]) -> str:
    """Say what is drawn, how, and what is not."""
    first = nodes.row(0, named=True)
    of = f" in {first['network']}" if first["network"] else ""
    weights = sorted(edges["weight"].to_list())
    span = dict.fromkeys(f"{weight:g}" for weight in (weights[0], weights[-1]))
    parts = [
        f"Mindset stream from {first['source']} to {first['target']}{of}.",
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
            "which is not to say neutral; the types of paths pass them over."
        )
    if not nodes["shown"].all():
        parts.append(_cut(nodes, edges, sum(types.values())))
    return visible(" ".join(parts))


def _cut(nodes: pl.DataFrame, edges: pl.DataFrame, n_paths: int) -> str:
    """Say what is left out of a drawing."""
    first = nodes.row(0, named=True)
    steps = edges.filter("shown").select("src", "tgt").iter_rows()
    drawn = paths_from(steps, first["source"]).get(first["target"], 0)
    return (
        f"Shown are {nodes['shown'].sum() - 2:,} of {nodes.height - 2:,} inner words and "
        f"{many(drawn)} of {many(n_paths)} paths; left out are those with the weakest links."
    )


def _summary(nodes: pl.DataFrame, types: Mapping[str, int], hops: int) -> str:
    """Say the same in words: length, paths and their types, the words of each hop."""
    paths = sum(types.values())
    kinds = ", ".join(
        f"{many(count)} {name}" for name, count in types.items() if count and name != "unknown"
    )
    if types["unknown"] and kinds:
        kinds += f", {many(types['unknown'])} of unknown type"
    parts = [f"{_counted(hops, 'hop')}, {_counted(paths, 'path')}{f': {kinds}' if kinds else ''}."]
    inner = nodes.slice(1, nodes.height - 2)
    counts = Counter(inner["tone"].to_list())
    rated = bool((nodes["tone"] != "unknown").any())
    if inner.height and rated:
        counted = ", ".join(f"{counts[tone]:,} {NAMES[tone]}" for tone in TONES if counts[tone])
        parts.append(f"Inner words: {counted}.")
    for (hop,), part in nodes.partition_by("hop", as_dict=True, maintain_order=True).items():
        words = part.filter("shown").head(_LISTED)
        more = part.height - words.height
        rest = f"; and {more:,} more" if more else ""
        at = "Start" if hop == 0 else "End" if hop == hops else _counted(hop, "hop")
        parts.append(f"{at}: {_by_tone(words, rated)}{rest}.")
    return visible(" ".join(parts))


def _by_tone(words: pl.DataFrame, rated: bool) -> str:
    """List words, those of a tone together."""
    if not rated:
        return ", ".join(words["word"])
    return "; ".join(
        f"{', '.join(words.filter(tone=tone)['word'])} ({NAMES[tone]})"
        for tone in TONES
        if tone in words["tone"]
    )
