import polars as pl
import pytest
import scipy.stats
from polars.testing import assert_frame_equal

from clinometer.errors import InputError
from clinometer.results import REASONS, SCORES
from clinometer.results.judging import judge
from clinometer.statistics.estimates import estimate_measure, estimate_summaries
from clinometer.statistics.pages import adjust_means
from clinometer.statistics.summaries import compliance, pool_pairs, summarise, unscored_share


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
    assert_frame_equal(judge(adjust_means(apart)), estimate_measure(m.vstack(other), measure))


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


def test_an_unscored_share_has_the_interval_of_its_stereotypes():
    counts = pl.DataFrame({"n": [10, 10, 10], "n_scored": [9, 7, 6], "confidence": 0.9})
    none_missing = pl.DataFrame({"n": [10, 0], "n_scored": [10, 0], "confidence": [0.9, None]})
    models = [counts.with_columns(model=pl.lit("a")), none_missing.with_columns(model=pl.lit("b"))]
    of_a, of_b = unscored_share(pl.concat(models), "model").rows()
    shares = [0.1, 0.3, 0.4]
    interval = scipy.stats.t.interval(0.9, 2, sum(shares) / 3, scipy.stats.sem(shares))
    assert of_a[1:] == pytest.approx((sum(shares) / 3, max(interval[0], 0.0), interval[1]))
    assert of_b == ("b", 0.0, None, None)


def test_pooled_pairs_give_the_same_means_and_counts_over_all_models(scores_of, pair_of, measure):
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
    stated = ("level", "n", "n_scored", "compliance", "estimate", "sd", "bound_low", "bound_high")
    ours, theirs = (
        estimate_summaries(units, measure).estimates.filter(level="overall").select(stated)
        for units in (pooled, whole)
    )
    assert_frame_equal(ours, theirs)


def ranges(scores, measure, level):
    """Return what varies and what is fixed in each range of a level."""
    rows = estimate_measure(scores, measure).filter(pl.col("range").is_not_null(), level=level)
    found = rows.select("range", "clustered_by", "conditional_on").unique().rows()
    return {name: texts for name, *texts in found}


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


PROMPTS = ["draws, answers", "stereotypes, attribute words, wordings, group words"]


@pytest.mark.parametrize("level", ["stereotype", "category", "model"])
def test_each_level_says_what_it_generalises_over_and_holds_fixed(full, measure, level):
    found = ranges(full, measure, level)
    beyond = "wordings, group words, draws, answers"
    assert found.pop("prompts") == PROMPTS
    fixed = "attribute words, one default word"
    assert found.pop("other_prompts") == [beyond, f"stereotypes, {fixed}"]
    several = {} if level == "stereotype" else {"stereotypes": [f"stereotypes, {beyond}", fixed]}
    assert found == several


def test_a_cell_is_one_wording(full, measure):
    fixed = "stereotypes, attribute words, one wording, one default word"
    assert ranges(full, measure, "cell")["other_prompts"] == ["group words, draws, answers", fixed]


def test_one_stereotype_says_nothing_of_others(full, measure):
    assert "stereotypes" not in ranges(full.filter(stereotype="age"), measure, "model")


def test_what_does_not_vary_is_held_fixed(full, measure):
    one = full.filter(stereotype="age", variation="synonym", marginalized="old")
    words = "one wording, one marginalized word, one default word"
    for level in ("cell", "stereotype", "model"):
        expected = ["draws, answers", f"stereotypes, attribute words, {words}"]
        assert ranges(one, measure, level) == {"prompts": PROMPTS, "other_prompts": expected}


def test_a_cluster_without_scores_is_none(full, measure, scores_of):
    missing = {"stereotype": "age", "variation": "replication", "marginalized": "elderly"}
    lost = scores_of({"score": None, "pair_id": "lost", **missing})
    rows = estimate_measure(full.vstack(lost), measure)
    row = rows.filter(level="cell", stereotype="age", variation="replication").row(0, named=True)
    assert (row["n"], row["n_scored"], row["n_clusters"]) == (9, 8, 4)


def test_all_models_share_their_prompts(full, measure):
    """The wordings of each model are its strata, and words and wordings of all are the same."""
    other = full.with_columns(model=full["model"].replace("m", "other"), score=-full["score"])
    found = ranges(full.vstack(other), measure, "overall")
    assert found["prompts"] == PROMPTS
    assert found["other_prompts"][0] == "wordings, group words, draws, answers"
