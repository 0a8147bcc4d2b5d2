"""``tiltmeter profile MODEL``: where groups of words stand on stereotype dimensions."""

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
    help="Groups that are compared: names, terms, or JSON as {group: [word, …]}; may be "
    "repeated.  [default: names and terms]",
)
@click.option(
    "--dictionary",
    type=click.Path(path_type=Path),
    help="Words of the poles of stereotype dimensions.  [default: those that come with Tiltmeter]",
)
@click.option(
    "--contexts",
    metavar="none|templates|dictionary|FILE",
    help="In which the dictionary's words are read.  [default: its examples if it has any]",
)
@click.option(
    "--per-sense", type=int, default=5, show_default=True, help="Contexts read of each sense."
)
@click.option(
    "--extended",
    type=click.Path(path_type=Path),
    help="Further words with dimension and direction, whose directions are predicted.",
)
@click.option(
    "--extended-contexts",
    type=click.Path(path_type=Path),
    help="In which these are read.  [default: none]",
)
@click.option(
    "--subset",
    type=click.Choice(["paper", "all"]),
    help="Which of the further words.  [default: the paper's where the table tells them]",
)
@click.option(
    "--draws",
    type=int,
    default=10_000,
    show_default=True,
    help="Shuffles of the permutation test.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A .csv or .parquet of estimates; or a folder, for all tables and a report.  "
    "[default: results/MODEL-profile]",
)
@reading_options
def command(models: tuple[str, ...], **options: Any) -> None:
    """Measure the stereotype profiles of groups of words in MODEL's hidden states.

    MODEL is tiltmeter/smollm2, hf/ORGANISATION/NAME, a folder as transformers saves it, or a
    service's embedding model such as openai/text-embedding-3-small.
    """
    measure_models(models, options, (build_profiling(options), None), "profile")


def build_profiling(options: dict[str, Any]) -> Profiling:
    """Read what is to be measured, before a model is opened."""
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
