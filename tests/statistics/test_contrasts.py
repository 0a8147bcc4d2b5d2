import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tiltmeter.errors import InputError
from tiltmeter.results import SCORES
from tiltmeter.statistics import clustered_mean
from tiltmeter.statistics.contrasts import CONTRASTS, contrast


def asked(
    interventions: dict[str, float], *, models=("m",), noise: float = 0.1, seed: int = 0
) -> pl.DataFrame:
    """Return scores of 2 stereotypes × 2 wordings × 12 draws; each intervention adds its shift.

    Draws and wordings differ widely, by what all interventions have in common.
    """
    rng = np.random.default_rng(seed)
    cells = pl.DataFrame({"stereotype": ["age", "weight"]}).join(
        pl.DataFrame({"variation": ["plain", "other"]}), how="cross"
    )
    draws = cells.join(pl.DataFrame({"iteration": np.arange(12)}), how="cross").with_columns(
        pl.Series("common", rng.normal(0, 1, 48)),
        marginalized=pl.format("old{}", pl.col("iteration") // 2 % 3),
        default=pl.lit("young"),
        order=pl.when(pl.col("iteration") % 2 == 0)
        .then(pl.lit("marginalized_first"))
        .otherwise(pl.lit("default_first")),
    )
    parts = []
    for model in models:
        for name, shift in interventions.items():
            pair = pl.format("{} {} {} {}", "stereotype", "variation", pl.col("iteration") // 2,
                             pl.lit(name))  # fmt: skip
            part = draws.with_columns(
                pl.Series("noise", rng.normal(0, noise, 48)), pair_id=pair, trial_id=pair
            ).with_columns(
                score=pl.col("common") + shift + pl.col("noise"),
                intervention=pl.lit(name),
                model=pl.lit(model),
                category=pl.lit("health"),
                study=pl.lit("s"),
            )
            parts.append(part)
    frame = pl.concat(parts)
    return frame.select(
        (pl.col(c) if c in frame.columns else pl.lit(None)).cast(t).alias(c)
        for c, t in SCORES.items()
    )


def only(contrasts: pl.DataFrame, level: str = "model", **where) -> dict:
    return contrasts.filter(level=level, **where).row(0, named=True)


def lost(frame: pl.DataFrame, intervention: str, iterations: list[int]) -> pl.DataFrame:
    gone = (pl.col("intervention") == intervention) & pl.col("iteration").is_in(iterations)
    return frame.with_columns(
        score=pl.when(~gone).then("score"), reason=pl.when(gone).then(pl.lit("refused"))
    )


def differences(frame: pl.DataFrame, treatment: str = "fair") -> pl.DataFrame:
    """Match by hand: both halves in the same order."""
    draw = ["model", "stereotype", "variation", "iteration"]
    a = frame.filter(intervention="none").sort(draw)
    b = frame.filter(intervention=treatment).sort(draw)
    return a.with_columns(d=b["score"] - a["score"])


def test_what_is_common_cancels():
    row = only(contrast(asked({"none": 0.0, "fair": -0.3}, noise=0.0)))
    assert (row["n"], row["n_matched"]) == (48, 48)
    assert row["difference"] == pytest.approx(-0.3)
    assert row["sd"] == 0.0
    noisy = only(contrast(asked({"none": 0.0, "fair": -0.3})))
    assert noisy["sd"] == pytest.approx(0.1 * 2**0.5, rel=0.25)
    assert noisy["direction"] == "lower"


def test_numbers_of_a_row_are_those_of_the_parts():
    frame = asked({"none": 0.0, "fair": -0.3})
    row = only(contrast(frame, confidence=0.9))
    by_hand = differences(frame)
    clusters = by_hand.select(pl.concat_str("stereotype", "variation")).to_series()
    expected = clustered_mean(by_hand["d"].to_numpy(), clusters.to_numpy())
    paired = scipy.stats.ttest_rel(
        frame.filter(intervention="fair")["score"], frame.filter(intervention="none")["score"]
    )
    assert row["clustered_by"] == "stereotype × variation"
    assert (row["difference"], row["se"], row["df"]) == pytest.approx(
        (expected.mean, expected.se, expected.df)
    )
    assert (row["t"], row["p"]) == pytest.approx((expected.t(), expected.p()))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected.interval(0.9))
    assert (row["naive_t"], row["naive_p"]) == pytest.approx((paired.statistic, paired.pvalue))
    assert row["naive_df"] == 47
    assert row["cohen_dz"] == pytest.approx(by_hand["d"].mean() / by_hand["d"].std())
    assert row["difference"] == pytest.approx(row["mean_treatment"] - row["mean_baseline"])
    assert (row["test"], row["confidence"], row["n_clusters"]) == ("t", 0.9, 4)


