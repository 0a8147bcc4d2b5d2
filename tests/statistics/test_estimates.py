import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from statsmodels.stats.proportion import proportion_confint

from clinometer.errors import InputError
from clinometer.results import ESTIMATES, LEVELS, REASONS, SCORES, Measure
from clinometer.statistics import compliance, estimate_measure
from clinometer.statistics.estimates import estimate_summaries
from clinometer.statistics.prompts import bounded_mean
from clinometer.statistics.summaries import summarise


@pytest.fixture
def draw_scores(make_scores, make_pair):
    """Return twelve pairs with three wordings around a mean, a difference of orders and noise."""

    def draw(mean: float, *, order: float = 0.0, noise: float = 0.02, seed: int = 0, **row):
        rng = np.random.default_rng(seed)
        pairs = []
        for k in range(12):
            first, second = mean + np.array([order, -order]) / 2 + rng.normal(0, noise, 2)
            name = f"{row.get('stereotype', '')}{k}"
            pairs += make_pair(name, first, second, variation=f"v{k % 3}", **row)
        return make_scores(*pairs)

    return draw


def only(estimates: pl.DataFrame, level: str, method: str = "clustered") -> dict:
    return estimates.filter(level=level, method=method).row(0, named=True)


def order(scores: pl.DataFrame, measure: Measure, level: str) -> dict:
    orders = estimate_summaries(summarise(scores), measure).orders
    return orders.filter(level=level).row(0, named=True)


def test_every_level_from_cell_to_model(draw_scores, measure):
    result = estimate_measure(draw_scores(0.3), measure)
    assert result.schema == ESTIMATES
    levels = ["cell"] * 3 + ["stereotype", "category", "model"]
    assert result.filter(method="clustered")["level"].to_list() == levels
    methods = ["clustered", "published", "bounded"]
    assert result["method"].to_list() == methods * len(levels)
    assert result["range"].to_list() == ["other_prompts", None, "prompts"] * len(levels)
    by_method = result.partition_by("method")
    assert by_method[0]["estimate"].to_list() == pytest.approx(by_method[2]["estimate"].to_list())
    model = only(result, "model")
    assert [model[c] for c in ("category", "stereotype", "variation")] == [None] * 3


def test_overall_needs_two_models(draw_scores, measure):
    result = estimate_measure(draw_scores(0.3).vstack(draw_scores(0.1, model="other")), measure)
    assert result["level"].unique(maintain_order=True).to_list() == list(LEVELS)
    overall = only(result, "overall")
    assert (overall["subject"], overall["model"]) == (None, None)
    assert overall["estimate"] == pytest.approx(result.filter(level="model")["estimate"].mean())


@pytest.mark.parametrize("factor", ["study", "mode", "word_list", "scoring"])
def test_never_pooled(draw_scores, measure, factor):
    relabelled = draw_scores(0.1).with_columns(pl.lit("other").alias(factor))
    rows = estimate_measure(draw_scores(0.3).vstack(relabelled), measure).filter(
        level="model", method="clustered"
    )
    rows = rows.sort("estimate")
    assert rows["estimate"].to_list() == pytest.approx([0.1, 0.3], abs=0.02)
    assert rows[factor][0] == "other"


