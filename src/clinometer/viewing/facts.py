"""What the overview says of a run: its plan, how far its models are, and what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from clinometer.numbers import percent
from clinometer.pieces.drawing.svg import draw, for_page
from clinometer.pieces.prose import cut
from clinometer.pieces.sections import Summary
from clinometer.report.answers.summary import in_brief, in_lines
from clinometer.results.parquet import reading
from clinometer.results.records import read_plan, text_hash
from clinometer.secrets import redacted
from clinometer.texts import by_address, visible
from clinometer.viewing.pages import ago
from clinometer.viewing.progress import Progress
from clinometer.viewing.runs import ListedRun, Stamp, stamps

#: Files whose change makes the overview another page.
FILES = ("plan.json", "estimates.parquet", "progress.parquet", "report.html")


def plan_of(run: ListedRun) -> Mapping[str, Any]:
    """Read the plan of a run; empty where no model was asked. Raises PlanError as `read_plan`."""
    return read_plan(run.path / "plan.json") if run.has("plan.json") else {}


def models_of(plan: Mapping[str, Any]) -> list[str]:
    """Return the models of a plan."""
    models = plan.get("models")
    return [model for model in models if isinstance(model, str)] if isinstance(models, list) else []


def date_of(plan: Mapping[str, Any]) -> str:
    """Write when a plan was made, to the minute; empty where it does not say."""
    try:
        created = datetime.fromisoformat(str(plan["created"]))
    except (KeyError, ValueError):
        return ""
    return f"{created:%Y-%m-%d %H:%M}"


def height_of(table: Path) -> int:
    """Count the rows of a table, which its end says; raises InputError if it is malformed."""
    with reading(table):
        return int(pl.scan_parquet(table).select(pl.len()).collect().item())


def cells(progress: Progress) -> dict[str, Any]:
    """Write how far a model is."""
    share = progress.answered / progress.trials if progress.trials else None
    total = "" if progress.trials is None else f" of {progress.trials:,}"
    share_text = "" if share is None else f" ({percent(share)})"
    return {
        "model": visible(progress.model),
        "share": share,
        "answered": f"{progress.answered:,}{total}{share_text}",
        "failed": f"{progress.failed:,}",
        "last": ago(progress.since_s),
    }


def stamp(run: ListedRun) -> str:
    """Return what changes when the overview becomes another page."""
    return text_hash(json.dumps(stamps(*(run.path / name for name in FILES))))[:16]


@lru_cache(maxsize=8)
def brief_of(directory: Path, _: tuple[Stamp, ...]) -> tuple[Summary, dict[str, Markup]] | None:
    """Sum up a directory as the report does, with its figure; None before there are tables."""
    if not (directory / "estimates.parquet").is_file():
        return None
    summary = in_brief(directory)
    if summary is None:
        return None
    figure = summary.figure
    drawings = {figure.name: Markup(for_page(draw(figure.spec), figure.name))} if figure else {}
    return summary.page(), drawings


@lru_cache(maxsize=256)
def lines_of(directory: Path, _: tuple[Stamp, ...]) -> tuple[str, ...]:
    """Say what a directory shows over all, in a few lines; none before there are tables."""
    return in_lines(directory) if (directory / "estimates.parquet").is_file() else ()


def message_of(error: Exception) -> str:
    """Put what an error says on a line, cut."""
    return cut(" ".join(redacted(by_address(str(error))).split()), 400)
