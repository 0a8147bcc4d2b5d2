"""What a run found, for a terminal: a table with a row a mean, and in a few lines the rest.

All numbers are those of `InBrief`, whose sentences say the same at length.
"""

from __future__ import annotations

from collections.abc import Iterator

from clinometer.pieces.prose import lower_first
from clinometer.pieces.tables import ReportTable
from clinometer.pieces.validity import CLEARING, PRINTED_VALIDITY
from clinometer.report.answers.brief import InBrief
from clinometer.report.answers.means import (
    ON_TERMINAL,
    instrument_name,
    mean_rows,
    neutral_text,
)

__all__ = ["screen_lines", "screen_table"]

#: With more rows than this, categories are left out, and then rows.
MOST_ROWS = 12

#: Categories whose people are counted, and things to do next.
MOST_CATEGORIES, MOST_STEPS = 2, 2

#: What is said of an instrument that controls vouch for.
_WORKING = {PRINTED_VALIDITY[verdict] for verdict in CLEARING}

_LIMITS = (
    "“Unclear” does not mean “unbiased”. A score describes answers, no intent and no decision."
)


def screen_table(brief: InBrief) -> ReportTable:
    """Set out the means under a line that says who was asked how."""
    rows, rest = mean_rows(brief.over_all, brief.means, MOST_ROWS)
    more = f"{rest} more rows: --verbose" if rest else ""
    caption = " · ".join(filter(None, (brief.title, neutral_text(brief.over_all), more)))
    return ON_TERMINAL.render(rows, caption=caption)


def screen_lines(brief: InBrief) -> Iterator[str]:
    """Yield what stands below the table: doubts, controls, the strongest lean, what to do next."""
    for sentence in brief.elsewhere:
        yield f"From elsewhere: {sentence}"
    yield _controls(brief)
    if brief.in_people:
        yield f"In people: {'. '.join(brief.in_people[:MOST_CATEGORIES])}"
    if leans := [finding for finding in brief.means if finding.told]:
        # The first of an instrument that is known to work, if there is one.
        strongest = next((lean for lean in leans if lean.works in _WORKING), leans[0])
        yield f"Strongest: {strongest.headline}"
    yield from brief.changes
    yield brief.simulated or _LIMITS
    yield f"Next: {'; '.join(lower_first(step) for step in brief.next[:MOST_STEPS])}"


def _controls(brief: InBrief) -> str:
    """Say of which instruments controls tell that they work here, those of one verdict together.

    Instruments that do not work come first, and are named. Of the others the verdict of most comes
    last, and does not name several.
    """
    failing: dict[str, list[str]] = {}
    working: dict[str, list[str]] = {}
    for finding in brief.over_all:
        runs = (working if finding.valid else failing).setdefault(finding.works, [])
        if (run := lower_first(instrument_name(finding))) not in runs:
            runs.append(run)
    groups = [*failing.items(), *sorted(working.items(), key=lambda group: len(group[1]))]
    parts = [f"{works}: {', '.join(runs)}" for works, runs in groups]
    if working and len(groups[-1][1]) > 1:
        works = groups[-1][0]
        parts[-1] = f"else {works}" if len(groups) > 1 else works
    return f"Controls: {'; '.join(parts)}"