def test_numbers_of_a_row_are_those_of_the_parts(draw_scores, measure):
    """The published test is scipy's; these prompts have the bound of their mirrored pairs."""
    scores = draw_scores(0.3, noise=0.2)
    estimates = estimate_measure(scores, measure, confidence=0.9)
    row, published = only(estimates, "model"), only(estimates, "model", "published")
    prompts = only(estimates, "model", "bounded")
    pairs = scores.group_by("pair_id", "variation").agg(pl.col("score").mean())
    n = pairs.height
    labels = np.zeros(n), pairs["variation"]
    expected = bounded_mean(pairs["score"], np.ones(n), *labels, (-1, 1))
    low, high = expected.interval(0.9)
    assert [prompts[c] for c in ("se", "p", "pointwise_low", "ci_high")] == pytest.approx(
        [expected.se, expected.p(), low, high]
    )
    assert prompts["ci_low"] == max(low, row["ci_low"])  # it ends where others do, at most
    naive = scipy.stats.ttest_1samp(scores["score"], 0)
    published_numbers = published["statistic"], published["df"], published["p"]
    assert published_numbers == pytest.approx((naive.statistic, naive.df, naive.pvalue))
    assert published["se"] == pytest.approx(scores["score"].std() / 24**0.5)
    assert row["sd"] == published["sd"] == pytest.approx(scores["score"].std())
    assert row["effect_size"] == pytest.approx(row["estimate"] / row["sd"])
    assert (row["test"], prompts["test"], row["confidence"]) == ("t", "beta", 0.9)


def test_what_one_method_says_stands_in_its_row_alone(draw_scores, measure):
    published = only(estimate_measure(draw_scores(0.3), measure), "model", "published")
    clustered = (*("ci_low", "confidence", "p_bonferroni"),
                 *("n_clusters", "clustered_by", "conditional_on"))  # fmt: skip
    judged = ("tost_margin", "tost_p", "bound_low", "adjusted_over", "verdict", "because")
    assert [published[c] for c in (*clustered, *judged)] == [None] * 12


def test_forced_mode_has_a_mean_difference_of_log_odds(make_scores, measure):
    logits = (1.0, 2.0, None)
    scores = make_scores(*({"score": 0.1, "pair_id": f"p{x}", "logit": x} for x in logits))
    row = only(estimate_measure(scores, measure), "model", "descriptive")
    assert (row["measure"], row["instrument"]) == ("logit", "word_association")
    assert (row["estimate"], row["neutral"], row["range_high"]) == (1.5, 0.0, None)
    assert row["p"] is row["verdict"] is None
    plain = scores.with_columns(logit=pl.lit(None, pl.Float64))
    assert "descriptive" not in set(estimate_measure(plain, measure)["method"])


def test_neutral_need_not_be_zero(draw_scores):
    decision = Measure("word_association", "", 0.0, 1.0, 0.5, "", "")
    row = only(estimate_measure(draw_scores(0.2), decision), "model")
    assert row["statistic"] < 0 < row["estimate"]
    assert row["verdict"] == "reversed"


def test_cells_of_a_model_are_a_family(draw_scores, measure):
    two_models = draw_scores(0.02).vstack(draw_scores(0.02, model="other"))
    estimates = estimate_measure(two_models, measure)
    cells = estimates.filter(level="cell", model="m", method="bounded")
    expected = scipy.stats.false_discovery_control(cells["p"].to_numpy())
    assert cells["p_bh"].to_numpy() == pytest.approx(expected)
    assert cells.height == 3


def test_missing_scores_bound_the_mean(make_scores, measure):
    rows = [{"score": s, "pair_id": f"p{s}"} for s in (0.2, 0.4, 0.6)]
    row = only(estimate_measure(make_scores(*rows, {"score": None}), measure), "cell")
    assert row["compliance"] == 0.75
    assert row["bound_low"] == pytest.approx((1.2 - 1) / 4)
    assert row["bound_high"] == pytest.approx((1.2 + 1) / 4)


def test_shares_are_of_the_scored(make_scores, measure):
    scored = {"score": 0.1, "coverage": 0.5, "one_sided": True, "first_share": 0.75}
    unknown = {"score": 0.1, "one_sided": None, "first_share": None}
    scores = make_scores(scored, unknown, {"score": None, "coverage": 0.0})
    counted = compliance(scores).row(0, named=True)
    assert (counted["coverage"], counted["one_sided_share"]) == (0.75, 1.0)
    assert order(scores, measure, "cell")["first_share"] == 0.75


