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

Intervals and test
    Beyond what the law asks. 95% intervals of rates are Wilson's, those of ratios Koopman's
    (`statistics.rate_ratios`), and p is that of Fisher's exact test against the benchmark; all take
    people as independent. The four-fifths rule (29 CFR 1607.4 D) is judged by the interval of the
    ratio. Candidates of a run share names and are not independent: they have the intervals of
    their instrument, where it has them of the same ratio, and no p.

What it is not evidence for
    See `not_evidence`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from clinometer import __version__
from clinometer.errors import InputError
from clinometer.results.tables import as_frame, need_columns, write_table
from clinometer.sharing.categories import CATEGORIES, UNKNOWN, name_categories, name_columns
from clinometer.sharing.counts import COUNTS, RUN, Counts, are_impossible, read_counts
from clinometer.statistics.intervals import wilson
from clinometer.statistics.rate_ratios import fisher_p, ratio_interval
from clinometer.texts import write_text

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

#: A rate of fewer people, or with fewer selected, is not to be read alone.
FEWEST_PEOPLE, FEWEST_SELECTED = 30, 5

#: The four-fifths rule, and the confidence of intervals.
FOUR_FIFTHS, CONFIDENCE = 0.8, 0.95

_ARITHMETIC = (
    "This is arithmetic on counts, and no evidence of how they came about: a bias audit in the "
    "sense of the law is made by an independent auditor, of the tool as it is used. The law sets "
    "no threshold; four fifths is a rule of thumb of federal guidelines."
)
_SIMULATED = (
    "Candidates are simulated: test data, and no historical data of a tool in use. The rules take "
    "test data only where historical data are too few, with the reason and how they were made."
)


def not_evidence(counts: Counts) -> list[str]:
    """Say what tables are no evidence for, of people and of simulated candidates."""
    return [_ARITHMETIC] if counts.run_ratios is None else [_SIMULATED, _ARITHMETIC]


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
        A row per category: ``grouping, race, gender, n, n_positive, rate, rate_low, rate_high,
        share, excluded, is_small, impact_ratio, ratio_low, ratio_high, p, four_fifths``; rates,
        shares and ratios from 0 to 1, null where there is nobody. Intervals and p take people as
        independent.

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
    runs = run_columns(table)
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


def run_columns(table: pl.DataFrame) -> list[str]:
    """Return the columns that tell runs apart, each of which has tables of its own."""
    return [name for name in RUN if name in table.columns]


def _tables(people: pl.DataFrame) -> pl.DataFrame:
    """Stack the tables of every grouping, of each run."""
    tables = [_table(people, grouping, categories) for grouping, categories in GROUPINGS.items()]
    return pl.concat(tables, how="diagonal").select(
        *run_columns(people),
        *("grouping", "race", "gender"),
        *(name for name in COUNTS if name in people.columns),
        *("rate", "rate_low", "rate_high", "share", "excluded", "is_small"),
        *("impact_ratio", "ratio_low", "ratio_high", "p", "four_fifths"),
    )


def _table(people: pl.DataFrame, grouping: str, categories: Sequence[str]) -> pl.DataFrame:
    """Count the people of each category, with rates and ratios."""
    runs = run_columns(people)
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
    rated = rated.with_columns(impact_ratio=ratio).sort(*runs, *categories)
    parts = rated.partition_by(runs, maintain_order=True) if runs else [rated]
    tested = list(map(_with_tests, parts))
    low, high = wilson(pl.col("rate"), pl.col("n"), CONFIDENCE)
    return pl.concat(tested).with_columns(rate_low=low, rate_high=high)


def _with_tests(table: pl.DataFrame) -> pl.DataFrame:
    """Add intervals, the exact test against the benchmark, and the four-fifths rule."""
    rows = table.rows(named=True)
    benchmark = next(((row["n_positive"], row["n"]) for row in rows if is_benchmark(row)), None)
    return pl.DataFrame([{**row, **_tests(row, benchmark)} for row in rows], _TESTED | table.schema)


