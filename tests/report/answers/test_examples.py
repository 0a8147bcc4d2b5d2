from hypothesis import given
from hypothesis import strategies as st

from clinometer.report.answers.examples import LONGEST, passages


def test_a_passage_far_on_is_shown_with_its_surroundings():
    text = "x" * 5000 + "Ben leads." + "y" * 5000
    pieces, matches = passages(text, ["Ben leads."])
    assert matches == [True]
    assert [piece.kind for piece in pieces] == ["text", "gap", "text", "mark", "text"]
    assert pieces[1].text == "4,200 characters left out"


def test_an_endless_or_empty_passage_is_not_marked():
    assert passages("a" * 9000, ["a" * (LONGEST + 1), "", "  "])[1] == [False, False, False]


def test_passages_that_overlap_are_marked_as_one():
    pieces, matches = passages("one two three", ["one two", "two three"])
    assert matches == [True, True]
    assert [(piece.kind, piece.text) for piece in pieces] == [("mark", "one two three")]


@given(st.text(max_size=4000), st.integers(0, 4000), st.integers(1, 200))
def test_nothing_is_shown_that_is_not_in_the_answer(text, start, length):
    pieces, matches = passages(text, [text[start : start + length]])
    visible = [piece for piece in pieces if piece.kind != "gap"]
    assert all(piece.text in text for piece in visible)
    assert matches[0] == any(piece.kind == "mark" for piece in visible)
    if len(text) <= LONGEST:
        assert "".join(piece.text for piece in visible) == text