def test_order_effect_is_the_difference_within_pairs(draw_scores, measure):
    scores = draw_scores(0.1, order=0.6, noise=0.1)
    row = order(scores, measure, "model")
    wide = scores.pivot("order", index=["pair_id", "variation"], values="score")
    difference = wide["marginalized_first"] - wide["default_first"]
    n = wide.height
    expected = bounded_mean(difference, np.ones(n), np.zeros(n), wide["variation"], (-2.0, 2.0))
    assert row["order_effect"] == pytest.approx(difference.mean())
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected.interval())
    assert row["n_pairs"] == 12


def test_order_effect_needs_both_orders(make_scores, make_pair, measure):
    scores = make_scores(*make_pair("a", 0.5, 0.1), *make_pair("b", 0.2, None))
    row = order(scores, measure, "cell")
    assert (row["order_effect"], row["n_pairs"]) == (pytest.approx(0.4), 1)
    # A single pair tells next to nothing on a scale from −2 to 2.
    assert row["ci_low"] < -1.5 and row["ci_high"] > 1.5


def test_unknown_order_has_no_effect(make_scores, measure):
    scores = make_scores(*({"score": s, "order": None} for s in (0.1, 0.2, 0.4)))
    row = order(scores, measure, "cell")
    assert (row["order_effect"], row["n_pairs"]) == (None, 0)


@pytest.mark.parametrize(
    ("mean", "noise", "expected"),
    [
        (0.4, 0.02, "consistent"),
        (-0.4, 0.02, "reversed"),
        (0.05, 0.005, "consistent, within margin"),
        (-0.05, 0.005, "reversed, within margin"),
        (0.0, 0.05, "no verdict: positive control"),
    ],
)
def test_verdict_of_a_model(draw_scores, measure, mean, noise, expected):
    six = pl.concat(draw_scores(mean, noise=noise, stereotype=f"s{k}", seed=k) for k in range(6))
    assert only(estimate_measure(six, measure), "model")["verdict"] == expected


def test_no_verdict_below_the_compliance_floor(draw_scores, measure, make_scores):
    scores = draw_scores(0.4).vstack(make_scores(*[{"score": None, "variation": "v0"}] * 8))
    row = only(estimate_measure(scores, measure), "model")
    assert (row["verdict"], row["compliance"]) == ("no verdict: compliance", 0.75)
    assert (
        only(estimate_measure(scores, measure, compliance_floor=0.75), "model")["verdict"]
        # With −1 for the missing, one wording is below 0.
        == "consistent, scored answers only"
    )


def test_one_wording_with_one_pair_of_words_says_nothing_of_other_prompts(
    make_scores, make_pair, measure
):
    estimates = estimate_measure(make_scores(*make_pair("a", 0.5, 0.1)), measure)
    row, prompts = only(estimates, "model"), only(estimates, "model", "bounded")
    assert (row["estimate"], row["se"], row["p"]) == (pytest.approx(0.3), None, None)
    assert row["verdict"] == "no verdict: one cluster"
    single = "one wording, one marginalized word, one default word"
    assert row["conditional_on"] == f"stereotypes, attribute words, {single}"
    assert prompts["conditional_on"] == "stereotypes, attribute words, wordings, group words"
    assert prompts["ci_low"] < 0.3 < prompts["ci_high"]


def test_nothing_scored_is_null_with_a_verdict(make_scores, measure):
    scores = make_scores({"score": None}, {"score": None})
    estimates = estimate_measure(scores, measure)
    row = only(estimates, "model")
    assert (row["n"], row["n_scored"], row["compliance"]) == (2, 0, 0.0)
    assert (row["bound_low"], row["bound_high"]) == (-1.0, 1.0)
    nulls = ("estimate", "sd", "se", "p", "tost_p", "test")
    assert [row[c] for c in nulls] == [None] * len(nulls)
    assert only(estimates, "model", "published")["p"] is None
    assert order(scores, measure, "model")["order_effect"] is None
    assert compliance(scores)["coverage"].to_list() == [None]
    assert row["verdict"] == "no verdict: nothing scored"


