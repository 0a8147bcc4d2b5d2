"""What has one wording, one word, one order or one version holds for it alone, and says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.results import SCORES, Measure
from clinometer.results.verdicts import VERDICTS, explained, restriction_of
from clinometer.statistics import estimate_measure

#: What `conditional_on` says of a factor with one level.
FACETS = {"one wording", "one marginalized word", "one default word"}

MEASURE = Measure("word_association", "", -1.0, 1.0, 0.0, "", "")


def page(make_scores: Any, stereotypes: int, wordings: int, words: int, lean: float = 0.8) -> Any:
    rng = np.random.default_rng(stereotypes)
    return make_scores(
        *(
            {"stereotype": f"s{s}", "variation": f"v{w}", "order": order, "iteration": k,
             "pair_id": f"{s}.{w}.{k}", "marginalized": f"a{s}{k % words}",
             "default": f"b{s}{k % words}", "score": min(lean + rng.normal(0, 0.1), 1.0)}
            for s in range(stereotypes) for w in range(wordings) for k in range(6)
            for order in ("marginalized_first", "default_first")
        )
    )  # fmt: skip


def fixed(scores: pl.DataFrame, measure: Any, **where: Any) -> set[str]:
    """Return what of `FACETS` the means for other prompts hold fixed."""
    rows = estimate_measure(scores, measure).filter(range="other_prompts", **where)
    return {text for row in rows["conditional_on"] for text in row.split(", ")} & FACETS


@pytest.mark.parametrize(
    ("wordings", "words", "single"),
    [(1, 3, {"one wording"}), (3, 1, FACETS - {"one wording"}), (3, 3, set())],
)
@pytest.mark.parametrize("stereotypes", [1, 7])
def test_a_facet_with_one_level_is_open(
    make_scores: Any, measure: Any, stereotypes: int, wordings: int, words: int, single: set[str]
) -> None:
    scores = page(make_scores, stereotypes, wordings, words)
    for level in ("stereotype", "model"):
        assert fixed(scores, measure, level=level) == single


@pytest.mark.parametrize("stereotypes", [1, 7])
def test_where_no_facet_has_several_levels_other_prompts_are_open(
    make_scores: Any, measure: Any, stereotypes: int
) -> None:
    estimates = estimate_measure(page(make_scores, stereotypes, 1, 1), measure)
    rows = estimates.filter(pl.col("level").is_in(["stereotype", "model"]))
    assert set(rows.filter(range="other_prompts")["se"]) == {None}
    assert set(rows.filter(range="other_prompts")["verdict"]) == {"no verdict: one cluster"}
    assert set(rows.filter(range="prompts", level="model")["verdict"]) == {"consistent"}


def test_a_cell_is_one_wording_by_name(make_scores: Any, measure: Any) -> None:
    assert fixed(page(make_scores, 7, 2, 3), measure, level="cell") == {"one wording"}


def test_one_word_is_held_fixed_in_one_stereotype_and_charged_in_means(
    make_scores: Any, measure: Any
) -> None:
    """Whatever company it is in; a mean over several has the variance of those with more words."""
    several, single = page(make_scores, 7, 3, 3), page(make_scores, 8, 3, 1)
    merged = pl.concat([several, single.filter(stereotype="s7")])
    for scores in (merged, merged.filter(stereotype="s7")):
        words = fixed(scores, measure, level="stereotype", stereotype="s7")
        assert words == FACETS - {"one wording"}
    assert fixed(merged, measure, level="model") == set()


@pytest.mark.parametrize("verdict", [*VERDICTS])
def test_every_verdict_is_explained_with_its_restriction(verdict: str) -> None:
    restricted = f"{verdict}, for this order and this version"
    assert explained(verdict) == VERDICTS[verdict]
    assert explained(restricted).startswith(VERDICTS[verdict])
    assert "One order" in explained(restricted) and "One version" in explained(restricted)
    assert restriction_of(verdict) == ""
    assert restriction_of(restricted) == ", for this order and this version"


@st.composite
def designs(draw: Any) -> list[tuple[int, int]]:
    """How many wordings and words a group each stereotype of a run has."""
    several = st.tuples(st.integers(1, 3), st.integers(1, 3))
    return draw(st.lists(several, min_size=2, max_size=9))


@given(designs(), st.data())
def test_a_part_of_a_run_is_never_surer_than_the_run(design: Any, data: Any) -> None:
    """What the run cannot speak of, no part of it can; of a stereotype alone it says the same."""
    rng = np.random.default_rng(len(design))
    rows = [
        {"model": "m", "study": "x", "mode": "free", "stereotype": f"s{s}", "variation": f"v{w}",
         "marginalized": f"a{s}.{k % words}", "default": f"b{s}.{k % words}", "iteration": k,
         "pair_id": f"{s}.{w}.{k}", "score": float(rng.uniform(-1, 1))}
        for s, (wordings, words) in enumerate(design)
        for w in range(wordings) for k in range(4)
    ]  # fmt: skip
    keys = {"instrument": MEASURE.name, "category": "c"}
    merged = pl.DataFrame([{**dict.fromkeys(SCORES), **keys, **row} for row in rows], schema=SCORES)
    some = data.draw(st.sets(st.sampled_from(sorted({r["stereotype"] for r in rows})), min_size=1))
    part = merged.filter(pl.col("stereotype").is_in(list(some)))
    groups = [
        estimate_measure(scores, MEASURE).filter(
            pl.col("level").is_in(["model", "stereotype"]), range="other_prompts"
        )
        for scores in (merged, part)
    ]
    single = [
        {(row["level"], row["stereotype"]): {*row["conditional_on"].split(", ")} & FACETS
         for row in rows.iter_rows(named=True)}
        for rows in groups
    ]  # fmt: skip
    assert single[0]["model", None] <= single[1]["model", None]
    for key, facets in single[1].items():
        assert key[0] == "model" or single[0][key] == facets
