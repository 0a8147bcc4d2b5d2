"""What has one wording or one word, and is lent no variance, holds for it alone, and says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.results import SCORES, Measure
from clinometer.results.verdicts import RESTRICTIONS, VERDICTS, explained, restriction_of
from clinometer.statistics import estimate_measure

MEASURE = Measure("word_association", "", -1.0, 1.0, 0.0, "", "")


def page(scores_of: Any, stereotypes: int, wordings: int, words: int, lean: float = 0.8) -> Any:
    rng = np.random.default_rng(stereotypes)
    return scores_of(
        *(
            {"stereotype": f"s{s}", "variation": f"v{w}", "order": order, "iteration": k,
             "pair_id": f"{s}.{w}.{k}", "marginalized": f"a{s}{k % words}",
             "default": f"b{s}{k % words}", "score": min(lean + rng.normal(0, 0.1), 1.0)}
            for s in range(stereotypes) for w in range(wordings) for k in range(6)
            for order in ("marginalized_first", "default_first")
        )
    )  # fmt: skip


def verdicts(scores: pl.DataFrame, measure: Any, level: str) -> set[str]:
    estimates = estimate_measure(scores, measure).filter(level=level, method="clustered")
    return set(estimates["verdict"])


@pytest.mark.parametrize(
    ("wordings", "words", "said"),
    [
        (1, 3, ", for this wording"),
        (3, 1, ", for these words"),
        (1, 1, ", for this wording and these words"),
        (3, 3, ""),
    ],
)
@pytest.mark.parametrize("stereotypes", [1, 7])
def test_a_verdict_says_what_it_is_for(
    scores_of: Any, measure: Any, stereotypes: int, wordings: int, words: int, said: str
) -> None:
    scores = page(scores_of, stereotypes, wordings, words)
    for level in ("stereotype", "model"):
        assert verdicts(scores, measure, level) == {f"consistent{said}"}


def test_a_cell_is_one_wording_by_name(scores_of: Any, measure: Any) -> None:
    assert verdicts(page(scores_of, 7, 2, 3), measure, "cell") == {"consistent"}


def test_one_word_is_held_fixed_in_one_stereotype_and_charged_in_means(
    scores_of: Any, measure: Any
) -> None:
    """Whatever company it is in; a mean over several has the variance of those with more words."""
    several, one_word = page(scores_of, 7, 3, 3), page(scores_of, 8, 3, 1)
    whole = pl.concat([several, one_word.filter(stereotype="s7")])
    own = whole.filter(stereotype="s7")
    for scores in (whole, own):
        judged = estimate_measure(scores, measure).filter(stereotype="s7", method="clustered")
        rows = judged.filter(level="stereotype")
        assert rows["verdict"].to_list() == ["consistent, for these words"]
        assert "one marginalized word" in rows["conditional_on"][0]
    assert verdicts(whole, measure, "model") == {"consistent"}


def test_what_says_nothing_is_not_restricted(scores_of: Any, measure: Any) -> None:
    open_ = page(scores_of, 1, 1, 1, lean=0.01)
    assert verdicts(open_, measure, "model") <= {"inconclusive", "no verdict: positive control"}


@pytest.mark.parametrize("verdict", [*VERDICTS])
def test_every_verdict_is_explained_with_its_restriction(verdict: str) -> None:
    restricted = f"{verdict}, for this wording and these words"
    assert explained(verdict) == VERDICTS[verdict]
    assert explained(restricted).startswith(VERDICTS[verdict])
    assert "One wording" in explained(restricted) and "one word" in explained(restricted)
    assert (restriction_of(verdict), restriction_of(restricted)) == (
        "", ", for this wording and these words"
    )  # fmt: skip
    assert explained("a verdict of a later version, for this order") == ""


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
    known = {"instrument": MEASURE.name, "category": "c"}
    whole = pl.DataFrame([{**dict.fromkeys(SCORES), **known, **row} for row in rows], schema=SCORES)
    some = data.draw(st.sets(st.sampled_from(sorted({r["stereotype"] for r in rows})), min_size=1))
    part = whole.filter(pl.col("stereotype").is_in(list(some)))
    held = [
        {
            (row["level"], row["stereotype"]): {*row["conditional_on"].split(", ")}
            & {*RESTRICTIONS}
            for row in estimate_measure(scores, MEASURE)
            .filter(pl.col("level").is_in(["model", "stereotype"]), method="clustered")
            .iter_rows(named=True)
        }
        for scores in (whole, part)
    ]
    assert held[0]["model", None] <= held[1]["model", None]
    assert all(held[0][key] == of for key, of in held[1].items() if key[0] == "stereotype")
