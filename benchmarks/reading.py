"""Reading decisions, file to file, beside a plain reader.

Question
    How many decisions are read a second, how many are read at all, and how often as labelled?
Peer
    A plain reader: the first task word and the first group word in the decision belong together,
    the words being those of the study's lists, as they stand. It knows no invented names.
Ours
    `read_decision` alone, profiles and all; and `score_responses`, file to file, as ``clinometer
    score --instrument relative_decision`` runs it: splits the answer, links invented names to
    groups, joins, scores, writes the table.
How
    GPT-4's 309 recorded answers to the chained task and the authors' labels, 20 times (each copy
    ends in a number, so that no text comes twice). Each measurement is a fresh process. Without
    the recorded answers nothing is measured.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measuring import REPOSITORY, Result, Value, fresh, peak_mb, ratio

RECORDED = REPOSITORY.parent / "shared" / "data" / "bai" / "gpt4_chained_labelled.csv"
COPIES = 20
REPETITIONS = 3
TARGET = 2_000


def run() -> Result:
    columns = ("path", "answers", "answers/s", "peak MB", "read", "agree", "kappa", "time ÷ peer")
    title = "Reading recorded decisions of GPT-4, file to file"
    if not RECORDED.exists():
        return Result(title, columns, [], {f"reads at least {TARGET:,} answers a second": None})
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, list[dict[str, float]]] = {"plain": [], "ours": [], "read": []}
        for _ in range(REPETITIONS):
            for what, runs in found.items():
                runs.append(fresh("benchmarks.reading", what, folder))
    times = ratio(*([x["wall_s"] for x in found[name]] for name in ("ours", "plain")))
    rows = [
        ["plain reader", *_row(found["plain"]), 1.0],
        ["clinometer, file to file", *_row(found["ours"]), times],
        ["clinometer, reading alone", *_row(found["read"]), None],
    ]
    read, agree = (found["ours"][0][name] for name in ("read", "agree"))
    rate = found["read"][0]["n"] / median(x["wall_s"] for x in found["read"])
    claims: dict[str, bool | None] = {
        f"reads at least {TARGET:,} answers a second": rate >= TARGET,
        "reads at least .97 of the answers": read >= 0.97,
        "at least .95 of these as labelled": agree >= 0.95,
    }
    note = "about .04 of the labels contradict answers that are explicit, so .96 is the ceiling"
    return Result(title, columns, rows, claims, [note])


def _row(found: list[dict[str, float]]) -> list[Value]:
    n, seconds = int(found[0]["n"]), median(x["wall_s"] for x in found)
    peak = median(x["peak_mb"] for x in found)
    shares = (f"{found[0][name]:.3f}" for name in ("read", "agree", "kappa"))
    return [n, n / seconds, peak, *shares]


def _answers(folder: Path) -> Path:
    import polars as pl

    table = pl.read_csv(RECORDED, infer_schema=False)
    copies = [
        table.with_columns(
            iteration=pl.int_range(pl.len()) + number * table.height,
            decision=pl.col("decision") + f" ({number})",
        )
        for number in range(COPIES)
    ]
    path = folder / "answers.parquet"
    pl.concat(copies).write_parquet(path)
    return path


def _ours(path: Path) -> Any:
    from clinometer.audits.tabulating import score_responses
    from clinometer.results.tables import read_numbers
    from clinometer.stimuli import load_study

    out = path.with_name("scores.parquet")
    studies = {"bai2025": load_study("bai2025")}
    score_responses(path, studies, out, instrument="relative_decision", keep=True)
    return read_numbers(out, ["score", "decision_bias"])


def _read(path: Path) -> tuple[Any, float]:
    """Read every decision; the seconds are those of reading alone."""
    import polars as pl

    from clinometer.contracts.decisions import any_words
    from clinometer.reading.decisions import read_decision
    from clinometer.results.tables import read_numbers
    from clinometer.scoring.recorded import keys_by_name
    from clinometer.stimuli import load_study

    study = load_study("bai2025")
    words = {name: any_words(study, k) for name, k in keys_by_name(study.stereotypes).items()}
    frame = pl.read_parquet(path)
    scores: list[float | None] = []
    start = time.perf_counter()
    for row in frame.iter_rows(named=True):
        of = words[row["stereotype"]]
        sides = (of.marginalized, of.default), (of.tied, of.counter)
        read = read_decision(row["decision"], *sides, profile=row["profile"])
        scores.append(None if read.tied_to is None else float(read.tied_to == "marginalized"))
    seconds = time.perf_counter() - start
    frame = frame.with_columns(score=pl.Series(scores, dtype=pl.Float64))
    return read_numbers(path, ["score", "decision_bias"], frame), seconds


def _plain(path: Path) -> Any:
    import polars as pl

    from clinometer.contracts.decisions import any_words
    from clinometer.results.tables import read_numbers
    from clinometer.scoring.recorded import keys_by_name
    from clinometer.stimuli import load_study

    study = load_study("bai2025")
    keys, scores = keys_by_name(study.stereotypes), []
    lists = {name: any_words(study, key) for name, key in keys.items()}
    for row in pl.read_parquet(path).iter_rows(named=True):
        words = lists[row["stereotype"]]
        text = row["decision"].lower()
        group = _first(text, words.marginalized, words.default)
        task = _first(text, words.tied, words.counter)
        scores.append(None if None in (group, task) else float(group == task))
    frame = pl.read_parquet(path).with_columns(score=pl.Series(scores, dtype=pl.Float64))
    return read_numbers(path, ["score", "decision_bias"], frame)


def _first(text: str, ones: list[str], others: list[str]) -> bool | None:
    """Tell whether a word of the first list stands before all of the second."""
    places = [
        min((at for word in words if (at := text.find(word.lower())) >= 0), default=None)
        for words in (ones, others)
    ]
    if places == [None, None]:
        return None
    return places[1] is None or (places[0] is not None and places[0] < places[1])


def _worker(what: str, folder: Path) -> dict[str, float]:
    import clinometer.audits.tabulating  # noqa: F401 - imports are not what is measured
    from clinometer.papers import agreement
    from clinometer.stimuli import load_study

    load_study("bai2025")
    path = _answers(folder)
    start = time.perf_counter()
    if what == "read":
        frame, wall_s = _read(path)
    else:
        frame = {"ours": _ours, "plain": _plain}[what](path)
        wall_s = time.perf_counter() - start
    found = agreement(frame, "score", "decision_bias").estimates["estimate"]
    shares = dict(zip(("read", "agree", "kappa"), found, strict=True))
    return {"n": frame.height, "wall_s": wall_s, "peak_mb": peak_mb(), **shares}


if __name__ == "__main__":
    print(json.dumps(_worker(sys.argv[1], Path(sys.argv[2]))))
