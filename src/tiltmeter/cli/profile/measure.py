"""``tiltmeter profile MODEL``: place groups of words on stereotype dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.profile.options import measure_models, reading_options

if TYPE_CHECKING:
    from tiltmeter.audits.states import Profiling

__all__ = ["build_profiling", "command"]


@click.command("measure")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--words",
    multiple=True,
    metavar="NAME|FILE",
    help="Groups of words to compare: names, terms, or a JSON file of {group: [word, …]}; may be "
    "repeated.  [default: names and terms]",
)
@click.option(
    "--dictionary",
    type=click.Path(path_type=Path),
    help="Table of the words at the poles of each dimension.  [default: Tiltmeter's own]",
)
@click.option(
    "--contexts",
    metavar="none|templates|dictionary|FILE",
    help="Contexts in which the words of the dictionary are read.  [default: its examples if it "
    "has any]",
)
@click.option("--per-sense", type=int, default=5, show_default=True, help="Contexts per sense.")
@click.option(
    "--extended",
    type=click.Path(path_type=Path),
    help="Table of held-out words with dimension and direction; their direction is predicted.",
)
@click.option(
    "--extended-contexts",
    type=click.Path(path_type=Path),
    help="File of contexts in which the held-out words are read.  [default: none]",
)
@click.option(
    "--subset",
    type=click.Choice(["paper", "all"]),
    help="Held-out words to use.  [default: paper, if the table marks them; else all]",
)
@click.option(
    "--draws",
    type=int,
    default=10_000,
    show_default=True,
    help="Permutations of group membership.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A .csv or .parquet file for the estimates, or a folder for all tables and a report.  "
    "[default: results/MODEL-profile]",
)
@reading_options
def command(models: tuple[str, ...], **options: Any) -> None:
    """Measure the stereotype profiles of groups of words in the hidden states of MODEL.

    MODEL is tiltmeter/smollm2, hf/ORGANISATION/NAME, a folder saved by transformers, or an
    embedding service such as openai/text-embedding-3-small.
    """
    measure_models(models, options, (build_profiling(options), None), "profile")


def build_profiling(options: dict[str, Any]) -> Profiling:
    """Build the measurement from the options, before a model is opened."""
    from tiltmeter.audits.states import Profiling
    from tiltmeter.states.contexts import place_terms, place_words
    from tiltmeter.states.dictionary import read_dictionary
    from tiltmeter.states.directions import read_extended
    from tiltmeter.states.profiles import ProfileSetting
    from tiltmeter.states.words import SHIPPED, read_words

    dictionary = read_dictionary(options["dictionary"])
    path, inside = options["extended"], options["extended_contexts"]
    extended = read_extended(path, subset=options["subset"]) if path else None
    return Profiling(
        dictionary=dictionary,
        poles=place_terms(dictionary, options["contexts"], options["per_sense"]),
        words=[read_words(named) for named in options["words"] or SHIPPED],
        extended=extended,
        extended_in=place_words(extended["term"], str(inside), options["per_sense"])
        if extended is not None and inside
        else None,
        setting=ProfileSetting(options["confidence"], options["draws"], options["seed"]),
    )
