"""The report itself: one HTML file that asks nothing of the network, and its files beside it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
from altair.utils.schemapi import debug_mode
from jinja2 import Environment
from markupsafe import Markup

from clinometer.directory.results import Results, all_tables
from clinometer.errors import InputError
from clinometer.families import families
from clinometer.pieces.drawing.figures import Figure, write_figures
from clinometer.pieces.drawing.svg import draw, for_page
from clinometer.pieces.drawing.theme import stylesheet
from clinometer.pieces.pages import page_environment
from clinometer.pieces.sections import ReportPart, Term
from clinometer.report.answers.part import answer_part
from clinometer.report.comparison import FACTS, comparison_part
from clinometer.results.locks import writing
from clinometer.results.places import anywhere
from clinometer.results.subjects import say_simulated
from clinometer.texts import write_text

#: Each makes a part of the page; None where a directory has none of its tables.
PARTS = (
    answer_part,
    *(family.part for family in families().values()),
    comparison_part,
)


@anywhere(directory=True)
def write_report(directory: str | Path | Results, *, title: str | None = None) -> Path:
    """Write the report of a results directory.

    Parameters
    ----------
    directory
        Holds ``plan.json`` and ``estimates.parquet``, or tables about association networks, or
        tables about hidden states, or any mix of these; sections whose tables are missing are
        left out. The report goes to ``report.html`` in it, figures as SVG and PNG to
        ``figures/``.
    title
        The title of the report; by default made of the models or networks.

    Returns
    -------
    pathlib.Path
        The path of ``report.html``.

    Raises
    ------
    InputError
        If there are no results, or the estimates or a table are malformed.
    PlanError
        If the plan is malformed, or of another layout.

    Examples
    --------
    >>> write_report("results")  # doctest: +SKIP
    PosixPath('results/report.html')
    """
    path = directory.directory if isinstance(directory, Results) else Path(directory)
    with writing(path):
        return _write_report(path, title)


def family_lines(directory: Path, most: int = 6) -> list[str]:
    """Return what families beside the answers show, a line each: the first of each.

    `directory`: a results directory. Raises InputError if a table is malformed.
    """
    lines = []
    for family in families().values():
        rows = family.findings(directory)
        lines += [f"{subject}, {who}: {text}" for subject, who, text in rows[:most] if text]
        if rows[most:]:
            lines.append(f"and {len(rows) - most} more; see the report")
    return lines


def _write_report(path: Path, title: str | None) -> Path:
    with debug_mode(False):  # altair would check each of our own drawings, which takes as long
        parts = [part for make in PARTS if (part := make(path))]
    if not parts:
        raise InputError(
            f"{path / 'plan.json'}: not found, nor other results; give a directory that a run has "
            "written"
        )
    figures = [figure for part in parts for figure in part.figures()]
    drawings = write_figures(figures, path / "figures")
    context = {
        "title": title or parts[0].headline,
        "version": parts[0].version,
        "created": parts[0].created,
        "parts": parts,
        "simulated": say_simulated(_models(path)),
        "several": len([leaf for part in parts for leaf in part.leaves()]) > 1,
        "in_brief": _in_brief(parts),
        "figure_names": list(drawings),
        "files": [file for file in _files() if (path / file.name).is_file()],
    }
    report = path / "report.html"
    write_text(report, render_page("report.html.j2", drawings, context))
    return report


def _files() -> list[Term]:
    """Return the files that a results directory may have, and what is in them."""
    records = {family.record: family.record_meaning for family in families().values()}
    tables = {f"{name}.parquet": table.meaning for name, table in all_tables().items()}
    meanings = {
        "plan.json": "what was asked, of which models, and how",
        **records,
        FACTS: "which runs were compared, and the verdicts",
        **tables,
    }
    return [Term(name, meaning) for name, meaning in meanings.items()]


def _models(path: Path) -> list[str]:
    """Return the models that a directory has estimates of."""
    file = path / "estimates.parquet"
    if not file.is_file():
        return []
    columns = {"model", "baseline", "candidate"} & set(pl.read_parquet_schema(file))
    table = pl.read_parquet(file, columns=sorted(columns))
    names = {str(name) for column in table for name in column.drop_nulls().unique()}
    return sorted(names)


def _in_brief(parts: Sequence[ReportPart]) -> list[str]:
    """Return the keys of the parts whose findings stand at the top; of one table, those alone."""
    first, *rest = parts
    return [first.key, *(part.key for part in rest if not (first.table or part.table))]


def write_figure_page(figures: Sequence[Figure], path: Path, *, title: str) -> None:
    """Write figures of distinct names as one HTML file that holds all it shows."""
    drawings = {figure.name: for_page(draw(figure.spec), figure.name) for figure in figures}
    page = render_page("figures.html.j2", drawings, {"title": title, "list": figures})
    write_text(path, page)


def render_page(template: str, drawings: Mapping[str, str], context: Mapping[str, Any]) -> str:
    """Fill a template; every page has the same styles, script and policy.

    `drawings`: name of a figure → its SVG.
    `context`: the names that the template uses.
    """
    shared = {
        "drawings": {name: Markup(svg) for name, svg in drawings.items()},
        "policy": _policy(),
        "css": Markup(stylesheet()),
        "script": Markup(_script()),
    }
    return _environment().get_template(template).render(**context, **shared)


@cache
def _environment() -> Environment:
    environment = page_environment("clinometer.report")
    environment.filters["first_sentence"] = lambda text: text.split(". ", 1)[0].rstrip(".") + "."
    environment.filters["other_sentences"] = lambda text: text.partition(". ")[2]
    return environment


@cache
def _script() -> str:
    return (files("clinometer.report") / "templates" / "report.js").read_text(encoding="utf-8")


@cache
def _policy() -> str:
    """Allow the script of the page by its hash, styles, and nothing else."""
    # The hash is that of the script as it stands in the page: a space more and it does not run.
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