def test_a_stereotype_is_clustered_by_wording_and_group_pair():
    frame = asked({"none": 0.0, "fair": -0.3})
    row = only(contrast(frame), "stereotype", stereotype="age")
    by_hand = differences(frame).filter(stereotype="age")
    clusters = by_hand.select(pl.concat_str("variation", "marginalized")).to_series()
    assert row["clustered_by"] == "variation × group pair"
    assert row["se"] == pytest.approx(clustered_mean(by_hand["d"], clusters.to_numpy()).se)


def test_every_level_and_treatment():
    frame = asked({"none": 0.0, "fair": -0.3, "blunt": 0.1}, models=("m", "other"))
    result = contrast(frame)
    assert result.schema == CONTRASTS
    counts = dict(result.group_by("level").len().rows())
    assert counts == {"cell": 16, "stereotype": 8, "category": 4, "model": 4, "overall": 2}
    assert set(result["treatment"]) == {"fair", "blunt"}
    assert result["intervention"].null_count() == result.height
    assert (result["factor"] == "intervention").all()
    assert only(result, "overall", treatment="fair")["conditional_on"] == "these models"


def test_the_family_is_all_treatments_of_a_model_and_level():
    result = contrast(asked({"none": 0.0, "a": 0.02, "b": 0.02, "c": 0.0}, models=("m", "n")))
    cells = result.filter(level="cell", model="m").sort("p")
    assert cells.height == 12
    assert cells["p_holm"][0] == pytest.approx(min(1, 12 * cells["p"][0]))
    expected = scipy.stats.false_discovery_control(cells["p"].to_numpy())
    assert cells["p_bh"].to_numpy() == pytest.approx(expected)


def test_direction_needs_the_adjusted_p():
    result = contrast(asked({"none": 0.0, "up": 0.5, "same": 0.0}))
    assert only(result, treatment="up")["direction"] == "higher"
    assert only(result, treatment="same")["direction"] is None
    unsure = result.filter(pl.col("p_holm") >= 0.05)
    assert unsure["direction"].null_count() == unsure.height > 0


def test_two_models_are_a_contrast_too():
    models = asked({"none": 0.0}, models=("a", "b"), noise=0.0).with_columns(
        score=pl.col("score") + pl.when(model="b").then(0.25).otherwise(0.0)
    )
    result = contrast(models, factor="model", baseline="a")
    row = only(result)
    assert (row["baseline"], row["treatment"], row["model"]) == ("a", "b", None)
    assert (row["intervention"], row["n_matched"]) == ("none", 48)
    assert row["difference"] == pytest.approx(0.25)
    assert result.filter(level="overall").is_empty()


