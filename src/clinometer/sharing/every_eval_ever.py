"""Results in the format of Every Eval Ever, for collections of evaluations of many tools.

Reference
    EvalEval Coalition, github.com/evaleval/every_eval_ever, ``eval.schema.json`` version 0.2.1.

What is written
    A record per model: the means of answers (method ``clustered``) per model, category and
    stereotype, with standard error, interval, number of answers and verdict. "Lower is better" is
    said of scores whose stereotype-consistent side is above neutral; the neutral value, which is
    the aim, stands in the details.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from clinometer import __version__
from clinometer.directory.results import read_results
from clinometer.instruments.catalogue import MEASURES
from clinometer.results import CONDITIONS
from clinometer.results.records import refuse_shared_folders, slug, text_hash
from clinometer.sharing.means import means_by_model
from clinometer.texts import write_text

__all__ = ["SCHEMA_VERSION", "write_every_eval_ever"]

#: Version of the schema that records follow.
SCHEMA_VERSION = "0.2.1"

_DETAILS = (
    *("study", "instrument", "mode", *CONDITIONS, "dimension", "category", "stereotype"),
    *("control", "level", "neutral", "verdict", "because", "compliance", "p", "p_bonferroni"),
    *("target", "clustered_by", "conditional_on"),
)


def write_every_eval_ever(directory: str | Path, folder: str | Path) -> list[Path]:
    """Write a record of each model of a results directory, ``MODEL.json``.

    Raises InputError if the directory has no means of answers, two models would have one file, or a
    file cannot be written.
    """
    results = read_results(directory)
    means = dict(means_by_model(results))
    paths = []
    refuse_shared_folders(means)
    for model, rows in means.items():
        path = Path(folder) / f"{slug(model)}.json"
        record = _record(model, rows, results.plan)
        write_text(path, json.dumps(record, indent=1, ensure_ascii=False))
        paths.append(path)
    return paths


def _record(model: str, rows: pl.DataFrame, plan: Mapping[str, Any]) -> dict[str, Any]:
    created = str(plan.get("created", "1970-01-01T00:00:00+00:00"))
    stamp = str(int(datetime.fromisoformat(created).timestamp()))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"clinometer/{model}/{stamp}",
        "dedupe_identity": {
            "run_fingerprint": text_hash(json.dumps(plan.get("studies", []), sort_keys=True)),
            "hash_algorithm": "sha256",
        },
        "evaluation_timestamp": created,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "Clinometer",
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "clinometer", "version": str(plan.get("clinometer", __version__))},
        "model_info": {"name": model, "id": model},
        "evaluation_results": [_result(row, plan) for row in rows.iter_rows(named=True)],
    }


def _result(row: dict[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    measure = MEASURES[row["measure"]]
    subjects = [row[name] for name in ("study", "dimension", "category", "stereotype") if row[name]]
    uncertainty: dict[str, Any] = {"num_samples": row["n_scored"]}
    if row["se"] is not None:
        uncertainty["standard_error"] = {"value": row["se"], "method": "crossed components"}
    if row["pointwise_low"] is not None:  # a record is of one mean
        uncertainty["confidence_interval"] = {
            "lower": row["pointwise_low"],
            "upper": row["pointwise_high"],
            "confidence_level": row["confidence"],
            "method": "t, crossed components of variance",
        }
    if row["sd"] is not None:
        uncertainty["standard_deviation"] = row["sd"]
    generation = plan.get("generation") or {}
    options = ("temperature", "top_p", "max_tokens")
    arguments = {name: generation[name] for name in options if generation.get(name) is not None}
    asking = f"{row['mode']}, {row['level']}"
    recorded = plan.get("recorded") is not None
    return {
        "evaluation_name": f"{row['measure']}: {', '.join(subjects)} ({asking})",
        "source_data": {"dataset_name": row["study"], "source_type": "other"},
        "metric_config": {
            "evaluation_description": f"{measure.title}; {measure.direction}",
            "lower_is_better": row["direction"] != "below",
            "score_type": "continuous",
            "min_score": row["range_low"],
            "max_score": row["range_high"],
        },
        "score_details": {
            "score": row["estimate"],
            "details": {name: str(row[name]) for name in _DETAILS if row[name] is not None},
            "uncertainty": uncertainty,
        },
        **({} if recorded else {"generation_config": {"generation_args": arguments}}),
    }
