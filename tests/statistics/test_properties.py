"""What holds of the estimates of any scores."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tiltmeter.results import REASONS, SCORES, Measure
from tiltmeter.statistics import compliance, estimate_measure

MEASURE = Measure("word_association", "", -1.0, 1.0, 0.0, "", "")

outcome = st.one_of(
    st.floats(-1, 1).map(lambda x: (round(x, 3), None)),
    st.sampled_from(REASONS).map(lambda reason: (None, reason)),
)
pair = st.tuples(
    st.sampled_from(["m", "other"]),
    st.sampled_from(["age", "weight", "race"]),
    st.sampled_from(["replication", "synonym"]),
    st.sampled_from(["old", "aged"]),
    outcome,
    outcome,
)


@st.composite
def scores(draw: st.DrawFn) -> pl.DataFrame:
    rows = []
    for k, (model, stereotype, variation, word, *outcomes) in enumerate(
        draw(st.lists(pair, min_size=1, max_size=25))
    ):
        for order, (score, reason) in zip(
            ("marginalized_first", "default_first"), outcomes, strict=True
        ):
            factors = {"model": model, "stereotype": stereotype, "variation": variation}
            trial = {"pair_id": f"p{k}", "order": order, "marginalized": word, "default": "young"}
            instrument = {"instrument": MEASURE.name, "category": "health"}
            rows.append(factors | trial | instrument | {"score": score, "reason": reason})
    return pl.DataFrame([dict.fromkeys(SCORES) | row for row in rows], schema=SCORES)


@settings(max_examples=25, deadline=None)
@given(scores())
def test_flipping_the_sign_flips_the_estimate(frame):
    there = estimate_measure(frame, MEASURE)
    back = estimate_measure(frame.with_columns(-pl.col("score")), MEASURE)
    flipped = {"estimate": "estimate", "statistic": "statistic", "ci_low": "ci_high",
               "bound_low": "bound_high"}  # fmt: skip
    for column, partner in flipped.items():
        pl.testing.assert_series_equal(
            there[column], -back[partner], check_names=False, abs_tol=1e-9
        )
    same = ["method", "se", "df", "p", "p_holm", "tost_p", "n_scored", "compliance"]
    assert_frame_equal(there.select(same), back.select(same), abs_tol=1e-9)


@settings(max_examples=25, deadline=None)
@given(scores(), st.integers(0, 99))
def test_order_of_rows_does_not_matter(frame, seed):
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    assert_frame_equal(
        estimate_measure(frame, MEASURE), estimate_measure(shuffled, MEASURE), rel_tol=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(scores())
def test_bounds_and_interval_hold_the_mean(frame):
    rows = estimate_measure(frame, MEASURE).filter(method="clustered").drop_nulls("estimate")
    slack = 1e-9
    assert (rows["bound_low"] <= rows["estimate"] + slack).all()
    assert (rows["estimate"] <= rows["bound_high"] + slack).all()
    tested = rows.filter(pl.col("p").is_not_null())
    assert tested["estimate"].is_between(tested["ci_low"] - slack, tested["ci_high"] + slack).all()
    excluded = ~pl.lit(0.0).is_between("ci_low", "ci_high")
    clear = tested.filter((pl.col("p") - 0.05).abs() > 1e-6)
    assert clear.filter(excluded != (pl.col("p") < 0.05)).is_empty()


@settings(max_examples=25, deadline=None)
@given(scores())
def test_no_number_is_null_and_never_nan(frame):
    numbers = estimate_measure(frame, MEASURE).select(pl.selectors.float())
    assert numbers.select(pl.all().drop_nulls().is_finite().all()).row(0) == (True,) * numbers.width


@settings(max_examples=25, deadline=None)
@given(scores())
def test_every_response_is_counted_once(frame):
    reasons = pl.sum_horizontal(f"n_{reason}" for reason in REASONS)
    counted = compliance(frame)
    assert (counted["n"] == counted.select(pl.col("n_scored") + reasons).to_series()).all()
    models = estimate_measure(frame, MEASURE).filter(level="model", method="clustered")
    for column in ("n", "n_scored"):
        assert counted[column].sum() == models[column].sum()
    assert counted["n"].sum() == frame.height
