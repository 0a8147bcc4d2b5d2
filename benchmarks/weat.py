"""Word embedding association tests: exact p-values, one layer and seven.

Question
    How long do the exact p of 8 + 8 target words (12,870 partitions) and the whole test of seven
    layers take, and does the time grow with the partitions?
Peer
    WEFE (Badilla et al. 2020), which draws partitions one by one in Python. It is not installed
    with Clinometer; without it nothing of it is measured.
How
    Processor time, the fastest of many repetitions, in a process of its own with one thread; random
    states, seven layers 384 wide, as those of all-MiniLM-L6-v2. WEFE is asked for a few draws of
    one layer, and the time is multiplied to 10,000.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import Result, Value, fresh

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LAYERS, WIDTH, WORDS = 7, 384, 8
REPETITIONS = 50
DRAWS, PEER_DRAWS = 10_000, 100


def run() -> Result:
    found = {
        name: fresh("benchmarks.weat", name, variables=ONE_THREAD)
        for name in ("one", "seven", "rows", "interval", "million", "drawn", "wefe")
    }
    ms = {name: 1e3 * one["cpu_s"] for name, one in found.items() if one is not None}
    told = {
        "one": "exact p of 8 + 8 words, one layer",
        "seven": "exact p of 8 + 8 words, seven layers",
        "rows": "cosines, effects, p and table of seven layers",
        "interval": "  the same with intervals of 2,000 draws",
        "million": "exact p of 11 + 11 words (705,432 partitions), seven layers",
        "drawn": "p of 25 + 25 words, 100,000 drawn partitions, seven layers",
        "wefe": f"WEFE, one layer, {DRAWS:,} draws",
    }
    rows: list[list[Value]] = [[told[name], value, value / ms["one"]] for name, value in ms.items()]
    claims: dict[str, bool | None] = {
        "exact p of 8 + 8 words takes under 5 ms": ms["one"] < 5,
        "the whole test of seven layers takes under 15 ms": ms["rows"] < 15,
        "exact p of 55 times the partitions takes under 100 times the time": (
            ms["million"] < 100 * ms["seven"]
        ),
        "WEFE takes over a thousand times as long": (
            ms["wefe"] > 1_000 * ms["one"] if "wefe" in ms else None
        ),
    }
    notes = ["the partitions of a size are listed once; that is not in the times above"]
    return Result("Association tests", ("what", "ms", "÷ first row"), rows, claims, notes)


def measure(what: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = globals()[f"_{what}"]()
    return found


def _timed(work: Callable[[], object], times: int = REPETITIONS) -> dict[str, Any]:
    work()
    took = []
    for _ in range(times):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return {"cpu_s": min(took)}


def _permuted(layers: int, words: int, times: int = REPETITIONS) -> dict[str, Any]:
    import numpy as np

    from clinometer_measures.states.differential import permute
    from clinometer_measures.states.word_tests import TestSetting

    values = np.random.default_rng(0).normal(size=(layers, 2 * words))
    return _timed(lambda: permute(values, words, TestSetting()), times)


def _one() -> dict[str, Any]:
    return _permuted(1, WORDS)


def _seven() -> dict[str, Any]:
    return _permuted(LAYERS, WORDS)


def _million() -> dict[str, Any]:
    return _permuted(LAYERS, 11, times=5)


def _drawn() -> dict[str, Any]:
    return _permuted(LAYERS, 25, times=5)


def _rows() -> dict[str, Any]:
    return _tested(draws=0)


def _interval() -> dict[str, Any]:
    return _tested(draws=2_000)


def _tested(draws: int) -> dict[str, Any]:
    import numpy as np

    from clinometer_measures.states.association import test_associations
    from clinometer_measures.states.readers.states import HiddenStates
    from clinometer_measures.states.word_tests import TestSetting, WordTest

    sets = _sets()
    test = WordTest("random", "one", *sets)
    words = tuple(word for one in sets for word in one.words)
    values = np.random.default_rng(0).normal(size=(len(words), LAYERS, WIDTH))
    layers = tuple(str(layer) for layer in range(LAYERS))
    states = HiddenStates(
        words, layers, values.astype(np.float32), np.ones(len(words), dtype=np.int64)
    )
    of, setting = {"model": "m", "contexts": "none", "removed": 0}, TestSetting(draws=draws)
    return _timed(lambda: test_associations(states, [test], of=of, setting=setting))


def _sets() -> list[Any]:
    from clinometer_measures.states.word_tests import WordSet

    return [WordSet(name, tuple(f"{name}{i}" for i in range(WORDS))) for name in "xyab"]


def _wefe() -> dict[str, Any] | None:
    try:
        import numpy as np
        from gensim.models import KeyedVectors
        from wefe.metrics import WEAT
        from wefe.query import Query
        from wefe.word_embedding_model import WordEmbeddingModel
    except ImportError:
        return None
    sets = [list(one.words) for one in _sets()]
    vectors = KeyedVectors(WIDTH)
    words = [word for one in sets for word in one]
    vectors.add_vectors(words, np.random.default_rng(0).normal(size=(len(words), WIDTH)))
    model, query = WordEmbeddingModel(vectors, "random"), Query(sets[:2], sets[2:])

    def test() -> object:
        return WEAT().run_query(query, model, calculate_p_value=True, p_value_iterations=PEER_DRAWS)

    took: float = _timed(test, times=1)["cpu_s"]
    return {"cpu_s": took * DRAWS / PEER_DRAWS}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
