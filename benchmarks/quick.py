"""The quick audit of the embedded model: how long, and where the time goes.

Question
    What does ``clinometer audit clinometer/smollm2`` take on this machine, start to page?
Peer
    The machine itself: the speed of its best product of matrices, of the shapes and the number
    format that the model has.
How
    One audit in a fresh process. Counted are the tokens of every sentence with each of its ends
    (shown), those that went through the model (computed), and the time in forward passes.
    Operations of a token: twice the parameters of the blocks. Needs the extra `local` and the
    weights.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import Result, fresh

MODEL = "clinometer/smollm2"
LIMIT_S = 120.0
ROWS, WIDTH, INNER, TRIES = 1024, 576, 1536, 50


def run() -> Result:
    from clinometer.errors import ModelError
    from clinometer.models.embedded.weights import EMBEDDED_LIBRARIES, find_weights
    from clinometer.models.libraries import require_libraries

    title = "The quick audit of the embedded model"
    columns = ("part", "s", "tokens shown", "computed", "GFLOP/s", "share of the peak")
    try:
        require_libraries(MODEL, *EMBEDDED_LIBRARIES)
        find_weights()
    except ModelError as error:
        return Result(title, columns, [], {}, [f"not run: {error}"])
    found = fresh("benchmarks.quick", variables={"OMP_WAIT_POLICY": "passive"})
    speed = found["operations"] / found["forward_s"] / 1e9
    rows = [
        ["whole audit", found["whole_s"], None, None, None, None],
        ["forward passes", found["forward_s"], found["shown"], found["computed"], speed,
         speed / found["peak"]],
    ]  # fmt: skip
    claims = {
        "at most two minutes": found["whole_s"] <= LIMIT_S,
        "at most a tenth of the tokens shown are computed": (
            found["computed"] <= found["shown"] / 10
        ),
    }
    notes = [
        f"{found['passes']} passes, {found['threads']} threads; the best product of matrices: "
        f"{found['peak']:.0f} GFLOP/s",
        "whole audit: plan, answers, hidden states, tables and page; without loading torch",
    ]
    return Result(title, columns, rows, claims, notes)


def _worker() -> None:
    import torch

    from clinometer.models.embedded.engine import Engine
    from clinometer.models.embedded.pace import PARAMETERS

    counted = {"computed": 0, "passes": 0, "forward_s": 0.0}
    forward = Engine._forward

    def passing(self: Engine, segments: list[Any]) -> None:
        start = time.perf_counter()
        forward(self, segments)
        counted["forward_s"] += time.perf_counter() - start
        counted["computed"] += sum(len(segment.tokens) for segment in segments)
        counted["passes"] += 1

    Engine._forward = passing  # type: ignore[method-assign]
    peaks = [_peak()]
    whole_s = _audit()
    peaks.append(_peak())
    found: dict[str, Any] = {**counted, "shown": _shown(), "whole_s": whole_s, "peak": max(peaks)}
    found |= {"operations": 2.0 * PARAMETERS * counted["computed"]}
    print(json.dumps({**found, "threads": torch.get_num_threads()}))


def _shown() -> int:
    """Return the tokens of all texts that the audit asks about."""
    from transformers import AutoTokenizer

    from clinometer.audits.sizes import sized_plan
    from clinometer.models.embedded.weights import expand_weights, find_weights
    from clinometer.modes.likelihood import Texts

    tokenizer: Any = AutoTokenizer.from_pretrained(expand_weights(Path(find_weights())))
    trials = sized_plan("quick", [MODEL]).trials().iter_rows(named=True)
    texts = (text for trial in trials for text in Texts.from_trial(trial).all_texts())
    return sum(len(tokenizer.encode(text)) for text in texts)


def _audit() -> float:
    """Return the seconds of an audit, by the command itself."""
    from clinometer.cli import main

    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["clinometer", "audit", MODEL, "--out", str(Path(folder) / "results")]
        start = time.perf_counter()
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"the audit ended with {ended.code}") from None
        return time.perf_counter() - start


def _peak() -> float:
    """Return the most operations a second, in 10⁹, of a product in the format of the model."""
    import torch

    from clinometer.models.embedded.weights import fastest_dtype

    dtype = getattr(torch, fastest_dtype())
    left, right = torch.randn(ROWS, WIDTH, dtype=dtype), torch.randn(INNER, WIDTH, dtype=dtype)
    best = float("inf")
    for _ in range(TRIES):
        start = time.perf_counter()
        torch.nn.functional.linear(left, right)
        best = min(best, time.perf_counter() - start)
    return 2.0 * ROWS * WIDTH * INNER / best / 1e9


if __name__ == "__main__":
    sys.exit(_worker())
