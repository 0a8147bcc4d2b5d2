"""Terms in contexts, by character."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer_measures.states.readers.states import find_terms, locate


@pytest.mark.parametrize(
    ("term", "context", "word"),
    [
        ("art", "The party was about Art.", "Art"),
        ("religious", "Non-religious people and religious ones", "religious"),
        ("well-off", "They are Well-Off, not off", "Well-Off"),
        ("old man", "an old\nman", "old\nman"),
        ("woman", "the woman's car", "woman"),
        ("warm", "she was warm--and kind", "warm"),
        ("he", "She, (he)", "he"),
        ("C++", "they like C++!", "C++"),
        ("straße", "Die Straße", "Straße"),
    ],
)
def test_a_term_is_found_as_a_word(term: str, context: str, word: str) -> None:
    begin, end = locate(term, context)
    assert context[begin:end] == word
    assert begin == context.rindex(word)


@pytest.mark.parametrize(
    ("term", "context"),
    [("art", "party"), ("art", "art_1"), ("educated", "well-educated"), ("cafe", "cafe\u0301")],
)
def test_a_part_of_a_word_is_not_found(term: str, context: str) -> None:
    with pytest.raises(InputError, match=f"term '{term}' does not stand in"):
        locate(term, context)


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1), st.data())
def test_the_first_of_the_words_is_found(words: list[str], data: st.DataObject) -> None:
    term = data.draw(st.sampled_from(words))
    begin, _ = locate(term.upper(), " ".join(words))
    assert begin == len(" ".join([*words[: words.index(term)], ""]))


def test_the_row_of_a_term_that_is_not_there_is_named() -> None:
    rows = {"key": ["a", "b"], "term": ["kind", "null"], "context": ["a kind man", "a rude man"]}
    with pytest.raises(InputError, match="row 2: term 'null' does not stand in 'a rude man'"):
        find_terms(pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"key": ["a"], "term": ["b"]}, "missing column context"),
        ({"key": ["a"], "term": [" "], "context": ["b"]}, "row 1: key, term or context is empty"),
        ({"key": ["a"], "term": ["b"], "context": [None]}, "row 1: key, term or context is empty"),
    ],
)
def test_a_table_with_gaps_is_refused(rows: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_terms(pl.DataFrame(rows))


def test_an_empty_table_is_refused() -> None:
    empty = pl.DataFrame(schema={"key": pl.String, "term": pl.String, "context": pl.String})
    with pytest.raises(InputError, match="no rows"):
        find_terms(empty)
