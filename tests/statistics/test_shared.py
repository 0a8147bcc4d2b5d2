"""What levels that stereotypes share add to the error of a mean, and take out of differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
import scipy.stats

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import design
from clinometer.statistics.means import Ranges, differences, means
from clinometer.statistics.shared import shared_factors
from clinometer.statistics.summaries import NEVER_POOLED

#: Ends that no score of these tests comes near.
WIDE = (-9.0, 9.0)

WORDING, DRAW = (axis.ravel() for axis in np.mgrid[:12, :6])


def simulate_units(effects: Sequence[Array], first: Sequence[int] | None = None) -> pl.DataFrame:
    """Return units of stereotypes whose wordings have these effects, with responses of sd .3.

    `first`: the number of the first wording of each.
    """
    rng, conditions = np.random.default_rng(2), dict.fromkeys(NEVER_POOLED, "x") | {"control": None}
    frames = []
    for place, by_wording in enumerate(effects):
        numbers = WORDING + (first[place] if first else 0)
        constants = {"model": "m", "category": "c", "stereotype": f"s{place}", **conditions}
        words = {"marginalized": "a", "default": "b", "draw": None, "n_scored": 1}
        values = by_wording[WORDING] + rng.normal(0, 0.3, WORDING.size)
        frame = pl.DataFrame({"variation": [f"v{k:03}" for k in numbers], "mean": values})
        frames.append(
            frame.with_columns(pl.lit(v).alias(k) for k, v in {**constants, **words}.items())
        )
    return pl.concat(frames).with_columns(
        pl.col("control", "draw").cast(pl.String), one_person=pl.lit(False)
    )


def model_mean(units: pl.DataFrame) -> Ranges:
    (group,) = means(units, WIDE, levels=["model"]).values()
    return group


def wording_effects(alike: bool) -> list[Array]:
    """Return the effects of the wordings of six stereotypes, of sd .5."""
    effects = np.random.default_rng(1).normal(size=(6, 12))
    effects = scipy.stats.zscore(effects, axis=1) / 2
    return [effects[0] if alike else row for row in effects]


def test_a_wording_that_moves_all_stereotypes_moves_their_mean() -> None:
    alike, independent = (
        model_mean(simulate_units(wording_effects(same))) for same in (True, False)
    )
    expected = (0.25 / 12 / 6 + 0.09 / 72 / 6) ** 0.5
    assert independent.other_prompts.se == pytest.approx(expected, rel=0.5)
    assert alike.other_prompts.se > 1.5 * independent.other_prompts.se


def test_wordings_that_no_two_stereotypes_have_move_them_one_by_one() -> None:
    effects = wording_effects(alike=True)
    separate = simulate_units(effects, first=[12 * k for k in range(6)])
    assert (
        model_mean(separate).other_prompts.se < model_mean(simulate_units(effects)).other_prompts.se
    )


def test_what_two_runs_share_cancels_in_their_difference() -> None:
    """If nothing were shared, the difference would have √2 times the error of a mean."""
    units = simulate_units(wording_effects(alike=True))
    (change,) = differences(units, units, WIDE, levels=["model"]).values()
    assert change.other_prompts.se < model_mean(units).other_prompts.se


def test_deviations_that_are_alike_tell_as_few_independent_ones_would() -> None:
    single, none = np.ones(WORDING.size, int), np.full(WORDING.size, -1)
    grid = design([WORDING + 1, single, single, WORDING + 1, none], np.ones(WORDING.size))
    alike, independent = (
        shared_factors([grid] * 6, [row[WORDING] for row in wording_effects(same)], np.ones(6))[0]
        for same in (True, False)
    )
    assert alike.correlation() > 0.9 > 0.4 > independent.correlation()
    assert alike.tempering() < 0.25 < 0.5 < independent.tempering()


def test_a_stereotype_of_one_wording_is_charged_with_what_wordings_do_to_others() -> None:
    """Of three stereotypes one has a single wording, whose effect nothing tells."""
    units = simulate_units(wording_effects(alike=False)[:3])
    single = units.with_columns(
        variation=pl.when(stereotype="s0").then(pl.lit("v000")).otherwise("variation")
    )
    charged = 0.5 / 3  # a third of a wording of sd .5
    assert model_mean(units).other_prompts.se < charged < 1.3 * model_mean(single).other_prompts.se


def test_other_stereotypes_add_what_their_means_differ_by() -> None:
    leans = scipy.stats.zscore(np.random.default_rng(3).normal(size=6), ddof=1) * 0.4
    mean = model_mean(simulate_units([np.full(12, lean) for lean in leans]))
    assert mean.stereotypes is not None
    assert mean.stereotypes.se == pytest.approx(0.4 / 6**0.5, rel=0.2)
    assert mean.other_prompts.se < 0.5 * mean.stereotypes.se
