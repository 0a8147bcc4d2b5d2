"""Counts of people who were assessed and selected, of a results directory or a table.

A row whose counts are impossible is set aside and named; so is one whose outcome is not stated. Of
people in no known category their number alone may be known: they are stated, and in no rate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from clinometer.errors import InputError
from clinometer.results import CONDITIONS
from clinometer.results.faults import PLACE, Faults
from clinometer.results.parquet import read_parquet
from clinometer.results.records import journals
from clinometer.results.tables import need_columns, read_numbers, read_table
from clinometer.sharing.categories import CATEGORIES, UNKNOWN, name_categories, name_columns
from clinometer.sharing.means import read_shareable

#: The table of a results directory that has counts of selections, without its ending.
SELECTIONS = "selections"

#: The table with its instrument's own intervals of ratios.
RATES = "selection_rates"

#: Columns that tell runs apart, each of which has tables of its own; occupations are added up.
RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "dimension")

#: Counts that are added up, where there are any.
COUNTS = ("n", "n_positive", "n_abstained", "n_unread")

_NUMBERS = (*COUNTS, "n_selected", "score")

_PERIOD = re.compile(r"(\d{4}-\d\d-\d\d)/(\d{4}-\d\d-\d\d)")


class Counts(NamedTuple):
    """What tables are made of, and what is said of it."""

    table: pl.DataFrame  # a row per count, or per person with a score
    period: str  # first and last date, with a slash between
    source: str
    n_unknown: int = 0  # people of an unknown category of whom nothing else is known
    unused: Mapping[str, int] = MappingProxyType({})  # column → number of its values
    run_ratios: pl.DataFrame | None = None  # of a run: ratios with the intervals of its instrument
    auditor: str = ""


def read_counts(
    source: str | Path,
    period: str | None = None,
    origin: str | None = None,
    n_unknown: int = 0,
) -> Counts:
    """Read counts of a results directory, or of a table, with their dates and source.

    Parameters
    ----------
    source
        A results directory with a table of selections, or a ``.csv`` or ``.parquet`` table.
    period
        Two dates, ``2026-01-01/2026-06-30``; of a directory by default when its models answered.
    origin
        Where the counts come from; of a directory by default its simulated candidates.
    n_unknown
        People of an unknown category who are in no row of the table.

    Raises
    ------
    InputError
        If there is no such table, it is malformed or holds sums, or a table comes without dates or
        source.
    """
    path = Path(source)
    if n_unknown < 0:
        raise InputError(f"--unknown {n_unknown}: expected a number of people, 0 or more")
    if path.is_dir():
        counts = _counts_of_run(path, period, origin)
        return counts._replace(n_unknown=n_unknown)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if period is None or not (origin or "").strip():
        raise InputError(
            f"{path}: a table does not say when and where its counts come from; give --period "
            "FROM/TO and --source"
        )
    counts = _counts_of_table(path, _dates(period), str(origin))
    return counts._replace(n_unknown=counts.n_unknown + n_unknown)


def _counts_of_table(path: Path, period: str, origin: str) -> Counts:
    """Read a table; rows with impossible counts are set aside."""
    name = str(path)
    table = name_columns(read_table(path, placed=True), name)
    need_columns(table, CATEGORIES, name)
    numbers = [column for column in _NUMBERS if column in table.columns]
    table = name_categories(read_numbers(path, numbers, table), name)
    used = {*CATEGORIES, *numbers, *RUN, PLACE}
    unused = {column: table[column].n_unique() for column in table.columns if column not in used}
    n_unknown = 0
    if "n_selected" in numbers:
        need_columns(table, ("n",), name)
        is_unknown = _are_unknown(table)
        n_unknown = int(table.filter(is_unknown)["n"].sum())
        table = table.filter(~is_unknown)
    table = _set_aside(table, name)
    return Counts(table.drop(PLACE, strict=False), period, origin, n_unknown, unused)


def _set_aside(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Set aside the rows whose counts are impossible, or that have no score."""
    faults = Faults(name)
    if "n_selected" in table.columns:
        table = faults.refuse(
            table, are_impossible(table), "n_selected", "expected 0 ≤ n_selected ≤ n"
        )
    elif "score" in table.columns:
        rule = "a person without a score has no place beside the median"
        table = faults.refuse(table, table["score"].is_null(), "score", rule)
    faults.report(table.height)
    return table


def _are_unknown(table: pl.DataFrame) -> pl.Series:
    """Whether each row states a number of unknown people, whose outcome is not known either."""
    unknown = pl.all_horizontal(pl.col(*CATEGORIES) == UNKNOWN)
    is_unknown = unknown & (pl.col("n") >= 0) & pl.col("n_selected").is_null()
    return table.select(is_unknown.fill_null(False)).to_series()


def are_impossible(table: pl.DataFrame) -> pl.Series:
    """Whether fewer than none, or more than were assessed with an outcome, are selected per row.

    `table`: columns ``n, n_selected`` and perhaps ``n_unread``, as numbers.
    """
    unread = pl.col("n_unread").fill_null(0) if "n_unread" in table.columns else pl.lit(0.0)
    possible = pl.col("n_selected").is_between(0, pl.col("n") - unread)
    return table.select(~possible.fill_null(False)).to_series()


def _counts_of_run(path: Path, period: str | None, origin: str | None) -> Counts:
    file = path / f"{SELECTIONS}.parquet"
    if not file.is_file():
        raise InputError(
            f"{path}: no {file.name}: no instrument of this run selects candidates; give a table "
            "with columns race, gender, n, n_selected"
        )
    results = read_shareable(path)
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
    counts = read_parquet(file).drop_nulls(list(CATEGORIES))
    rates = path / f"{RATES}.parquet"
    ratios = read_parquet(rates) if rates.is_file() else pl.DataFrame()
    return Counts(counts, _dates(period), origin or by_default, run_ratios=ratios)


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
