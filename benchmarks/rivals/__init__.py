"""Who cries wolf: answers of known truth, put to what users would otherwise use.

Question
    How often does each tool find a group effect where there is none, and how often where there is
    one? What can it not express, and how long does it take?
Peer
    vfairness, fairpipe, fairlms, LangFair, BiasScope, the standard error of lm-eval, a t test of
    answers and one of name means, a mixed model of R; for power, an oracle that knows the error of
    the estimate.
How
    `scenarios` draws answers of known truth (200 runs each, seeds kept), `recorded` takes released
    answers of GPT-4o with labels of known truth (100 runs; left out where they are not there).
    Each tool has a file in `tools/`, with the call that its own documentation gives for such
    answers and its defaults, run in an environment of its own (`environments`). A finding is what
    the tool itself calls one: p < .05, an interval that excludes neutral, a verdict. A failure is
    neither a finding nor none, and is counted apart.
    The oracle's estimate is the difference in the share of yes, the mean over both orders, or the
    mean score; it is a finding beyond 1.96 times its standard deviation over the runs (of released
    answers, over all that the coin could have given).
    ``python -m benchmarks.rivals quick`` does 20 runs and saves nothing.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from benchmarks.measuring import NotRun, Result, Value
from benchmarks.rivals import recorded, scenarios
from benchmarks.rivals.environments import (
    TOOLS,
    EnvironmentMissing,
    Tool,
    ToolFailed,
    ask,
    interpreter,
)

__all__ = ["measure", "run"]

RUNS, RECORDED_RUNS, FEW = 200, 100, 20
MOST_FALSE, POWER_RATIO, Z = 0.06, 1.25, 1.96
OURS, ORACLE = "Clinometer", "oracle"

Row = dict[str, Any]
#: Call → scenario → what was said of each run.
Said = Mapping[str, Mapping[str, Sequence[Row]]]


def run() -> Result:
    return measure(RUNS, RECORDED_RUNS)


def measure(runs: int, recorded_runs: int, tools: Sequence[Tool] = TOOLS) -> Result:
    """Put the frozen set to the tools; raises NotRun where none but Clinometer can be installed."""
    ready, missing = _ready(tools)
    if all(tool.requirements is None for tool in ready):
        raise NotRun(missing[0])
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        path = folder / "runs.jsonl"
        truths = _write(path, runs, recorded_runs)
        said, notes, failed = _ask_all(ready, path, folder)
        with path.open(encoding="utf-8") as lines:
            said = {ORACLE: _oracle(map(json.loads, lines)), **said}
    rows = [*_rows("no lean", said, truths), *_rows("a lean", said, truths)]
    rows.append(["seconds a run", *(_seconds(of_call) for of_call in said.values())])
    if not recorded.available():
        notes.append("released answers of GPT-4o are not here; their scenarios are left out")
    notes += [*missing, *failed, *_failures(said), *_numbers(said), *_truths(truths)]
    return Result(
        "Share of runs in which a tool finds a group effect",
        ("answers", *said),
        rows,
        _claims(said, truths),
        [*notes, *_legends(runs, recorded_runs)],
    )


def _ready(tools: Sequence[Tool]) -> tuple[list[Tool], list[str]]:
    """Return the tools whose environment is there, and a line for each of the others."""
    ready, missing = [], []
    for tool in tools:
        try:
            interpreter(tool)
        except EnvironmentMissing as reason:
            missing.append(f"{tool.name}: {reason}")
        else:
            ready.append(tool)
    return ready, missing


def _write(path: Path, runs: int, recorded_runs: int) -> dict[str, str]:
    """Write the frozen set, a run a line; return the truth of each scenario."""
    truths = {scenario.name: scenario.truth for scenario in scenarios.SCENARIOS}
    with path.open("w", encoding="utf-8") as file:
        for scenario in scenarios.SCENARIOS:
            for number in range(runs):
                drawn = scenarios.draw(scenario, number)
                print(json.dumps({"scenario": scenario.name, **drawn}), file=file)
        if recorded.available():
            truths |= recorded.TRUTHS
            for name in recorded.RECORDED:
                for number in range(recorded_runs):
                    drawn = recorded.draw(name, number)
                    print(json.dumps({"scenario": name, **drawn}), file=file)
    return truths


def _ask_all(
    tools: Sequence[Tool], path: Path, folder: Path
) -> tuple[dict[str, dict[str, list[Row]]], list[str], list[str]]:
    """Return what the tools said, notes of what they cannot express, and failures."""
    said: dict[str, dict[str, list[Row]]] = {}
    versions, cannot, failed = [], [], []
    with ThreadPoolExecutor(2) as pool:  # two processes at a time
        asked = {tool.name: pool.submit(ask, tool, path, folder) for tool in tools}
    for tool in tools:
        try:
            first, *findings = asked[tool.name].result()
        except ToolFailed as reason:
            failed.append(f"{tool.name} was not run: {reason}")
            continue
        versions.append(f"{tool.name} {first['version']}")
        cannot += [f"{tool.name}, {kind}: cannot be expressed: {why}"
                   for kind, why in first["cannot"].items()]  # fmt: skip
        for row in findings:
            said.setdefault(row["call"], defaultdict(list))[row["scenario"]].append(row)
    return said, [", ".join(versions), *cannot], failed


def _oracle(runs: Iterator[Row]) -> dict[str, list[Row]]:
    """Return what is found by somebody who knows the error of the estimate."""
    estimates: dict[str, list[float]] = defaultdict(list)
    by_coin: dict[str, list[float]] = defaultdict(list)
    for drawn in runs:
        name, answers = drawn["scenario"], drawn["answers"]
        estimates[name].append(_estimate(drawn["kind"], answers))
        if name in recorded.BY_COIN:
            squares = sum(value**2 for value in answers["score"])
            by_coin[name].append(squares**0.5 / len(answers["score"]))
    said = {}
    for name, values in estimates.items():
        errors = by_coin.get(name) or [pstdev(values)] * len(values)
        said[name] = [
            {"found": abs(value) > Z * sd, "number": value, "s": 0.0, "error": None}
            for value, sd in zip(values, errors, strict=True)
        ]
    return said


def _estimate(kind: str, answers: Mapping[str, Sequence[Any]]) -> float:
    """Return the estimate of a run, less its neutral value."""
    if kind == "associations":
        return fmean(answers["score"])
    value, by = ("yes", "group") if kind == "decisions" else ("consistent", "order")
    values: dict[str, list[float]] = defaultdict(list)
    for number, side in zip(answers[value], answers[by], strict=True):
        if number is not None:
            values[side].append(number)
    means = {side: fmean(of_side) for side, of_side in values.items()}
    if kind == "decisions":
        return means["default"] - means["marginalized"]
    return fmean(means.values()) - 0.5  # both orders count alike


def _rows(part: str, said: Said, truths: Mapping[str, str]) -> Iterator[list[Value]]:
    """Yield the rows of the scenarios without a lean, or with one, below a row that says so."""
    yield [f"{part.upper()}", *[None] * len(said)]
    for name, truth in truths.items():
        if (part == "no lean") == truth.startswith("no lean"):
            yield [name, *(_cell(of_call.get(name, [])) for of_call in said.values())]


def _cell(rows: Sequence[Row]) -> Value:
    """Return the share of findings; None of a tool that makes no decision, or was not asked."""
    answered = [row["found"] for row in rows if row["error"] is None]
    failed = len(rows) - len(answered)
    if failed:
        share = f"{fmean(answered):.3f}, " if answered and None not in answered else ""
        return f"{share}{failed} of {len(rows)} failed"
    return round(fmean(answered), 3) if answered and None not in answered else None


def _numbers(said: Said) -> Iterator[str]:
    """Yield the mean numbers of tools that make no decision."""
    for call, of_call in said.items():
        means = {
            name: fmean(row["number"] for row in rows)
            for name, rows in of_call.items()
            if all(row["found"] is None and row["error"] is None for row in rows)
        }
        if means:
            listed = "; ".join(f"{name} {mean:.2f}" for name, mean in means.items())
            yield f"{call} gives a number and makes no decision; its means: {listed}"


def _truths(truths: Mapping[str, str]) -> Iterator[str]:
    """Yield what is true where it is more than that there is no lean."""
    for name, truth in truths.items():
        if truth != "no lean":
            yield f"{name}: {truth}"


def _share(rows: Sequence[Row]) -> float | None:
    """Return the share of findings of runs that did not fail; None without one."""
    found = [row["found"] for row in rows if row["error"] is None]
    return fmean(found) if found and None not in found else None


def _seconds(of_call: Mapping[str, Sequence[Row]]) -> float:
    return round(fmean(row["s"] for rows in of_call.values() for row in rows), 4)


def _failures(said: Said) -> list[str]:
    """Return a line for each call that failed, with the first reason."""
    notes = []
    for call, of_call in said.items():
        errors = [row["error"] for rows in of_call.values() for row in rows if row["error"]]
        if errors:
            notes.append(f"{call}: failed {len(errors)} times: {errors[0]}")
    return notes


def _claims(said: Said, truths: Mapping[str, str]) -> dict[str, bool | None]:
    """Return what is claimed of Clinometer; None where it was not run."""
    claims: dict[str, bool | None] = {}
    for call in (name for name in said if name.startswith(OURS)):
        shares = {name: _share(rows) for name, rows in said[call].items()}
        known = {name: share for name, share in shares.items() if share is not None}
        false = [share for name, share in known.items() if truths[name].startswith("no lean")]
        ratios = [
            (_share(said[ORACLE][name]) or 0.0) <= POWER_RATIO * share
            for name, share in known.items()
            if not truths[name].startswith("no lean")
        ]
        claims[f"{call}: at most {MOST_FALSE:.0%} false findings in every scenario"] = (
            max(false) <= MOST_FALSE if false else None
        )
        claims[f"{call}: the oracle finds a lean at most {POWER_RATIO} times as often"] = (
            all(ratios) if ratios else None
        )
    return claims


def _legends(runs: int, recorded_runs: int) -> list[str]:
    error = (0.05 * 0.95 / runs) ** 0.5
    return [
        f"{runs} runs of simulated answers, {recorded_runs} of GPT-4o's; the first 100 at most for "
        "Clinometer and the mixed model, 40 for vfairness's interval and verdict, 20 for single "
        "persons",
        f"a share of .05 of {runs} runs has a standard error of {error:.3f}",
        "–: no decision is made, or it cannot be expressed",
        "seconds are of the processor; vfairness's verdict is of the same call as its interval",
        "lm-eval counts a refusal as another answer than yes, all others leave it out",
    ]
