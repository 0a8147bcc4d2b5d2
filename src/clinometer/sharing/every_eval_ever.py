"""Results in the format of Every Eval Ever, for collections of evaluations of many tools.

Reference
    EvalEval Coalition, github.com/evaleval/every_eval_ever, ``eval.schema.json`` version 0.3.0, and
    the names of files that its ``CONTRIBUTING.md`` asks for.

What is written
    A record per model, ``UUID4.json``: the means of answers per model, category and stereotype,
    with standard error and interval in other prompts, number of answers and verdict. In a
    checkout of the collection, which has a folder ``data``, it is put where the collection keeps
    it: ``data/clinometer/DEVELOPER/MODEL``. "Lower is better" is said of scores whose
    stereotype-consistent side is above neutral; the neutral value, which is the aim, stands in the
    details. Whether weights are open is not known here, and said so; who served the model is, where
    its name says it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl

from clinometer import __version__
from clinometer.contracts.catalogue import MEASURES
from clinometer.models.providers import PROVIDERS
from clinometer.results import CONDITIONS
from clinometer.sharing.means import lean_of_mean, means_by_model, read_shareable
from clinometer.texts import write_text

__all__ = ["SCHEMA_VERSION", "write_every_eval_ever"]

#: Version of the schema that records follow.
SCHEMA_VERSION = "0.3.0"

_DETAILS = (
    "study",
    "instrument",
    "mode",
    *CONDITIONS,
    "dimension",
    "category",
    "stereotype",
    "control",
    "level",
    "neutral",
    "verdict",
    "because",
    "compliance",
    "p",
    "p_bh",
    "range",
    "clustered_by",
    "conditional_on",
    "ci_low_bounded",
    "ci_high_bounded",
    "verdict_bounded",
)


#: The collection's name for these records, and for a developer that a model's name does not say.
_COLLECTION, _NO_DEVELOPER = "clinometer", "not-stated"

#: Names that no folder of the collection may have.
_RESERVED = re.compile(r"(unknown|data|con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def write_every_eval_ever(
    directory: str | Path, folder: str | Path, model: str | None = None
) -> list[Path]:
    """Write a record of each model of a results directory, or of one; return their paths.

    `folder`: a checkout of the collection, or any other.
    The same run has the same files again: what is shared twice stands in the collection once.

    Raises InputError if the directory has no means of answers, or a file cannot be written.
    """
    results = read_shareable(directory)
    paths = []
    for name, rows in means_by_model(results):
        if model in (None, name):
            record = _record(name, rows, results.plan)
            data = Path(folder, "data")
            place = data.joinpath(_COLLECTION, *_folders(record["model_info"]))
            target = place if data.is_dir() else Path(folder)
            path = target / f"{_name_run(record['evaluation_id'], results.plan)}.json"
            write_text(path, json.dumps(record, indent=1, ensure_ascii=False))
            paths.append(path)
    return paths


def _name_run(evaluation: str, plan: Mapping[str, Any]) -> UUID:
    """Return a UUID of version 4, the only one that is allowed, whose bits follow from the run."""
    content = json.dumps([evaluation, plan.get("studies", [])], sort_keys=True)
    return UUID(bytes=hashlib.sha256(content.encode()).digest()[:16], version=4)


def _folders(model_info: Mapping[str, str]) -> tuple[str, str]:
    """Return the folders of a developer and a model, as the collection derives them."""
    developer, slash, name = model_info["id"].replace(":", "_").partition("/")
    if not slash:
        return model_info["developer"], developer
    return developer, name.replace("/", "_")


def _model_info(model: str, *, recorded: bool) -> dict[str, Any]:
    """Name a model by what a folder can be called; of who served it say what the name tells."""
    name, parts = model, model.split("/")
    if parts[0] == "hf" and len(parts) == 3:  # on the hub
        name = "/".join(parts[1:])
    identity = "/".join(filter(None, map(_folder_name, name.split("/"))))
    provider = None if recorded else PROVIDERS.get(parts[0])
    deployment = "unknown"
    if provider is not None and not provider.service:  # a service may be anyone's
        deployment = "self_deployed" if provider.local else "externally_managed"
    return {
        "name": model,
        "id": identity or _NO_DEVELOPER,
        **({} if "/" in identity else {"developer": _NO_DEVELOPER}),
        "additional_details": {"deployment_type": deployment, "model_availability": "unknown"},
    }


def _folder_name(text: str) -> str:
    """Return a part of a model's name as a folder may be called; empty if nothing is left."""
    name = re.sub(r"[^\w.:@+-]+", "-", text, flags=re.ASCII).strip("-. ")
    return f"model-{name}" if _RESERVED.fullmatch(name) else name


def _record(model: str, rows: pl.DataFrame, plan: Mapping[str, Any]) -> dict[str, Any]:
    created = str(plan.get("created", "1970-01-01T00:00:00+00:00"))
    stamp = str(int(datetime.fromisoformat(created).timestamp()))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"clinometer/{model}/{stamp}",
        "evaluation_timestamp": created,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "Clinometer",
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "clinometer", "version": str(plan.get("clinometer", __version__))},
        "model_info": _model_info(model, recorded=plan.get("recorded") is not None),
        "evaluation_results": [_result(row, plan) for row in rows.iter_rows(named=True)],
    }


def _result(row: dict[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    measure = MEASURES[row["measure"]]
    subjects = [row[name] for name in ("study", "dimension", "category", "stereotype") if row[name]]
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
            "metric_id": f"clinometer.{row['measure']}",
            "metric_name": measure.title,
            "lower_is_better": row["direction"] != "below",
            "score_type": "continuous",
            "min_score": row["range_low"],
            "max_score": row["range_high"],
        },
        "score_details": {
            "score": row["estimate"],
            "details": {
                **{name: str(row[name]) for name in _DETAILS if row[name] is not None},
                "lean": lean_of_mean(row),
            },
            "uncertainty": _uncertainty(row),
        },
        **({} if recorded else {"generation_config": {"generation_args": arguments}}),
    }


def _uncertainty(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the number of answers behind a mean, and its errors where it has them."""
    uncertainty: dict[str, Any] = {"num_samples": row["n_scored"]}
    if row["se"] is not None:
        uncertainty["standard_error"] = {
            "value": row["se"],
            "method": "hierarchical model of the variances",
        }
    if row["ci_low"] is not None:
        uncertainty["confidence_interval"] = {
            "lower": row["ci_low"],
            "upper": row["ci_high"],
            "confidence_level": row["confidence"],
            "method": "t, in other prompts, for all means that the run tells",
        }
    if row["sd"] is not None:
        uncertainty["standard_deviation"] = row["sd"]
    return uncertainty
