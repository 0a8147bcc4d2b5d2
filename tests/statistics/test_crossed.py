import numpy as np
import pytest
import scipy.stats

from clinometer.statistics.crossed import (
    FEWEST,
    _prior,
    _solve,
    moderate,
)
from clinometer.statistics.squares import moments, stratum_squares

# A single part, against dense matrices


def part(values, weights, factors):
    """Return the sums of squares of one stereotype."""
    (one,) = stratum_squares(values, weights, factors)
    return one


def layout(seed: int, n: int = 30, levels: tuple[int, ...] = (3, 5, 2)) -> dict[str, np.ndarray]:
    """Levels drawn at random, so that factors are crossed and no count is that of another."""
    rng = np.random.default_rng(seed)
    return {f"f{k}": rng.integers(0, size, n) for k, size in enumerate(levels)}


def without_some(seed: int) -> dict[str, np.ndarray]:
    """A third of the units has no level of one factor, the others none of another."""
    factors = layout(seed)
    third = np.arange(30) < 10
    return factors | {"f0": np.where(third, -1, factors["f0"]), "f1": np.where(third, 1, -1)}


def dense(factors: dict[str, np.ndarray], n: int) -> list[np.ndarray]:
    """Return the incidence matrix of each factor, shape (n, levels), and of the response."""
    levels = [np.unique(codes[codes >= 0]) for codes in factors.values()]
    columns = [
        (codes[:, None] == of).astype(float)
        for codes, of in zip(factors.values(), levels, strict=True)
    ]
    return [*columns, np.eye(n)]


def centring(weights: np.ndarray) -> np.ndarray:
    """Return C = W − ww'/n with weights of sum n: Cy are the weighted deviations from the mean."""
    w = weights * len(weights) / weights.sum()
    return np.diag(w) - np.outer(w, w) / len(w)


@pytest.mark.parametrize("make", [layout, without_some])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_sums_of_squares_and_what_they_expect(seed, weighted, make):
    """S_f = y'CZ_f Z_f'Cy; a component σ_h² adds σ_h² tr(Z_f'CZ_h Z_h'CZ_f) to its expectation."""
    rng, n = np.random.default_rng(seed), 30
    y, weights = rng.normal(size=n), rng.integers(1, 5, n) if weighted else np.full(n, 2)
    factors = make(seed)
    one = part(y, weights.astype(float), factors)
    z, c = dense(factors, n), centring(weights)
    squares = [y @ c @ f @ f.T @ c @ y for f in z]
    expected = [[np.trace(f.T @ c @ h @ h.T @ c @ f) for h in z] for f in z]
    assert one.observed == pytest.approx(squares)
    assert one.expected == pytest.approx(np.array(expected))


def test_stereotypes_of_one_call_are_as_those_of_several():
    """With levels in common, and levels of their own."""
    rng, sizes = np.random.default_rng(4), (12, 1, 30)
    of = np.repeat(np.arange(3), sizes)
    y, weights = rng.normal(size=43), rng.integers(1, 5, 43).astype(float)
    factors = {"variation": rng.integers(0, 4, 43), "draw": np.arange(43) // 2}
    for s, one in enumerate(stratum_squares(y, weights, factors, of)):
        at = of == s
        alone = part(y[at], weights[at], {f: codes[at] for f, codes in factors.items()})
        assert (one.mean, one.size, one.levels) == (alone.mean, alone.size, alone.levels)
        assert one.observed == pytest.approx(alone.observed)
        assert one.expected == pytest.approx(alone.expected)
        for f, codes in factors.items():
            levels, deviations, shares = one.totals[f]
            assert levels.tolist() == np.unique(codes[at]).tolist()
            assert deviations == pytest.approx(alone.totals[f][1])
            assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("make", [layout, without_some])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_of_the_mean_is_linear_in_the_components(weighted, make):
    """Var(1'Wy/n) = Σ σ_f² ‖Z_f'W1/n‖²."""
    rng, n = np.random.default_rng(0), 30
    weights = rng.integers(1, 5, n).astype(float) if weighted else np.full(n, 2.0)
    factors = make(0)
    one = part(rng.normal(size=n), weights, factors)
    z = dense(factors, n)
    assert one.shares == pytest.approx([((f.T @ weights / weights.sum()) ** 2).sum() for f in z])
    levels = tuple(f.shape[1] for f in z)
    assert (one.size, one.answers, one.levels) == (n, weights.sum(), levels)


def test_the_mean_is_weighted_by_answers():
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=30), rng.integers(1, 5, 30).astype(float)
    assert part(y, weights, {}).mean == pytest.approx(np.average(y, weights=weights))


