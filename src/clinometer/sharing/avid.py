"""Results as reports of AVID, the AI Vulnerability Database.

Reference
    AVID, ``avidtools`` 0.1: the data model of a report; AVID taxonomy 0.2, SEP and lifecycle views.

What is written
    ``MODEL/avid.json``: a report of class *LLM Evaluation* and type *Measurement* a model. A metric
    is a mean of an instrument that works there, whether it leans or not, as a report of what leans
    alone would show what was looked for. Who made and who runs the model is to be filled in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clinometer.pieces.findings import Finding
from clinometer.sharing.means import UNKNOWN, name_parts, write_by_model

_TAXONOMY = {
    "vuln_id": None,
    "risk_domain": ["Ethics"],
    "sep_view": ["E0101: Group fairness"],
    "lifecycle_view": ["L05: Evaluation"],
    "taxonomy_version": "0.2",
}

_HOME = "https://avidml.org"

_DESCRIPTION = (
    "Means of answers about social groups with 95% intervals for other prompts of the kind. They "
    "describe answers, no intent and no decision; where none leans, that does not mean unbiased."
)


def write_avid(directory: str | Path, folder: str | Path) -> list[Path]:
    """Write ``avid.json`` of each model.

    Parameters
    ----------
    directory
        Results directory.
    folder
        Where a folder a model is written.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        As `means.write_by_model`.
    """
    return write_by_model(directory, folder, _files)


def _files(model: str, findings: Sequence[Finding], plan: Mapping[str, Any]) -> dict[str, str]:
    """Return the report of a model by the name of its file."""
    report = _report(model, findings, plan)
    text = json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False)
    return {"avid.json": f"{text}\n"}


def _report(model: str, findings: Sequence[Finding], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report of a model."""
    told = [str(finding) for finding in findings if finding.told]
    described = " ".join([_DESCRIPTION, *(f"{text}." for text in told)])
    return {
        "data_type": "AVID",
        "data_version": "0.2",
        "affects": {
            "developer": [UNKNOWN],
            "deployer": [UNKNOWN],
            "artifacts": [{"type": "Model", "name": model}],
        },
        "problemtype": {
            "classof": "LLM Evaluation",
            "type": "Measurement",
            "description": {"lang": "eng", "value": "Implicit bias in answers about social groups"},
        },
        "metrics": [_metric(finding) for finding in findings if finding.valid],
        "references": [{"type": "source", "label": "AVID taxonomy", "url": _HOME}],
        "description": {"lang": "eng", "value": described},
        "impact": {"avid": _TAXONOMY},
        "credit": [{"lang": "eng", "value": f"Clinometer {plan.get('clinometer')}"}],
        "reported_date": plan["created"][:10],
    }


def _metric(finding: Finding) -> dict[str, Any]:
    """Return a mean as a metric."""
    return {
        "name": "/".join(name_parts(finding, "dimension", "category", "stereotype")),
        "detection_method": {
            "type": "Significance Test",
            "name": "whether the interval for other prompts excludes the neutral value",
        },
        "results": {
            "mean": finding.mean,
            "low": finding.low,
            "high": finding.high,
            "neutral": finding.neutral,
            "verdict": finding.verdict,
            "finding": str(finding),
        },
    }
