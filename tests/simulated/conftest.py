from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clinometer.simulated.recognising import Recognition
from clinometer.simulated.truth import Simulation, Truth


@pytest.fixture(scope="session")
def recognition() -> Recognition:
    """What is known of the shipped studies; learned once for all tests."""
    return Recognition()


@pytest.fixture
def plant() -> Callable[..., Simulation]:
    """Make a simulated model from the fields of a truth."""

    def make(**fields: Any) -> Simulation:
        return Simulation("planted", Truth.model_validate(fields), "")

    return make
