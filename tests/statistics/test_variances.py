"""What the variances of stereotypes may be: means with planted variances, and mixtures of t."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from scipy.optimize import brentq

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import CROSSED, CrossedDesign, design
from clinometer.statistics.variances import Squares, prior_of, student, variances


def planned(wordings: int = 4, draws: int = 12, words: int = 6) -> CrossedDesign:
    """Return the design of wordings × draws, each draw with a word of either group."""
    wording, draw = (axis.ravel() for axis in np.mgrid[:wordings, :draws])
    marginalized, default = draw % words, (draw + draw // words) % words
    cell = wording * words**2 + marginalized * words + default
    codes = [wording + 1, marginalized + 1, default + 1, cell + 1, np.full(cell.size, -1)]
    return design(codes, np.full(cell.size, 2.0))


def scores(crossed: CrossedDesign, rng: np.random.Generator, **sds: float) -> Array:
    """Draw scores with a standard deviation of responses and of the factors that are given."""
    values = rng.normal(0, sds.pop("response", 0.5), crossed.size)
    for name, sd in sds.items():
        place = CROSSED.index(name)
        values = values + rng.normal(0, sd, len(crossed.levels[place]))[crossed.members[place]]
    return values


def errors(
    designs: Sequence[CrossedDesign],
    values: Sequence[Array],
    mode: str = "free",
    *,
    one_person: bool = False,
) -> Array:
    """Return the standard error of the mean of each stereotype, on a scale from −1 to 1."""
    n = len(designs)
    squares = Squares.from_scores(designs, values, np.ones(n), np.ones(n))
    shares = np.array([crossed.shares for crossed in designs])
    prior = prior_of(mode, one_person=one_person)
    se, _ = variances(squares, prior).means(range(n), shares)
    return se


@pytest.mark.parametrize("one_person", [False, True])
def test_a_lone_stereotype_without_effects_has_nearly_the_error_of_its_answers(
    one_person: bool,
) -> None:
    crossed, rng = planned(), np.random.default_rng(0)
    se_draws = [
        errors([crossed], [scores(crossed, rng)], one_person=one_person)[0] for _ in range(10)
    ]
    answers = 0.5 / crossed.size**0.5
    assert 1.0 < np.mean(se_draws) / answers < 1.4  # what the prior allows wordings and words


@pytest.mark.parametrize("stereotypes", [1, 12, 21])
def test_many_draws_of_what_is_usual_count(stereotypes: int) -> None:
    crossed, rng = planned(), np.random.default_rng(2)
    values = [scores(crossed, rng, variation=0.1, marginalized=0.1) for _ in range(stereotypes)]
    ones = np.ones(stereotypes)
    squares = Squares.from_scores([crossed] * stereotypes, values, ones, ones)
    assert 1 / (variances(squares, prior_of("free")).usual ** 2).sum() > 40


@pytest.mark.parametrize("factor", ["variation", "marginalized"])
def test_large_effects_of_levels_are_what_the_error_consists_of(factor: str) -> None:
    crossed, rng = planned(wordings=12, draws=24, words=12), np.random.default_rng(1)
    se_draws = [errors([crossed], [scores(crossed, rng, **{factor: 0.6})])[0] for _ in range(10)]
    assert np.mean(se_draws) == pytest.approx(0.6 / 12**0.5, rel=0.15)


def coverage(one_person: bool, **sds: float) -> float:
    """Return how often the interval of a mean of 0 holds it, of 36 cells of six words a side."""
    crossed, rng, covered = planned(wordings=9, draws=12), np.random.default_rng(5), 0
    for _ in range(300):
        values = scores(crossed, rng, **sds)
        squares = Squares.from_scores([crossed], [values], np.ones(1), np.ones(1))
        prior = prior_of("free", one_person=one_person)
        (se,), (df,) = variances(squares, prior).means([0], crossed.shares[None])
        covered += abs(crossed.weights @ values) < se * scipy.stats.t.ppf(0.975, df)
    return covered / 300


def test_names_that_differ_much_are_in_the_error_of_answers_about_one_person() -> None:
    names = {"marginalized": 0.2, "default": 0.2}
    assert coverage(True, **names) > 0.93 > coverage(False, **names)


def test_a_prior_draws_what_its_density_says() -> None:
    prior, place = prior_of("free", one_person=True), CROSSED.index("default")
    grid = np.linspace(-60, 120, 20_001)
    points = np.zeros((grid.size, len(CROSSED) + 1))
    points[:, place] = grid
    points[:, -1] = -150.0  # so that no ratio is impossible beside it
    log_density = prior.log_density(points)
    density = np.exp(log_density - log_density.max())
    cumulative = np.cumsum(density) / density.sum()
    uniform = np.full((9, len(CROSSED) + 1), 0.5)
    uniform[:, place] = np.linspace(0.1, 0.9, 9)
    drawn = prior.draw(uniform)[:, place]
    assert np.interp(drawn, grid, cumulative) == pytest.approx(uniform[:, place], abs=0.005)


def test_words_vary_by_no_more_than_scores_at_the_two_ends() -> None:
    prior, points = prior_of("free", one_person=True), np.zeros((2, len(CROSSED) + 1))
    points[:, -1] = -2.0
    points[:, CROSSED.index("default")] = 1.9, 2.1
    possible, impossible = prior.log_density(points)
    assert impossible < possible - 500


def test_the_same_scores_give_the_same_numbers_in_any_order() -> None:
    designs = [planned(wordings) for wordings in (2, 3, 4, 4, 5)]
    rng = np.random.default_rng(2)
    values = [scores(crossed, rng, variation=0.2) for crossed in designs]
    first = errors(designs, values)
    assert first.tolist() == errors(designs, values).tolist()
    assert first[::-1] == pytest.approx(errors(designs[::-1], values[::-1]), rel=1e-9)


def test_company_changes_little_where_variances_are_alike() -> None:
    """Twelve stereotypes of four wordings, a few words and the same variances."""
    rng, crossed = np.random.default_rng(3), planned()
    values = [scores(crossed, rng, variation=0.1, marginalized=0.1) for _ in range(12)]
    joint = errors([crossed] * 12, values)
    alone = np.array([errors([crossed], [y])[0] for y in values])
    ratio = np.exp(np.log(alone / joint).mean())
    assert 1 / 1.15 < ratio < 1.15


def test_company_tells_what_a_stereotype_has_too_few_levels_to_tell() -> None:
    """Wordings that move fourteen stereotypes far move one of two wordings as far."""
    rng, short, long = np.random.default_rng(4), planned(wordings=2), planned(wordings=6)
    calm = [scores(long, rng) for _ in range(14)]
    moved = [scores(long, rng, variation=0.8) for _ in range(14)]
    lone = scores(short, rng)
    designs = [short, *[long] * 14]
    calm_error, moved_error = (errors(designs, [lone, *peers])[0] for peers in (calm, moved))
    assert moved_error > 1.5 * calm_error


def test_probabilities_are_expected_to_vary_less_than_answers() -> None:
    crossed = planned(wordings=2, draws=2)
    alike = [np.full(crossed.size, 0.3)]
    sampled, exact = (errors([crossed], alike, mode)[0] for mode in ("free", "forced"))
    assert exact < sampled


def test_scores_all_alike_have_an_error_above_0() -> None:
    crossed = planned()
    se = errors([crossed], [np.full(crossed.size, 0.3)])[0]
    assert 0 < se < 0.2


@pytest.mark.parametrize("seed", range(6))
def test_a_mixture_of_t_and_its_t_have_the_same_quantiles(seed: int) -> None:
    """Against scipy; draws of nearly the same scale are joined, which shortens far tails."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(200))
    scales, df = np.exp(rng.normal(0, 0.6, 200)), rng.uniform(8, 40, 200)
    (se,), (fitted,) = student(weights[:, None], scales[:, None] ** 2, df[:, None])

    def below(x: float) -> float:
        return float(weights @ scipy.stats.t.cdf(x / scales, df))

    for p, tolerance in ((0.975, 0.01), (0.9997, 0.03)):
        quantile = brentq(lambda x, p=p: below(x) - p, 0.0, 200.0)
        assert se * scipy.stats.t.ppf(p, fitted) == pytest.approx(quantile, rel=tolerance)


