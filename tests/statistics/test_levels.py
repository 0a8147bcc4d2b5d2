import pytest

from tiltmeter.results import LEVELS
from tiltmeter.statistics import estimate_measure


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
