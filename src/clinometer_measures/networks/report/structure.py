"""The networks themselves: size, overlap, human priming, and the paths between words."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from clinometer.errors import InputError
from clinometer.numbers import count, many, number, p_value
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.prose import ALPHA
from clinometer.pieces.sections import Section, name_figures, truncation_note
from clinometer.pieces.tables import TableColumn, TableSpec, head
from clinometer.reference import load_published
from clinometer.texts import visible
from clinometer_measures.networks.layered_paths import TONES
from clinometer_measures.networks.report.results import NETWORK, PAGE_COLUMNS, PUBLISHED, Networks
from clinometer_measures.networks.report.stream_figures import stream_figures

__all__ = ["stream_section", "structure_section"]

#: Up to this many missing words are named.
MOST_WORDS = 6

_METHOD = (
    "Nodes are words; an edge joins two words if one was given as an answer to the other. "
    "Activation spreads differently in networks of different size and density; normalisation "
    "removes this only in part."
)
_PRIMING = (
    "Priming check: does activation predict human behaviour? People recognise a word faster after "
    "a related prime than after an unrelated one. If a network models their memory, the related "
    "prime activates the target more (effect above 0, at most 0.87 for 50 triplets), and targets "
    "with more activation have shorter reaction times (correlation below 0)."
)


def structure_section(networks: Networks) -> Section | None:
    """Show the networks, what they share, and the priming check.

    None where none of these tables is there.
    """
    sizes = networks.in_order(networks.tables["networks"])
    shared = networks.in_order(networks.tables["network_overlaps"])
    priming = networks.in_order(networks.tables["network_priming"])
    estimated = _ESTIMATED * (sizes["path_sources"].count() > 0)
    tables = [
        ("", _SIZE_TABLE.render(sizes, estimated=estimated)),
        ("Table of overlaps", _OVERLAPS.render(shared)),
        ("", _PRIMED.render(priming)),
    ]
    published = []
    for (summary, name, spec), (_, table) in zip(_PUBLISHED, tables, strict=True):
        if networks.replicates and table.rows:
            published.append((summary, spec.render(load_published(PUBLISHED, name))))
    filled_tables = tuple(table for table in (*tables, *published) if table[1].rows)
    if not filled_tables:
        return None
    text = ((_METHOD,) * (sizes.height > 0)) + ((_PRIMING,) * (priming.height > 0))
    return Section("network-networks", "The networks", text, (), filled_tables)


_SIZES = (
    "Networks. Density: edges as a share of all possible ones, 0 to 1; degree: edges per node; "
    "diameter and mean path length: in hops, in the largest component; clustering: share of the "
    "pairs of a node’s neighbours that are joined, mean over nodes, 0 to 1."
)
_ESTIMATED = (
    " From k nodes: estimated from the paths of k random nodes; the diameter is then the longest "
    "path seen, a lower bound."
)
_SIZE_COLUMNS = (NETWORK, "nodes", "edges", "density", "average_degree")


def _diameter(hops: int | None, sources: int | None) -> str:
    """Write the diameter, of a sample as a lower bound."""
    return f"{'' if sources is None else 'at least '}{count(hops)}"


def _path_length(length: float | None, sources: int | None) -> str:
    """Write the mean path length, and from how many nodes it was estimated."""
    return number(length) + ("" if sources is None else f" (from {sources:,} nodes)")


_SIZE_TABLE = TableSpec(
    f"{_SIZES}{{estimated}}",
    (
        *_SIZE_COLUMNS,
        "components",
        TableColumn("Diameter", "diameter path_sources", _diameter),
        TableColumn("Mean path length", "mean_path_length path_sources", _path_length),
        "clustering",
        TableColumn("Directed", "directed", lambda directed: "yes" if directed else ""),
    ),
    PAGE_COLUMNS,
)

_SHARE_COLUMNS = (
    TableColumn("Networks", "network_a network_b", "{} and {}".format, "head"),
    head("of", "Shared"),
    "only_a",
    "shared",
    "only_b",
)
_OVERLAPS = TableSpec(
    "Overlap of networks. Only the first (second): share of its nodes or edges that the other "
    "network lacks; both: share of all that either has (Jaccard). Edges are compared between words "
    "that both networks have.",
    (*_SHARE_COLUMNS, "n_a", "n_shared", "n_b"),
    PAGE_COLUMNS,
)


def _missing_words(missing: Sequence[str] | None) -> str:
    """Name a few words; of many their number, the table beside the report has them."""
    words = [word for word in missing or [] if word]
    return ", ".join(words) if len(words) <= MOST_WORDS else f"{len(words)} words"


def _signs_as_expected(
    correlation: float | None, p: float | None, effect: float | None, effect_p: float | None
) -> str:
    """Whether both signs are the expected ones, and significant."""
    if correlation is None or p is None or effect is None or effect_p is None:
        return "n/a"
    if not correlation < 0 < effect:
        return "no"
    return "yes" if max(p, effect_p) <= ALPHA else "not shown"


_EFFECTS = (
    TableColumn("p", "p", p_value),
    TableColumn("Effect", "effect", number),
    "effect_p",
)
_PRIMED = TableSpec(
    "Priming check. Correlation (Spearman) of activation with reaction time: −1 to 1, expected "
    "below 0. Effect (z / √n), related − unrelated primes: −1 to 1, expected above 0.",
    (
        NETWORK,
        "correlation",
        *_EFFECTS,
        TableColumn("As expected", "correlation p effect effect_p", _signs_as_expected),
        TableColumn("Triplets", "n", count),
        "time_steps",
        TableColumn("Missing", "missing", _missing_words, "text"),
    ),
    PAGE_COLUMNS,
)

#: Summary, name and table of what the paper published, beside each table of our own.
_PUBLISHED = (
    (
        "Table of published networks",
        "networks",
        TableSpec(
            "Published networks (Abramski et al. 2025, Table 1, values of the released table).",
            _SIZE_COLUMNS,
            PAGE_COLUMNS,
        ),
    ),
    (
        "Table of published overlaps",
        "network_overlaps",
        TableSpec(
            "Overlap of the published networks (released table). The shares of edges do not match "
            "a comparison of all edges; the source does not say which edges were compared.",
            _SHARE_COLUMNS,
            PAGE_COLUMNS,
        ),
    ),
    (
        "Table of the published priming check",
        "network_priming",
        TableSpec(
            "Published priming check (released tables), 50 triplets.",
            (NETWORK, TableColumn("Correlation", "spearman", number), *_EFFECTS),
            PAGE_COLUMNS,
        ),
    ),
)


#: Above this many streams the others are in the table only.
MOST_STREAMS = 24

_KEYS = ("network", "source", "target")
_PATHS = (
    "A mindset stream shows all shortest paths from a prime to a target, hop by hop. It is an "
    "illustration, not a measure: it leaves out longer paths, along which most activation spreads, "
    "and ignores edge weights when choosing paths. A shorter stream does not imply a stronger "
    "association. The words are answers of people or models and may be offensive."
)


def stream_section(networks: Networks) -> Section | None:
    """Show the shortest paths between words; None where no streams were drawn.

    Raises InputError if words and edges do not fit together.
    """
    nodes, edges = (networks.tables[f"network_stream_{name}"] for name in ("nodes", "edges"))
    if nodes.is_empty() or edges.is_empty():
        return None
    # The networks of a pair of words one after the other.
    pairs = nodes.partition_by("source", "target", maintain_order=True)
    nodes = pl.concat([networks.in_order(pair) for pair in pairs])
    counts = _stream_counts(nodes)
    first = counts.head(MOST_STREAMS).select(_KEYS)
    first_streams = nodes.join(first, on=_KEYS, how="semi", maintain_order="left")
    text = (_PATHS + truncation_note(MOST_STREAMS, counts.height, "streams"),)
    figures = name_figures("network-stream", _stream_figures(first_streams, edges))
    tables = (("", _STREAMS.render(counts)),)
    return Section("network-streams", "Mindset streams", text, figures, tables)


def _stream_figures(nodes: pl.DataFrame, edges: pl.DataFrame) -> list[Figure]:
    try:
        return stream_figures(nodes, edges)
    except (InputError, LookupError, ValueError, ArithmeticError, TypeError):
        raise InputError(
            "network_stream_nodes.parquet, network_stream_edges.parquet: words and edges do not "
            "fit together; write both anew"
        ) from None


def _stream_counts(nodes: pl.DataFrame) -> pl.DataFrame:
    inner = pl.col("hop").is_between(1, pl.col("hop").max() - 1)
    tones = {tone: (inner & (pl.col("tone") == tone)).sum() for tone in TONES}
    # All paths begin with the first word, which therefore has their number.
    return nodes.group_by(_KEYS, maintain_order=True).agg(
        pl.col("paths").filter(hop=0).first(), hops=pl.col("hop").max(), inner=inner.sum(), **tones
    )


def _word(word: str | None) -> str:
    return visible(word or "")


_STREAMS = TableSpec(
    "Streams. Paths: number of shortest paths. Words: on any of these paths, without the two ends; "
    "positive, neutral, negative: by human ratings of valence.",
    (
        TableColumn("From", "source", _word, "head"),
        TableColumn("To", "target", _word, "head"),
        NETWORK,
        "hops",
        TableColumn("Paths", "paths", lambda paths: many(paths or "0")),
        TableColumn("Words", "inner", count),
        TableColumn("Positive", "positive", count),
        TableColumn("Neutral", "neutral", count),
        TableColumn("Negative", "negative", count),
        TableColumn("Not rated", "unknown", count),
    ),
    PAGE_COLUMNS,
)
