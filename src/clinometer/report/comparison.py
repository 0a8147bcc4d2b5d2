"""The page of a comparison: the verdict, the differences, what changed, and answers behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.directory.results import read_family
from clinometer.errors import InputError
from clinometer.numbers import number, signed
from clinometer.pieces.facts import Facts, read_facts
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.prose import capital, cut, verdict, verdict_class
from clinometer.pieces.sections import (
    Passage,
    ReportPart,
    Statement,
    Summary,
    Term,
    version_terms,
)
from clinometer.pieces.tables import ReportTable, TableCell
from clinometer.report.differences import (
    candidate_name,
    difference_figure,
    difference_sections,
    split_by_instrument,
    target_name,
)
from clinometer.report.order import order_section
from clinometer.results.ranges import rows_of_range
from clinometer.results.verdicts import PRINTED_CHANGES, VERDICTS, explained, restriction_of

__all__ = ["FACTS", "comparison_part"]

FACTS = "comparison.json"

#: Changes that the first screen names.
MOST_CHANGED = 5

#: Characters of the name of a row.
_NAME = 40

_NO_CHANGE = "No category or stereotype is worse, better or turned."

_NOT_WORSE = (
    "“Not worse” holds for what both were asked, and for the margin. It does not say that either "
    "is free of bias."
)


def comparison_part(directory: Path) -> ReportPart | None:
    """Make the page of a comparison; None where the directory holds none.

    Raises InputError or PlanError if a file is malformed, or the comparison was not finished.
    """
    if not (directory / FACTS).is_file():
        return None
    facts = read_facts(directory / FACTS)
    if facts.raw.get("complete") is not True:
        raise InputError(f"{directory}: the comparison was not finished; repeat its command")
    tables = read_family(directory, "comparison")
    if tables is None:
        raise InputError(f"{directory}: no estimates; repeat the command of the comparison")
    estimates, details = tables
    rows = rows_of_range(estimates, "prompts")
    differences = rows.filter(factor="model").drop_nulls("verdict")
    runs = (facts.part("baseline"), *facts.parts("candidates"))
    names = tuple(run.text("label") for run in runs)
    decisions = facts.parts("decisions")
    return ReportPart(
        key="comparison",
        title="Comparison",
        headline=f"{', '.join(names[1:])} against {names[0]}",
        version=facts.text("clinometer"),
        created=facts.text("created"),
        names=names,
        facts=_terms(facts, names),
        measured=(
            Passage("Differences", Paragraphs("compared")),
            Passage("Verdicts", (), terms=_verdicts(differences)),  # folded, as all but the first
        ),
        findings=tuple(map(_finding, decisions)),
        summary=_summary(differences, facts, names),
        sections=(
            *filter(None, [order_section(facts.raw.get("ranks") or ())]),
            *difference_sections(estimates, differences, details, facts),
        ),
        limits=Paragraphs("compared_limits", {"not_worse": _NOT_WORSE}),
        setting=tuple(map(_matched_term, decisions)),
    )


def _matched_term(decision: Facts) -> Term:
    """Say how the trials of a candidate were matched with those of the baseline."""
    return Term(decision.text("candidate"), "; ".join(decision.texts("matched")))


def _terms(facts: Facts, names: Sequence[str]) -> tuple[Term, ...]:
    """Say what was compared, by which version and when."""
    return (
        *version_terms(facts.text("clinometer"), facts.text("created")),
        Term("Baseline", names[0]),
        Term("Candidates", ", ".join(names[1:])),
        Term("Margin", number(facts.number("margin"))),
    )


def _summary(differences: pl.DataFrame, facts: Facts, names: Sequence[str]) -> Summary:
    """Say what is decided, what changed, and what that rests on, for the head of the page."""
    decisions = facts.parts("decisions")
    several = len(names) > 2
    is_implicit = pl.col("control").is_null() & pl.col("explicit").fill_null(False).not_()
    # With several candidates a figure of the categories too would not fit the first screen.
    levels = ["model"] if several else ["model", "category"]
    rows = differences.filter(is_implicit, pl.col("level").is_in(levels))
    figure = table = None
    if not rows.is_empty():
        figure = difference_figure(rows, "all instruments", facts, 0, _short_names(rows))
        table = _overview(rows, names[1:])
    findings = map(_finding, decisions)
    return Summary(
        title=f"{', '.join(names[1:])} (candidate) against {names[0]} (baseline) · margin "
        f"{number(facts.number('margin'))}",
        decisions=tuple(
            f"{finding.subject}: {finding.text}" if several else capital(finding.text)
            for finding in findings
        ),
        findings=(),
        certainty=(("What changed", _changed_lines(decisions, several=several)),),
        consequences=(("Not shown", (_NOT_WORSE,)),),
        strongest=(),
        figure=figure,
        table=table,
    )


def _changed_lines(decisions: Sequence[Facts], *, several: bool) -> tuple[str, ...]:
    """Say what changed, a line each, the first few; with `several` candidates of which."""
    lines = []
    for decision in decisions:
        name = f"{decision.text('candidate')}: " if several else ""
        lines += [_with_arrows(f"{name}{text}") for text in decision.texts("changed")]
    rest = len(lines) - MOST_CHANGED
    if rest > 0:
        lines[MOST_CHANGED:] = [f"And {rest} more, below."]
    return tuple(lines) or (_NO_CHANGE,)


def _short_names(rows: pl.DataFrame) -> dict[str, str]:
    """Name each instrument by what tells it apart: its full name → name."""
    columns = [name for name in ("study", "dimension", "mode") if rows[name].n_unique() > 1]
    names = {}
    for measure, part in split_by_instrument(rows):
        row = part.row(0, named=True)
        instrument = capital(row["instrument"].replace("_", " "))
        names[measure] = ", ".join([instrument, *(row[name] for name in columns if row[name])])
    return names


def _overview(rows: pl.DataFrame, candidates: Sequence[str]) -> ReportTable:
    """Set out the differences, an instrument a column, a category or a candidate a row."""
    several = len(candidates) > 1
    name_row = candidate_name if several else target_name
    is_part: dict[str, bool] = {}
    columns = []
    for _, part in split_by_instrument(rows):
        column = {}
        for row in part.iter_rows(named=True):
            column[name_row(row)] = row
            is_part[name_row(row)] = row["level"] != "model"
        columns.append(column)
    # The mean over all comes first: False sorts before True, and the sort is stable.
    names = sorted(is_part, key=lambda name: is_part[name])
    body = []
    for name in names:
        cells = (_cell(column.get(name)) for column in columns)
        body.append((TableCell(cut(name, _NAME), head=True), *cells))
    heads = ["Candidate" if several else "Category", *_short_names(rows).values()]
    caption = (
        "Candidate − baseline. ▲ worse: farther from neutral; ▼ better: nearer; ⇄ turned to the "
        "other side; ■ not worse by more than the margin; ○ open."
    )
    return ReportTable(caption, tuple(map(TableCell, heads)), tuple(body))


def _cell(row: Mapping[str, Any] | None) -> TableCell:
    """Write a difference with its verdict; empty where there is none."""
    if row is None:
        return TableCell("")
    style = f"verdict {verdict_class(row['verdict'])}".strip()
    difference = signed(row["estimate"])
    return TableCell(f"{difference} {verdict(row['verdict'])}", style)


def _with_arrows(text: str) -> str:
    return text.replace(" -> ", " → ")


def _finding(decision: Facts) -> Statement:
    """Say the verdict of a candidate; what changed stands open below."""
    return Statement(decision.text("candidate"), f"{_with_arrows(decision.text('text'))}.")


def _verdicts(differences: pl.DataFrame) -> tuple[Term, ...]:
    """Explain the verdicts that were given."""
    order = [*VERDICTS]
    codes = differences["verdict"].drop_nulls().unique(maintain_order=True)
    explicable = [code for code in codes if explained(code)]
    explicable.sort(key=lambda code: order.index(code.removesuffix(restriction_of(code))))
    return tuple(Term(PRINTED_CHANGES.get(code, code), explained(code)) for code in explicable)
