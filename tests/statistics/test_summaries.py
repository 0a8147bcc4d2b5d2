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


def test_a_row_per_mirrored_pair(make_scores, make_pair):
    units = summarise(make_scores(*make_pair("a", 0.5, 0.1), *make_pair("b", 0.2, None)))
    assert units["n"].to_list() == [2, 2]
    assert units["n_scored"].to_list() == [2, 1]
    assert units["mean"].to_list() == pytest.approx([0.3, 0.2])
    assert units["m2"].to_list() == pytest.approx([0.08, 0.0])
    assert units["order_n"].to_list() == [1, 0]
    assert units["order_sum"].to_list() == pytest.approx([0.4, 0.0])


def test_summaries_of_models_can_be_joined(make_scores, make_pair, measure):
    m = make_scores(*make_pair("a", 0.5, 0.1), *make_pair("b", 0.2, 0.6))
    halved = m.with_columns(pl.lit("other").alias("model"), pl.col("score") / 2)
    estimates = estimate_summaries(pl.concat([summarise(m), summarise(halved)]), measure).estimates
    assert_frame_equal(judge(adjust_means(estimates)), estimate_measure(m.vstack(halved), measure))


@pytest.mark.parametrize("differs", ["stereotype", "variation", "marginalized", "default"])
def test_a_mirrored_pair_differs_in_order_alone(make_scores, make_pair, differs):
    first, second = make_pair("a", 0.5, 0.1)
    with pytest.raises(InputError, match="pair_id 'a'"):
        summarise(make_scores(first, {**second, differs: "another"}))


def test_models_share_pairs(make_scores, make_pair):
    scores = make_scores(*make_pair("a", 0.5, 0.1), *make_pair("a", 0.2, 0.3, model="other"))
    assert summarise(scores).height == 2


@pytest.mark.parametrize("reason", [None, "bored"])
def test_a_missing_score_has_a_known_reason(make_scores, reason):
    scores = make_scores({"score": None, "reason": reason})
    with pytest.raises(InputError, match="allowed: refused, neither, both, unparsed"):
        summarise(scores)


def test_nan_is_not_a_missing_score(make_scores):
    with pytest.raises(InputError, match="nan"):
        summarise(make_scores({"score": float("nan")}))


def test_a_column_is_missing(make_scores):
    with pytest.raises(InputError, match="missing column reason"):
        compliance(make_scores({"score": 0.1}).drop("reason"))


def test_compliance_counts_by_reason_and_group(make_scores):
    missing = [{"score": None, "reason": reason} for reason in (*REASONS, "refused")]
    counts = compliance(
        make_scores({"score": 0.1}, *missing, {"score": 0.2, "default": "youthful"})
    )
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
    share_a, share_b = unscored_share(pl.concat(models), "model").rows()
    shares = [0.1, 0.3, 0.4]
    interval = scipy.stats.t.interval(0.9, 2, sum(shares) / 3, scipy.stats.sem(shares))
    assert share_a[1:] == pytest.approx((sum(shares) / 3, max(interval[0], 0.0), interval[1]))
    assert share_b == ("b", 0.0, None, None)


def test_pooled_pairs_give_the_same_means_and_counts_over_all_models(
    make_scores, make_pair, measure
):
    rows = [
        row
        for k, word in enumerate(["x", "y", "x"])
        for row in make_pair(f"p{k}", 0.1 * k, 0.3, marginalized=word)
    ]
    m = make_scores(*rows, *make_pair("q", -0.5, None, marginalized="y"))
    halved = m.with_columns(pl.lit("other").alias("model"), pl.col("score") / 2)
    pooled = pl.concat([pool_pairs(summarise(m)), pool_pairs(summarise(halved))])
    assert pooled.height == 4 < summarise(m).height * 2
    unpooled = summarise(m.vstack(halved))
    columns = ("level", "n", "n_scored", "compliance", "estimate", "sd", "bound_low", "bound_high")
    ours, theirs = (
        estimate_summaries(units, measure).estimates.filter(level="overall").select(columns)
        for units in (pooled, unpooled)
    )
    assert_frame_equal(ours, theirs)


