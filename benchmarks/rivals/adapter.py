"""Put runs to one tool, in the tool's own environment: ``python adapter.py TOOL RUNS OUT``.

TOOL is a file of `tools/`, RUNS a file with a run a line as JSON (`scenarios.draw`, with the name
of its scenario), OUT the file to write: a line with the version, and one for each run and call.
Needs nothing but the standard library and the tool.

A file of `tools/` has

    DISTRIBUTION  what pip calls it; `version`, a function, says it of what pip does not know
    CALLS         row of the table → kind of answers → function: run → (finding, number)
    CANNOT        kind of answers that it cannot express → why
    MOST_RUNS     row of the table → runs of a scenario, where a call takes long
    TOGETHER      runs given to a function in one list; it then returns a list

A finding is true or false, or None where the tool gives a number and no decision. What a call
raises is written down as a failure, and is neither a finding nor none.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main(tool: str, runs: str, out: str) -> None:
    lines = Path(runs).read_text(encoding="utf-8").splitlines()
    with warnings.catch_warnings(), Path(out).open("w", encoding="utf-8") as file:
        warnings.simplefilter("ignore")
        module = _load(Path(tool))
        version = _version(module)
        cannot = getattr(module, "CANNOT", {})
        print(json.dumps({"version": version, "cannot": cannot}), file=file)
        for finding in put(module, [json.loads(line) for line in lines]):
            print(json.dumps(finding), file=file)


def put(module: Any, runs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what each call of a tool says of each run that it can express."""
    most_runs, together = getattr(module, "MOST_RUNS", {}), getattr(module, "TOGETHER", 1)
    for call, functions in module.CALLS.items():
        most = most_runs.get(call, len(runs))
        for kind, function in functions.items():
            of_kind = [run for run in runs if run["kind"] == kind and run["run"] < most]
            for start in range(0, len(of_kind), together):
                yield from _say(call, function, of_kind[start : start + together], together)


def _say(
    call: str, function: Any, runs: list[dict[str, Any]], together: int
) -> Iterator[dict[str, Any]]:
    """Call a function with one run, or a list; yield a row for each."""
    start, error, results = _processor_time(), None, [(None, None)] * len(runs)
    try:
        results = function(runs) if together > 1 else [function(runs[0])]
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}".splitlines()[0][:200]
    seconds = (_processor_time() - start) / len(runs)
    for run, (found, number) in zip(runs, results, strict=True):
        yield {
            "call": call,
            "scenario": run["scenario"],
            "run": run["run"],
            "found": None if found is None else bool(found),
            "number": None if number is None else float(number),
            "s": seconds,
            "error": error,
        }


def _processor_time() -> float:
    """Return the seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def _version(module: Any) -> str:
    if hasattr(module, "version"):
        return str(module.version())
    return importlib.metadata.version(module.DISTRIBUTION)


def _load(path: Path) -> Any:
    """Load a file under a name of its own: it may be called as the package it uses."""
    spec = importlib.util.spec_from_file_location(f"tool_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(*sys.argv[1:])
