"""The gate: whether a run is within its policy, judged on intervals, never on points.

Rule
    Judged by `harm`, as `compare` is. A limit of means holds in both directions, unless the rule
    names one; it is met where every interval ends within it, and broken where one lies beyond it,
    which allows for all estimates of the rule at once. A rule of changes has two limits: it is
    met where no row can be worse by more than `at_most`, and broken where it is not met and a row
    is worse by more than `fails_above`, or turned. Else the check is inconclusive. The gate
    passes if every check passes; it fails if one fails, unless the run is not whole, or changed: of
    such a run nothing is decided. A rule without a level is about the model and every category.
    Explicit measures are judged by rules that name their instrument. Changes are judged in these
    prompts, means in other prompts, unless the rule names its range; the other range stands beside.

Checks
    ==================  ==========================================================================
    rule                a limit of means, or of changes from the baseline
    run                 every trial was asked, here if that is required, and one model answered
    policy              it was declared before the run, if that is required
    compliance          the interval of the share of scored answers (Wilson) lies above the floor
    control             every positive control passed (`results.controls`); a placebo lies within
                        the limits of rules about the model by itself. Of changes alone it may be
                        not known: what it errs by cancels
    ==================  ==========================================================================

    Compliance and controls are checked of what the rules are about. A control that did not pass, or
    was not asked, makes the gate inconclusive, as does an unfinished run: the instrument is not
    shown to work on this model, which says nothing of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from clinometer.asking.policy import Policy, load_policy
from clinometer.audits.recording import Recording
from clinometer.comparing.checks import (
    WORST,
    CheckKind,
    GateCheck,
    Outcome,
    condition_text,
    estimate_text,
)
from clinometer.comparing.comparison import Comparison, compare_runs
from clinometer.comparing.rules import RuleRows, check_rule
from clinometer.comparing.runs import ComparedRun, choose, choose_run, estimate_run_means, read_runs
from clinometer.errors import ExitCode, InputError
from clinometer.numbers import percent, percent_interval
from clinometer.results.controls import CONTROL_KEYS, Control, controls_of
from clinometer.results.ranges import rows_of_range
from clinometer.results.records import text_hash
from clinometer.results.verdicts import PASSED
from clinometer.statistics.estimates import Inference
from clinometer.statistics.intervals import wilson
from clinometer.texts import read_text

__all__ = [
    "CODES",
    "CheckKind",
    "GateCheck",
    "Gated",
    "Outcome",
    "gate",
    "inference_of",
    "judge_run",
]

#: Exit code of each outcome.
CODES: dict[Outcome, ExitCode] = {
    "pass": ExitCode.DONE,
    "fail": ExitCode.FAIL,
    "inconclusive": ExitCode.NOT_COMPLETE,
}

#: Whether the policy was declared before the run → what is said.
_DECLARATIONS = {
    None: "the run declares no policy",
    False: "the run declared another policy",
    True: "the policy was declared before the run",
}

#: Estimates of one instrument that are asked alike.
_ASKING = ("study", *CONTROL_KEYS, "dimension")


@dataclass(frozen=True)
class Gated:
    """The outcome of a gate, with every check."""

    policy: Policy
    model: str
    baseline: str | None
    declared: bool | None
    checks: Sequence[GateCheck]
    notes: Sequence[str] = ()
    """What of the plan and the answers was not made here; see `results.evidence`."""

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome of a check; that of a run that is not whole is inconclusive."""
        if any(check.kind == "run" and check.outcome != "pass" for check in self.checks):
            return "inconclusive"
        outcomes = {check.outcome for check in self.checks}
        return next(outcome for outcome in WORST if outcome in outcomes)

    @property
    def declaration(self) -> str:
        """Say whether the policy was declared before the run."""
        return _DECLARATIONS[self.declared]


