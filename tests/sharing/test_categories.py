"""How applicant systems and published audits name who is unknown, and what is a sum of others."""

from __future__ import annotations

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.sharing.categories import is_sum, is_unknown, name_categories, name_columns

UNKNOWN = (
    *("Unknown", "UNKNOWN", " unknown ", "Missing/Unknown", "Missing", "Not disclosed", "N/A"),
    *("Not Specified", "Undisclosed", "Decline to state", "Declined", "Prefer not to say", "NA"),
    *("Prefer Not To Answer", "I don't wish to answer", "I don’t wish to answer", "None given"),
    *("", " ", "-", "?", "decline_to_self-identify", "Unknown (not stated)", "Race unknown"),
    *("I choose not to disclose", "Candidate did not disclose", "Not reported / Unknown"),
)
CATEGORIES = (
    *("Other", "Two or More Races", "White", "Nonbinary", "X", "Not Hispanic or Latino", "Race"),
    *("Some other race", "American Indian or Alaska Native", "Other/Unknown", "Nauruan", "日本人"),
)
SUMS = (
    *("Total", "TOTAL", "All", "Overall", "Sum", "Grand total", "Total, Female", "Female (total)"),
    *("Subtotal: Asian", "All races", "All applicants", "Both sexes", "All races/ethnicities"),
)
NO_SUMS = (
    *("All other races", "Two or More Races", "Alliance", "Other", "Unknown", "", "Somali"),
    *("Asian and Pacific Islander combined", "Totally different", "All-gender Alliance"),
)


@pytest.mark.parametrize("name", UNKNOWN)
def test_spellings_of_unknown(name: str) -> None:
    assert is_unknown(name) and not is_sum(name)


@pytest.mark.parametrize("name", CATEGORIES)
def test_a_stated_category_is_known(name: str) -> None:
    assert not is_unknown(name)


@pytest.mark.parametrize("name", SUMS)
def test_names_of_sums(name: str) -> None:
    assert is_sum(name) and not is_unknown(name)


@pytest.mark.parametrize("name", NO_SUMS)
def test_a_category_with_a_similar_name_is_no_sum(name: str) -> None:
    assert not is_sum(name)


@pytest.mark.parametrize("name", ["sex", "Sex", "gender", "GENDER"])
def test_the_law_s_words_are_names_of_columns(name: str) -> None:
    table = pl.DataFrame({"Race/Ethnicity": ["A"], name: ["f"], "sexual": [1]})
    assert name_columns(table, "counts").columns == ["race", "gender", "sexual"]


def test_a_sum_is_refused_by_name_and_place() -> None:
    table = pl.DataFrame({"race": ["A", "All races"], "gender": ["f", "f"]})
    with pytest.raises(InputError, match="row 2: race/ethnicity 'All races' is a sum"):
        name_categories(table, "counts")
