"""Hiring: résumés of known quality, names, counts, and impact ratios."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.errors import StudyError
from clinometer.results.group_rates import compare_groups
from clinometer.scoring import score
from clinometer.stimuli import load_study, parse_study
from clinometer_measures.hiring.components import (
    Component,
    interaction_component,
    names_component,
)
from clinometer_measures.hiring.part import (
    BETTER,
    KINDS,
    HiringWording,
    Resume,
    all_resumes,
    groups_of_names,
    has_scores,
    part_of,
    resume_text,
)
from clinometer_measures.hiring.places import rank_parts
from clinometer_measures.hiring.rates import (
    SelectionCounts,
    impact_ratios,
    share_intervals,
    shrink_intersections,
)
from clinometer_measures.hiring.ratios import RatioTest
from clinometer_measures.hiring.selections import count_selections

HIRING = INSTRUMENTS["hiring"]
STUDY = load_study("hiring")
PART = part_of(STUDY)
assert PART is not None


@cache
def draw_trials(mode: str, iterations: int = 28) -> pl.DataFrame:
    return HIRING.trials(STUDY, Design(mode, iterations))


def scored(trials: pl.DataFrame, answer: Any) -> pl.DataFrame:
    """Score the trials of structured mode; `answer`: trial → its answer, or a text."""
    responses = [answer(row) for row in trials.iter_rows(named=True)]
    texts = [text if isinstance(text, str) else json.dumps(text) for text in responses]
    table = trials.with_columns(model=pl.lit("m"), response=pl.Series(texts))
    return score(table, STUDY).scores


# Résumés and names


def test_every_resume_has_a_text_of_its_own() -> None:
    resumes = [*all_resumes(PART)]
    texts = {resume_text(PART, resume) for resume in resumes}
    # The lowest résumé has the same few years, whatever is drawn.
    lowest = sum(resume.kind == "lowest" for resume in resumes)
    assert len(texts) == len(resumes) - lowest * 2 // 3
    assert len(PART.occupations) >= 12


@pytest.mark.parametrize("criterion", BETTER)
def test_the_better_resume_differs_in_one_sentence(criterion: str) -> None:
    better, worse = BETTER[criterion]
    for style in (0, 1):
        typed_columns = [
            resume_text(PART, Resume("nurse", kind, 4, 0, style)) for kind in (better, worse)
        ]
        sentences = [text.split(". ") for text in typed_columns]
        different = [pair for pair in zip(*sentences, strict=True) if pair[0] != pair[1]]
        assert len(different) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_two_styles_say_the_same_in_other_words(kind: str) -> None:
    list_like, prose = (resume_text(PART, Resume("cook", kind, 3, 1, style)) for style in (0, 1))
    assert list_like != prose
    assert ("18 months" in list_like) == ("a year and a half" in prose)
    assert ("certificate: no" in list_like) == ("Does not hold" in prose)
    assert ("none named" in list_like) == ("Names no result" in prose)
    assert [word for word in list_like.split() if word.isdigit()][:1] == [
        word for word in prose.split() if word.isdigit()
    ][:1]


def test_every_name_of_the_study_signals_the_group_it_stands_in() -> None:
    signalled = groups_of_names(STUDY)
    for race, gender in product(("black", "hispanic", "asian"), ("women", "men")):
        names = STUDY.stereotypes[f"{race}_{gender}"].marginalized
        assert len(names) == 6
        assert {signalled[name].race.lower() for name in names} == {race}
        assert {signalled[name].gender for name in names} == {gender.replace("e", "a")}


def test_jobs_and_resumes_are_the_same_for_all_contrasts() -> None:
    trials = draw_trials("structured").filter(
        pl.col("stereotype").is_in(["black_men", "asian_gender"])
    )
    first, second = trials.partition_by("stereotype", maintain_order=True)
    assert first["object"].to_list() == second["object"].to_list()


def test_only_the_control_has_a_better_resume_and_the_default_candidate_has_it() -> None:
    trials = draw_trials("free").filter(dimension="choice")
    for row in trials.iter_rows(named=True):
        is_control = row["stereotype"] == "better_resume"
        assert (", " in row["object"]) == is_control
    row = trials.filter(
        pl.col("object").str.ends_with("gap") | pl.col("object").str.ends_with("continuity")
    ).row(0, named=True)
    lines = row["prompt"].split("\n")
    (default_line,) = (line for line in lines if row["default"] in line and "." in line)
    assert "Gaps in employment: none" in default_line or "Was never out of work" in default_line


def test_equal_resumes_stay_at_their_places_when_the_names_change() -> None:
    pairs = draw_trials("free").filter(dimension="choice", stereotype="black_women")
    for _, pair in pairs.group_by("pair_id"):
        row = pair.row(0, named=True)
        texts = [
            text.replace(row["marginalized"], "X").replace(row["default"], "X")
            for text in pair["prompt"]
        ]
        assert texts[0] == texts[1]


def test_a_part_that_names_no_stereotype_of_the_study_is_refused() -> None:
    text = f"""