def gate(
    results: object,
    policy: str | Path | Policy,
    baseline: object = None,
    *,
    model: str | None = None,
    require_declared: bool = False,
    recording: Recording | None = None,
) -> Gated:
    """Judge a run by a policy.

    Parameters
    ----------
    results, baseline
        As of `compare`: a results directory or a bundle, a table of scores, or recorded answers.
        The baseline is needed by rules of changes.
    policy
        A policy, or the path of its file.
    model
        The model that is judged, where the results have several.
    require_declared
        Whether a policy that was not declared before the run, or answers that were not asked with
        the user's key, leave the gate inconclusive.
    recording
        What recorded answers leave open.

    Returns
    -------
    Gated

    Raises
    ------
    InputError
        If a file is missing or malformed, a bundle was changed, the model is not clear, or a rule
        of changes has no baseline.

    Examples
    --------
    >>> gate("results/b", "policy.yaml", "results/a").outcome  # doctest: +SKIP
    'pass'
    """
    rules = load_policy(policy)
    run = choose_run(read_runs(results, recording), model, "--judged-model")
    changes = [rule.title for rule in rules.rules if rule.what == "change"]
    if changes and baseline is None:
        raise InputError(f"policy: {changes[0]!r} is about a change; give a --baseline")
    compared = None
    if baseline is not None:
        before = read_runs(baseline, recording)
        baseline_run = choose_run(before, model if len(before) > 1 else None, "--judged-model")
        ours, theirs = choose([[baseline_run], [run]])
        compared = compare_runs(ours, theirs, inference_of(rules))
    declared = _was_declared(run, policy)
    checks = judge_run(rules, run, compared)
    if require_declared:
        checks.append(_declaration_check(declared))
    is_required = require_declared or rules.origin == "required"
    checks += _origin_checks(run, is_required)
    if compared is not None:  # a baseline may well be from elsewhere, but not changed since
        checks += _origin_checks(compared.baseline, is_required=False)
    label = None if compared is None else compared.baseline.label
    return Gated(rules, run.model, label, declared, checks, [note.text for note in run.notes])


def inference_of(policy: Policy) -> Inference:
    """Return margin, confidence and compliance floor of a policy."""
    return Inference(policy.margin, policy.confidence, policy.compliance)


def judge_run(rules: Policy, run: ComparedRun, compared: Comparison | None) -> list[GateCheck]:
    """Make the checks of a policy.

    `compared` has the run as its only candidate, with `inference_of` the policy; None: no rule is
    about changes.
    """
    judged_run = run
    if compared is None:
        estimates = estimate_run_means(run, inference_of(rules))
    else:
        (judged_run,) = compared.candidates  # the same, with its label
        estimates = compared.own[judged_run.label]
    judged = [RuleRows.select(rule, estimates, judged_run, compared) for rule in rules.rules]
    conditions = _distinct_conditions(judged)
    looks = run.looks if compared is None else compared.looks(judged_run)
    return [
        *(check_rule(rows, rules.confidence, looks) for rows in judged),
        *_run_checks(run, None if compared is None else compared.baseline),
        *_compliance_checks(rules, estimates, conditions),
        *(_control_checks(estimates, judged) if rules.controls == "required" else ()),
        *(_baseline_checks(compared, judged) if rules.controls == "required" else ()),
    ]


def _was_declared(run: ComparedRun, policy: str | Path | Policy) -> bool | None:
    """Whether the run's plan has this policy; None if it has none, or the policy is no file."""
    if run.policy is None or isinstance(policy, Policy):
        return None
    return run.policy == text_hash(read_text(Path(policy)))


def _distinct_conditions(judged: Sequence[RuleRows]) -> pl.DataFrame:
    """Return what the rules are about: a row for each instrument and how it was asked."""
    return pl.concat(rows.deciding.select(_ASKING) for rows in judged).unique(maintain_order=True)


