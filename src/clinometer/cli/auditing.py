"""``clinometer audit``, ``run``, ``cost`` and ``report``: from a plan to a results directory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.audits import SIZES
from clinometer.cli.gating import FORMATS, JUDGING, baseline_scores, say_limits, take_judgement
from clinometer.cli.options import (
    COLUMN,
    CONDITION,
    FILE,
    FOLDER,
    MODEL,
    MODEL_SIZES,
    POLICY,
    SCORING,
    SIZE,
    asking_options,
    build_budget,
    build_connection,
    build_plan,
    build_recording,
    command,
    plan_options,
    refuse_unused,
)
from clinometer.cli.output import echo, remark, say_cost, say_paragraph, say_table
from clinometer.cli.planning import say_power
from clinometer.errors import ExitCode, InputError
from clinometer.models.providers import check_provider

if TYPE_CHECKING:
    from clinometer.asking.plan import Plan
    from clinometer.asking.sessions import Outcome
    from clinometer.audits.recording import Recording
    from clinometer.comparing.exports import GateReport


VERBOSE = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also print what the audit can tell of each instrument, mode and control, and all that "
    "the first screen of the report says.",
)

JSON = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print what was found as JSON on standard output, and nothing else.",
)


@command("audit")
@click.argument("models", nargs=-1, metavar="MODEL…")
@click.option(
    "--responses",
    type=FILE,
    help="Answers that were recorded elsewhere, instead of models: a .csv or .parquet table, an "
    "inspect log, or a folder of logs. Nothing is asked.",
)
@COLUMN
@CONDITION
@click.option(
    "--size",
    type=click.Choice(SIZES),
    default="quick",
    help="Trials per stereotype and wording. quick: 4 (minutes and cents); standard: 8 to 10, all "
    "instruments. paper: 50, as in Bai et al. and Li et al.",
)
@click.option(
    "--until",
    type=click.Choice(["decided"]),
    help="End the questions about a stereotype as soon as its verdict is there, with up to 4 times "
    "the trials of the size where it is not. Intervals hold however often was looked.",
)
@click.option(
    "--profile/--no-profile",
    default=True,
    help="Also measure hidden states, for clinometer/smollm2 and hf/… models.",
)
@POLICY
@click.option(
    "--judge",
    "judged",
    is_flag=True,
    help="Then judge the run by the policy, as clinometer gate does: the exit code is that of the "
    "decision. A run that a limit ended is inconclusive.",
)
@JUDGING
@VERBOSE
@JSON
@plan_options
@asking_options
def audit_command(  # noqa: PLR0913 - the options of an audit
    models: tuple[str, ...],
    responses: Path | None,
    columns: tuple[str, ...],
    conditions: tuple[str, ...],
    size: str,
    profile: bool,
    judged: bool,
    verbose: bool,
    as_json: bool,
    out: Path | None,
    **options: Any,
) -> None:
    """Measure the bias of MODEL… and write results/…/report.html.

    Models have inspect's names: openai/gpt-4o-mini, anthropic/…, hf/…, vllm/…, ollama/…. The
    embedded model, clinometer/smollm2, needs no key and no network; simulated/leaning asks no model
    at all. The same command continues an audit that was stopped; nothing is asked twice.
    """
    if responses is None and not models:
        raise click.UsageError("name a MODEL, or recorded answers with --responses")
    if responses is not None:
        refuse_unused(_RECORDED_USES, "has no say over recorded answers, of which nothing is asked")
    judgement = take_judgement(options, options["policy"], judged=judged)
    with _stdout_for_json(as_json), judgement.prepare(models) if judgement else nullcontext():
        outcome = None  # of recorded answers, which are all there
        if responses is not None:
            recording = _recording(models, columns, conditions, options)
            directory = _audit_recorded(responses, recording, out)
        else:
            for model in models:  # of recorded answers, any name says who gave them
                check_provider(model)
            plan = build_plan(models, options, size)
            from clinometer.audits.auditing import default_directory  # takes long to import

            directory = out or default_directory(plan.models, size)
            baseline = judgement.baseline if judgement else None
            announce = partial(
                _announce, baseline=baseline, prices=options["prices"], verbose=verbose
            )
            outcome = _audit(plan, directory, options, announce, profile=profile)
        model = next(iter(models), "")
        gate = judgement.judge_run(directory, model, outcome) if judgement else None
        page = None
        if outcome is None or outcome.has_tables:
            from clinometer.report import write_report  # what draws takes long to import

            page = write_report(directory)
    if page is not None:
        say_findings(directory, page, as_json=as_json, verbose=verbose, gate=gate)
    sys.exit(_exit_code(outcome, gate))


#: What `audit_command` uses where answers were recorded elsewhere.
_RECORDED_USES = {
    "responses",
    "columns",
    "conditions",
    "studies",
    "instruments",
    "out",
    "as_json",
    "verbose",
    "policy",
    "judged",
    "baseline",
    "judged_model",
    "require_declared",
    *FORMATS,
}


def _exit_code(outcome: Outcome | None, gate: GateReport | None = None) -> int:
    """Return the exit code of a run, or of what was decided of it."""
    if outcome is not None and outcome.stopped_by == "interrupted":
        return ExitCode.STOPPED
    if gate is not None:
        return gate.exit_code
    return ExitCode.DONE if outcome is None or outcome.complete else ExitCode.NOT_COMPLETE


def _announce(plan: Plan, *, baseline: Path | None, prices: Path | None, verbose: bool) -> None:
    """Print what a plan can tell, and what it decides of its policy."""
    from clinometer.asking.policy import parse_policy
    from clinometer.audits.limits import decide_limits

    say_power(plan, verbose=verbose)
    if plan.policy is not None:
        scores = None if baseline is None else baseline_scores(baseline, plan.models[0])
        policy = parse_policy(plan.policy, "policy")
        say_limits(decide_limits(plan, policy, scores, prices))


def _audit(
    plan: Plan,
    directory: Path,
    options: dict[str, Any],
    announce: Callable[[Plan], None],
    *,
    profile: bool,
) -> Outcome:
    """Ask models and write the tables; return how far they are."""
    if not _has_controls(plan):
        remark(
            "no controls are asked: whether the instrument works on this model is not shown "
            "(--controls asks them)"
        )
    return _complete(plan, directory, options, announce, with_families=profile)


def _has_controls(plan: Plan) -> bool:
    for selection in plan.selections:
        if any(selection.study.control_of(key) for key in selection.stereotypes):
            return True
    return False


def _stdout_for_json(as_json: bool) -> AbstractContextManager[Any]:
    """Keep standard output for JSON: what is said on the way goes to standard error."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def say_findings(
    directory: Path,
    page: Path,
    *,
    as_json: bool,
    verbose: bool = False,
    gate: GateReport | None = None,
) -> None:
    """Print what was found, and where the report is.

    As JSON with what was decided, which is printed already where it is text. `verbose`: all that
    the report's first screen says, in its order.
    """
    from clinometer.report.answers.screen import screen_lines, screen_table
    from clinometer.report.answers.summary import in_brief

    findings = in_brief(directory)  # None where no answers were asked
    if as_json:
        content = findings.content() if findings else {}
        if gate is not None:
            content["gate"] = gate.model_dump()
        echo(json.dumps({**content, "report": str(page)}, ensure_ascii=False, indent=1))
        return
    if findings and verbose:
        echo("\n".join([findings.title, *findings.lines()]))
    elif findings:
        say_table(screen_table(findings))
        for line in screen_lines(findings):
            say_paragraph(line)
    echo(f"report: {page}")


