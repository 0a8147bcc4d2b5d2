"""The outcome of a gate for other programs: Markdown, JUnit XML, SARIF, JSON.

Formats
    JUnit: a test case per check; a broken limit is a failure, an inconclusive check an error.
    SARIF 2.1.0 (OASIS): a result per check that is not met, level ``error`` or ``warning``, at the
    line of the policy that it comes from.
    JSON: `GateReport`, whose schema is ``docs/reference/gate.schema.json``.

Each is also written where the gate came to no outcome, and says why.

Names of models and studies are untrusted: each format escapes them in its own way.
"""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from pydantic import BaseModel

from clinometer import __version__
from clinometer.comparing.gating import CODES, CheckKind, Gated
from clinometer.numbers import percent
from clinometer.texts import visible, write_text

__all__ = [
    "FORMATS",
    "GateReport",
    "as_json",
    "as_junit",
    "as_markdown",
    "as_sarif",
    "no_outcome",
    "report_of",
    "write_gate",
]

_SIGNS = {"pass": "✅", "fail": "❌", "inconclusive": "⚠️", "error": "❗"}


class CheckReport(BaseModel):
    """One requirement, and whether it is met."""

    kind: CheckKind
    name: str
    outcome: Literal["pass", "fail", "inconclusive"]
    reason: str
    line: int | None = None

    @property
    def title(self) -> str:
        """Return the kind with the name, in one line."""
        return _printable(f"{self.kind}: {self.name}")


class GateReport(BaseModel):
    """The outcome of a gate, with every check; or why there is none."""

    format: Literal["clinometer gate 3"] = "clinometer gate 3"
    clinometer: str = __version__
    policy: str
    policy_file: str | None = None
    model: str | None = None
    baseline: str | None = None
    outcome: Literal["pass", "fail", "inconclusive", "error"]
    exit_code: int
    error: str | None = None
    confidence: float | None = None
    declared_before_the_run: bool | None = None
    declaration: str | None = None
    from_elsewhere: list[str] = []
    checks: list[CheckReport] = []


def report_of(gated: Gated, policy_file: str | None = None) -> GateReport:
    """Set out the outcome of a gate; `policy_file` is where SARIF points to."""
    return GateReport(
        policy=gated.policy.name,
        policy_file=policy_file,
        model=gated.model,
        baseline=gated.baseline,
        outcome=gated.outcome,
        exit_code=CODES[gated.outcome],
        confidence=gated.policy.confidence,
        declared_before_the_run=gated.declared,
        declaration=gated.declaration,
        from_elsewhere=list(gated.notes),
        checks=[CheckReport(**vars(check)) for check in gated.checks],
    )


def no_outcome(policy_file: str, error: str, exit_code: int) -> GateReport:
    """Say that a gate came to no outcome, and why."""
    return GateReport(
        policy=Path(policy_file).name,
        policy_file=policy_file,
        outcome="error",
        exit_code=exit_code,
        error=error,
    )


def as_json(report: GateReport) -> str:
    """Return the outcome as JSON; see `GateReport`."""
    return report.model_dump_json(indent=1) + "\n"


def as_markdown(report: GateReport) -> str:
    """Return the outcome as Markdown, for a comment on a pull request."""
    title = f"## {_SIGNS[report.outcome]} {_escape_markdown(report.policy)}: {report.outcome}"
    if report.error is not None:
        reason = f"No outcome: {_escape_markdown(report.error)}"
        return "\n".join([title, "", reason, "", "This says nothing about the model."]) + "\n"
    against = f" against {_escape_markdown(report.baseline)}" if report.baseline else ""
    lines = [
        title,
        "",
        f"{_escape_markdown(report.model or '')}{against}; {report.declaration}. Judged on "
        f"intervals that err with at most {percent(1.0 - (report.confidence or 0.0))}.",
        "",
        "| | check | what was found |",
        "|---|---|---|",
        *map(_markdown_row, report.checks),
        "",
        *(f"From elsewhere: {_escape_markdown(note)}\n" for note in report.from_elsewhere),
        "A pass does not say that the model is free of bias; it says that what was measured lies "
        "within the limits of the policy.",
    ]
    return "\n".join(lines) + "\n"


