"""The gate: whether a run is within its policy, judged on intervals, never on points.

Rule
    A limit is met where every interval ends within it, and broken where an interval lies beyond it;
    the latter allows for all estimates of the rule together (Bonferroni). Both also hold for the
    worst, and the best, that missing answers could be. Else the check is inconclusive. The gate
    passes if every check passes; it fails if one fails, unless the run is not whole, or changed: of
    such a run nothing is decided. A rule without a level is about the model and every category.
    Explicit measures are judged by rules that name their instrument.

Checks
    ==================  ==========================================================================
    rule                a limit of means, or of changes from the baseline
    run                 every trial was asked, here if that is required, and one model answered
    policy              it was declared before the run, if that is required
    compliance          the interval of the share of scored answers (Wilson) lies above the floor
    control             a positive and a negative control passed (`results.controls`)
    ==================  ==========================================================================

    Compliance and controls are checked of what the rules are about. A control that did not pass, or
    was not asked, makes the gate inconclusive, as does an unfinished run: the instrument is not
    shown to work on this model, which says nothing of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from clinometer.asking.policy import Policy, Rule, load_policy
from clinometer.audits.recording import Recording
from clinometer.comparing.comparison import Comparison, compare_runs
from clinometer.comparing.deciding import difference_text
from clinometer.comparing.runs import ComparedRun, choose, choose_one, own_estimates, read_runs
from clinometer.errors import ExitCode, InputError
from clinometer.results import CONDITIONS
from clinometer.results.controls import SPEAKS_FOR, controls_of
from clinometer.results.records import text_hash
from clinometer.results.verdicts import NO_CHANGE, PASSED, restricted
from clinometer.statistics.clustered import UNANIMOUS, ClusteredMean, together, wilson
from clinometer.statistics.estimates import Inference
from clinometer.statistics.looks import Looks
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

Outcome = Literal["pass", "fail", "inconclusive"]
CheckKind = Literal["rule", "run", "policy", "compliance", "control"]

#: Exit code of each outcome.
CODES: dict[Outcome, ExitCode] = {
    "pass": ExitCode.DONE,
    "fail": ExitCode.FAIL,
    "inconclusive": ExitCode.NOT_COMPLETE,
}

#: Outcomes, the worst first: the first one that a check has is the gate's.
_WORST: tuple[Outcome, ...] = ("fail", "inconclusive", "pass")

#: Whether the policy was declared before the run → what is said.
_DECLARATIONS = {
    None: "the run declares no policy",
    False: "the run declared another policy",
    True: "the policy was declared before the run",
}

#: Estimates of one instrument that are asked alike.
_ASKING = ("study", *SPEAKS_FOR, "dimension")

#: What names them in a reason.
_NAMES = ("study", "instrument", "mode", *CONDITIONS, "dimension")


@dataclass(frozen=True)
class GateCheck:
    """One requirement, and whether it is met."""

    kind: CheckKind
    name: str
    outcome: Outcome
    reason: str
    line: int | None = None
    """Of the policy's file, where a rule begins."""


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
        return next(outcome for outcome in _WORST if outcome in outcomes)

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
    run = choose_one(read_runs(results, recording), model, "--judged-model")
    changes = [rule.title for rule in rules.rules if rule.what == "change"]
    if changes and baseline is None:
        raise InputError(f"policy: {changes[0]!r} is about a change; give a --baseline")
    compared = None
    if baseline is not None:
        before = read_runs(baseline, recording)
        baseline_run = choose_one(before, model if len(before) > 1 else None, "--judged-model")
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
    if compared is None:
        estimates = own_estimates(run, inference_of(rules))
    else:
        estimates = compared.own[compared.candidates[0].label]
    judged = [_select_estimates(rule, estimates, compared) for rule in rules.rules]
    conditions = _distinct_conditions(judged)
    return [
        *_rule_checks(rules, judged, run.looks),
        *_run_checks(run, None if compared is None else compared.baseline),
        *_compliance_checks(rules, estimates, conditions),
        *(_control_checks(estimates, conditions) if rules.controls == "required" else ()),
        *(_baseline_checks(compared, judged) if rules.controls == "required" else ()),
    ]


def _was_declared(run: ComparedRun, policy: str | Path | Policy) -> bool | None:
    """Whether the run's plan has this policy; None if it has none, or the policy is no file."""
    if run.policy is None or isinstance(policy, Policy):
        return None
    return run.policy == text_hash(read_text(Path(policy)))


