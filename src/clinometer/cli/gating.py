"""``clinometer gate``, and the judgement of ``audit --judge``: a decision as an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    FILE,
    OUT,
    all_options,
    build_recording,
    command,
    recording_options,
)
from clinometer.cli.output import echo, exit_code, say_paragraph, say_table
from clinometer.errors import ClinometerError, InputError, one_line, unknown

if TYPE_CHECKING:
    import polars as pl

    from clinometer.asking.sessions import Outcome
    from clinometer.audits.limits import DecidedLimit
    from clinometer.audits.recording import Recording
    from clinometer.comparing.exports import GateReport
    from clinometer.comparing.gating import Gated

#: Formats in which an outcome is written, as options; of `gate` alone the last.
FORMATS = ("markdown", "junit", "sarif", "json")

#: How a run is judged.
JUDGING = all_options(
    [
        click.option("--baseline", type=FILE, help="What changes are counted from."),
        click.option("--judged-model", metavar="NAME", help="The model, where there are several."),
        click.option(
            "--require-declared",
            is_flag=True,
            help="A policy that was not declared before the run, or answers that were not asked "
            "here, are inconclusive.",
        ),
        click.option("--markdown", type=OUT, help="Write the outcome as Markdown."),
        click.option("--junit", type=OUT, help="Write the outcome as JUnit XML."),
        click.option("--sarif", type=OUT, help="Write what is not met as SARIF."),
    ]
)


@dataclass(frozen=True)
class Judgement:
    """By what a run is judged, and where the outcome is written."""

    policy: Path
    baseline: Path | None = None
    model: str | None = None
    require_declared: bool = False
    files: Mapping[str, Path] = field(default_factory=dict)
    """Format → file."""

    @contextmanager
    def prepare(self, models: Sequence[str] = ()) -> Iterator[None]:
        """Refuse what could not be judged before anything is asked of models.

        If any error comes before the outcome, files say that there is none, and why: a file of an
        earlier run must not stand as the outcome of this one.
        """
        from clinometer.comparing.exports import no_outcome

        try:
            self._check(models)
            yield
        except Exception as error:
            self._write(no_outcome(str(self.policy), one_line(error), exit_code(error)))
            raise

    def _check(self, models: Sequence[str]) -> None:
        """Raise InputError if models could not be judged by the policy."""
        from clinometer.asking.policy import load_policy

        changes = [rule.title for rule in load_policy(self.policy).rules if rule.what == "change"]
        if changes and self.baseline is None:
            raise InputError(f"policy: {changes[0]!r} is about a change; give a --baseline")
        if self.model is None and len(models) > 1:
            raise InputError(f"--judge: {len(models)} models; name one with --judged-model")
        if self.model is not None and models and self.model not in models:
            raise InputError(f"--judged-model: {unknown('model', self.model, models)}")

    def judge(self, results: Path, recording: Recording | None = None) -> GateReport:
        """Judge results; print the outcome and write it."""
        from clinometer.comparing.gating import gate

        gated = gate(
            results,
            self.policy,
            self.baseline,
            model=self.model,
            require_declared=self.require_declared,
            recording=recording,
        )
        return self._report(gated)

    def judge_run(self, results: Path, model: str, outcome: Outcome | None) -> GateReport:
        """Judge a run of a model; one that has not come to its end is inconclusive.

        `outcome`: how far it is; None: answers that were recorded elsewhere.
        """
        from clinometer.asking.policy import load_policy
        from clinometer.comparing.gating import GateCheck, Gated

        if outcome is None or outcome.complete:
            return self.judge(results)
        if outcome.has_tables:
            with suppress(ClinometerError):  # too few answers to be judged
                return self.judge(results)
        reason = outcome.stopped_by or outcome.last_error or "not complete"
        text = f"{outcome.answered:,} of {outcome.trials:,} trials have an answer: {reason}"
        name = self.model or model
        check = GateCheck("run", f"{name} is whole", "inconclusive", text)
        return self._report(Gated(load_policy(self.policy), name, None, True, [check]))

    def _report(self, gated: Gated) -> GateReport:
        from clinometer.comparing.exports import report_of
        from clinometer.comparing.tables import CHECKS, gate_rows

        against = f" against {gated.baseline}" if gated.baseline else ""
        echo(f"{gated.outcome}: {gated.policy.name}, {gated.model}{against}")
        say_table(CHECKS.render(gate_rows(gated)))
        say_paragraph(gated.declaration)
        for note in gated.notes:
            say_paragraph(f"from elsewhere: {note}")
        report = report_of(gated, str(self.policy))
        self._write(report)
        return report

    def _write(self, report: GateReport) -> None:
        from clinometer.comparing.exports import write_gate

        for form, path in self.files.items():
            write_gate(report, path, form)


def baseline_scores(baseline: Path, model: str | None) -> pl.DataFrame:
    """Return the scores of the run that changes are counted from."""
    from clinometer.comparing.runs import choose_run, read_runs

    runs = read_runs(baseline)
    return choose_run(runs, model if len(runs) > 1 else None, "--judged-model").scores


def say_limits(limits: Iterable[DecidedLimit]) -> None:
    """Print what a size decides of the limits of a policy."""
    lines = [limit.text() for limit in limits]
    if lines:
        echo("what this size decides of the policy, where a model is without harm:")
    for line in lines:
        echo(f"  {line}")


def take_judgement(
    options: dict[str, Any], policy: Path | None, *, judged: bool = True
) -> Judgement | None:
    """Take the values of `JUDGING` out of the options; None if nothing is `judged`.

    Raises click.UsageError if there is no policy to judge by, or a value and nothing is judged.
    """
    paths = {form: options.pop(form, None) for form in FORMATS}
    files = {form: path for form, path in paths.items() if path is not None}
    names = ("baseline", "judged_model", "require_declared")
    baseline, model, require_declared = (options.pop(name) for name in names)
    if judged and policy is None:
        raise click.UsageError("--judge: by which policy? name it with --policy")
    if judged and policy is not None:
        return Judgement(policy, baseline, model, require_declared, files)
    if files or baseline or model or require_declared:
        raise click.UsageError("a run is judged with --policy and --judge only")
    return None


@command("gate")
@click.argument("results", type=FILE)
@click.option("--policy", required=True, type=FILE, help="Policy file; see docs/how-to/gate.md.")
@JUDGING
@click.option(
    "--json", type=OUT, help="Write the outcome as JSON (docs/reference/gate.schema.json)."
)
@recording_options
def gate_command(results: Path, policy: Path, **options: Any) -> None:
    """Judge RESULTS by a policy: pass (exit code 0), fail (1) or inconclusive (3).

    RESULTS are a results directory, a bundle, a table of scores, or recorded answers. Every check
    is judged on its interval. An error in the input has exit code 2, anything unexpected 4; files
    of the outcome then say so.
    """
    judgement = take_judgement(options, policy)
    assert judgement is not None  # there is a policy
    with judgement.prepare():
        # What is left of the options.
        report = judgement.judge(results, build_recording(**options))
    sys.exit(report.exit_code)
