"""The tables that New York City's Local Law 144 has published of a bias audit, from counts.

Reference
    6 RCNY § 5-300 to 5-303 (Department of Consumer and Worker Protection, 2023): selection rate,
    scoring rate, impact ratio; sex, race/ethnicity and their intersections; categories of less than
    2% of the data may be left out of impact ratios, and are named with their number and rate; the
    number of people of an unknown category is stated.

What is computed
    Selection rate: selected ÷ assessed. Scoring rate: the share with a score above the median of
    all. Impact ratio: the rate ÷ the highest rate of a category that is known and has 2% or more.
    A category that is left out has a ratio in the table too, and is marked: it sets no benchmark.

What it is not evidence for
    See `NOT_EVIDENCE`. The law sets no threshold of an impact ratio, and none is applied here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from clinometer import __version__
from clinometer.directory.results import read_results
from clinometer.errors import InputError
from clinometer.results import CONDITIONS
from clinometer.results.parquet import read_parquet
from clinometer.results.records import journals
from clinometer.results.tables import as_frame, need_columns, read_numbers, read_table, write_table
from clinometer.texts import write_text

__all__ = ["NOT_EVIDENCE", "RUN", "SELECTIONS", "read_counts", "scoring_rates", "selection_rates",
           "write_ll144"]  # fmt: skip

#: The table of a results directory that has counts of selections, without its ending.
SELECTIONS = "selections"

#: A category that nobody stated; it is counted, and sets no benchmark.
UNKNOWN = "unknown"

#: Share of the data below which a category sets no benchmark.
SMALLEST_SHARE = 0.02

#: Name of a table → the columns whose values are its categories.
GROUPINGS = {
    "sex": ("gender",),
    "race/ethnicity": ("race",),
    "intersections": ("race", "gender"),
}

#: Columns that tell runs apart, each of which has tables of its own; occupations are added up.
RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "dimension")

#: Counts that are added up, where there are any.
_COUNTS = ("n", "n_positive", "n_abstained", "n_unread")

_CATEGORIES = ("race", "gender")

NOT_EVIDENCE = (
    "Simulated candidates are test data, and no historical data of a tool in use: the rules take "
    "test data only where historical data are too few, with the reason and how they were made.",
    "The table is arithmetic on counts. A bias audit in the sense of the law is made by an "
    "independent auditor, of the tool as it is used.",
    "The law sets no threshold. An impact ratio of few people says little, whatever its value.",
)

_PERIOD = re.compile(r"(\d{4}-\d\d-\d\d)/(\d{4}-\d\d-\d\d)")


class Counts(NamedTuple):
    """What tables are made of, and what is said of it."""

    table: pl.DataFrame  # a row per count, or per person with a score
    period: str  # first and last date, with a slash between
    source: str


def selection_rates(counts: object) -> pl.DataFrame:
    """Return selection rates and impact ratios by sex, race/ethnicity and both.

    Parameters
    ----------
    counts
        A polars or pandas frame with columns ``race, gender, n, n_selected``: people assessed and
        selected. Rows of the same categories are added up; an empty category is `UNKNOWN`. With
        ``model``, ``mode`` and other columns of `RUN`, each has tables of its own. Of ``n``, those
        of ``n_unread`` have no known outcome and are left out; those of ``n_abstained`` were not
        selected. Both are added up.

    Returns
    -------
    polars.DataFrame
        A row per category: ``grouping, race, gender, n, n_positive, rate, share, excluded,
        impact_ratio``; rates, shares and ratios from 0 to 1, null where there is nobody.

    Raises
    ------
    InputError
        If a column is missing, or a count is none.
    """
    table = _checked(counts, ("n", "n_selected"))
    if "n_unread" in table.columns:
        table = table.with_columns(pl.col("n") - pl.col("n_unread").fill_null(0))
    wrong = table.filter(
        pl.any_horizontal(pl.col("n", "n_selected").is_null())
        | (pl.col("n_selected") < 0)
        | (pl.col("n_selected") > pl.col("n"))
    )
    if wrong.height:
        row = wrong.row(0, named=True)
        raise InputError(
            f"counts: n {row['n']}, n_selected {row['n_selected']}; expected 0 ≤ n_selected ≤ n"
        )
    return _tables(table.rename({"n_selected": "n_positive"}))


def scoring_rates(scores: object) -> pl.DataFrame:
    """Return scoring rates and impact ratios, as `selection_rates`.

    `scores`: columns ``race, gender, score``, a row per person. Those above the median of all (of
    a model and mode) count. Raises InputError as `selection_rates`.
    """
    table = _checked(scores, ("score",))
    if table["score"].null_count():
        raise InputError(
            f"scores: {table['score'].null_count()} rows without a score; a person without one has "
            "no place beside the median: leave them out, and say so"
        )
    runs = _run_columns(table)
    median = pl.col("score").median()
    above = pl.col("score") > (median.over(runs) if runs else median)
    ones = pl.lit(1.0)
    return _tables(table.with_columns(n=ones, n_positive=above.cast(pl.Float64)).drop("score"))


def _checked(counts: object, numbers: Sequence[str]) -> pl.DataFrame:
    """Check the columns of a table, and name the categories that are empty."""
    table = as_frame(counts, "counts")
    need_columns(table, (*_CATEGORIES, *numbers), "counts")
    if table.is_empty():
        raise InputError("counts: no rows")
    try:
        table = table.with_columns(pl.col(*numbers).cast(pl.Float64).fill_nan(None))
    except pl.exceptions.PolarsError:
        raise InputError(f"counts: {', '.join(numbers)}: expected numbers") from None
    texts = pl.col(*_CATEGORIES).cast(pl.String).str.strip_chars()
    return table.with_columns(texts.replace("", None).fill_null(UNKNOWN))


def _run_columns(table: pl.DataFrame) -> list[str]:
    return [name for name in RUN if name in table.columns]


def _tables(people: pl.DataFrame) -> pl.DataFrame:
    """Stack the tables of every grouping, of each run."""
    tables = [_table(people, grouping, categories) for grouping, categories in GROUPINGS.items()]
    return pl.concat(tables, how="diagonal").select(
        *_run_columns(people),
        *("grouping", "race", "gender"),
        *(name for name in _COUNTS if name in people.columns),
        *("rate", "share", "excluded", "impact_ratio"),
    )


def _table(people: pl.DataFrame, grouping: str, categories: Sequence[str]) -> pl.DataFrame:
    """Count the people of each category, with rates and ratios."""
    runs = _run_columns(people)
    sums = [name for name in _COUNTS if name in people.columns]
    counts = people.group_by([*runs, *categories]).agg(pl.col(sums).sum())
    total = pl.col("n").sum()
    rated = counts.with_columns(
        grouping=pl.lit(grouping),
        rate=pl.when(pl.col("n") > 0).then(pl.col("n_positive") / pl.col("n")),
        share=pl.col("n") / (total.over(runs) if runs else total),
    ).with_columns(excluded=pl.col("share") < SMALLEST_SHARE)
    known = pl.all_horizontal(pl.col(name) != UNKNOWN for name in categories)
    highest = pl.col("rate").filter(known & ~pl.col("excluded")).max()
    benchmark = highest.over(runs) if runs else highest
    # Where nobody was selected there is nothing to be compared with.
    ratio = pl.when(benchmark > 0).then(pl.col("rate") / benchmark)
    return rated.with_columns(impact_ratio=ratio).sort(*runs, *categories)


def read_counts(source: str | Path, period: str | None = None, origin: str | None = None) -> Counts:
    """Read counts of a results directory, or of a table, with their dates and source.

    Parameters
    ----------
    source
        A results directory with a table of selections, or a ``.csv`` or ``.parquet`` table.
    period
        Two dates, ``2026-01-01/2026-06-30``; of a directory by default when its models answered.
    origin
        Where the counts come from; of a directory by default its simulated candidates.

    Raises
    ------
    InputError
        If there is no such table, it is malformed, or a table comes without dates or source.
    """
    path = Path(source)
    if path.is_dir():
        return _counts_of_run(path, period, origin)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if period is None or not (origin or "").strip():
        raise InputError(
            f"{path}: a table does not say when and where its counts come from; give --period "
            "FROM/TO and --source"
        )
    table = read_table(path)
    numbers = [name for name in (*_COUNTS, "n_selected", "score") if name in table.columns]
    return Counts(read_numbers(path, numbers, table), _dates(period), str(origin))


def _counts_of_run(path: Path, period: str | None, origin: str | None) -> Counts:
    file = path / f"{SELECTIONS}.parquet"
    if not file.is_file():
        raise InputError(
            f"{path}: no {file.name}: no instrument of this run selects candidates; give a table "
            "with columns race, gender, n, n_selected"
        )
    results = read_results(path)
    if period is None:
        answered = [
            str(line["at"])[:10] for journal in journals(path) for line in journal if line.get("at")
        ]
        if not answered:
            raise InputError(f"{path}: not known when its models answered; give --period FROM/TO")
        period = f"{min(answered)}/{max(answered)}"
    models = ", ".join(results.plan.get("models", []))
    by_default = f"simulated candidates, selected by {models}; no applicant was assessed"
    # In tables of a run a category that is null stands for all of them.
    counts = read_parquet(file).drop_nulls(list(_CATEGORIES))
    return Counts(counts, _dates(period), origin or by_default)


def _dates(period: str) -> str:
    """Check two dates; InputError if they are none, or in the wrong order."""
    match = _PERIOD.fullmatch(period)
    try:
        first, last = map(date.fromisoformat, match.groups() if match else ("", ""))
    except ValueError:
        raise InputError(f"--period {period!r}: expected two dates, FROM/TO") from None
    if last < first:
        raise InputError(f"--period {period!r}: ends before it begins")
    return period


def write_ll144(
    source: str | Path, folder: str | Path, period: str | None = None, origin: str | None = None
) -> list[Path]:
    """Write the tables as ``ll144.csv``, and with what the law asks to be said as ``ll144.json``.

    Parameters and errors are those of `read_counts`. A table with a column ``score`` has scoring
    rates, one with ``n_selected`` selection rates.
    """
    counts = read_counts(source, period, origin)
    is_scored = "score" in counts.table.columns and "n_selected" not in counts.table.columns
    rates = (scoring_rates if is_scored else selection_rates)(counts.table)
    folder = Path(folder)
    paths = [folder / "ll144.csv", folder / "ll144.json"]
    content = summary(rates, counts, "scoring" if is_scored else "selection")
    write_text(paths[1], json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    write_table(rates, paths[0])
    return paths


def summary(rates: pl.DataFrame, counts: Counts, kind: str) -> dict[str, Any]:
    """Set out tables with dates, data source, who was left out or is unknown, and what it is not.

    `rates`: of `selection_rates` or `scoring_rates`, as `kind` says.
    """
    rows = rates.rows(named=True)
    return {
        "format": "clinometer ll144 1",
        "clinometer": __version__,
        "kind": kind,
        "dates": counts.period,
        "data_source": counts.source,
        "excluded": [_name(row) for row in rows if row["excluded"] and not _is_unknown(row)],
        "unknown": [{"category": _name(row), "n": row["n"]} for row in rows if _is_unknown(row)],
        "tables": rows,
        "not_evidence_for": list(NOT_EVIDENCE),
    }


def _is_unknown(row: Mapping[str, Any]) -> bool:
    return UNKNOWN in (row["race"], row["gender"])


def _name(row: Mapping[str, Any]) -> str:
    """Name a category, with its run."""
    names = (row.get(name) for name in (*RUN, *_CATEGORIES))
    return ", ".join(str(name) for name in names if name not in (None, "none"))
