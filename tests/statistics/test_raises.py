"""What is consistent in these prompts stays so where scores of its stereotype rise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinometer.results import SCORES, Measure
from clinometer.statistics import estimate_measure

MEASURE = Measure("word_association", "", -1, 1, 0, "", "")

#: What can rise: all answers of a wording, of a word of a group, or of a stereotype.
RAISED = st.tuples(
    st.sampled_from(["variation", "marginalized", "default", "stereotype"]),
    st.integers(0, 10**6),
    st.floats(0.01, 2.0),
)


def page(seed: int, stereotypes: int, wordings: int = 3, draws: int = 4) -> pl.DataFrame:
    """Return scores of both orders, of stereotypes of many means."""
    rng = np.random.default_rng(seed)
    axes = np.mgrid[:stereotypes, :wordings, :draws, :2]
    stereotype, wording, draw, order = (axis.ravel() for axis in axes)
    y = 0.25 * rng.normal(size=(4, *axes.shape[1:]))
    parts = (y[0, :, :1, :1, :1], y[1, :, :, :1, :1], y[2, :, :1, :, :1], y[3])
    columns = {
        "model": "m", "study": "s", "instrument": MEASURE.name, "mode": "free", "category": "c",
        "stereotype": [f"s{k}" for k in stereotype], "variation": [f"v{k}" for k in wording],
        "marginalized": [f"a{s}{k % 2}" for s, k in zip(stereotype, draw, strict=True)],
        "default": [f"b{s}{k // 2}" for s, k in zip(stereotype, draw, strict=True)],
        "iteration": draw, "score": (0.2 + sum(parts)).clip(-1, 1).ravel(),
        "order": [("marginalized_first", "default_first")[k] for k in order],
        "pair_id": [f"{s}.{w}.{k}" for s, w, k in zip(stereotype, wording, draw, strict=True)],
    }  # fmt: skip
    missing = {name: None for name in SCORES if name not in columns}
    return pl.DataFrame({**columns, **missing}).select(pl.col(c).cast(t) for c, t in SCORES.items())


def consistent(scores: pl.DataFrame, range_name: str = "prompts") -> list[str]:
    """Return the stereotypes that lean as the stereotype says."""
    rows = estimate_measure(scores, MEASURE, margin=0.05).filter(level="stereotype")
    leaning = pl.col("verdict").str.starts_with("consistent")
    return rows.filter(leaning, range=range_name)["stereotype"].to_list()


def raised(
    scores: pl.DataFrame, stereotype: str, factor: str, place: int, by: float
) -> pl.DataFrame:
    """Raise all scores of a level of a factor within a stereotype, up to the end of the scale."""
    levels = scores.filter(stereotype=stereotype)[factor].unique().sort()
    level = levels[place % len(levels)]
    is_raised = (pl.col("stereotype") == stereotype) & (pl.col(factor) == level)
    higher = pl.when(is_raised).then(pl.col("score") + by).otherwise("score")
    return scores.with_columns(score=higher.clip(-1, 1))


@settings(max_examples=20, derandomize=True, deadline=None)
@given(
    seed=st.integers(0, 200),
    stereotypes=st.sampled_from([1, 3, 8]),
    raises=st.lists(RAISED, min_size=1, max_size=2),
)
def test_raising_scores_never_weakens_consistent(
    seed: int, stereotypes: int, raises: list[tuple[str, int, float]]
) -> None:
    before = page(seed, stereotypes)
    for stereotype in consistent(before)[:1]:
        after = before
        for factor, place, by in raises:
            after = raised(after, stereotype, factor, place, by)
        assert stereotype in consistent(after)


@pytest.mark.parametrize("range_name", ["prompts", "other_prompts"])
def test_a_stereotype_whose_answers_all_rise_to_the_end_is_consistent(range_name: str) -> None:
    scores = page(0, 3)
    for level in (0.5, 0.8, 1.0):
        risen = scores.with_columns(score=pl.max_horizontal("score", pl.lit(level)))
        assert consistent(risen, range_name) == ["s0", "s1", "s2"]
