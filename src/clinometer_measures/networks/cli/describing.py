"""``clinometer network stats`` and ``activate``; reading networks from arguments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import FILE, OUT, TABLE, all_options, choice, command
from clinometer.cli.output import echo, say_table
from clinometer.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from clinometer_measures.networks.network import Network
    from clinometer_measures.networks.spreading import Spreading

__all__ = [
    "DIRECTED",
    "VALENCE",
    "activate_command",
    "build_spreading",
    "open_networks",
    "split_paths",
    "spreading_options",
    "stats_command",
]

DIRECTED = click.option("--directed", is_flag=True, help="Edges are directed, from src to tgt.")
VALENCE = click.option(
    "--valence", type=FILE, help="Valence ratings: NRC VAD, or a table of word and valence."
)

spreading_options = all_options([
    click.option("--retention", default=0.5,
                 help="Share of its activation a word keeps at each step."),
    click.option("--steps", "time_steps", type=int,
                 help="Number of steps.  [default: twice the diameter]"),
    click.option("--decay", default=0.0, help="Share of all activation lost at each step."),
    click.option("--suppress", default=0.0,
                 help="Activation below this is set to 0 at each step."),
    click.option("--start", type=float,
                 help="Activation given to a prime.  [default: the number of nodes]"),
    click.option("--unweighted", is_flag=True, help="Ignore the weights of edges."),
    DIRECTED,
    click.option("--spreadr-loops", is_flag=True,
                 help="Self-loops lose their share of activation, as in spreadr."),
])  # fmt: skip


@command("stats")
@click.argument("networks", nargs=-1, required=True, metavar="NET…")
@click.option("--out", type=TABLE, help="Also write the table, as .csv or .parquet.")
@click.option("--overlaps", type=TABLE, help="Also write the overlap of each pair of networks.")
@click.option(
    "--priming",
    type=TABLE,
    help="Also compare activation with human reaction times (50 triplets) and write the result.",
)
@DIRECTED
@click.option("--no-paths", is_flag=True, help="Leave out diameter and mean path length.")
def stats_command(  # noqa: PLR0913 - one argument an option
    networks: tuple[str, ...],
    out: Path | None,
    overlaps: Path | None,
    priming: Path | None,
    directed: bool,
    no_paths: bool,
) -> None:
    """Describe each NET, a table of edges given as FILE or NAME=FILE."""
    import polars as pl

    from clinometer.results.tables import write_table
    from clinometer_measures.networks.controls import check_priming
    from clinometer_measures.networks.structure import describe, overlap

    opened = open_networks(networks, directed=directed)
    if overlaps is not None and len(opened) < 2:
        raise InputError("--overlaps: needs at least two networks")
    stats = pl.concat([describe(network, paths=not no_paths) for network in opened])
    if out is not None:
        write_table(stats, out)
    _say_columns(stats)
    if len(opened) > 1:
        shared = pl.concat([overlap(a, b) for a, b in combinations(opened, 2)])
        if overlaps is not None:
            write_table(shared, overlaps)
        echo("")
        _say_columns(shared)
    if priming is not None:
        priming_estimates = pl.concat([check_priming(network) for network in opened])
        write_table(priming_estimates, priming)
        echo("")
        priming_columns = ("subject", "measure", "estimate", "p", "n", "time_steps", "note")
        _say_columns(priming_estimates.select(priming_columns))


@command("activate")
@click.argument("network", metavar="NET")
@click.option(
    "--primes",
    required=True,
    metavar="A,B|FILE|all",
    help="Words to activate, one at a time: words with commas, a .txt file with one per line, a "
    "table with a column word, or all.",
)
@click.option(
    "--targets",
    metavar="A,B|FILE",
    help="Only write the activation of these words.  [default: all]",
)
@choice("--norm", ["none", "l2", "l1"], help="Norm that columns, then rows, are divided by.")
@click.option(
    "--out",
    required=True,
    type=OUT,
    help="Table with a column per prime (.csv, .parquet), or the matrix of nodes × primes (.npy), "
    "written block by block.",
)
@spreading_options
def activate_command(
    network: str, primes: str, targets: str | None, norm: str, out: Path, **options: Any
) -> None:
    """Spread activation from each prime through NET, a table of edges."""
    from clinometer.results.tables import write_table
    from clinometer_measures.networks.cues import read_cues
    from clinometer_measures.networks.spreading import activate

    (opened,) = open_networks([network], directed=options["directed"])
    prime_words = list(opened.words) if primes == "all" else list(read_cues(primes, "primes").words)
    target_words = list(read_cues(targets, "targets").words) if targets else None
    spreading = build_spreading(options).within(opened)
    extent = (
        f"{len(prime_words):,} prime{'s' * (len(prime_words) > 1)}, {spreading.time_steps} steps"
    )
    if out.suffix == ".npy":
        _write_matrix(opened, prime_words, target_words, spreading, norm, out)
    else:
        write_table(activate(opened, prime_words, spreading, targets=target_words).frame(norm), out)
    echo(f"{opened.name}: {extent}: {out}")


def split_paths(texts: Sequence[str]) -> list[tuple[str | None, Path]]:
    """Split ``NAME=PATH``; a path alone has no name and may contain an equals sign."""
    paths: list[tuple[str | None, Path]] = []
    for text in texts:
        name, _, path = text.partition("=")
        has_name = name and path and not Path(text).exists()
        paths.append((name, Path(path)) if has_name else (None, Path(text)))
    return paths


def open_networks(texts: Sequence[str], *, directed: bool) -> list[Network]:
    """Read the networks given as ``PATH`` or ``NAME=PATH``."""
    from clinometer_measures.networks.loading import read_network

    return [read_network(path, name=name, directed=directed) for name, path in split_paths(texts)]


def build_spreading(options: dict[str, Any]) -> Spreading:
    """Build the spreading from the values of `spreading_options`."""
    from clinometer_measures.networks.spreading import Spreading

    names = ("retention", "time_steps", "start", "decay", "suppress", "spreadr_loops")
    return Spreading(**{name: options[name] for name in names}, weighted=not options["unweighted"])


def _say_columns(frame: pl.DataFrame) -> None:
    """Print all columns of a table, as they are declared."""
    from clinometer.pieces.tables import TableSpec
    from clinometer_measures.networks.tables import COLUMNS

    say_table(TableSpec("", tuple(frame.columns), COLUMNS).render(frame))


def _write_matrix(
    network: Any, primes: list[str], targets: list[str] | None, spreading: Any, norm: str, out: Path
) -> None:
    """Write columns as they are computed; they are never all in memory."""
    import numpy as np

    from clinometer_measures.networks.spreading import spread

    if norm != "none":
        raise InputError(f"norm {norm!r}: a .npy matrix is written unnormalised; use --norm none")
    rows = slice(None) if targets is None else network.places(targets, "target")
    height = len(network) if targets is None else len(targets)
    blocks = spread(network, primes, spreading)
    first = next(blocks)  # an error must not leave an incomplete file
    matrix = np.lib.format.open_memmap(
        out, mode="w+", dtype="<f8", fortran_order=True, shape=(height, len(primes))
    )
    for columns, block in chain([first], blocks):
        matrix[:, columns] = block[rows]
    matrix.flush()
