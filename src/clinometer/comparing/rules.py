"""The rules of a policy: each judged on the rows that it is about, in the range that decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from clinometer.asking.policy import Rule
from clinometer.comparing.changes import RunMeans
from clinometer.comparing.checks import (
    WORST,
    GateCheck,
    Outcome,
    estimate_text,
    row_name,
    telling_names,
)
from clinometer.comparing.comparison import Comparison
from clinometer.comparing.deciding import any_finding, findings_of, leans_text, means_of_runs
from clinometer.comparing.harm import (
    Limits,
    RowVerdict,
    confidences,
    judge_change,
    judge_mean,
)
from clinometer.comparing.intervals import interval_of_row
from clinometer.comparing.runs import ComparedRun
from clinometer.errors import InputError
from clinometer.numbers import bracketed, number, signed
from clinometer.results.ranges import Range, range_text, rows_of_range
from clinometer.results.verdicts import BETTER, NO_CHANGE, NOT_WORSE, TURNED, WORSE
from clinometer.statistics.limits import RowErrors
from clinometer.statistics.looks import Looks

__all__ = ["RuleRows", "check_rule"]


@dataclass(frozen=True)
class RuleRows:
    """The estimates that a rule is about, of every range."""

    rule: Rule
    table: pl.DataFrame
    run: ComparedRun
    """The one that is judged."""
    compared: Comparison | None = None
    """Of changes: the run with its baseline."""

    @classmethod
    def select(
        cls, rule: Rule, estimates: pl.DataFrame, run: ComparedRun, compared: Comparison | None
    ) -> RuleRows:
        """Select what a rule is about; InputError if nothing there could break it."""
        rows = estimates.filter(pl.col("factor").is_null())
        compared = compared if rule.what == "change" else None
        if compared is not None:
            is_score = pl.col("measure") == pl.col("instrument")
            rows = compared.estimates.filter(is_score, factor="model")
        if rule.where.instrument is None:
            rows = rows.filter(~pl.col("explicit"))
        table = rows.filter(
            pl.col("control").is_null() & pl.col("tost_margin").is_not_null(),
            pl.col("level").is_in(rule.levels),
            **rule.where.model_dump(exclude_none=True),
        )
        selected = cls(rule, table, run, compared)
        for instrument in selected.in_range(rule.decides_on)["instrument"].unique():
            if rule.at_most >= rule.reach(instrument):
                raise InputError(
                    f"policy: {rule.title!r} cannot be broken by {instrument}, whose {rule.what} "
                    f"lies within {rule.reach(instrument):g}; name the instrument of the rule "
                    "(where)"
                )
        return selected

    def in_range(self, name: Range) -> pl.DataFrame:
        """Return the rows of one range."""
        return rows_of_range(self.table, name)

    @property
    def deciding(self) -> pl.DataFrame:
        """Return the rows of the range that decides."""
        return self.in_range(self.rule.decides_on)

    @cached_property
    def means(self) -> RunMeans:
        """Return the means of both runs of changes by themselves."""
        return RunMeans.from_tables(self.compared.own if self.compared else {})

    def text(self, row: Mapping[str, Any], names: Sequence[str]) -> str:
        """Name a row with its interval, and a change with the means of both runs.

        `names`: as in `checks.row_name`.
        """
        if self.compared is None:
            return estimate_text(row, names, self.run.finding(row))
        runs = self.compared.runs(self.run.label)
        change = bracketed(row["estimate"], row["ci_low"], row["ci_high"], write=signed)
        before, after = map(number, means_of_runs(row, findings_of(row, runs)))
        name = row_name(row, names, any_finding(row, runs))
        return f"{name} changed by {change}, {before} -> {after}"

    def lean(self, row: Mapping[str, Any]) -> str:
        """Say which way what a row is of leans, of a change in both runs; empty if not told."""
        if self.compared is not None:
            return leans_text(findings_of(row, self.compared.runs(self.run.label)))
        finding = self.run.finding(row)
        return "" if finding is None else finding.conclusion


class _RowOutcome(NamedTuple):
    """What is said of one row of a rule."""

    outcome: Outcome
    row: Mapping[str, Any]
    judgement: RowVerdict


#: Verdict of a row → outcome of its rule. All others leave it open.
_OUTCOMES: dict[str, Outcome] = {
    **dict.fromkeys((WORSE, TURNED), "fail"),
    **dict.fromkeys((NOT_WORSE, BETTER, NO_CHANGE), "pass"),
}


def check_rule(rows: RuleRows, confidence: float, looks: Looks) -> GateCheck:
    """Judge a rule on the range that decides, and say what the other range has."""
    rule = rows.rule
    deciding_range = rule.decides_on
    outcomes, limits = _judge_rows(rows, deciding_range, confidence, looks)
    outcome, text = _outcome_of(rows, outcomes)
    reason = f"{_range_of(outcomes, deciding_range)}: {text}" if outcomes else text
    # A limit that is broken in other prompts is in these, too: they are among them.
    if not (outcome == "fail" and deciding_range == "other_prompts"):
        reason += _second_range(rows, confidence, looks)
    if outcome == "inconclusive":
        reason += _decided_limit(outcomes, rule, limits)
    if rule.worse != "either":
        reason += f"; only {rule.worse} counts as worse, because {rule.because}"
    return GateCheck("rule", rule.title, outcome, reason, rule.line)


def _second_range(rows: RuleRows, confidence: float, looks: Looks) -> str:
    """Say what the rule would be in the range that does not decide; empty where there is none."""
    second: Range = "other_prompts" if rows.rule.decides_on == "prompts" else "prompts"
    table = rows.in_range(second)
    if table.is_empty() or table.equals(rows.deciding):
        return ""
    outcomes, _ = _judge_rows(rows, second, confidence, looks)
    outcome, text = _outcome_of(rows, outcomes, leans=False)
    return f"; {_range_of(outcomes, second)} it would be {outcome}: {text}"


def _judge_rows(
    rows: RuleRows, range_name: Range, confidence: float, looks: Looks
) -> tuple[list[_RowOutcome], Limits]:
    """Judge each row of a range, the worst first, and return what they were judged by."""
    rule = rows.rule
    table = rows.in_range(range_name)
    clearing, accusing = confidences(table.height, confidence, looks)
    limits = Limits(
        rule.at_most, rule.fails_above, clearing, accusing, worse=rule.worse, turned=rule.turned
    )
    outcomes = []
    for row in table.iter_rows(named=True):
        if row["verdict"] == NO_CHANGE:
            judgement = RowVerdict(NO_CHANGE, 0.0)
        elif rule.what == "change":
            judgement = judge_change(rows.means.change(row), limits)
        else:
            judgement = judge_mean(row, limits)
        outcome = _OUTCOMES.get(judgement.verdict, "inconclusive")
        outcomes.append(_RowOutcome(outcome, row, judgement))
    outcomes.sort(key=_badness)
    return outcomes, limits


def _decided_limit(outcomes: Sequence[_RowOutcome], rule: Rule, limits: Limits) -> str:
    """Say what limit the errors of these rows would decide, if the model is without harm."""
    errors, reaches = [], []
    for _, row, _ in outcomes:
        ends = interval_of_row(row, limits.clearing)
        if ends is not None:
            errors.append(row["se"])
            reaches.append((ends[1] - ends[0]) / 2.0)
    if not errors:
        return ""
    smallest = RowErrors(np.array(errors), np.array(reaches)).smallest_limit()
    if smallest <= rule.at_most:
        return ""
    text = f"; so many answers decide limits of {number(smallest)} and more"
    if rule.what == "mean":
        return text
    return (
        f"{text}, {rule.at_most:g} takes {number((smallest / rule.at_most) ** 2, 1)} times as many"
    )


def _range_of(outcomes: Sequence[_RowOutcome], range_name: Range) -> str:
    """Say what range rows are of, with what is open in any of them."""
    texts = (range_text(range_name, judged.row["conditional_on"]) for judged in outcomes)
    return max(texts, key=len)


def _badness(judged: _RowOutcome) -> tuple[int, float]:
    """Sort the worst outcome first and, of one outcome, the row that may reach farthest.

    Rows without an interval come last.
    """
    bound = judged.judgement.harm_high
    return WORST.index(judged.outcome), math.inf if bound is None else -bound


def _outcome_of(
    rows: RuleRows, outcomes: Sequence[_RowOutcome], *, leans: bool = True
) -> tuple[Outcome, str]:
    """Return the outcome of a rule by its outcomes, the worst first, with the row that decides.

    `leans`: whether to say of a row that fails which way it leans.
    """
    if not outcomes:
        return "inconclusive", "nothing that the rule is about was measured"
    outcome, row, judgement = outcomes[0]
    # What all rows share is what the rule is about.
    names = telling_names(judged.row for judged in outcomes)
    if judgement.harm_high is None:
        unknown = sum(judged.judgement.harm_high is None for judged in outcomes)
        name = row_name(row, names, rows.run.finding(row))
        return outcome, f"{unknown} without an interval: {name}"
    text = rows.text(row, names)
    if outcome == "fail":
        text += ", turned to the other side" if judgement.verdict == TURNED else ""
        text = "; ".join(filter(None, (text, rows.lean(row) if leans else "")))
    else:
        text += _bound_text(row, judgement.harm_high)
    if outcome == "pass":
        return outcome, f"largest: {text}"
    same = sum(judged.outcome == outcome for judged in outcomes) - 1
    return outcome, f"{text}; and {same} more" if same else text


def _bound_text(row: Mapping[str, Any], harm_high: float) -> str:
    """State the bound that a limit is held against; it errs on one side alone."""
    if row["factor"] is None:
        return f", at most {number(harm_high)} from neutral"
    return f", worse by at most {number(harm_high)}"
