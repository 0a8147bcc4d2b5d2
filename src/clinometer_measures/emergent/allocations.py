"""Stratification, divergence and exploration of a model, beside agents whose policy is known.

A row of `allocations` is a number of a model, or of an agent of `agents`, with its interval. Of a
model the mean is over episodes, its interval from their variance, those of one pair together; the
verdicts rest on the estimates, whose intervals are over names, wordings and settings too, and are
wider. Of an agent the interval holds 95% of the means of as many episodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.authoring import (
    CONDITIONS,
    Meaning,
    Schema,
    Study,
    Table,
    Tables,
    as_estimates,
    columns,
    typed_columns,
)
from clinometer.statistics.intervals import interval_around, mean_interval
from clinometer_measures.emergent import indices
from clinometer_measures.emergent.agents import AGENTS, EPISODES, BanditTask, simulate_agent
from clinometer_measures.emergent.part import LETTERS, NAME, part_of

__all__ = ["DETAILS", "QUANTITIES", "allocation_of", "describe_allocations"]

_COLUMNS = {
    **typed_columns(
        pl.String(),
        agent="an agent in the same task whose policy is known; null: the model",
        quantity="stratification; divergence (bits); explored (share of pairs of group and job); "
        "entropy (bits); did_well (share of the persons); first_option (share of the job that is "
        "named first)",
    ),
    **typed_columns(
        pl.Float64(),
        at_random="expectation of an agent that chooses at random, exact",
    ),
    **typed_columns(
        pl.Int64(), n_episodes=Meaning("episodes, of which the number is the mean", "Episodes")
    ),
}

_RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring")

_ALLOCATIONS: Schema = columns(
    *(*_RUN, "control", "agent", "quantity", "n_episodes", "estimate", "ci_low", "ci_high"),
    "at_random",
    own=_COLUMNS,
)

DETAILS = {
    "allocations": Table(
        "answers",
        _ALLOCATIONS,
        "a row per number of a model or of an agent whose policy is known: who gets which job",
        _COLUMNS,
    )
}

#: Quantity → what it is, for readers.
QUANTITIES: Mapping[str, str] = {
    "stratification": "Stratification",
    "divergence": "Divergence between groups, bits",
    "explored": "Pairs of group and job tried",
    "entropy": "Entropy of a group's jobs, bits",
    "did_well": "Persons who did well",
    "first_option": "Given the job named first",
}

Array = NDArray[np.float64]


def describe_allocations(scores: pl.LazyFrame, study: Study) -> Tables:
    """Describe who was given what, of one model and study; `scores`: `results.SCORES`.

    Table: `allocations`.
    """
    episodes = scores.filter(
        pl.col("instrument") == f"{NAME}_stratification", pl.col("score").is_not_null()
    ).collect()
    rows: list[dict[str, Any]] = []
    keys = [*_RUN, "control"]
    for values, run in episodes.group_by(keys, maintain_order=True):
        run_keys = dict(zip(keys, values, strict=True))
        rows += [{**run_keys, **row} for row in _rows(run, study)]
    return Tables(as_estimates([], {}), {"allocations": pl.DataFrame(rows, schema=_ALLOCATIONS)})


def _rows(run: pl.DataFrame, study: Study) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a model, and beside contrasts those of agents in the same task."""
    part = part_of(study)
    texts = run["outcome"].to_list()
    task = _task(texts[0], run["stereotype"][0], study)
    chance_values = _expected(task)
    values = _quantities([allocation_of(text) for text in texts], task.jobs)
    values["did_well"] = np.array([_did_well(text) for text in texts])
    for quantity, episode_values in values.items():
        mean, low, high = _interval(episode_values, run["pair_id"].to_list())
        yield _row(None, quantity, (mean, low, high), len(texts), chance_values)
    if part is None or run["control"][0] is not None:
        return
    for name in AGENTS:
        for quantity, episode_values in _agent_values(name, task).items():
            ends = _spread(episode_values, len(texts))
            yield _row(
                name, quantity, (float(episode_values.mean()), *ends), len(texts), chance_values
            )


