"""The tables of Local Law 144 as one page, which prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinometer.numbers import interval, number, p_value
from clinometer.pieces.sections import Term
from clinometer.pieces.tables import ROW, TableColumn, TableSpec
from clinometer.report.document import render_page
from clinometer.sharing.counts import RUN
from clinometer.sharing.ll144 import (
    FEWEST_PEOPLE,
    FEWEST_SELECTED,
    GROUPINGS,
    is_benchmark,
    is_left_out,
    is_unknown_row,
    name_category,
)

_NOTES = (
    "Of 100: selected of 100 assessed; of scores, selected are those above the median of all.",
    "Impact ratio: the rate by the benchmark, the highest rate of a known category with 2% of the "
    "data or more.",
    "Four fifths: by the rule of thumb of federal guidelines (29 CFR 1607.4 D) a ratio below .8 is "
    "held to be evidence of adverse impact. Below or above: the whole 95% interval of the ratio "
    "is; open: .8 lies in it.",
    f"Few: fewer than {FEWEST_PEOPLE} people or {FEWEST_SELECTED} selected; do not read such a "
    "ratio alone. Below 2%: the rules let a category be left out of ratios; it sets no benchmark.",
)
_OF_PEOPLE = (
    "Intervals of rates are Wilson's, of ratios Koopman's; p is that of Fisher's exact test of "
    "equal rates, of each comparison by itself. They take people as independent. The benchmark is "
    "chosen by the same data, which makes ratios a little low."
)
_OF_A_RUN = (
    "Simulated candidates share names and are not independent: ratios have the intervals of the "
    "run's report, over names, occupations and answers, where nobody abstained; there is no p."
)


def _question_text(row: Mapping[str, Any]) -> str:
    """Say how candidates of a run were asked about."""
    names = (row.get(name) for name in RUN if name != "model")
    return ", ".join(dict.fromkeys(name for name in names if name not in (None, "none")))


def _people(count: float) -> str:
    return f"{count:,.0f}"


def _per_hundred(rate: float) -> str:
    return number(100 * rate, 1)


def _ends(low: float | None, high: float | None, times: float = 1.0, digits: int = 2) -> str:
    """Write an interval; an end that is missing is infinite."""
    if low is None:
        return ""
    if high is None:
        return f"from {number(low * times, digits)}"
    return interval(low * times, high * times, digits)


def _rate_ends(low: float | None, high: float | None) -> str:
    return _ends(low, high, 100, 1)


def _ratio(row: Mapping[str, Any]) -> str:
    if is_unknown_row(row):
        return "none"
    return number(row["impact_ratio"], 2, missing="")


def _ratio_ends(row: Mapping[str, Any]) -> str:
    return "benchmark" if is_benchmark(row) else _ends(row["ratio_low"], row["ratio_high"])


def _mark(row: Mapping[str, Any]) -> str:
    """Say what to read with care: an unknown category, one below 2%, few people."""
    marks = {
        "unknown": is_unknown_row(row),
        "below 2%": is_left_out(row),
        "few": row["is_small"],
    }
    return ", ".join(mark for mark, applies in marks.items() if applies)


#: With the rows of a grouping.
LAW_TABLE = TableSpec(
    "By {grouping}.",
    (
        TableColumn("Category", ROW, name_category, "head"),
        TableColumn("Model", "model", align="text", same="left out"),
        TableColumn("Asked", ROW, _question_text, "text", same="left out"),
        TableColumn("Assessed", "n", _people),
        TableColumn("Selected", "n_positive", _people),
        TableColumn("Of 100", "rate", _per_hundred, missing=""),
        TableColumn("95% interval", "rate_low rate_high", _rate_ends),
        TableColumn("Impact ratio", ROW, _ratio, "number"),
        TableColumn("95% interval", ROW, _ratio_ends, "number"),
        TableColumn("Fisher p", "p", p_value, missing=""),
        TableColumn("Four fifths", "four_fifths", align="text"),
        TableColumn("Note", ROW, _mark, "text"),
    ),
)


def law_rows(law: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table of a `ll144.summary`: sex, race/ethnicity, intersections."""
    rows: dict[str, list[dict[str, Any]]] = {grouping: [] for grouping in GROUPINGS}
    for row in law["tables"]:
        rows[row["grouping"]].append({"model": None, **row})
    return rows


def law_terms(law: Mapping[str, Any]) -> tuple[Term, ...]:
    """Say of which people and dates the tables are."""
    n_known = sum(row["n"] for row in law["tables"] if row["grouping"] == "sex")
    first, last = law["dates"].split("/")
    return (
        Term("Data of", f"{first} to {last}"),
        Term("Data source", law["data_source"]),
        Term("People", f"{_people(n_known)} in the tables"),
        Term("Unknown", f"{law['n_unknown']:,} of an unknown sex or race/ethnicity, in no ratio"),
    )


def law_page(law: Mapping[str, Any]) -> str:
    """Return the page of a `ll144.summary`."""
    terms = (
        *law_terms(law),
        Term("Audited on", law["audited"]),
        Term("Audited by", law["auditor"] or "not stated"),
        Term("Computed with", f"Clinometer {law['clinometer']}"),
    )
    context = {
        "title": f"{law['kind'].capitalize()} rates and impact ratios",
        "law": law,
        "terms": terms,
        "tables": [LAW_TABLE.render(rows, grouping=name) for name, rows in law_rows(law).items()],
        "notes": (*_NOTES, _OF_A_RUN if law["simulated"] else _OF_PEOPLE),
    }
    return render_page("ll144.html.j2", {}, context)
