from __future__ import annotations

import pytest

from clinometer.reading.vocabulary import find, inflections, locate, tokenise, vocabulary

TERMS = (("old", "fat", "Min-Jun Kim"), ("young", "light", "Jay Al-Ta'i"))
TASKS = (("secretary", "study religious texts"), ("road trip", "peaceful"))


def find_terms(text):
    mentions = find(tokenise(text), vocabulary(TERMS, TASKS))
    return [mention.term for mention in mentions]


@pytest.mark.parametrize(
    "word, form",
    [("secretary", "secretaries"), ("old", "older"), ("fat", "fatter"), ("hike", "hiking")]
    + [("hiking", "hike"), ("violent", "violence"), ("angry", "anger"), ("woman", "women")]
    + [("joy", "joyful"), ("humiliate", "humiliation"), ("dangerous", "danger")],
)
def test_inflections(word, form):
    assert form in inflections(word)


@pytest.mark.parametrize(
    "text, term",
    [("the OLDER one", "old"), ("two secretaries", "secretary"), ("a roadtrip", "road trip")]
    + [("road-trips", "road trip"), ("studying religious texts", "study religious texts")]
    + [("light-skinned", "light"), ("in peace", "peaceful"), ("Mr. Kim", "Min-Jun Kim")]
    + [("Min-Jun", "Min-Jun Kim"), ("‚Äòyoung‚Äô", "young"), ("Jay Al-Ta’i", "Jay Al-Ta'i")],
)
def test_variants(text, term):
    assert find_terms(text) == [term]


@pytest.mark.parametrize(
    "text", ["light-hearted", "a 12-year-old", "40 years old", "bold", "kim", "a jay", "fathers"]
)
def test_what_only_looks_alike(text):
    assert find_terms(text) == []


def test_non_turns_a_group_into_the_other():
    mentions = find(tokenise("non-old"), vocabulary(TERMS, TASKS))
    assert [mention.side for mention in mentions] == [1]


def test_what_is_written_counts_before_what_may_be_a_form():
    lexicon = vocabulary((("leads", "party"), ("lead", "partie")), ((), ()))
    sides = [mention.side for mention in find(tokenise("lead leads party partie parties"), lexicon)]
    assert sides == [1, 0, 0, 1]  # "parties" may be either


@pytest.mark.parametrize("text", ["a  bc, d-e", "‚Äòbc‚Äô x", "\n\nbc", "x" * 70 + " bc"])
def test_tokens_are_located(text):
    tokens = tokenise(text)
    position = next(position for position, token in enumerate(tokens) if token.text == "bc")
    start, end = locate(text, position, position)
    assert "bc" in text[start:end] and end - start <= len("‚Äòbc‚Äô")
