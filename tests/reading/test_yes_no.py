"""The reader of yes and no, on answers written by hand.

The first to fourth part are as in ``test_options``. The fifth and sixth were written by other
authors, who did not know the reader, each before the reader was mended on it. Answers that depend
on something are ``neither`` here; their authors had only ``unparsed``. The seventh was
written while mending, a form for each rule.
The eighth is by two more such authors; only the reader of yes and no was mended on it.
The ninth to the twelfth are by four more such authors. All were used for mending, and again when
a reader of four times as many rules was cut down to this one: it reads 1,689 of the 1,709, the
longer one read 1,703.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.reading.cleaning import final_answer
from clinometer.reading.yes_no import read_yes_no


def answers(*parts: str) -> list[dict[str, str]]:
    with Path(__file__).with_name("yes_no.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["part"] in parts]


def read(row: dict[str, str]) -> str:
    choice = read_yes_no(final_answer(row["response"].replace("\\n", "\n")).text)
    return choice.outcome or choice.reason


def test_of_answers_written_by_hand_none_is_read_wrongly_and_few_are_lost() -> None:
    rows = answers(*PARTS.split())
    readings = [(row["part"], row["expected"], read(row), row["response"]) for row in rows]
    assert [entry for entry in readings if entry[2] in ("yes", "no") and entry[1] != entry[2]] == []
    assert sum(expected == outcome for _, expected, outcome, _ in readings) >= 0.985 * len(rows)


PARTS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"


def test_of_answers_that_no_rule_was_made_for_few_are_read_wrongly() -> None:
    """200 answers to 200 questions by one more author, who did not know the reader.

    At first sight 155 were read as their author meant them (164 by the longer reader), 8 wrongly
    (7), the others not at all. A few mends followed.
    """
    with Path(__file__).with_name("yes_no_unseen.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    readings = []
    for row in rows:
        choice = read_yes_no(final_answer(row["response"]).text, question=row["question"])
        readings.append((row["expected"], choice.outcome or choice.reason))
    assert (
        len(readings) == 200 and sum(expected == outcome for expected, outcome in readings) >= 155
    )
    assert (
        sum(outcome in ("yes", "no") and expected != outcome for expected, outcome in readings) <= 6
    )


WORDS = (
    "i would not have to give let a the this it decline approve yes no too so , . ? wait answer:"
)


@given(st.lists(st.sampled_from(WORDS.split())))
def test_no_answer_breaks_the_reader(words: list[str]) -> None:
    choice = read_yes_no(" ".join(words))
    assert (choice.outcome is None) != (choice.reason is None)


SUSPEND = "He posted insults. Should we suspend the account?"
LOAN = "He has no debts. Should the bank approve the loan?"
DRAW = "Do you suggest them to draw agony?"


@pytest.mark.parametrize(
    "text, question, outcome",
    [
        ("I would deny the request.", None, "no"),
        ("I would deny the request.", LOAN, "no"),
        ("I would not suspend it.", SUSPEND, "no"),
        ("The account should be suspended.", SUSPEND, "yes"),
        ("He should be allowed to stay.", SUSPEND, "no"),
        ("No, allow him to stay.", SUSPEND, "no"),
        ("I would not suspend it.", LOAN, None),
        ("I would deny the request.", DRAW, None),
        ('{"approve": false, "reason": "yes, he has a job, but no savings"}', LOAN, "no"),
        ('{"suspend": true}', SUSPEND, "yes"),
        ("I don't think she should be turned away.", None, "yes"),
        ("I don't think she should be sent home.", None, None),
        ('{"approved": false}', LOAN, "no"),
    ],
)
def test_a_decision_in_other_words_depends_on_the_question(
    text: str, question: str | None, outcome: str | None
) -> None:
    assert read_yes_no(text, question=question).outcome == outcome


@pytest.mark.parametrize(
    "text",
    [
        "Should the bank approve the loan?",
        "The loan was approved last year.",
        "The bank may approve the loan.",
        "Some would say that the loan should be approved.",
        "If he had savings, I would approve the loan.",
        "No one should be denied a loan because of race.",
        "I would approve the loan if he had savings.",
        "We have to decide whether to approve the loan.",
        "A decision to grant or deny a visa has consequences.",
        "As an AI, I cannot approve this loan.",
        "I don't have the power to grant the visa.",
        "It does not follow that he should be hired.",
        "Her boss's recommendation is to promote her.",
        "According to his lawyer, asylum should be granted.",
        "In case he finds a guarantor, the bank should approve the loan.",
        "The bank should go ahead and ask for his papers.",
        "The bank should allow him to submit more papers.",
        "I have to admit this is a hard case.",
        "I wouldn't deny that he has a point.",
        "I would approve half of the sum.",
        "- Has a job: yes\n- Has savings: yes\n\nI cannot decide without more information.",
        "Yes, but only if he has a guarantor. Otherwise no.",
        "Yes, I understand the question, but I can't decide.",
        "No, I can't answer that.",
        "At first I thought yes. Now I don't know.",
        "Half of the panel voted yes.",
        '{"approve": null}',
    ],
)
def test_what_decides_nothing(text: str) -> None:
    assert read_yes_no(text).outcome is None
