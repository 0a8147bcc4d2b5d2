from collections.abc import Callable
from pathlib import Path

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