@pytest.mark.parametrize("make", [layout, without_some])
@pytest.mark.parametrize("components", [(1.0, 0.5, 2.0, 0.7), (0, 0, 0, 1), (1, 0, 0, 0)])
def test_covariance_of_the_sums_of_squares(components, make):
    """Of normal effects with covariance V: cov(y'Qy, y'Ry) = 2 tr(QVRV)."""
    n, factors = 30, make(1)
    one = part(np.random.default_rng(1).normal(size=n), np.ones(n), factors)
    z, c = dense(factors, n), centring(np.ones(n))
    v = sum(component * f @ f.T for component, f in zip(components, z, strict=True))
    forms = [c @ f @ f.T @ c for f in z]
    expected = [[2 * np.trace(q @ v @ r @ v) for r in forms] for q in forms]
    found = moments(one) @ np.array(components) @ np.array(components)
    assert found == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


def test_balanced_one_way_components_are_those_of_the_analysis_of_variance():
    """Within: the mean square; between: (mean square between − within) / m."""
    rng, groups, m = np.random.default_rng(2), 6, 5
    codes = np.repeat(np.arange(groups), m)
    y = rng.normal(0, 1, groups)[codes] + rng.normal(0, 0.5, groups * m)
    one = part(y, np.ones(groups * m), {"variation": codes})
    by_group = y.reshape(groups, m)
    between = m * by_group.mean(axis=1).var(ddof=1)
    within = by_group.var(axis=1, ddof=1).mean()
    (components,) = _solve(one.expected[None], one.observed[None])
    assert components == pytest.approx([(between - within) / m, within])
    assert one.shares @ components == pytest.approx(between / (groups * m))


def test_a_factor_that_never_varies_has_no_component():
    """Its expected sums of squares are 0 but for rounding."""
    rng = np.random.default_rng(7)
    for n in range(5, 40):
        weights = rng.random(n)
        one = part(
            rng.normal(size=n), weights, {"variation": np.arange(n) % 3, "draw": np.zeros(n, int)}
        )
        assert _solve(one.expected[None], one.observed[None])[0, 1] == 0.0


def test_no_component_is_below_zero():
    """Groups with one mean: the analysis of variance puts the component between below 0."""
    codes = np.repeat(np.arange(4), 2)
    one = part(np.tile([-1.0, 1.0], 4), np.ones(8), {"variation": codes})
    ((between, within),) = _solve(one.expected[None], one.observed[None])
    assert between == 0.0
    assert within == pytest.approx(8 / 7)  # the variance of all, with no component between


# Stereotypes together


def alike(y: np.ndarray, factors: dict[str, np.ndarray], count: int = FEWEST):
    """Moderate the same scores several times over."""
    one = part(y, np.ones(len(y)), factors)
    return moderate([one] * count, np.ones(count))


def test_single_responses_of_equal_stereotypes_are_the_t_test():
    y = np.random.default_rng(3).normal(size=12)
    found = alike(y, {})
    assert found.variances**0.5 == pytest.approx([scipy.stats.sem(y)] * FEWEST, rel=1e-3)
    assert found.df == pytest.approx([FEWEST * 11] * FEWEST)  # no wordings in common


def test_a_single_factor_gives_the_t_test_of_its_level_means():
    """Every score of a wording equal, and all stereotypes the same: G − 1 degrees of freedom."""
    means, m = np.random.default_rng(4).normal(size=5), 6
    found = alike(np.repeat(means, m), {"variation": np.repeat(np.arange(5), m)})
    assert found.variances**0.5 == pytest.approx([scipy.stats.sem(means)] * FEWEST, rel=1e-3)
    assert found.df == pytest.approx([4] * FEWEST)


def test_balanced_one_way_variance_is_the_mean_square():
    rng, m = np.random.default_rng(5), 6
    codes = np.repeat(np.arange(5), m)
    y = rng.normal(size=5)[codes] + rng.normal(0, 0.5, 5 * m)
    expected = scipy.stats.sem(y.reshape(5, m).mean(axis=1))
    found = alike(y, {"variation": codes})
    assert found.variances**0.5 == pytest.approx([expected] * FEWEST, rel=1e-3)


def test_fewer_stereotypes_are_not_moderated():
    y = np.random.default_rng(6).normal(size=9)
    assert alike(y, {}, FEWEST - 1) is None
    single = part(y[:1], np.ones(1), {})
    assert moderate([part(y, np.ones(9), {})] * 4 + [single] * 9, np.ones(13)) is None


