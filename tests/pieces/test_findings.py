"""What is told of one mean."""

import pytest

from clinometer.pieces.findings import _in_words
from clinometer.pieces.plan import StereotypeFacts
from clinometer.results import Measure

WORDS = {
    "marginalized": ("Julia", "Anna"),
    "default": ("Ben",),
    "tied": ("home", "family", "wedding"),
    "counter": ("career", "office"),
}
PAIRS = "{marginalized} with {tied}; {default} with {counter}"


def in_words(kind, words=WORDS, toward=PAIRS, against="{default} with {tied}"):
    measure = Measure("m", "M", -1, 1, 0, "", "", toward=toward, against=against)
    return _in_words(measure, StereotypeFacts("career", "Career", "gender", (), words=words), kind)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("consistent", "Julia, … with home, family, …; Ben with career, office"),
        ("reversed", "Ben with home, family, …"),
    ],
)
def test_a_direction_is_said_with_the_words_of_the_stereotype(kind, says):
    assert in_words(kind) == says


def test_words_that_are_not_known_are_not_said():
    assert in_words("consistent", WORDS | {"counter": ()}) == ""
    assert in_words("consistent", {}, toward="more yes") == "more yes"
    assert in_words("consistent", toward="") == ""


def test_words_that_look_like_slots_stay_as_they_are():
    words = WORDS | {"tied": ("{default}", "{0.__class__}")}
    assert in_words("reversed", words) == "Ben with {default}, {0.__class__}"
