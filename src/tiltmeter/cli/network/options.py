"""Options that the commands about networks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tiltmeter.cli.options import all_options

if TYPE_CHECKING:
    from tiltmeter.networks.lexicons import Lexicons
    from tiltmeter.networks.network import Network
    from tiltmeter.networks.setting import Setting
    from tiltmeter.networks.spreading import Spreading

__all__ = [
    "bias_options",
    "build_setting",
    "build_spreading",
    "named_paths",
    "open_networks",
    "read_lexicons",
    "spreading_options",
]

F = TypeVar("F", bound=Callable[..., Any])

_SPREADING = [
    click.option("--retention", type=float, default=0.5, show_default=True,
                 help="Share of its activation a word keeps at each step."),
    click.option("--steps", "time_steps", type=int,
                 help="Number of steps.  [default: twice the diameter]"),
    click.option("--decay", type=float, default=0.0, show_default=True,
                 help="Share of all activation lost at each step."),
    click.option("--suppress", type=float, default=0.0, show_default=True,
                 help="Activation below this is set to 0 at each step."),
    click.option("--start", type=float,
                 help="Activation given to a prime.  [default: the number of nodes]"),
    click.option("--unweighted", is_flag=True, help="Ignore the weights of edges."),
    click.option("--directed", is_flag=True, help="Edges are directed, from src to tgt."),
    click.option("--spreadr-loops", is_flag=True,
                 help="Self-loops lose their share of activation, as in spreadr."),
]  # fmt: skip

_BIAS = [
    click.option("--study", default="abramski2025", show_default=True, metavar="NAME|FILE",
                 help="Study of networks that defines primes and targets."),
    click.option("--valence", type=click.Path(path_type=Path),
                 help="Valence ratings: NRC VAD, or a table of word and valence."),
    click.option("--emotions", type=click.Path(path_type=Path),
                 help="Emotion lexicon: NRC EmoLex, or a table of word and emotion."),
    click.option("--norm", type=click.Choice(["l2", "l1", "none"]),
                 help="Norm that activations are divided by.  [default: set by the study]"),
    click.option("--missing", type=click.Choice(["error", "skip"]), default="error",
                 show_default=True, help="What to do if a prime or target is not in a network."),
    click.option("--confidence", type=float, default=0.95, show_default=True,
                 help="Confidence level of intervals."),
    click.option("--draws", type=click.IntRange(min=100), default=2000, show_default=True,
                 help="Bootstrap samples of targets."),
    click.option("--seed", type=int, default=0, show_default=True,
                 help="Seed of resampling and rewiring."),
]  # fmt: skip

spreading_options: Callable[[F], F] = all_options(_SPREADING)


def bias_options(*, rewirings: int) -> Callable[[F], F]:
    """Return the options of measuring bias; `rewirings` is the default of that option."""
    rewired = click.option(
        "--rewirings", type=int, default=rewirings, show_default=True,
        help="Degree-preserving rewirings to compare each effect with: 0 for none, else at least "
        "19.",
    )  # fmt: skip
    return all_options([*_BIAS, rewired, *_SPREADING])


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
    """Build the spreading from the options."""
    from tiltmeter.networks.spreading import Spreading

    return Spreading(
        retention=options["retention"],
        time_steps=options["time_steps"],
        start=options["start"],
        decay=options["decay"],
        suppress=options["suppress"],
        weighted=not options["unweighted"],
        spreadr_loops=options["spreadr_loops"],
    )


def build_setting(options: dict[str, Any]) -> Setting:
    """Build the setting from the options."""
    from tiltmeter.networks.setting import Setting

    return Setting(
        spreading=build_spreading(options),
        norm=options["norm"],
        missing=options["missing"],
        confidence=options["confidence"],
        draws=options["draws"],
        rewirings=options["rewirings"],
        seed=options["seed"],
    )


def read_lexicons(options: dict[str, Any]) -> Lexicons:
    """Read the lexicons whose paths were given."""
    from tiltmeter.networks.lexicons import Lexicons, read_emotions, read_valence

    valence, emotions = options["valence"], options["emotions"]
    return Lexicons(
        valence=read_valence(valence) if valence else None,
        emotions=read_emotions(emotions) if emotions else None,
    )
