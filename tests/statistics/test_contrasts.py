import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from clinometer.errors import InputError
from clinometer.results import ESTIMATES, SCORES, Measure
from clinometer.results.judging import judge
from clinometer.results.schemas import MATCHES
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.contrasts import contrast
from clinometer.statistics.prompts import paired_difference


def scale(low: float, high: float) -> Measure:
    return Measure("word_association", "", low, high, 0.0, "", "")


#: A scale that no score of these tests leaves.
WIDE = scale(-9, 9)


def simulate(
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


def only(contrasted: Contrasted, level: str = "model", **where) -> dict:
    row = {"method": "clustered", "measure": "word_association", **where}
    return judge(contrasted.estimates).filter(level=level, **row).row(0, named=True)


def matched(contrasted: Contrasted, level: str = "model") -> dict:
    return contrasted.matches.filter(level=level).row(0, named=True)


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
    row = only(contrast(simulate({"none": 0.0, "fair": -0.3}, noise=0.0), WIDE))
    assert (row["n"], row["n_scored"]) == (48, 48)
    assert row["estimate"] == pytest.approx(-0.3)
    assert row["sd"] == 0.0
    noisy = only(contrast(simulate({"none": 0.0, "fair": -4.0}), WIDE))
    assert noisy["sd"] == pytest.approx(0.1 * 2**0.5, rel=0.25)
    assert (noisy["verdict"], noisy["neutral"]) == ("lower", 0.0)


def test_numbers_of_a_row_are_those_of_the_parts():
    frame = simulate({"none": 0.0, "fair": -0.3})
    contrasted = contrast(frame, WIDE, confidence=0.9)
    row, published = only(contrasted), only(contrasted, method="published")
    by_hand = differences(frame)
    paired = scipy.stats.ttest_rel(
        frame.filter(intervention="fair")["score"], frame.filter(intervention="none")["score"]
    )
    assert row["estimate"] == pytest.approx(by_hand["d"].mean())
    assert published["estimate"] == by_hand["d"].mean()
    published_numbers = published["statistic"], published["df"], published["p"]
    assert published_numbers == pytest.approx((paired.statistic, 47, paired.pvalue))
    assert published["ci_low"] is published["p_bonferroni"] is published["verdict"] is None
    assert row["effect_size"] == pytest.approx(by_hand["d"].mean() / by_hand["d"].std())
    assert row["estimate"] == pytest.approx(row["candidate_estimate"] - row["baseline_estimate"])
    assert (row["test"], row["confidence"]) == ("t", 0.9)
    assert row["clustered_by"] == "wordings, group words, draws, answers"
    fixed = "stereotypes, attribute words, one default word"
    assert (row["range"], row["conditional_on"]) == ("other_prompts", fixed)


def by_pair(rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Return a row per mirrored pair, in its means."""
    keys = ("stereotype", "variation", "pair_id")
    return rows.group_by(keys, maintain_order=True).agg(pl.col(*columns).mean())


def test_these_prompts_have_the_bound_of_pairs_of_pairs():
    """The variance is that of the differences; both runs have the wordings as strata."""
    frame = simulate({"none": 0.0, "fair": -0.3})
    row = only(contrast(frame, WIDE), method="bounded")
    halves = differences(frame).with_columns(after=pl.col("score") + pl.col("d"))
    pairs = by_pair(halves, "score", "after")
    expected = paired_difference(
        pairs["score"], pairs["after"], np.full(24, 2.0), pairs["stereotype"], pairs["variation"],
        (-9.0, 9.0),
    )  # fmt: skip
    estimates = [row[c] for c in ("estimate", "se", "p", "pointwise_low", "pointwise_high")]
    low, high = expected.interval()
    assert estimates == pytest.approx([expected.mean, expected.se, expected.p(), low, high])


def test_every_level_and_candidate():
    frame = simulate({"none": 0.0, "fair": -0.3, "blunt": 0.1}, models=("m", "other"))
    result = contrast(frame, WIDE)
    assert (result.estimates.schema, result.matches.schema) == (ESTIMATES, MATCHES)
    expected = {"cell": 16, "stereotype": 8, "category": 4, "model": 4, "overall": 2}
    assert dict(result.matches.group_by("level").len().rows()) == expected
    rows = result.estimates.group_by("measure", "method", "level").len().rows()
    assert {row[:3]: row[3] for row in rows} == {
        (measure, method, level): count
        for measure, method in (("word_association", "clustered"), ("compliance", "bounded"),
                                ("word_association", "published"),
                                ("word_association", "bounded"),
                                ("word_association", "generalised"))
        for level, count in expected.items()
        if method != "generalised" or level not in ("cell", "stereotype")
    }  # fmt: skip
    for table in result[:2]:
        assert set(table["candidate"]) == {"fair", "blunt"}
        assert table["intervention"].null_count() == table.height
        assert (table["factor"] == "intervention").all()
    fixed = only(result, "overall", candidate="fair")["conditional_on"]
    assert fixed == "stereotypes, attribute words, one default word"


def test_the_family_is_all_candidates_of_a_model_and_level():
    result = contrast(simulate({"none": 0, "a": 0.02, "b": 0.02, "c": 0}, models=("m", "n")), WIDE)
    cells = result.estimates.filter(level="cell", model="m", method="bounded")
    cells = cells.drop_nulls("p_bonferroni").sort("p")
    assert cells.height == 12
    assert cells["p_bonferroni"].to_numpy() == pytest.approx(np.minimum(1, 12 * cells["p"]))
    leaning = cells.filter((pl.col("ci_low") > 0) | (pl.col("ci_high") < 0))
    assert leaning.equals(cells.filter(pl.col("p_bonferroni") < 0.05))
    wider = (pl.col("ci_low") <= pl.col("pointwise_low")) & (
        pl.col("ci_high") >= pl.col("pointwise_high")
    )
    assert cells.select(wider.all()).item()
    expected = scipy.stats.false_discovery_control(cells["p"].to_numpy())
    assert cells["p_bh"].to_numpy() == pytest.approx(expected)


def test_the_verdict_needs_the_adjusted_p():
    result = contrast(simulate({"none": 0.0, "up": 5.0, "same": 0.0}), WIDE)
    assert only(result, candidate="up")["verdict"] == "higher"
    assert only(result, candidate="same")["verdict"] == "inconclusive"
    unsure = judge(result.estimates).filter(pl.col("p_bonferroni") >= 0.05, method="clustered")
    assert set(unsure["verdict"]) == {"inconclusive"}


def test_two_models_are_a_contrast_too():
    models = simulate({"none": 0.0}, models=("a", "b"), noise=0.0).with_columns(
        score=pl.col("score") + pl.when(model="b").then(0.25).otherwise(0.0)
    )
    result = contrast(models, WIDE, factor="model", baseline="a")
    row = only(result)
    assert (row["baseline"], row["candidate"]) == ("a", "b")
    assert (row["subject"], row["model"]) == (None, None)
    assert (row["intervention"], row["n_scored"]) == ("none", 48)
    assert row["estimate"] == pytest.approx(0.25)
    assert result.estimates.filter(level="overall").is_empty()


def test_both_orders_may_share_the_number_of_a_draw():
    frame = simulate({"none": 0.0, "fair": -0.3}, noise=0.0)
    paired = frame.with_columns(iteration=pl.col("iteration") // 2)
    assert only(contrast(paired, WIDE))["estimate"] == pytest.approx(-0.3)


def test_what_is_never_pooled_stays_apart():
    frame = simulate({"none": 0.0, "fair": -0.3}).with_columns(mode=pl.lit("free"))
    forced = frame.with_columns(mode=pl.lit("forced"), score=pl.col("score") * 2)
    contrasted = contrast(pl.concat([frame, forced]), WIDE)
    plain, doubled = (only(contrasted, mode=mode)["estimate"] for mode in ("free", "forced"))
    assert doubled == pytest.approx(2 * plain)


def test_only_trials_scored_in_both_are_compared():
    full = simulate({"none": 0.0, "fair": -0.3})
    frame = lost(lost(full, "none", [0, 1]), "fair", [1, 2, 3])
    contrasted = contrast(frame, WIDE)
    row, counted = only(contrasted), matched(contrasted)
    assert (row["n"], row["n_scored"]) == (counted["n"], counted["n_scored"]) == (48, 32)
    lost_counts = [counted[f"n_lost_{name}"] for name in ("baseline", "candidate", "both")]
    assert lost_counts == [4, 8, 4]
    compared = differences(full).filter(pl.col("iteration") > 3)
    assert row["estimate"] == pytest.approx(compared["d"].mean())
    complied = only(contrasted, measure="compliance", method="bounded")
    shares = complied["baseline_estimate"], complied["candidate_estimate"]
    assert shares == pytest.approx((40 / 48, 36 / 48))


def test_change_of_compliance_is_that_of_these_prompts():
    frame = lost(simulate({"none": 0.0, "fair": -0.3}), "fair", [1, 2, 3])
    row = only(contrast(frame, WIDE), measure="compliance", method="bounded")
    answered = frame.filter(intervention="fair").with_columns(
        before=1.0, after=pl.col("score").is_not_null().cast(pl.Float64)
    )
    pairs = by_pair(answered, "before", "after")
    expected = paired_difference(
        pairs["before"], pairs["after"], np.full(24, 2.0), pairs["stereotype"], pairs["variation"],
        (0.0, 1.0),
    )  # fmt: skip
    change_row = [row[c] for c in ("estimate", "p", "ci_low", "ci_high")]
    assert change_row == pytest.approx([expected.mean, expected.p(), *expected.interval()])
    assert row["p_bonferroni"] is row["verdict"] is None  # its p is not adjusted


def test_bounds_are_the_worst_and_best_that_the_missing_could_be():
    full = simulate({"none": 0.0, "fair": -0.3}).with_columns(score=pl.col("score").clip(-1, 1))
    frame = lost(lost(full, "none", [0, 1]), "fair", [1, 2])
    row = only(contrast(frame, scale(-1, 1)))
    filled = []
    for baseline, treatment in ((1.0, -1.0), (-1.0, 1.0)):
        end = pl.when(intervention="none").then(baseline).otherwise(treatment)
        filled.append(differences(frame.with_columns(pl.col("score").fill_null(end)))["d"].mean())
    assert (row["bound_low"], row["bound_high"]) == pytest.approx(tuple(filled))
    truth = differences(full)["d"].mean()
    assert row["bound_low"] <= truth <= row["bound_high"]
    complete = only(contrast(full, scale(-1, 1)))
    assert complete["bound_low"] == complete["bound_high"] == pytest.approx(complete["estimate"])


def test_trials_asked_once_are_counted_and_left_out():
    frame = simulate({"none": 0.0, "fair": -0.3})
    short = frame.filter((pl.col("intervention") == "none") | (pl.col("iteration") < 6))
    short = short.filter((pl.col("intervention") == "fair") | (pl.col("iteration") > 0))
    contrasted = contrast(short, WIDE)
    row, counted = only(contrasted), matched(contrasted)
    unasked = counted["n_unasked_baseline"], counted["n_unasked_candidate"]
    assert (counted["n"], *unasked) == (20, 4, 24)
    assert row["bound_low"] == row["bound_high"] == pytest.approx(row["estimate"])


def test_a_candidate_that_is_never_scored_has_no_number():
    frame = lost(simulate({"none": 0.0, "fair": -0.3}), "fair", list(range(12)))
    contrasted = contrast(frame, WIDE)
    row = only(contrasted)
    assert (row["n_scored"], row["estimate"], row["se"], row["p"]) == (0, None, None, None)
    assert row["verdict"] == "no verdict: nothing scored"
    assert only(contrasted, measure="compliance", method="bounded")["estimate"] == -1.0
    assert row["bound_low"] < row["bound_high"]


def test_a_change_of_all_answers_is_told_without_variance():
    """From 0 to 1 on a scale with these ends: each run is at one of them."""
    frame = simulate({"none": 0.0, "fair": 0.5}, noise=0.0).with_columns(
        score=pl.when(intervention="fair").then(1.0).otherwise(0.0)
    )
    row = only(contrast(frame, scale(0, 1)), method="bounded")
    assert (row["estimate"], row["se"], row["verdict"]) == (1.0, 0.0, "higher")
    assert 0.6 < row["ci_low"] < row["ci_high"] == 1.0
    nothing = frame.with_columns(score=pl.lit(1.0))
    assert only(contrast(nothing, scale(0, 1)), method="bounded")["p"] == 1.0


def test_names_of_trials_and_order_of_rows_do_not_matter():
    frame = simulate({"none": 0.0, "fair": -0.3})
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1).with_columns(
        trial_id=pl.format("t{}", pl.int_range(pl.len()))
    )
    for ours, theirs in zip(contrast(frame, WIDE)[:2], contrast(shuffled, WIDE)[:2], strict=True):
        assert_frame_equal(ours, theirs, rel_tol=1e-10)


@settings(max_examples=10)
@given(st.integers(0, 9999), st.lists(st.integers(0, 11)), st.lists(st.integers(0, 11)))
def test_swapping_baseline_and_candidate_changes_the_sign(seed, gone, gone_too):
    frame = lost(lost(simulate({"a": 0.0, "b": 0.1}, seed=seed), "a", gone), "b", gone_too)
    forth = contrast(frame, WIDE, baseline="a").estimates
    back = contrast(frame, WIDE, baseline="b").estimates
    flipped = {"estimate": "estimate", "statistic": "statistic", "bound_low": "bound_high",
               "ci_low": "ci_high"}  # fmt: skip
    for column, partner in flipped.items():
        pl.testing.assert_series_equal(
            forth[column], -back[partner], check_names=False, abs_tol=1e-9
        )
    same = ["measure", "method", "p", "p_bonferroni", "n_scored", "sd"]
    assert_frame_equal(forth.select(same), back.select(same), abs_tol=1e-9)
    numbers = forth.select(pl.selectors.float())
    assert numbers.select(pl.all().drop_nulls().is_finite().all()).row(0) == (True,) * numbers.width


def test_interval_covers_where_wordings_respond_differently():
    """10 stereotypes × 4 wordings, each with its own effect around −0.2; 10 draws of each."""
    rng = np.random.default_rng(7)
    cells = np.repeat(np.arange(40), 10)
    trial = {
        "stereotype": cells // 4,
        "variation": cells % 4,
        "iteration": np.tile(np.arange(10), 40),
    }
    frame = pl.DataFrame(trial).with_columns(marginalized=pl.lit("old"), category=pl.lit("c"))
    frames = []
    for model in range(80):
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
    estimates = contrast(scores, WIDE).estimates.filter(measure="word_association")
    covers = pl.lit(-0.2).is_between("pointwise_low", "pointwise_high").mean()
    covered = {
        key: estimates.filter(level=key[0], method=key[1]).select(covers).item()
        for key in (("stereotype", "clustered"), ("model", "clustered"), ("model", "generalised"))
    }
    half = 1.96 * pl.col("se")
    naive = estimates.filter(
        (pl.col("estimate") + 0.2).abs() <= half, level="model", method="published"
    )
    # Wordings differ by half of what differences do, more than is expected of them.
    assert 0.88 <= covered["stereotype", "clustered"] <= 0.97
    assert 0.9 <= covered["model", "clustered"]
    assert 0.9 <= covered["model", "generalised"]
    assert naive.height / 80 < 0.85


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": "flavour"}, "missing column flavour"),
        ({"baseline": "nil"}, "unknown intervention 'nil'"),
        ({"factor": "study", "baseline": "s"}, "study is 's' throughout"),
        ({"confidence": 95}, "confidence 95"),
        ({"measure": scale(0, 0.1)}, "outside the range of word_association, 0 to 0.1"),
    ],
)
def test_bad_parameters_are_one_line(options, message):
    with pytest.raises(InputError, match=message) as error:
        contrast(simulate({"none": 0.0, "fair": 0.1}), **{"measure": WIDE, **options})
    assert "\n" not in str(error.value)


def test_draws_must_be_the_same():
    frame = simulate({"none": 0.0, "fair": 0.1})
    changed = pl.when((pl.col("intervention") == "fair") & (pl.col("iteration") == 5))
    reseeded = frame.with_columns(
        marginalized=changed.then(pl.lit("aged")).otherwise("marginalized")
    )
    with pytest.raises(InputError, match="iteration 5 of .* drew old2, young .* and aged, young"):
        contrast(reseeded, WIDE)


def test_a_draw_asked_twice_is_refused():
    frame = simulate({"none": 0.0, "fair": 0.1})
    with pytest.raises(InputError, match="2 rows of intervention 'fair' share their trial"):
        contrast(pl.concat([frame, frame.tail(1)]), WIDE)
    with pytest.raises(InputError, match="score nan of m on age lies outside"):
        contrast(frame.with_columns(score=pl.lit(float("nan"))), WIDE)
