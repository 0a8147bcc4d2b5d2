from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from clinometer.errors import InputError, StudyError
from clinometer.results import SCORES, WORDS
from clinometer.results.shares import read_shares
from clinometer.results.tables import read_table
from clinometer.scoring import score
from clinometer.stimuli import load_study

BAI = load_study("bai2025")
ANSWER = "weak - karen\ntimid - karen\nfollow - eric\nsubmissive - karen\nstrong - eric\n" + (
    "command - eric\nconfident - eric\ndominant - karen"
)


def recorded(**columns: object) -> pl.DataFrame:
    row = {"model": "m", "stereotype": "power", "variation": "replication", "response": ANSWER}
    return pl.DataFrame({**row, **columns})


def test_group_words_are_inferred_from_a_recorded_answer() -> None:
    scores, words = score(recorded(), BAI)
    assert list(scores.columns) == list(SCORES) and list(words.columns) == list(WORDS)
    assert scores.select("marginalized", "default", "score").row(0) == ("karen", "eric", 0.5)


def test_group_words_are_taken_from_the_table_where_it_has_them() -> None:
    scores, _ = score(recorded(marginalized="lisa", default="eric"), BAI)
    assert scores.select("score", "reason").row(0) == (None, "low_coverage")


def test_a_group_word_nobody_wrote_is_not_made_up() -> None:
    scores, _ = score(recorded(response=ANSWER.replace("eric", "karen")), BAI)
    assert scores.select("marginalized", "default", "one_sided").row(0) == ("karen", None, True)


def test_llm_is_read_as_model() -> None:
    scores, _ = score(recorded().rename({"model": "llm"}), BAI)
    assert scores["model"].to_list() == ["m"]


def test_which_words_carry_it() -> None:
    twice = pl.concat(
        [recorded(), recorded(response=ANSWER.replace("weak - karen", "weak - eric"))]
    )
    _, words = score(twice, BAI)
    weak = words.row(by_predicate=pl.col("attribute") == "weak", named=True)
    assert (weak["set"], weak["n"], weak["share"]) == ("tied", 2, 0.5)


def test_a_score_carries_the_share_of_each_word() -> None:
    words = read_shares(score(recorded(), BAI).scores)
    shares = dict(words.select("attribute", "share").rows())
    assert (shares["weak"], shares["follow"], len(shares)) == (1.0, 0.0, 8)
    assert words.filter(attribute="strong")["set"].to_list() == ["counter"]


def test_instruments_that_pair_no_words_have_no_shares() -> None:
    decision = {"decision": "Karen cooks and Eric leads.", "tied": "cook", "counter": "lead"}
    scores, _ = score(recorded(**decision), BAI, instrument="relative_decision")
    assert scores["shares"].to_list() == [None]


@pytest.mark.parametrize(
    ("frame", "error", "says"),
    [
        (recorded(stereotype="powr"), StudyError, "did you mean power"),
        (recorded(variation="replicaton"), StudyError, "did you mean replication"),
        (recorded().drop("response"), InputError, "missing column response"),
    ],
)
def test_bad_tables_are_named(frame: pl.DataFrame, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        score(frame, BAI)


def test_the_real_answers_of_gpt_4o(shared_data: Path) -> None:
    """Mean .393 and naive SE .0186 on 2,094 answers were worked out apart from this code."""
    answers = read_table(shared_data / "bai" / "gpt4o_word_association_responses.csv")
    scores, _ = score(answers, BAI)
    numbers = scores["score"].drop_nulls()
    assert len(numbers) / answers.height >= 0.99
    assert numbers.mean() == pytest.approx(0.393, abs=0.002)
    assert numbers.std() / len(numbers) ** 0.5 == pytest.approx(0.0186, abs=0.0001)
