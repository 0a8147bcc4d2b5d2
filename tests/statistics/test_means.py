"""Means with their ranges: coverage in simulation, shared levels, the ends of the scale."""

import numpy as np
import polars as pl
import pytest
import scipy.stats
from statsmodels.stats.proportion import proportion_confint

from clinometer.results import SCORES, Measure
from clinometer.statistics import estimate_measure
from clinometer.statistics.clustered import clustered_mean
from clinometer.statistics.designs import CROSSED
from clinometer.statistics.means import RANGES, VALUES, means
from clinometer.statistics.strata import strata_of
from clinometer.statistics.summaries import NEVER_POOLED, summarise

SIDES = (-1.0, 1.0)

STEREOTYPE = ("category", "stereotype")

UNPOOLED = dict.fromkeys(NEVER_POOLED, "x") | {"control": None}


def crossed(stereotypes: int = 8, wordings: int = 4, draws: int = 12, models: int = 1):
    """Return the design of models × stereotypes × wordings × draws, as for `means`.

    Each stereotype has four marginalized and three default words, crossed in its draws.
    """
    axes = np.mgrid[:models, :stereotypes, :wordings, :draws]
    model, stereotype, wording, draw = (axis.ravel() for axis in axes)
    word = pl.col("stereotype") + " " + (pl.col("draw") % 4).cast(pl.String)
    return pl.DataFrame(
        {
            "model": [f"m{i}" for i in model],
            "category": [f"c{i % 2}" for i in stereotype],
            "stereotype": [f"s{i}" for i in stereotype],
            "variation": [f"v{i}" for i in wording],
            "draw": draw,
            "n_scored": 2,
        }
    ).with_columns(
        marginalized=word,
        default=pl.col("stereotype") + pl.format(" {}", pl.col("draw") // 4 % 3),
        one_person=pl.lit(False),
        **{name: pl.lit(value, pl.String) for name, value in UNPOOLED.items()},
    )


def effects(rng: np.random.Generator, units: pl.DataFrame, *factor: str) -> np.ndarray:
    """Draw a normal effect for each combination of levels, for each row its own."""
    codes = units.select(pl.struct(factor).rank("dense")).to_series().to_numpy()
    return rng.normal(size=codes.max() + 1)[codes]


#: Effects, of sd .1 in simulations; the last is that of responses, of sd .3.
EFFECTS = (
    ("model", "variation"),
    ("model", "stereotype", "variation"),
    ("model", "marginalized"),
    ("model", "default"),
    ("model", "stereotype", "variation", "draw"),
)


def simulated(models: int, mean: float = 0.2, seed: int = 0) -> pl.DataFrame:
    units, rng = crossed(models=models), np.random.default_rng(seed)
    noise = 0.1 * sum(effects(rng, units, *factor) for factor in EFFECTS[:-1])
    responses = 0.3 * effects(rng, units, *EFFECTS[-1])
    return units.with_columns(mean=pl.Series(mean + noise + responses))


def as_scores(units: pl.DataFrame) -> pl.DataFrame:
    """Return both orders of each mirrored pair, with the same score."""
    labelled = units.with_row_index("pair_id").with_columns(
        pl.col("pair_id").cast(pl.String),
        iteration="draw",
        score="mean",
        instrument=pl.lit("word_association"),
    )
    orders = pl.DataFrame({"order": ["marginalized_first", "default_first"]})
    two_orders = labelled.join(orders, how="cross")
    return two_orders.select(
        (pl.col(c) if c in two_orders.columns else pl.lit(None)).cast(t).alias(c)
        for c, t in SCORES.items()
    )


def coverage(group_means, level: str, name: str, truth: float = 0.2) -> float:
    """Return the share of intervals of a level and range that hold the truth."""
    intervals = [
        group.mean(name).interval() for key, group in group_means.items() if key[0] == level
    ]
    assert len(intervals) >= 100
    return np.mean([low <= truth <= high for low, high in intervals])


def test_crossed_intervals_cover_and_the_narrowest_clusters_do_not():
    """120 models of 8 stereotypes, around a mean of .2."""
    units = simulated(120)
    group_means = means(units, SIDES, levels=("stereotype", "model"))
    # Stereotypes share wordings: the standard error of this share is about .012.
    assert 0.9 <= coverage(group_means, "stereotype", "other_prompts") <= 0.98
    assert 0.9 <= coverage(group_means, "model", "stereotypes") <= 0.99
    # Of effects of words and wordings these prompts say nothing.
    assert coverage(group_means, "stereotype", "prompts") < 0.85
    narrow = []
    for _, group in units.group_by("model", "stereotype"):
        cell = group.select(pl.struct("variation", "marginalized", "default").rank("dense"))
        mean = clustered_mean(group["mean"].to_numpy(), cell.to_series().to_numpy())
        narrow.append(mean.interval()[0] <= 0.2 <= mean.interval()[1])
    assert np.mean(narrow) < 0.85


def test_intervals_for_these_prompts_hold_the_mean_of_these_prompts():
    """Their truth is what the wordings and words of each stereotype add up to."""
    units, rng = crossed(models=60), np.random.default_rng(5)
    planted = units.with_columns(
        truth=pl.Series(0.2 + 0.1 * sum(effects(rng, units, *factor) for factor in EFFECTS[:-1]))
    )
    responses = pl.Series(0.3 * rng.normal(size=units.height))
    group_means = means(
        planted.with_columns(mean=pl.col("truth") + responses), SIDES, levels=("model",)
    )
    truths = {key: group["truth"].mean() for key, group in planted.group_by("model")}
    ends = [(truths[key[1:2]], *group.prompts.interval()) for key, group in group_means.items()]
    assert np.mean([low <= truth <= high for truth, low, high in ends]) >= 0.9


def test_other_stereotypes_are_covered_too():
    """Each stereotype has a mean of its own, of sd .1 around .2."""
    units = simulated(120, seed=1)
    deviations = 0.1 * effects(np.random.default_rng(2), units, "model", "stereotype")
    units = units.with_columns(pl.col("mean") + pl.Series(deviations))
    assert 0.9 <= coverage(means(units, SIDES, levels=("model",)), "model", "stereotypes") <= 0.99


def mean_of_group(units: pl.DataFrame, *key: str):
    """Return the mean of one group: its level, model, and the keys of what it pools over."""
    level, model, *group_key = key
    return means(units, SIDES, levels=(level,))[level, model, *UNPOOLED.values(), *group_key]


def lettered(units: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Give each stereotype levels of its own."""
    return units.with_columns(pl.col(c) + " of " + pl.col("stereotype") for c in columns)


def test_shared_wordings_widen_the_interval_of_their_mean():
    """Where wordings move all stereotypes alike, as many of them are no help."""
    units = crossed()
    rng = np.random.default_rng(3)
    shared = effects(rng, units, "variation") + 0.1 * rng.normal(size=units.height)
    units = units.with_columns(mean=0.2 * pl.Series(shared))
    by_wording = units.group_by("variation").agg(pl.col("mean").mean())["mean"]
    expected = scipy.stats.sem(by_wording)
    assert mean_of_group(units, "model", "m0").other_prompts.se > 0.8 * expected
    separate = mean_of_group(lettered(units, "variation"), "model", "m0").other_prompts
    assert separate.se < 0.6 * expected


def test_two_wordings_in_common_widen_no_more_than_if_they_moved_all_alike():
    """Two wordings alone have one degree of freedom; those of the stereotypes bound the error."""
    units = crossed(wordings=2, models=20)
    noise = 0.1 * sum(effects(np.random.default_rng(4), units, *columns) for columns in EFFECTS[1:])
    group_means = means(
        units.with_columns(mean=pl.Series(noise)), SIDES, levels=("stereotype", "model")
    )
    for model in units["model"].unique():
        parts = [
            part.other_prompts
            for key, part in group_means.items()
            if key[:2] == ("stereotype", model)
        ]
        low, high = group_means["model", model, *UNPOOLED.values()].other_prompts.interval()
        alike = np.mean([part.se for part in parts])  # the error if all effects were common
        widest_df = min(part.df for part in parts)
        assert (high - low) / 2 < 1.02 * scipy.stats.t.ppf(0.9875, widest_df) * alike


@pytest.mark.parametrize(("times", "least", "most"), [(1.0, 0.85, 1.5), (5.0, 0.85, 1.5)])
def test_one_noisy_stereotype_makes_the_mean_of_its_category_as_unsure_as_it_is(times, least, most):
    """Moderated by the others its own variance is too small, which its category must not have."""
    units, rng = crossed(models=150), np.random.default_rng(4)
    deviations = 0.02 * sum(effects(rng, units, *EFFECTS[place]) for place in (1, 4))
    noise = pl.Series(deviations) * pl.when(stereotype="s0").then(times).otherwise(1.0)
    group_means = means(units.with_columns(mean=noise), SIDES, levels=("category",))
    noisy_means = [group.other_prompts for key, group in group_means.items() if key[-1] == "c0"]
    assert len(noisy_means) == 150
    estimated = np.mean([mean.se**2 for mean in noisy_means])
    assert least < estimated / np.mean([mean.mean**2 for mean in noisy_means]) < most
    assert coverage(group_means, "category", "other_prompts", 0.0) > 0.9


def judged(scores: pl.DataFrame, method: str) -> list[dict]:
    measure = Measure("word_association", "", *SIDES, 0.0, "", "")
    return estimate_measure(scores, measure).filter(level="stereotype", method=method).to_dicts()


def saturated(stereotypes: int) -> pl.DataFrame:
    """Return the first four of eight stereotypes with every score at the end of the scale."""
    units = simulated(1) if stereotypes == 8 else crossed(stereotypes).with_columns(mean=0.0)
    ends = pl.col("stereotype").is_in(["s0", "s1", "s2", "s3"])
    return units.with_columns(mean=pl.when(ends).then(1.0).otherwise(pl.col("mean").clip(-1, 1)))


@pytest.mark.parametrize("stereotypes", [1, 4, 8])
@pytest.mark.parametrize("method", ["bounded", "clustered"])
def test_intervals_of_scores_at_the_end_end_there(stereotypes, method):
    row = judged(as_scores(saturated(stereotypes)), method)[0]
    assert row["estimate"] == 1.0
    assert row["ci_low"] < row["ci_high"] == pytest.approx(1.0, abs=1e-9)
    if method == "bounded":
        assert row["verdict"] == "consistent"
        # 48 pairs at 1: Clopper and Pearson's bound.
        low = proportion_confint(48, 48, 1 - 0.95, method="beta")[0]
        assert row["pointwise_low"] == pytest.approx(2 * low - 1)


@pytest.mark.parametrize("lower", [0.0, -1.0])
@pytest.mark.parametrize("stereotypes", [1, 2, 8])
def test_one_of_200_answers_lower_changes_no_verdict_on_these_prompts(stereotypes, lower):
    scores = as_scores(crossed(stereotypes, draws=25).with_columns(mean=1.0))
    first = pl.int_range(pl.len()) == 7
    lowered = scores.with_columns(score=pl.when(first).then(lower).otherwise("score"))
    assert {row["verdict"] for row in judged(lowered, "bounded")} == {"consistent"}


@pytest.mark.parametrize("mean", [-0.97, 0.9, 0.99])
def test_intervals_end_inside_the_scale(mean):
    units = simulated(3, mean).with_columns(pl.col("mean").clip(-1, 1))
    for group in means(units, SIDES).values():
        for estimate in (group.mean(name) for name in RANGES):
            if estimate is not None and estimate.se is not None:
                low, high = estimate.interval(0.99)
                assert -1 <= low <= estimate.mean + 1e-9 and estimate.mean - 1e-9 <= high <= 1


def numbers(units: pl.DataFrame) -> dict:
    by_group = {}
    for key, group in means(units, SIDES).items():
        estimates = [group.mean(name) for name in RANGES]
        by_group[key] = [
            number
            for estimate in estimates
            if estimate is not None
            for number in (estimate.mean, estimate.se, *estimate.interval())
        ]
    return by_group


def same(ours: dict, theirs: dict) -> bool:
    return ours.keys() == theirs.keys() and all(
        ours[key] == pytest.approx(theirs[key], rel=1e-8, abs=1e-12) for key in ours
    )


@pytest.mark.parametrize("stereotypes", [2, 8])
def test_order_of_rows_and_names_of_levels_do_not_matter(stereotypes):
    names = [f"s{i}" for i in range(stereotypes)]
    units = simulated(1).filter(pl.col("stereotype").is_in(names))
    first = numbers(units)
    assert same(first, numbers(units.sample(fraction=1, shuffle=True, seed=1)))
    renamed = units.with_columns(
        marginalized=pl.col("marginalized").str.reverse(),
        default=pl.lit("x") + pl.col("default").str.reverse(),
        draw=1000 - 7 * pl.col("draw"),
    )
    assert same(first, numbers(renamed))
    wordings = {f"v{i}": f"y{9 - i}" for i in range(4)}
    reworded = numbers(units.with_columns(pl.col("variation").replace(wordings)))
    assert same(
        {key: row for key, row in first.items() if key[0] != "cell"},
        {key: row for key, row in reworded.items() if key[0] != "cell"},
    )


def test_a_sum_of_variances_is_known_as_well_as_its_least_known_part():
    """Models with three stereotypes in three wordings: two degrees of freedom of each."""
    units = crossed(stereotypes=3, wordings=3, models=60)
    rng = np.random.default_rng(5)
    noise = 0.1 * effects(rng, units, "model", "variation")
    noise += 0.1 * effects(rng, units, "model", "stereotype", "variation", "draw")
    group_means = means(units.with_columns(mean=pl.Series(noise)), (-1.0, 1.0))
    df = np.array(
        [group.stereotypes.df for (level, *_), group in group_means.items() if level == "model"]
    )
    assert len(df) == 60
    assert df.min() >= 2.0


def align_names(units, alike):
    """Give all stereotypes the same group words, or each its own."""
    if not alike:
        return units
    same = (pl.col(c).str.split(" ").list.last() for c in ("marginalized", "default"))
    return units.with_columns(same)


def test_words_that_stereotypes_share_are_one_source():
    """Names move all of ten stereotypes together: a mean over them is no surer for their number."""
    rng, widths = np.random.default_rng(12), {}
    for alike in (True, False):
        units = align_names(crossed(stereotypes=10, wordings=3, models=30), alike)
        whose = ("model",) if alike else ("model", "stereotype")
        sides = ("marginalized", "default")
        names = 0.15 * sum(effects(rng, units, *whose, side) for side in sides)
        scores = units.with_columns(mean=names + rng.normal(0, 0.05, len(units)))
        group_means = means(scores, SIDES, levels=["model"])
        widths[alike] = np.median([group.other_prompts.se for group in group_means.values()])
    assert widths[True] > 1.5 * widths[False]


def test_a_score_whose_words_and_wording_are_single_has_no_error_for_other_prompts(make_scores):
    """Of other wordings and words nothing is known, whatever company it is in."""
    rng = np.random.default_rng(2)
    rows = [
        {"stereotype": f"s{s}", "variation": f"v{w}", "marginalized": f"a{s}.{k}", "default": "d",
         "pair_id": f"{s}.{w}.{k}", "iteration": k, "score": 0.2 + effect}
        for s in range(7)
        for w, effect in enumerate(rng.normal(0, 0.2, 3))
        for k in range(3)
    ]  # fmt: skip
    alone = {**rows[0], "stereotype": "alone", "pair_id": "alone", "marginalized": "x"}
    group_means = means(summarise(make_scores(*rows, alone)), SIDES, levels=["stereotype"])
    by_name = {key[-1]: group.other_prompts for key, group in group_means.items()}
    single = by_name.pop("alone")
    assert single.mean == pytest.approx(rows[0]["score"])
    assert (single.se, single.interval()) == (None, (None, None))
    assert all(mean.se for mean in by_name.values())


@pytest.mark.parametrize("seed", range(6))
def test_a_mean_for_other_stereotypes_is_never_surer_than_that_for_these(seed):
    """Also where the means of stereotypes happen to lie closer than their errors are."""
    rng = np.random.default_rng(seed)
    units = crossed(stereotypes=6, wordings=3).with_columns(value=pl.lit(0.1))
    spread = pl.Series(rng.normal(0, 0.3, len(units)))
    units = units.with_columns(mean=pl.col("value") + spread - spread.mean())
    even = pl.col("mean") - pl.col("mean").mean().over("stereotype")  # all means are alike
    for values in (units, units.with_columns(mean=even + 0.001 * pl.col("mean"))):
        for group in means(values, SIDES, levels=("category", "model")).values():
            if group.stereotypes is not None:
                low, high = group.other_prompts.interval()
                wide_low, wide_high = group.stereotypes.interval()
                assert wide_low <= low + 1e-12 and high <= wide_high + 1e-12


def test_a_single_person_has_no_word_of_the_other_group(make_scores):
    """The same answers, each about one person: in pairs they have the words of both."""
    rng, measure = np.random.default_rng(5), Measure("hypothetical_decision", "", -1, 1, 0, "", "")
    names = rng.normal(0, 0.2, (2, 6))
    rows = []
    for wording, repeat, name in np.ndindex(8, 6, 6):
        for side, group in enumerate(("marginalized", "default")):
            yes = 2.0 * (rng.random() < 0.6 + names[side, name]) - 1.0
            rows.append(
                {"instrument": measure.name, "version": group, "order": None, "iteration": repeat,
                 "variation": f"v{wording}", "marginalized": f"a{name}", "default": f"b{name}",
                 "pair_id": f"{wording} {repeat} {name}", "score": yes if side else -yes}
            )  # fmt: skip
    pairs = make_scores(*rows)
    single = pairs.with_columns(
        pl.when(version="marginalized").then("marginalized").alias("marginalized"),
        pl.when(version="default").then("default").alias("default"),
        pair_id=None,
    )
    model_rows = {}
    for name, scores in {"pairs": pairs, "single": single}.items():
        estimates = estimate_measure(scores.cast(SCORES), measure)
        (model_rows[name],) = estimates.filter(level="stereotype", method="clustered").to_dicts()
    assert model_rows["single"]["estimate"] == pytest.approx(model_rows["pairs"]["estimate"])
    # Six pairs of words are one factor, and six words of either group are two.
    assert 0.7 < model_rows["single"]["se"] / model_rows["pairs"]["se"] < 2**0.5
    assert "one" not in model_rows["single"]["conditional_on"]


@pytest.mark.parametrize("lost", [("default",), ("marginalized", "default")])
def test_a_word_that_is_not_recorded_is_a_word(make_scores, lost):
    """Where other answers have words of both groups, those without are about no single person."""
    rows = [
        {"variation": f"v{k % 3}", "marginalized": f"a{k % 2}", "default": f"b{k % 4}",
         "iteration": k, "order": None, "score": 0.1 * (k % 5)}
        for k in range(12)
    ]  # fmt: skip
    rows[3] |= dict.fromkeys(lost)
    units = summarise(make_scores(*rows))
    ((_, (stratum,)),) = strata_of(units, VALUES, ("model", *NEVER_POOLED), STEREOTYPE)
    assert all((member >= 0).all() for member in stratum.design.members[:-1])
    default = CROSSED.index("default")
    assert len(stratum.design.levels[default]) == 5  # four and the one that is not recorded


@pytest.mark.parametrize(("words", "is_open"), [(1, True), (2, False)])
def test_a_word_that_is_not_recorded_is_no_other_word(make_scores, measure, words, is_open):
    """Beside one word that is recorded it says nothing of other words."""
    rows = [
        {"variation": f"v{k % 3}", "marginalized": f"a{k % words}", "default": f"b{k % words}",
         "iteration": k, "order": None, "score": 0.1 * (k % 5)}
        for k in range(24)
    ]  # fmt: skip
    for row in rows[6:9]:
        row |= {"marginalized": None, "default": None}
    estimates = estimate_measure(make_scores(*rows), measure)
    (estimate,) = estimates.filter(level="stereotype", method="clustered").to_dicts()
    assert ("one marginalized word" in estimate["conditional_on"]) == is_open


def test_scores_that_are_all_alike_are_no_surer_in_other_prompts_than_in_these() -> None:
    """As by a habit of order, which makes every mirrored pair 0."""
    units = crossed(stereotypes=2).with_columns(mean=pl.lit(0.0))
    for (level, *_), ranges in means(units, SIDES, levels=("cell", "stereotype", "model")).items():
        (low, high), (lowest, highest) = (
            mean.interval() for mean in (ranges.prompts, ranges.other_prompts)
        )
        assert lowest <= low < 0 < high <= highest, level
    few = crossed(stereotypes=1, wordings=2, draws=2).with_columns(mean=pl.lit(0.5))
    (mean,) = means(few, SIDES, levels=("stereotype",)).values()
    assert 0 < mean.other_prompts.interval()[0] < 0.5


def test_differences_of_two_runs_alike_stay_sure() -> None:
    units = crossed(stereotypes=2).with_columns(mean=pl.lit(0.0), before=pl.lit(0.3))
    columns = {"value": "mean", "weight": "n_scored", "baseline": "before"}
    (mean,) = means(units, SIDES, columns, levels=("model",)).values()
    assert not mean.other_prompts.unanimous
