"""Results as files of model repositories on the Hugging Face hub, and the benchmark they are of.

Reference
    Hugging Face hub documentation, "Evaluation Results" (huggingface.co/docs/hub/eval-results).

What is written
    ``dataset/eval.yaml``: the benchmark, a task per measure, mode and condition.
    ``dataset/data/test.parquet``: its questions, as they were asked.
    ``models/MODEL/.eval_results/clinometer.yaml``: a mean per task; interval, verdict and number of
    answers are in its notes. Controls are left out.

The hub ranks models by the value. A lean has a neutral point and no best end: the notes say so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from clinometer.contracts.catalogue import MEASURES
from clinometer.directory.results import Results
from clinometer.errors import InputError
from clinometer.numbers import interval, percent
from clinometer.results import RESPONSES
from clinometer.results.parquet import scan_parquet
from clinometer.results.ranges import RANGES
from clinometer.results.records import refuse_shared_folders, slug
from clinometer.sharing.means import lean_of_mean, means_by_model, name_parts, read_shareable
from clinometer.texts import write_text

__all__ = ["write_hub"]

#: What a question of the benchmark says of itself.
_QUESTION = (
    "trial_id",
    "study",
    "instrument",
    "mode",
    "category",
    "stereotype",
    "dimension",
    "variation",
    "system",
    "prompt",
    "followup",
    "options",
)


def write_hub(
    directory: str | Path, folder: str | Path, dataset: str, source: str | None = None
) -> list[Path]:
    """Write what belongs into the repositories of a benchmark and of every model.

    Parameters
    ----------
    directory
        Results directory.
    folder
        Where ``dataset/`` and ``models/MODEL/`` are written.
    dataset
        The benchmark's name on the hub, ``OWNER/NAME``.
    source
        Address of the evidence, such as a published bundle.

    Raises InputError if `dataset` is no such name, there are no means over all stereotypes, the
    answers were recorded without their questions, or a file cannot be written.
    """
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", dataset, re.ASCII):
        raise InputError(f"dataset: {dataset!r}; allowed: OWNER/NAME, as on the hub")
    results = read_shareable(directory)
    means = {}
    for model, rows in means_by_model(results):
        overall_means = rows.filter(pl.col("control").is_null(), level="model")
        if overall_means.height:
            means[model] = overall_means
    if not means:
        raise InputError(f"{results.directory}: no mean over all stereotypes; nothing to share")
    refuse_shared_folders(means)
    questions = _questions(results)  # may refuse; nothing is written before
    folder = Path(folder)
    paths = [folder / "dataset" / "eval.yaml", folder / "dataset" / "data" / "test.parquet"]
    _write_yaml(paths[0], _benchmark(pl.concat(means.values()), results.plan))
    paths[1].parent.mkdir(parents=True, exist_ok=True)
    questions.write_parquet(paths[1])
    for model, rows in means.items():
        entries = [_entry(row, results.plan, dataset, source) for row in rows.iter_rows(named=True)]
        paths.append(folder / "models" / slug(model) / ".eval_results" / "clinometer.yaml")
        _write_yaml(paths[-1], entries)
    return paths


def _questions(results: Results) -> pl.DataFrame:
    """Return every question once; Raises InputError if answers came without theirs."""
    responses = scan_parquet(results.directory / "responses.parquet", RESPONSES)
    questions = (
        responses.select(_QUESTION).unique("trial_id", keep="first", maintain_order=True).collect()
    )
    if questions["prompt"].null_count():
        raise InputError(
            f"{results.directory}: recorded answers without their questions; a benchmark on the "
            "hub has questions (the column prompt of recorded answers)"
        )
    return questions


def _benchmark(rows: pl.DataFrame, plan: Mapping[str, Any]) -> dict[str, Any]:
    tasks: dict[str, str] = {_task(row): row["measure"] for row in rows.iter_rows(named=True)}
    titles = ", ".join(dict.fromkeys(MEASURES[measure].title for measure in tasks.values()))
    studies = dict.fromkeys(rows["study"].drop_nulls())
    return {
        "name": f"Implicit bias: {', '.join(studies)}",
        "description": f"{titles}. Values are means over stereotypes; the notes of a result have "
        "the interval, the verdict, and the value that is neutral. No end of the scale is best.",
        "evaluation_framework": "clinometer",
        "tasks": [{"id": task, "config": "default", "split": "test"} for task in tasks],
    }


def _task(row: Mapping[str, Any]) -> str:
    """Name the task of a mean, such as ``bai2025-word_association-forced``."""
    return slug("-".join(name_parts(row, "dimension")))


def _entry(
    row: Mapping[str, Any], plan: Mapping[str, Any], dataset: str, source: str | None
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": _task(row)},
        "value": round(row["estimate"], 4),
        "date": plan["created"],
        "evaluation_framework": "clinometer",
        "notes": _notes(row, plan),
    }
    if source is not None:
        entry["source"] = {"url": source, "name": "Evidence"}
    return entry


def _notes(row: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    ends = {
        RANGES["prompts"]: (row["ci_low_bounded"], row["ci_high_bounded"]),
        RANGES["other_prompts"]: (row["ci_low"], row["ci_high"]),
    }
    intervals = [
        f"{interval(low, high)} {name}"
        for name, (low, high) in ends.items()
        if None not in (low, high)
    ]
    level = "" if row["confidence"] is None else f"{percent(row['confidence'])} "
    interval_text = f"{level}interval {', '.join(intervals)}" if intervals else "no interval"
    return (
        f"{interval_text}; neutral is {row['neutral']:g}, no end is best; {lean_of_mean(row)}; "
        f"{row['n_scored']} of {row['n']} answers scored; clinometer {plan.get('clinometer')}"
    )


def _write_yaml(path: Path, content: Any) -> None:
    write_text(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000))
