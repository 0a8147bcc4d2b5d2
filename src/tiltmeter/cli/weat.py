"""``tiltmeter weat MODEL``: association tests in a model's hidden states, layer by layer."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.profile.options import measure_models, reading_options

if TYPE_CHECKING:
    from tiltmeter.audits.states import Testing

__all__ = ["build_testing", "command"]


@click.command("weat")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--tests",
    multiple=True,
    metavar="NAME|FILE",
    help="caliskan2017, a study as bai2025, or a YAML or JSON file; may be repeated.  "
    "[default: caliskan2017]",
)
@click.option(
    "--contexts",
    default="none",
    show_default=True,
    metavar="none|templates|FILE",
    help="In which the words are read: alone (WEAT), in neutral templates (SEAT), in yours.",
)
@click.option("--per-word", type=int, default=100, show_default=True, help="Contexts of FILE read.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(["weat", "ceat", "ripa", "mac"]),
    help="weat is seat in templates; ceat takes contexts for random draws; may be repeated.  "
    "[default: weat]",
)
@click.option(
    "--scores",
    type=click.Path(path_type=Path, exists=True),
    help="Scores of word associations, or the results directory they are in: does what a model "
    "says go with what stands inside? Tables and a report only.",
)
@click.option(
    "--draws", type=int, default=2_000, show_default=True, help="Bootstrap samples of words."
)
@click.option(
    "--partitions",
    type=int,
    default=100_000,
    show_default=True,
    help="Drawn where there are more than a million; else all are looked at.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A .csv or .parquet of tests; or a folder, for all tables and a report.  "
    "[default: results/MODEL-weat]",
)
@reading_options
def command(models: tuple[str, ...], **options: Any) -> None:
    """Test associations of words in MODEL's hidden states.

    Positive effects: the first targets are closer to the attributes they are said to be tied to;
    for a study, stereotype-consistent. MODEL is named as for tiltmeter profile.
    """
    measures = None, build_testing(options)
    measure_models(models, options, measures, "weat", itemgetter("representation_associations"))


def build_testing(options: dict[str, Any]) -> Testing:
    """Read what is to be tested, before a model is opened."""
    from tiltmeter.audits.relating import read_said
    from tiltmeter.audits.states import Testing
    from tiltmeter.states.association import TestSetting
    from tiltmeter.states.pole_contexts import place_words
    from tiltmeter.states.word_tests import load_tests, test_words

    said = read_said(options["scores"]) if options["scores"] else None
    named = options["tests"] or (said.studies if said else ("caliskan2017",))
    tests = [test for name in named for test in load_tests(name)]
    words = [*test_words(tests), *(said.all_words if said else ())]
    return Testing(
        tests=tests,
        words=place_words(words, options["contexts"], options["per_word"]),
        relating=said,
        methods=options["methods"] or ("weat",),
        setting=TestSetting(
            confidence=options["confidence"],
            draws=options["draws"],
            drawn_partitions=options["partitions"],
            seed=options["seed"],
        ),
    )
