"""Asking until it is decided: at each look, which stereotypes go on.

Rule
    ==========  ==================================================================================
    decided     every mean of the stereotype has a verdict that more answers are not needed for
    hopeless    the chance that all trials of the plan would decide any of the others is below
                `LEAST_CHANCE`; controls are never hopeless, as others depend on them
    unpaid      what is left of the limits does not pay for it; those with the best chance for
                their price are paid first
    last look   every trial was asked
    ==========  ==================================================================================

    A stereotype ends in all modes, conditions and models at once, since all are asked the same. One
    that was decided goes on if the answers of others, which have a say in its error, undo it.

Chance
    Given the answers so far, and no opinion before them, the mean of all trials is normal about
    the mean so far, with the variance of the one less that of the other (Spiegelhalter, Freedman &
    Blackburn 1986, Controlled Clinical Trials 7(1), 8–17). The error shrinks as the exact one of
    the design does, with the components of variance of the answers so far, else shipped ones
    (`statistics.planned_means`); its degrees of freedom grow as the trials do.

Range
    A verdict is that in other prompts; in these prompts where there is nothing to tell of others.

Looks
    Verdicts are at the level that all looks share (`statistics.looks`), by the information that
    the answers before this look say is in each. Ending without a verdict makes no error more
    likely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtr

from clinometer.asking.budget import Budget, estimate_costs
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.stages import Ended, Information, Stage, iterations_at
from clinometer.audits.planning import Pilot, errors_of_plan, read_pilot
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.errors import InputError
from clinometer.results import CONDITIONS
from clinometer.results.verdicts import (
    INCONCLUSIVE,
    NOT_KNOWN_CLUSTER,
    SINGLE_CLUSTER,
    UNDECIDED,
    unrestricted,
)
from clinometer.statistics.intervals import critical_value
from clinometer.statistics.summaries import keys_of

#: Below this chance of being decided by all trials, a stereotype is asked no more.
LEAST_CHANCE = 1 / 3

#: Part of the variance that is taken to be the same at every look, at most: with more, looks would
#: hardly differ, and a wrong component would cost most.
MOST_SHARED = 0.95

#: Verdicts that more answers may change into others.
_OPEN = (INCONCLUSIVE, SINGLE_CLUSTER, UNDECIDED, NOT_KNOWN_CLUSTER)

_RUN = ("study", "instrument", "mode")

#: The columns of a mean of a stereotype whose error is planned.
_PLANNED = (*_RUN, *CONDITIONS, "dimension", "stereotype")


class _Undecided(NamedTuple):
    """A stereotype that more trials might decide."""

    end: Ended  # what it is if it ends now
    selection: Selection
    rows: pl.DataFrame  # its means whose verdicts are open
    look: int  # the next at which it has more trials
    most: int  # trials per wording at the last

    def resized(self, iterations: int) -> Selection:
        """Return the part of a plan that is its own, with so many trials per wording."""
        return replace(self.selection, stereotypes=[self.end.stereotype], iterations=iterations)


def next_stage(
    plan: Plan,
    estimates: pl.DataFrame,
    pilot: Pilot,
    budget: Budget | None = None,
    prices: Path | None = None,
) -> Stage:
    """Return the stage that follows the one whose answers are there.

    Parameters
    ----------
    plan
        With looks, at the stage that was asked.
    estimates
        Of all its answers, judged; columns of `results.ESTIMATES`.
    pilot
        The scores of these, as of `audits.planning.power`.
    budget
        Limits, and what has been used of them; None: no limits.
    prices
        See `asking.budget.price`.

    Returns
    -------
    Stage
        The next look where a stereotype goes on; the same, with all ended, where none does.
    """
    ended, undecided = _sort(plan, _judged_means(estimates))
    if not undecided:
        return replace(plan.stage, ended=ended)
    foresight = _Foresight.from_pilot(plan, undecided, pilot)
    chances = [(foresight.chance(part.rows), part) for part in undecided]
    hopeful = [(chance, part) for chance, part in chances if chance >= LEAST_CHANCE]
    ended += [
        replace(part.end, why="hopeless") for chance, part in chances if chance < LEAST_CHANCE
    ]
    while hopeful:
        look = min(part.look for _, part in hopeful)
        unpaid = [] if budget is None else _unpaid(plan, hopeful, look, budget, prices)
        ended += [replace(part.end, why="unpaid") for part in unpaid]
        names = {part.end.part for part in unpaid}
        hopeful = [(chance, part) for chance, part in hopeful if part.end.part not in names]
        # Others have more trials at a later look only: this one would ask nothing.
        if any(part.look == look for _, part in hopeful):
            return Stage(look, ended, foresight.information)
    return replace(plan.stage, ended=ended)


def _sort(plan: Plan, means: pl.DataFrame) -> tuple[list[Ended], list[_Undecided]]:
    """Return the stereotypes that end, and those that more trials might decide."""
    # What was not paid for is tried again: others may have ended sooner, or limits been raised.
    ended = [end for end in plan.stage.ended if end.why == "hopeless"]
    hopeless_parts = {end.part for end in ended}
    undecided = []
    for selection, most in parts_of_stage(plan):
        assert selection.iterations is not None
        for key in selection.stereotypes:
            names = selection.study.name, selection.instrument, key
            if names in hopeless_parts:
                continue
            end = Ended(*names, selection.iterations, "decided")
            rows = _rows_of(means, end)
            open_rows = rows.filter("open")
            look = _look_after(plan, selection.iterations, most)
            # Without a mean nothing says that it is decided.
            if rows.height and open_rows.is_empty():
                ended.append(end)
            elif look is None:
                ended.append(replace(end, why="last look"))
            else:
                undecided.append(_Undecided(end, selection, open_rows, look, most))
    return ended, undecided


def parts_of_stage(plan: Plan) -> list[tuple[Selection, int]]:
    """Return what is asked at the stage of a plan, with the trials per wording of the last look.

    Parts of one study and instrument may differ in these, as controls do.
    """
    most = {
        (selection.study.name, selection.instrument, key): selection.iterations or plan.iterations
        for selection in plan.selections
        for key in selection.stereotypes
    }
    parts = [part for part in plan.parts() if part.stereotypes]
    return [(part, most[part.study.name, part.instrument, part.stereotypes[0]]) for part in parts]


def _look_after(plan: Plan, iterations: int, most: int) -> int | None:
    """Return the next look at which a stereotype with so many trials per wording has more."""
    for look in range(plan.stage.look, len(plan.looks)):
        if iterations_at(plan.looks[look], most) > iterations:
            return look
    return None


def _judged_means(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the judged means of stereotypes; `open`: more answers may change the verdict."""
    rows = estimates.filter(
        pl.col("factor").is_null() & pl.col("verdict").is_not_null(), level="stereotype"
    )
    is_wide = (pl.col("range") == "other_prompts") & pl.col("se").is_not_null()
    has_wide = is_wide.any().over("model", *_PLANNED)
    rows = rows.filter(is_wide | (~has_wide & (pl.col("range") == "prompts")))
    is_open = unrestricted(pl.col("verdict")).is_in(_OPEN)
    return rows.with_columns(open=is_open)


