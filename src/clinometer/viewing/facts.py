"""What the overview says of a run: its plan, how far its models are, and what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from clinometer.report.answers.summary import in_brief
from clinometer.report.prose import cut
from clinometer.report.sections import Summary
from clinometer.results.records import read_plan, text_hash
from clinometer.texts import by_address, redacted, visible
from clinometer.viewing.pages import ago
from clinometer.viewing.progress import Progress
from clinometer.viewing.runs import Run, Stamp, stamps

__all__ = ["FILES", "brief_of", "cells", "message_of", "models_of", "plan_of", "stamp"]

#: Files whose change makes the overview another page.
FILES = ("plan.json", "estimates.parquet", "progress.parquet", "report.html")


def plan_of(run: Run) -> Mapping[str, Any]:
    """Read the plan of a run; empty where no model was asked. Raises PlanError as `read_plan`."""
    return read_plan(run.path / "plan.json") if run.has("plan.json") else {}


def models_of(plan: Mapping[str, Any]) -> list[str]:
    """Return the models of a plan."""
    models = plan.get("models")
    return [one for one in models if isinstance(one, str)] if isinstance(models, list) else []


def cells(one: Progress) -> dict[str, Any]:
    """Write how far a model is."""
    share = one.answered / one.trials if one.trials else None
    of = "" if one.trials is None else f" of {one.trials:,}"
    percent = "" if share is None else f" ({100 * share:.0f}%)"
    return {
        "model": visible(one.model),
        "share": share,
        "answered": f"{one.answered:,}{of}{percent}",
        "failed": f"{one.failed:,}",
        "last": ago(one.since_s),
    }


def stamp(run: Run) -> str:
    """Return what changes when the overview becomes another page."""
    return text_hash(json.dumps(stamps(*(run.path / name for name in FILES))))[:16]


@lru_cache(maxsize=8)
def brief_of(directory: Path, _: tuple[Stamp, ...]) -> Summary | None:
    """Sum up a directory as the report does, without its figure; None before there are tables."""
    if not (directory / "estimates.parquet").is_file():
        return None
    found = in_brief(directory)
    return None if found is None else replace(found.page(), figure=None)


def message_of(error: Exception) -> str:
    """Put what an error says on a line, cut."""
    return cut(" ".join(redacted(by_address(str(error))).split()), 400)
