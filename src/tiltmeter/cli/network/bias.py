"""``tiltmeter network bias``: measure stereotypes, valence and emotions in networks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.network.options import bias_options, build_setting, read_lexicons
from tiltmeter.cli.options import TABLE

if TYPE_CHECKING:
    import polars as pl

__all__ = ["command"]


@click.command("bias")
@click.argument("networks", nargs=-1, required=True, metavar="NET…")
@click.option(
    "--approach",
    type=click.Choice(["stereotypes", "valence", "emotions"]),
    default="stereotypes",
    show_default=True,
    help="Measure. stereotypes: activation of targets; valence and emotions: of words in the "
    "lexicon of that name.",
)
@click.option("--out", required=True, type=TABLE, help="Estimates, as .csv or .parquet.")
@click.option(
    "--activations",
    type=TABLE,
    help="Also write the activation of each target after each prime (stereotypes).",
)
@click.option(
    "--differences/--no-differences",
    default=True,
    show_default=True,
    help="Also estimate differences between networks (stereotypes, emotions).",
)
@click.option(
    "--sensitivity/--no-sensitivity",
    default=False,
    show_default=True,
    help="Also estimate the effects under other steps, norms, weights and retentions.",
)
@bias_options(rewirings=0)
def command(  # noqa: PLR0913 - one argument an option
    networks: tuple[str, ...],
    approach: str,
    out: Path,
    activations: Path | None,
    differences: bool,
    sensitivity: bool,
    **options: Any,
) -> None:
    """Measure bias in each NET, a table of edges given as FILE or NAME=FILE.

    A positive effect means that the first category (or prime) activates the targets more than the
    second. The column direction gives the stereotype-consistent side of 0.
    """
    import polars as pl

    from tiltmeter.cli.network.options import open_networks
    from tiltmeter.cli.options import counting_bar
    from tiltmeter.networks.bias import measure_bias, vary_setting
    from tiltmeter.networks.controls import compare_with_rewired
    from tiltmeter.results.tables import write_table

    read = open_networks(networks, directed=options["directed"])
    lexicons, setting = read_lexicons(options), build_setting(options)
    study = options["study"]
    how: dict[str, Any] = {"approaches": [approach], "lexicons": lexicons, "setting": setting}
    found = measure_bias(read, study, **how)
    every = pl.col("factor").is_null() | differences
    estimates = [found.estimates.filter(every)]
    if sensitivity:
        estimates += [vary_setting(one, study, **how) for one in read]
    if setting.rewirings:
        with counting_bar("rewiring", setting.rewirings * len(read)) as advance:
            estimates += [
                compare_with_rewired(one, study, **how, on_progress=advance) for one in read
            ]
    table = pl.concat(estimates)
    write_table(table, out)
    if activations is not None:
        write_table(found.activations, activations)
    click.echo("\n".join([*_lines(table, found.absences), f"{table.height} rows: {out}"]))


def _lines(estimates: pl.DataFrame, absences: pl.DataFrame) -> Iterator[str]:
    """Print estimates, absent words and rewired networks, one line each."""
    import polars as pl

    from tiltmeter.results import beside

    own = estimates.filter(pl.col("varied").is_null(), pl.col("factor").is_null())
    ends = ["ci_low", "ci_high"]
    for row in beside(own, "published", {"bootstrap": ends, "robust": ends}).iter_rows(named=True):
        yield f"{_about(row)}: {_value(row)}{_interval(row)}{_p(row)}{_note(row)}"
    for network, _, identity, targets, absent in absences.iter_rows():
        named = ", ".join(filter(None, (network, identity, targets)))
        yield f"{named}: not in the network: {', '.join(absent)}"
    alarms = own.filter(measure="false_alarm_rate")
    keys = ["subject", "identity", "targets", "prime"]
    rewired = own.filter(pl.col("method") == "rewired", pl.col("measure") != "false_alarm_rate")
    beside_alarms = rewired.join(
        alarms.select(*keys, alarms="estimate"), on=keys, how="left", nulls_equal=True,
        maintain_order="left",
    )  # fmt: skip
    for row in beside_alarms.iter_rows(named=True):
        yield _rewired_line(row)


def _about(row: dict[str, Any]) -> str:
    return ", ".join(
        (row["subject"], row["identity"], row["targets"] or row["prime"] or "all equal")
    )


def _value(row: dict[str, Any]) -> str:
    if row["measure"] == "valence_joint":
        return _number(row["statistic"], "χ²")
    return _number(row["estimate"], "slope" if row["prime"] else "effect")


def _rewired_line(row: dict[str, Any]) -> str:
    """Print the effect in rewired networks."""
    about = f"{_about(row)}, rewired"
    if row["estimate"] is None or row["placebo_mean"] is None:
        return f"{about}: no effect"
    ends = f"[{row['placebo_low']:.2f}, {row['placebo_high']:.2f}]"
    line = f"{about}: {row['placebo_mean']:.3f} {ends}, p {row['p']:.2g}"
    if row["alarms"] is None:
        return line
    return f"{line}; published test: p ≤ .05 in {row['alarms']:.0%} of rewirings"


def _number(value: float | None, name: str) -> str:
    return f"no {name}" if value is None else f"{name} {value:.3f}"


def _interval(row: dict[str, Any]) -> str:
    method = "robust" if row["prime"] else "bootstrap"
    low, high = row[f"ci_low_{method}"], row[f"ci_high_{method}"]
    return "" if low is None else f" [{low:.2f}, {high:.2f}]"


def _p(row: dict[str, Any]) -> str:
    return "" if row["p"] is None else f", p {row['p']:.2g}"


def _note(row: dict[str, Any]) -> str:
    return f"; {row['note']}" if row["note"] else ""
