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
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from clinometer.contracts.catalogue import measure_of
from clinometer.directory.results import Results
from clinometer.errors import InputError
from clinometer.numbers import percent
from clinometer.pieces.findings import Finding
from clinometer.results import RESPONSES
from clinometer.results.parquet import scan_parquet
from clinometer.results.records import refuse_shared_folders, slug
from clinometer.sharing.means import findings_by_model, name_parts, read_shareable
from clinometer.texts import write_text

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
    for model, findings in findings_by_model(results).items():
        if over_all := [finding for finding in findings if finding.level == "model"]:
            means[model] = over_all
    if not means:
        raise InputError(f"{results.directory}: no mean over all stereotypes; nothing to share")
    refuse_shared_folders(means)
    questions = _questions(results)  # may refuse; nothing is written before
    folder = Path(folder)
    paths = [folder / "dataset" / "eval.yaml", folder / "dataset" / "data" / "test.parquet"]
    _write_yaml(paths[0], _benchmark([*chain(*means.values())]))
    paths[1].parent.mkdir(parents=True, exist_ok=True)
    questions.write_parquet(paths[1])
    for model, findings in means.items():
        entries = [_entry(finding, results.plan, dataset, source) for finding in findings]
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


def _benchmark(findings: Sequence[Finding]) -> dict[str, Any]:
    tasks = dict.fromkeys(map(_task, findings))
    instruments = dict.fromkeys(finding.about["instrument"] for finding in findings)
    titles = ", ".join(dict.fromkeys(measure_of(name).title for name in instruments))
    studies = dict.fromkeys(filter(None, (finding.about["study"] for finding in findings)))
    return {
        "name": f"Implicit bias: {', '.join(studies)}",
        "description": f"{titles}. Values are means over stereotypes; the notes of a result have "
        "the interval, the verdict, and the value that is neutral. No end of the scale is best.",
        "evaluation_framework": "clinometer",
        "tasks": [{"id": task, "config": "default", "split": "test"} for task in tasks],
    }


def _task(finding: Finding) -> str:
    """Name the task of a mean, such as ``bai2025-word_association-forced``."""
    return slug("-".join(name_parts(finding, "dimension")))


def _entry(
    finding: Finding, plan: Mapping[str, Any], dataset: str, source: str | None
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": _task(finding)},
        "value": round(finding.mean, 4),
        "date": plan["created"],
        "evaluation_framework": "clinometer",
        "notes": _notes(finding, plan),
    }
    if source is not None:
        entry["source"] = {"url": source, "name": "Evidence"}
    return entry


def _notes(finding: Finding, plan: Mapping[str, Any]) -> str:
    level = "" if finding.confidence is None else f"{percent(finding.confidence)} intervals; "
    return (
        f"{finding}; {level}no end is best; {finding.instrument} {finding.works}; "
        f"{finding.scored} of {finding.trials} answers scored; clinometer {plan.get('clinometer')}"
    )


def _write_yaml(path: Path, content: Any) -> None:
    write_text(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000))
