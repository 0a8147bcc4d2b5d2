"""Tokens that are parts of characters, as servers write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.modes.tokens import ListedToken, begun_options, is_readable, printable

WORDS = ["她们", "élève", "🙂 happy", "남자", "девушка"]


def gpt2(data: bytes) -> str:
    """GPT-2's alphabet, as its encoder makes it."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = [byte for byte in range(256) if byte not in printable]
    return "".join(chr(b) if b in printable else chr(256 + moved.index(b)) for b in data)


FORMS = {
    "escaped": lambda data: "".join(f"\\x{byte:02x}" for byte in data),
    "openai": lambda data: "bytes:" + "".join(f"\\x{byte:02x}" for byte in data),
    "byte tokens": lambda data: "".join(f"<0x{byte:02X}>" for byte in data),
    "alphabet": gpt2,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["nothing", "right", "of the text"])
@pytest.mark.parametrize("word", WORDS)
def test_the_first_bytes_of_an_option_are_read(form: str, kind: str, word: str) -> None:
    part = word.encode()[: 1 if ord(word[0]) < 0x800 else 2]
    text = FORMS[form](part)
    by_kind = {"nothing": None, "right": list(part), "of the text": list(text.encode())}
    token = ListedToken(text, -1.0, by_kind[kind])
    assert begun_options(token, [word, "old"]) == ([0], True)


def test_bytes_tell_what_a_server_replaced() -> None:
    part = list("她".encode()[:2])
    assert begun_options(ListedToken("\ufffd", -1.0, part), ["他", "她"]) == ([1], True)
    assert begun_options(ListedToken("", -1.0, part), ["他", "她"]) == ([1], True)


@pytest.mark.parametrize(
    "token",
    [ListedToken("\ufffd", -1.0), ListedToken("", -1.0, []),
     ListedToken("\ufffd", -1.0, [239, 191, 189]), ListedToken(" \ufffd", -1.0, [300])],
)  # fmt: skip
def test_a_token_of_which_nothing_tells_may_begin_any_word_beyond_ascii(token: ListedToken) -> None:
    assert not is_readable(token)
    assert begun_options(token, ["old", "她", "élève"]) == ([1, 2], False)


def test_bytes_of_several_options_are_of_none() -> None:
    assert begun_options(ListedToken("<0xE5>", -1.0), ["夫", "妻"]) == ([0, 1], False)
    assert begun_options(ListedToken("<0xE5>", -1.0), ["夫", "男"]) == ([0], True)


def test_a_letter_is_undone_only_where_it_begins_no_option() -> None:
    assert begun_options(ListedToken("Ã", -1.0), ["Ãnsia", "élève"]) == ([0], True)
    assert begun_options(ListedToken("Ã©", -1.0), ["old", "élève"]) == ([1], True)
    assert begun_options(ListedToken("é", -1.0), ["été", "黑人"]) == ([0], True)


@pytest.mark.parametrize("token", ["Ġold", "▁old", " Old", '"old', "ol", "OLD", "old."])
def test_marks_and_case_are_no_difference(token: str) -> None:
    assert begun_options(ListedToken(token, -1.0), ["old", "young"]) == ([0], True)


@pytest.mark.parametrize("token", ["É", "é", " é", "Ġé"])
def test_a_whole_letter_begins_its_word_in_any_case(token: str) -> None:
    assert begun_options(ListedToken(token, -1.0), ["été", "hiver"]) == ([0], True)


@given(st.text(max_size=12), st.none() | st.lists(st.integers(-1, 300), max_size=4))
def test_any_token_is_read_or_said_to_be_unreadable(text: str, listed: list[int] | None) -> None:
    token = ListedToken(text, -1.0, listed)
    begun = begun_options(token, ["old", "她"])
    assert set(begun.numbers) <= {0, 1}
    assert is_readable(token) or not begun.certain
    assert len(printable(token)) <= 40
    printable(token).encode()
