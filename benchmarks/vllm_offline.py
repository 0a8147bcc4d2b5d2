"""How fast vLLM answers shards, and the same requests through inspect's provider.

Question
    Is it worth answering shards with ``vllm run-batch`` instead of ``clinometer answer``?
Peer
    inspect's provider ``vllm/``, which starts vLLM's server and asks it over HTTP.
Ours
    ``vllm run-batch`` on the files that ``clinometer plan --shards`` writes.
How
    Both are asked `FEW` and `MANY` word associations, each time in a process of its own. Requests
    per second are the difference in requests by the difference in time, so that loading the model
    cancels. It needs a GPU and vLLM. `CLINOMETER_VLLM_MODEL` names the model.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Result, fresh

MODEL = os.environ.get("CLINOMETER_VLLM_MODEL", "Qwen/Qwen2.5-0.5B-Instruct")
FEW, MANY = 400, 4_000
PATHS = {"batch": "vllm run-batch", "inspect": "clinometer answer, inspect's vllm/"}


def has_accelerator() -> bool:
    """Whether vLLM and a GPU are here."""
    if importlib.util.find_spec("vllm") is None:
        return False
    import torch

    return torch.cuda.is_available()


def run() -> Result | None:
    if not has_accelerator():
        return None
    rates = {}
    for path in PATHS:
        few, many = (fresh("benchmarks.vllm_offline", path, n) for n in (FEW, MANY))
        rates[path] = (many["requests"] - few["requests"]) / (many["wall_s"] - few["wall_s"])
    return Result(
        title=f"shards of word associations, {MODEL}",
        columns=("path", "requests per second", "ratio to inspect's"),
        rows=[[PATHS[path], rate, rate / rates["inspect"]] for path, rate in rates.items()],
    )


def measure(path: str, requests: int) -> dict[str, float]:
    """Answer a shard of so many requests; return how many there are, and the time it took."""
    from clinometer.asking.plan import Plan, Selection
    from clinometer.audits.answering import Answering, answer_shards
    from clinometer.audits.sharding import collect_answers, shard_plan
    from clinometer.stimuli import load_study

    with tempfile.TemporaryDirectory() as folder:
        parts = [Selection(load_study("bai2025"), ["age", "power"], ["replication"])]
        plan = Plan(parts, [f"vllm/{MODEL}"], iterations=requests // 2)
        (shard,) = shard_plan(plan, folder)
        begun = time.perf_counter()
        if path == "batch":
            files = ("--input-file", shard, "--output-file", shard.with_suffix(".answers.jsonl"))
            command = ("vllm", "run-batch", *files, "--model", MODEL)
            subprocess.run([*map(str, command)], check=True, stdout=sys.stderr)
        else:
            answer_shards(folder, Answering())
        wall_s = time.perf_counter() - begun
        (found,), _ = collect_answers(Path(folder))
        assert found.complete
        return {"requests": found.expected, "wall_s": wall_s}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
