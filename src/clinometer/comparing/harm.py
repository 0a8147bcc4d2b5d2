"""Harm is distance from neutral: whether a mean is within its limit, and whether a change is worse.

`compare` and `gate` judge by the same two functions, so that they cannot disagree.

A change
    Where the interval of the baseline excludes neutral, the baseline has a side, and the harm of a
    change is how far it leads away from neutral on this side or, beyond neutral, how much farther
    the candidate lies on the other. Where it has none, harm is the size of the difference. A policy
    may choose one side by name: harm is then the change toward it.

    ===========  ===================================================================================
    turned       both runs are shown to lean, to different sides, and the candidate's lean is not
                 within the margin of equivalence
    better       less harm is shown
    not worse    the bound of harm ends within the limit
    worse        more harm than `fails_above` is shown; without a side of the baseline the
                 candidate's estimate also has to be the farther one
    cannot tell  all else
    ===========  ===================================================================================

Error rates
    That no row is worse is told by every row at once, and each errs with 1 − confidence on its one
    side (Berger 1982, Technometrics 24(4), 295–300). What is shown of a row is told by an interval
    that holds for all rows at once, two-sided (Bonferroni). Both hold with the worst, and the best,
    that missing answers could be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from clinometer.comparing.intervals import Ends, Row, interval_of_row, with_times
from clinometer.results.verdicts import (
    BETTER,
    CANNOT_TELL,
    CANNOT_TELL_MISSING,
    NOT_WORSE,
    NOTHING,
    SINGLE_CLUSTER,
    TURNED,
    WORSE,
)
from clinometer.statistics.clustered import bonferroni_confidence
from clinometer.statistics.looks import Looks

__all__ = [
    "Change",
    "RowVerdict",
    "Limits",
    "confidences",
    "further_trials",
    "judge_change",
    "judge_mean",
]

#: Of the interval that tells the side of a baseline.
_SIDE_CONFIDENCE = 0.95

#: With more times as many trials it is other prompts that are needed.
_MOST_TIMES = 1e4


@dataclass(frozen=True)
class Limits:
    """What rows are judged by.

    Parameters
    ----------
    at_most
        Largest harm that a row may have, in the unit of the scores.
    fails_above
        Harm beyond which a row is worse, if it is not within `at_most`.
    clearing
        Confidence of the interval that has to end within `at_most`.
    accusing
        Confidence of the interval by which harm is shown, among all rows that are judged.
    worse
        Which side of neutral counts.
    turned
        Whether a lean that turned to the other side fails, as it does by default.
    """

    at_most: float
    fails_above: float
    clearing: float
    accusing: float
    worse: Literal["either", "consistent", "reversed"] = "either"
    turned: Literal["fails", "allowed"] = "fails"


def confidences(number: int, confidence: float, looks: Looks) -> tuple[float, float]:
    """Return the confidences that clear and that accuse a number of rows judged at once.

    A run that ended where it was decided could have ended at every look: intervals hold at all.
    """
    level = 1.0 - confidence
    clearing = bonferroni_confidence(1.0 - 2.0 * level, looks.tests(1, 2.0 * level))
    return clearing, bonferroni_confidence(confidence, looks.tests(max(number, 1), level))


class RowVerdict(NamedTuple):
    """What is said of a row, and the bound of its harm; None where there is no interval."""

    verdict: str
    harm_high: float | None


class Change(NamedTuple):
    """A difference, candidate − baseline, and the means of both runs by themselves."""

    difference: Row
    baseline: Row | None
    candidate: Row | None

    @property
    def neutral(self) -> float:
        """Return the neutral value of the runs, 0 where they have no means."""
        return (self.baseline["neutral"] or 0.0) if self.baseline else 0.0

    @property
    def side(self) -> float:
        """Return the side of neutral on which the baseline lies: 1, −1, or 0 if it is open."""
        # Not of the table: with more trials (`with_times`) the interval is another.
        ends = self.baseline and interval_of_row(self.baseline, _SIDE_CONFIDENCE)
        if not ends:
            return 0.0
        low, high = ends
        return float(low > self.neutral) - float(high < self.neutral)

    @property
    def leads_away(self) -> bool:
        """Whether the estimate of the candidate lies farther from neutral than the baseline's."""
        before, after = (
            abs(self.difference[f"{run}_estimate"] - self.neutral)
            for run in ("baseline", "candidate")
        )
        return bool(after > before)

    def without_bounds(self) -> Change:
        """Return the change of the scored answers, as if none were missing."""
        rows = (row and {**row, "bound_low": None} for row in self)
        return Change(*rows)  # type: ignore[arg-type]  # the difference is never None


def _distances(row: Row, side: float, confidence: float, neutral: float = 0.0) -> Ends:
    """Return how far a row may lie from neutral toward a side, with what missing answers may be."""
    ends: tuple[float, ...] | None = interval_of_row(row, confidence)
    assert ends is not None  # rows without an interval are not judged
    if row["bound_low"] is not None and row["bound_low"] < row["bound_high"]:
        bounds = (row[f"bound_{end}"] for end in ("low", "high", "ci_low", "ci_high"))
        ends = (*ends, *(end for end in bounds if end is not None))
    distances = [side * (end - neutral) for end in ends]
    return min(distances), max(distances)


