"""Run all benchmarks, or those named, print their tables and write ``results.json``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.measuring import NotRun, Result, machine, save, show

NAMES = (
    *(
        "startup",
        "inference",
        "coverage",
        "prompts",
        "deciding",
        "simulated",
        "doses",
        "planted_weights",
        "hiring",
        "framings",
        "emergent",
        "decisions",
        "single_words",
        "cries_wolf",
        "wide",
        "planning",
        "sizes",
        "plans",
        "many_scores",
        "comparing",
        "ranking",
    ),
    *(
        "regression",
        "invented_names",
        "sentences",
        "scoring",
        "reading",
        "elicitation",
        "answering",
    ),
    *("many_models", "embedded", "association", "modes", "models", "embedded_audits"),
    *("networks", "chance", "placebos", "representation", "weat", "faults", "report", "quick"),
    *("rivals", "vllm_offline", "mutations"),
)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"benchmarks: {', '.join(unknown)}: allowed are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    facts = machine()
    for name in names or NAMES:
        console.print(f"{name} …")
        try:
            result: Result | None = importlib.import_module(f"benchmarks.{name}").run()
        except NotRun as reason:
            console.print(f"not run: {reason}")
            continue
        if result is None:
            console.print("needs an accelerator; not run")
            continue
        show(result, console)
        save({name: result}, Path(__file__).with_name("results.json"), facts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
