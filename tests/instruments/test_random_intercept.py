"""Random intercepts against statsmodels' MixedLM (REML)."""

from __future__ import annotations

import numpy as np
import pytest

from clinometer.instruments.hypothetical_decision.random_intercept import fit_random_intercept


@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0])
@pytest.mark.filterwarnings("ignore")  # of statsmodels, where the variance is 0
def test_as_in_statsmodels(spread: float) -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    rng = np.random.default_rng(3)
    member = np.repeat(np.arange(20), rng.integers(2, 9, 20))
    design = np.column_stack([np.ones(len(member)), rng.integers(0, 2, len(member))]).astype(float)
    y = design @ [1.0, -0.4] + spread * rng.normal(size=20)[member] + rng.normal(size=len(member))
    ours = fit_random_intercept(y, design, member)
    theirs = MixedLM(y, design, member).fit(reml=True)
    assert ours.coefficients == pytest.approx(theirs.fe_params, abs=1e-4)
    between = theirs.cov_re.item()
    assert ours.sd**2 == pytest.approx(between, abs=1e-3)
    # statsmodels' bse_fe is of the observed information with the variances; ours of β alone
    same = member[:, None] == member
    weights = np.linalg.inv(theirs.scale * np.eye(len(y)) + between * same)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ weights @ design)))
    assert ours.errors == pytest.approx(errors, abs=1e-4)