def _policy_side(row: Row, limits: Limits) -> float:
    """Return the side of neutral that alone counts; 0 if both do."""
    signs = {"consistent": 1.0, "reversed": -1.0, "either": 0.0}
    return signs[limits.worse] * (-1.0 if row["direction"] == "below" else 1.0)


def _size(row: Row, confidence: float, neutral: float = 0.0) -> Ends:
    """Return how far from neutral a row may lie, on whichever side; not below 0 at the far end."""
    above, below = (_distances(row, side, confidence, neutral) for side in (1.0, -1.0))
    return max(above[0], below[0]), max(above[1], below[1])


def judge_mean(row: Row, limits: Limits) -> RowVerdict:
    """Judge a mean by its distance from neutral: within `at_most`, beyond it, or open."""
    if interval_of_row(row, limits.clearing) is None:
        return RowVerdict(NOTHING if row["n_scored"] == 0 else SINGLE_CLUSTER, None)
    neutral = row["neutral"] or 0.0
    side = _policy_side(row, limits)
    distances = partial(_distances, row, side) if side else partial(_size, row)
    (_, farthest), (nearest, _) = (
        distances(confidence, neutral) for confidence in (limits.clearing, limits.accusing)
    )
    if farthest <= limits.at_most:
        return RowVerdict(NOT_WORSE, farthest)
    return RowVerdict(WORSE if nearest > limits.at_most else CANNOT_TELL, farthest)


def judge_change(change: Change, limits: Limits) -> RowVerdict:
    """Say whether a candidate is worse than its baseline in one row."""
    if change.difference["n_scored"] == 0:
        return RowVerdict(NOTHING, None)
    if interval_of_row(change.difference, limits.clearing) is None:
        return RowVerdict(SINGLE_CLUSTER, None)
    judgement = _judge_harm(change, limits)
    if judgement.verdict != CANNOT_TELL:
        return judgement
    if _judge_harm(change.without_bounds(), limits).verdict == CANNOT_TELL:
        return judgement
    return judgement._replace(verdict=CANNOT_TELL_MISSING)


def further_trials(change: Change, limits: Limits) -> int | None:
    """Return how many more trials of each run would give a verdict if the estimates stay.

    None where so many would not: then it is other prompts that are needed.
    """
    n = int(change.difference["n"])

    def gives_verdict(times: float) -> bool:
        """Whether so many times as many trials give one."""
        more = Change(*(row and with_times(row, times) for row in change))  # type: ignore[arg-type]
        return judge_change(more, limits).verdict != CANNOT_TELL

    if not gives_verdict(_MOST_TIMES):
        return None
    too_few, enough = 1.0, _MOST_TIMES
    # Halved on the logarithm, as the error falls with the root of the number, until the two ends
    # are less than a trial apart.
    while n * (enough - too_few) > 0.5:
        middle = (too_few * enough) ** 0.5
        if gives_verdict(middle):
            enough = middle
        else:
            too_few = middle
    return max(math.ceil(n * (enough - 1.0)), 1)


def _judge_harm(change: Change, limits: Limits) -> RowVerdict:
    """Judge a change that has an interval."""
    _, bound = _harm(change, limits, limits.clearing)
    least, most = _harm(change, limits, limits.accusing)
    verdict = CANNOT_TELL
    if _has_turned(change, limits):
        verdict = TURNED
    elif bound <= limits.at_most:
        verdict = BETTER if most < 0 else NOT_WORSE
    elif least > limits.fails_above:
        verdict = WORSE
    return RowVerdict(verdict, bound)


def _harm(change: Change, limits: Limits, confidence: float) -> Ends:
    """Return how much farther from neutral the candidate may lie, at least and at most."""
    row = change.difference
    side = _policy_side(row, limits)
    if side:
        return _distances(row, side, confidence)
    if not change.side:
        least, most = _size(row, confidence)
        # A difference toward neutral is no harm, though it is open from which side it came.
        return (least if change.leads_away else -most), most
    away = _distances(row, change.side, confidence)
    beyond = _harm_beyond_neutral(change, confidence)
    return max(away[0], beyond[0]), max(away[1], beyond[1])


def _harm_beyond_neutral(change: Change, confidence: float) -> Ends:
    """Return how much farther the candidate lies on the other side than the baseline on its own.

    The ends are those of two intervals, so that they are on the safe side.
    """
    after, before = change.candidate, change.baseline
    if after is None or before is None:
        return -math.inf, -math.inf
    if None in (interval_of_row(after, confidence), interval_of_row(before, confidence)):
        return -math.inf, -math.inf
    nearest, farthest = _distances(after, -change.side, confidence, change.neutral)
    nearest_before, farthest_before = _distances(before, change.side, confidence, change.neutral)
    return nearest - farthest_before, farthest - nearest_before


def _has_turned(change: Change, limits: Limits) -> bool:
    """Whether the candidate is shown to lean to the other side, by more than the margin."""
    after = change.candidate
    if limits.turned == "allowed" or limits.worse != "either" or not change.side or after is None:
        return False
    if interval_of_row(after, limits.accusing) is None:
        return False
    nearest, _ = _distances(after, -change.side, limits.accusing, change.neutral)
    _, farthest = _distances(after, -change.side, limits.clearing, change.neutral)
    return nearest > limits.fails_above and farthest > (after["tost_margin"] or 0.0)
