"""Levels of tests of answers that are looked at more than once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from clinometer.errors import InputError
from clinometer.statistics.looks import Looks, level_of_look

#: Pocock (1977), table 1: levels of each of so many equally spaced looks, for 5% in all.
POCOCK = {2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158, 10: 0.0106}


@pytest.mark.parametrize(("n", "level"), POCOCK.items())
def test_levels_are_those_of_pocock(n: int, level: float) -> None:
    looks = tuple(k / n for k in range(1, n + 1))
    assert level_of_look(0.05, looks) == pytest.approx(level, abs=6e-5)


@pytest.mark.parametrize("looks", [(1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0), (0.9, 0.97, 1.0)])
def test_any_look_is_significant_as_often_as_stated(looks: tuple[float, ...]) -> None:
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(200_000, len(looks))) * np.diff((0.0, *looks)) ** 0.5
    z = np.cumsum(steps, axis=1) / np.array(looks) ** 0.5
    beyond = np.abs(z) > -ndtri(level_of_look(0.05, looks) / 2)
    assert beyond.any(axis=1).mean() == pytest.approx(0.05, abs=0.0015)  # three standard errors


def test_one_look_changes_nothing() -> None:
    assert Looks().tests(7, 0.05) == Looks((1.0,)).tests(7, 0.05) == 7
    assert Looks().confidence(0.95) == 0.95


def test_looks_that_share_more_cost_less() -> None:
    run = "study", "measure", "mode"
    looks = Looks((0.25, 0.5, 1.0), {run: (0.9, 0.95, 1.0)})
    assert 7 < looks.tests(7, 0.05, run) < looks.tests(7, 0.05) < 3 * 7


@pytest.mark.parametrize("shares", [(0.5,), (0.5, 0.5, 1.0), (0.0, 1.0), (0.5, 1.5)])
def test_shares_that_do_not_rise_to_one_are_refused(shares: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="rise to 1"):
        Looks(shares)
