"""``clinometer network bias`` and ``compare``: stereotypes, valence and emotions in networks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    CONFIDENCE,
    FILE,
    FOLDER,
    TABLE,
    Option,
    all_options,
    choice,
    command,
)
from clinometer.cli.output import counting_bar, echo
from clinometer.errors import InputError
from clinometer.numbers import interval, number, p_value, percent
from clinometer_measures.networks.cli.describing import (
    VALENCE,
    build_spreading,
    open_networks,
    split_paths,
    spreading_options,
)

if TYPE_CHECKING:
    import polars as pl

    from clinometer_measures.networks.setting import Setting

__all__ = ["bias_command", "compare_command"]

#: The four streams in the paper's figures 8 and 9.
STREAMS = (
    "feminine:compassionate",
    "feminine:forceful",
    "masculine:forceful",
    "masculine:compassionate",
)

#: Methods that compare with placebos, and what those are called.
_PLACEBOS = {"placebo": "arbitrary primes", "placebo_targets": "arbitrary targets"}


def _bias_options(*, rewirings: int) -> Option:
    """Return the options of measuring bias; `rewirings` is the default of that option."""
    return all_options([
        click.option("--study", default="abramski2025", metavar="NAME|FILE",
                     help="Study of networks that defines primes and targets."),
        VALENCE,
        click.option("--emotions", type=FILE,
                     help="Emotion lexicon: NRC EmoLex, or a table of word and emotion."),
        click.option("--norm", type=click.Choice(["l2", "l1", "none"]),
                     help="Norm that activations are divided by.  [default: set by the study]"),
        choice("--missing", ["error", "skip"],
               help="What to do if a prime or target is not in a network."),
        CONFIDENCE,
        click.option("--draws", type=click.IntRange(min=100), default=2000,
                     help="Bootstrap samples of targets."),
        click.option("--placebos", default=999,
                     help="Arbitrary primes, and arbitrary targets, to compare each effect with "
                          "(slopes of valence: at most 199): 0 for none, else at least 19."),
        click.option("--seed", default=0, help="Seed of resampling, placebos and rewiring."),
        click.option("--rewirings", default=rewirings,
                     help="Degree-preserving rewirings to compare each effect with: 0 for none, "
                          "else at least 19."),
        spreading_options,
    ])  # fmt: skip


@command("bias")
@click.argument("networks", nargs=-1, required=True, metavar="NET…")
@choice(
    "--approach",
    ["stereotypes", "valence", "emotions"],
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
    help="Also estimate differences between networks (stereotypes, emotions).",
)
@click.option(
    "--sensitivity/--no-sensitivity",
    default=False,
    help="Also estimate the effects under other steps, norms, weights and retentions.",
)
@click.option(
    "--paths/--no-paths",
    default=False,
    help="Also test whether stereotype-consistent paths are shorter (stereotypes).",
)
@_bias_options(rewirings=0)
def bias_command(
    networks: tuple[str, ...], out: Path, activations: Path | None, **options: Any
) -> None:
    """Measure bias in each NET, a table of edges given as FILE or NAME=FILE.

    A positive effect means that the first category (or prime) activates the targets more than the
    second. The column direction gives the stereotype-consistent side of 0.
    """
    import polars as pl

    from clinometer.results.tables import write_table
    from clinometer_measures.networks.bias import measure_bias, vary_setting
    from clinometer_measures.networks.controls import compare_with_rewired
    from clinometer_measures.networks.lexicons import Lexicons
    from clinometer_measures.networks.path_lengths import measure_paths

    if options["paths"] and options["approach"] != "stereotypes":
        raise InputError(f"paths: only of the approach stereotypes, not of {options['approach']}")
    opened = open_networks(networks, directed=options["directed"])
    study = options["study"]
    setting = _build_setting(options)
    settings: dict[str, Any] = {
        "approaches": [options["approach"]],
        "lexicons": Lexicons.read(options["valence"], options["emotions"]),
        "setting": setting,
    }
    bias = measure_bias(opened, study, **settings)
    estimates = [bias.estimates]
    if not options["differences"]:
        estimates = [bias.estimates.filter(pl.col("factor").is_null())]
    if options["sensitivity"]:
        estimates += [vary_setting(network, study, **settings) for network in opened]
    if options["paths"]:
        for network in opened:
            estimates.append(measure_paths(network, study, setting=setting).estimates)
    if setting.rewirings:
        with counting_bar("rewiring", setting.rewirings * len(opened)) as advance:
            for network in opened:
                rewired = compare_with_rewired(network, study, **settings, on_progress=advance)
                estimates.append(rewired)
    table = pl.concat(estimates)
    write_table(table, out)
    if activations is not None:
        write_table(bias.activations, activations)
    echo("\n".join([*_lines(table, bias.absences), f"{table.height} rows: {out}"]))


@command("compare")
@click.argument("networks", nargs=-1, required=True, metavar="NET…")
@click.option(
    "--out",
    required=True,
    type=FOLDER,
    help="Results directory for tables and report.html. In the directory of an audit the networks "
    "become a part of its report.",
)
@click.option(
    "--stream",
    "streams",
    multiple=True,
    metavar="SOURCE:TARGET",
    help="Shortest paths to show; may be repeated.  [default: for abramski2025 four of the paper]",
)
@_bias_options(rewirings=99)
def compare_command(
    networks: tuple[str, ...], out: Path, streams: tuple[str, ...], **options: Any
) -> None:
    """Compare each NET, a table of edges given as FILE or NAME=FILE.

    Networks of people are compared like those of models. Valence and emotions are measured if
    their lexicon is given.
    """
    from clinometer.report import family_lines, write_report
    from clinometer_measures.networks.directory import NetworkComparison, write_networks
    from clinometer_measures.networks.study import load_network_study

    study = load_network_study(options["study"])
    stream_texts = streams or (STREAMS if study.name == "abramski2025" else ())
    comparison = NetworkComparison(
        study=study,
        setting=_build_setting(options),
        networks=split_paths(networks),
        lexicons={name: options[name] for name in ("valence", "emotions") if options[name]},
        streams=[_read_pair(text) for text in stream_texts],
        directed=options["directed"],
    )
    with counting_bar("rewiring", comparison.setting.rewirings * len(networks)) as advance:
        tables = write_networks(comparison, out, on_progress=advance)
    report = write_report(out)
    for line in family_lines(out):
        echo(line)
    echo(f"{len(tables)} tables: {out}")
    echo(f"report: {report}")


def _build_setting(options: dict[str, Any]) -> Setting:
    """Build the setting from the options."""
    from clinometer_measures.networks.setting import Setting

    names = ("norm", "missing", "confidence", "draws", "placebos", "rewirings", "seed")
    return Setting(spreading=build_spreading(options), **{name: options[name] for name in names})


def _read_pair(text: str) -> tuple[str, str]:
    """Read the two ends of a stream."""
    source, colon, target = (part.strip() for part in text.partition(":"))
    if not colon or not source or not target:
        raise InputError(f"stream {text!r}: expected SOURCE:TARGET, as in feminine:forceful")
    return source, target


def _lines(estimates: pl.DataFrame, absences: pl.DataFrame) -> Iterator[str]:
    """Format estimates, absent words, placebos and rewired networks, one line each."""
    import polars as pl

    from clinometer.results import join_methods

    subject_estimates = estimates.filter(pl.col("varied").is_null(), pl.col("factor").is_null())
    is_length = pl.col("measure") == "path_difference"
    effects = subject_estimates.filter(~is_length)
    ends = ["ci_low", "ci_high"]
    published = join_methods(effects, "published", {"bootstrap": ends, "robust": ends})
    for row in published.iter_rows(named=True):
        yield _estimate_line(row)
    for network, _, identity, targets, absent in absences.iter_rows():
        label = ", ".join(filter(None, (network, identity, targets)))
        yield f"{label}: not in the network: {', '.join(absent)}"
    for method, kind in _PLACEBOS.items():
        for row in effects.filter(method=method).iter_rows(named=True):
            yield _placebo_line(row, kind)
    is_alarm = pl.col("measure") == "false_alarm_rate"
    keys = ["subject", "identity", "targets", "prime"]
    alarms = effects.filter(is_alarm).select(*keys, alarms="estimate")
    rewired = effects.filter(~is_alarm, method="rewired").join(
        alarms, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    for row in rewired.iter_rows(named=True):
        line = _placebo_line(row, "rewired")
        if row["alarms"] is not None:
            line += f"; published test: p ≤ .05 in {percent(row['alarms'])} of rewirings"
        yield line
    swapped = join_methods(subject_estimates.filter(is_length), "permutation", {"bootstrap": ends})
    for row in swapped.iter_rows(named=True):
        yield _path_line(row)
    for method, kind in _PLACEBOS.items():
        for row in subject_estimates.filter(is_length, method=method).iter_rows(named=True):
            yield _placebo_line({**row, "targets": _path_targets(row)}, kind)


def _path_targets(row: dict[str, Any]) -> str:
    return f"paths to {row['targets'] or 'all'} targets"


def _path_line(row: dict[str, Any]) -> str:
    """Format a difference of path lengths with its interval and the p of swapped primes."""
    value = row["estimate"]
    text = "no difference" if value is None else f"difference {number(value, 3)} hops"
    line = f"{_label({**row, 'targets': _path_targets(row)})}: {text}"
    return line + _certainty(row, "bootstrap", "p (primes swapped)")


def _label(row: dict[str, Any]) -> str:
    """Name what an estimate is of; without targets and prime it is the test of all slopes."""
    return ", ".join(
        (row["subject"], row["identity"], row["targets"] or row["prime"] or "all equal")
    )


def _estimate_line(row: dict[str, Any]) -> str:
    """Format an estimate with its interval, the published p and a note."""
    name = "slope" if row["prime"] else "effect"
    value = row["estimate"]
    if row["measure"] == "valence_joint":
        name, value = "χ²", row["statistic"]
    text = f"no {name}" if value is None else f"{name} {number(value, 3)}"
    return f"{_label(row)}: {text}{_certainty(row, 'robust' if row['prime'] else 'bootstrap', 'p')}"


def _certainty(row: dict[str, Any], method: str, p_name: str) -> str:
    """Format the interval by a method, the p and the note, as far as a row has them."""
    low, high = row[f"ci_low_{method}"], row[f"ci_high_{method}"]
    text = "" if low is None else f" [{interval(low, high)}]"
    if row["p"] is not None:
        text += f", {p_name} {p_value(row['p'])}"
    return text + (f"; {row['note']}" if row["note"] else "")


def _placebo_line(row: dict[str, Any], kind: str) -> str:
    """Format the effect in placebos or rewired networks."""
    label = f"{_label(row)}, {kind}"
    if row["estimate"] is None or row["placebo_mean"] is None:
        return f"{label}: {row['note'] or 'no effect'}"
    ends = interval(row["placebo_low"], row["placebo_high"])
    return f"{label}: {number(row['placebo_mean'], 3)} [{ends}], p {p_value(row['p'])}"
