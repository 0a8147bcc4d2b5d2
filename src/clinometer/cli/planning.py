"""``clinometer power``: what a design can tell, and how to spend a number of calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.audits import SIZES
from clinometer.cli.options import (
    FILE,
    MODEL,
    TABLE,
    build_plan,
    command,
    plan_options,
    refuse_unused,
)
from clinometer.cli.output import counting_bar, echo, remark, say_paragraph, say_table
from clinometer.errors import InputError
from clinometer.numbers import count, number, percent, thousands

if TYPE_CHECKING:
    import polars as pl

    from clinometer.asking.plan import Plan

__all__ = ["power_command", "say_power"]

#: Stands for any model that can be asked in a mode.
ANY_MODEL = "simulated/neutral"


@command("power")
@click.argument("models", nargs=-1, type=MODEL, metavar="[MODEL…]")
@click.option(
    "--size", type=click.Choice(SIZES), help="Of an audit of this size; without it, of a run."
)
@click.option(
    "--pilot",
    type=FILE,
    help="Results directory, or table of scores or of components, whose components of variance "
    "are used.  [default: those shipped]",
)
@click.option(
    "--calls",
    type=int,
    help="Compare the designs that this many calls pay: wordings, and trials per wording. For "
    "one study, instrument and mode.",
)
@click.option(
    "--effect",
    type=float,
    help="Say how many trials, calls and dollars find a mean this far from neutral.",
)
@click.option("--margin", default=0.1, help="Equivalence margin.")
@click.option("--confidence", default=0.95, help="Confidence level of intervals.")
@click.option("--chance", default=0.8, help="Probability of finding the smallest effect.")
@click.option("--out", type=TABLE, help="Write the table, as .csv or .parquet.")
@click.option("-v", "--verbose", is_flag=True, help="Also print what is predicted of controls.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON, a row a line.")
@plan_options
def power_command(
    models: tuple[str, ...],
    size: str | None,
    calls: int | None,
    effect: float | None,
    out: Path | None,
    verbose: bool,
    **options: Any,
) -> None:
    """Predict what a run or an audit can tell; nothing is asked.

    A MODEL says in which modes it can be asked, and its price; without one it is any, in free text
    unless --mode names another.

    The smallest effect is the distance from neutral of the nearest mean that is found with
    probability --chance in other prompts, where all means of its run lie as far; in brackets its
    range over stereotypes. The smallest change is the rise from neutral that a comparison of two
    such runs shows in these prompts with the same probability.
    """
    from clinometer.results.tables import write_table

    if effect is not None and calls is not None:
        raise InputError("--effect and --calls: give one of them")
    unused = {"prices"} if effect is None else {"verbose"}
    if calls is not None:
        unused |= {"margin", "confidence", "chance", "verbose"}
    refuse_unused({*click.get_current_context().params} - unused, "has no say in this table")
    if not models:
        options["modes"] = options["modes"] or ("free",)
    plan = build_plan(models or (ANY_MODEL,), options, size)
    say: Callable[[pl.DataFrame], None]
    if effect is not None:
        table = _find_trials(plan, effect, options)
        say = partial(_say_trials, effect, options)
    elif calls:
        table, say = _allocate(plan, calls, options), _say_designs
    else:
        table = _predict(plan, options)
        say = partial(_say_predicted, options["chance"], verbose=verbose)
    if out is not None:
        write_table(table, out)
    if options["as_json"]:
        echo(table.write_ndjson(), nl=False)  # each row ends in a new line
        return
    say(table)


def _predict(plan: Plan, options: dict[str, Any]) -> pl.DataFrame:
    """Predict what a plan can tell."""
    from clinometer.audits.planning import power_of_plan, read_pilot
    from clinometer.statistics.estimates import Inference

    pilot = None if options["pilot"] is None else read_pilot(options["pilot"])
    inference = Inference(margin=options["margin"], confidence=options["confidence"])
    counting = partial(counting_bar, "predicting")
    return power_of_plan(plan, pilot, inference, options["chance"], counting=counting)


def _find_trials(plan: Plan, effect: float, options: dict[str, Any]) -> pl.DataFrame:
    """Find the trials that an effect takes."""
    from clinometer.audits.planning import TRIED, read_pilot, trials_for
    from clinometer.statistics.estimates import Inference

    pilot = None if options["pilot"] is None else read_pilot(options["pilot"])
    inference = Inference(margin=options["margin"], confidence=options["confidence"])
    if effect > 0:  # else an error follows
        remark(
            f"trying 2 to {TRIED[-1]} trials a wording; with many instruments this takes a minute"
        )
    return trials_for(plan, effect, pilot, inference, options["chance"], options["prices"])


def _say_trials(effect: float, options: dict[str, Any], table: pl.DataFrame) -> None:
    """Print the trials that an effect takes, a line per run and level."""
    from clinometer.audits.planning import TRIED

    echo(f"to find a mean {effect:g} from neutral with probability {options['chance']:g}:")
    for key, run in table.group_by("instrument", "study", "mode", maintain_order=True):
        echo(", ".join(map(str, key)))
        for row in run.iter_rows(named=True):
            echo(_trials_line(row, TRIED[-1]))


def _trials_line(row: dict[str, Any], most: int) -> str:
    """Say what it takes to find the effect at a level; `most` trials a wording were tried."""
    name = _LEVEL_TEXTS[row["level"]]
    if row["n_iterations"] is None:
        return f"  {name}: not with {most} trials a wording; it takes more wordings or group words"
    price = "" if row["usd"] is None else f", about ${row['usd']:,.2f}"
    return (
        f"  {name}: {row['n_iterations']} trials a wording, {row['n_trials']:,} trials, "
        f"{row['n_calls']:,} calls{price}"
    )


#: Level → half of its means, in words.
_LEVEL_TEXTS = {
    "model": "the mean of all",
    "category": "half of the categories",
    "stereotype": "half of the stereotypes",
}


def _allocate(plan: Plan, calls: int, options: dict[str, Any]) -> pl.DataFrame:
    """Compare designs of so many calls."""
    from clinometer.audits.planning import allocate_plan, read_pilot

    pilot = None if options["pilot"] is None else read_pilot(options["pilot"])
    return allocate_plan(plan, calls, pilot)


def _say_designs(table: pl.DataFrame) -> None:
    """Print designs, a row each."""
    from clinometer.pieces.tables import TableColumn, TableSpec

    designs = TableSpec(
        "smallest effect of a stereotype (median) and of the model:",
        (
            TableColumn("wordings", "n_variations", count),
            TableColumn("trials", "n_iterations", count),
            TableColumn("pairs", "n_pairs", count),
            TableColumn("calls", "n_calls", thousands),
            TableColumn("stereotype", "smallest_effect", _on_scale),
            TableColumn("model", "smallest_effect_model", _on_scale),
        ),
    )
    say_table(designs.render(table))


#: Levels of which it is said what can be found.
_LEVELS = ("model", "category", "stereotype")


def _on_scale(value: float | None) -> str:
    """Write a distance from neutral; there may be none on the scale that is found."""
    return number(value, missing="none")


def _say_predicted(chance: float, table: pl.DataFrame, *, verbose: bool) -> None:
    """Print a row per run and level, and whose components of variance are used.

    `verbose`: also of controls.
    """
    import polars as pl

    from clinometer.pieces.tables import TableColumn, TableSpec

    if not verbose:
        table = table.filter(pl.col("control").is_null())
    predicted = TableSpec(
        "Distance from neutral that is found with probability {chance:g}: of leans in other "
        "prompts, of rises in these.",
        (
            TableColumn("", "run", align="head"),
            TableColumn("Pairs", "pairs", align="number"),
            TableColumn("Interval", "interval", align="number"),
            TableColumn("Leans from", "smallest_effect"),
            TableColumn("Rises from", "smallest_change"),
            TableColumn("No lean shown", "equivalent", percent),
        ),
    )
    rows, notes = _predicted_runs(table)
    say_table(predicted.render(rows, chance=chance))
    for note in notes:
        say_paragraph(note)
    if not verbose:
        echo("Controls: --verbose")


def _predicted_runs(table: pl.DataFrame) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row per run and level, named by what tells runs apart, and notes on them."""
    from clinometer.pieces.facts import spaced
    from clinometer.results import CONDITIONS

    rows: list[dict[str, Any]] = []
    notes: dict[str, None] = {}  # in their order, each once
    keys = ["instrument", "study", "dimension", "mode", *CONDITIONS]
    varying = [name for name in keys[1:] if table[name].n_unique() > 1]
    for (control, *key), run in table.group_by("control", *keys, maintain_order=True):
        labels = dict(zip(keys, key, strict=True))
        details = [labels[name] for name in varying if labels[name] not in (None, "none")]
        if control is not None:
            details.append(f"{control} control")
        name = spaced(str(labels["instrument"]))
        name += f" ({', '.join(map(str, details))})" if details else ""
        by_level = {level: level_rows for (level,), level_rows in run.group_by("level")}
        for level in filter(by_level.__contains__, _LEVELS):
            label = name if level == "model" else f"  {_level_text(level, by_level[level])}"
            rows.append({"run": label, **_predicted_row(by_level[level])})
        if control == "positive":
            notes[f"{name}: beyond the margin from {_on_scale(run['smallest_beyond'][0])}"] = None
        notes[f"Variances: {run['planned_from'][0]}"] = None
    return rows, [*notes]


