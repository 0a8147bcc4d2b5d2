"""The examples for Slurm and SkyPilot answer every shard once, with stand-ins for the engines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from clinometer.asking.plan import Plan, Selection
from clinometer.audits.sharding import collect_answers, shard_plan
from clinometer.stimuli import load_study

GUIDES = Path(__file__).parents[2] / "docs" / "how-to"
SCRIPT = GUIDES / "slurm.sh"

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
    environment = {
        "PATH": f"{engine.parent}:{os.environ['PATH']}",
        "ASKED": str(tmp_path / "asked"),
    }
    environment |= {"SLURM_ARRAY_TASK_ID": str(task), **more}
    done = subprocess.run(
        ["sh", str(SCRIPT), str(tmp_path / "r"), "m"], env=environment, check=False
    )
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


COMMAND = f"""#!/bin/sh
exec {sys.executable} -c 'from clinometer.cli import main; main()' "$@"
"""


@pytest.mark.slow
def test_each_machine_answers_shards_of_its_own(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve()
    task = yaml.safe_load((GUIDES / "sky.yaml").read_text(encoding="utf-8"))
    part = Selection(load_study("bai2025"), ["age"], ["replication"])
    shard_plan(Plan([part], ["openai-api/loop/m"], iterations=12), tmp_path / "r", 5)
    n_shards = len(list(tmp_path.glob("r/shards/1/*/*.jsonl")))
    command = tmp_path / "clinometer"
    command.write_text(COMMAND)
    command.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": ":".join(sys.path)}
    environment = os.environ | path
    task_environment = {**task["envs"], "RESULTS": str(tmp_path / "r"), "SHARDS": "5"}
    answered = []
    for rank in range(task["num_nodes"]):
        environment |= {
            "SKYPILOT_NODE_RANK": str(rank),
            "SKYPILOT_NUM_NODES": str(task["num_nodes"]),
        }
        subprocess.run(["sh", "-ec", task["run"]], env=environment | task_environment, check=True)
        answered.append({path.name for path in tmp_path.glob("r/shards/1/*/*.answers.jsonl")})
    assert answered[0] < answered[1] and len(answered[1]) == n_shards > 2
    assert {int(name[:5]) % 2 for name in answered[0]} == {0}
    assert collect_answers(tmp_path / "r")[0][0].complete and server.prompts.total() == 12
