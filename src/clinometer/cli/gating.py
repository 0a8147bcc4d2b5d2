"""``clinometer gate``: whether a run is within its policy, as an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from clinometer.cli.options import FILE, OUT, build_recording, command, recording_options
from clinometer.cli.output import echo, exit_code
from clinometer.errors import one_line

__all__ = ["gate_command"]


@command("gate")
@click.argument("results", type=FILE)
@click.option("--policy", required=True, type=FILE, help="Policy file; see docs/how-to/gate.md.")
@click.option("--baseline", type=FILE, help="What changes are counted from.")
@click.option("--judged-model", metavar="NAME", help="The model, where RESULTS have several.")
@click.option(
    "--require-declared",
    is_flag=True,
    help="A policy that was not declared before the run is inconclusive.",
)
@click.option("--markdown", type=OUT, help="Write the outcome as Markdown.")
@click.option("--junit", type=OUT, help="Write the outcome as JUnit XML.")
@click.option("--sarif", type=OUT, help="Write what is not met as SARIF.")
@click.option(
    "--json", type=OUT, help="Write the outcome as JSON (docs/reference/gate.schema.json)."
)
@recording_options
def gate_command(
    results: Path,
    policy: Path,
    baseline: Path | None,
    judged_model: str | None,
    require_declared: bool,
    **options: Any,
) -> None:
    """Judge RESULTS by a policy: pass (exit code 0), fail (1) or inconclusive (3).

    RESULTS are a results directory, a bundle, a table of scores, or recorded answers. Every check
    is judged on its interval. An error in the input has exit code 2, anything unexpected 4; files
    of the outcome then say so.
    """
    from clinometer.comparing.exports import FORMATS, no_outcome, report_of, write_gate
    from clinometer.comparing.gating import gate

    files = {}
    for form in FORMATS:
        path = options.pop(form)  # what is left are the options of recorded answers
        if path is not None:
            files[form] = path
    try:
        recording = build_recording(**options)
        gated = gate(
            results,
            policy,
            baseline,
            model=judged_model,
            require_declared=require_declared,
            recording=recording,
        )
    except Exception as error:
        # A file of an earlier run must not stand as the outcome of this one.
        failure = no_outcome(str(policy), one_line(error), exit_code(error))
        for form, path in files.items():
            write_gate(failure, path, form)
        raise
    against = f" against {gated.baseline}" if gated.baseline else ""
    echo(f"{gated.outcome}: {gated.policy.name}, {gated.model}{against}")
    for check in gated.checks:
        echo(f"  {check.outcome}: {check.name}: {check.reason}")
    echo(f"  {gated.declaration}")
    for note in gated.notes:
        echo(f"  from elsewhere: {note}")
    report = report_of(gated, str(policy))
    for form, path in files.items():
        write_gate(report, path, form)
    sys.exit(report.exit_code)
