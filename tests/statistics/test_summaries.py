import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tiltmeter.errors import InputError
from tiltmeter.results import LEVELS, REASONS, SCORES
from tiltmeter.results.verdicts import judge
from tiltmeter.statistics.estimates import estimate_measure, estimate_summaries
from tiltmeter.statistics.summaries import compliance, pool_pairs, summarise


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
    assert_frame_equal(judge(apart), estimate_measure(m.vstack(other), measure))


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


def clustering(scores, measure, level, **options):
    rows = estimate_measure(scores, measure, **options).filter(level=level, method="clustered")
    return rows.select("clustered_by", "n_clusters", "conditional_on").rows()


@pytest.fixture
def full(scores_of, pair_of):
    """Two stereotypes, two wordings, two group pairs, two mirrored pairs of each."""
    rows, k = [], 0
    for stereotype in ("age", "weight"):
        for variation in ("replication", "synonym"):
            for word in ("old", "aged"):
                for _ in range(2):
                    k += 1
                    where = {"stereotype": stereotype, "variation": variation}
                    rows += pair_of(f"p{k}", k / 40, k / 50, marginalized=word, **where)
    return scores_of(*rows)


def test_each_level_has_its_clusters(full, measure):
    expected = {
        "cell": ("group pair", 2, "one wording"),
        "stereotype": ("variation × group pair", 4, None),
        "category": ("stereotype × variation", 4, None),
        "model": ("stereotype × variation", 4, None),
    }
    for level in LEVELS[:-1]:
        assert set(clustering(full, measure, level)) == {expected[level]}


def test_levels_above_can_cluster_by_stereotype(full, measure):
    by = {level: clustering(full, measure, level, cluster="stereotype") for level in LEVELS}
    assert by["category"] == by["model"] == [("stereotype", 2, None)]
    assert by["stereotype"][0][0] == "variation × group pair"


def test_one_stereotype_cannot_cluster_by_itself(full, measure):
    one = full.filter(stereotype="age")
    rows = clustering(one, measure, "model", cluster="stereotype")
    assert rows == [("stereotype × variation", 2, "one stereotype")]


def test_one_wording_falls_back_to_group_pairs(full, measure):
    one = full.filter(stereotype="age", variation="synonym")
    assert clustering(one, measure, "stereotype") == [("variation × group pair", 2, "one wording")]
    fixed = "one stereotype and one wording"
    assert clustering(one, measure, "model") == [("variation × group pair", 2, fixed)]


def test_one_group_pair_falls_back_to_mirrored_pairs(full, measure):
    one = full.filter(stereotype="age", variation="synonym", marginalized="old")
    fixed = "one wording and one group pair"
    assert clustering(one, measure, "cell") == [("mirrored pair", 2, fixed)]
    assert clustering(one, measure, "stereotype") == [("mirrored pair", 2, fixed)]
    assert clustering(one, measure, "category") == [
        ("mirrored pair", 2, f"one stereotype and {fixed}")
    ]


def test_responses_without_a_pair_stand_alone(scores_of, measure):
    scores = scores_of(*({"score": s / 10, "order": None} for s in range(5)))
    fixed = "one wording and one group pair"
    assert clustering(scores, measure, "cell") == [("response", 5, fixed)]


def test_group_words_that_were_not_recorded_are_no_single_pair(scores_of, measure):
    recorded = {"order": None, "marginalized": None, "default": None}
    wordings = ("replication", "synonym")
    rows = [{"score": s / 10, "variation": v, **recorded} for v in wordings for s in range(3)]
    scores, fixed = scores_of(*rows), "unrecorded group words"
    assert clustering(scores, measure, "stereotype") == [("variation", 2, fixed)]
    assert set(clustering(scores, measure, "cell")) == {("response", 3, f"one wording and {fixed}")}


def test_a_cluster_without_scores_is_none(full, measure, scores_of):
    missing = {"stereotype": "age", "variation": "replication", "marginalized": "elderly"}
    lost = scores_of({"score": None, "pair_id": "lost", **missing})
    rows = estimate_measure(full.vstack(lost), measure)
    row = rows.filter(level="cell", stereotype="age", variation="replication").row(0, named=True)
    assert (row["n"], row["n_scored"], row["n_clusters"]) == (9, 8, 2)


def test_all_models_share_their_prompts(full, measure):
    other = full.with_columns(model=full["model"].replace("m", "other"), score=-full["score"])
    assert clustering(full.vstack(other), measure, "overall") == [
        ("stereotype × variation", 4, "these models")
    ]
