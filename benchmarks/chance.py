"""Effects among those of rewired networks: whether p is right where there is nothing to find.

Question
    In networks without meaning, how often is p (chance) at most .05, .2 and .5, and how often is
    the published p? How long do 99 rewired networks take?
Peer
    The published p, which takes pairs of a prime and a target for independent.
How
    The network of Claude 3 Haiku (15,596 nodes, 64,599 edges), gender stereotypes. 60 networks
    rewired from it stand for networks without meaning; each is compared with 19 rewired from it
    in turn. Processor time and memory in a process of its own. Without the released network
    nothing is measured.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.measuring import Result, Value, fresh, peak_mb
from benchmarks.networks import HAIKU, STEPS

EMPTY, FEW = 60, 19
LEVELS = (0.05, 0.2, 0.5)


def run() -> Result:
    columns = ("what", "processor s", "peak MB", *(f"p ≤ {level:g}" for level in LEVELS))
    if not HAIKU.exists():
        return Result("Effects and chance", columns, [])
    held, found = (fresh("benchmarks.chance", what) for what in ("held", "calibrated"))
    rows: list[list[Value]] = [
        ["99 rewired networks, gender", held["cpu_s"], held["peak_mb"], None, None, None]
    ]
    for name, shares in found.items():
        rows.append([name, None, None, *shares])
    within = [shares[0] for name, shares in found.items() if "chance" in name]
    naive = [shares[0] for name, shares in found.items() if "published" in name]
    claims: dict[str, bool | None] = {
        "99 rewired networks take under 60 s": held["cpu_s"] < 60,
        # of 60 draws of .05, 8 or more come up once in a hundred times
        "p (chance) is at most .05 in under 8 of 60 networks without meaning": (
            max(within) * EMPTY < 8
        ),
        "the published p is so in more": max(naive) > max(within),
    }
    return Result("Effects and chance", columns, rows, claims)


def measure(what: str) -> dict[str, Any]:
    made: dict[str, Any] = globals()[f"_{what}"]()
    return made


def _held() -> dict[str, Any]:
    from clinometer_measures.networks.controls import compare_with_rewired
    from clinometer_measures.networks.loading import read_network

    network = read_network(HAIKU)
    start = time.process_time()
    compare_with_rewired(network, approaches=["stereotypes"])
    return {"cpu_s": time.process_time() - start, "peak_mb": peak_mb()}


def _calibrated() -> dict[str, list[float]]:
    """Give the share of networks without meaning in which each p is at most each of LEVELS."""
    import numpy as np
    import polars as pl

    from clinometer_measures.networks.bias import measure_bias
    from clinometer_measures.networks.controls import compare_with_rewired, rewire
    from clinometer_measures.networks.loading import read_network
    from clinometer_measures.networks.setting import Setting
    from clinometer_measures.networks.spreading import Spreading

    network, rng = read_network(HAIKU), np.random.default_rng(77)
    shares = {}
    placed, published = [], []
    for seed in range(EMPTY):
        how = Setting(Spreading(time_steps=STEPS), rewirings=FEW, seed=1_000 + seed)
        empty = rewire(network, rng)
        of: dict[str, Any] = {"approaches": ["stereotypes"], "setting": how}
        placed.append(compare_with_rewired(empty, **of))
        published.append(measure_bias([empty], **of).estimates.filter(method="published"))
    for name, frames in (("p (chance)", placed), ("published p", published)):
        table = pl.concat(frames).filter(measure="activation_effect")
        for targets in table["targets"].unique(maintain_order=True):
            p = table.filter(targets=targets)["p"]
            # two p that are equal but for rounding are equal
            shares[f"{name}, {targets} targets"] = [
                float((p <= level + 1e-9).mean() or 0.0) for level in LEVELS
            ]
    return shares


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
