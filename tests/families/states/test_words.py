"""Words whose profiles are compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinometer.errors import InputError
from clinometer_measures.states.words import Words, read_words


@pytest.mark.parametrize(("name", "size"), [("names", 100), ("terms", 9)])
def test_the_shipped_sets_are_those_of_the_paper(name: str, size: int, shared_data: Path) -> None:
    released = json.loads((shared_data / "schuster" / f"{name}.json").read_text(encoding="utf-8"))
    shipped = read_words(name)
    assert {group: list(words) for group, words in shipped.groups.items()} == released
    assert [len(words) for words in shipped.groups.values()] == [size, size]


def test_the_released_layout_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"women": ["she", " mother "], "men": ["he", "father"]}', encoding="utf-8")
    words = read_words(path)
    assert words == Words("mine", {"women": ("she", "mother"), "men": ("he", "father")})
    assert words.all == words.compared == ("she", "mother", "he", "father")


def test_individuals_stand_beside_any_number_of_groups(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    content = {"groups": {"all": ["she", "he"]}, "individuals": ["they"], "article": ""}
    path.write_text(json.dumps(content), encoding="utf-8")
    words = read_words(path)
    assert words.all == ("she", "he", "they")
    assert words.compared == ("she", "he")
    assert words.article == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": ["Kim", "x"], "b": ["kim", "y"]}', "word 'kim' stands in both 'a' and 'b'"),
        ('{"a": ["x", "x"], "b": ["y", "z"]}', "a: word 'x' stands twice"),
        ('{"a": ["x"], "b": ["y", "z"]}', "group 'a' has 1 words; at least 2"),
        ('{"a": ["x", "y"]}', "1 groups; at least 2 are needed to compare, or 1 and individuals"),
        ('{"a": ["x", "y"], "a": ["u", "v"]}', "'a' stands twice"),
        ('{"a": "xy", "b": ["y", "z"]}', "a: expected a list of words"),
        ('{"a": ["x", 3], "b": ["y", "z"]}', "a: expected a list of words"),
        ('{"a": ["x", ""], "b": ["y", "z"]}', "a: word ''"),
        ('{"a": ["x", "u|1"], "b": ["y", "z"]}', "a: word 'u|1'"),
        (r'{"a": ["x", "\ud800"], "b": ["y", "z"]}', r"a: word '\ud800'"),
        ('{"groups": {"a": ["x", "y"]}, "individual": ["z"]}', "field 'individual'; allowed"),
        ('{"groups": {"a": ["x", "y"]}, "individuals": ["Y"]}', "both 'a' and 'individuals'"),
        ('{"groups": {"a": ["x", "y"]}, "individuals": ["z"], "article": 1}', "article 1"),
        ('["x"]', "expected groups and their words"),
        ('{"a": [\n"x",\n]}', ":3: malformed JSON"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_words(path)
    assert message in str(raised.value)
    assert str(raised.value).count(str(path)) == 1


def test_a_name_that_is_not_known_is_said_with_its_neighbours(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown words 'nams'; did you mean names\?"):
        read_words("nams")
    with pytest.raises(InputError, match="no such file"):
        read_words(tmp_path / "none.json")
