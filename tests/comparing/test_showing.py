"""From a number to its answers, and back."""

import polars as pl
import pytest

from clinometer.audits.recording import audit_recorded
from clinometer.cli.showing import show_command
from clinometer.comparing.showing import show
from clinometer.errors import InputError

LINES = "weak - {0}\ntimid - {0}\nstrong - {1}\ncommand - {1}\nfollow - {0}\nsubmissive - {0}\n" \
    "confident - {1}\ndominant - {1}"  # fmt: skip
REFUSAL = "I cannot help with that.\x1b[31m"


@pytest.fixture
def results(tmp_path):
    rows = [
        {
            "model": "m",
            "stereotype": "power",
            "variation": wording,
            "iteration": n,
            "response": text,
        }
        for wording in ("replication", "instruction1")
        for n, text in enumerate((LINES.format("karen", "eric"), LINES.format("eric", "karen")))
    ]  # fmt: skip
    rows.append({**rows[0], "iteration": 2, "response": REFUSAL})
    path = tmp_path / "answers.csv"
    pl.DataFrame(rows).write_csv(path)
    audit_recorded(path, tmp_path / "out")
    return tmp_path / "out"


def test_names_choose_answers_and_the_means_they_enter(results):
    selection = show(results, ["power", "replication"])
    assert selection.answers.height == 3
    assert selection.estimates["level"].to_list() == ["cell", "stereotype", "category", "model"]
    assert selection.estimates["variation"].drop_nulls().to_list() == ["replication"]
    assert show(results, ["power"]).estimates["level"].to_list() == [
        "stereotype",
        "category",
        "model",
    ]


def test_an_answer_leads_back_to_its_means(results):
    trial = show(results).answers["trial_id"][3]
    selection = show(results, [trial])
    assert selection.answers["variation"].to_list() == ["instruction1"]
    assert selection.estimates["level"][0] == "cell"


def test_a_reason_chooses_the_answers_without_a_score(results):
    answers = show(results, ["refused"]).answers
    assert answers["response"].to_list() == [REFUSAL]


@pytest.mark.parametrize(
    ("what", "message"),
    [(["powr"], "unknown name 'powr'; did you mean power"), (["karen", "refused"], "no answer is")],
)
def test_what_is_not_there_is_one_line(results, what, message):
    with pytest.raises(InputError, match=message):
        show(results, what)


def test_the_terminal_gets_no_escape_sequence(results, capsys):
    show_command.main([str(results), "refused"], standalone_mode=False)
    out = capsys.readouterr().out
    assert "\x1b" not in out and "I cannot help with that." in out
