"""What holds of a comparison and of a gate, whatever the two tables of scores are."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from clinometer.asking.policy import Policy
from clinometer.comparing.comparison import compare
from clinometer.comparing.gating import gate
from clinometer.results import REASONS, SCORES

POLICY = Policy.model_validate(
    {
        "name": "any",
        "rules": [
            {"what": "mean", "at_most": 0.3},
            {"what": "change", "level": "category", "at_most": 0.1},
            {"what": "change", "level": "stereotype", "at_most": 0.1, "worse": "either"},
        ],
    }
)

#: Scores of decisions and of associations; values at the ends, as of saturated cells, are common.
SCALES = {"relative_decision": (0.0, 1.0), "word_association": (-1.0, 1.0)}


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw the scores of two runs whose stereotypes, wordings, orders and draws may differ."""
    name = draw(st.sampled_from(sorted(SCALES)))
    low, high = SCALES[name]
    values = draw(
        st.sampled_from(
            [
                st.just(high),
                st.just(low),
                st.sampled_from([low, high]),
                st.floats(low, high).map(lambda x: round(x, 3)),
                st.none(),
                st.one_of(st.none(), st.floats(low, high)),
            ]
        )
    )
    same = draw(st.booleans())
    runs = []
    for model in ("a", "b"):
        if runs and not same:
            values = draw(st.sampled_from([st.just(high), st.just(low), st.floats(low, high)]))
        rows = []
        for stereotype in draw(st.sets(st.sampled_from(["age", "race", "weight"]), min_size=1)):
            for variation in draw(st.sets(st.sampled_from(["v0", "v1", "v2"]), min_size=1)):
                for k in range(draw(st.integers(1, 3))):
                    for order in ("marginalized_first", "default_first"):
                        score = draw(values)
                        reason = None if score is not None else draw(st.sampled_from(REASONS))
                        key = f"{stereotype}.{variation}.{k}"
                        rows.append(
                            {"model": model, "study": "x", "instrument": name, "mode": "free",
                             "intervention": "none", "word_list": "plain", "scoring": "exact",
                             "stereotype": stereotype, "category": stereotype[0] + "c",
                             "variation": variation, "iteration": k, "pair_id": key,
                             "trial_id": f"{key}.{order}", "order": order, "score": score,
                             "marginalized": f"m{k % 2}", "default": "d", "reason": reason}
                        )  # fmt: skip
        runs.append(pl.DataFrame([dict.fromkeys(SCORES) | row for row in rows], schema=SCORES))
    return runs[0], runs[1]


KEYS = ("level", "method", "measure", "category", "stereotype", "variation")


@settings(max_examples=12)
@given(tables())
def test_what_holds_of_any_two_tables(table_pair: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """In one test, as a comparison takes long."""
    a, b = table_pair
    nothing_changes_from_a_table_to_itself(a)
    if set(a["stereotype"]) & set(b["stereotype"]):
        gate(b, POLICY, a)
        mirrors_when_swapped(a, b)


def nothing_changes_from_a_table_to_itself(a: pl.DataFrame) -> None:
    compared = compare(a, a.with_columns(model=pl.lit("b")))
    rows = compared.estimates.drop_nulls("estimate")
    assert (rows["estimate"] == 0).all()
    assert set(rows["verdict"].drop_nulls()) <= {"no change"}
    assert {decision.verdict for decision in compared.decisions()} <= {"no change"}


def mirrors_when_swapped(a: pl.DataFrame, b: pl.DataFrame) -> None:
    forward, back = (compare(*pair).estimates.sort(KEYS) for pair in ((a, b), (b, a)))
    for column, partner in (("estimate", "estimate"), ("ci_low", "ci_high")):
        pl.testing.assert_series_equal(
            forward[column], -back[partner], check_names=False, abs_tol=1e-9
        )
    assert_frame_equal(forward.select("se", "df", "p"), back.select("se", "df", "p"), abs_tol=1e-9)
