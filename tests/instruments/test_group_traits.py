"""Traits of groups: what is tied, what is scored, and how it agrees with people's ratings."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from clinometer.audits.auditing import audit
from clinometer.audits.sizes import PlanOptions
from clinometer.audits.tabulating import estimate_scores
from clinometer.contracts.catalogue import INSTRUMENTS, select
from clinometer.contracts.design import Design
from clinometer.errors import InputError, StudyError
from clinometer.report import write_report
from clinometer.scoring import score
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.tables import answer_trials
from clinometer.simulated.truth import Simulation, Truth
from clinometer.stimuli import Study, load_study, parse_study
from clinometer_measures.group_traits.agreement import RatedLeans, agree, shuffle
from clinometer_measures.group_traits.people import compare_with_people

GROUP_TRAITS = INSTRUMENTS["group_traits"]


@pytest.fixture(scope="module")
def cao() -> Study:
    return load_study("cao2022")


def trials_of(study: Study, mode: str, iterations: int = 24, **names: Any) -> pl.DataFrame:
    return GROUP_TRAITS.trials(study, Design(mode, iterations), **names)


# What is tied, and what is asked


def test_the_tied_trait_is_what_people_give_the_group_more_than_others(cao: Study) -> None:
    """Beside means that are taken here, in another way."""
    words = GROUP_TRAITS.words(cao, "elderly_people", "", None)
    means: dict[tuple[str, str], dict[str, float]] = {}
    for row in cao.ratings().iter_rows(named=True):
        pair = (row["trait_low"], row["trait_high"])
        means.setdefault(pair, {}).setdefault(row["stereotype"], 0.0)
    assert len(means) == 16
    for low, high in means:
        pair_ratings = cao.ratings().filter(trait_high=high)
        by_group = {
            key: pair_ratings.filter(stereotype=key)["rating"].mean() for key in cao.stereotypes
        }
        above = by_group["elderly_people"] > np.mean([*by_group.values()])
        assert ((high, low) if above else (low, high)) in zip(
            words.tied, words.counter, strict=True
        )


def test_the_ratings_are_those_that_were_published(cao: Study) -> None:
    """Half of the raters of each group: their means are near the published ones (women, agency)."""
    ratings = cao.ratings()
    assert ratings.height == 4160 and ratings["annotator"].n_unique() == 67
    women = ratings.filter(stereotype="women", trait_high="powerful")["rating"]
    assert abs(float(women.mean()) - 50.6) < 2 * float(women.std()) / math.sqrt(len(women))  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["free", "likelihood"])
def test_all_groups_and_wordings_are_asked_the_same_traits_first(cao: Study, mode: str) -> None:
    few = trials_of(cao, mode, 4 if mode == "free" else 2)
    pairs = few.select(pl.concat_list("tied", "counter").list.sort().list.join("/").alias("pair"))
    counts = few.with_columns(pairs).group_by("dimension").agg(pl.col("pair").n_unique())
    assert set(counts["pair"]) == {1 if mode == "free" else 2}


def test_both_orders_are_asked_of_the_group_and_of_people(cao: Study) -> None:
    trials = trials_of(cao, "free", 4, stereotypes=["women"], variations=["seen"])
    rows = trials.filter(dimension="agency").select("version", "attribute_order").rows()
    orders = ("tied_first", "counter_first")
    assert sorted(rows) == sorted((v, o) for v in ("marginalized", "default") for o in orders)


# Scores


def score_of(trial: dict[str, Any], response: str, study: Study) -> Any:
    key = GROUP_TRAITS.key(study, trial["stereotype"], trial["variation"], trial["dimension"])
    return GROUP_TRAITS.score(response, trial, key)["group_traits"]


def test_a_sentence_scores_the_log_odds_less_those_of_people(cao: Study) -> None:
    trial = trials_of(cao, "likelihood", 1).row(0, named=True)
    group, people = trial["attributes"]
    scored = score_of(trial, json.dumps({group: [-5.0, -6.5], people: [-4.0, -5.0]}), cao)
    assert scored.logit == pytest.approx(0.5)  # 1.5 − 1.0
    assert scored.score == pytest.approx(2 / (1 + math.exp(-0.5)) - 1)
    assert score_of(trial, json.dumps({group: [-5.0, -6.5]}), cao).reason == "low_coverage"


def test_people_who_get_the_tied_trait_speak_against_it(cao: Study) -> None:
    trials = trials_of(cao, "forced", 2, stereotypes=["women"]).iter_rows(named=True)
    for trial in trials:
        answer = json.dumps({trial["attributes"][0]: [-1.0, -3.0]})
        sign = 1 if trial["version"] == "marginalized" else -1
        assert score_of(trial, answer, cao).score == pytest.approx(sign * math.tanh(1.0))


# The statistics, on data that are made here


def simulate_ratings(  # noqa: PLR0913 - what is planted
    seed: int, *, slope: float = 0.0, noise: float = 0.3, groups: int = 30, raters: int = 12,
    wordings: int = 6,
) -> tuple[RatedLeans, np.ndarray[Any, Any]]:  # fmt: skip
    """Make ratings of groups by raters of their own, and leans that follow their true choices."""
    rng = np.random.default_rng(seed)
    pairs = 6
    true = rng.normal(50, 14, (groups, pairs))
    rating = np.clip(np.round(true[:, None] + rng.normal(0, 22, (groups, raters, pairs))), 0, 100)
    choice = np.sign(rating - 50)
    sums = np.stack([np.ones_like(rating), rating, rating**2, choice, choice**2], axis=2)
    # What a rater of infinitely many would choose.
    expected = 2 * stats.norm.cdf((true - 50) / 22) - 1
    leans = slope * expected + rng.normal(0, noise, (wordings, groups, pairs))
    cells = np.arange(groups * raters)
    parts = [np.arange(pairs), np.arange(2)]
    rated = RatedLeans(leans, sums.reshape(-1, 5, pairs), cells // raters, cells, parts)
    return rated, rating


def test_the_correlation_is_the_mean_of_pearsons_within_pairs() -> None:
    rated, rating = simulate_ratings(1, slope=1.0)
    lean, mean = rated.leans.mean(axis=0), rating.mean(axis=1)
    pearson = [stats.pearsonr(lean[:, pair], mean[:, pair]).statistic for pair in range(6)]
    all_pairs, two_pairs = agree(rated)
    assert all_pairs["correlation"].estimate == pytest.approx(np.mean(pearson))
    assert two_pairs["correlation"].estimate == pytest.approx(np.mean(pearson[:2]))


def test_the_ceiling_is_the_root_of_a_one_way_intraclass_correlation() -> None:
    """ICC(1, k) from the mean squares of an analysis of variance (scipy's F): 1 − 1 / F."""
    rated, rating = simulate_ratings(2)
    ceilings = []
    for pair in range(6):
        f = stats.f_oneway(*rating[:, :, pair]).statistic
        ceilings.append(math.sqrt(1 - 1 / f))
    assert agree(rated)[0]["ceiling"].estimate == pytest.approx(np.mean(ceilings))


def test_a_planted_slope_is_found_in_spite_of_the_error_of_the_ratings() -> None:
    """Without the correction it would be a fifth too small."""
    slopes, covered = [], 0
    for seed in range(8):
        slope = agree(simulate_ratings(seed, slope=1.5, groups=26, raters=10)[0])[0]["slope"]
        slopes.append(slope.estimate)
        covered += slope.low <= 1.5 <= slope.high
    assert np.mean(slopes) == pytest.approx(1.5, abs=0.1) and covered >= 6


def test_a_shift_is_told_from_a_slope() -> None:
    rated, _ = simulate_ratings(3, slope=1.0, noise=0.05)
    leans = rated.leans - rated.leans[:, :1] + 0.4  # the first group is people in general
    moved = RatedLeans(leans, rated.sums, rated.cell_groups, rated.cell_raters, rated.parts, 0)
    shift = agree(moved)[0]["shift"]
    assert shift.low < 0.4 < shift.high
    assert agree(moved)[0]["slope"].estimate == pytest.approx(1.0, abs=0.15)


def test_shuffled_groups_agree_by_chance_alone() -> None:
    rated, _ = simulate_ratings(4, slope=1.0)
    placebos = shuffle(rated, 500, 0)
    low, high = np.quantile(placebos[:, 0], [0.025, 0.975])
    assert low < 0 < high < agree(rated)[0]["correlation"].estimate
    # Of 30 groups and six independent pairs: 1.96 / √(29 · 6).
    assert (high - low) / 2 == pytest.approx(1.96 / math.sqrt(29 * 6), rel=0.15)


def test_wordings_correlate_as_their_noise_lets_them() -> None:
    """The mean of Pearson's over all pairs of wordings and of traits."""
    rated, _ = simulate_ratings(5, slope=1.0, wordings=3)
    matrices = [np.corrcoef(rated.leans[:, :, pair]) for pair in range(6)]
    expected = np.mean([matrix[np.triu_indices(3, 1)] for matrix in matrices])
    assert agree(rated)[0]["wordings"].estimate == pytest.approx(expected)


def test_what_is_missing_is_left_out_and_does_not_shift_the_others() -> None:
    """A wording with another level that lacks a group says nothing of that group."""
    rated, _ = simulate_ratings(6, slope=1.0, noise=1e-9)
    before = agree(rated)[0]["correlation"].estimate
    leans = rated.leans.copy()
    leans[0] += 5.0
    leans[0, :4] = np.nan
    changed = RatedLeans(leans, rated.sums, rated.cell_groups, rated.cell_raters, rated.parts)
    agreement = agree(changed)[0]
    assert agreement["correlation"].estimate == pytest.approx(before, abs=0.02)
    assert math.isnan(agreement["shift"].estimate)  # nobody is people in general


# A run of a simulated model


def simulated_scores(study: Study, mode: str, lean: float, **names: Any) -> pl.DataFrame:
    """Ask a model whose leans toward what people say are planted."""
    planted = Simulation("planted", Truth(explicit={"default": lean}), "")
    trials = trials_of(study, mode, **names)
    return score(answer_trials(trials, planted, Recognition([study])), study).scores


@pytest.fixture(scope="module")
def planted(cao: Study) -> pl.DataFrame:
    sentences = ["everyone", "truth", "asked"]
    return simulated_scores(cao, "likelihood", 0.3, variations=sentences)


def test_a_planted_relation_to_people_is_found_again(cao: Study, planted: pl.DataFrame) -> None:
    """The lean has one size toward what is tied: its correlation and slope follow from norms."""
    estimates, details = estimate_scores(planted.lazy(), studies={"cao2022": cao})
    correlations, covariances, spreads = [], 0.0, 0.0
    for (_,), pair_ratings in cao.ratings().group_by("trait_high"):
        choice = (pl.col("rating") - 50).sign()
        means = pair_ratings.group_by("stereotype").agg(
            pl.col("rating").mean(), choice=choice.mean(), error=choice.var() / pl.len()
        )
        lean = 0.3 * np.sign(means["rating"] - means["rating"].mean())
        correlations.append(np.corrcoef(lean, means["rating"])[0, 1])
        covariances += np.cov(lean, means["choice"])[0, 1]
        spreads += means["choice"].var() - means["error"].mean()
    expected = {
        "people_correlation": np.mean(correlations),
        "people_slope": covariances / spreads,
    }
    for measure, value in expected.items():
        overall = estimates.filter(pl.col("dimension").is_null(), measure=measure)
        row = overall.row(0, named=True)
        assert row["ci_low"] < value < row["ci_high"]
        assert row["estimate"] == pytest.approx(value, abs=0.04)
    placebo = estimates.filter(measure="people_correlation").filter(pl.col("dimension").is_null())
    assert placebo["placebo_high"].item() < 0.25 and placebo["p"].item() < 0.001
    leans = details["people_leans"]
    assert leans.height == 26 * (16 + 3) and leans["n_raters"].min() == 4


def test_a_lean_that_all_raters_share_has_no_interval(planted: pl.DataFrame, cao: Study) -> None:
    leans = compare_with_people(planted.lazy(), cao).details["people_leans"]
    width = pl.col("people_high") - pl.col("people_low")
    assert leans.filter(width <= 1e-9).is_empty()
    alike = leans.filter(pl.col("people_low").is_null(), pl.col("n_raters") > 1)
    assert not alike.is_empty()  # some groups have raters who all choose alike
    assert alike["people_lean"].null_count() == 0
    # Where raters differ there is one, as before.
    assert leans.filter(width > 1e-9).height > alike.height


def test_the_same_ratings_give_the_same_leans_to_the_last_digit(
    cao: Study, planted: pl.DataFrame
) -> None:
    """Means are taken in one order: on a second reading no digit differs."""
    first, second = (compare_with_people(planted.lazy(), cao).details for _ in range(2))
    assert first["people_leans"].equals(second["people_leans"])


def test_estimates_say_how_far_a_group_is_seen_as_people_see_it(planted: pl.DataFrame) -> None:
    means = estimate_scores(planted.lazy()).estimates.filter(
        measure="group_traits", level="model", method="clustered"
    )
    assert set(means["dimension"]) == {"agency", "beliefs", "communion"}
    assert means["estimate"].to_list() == pytest.approx([0.3] * 3, abs=0.03)


TRADES_TEXT = """name: trades
norms: ratings.csv
instruments:
  group_traits:
    pairs:
      warmth: [[cold, warm]]
      skill: [[clumsy, skilled]]
stereotypes:
"""
TRADES = ("nurses", "judges", "bakers", "pilots", "clerks")


def write_study(folder: Path, changes: str = "", trades: tuple[str, ...] = TRADES) -> Path:
    """Write a study of trades, and its norms."""
    rows = ["group,trait_low,trait_high,rating"]
    for place, trade in enumerate(trades):
        rows += [f"{trade},cold,warm,{10 + 15 * place + k}" for k in range(3)]
        rows += [f"{trade},clumsy,skilled,{80 - 15 * place + k}" for k in range(3)]
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n")
    groups = [f"  {t}: {{category: work, marginalized: [{t}], default: [people]}}" for t in TRADES]
    text = (changes or TRADES_TEXT) + "\n".join(groups) + "\n"
    (folder / "trades.yaml").write_text(text)
    return folder / "trades.yaml"


def test_a_study_of_ones_own_brings_norms_to_the_page(tmp_path: Path) -> None:
    options = PlanOptions([str(write_study(tmp_path))], ["group_traits"], modes=["likelihood"])
    results = audit("simulated/leaning", directory=tmp_path / "r", options=options, profile=False)
    assert results.table("people_leans").height == 5 * (2 + 2)
    page = write_report(tmp_path / "r").read_text()
    assert "Beside what people say" in page and "cold – warm" in page


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            TRADES_TEXT.replace("[cold, warm]", "[icy, warm]"),
            "traits 'cold', 'warm' are no pair of it",
        ),
        (TRADES_TEXT.replace("[[cold", "[[mean, kind], [cold"), "no rating of 'mean', 'kind'"),
        (TRADES_TEXT.replace("norms: ratings.csv\n", ""), "the study has no norms, which tell"),
        (
            TRADES_TEXT.replace("    pairs:", "    reference: kings\n    pairs:"),
            "reference: .*'kings'",
        ),
        (TRADES_TEXT.replace("clumsy", "Cold"), "trait 'Cold' stands twice"),
    ],
)
def test_norms_that_do_not_fit_the_traits_are_refused(
    tmp_path: Path, changes: str, message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        select(load_study(write_study(tmp_path, changes)), "group_traits")


def test_a_group_that_nobody_rated_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no rating of the group of 'clerks'"):
        select(load_study(write_study(tmp_path, trades=TRADES[:4])), "group_traits")


def test_recorded_answers_name_two_traits_of_the_study(cao: Study) -> None:
    answers = pl.DataFrame(
        {"model": "m", "stereotype": ["Women", "women"], "variation": "seen", "response": "Warm.",
         "version": "marginalized", "tied": ["cold", "icy"], "counter": "warm"}
    )  # fmt: skip
    scores = score(answers[:1], cao, instrument="group_traits").scores
    assert scores.select("score", "dimension").row(0) == (-1.0, "communion")
    with pytest.raises(InputError, match="row 1: .*tied 'icy'; allowed are powerless"):
        score(answers[1:], cao, instrument="group_traits")


def test_a_study_in_another_language_needs_wordings_of_its_own() -> None:
    text = (
        "name: orte\nlanguage: de\ninstruments:\n  group_traits: {}\nstereotypes:\n  orte:\n"
        "    marginalized: [Dorf]\n    default: [Stadt]\n    tied: [leise]\n    counter: [laut]\n"
    )
    assert not GROUP_TRAITS.wordings(parse_study(text, "orte.yaml"))