def _recording(
    models: tuple[str, ...],
    columns: tuple[str, ...],
    conditions: tuple[str, ...],
    options: dict[str, Any],
) -> Recording:
    """Return what recorded answers leave open."""
    for name in ("studies", "instruments"):  # which an audit of models may have several of
        if len(options[name] or ()) > 1:
            raise InputError(f"--{name[:-1]}: recorded answers are of one; call once for each")
    if len(models) > 1:
        raise InputError("MODEL…: at most one says who answered, where the table does not")
    return build_recording(
        next(iter(options["studies"] or ()), None),
        next(iter(options["instruments"] or ()), None),
        next(iter(models), None),
        columns,
        conditions,
    )


def _audit_recorded(responses: Path, recording: Recording, out: Path | None) -> Path:
    """Write the tables of recorded answers; return their directory."""
    from clinometer.audits.recording import audit_recorded

    directory = out or Path("results") / f"{responses.stem}-recorded"
    command = " ".join(["clinometer", *sys.argv[1:]])
    results = audit_recorded(responses, directory, recording, command)
    answers = results.table("scores")
    echo(f"{answers.height:,} answers, {answers['score'].count():,} scored: {directory}")
    return directory


@command("run")
@click.argument("models", nargs=-1, required=True, type=MODEL, metavar="MODEL…")
@POLICY
@plan_options
@asking_options
def run_command(models: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Ask MODEL… the trials of a study; write responses, scores and estimates.

    Models have inspect's names: openai/gpt-4o-mini, anthropic/…, hf/…, vllm/…, ollama/…. The
    embedded model, clinometer/smollm2, needs no key and no network. The same command continues a
    run that was stopped; nothing is asked twice.
    """
    plan = build_plan(models, options)
    from clinometer.audits.auditing import default_directory  # takes long to import

    directory = out or default_directory(plan.models, "run")
    outcome = _complete(plan, directory, options)
    if outcome.has_tables:
        echo(f"tables: {directory}")
    sys.exit(_exit_code(outcome))


@command("cost")
@click.argument("models", nargs=-1, required=True, type=MODEL, metavar="MODEL…")
@SIZE
@plan_options
def cost_command(models: tuple[str, ...], size: str, **options: Any) -> None:
    """Estimate the calls, tokens and dollars of an audit or a run; nothing is asked."""
    from clinometer.asking.budget import estimate_costs

    plan = build_plan(models, options, None if size == "run" else size)  # a run has no size
    say_cost(estimate_costs(plan.pieces(), plan.models, options["prices"]), batches=True)


@command("report")
@click.argument("directory", type=FOLDER)
@SCORING
@MODEL_SIZES
@click.option(
    "--csv",
    type=FOLDER,
    metavar="FOLDER",
    help="Folder in which every table is also written as CSV.",
)
@VERBOSE
@JSON
def report_command(
    directory: Path,
    scoring: str,
    sizes: Path | None,
    csv: Path | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Score the answers in DIRECTORY again and write its tables and report; no model is asked.

    Exit code 3: trials of the plan have no answer yet; the report is about the others.

    In a directory without answers (only association networks or hidden states) the tables stay
    as they are and only the report is written.
    """
    from clinometer.results.records import read_plan

    plan = directory / "plan.json"
    # Other families have estimates without a plan.
    if not plan.is_file() and not (directory / "estimates.parquet").is_file():
        read_plan(plan)  # raises what is missing, before the rest is imported

    from clinometer.asking.plan import record_sizes
    from clinometer.audits.tabulating import tabulate
    from clinometer.directory.results import all_tables, read_detail
    from clinometer.report import write_report
    from clinometer.results.progress import unfinished
    from clinometer.results.tables import pieces, write_pieces

    if sizes is not None:
        record_sizes(directory, sizes)
    if plan.is_file():
        tabulate(directory, scoring)
    say_findings(directory, write_report(directory), as_json=as_json, verbose=verbose)
    notes = unfinished(read_detail(directory, "progress"))  # a note per model
    for model, note in notes.items():
        remark(f"incomplete: {model}: {note}")
    _say_elsewhere(directory)
    if csv is not None:
        names = [name for name in all_tables() if (directory / f"{name}.parquet").is_file()]
        for name in names:
            write_pieces(pieces(directory / f"{name}.parquet"), csv / f"{name}.csv")
        echo(f"{len(names)} tables: {csv}", err=as_json)  # standard output is for JSON alone
    sys.exit(ExitCode.NOT_COMPLETE if notes else ExitCode.DONE)


def _say_elsewhere(directory: Path) -> None:
    """Print what of a directory was not made here, as far as the user's key tells."""
    from clinometer.results.evidence import run_notes

    for place, note in run_notes(directory).items():
        remark(f"from elsewhere: {place.relative_to(directory)}: {note.text}")


def _complete(
    plan: Plan,
    directory: Path,
    options: dict[str, Any],
    announce: Callable[[Plan], None] = lambda plan: None,
    *,
    with_families: bool = False,
) -> Outcome:
    """Carry out a plan and print what happens; return how far it is.

    `announce` is called before the cost is printed, when models can be asked.
    """
    from clinometer.audits.probing import replace_forced
    from clinometer.audits.running import Asking, Run
    from clinometer.cli.watching import Console

    judge = options["grader"]
    # A limit in dollars covers the judge too, whose price must then be known.
    budget = build_budget(options, [*plan.models, judge] if judge else plan.models)
    connection = build_connection(options)
    asking = Asking(
        connection,
        budget,
        options["prices"],
        judge=judge,
        from_elsewhere=options["from_elsewhere"],
    )
    if plan.size is not None:  # a run, which has no size, asks as it is told
        plan = replace_forced(plan, directory, asking)
    command = " ".join(["clinometer", *sys.argv[1:]])
    run = Run(plan, directory, asking, options["sizes"], with_families, command)
    return run.complete(Console(run, announce))
