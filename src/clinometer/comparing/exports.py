"""The outcome of a gate for other programs: Markdown, JUnit XML, SARIF, JSON.

Formats
    JUnit: a test case per check; a broken limit is a failure, an inconclusive check an error.
    SARIF 2.1.0 (OASIS): a result per check that is not met, level ``error`` or ``warning``.
    JSON: `GateReport`, whose schema is ``docs/reference/gate.schema.json``.

Names of models and studies are untrusted: each format escapes them in its own way.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from clinometer import __version__
from clinometer.comparing.gating import CODES, Check, Gated
from clinometer.texts import visible, write_text

__all__ = ["FORMATS", "GateReport", "as_json", "as_junit", "as_markdown", "as_sarif", "write_gate"]

_SIGNS = {"pass": "✅", "fail": "❌", "inconclusive": "⚠️"}


class CheckReport(BaseModel):
    """One requirement, and whether it is met."""

    kind: Literal["rule", "run", "compliance", "control"]
    name: str
    outcome: Literal["pass", "fail", "inconclusive"]
    reason: str


class GateReport(BaseModel):
    """The outcome of a gate, with every check."""

    format: Literal["clinometer gate 1"] = "clinometer gate 1"
    clinometer: str
    policy: str
    model: str
    baseline: str | None
    outcome: Literal["pass", "fail", "inconclusive"]
    exit_code: int
    declared_before_the_run: bool | None
    checks: list[CheckReport]


def as_json(gated: Gated) -> str:
    """Return the outcome as JSON; see `GateReport`."""
    report = GateReport(
        clinometer=__version__,
        policy=gated.policy.name,
        model=gated.model,
        baseline=gated.baseline,
        outcome=gated.outcome,
        exit_code=CODES[gated.outcome],
        declared_before_the_run=gated.declared,
        checks=[CheckReport(**vars(check)) for check in gated.checks],
    )
    return report.model_dump_json(indent=1) + "\n"


def as_markdown(gated: Gated) -> str:
    """Return the outcome as Markdown, for a comment on a pull request."""
    against = f" against {_marked(gated.baseline)}" if gated.baseline else ""
    lines = [
        f"## {_SIGNS[gated.outcome]} {_marked(gated.policy.name)}: {gated.outcome}",
        "",
        f"{_marked(gated.model)}{against}; {gated.declaration}. Judged on "
        f"{gated.policy.confidence:.0%} intervals.",
        "",
        "| | check | what was found |",
        "|---|---|---|",
        *(
            f"| {_SIGNS[one.outcome]} {one.outcome} | {_marked(one.name)} | {_marked(one.reason)} |"
            for one in gated.checks
        ),
        "",
        "A pass does not say that the model is free of bias; it says that what was measured lies "
        "within the limits of the policy.",
    ]
    return "\n".join(lines) + "\n"


def _marked(text: str) -> str:
    """Escape what Markdown and HTML would act on."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&@-])", r"\\\1", _printable(text))


def as_junit(gated: Gated) -> str:
    """Return the outcome as JUnit XML."""
    counts = [check.outcome for check in gated.checks]
    suite = ET.Element(
        "testsuite",
        name=_printable(f"clinometer gate: {gated.policy.name}"),
        tests=str(len(counts)),
        failures=str(counts.count("fail")),
        errors=str(counts.count("inconclusive")),
    )
    for check in gated.checks:
        case = ET.SubElement(
            suite, "testcase", classname=_printable(gated.model), name=_printable(_title(check))
        )
        reason = _printable(check.reason)
        if check.outcome == "fail":
            ET.SubElement(case, "failure", message=reason)
        elif check.outcome == "inconclusive":
            ET.SubElement(case, "error", message=f"inconclusive: {reason}")
        else:
            ET.SubElement(case, "system-out").text = reason
    root = ET.Element("testsuites")
    root.append(suite)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def as_sarif(gated: Gated) -> str:
    """Return the checks that are not met as SARIF 2.1.0."""
    levels = {"fail": "error", "inconclusive": "warning"}
    names = list(dict.fromkeys(_printable(_title(check)) for check in gated.checks))
    results = [
        {
            "ruleId": _printable(_title(check)),
            "level": levels[check.outcome],
            "message": {"text": f"{check.outcome}: {_printable(check.reason)}"},
            "locations": [
                {"logicalLocations": [{"name": _printable(gated.model), "kind": "module"}]}
            ],
        }
        for check in gated.checks
        if check.outcome in levels
    ]
    driver = {
        "name": "Clinometer",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": name}} for name in names],
    }
    run: dict[str, Any] = {"tool": {"driver": driver}, "results": results}
    whole = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _title(check: Check) -> str:
    return f"{check.kind}: {check.name}"


def _printable(text: str) -> str:
    """Write a text in one line, without what no format may hold and a terminal would act on."""
    return visible(" ".join(text.split()))


#: Option of the command → the format it writes.
FORMATS: dict[str, Callable[[Gated], str]] = {
    "markdown": as_markdown,
    "junit": as_junit,
    "sarif": as_sarif,
    "json": as_json,
}


def write_gate(gated: Gated, path: Path, form: str) -> None:
    """Write the outcome atomically in one of `FORMATS`.

    Raises InputError if the file cannot be written.
    """
    write_text(path, FORMATS[form](gated))


if __name__ == "__main__":
    print(json.dumps(GateReport.model_json_schema(), indent=1))
