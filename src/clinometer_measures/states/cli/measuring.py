"""``clinometer profile MODEL`` and ``clinometer weat MODEL``: measures of hidden states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    CONFIDENCE,
    FILE,
    FOLDER,
    OUT,
    Option,
    all_options,
    choice,
    command,
)
from clinometer.cli.output import echo
from clinometer.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from clinometer_measures.states.contexts import InContext
    from clinometer_measures.states.measuring import Profiling, ScoredAnswers, Testing
    from clinometer_measures.states.readers.states import Reader
    from clinometer_measures.states.word_tests import WordTest

__all__ = ["measure_command", "open_readers", "weat_command"]


def _reading_options(kind: str) -> Option:
    """Return the options of reading hidden states and writing the results as `kind`."""
    return all_options([
        click.option("--out", type=OUT,
                     help="A .csv or .parquet file for the estimates, or a folder for all tables "
                          f"and a report.  [default: results/MODEL-{kind}]"),
        click.option("--removed", default="0", metavar="K[,K…]",
                     help="Leading principal components to remove from the states "
                          "(all-but-the-top); comma-separated numbers are analysed separately."),
        click.option("--store", type=FOLDER,
                     help="Folder in which states are stored, so that a model is read only once."),
        choice("--last", ["normed", "block"],
               help="Last layer of Llama-like models. normed: after the final norm; block: "
                    "before."),
        choice("--first", ["break", "bare"],
               help="What precedes a term that would be the first token of a causal model. break: "
                    "a line break; bare: nothing, as published."),
        choice("--dtype", ["auto", "float32", "bfloat16", "float16"],
               help="Number format of the weights."),
        click.option("--device", default="auto", help="Device, as torch names it: cpu, cuda, …"),
        click.option("--device-map",
                     help="Placement of models larger than one device: auto, balanced, …"),
        click.option("--revision", help="Branch, tag or commit of a model on the hub."),
        click.option("--batch-tokens", type=int, help="Tokens per forward pass."),
        CONFIDENCE,
        click.option("--seed", default=0, help="Seed of resampling."),
    ])  # fmt: skip


@command("measure")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--words",
    multiple=True,
    metavar="NAME|FILE",
    help="Groups of words to compare: names, terms, genders (terms, and single words beyond two "
    "genders), or a JSON file of {group: [word, …]}; may be repeated.  [default: names and terms]",
)
@click.option(
    "--dictionary",
    type=FILE,
    help="Table of the words at the poles of each dimension.  [default: Clinometer's own]",
)
@click.option(
    "--contexts",
    multiple=True,
    metavar="none|templates|dictionary|FILE",
    help="Contexts in which the words of the dictionary are read; repeated, each kind is measured "
    "by itself.  [default: its examples if it has any]",
)
@click.option("--per-sense", default=5, help="Contexts per sense.")
@click.option(
    "--extended",
    type=FILE,
    help="Table of held-out words with dimension and direction; their direction is predicted.",
)
@click.option(
    "--extended-contexts",
    multiple=True,
    metavar="none|templates|FILE",
    help="Contexts in which the held-out words are read; repeated, one for each --contexts, in "
    "their order.  [default: none]",
)
@click.option(
    "--subset",
    type=click.Choice(["paper", "all"]),
    help="Held-out words to use.  [default: paper, if the table marks them; else all]",
)
@click.option("--draws", default=10_000, help="Permutations of group membership.")
@click.option(
    "--placebos",
    default=999,
    help="Shuffles of the labels of each dimension's poles: 0 for none, else at least 199.",
)
@_reading_options("profile")
def measure_command(models: tuple[str, ...], **options: Any) -> None:
    """Measure the stereotype profiles of groups of words in the hidden states of MODEL.

    MODEL is clinometer/smollm2, hf/ORGANISATION/NAME, a folder saved by transformers, a file of
    static word vectors (.vec, .vec.gz), or an embedding service such as
    openai/text-embedding-3-small.
    """
    _measure(models, options, _build_profiling(options), "profile")


@command("weat")
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
    metavar="none|templates|prompt|FILE",
    help="Contexts in which the words are read. none: alone (WEAT); templates: in neutral "
    "sentences (SEAT); prompt: in the halves of the association prompt, as Bai et al. (2025); "
    "FILE: your own.",
)
@click.option("--per-word", default=100, help="Contexts per word, of FILE.")
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
@click.option("--draws", default=2_000, help="Bootstrap samples of words.")
@click.option("--placebos", default=999, help="Shuffles of the attribute words: 0 for none.")
@click.option(
    "--partitions",
    default=100_000,
    help="Permutations to sample above 1,000,000; fewer are enumerated.",
)
@_reading_options("weat")
def weat_command(models: tuple[str, ...], **options: Any) -> None:
    """Test associations between words in the hidden states of MODEL.

    A positive effect means that the first targets are closer to the attributes they are expected to
    be tied to; for a study, that the effect is stereotype-consistent. MODEL has the same form as in
    clinometer profile.
    """
    _measure(models, options, _build_testing(options), "weat")


def _build_profiling(options: dict[str, Any]) -> Profiling:
    """Build the measurement from the options, before a model is opened."""
    from clinometer_measures.states.contexts import place_terms
    from clinometer_measures.states.dictionary import read_dictionary
    from clinometer_measures.states.directions import read_extended
    from clinometer_measures.states.measuring import Profiling
    from clinometer_measures.states.profiles import ProfileSetting
    from clinometer_measures.states.words import DEFAULT, read_words

    dictionary = read_dictionary(options["dictionary"])
    path = options["extended"]
    extended = read_extended(path, subset=options["subset"]) if path else None
    # None: `place_terms` takes the examples of the dictionary if it has any.
    sources = options["contexts"] or [None]
    poles = [place_terms(dictionary, source, options["per_sense"]) for source in sources]
    kinds = [in_context.kind for in_context in poles]
    if twice := [kind for kind in kinds if kinds.count(kind) > 1]:
        raise InputError(f"contexts: two of the kind {twice[0]!r}; give each kind once")
    return Profiling(
        dictionary=dictionary,
        poles=poles,
        words=[read_words(source) for source in options["words"] or DEFAULT],
        extended=extended,
        extended_contexts=_place_extended(extended, options, len(poles)),
        setting=ProfileSetting(
            confidence=options["confidence"],
            draws=options["draws"],
            seed=options["seed"],
            placebos=options["placebos"],
        ),
    )


def _place_extended(
    extended: pl.DataFrame | None, options: dict[str, Any], kinds: int
) -> list[InContext]:
    """Place held-out words in contexts, for each of some kinds of contexts of the poles."""
    from clinometer_measures.states.contexts import place_words

    sources = options["extended_contexts"]
    if extended is None or not sources:
        return []
    if len(sources) != kinds:
        raise InputError(
            f"extended-contexts: {len(sources)} for {kinds} kinds of contexts; give one for each"
        )
    terms = extended["term"]
    return [place_words(terms, source, options["per_sense"]) for source in sources]


def _build_testing(options: dict[str, Any]) -> Testing:
    """Build the tests from the options, before a model is opened."""
    from clinometer_measures.states.association import TestSetting
    from clinometer_measures.states.directory import read_answers
    from clinometer_measures.states.measuring import Testing
    from clinometer_measures.states.word_tests import load_tests

    answers = read_answers(options["scores"]) if options["scores"] else None
    # Answers are related to tests of the same words, those of their studies.
    sources = options["tests"] or (answers.studies if answers else ("caliskan2017",))
    tests: list[WordTest] = []
    for source in sources:
        tests += load_tests(source)
    return Testing(
        tests=tests,
        words=_place_test_words(tests, answers, options),
        answers=answers,
        methods=options["methods"] or ("weat",),
        setting=TestSetting(
            confidence=options["confidence"],
            draws=options["draws"],
            drawn_partitions=options["partitions"],
            placebos=options["placebos"],
            seed=options["seed"],
        ),
    )


def _place_test_words(
    tests: Sequence[WordTest], answers: ScoredAnswers | None, options: dict[str, Any]
) -> InContext:
    """Place the words of tests and answers in the contexts that were asked for."""
    from clinometer_measures.states.contexts import InContext, in_prompt, place_words

    groups: list[str] = []
    attributes: list[str] = []
    for test in tests:
        groups += [*test.first.words, *test.second.words]
        attributes += [*test.toward.words, *test.against.words]
    if answers is not None:
        groups += answers.groups
        attributes += answers.attributes
    if options["contexts"] == "prompt":
        return InContext("prompt", in_prompt(groups, attributes))
    return place_words([*groups, *attributes], options["contexts"], options["per_word"])


def _measure(
    models: Sequence[str], options: dict[str, Any], measurement: Profiling | Testing, kind: str
) -> None:
    """Measure models; write only estimates if ``out`` is a table, else all tables and a report.

    `kind` is the suffix of the default folder's name.
    """
    from clinometer.report import family_lines, write_report
    from clinometer.results.tables import FORMATS, write_table
    from clinometer_measures.states.directory import check_names, measure_models
    from clinometer_measures.states.measuring import model_label

    distinct = list(dict.fromkeys(models))
    check_names(distinct)
    removed = _read_removed(options["removed"])
    measure = partial(measure_models, removed=removed, store=options["store"])
    readers = open_readers(distinct, options)
    out: Path | None = options["out"]
    if out is not None and out.suffix in FORMATS:
        table = measure(readers, [measurement]).estimates
        write_table(table, out)
        echo(f"{table.height} rows: {out}")
        return
    slug = model_label(models[0]).strip("/.").replace("/", "-")
    directory = out or Path("results") / f"{slug}-{kind}"
    tables = measure(readers, [measurement], directory)
    report = write_report(directory)
    for line in family_lines(directory):
        echo(line)
    echo(f"{1 + len(tables.details)} tables: {directory}")
    echo(f"report: {report}")


def open_readers(models: Sequence[str], options: dict[str, Any]) -> Iterator[Reader]:
    """Open models one by one, with the given options."""
    from clinometer_measures.states.readers.opening import Loading, open_reader

    names = ("dtype", "device", "device_map", "revision", "batch_tokens", "last", "first")
    loading = Loading(**{name: options[name] for name in names})
    # A generator: a model is opened when it is its turn.
    return (open_reader(model, loading) for model in models)


def _read_removed(text: str) -> tuple[int, ...]:
    """Read numbers of components, as in ``0,2``."""
    numbers = [part.strip() for part in text.split(",")]
    if not all(number.isdecimal() for number in numbers):
        raise InputError(f"removed {text!r}: expected whole numbers from 0, as in 0,2")
    return tuple(dict.fromkeys(map(int, numbers)))