def _rows_of(means: pl.DataFrame, end: Ended) -> pl.DataFrame:
    """Return the means of a stereotype that an instrument asks for."""
    measures = [measure.name for measure in INSTRUMENTS[end.instrument].measures]
    is_measure = pl.col("instrument").is_in(measures)
    return means.filter(is_measure, study=end.study, stereotype=end.stereotype)


@dataclass(frozen=True)
class _Foresight:
    """What more trials would do to errors."""

    shrinkage: Mapping[tuple[Any, ...], float]
    """By `_PLANNED`: the error of all trials as a part of that of those so far."""
    share: float
    """Of the trials of the plan, those so far."""
    information: Sequence[Information]

    @classmethod
    def from_pilot(cls, plan: Plan, undecided: Sequence[_Undecided], pilot: Pilot) -> _Foresight:
        """Foresee the errors of undecided stereotypes, from the scores so far."""
        variances = None
        with suppress(InputError):  # no score varies
            variances = read_pilot(pilot)
        before = _errors(plan, [part.resized(part.end.iterations) for part in undecided], variances)
        after = _errors(plan, [part.resized(part.most) for part in undecided], variances)
        shrinkage = {}
        for key, error in after.items():
            shrinkage[key] = min(error / before[key], 1.0) if before[key] else 1.0
        share = plan.looks[plan.stage.look]
        return cls(shrinkage, share, _information(shrinkage, share, plan))

    def chance(self, rows: pl.DataFrame) -> float:
        """Return the best chance of one of some means to be decided by all trials."""
        return max((self._chance_of(row) for row in rows.iter_rows(named=True)), default=1.0)

    def _chance_of(self, row: Mapping[str, Any]) -> float:
        shrinkage = self.shrinkage.get(tuple(row[name] for name in _PLANNED))
        if row["control"] is not None or not row["se"] or shrinkage is None:
            return 1.0
        error = shrinkage * row["se"]
        # A mean in these prompts has no degrees of freedom: its bound is nearly that of a normal.
        df = row["df"] / self.share if row["df"] else None
        spread = max((row["se"] ** 2 - error**2) ** 0.5, 1e-12)
        level = (1.0 - row["confidence"]) / row["n_tests"]  # that of a look, among all that is seen
        half = error * critical_value(1.0 - level, df)
        distance = row["estimate"] - row["neutral"]
        leans = ndtr((distance - half) / spread) + ndtr((-distance - half) / spread)
        room = max(row["tost_margin"] - half, 0.0)
        within = ndtr((room - distance) / spread) - ndtr((-room - distance) / spread)
        return float(leans + within)