def _declaration_check(declared: bool | None) -> GateCheck:
    """Check that the policy was declared before the run."""
    outcome: Outcome = "pass" if declared else "inconclusive"
    return GateCheck("policy", _DECLARATIONS[True], outcome, _DECLARATIONS[declared])


def _origin_checks(run: ComparedRun, is_required: bool) -> Iterator[GateCheck]:
    """Check that plan and answers of a run were made here; changed ones never pass."""
    texts = [note.text for note in run.notes if is_required or note.changed]
    if texts:
        name = f"answers of {run.label or run.model} were asked here"
        yield GateCheck("run", name, "inconclusive", "; ".join(texts))


def _run_checks(*runs: ComparedRun | None) -> Iterator[GateCheck]:
    """Check that each run is whole, and of one model."""
    for run in runs:
        if run is not None and run.doubts:
            reason = "; ".join(run.doubts)
            yield GateCheck("run", f"{run.label or run.model} is whole", "inconclusive", reason)


def _baseline_checks(
    compared: Comparison | None, judged: Sequence[RuleRows]
) -> Iterator[GateCheck]:
    """Check the controls of the baseline, of what rules of changes are about."""
    changes = [rows for rows in judged if rows.rule.what == "change"]
    if compared is None or not changes:
        return
    before = compared.baseline.label
    for check in _control_checks(compared.own[before], changes):
        yield replace(check, name=f"{check.name}, {before}")


def _compliance_checks(
    policy: Policy, estimates: pl.DataFrame, conditions: pl.DataFrame
) -> Iterator[GateCheck]:
    rows = estimates.filter(
        pl.col("factor").is_null() & pl.col("compliance").is_not_null(),
        pl.col("control").is_null(),
        level="model",
    )
    rows = rows_of_range(rows, "other_prompts").join(
        conditions, on=_ASKING, how="semi", nulls_equal=True, maintain_order="left"
    )
    for row in rows.iter_rows(named=True):
        answers = row["n"] - (row["n_absent"] or 0)
        low, high = wilson(pl.lit(row["compliance"]), answers, policy.confidence)
        lowest, highest = pl.select(low=low, high=high).row(0)
        outcome: Outcome = "inconclusive"
        if lowest >= policy.compliance:
            outcome = "pass"
        elif highest < policy.compliance:
            outcome = "fail"
        reason = (
            f"{percent(row['compliance'], 1)} of {answers:,} answers scored "
            f"[{percent_interval(lowest, highest, 1)}]"
        )
        yield GateCheck(
            "compliance",
            f"{condition_text(row)}: at least {percent(policy.compliance)}",
            outcome,
            reason,
        )


def _control_checks(estimates: pl.DataFrame, judged: Sequence[RuleRows]) -> Iterator[GateCheck]:
    """Check the controls of each instrument and mode that the rules are about."""
    decided = pl.concat(rows.deciding for rows in judged)
    for control in controls_of(estimates, decided):
        value = "" if control.row is None else f": {estimate_text(control.row)}"
        reason = f"{control.outcome}{value}"
        limits = _limits_of_means(control, judged)
        outcome: Outcome = "pass" if control.holds_for_changes else "inconclusive"
        if control.kind == "negative" and limits and control.row is not None:
            within = control.lies_within(min(limits))
            outcome = outcome if within else "inconclusive"
            reason += f", {'' if within else 'not '}within {min(limits):g} of neutral"
        elif outcome == "pass" and control.outcome != PASSED:
            reason += "; what a placebo errs by cancels in changes"
        yield GateCheck("control", str(control), outcome, reason)


def _limits_of_means(control: Control, judged: Sequence[RuleRows]) -> list[float]:
    """Return the limits of the rules about a model by itself that a control speaks for."""
    run_keys = {name: control.subject[name] for name in ("instrument", "mode")}
    return [
        rows.rule.at_most
        for rows in judged
        if rows.rule.what == "mean" and not rows.deciding.filter(**run_keys).is_empty()
    ]