def test_a_deterministic_model_is_sure_of_these_prompts(make_scores, make_pair, measure):
    """Twenty pairs at 1: the interval is Clopper and Pearson's, and no order has an effect."""
    scores = make_scores(*(row for k in range(20) for row in make_pair(f"p{k}", 1.0, 1.0)))
    row = only(estimate_measure(scores, measure), "model", "bounded")
    low, high = proportion_confint(20, 20, 0.05, method="beta")
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((2 * low - 1, 2 * high - 1))
    assert (row["se"], row["verdict"]) == (0.0, "consistent")
    orders = order(scores, measure, "model")
    assert orders["ci_low"] == pytest.approx(-orders["ci_high"])
    assert 0 < orders["ci_high"] < 0.4  # a difference of orders reaches from −2 to 2


def test_a_habit_of_order_alone_is_no_bias(make_scores, make_pair):
    """The first option every time: ½ in each pair, and an order effect of 1."""
    decision = Measure("word_association", "", 0.0, 1.0, 0.5, "", "")
    scores = make_scores(*(row for k in range(40) for row in make_pair(f"p{k}", 1.0, 0.0)))
    row = only(estimate_measure(scores, decision), "model", "bounded")
    assert (row["estimate"], row["p"]) == (0.5, 1.0)
    assert order(scores, decision, "model")["order_effect"] == 1.0
    assert -0.1 < row["ci_low"] - 0.5 < row["ci_high"] - 0.5 < 0.1


def test_sd_of_equal_scores_is_exactly_zero(make_scores, measure):
    scores = make_scores(*({"score": 0.1, "pair_id": f"p{k}"} for k in range(7)))
    estimates = estimate_measure(scores, measure)
    row = only(estimates, "cell")
    assert (row["sd"], row["effect_size"]) == (0.0, None)
    assert only(estimates, "cell", "published")["statistic"] is None


def test_nothing_gives_an_empty_table(make_scores, measure):
    result = estimate_measure(make_scores(), measure)
    assert (result.height, result.schema) == (0, ESTIMATES)


@pytest.mark.parametrize(
    ("option", "value"),
    [("margin", 0), ("confidence", 95), ("compliance_floor", 2)],
)
def test_parameters_that_mean_nothing(draw_scores, measure, option, value):
    with pytest.raises(InputError, match=f"{option} {value}"):
        estimate_measure(draw_scores(0.3), measure, **{option: value})


def test_scores_of_another_instrument(draw_scores, measure):
    with pytest.raises(InputError, match="instrument relative_decision"):
        estimate_measure(draw_scores(0.3, instrument="relative_decision"), measure)


@pytest.mark.parametrize("score", [-1.5, 1.01])
def test_scores_beyond_the_range(make_scores, make_pair, measure, score):
    with pytest.raises(InputError, match=f"score {score} of m on age .* -1.0 to 1.0"):
        estimate_measure(make_scores(*make_pair("a", score, 0.0)), measure)


# What holds of any scores

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


@settings(max_examples=25)
@given(scores(), st.integers(0, 99))
def test_what_holds_of_any_scores(frame, seed):
    """In one test, as an estimate takes long."""
    estimates = estimate_measure(frame, MEASURE)
    flipping_the_sign_flips_the_estimate(frame, estimates)
    order_of_rows_does_not_matter(frame, seed, estimates)
    bounds_and_interval_hold_the_mean(estimates)
    no_number_is_null_and_never_nan(estimates)
    counts_each_response_once(frame, estimates)


def flipping_the_sign_flips_the_estimate(frame, forth):
    back = estimate_measure(frame.with_columns(-pl.col("score")), MEASURE)
    flipped = {"estimate": "estimate", "statistic": "statistic", "ci_low": "ci_high",
               "bound_low": "bound_high"}  # fmt: skip
    for column, partner in flipped.items():
        pl.testing.assert_series_equal(
            forth[column], -back[partner], check_names=False, abs_tol=1e-9
        )
    same = ["method", "se", "df", "p", "p_bh", "tost_p", "n_scored", "compliance"]
    assert_frame_equal(forth.select(same), back.select(same), abs_tol=1e-9)