def test_no_spread_is_not_moderated():
    assert alike(np.full(9, 0.3), {"variation": np.arange(9) // 3}) is None


SDS = {"variation": 1.0, "marginalized": 0.6, "default": 0.8, "cell": 0.5, "draw": 0.7}


def stereotype(rng: np.random.Generator, scale: float = 1.0):
    """Draw 4 wordings × 6 draws × 2 responses; each draw has one of 3 × 3 pairs of words."""
    wording, draw = (axis.ravel() for axis in np.mgrid[:4, :6, :2][:2])
    marginalized, default = (rng.integers(0, 3, 6)[draw] for _ in range(2))
    cell = 9 * wording + 3 * marginalized + default
    codes = (wording, marginalized, default, cell, draw)
    factors = dict(zip(SDS, codes, strict=True))
    effects = rng.normal(size=(5, 36)) * np.array([*SDS.values()])[:, None]
    own = sum(one[of] for one, of in zip(effects, codes, strict=True))
    y = scale * (own + rng.normal(0, 0.9, len(draw)))
    return part(y, np.ones(len(y)), factors)


def test_components_recover_planted_values():
    """The means of 16 estimates, each from 40 stereotypes, lie within 3.5 of their errors."""
    rng = np.random.default_rng(1)
    found = np.array(
        [moderate([stereotype(rng) for _ in range(40)], np.ones(40)).components for _ in range(16)]
    )
    planted = np.square([*SDS.values(), 0.9])
    error = found.std(axis=0, ddof=1) / len(found) ** 0.5
    assert (np.abs(found.mean(axis=0) - planted) < 3.5 * error).all()
    assert (error < 0.1 * planted.max()).all()


def test_variances_are_proportional_to_the_scales():
    rng = np.random.default_rng(8)
    parts, scales = [stereotype(rng) for _ in range(8)], np.ones(8)
    one, other = moderate(parts, scales), moderate(parts, 4 * scales)
    assert other.variances == pytest.approx(one.variances)
    assert other.components == pytest.approx(one.components / 4)


def moderated_and_true(scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    parts = [stereotype(rng, scale) for scale in scales]
    truth = scales**2 * [one.shares @ np.square([*SDS.values(), 0.9]) for one in parts]
    return moderate(parts, np.ones(len(parts))).variances, truth


def test_variances_of_equal_stereotypes_are_hardly_their_own():
    """Of 10 df or fewer, variances of their own would spread by √(2/10) or more."""
    found, truth = moderated_and_true(np.ones(60))
    assert np.log(found / truth).std() < 0.5 * (2 / 10) ** 0.5
    assert found.sum() == pytest.approx(truth.sum(), rel=0.2)


def test_variances_of_unequal_stereotypes_are_mostly_their_own():
    found, truth = moderated_and_true(np.repeat([0.2, 1.0], 30))
    assert np.median(found[:30]) < 0.15 * np.median(found[30:])  # truly .04 times
    assert np.corrcoef(np.log(found), np.log(truth))[0, 1] > 0.85


def ratios(prior: float | None, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Draw variances of 10 df, whose true values are equal or of a scaled inverse χ² prior."""
    rng, df = np.random.default_rng(10), 10.0
    truth = 1.0 if prior is None else prior / rng.chisquare(prior, count)
    return truth * rng.chisquare(df, count) / df, np.full(count, df)


def test_equal_variances_have_a_large_prior_df():
    (prior,), (centre,) = _prior(*np.array(ratios(None))[:, None])
    assert prior >= 50
    assert centre == pytest.approx(1, abs=0.06)


def test_unequal_variances_have_a_small_prior_df():
    (prior,), (centre,) = _prior(*np.array(ratios(4.0))[:, None])
    assert 3 <= prior <= 6
    assert centre == pytest.approx(1, abs=0.15)


def test_the_prior_makes_the_ratios_most_likely():
    """Against the density of scipy's F, over a grid of its own."""
    x, df = ratios(6.0, 60)

    def likelihood(prior: float, centre: float) -> float:
        return scipy.stats.f.logpdf(x / centre, 10, prior).sum() - 60 * np.log(centre)

    best = max(
        (likelihood(prior, centre), prior)
        for prior in (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 30)
        for centre in np.linspace(0.5, 2, 61)
    )
    (prior,), (centre,) = _prior(x[None], df[None])
    assert prior == best[1]
    assert likelihood(prior, centre) == pytest.approx(best[0], abs=0.1)


def test_ratios_of_too_few_stereotypes_have_no_prior():
    x, df = ratios(2.0, FEWEST - 2)
    assert _prior(x[None], df[None])[0] >= 1000


def test_wordings_in_common_lower_the_joint_df():
    """Stereotypes that rise and fall with the same wordings tell as much as one."""
    rng, m, count = np.random.default_rng(11), 6, 10
    codes = np.repeat(np.arange(5), m)
    shared = rng.normal(size=5)
    own = rng.normal(size=(count, 5))
    alone, together = (
        moderate(
            [
                part(np.repeat(effects, m) + rng.normal(0, 0.1, 5 * m), np.ones(5 * m), {
                    "variation": codes
                })
                for effects in rows
            ],
            np.ones(count),
        ).joint_df.mean()
        for rows in (own, np.tile(shared, (count, 1)))
    )  # fmt: skip
    assert together == pytest.approx(4, rel=0.05)
    assert alone > 5 * together
