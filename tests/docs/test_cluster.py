"""The example for Slurm answers every shard once, with a stand-in for the engine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "how-to" / "slurm.sh"

ENGINE = """#!/bin/sh
[ "$1" = run-batch ] || exit 2
echo "$@" >> "$ASKED"
[ -z "${FAILS-}" ] || exit 1
cp "$3" "$5"
"""


def run(tmp_path: Path, task: int, **more: str) -> int:
    engine = tmp_path / "bin" / "vllm"
    engine.parent.mkdir(exist_ok=True)
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    known = {"PATH": f"{engine.parent}:{os.environ['PATH']}", "ASKED": str(tmp_path / "asked")}
    known |= {"SLURM_ARRAY_TASK_ID": str(task), **more}
    done = subprocess.run(["sh", str(SCRIPT), str(tmp_path / "r"), "m"], env=known, check=False)
    return done.returncode


def test_each_task_answers_its_shard_once(tmp_path: Path) -> None:
    folder = tmp_path / "r" / "shards" / "1" / "vllm-m"
    folder.mkdir(parents=True)
    for number in range(2):
        (folder / f"0000{number}.jsonl").write_text(f"{number}\n")
    assert run(tmp_path, 1, FAILS="yes") != 0
    assert not list(folder.glob("*.answers.jsonl"))  # nothing incomplete looks complete
    assert [run(tmp_path, task) for task in (0, 1, 1, 2)] == [0, 0, 0, 0]
    answered = {path.name: path.read_text() for path in folder.glob("*.answers.jsonl")}
    assert answered == {"00000.answers.jsonl": "0\n", "00001.answers.jsonl": "1\n"}
    assert len((tmp_path / "asked").read_text().splitlines()) == 3
