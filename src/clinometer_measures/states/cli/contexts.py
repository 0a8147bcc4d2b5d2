"""``clinometer profile contexts``: make contexts for a dictionary."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    FILE,
    FROM_ELSEWHERE,
    MODEL,
    NEW,
    build_budget,
    build_connection,
    command,
    sampling_options,
)
from clinometer.cli.output import echo, progress_bar, say_cost, say_unfinished
from clinometer.cli.sharding import say_shards
from clinometer.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from clinometer_measures.states.context_asking import ContextOptions, Written

__all__ = ["contexts_command"]

#: Source of contexts that `profile measure` assumes for sentences from the user's texts.
CORPUS = "corpus"

#: Maximum number of senses named in a message about too few sentences.
MOST_NAMES = 5


@command("contexts")
@click.argument("model", required=False, type=MODEL, metavar="[MODEL]")
@click.option(
    "--dictionary",
    type=FILE,
    help="Table of the senses that need contexts: dimension, term, dir and, if present, synset and "
    "definition.  [default: Clinometer's own]",
)
@click.option(
    "--extended",
    type=FILE,
    help="Instead of --dictionary: a table of held-out words, as for profile --extended.",
)
@click.option(
    "--out",
    required=True,
    type=NEW,
    help="File of contexts (.jsonl); an unfinished one is continued.",
)
@click.option("--per-sense", default=5, help="Sentences per sense.")
@click.option(
    "--corpus",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Instead of MODEL: your own texts, from which sentences are sampled; .txt or .jsonl "
    "(also .gz, .zst), .csv, .parquet; may be repeated.",
)
@click.option("--column", help="Column or JSON field that holds the text.  [default: text or body]")
@click.option(
    "--width",
    default=40,
    help="Longest sentence from --corpus, in words; longer ones are cut around the term.",
)
@click.option(
    "--rounds",
    default=3,
    help="Largest number of calls per sense, until enough sentences pass the checks.",
)
@click.option(
    "--shards",
    type=click.IntRange(1),
    help="Ask nothing: write the requests as this many files in OUT.answers, for any engine to "
    "answer, and read what is answered (see clinometer collect).",
)
@FROM_ELSEWHERE
@sampling_options(
    tokens=1024,
    longest="Longest answer, in tokens.",
    seed="Seed of the sample from --corpus, or of the sampling of local models.",
)
def contexts_command(model: str | None, **options: Any) -> None:
    """Make sentences for each sense of a dictionary, written by MODEL or from your own texts.

    MODEL is asked for sentences without names and without gendered words, as in Schuster et al.
    (2024). Each sentence is checked; one that fails is asked for again. The same command continues
    a run that was stopped; nothing is asked twice.
    """
    if bool(model) == bool(options["corpus"]):
        raise InputError("contexts: name either a MODEL or --corpus FILE")
    if options["dictionary"] is not None and options["extended"] is not None:
        raise InputError("contexts: give --dictionary or --extended, one file each")
    if model:
        _ask(model, options)
    else:
        _sample(options)


def _senses(options: dict[str, Any]) -> pl.DataFrame:
    """Read the senses that need contexts: columns key, term, synset, definition."""
    from clinometer_measures.states.dictionary import read_dictionary
    from clinometer_measures.states.directions import read_extended
    from clinometer_measures.states.examples import senses_of

    if options["extended"] is None:
        return read_dictionary(options["dictionary"]).senses
    return senses_of(read_extended(options["extended"])["term"])


def _ask(model: str, options: dict[str, Any]) -> None:
    """Have a model write the sentences."""
    from clinometer.models.opening import Generation
    from clinometer_measures.states.context_asking import (
        ContextOptions,
        cost_of_contexts,
        make_contexts,
        shard_contexts,
    )

    senses = _senses(options)
    context_options = ContextOptions(
        options["per_sense"],
        options["rounds"],
        options["seed"],
        Generation(options["temperature"], options["top_p"], options["answer_tokens"]),
        build_connection(options),
        options["from_elsewhere"],
    )
    budget = build_budget(options)
    cost = cost_of_contexts(model, senses, context_options, options["prices"])
    say_cost([cost], f"sentences of {cost.calls:,} senses")
    out: Path = options["out"]
    if (shards := options["shards"]) is not None:
        outcome, files = shard_contexts(model, senses, out, shards, options=context_options)
        if files:
            say_shards(files, "the same command")
        _report(outcome, context_options, out)
        return
    with progress_bar(cost.trials) as advance:
        outcome = make_contexts(
            model, senses, out, options=context_options, budget=budget, on_progress=advance
        )
    _report(outcome, context_options, out)


def _report(outcome: Written, options: ContextOptions, out: Path) -> None:
    """Print how many sentences were written or rejected; exit as `run` does."""
    rejected = ", ".join(f"{count:,} {reason}" for reason, count in outcome.rejected.items())
    echo(
        f"{outcome.sentences:,} of {outcome.senses * options.per_sense:,} sentences passed the "
        f"checks, in {outcome.calls:,} calls" + (f"; not taken: {rejected}" if rejected else "")
    )
    if not outcome.finished:
        sys.exit(say_unfinished(outcome.stopped_by, outcome.last_error))
    if outcome.incomplete:
        first_keys = ", ".join(outcome.incomplete[:MOST_NAMES])
        more = ", …" if len(outcome.incomplete) > MOST_NAMES else ""
        echo(
            f"{len(outcome.incomplete):,} senses have fewer than {options.per_sense}: "
            f"{first_keys}{more}; --rounds {2 * options.rounds} asks again for these"
        )
    echo(f"contexts: {out}")


def _sample(options: dict[str, Any]) -> None:
    """Sample the sentences from texts."""
    from clinometer_measures.states.corpus import sample_corpus
    from clinometer_measures.states.examples import for_senses, write_examples

    out: Path = options["out"]
    if out.suffix != ".jsonl":
        raise InputError(f"out {str(out)!r}: the file of contexts must end in .jsonl")
    senses = _senses(options)
    sentences = sample_corpus(
        options["corpus"],
        senses["term"],
        most=options["per_sense"],
        seed=options["seed"],
        column=options["column"],
        width=options["width"],
    )
    contexts = for_senses(sentences, senses, "corpus")
    write_examples(contexts, senses, out, CORPUS)
    n_senses = contexts["key"].n_unique()
    echo(f"{sentences.height:,} sentences for {n_senses:,} of {senses['key'].n_unique():,} senses")
    echo(f"contexts: {out}")
