"""Options that the commands about networks share, and what is built from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tiltmeter.cli.options import FILE, all_options

if TYPE_CHECKING:
    from tiltmeter.networks.network import Network
    from tiltmeter.networks.spreading import Spreading

__all__ = [
    "DIRECTED",
    "VALENCE",
    "build_spreading",
    "named_paths",
    "open_networks",
    "spreading_options",
]

F = TypeVar("F", bound=Callable[..., Any])

DIRECTED = click.option("--directed", is_flag=True, help="Edges are directed, from src to tgt.")
VALENCE = click.option(
    "--valence", type=FILE, help="Valence ratings: NRC VAD, or a table of word and valence."
)

spreading_options: Callable[[F], F] = all_options([
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


def named_paths(named: Sequence[str]) -> list[tuple[str | None, Path]]:
    """Split ``NAME=PATH``; a path alone has no name and may contain an equals sign."""
    found: list[tuple[str | None, Path]] = []
    for text in named:
        name, equals, path = text.partition("=")
        whole = not equals or not name or Path(text).exists()
        found.append((None, Path(text)) if whole else (name, Path(path)))
    return found


def open_networks(named: Sequence[str], *, directed: bool) -> list[Network]:
    """Read the networks given as ``PATH`` or ``NAME=PATH``."""
    from tiltmeter.networks.loading import read_network

    return [read_network(path, name=name, directed=directed) for name, path in named_paths(named)]


def build_spreading(options: dict[str, Any]) -> Spreading:
    """Build the spreading from the values of `spreading_options`."""
    from tiltmeter.networks.spreading import Spreading

    names = ("retention", "time_steps", "start", "decay", "suppress", "spreadr_loops")
    return Spreading(**{name: options[name] for name in names}, weighted=not options["unweighted"])