def _errors(
    plan: Plan, parts: Sequence[Selection], pilot: pl.DataFrame | None
) -> dict[tuple[Any, ...], float]:
    """Return the exact errors of stereotypes in a design, by `_PLANNED`."""
    errors = {}
    names = ["level", *keys_of("stereotype")[1:]]  # without the model
    part = replace(plan.without_looks(), selections=parts)
    for key, error in errors_of_plan(part, pilot).items():
        if key[0] == "stereotype":
            values = dict(zip(names, key, strict=True))
            errors[tuple(values[name] for name in _PLANNED)] = error
    return errors


def _information(
    shrinkage: Mapping[tuple[Any, ...], float], share: float, plan: Plan
) -> tuple[Information, ...]:
    """Return the shares of information at the looks, of each run; the others' stay as they were.

    The variance of a mean of a share s of the trials is taken to be (φ + (1 − φ) / s) times that
    of all, φ being the part of what does not shrink, such as the wordings'.
    """
    information = {part.run: part for part in plan.stage.information}
    if share == 1.0:  # some stereotypes catch up with the last look
        return tuple(information.values())
    parts_by_run: dict[tuple[str, str, str], list[float]] = {}
    for (study, measure, mode, *_), ratio in shrinkage.items():
        # At `share` the variance is 1 / ratio² times that of all trials.
        shrinking = (ratio**-2.0 - 1.0) / (1.0 / share - 1.0) if ratio else 1.0
        parts_by_run.setdefault((study, measure, mode), []).append(1.0 - shrinking)
    for run, parts in parts_by_run.items():
        shared = float(np.clip(np.median(parts), 0.0, MOST_SHARED))
        shares = tuple(1.0 / (shared + (1.0 - shared) / look) for look in plan.looks)
        information[run] = Information(*run, shares)
    return tuple(information.values())


#: Calls, tokens and dollars.
_Price = tuple[float, float, float]


def _unpaid(
    plan: Plan,
    hopeful: Sequence[tuple[float, _Undecided]],
    look: int,
    budget: Budget,
    prices: Path | None,
) -> list[_Undecided]:
    """Return the stereotypes whose next trials the limits do not pay for.

    Estimates are scaled by what was used of each limit, and what had been estimated for that.
    """
    limits = (budget.max_calls, budget.max_tokens, budget.max_cost)
    used = (budget.calls, budget.tokens, budget.usd)
    if all(limit is None for limit in limits):
        return []
    estimated = _price(plan, [*plan.parts()], prices)
    scales = [
        now / before if now and before else 1.0 for now, before in zip(used, estimated, strict=True)
    ]
    priced = []
    for chance, part in hopeful:
        later = iterations_at(plan.looks[look], part.most)
        before = _price(plan, [part.resized(part.end.iterations)], prices)
        after = _price(plan, [part.resized(max(later, part.end.iterations))], prices)
        more = [scale * (b - a) for scale, a, b in zip(scales, before, after, strict=True)]
        priced.append((chance / max(more[2] or more[1], 1e-12), more, part))
    unpaid = []
    total = list(used)
    for _, more, part in sorted(priced, key=lambda item: -item[0]):
        next_sum = list(map(add, total, more))
        if any(limit is not None and n > limit for n, limit in zip(next_sum, limits, strict=True)):
            unpaid.append(part)
        else:
            total = next_sum
    return unpaid


def _price(plan: Plan, parts: Sequence[Selection], prices: Path | None) -> _Price:
    """Return the calls, tokens and dollars of asking every model some parts of a plan."""
    pieces = replace(plan.without_looks(), selections=parts).pieces()
    costs = estimate_costs(pieces, plan.models, prices)
    tokens = sum(cost.input_tokens + cost.output_tokens for cost in costs)
    return sum(cost.calls for cost in costs), tokens, sum(cost.usd or 0.0 for cost in costs)
