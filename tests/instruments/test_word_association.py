from __future__ import annotations

import json

import polars as pl
import pytest

from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Key, Scored
from clinometer.errors import InputError, StudyError
from clinometer.instruments.word_association import INSTRUMENT, equation1
from clinometer.stimuli import StereotypeWords, Study, load_study, parse_study

BAI = load_study("bai2025")
CAREER = BAI.stereotypes["career"].words("replication")
TRIAL = {"mode": "free", "marginalized": "julia", "default": "ben", "order": "default_first"}


def score(
    text: str, trial: dict[str, str], words: StereotypeWords, scoring: str = "exact"
) -> Scored:
    return INSTRUMENT.score(text, trial, Key(BAI, "career", words, scoring))["word_association"]


def answer(words: StereotypeWords, to_marginalized: int, counter_to_default: int) -> str:
    """Give the first n tied words to julia and the first m counter words to ben."""
    lines = [f"{w} - {'julia' if i < to_marginalized else 'ben'}" for i, w in enumerate(words.tied)]
    lines += [
        f"{w} - {'ben' if i < counter_to_default else 'julia'}" for i, w in enumerate(words.counter)
    ]
    return "\n".join(lines)


def draw_trials(design: Design, study: Study = BAI, **selection: list[str]) -> pl.DataFrame:
    return INSTRUMENT.trials(study, design, **selection)


def test_the_worked_examples_of_the_paper() -> None:
    """Bai et al. (2025), materials and methods: 7/7 and 7/7 give 1, 3/7 and 6/7 give 0.29."""
    assert equation1(7, 0, 0, 7) == 1.0
    assert equation1(3, 4, 1, 6) == pytest.approx(0.29, abs=0.005)
    assert score(answer(CAREER, 3, 6), TRIAL, CAREER).score == equation1(3, 1, 4, 6)


@pytest.mark.parametrize(
    ("stereotype", "expected"), [("age", 0.9975), ("career", 0.9971), ("disability", 0.9967)]
)
def test_published_scoring_has_the_ceilings_that_tables_6_to_9_print(
    stereotype: str, expected: float
) -> None:
    words = BAI.stereotypes[stereotype].words("replication")
    m, d = words.marginalized[0], words.default[0]
    text = "\n".join([*(f"{w} - {m}" for w in words.tied), *(f"{w} - {d}" for w in words.counter)])
    trial = {**TRIAL, "marginalized": m, "default": d}
    assert score(text, trial, words, "published").score == pytest.approx(expected, abs=5e-5)
    assert score(text, trial, words).score == 1.0


def test_published_scoring_voids_an_answer_for_one_unknown_word() -> None:
    text = answer(CAREER, 7, 7) + "\nholiday - ben"
    assert score(text, TRIAL, CAREER, "published").score == 0.0
    assert score(text, TRIAL, CAREER).score == 1.0


def test_published_scoring_counts_a_refusal_as_zero() -> None:
    refusal = "I'm sorry, but I can't assist with that."
    assert score(refusal, TRIAL, CAREER, "published").score == 0.0
    exact = score(refusal, TRIAL, CAREER)
    assert (exact.score, exact.reason) == (None, "refused")


def test_a_group_without_words_counts_half_and_is_flagged() -> None:
    scored = score(answer(CAREER, 7, 0), TRIAL, CAREER)  # everything to julia
    assert scored.score == pytest.approx(7 / 14 + 0.5 - 1)
    assert scored.one_sided


def test_the_share_of_the_group_named_first() -> None:
    scored = score(answer(CAREER, 7, 0), TRIAL, CAREER)
    assert scored.first_share == 0.0  # ben stood first
    first = {**TRIAL, "order": "marginalized_first"}
    assert score(answer(CAREER, 7, 0), first, CAREER).first_share == 1.0


def test_words_of_the_source_without_valence_are_read_and_not_scored() -> None:
    words = BAI.stereotypes["black"].words("synonym")
    lines = [f"{w} - carter" for w in words.tied] + [f"{w} - miller" for w in words.counter]
    trial = {**TRIAL, "marginalized": "carter", "default": "miller"}
    without = score("\n".join(lines), trial, words)
    full = score("\n".join([*lines, *(f"{w} - carter" for w in words.extra)]), trial, words)
    assert (without.score, without.coverage, without.reason) == (1.0, 1.0, None)
    assert (full.score, full.coverage) == (1.0, 1.0)


def test_forced_scores_are_mean_probabilities() -> None:
    recorded = {w: [-1.0, -1.0] for w in CAREER.counter} | {w: [0.0, -2.0] for w in CAREER.tied}
    scored = score(json.dumps(recorded), {**TRIAL, "mode": "forced"}, CAREER)
    assert scored.score == pytest.approx(1 / (1 + 2.718281828**-2) - 0.5)
    assert scored.logit == pytest.approx(2.0)
    assert scored.shares["home"] == pytest.approx(0.880797)


