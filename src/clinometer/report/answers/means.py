"""The means of a run in one table, for a terminal and the first screen of a page alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clinometer.numbers import interval, number
from clinometer.pieces.findings import Finding
from clinometer.pieces.prose import LEANS, capital
from clinometer.pieces.tables import ROW, ReportTable, TableColumn, TableSpec

__all__ = [
    "MOST_ROWS",
    "ON_TERMINAL",
    "instrument_name",
    "mean_lines",
    "mean_rows",
    "neutral_text",
    "page_table",
]

#: Rows of a page.
MOST_ROWS = 14

#: With rows from `mean_rows`. An instrument that does not work on a model has no numbers there.
ON_TERMINAL = TableSpec(
    "{caption}",
    (
        TableColumn("", "name", align="head"),
        TableColumn("Mean", "mean", number, missing=""),
        TableColumn("these prompts", "in_prompts", align="number"),
        TableColumn("other prompts", "in_others", align="number"),
        TableColumn("In other prompts, it", ROW, lambda row: str(row["text"]), "verdict"),
        TableColumn("Leaning", "leaning"),
    ),
)

#: The same where there is less room: the mark of the verdict stands before the mean.
_ON_PAGE = TableSpec(
    "{caption}",
    (
        TableColumn("Instrument", "name", align="head"),
        TableColumn("In other prompts", ROW, lambda row: str(row["marked"]), "verdict"),
        TableColumn("These prompts", "in_prompts", align="number"),
        TableColumn("Leaning", "leaning", align="number"),
    ),
)

#: Mark of a verdict → what a caption adds to its words.
_MARKS = {
    "○": ": too few answers to tell",
    "△": ", as with one word for a group",
    "–": ", for the reason that its section states",
}


def page_table(over_all: Sequence[Finding], means: Sequence[Finding]) -> ReportTable:
    """Set out the means of all and of each category, an instrument after the other.

    Of several models and modes each has a row per instrument; arguments as of `mean_rows`.
    """
    rows, rest = mean_rows(over_all, means, MOST_ROWS)
    texts = dict.fromkeys(row["text"] for row in rows if row["mean"] is not None)
    explained = (f"{text}{_MARKS.get(text[:1], '')}" for text in texts)
    caption = "; ".join(("Means with their intervals, and how many stereotypes lean", *explained))
    more = f" {rest} more stand below." if rest else ""
    caption = f"{caption}. {capital(neutral_text(over_all))}.{more}"
    return _ON_PAGE.render([*_under_instruments(rows)], caption=caption)


def _under_instruments(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of several runs of an instrument below a row that names it."""
    before = None
    for row in rows:
        if not row["run_details"]:
            yield row
            continue
        if row["instrument"] != before:
            before = row["instrument"]
            yield {**dict.fromkeys(row, ""), "name": before}
        yield {**row, "name": f"  {row['name'] if row['is_category'] else row['run_details']}"}


def mean_rows(
    over_all: Sequence[Finding], means: Sequence[Finding], most: int
) -> tuple[list[dict[str, Any]], int]:
    """Return what tables show of each mean over all, and after it of those of its categories.

    Parameters
    ----------
    over_all
        The mean over all of each instrument and run, and those of its categories.
    means
        The means of single stereotypes, of which those that lean are counted.
    most
        Rows; with more, categories are left out, and then means over all.

    Returns
    -------
    rows, rest
        A row each, and how many means over all are left out.
    """
    of_models = [finding for finding in over_all if finding.level == "model"]
    shown = [row for mean in of_models for row in (mean, *_categories(over_all, mean))]
    if len(shown) > most:
        shown = of_models[:most]
    rest = len(of_models) - sum(finding.level == "model" for finding in shown)
    return [_row(finding, means) for finding in shown], rest


def mean_lines(over_all: Sequence[Finding], most: int = 3) -> tuple[str, ...]:
    """Say the means over all stereotypes, a line each.

    `most`: lines; of more, the last says how many are left out.
    """
    lines = [_line(finding) for finding in over_all]
    rest = len(lines) - most
    return (*lines[:most], *([f"and {rest} more"] if rest > 0 else []))


def neutral_text(over_all: Sequence[Finding]) -> str:
    """State the neutral value; where instruments differ in it, whose it is."""
    names: dict[str, dict[str, None]] = {}
    for finding in over_all:
        names.setdefault(f"{finding.neutral:g}", {})[finding.instrument] = None
    first, *others = names or [""]
    parts = [f"neutral: {first}", *(f"{', '.join(names[value])} {value}" for value in others)]
    return "; ".join(parts) if first else ""


def instrument_name(finding: Finding) -> str:
    """Name an instrument, and what tells its run from others."""
    details = f" ({finding.run_details})" if finding.run_details else ""
    return f"{capital(finding.instrument)}{details}"


def _row(finding: Finding, means: Sequence[Finding]) -> dict[str, Any]:
    """Return what the table shows of a mean."""
    is_category = finding.level == "category"
    subject = {
        "name": f"  {finding.subject}" if is_category else instrument_name(finding),
        "instrument": capital(finding.instrument),
        "run_details": finding.run_details,
        "is_category": is_category,
    }
    if not finding.valid:
        nothing = dict.fromkeys(("in_prompts", "in_others", "leaning"), "")
        texts = dict.fromkeys(("text", "marked"), _fails(finding))
        return {**subject, **nothing, **texts, "mean": None, "verdict": "failed"}
    in_others = interval(finding.low, finding.high)
    return {
        **subject,
        "mean": finding.mean,
        "in_prompts": interval(finding.low_in_prompts, finding.high_in_prompts),
        "in_others": in_others,
        "verdict": finding.verdict,
        "text": finding.verdict_text,
        "marked": f"{finding.verdict_text[:1]} {number(finding.mean)} [{in_others}]",
        "leaning": _lean_count(finding, means),
    }


def _line(finding: Finding) -> str:
    """Say of one mean how large it is, or that its instrument does not work."""
    text = f"{finding.verdict_text}, {finding.size}" if finding.valid else _fails(finding)
    return f"{instrument_name(finding)}: {text}"


def _fails(finding: Finding) -> str:
    return f"✗ {finding.works}"


def _categories(over_all: Sequence[Finding], mean: Finding) -> list[Finding]:
    """Return the means of categories that one over all is of; explicit measures show that alone."""
    if mean.explicit:
        return []
    return [
        finding for finding in over_all if finding.level == "category" and finding.run == mean.run
    ]


def _lean_count(finding: Finding, means: Sequence[Finding]) -> str:
    """Say how many of the stereotypes that a mean is of lean in other prompts."""
    parts = [
        mean
        for mean in means
        if mean.run == finding.run and finding.about["category"] in (None, mean.about["category"])
    ]
    leans = sum(mean.verdict in LEANS for mean in parts)
    return f"{leans}/{len(parts)}" if parts else ""