def ranges(scores, measure, level):
    """Return what varies and what is fixed in each range of a level."""
    rows = estimate_measure(scores, measure).filter(pl.col("range").is_not_null(), level=level)
    texts_by_range = rows.select("range", "clustered_by", "conditional_on").unique().rows()
    return {name: texts for name, *texts in texts_by_range}


@pytest.fixture
def full(make_scores, make_pair):
    """Two stereotypes, two wordings, two group pairs, two mirrored pairs of each."""
    rows, k = [], 0
    for stereotype in ("age", "weight"):
        for variation in ("replication", "synonym"):
            for word in ("old", "aged"):
                for _ in range(2):
                    k += 1
                    where = {"stereotype": stereotype, "variation": variation}
                    rows += make_pair(f"p{k}", k / 40, k / 50, marginalized=word, **where)
    return make_scores(*rows)


PROMPTS = ["draws, answers", "stereotypes, attribute words, wordings, group words"]


@pytest.mark.parametrize("level", ["stereotype", "category", "model"])
def test_each_level_says_what_it_generalises_over_and_holds_fixed(full, measure, level):
    range_texts = ranges(full, measure, level)
    beyond = "wordings, group words, draws, answers"
    assert range_texts.pop("prompts") == PROMPTS
    fixed = "attribute words, one default word"
    assert range_texts.pop("other_prompts") == [beyond, f"stereotypes, {fixed}"]
    several = {} if level == "stereotype" else {"stereotypes": [f"stereotypes, {beyond}", fixed]}
    assert range_texts == several


def test_a_cell_is_one_wording(full, measure):
    fixed = "stereotypes, attribute words, one wording, one default word"
    assert ranges(full, measure, "cell")["other_prompts"] == ["group words, draws, answers", fixed]


def test_one_stereotype_says_nothing_of_others(full, measure):
    assert "stereotypes" not in ranges(full.filter(stereotype="age"), measure, "model")


def test_what_does_not_vary_is_held_fixed(full, measure):
    cell = full.filter(stereotype="age", variation="synonym", marginalized="old")
    words = "one wording, one marginalized word, one default word"
    for level in ("cell", "stereotype", "model"):
        expected = ["draws, answers", f"stereotypes, attribute words, {words}"]
        assert ranges(cell, measure, level) == {"prompts": PROMPTS, "other_prompts": expected}


def test_a_cluster_without_scores_is_none(full, measure, make_scores):
    missing = {"stereotype": "age", "variation": "replication", "marginalized": "elderly"}
    lost = make_scores({"score": None, "pair_id": "lost", **missing})
    rows = estimate_measure(full.vstack(lost), measure)
    row = rows.filter(level="cell", stereotype="age", variation="replication").row(0, named=True)
    assert (row["n"], row["n_scored"], row["n_clusters"]) == (9, 8, 4)


def test_all_models_share_their_prompts(full, measure):
    """The wordings of each model are its strata, and words and wordings of all are the same."""
    mirrored = full.with_columns(model=full["model"].replace("m", "other"), score=-full["score"])
    range_texts = ranges(full.vstack(mirrored), measure, "overall")
    assert range_texts["prompts"] == PROMPTS
    assert range_texts["other_prompts"][0] == "wordings, group words, draws, answers"


def test_a_pooled_pair_has_the_weighted_mean_of_its_draws(make_scores, make_pair):
    scores = [
        row
        for draw, word in ((0, "emily"), (1, "emily"), (2, "anna"))
        for row in make_pair(f"p{draw}", 0.0, 0.0, marginalized=word)
    ]
    units = summarise(make_scores(*scores)).sort("unit")
    units = units.with_columns(value=pl.Series([1.0, 0.0, 0.5]), weight=pl.Series([3.0, 1.0, 1.0]))
    pooled = pool_pairs(units).sort("marginalized")
    assert pooled.select("marginalized", "value", "weight").rows() == [
        ("anna", 0.5, 1.0),
        ("emily", 0.75, 4.0),
    ]
