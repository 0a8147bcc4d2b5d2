"""``clinometer network streams``: the shortest paths between two words."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import FILE, OUT, choice, command
from clinometer.cli.output import echo, remark
from clinometer.errors import InputError, unknown
from clinometer_measures.networks.cli.describing import DIRECTED, VALENCE

if TYPE_CHECKING:
    from clinometer_measures.networks.streams import Stream

__all__ = ["streams_command"]

TABLES = (".csv", ".parquet")
DRAWINGS = (".svg", ".png")

#: Sign and style of a word in the terminal.
_STYLES = {
    "positive": ("+", "bright_blue"),
    "neutral": ("", ""),
    "negative": ("−", "red"),
    "unknown": ("?", "italic dim"),
}


@command("streams")
@click.argument("network", metavar="NET", type=FILE)
@click.argument("source", required=False)
@click.argument("target", required=False)
@click.option(
    "--pairs", type=FILE, help="Table of source and target, instead of SOURCE and TARGET."
)
@VALENCE
@click.option(
    "--neutral",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Valence up to LOW is negative, from HIGH on positive.  [default: thirds of the scale]",
)
@click.option(
    "--out",
    type=OUT,
    help="A page (.html), a drawing (.svg, .png), or a table of words (.csv, .parquet) with a "
    "second table of edges.  [default: only print]",
)
@click.option(
    "--most-nodes", default=60, help="Most inner words in a drawing; the strongest links are kept."
)
@DIRECTED
@choice("--missing", ["error", "skip"], help="What to do if a pair has no path.")
@click.option("--name", help="Name of the network.  [default: the name of the file]")
def streams_command(
    network: Path, source: str | None, target: str | None, out: Path | None, **options: Any
) -> None:
    """Show all shortest paths from SOURCE to TARGET in NET, a table of edges.

    \b
    With --valence, words are marked: + positive, − negative, ? not rated;
    neutral words have no mark.
    """  # noqa: D301 - click's own escape
    from clinometer.words.lexicons import read_valence
    from clinometer_measures.networks.loading import read_network
    from clinometer_measures.networks.streams import NEUTRAL, several

    pairs = _read_pairs(source, target, options["pairs"])
    valence = options["valence"]
    # Before the search, which may take long.
    _check_ending(out, len(pairs))
    streams, skipped = several(
        read_network(network, name=options["name"], directed=options["directed"]),
        pairs,
        valence=read_valence(valence) if valence else None,
        neutral=options["neutral"] or NEUTRAL,
        most_nodes=options["most_nodes"],
        skip=options["missing"] == "skip",
    )
    for reason in skipped:
        remark(f"skipped: {reason}")
    _show(streams, rated=valence is not None)
    if out is not None:
        _write(streams, out)


def _read_pairs(source: str | None, target: str | None, path: Path | None) -> list[tuple[str, str]]:
    """Read the pairs of words from the arguments or a table."""
    from clinometer.results.tables import read_table

    if path is None:
        if source is None or target is None:
            raise InputError("source and target: name two words, or give --pairs FILE")
        return [(source, target)]
    if source is not None:
        raise InputError(f"source {source!r}: name two words or give --pairs, not both")
    table = read_table(path)
    for column in ("source", "target"):
        if column not in table.columns:
            raise InputError(f"{path}: {unknown('column', column, table.columns)}")
    if table.is_empty():
        raise InputError(f"{path}: no pairs; expected a source and a target in each row")
    return [(str(a), str(b)) for a, b in table.select("source", "target").iter_rows()]


def _check_ending(out: Path | None, pairs: int) -> None:
    """Refuse a file format that cannot hold the streams of this number of pairs."""
    if out is None:
        return
    endings = (".html", *DRAWINGS, *TABLES)
    if out.suffix not in endings:
        raise InputError(f"out {out}: ending {out.suffix!r}; allowed are {', '.join(endings)}")
    if out.suffix in DRAWINGS and pairs > 1:
        raise InputError(f"out {out}: a drawing shows one pair of {pairs}; use .html for several")


def _show(streams: Sequence[Stream], *, rated: bool) -> None:
    """Print each stream: its length, its paths and their types, its words hop by hop."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for stream in streams:
        network_text = f" · {stream.network}" if stream.network else ""
        console.print(
            Text(_escape_controls(f"{stream.source} → {stream.target}{network_text}"), style="bold")
        )
        hops = f"{stream.length} hop" + "s" * (stream.length > 1)
        paths = f"{_count(stream.n_paths)} path" + "s" * (stream.n_paths > 1)
        types = ", ".join(f"{_count(n)} {name}" for name, n in stream.types.items() if n)
        console.print(f"{hops}, {paths}" + (f": {types}" if rated else ""))
        tones = dict(stream.nodes.select("word", "tone").iter_rows())
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", style="dim")
        table.add_column(overflow="fold")
        for hop, words in enumerate(stream.layers):
            marked_words = []
            for word in words:
                sign, style = _STYLES[tones[word]] if rated else ("", "")
                marked_words.append(Text(sign + _escape_controls(word), style=style))
            table.add_row(str(hop), Text(", ").join(marked_words))
        console.print(table)


def _escape_controls(text: str) -> str:
    """Replace control characters, which a terminal would execute."""
    return "".join(c if c.isprintable() else "�" for c in text)


def _count(number: int) -> str:
    """Write a whole number, a very large one as a power of ten."""
    return f"{number:,}" if number < 10**15 else f"{Decimal(number):.1e}"


def _write(streams: Sequence[Stream], out: Path) -> None:
    """Write the streams in the format of the file's ending, and print the path."""
    import polars as pl

    if not streams:
        raise InputError(f"out {out}: no stream was found; nothing was written")
    nodes = pl.concat(stream.nodes for stream in streams)
    edges = pl.concat(stream.edges for stream in streams)
    if out.suffix in TABLES:
        from clinometer.results.tables import write_table

        edges_path = out.with_name(f"{out.stem}_edges{out.suffix}")
        write_table(nodes, out)
        write_table(edges, edges_path)
        echo(f"{nodes.height:,} words: {out}\n{edges.height:,} edges: {edges_path}")
        return
    from clinometer.pieces.drawing.figures import write_drawing
    from clinometer.report.document import write_figure_page
    from clinometer_measures.networks.report.stream_figures import stream_figures

    figures = stream_figures(nodes, edges)
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".html":
        write_figure_page(figures, out, title="Mindset streams")
    else:
        write_drawing(figures[0], out)
    echo(f"{len(figures)} drawing{'s' * (len(figures) > 1)}: {out}")