def _level_text(level: str, rows: pl.DataFrame) -> str:
    """Say of which means a row is the median."""
    noun = {"category": "categories", "stereotype": "stereotypes"}[level]
    return f"{rows.height} {noun}" if rows.height > 1 else f"a {level}"


def _predicted_row(rows: pl.DataFrame) -> dict[str, Any]:
    """Return what is predicted of the means of one level, their median where they are several."""
    import polars as pl

    columns = pl.col("half_width", "equivalent_power", "n_pairs").cast(pl.Float64)
    half_width, equivalent, pairs = rows.select(columns.median()).row(0)
    return {
        "pairs": number(pairs, 0),
        "interval": f"±{_on_scale(half_width)}",
        "smallest_effect": _effect_text(rows, "smallest_effect"),
        "smallest_change": _effect_text(rows, "smallest_change"),
        "equivalent": equivalent,
    }


def _effect_text(rows: pl.DataFrame, column: str) -> str:
    """Return the median smallest effect, or change, and its range over several means.

    Where some have none on the scale, it is said of how many.
    """
    from clinometer.audits.planning import median_effect

    effects = rows[column]
    without = effects.null_count()
    middle = _on_scale(median_effect(effects))
    if rows.height == 1 or without == rows.height:
        return middle
    smallest, largest = map(_on_scale, (effects.min(), effects.max()))  # type: ignore[arg-type]
    if without:
        return f"{middle} (from {smallest}; {without} of {rows.height} none)"
    return f"{middle} ({smallest} to {largest})"


