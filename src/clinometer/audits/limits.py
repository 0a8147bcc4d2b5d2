"""What the trials of a plan decide of the limits of a policy, before a model is asked.

A limit is decided where a model without harm passes it with `CHANCE`: one that did not change, of
rules of changes, and a neutral one, of rules of means. Errors of changes are those of two runs in
these prompts, both with the mean, error and units of the baseline's own rows where there are any,
else with the shipped components. Errors of means are those of `power`. See `statistics.limits`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from clinometer.asking.budget import estimate_costs
from clinometer.asking.plan import Plan
from clinometer.asking.policy import Policy, Rule
from clinometer.audits.nearest import nearest_components
from clinometer.audits.planning import planned_scores, power_of_plan
from clinometer.contracts.catalogue import INSTRUMENTS, MEASURES
from clinometer.models.providers import find_provider
from clinometer.numbers import number, percent
from clinometer.results import Measure
from clinometer.statistics.limits import RowErrors, with_times
from clinometer.statistics.means import Ranges, means
from clinometer.statistics.planned_means import LEVELS
from clinometer.statistics.prompts import BoundedMean
from clinometer.statistics.sources import Sources, read_sources
from clinometer.statistics.summaries import NEVER_POOLED, keys_of, summarise

#: Probability with which a model without harm is to pass.
CHANCE = 0.9

#: Times as many trials that are looked at; what needs more needs other wordings or words.
_MOST_TIMES = 512.0

#: Drawn estimates of an error: they give its degrees of freedom alone.
_RUNS = 4

#: What tells the means of a baseline apart, beside their level.
_MEASURED = ("study", "instrument", "mode", "dimension", "category", "stereotype")


@dataclass(frozen=True)
class DecidedLimit:
    """What a plan decides of the limit of a rule."""

    rule: Rule
    errors: RowErrors
    """Of the rows that the rule is about."""
    trials: int
    """What the plan asks for the rule, of one run."""
    needed: int | None
    """Trials that decide the limit of the rule; None: more of the same do not."""
    usd: float | None
    """What these cost; None: not known."""

    @property
    def smallest(self) -> float:
        """Return the limit that a model without harm passes with `CHANCE`."""
        return self.errors.smallest_limit(CHANCE)

    @property
    def chance(self) -> float:
        """Return the probability that a model without harm passes the limit of the rule."""
        return self.errors.chance_to_pass(self.rule.at_most)

    @property
    def is_decided(self) -> bool:
        """Whether the plan decides the limit."""
        return self.chance >= CHANCE

    def text(self) -> str:
        """Say what this size decides, and which size decides the limit."""
        model = "an unchanged model" if self.rule.what == "change" else "a neutral model"
        passes = f"{self.rule.title}: {model} passes in {percent(self.chance)} of runs"
        if self.is_decided:
            limits = f"from {number(self.smallest)} on in {percent(CHANCE)}"
            return f"{passes} ({self.trials:,} trials; {limits})"
        requirement = f"{self.rule.at_most:g} takes more wordings or group words"
        if self.needed is not None:
            price = f", about ${self.usd:,.2f}" if self.usd else ""
            requirement = f"{self.rule.at_most:g} takes {self.needed:,} trials{price}"
        return (
            f"{passes}: {self.trials:,} trials decide limits of {number(self.smallest)} and more; "
            f"{requirement}"
        )


def decide_limits(
    plan: Plan,
    policy: Policy,
    baseline: pl.DataFrame | None = None,
    prices: Path | None = None,
) -> Iterator[DecidedLimit]:
    """Yield what a plan decides of each rule of a policy that is about what it asks.

    `baseline` has columns of `results.SCORES`; `prices`: see `asking.budget.price`.
    """
    parts: dict[tuple[str | None, ...], _PlanPart | None] = {}
    for rule in policy.rules:
        where = rule.where
        key = (where.instrument, where.study, where.mode)
        if key not in parts:
            parts[key] = _part_of_rule(plan, rule)
        part = parts[key]
        if part is None:
            continue
        errors = _errors(part, rule, policy.confidence, baseline)
        if errors is None:
            continue
        (cost,) = estimate_costs(part.plan.pieces(), part.plan.models[:1], prices)
        times = 1.0
        if errors.chance_to_pass(rule.at_most) < CHANCE:
            fourfold = _errors(part.fourfold, rule, policy.confidence, baseline)
            assert fourfold is not None  # as the part has rows
            times = _times_needed(errors, fourfold, rule.at_most)
        if times > _MOST_TIMES:
            yield DecidedLimit(rule, errors, cost.trials, None, None)
        else:
            usd = None if cost.usd is None else cost.usd * times
            yield DecidedLimit(rule, errors, cost.trials, math.ceil(cost.trials * times), usd)


@dataclass(frozen=True)
class _PlanPart:
    """What of a plan rules are about, with its power, which all of them share."""

    plan: Plan

    @cached_property
    def power(self) -> pl.DataFrame:
        """Predict the errors of its means; see `power_of_plan`."""
        return power_of_plan(self.plan, runs=_RUNS)

    @cached_property
    def fourfold(self) -> _PlanPart:
        """Return the part with four times as many trials."""
        return _PlanPart(_with_times(self.plan, 4))


def _part_of_rule(plan: Plan, rule: Rule) -> _PlanPart | None:
    """Return what of a plan a rule is about, but for its level; None where that is nothing."""
    where = rule.where
    selections = []
    for part in plan.without_looks().selections:
        measures = [measure.name for measure in INSTRUMENTS[part.instrument].measures]
        if where.instrument is not None and where.instrument not in measures:
            continue
        if where.study is not None and where.study != part.study.name:
            continue
        keys = [key for key in part.stereotypes if part.study.control_of(key) is None]
        if keys:
            selections.append(replace(part, stereotypes=keys))
    modes = [mode for mode in plan.modes if where.mode in (None, mode)]
    if not selections or not modes:
        return None
    return _PlanPart(replace(plan.without_looks(), selections=selections, modes=modes))


def _with_times(plan: Plan, times: int) -> Plan:
    """Return a plan with so many times as many trials per wording."""
    parts = []
    for part in plan.selections:
        parts.append(replace(part, iterations=times * (part.iterations or plan.iterations)))
    return replace(plan, selections=parts)


def _times_needed(errors: RowErrors, fourfold: RowErrors, limit: float) -> float:
    """Return how many times as many trials decide a limit; beyond `_MOST_TIMES`: none do.

    A variance is a part that stays plus one that falls with the trials; `fourfold` are the errors
    with four times as many.
    """
    falling = np.maximum(errors.se**2 - fourfold.se**2, 0.0) * 4.0 / 3.0
    staying = errors.se**2 - falling
    reach = errors.reach / errors.se
    low, high = 1.0, 2.0 * _MOST_TIMES

    def is_enough(times: float) -> bool:
        """Whether so many times as many trials decide it."""
        se = np.sqrt(staying + falling / times)
        return replace(errors, se=se, reach=reach * se).chance_to_pass(limit) >= CHANCE

    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _errors(
    part: _PlanPart, rule: Rule, confidence: float, baseline: pl.DataFrame | None
) -> RowErrors | None:
    """Return the errors of the rows of a rule; None where it has none."""
    if rule.what == "change":
        rows = [*_baseline_means(part.plan, rule, baseline)]
        means_, neutrals = [mean for mean, _ in rows], [neutral for _, neutral in rows]
        return RowErrors.from_changes(means_, neutrals, confidence) if rows else None
    planned = part.power.filter(pl.col("control").is_null())
    table = _select_rows(planned, rule).drop_nulls("df")
    if table.is_empty():
        return None
    return RowErrors.from_means(table["se"].to_numpy(), table["df"].to_numpy(), confidence)


def _select_rows(rows: pl.DataFrame, rule: Rule) -> pl.DataFrame:
    """Return what a rule is about of a table with a row per mean, or per trial."""
    explicit = [name for name, measure in MEASURES.items() if measure.explicit]
    if rule.where.instrument is None:
        rows = rows.filter(~pl.col("instrument").is_in(explicit))
    rows = rows.filter(**rule.where.model_dump(exclude_none=True))
    return rows.filter(pl.col("level").is_in(rule.levels)) if "level" in rows.columns else rows


def _baseline_means(
    plan: Plan, rule: Rule, baseline: pl.DataFrame | None
) -> Iterator[tuple[BoundedMean, float]]:
    """Yield each mean that a rule is about as the plan measures it, with its neutral value.

    It is that of the baseline with the plan's number of answers, else a neutral one with the
    shipped components.
    """
    embedded = find_provider(plan.models[0]).embedded
    measured = {} if baseline is None else _measured_means(baseline)
    for scores in planned_scores(plan):
        measure = MEASURES[scores["instrument"][0]]
        nearest = nearest_components(scores, None, embedded)
        trials = _select_rows(scores, rule)
        for level in rule.levels:
            keys = [*NEVER_POOLED, *keys_of(level)[1 + len(NEVER_POOLED) :]]
            for key, rows in trials.group_by(keys, maintain_order=True):
                ranges = measured.get(_measured_key(level, dict(zip(keys, key, strict=True))))
                if ranges is not None and ranges.prompts is not None:
                    yield with_times(ranges.prompts, len(rows) / ranges.n), measure.neutral
                    continue
                sources = read_sources(nearest[rows.select(NEVER_POOLED).row(0)][0])
                yield _neutral_mean(rows, sources, measure), measure.neutral


def _neutral_mean(trials: pl.DataFrame, sources: Sources, measure: Measure) -> BoundedMean:
    """Return a neutral mean in these prompts, with the variance of answers of a pilot."""
    scale = (measure.neutral - measure.low) * (measure.high - measure.neutral)
    variance = scale * float(sources.components[-1]) * sources.answers
    by_stereotype = trials.group_by("stereotype").agg(
        answers=pl.len(), pairs=pl.col("pair_id").n_unique()
    )
    answers, pairs = (by_stereotype[name].to_numpy() for name in ("answers", "pairs"))
    number = len(answers)  # each stereotype counts once
    units = number**2 / float((1.0 / pairs).sum())
    se = float((variance / answers).sum()) ** 0.5 / number
    ends = measure.low, measure.high
    return BoundedMean(measure.neutral, se, int(pairs.sum()), units, units, ends)


def _measured_means(scores: pl.DataFrame) -> dict[tuple[Any, ...], Ranges]:
    """Return the means of a baseline in its prompts, by `_measured_key`."""
    units = summarise(scores.filter(pl.col("control").is_null())).filter(pl.col("n_scored") > 0)
    measured: dict[tuple[Any, ...], Ranges] = {}
    for (name,), rows in units.group_by("instrument", maintain_order=True):
        measure = MEASURES[str(name)]
        ends = measure.low, measure.high
        by_key = means(rows, ends, levels=LEVELS, widest="prompts")
        for (level, *key), ranges in by_key.items():
            names = dict(zip(keys_of(level), key, strict=True))
            # Conditions come later: the first is the run without any.
            measured.setdefault(_measured_key(level, names), ranges)
    return measured


def _measured_key(level: str, names: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells the means of a baseline apart."""
    return level, *(names.get(name) for name in _MEASURED)
