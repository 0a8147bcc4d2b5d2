"""``tiltmeter profile MODEL``: stereotype dimensions; and what commands about states share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tiltmeter.cli.options import all_options

if TYPE_CHECKING:
    from tiltmeter.audits.states import Profiling, Testing
    from tiltmeter.models.readers.states import Reader

__all__ = [
    "build_profiling",
    "command",
    "measure_models",
    "open_readers",
    "parse_removed",
    "reading_options",
]


F = TypeVar("F", bound=Callable[..., Any])

_READING = [
    click.option("--removed", default="0", show_default=True, metavar="K[,K…]",
                 help="Leading principal components to remove from the states (all-but-the-top); "
                 "comma-separated numbers are analysed separately."),
    click.option("--store", type=click.Path(path_type=Path, file_okay=False),
                 help="Folder in which states are stored, so that a model is read only once."),
    click.option("--last", type=click.Choice(["normed", "block"]), default="normed",
                 show_default=True,
                 help="Last layer of Llama-like models. normed: after the final norm; block: "
                 "before."),
    click.option("--first", type=click.Choice(["break", "bare"]), default="break",
                 show_default=True,
                 help="What precedes a term that would be the first token of a causal model. "
                 "break: a line break; bare: nothing, as published."),
    click.option("--dtype", type=click.Choice(["auto", "float32", "bfloat16", "float16"]),
                 default="auto", show_default=True, help="Number format of the weights."),
    click.option("--device", default="auto", show_default=True,
                 help="Device, as torch names it: cpu, cuda, …"),
    click.option("--device-map",
                 help="Placement of models larger than one device: auto, balanced, …"),
    click.option("--revision", help="Branch, tag or commit of a model on the hub."),
    click.option("--batch-tokens", type=int, help="Tokens per forward pass."),
    click.option("--confidence", type=float, default=0.95, show_default=True,
                 help="Confidence level of intervals."),
    click.option("--seed", type=int, default=0, show_default=True,
                 help="Seed of resampling."),
]  # fmt: skip

reading_options: Callable[[F], F] = all_options(_READING)


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


def open_readers(models: Sequence[str], options: dict[str, Any]) -> Iterator[Reader]:
    """Open models one by one, as the options say."""
    from tiltmeter.models.readers.opening import Loading, open_reader

    names = ("dtype", "device", "device_map", "revision", "batch_tokens", "last", "first")
    loading = Loading(**{name: options[name] for name in names})
    return (open_reader(model, loading) for model in models)


def parse_removed(text: str) -> tuple[int, ...]:
    """Read numbers of components, as in ``0,2``."""
    from tiltmeter.errors import InputError

    numbers = [part.strip() for part in text.split(",")]
    if not all(number.isdecimal() for number in numbers):
        raise InputError(f"removed {text!r}: expected whole numbers from 0, as in 0,2")
    return tuple(dict.fromkeys(map(int, numbers)))


def measure_models(
    models: Sequence[str],
    options: dict[str, Any],
    measures: tuple[Profiling | None, Testing | None],
    kind: str,
) -> None:
    """Measure models; write the estimates where ``out`` is a table, else all and a report.

    `kind` ends the name of a folder that the user does not name.
    """
    import polars as pl

    from tiltmeter.audits.state_directory import check_names, measure_each, write_states
    from tiltmeter.audits.states import called
    from tiltmeter.report import write_report
    from tiltmeter.results.tables import FORMATS, write_table

    distinct = list(dict.fromkeys(models))
    check_names(distinct)
    how: dict[str, Any] = {"removed": parse_removed(options["removed"]), "store": options["store"]}
    readers = open_readers(distinct, options)
    out: Path | None = options["out"]
    if out is not None and out.suffix in FORMATS:
        table = pl.concat([of.estimates for _, of in measure_each(readers, *measures, **how)])
        write_table(table, out)
        click.echo(f"{table.height} rows: {out}")
        return
    slug = called(models[0]).strip("/.").replace("/", "-")
    directory = out or Path("results") / f"{slug}-{kind}"
    written = write_states(readers, *measures, directory, **how)
    click.echo(f"{1 + len(written.details)} tables: {directory}")
    click.echo(f"report: {write_report(directory)}")
