"""Mindset streams: which words lie on the shortest paths between two words."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.layers import many
from tiltmeter.report.drawing.streams import stream_figures
from tiltmeter.report.networks.results import Networks, numbered
from tiltmeter.report.prose import visible
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["stream_section"]

#: Above this many streams the others are in the table only.
MOST_STREAMS = 24

_KEYS = ["network", "source", "target"]
_METHOD = (
    "A stream shows through which words one gets from a prime to a target: all shortest paths, "
    "hop by hop. It is an illustration, no measure: it leaves out all longer paths, along which "
    "most activation spreads, and ignores weights in choosing paths. A shorter stream is not by "
    "itself a stronger association. The words are answers as people or models gave them, "
    "offensive ones too."
)


def stream_section(networks: Networks) -> Section | None:
    """Show the shortest paths between words; None where no streams were drawn.

    Raises InputError if words and edges do not fit together.
    """
    nodes, edges = (networks.tables[f"network_stream_{name}"] for name in ("nodes", "edges"))
    if nodes.is_empty() or edges.is_empty():
        return None
    nodes = _beside(nodes, networks.names)
    counts = _counts(nodes)
    drawn = counts.head(MOST_STREAMS).select(_KEYS)
    left = (
        f" Drawn are the first {MOST_STREAMS} of {counts.height} streams; the table counts all."
        if counts.height > MOST_STREAMS
        else ""
    )
    return Section(
        key="network-streams",
        title="Mindset streams",
        short="Mindset streams",
        text=(_METHOD + left,),
        figures=_figures(nodes.join(drawn, on=_KEYS, how="semi", maintain_order="left"), edges),
        tables=(("", _table(counts)),),
    )


def _beside(nodes: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Put the streams of a pair of words one after the other, a network at a time."""
    places = {name: place for place, name in enumerate(names)}
    pairs = nodes.select("source", "target").unique(maintain_order=True).with_row_index("pair")
    network = pl.col("network").replace_strict(places, return_dtype=pl.Int64)
    joined = nodes.join(pairs, on=["source", "target"], nulls_equal=True, maintain_order="left")
    return joined.sort("pair", network, maintain_order=True).drop("pair")


def _figures(nodes: pl.DataFrame, edges: pl.DataFrame) -> tuple[Figure, ...]:
    """Draw each stream, under names that no other figure has."""
    try:
        drawn = stream_figures(nodes, edges)
    except (InputError, LookupError, ValueError, ArithmeticError, TypeError):
        raise InputError(
            "network_stream_nodes.parquet, network_stream_edges.parquet: words and edges do not "
            "fit together; write both anew"
        ) from None
    names = numbered("network-stream", len(drawn))
    return tuple(
        Figure(name, one.caption, one.summary, one.spec, one.static)
        for one, name in zip(drawn, names, strict=True)
    )


def _counts(nodes: pl.DataFrame) -> pl.DataFrame:
    inner = pl.col("layer").is_between(1, pl.col("layer").max() - 1)
    tones = [
        (inner & (pl.col("tone") == tone)).sum().alias(tone)
        for tone in ("positive", "neutral", "negative", "unknown")
    ]
    return nodes.group_by(_KEYS, maintain_order=True).agg(
        pl.col("layer").max().alias("hops"),
        pl.col("paths").filter(layer=0).first(),
        inner.sum().alias("inner"),
        *tones,
    )


def _table(counts: pl.DataFrame) -> Table:
    return render_table(
        counts,
        "Streams. Paths: shortest ones, all counted. Words: on any of them, the two ends left out, "
        "by how positively people rate them.",
        [
            Column("From", lambda r: visible(r["source"] or ""), "head"),
            Column("To", lambda r: visible(r["target"] or ""), "head"),
            Column("Network", lambda r: r["network"], "head"),
            Column("Hops", lambda r: count(r["hops"])),
            Column("Paths", lambda r: many(r["paths"] or "0")),
            Column("Words", lambda r: count(r["inner"])),
            Column("Positive", lambda r: count(r["positive"])),
            Column("Neutral", lambda r: count(r["neutral"])),
            Column("Negative", lambda r: count(r["negative"])),
            Column("Not rated", lambda r: count(r["unknown"])),
        ],
    )
