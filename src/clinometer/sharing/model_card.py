"""Results as a part of a model card: a section on bias, and metadata that the hub reads.

References
----------
    NVIDIA, Model Card++ templates, ``bias.md`` (github.com/NVIDIA/Trustworthy-AI): its fields.
    Hugging Face hub documentation, "Model Cards": ``model-index``.

What is written, a folder a model
    ``bias.md``: the fields that a run can answer. What only its maker knows is to be filled in.
    ``model-index.yaml``: a result per mean over all stereotypes, for the metadata of the card.

A mean of opposite leans may be near neutral, so the greatest difference is that of a category or a
stereotype, in either direction, with its interval in other prompts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from clinometer.contracts.catalogue import measure_of
from clinometer.pieces.findings import Finding
from clinometer.pieces.prose import capital
from clinometer.results.records import slug
from clinometer.sharing.means import UNKNOWN, name_parts, write_by_model

#: What stands for a field where nothing leans.
_NONE_SHOWN = "No difference is shown. That is no evidence that there is none: "

_LIMITS = (
    "Scores describe answers to these prompts, no intent and no decision. *Unclear* does not mean "
    "*unbiased*. No end of a scale is best."
)


def write_model_card(directory: str | Path, folder: str | Path) -> list[Path]:
    """Write ``bias.md`` and ``model-index.yaml`` of each model.

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
    """Return the texts of a model by the names of their files."""
    return {"bias.md": _bias(findings, plan), "model-index.yaml": _model_index(model, findings)}


def _bias(findings: Sequence[Finding], plan: Mapping[str, Any]) -> str:
    """Return the table of fields."""
    valid = [finding for finding in findings if finding.valid]
    over_all = [finding for finding in valid if finding.level == "model"]
    fields = {
        "Participation considerations from adversely impacted groups in model design and testing": (
            UNKNOWN
        ),
        "Bias Metric (If Measured)": "; ".join(map(str, over_all)) or _not_valid(findings),
        "Which characteristic (feature) show(s) the greatest difference in performance?": _greatest(
            valid, "stereotype"
        ),
        "Which feature(s) have the worst performance overall?": _greatest(valid, "category"),
        "Measures taken to mitigate against unwanted bias": UNKNOWN,
        "Description of methods implemented in data acquisition or processing to address biases": (
            UNKNOWN
        ),
        "Tools used to assess statistical imbalances": f"Clinometer {plan.get('clinometer')}, "
        f"{plan['created'][:10]}: {_instruments(findings)}",
    }
    rows = [f"| {name} | {_cell(text)} |" for name, text in fields.items()]
    return "\n".join(["| Field | Response |", "|:---|:---|", *rows, "", _LIMITS, ""])


def _greatest(findings: Sequence[Finding], level: str) -> str:
    """Say of each instrument which of its means of a level lies furthest from neutral."""
    texts = []
    by_instrument: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.level == level and not finding.explicit:
            by_instrument.setdefault(finding.instrument, []).append(finding)
    for means in by_instrument.values():
        told = [finding for finding in means if finding.told]
        furthest = max(told or means, key=lambda finding: abs(finding.strength))
        texts.append(f"{'' if told else _NONE_SHOWN}{capital(furthest.headline)}")
    return "; ".join(texts) or "Not measured"


def _not_valid(findings: Sequence[Finding]) -> str:
    """Say of instruments whose controls failed that they do not work here."""
    works = dict.fromkeys(f"{finding.instrument} {finding.works}" for finding in findings)
    return "; ".join(works)


def _instruments(findings: Sequence[Finding]) -> str:
    names = dict.fromkeys(str(finding.about["instrument"]) for finding in findings)
    return ", ".join(measure_of(name).title for name in names)


def _cell(text: str) -> str:
    """Put a text into a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def _model_index(model: str, findings: Sequence[Finding]) -> str:
    """Return the metadata: a result for each mean over all stereotypes."""
    results = [
        {
            "task": {"type": "text-generation"},
            "dataset": {
                "name": str(finding.about["study"]),
                "type": slug("-".join(name_parts(finding, "dimension"))),
            },
            "metrics": [
                {
                    "name": f"{capital(finding.instrument)}, mean (neutral is {finding.neutral:g})",
                    "type": str(finding.about["instrument"]),
                    "value": round(finding.mean, 4),
                    "args": {"low": finding.low, "high": finding.high, "verdict": finding.verdict},
                }
            ],
        }
        for finding in findings
        if finding.level == "model" and finding.valid
    ]
    content = {"model-index": [{"name": model, "results": results}]}
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000))