def _markdown_row(check: CheckReport) -> str:
    name = _escape_markdown(check.name)
    reason = _escape_markdown(check.reason)
    return f"| {_SIGNS[check.outcome]} {check.outcome} | {name} | {reason} |"


def _escape_markdown(text: str) -> str:
    """Escape what Markdown and HTML would act on."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&@-])", r"\\\1", _printable(text))


def as_junit(report: GateReport) -> str:
    """Return the outcome as JUnit XML."""
    counts = [check.outcome for check in report.checks]
    broken = report.error is not None
    suite = ET.Element(
        "testsuite",
        name=_printable(f"clinometer gate: {report.policy}"),
        tests=str(len(counts) + broken),
        failures=str(counts.count("fail")),
        errors=str(counts.count("inconclusive") + broken),
    )
    model = _printable(report.model or "")
    for check in report.checks:
        case = ET.SubElement(suite, "testcase", classname=model, name=check.title)
        reason = _printable(check.reason)
        if check.outcome == "fail":
            ET.SubElement(case, "failure", message=reason)
        elif check.outcome == "inconclusive":
            ET.SubElement(case, "error", message=f"inconclusive: {reason}")
        else:
            ET.SubElement(case, "system-out").text = reason
    if report.error is not None:
        case = ET.SubElement(suite, "testcase", classname=model, name="outcome")
        ET.SubElement(case, "error", message=f"no outcome: {_printable(report.error)}")
    root = ET.Element("testsuites")
    root.append(suite)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def as_sarif(report: GateReport) -> str:
    """Return the checks that are not met as SARIF 2.1.0."""
    levels = {"fail": "error", "inconclusive": "warning"}
    unmet = [
        (check.title, levels[check.outcome], f"{check.outcome}: {check.reason}", check.line)
        for check in report.checks
        if check.outcome in levels
    ]
    if report.error is not None:
        unmet.append(("gate: outcome", "error", f"no outcome: {report.error}", None))
    results = [
        {
            "ruleId": name,
            "level": level,
            "message": {"text": _printable(text)},
            "locations": [_location(report, line)],
        }
        for name, level, text, line in unmet
    ]
    names = dict.fromkeys(
        [*(check.title for check in report.checks), *(check[0] for check in unmet)]
    )
    driver = {
        "name": "Clinometer",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": name}} for name in names],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "invocations": [
            {"executionSuccessful": report.error is None, "exitCode": report.exit_code}
        ],
        "results": results,
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def _location(report: GateReport, line: int | None) -> dict[str, Any]:
    """Point at a line of the policy, its first where a check comes from no rule."""
    uri = _policy_uri(Path(report.policy_file or "policy.yaml"))
    logical = {"name": _printable(report.model or report.policy), "kind": "module"}
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": line or 1},
        },
        "logicalLocations": [logical],
    }


def _policy_uri(path: Path) -> str:
    """Return a URI that code scanning takes: relative in the checkout, else of the scheme file.

    The checkout is the workspace of a workflow, or the working directory.
    """
    # Folders alone are resolved: a checkout has links of its own, which are files to its readers.
    path = path.parent.resolve() / path.name
    for folder in (os.environ.get("GITHUB_WORKSPACE") or ".", "."):
        root = Path(folder).resolve()
        if path.is_relative_to(root):
            return quote(os.fsencode(path.relative_to(root).as_posix()))
    return path.as_uri()


def _printable(text: str) -> str:
    """Write a text in one line, without what no format may hold and a terminal would act on."""
    return visible(" ".join(text.split()))


#: Option of the command → the format it writes.
FORMATS: dict[str, Callable[[GateReport], str]] = {
    "markdown": as_markdown,
    "junit": as_junit,
    "sarif": as_sarif,
    "json": as_json,
}


def write_gate(report: GateReport, path: Path, form: str) -> None:
    """Write the outcome atomically in one of `FORMATS`.

    Raises InputError if the file cannot be written.
    """
    write_text(path, FORMATS[form](report))


if __name__ == "__main__":
    print(json.dumps(GateReport.model_json_schema(), indent=1))
