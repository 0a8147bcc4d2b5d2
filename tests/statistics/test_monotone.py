"""A verdict does not weaken where scores of its stereotype move away from neutral."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from clinometer.results import SCORES, Measure
from clinometer.results.judging import judge
from clinometer.statistics import estimate_measure
from clinometer.statistics.crossed import OfMean, Strata, moderate
from clinometer.statistics.estimates import Inference, estimate_summaries
from clinometer.statistics.monotone import lowering_helps, strongest
from clinometer.statistics.settings import CORNER, FEWEST
from clinometer.statistics.squares import stratum_squares
from clinometer.statistics.strata import Stratum, scales_of
from clinometer.statistics.summaries import summarise

MEASURE = Measure("word_association", "", -1, 1, 0, "", "")
SIDES = (-1.0, 1.0)
FACTORS = ("variation", "marginalized", "default", "cell", "draw")


def scores_of_one(seed: int, size: int = 12) -> tuple[Stratum, dict[str, np.ndarray]]:
    """Return scores of three wordings and three words of either group, one wording far above."""
    rng = np.random.default_rng(seed)
    factors = {f: rng.integers(0, 3, size) for f in FACTORS}
    y = 0.3 + 0.3 * rng.normal(size=3)[factors["variation"]] + 0.2 * rng.normal(size=size)
    y = (y + 0.6 * (factors["variation"] == 1)).clip(-1, 1)
    answers = rng.integers(1, 3, size).astype(float)
    return Stratum((), y, stratum_squares(y, answers, factors)[0], {}, set()), factors


def squared_t(y: np.ndarray, one: Stratum, factors: dict, weights: np.ndarray, floor: float):
    """Return t² against 0 by the definition, for scores `y`."""
    w, n = one.squares.weights, len(y)
    mean = w @ y / n
    totals = [w * (y - mean)]
    squares = [
        sum((totals[0][of == level].sum()) ** 2 for level in range(3)) for of in factors.values()
    ]
    variance = weights @ [*squares, totals[0] @ totals[0]]
    shrunken = n * mean / (n + 1)
    scale = (1 + shrunken) * (1 - shrunken)
    return mean**2 / (floor + variance / scale)


@pytest.mark.parametrize("seed", range(8))
def test_no_lower_scores_make_a_stronger_case(seed):
    """Against scipy's bounded minimisation of the definition."""
    one, factors = scores_of_one(seed)
    weights, floor = np.array([2.0, 1, 0, 0.5, 0, 1]) / 12**2, 0.003
    mean = one.squares.mean
    assert mean > 0
    found = strongest(one, OfMean(floor, weights, 0.0), 0.0, SIDES)
    own = squared_t(one.values, one, factors, weights, floor)
    best = minimize(
        lambda x: -np.log(squared_t(x, one, factors, weights, floor)),
        one.values - 0.01,
        bounds=[(-3.0, high) for high in one.values],
        options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14},
    )
    reached = own if found is None else found.mean**2 * found.scale / found.variance
    assert np.log(reached) == pytest.approx(-best.fun, abs=2e-4)
    assert reached >= own


def lowered_by_level(one: Stratum) -> list[np.ndarray]:
    """What the strongest case lowers together where noise is taken off: words, wordings, all."""
    codes = dict(zip(one.squares.totals, one.squares.members, strict=True))
    of_words = [codes[f] for f in ("variation", "marginalized", "default")]
    return [np.ones(len(one.values)), *(c == level for c in of_words for level in range(3))]


@pytest.mark.parametrize("seed", range(8))
def test_no_lower_words_make_a_stronger_case_where_noise_is_taken_off(seed):
    """Against scipy's bounded minimisation of the definition; the noise is held."""
    one, factors = scores_of_one(seed)
    weights, floor, noise = np.array([2.0, 1, 1, 0.5, 0, 1]) / 12**2, 0.003, 0.02
    w, columns = one.squares.weights, np.array(lowered_by_level(one), float).T

    def strength(lowered: np.ndarray) -> float:
        y = one.values - columns @ lowered
        deviations = w * (y - w @ y / 12)
        squares = [
            sum(deviations[of == level].sum() ** 2 for level in range(3)) for of in factors.values()
        ]
        shrunken = w @ y / 13
        scale = (1 + shrunken) * (1 - shrunken)
        above = weights[:-1] @ squares - scale * noise
        above = (above + np.hypot(above, CORNER * scale * noise)) / 2
        variance = floor * scale + weights[-1] * deviations @ deviations + above
        return float((w @ y / 12) ** 2 * scale / variance) if w @ y > 0 else 1e-9

    found = strongest(one, OfMean(floor, weights, noise), 0.0, SIDES)
    n = columns.shape[1]
    best = max(
        -minimize(
            lambda x: -np.log(strength(x)),
            np.full(n, start),
            bounds=[(0.0, 3.0)] * n,
            method="Powell",
            options={"maxiter": 5000, "xtol": 1e-9, "ftol": 1e-13},
        ).fun
        for start in (1e-3, 0.05)
    )
    reached = strength(np.zeros(n)) if found is None else found.mean**2 * found.scale
    reached = reached if found is None else reached / found.variance
    assert np.log(reached) >= best - 1e-3
    assert reached >= strength(np.zeros(n))


