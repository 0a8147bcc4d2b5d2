"""What a run found, for a terminal: a table with a row a mean, and in a few lines the rest.

All numbers are those of `InBrief`, whose sentences say the same at length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinometer.numbers import interval, number
from clinometer.pieces.findings import Finding
from clinometer.pieces.prose import LEANS, capital, lower_first, verdict_class
from clinometer.pieces.tables import ReportTable, TableCell
from clinometer.report.answers.brief import InBrief

__all__ = ["screen_lines", "screen_table"]

#: With more rows than this, categories are left out, and then rows.
MOST_ROWS = 12

#: Leans whose direction is said, and things to do next.
MOST_LEANS, MOST_STEPS = 2, 2

_HEADS = ("", "Mean", "these prompts", "other prompts", "In other prompts, it", "Leaning")

_INVALID = TableCell("✗ does not work here", "verdict consistent")

_LIMITS = (
    "“Unclear” does not mean “unbiased”. A score describes answers, no intent and no decision."
)


def screen_table(brief: InBrief) -> ReportTable:
    """Set out the means of all and of each category, an instrument after the other.

    Of several models and modes each has a row per instrument. An instrument that does not work on
    a model has no numbers there.
    """
    over_all = [finding for finding in brief.over_all if finding.level == "model"]
    rows = [row for finding in over_all for row in (finding, *_categories(brief, finding))]
    if len(rows) > MOST_ROWS:
        rows = over_all[:MOST_ROWS]
    heads = tuple(TableCell(title, "num" if title in _HEADS[1:4] else "") for title in _HEADS)
    caption = " · ".join(filter(None, (brief.title, _neutral(brief))))
    if len(over_all) > MOST_ROWS:
        caption += f" · {len(over_all) - MOST_ROWS} more rows: --verbose"
    return ReportTable(caption, heads, tuple(tuple(_cells(brief, row)) for row in rows))


def screen_lines(brief: InBrief) -> Iterator[str]:
    """Yield what stands below the table: doubts, controls, the strongest leans, what to do next."""
    if brief.simulated:
        yield brief.simulated
    for sentence in brief.elsewhere:
        yield f"From elsewhere: {sentence}"
    yield _controls(brief)
    strongest = {finding.instrument: finding for finding in reversed(brief.means) if finding.told}
    for finding in [*reversed(strongest.values())][:MOST_LEANS]:  # of each instrument one
        yield f"Strongest: {_strongest(finding)}"
    yield from brief.changes
    yield _LIMITS
    yield f"Next: {'; '.join(lower_first(step) for step in brief.next[:MOST_STEPS])}"


def _controls(brief: InBrief) -> str:
    """Say of which instruments controls tell that they work here, those of one verdict together."""
    names: dict[str, dict[str, None]] = {}
    for finding in brief.over_all:
        names.setdefault(finding.works, {})[_name(finding)] = None
    parts = [f"{works}: {', '.join(map(lower_first, runs))}" for works, runs in names.items()]
    return f"Controls: {'; '.join(parts)}"


def _neutral(brief: InBrief) -> str:
    """State the neutral value; where instruments differ in it, whose it is."""
    names: dict[str, dict[str, None]] = {}
    for finding in brief.over_all:
        names.setdefault(f"{finding.neutral:g}", {})[finding.instrument] = None
    first, *others = names or [""]
    parts = [f"neutral: {first}", *(f"{', '.join(names[value])} {value}" for value in others)]
    return "; ".join(parts) if first else ""


def _categories(brief: InBrief, over_all: Finding) -> list[Finding]:
    """Return the means of categories that one over all is of; explicit measures show that alone."""
    if over_all.explicit:
        return []
    return [
        finding
        for finding in brief.over_all
        if finding.level == "category" and finding.run == over_all.run
    ]


def _cells(brief: InBrief, finding: Finding) -> Iterator[TableCell]:
    """Yield the cells of one mean."""
    name = f"  {finding.subject}" if finding.level == "category" else _name(finding)
    yield TableCell(name, head=True)
    if not finding.valid:
        yield from (TableCell("", "num"),) * 3
        yield _INVALID
        return
    yield TableCell(number(finding.mean), "num")
    yield TableCell(interval(finding.low_in_prompts, finding.high_in_prompts), "num")
    yield TableCell(interval(finding.low, finding.high), "num")
    yield TableCell(finding.verdict_text, f"verdict {verdict_class(finding.verdict)}")
    yield TableCell(_lean_count(brief.means, finding))


def _name(finding: Finding) -> str:
    """Name an instrument, and what tells its run from others."""
    parts = (finding.of, finding.about["dimension"] or "")
    details = ", ".join(part for part in parts if part)
    return capital(finding.instrument) + (f" ({details})" if details else "")


def _lean_count(means: Sequence[Finding], finding: Finding) -> str:
    """Say how many of the stereotypes that a mean is of lean in other prompts."""
    parts = [
        mean
        for mean in means
        if mean.run == finding.run and finding.about["category"] in (None, mean.about["category"])
    ]
    leans = sum(mean.verdict in LEANS for mean in parts)
    return f"{leans}/{len(parts)}" if parts else ""


def _strongest(finding: Finding) -> str:
    """Say what leans most, how much, and which way."""
    ends = interval(finding.low, finding.high)
    text = f"{finding.subject} ({finding.instrument}) {finding.size} [{ends}]"
    return f"{text}: {finding.direction or finding.lean}"
