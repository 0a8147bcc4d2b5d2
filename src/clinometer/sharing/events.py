"""Results as evaluation events of OpenTelemetry, for whatever collects traces of models.

Reference
    OpenTelemetry semantic conventions for generative AI, event ``gen_ai.evaluation.result``; OTLP
    in JSON, as the collector's ``otlpjsonfile`` receiver reads it: a line is a ``LogsData``.

What is written
    ``events.jsonl``: a line a model, an event a mean of an instrument that works there. Its value
    is the mean, its label the verdict, its explanation the finding in words; the ends of the
    interval in other prompts and the neutral value stand beside them, under names of Clinometer's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from clinometer.pieces.findings import Finding
from clinometer.sharing.means import findings_by_model, name_parts, read_shareable
from clinometer.texts import write_text

#: The name of the event.
EVENT = "gen_ai.evaluation.result"

#: OpenTelemetry's number of the severity *info*.
_INFO = 9

#: What a JSON value is called in OTLP.
_KINDS = {str: "stringValue", float: "doubleValue"}


def write_events(directory: str | Path, folder: str | Path) -> list[Path]:
    """Write ``events.jsonl``.

    Parameters
    ----------
    directory
        Results directory.
    folder
        Where the file is written.

    Returns
    -------
    list of Path
        The file.

    Raises
    ------
    InputError
        If there are no means of answers, a file holds a key, or a file cannot be written.
    """
    results = read_shareable(directory)
    plan = results.plan
    created = datetime.fromisoformat(plan["created"])
    lines = []
    for model, findings in findings_by_model(results).items():
        records = [_record(finding, created) for finding in findings if finding.valid]
        scope = {"name": "clinometer", "version": str(plan.get("clinometer"))}
        resource = {"attributes": _attributes({"gen_ai.request.model": model})}
        logs = {"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]}
        lines.append(json.dumps({"resourceLogs": [logs]}, ensure_ascii=False, allow_nan=False))
    path = Path(folder) / "events.jsonl"
    write_text(path, "".join(f"{line}\n" for line in lines))
    return [path]


def _record(finding: Finding, created: datetime) -> dict[str, Any]:
    """Return the event of a mean."""
    nanoseconds = round(created.timestamp()) * 10**9
    return {
        "timeUnixNano": str(nanoseconds),
        "severityNumber": _INFO,
        "eventName": EVENT,
        "attributes": _attributes(
            {
                "gen_ai.evaluation.name": "/".join(
                    name_parts(finding, "dimension", "category", "stereotype")
                ),
                "gen_ai.evaluation.score.value": float(finding.mean),
                "gen_ai.evaluation.score.label": finding.verdict,
                "gen_ai.evaluation.explanation": str(finding),
                "clinometer.neutral": float(finding.neutral),
                "clinometer.low": finding.low,
                "clinometer.high": finding.high,
            }
        ),
    }


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as OTLP has them, without those that are not known."""
    return [
        {"key": key, "value": {_KINDS[type(value)]: value}}
        for key, value in values.items()
        if value is not None
    ]