def test_a_mixture_of_one_t_is_that_t_and_nothing_has_no_error() -> None:
    variances_of_draws = np.array([[4.0, 0.0]] * 3)
    se, df = student(np.full((3, 2), 1 / 3), variances_of_draws, np.full((3, 2), 7.0))
    assert se == pytest.approx([2.0, 0.0], rel=1e-3)
    assert df == pytest.approx([7.0, np.inf], rel=0.01)


def test_a_large_balanced_design_has_the_error_of_lme4(tmp_path: Path) -> None:
    """Restricted maximum likelihood of R's lme4, with crossed wordings and words."""
    if shutil.which("Rscript") is None:
        pytest.skip("needs R with lme4")
    crossed, rng = planned(wordings=20, draws=36, words=18), np.random.default_rng(7)
    values = scores(crossed, rng, variation=0.3, marginalized=0.3, default=0.2)
    table = np.column_stack([values, *crossed.members[:3]])
    np.savetxt(tmp_path / "scores.csv", table, delimiter=",", header="y,w,m,d", comments="")
    model = "lme4::lmer(y ~ 1 + (1 | w) + (1 | m) + (1 | d), read.csv('scores.csv'))"
    code = f"if (!requireNamespace('lme4')) quit(status = 9); cat(sqrt(vcov({model})[1]))"
    done = subprocess.run(
        ["Rscript", "-e", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if done.returncode == 9:
        pytest.skip("needs R with lme4")
    assert errors([crossed], [values])[0] == pytest.approx(float(done.stdout), rel=0.05)


def test_components_are_those_that_were_planted() -> None:
    rng, crossed = np.random.default_rng(6), planned(wordings=8, draws=24)
    values = [scores(crossed, rng, variation=0.4, marginalized=0.2) for _ in range(20)]
    squares = Squares.from_scores([crossed] * 20, values, np.ones(20), np.ones(20))
    components = variances(squares, prior_of("free")).components()
    assert components[0] == pytest.approx(0.16, rel=0.3)
    assert components[1] == pytest.approx(0.04, rel=0.4)
    assert components[-1] == pytest.approx(0.25, rel=0.1)
