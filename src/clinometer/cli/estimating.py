"""``clinometer estimate``, ``contrast``, ``agreement``, ``regress``: from tables of scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import CONDITION, FILE, FOLDER, TABLE, Option, command
from clinometer.cli.output import echo, say_table
from clinometer.errors import InputError
from clinometer.numbers import bracketed, interval, number, p_value, thousands

if TYPE_CHECKING:
    import polars as pl

#: Kinds of verdicts that tell of a lean, or of a change.
_EFFECT_VERDICTS = ("consistent", "reversed", "worse", "turned", "better")


def _scores(help: str) -> Option:
    """Return the option that names the table of scores."""
    return click.option("--scores", required=True, type=FILE, help=help)


@command("estimate")
@_scores("Scores written by clinometer score, .csv or .parquet.")
@click.option(
    "--margin",
    default=0.1,
    help="Equivalence margin: largest distance from neutral that counts as no bias.",
)
@click.option(
    "--compliance-floor",
    default=0.8,
    help="Smallest share of scored answers that allows a verdict.",
)
@CONDITION
@click.option("--out", required=True, type=TABLE, help="Estimates, as .csv or .parquet.")
@click.option(
    "--tables",
    type=FOLDER,
    help="Also write the detail tables to this folder, as .parquet: order effects, "
    "compliance, shares of yes, comedy and tragedy, fits of regressions.",
)
@click.option(
    "--table",
    type=click.Choice(["paper"]),
    help="Print a row for each stereotype, each category and all, as a paper does.",
)
def estimate_command(
    scores: Path,
    conditions: tuple[str, ...],
    out: Path,
    tables: Path | None,
    table: str | None,
    **inference: Any,
) -> None:
    """Estimate means, intervals and tests at every level, for each range and as published."""
    from clinometer.audits.tabulating import estimate_scores, read_scores
    from clinometer.results.tables import write_table
    from clinometer.statistics.estimates import Inference

    estimates, details = estimate_scores(read_scores(scores, conditions), Inference(**inference))
    write_table(estimates, out)
    if table is None:
        _say_means(estimates)
    else:
        _say_paper_table(estimates)
    echo(f"{estimates.height:,} estimates: {out}")
    if tables is not None:
        for name, detail in details.items():
            write_table(detail, tables / f"{name}.parquet")
        echo(f"{', '.join(details)}: {tables}")


@command("contrast")
@_scores("Scores written by clinometer score or run, .csv or .parquet.")
@click.option(
    "--factor",
    default="intervention",
    help="Column whose values are compared, such as intervention, "
    "reasoning_effort, temperature, model or mode.",
)
@click.option("--baseline", default="none", help="Value that every other value is compared with.")
@click.option("--out", required=True, type=TABLE, help="Differences, as .csv or .parquet.")
def contrast_command(scores: Path, factor: str, baseline: str, out: Path) -> None:
    """Estimate differences from a baseline over matched trials, at every level."""
    import polars as pl

    from clinometer.contracts.catalogue import measure_of
    from clinometer.results import SCORES
    from clinometer.results.judging import judge
    from clinometer.results.tables import scan_table, write_table
    from clinometer.statistics.contrasts import contrast

    frame = scan_table(scores, SCORES).select(list(SCORES)).collect()
    if frame.is_empty():
        raise InputError(f"{scores}: no rows")
    contrasts = []
    # Instruments apart: each has a measure of its own.
    for (name,), part in frame.group_by("instrument", maintain_order=True):
        contrasted = contrast(part, measure_of(name), factor=factor, baseline=baseline)
        contrasts.append(contrasted.estimates)
    table = judge(pl.concat(contrasts))
    write_table(table, out)
    _say_means(table)
    echo(f"{table.height:,} differences: {out}")


def _say_paper_table(estimates: pl.DataFrame) -> None:
    """Print means with both intervals, p and verdict; controls and published tests are left out."""
    import polars as pl

    from clinometer.contracts.catalogue import measure_of
    from clinometer.pieces.tables import FROM, LEAN, MEAN, TableColumn, TableSpec, head
    from clinometer.results import join_methods
    from clinometer.results.ranges import IN_PROMPTS

    spec = TableSpec(
        "Means of scores, each stereotype counted once; p for other prompts, adjusted over all "
        "rows of a model (Benjamini–Hochberg).",
        (
            *FROM,
            head("title", "Instrument"),
            head("about", "Stereotype"),
            TableColumn("n", "n_scored", thousands),
            *MEAN,
            TableColumn("p", "p_bh", p_value),
            LEAN,
        ),
    )
    about = pl.coalesce("stereotype", pl.format("{} (category)", "category"), pl.lit("all"))
    means = estimates.filter(
        pl.col("tost_margin").is_not_null() & pl.col("control").is_null(),
        pl.col("level").is_in(["stereotype", "category", "model"]),
    )
    rows = join_methods(means, "clustered", IN_PROMPTS).with_columns(
        about=pl.concat_str(about, "dimension", separator=", ", ignore_nulls=True)
    )
    titled_rows = [
        {**row, "title": measure_of(row["instrument"]).title} for row in rows.iter_rows(named=True)
    ]
    say_table(spec.render(titled_rows, interval="95% interval"))


def _say_means(estimates: pl.DataFrame) -> None:
    """Print the mean of each model, instrument and mode, and how many stereotypes lean.

    Stereotypes are counted in other prompts: a lean in these alone is none of the model.
    """
    import polars as pl

    from clinometer.pieces.prose import OPEN_WORDS, headline_kind, mean_text
    from clinometer.pieces.spread import with_spread
    from clinometer.results import CONDITIONS, join_methods
    from clinometer.results.ranges import IN_PROMPTS

    names = ("model", "candidate", "study", "instrument", "mode", *CONDITIONS, "dimension")
    keys = (*names, "control")
    # Without a margin: differences between conditions, which an audit makes besides its means.
    margined = estimates.filter(pl.col("tost_margin").is_not_null())
    judged = with_spread(join_methods(margined, "clustered", IN_PROMPTS))
    stereotypes = judged.filter(level="stereotype")
    for row in judged.filter(level="model").drop_nulls("estimate").iter_rows(named=True):
        # Of the type of the column: a null alone has none.
        same_run = [pl.col(key).eq_missing(pl.lit(row[key], pl.String)) for key in keys]
        kinds = [*map(headline_kind, stereotypes.filter(*same_run).iter_rows(named=True))]
        run = ", ".join(row[name] for name in names if row[name] and row[name] != "none")
        if row["control"]:
            run += f", {row['control']} control"
            count = ""
        else:
            verb = "changed" if row["candidate"] else "lean"
            n_effects = sum(kind in _EFFECT_VERDICTS for kind in kinds)
            count = f"; in other prompts {n_effects} of {len(kinds)} stereotypes {verb}"
            if words_open := kinds.count(OPEN_WORDS):
                count += f", {words_open} with the words asked, others open"
            count += f"; {row['spread']}" if row["spread"] else ""
        echo(f"{run}: {mean_text(row)}: {_verdict_text(row)}{count}")


def _verdict_text(row: dict[str, Any]) -> str:
    """Say of a mean whether it leans in both ranges; of a control or a change, its verdict."""
    from clinometer.contracts.catalogue import measure_of
    from clinometer.results.controls import JUDGED_KINDS
    from clinometer.results.ranges import lean_text

    if row["control"] in JUDGED_KINDS or row["candidate"]:
        return row["verdict"] or "no verdict"
    verdicts = row["verdict_bounded"], row["verdict"], row["conditional_on"]
    return lean_text(*verdicts, directed=measure_of(row["instrument"]).directed)


@command("agreement")
@_scores(
    "A .csv or .parquet table with a reading and a label in each row. clinometer score copies a "
    "column of labels to its output."
)
@click.option("--label", required=True, metavar="COLUMN", help="Column of labels: 1, 0 or empty.")
@click.option(
    "--read", "reading", default="score", metavar="COLUMN",
    help="Column of readings: 1, 0 or empty.",
)  # fmt: skip
@click.option(
    "--by", metavar="COLUMN", help="Also compute agreement for each value of this column."
)
@click.option("--out", type=TABLE, help="Table of agreement, as .csv or .parquet.")
@click.option(
    "--disagreements", type=TABLE, help="Write the rows where the two differ or nothing was read."
)
def agreement_command(
    scores: Path,
    label: str,
    reading: str,
    by: str | None,
    out: Path | None,
    disagreements: Path | None,
) -> None:
    """Compare readings with human labels: coverage, agreement, Cohen's kappa, confusion table.

    Where answers without a label were read, also the mean that labels of all of them would give:
    the readings, corrected by the errors that the labels show (prediction-powered inference). The
    labelled answers have to be a random part of all.
    """
    import polars as pl

    from clinometer.papers.kappa import agreement
    from clinometer.results.tables import read_numbers, write_table

    frame = read_numbers(scores, [reading, label])
    cluster = "stereotype" if "stereotype" in frame.columns else None
    estimates, confusion = agreement(frame, reading, label, by=by, cluster=cluster)
    _say_agreement(estimates.filter(part="all"), confusion.row(0, named=True))
    if out is not None:
        write_table(estimates, out)
    if disagreements is not None:
        # A missing reading differs from a label; without a label there is nothing to differ from.
        differ = pl.col(label).is_not_null() & ~pl.col(reading).eq_missing(pl.col(label))
        rows = frame.filter(differ)
        write_table(rows, disagreements)
        echo(f"{rows.height:,} disagreements: {disagreements}")


def _say_agreement(estimates: pl.DataFrame, counts: dict[str, Any]) -> None:
    """Print the agreement of all rows, and how often each reading has each label."""
    from clinometer.pieces.tables import TableColumn, TableSpec

    rows = {row["measure"]: row for row in estimates.iter_rows(named=True)}
    share = number(rows["read_share"]["estimate"], 3)
    kappa = number(rows["kappa"]["estimate"], 3)
    agreement = rows["agreement"]
    agree = number(agreement["estimate"], 3)
    ends = interval(agreement["ci_low"], agreement["ci_high"], 3)
    echo(f"{counts['n']:,} labels, {share} read; of these {agree} agree ({ends}), kappa {kappa}")
    readings = {"read 1": "1", "read 0": "0", "not read": "missing_"}
    rows_by_reading = [
        {"reading": name, **{label: counts[f"n_{code}{label}"] for label in "10"}}
        for name, code in readings.items()
    ]
    labels = [TableColumn(f"label {label}", label, thousands) for label in "10"]
    say_table(TableSpec("", (TableColumn("", "reading"), *labels)).render(rows_by_reading))
    for row in estimates.filter(measure="corrected_mean").iter_rows(named=True):
        unlabelled = counts["n_unlabelled_read"]
        echo(
            f"mean corrected by labels: {_with_interval(row)} ({unlabelled:,} readings without one)"
        )


def _with_interval(row: dict[str, Any]) -> str:
    return bracketed(row["estimate"], row["ci_low"], row["ci_high"], 3)


@command("regress")
@click.argument("answers", type=FILE)
@click.option(
    "--predictors",
    default="association",
    metavar="A,B",
    help="Columns of numbers, one regression each.",
)
@click.option("--outcome", default="decision", help="Column to regress: 1, 0 or empty.")
@click.option(
    "--clusters",
    default="stereotype",
    metavar="COLUMN",
    help="Rows with the same value are not independent; 'none': only the published method.",
)
@click.option("--by", metavar="COLUMN", help="Also fit each value of this column by itself.")
@click.option("--join", type=FILE, help="Table with further predictors, such as embedding scores.")
@click.option(
    "--on",
    default="trial_id",
    metavar="A,B",
    help="Key columns of --join; a key must identify one row in each table.",
)
@click.option(
    "--out", required=True, type=TABLE, help="Coefficients (log odds), as .csv or .parquet."
)
@click.option(
    "--comparison", type=TABLE, help="Also compare several predictors on the same rows: AIC, BIC."
)
def regress_command(answers: Path, out: Path, comparison: Path | None, **options: Any) -> None:
    """Regress decisions on scores. ANSWERS is a table, such as chained.parquet of an audit.

    Logistic regression on each predictor as it is (total), and on its parts within and between
    clusters. Three methods: published, clustered (robust standard errors) and mixed (random
    intercept and slope). See Bai et al. (2025), SI section K.
    """
    import polars as pl

    from clinometer.papers.library import require_statsmodels
    from clinometer.papers.logistic import compare_predictors, regress
    from clinometer.results.tables import join_tables, read_numbers, read_table, write_table

    require_statsmodels("regress")
    names = [name.strip() for name in options["predictors"].split(",")]
    clusters = None if options["clusters"] == "none" else options["clusters"]
    settings: dict[str, Any] = {
        "response_variable": options["outcome"],
        "clusters": clusters,
        "by": options["by"],
    }
    frame = read_table(answers)
    predictors_path = options["join"]
    if predictors_path is not None:
        predictors = read_table(predictors_path)
        frame = join_tables(frame, predictors, options["on"].split(","), str(predictors_path))
    frame = read_numbers(answers, [*names, options["outcome"]], frame)
    if comparison is not None and len(names) < 2:
        raise InputError("--comparison: name at least two --predictors")
    regressions = (regress(frame, name, **settings) for name in names)
    table, fits = (pl.concat(tables) for tables in zip(*regressions, strict=True))
    write_table(table, out)
    # Rows of the fits stand as those of the coefficients: no key is needed.
    coefficients = table.hstack(fits.select("aic", "bic")).filter(part="all")
    for row in coefficients.iter_rows(named=True):
        echo(_line(row))
    if comparison is not None:
        compared = compare_predictors(frame, names, **settings, joint=True)
        write_table(compared.fits, comparison)
        echo(f"{compared.fits.height:,} rows of comparison: {comparison}")
    echo(f"{table.height:,} coefficients: {out}")


def _line(row: dict[str, Any]) -> str:
    """Format a coefficient with its interval, or the reason why there is none."""
    start = f"{row['predictor']} ({row['component']}), {row['method']}, n {row['n_scored']}: "
    if row["estimate"] is None:
        return f"{start}{row['note']}"
    fit = "" if row["aic"] is None else f", AIC {number(row['aic'])}, BIC {number(row['bic'])}"
    return f"{start}b {_with_interval(row)}, p {p_value(row['p'])}{fit}"
