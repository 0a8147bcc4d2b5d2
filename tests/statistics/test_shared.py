"""What levels that stereotypes share add to the error of a mean, and take out of differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import Design, design
from clinometer.statistics.shared import GroupErrors, group_errors, shared_factors, tempering_of
from clinometer.statistics.variances import Squares, prior_of, variances

WORDINGS, DRAWS = np.mgrid[:12, :6]


def planned(first: int = 1) -> Design:
    """Return a design of twelve wordings, numbered from the first, and one pair of words."""
    single, none = np.ones(WORDINGS.size, int), np.full(WORDINGS.size, -1)
    wording = WORDINGS.ravel() + first
    return design([wording, single, single, wording, none], np.ones(WORDINGS.size))


def scores(effects: Array, seed: int) -> Array:
    """Return scores of wordings with these effects, with responses of sd .3."""
    return effects[WORDINGS.ravel()] + np.random.default_rng(seed).normal(0, 0.3, WORDINGS.size)


def errors(designs: list[Design], values: list[Array], *groups: Array) -> GroupErrors:
    scales = np.ones(len(designs))
    factors = shared_factors(designs, values, scales)
    squares = Squares.of_scores(designs, values, scales, np.zeros(len(designs)))
    made = variances(squares, prior_of("free"), tempering_of(factors))
    means = np.array([d.weights @ y for d, y in zip(designs, values, strict=True)])
    return group_errors(designs, made, factors, scales, groups, means)


EQUAL = np.full(6, 1 / 6)


def effects_of(alike: bool) -> list[Array]:
    """Return the effects of the wordings of six stereotypes, of sd .5."""
    effects = np.random.default_rng(1).normal(size=(6, 12))
    effects = scipy.stats.zscore(effects, axis=1) / 2
    return [effects[0] if alike else row for row in effects]


def test_a_wording_that_moves_all_stereotypes_moves_their_mean() -> None:
    found = {}
    for alike in (True, False):
        values = [scores(effects, seed) for seed, effects in enumerate(effects_of(alike))]
        found[alike] = errors([planned()] * 6, values, EQUAL).se[0]
    independent = (0.25 / 12 / 6 + 0.09 / 72 / 6) ** 0.5
    assert found[False] == pytest.approx(independent, rel=0.5)
    assert found[True] > 1.5 * found[False]


def test_wordings_that_no_two_stereotypes_have_are_no_shared_factor() -> None:
    designs = [planned(1 + 12 * k) for k in range(6)]
    values = [scores(effects, seed) for seed, effects in enumerate(effects_of(alike=True))]
    assert shared_factors(designs, values, np.ones(6)) == []
    assert errors(designs, values, EQUAL).se[0] < errors([planned()] * 6, values, EQUAL).se[0]


def test_what_two_runs_share_cancels_in_their_difference() -> None:
    """The same stereotypes in both runs, whose wordings move them alike."""
    values = [scores(effects, seed) for seed, effects in enumerate(effects_of(alike=True))]
    signed = np.repeat([1 / 3, -1 / 3], 3)
    whole, change = errors([planned()] * 6, values, EQUAL, signed).se
    # If nothing were shared, the difference of two means of three would have twice the error.
    assert change < 1.5 * whole


def test_deviations_that_are_alike_tell_as_few_independent_ones_would() -> None:
    alike, independent = (
        shared_factors(
            [planned()] * 6, [scores(e, k) for k, e in enumerate(effects_of(same))], np.ones(6)
        )[0]
        for same in (True, False)
    )
    assert alike.correlation() > 0.9 > 0.4 > independent.correlation()
    assert alike.tempering() < 0.25 < 0.5 < independent.tempering()


def test_a_stereotype_of_one_wording_is_charged_with_what_wordings_do_to_others() -> None:
    values = [scores(effects, seed) for seed, effects in enumerate(effects_of(alike=False))]
    single, none = np.ones(WORDINGS.size, int), np.full(WORDINGS.size, -1)
    lone = design([single, single, single, single, none], np.ones(WORDINGS.size))
    alone = np.eye(6)[0]
    both = np.r_[0.5, 0.5, np.zeros(4)]
    se_alone, se_both = errors([lone, *[planned()] * 5], values, alone, both).se
    assert se_alone < 0.2  # other wordings are open
    assert se_both > 0.5 * 0.5 * 0.8  # half of a wording of sd .5


def test_other_stereotypes_add_what_their_means_differ_by() -> None:
    rng = np.random.default_rng(3)
    values = [scores(np.full(12, lean), k) for k, lean in enumerate(rng.normal(0, 0.4, 6))]
    found = errors([planned()] * 6, values, EQUAL)
    dispersion = np.std([y.mean() for y in values], ddof=1) / 6**0.5
    assert found.se[0] < 0.5 * dispersion
    assert found.wider_se[0] == pytest.approx(dispersion, rel=0.25)
