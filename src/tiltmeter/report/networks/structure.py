"""The networks themselves: size, overlap, human priming, and the paths between words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reference import load_published
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.streams import stream_figures
from tiltmeter.report.networks.results import ALPHA, PUBLISHED, Networks
from tiltmeter.report.prose import many, number, numbered, p_value, percent, visible
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["stream_section", "structure_section"]

#: Up to this many missing words are named.
MOST_NAMED = 6

_METHOD = (
    "Nodes are words, an edge joins two of which one was given as an answer to the other. "
    "Networks of different size and density spread activation differently, which the "
    "normalisation takes out in part only."
)
_PRIMING = (
    "Whether activation means anything at all is checked against people: they decide faster that a "
    "target is a word after a related prime. Where a network models their memory, the related "
    "prime activates the target more (effect above 0, at most 0.87 for 50 triplets), and "
    "activation falls as reaction time grows (correlation below 0)."
)


def structure_section(networks: Networks) -> Section | None:
    """Show the networks, what they share, and the priming check.

    None where none of these tables is there.
    """
    sizes, shared, primed = (
        networks.in_order(networks.tables[name])
        for name in ("networks", "network_overlaps", "network_priming")
    )
    tables = [
        ("", _size_table(sizes)),
        ("Table of what networks share", _overlap_table(shared)),
        ("", _priming_table(primed)),
    ]
    if networks.replicates and not sizes.is_empty():
        tables.append(("Table of published networks", _published_sizes()))
    if networks.replicates and not shared.is_empty():
        tables.append(("Table of what published networks share", _published_overlaps()))
    if networks.replicates and not primed.is_empty():
        tables.append(("Table of the published priming check", _published_priming()))
    kept = tuple(table for table in tables if table[1].rows)
    if not kept:
        return None
    text = (*([_METHOD] if not sizes.is_empty() else []), *([_PRIMING] if primed.height else []))
    return Section("network-networks", "The networks", "The networks", text, (), kept)


def _thousands(value: int | None) -> str:
    return "n/a" if value is None else f"{value:,}"


def _size_table(frame: pl.DataFrame) -> Table:
    def paths(row: Mapping[str, Any]) -> str:
        length = number(row["mean_path_length"])
        sources = row["path_sources"]
        return length if sources is None else f"{length} (from {sources:,} nodes)"

    def hops(row: Mapping[str, Any]) -> str:
        least = "at least " if row["path_sources"] is not None else ""
        return f"{least}{count(row['diameter'])}"

    estimated = frame["path_sources"].drop_nulls().len() > 0
    note = (
        " From k nodes: estimated from the paths of k nodes drawn at random; the diameter is then "
        "the longest of those seen."
        if estimated
        else ""
    )
    return render_table(
        frame,
        "Networks. Density: share of all possible edges there are, 0 to 1; degree: edges per node; "
        "diameter and mean path length: hops in the largest component; clustering: share of the "
        f"pairs of a node’s neighbours that are joined, mean over nodes, 0 to 1.{note}",
        [
            Column("Network", lambda r: r["network"], "head"),
            Column("Nodes", lambda r: _thousands(r["nodes"])),
            Column("Edges", lambda r: _thousands(r["edges"])),
            Column("Density", lambda r: number(r["density"], 5)),
            Column("Average degree", lambda r: number(r["average_degree"], 1)),
            Column("Components", lambda r: _thousands(r["components"])),
            Column("Diameter", hops),
            Column("Mean path length", paths),
            Column("Clustering", lambda r: number(r["clustering"], 3)),
            Column("Directed", lambda r: "yes" if r["directed"] else ""),
        ],
    )


def _overlap_table(frame: pl.DataFrame) -> Table:
    return render_table(
        frame,
        "What networks share. Shared: of all that either has; edges are compared between words "
        "that both have.",
        [
            Column("Networks", lambda r: f"{r['network_a']} and {r['network_b']}", "head"),
            Column("Shared", lambda r: r["of"], "head"),
            Column("Only the first", lambda r: percent(r["only_a"])),
            Column("Both", lambda r: percent(r["shared"])),
            Column("Only the second", lambda r: percent(r["only_b"])),
            Column("Of the first", lambda r: _thousands(r["n_a"])),
            Column("In both", lambda r: _thousands(r["n_shared"])),
            Column("Of the second", lambda r: _thousands(r["n_b"])),
        ],
    )


def _priming_table(frame: pl.DataFrame) -> Table:
    return render_table(
        frame,
        "Priming check. Correlation (Spearman) of activation with reaction time: −1 to 1, expected "
        "below 0. Effect (z / √n) of related − unrelated primes: −1 to 1, expected above 0.",
        [
            Column("Network", lambda r: r["network"], "head"),
            Column("Correlation", lambda r: number(r["correlation"])),
            Column("p", lambda r: p_value(r["p"])),
            Column("Effect", lambda r: number(r["effect"])),
            Column("p (effect)", lambda r: p_value(r["effect_p"])),
            Column("As expected", _expected),
            Column("Triplets", lambda r: count(r["n"])),
            Column("Time steps", lambda r: count(r["time_steps"])),
            Column("Missing", _missing, "text"),
        ],
    )


def _missing(row: Mapping[str, Any]) -> str:
    """Name a few words; of many their number, the table beside the report has them."""
    words = [word for word in row["missing"] or [] if word]
    return ", ".join(words) if len(words) <= MOST_NAMED else f"{len(words)} words"


def _expected(row: Mapping[str, Any]) -> str:
    """Whether both signs are the expected ones, beyond chance."""
    known = (row["correlation"], row["p"], row["effect"], row["effect_p"])
    if None in known:
        return "n/a"
    signs = row["correlation"] < 0 < row["effect"]
    return "no" if not signs else "yes" if max(row["p"], row["effect_p"]) <= ALPHA else "not shown"


def _published_sizes() -> Table:
    return render_table(
        load_published(PUBLISHED, "networks"),
        "Published networks (Abramski et al. 2025, Table 1, values of the released table).",
        [
            Column("Network", lambda r: r["network"], "head"),
            Column("Nodes", lambda r: _thousands(r["nodes"])),
            Column("Edges", lambda r: _thousands(r["edges"])),
            Column("Density", lambda r: number(r["density"], 5)),
            Column("Average degree", lambda r: number(r["average_degree"], 1)),
        ],
    )


def _published_overlaps() -> Table:
    return render_table(
        load_published(PUBLISHED, "network_overlaps"),
        "What the published networks share (released table). The shares of edges do not fit all "
        "edges of both networks; the source does not say which were compared.",
        [
            Column("Networks", lambda r: f"{r['network_a']} and {r['network_b']}", "head"),
            Column("Shared", lambda r: r["of"], "head"),
            Column("Only the first", lambda r: percent(r["only_a"])),
            Column("Both", lambda r: percent(r["shared"])),
            Column("Only the second", lambda r: percent(r["only_b"])),
        ],
    )


def _published_priming() -> Table:
    return render_table(
        load_published(PUBLISHED, "network_priming"),
        "Published priming check (released tables), 50 triplets.",
        [
            Column("Network", lambda r: r["network"], "head"),
            Column("Correlation", lambda r: number(r["spearman"])),
            Column("p", lambda r: p_value(r["p"])),
            Column("Effect", lambda r: number(r["effect"])),
            Column("p (effect)", lambda r: p_value(r["effect_p"])),
        ],
    )


#: Above this many streams the others are in the table only.
MOST_STREAMS = 24

_KEYS = ["network", "source", "target"]
_PATHS = (
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
    counts = _stream_counts(nodes)
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
        text=(_PATHS + left,),
        figures=_stream_figures(
            nodes.join(drawn, on=_KEYS, how="semi", maintain_order="left"), edges
        ),
        tables=(("", _stream_table(counts)),),
    )


def _beside(nodes: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Put the streams of a pair of words one after the other, a network at a time."""
    places = {name: place for place, name in enumerate(names)}
    pairs = nodes.select("source", "target").unique(maintain_order=True).with_row_index("pair")
    network = pl.col("network").replace_strict(places, return_dtype=pl.Int64)
    joined = nodes.join(pairs, on=["source", "target"], nulls_equal=True, maintain_order="left")
    return joined.sort("pair", network, maintain_order=True).drop("pair")


def _stream_figures(nodes: pl.DataFrame, edges: pl.DataFrame) -> tuple[Figure, ...]:
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


def _stream_counts(nodes: pl.DataFrame) -> pl.DataFrame:
    inner = pl.col("hop").is_between(1, pl.col("hop").max() - 1)
    tones = [
        (inner & (pl.col("tone") == tone)).sum().alias(tone)
        for tone in ("positive", "neutral", "negative", "unknown")
    ]
    return nodes.group_by(_KEYS, maintain_order=True).agg(
        pl.col("hop").max().alias("hops"),
        pl.col("paths").filter(hop=0).first(),
        inner.sum().alias("inner"),
        *tones,
    )


def _stream_table(counts: pl.DataFrame) -> Table:
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
