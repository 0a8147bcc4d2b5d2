"""``clinometer network build``: build a network from associations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import FILE, TABLE, choice, command
from clinometer.cli.output import echo
from clinometer.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from clinometer_measures.networks.network import Network

__all__ = ["build_command"]


@command("build")
@click.argument("associations", type=FILE)
@click.option(
    "--out", required=True, type=TABLE, help="Table of edges (src, tgt, wt), as .csv or .parquet."
)
@click.option("--name", help="Name of the network in the output.")
@choice(
    "--responses", ["R123", "R1"], help="R123: all responses; R1: only the first to each question."
)
@click.option("--steps", metavar="A,B,…", help="Cleaning steps to apply.  [default: all]")
@click.option("--no-cleaning", is_flag=True, help="Do not clean the associations.")
@click.option(
    "--lwow-compatible", is_flag=True, help="Clean as the code of LWOW does, including its errors."
)
@click.option("--spelling", type=FILE, help="Table of corrections with two columns: wrong, right.")
@click.option("--directed", is_flag=True, help="Keep edges directed, from cue to response.")
@click.option("--no-wordnet", is_flag=True, help="Keep words that are not in WordNet.")
@click.option("--min-weight", type=float, default=2, help="Smallest weight of an edge.")
@click.option("--no-component", is_flag=True, help="Keep all components, not only the largest.")
@click.option(
    "--log", type=TABLE, help="Also write the counts after each step, as .csv or .parquet."
)
def build_command(associations: Path, out: Path, log: Path | None, **options: Any) -> None:
    """Build a network from ASSOCIATIONS.

    ASSOCIATIONS is a table of counts or answers, such as those of Small World of Words, or a
    directory written by network associate.
    """
    from clinometer.results.tables import write_table

    network, steps = _build(associations, options)
    write_table(_edges(network), out)
    if log is not None:
        write_table(steps, log)
    for step, nodes, pairs, answers, changed in steps.iter_rows():
        parts = [f"{pairs:,} {'edges' if answers is None else 'pairs'}"]
        parts += [f"{nodes:,} nodes"] if nodes is not None else []
        parts += [f"{answers:,} answers"] if answers is not None else []
        parts += [f"{changed:,} changed"] if changed else []
        echo(f"{step:<14}{', '.join(parts)}")
    name = f"{network.name}: " if network.name else ""
    echo(f"{name}{len(network):,} nodes, {network.n_edges:,} edges: {out}")


def _build(path: Path, options: dict[str, Any]) -> tuple[Network, pl.DataFrame]:
    """Read, clean and build; the steps of both in one table."""
    import polars as pl

    from clinometer_measures.networks.building import build, clean
    from clinometer_measures.networks.loading import tally_associations

    steps = options["steps"]
    if options["no_cleaning"]:
        for name in filter(options.get, ("steps", "lwow_compatible", "spelling")):
            option = name.replace("_", "-")
            raise InputError(f"--{option}: has no effect with --no-cleaning; give only one of them")
        steps = ""  # no step, unlike None, which is all of them
    counts, skipped = tally_associations(path, responses=options["responses"])
    omissions = [f"{number:,} {what}" for what, number in sorted(skipped.items()) if number]
    if omissions:
        echo(f"left out when read: {', '.join(omissions)}")
    cleaned, cleaning = clean(
        counts,
        None if steps is None else [step.strip() for step in steps.split(",") if step.strip()],
        spelling=options["spelling"],
        lwow_compatible=options["lwow_compatible"],
    )
    network, building = build(
        cleaned,
        directed=options["directed"],
        wordnet=not options["no_wordnet"],
        min_weight=options["min_weight"],
        component=not options["no_component"],
        name=options["name"] or "",
    )
    columns = ["step", "nodes", "edges", "answers", "changed"]
    cleaning = cleaning.rename({"rows": "edges"}).with_columns(nodes=pl.lit(None, pl.Int64))
    # Building begins with a row for what cleaning ended with.
    log = pl.concat([cleaning, building[1:]], how="diagonal_relaxed")
    return network, log.select(columns)


def _edges(network: Network) -> pl.DataFrame:
    """List the edges, alphabetically; whole weights without a fraction."""
    import polars as pl

    edges = network.edges().sort("src", "tgt")
    integers = (edges["wt"] == edges["wt"].round()).all()
    return edges.with_columns(pl.col("wt").cast(pl.Int64)) if integers else edges
