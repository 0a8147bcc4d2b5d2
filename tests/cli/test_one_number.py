"""Whatever says what a run found states the same numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import clinometer as cm
from clinometer.numbers import bracketed, interval, number

Run = Callable[..., tuple[int, str, str]]

INTERVAL = re.compile(r"−?\d\.\d\d to −?\d\.\d\d")

AUDIT = ("--study", "bai2025", "--instrument", "word_association", "--no-profile", "--out", "r")
SYSTEM = (
    "--system",
    "Ranker",
    "--model",
    "simulated/leaning",
    "--use",
    "Ranks",
    "--group",
    "W=age",
)


@pytest.fixture
def outputs(run: Run) -> dict[str, str]:
    """What each output says of one run of two stereotypes of one category."""
    run("init", *SYSTEM)
    run(
        "audit",
        "simulated/leaning",
        "--policy",
        "policy.yaml",
        "--stereotypes",
        "age,weight",
        *AUDIT,
    )
    profile = Path("profile.yaml")
    profile.write_text(
        profile.read_text("utf-8")
        .replace("FILL IN: a date, as 2027-06-30", "2999-01-01")
        .replace("FILL IN: ", ""),
        "utf-8",
    )
    run("dossier", "r", "--profile", "profile.yaml", "--out", "d")
    page = Path("r/report.html").read_text("utf-8")
    dossier = json.loads(Path("d/dossier.json").read_text("utf-8"))
    return {
        "terminal": run("report", "r")[1],
        "sentences": run("report", "r", "--verbose")[1],
        "page": page[page.index('class="summary"') : page.index("<nav")],
        "dossier": json.dumps(dossier["findings"], ensure_ascii=False),
        "public": Path("d/public-summary.html").read_text("utf-8"),
        "gate": run("gate", "r", "--policy", "policy.yaml")[1],
    }


def test_no_two_outputs_of_one_run_state_different_numbers(outputs: dict[str, str]) -> None:
    findings = cm.findings("r")
    over_all = findings[0]
    stated = {
        interval(*ends)
        for finding in findings
        for ends in ((finding.low, finding.high), (finding.low_in_prompts, finding.high_in_prompts))
    }
    # From the least stereotype to the most.
    stated |= {finding.spread.rpartition("from ")[2] for finding in findings if finding.spread}
    mean, ends = number(over_all.mean), interval(over_all.low, over_all.high)
    for name, text in outputs.items():
        assert set(INTERVAL.findall(text)) <= stated, name
        assert mean in text and ends in text, name
    assert bracketed(over_all.mean, over_all.low, over_all.high) in outputs["page"]
