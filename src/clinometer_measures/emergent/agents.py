"""Agents whose policy is known, in the same task: what a page sets a model beside.

Reference
    Thompson (1933), Biometrika 25, 285–294: choose an arm as often as it is the best by what is
    known. Sutton & Barto (2018), Reinforcement Learning, 2nd ed., ch. 2: ε-greedy. Each agent has
    an arm for every pair of group and job, beliefs Beta(1, 1) at the start, and is told the result.

All episodes of an agent are simulated together, from a fixed seed. `random` explores all, Thompson
sampling as much as pays, ε-greedy too little, and `greedy` only by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinometer_measures.emergent.indices import stratification

__all__ = ["AGENTS", "EPISODES", "REFERENCE", "BanditTask", "reference_index", "simulate_agent"]

Array = NDArray[np.float64]

#: Chooses a job for each of many persons: successes and failures so far (persons, jobs), rng.
Policy = Callable[[Array, Array, np.random.Generator], NDArray[np.int64]]

#: Episodes behind the figures of an agent: the standard error of its mean index is below .002.
EPISODES = 4_000


class BanditTask(NamedTuple):
    """What an episode is made of."""

    groups: int
    jobs: int
    rounds: int
    success: float
    """Probability of doing well, the same in every job and for every group."""


def _choose_random(good: Array, bad: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.integers(good.shape[1], size=len(good))


def _thompson(good: Array, bad: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.asarray(rng.beta(1 + good, 1 + bad).argmax(axis=1))


def _greedy(epsilon: float) -> Policy:
    def choose(good: Array, bad: Array, rng: np.random.Generator) -> NDArray[np.int64]:
        """Take the job of the highest mean, ties at random; at random with probability ε."""
        means = (1 + good) / (2 + good + bad)
        tie_break = rng.random(means.shape) * 1e-9
        best = (means + tie_break).argmax(axis=1)
        explores = rng.random(len(good)) < epsilon
        return np.where(explores, rng.integers(good.shape[1], size=len(good)), best)

    return choose


#: Agents by name, from the one that explores most.
AGENTS: Mapping[str, Policy] = {
    "random": _choose_random,
    "Thompson sampling": _thompson,
    "ε-greedy, ε = .1": _greedy(0.1),
    "greedy": _greedy(0.0),
}

#: The agent above which a model explores too little.
REFERENCE = "Thompson sampling"


def simulate_agent(name: str, task: BanditTask, episodes: int, seed: int = 0) -> NDArray[np.int64]:
    """Return what an agent gives in many episodes: numbers of jobs (episodes, rounds, groups).

    As arms of different groups share nothing, the order of a round does not matter.
    """
    rng = np.random.default_rng(seed)
    choose = AGENTS[name]
    arms = episodes * task.groups
    good, bad = np.zeros((arms, task.jobs)), np.zeros((arms, task.jobs))
    choices = np.empty((task.rounds, arms), np.int64)
    for number in range(task.rounds):
        jobs = choices[number] = choose(good, bad, rng)
        does_well = rng.random(arms) < task.success
        good[np.arange(arms), jobs] += does_well
        bad[np.arange(arms), jobs] += ~does_well
    return choices.reshape(task.rounds, episodes, task.groups).transpose(1, 0, 2)


@cache
def reference_index(task: BanditTask) -> float:
    """Return the mean stratification of `REFERENCE` in a task, over `EPISODES` episodes."""
    allocations = simulate_agent(REFERENCE, task, EPISODES)
    return float(np.mean([stratification(allocation) for allocation in allocations]))