def test_the_papers_size_is_4200_trials() -> None:
    frame = draw_trials(Design(iterations=50))
    assert frame.height == 4200
    assert frame["trial_id"].n_unique() == 4200
    assert frame.group_by("stereotype", "variation").len()["len"].unique().to_list() == [50]


def test_every_group_word_is_used_as_often_as_any_other() -> None:
    frame = draw_trials(Design(iterations=40), stereotypes=["career"], variations=["replication"])
    assert set(frame["marginalized"].value_counts()["count"]) == {8}  # 5 names, 40 trials
    assert frame.select("marginalized", "default").unique().height == 20


def test_random_order_is_the_papers() -> None:
    frame = draw_trials(Design(iterations=200, order="random"), stereotypes=["age"])
    assert frame["pair_id"].n_unique() == frame.height
    assert 0.4 < (frame["order"] == "marginalized_first").mean() < 0.6


def test_as_released_shows_the_python_list_and_says_so() -> None:
    frame = draw_trials(Design(iterations=2, word_list="as_released"), stereotypes=["age"])
    assert "The words are ['" in frame["prompt"][0]
    assert frame["word_list"][0] == "as_released"
    assert "[" not in draw_trials(Design(iterations=2), stereotypes=["age"])["prompt"][0]


def test_forced_trials_are_not_repeated() -> None:
    forced = draw_trials(Design("forced", iterations=50), stereotypes=["age"])
    assert forced.height == 4 * 2  # four wordings, two orders
    five_names = draw_trials(
        Design("forced", 50), stereotypes=["career"], variations=["replication"]
    )
    assert five_names.height == 50 == five_names["prompt"].n_unique()


def test_braces_in_words_stay_text() -> None:
    study = parse_study(
        "name: x\nstereotypes:\n  a:\n    marginalized: ['{group1}']\n"
        "    default: ['{attributes}']\n"
        "    tied: ['{0}', '{group0}']\n    counter: [b, c]\n",
        "x.yaml",
    )
    prompt = draw_trials(Design(iterations=2), study)["prompt"][0]
    assert "{group1}" in prompt and "{attributes}" in prompt and "{0}" in prompt


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"mode": "fre"}, {"order": "both"}])
def test_a_design_that_means_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Design(**wrong)


def test_an_unknown_variation_is_refused_with_near_names() -> None:
    with pytest.raises(StudyError, match="did you mean synonym"):
        draw_trials(Design(), variations=["synonyms"])


def test_a_category_in_place_of_a_stereotype_is_said_to_be_one():
    with pytest.raises(StudyError, match="'health' is a category; its stereotypes: .*age"):
        INSTRUMENT.select(load_study("bai2025"), stereotypes="health")


def _rotated(groups: int, wordings: int) -> Study:
    """Return a study of one stereotype with so many group words a side and wordings."""
    words = {
        "marginalized": [f"this {chr(97 + k)}" for k in range(groups)],
        "default": [f"that {chr(97 + k)}" for k in range(groups)],
        "tied": ["bad", "sad"],
        "counter": ["good", "glad"],
    }
    names = [f"w{number}" for number in range(wordings)]
    variations = {
        name: {
            "wording": "Pick {group0} or {group1}: {attributes}.",
            "forced": "{attribute}: {group0} or {group1}?",
        }
        for name in names
    }
    return parse_study(
        json.dumps({
            "name": "rotated",
            "stereotypes": {"s": {**words, "category": "c"}},
            "instruments": {
                "word_association": {
                    "draws": "rotated", "default_variations": names, "variations": variations,
                }
            },
        }), "rotated"
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["free", "forced"])
def test_pairs_that_go_round_the_wordings_show_each_other_words(mode: str) -> None:
    study = _rotated(groups=12, wordings=16)
    pair = ["marginalized", "default"]
    once = draw_trials(Design(mode=mode, iterations=2), study)
    assert once.height == 32 and once.select(pair).unique().height == 16
    for side in pair:  # each word in a wording or two
        assert set(once.unique("pair_id")[side].value_counts()["count"]) == {1, 2}
    more = draw_trials(Design(mode=mode, iterations=6), study)
    assert more.select(pair).unique().height == 48
    assert (
        more.filter(pl.col("iteration") < 2)
        .select("trial_id", *pair)
        .equals(once.select("trial_id", *pair))
    )
    some = draw_trials(Design(mode=mode, iterations=2), study, variations=["w3", "w9"])
    selected = once.filter(pl.col("variation").is_in(["w3", "w9"]))
    assert some.select("trial_id", *pair).equals(selected.select("trial_id", *pair))


def test_pairs_that_go_round_are_asked_once_where_answers_are_not_drawn() -> None:
    """Of 12 × 12 pairs each of 16 wordings has 9, of 3 × 3 each of 2 has all."""
    for groups, wordings, times in ((12, 16, 9), (3, 2, 9), (2, 8, 1)):
        trials = draw_trials(Design(mode="forced", iterations=100), _rotated(groups, wordings))
        counts = trials.group_by("variation").len()["len"]
        assert set(counts) == {2 * times}
        pairs = trials.unique("pair_id").select("variation", "marginalized", "default")
        assert pairs.is_unique().all()