def test_both_orders_may_share_the_number_of_a_draw():
    frame = asked({"none": 0.0, "fair": -0.3}, noise=0.0)
    paired = frame.with_columns(iteration=pl.col("iteration") // 2)
    assert only(contrast(paired))["difference"] == pytest.approx(-0.3)


def test_what_is_never_pooled_stays_apart():
    frame = asked({"none": 0.0, "fair": -0.3})
    forced = frame.with_columns(mode=pl.lit("forced"), score=pl.col("score") * 2)
    rows = contrast(pl.concat([frame, forced])).filter(level="model").sort("mode")
    assert rows["difference"].to_list() == pytest.approx([rows["difference"][0]] + [
        2 * rows["difference"][0]
    ])  # fmt: skip


def test_only_trials_scored_in_both_are_compared():
    whole = asked({"none": 0.0, "fair": -0.3})
    frame = lost(lost(whole, "none", [0, 1]), "fair", [1, 2, 3])
    row = only(contrast(frame))
    assert (row["n"], row["n_matched"]) == (48, 32)
    assert (row["n_lost_baseline"], row["n_lost_treatment"], row["n_lost_both"]) == (4, 8, 4)
    kept = differences(whole).filter(pl.col("iteration") > 3)
    assert row["difference"] == pytest.approx(kept["d"].mean())
    assert (row["compliance_baseline"], row["compliance_treatment"]) == pytest.approx(
        (40 / 48, 36 / 48)
    )


def test_change_of_compliance_is_clustered_as_the_difference():
    frame = lost(asked({"none": 0.0, "fair": -0.3}), "fair", [1, 2, 3])
    gone = (pl.col("variation") == "plain") & (pl.col("intervention") == "fair")
    frame = frame.with_columns(
        score=pl.when(~gone | (pl.col("iteration") < 9)).then("score"),
        reason=pl.lit("refused"),
    )
    row = only(contrast(frame))
    draws = frame.filter(intervention="fair")
    change = draws["score"].is_not_null().cast(pl.Float64) - 1
    clusters = draws.select(pl.concat_str("stereotype", "variation")).to_series()
    expected = clustered_mean(change.to_numpy(), clusters.to_numpy())
    assert row["compliance_change"] == pytest.approx(expected.mean)
    assert (row["compliance_low"], row["compliance_high"]) == pytest.approx(expected.interval())
    assert row["compliance_p"] == pytest.approx(expected.p())


def test_bounds_are_the_worst_and_best_that_the_missing_could_be():
    whole = asked({"none": 0.0, "fair": -0.3}).with_columns(score=pl.col("score").clip(-1, 1))
    frame = lost(lost(whole, "none", [0, 1]), "fair", [1, 2])
    row = only(contrast(frame, low=-1, high=1))
    filled = []
    for baseline, treatment in ((1.0, -1.0), (-1.0, 1.0)):
        end = pl.when(intervention="none").then(baseline).otherwise(treatment)
        filled.append(differences(frame.with_columns(pl.col("score").fill_null(end)))["d"].mean())
    assert (row["bound_low"], row["bound_high"]) == pytest.approx(tuple(filled))
    truth = differences(whole)["d"].mean()
    assert row["bound_low"] <= truth <= row["bound_high"]
    unbounded = only(contrast(frame))
    assert (unbounded["bound_low"], unbounded["bound_high"]) == (None, None)
    complete = only(contrast(whole, low=-1, high=1))
    assert complete["bound_low"] == complete["bound_high"] == pytest.approx(complete["difference"])


def test_trials_asked_once_are_counted_and_left_out():
    frame = asked({"none": 0.0, "fair": -0.3})
    short = frame.filter((pl.col("intervention") == "none") | (pl.col("iteration") < 6))
    short = short.filter((pl.col("intervention") == "fair") | (pl.col("iteration") > 0))
    row = only(contrast(short, low=-9, high=9))
    assert (row["n"], row["n_unasked_baseline"], row["n_unasked_treatment"]) == (20, 4, 24)
    assert row["bound_low"] == row["bound_high"] == pytest.approx(row["difference"])


def test_a_treatment_that_is_never_scored_has_no_number():
    frame = lost(asked({"none": 0.0, "fair": -0.3}), "fair", list(range(12)))
    row = only(contrast(frame, low=-9, high=9))
    assert (row["n_matched"], row["difference"], row["se"], row["p"]) == (0, None, None, None)
    assert (row["compliance_change"], row["direction"]) == (-1.0, None)
    assert row["bound_low"] < row["bound_high"]


def test_a_change_without_variance_has_an_exact_p():
    frame = asked({"none": 0.0, "fair": 0.5}, noise=0.0).with_columns(
        score=pl.when(intervention="fair").then(1.0).otherwise(0.0)
    )
    row = only(contrast(frame, low=0, high=1))
    assert (row["test"], row["t"], row["difference"]) == ("unanimous", None, 1.0)
    assert row["p"] == pytest.approx(0.5**3)
    nothing = frame.with_columns(score=pl.lit(1.0))
    assert only(contrast(nothing, low=0, high=1))["p"] == 1.0
    assert only(contrast(nothing))["p"] is None


def test_names_of_trials_and_order_of_rows_do_not_matter():
    frame = asked({"none": 0.0, "fair": -0.3})
    other = frame.sample(fraction=1, shuffle=True, seed=1).with_columns(
        trial_id=pl.format("t{}", pl.int_range(pl.len()))
    )
    assert_frame_equal(contrast(frame), contrast(other), rel_tol=1e-10)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 9999), st.lists(st.integers(0, 11)), st.lists(st.integers(0, 11)))
