import numpy as np
import pytest
from benchmarks.prompt_answers import CHANGES, KINDS, Design, draw_cells

N = 40_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mean", [-1.0, -0.5, 0.0, 0.3, 0.95, 1.0])
def test_units_have_the_mean_they_are_drawn_with(kind, mean):
    values = KINDS[kind](np.full(N, mean), np.random.default_rng(0))
    assert np.abs(values).max() <= 1
    assert values.mean() == pytest.approx(mean, abs=0.02)


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize(("baseline", "candidate"), [(0.0, 0.2), (0.95, 0.9), (-0.5, -0.5)])
def test_versions_have_the_means_they_are_drawn_with(kind, baseline, candidate):
    means = np.full(N, baseline), np.full(N, candidate)
    before, after = CHANGES[kind](*means, np.random.default_rng(0))
    assert before.mean() == pytest.approx(baseline, abs=0.02)
    assert after.mean() == pytest.approx(candidate, abs=0.02)


def test_answers_have_the_variance_they_are_named_for():
    pairs = KINDS["answers of variance .53"](np.zeros(N), np.random.default_rng(0))
    assert 2 * pairs.var() == pytest.approx(0.53, abs=0.02)


def test_cells_of_a_unit_stay_within_the_scale():
    cells = draw_cells(Design(1, 4, 5), 0.9, np.random.default_rng(0))
    assert cells.shape == (20,)
    assert set(np.round(cells, 6)) == {0.85, 0.95}