#: The columns of `_tests`.
_TESTED = {
    **dict.fromkeys(("ratio_low", "ratio_high", "p"), pl.Float64()),
    "four_fifths": pl.String(),
    "is_small": pl.Boolean(),
}


def _tests(row: Mapping[str, Any], benchmark: tuple[float, float] | None) -> dict[str, Any]:
    """Return the columns of tests of a category; the benchmark itself has none of its ratio."""
    selected, n = row["n_positive"], row["n"]
    tests: dict[str, Any] = {"is_small": n < FEWEST_PEOPLE or selected < FEWEST_SELECTED}
    if benchmark is None or row["impact_ratio"] is None or is_benchmark(row):
        return tests
    ends = ratio_interval(selected, n, benchmark, CONFIDENCE)
    if ends is not None:
        tests |= {"ratio_low": ends[0], "ratio_high": ends[1], "four_fifths": _four_fifths(*ends)}
    counts = (selected, n, *benchmark)
    if all(float(count).is_integer() for count in counts):
        integers = [int(count) for count in counts]
        tests["p"] = fisher_p(integers[0], integers[1], (integers[2], integers[3]))
    return tests


def _four_fifths(low: float, high: float) -> str:
    """Say where the interval of a ratio lies."""
    if high < FOUR_FIFTHS:
        return "below"
    return "above" if low >= FOUR_FIFTHS else "open"


def write_ll144(
    source: str | Path,
    folder: str | Path,
    period: str | None = None,
    origin: str | None = None,
    n_unknown: int = 0,
    auditor: str = "",
) -> list[Path]:
    """Write the tables as ``ll144.csv``, with what the law asks to be said as JSON, and as a page.

    Parameters and errors are those of `read_counts`; `auditor` answers for the audit. A table with
    a column ``score`` has scoring rates, one with ``n_selected`` selection rates.
    """
    counts = read_counts(source, period, origin, n_unknown)._replace(auditor=auditor)
    return write_tables(law_rates(counts), counts, folder)


def law_rates(counts: Counts) -> pl.DataFrame:
    """Return the scoring rates of a table of scores, else the selection rates."""
    rates = (scoring_rates if is_scored(counts) else selection_rates)(counts.table)
    return rates if counts.run_ratios is None else _with_run_ratios(rates, counts.run_ratios)


def _with_run_ratios(rates: pl.DataFrame, run_ratios: pl.DataFrame) -> pl.DataFrame:
    """Put the intervals of the run's instrument in the place of those of independent people.

    Its rates are of the answers that decide: where somebody abstained, the ratio is another, and
    has no interval here.
    """
    independent = ("rate_low", "rate_high", "ratio_low", "ratio_high", "p", "four_fifths")
    bare = rates.with_columns(pl.lit(None, rates.schema[name]).alias(name) for name in independent)
    if run_ratios.is_empty():
        return bare
    keys = [*run_columns(rates), "race", "gender"]
    theirs = run_ratios.select(
        *keys,
        their_ratio="impact_ratio",
        their_low=pl.when(~pl.col("is_reference")).then("ratio_low"),
        their_high=pl.when(~pl.col("is_reference")).then("ratio_high"),
        their_rule=pl.when(~pl.col("is_reference")).then("four_fifths"),
    )
    joint = bare.join(theirs, on=keys, how="left", nulls_equal=True, maintain_order="left")
    is_same = (pl.col("impact_ratio") - pl.col("their_ratio")).abs() < 1e-9
    return joint.with_columns(
        ratio_low=pl.when(is_same).then("their_low"),
        ratio_high=pl.when(is_same).then("their_high"),
        four_fifths=pl.when(is_same).then("their_rule"),
    ).select(rates.columns)


def is_scored(counts: Counts) -> bool:
    """Whether people have scores, and no selection is known."""
    return "score" in counts.table.columns and "n_selected" not in counts.table.columns


