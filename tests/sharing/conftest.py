from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import clinometer as cm


@pytest.fixture(scope="session")
def audited(made_once: Callable[..., Path]) -> Path:
    """Results of a quick audit of two simulated models over two stereotypes."""

    def audit(path: Path) -> None:
        cm.audit(
            ["simulated/leaning", "simulated/neutral"],
            directory=path,
            options=cm.PlanOptions(stereotypes="career,age"),
        )

    return made_once("audited-to-share", audit)


@pytest.fixture(scope="session")
def means(audited: Path) -> pl.DataFrame:
    """The means of the first model of all levels that are shared."""
    return cm.read_results(audited).estimates.filter(
        pl.col("factor").is_null(),
        pl.col("level").is_in(["model", "category", "stereotype"]),
        pl.col("estimate").is_not_null(),
        model="simulated/leaning",
        method="clustered",
    )


@pytest.fixture(scope="session")
def findings(audited: Path) -> list[cm.Finding]:
    """What is told of the means of the first model."""
    model = "simulated/leaning"
    return [finding for finding in cm.findings(audited) if finding.about["model"] == model]
