"""The tables that New York City's Local Law 144 has published of a bias audit, from counts.

Reference
    6 RCNY § 5-300 to 5-303 (Department of Consumer and Worker Protection, 2023): selection rate,
    scoring rate, impact ratio; sex, race/ethnicity and their intersections; categories of less than
    2% of the data may be left out of impact ratios, and are named with their number and rate; the
    number of people of an unknown category is stated.

What is computed
    Selection rate: selected ÷ assessed. Scoring rate: the share with a score above the median of
    all. Impact ratio: the rate ÷ the benchmark, the highest rate of a category that is known and
    has 2% or more. A category below 2% has a ratio in the table too, and is marked: it sets no
    benchmark. People of an unknown category are counted, and have no ratio.

What it is not evidence for
    See `NOT_EVIDENCE`. The law sets no threshold of an impact ratio, and none is applied here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from clinometer import __version__
from clinometer.errors import InputError
from clinometer.numbers import number
from clinometer.results.tables import as_frame, need_columns, write_table
from clinometer.sharing.categories import CATEGORIES, UNKNOWN, name_categories, name_columns
from clinometer.sharing.counts import COUNTS, RUN, Counts, are_impossible, read_counts
from clinometer.texts import write_text

__all__ = [
    "NOT_EVIDENCE",
    "describe",
    "law_rates",
    "scoring_rates",
    "selection_rates",
    "summary",
    "write_ll144",
    "write_tables",
]

#: Share of the data below which a category sets no benchmark.
SMALLEST_SHARE = 0.02

#: Decimals of rates, shares and ratios in files.
DECIMALS = 6

#: Name of a table → the columns whose values are its categories.
GROUPINGS = {
    "sex": ("gender",),
    "race/ethnicity": ("race",),
    "intersections": ("race", "gender"),
}

NOT_EVIDENCE = (
    "Simulated candidates are test data, and no historical data of a tool in use: the rules take "
    "test data only where historical data are too few, with the reason and how they were made.",
    "The table is arithmetic on counts. A bias audit in the sense of the law is made by an "
    "independent auditor, of the tool as it is used.",
    "The law sets no threshold. An impact ratio of few people says little, whatever its value.",
)


def selection_rates(counts: object) -> pl.DataFrame:
    """Return selection rates and impact ratios by sex, race/ethnicity and both.

    Parameters
    ----------
    counts
        A polars or pandas frame with columns ``race, gender, n, n_selected``: people assessed and
        selected; ``sex`` is another name of ``gender``. Rows of the same categories are added up;
        an empty category, and every other spelling of it (`is_unknown`), is `UNKNOWN`. With
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
        If a column is missing, a count is none, or a row is a sum of others.
    """
    table = _checked(counts, ("n", "n_selected"))
    impossible = are_impossible(table)
    if impossible.any():
        row = table.filter(impossible).row(0, named=True)
        raise InputError(
            f"counts: n {row['n']}, n_selected {row['n_selected']}; expected 0 ≤ n_selected ≤ n"
        )
    if "n_unread" in table.columns:
        table = table.with_columns(pl.col("n") - pl.col("n_unread").fill_null(0))
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
    """Check the columns of a table, and name the categories that are not known."""
    table = name_columns(as_frame(counts, "counts"), "counts")
    need_columns(table, (*CATEGORIES, *numbers), "counts")
    if table.is_empty():
        raise InputError("counts: no rows")
    try:
        table = table.with_columns(pl.col(*numbers).cast(pl.Float64).fill_nan(None))
    except pl.exceptions.PolarsError:
        raise InputError(f"counts: {', '.join(numbers)}: expected numbers") from None
    return name_categories(table, "counts")


def _run_columns(table: pl.DataFrame) -> list[str]:
    return [name for name in RUN if name in table.columns]


def _tables(people: pl.DataFrame) -> pl.DataFrame:
    """Stack the tables of every grouping, of each run."""
    tables = [_table(people, grouping, categories) for grouping, categories in GROUPINGS.items()]
    return pl.concat(tables, how="diagonal").select(
        *_run_columns(people),
        *("grouping", "race", "gender"),
        *(name for name in COUNTS if name in people.columns),
        *("rate", "share", "excluded", "impact_ratio"),
    )


def _table(people: pl.DataFrame, grouping: str, categories: Sequence[str]) -> pl.DataFrame:
    """Count the people of each category, with rates and ratios."""
    runs = _run_columns(people)
    sums = [name for name in COUNTS if name in people.columns]
    counts = people.group_by([*runs, *categories]).agg(pl.col(sums).sum())
    total = pl.col("n").sum()
    rated = counts.with_columns(
        grouping=pl.lit(grouping),
        rate=pl.when(pl.col("n") > 0).then(pl.col("n_positive") / pl.col("n")),
        share=pl.col("n") / (total.over(runs) if runs else total),
    ).with_columns(excluded=pl.col("share") < SMALLEST_SHARE)
    has_categories = pl.all_horizontal(pl.col(name) != UNKNOWN for name in categories)
    highest = pl.col("rate").filter(has_categories & ~pl.col("excluded")).max()
    benchmark = highest.over(runs) if runs else highest
    # Where nobody was selected there is nothing to be compared with.
    ratio = pl.when(has_categories & (benchmark > 0)).then(pl.col("rate") / benchmark)
    return rated.with_columns(impact_ratio=ratio).sort(*runs, *categories)


def write_ll144(
    source: str | Path,
    folder: str | Path,
    period: str | None = None,
    origin: str | None = None,
    n_unknown: int = 0,
) -> list[Path]:
    """Write the tables as ``ll144.csv``, and with what the law asks to be said as ``ll144.json``.

    Parameters and errors are those of `read_counts`. A table with a column ``score`` has scoring
    rates, one with ``n_selected`` selection rates.
    """
    counts = read_counts(source, period, origin, n_unknown)
    return write_tables(law_rates(counts), counts, folder)


def law_rates(counts: Counts) -> pl.DataFrame:
    """Return the scoring rates of a table of scores, else the selection rates."""
    return (scoring_rates if _is_scored(counts) else selection_rates)(counts.table)


def _is_scored(counts: Counts) -> bool:
    return "score" in counts.table.columns and "n_selected" not in counts.table.columns


def write_tables(rates: pl.DataFrame, counts: Counts, folder: str | Path) -> list[Path]:
    """Write rates of `law_rates`; return the paths of `write_ll144`."""
    paths = [Path(folder) / "ll144.csv", Path(folder) / "ll144.json"]
    content = summary(rates, counts, "scoring" if _is_scored(counts) else "selection")
    write_text(paths[1], json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    write_table(_rounded(rates), paths[0])
    return paths


def _rounded(rates: pl.DataFrame) -> pl.DataFrame:
    """Round what is no count, and write counts of whole people without a fraction."""
    frame = rates.with_columns(pl.col("rate", "share", "impact_ratio").round(DECIMALS))
    counts = [name for name in COUNTS if name in frame.columns]
    integer_counts = [name for name in counts if (frame[name] == frame[name].round()).all()]
    return frame.with_columns(pl.col(integer_counts).cast(pl.Int64))


def describe(rates: pl.DataFrame, counts: Counts) -> Iterator[str]:
    """Yield what was understood, a line each: categories, benchmarks, and columns not used."""
    for name in _run_columns(counts.table):
        yield f"tables of each {name}: {counts.table[name].n_unique():,}"
    if _is_scored(counts):
        scores = counts.table["score"].to_list()
        yield f"score: {min(scores):g} to {max(scores):g}, {len(scores):,} people"
    for grouping in GROUPINGS:
        rows = rates.filter(grouping=grouping).rows(named=True)
        # There are many intersections, and their numbers follow in the table.
        if grouping != "intersections":
            people = (f"{_name(row)} {row['n']:,.0f}" for row in rows)
            yield f"{grouping}: {', '.join(people)}"
        for row in filter(_is_benchmark, rows):
            yield f"{grouping}: ratios are to {_name(row)}, whose rate is {number(row['rate'], 3)}"
        if excluded := [_name(row) for row in rows if _is_left_out(row)]:
            yield f"{grouping}: below 2%, and no benchmark: {'; '.join(excluded)}"
    yield f"of an unknown category: {_count_unknown(rates, counts):,} people, in no ratio"
    if counts.unused:
        columns = (f"{name} ({n:,} values)" for name, n in counts.unused.items())
        yield f"columns not used: {', '.join(columns)}"


def summary(rates: pl.DataFrame, counts: Counts, kind: str) -> dict[str, Any]:
    """Set out tables with dates, data source, who was left out or is unknown, and what it is not.

    `rates`: of `selection_rates` or `scoring_rates`, as `kind` says.
    """
    rows = rates.rows(named=True)
    unknown = [{"category": _name(row), "n": int(row["n"])} for row in rows if _is_unknown(row)]
    if counts.n_unknown:
        unknown.append({"category": UNKNOWN, "n": counts.n_unknown})
    return {
        "format": "clinometer ll144 1",
        "clinometer": __version__,
        "kind": kind,
        "dates": counts.period,
        "data_source": counts.source,
        "benchmarks": [
            {"table": row["grouping"], "category": _name(row)}
            for row in filter(_is_benchmark, rows)
        ],
        "excluded": [_name(row) for row in rows if _is_left_out(row)],
        "unknown": unknown,
        "n_unknown": _count_unknown(rates, counts),
        "columns_not_used": dict(counts.unused),
        "tables": _rounded(rates).rows(named=True),
        "not_evidence_for": list(NOT_EVIDENCE),
    }


def _count_unknown(rates: pl.DataFrame, counts: Counts) -> int:
    """Count the people whose sex or race/ethnicity is not known, each once."""
    rows = rates.filter(grouping="intersections").rows(named=True)
    return int(sum(row["n"] for row in rows if _is_unknown(row))) + counts.n_unknown


def _is_benchmark(row: Mapping[str, Any]) -> bool:
    return row["impact_ratio"] == 1 and not row["excluded"]


def _is_left_out(row: Mapping[str, Any]) -> bool:
    return row["excluded"] and not _is_unknown(row)


def _is_unknown(row: Mapping[str, Any]) -> bool:
    return UNKNOWN in (row["race"], row["gender"])


def _name(row: Mapping[str, Any]) -> str:
    """Name a category, with its run."""
    names = (row.get(name) for name in (*RUN, *CATEGORIES))
    return ", ".join(str(name) for name in names if name not in (None, "none"))