def say_power(plan: Plan, *, verbose: bool) -> None:
    """Print what a plan can tell, a line per instrument and study.

    Unless `verbose`, in one line, without controls and explicit measures.
    """
    import polars as pl

    from clinometer.audits.planning import power_of_plan
    from clinometer.results.controls import NULLS

    # Few runs: this is printed before each audit. Where words name no group nothing is to be found.
    table = power_of_plan(plan, runs=8).filter(~pl.col("control").fill_null("").is_in(NULLS))
    table = table.sort("control", maintain_order=True)  # nulls first: controls come last
    if table.is_empty():
        return
    if not verbose:
        _say_smallest(table)
        return
    echo("smallest mean found with probability .8, as distance from neutral (median, range):")
    keys = ("instrument", "study", "mode")
    for (_, *key), run in table.group_by("control", *keys, maintain_order=True):
        echo(f"  {', '.join(map(str, key))}: {_run_text(run)}")


def _say_smallest(table: pl.DataFrame) -> None:
    """Print what is found of each instrument, over all and of a single stereotype, in one line."""
    import polars as pl

    from clinometer.audits.planning import median_effect
    from clinometer.contracts.catalogue import measure_of

    texts = []
    for (name,), run in table.filter(pl.col("control").is_null()).group_by(
        "instrument", maintain_order=True
    ):
        if measure_of(name).explicit:
            continue
        ends = [
            _on_scale(median_effect(run.filter(level=level)["smallest_effect"]))
            for level in ("model", "stereotype")
        ]
        texts.append(f"{str(name).replace('_', ' ')} {', '.join(ends)}")
    if texts:
        found = "Leans found in .8 of runs (mean, single)"
        say_paragraph(f"{found}: {'; '.join(texts)}")


def _run_text(run: pl.DataFrame) -> str:
    """Say what one run can find at each level."""
    if run["control"][0] is not None:
        effects = run["smallest_beyond"]  # of a control with dimensions, in the worst of them
        largest = None if effects.null_count() else effects.max()
        return f"control; shown to lie beyond the margin from {_on_scale(largest)}"  # type: ignore[arg-type]
    texts = []
    for level in _LEVELS:
        rows = run.filter(level=level)
        if rows.height:
            texts.append(f"{level} {_effect_text(rows, 'smallest_effect')}")
    return "; ".join(texts)
