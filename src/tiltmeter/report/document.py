"""The report itself: one HTML file that asks nothing of the network, and its files beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from altair.utils.schemapi import debug_mode

from tiltmeter.report.answers.controls import WITHDRAWN, heed_controls
from tiltmeter.report.answers.examples import examples, grouped
from tiltmeter.report.answers.modes import unnamed
from tiltmeter.report.answers.parts import brief, make_parts
from tiltmeter.report.answers.results import TABLES, Results, read_results
from tiltmeter.report.answers.sizes import size_section
from tiltmeter.report.drawing.figures import Figure, as_svg, write_figures
from tiltmeter.report.networks.part import network_part, network_title
from tiltmeter.report.networks.results import Networks, read_networks
from tiltmeter.report.page import rendered
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import SIGNS, verdict, verdict_class, verdict_kind
from tiltmeter.report.states.part import representation_part, representation_title
from tiltmeter.report.states.results import Representation, read_representation
from tiltmeter.report.tables import write_tables
from tiltmeter.statistics import VERDICTS

__all__ = ["write_figure_page", "write_report"]

#: What a run writes; a directory about networks or representation alone has neither.
_OF_A_RUN = ("plan.json", "estimates.parquet")


def write_report(directory: str | Path, *, title: str | None = None) -> Path:
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
        If the plan or the estimates are missing, where there are no tables about networks or
        representation either, or a table is malformed.

    Examples
    --------
    >>> write_report("results")  # doctest: +SKIP
    PosixPath('results/report.html')
    """
    path = Path(directory)
    networks, inside = read_networks(path), read_representation(path)
    alone = not any((path / name).exists() for name in _OF_A_RUN)
    if inside is not None and alone:
        return _write_representation(inside, networks, title)
    if networks is not None and alone:
        return _write_networks(networks, title)
    results = heed_controls(read_results(path))
    plan = results.plan
    with debug_mode(False):  # altair would check each of our own drawings, which takes as long
        parts, sizes = make_parts(results), size_section(results)
        beside = network_part(networks) if networks is not None else None
        within = representation_part(inside) if inside is not None else None
    drawn = [figure for part in parts for figure in part.figures()]
    drawn += beside.figures() if beside else ()
    drawn += within.figures() if within else ()
    drawn += sizes.figures if sizes else ()
    frames = {**_frames(results), **_written(networks, inside)}
    about = {
        "title": title or _title(results),
        "plan": plan,
        "parts": parts,
        "networks": beside,
        "representation": within,
        "brief": brief(parts, plan),
        "sizes": sizes,
        "decides": any(part.decides for part in parts),
        "attributes": any(part.attributes for part in parts),
        "dimensions": list(dict.fromkeys(name for part in parts for name in part.dimensions)),
        "systems": [(name, text) for name, text in plan.pairs("interventions") if text],
        "seen": _verdicts(results),
        "examples": grouped(examples(results), plan),
        "defects": _defects(plan),
        "conditional": _conditional(results),
        "unanimous": "unanimous" in results.estimates["test"],
    }
    return _write(path, "report.html.j2", drawn, frames, about)


def _write_networks(networks: Networks, title: str | None) -> Path:
    """Write the report of a directory that holds networks only."""
    with debug_mode(False):
        part = network_part(networks)
    about = {
        "title": title or network_title(part.names),
        "plan": networks.facts,
        "networks": part,
    }
    drawn = list(part.figures())
    return _write(networks.directory, "networks.html.j2", drawn, networks.written, about)


def _write_representation(
    inside: Representation, networks: Networks | None, title: str | None
) -> Path:
    """Write the report of a directory without a run that holds representation."""
    with debug_mode(False):
        part = representation_part(inside)
        beside = network_part(networks) if networks is not None else None
    about = {
        "title": title or representation_title(part.names),
        "plan": inside.facts,
        "representation": part,
        "networks": beside,
    }
    drawn = [*part.figures(), *(beside.figures() if beside else ())]
    frames = _written(networks, inside)
    return _write(inside.directory, "representation.html.j2", drawn, frames, about)


def _written(networks: Networks | None, inside: Representation | None) -> dict[str, pl.DataFrame]:
    """Give the tables about networks and representation as they were read."""
    held = (one.written for one in (networks, inside) if one is not None)
    return {name: frame for tables in held for name, frame in tables.items()}


def _write(
    directory: Path,
    template: str,
    figures: Sequence[Figure],
    frames: Mapping[str, pl.DataFrame],
    about: Mapping[str, Any],
) -> Path:
    """Write a report with its figures and tables."""
    drawings = write_figures(figures, directory / "figures")
    write_tables(frames, directory / "tables")
    page = rendered(
        template, drawings, {**about, "figure_names": list(drawings), "tables": list(frames)}
    )
    path = directory / "report.html"
    path.write_text(page, encoding="utf-8", errors="replace")
    return path


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


def _frames(results: Results) -> dict[str, pl.DataFrame]:
    """Give the tables that are written beside the report; empty ones are not."""
    estimates = results.estimates
    frames = {
        "estimates": estimates,
        "stereotypes": estimates.filter(level="stereotype"),
        "categories": estimates.filter(pl.col("level").is_in(["category", "model", "overall"])),
        "variations": estimates.filter(level="cell"),
        "compliance": results.compliance,
        **{name: getattr(results, name) for name in TABLES},
    }
    return {name: unnamed(frame) for name, frame in frames.items() if not frame.is_empty()}


def _title(results: Results) -> str:
    models = results.plan.texts("models") or tuple(results.estimates["model"].drop_nulls().unique())
    shown = ", ".join(models[:3]) + (f" and {len(models) - 3} more" if len(models) > 3 else "")
    return f"Implicit bias of {shown}" if shown else "Implicit bias report"


def _verdicts(results: Results) -> list[tuple[str, str, str]]:
    """Give the verdicts of this report in the order of their meaning: text, class, meaning."""
    codes = [code for code in results.estimates["verdict"].drop_nulls().unique().sort()]
    order = list(SIGNS)
    kinds = {code: verdict_kind(code) for code in codes}
    codes.sort(key=lambda c: (order.index(kinds[c]) if kinds[c] in order else len(order), c))
    meanings = {**VERDICTS, WITHDRAWN[0]: WITHDRAWN[1]}
    return [
        (verdict(code), verdict_class(code), meanings.get(code, "See the statistics of this run."))
        for code in codes
    ]


def _conditional(results: Results) -> list[tuple[str, str]]:
    """Give what intervals do not vary, and of which stereotypes."""
    frame = results.estimates.filter(level="stereotype").drop_nulls("conditional_on")
    named = frame.group_by("conditional_on", maintain_order=True).agg(
        pl.struct("study", "stereotype").unique(maintain_order=True).alias("of")
    )
    return [
        (fixed, ", ".join(results.plan.labels([(one["study"], one["stereotype"]) for one in of])))
        for fixed, of in named.iter_rows()
    ]


def _defects(plan: Plan) -> list[tuple[str, str]]:
    """Give the defects kept of each study, with the labels of their stereotypes."""
    each = [(study, s) for study, one in plan.studies.items() for s in one.stereotypes.values()]
    labels = plan.labels([(study, s.key) for study, s in each])
    return [
        (label, defect) for label, (_, s) in zip(labels, each, strict=True) for defect in s.defects
    ]
