"""An audit from Python, on a loopback server."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.asking.budget import Budget
from clinometer.audits.auditing import Asking, audit
from clinometer.audits.sizes import PlanOptions
from clinometer.comparing.bundling import bundle
from clinometer.comparing.gating import gate
from clinometer.comparing.verifying import verify
from clinometer.errors import BudgetError, InputError

MODEL = "openai-api/loop/m"
AGE_OPTIONS = PlanOptions(studies=["bai2025"], instruments=["word_association"], stereotypes="age")


def test_an_audit_that_reached_its_budget_is_continued(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve()
    server.reply = lambda body: server.chat(body, "Hm.")
    with pytest.raises(BudgetError, match="1 of .* trials answered"):
        audit(MODEL, directory=tmp_path / "r", options=AGE_OPTIONS, asking=Asking(budget=Budget(1)))
    results = audit(MODEL, directory=tmp_path / "r", options=AGE_OPTIONS)
    assert set(results.estimates["model"].drop_nulls()) == {MODEL}
    assert set(server.prompts.values()) == {1}
    assert results.plan["command"] == f"cm.audit(('{MODEL}',), size='quick')"


def test_what_an_audit_declares_and_sent_is_in_its_bundle(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    serve()
    (tmp_path / "p.yaml").write_text("name: p\nrules:\n- {what: mean, at_most: 0.2}\n")
    declared = replace(AGE_OPTIONS, policy=str(tmp_path / "p.yaml"))
    audit(MODEL, directory=tmp_path / "r", options=declared)
    assert gate(tmp_path / "r", tmp_path / "p.yaml").declared
    verification = verify(bundle(tmp_path / "r", tmp_path / "r.zip"))
    assert verification.holds and verification.as_stored == ()
    with zipfile.ZipFile(tmp_path / "r.zip") as archive:
        prompts = [json.loads(line) for line in archive.read("prompts.jsonl").splitlines()]
        answered = json.loads(archive.read("card.json"))["answered"][MODEL]
    trials = pl.read_parquet(tmp_path / "r" / "responses.parquet")
    assert [prompt["messages"][-1]["content"] for prompt in prompts] == trials["prompt"].to_list()
    assert answered["served_as"] == ["m"] and answered["first"] <= answered["last"]
    (tmp_path / "p.yaml").write_text("name: p\nrules: []\n")
    with pytest.raises(InputError, match="rules"):
        audit(MODEL, directory=tmp_path / "s", options=declared)
