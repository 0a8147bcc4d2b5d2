"""``tiltmeter network bias``: stereotypes, valence and emotions in networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tiltmeter.cli.network.options import bias_options, build_setting, read_lexicons
from tiltmeter.cli.options import TABLE

__all__ = ["command"]


@click.command("bias")
@click.argument("networks", nargs=-1, required=True, metavar="NET…")
@click.option(
    "--approach",
    type=click.Choice(["stereotypes", "valence", "emotions"]),
    default="stereotypes",
    show_default=True,
)
@click.option("--out", required=True, type=TABLE, help="Effects, as .csv or .parquet.")
@click.option(
    "--activations",
    type=TABLE,
    help="Also write the activation of every target after every prime (stereotypes).",
)
@click.option(
    "--differences",
    type=TABLE,
    help="Also write how the effects of networks differ (stereotypes, emotions).",
)
@click.option(
    "--sensitivity",
    type=TABLE,
    help="Also write the effects at other steps, norms, weights and retentions.",
)
@click.option(
    "--chance",
    type=TABLE,
    help="Also write what each network gives when rewired at random.",
)
@bias_options
def command(  # noqa: PLR0913 - one argument an option
    networks: tuple[str, ...],
    approach: str,
    out: Path,
    activations: Path | None,
    differences: Path | None,
    sensitivity: Path | None,
    chance: Path | None,
    **options: Any,
) -> None:
    """Measure bias in each NET: a list of edges, or NAME=FILE.

    Positive effects: the first category (or prime) activates the targets more than the second. The
    column stereotype turns them: positive is stereotype-consistent.
    """
    import polars as pl

    from tiltmeter.cli.network.options import open_networks
    from tiltmeter.cli.progress import counting_bar
    from tiltmeter.networks.bias import measure_bias, vary_setting
    from tiltmeter.networks.chance import hold_against_chance
    from tiltmeter.results.tables import write_table

    read = open_networks(networks, directed=options["directed"])
    lexicons, setting = read_lexicons(options), build_setting(options)
    study = options["study"]
    how: dict[str, Any] = {"approaches": [approach], "lexicons": lexicons, "setting": setting}
    found = measure_bias(read, study, **how)
    table = found.coefficients if approach == "valence" else found.effects
    tables = {out: table}
    if activations is not None:
        tables[activations] = found.activations
    if differences is not None:
        tables[differences] = found.differences
    if sensitivity is not None:
        tables[sensitivity] = pl.concat([vary_setting(one, study, **how) for one in read])
    lines = [_line(row) for row in table.iter_rows(named=True)]
    if chance is not None:
        with counting_bar("rewiring", setting.rewirings * len(read)) as advance:
            held = pl.concat(
                [hold_against_chance(one, study, **how, on_progress=advance) for one in read]
            )
        tables[chance] = held
        lines += [_chance_line(row) for row in held.iter_rows(named=True)]
    for path, made in tables.items():
        write_table(made, path)
    click.echo("\n".join([*lines, f"{table.height} rows: {out}"]))


def _line(row: dict[str, Any]) -> str:
    """Say a row in one line."""
    about = f"{row['network']}, {row['identity']}"
    if row["approach"] == "valence":
        if row["prime"] is None:
            return f"{about}, all equal: {_number(row['wald'], 'χ²')}{_p(row)}{_note(row)}"
        inside = _number(row["coefficient"], "slope")
        return f"{about}, {row['prime']}: {inside}{_interval(row)}{_p(row)}{_note(row)}"
    inside = _number(row["effect"], "effect")
    return f"{about}, {row['targets']}: {inside}{_interval(row)}{_p(row)}{_note(row)}"


def _chance_line(row: dict[str, Any]) -> str:
    """Say in one line what chance gives."""
    about = f"{row['network']}, {row['identity']}, {row['targets'] or 'all equal'}, rewired"
    if row["effect"] is None or row["chance"] is None:
        return f"{about}: no effect"
    ends = f"[{row['chance_low']:.2f}, {row['chance_high']:.2f}]"
    return (
        f"{about}: {row['chance']:.3f} {ends}, p {row['p_chance']:.2g}; published p at most .05 in "
        f"{row['false_alarms']:.0%} of them"
    )


def _number(value: float | None, name: str) -> str:
    return f"no {name}" if value is None else f"{name} {value:.3f}"


def _interval(row: dict[str, Any]) -> str:
    return "" if row["ci_low"] is None else f" [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"


def _p(row: dict[str, Any]) -> str:
    return "" if row["p"] is None else f", p {row['p']:.2g}"


def _note(row: dict[str, Any]) -> str:
    missing = f"; not in the network: {', '.join(row['missing'])}" if row["missing"] else ""
    return f"{missing}; {row['note']}" if row["note"] else missing
