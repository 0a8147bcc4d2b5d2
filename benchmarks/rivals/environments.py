"""Environments of the other tools, pinned and made once, and the running of a tool in one.

They lie in `~/.cache/clinometer/rivals`, or in the folder that `CLINOMETER_RIVALS` names. LangFair
needs numpy below 2 and bias-scope one above, so there are two.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["TOOLS", "EnvironmentMissing", "Tool", "ToolFailed", "ask", "interpreter"]

HERE = Path(__file__).parent
INSTALLING_S, RUNNING_S = 3600, 3600
#: Reproducible, and one core: tools that ask for more get none, so that seconds are comparable.
VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
}


class EnvironmentMissing(Exception):
    """An environment could not be made; the message says why, in one line."""


class ToolFailed(Exception):
    """A tool could not be loaded, or ended; the message says why, in one line."""


@dataclass(frozen=True)
class Tool:
    """An adapter, and the requirements of its environment (None: this one, or R)."""

    name: str
    requirements: str | None = "requirements.txt"
    folder: str = "tools"
    """Where the adapter lies."""


TOOLS = (
    Tool("clinometer", None),
    Tool("t_test"),
    Tool("mixed_model", None),
    Tool("lm_eval"),
    Tool("vfairness"),
    Tool("fairpipe"),
    Tool("bias_scope"),
    Tool("fairlms"),
    Tool("langfair", "requirements-langfair.txt"),
)


def ask(tool: Tool, runs: Path, folder: Path) -> list[dict[str, Any]]:
    """Put runs to a tool; return the lines of `adapter`, the first with its version.

    Raises EnvironmentMissing, or ToolFailed where its adapter ended with an error.
    """
    out = folder / f"{tool.name}.jsonl"
    adapter, file = str(HERE / "adapter.py"), str(HERE / tool.folder / f"{tool.name}.py")
    command = [str(interpreter(tool)), adapter, file, str(runs), str(out)]
    variables = {**os.environ, **VARIABLES}
    if tool.requirements is not None:  # its own packages, not those of this environment
        variables.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=RUNNING_S
        )
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"no answer within {RUNNING_S} s") from None
    if done.returncode:
        raise ToolFailed(_last_line(done.stderr))
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def interpreter(tool: Tool) -> Path:
    """Return the interpreter of a tool's environment, made if its requirements changed."""
    if tool.requirements is None:
        return Path(sys.executable)
    requirements = HERE / tool.requirements
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    folder = _cache() / f"{requirements.stem}-{digest}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "complete").exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)])
        (folder / "complete").touch()
    return python


def _cache() -> Path:
    named = os.environ.get("CLINOMETER_RIVALS")
    return Path(named) if named else Path.home() / ".cache" / "clinometer" / "rivals"


def _run(command: list[str]) -> None:
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=INSTALLING_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentMissing(f"the other tools cannot be installed: {error}") from None
    if done.returncode:
        raise EnvironmentMissing(
            f"the other tools cannot be installed: {_last_line(done.stderr or done.stdout)}"
        )


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no message"
