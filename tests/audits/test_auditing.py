"""An audit from Python, on a loopback server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.asking.budget import Budget
from tiltmeter.audits.auditing import Asking, audit
from tiltmeter.audits.sizes import PlanOptions
from tiltmeter.errors import BudgetError

MODEL = "openai-api/loop/m"
ONE = PlanOptions(studies=["bai2025"], instruments=["word_association"], stereotypes="age")


def test_an_audit_that_reached_its_budget_is_continued(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve()
    server.reply = lambda body: server.chat(body, "Hm.")
    with pytest.raises(BudgetError, match="1 of .* trials answered"):
        audit(MODEL, directory=tmp_path / "r", options=ONE, asking=Asking(budget=Budget(1)))
    results = audit(MODEL, directory=tmp_path / "r", options=ONE)
    assert set(results.estimates["model"].drop_nulls()) == {MODEL}
    assert set(server.prompts.values()) == {1}
    assert results.plan["command"] == f"tm.audit(('{MODEL}',), size='quick')"