def order_of_rows_does_not_matter(frame, seed, estimates):
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    assert_frame_equal(estimates, estimate_measure(shuffled, MEASURE), rel_tol=1e-12)


def bounds_and_interval_hold_the_mean(estimates):
    rows = estimates.filter(method="clustered").drop_nulls("estimate")
    slack = 1e-9
    assert (rows["bound_low"] <= rows["estimate"] + slack).all()
    assert (rows["estimate"] <= rows["bound_high"] + slack).all()
    tested = rows.filter(pl.col("p").is_not_null())
    assert tested["estimate"].is_between(tested["ci_low"] - slack, tested["ci_high"] + slack).all()
    excluded = ~pl.lit(0.0).is_between("ci_low", "ci_high")
    clear = tested.filter((pl.col("p_bh") - 0.05).abs() > 1e-6)
    assert clear.filter(excluded != (pl.col("p_bh") < 0.05)).is_empty()


def no_number_is_null_and_never_nan(estimates):
    numbers = estimates.select(pl.selectors.float())
    assert numbers.select(pl.all().drop_nulls().is_finite().all()).row(0) == (True,) * numbers.width


def counts_each_response_once(frame, estimates):
    reasons = pl.sum_horizontal(f"n_{reason}" for reason in REASONS)
    counted = compliance(frame)
    assert (counted["n"] == counted.select(pl.col("n_scored") + reasons).to_series()).all()
    models = estimates.filter(level="model", method="clustered")
    for column in ("n", "n_scored"):
        assert counted[column].sum() == models[column].sum()
    assert counted["n"].sum() == frame.height


def test_refusals_of_strong_stereotypes_do_not_lower_the_mean() -> None:
    """What a model declines does not decide what its mean is about."""
    rng = np.random.default_rng(3)
    rows = [
        {"stereotype": f"s{k}", "iteration": i, "score": 0.8 if k < 3 else 0.2}
        for k in range(6)
        for i in range(20)
    ]
    rows = [{**row, "score": row["score"] + rng.normal(0, 0.05)} for row in rows]
    declined = [
        {**row, "score": None, "reason": "refused"}
        if row["score"] > 0.5 and row["iteration"] % 5 < 3
        else row
        for row in rows
    ]
    means, measure = {}, Measure("word_association", "", -1, 1, 0, "", "")
    for name, answers in (("all", rows), ("declined", declined)):
        table = pl.DataFrame(
            [dict.fromkeys(SCORES) | {"model": "m", **row} for row in answers], schema=SCORES
        ).with_columns(instrument=pl.lit("word_association"))
        model_rows = estimate_measure(table, measure).filter(level="model")
        means[name] = {row["method"]: row for row in model_rows.rows(named=True)}
    clustered = {name: methods["clustered"] for name, methods in means.items()}
    full_mean = clustered["all"]["estimate"]
    assert clustered["declined"]["estimate"] == pytest.approx(full_mean, abs=0.02)
    assert clustered["declined"]["n_stereotypes"] == 6
    published = means["declined"]["published"]  # each answer once: a third of the lean is gone
    assert published["estimate"] == pytest.approx((24 * 0.8 + 60 * 0.2) / 84, abs=0.02)
    assert published["n_stereotypes"] is None
    low, high = (clustered["declined"][f"bound_{end}"] for end in ("low", "high"))
    assert low == pytest.approx((3 * (0.4 * 0.8 - 0.6) + 3 * 0.2) / 6, abs=0.02)
    assert high == pytest.approx((3 * (0.4 * 0.8 + 0.6) + 3 * 0.2) / 6, abs=0.02)
