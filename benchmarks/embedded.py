"""The embedded model beside plain transformers.

Question
    How fast does it answer, and are its numbers those of plain transformers?
Peer
    The same weights in plain `transformers` (float32, sdpa), which reads the whole prompt anew
    for every word: one forward pass, or one an option where options are several tokens.
Ours
    ``clinometer/smollm2`` through `ask_models`: prompts that begin alike are read once, words and
    trials share forward passes, and inspect, journal and budget are included.
How
    Both in one fresh process with the same threads, loaded and warmed before; a mirrored
    pair of trials in turn. Temperature 0, so structured answers must be the same text; in
    forced mode the log-probabilities of both options are compared. Needs the extra `local`
    and the weights.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Result, Value, fresh, ratio
from benchmarks.plain_model import PlainModel

if TYPE_CHECKING:
    from clinometer.asking.plan import Plan

MODEL = "clinometer/smollm2"
MODES = ("structured", "forced")
PARTS = ("age", "power", "career")
WARM_UP = "eating"
TRIALS = 2  # a part: one draw in both orders
CLOSE = 0.001
Answers = dict[str, dict[str, Any]]


def run() -> Result:
    from clinometer.errors import ModelError
    from clinometer.models.embedded.weights import EMBEDDED_LIBRARIES, find_weights
    from clinometer.models.libraries import require_libraries

    columns = ("mode", "path", "trials", "words", "trials/s", "words/s", "time ÷ peer")
    title = "The embedded model beside plain transformers"
    try:
        require_libraries("clinometer/smollm2", *EMBEDDED_LIBRARIES)
        find_weights()
    except ModelError as error:
        return Result(title, columns, [], {}, [f"not run: {error}"])
    found = fresh("benchmarks.embedded")
    rows: list[Sequence[Value]] = []
    claims: dict[str, bool | None] = {}
    for mode in MODES:
        one = found["modes"][mode]
        for path, name in (("ours", "clinometer"), ("peer", "transformers")):
            rates = [n / s for n, s in zip(one["trials"], one[path], strict=True)]
            words = [n / s for n, s in zip(one["words"], one[path], strict=True)]
            times = ratio(one[path], one["peer"])
            counts = (sum(one["trials"]), sum(one["words"]))
            rows.append([mode, name, *counts, median(rates), median(words), times])
        claims[f"{mode}: faster than reading the prompt anew for each word"] = (
            ratio(one["ours"], one["peer"]) < 1
        )
    same, apart = found["modes"]["structured"]["same"], found["modes"]["forced"]["apart"]
    claims["structured: the same answer to every trial"] = all(same)
    claims[f"forced: log-probabilities within {CLOSE}"] = max(apart) < CLOSE
    notes = [
        f"{found['device']}, {found['threads']} threads; medians of {len(PARTS)} parts",
        f"{sum(same)} of {len(same)} structured answers equal; largest difference of a "
        f"log-probability {max(apart):.1e}; ours are rounded to 4 decimals",
    ]
    return Result(title, columns, rows, claims, notes)


def _plan(mode: str, stereotype: str) -> Plan:
    from clinometer.asking.plan import Plan, Selection
    from clinometer.models.opening import Generation
    from clinometer.stimuli import load_study

    selection = Selection(load_study("bai2025"), [stereotype], ["replication"])
    generation = Generation(temperature=0.0)
    return Plan([selection], [MODEL], modes=[mode], iterations=TRIALS, generation=generation)


def _ours(plan: Plan, directory: Path) -> Answers:
    """Ask through the whole of Clinometer; answers by trial."""
    from clinometer.asking.budget import Budget
    from clinometer.asking.claim import claim
    from clinometer.asking.sessions import ask_models
    from clinometer.models.opening import Connection, open_models
    from clinometer.results.records import Journal

    claim(directory, plan, "benchmark")
    as_peer = Connection(model_args={"dtype": "float32"})
    models = open_models(plan.models, plan.generation, as_peer)
    outcome = ask_models(plan.pieces, models, directory, Budget())
    assert outcome.complete
    return {a["trial_id"]: json.loads(a["response"]) for a in Journal(directory, MODEL)}


def _worker() -> None:
    from clinometer.models.embedded.weights import find_weights, load_engine

    load_engine(find_weights())  # expands the weights where that was not done before
    plain = PlainModel()
    modes: dict[str, dict[str, list[Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            one = modes[mode] = {
                k: [] for k in ("ours", "peer", "trials", "words", "same", "apart")
            }
            for number, stereotype in enumerate((WARM_UP, *PARTS)):
                plan = _plan(mode, stereotype)
                start = time.perf_counter()
                ours = _ours(plan, Path(folder) / mode / str(number))
                middle = time.perf_counter()
                trials = plan.trials().rows(named=True)
                peer = {trial["trial_id"]: getattr(plain, mode)(trial) for trial in trials}
                end = time.perf_counter()
                if number == 0:  # the warm-up
                    continue
                one["ours"].append(middle - start)
                one["peer"].append(end - middle)
                one["trials"].append(len(trials))
                one["words"].append(sum(len(trial["attributes"]) for trial in trials))
                _compare(ours, peer, one)
    threads, device = plain.torch.get_num_threads(), plain.device
    print(json.dumps({"modes": modes, "threads": threads, "device": device}))


def _compare(ours: Answers, peer: Answers, one: dict[str, list[Any]]) -> None:
    for trial, answer in ours.items():
        one["same"].append(answer == peer[trial])
        for word, values in answer.items():
            if isinstance(values, list):
                one["apart"] += [abs(a - b) for a, b in zip(values, peer[trial][word], strict=True)]


if __name__ == "__main__":
    _worker()
