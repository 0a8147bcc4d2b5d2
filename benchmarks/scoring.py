"""Scoring and estimating, file to file, beside a plain reader.

Question
    How long does an answer take, how much memory do more models, and how many answers are read?
Peer
    A plain reader of the kind released with word association studies: split each line at its
    last hyphen, and let one unknown word or group void the whole answer. Written here from that
    description.
Ours
    `score_responses` and `estimate_scores`, file to file, as ``clinometer score`` runs them on
    recorded answers without group words (these are inferred, the slower case).
How
    GPT-4o's 2,100 recorded answers, 16 times with their lines in another order (a made-up model
    of 33,600 answers), for 1 to 8 models. Each measurement is a fresh process. Without the
    recorded answers, made-up ones in the same formats take their place, the title says so, and the
    share that is read tells nothing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from benchmarks.answers import plain_score, write_answers
from benchmarks.measuring import Result, Value, fresh, peak_mb, ratio

MODELS = (1, 2, 4, 8)
REPETITIONS = 3
TARGET_MS = 1.0
FLAT = 1.25


def run() -> Result:
    rows: list[Sequence[Value]] = []
    with tempfile.TemporaryDirectory() as folder:
        found: dict[int, list[dict[str, float]]] = {n: [] for n in MODELS}
        plain: list[dict[str, float]] = []
        for models in MODELS:
            made: dict[str, bool] = fresh("benchmarks.scoring", "make", folder, models)
        for repetition in range(REPETITIONS):
            plain.append(fresh("benchmarks.scoring", "plain", folder, 1))
            for models in MODELS if repetition == 0 else MODELS[:1]:
                found[models].append(fresh("benchmarks.scoring", "ours", folder, models))
    rows.append(["plain reader", 1, *_row(plain), 1.0])
    times = ratio([x["wall_s"] for x in found[1]], [x["wall_s"] for x in plain])
    rows += [["clinometer", n, *_row(found[n]), times if n == 1 else None] for n in MODELS]
    slowest = max(1e3 * median(x["wall_s"] for x in xs) / xs[0]["n"] for xs in found.values())
    growth = found[MODELS[-1]][0]["peak_mb"] / median(x["peak_mb"] for x in found[1])
    source = "recorded answers of GPT-4o" if made["recorded"] else "MADE-UP answers"
    claims = {
        f"under {TARGET_MS:.0f} ms an answer": slowest < TARGET_MS,
        f"peak memory of 8 models under {FLAT} times that of 1": growth < FLAT,
        "reads at least the share the plain reader does": (
            found[1][0]["scored"] >= plain[0]["scored"] if made["recorded"] else None
        ),
    }
    note = (
        "ours also reads other formats and partial answers, and makes words, compliance, and "
        f"clustered estimates; memory of 8 models is {growth:.2f} times that of 1"
    )
    columns = ("path", "models", "answers", "ms/answer", "answers/s", "peak MB", "scored")
    return Result(
        f"Scoring and estimating {source}, file to file",
        (*columns, "time ÷ peer"),
        rows,
        claims,
        [note],
    )


def _row(found: list[dict[str, float]]) -> list[Value]:
    n, seconds = int(found[0]["n"]), median(x["wall_s"] for x in found)
    peak = median(x["peak_mb"] for x in found)
    return [n, 1e3 * seconds / n, n / seconds, peak, f"{found[0]['scored']:.2%}"]


def _ours(path: Path) -> tuple[int, float]:

    from clinometer.audits.tabulating import estimate_scores, score_responses
    from clinometer.stimuli import load_study

    out = path.with_name("scores.parquet")
    score_responses(path, {"bai2025": load_study("bai2025")}, out)
    estimates, _ = estimate_scores(out)
    models = estimates.filter(level="model", method="clustered", measure="word_association")
    return models["n"].sum(), models["n_scored"].sum()


def _plain(path: Path) -> tuple[int, float]:
    import polars as pl

    from clinometer.stimuli import load_study

    study = load_study("bai2025")
    scores: list[float | None] = []
    cells: dict[tuple[str, str], list[float]] = {}
    for row in pl.read_parquet(path).iter_rows(named=True):
        words = study.stereotypes[row["stereotype"]].words(row["variation"])
        attributes = {**dict.fromkeys(words.counter, 0), **dict.fromkeys(words.tied, 1)}
        groups = {**dict.fromkeys(words.default, 0), **dict.fromkeys(words.marginalized, 1)}
        scores.append(plain_score(row["response"], attributes, groups))
        if scores[-1] is not None:
            cells.setdefault((row["stereotype"], row["variation"]), []).append(scores[-1])
    assert all(-1 <= sum(cell) / len(cell) <= 1 for cell in cells.values())
    return len(scores), sum(score is not None for score in scores)


def _worker(path: Callable[[Path], tuple[int, float]], table: Path) -> dict[str, float]:
    import polars as pl

    import clinometer.audits.tabulating  # noqa: F401 - imports are not what is measured

    pl.scan_parquet(table).head(1).collect()
    start = time.perf_counter()
    n, scored = path(table)
    wall_s = time.perf_counter() - start
    return {"n": n, "scored": scored / n, "wall_s": wall_s, "peak_mb": peak_mb()}


if __name__ == "__main__":
    what, folder, models = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    if what == "make":
        print(json.dumps(write_answers(folder / f"{models}.parquet", models)))
    else:
        path = {"ours": _ours, "plain": _plain}[what]
        print(json.dumps(_worker(path, folder / f"{models}.parquet")))