def test_swapping_baseline_and_treatment_changes_the_sign(seed, gone, gone_too):
    frame = lost(lost(asked({"a": 0.0, "b": 0.1}, seed=seed), "a", gone), "b", gone_too)
    there = contrast(frame, baseline="a", low=-9, high=9)
    back = contrast(frame, baseline="b", low=-9, high=9)
    flipped = {"difference": "difference", "t": "t", "bound_low": "bound_high",
               "ci_low": "ci_high", "compliance_change": "compliance_change"}  # fmt: skip
    for column, partner in flipped.items():
        pl.testing.assert_series_equal(
            there[column], -back[partner], check_names=False, abs_tol=1e-9
        )
    same = ["p", "p_holm", "n_matched", "sd", "naive_p"]
    assert_frame_equal(there.select(same), back.select(same), abs_tol=1e-9)
    numbers = there.select(pl.selectors.float())
    assert numbers.select(pl.all().drop_nulls().is_finite().all()).row(0) == (True,) * numbers.width


def test_interval_covers_where_wordings_respond_differently():
    """20 stereotypes × 2 wordings, each with its own effect around −0.2; 10 draws of each."""
    rng = np.random.default_rng(7)
    cells = np.repeat(np.arange(40), 10)
    trial = {
        "stereotype": cells // 2,
        "variation": cells % 2,
        "iteration": np.tile(np.arange(10), 40),
    }
    frame = pl.DataFrame(trial).with_columns(marginalized=pl.lit("old"), category=pl.lit("c"))
    frames = []
    for model in range(150):
        common, effect = rng.normal(0, 1, 400), rng.normal(-0.2, 0.3, 40)[cells]
        for name, score in {
            "none": common + rng.normal(0, 0.4, 400),
            "fair": common + effect + rng.normal(0, 0.4, 400),
        }.items():
            frames.append(
                frame.with_columns(pl.Series("score", score), intervention=pl.lit(name),
                                   model=pl.lit(f"m{model}"))
            )  # fmt: skip
    scores = pl.concat(frames)
    scores = scores.select(
        (pl.col(c) if c in scores.columns else pl.lit(None)).cast(t).alias(c)
        for c, t in SCORES.items()
    )
    rows = contrast(scores).filter(level="model")
    assert rows.height == 150
    covered = rows.filter(pl.lit(-0.2).is_between("ci_low", "ci_high")).height
    half = 1.96 * pl.col("naive_se")
    naive = rows.filter((pl.col("difference") + 0.2).abs() <= half).height
    assert 0.9 <= covered / 150 <= 0.99
    assert naive / 150 < 0.85


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": "flavour"}, "missing column flavour"),
        ({"baseline": "nil"}, "unknown intervention 'nil'"),
        ({"factor": "study", "baseline": "s"}, "study is 's' throughout"),
        ({"confidence": 95}, "confidence 95"),
        ({"low": 0}, "give both ends"),
        ({"low": 1, "high": 0}, "must lie below"),
        ({"low": 0, "high": 0.1}, "outside low 0 to high 0.1"),
    ],
)
def test_bad_parameters_are_one_line(options, message):
    with pytest.raises(InputError, match=message) as error:
        contrast(asked({"none": 0.0, "fair": 0.1}), **options)
    assert "\n" not in str(error.value)


def test_draws_must_be_the_same():
    frame = asked({"none": 0.0, "fair": 0.1})
    other = pl.when((pl.col("intervention") == "fair") & (pl.col("iteration") == 5))
    reseeded = frame.with_columns(marginalized=other.then(pl.lit("aged")).otherwise("marginalized"))
    with pytest.raises(InputError, match="iteration 5 of .* drew old2, young .* and aged, young"):
        contrast(reseeded)


def test_a_draw_asked_twice_is_refused():
    frame = asked({"none": 0.0, "fair": 0.1})
    with pytest.raises(InputError, match="2 rows of intervention 'fair' share their trial"):
        contrast(pl.concat([frame, frame.tail(1)]))
    with pytest.raises(InputError, match="nan or infinite"):
        contrast(frame.with_columns(score=pl.lit(float("nan"))))