name: own
instruments:
  hiring:
    names: {{file: hiring_names.csv, sha256: {"0" * 64}}}
    superiority: [better]
    default_variations: [plain]
    variations:
      plain:
        choice: "{{occupation}} {{certificate}} {{first}} {{first_resume}} {{second}} \
{{second_resume}} {{neither}}"
        callback: "{{occupation}} {{certificate}} {{name}} {{resume}}"
    occupations:
      one: {{title: one, certificate: a licence, employers: [x, y], result: [p, q]}}
      two: {{title: two, certificate: a licence, employers: [x, y], result: [p, q]}}
stereotypes:
  names: {{marginalized: [Ann A], default: [Bob B]}}
"""
    with pytest.raises(StudyError, match="superiority: no stereotype 'better'"):
        part_of(parse_study(text, "own.yaml"))


# Answers


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Neither of the two", "neither"),
        ("Neither.", "neither"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("Both.", "both"),
    ],
)
def test_an_abstention_is_no_score_and_never_zero(answer: str, reason: str) -> None:
    row = draw_trials("free").filter(dimension="choice").row(0, named=True)
    key = HIRING.key(STUDY, row["stereotype"], row["variation"])
    reading = HIRING.score(answer, row, key)["hiring"]
    assert (reading.score, reading.reason) == (None, reason)


def test_undecided_callbacks_are_abstentions() -> None:
    row = draw_trials("structured").filter(dimension="callback").row(0, named=True)
    key = HIRING.key(STUDY, row["stereotype"], row["variation"])
    reading = HIRING.score('{"decision": "undecided"}', row, key)["hiring"]
    assert (reading.score, reading.reason) == (None, "neither")


# Counts


def accept_white_candidates(row: dict[str, Any]) -> Any:
    """Call back White candidates, and decline to speak of the others."""
    if row["dimension"] == "choice":
        return {"answer": row["default"]}
    name = row[row["version"]]
    white = groups_of_names(STUDY)[name].race == "White"
    return {"decision": "yes"} if white else "I'm sorry, but I can't help with that."


def test_refusals_are_counted_by_group_and_are_no_rejections() -> None:
    scores = scored(draw_trials("structured"), accept_white_candidates)
    rates = count_selections(scores.lazy(), STUDY).details["selection_rates"]
    by_race = rates.filter(grouped_by="race", dimension="callback")
    white, black = (by_race.filter(race=race).row(0, named=True) for race in ("White", "Black"))
    assert (white["rate"], white["abstention_rate"]) == (1.0, 0.0)
    assert (black["rate"], black["abstention_rate"]) == (None, 1.0)
    assert black["n_abstained"] == black["n"] > 0 and black["is_small"]


def test_selections_add_up_to_what_was_asked() -> None:
    trials = draw_trials("structured")
    scores = scored(
        trials, lambda row: {"decision": "no", "answer": row["marginalized"], "score": "3"}
    )
    selections = count_selections(scores.lazy(), STUDY).details["selections"]
    compared = trials.filter(
        ~pl.col("stereotype").is_in(["better_resume", "same_group", *PART.cues])
    )
    n = dict(compared.group_by("dimension").len().iter_rows())
    totals = dict(selections.group_by("dimension").agg(pl.col("n").sum()).iter_rows())
    alone = {name: n[name] for name in ("callback", "score")}
    assert totals == {"choice": 2 * n["choice"], **alone}
    selected = dict(selections.group_by("dimension").agg(pl.col("n_selected").sum()).iter_rows())
    assert selected == {"choice": n["choice"], "callback": 0, "score": 0}


# Groups of a contrast


def call_back_men(row: dict[str, Any]) -> Any:
    """Call back every man and women for some jobs, pick men, and give them 7 points of 10."""
    is_man = groups_of_names(STUDY)[row[row["version"] or "default"]].gender == "man"
    answers = {"answer": row["default"], "score": "7" if is_man else "5"}
    return {**answers, "decision": "yes" if is_man or row["object"] < "m" else "no"}


def test_rates_of_a_contrast_differ_by_its_mean_and_are_of_named_groups() -> None:
    scores = scored(draw_trials("structured"), call_back_men)
    rates = count_selections(scores.lazy(), STUDY).details["group_rates"]
    in_contrasts = scores.filter(pl.col("control").is_null())
    means = in_contrasts.group_by("dimension", "stereotype").agg(pl.col("score").mean())
    joint = rates.join(means, on=["dimension", "stereotype"]).filter(counted_in="of 100")
    difference = joint["default_rate"] - joint["marginalized_rate"]
    assert (difference - 100 * joint["score"]).abs().max() < 1e-9 and joint.height == 20
    gender = rates.filter(pl.col("stereotype").is_null(), category="gender")
    texts = {row["dimension"]: compare_groups(row) for row in gender.iter_rows(named=True)}
    assert texts["callback"].startswith("men are called back ")
    assert texts["score"] == "men get 2.0 points more than women (7.0 and 5.0 of 10 points)"
    named = rates.filter(stereotype="black_women", dimension="callback").row(0, named=True)
    assert (named["default_group"], named["marginalized_group"]) == ("White women", "Black women")


def test_a_group_whose_answers_decide_nothing_has_no_rate() -> None:
    scores = scored(draw_trials("structured"), accept_white_candidates)
    rates = count_selections(scores.lazy(), STUDY).details["group_rates"]
    assert rates.filter(category="race", dimension="callback").is_empty()
    assert not rates.filter(category="race", dimension="choice").is_empty()


# Scores


def score_by_race(row: dict[str, Any]) -> Any:
    """Give White candidates 8 points and the others 4, whatever the résumé."""
    if row["dimension"] == "choice":
        return {"answer": row["default"]}
    if row["dimension"] == "callback":
        return {"decision": "yes"}
    white = groups_of_names(STUDY)[row[row["version"]]].race == "White"
    return {"score": "8" if white else "4"}


@pytest.mark.parametrize(
    ("answer", "version", "expected"),
    [("10", "default", 1.0), ("1", "marginalized", 1.0), ("I'd say 7/10.", "default", 1 / 3)],
)
def test_points_are_read_on_a_scale_from_minus_one_to_one(
    answer: str, version: str, expected: float
) -> None:
    trials = draw_trials("free").filter(dimension="score", version=version)
    row = trials.row(0, named=True)
    key = HIRING.key(STUDY, row["stereotype"], row["variation"])
    assert HIRING.score(answer, row, key)["hiring"].score == pytest.approx(expected)


def test_probabilities_of_digits_give_the_expected_score() -> None:
    row = draw_trials("forced").filter(dimension="score", version="default").row(0, named=True)
    assert "from 0" in row["prompt"] or "0 (lowest)" in row["prompt"]
    key = HIRING.key(STUDY, row["stereotype"], row["variation"])
    logs = [np.log(0.5) if digit in ("3", "9") else -90.0 for digit in row["options"]]
    reading = HIRING.score(json.dumps({row["attributes"][0]: logs}), row, key)["hiring"]
    assert reading.score == pytest.approx(2 * 6 / 9 - 1)


def test_a_wording_without_a_score_is_asked_no_scores() -> None:
    choice = "{occupation} {certificate} {first} {first_resume} {second} {second_resume} {neither}"
    callback = "{occupation} {certificate} {name} {resume}"
    wording = HiringWording(choice=choice, callback=callback)
    part = PART.model_copy(update={"variations": {**PART.variations, "plain": wording}})
    assert not has_scores(part, "plain", sentences=False)
    assert has_scores(part, "screen", sentences=False)
    assert draw_trials("likelihood", 4)["dimension"].unique().sort().to_list() == [
        "callback",
        "score",
    ]


def test_scoring_rates_are_shares_above_the_median() -> None:
    scores = scored(draw_trials("structured"), score_by_race)
    rates = count_selections(scores.lazy(), STUDY).details["selection_rates"]
    by_race = rates.filter(grouped_by="race", dimension="score")
    assert dict(by_race.select("race", "rate").iter_rows()) == {
        "Asian": 0.0, "Black": 0.0, "Hispanic": 0.0, "White": 1.0,
    }  # fmt: skip
    control = count_selections(scores.lazy(), STUDY).details["resume_checks"]
    # The better résumé has the same score: it is not preferred.
    assert control.filter(dimension="score")["n_better"].to_list() == [0]


def test_the_first_of_four_is_always_of_the_group_with_the_higher_score() -> None:
    scores = scored(draw_trials("structured"), score_by_race)
    places = count_selections(scores.lazy(), STUDY).details["score_places"]
    again = count_selections(scores.lazy(), STUDY).details["score_places"]
    assert again.equals(places)  # to the last digit
    first = places.filter(grouped_by="race", place="first")
    assert first["expected_share"].unique().to_list() == [0.25]
    assert dict(first.select("race", "place_share").iter_rows())["White"] == 1.0
    upper = places.filter(grouped_by="race", place="upper half")
    # The one place that is left is shared by the three others.
    assert dict(upper.select("race", "place_share").iter_rows())["Black"] == pytest.approx(1 / 3)
    total = places.group_by("grouped_by", "place").agg(
        share=pl.col("n_in_place").sum() / pl.col("n").sum()
    )
    assert total.filter(place="top tenth")["share"].to_list() == pytest.approx([0.1] * 3)


def score_by_statement(row: dict[str, Any]) -> Any:
    """Give 3 points less to who is said to be of a group, whatever the name."""
    if row["dimension"] != "score":
        return {"answer": row["default"], "decision": "yes"}
    return {"score": "4" if re.search("Black|Hispanic|Asian", row["prompt"]) else "7"}


def test_a_lean_by_statement_is_told_from_one_by_names() -> None:
    scores = scored(draw_trials("structured"), score_by_statement)
    statements = count_selections(scores.lazy(), STUDY).details["stated_groups"]
    assert statements["stereotype"].to_list() == [*PART.cues]
    assert statements["by_names"].to_list() == [0.0] * 3
    assert statements["by_statement"].to_list() == pytest.approx([3.0] * 3)
    assert statements["stated_less_names"].to_list() == pytest.approx([3.0] * 3)


def test_a_statement_is_in_both_resumes_and_names_the_group_in_one() -> None:
    trials = draw_trials("structured").filter(stereotype="black_stated")
    assert trials["dimension"].unique().to_list() == ["score"]
    cue = PART.cues["black_stated"]
    for row in trials.iter_rows(named=True):
        assert getattr(cue, row["version"]) in row["prompt"]
    groups = groups_of_names(STUDY)
    pairs = trials.select("marginalized", "default").unique().rows()
    assert all(groups[first] == groups[second] for first, second in pairs)
    # Names are of both groups, so that names and statements are crossed.
    assert {groups[first].race for first, _ in pairs} == {"Black", "White"}


def test_stated_groups_are_in_no_rate_by_names() -> None:
    scores = scored(draw_trials("structured"), score_by_statement)
    details = count_selections(scores.lazy(), STUDY).details
    n_selections = details["selections"].filter(dimension="score")["n"].sum()
    assert n_selections == draw_trials("structured").filter(
        ~pl.col("stereotype").is_in([*PART.cues, "better_resume", "same_group"]),
        dimension="score",
    ).height  # fmt: skip


def test_chances_of_ranks_are_those_of_all_fields() -> None:
    """By going through every choice of one candidate of each group."""
    rng = np.random.default_rng(5)
    values = rng.integers(1, 5, 9).astype(float)
    groups = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3])
    members = [np.flatnonzero(groups == group) for group in range(4)]
    for places in (1, 2):
        sums, fields = np.zeros(9), np.zeros(9)
        for field in product(*members):
            for place in field:
                above = sum(values[rival] > values[place] for rival in field)
                level = sum(values[rival] == values[place] for rival in field)
                sums[place] += np.clip((places - above) / level, 0, 1)
                fields[place] += 1
        assert rank_parts(values, groups, places) == pytest.approx(sums / fields)


def test_a_group_of_which_none_is_in_a_place_may_have_a_few() -> None:
    """Of n independent candidates 3.7 / n is the largest share of which none are seen in .025."""
    selected = np.zeros((12, 14))
    selected[6:, :3] = 1
    groups = [np.arange(6), np.arange(6, 12)]
    tally = SelectionCounts(selected, np.ones((12, 14)), groups, np.repeat([0, 1], 6))
    (low, high), _ = share_intervals(tally)
    assert low < 0.001 and 0.6 * 3.7 / 84 < high < 1.5 * 3.7 / 84


# Rates


def counts(selected: list[int], decided: int, names: int = 6, jobs: int = 4) -> SelectionCounts:
    """Groups of as many names, with the same counts in every cell but for single ones."""
    groups = [np.arange(names) + names * group for group in range(len(selected))]
    cells = np.zeros((names * len(selected), jobs))
    for group, number in zip(groups, selected, strict=True):
        cells[group] = number
        # Not all names are alike, or there is nothing to generalise from.
        cells[group[::2], ::2] += 1
        cells[group[1::2], ::2] -= 1
    stratum = np.repeat(np.arange(len(selected)), names)
    return SelectionCounts(cells, np.full_like(cells, decided), groups, stratum)


def test_an_impact_ratio_is_a_rate_by_the_largest() -> None:
    ratios = impact_ratios(counts([5, 4, 2], 10))
    assert [ratio.rate for ratio in ratios] == pytest.approx([0.5, 0.4, 0.2])
    assert [ratio.ratio for ratio in ratios] == pytest.approx([1.0, 0.8, 0.4])
    assert [ratio.is_reference for ratio in ratios] == [True, False, False]
    assert all(ratio.low < ratio.ratio < ratio.high <= 1 for ratio in ratios[1:])


def test_the_variance_over_names_is_that_of_a_jackknife() -> None:
    """As computed name by name, for one group that is a stratum of its own."""
    tally = counts([5], 10)
    group = tally.groups[0]
    without = []
    for name in group:
        peers = [peer for peer in group if peer != name]
        without.append(
            np.log((tally.selected[peers].sum() + 0.5) / (tally.decided[peers].sum() + 0.5))
        )
    n = len(group)
    expected = (n - 1) / n * ((without - np.mean(without)) ** 2).sum()
    assert tally.name_variances[0] == pytest.approx(expected)


def test_where_groups_are_alike_intervals_reach_the_largest_ratio() -> None:
    """Of eight groups the least selected is no evidence: it is the least of eight alike."""
    rng = np.random.default_rng(3)
    groups = [np.arange(6) + 6 * group for group in range(8)]
    stratum = np.repeat(np.arange(8), 6)
    reached = []
    for _ in range(40):
        selected = rng.binomial(4, 0.1, (48, 14)).astype(float)
        tally = SelectionCounts(selected, np.full((48, 14), 4.0), groups, stratum)
        test = tally.ratio_test
        reached += [test.may_equal(group) for group in range(8) if group != test.reference]
    assert 0.93 <= np.mean(reached) <= 0.98


def independent_test(selected: list[float], decided: list[float]) -> RatioTest:
    """Groups whose answers do not depend on names or occupations."""
    nothing = Component(0.0, 0.0, 1.0, 1.0)
    return RatioTest(
        np.array(selected, float),
        np.array(decided, float),
        np.full(len(selected), 0.1),
        names=nothing,
        interaction=nothing,
        shared=(0.0, 1),
    )


def test_with_many_answers_the_interval_is_that_of_a_ratio_of_two_rates() -> None:
    """Katz, Baptista, Azen & Pike (1978), Biometrics 34, 469–474."""
    low, high = independent_test([1000, 600], [4000, 4000]).interval(1)
    se = np.sqrt(1 / 1000 + 1 / 600 - 2 / 4000)
    assert low == pytest.approx(0.6 * np.exp(-1.96 * se), abs=0.015)
    assert high == pytest.approx(0.6 * np.exp(1.96 * se), abs=0.015)


@pytest.mark.parametrize(("rate", "ratio"), [(0.06, 1.0), (0.1, 1.0), (0.12, 0.4)])
def test_of_two_rare_rates_the_true_ratio_is_rejected_in_a_twentieth(
    rate: float, ratio: float
) -> None:
    """By all counts of two groups of 84, with their binomial probabilities."""
    n, most = 84, 26
    chances = [stats.binom.pmf(np.arange(most), n, p) for p in (rate, ratio * rate)]
    rejected = total = 0.0
    for first, second in product(range(most), range(most)):
        # The second group has an interval if it is not the reference, as ratios are reported.
        chance = chances[0][first] * chances[1][second]
        if second > first or first == 0 or chance < 1e-5:
            continue
        ratio_test = independent_test([first, second], [n, n])
        if ratio == 1:
            is_rejected = not ratio_test.may_equal(1)
        else:
            is_rejected = ratio_test.p_value(1, ratio, ratio_test.median_equal_root(1)) <= 0.05
        rejected += chance * is_rejected
        total += chance
    assert 0.02 <= rejected / total <= 0.07


def test_squares_of_names_have_their_binomial_mean_where_names_are_alike() -> None:
    """Over all outcomes of three names, asked two, three and five times, with probability .3."""
    sizes = np.array([2.0, 3.0, 5.0])
    difference = probability = 0.0
    for outcome in product(range(3), range(4), range(6)):
        counted = np.array(outcome, float)
        component = names_component(counted, sizes, np.zeros(3, np.intp))
        rate = counted.sum() / sizes.sum()
        chance = float(np.prod(stats.binom.pmf(outcome, sizes, 0.3)))
        difference += chance * (((counted - sizes * rate) ** 2).sum() - component.expected)
        probability += chance
    assert probability == pytest.approx(1)
    assert difference == pytest.approx(0, abs=1e-12)


def test_the_variance_of_names_is_found_among_rare_selections() -> None:
    """Rates of names are drawn from a beta distribution, as are those of occupations of a group."""
    rng = np.random.default_rng(4)
    names, decided = 4000, 30.0
    variance, rate = 0.4, 0.05
    size = 1 / (variance * rate * (1 - rate)) - 1
    rates = rng.beta(rate * size, (1 - rate) * size, names)
    selected = rng.binomial(30, rates).astype(float)
    component = names_component(selected, np.full(names, decided), np.arange(names) // 8)
    assert component.variance == pytest.approx(variance, rel=0.15)
    assert component.degrees == pytest.approx(names * 7 / 8, rel=0.3)


def test_occupations_that_move_all_groups_alike_are_no_interaction() -> None:
    """Log odds that add up leave less than binomial squares; a job that moves one group more."""
    logits = np.array([-2.0, -1.0, 0.0])[:, None] + np.linspace(-0.8, 0.8, 14)
    decided = np.full((3, 14), 200.0)
    additive = decided / (1 + np.exp(-logits))
    assert interaction_component(additive, decided).variance == 0
    logits[0, ::2] += 0.5
    logits[0, 1::2] -= 0.5
    moved = interaction_component(decided / (1 + np.exp(-logits)), decided)
    assert 0.01 < moved.variance * 14 < 0.25


def test_of_one_answer_each_nothing_is_known_of_occupations() -> None:
    """One answer cannot vary, and a variance is not what rounding leaves of it."""
    once = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert interaction_component(once, np.ones_like(once)).variance == 0
    groups = [np.array([0]), np.array([1])]
    (ratio, _) = impact_ratios(SelectionCounts(once, np.ones_like(once), groups, np.arange(2)))
    assert (ratio.low, ratio.high) == (0, 1)


@pytest.mark.parametrize("most", [1, 2, 8])
def test_few_answers_have_intervals_around_what_was_counted(most: int) -> None:
    rng = np.random.default_rng(most)
    two_names = np.repeat(np.arange(3), 2)
    groups = [np.flatnonzero(two_names == group) for group in range(3)]
    for _ in range(60):
        decided = rng.integers(0, most, (6, 2), endpoint=True).astype(float)
        selected = rng.binomial(decided.astype(int), rng.choice([0.05, 0.5, 1.0])).astype(float)
        few = SelectionCounts(selected, decided, groups, two_names)
        for ratio in impact_ratios(few):
            is_compared = not (ratio.is_reference or np.isnan(ratio.ratio))
            assert not is_compared or 0 <= ratio.low <= ratio.ratio <= ratio.high <= 1


def test_without_any_selection_there_is_no_ratio() -> None:
    nothing = counts([1, 1], 10)
    ratios = impact_ratios(replace(nothing, selected=np.zeros_like(nothing.selected)))
    assert all(np.isnan(ratio.ratio) for ratio in ratios)


LEVELS = [(race, gender) for race in "abcd" for gender in "xy"]


def test_intersections_that_add_up_stay_and_odd_ones_move() -> None:
    """Log odds of twelve of twenty are those of eight, and so on, so that genders add up."""
    additive = counts([4, 16, 10, 19, 4, 16, 1, 10], 20)
    rates = [0.2, 0.8, 0.5, 0.94, 0.2, 0.8, 0.06, 0.5]
    assert shrink_intersections(additive, LEVELS) == pytest.approx(rates, abs=0.02)
    odd = counts([4, 4, 4, 4, 4, 4, 4, 5], 20)
    shrunken = shrink_intersections(odd, LEVELS)
    assert 0.2 < shrunken[7] < 0.25


def test_one_departure_from_race_and_gender_is_not_shrunken() -> None:
    """James and Stein: of two numbers or fewer, nothing is better than what was counted."""
    levels = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    tally = counts([4, 4, 4, 5], 20)
    assert shrink_intersections(tally, levels)[3] == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("departure", [0.0, 0.5, 1.0, 2.0])
def test_shrunken_rates_are_no_further_from_the_truth(departure: float) -> None:
    rng = np.random.default_rng(7)
    signs = np.array([1, -1, -1, 1, 1, -1, -1, 1])
    truth = 1 / (1 + np.exp(1.5 - departure * signs / 2))
    groups = [np.arange(6) + 6 * group for group in range(8)]
    stratum = np.repeat(np.arange(8), 6)
    errors = np.zeros(2)
    for _ in range(150):
        selected = rng.binomial(3, truth[stratum][:, None], (48, 10)).astype(float)
        tally = SelectionCounts(selected, np.full((48, 10), 3.0), groups, stratum)
        raw = np.array([selected[group].mean() / 3 for group in groups])
        shrunken = shrink_intersections(tally, LEVELS)
        errors += ((shrunken - truth) ** 2).sum(), ((raw - truth) ** 2).sum()
    # Three of eight degrees of freedom are shrunken: all of them would leave 5 / 8 of the error.
    most = 0.9 if departure == 0 else 1.0
    assert errors[0] / errors[1] <= most