def test_below_neutral_is_the_mirror_of_above():
    one, factors = scores_of_one(1)
    mirrored = Stratum(
        (), -one.values, stratum_squares(-one.values, one.squares.weights, factors)[0], {}, set()
    )
    weights, floor = np.ones(6) / 12**2, 0.003
    above, below = (strongest(x, OfMean(floor, weights, 0.0), 0.0, SIDES) for x in (one, mirrored))
    assert above is not None
    assert below.mean == pytest.approx(-above.mean)
    assert below.variance == pytest.approx(above.variance)


def test_even_scores_are_their_own_strongest_case():
    one, factors = scores_of_one(0)
    y = np.full(12, 0.2) + 0.01 * np.arange(12)
    even = Stratum((), y, stratum_squares(y, np.ones(12), factors)[0], {}, set())
    assert strongest(even, OfMean(0.05, np.ones(6) / 12**2, 0.0), 0.0, SIDES) is None


def test_lowering_helps_where_there_is_a_stronger_case():
    """Of scores of either side, with outliers of several sizes; some have one, some have none."""
    strata = []
    for seed in range(40):
        one, factors = scores_of_one(seed)
        y = (-1.0) ** seed * (0.3 + seed / 40 * (one.values - 0.3))
        strata.append(
            Stratum((), y, stratum_squares(y, one.squares.weights, factors)[0], {}, set())
        )
    of_mean = OfMean(0.03, np.array([2.0, 1, 0, 0.5, 0, 1]) / 12**2, 0.0)
    page = Strata(
        [one.squares for one in strata], scales_of([one.squares for one in strata], SIDES)
    )
    n = len(strata)
    moderated = replace(
        moderate(page.strata, page.scales),
        floors=np.full(n, of_mean.floor),
        weights=np.tile(of_mean.weights, (n, 1)),
        variances=page.variances(np.full(n, of_mean.floor), of_mean.weights, np.zeros(n)),
    )
    helps = lowering_helps(strata, moderated, 0.0, SIDES)
    found = [strongest(one, of_mean, 0.0, SIDES) is not None for one in strata]
    assert helps.tolist() == found
    assert 5 < sum(found) < 35


# Whole pages


def page(seed: int, stereotypes: int = 8, wordings: int = 3, draws: int = 4) -> pl.DataFrame:
    """Return scores of both orders, of stereotypes of many means; of few, one has a word a side."""
    rng, single = np.random.default_rng(seed), stereotypes < FEWEST
    of, wording, draw, order = (x.ravel() for x in np.mgrid[:stereotypes, :wordings, :draws, :2])
    cell = (of * wordings + wording) * draws + draw
    sizes = (stereotypes, stereotypes * wordings, stereotypes * draws, len(of))
    codes = (of, of * wordings + wording, of * draws + draw, np.arange(len(of)))
    y = sum(0.25 * rng.normal(size=n)[code] for n, code in zip(sizes, codes, strict=True))
    known = pl.DataFrame(
        {
            "model": "m",
            "study": "s",
            "instrument": MEASURE.name,
            "mode": "free",
            "category": "c",
            "stereotype": [f"s{k}" for k in of],
            "variation": [f"v{k}" for k in wording],
            "marginalized": [
                f"a{s}{k % 2 * (s > 0 or not single)}" for s, k in zip(of, draw, strict=True)
            ],
            "default": [
                f"b{s}{k // 2 * (s > 0 or not single)}" for s, k in zip(of, draw, strict=True)
            ],
            "iteration": draw,
            "pair_id": [f"p{k}" for k in cell],
            "order": [("marginalized_first", "default_first")[k] for k in order],
            "score": (0.2 + y).clip(-1, 1),
        }
    )
    return known.select(
        (pl.col(c) if c in known.columns else pl.lit(None)).cast(t).alias(c)
        for c, t in SCORES.items()
    )


