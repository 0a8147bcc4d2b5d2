"""What happens where statsmodels is not installed."""

import sys

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.papers import agreement, regress
from clinometer.papers.library import NOT_INSTALLED


@pytest.fixture(autouse=True)
def without_statsmodels(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels", None)


def test_a_coefficient_is_empty_and_its_note_names_the_extra(draw_decisions):
    regression = regress(draw_decisions(), "score", clusters="cluster")
    assert set(regression.estimates["note"]) == {NOT_INSTALLED}
    assert regression.estimates["estimate"].is_null().all()


def test_what_the_answers_lack_is_said_first(draw_decisions):
    assert regress(draw_decisions(8), "score").estimates["note"].to_list() == ["fewer than 10 rows"]


def test_agreement_is_refused():
    with pytest.raises(InputError, match=r"agreement: .*pip install 'clinometer\[papers\]'"):
        agreement(pl.DataFrame({"score": [1, 0], "label": [1, 1]}))
