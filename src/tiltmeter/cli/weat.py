"""``tiltmeter weat MODEL``: association tests in hidden states, layer by layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.profile.measure import measure_models, reading_options

if TYPE_CHECKING:
    from tiltmeter.audits.states import Testing

__all__ = ["build_testing", "command"]


@click.command("weat")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--tests",
    multiple=True,
    metavar="NAME|FILE",
    help="Tests: caliskan2017, a study such as bai2025, or a YAML or JSON file; may be repeated.  "
    "[default: caliskan2017]",
)
@click.option(
    "--contexts",
    default="none",
    show_default=True,
    metavar="none|templates|FILE",
    help="Contexts in which the words are read. none: alone (WEAT); templates: in neutral "
    "sentences (SEAT); FILE: your own.",
)
@click.option(
    "--per-word", type=int, default=100, show_default=True, help="Contexts per word, of FILE."
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(["weat", "ceat", "ripa", "mac"]),
    help="Measure; may be repeated. weat gives SEAT in templates; ceat needs a FILE of contexts.  "
    "[default: weat]",
)
@click.option(
    "--scores",
    type=click.Path(path_type=Path, exists=True),
    help="Scores of word associations (a table or a results directory) to correlate with the "
    "associations in the hidden states, layer by layer.",
)
@click.option(
    "--draws", type=int, default=2_000, show_default=True, help="Bootstrap samples of words."
)
@click.option(
    "--partitions",
    type=int,
    default=100_000,
    show_default=True,
    help="Permutations to sample above 1,000,000; fewer are enumerated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A .csv or .parquet file for the estimates, or a folder for all tables and a report.  "
    "[default: results/MODEL-weat]",
)
@reading_options
def command(models: tuple[str, ...], **options: Any) -> None:
    """Test associations between words in the hidden states of MODEL.

    A positive effect means that the first targets are closer to the attributes they are expected to
    be tied to; for a study, that the effect is stereotype-consistent. MODEL has the same form as in
    tiltmeter profile.
    """
    measure_models(models, options, (None, build_testing(options)), "weat")


def build_testing(options: dict[str, Any]) -> Testing:
    """Build the tests from the options, before a model is opened."""
    from tiltmeter.audits.relating import read_answers
    from tiltmeter.audits.states import Testing
    from tiltmeter.states.association import TestSetting
    from tiltmeter.states.contexts import place_words
    from tiltmeter.states.word_tests import load_tests, test_words

    answers = read_answers(options["scores"]) if options["scores"] else None
    named = options["tests"] or (answers.studies if answers else ("caliskan2017",))
    tests = [test for name in named for test in load_tests(name)]
    words = [*test_words(tests), *(answers.all_words if answers else ())]
    return Testing(
        tests=tests,
        words=place_words(words, options["contexts"], options["per_word"]),
        answers=answers,
        methods=options["methods"] or ("weat",),
        setting=TestSetting(
            confidence=options["confidence"],
            draws=options["draws"],
            drawn_partitions=options["partitions"],
            seed=options["seed"],
        ),
    )
