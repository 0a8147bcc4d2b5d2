"""Results as runs of MLflow, by MLflow's own client.

A run per model: the means of its findings with their intervals as metrics; verdicts, directions and
what controls say as tags; what was asked as parameters; report, plan and table of estimates as
artifacts. Answers stay here.
Where the runs go, MLflow's own variables say (``MLFLOW_TRACKING_URI``); without any, into the file
``mlflow.db`` of the working directory, for which no server is needed.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import product, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinometer.errors import ClinometerError, InputError
from clinometer.pieces.findings import Finding
from clinometer.results.records import text_hash
from clinometer.sharing.means import findings_by_model, name_parts, read_shareable

if TYPE_CHECKING:
    from mlflow import MlflowClient

#: Files of a results directory that a run keeps.
_ARTIFACTS = ("report.html", "plan.json", "estimates.parquet")

#: Tag of a run: which findings of which model it is about.
_IDENTITY_TAG = "clinometer.estimates"

#: What of a finding is a metric, and what a tag.
_METRICS = ("mean", "low", "high", "low_in_prompts", "high_in_prompts", "compliance")
_TAGS = ("verdict", "lean", "direction", "works")

#: Characters that names of metrics and tags cannot have in MLflow.
_FORBIDDEN = re.compile(r"[^\w\-. :/]")


def log_mlflow(directory: str | Path, experiment: str = "clinometer") -> list[str]:
    """Log every model of a results directory as a run; return the identifiers of the runs.

    A run that is there already, with the same estimates, is not logged again.

    Raises InputError if MLflow is not installed or the directory has no means of answers;
    ClinometerError, with what MLflow says, if it cannot log.
    """
    results = read_shareable(directory)
    models = findings_by_model(results)
    # What is audited, and when, is nobody's business but the auditor's.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # Of a server that is not there seven attempts, for minutes, say no more.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ModuleNotFoundError:
        raise InputError(
            "runs are logged by MLflow, not installed here; run: pip install 'clinometer[mlflow]'"
        ) from None
    try:
        logging.getLogger("mlflow").setLevel(
            logging.WARNING
        )  # else it tells of each table it makes
        client = MlflowClient()
        runs = []
        for model, findings in models.items():
            plan, folder = results.plan, results.directory
            runs.append(_log_run(client, experiment, model, findings, plan, folder))
        return runs
    except (MlflowException, OSError, ImportError, ValueError) as error:  # of its stores, too
        raise ClinometerError(f"MLflow: {_explain(error)}") from None


def _explain(error: Exception) -> str:
    """Say in one line what MLflow could not do, and what to do."""
    if isinstance(error, ImportError):
        return f"{error}, which it needs to store runs; run: pip install 'clinometer[mlflow]'"
    if "MLFLOW_ALLOW_FILE_STORE" in str(error):
        return (
            "it stores no runs in folders any more; set MLFLOW_TRACKING_URI to sqlite:///FILE or "
            "a server, or leave it out for ./mlflow.db (MLFLOW_ALLOW_FILE_STORE=true allows them)"
        )
    return " ".join(str(error).split())


def _log_run(  # noqa: PLR0913 - what a run is made of
    client: MlflowClient,
    experiment: str,
    model: str,
    findings: Sequence[Finding],
    plan: Mapping[str, Any],
    directory: Path,
) -> str:
    from mlflow.entities import Metric, Param, RunTag

    matching = client.get_experiment_by_name(experiment)
    place = matching.experiment_id if matching else client.create_experiment(experiment)
    identity = text_hash(model + json.dumps([*map(asdict, findings)]))
    same = client.search_runs([place], f"tags.`{_IDENTITY_TAG}` = '{identity}'", max_results=1)
    if same and same[0].info.status == "FINISHED":
        return str(same[0].info.run_id)
    start = int(datetime.fromisoformat(plan["created"]).timestamp() * 1000)
    run = client.create_run(place, start_time=start, run_name=model).info.run_id
    metrics = [Metric(name, value, start, 0) for name, value in _fields(findings, _METRICS)]
    tags = [RunTag(_IDENTITY_TAG, identity), *starmap(RunTag, _fields(findings, _TAGS))]
    params = [Param(name, text) for name, text in _parameters(model, plan)]
    for first in range(0, len(metrics), 500):  # MLflow takes 1,000 a call, 100 of the others
        client.log_batch(run, metrics=metrics[first : first + 500])
    client.log_batch(run, params=params)
    for first in range(0, len(tags), 100):
        client.log_batch(run, tags=tags[first : first + 100])
    for name in _ARTIFACTS:
        if (directory / name).is_file():
            client.log_artifact(run, str(directory / name))
    client.set_terminated(run)
    return str(run)


def _fields(findings: Iterable[Finding], names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield what findings have of some fields, each under the name of its mean."""
    for finding, name in product(findings, names):
        if (value := getattr(finding, name)) not in (None, ""):
            yield f"{mean_name(finding)}/{name}", value


def mean_name(finding: Finding) -> str:
    """Name a mean by what it is of, such as ``bai2025/word_association/free/race/guilt``."""
    parts = name_parts(finding, "dimension", "category", "stereotype")
    return _FORBIDDEN.sub("-", "/".join(parts))


def _parameters(model: str, plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "model", model
    for name in ("clinometer", "size", "iterations", "order", "seed", "margin"):
        if plan.get(name) is not None:
            yield name, str(plan[name])
    for name in ("modes", "interventions", "variations"):
        yield name, ", ".join(plan.get(name) or ())