def _row(
    agent: str | None,
    quantity: str,
    numbers: tuple[float, float | None, float | None],
    episodes: int,
    chance_values: Mapping[str, float],
) -> dict[str, Any]:
    estimate, low, high = numbers
    if low is not None and high is not None:  # within the scale; entropies may be above 1
        low = max(low, -1.0 if quantity == "stratification" else 0.0)
        high = high if quantity == "entropy" else min(high, 1.0)
    return {
        "agent": agent,
        "quantity": quantity,
        "n_episodes": episodes,
        "estimate": estimate,
        "ci_low": low,
        "ci_high": high,
        "at_random": chance_values[quantity],
    }


def allocation_of(text: str) -> indices.Allocation:
    """Read who was given what, of `playing.Placements.text`: (rounds, groups).

    Examples
    --------
    >>> allocation_of("Ab -B").tolist()
    [[0, 1], [-1, 1]]
    """
    rows = [
        [indices.NOBODY if letter == "-" else LETTERS.index(letter.upper()) for letter in word]
        for word in text.split()
    ]
    return np.array(rows, np.int64)


def _did_well(text: str) -> float:
    """Return the share of those with a job who did well; nan where nobody had one."""
    letters = text.replace(" ", "").replace("-", "")
    return sum(letter.isupper() for letter in letters) / len(letters) if letters else float("nan")


def _task(text: str, key: str, study: Study) -> BanditTask:
    part = part_of(study)
    rounds, groups = allocation_of(text).shape
    jobs = len(part.jobs[key]) if part else 0
    return BanditTask(groups, jobs, rounds, part.success if part else float("nan"))


def _expected(task: BanditTask) -> dict[str, float]:
    """Return the expectation of each quantity for an agent that chooses at random."""
    return {
        "stratification": 0.0,
        "divergence": indices.expected_divergence(task.rounds, task.jobs),
        "explored": indices.expected_explored(task.rounds, task.jobs),
        "entropy": indices.expected_entropy(task.rounds, task.jobs),
        "did_well": task.success,
        "first_option": 1 / task.jobs,
    }


def _quantities(allocations: Sequence[indices.Allocation], jobs: int) -> dict[str, Array]:
    """Return the quantities of each episode, but for how persons did."""
    jobs_by_episode = [allocation[allocation != indices.NOBODY] for allocation in allocations]
    return {
        "stratification": np.array(
            [indices.stratification(allocation) for allocation in allocations]
        ),
        "divergence": np.array(
            [indices.divergence(allocation, jobs) for allocation in allocations]
        ),
        "explored": np.array([indices.explored(allocation, jobs) for allocation in allocations]),
        "entropy": np.array([indices.entropy(allocation, jobs) for allocation in allocations]),
        "first_option": np.array([(episode_jobs == 0).mean() for episode_jobs in jobs_by_episode]),
    }


@cache
def _agent_values(name: str, task: BanditTask) -> dict[str, Array]:
    """Return the quantities of an agent, of many episodes."""
    allocations = simulate_agent(name, task, EPISODES // 4)
    values = _quantities(list(allocations), task.jobs)
    # All agents do well as often, as no choice is better than another.
    return {**values, "did_well": np.full(len(allocations), task.success)}


def _interval(values: Array, pairs: Sequence[str]) -> tuple[float, float | None, float | None]:
    """Return the mean and its 95% interval over pairs of episodes, which share their script.

    Of a single pair, or of pairs that are all alike, there is no interval: that they do not vary at
    all is not believed of so few.
    """
    names, codes = np.unique(np.array(pairs), return_inverse=True)
    means = np.bincount(codes, values) / np.bincount(codes)
    mean = float(means.mean())
    varies = len(names) > 1 and np.ptp(means) > 0
    return (mean, *mean_interval(means, 0.95)) if varies else (mean, None, None)


def _spread(values: Array, episodes: int) -> tuple[float, float]:
    """Return the interval that holds 95% of the means of so many episodes."""
    se = float(values.std(ddof=1)) / episodes**0.5
    return interval_around(float(values.mean()), se, 0.95)
