"""The pytest plugin: a fixture that fails a test where a run is not within its policy.

::

    def test_the_model_may_ship(clinometer_gate):
        clinometer_gate("results/candidate", "policy.yaml", baseline="results/released")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from clinometer.comparing.gating import Gated

__all__ = ["clinometer_gate"]


@pytest.fixture
def clinometer_gate() -> Callable[..., Gated]:
    """Return a function that judges a run; its parameters are those of `gate`.

    The test fails where the gate fails. An inconclusive gate fails it too; with
    ``inconclusive="skip"`` it is skipped, and never passed.
    """

    def judge(
        results: object, policy: Any, baseline: object = None, *, inconclusive: str = "fail",
        **options: Any,
    ) -> Gated:  # fmt: skip
        """Judge a run, and fail or skip the test unless it passes."""
        from clinometer.comparing.exports import as_markdown, report_of
        from clinometer.comparing.gating import gate

        if inconclusive not in ("fail", "skip"):
            raise ValueError(f"inconclusive {inconclusive!r}: fail or skip")
        gated = gate(results, policy, baseline, **options)
        if gated.outcome == "inconclusive" and inconclusive == "skip":
            pytest.skip(f"inconclusive: {gated.policy.name}")
        if gated.outcome != "pass":
            pytest.fail(as_markdown(report_of(gated)), pytrace=False)
        return gated

    return judge
