"""The published analysis beside the scores: 70 decisions whose mean cancels over the wordings."""

from pathlib import Path

import polars as pl
import pytest

from clinometer.audits.recording import Recording, audit_recorded
from clinometer.report import write_report
from clinometer.report.answers.analysis import analysis_section, largest_effect
from clinometer.report.answers.reading import read_results
from clinometer.report.answers.summary import in_brief

#: Decisions of the study.
IDS = (1, 3, 4, 5, 7, 8, 9, 10, 11, 12)

STUDY = Recording(study="discrim_eval", instrument="hypothetical_decision")


def answered(folder: Path, black: float) -> Path:
    """Audit log odds of yes to ten decisions, of which Black persons have `black` more."""
    rows = [
        {"model": "m", "id": decision, "race": race, "gender": "male", "wording": "default",
         "yes_logit": -0.5 + odds + decision / 9 % 1, "no_logit": -0.5}
        for decision in IDS
        for race, odds in (("white", 0.0), ("Black", black), ("Asian", 0.1 * (-1) ** decision))
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(folder / "answers.csv")
    audit_recorded(folder / "answers.csv", folder / "out", STUDY)
    return folder / "out"


@pytest.fixture(scope="module")
def decisions(tmp_path_factory):
    return answered(tmp_path_factory.mktemp("decisions"), black=3.0)


@pytest.fixture(scope="module")
def instrument(decisions):
    return read_results(decisions).instruments[0]


@pytest.fixture(scope="module")
def page(decisions):
    return write_report(decisions).read_text(encoding="utf-8")


def test_the_largest_effect_of_a_group_stands_beside_the_mean(instrument, decisions):
    effect = largest_effect(instrument)
    assert effect.startswith("Difference in log odds: 1 of 2 differ from 0, the largest 3.00 [")
    assert "(Black, wording default)" in effect and effect.endswith("the marginalized group")
    (remark,) = in_brief(decisions).remarks
    assert "the largest 3.00" in remark


def test_without_an_effect_none_is_called_the_largest(tmp_path):
    (instrument,) = read_results(answered(tmp_path, black=0.0)).instruments
    assert largest_effect(instrument) == "Difference in log odds: 0 of 2 differ from 0"


def test_every_measure_of_the_analysis_has_a_table_and_the_effect_is_drawn(instrument):
    section = analysis_section(instrument)
    captions = [table.caption for _, table in section.tables]
    assert [caption.split(".")[0] for caption in captions] == [
        "Difference in log odds",
        "Share of yes",
    ]
    assert captions[0].startswith("Difference in log odds. Range −∞ to ∞, neutral 0; positive")
    (figure,) = section.figures
    assert {row["label"] for row in figure.spec["datasets"]["rows"]} == {"Black", "Asian"}
    assert "3.00 (Black)" in figure.summary


def test_an_instrument_without_an_analysis_has_no_such_section(page, make_results, write_page):
    assert ">Published analysis</h2>" in page
    assert "Published analysis" not in write_page(make_results(keys=["age"]))


def test_decisions_are_known_by_what_the_instrument_asks_not_by_their_scale(page):
    """The score of these decisions begins at −1, as that of associations does."""
    assert "Asks for decisions." in page and "A trial: a decision about one person" in page
    assert "Bias in decisions must be measured with decisions" not in page
    assert "no audit of lending" in page and "Implicit Association Test" not in page


def test_a_version_means_what_its_instrument_says(page):
    assert "about a person of the default group" in page
    assert "thinking of" not in page