def write_tables(rates: pl.DataFrame, counts: Counts, folder: str | Path) -> list[Path]:
    """Write rates of `law_rates`; return the paths of `write_ll144`."""
    from clinometer.sharing.law_page import law_page  # a page takes long to import

    paths = [Path(folder) / f"ll144.{ending}" for ending in ("csv", "json", "html")]
    content = summary(rates, counts)
    write_text(paths[1], json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    write_text(paths[2], law_page(content))
    write_table(_rounded(rates), paths[0])
    return paths


def _rounded(rates: pl.DataFrame) -> pl.DataFrame:
    """Round what is no count, and write counts of whole people without a fraction."""
    floats = ("rate", "rate_low", "rate_high", "share", "impact_ratio", "ratio_low", "ratio_high")
    # JSON has no infinity: a ratio without a high end has none.
    finite = pl.col("ratio_high").is_finite()
    frame = rates.with_columns(ratio_high=pl.when(finite).then("ratio_high")).with_columns(
        pl.col(*floats, "p").round(DECIMALS)
    )
    counts = [name for name in COUNTS if name in frame.columns]
    integer_counts = [name for name in counts if (frame[name] == frame[name].round()).all()]
    return frame.with_columns(pl.col(integer_counts).cast(pl.Int64))


def summary(rates: pl.DataFrame, counts: Counts) -> dict[str, Any]:
    """Set out tables with dates, data source, who was left out or is unknown, and what it is not.

    `rates`: of `law_rates`.
    """
    rows = rates.rows(named=True)
    runs = varying_runs(rates)
    unknown = [
        {"category": name_category(row, runs), "n": int(row["n"])}
        for row in rows
        if is_unknown_row(row)
    ]
    if counts.n_unknown:
        unknown.append({"category": UNKNOWN, "n": counts.n_unknown})
    return {
        "format": "clinometer ll144 2",
        "clinometer": __version__,
        "kind": "scoring" if is_scored(counts) else "selection",
        "dates": counts.period,
        "data_source": counts.source,
        "audited": date.today().isoformat(),
        "auditor": counts.auditor or None,
        "simulated": counts.run_ratios is not None,
        "benchmarks": [
            {"table": row["grouping"], "category": name_category(row, runs)}
            for row in filter(is_benchmark, rows)
        ],
        "excluded": [name_category(row, runs) for row in rows if is_left_out(row)],
        "unknown": unknown,
        "n_unknown": count_unknown(rates, counts),
        "columns_not_used": dict(counts.unused),
        "tables": _rounded(rates).rows(named=True),
        "not_evidence_for": not_evidence(counts),
    }


def count_unknown(rates: pl.DataFrame, counts: Counts) -> int:
    """Count the people whose sex or race/ethnicity is not known, each once."""
    rows = rates.filter(grouping="intersections").rows(named=True)
    return int(sum(row["n"] for row in rows if is_unknown_row(row))) + counts.n_unknown


def is_benchmark(row: Mapping[str, Any]) -> bool:
    """Whether ratios are to this category."""
    return row["impact_ratio"] == 1 and not row["excluded"]


def is_left_out(row: Mapping[str, Any]) -> bool:
    """Whether it is a known category of less than 2% of the data."""
    return row["excluded"] and not is_unknown_row(row)


def is_unknown_row(row: Mapping[str, Any]) -> bool:
    """Whether its people are of an unknown sex or race/ethnicity."""
    return UNKNOWN in (row["race"], row["gender"])


def varying_runs(rates: pl.DataFrame) -> list[str]:
    """Return the columns in which runs differ."""
    return [name for name in run_columns(rates) if rates[name].n_unique() > 1]


def name_category(row: Mapping[str, Any], runs: Sequence[str] = ()) -> str:
    """Name a category, after its run where there are several."""
    names = (row.get(name) for name in (*runs, *CATEGORIES))
    return ", ".join(str(name) for name in names if name not in (None, "none"))
