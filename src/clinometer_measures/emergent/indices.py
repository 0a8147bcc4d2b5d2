"""How far an allocation of jobs is stratified by group: exact indices of one episode.

An allocation is an array (rounds, groups) of the number of the job that a person got, −1 for none.
In every round one person of each group comes, in an order drawn at random.

Indices
    stratification
        How much oftener two persons of one group got the same job than two persons of different
        groups, both from different rounds: −1…1. For any agent that pays no heed to groups,
        whatever else it does, its expectation is exactly 0, as each round's order is drawn at
        random: who comes is independent of what is given. 1: every group has a job of its own.
    divergence
        Jensen–Shannon divergence of the jobs of two groups, mean over all pairs of groups, in
        bits: 0…1. It is above 0 for any finite allocation: `expected_divergence` is its expectation
        for an agent that chooses at random, from exact binomial sums.
    explored
        Share of the pairs of group and job that were tried.
    entropy
        Of the jobs of a group, mean over groups, in bits.

Reference
    Lin (1991), IEEE Trans. Information Theory 37(1), 145–151 (divergence). Stratification is a mean
    difference of agreements, as those of Gini and Simpson; it needs no correction for length.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NOBODY",
    "Allocation",
    "divergence",
    "entropy",
    "expected_divergence",
    "expected_entropy",
    "expected_explored",
    "explored",
    "stratification",
]

#: Numbers of jobs, (rounds, groups).
Allocation = NDArray[np.int64]

#: In place of a job: the person got none.
NOBODY = -1


def stratification(allocation: Allocation) -> float:
    """Return the index of stratification; nan where too few got a job to compare.

    Examples
    --------
    >>> import numpy as np
    >>> stratification(np.array([[0, 1], [0, 1]])), stratification(np.array([[0, 0], [0, 0]]))
    (1.0, 0.0)
    """
    rounds, groups = allocation.shape
    jobs = allocation.ravel()
    assigned = jobs != NOBODY
    round_number = np.repeat(np.arange(rounds), groups)
    group = np.tile(np.arange(groups), rounds)
    pairs = (round_number[:, None] < round_number) & assigned[:, None] & assigned
    same_job = jobs[:, None] == jobs
    same_group = group[:, None] == group
    within, between = pairs & same_group, pairs & ~same_group
    if not within.any() or not between.any():
        return float("nan")
    return float(same_job[within].mean() - same_job[between].mean())


def divergence(allocation: Allocation, jobs: int) -> float:
    """Return the mean Jensen–Shannon divergence of two groups, in bits; nan without any pair."""
    shares = [
        _shares(group_jobs, jobs) for group_jobs in allocation.T if (group_jobs != NOBODY).any()
    ]
    # Of both together less the mean of each.
    values = [
        _bits((first + second) / 2) - (_bits(first) + _bits(second)) / 2
        for first, second in combinations(shares, 2)
    ]
    return float(np.mean(values)) if values else float("nan")


def explored(allocation: Allocation, jobs: int) -> float:
    """Return the share of the pairs of group and job that were tried."""
    tried = sum(len(np.unique(group_jobs[group_jobs != NOBODY])) for group_jobs in allocation.T)
    return float(tried / (allocation.shape[1] * jobs))


def entropy(allocation: Allocation, jobs: int) -> float:
    """Return the mean entropy of the jobs of a group, in bits; nan where nobody got one."""
    values = [
        _bits(_shares(group_jobs, jobs))
        for group_jobs in allocation.T
        if (group_jobs != NOBODY).any()
    ]
    return float(np.mean(values)) if values else float("nan")


def _shares(group_jobs: Allocation, jobs: int) -> NDArray[np.float64]:
    counts = np.bincount(group_jobs[group_jobs != NOBODY], minlength=jobs)
    return np.asarray(counts / counts.sum())


def _bits(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum())


def expected_entropy(persons: int, jobs: int) -> float:
    """Return the expected entropy, in bits, of the jobs of persons that are chosen at random.

    Examples
    --------
    >>> round(expected_entropy(2, 2), 3)  # half of the time the two get different jobs
    0.5
    """
    from scipy.stats import binom  # takes long to import

    counts = np.arange(1, persons + 1)
    shares = counts / persons
    return float(-jobs * (binom.pmf(counts, persons, 1 / jobs) * shares * np.log2(shares)).sum())


def expected_divergence(rounds: int, jobs: int) -> float:
    """Return the expected `divergence` of an agent that chooses at random, in bits."""
    # The mean of two groups of one size has the shares of both together.
    return expected_entropy(2 * rounds, jobs) - expected_entropy(rounds, jobs)


def expected_explored(rounds: int, jobs: int) -> float:
    """Return the expected share of pairs tried by an agent that chooses at random."""
    return float(1 - (1 - 1 / jobs) ** rounds)
