"""The report itself: one HTML file that asks nothing of the network, and its files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from altair.utils.schemapi import debug_mode

from tiltmeter.errors import InputError
from tiltmeter.report.answers.part import answer_part
from tiltmeter.report.drawing.figures import Figure, as_svg, write_figures
from tiltmeter.report.networks.part import network_part
from tiltmeter.report.page import rendered
from tiltmeter.report.sections import Part
from tiltmeter.report.states.part import state_part
from tiltmeter.report.tables import write_tables
from tiltmeter.results.directory import Results

__all__ = ["FAMILIES", "write_figure_page", "write_report"]

#: Each makes the part of its family; None where a directory has none of its tables.
FAMILIES = (answer_part, network_part, state_part)


def write_report(directory: str | Path | Results, *, title: str | None = None) -> Path:
    """Write the report of a results directory.

    Parameters
    ----------
    directory
        Holds ``plan.json`` and ``estimates.parquet``, or tables about association networks, or
        tables about representation, or any mix of these; sections whose tables are missing are
        left out. The report goes to ``report.html`` in it, figures as SVG and PNG to
        ``figures/``, tables as CSV and parquet to ``tables/``.
    title
        The title of the report; by default made of the models or networks.

    Returns
    -------
    pathlib.Path
        The path of ``report.html``.

    Raises
    ------
    InputError
        If there are no results, or the plan, the estimates or a table are malformed.

    Examples
    --------
    >>> write_report("results")  # doctest: +SKIP
    PosixPath('results/report.html')
    """
    path = directory.directory if isinstance(directory, Results) else Path(directory)
    with debug_mode(False):  # altair would check each of our own drawings, which takes as long
        parts = [part for family in FAMILIES if (part := family(path))]
    if not parts:
        raise InputError(
            f"{path / 'plan.json'}: not found, nor other results; give a directory that a run has "
            "written"
        )
    drawings = write_figures([f for part in parts for f in part.figures()], path / "figures")
    frames = {name: frame for part in parts for name, frame in part.frames.items()}
    write_tables(frames, path / "tables")
    about = {
        "title": title or parts[0].headline,
        "plan": parts[0].plan,
        "parts": parts,
        "several": len([leaf for part in parts for leaf in part.leaves()]) > 1,
        "in_brief": _in_brief(parts),
        "figure_names": list(drawings),
        "tables": list(frames),
    }
    report = path / "report.html"
    page = rendered("report.html.j2", drawings, about)
    report.write_text(page, encoding="utf-8", errors="replace")
    return report


def _in_brief(parts: Sequence[Part]) -> list[str]:
    """Give the keys of the parts whose findings stand at the top; of one table, those alone."""
    first, *others = parts
    return [first.key, *(p.key for p in others if not (first.table or p.table))]


def write_figure_page(figures: Sequence[Figure], path: Path, *, title: str) -> None:
    """Write figures as one HTML file that holds all it shows.

    Parameters
    ----------
    figures
        Figures with distinct names.
    path
        The file.
    title
        Of the page.
    """
    drawings = {figure.name: as_svg(figure) for figure in figures}
    page = rendered("figures.html.j2", drawings, {"title": title, "list": figures})
    path.write_text(page, encoding="utf-8", errors="replace")
