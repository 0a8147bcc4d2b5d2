import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tiltmeter.errors import InputError
from tiltmeter.results import REASONS, SCORES
from tiltmeter.results.verdicts import judge
from tiltmeter.statistics import compliance, estimate, estimate_summaries, pool_pairs, summarise


def test_a_row_per_mirrored_pair(scores_of, pair_of):
    units = summarise(scores_of(*pair_of("a", 0.5, 0.1), *pair_of("b", 0.2, None)))
    assert units["n"].to_list() == [2, 2]
    assert units["n_scored"].to_list() == [2, 1]
    assert units["mean"].to_list() == pytest.approx([0.3, 0.2])
    assert units["m2"].to_list() == pytest.approx([0.08, 0.0])
    assert units["order_n"].to_list() == [1, 0]
    assert units["order_sum"].to_list() == pytest.approx([0.4, 0.0])


def test_summaries_of_models_can_be_joined(scores_of, pair_of, measure):
    m = scores_of(*pair_of("a", 0.5, 0.1), *pair_of("b", 0.2, 0.6))
    other = m.with_columns(pl.lit("other").alias("model"), pl.col("score") / 2)
    apart = estimate_summaries(pl.concat([summarise(m), summarise(other)]), measure).estimates
    assert_frame_equal(judge(apart), estimate(m.vstack(other), measure))


@pytest.mark.parametrize("differs", ["stereotype", "variation", "marginalized", "default"])
def test_a_mirrored_pair_differs_in_order_alone(scores_of, pair_of, differs):
    first, second = pair_of("a", 0.5, 0.1)
    with pytest.raises(InputError, match="pair_id 'a'"):
        summarise(scores_of(first, {**second, differs: "another"}))


def test_models_share_pairs(scores_of, pair_of):
    scores = scores_of(*pair_of("a", 0.5, 0.1), *pair_of("a", 0.2, 0.3, model="other"))
    assert summarise(scores).height == 2


@pytest.mark.parametrize("reason", [None, "bored"])
def test_a_missing_score_has_a_known_reason(scores_of, reason):
    scores = scores_of({"score": None, "reason": reason})
    with pytest.raises(InputError, match="allowed: refused, neither, both, unparsed"):
        summarise(scores)


def test_nan_is_not_a_missing_score(scores_of):
    with pytest.raises(InputError, match="nan"):
        summarise(scores_of({"score": float("nan")}))


def test_a_column_is_missing(scores_of):
    with pytest.raises(InputError, match="missing column reason"):
        compliance(scores_of({"score": 0.1}).drop("reason"))


def test_compliance_counts_by_reason_and_group(scores_of):
    missing = [{"score": None, "reason": reason} for reason in (*REASONS, "refused")]
    counts = compliance(scores_of({"score": 0.1}, *missing, {"score": 0.2, "default": "youthful"}))
    young, youthful = counts.rows(named=True)
    assert (young["default"], young["n"], young["n_scored"]) == ("young", len(REASONS) + 2, 1)
    assert [young[f"n_{reason}"] for reason in REASONS] == [2] + [1] * (len(REASONS) - 1)
    assert (youthful["n"], youthful["n_scored"], youthful["n_refused"]) == (1, 1, 0)


def test_compliance_of_nothing_is_empty():
    assert compliance(pl.DataFrame(schema=SCORES)).is_empty()


def test_pooled_pairs_give_the_same_estimates_over_all_models(scores_of, pair_of, measure):
    rows = [
        row
        for k, word in enumerate(["x", "y", "x"])
        for row in pair_of(f"p{k}", 0.1 * k, 0.3, marginalized=word)
    ]
    m = scores_of(*rows, *pair_of("q", -0.5, None, marginalized="y"))
    other = m.with_columns(pl.lit("other").alias("model"), pl.col("score") / 2)
    pooled = pl.concat([pool_pairs(summarise(m)), pool_pairs(summarise(other))])
    assert pooled.height == 4 < summarise(m).height * 2
    whole = summarise(m.vstack(other))
    for ours, theirs in zip(
        estimate_summaries(pooled, measure), estimate_summaries(whole, measure), strict=True
    ):
        assert_frame_equal(ours.filter(level="overall"), theirs.filter(level="overall"))