def _select_estimates(
    rule: Rule, estimates: pl.DataFrame, compared: Comparison | None
) -> pl.DataFrame:
    """Return the estimates that a rule is about."""
    rows = estimates.filter(pl.col("factor").is_null())
    if rule.what == "change":
        assert compared is not None
        of_scores = pl.col("measure") == pl.col("instrument")
        rows = compared.estimates.filter(of_scores, factor="model")
    if rule.where.instrument is None:
        rows = rows.filter(~pl.col("explicit"))
    judged = rows.filter(
        pl.col("control").is_null() & pl.col("tost_margin").is_not_null(),
        pl.col("level").is_in(rule.levels),
        method="clustered",
        **rule.where.model_dump(exclude_none=True),
    )
    for instrument in judged["instrument"].unique(maintain_order=True):
        if rule.at_most >= rule.reach(instrument):
            raise InputError(
                f"policy: {rule.title!r} cannot be broken by {instrument}, whose {rule.what} lies "
                f"within {rule.reach(instrument):g}; name the instrument of the rule (where)"
            )
    return judged


def _distinct_conditions(judged: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return what the rules are about: a row for each instrument and how it was asked."""
    return pl.concat(rows.select(_ASKING) for rows in judged).unique(maintain_order=True)


def _rule_checks(
    policy: Policy, judged: Sequence[pl.DataFrame], looks: Looks
) -> Iterator[GateCheck]:
    for rule, rows in zip(policy.rules, judged, strict=True):
        # A run that ended where it was decided could have ended at every look.
        alone, joint = (
            together(policy.confidence, looks.tests(number, 1.0 - policy.confidence))
            for number in (1, max(rows.height, 1))
        )
        outcome, reason = _judge_limit(rows, rule, alone, joint)
        yield GateCheck("rule", rule.title, outcome, reason, rule.line)


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


def _judge_limit(rows: pl.DataFrame, rule: Rule, alone: float, joint: float) -> tuple[Outcome, str]:
    """Judge a limit by the intervals of some estimates: of each alone, and of all together."""
    if rows.is_empty():
        return "inconclusive", "nothing that the rule is about was measured"
    unknown = rows.filter(pl.any_horizontal(pl.col("ci_low", "ci_high", "estimate").is_null()))
    judged: list[tuple[Outcome, float, dict[str, Any]]] = []
    for row in rows.drop_nulls(["ci_low", "ci_high", "estimate"]).iter_rows(named=True):
        outcome, reach = _judge_estimate(row, rule, alone, joint)
        judged.append((outcome, reach, row))
    # The worst outcome first and, of one outcome, the estimate that reaches furthest.
    judged.sort(key=lambda estimate: (_WORST.index(estimate[0]), -estimate[1]))
    if judged:
        outcome, _, worst = judged[0]
        if outcome == "pass" and unknown.is_empty():
            return "pass", f"largest: {_judged_text(worst, alone)}{_restriction(rows)}"
        if outcome != "pass":
            alike = sum(row_outcome == outcome for row_outcome, _, _ in judged)
            more = f" and {alike - 1} more" if alike > 1 else ""
            restriction = _restriction(pl.DataFrame([worst], schema=rows.schema))
            return outcome, f"{_judged_text(worst, joint)}{restriction}{more}"
    return (
        "inconclusive",
        f"{unknown.height} without an interval: {_row_name(unknown.row(0, named=True))}",
    )


def _restriction(rows: pl.DataFrame) -> str:
    """Say what wording, order or words an outcome that all rows decide is restricted to."""
    restrictions = rows.select(said=restricted(pl.lit(""), pl.col("conditional_on")))["said"]
    return max(restrictions, key=len, default="")


def _judge_estimate(
    row: dict[str, Any], rule: Rule, alone: float, joint: float
) -> tuple[Outcome, float]:
    """Judge one estimate, and say how far its interval reaches toward the worse.

    The interval reaches as far as the worst that missing answers could be.
    """
    if row["verdict"] == NO_CHANGE:
        return "pass", 0.0
    low, high, least, most = _distances_toward_worse(row, alone, joint)
    surely_above = min(low, least) > rule.at_most
    surely_below = max(high, most) < -rule.at_most
    reach = most if rule.worse == "consistent" else max(most, -least)
    broken = surely_above or (rule.worse == "either" and surely_below)
    if broken:
        return "fail", reach
    return ("pass" if reach <= rule.at_most else "inconclusive"), reach


def _baseline_checks(
    compared: Comparison | None, judged: Sequence[pl.DataFrame]
) -> Iterator[GateCheck]:
    """Check the controls of the baseline, of what rules of changes are about."""
    changes = [rows for rows in judged if rows["factor"].is_not_null().any()]
    if compared is None or not changes:
        return
    before = compared.baseline.label
    for check in _control_checks(compared.own[before], _distinct_conditions(changes)):
        yield replace(check, name=f"{check.name}, {before}")


def _interval(row: Mapping[str, Any], confidence: float) -> tuple[float, float]:
    """Return the interval of an estimate, not narrower than that of it alone.

    That of a change is not narrower than it is for all that a comparison decides about.
    """
    mean = ClusteredMean(
        n=row["n_scored"],
        n_clusters=row["n_clusters"],
        mean=row["estimate"],
        se=row["se"],
        df=row["df"],
        unanimous=row["test"] == UNANIMOUS,
        bounds=(row["range_low"], row["range_high"]),
        scale=_scale(row),
    )
    low, high = mean.interval(confidence)
    assert low is not None and high is not None
    which = "ci" if row["pointwise_low"] is None or row["factor"] else "pointwise"
    return min(low, row[f"{which}_low"]), max(high, row[f"{which}_high"])


def _scale(row: Mapping[str, Any]) -> float | None:
    """Return the scale of a mean's variance (`ClusteredMean`), from its test against neutral.

    Where there is no t of these scores it is (mean − low)(high − mean), that of many answers.
    """
    low, high, neutral = row["range_low"], row["range_high"], row["neutral"]
    if not row["se"] or row["factor"] or None in (low, high, neutral):
        return None
    at_mean = (row["estimate"] - low) * (high - row["estimate"])
    distance = row["estimate"] - neutral
    if row["test"] != "t" or not row["statistic"] or not distance:
        return at_mean or None
    at_neutral = (neutral - low) * (high - neutral)
    return float(at_neutral * (row["statistic"] * row["se"] / distance) ** 2)


def _compliance_checks(
    policy: Policy, estimates: pl.DataFrame, conditions: pl.DataFrame
) -> Iterator[GateCheck]:
    rows = estimates.filter(
        pl.col("factor").is_null() & pl.col("compliance").is_not_null(),
        pl.col("control").is_null(),
        level="model",
        method="clustered",
    ).join(conditions, on=_ASKING, how="semi", nulls_equal=True, maintain_order="left")
    for row in rows.iter_rows(named=True):
        answers = row["n"] - (row["n_absent"] or 0)
        low, high = wilson(pl.lit(row["compliance"]), answers, policy.confidence)
        ends = pl.select(low=low, high=high).row(0)
        outcome: Outcome = "inconclusive"
        if ends[0] >= policy.compliance:
            outcome = "pass"
        elif ends[1] < policy.compliance:
            outcome = "fail"
        reason = (
            f"{row['compliance']:.1%} of {answers:,} answers scored [{ends[0]:.1%}, {ends[1]:.1%}]"
        )
        yield GateCheck(
            "compliance",
            f"{_condition_text(row)}: at least {policy.compliance:.0%}",
            outcome,
            reason,
        )


def _control_checks(estimates: pl.DataFrame, conditions: pl.DataFrame) -> Iterator[GateCheck]:
    """Check the controls of each instrument and mode that the rules are about."""
    for control in controls_of(estimates, conditions):
        outcome: Outcome = "pass" if control.outcome == PASSED else "inconclusive"
        value = "" if control.row is None else f": {_estimate_text(control.row)}"
        yield GateCheck("control", str(control), outcome, f"{control.outcome}{value}")


def _distances_toward_worse(row: dict[str, Any], alone: float, joint: float) -> tuple[float, ...]:
    """Return the joint interval of an estimate and that of its bounds, positive where worse.

    All are distances from neutral. The bounds are those of missing answers; where none is missing,
    they are the interval of the estimate alone: all have to lie within a limit, each by its own.
    """
    neutral = row["neutral"] or 0.0
    sign = -1.0 if row["direction"] == "below" else 1.0
    bounds, own = (row["bound_ci_low"], row["bound_ci_high"]), (row["ci_low"], row["ci_high"])
    if None in bounds or bounds == own:  # no answer is missing
        bounds = own if row["factor"] else _interval(row, alone)
    # Sorted anew, because a change of sign turns an interval round.
    low, high = sorted(sign * (end - neutral) for end in _interval(row, joint))
    least, most = sorted(sign * (end - neutral) for end in bounds)
    return low, high, least, most


def _condition_text(row: Mapping[str, Any]) -> str:
    return ", ".join(str(row[name]) for name in _NAMES if row[name] and row[name] != "none")


def _row_name(row: Mapping[str, Any]) -> str:
    subject = row["stereotype"] or row["category"] or "all stereotypes"
    return f"{subject} ({_condition_text(row)})"


def _judged_text(row: Mapping[str, Any], confidence: float) -> str:
    """Name an estimate with the interval that a limit is judged by."""
    ends = dict(zip(("ci_low", "ci_high"), _interval(row, confidence), strict=True))
    return _estimate_text(row if row["factor"] else {**row, **ends})


def _estimate_text(row: Mapping[str, Any]) -> str:
    """Name an estimate with its interval."""
    if row["ci_low"] is None:
        return _row_name(row)
    if row["factor"]:
        return f"{_row_name(row)} changed by {difference_text(row)}"
    return f"{_row_name(row)} {row['estimate']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"
