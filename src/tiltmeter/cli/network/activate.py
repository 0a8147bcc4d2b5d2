"""``tiltmeter network activate``: spread activation from primes to all words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tiltmeter.cli.network.options import build_spreading, open_networks, spreading_options
from tiltmeter.cli.options import FILE, choice

__all__ = ["activate_command"]


@click.command("activate")
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
@choice("--norm", "none", "l2", "l1", help="Norm that columns, then rows, are divided by.")
@click.option(
    "--out",
    required=True,
    type=FILE,
    help="Table with a column per prime (.csv, .parquet), or the matrix of nodes × primes (.npy), "
    "written block by block.",
)
@spreading_options
def activate_command(
    network: str, primes: str, targets: str | None, norm: str, out: Path, **options: Any
) -> None:
    """Spread activation from each prime through NET, a table of edges."""
    from tiltmeter.asking.cues import read_cues
    from tiltmeter.networks.spreading import activate
    from tiltmeter.results.tables import write_table

    (read,) = open_networks([network], directed=options["directed"])
    asked = list(read.words) if primes == "all" else list(read_cues(primes, "primes").words)
    kept = list(read_cues(targets, "targets").words) if targets else None
    spreading = build_spreading(options).within(read)
    extent = f"{len(asked):,} prime{'s' * (len(asked) > 1)}, {spreading.time_steps} steps"
    if out.suffix == ".npy":
        _write_matrix(read, asked, kept, spreading, norm, out)
    else:
        write_table(activate(read, asked, spreading, targets=kept).frame(norm), out)
    click.echo(f"{read.name}: {extent}: {out}")


def _write_matrix(
    network: Any, primes: list[str], targets: list[str] | None, spreading: Any, norm: str, out: Path
) -> None:
    """Write columns as they are made; nothing holds all of them."""
    from itertools import chain

    import numpy as np

    from tiltmeter.errors import InputError
    from tiltmeter.networks.spreading import spread

    if norm != "none":
        raise InputError(f"norm {norm!r}: a .npy matrix is written unnormalised; use --norm none")
    rows = slice(None) if targets is None else network.places(targets, "target")
    height = len(network) if targets is None else len(targets)
    blocks = spread(network, primes, spreading)
    first = next(blocks)  # an error must not leave a file
    matrix = np.lib.format.open_memmap(
        out, mode="w+", dtype="<f8", fortran_order=True, shape=(height, len(primes))
    )
    for at, block in chain([first], blocks):
        matrix[:, at] = block[rows]
    matrix.flush()