def verdicts(scores: pl.DataFrame) -> dict[str, str]:
    """Return the verdict on each stereotype, without the other levels, which take long."""
    inference = Inference(margin=0.05)
    found = estimate_summaries(summarise(scores), MEASURE, inference, levels=["stereotype"])
    rows = judge(found.estimates).filter(method="clustered")
    return dict(rows.select("stereotype", "verdict").iter_rows())


@pytest.mark.parametrize("stereotypes", [1, 8])
def test_verdicts_on_stereotypes_are_those_beside_other_levels(stereotypes):
    scores = page(0, stereotypes)
    every = estimate_measure(scores, MEASURE, margin=0.05)
    rows = every.filter(level="stereotype", method="clustered")
    assert verdicts(scores) == dict(rows.select("stereotype", "verdict").iter_rows())


RAISED = st.tuples(
    st.sampled_from(["variation", "marginalized", "default", "pair_id", "order", "stereotype"]),
    st.integers(0, 10**6),
    st.floats(0.01, 2.0),
)


@settings(max_examples=60, derandomize=True)
@given(
    seed=st.integers(0, 200),
    stereotypes=st.sampled_from([1, 3, 8]),
    raises=st.lists(RAISED, min_size=1, max_size=3),
)
def test_raising_scores_never_weakens_consistent(seed, stereotypes, raises):
    """All answers of a wording, a group word, a pair, an order or a stereotype, up to the end."""
    before = page(seed, stereotypes)
    consistent = [k for k, v in verdicts(before).items() if v.startswith("consistent")]
    for stereotype in consistent[:2]:
        raised = before
        for factor, place, by in raises:
            levels = before.filter(stereotype=stereotype)[factor].unique().sort()
            one = (pl.col("stereotype") == stereotype) & (
                pl.col(factor) == levels[place % len(levels)]
            )
            higher = pl.when(one).then(pl.col("score") + by).otherwise("score").clip(-1, 1)
            raised = raised.with_columns(score=higher)
        assert verdicts(raised)[stereotype].startswith("consistent")


def test_an_interval_has_neutral_outside_where_the_test_tells():
    """Also where one wording lies far above the others."""
    pages = pl.concat(page(seed).with_columns(model=pl.lit(f"m{seed}")) for seed in range(12))
    found = estimate_summaries(summarise(pages), MEASURE, levels=["stereotype"])
    rows = found.estimates.filter(method="clustered")
    for p, low, high in (
        ("p", "pointwise_low", "pointwise_high"),
        ("p_bonferroni", "ci_low", "ci_high"),
    ):
        told = rows[p].to_numpy() < 0.05
        outside = ~rows.select(pl.lit(0.0).is_between(low, high)).to_series().to_numpy()
        assert (told == outside).all()
    assert rows["test"].str.contains("lowered").any()


@pytest.mark.parametrize("stereotypes", [1, 4, 8])
@pytest.mark.parametrize("lower", [0.0, 0.1, 1.0])
def test_saturated_scores_are_consistent(stereotypes, lower):
    """Also where one answer of all is lower; once this made an inconclusive result significant."""
    full = page(0, stereotypes).with_columns(score=1.0)
    first = pl.int_range(pl.len()) == 0
    scores = full.with_columns(score=pl.when(first).then(1.0 - lower).otherwise(1.0))
    assert {one.split(",")[0] for one in verdicts(scores).values()} == {"consistent"}


def test_many_scores_are_lowered_by_level():
    """One wording of four far above; of 400 scores, and of levels that are as many as scores."""
    rng, n = np.random.default_rng(0), 400
    wording, each = rng.integers(0, 4, n), np.arange(n)
    y = (0.1 + 0.6 * (wording == 1) + 0.1 * rng.normal(size=n)).clip(-1, 1)
    for of, found in ((wording, True), (each, False)):
        factors = dict.fromkeys(FACTORS, each) | {"variation": of}
        one = Stratum((), y, stratum_squares(y, np.ones(n), factors)[0], {}, set())
        case = strongest(one, OfMean(0.001, np.ones(6) / n**2, 0.0), 0.0, SIDES)
        assert (case is not None) == found


@pytest.mark.parametrize("rounding", [1e-18, -1e-18])
def test_scores_that_are_neutral_but_for_rounding_have_no_stronger_case(rounding):
    """Their mean is 0 by one way of adding and not by another."""
    y = np.array([0.5, -0.5, 0.25, -0.25])
    part = replace(
        stratum_squares(y, np.ones(4), {"draw": np.array([0, 0, 1, 1])})[0], mean=rounding
    )
    one = Stratum((), y, part, {}, set())
    assert strongest(one, OfMean(0.003, np.array([0.1, 0.1]), 0.0), 0.0, SIDES) is None
