"""The report of an audit: time to write it, its weight, and how much there is to read.

Question
    How long does the page of a quick audit take, how heavy is it, and how much is there to read?
    How heavy is the page of eight models at paper size?
Peer
    The budget: 1.5 MB, ten screens behind the first, eight pages of print; 5 MB for eight models.
How
    A server on the loopback interface answers a quick audit with answers drawn by prompt; the page
    is opened in Chromium, once per window. Words that fold are counted apart. The answers of eight
    models are drawn in the same way and put into their journals.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.browser import chromium, height
from benchmarks.faults import Server
from benchmarks.measuring import Result

MODEL = "openai-api/loop/m"
WINDOWS = {"1280 x 800": (1280, 800), "500 x 844": (500, 844)}  # the narrowest of a browser
BUDGET_MB, SCREENS, PAGES = 1.5, 11.0, 8
EIGHT_MB = 5.0


def run() -> Result:
    server = Server(_answers())
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "audit"
        code = "from clinometer.cli import main; main()"
        environment = {**os.environ, "LOOP_BASE_URL": server.url, "LOOP_API_KEY": "none"}
        command = [sys.executable, "-c", code, "audit", MODEL, "--out", str(out)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        from clinometer.report import write_report

        start = time.perf_counter()
        page = write_report(out)
        seconds = time.perf_counter() - start
        text = page.read_text(encoding="utf-8")
        weight = page.stat().st_size / 1e6
        screens = {name: height(text, *size) / size[1] for name, size in WINDOWS.items()}
        pages = _pages(page)
        eight = _page_of_eight(Path(folder) / "eight").stat().st_size / 1e6
    at_once = _words(_flat(text))
    rows = [
        ("seconds to write it", seconds),
        ("megabytes", weight),
        *((f"screens of {name}", number) for name, number in screens.items()),
        ("pages of print", pages),
        ("megabytes of eight models, paper size", eight),
        ("words to read at once", at_once),
        ("words, unfolded", _words(text)),
    ]
    return Result(
        "The report of a quick audit",
        ("what", "number"),
        rows,
        {
            f"at most {BUDGET_MB} MB": weight <= BUDGET_MB,
            "at most ten screens behind the first": screens["1280 x 800"] <= SCREENS,
            f"at most {PAGES} pages of print": pages <= PAGES,
            f"at most {EIGHT_MB:g} MB for eight models at paper size": eight <= EIGHT_MB,
        },
    )


def _answers() -> dict[str, str]:
    """Return an answer to each prompt of the audit, drawn by the prompt alone."""
    from clinometer.audits.sizes import PlanOptions, sized_plan

    answers: dict[str, str] = _Otherwise()
    for row in sized_plan("quick", [MODEL], PlanOptions()).trials().iter_rows(named=True):
        answers[row["prompt"]] = _drawn(row, random.Random(row["prompt"]))
    return answers


def _drawn(trial: dict[str, Any], rng: random.Random) -> str:
    """Draw an answer to a trial: a decision, or a group for each word."""
    groups = (trial["marginalized"], trial["default"])
    if trial["tied"]:
        first, second = rng.sample(groups, 2)
        return f"{first} should get {trial['tied']}, and {second} {trial['counter']}."
    return "\n".join(f"{word} - {rng.choice(groups)}" for word in trial["attributes"] or ())


def _page_of_eight(directory: Path) -> Path:
    """Write the report of eight models whose answers to the papers' trials are drawn."""
    from clinometer.asking.claim import claim
    from clinometer.audits.sizes import PlanOptions, sized_plan
    from clinometer.audits.tabulating import tabulate
    from clinometer.report import write_report
    from clinometer.results.records import Journal

    plan = sized_plan("paper", [f"openai/model-{name}" for name in "abcdefgh"], PlanOptions())
    claim(directory, plan, "benchmark")
    trials = plan.trials().rows(named=True)
    known = {"profile": None, "stop_reason": "stop", "error": None, "calls": 1}
    for model in plan.models:
        journal, rng = Journal(directory, model), random.Random(model)
        for trial in trials:
            said = _drawn(trial, rng) or rng.choice(("comedy", "tragedy"))
            journal.append({**known, "trial_id": trial["trial_id"], "response": said})
        journal.close()
    tabulate(directory)
    return write_report(directory)


class _Otherwise(dict[str, str]):
    """Answers a second question."""

    def __missing__(self, prompt: str) -> str:
        return random.Random(prompt).choice(("comedy", "tragedy"))


def _pages(page: Path) -> int:
    """Return the number of pages that it prints on."""
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder) / "page.pdf"
        chromium(page.as_uri(), f"--print-to-pdf={printed}")
        return len(re.findall(rb"/Type\s*/Page[^s]", printed.read_bytes()))


def _flat(text: str) -> str:
    """Leave out what folds within what folds."""
    inner = re.compile(r"<details(?:(?!<details|</details>).)*</details>", re.S)
    while (shorter := inner.sub("", text)) != text:
        text = shorter
    return text


def _words(text: str) -> int:
    """Count words that are read, those of figures apart."""
    bare = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", text, flags=re.S)
    return len(re.sub(r"<[^>]+>", " ", bare).split())
