"""One call for a system of one's own: twins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from clinometer.audits.auditing import audit
from clinometer.audits.running import Asking
from clinometer.audits.sizes import PlanOptions
from clinometer.directory.results import Results
from clinometer.models.apps import as_model


def twins(
    system: str | Callable[..., Any],
    study: str | Path,
    *,
    size: str = "quick",
    directory: str | Path | None = None,
    asking: Asking | None = None,
) -> Results:
    """Ask a system a prompt of people who differ in one thing, beside its rewordings.

    Parameters
    ----------
    system
        A function (`as_model`), or what names a model: ``openai/gpt-4o-mini``, ``app/FILE.yaml``.
    study
        A file with the prompt, its rewordings, contrasts and what counts; or the name of a study.
    size, directory, asking
        As of `audit`; by default the directory is named after the study.

    Returns
    -------
    Results
        As of `audit`, with its errors.
    """
    options = PlanOptions((str(study),), ("twins",), controls=True)
    return audit(
        as_model(system) if callable(system) else system,
        size=size,
        directory=directory or twins_directory(study),
        options=options,
        asking=asking,
        profile=False,
    )


def twins_directory(study: str | Path) -> Path:
    """Return where the results of a study of twins are written by default."""
    return Path("results") / f"twins-{Path(study).stem.removesuffix('.twins')}"
