"""Slopes of shares, their errors and the test that they are equal, against statsmodels' GLM."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from clinometer.errors import InputError
from clinometer_measures.networks.bias import measure_bias
from clinometer_measures.networks.lexicons import Lexicons
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.setting import Setting
from clinometer_measures.networks.valence import Rated, fit_shares, slopes

RNG = np.random.default_rng(0)
X = RNG.gamma(2, 0.1, size=(300, 3))
Y = 1 / (1 + np.exp(-(X @ [1.0, -2.0, 0.5] + RNG.normal(size=300) * 0.4)))


def rated(x: np.ndarray, y: np.ndarray = Y) -> Rated:
    primes = [f"prime {column}" for column in range(x.shape[1])]
    return Rated({}, primes, [str(row) for row in range(len(y))], y, x, Setting())


def test_slopes_and_errors_are_those_of_a_glm() -> None:
    published, robust = slopes(rated(X[:, :1]))[:2]
    glm = sm.GLM(Y, sm.add_constant(X[:, :1]), family=sm.families.Binomial())
    plain, sandwich = glm.fit(tol=1e-12), glm.fit(cov_type="HC0", tol=1e-12)
    assert published["estimate"] == pytest.approx(plain.params[1], rel=1e-8)
    assert published["se"] == pytest.approx(plain.bse[1], rel=1e-8)
    # statsmodels' HC1 of a GLM is its HC0.
    assert robust["se"] == pytest.approx(sandwich.bse[1] * (300 / 298) ** 0.5, rel=1e-8)


def test_the_joint_test_is_that_of_a_glm() -> None:
    joint = slopes(rated(X))[-2]
    glm = sm.GLM(Y, sm.add_constant(X), family=sm.families.Binomial()).fit(tol=1e-12)
    wald = glm.wald_test("x1 = x2, x1 = x3", scalar=True)
    assert joint["df"] == 2
    assert joint["statistic"] == pytest.approx(wald.statistic, rel=1e-8)
    assert joint["p"] == pytest.approx(wald.pvalue, rel=1e-6)


def test_columns_that_add_up_to_a_constant_have_no_joint_test() -> None:
    rows = X / X.sum(axis=1, keepdims=True)  # as after the L1 norm
    assert "note" in slopes(rated(rows))[-1]
    assert "note" not in slopes(rated(rows[:, :2]))[-1]


def test_a_constant_column_or_too_few_rows_have_no_slopes() -> None:
    assert fit_shares(Y, np.ones((300, 1))) is None
    assert fit_shares(Y[:4], X[:4]) is None


def test_one_slope_is_not_compared() -> None:
    assert slopes(rated(X[:, :1]))[-1]["note"] == "fewer than two primes in the network"


def test_shares_that_a_slope_explains_fully_have_no_robust_error() -> None:
    y = 1 / (1 + np.exp(-X[:, 0]))
    published, robust = slopes(rated(X[:, :1], y))[:2]
    assert published["estimate"] == pytest.approx(1.0)
    assert robust["p"] == pytest.approx(0.0)


def test_without_statsmodels_the_approach_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    network = Network.from_edges(pl.DataFrame({"src": ["a"], "tgt": ["b"], "wt": [2]}), name="n")
    lexicons = Lexicons(valence={"a": 0.5})
    with pytest.raises(InputError, match=r"approach 'valence': .*clinometer\[papers\]"):
        measure_bias(network, approaches=["valence"], lexicons=lexicons)
