"""What a run found, for a terminal: a table with a row a mean, and in a few lines the rest.

All numbers are those of `InBrief`, whose sentences say the same at length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clinometer.numbers import interval, number
from clinometer.pieces.findings import Finding
from clinometer.pieces.prose import LEANS, capital, lower_first
from clinometer.pieces.tables import ROW, ReportTable, TableColumn, TableSpec
from clinometer.report.answers.brief import InBrief

__all__ = ["screen_lines", "screen_table"]

#: With more rows than this, categories are left out, and then rows.
MOST_ROWS = 12

#: Leans whose direction is said, and things to do next.
MOST_LEANS, MOST_STEPS = 2, 2

_LIMITS = (
    "“Unclear” does not mean “unbiased”. A score describes answers, no intent and no decision."
)


#: With a row from `_row`. An instrument that does not work on a model has no numbers there.
_MEANS = TableSpec(
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


def screen_table(brief: InBrief) -> ReportTable:
    """Set out the means of all and of each category, an instrument after the other.

    Of several models and modes each has a row per instrument.
    """
    over_all = [finding for finding in brief.over_all if finding.level == "model"]
    findings = [row for finding in over_all for row in (finding, *_categories(brief, finding))]
    if len(findings) > MOST_ROWS:
        findings = over_all[:MOST_ROWS]
    caption = " · ".join(filter(None, (brief.title, _neutral(brief))))
    if len(over_all) > MOST_ROWS:
        caption += f" · {len(over_all) - MOST_ROWS} more rows: --verbose"
    return _MEANS.render([_row(brief, finding) for finding in findings], caption=caption)


def _row(brief: InBrief, finding: Finding) -> dict[str, Any]:
    """Return what the table shows of a mean."""
    name = f"  {finding.subject}" if finding.level == "category" else _name(finding)
    if not finding.valid:
        nothing = dict.fromkeys(("in_prompts", "in_others", "leaning"), "")
        text = f"✗ {finding.works}"
        return {**nothing, "name": name, "mean": None, "verdict": "failed", "text": text}
    return {
        "name": name,
        "mean": finding.mean,
        "in_prompts": interval(finding.low_in_prompts, finding.high_in_prompts),
        "in_others": interval(finding.low, finding.high),
        "verdict": finding.verdict,
        "text": finding.verdict_text,
        "leaning": _lean_count(brief.means, finding),
    }


def screen_lines(brief: InBrief) -> Iterator[str]:
    """Yield what stands below the table: doubts, controls, the strongest leans, what to do next."""
    if brief.simulated:
        yield brief.simulated
    for sentence in brief.elsewhere:
        yield f"From elsewhere: {sentence}"
    yield _controls(brief)
    if brief.in_people:
        yield f"In people: {'. '.join(brief.in_people[:MOST_LEANS])}"
    strongest = {finding.instrument: finding for finding in reversed(brief.means) if finding.told}
    for finding in [*reversed(strongest.values())][:MOST_LEANS]:  # of each instrument one
        yield f"Strongest: {finding.headline}"
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


def _name(finding: Finding) -> str:
    """Name an instrument, and what tells its run from others."""
    return capital(finding.instrument) + (f" ({finding.question})" if finding.question else "")


def _lean_count(means: Sequence[Finding], finding: Finding) -> str:
    """Say how many of the stereotypes that a mean is of lean in other prompts."""
    parts = [
        mean
        for mean in means
        if mean.run == finding.run and finding.about["category"] in (None, mean.about["category"])
    ]
    leans = sum(mean.verdict in LEANS for mean in parts)
    return f"{leans}/{len(parts)}" if parts else ""
