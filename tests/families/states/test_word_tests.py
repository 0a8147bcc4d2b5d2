"""Word lists: shipped ones, studies, users' files, and what is wrong in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clinometer.errors import ClinometerError, InputError
from clinometer_measures.states import word_tests
from clinometer_measures.states.word_tests import WordSet, WordTest, load_tests

#: Targets and attributes per set of the ten tests: Caliskan et al. (2017), Table 1.
SIZES = [25, 25], [25, 25], [32, 25], [16, 25], [16, 8], [8, 8], [8, 8], [8, 8], [6, 7], [8, 8]

SETS: dict[str, Any] = {
    "first": {"name": "women", "words": ["she", "her"]},
    "second": {"words": ["he", "him", "his"]},
    "toward": {"words": ["null", "no"]},
    "against": {"words": ["desk", "salary"]},
}


def write(folder: Path, ending: str = ".yaml", **changed: Any) -> Path:
    path = folder / f"mine{ending}"
    path.write_text(json.dumps({"tests": {"jobs": SETS | changed}}, indent=1), encoding="utf-8")
    return path


def test_the_ten_tests_have_the_sizes_of_the_paper() -> None:
    word_tests = load_tests("caliskan2017")
    assert [word_test.stereotype for word_test in word_tests] == [f"weat{i}" for i in range(1, 11)]
    for word_test, (targets, attributes) in zip(word_tests, SIZES, strict=True):
        sizes = [len(set(words)) for _, words in word_test.sets]
        assert sizes == [targets, targets, attributes, attributes], word_test.stereotype


def test_a_study_tests_each_stereotype() -> None:
    power = next(
        word_test for word_test in load_tests("bai2025") if word_test.stereotype == "power"
    )
    assert power.first == WordSet("marginalized", ("dianne", "karen", "lisa", "sandra"))
    assert power.toward == WordSet("tied", ("follow", "submissive", "timid", "weak"))


def test_a_study_with_dimensions_tests_each_of_them() -> None:
    names = [(word_test.stereotype, word_test.dimension) for word_test in load_tests("mist2025")]
    assert len(names) == len(set(names)) == 30
    assert all(dimension for _, dimension in names)


@pytest.mark.parametrize("ending", [".yaml", ".json"])
def test_a_users_file_keeps_words_as_text(tmp_path: Path, ending: str) -> None:
    (test,) = load_tests(write(tmp_path, ending))
    assert (test.study, test.stereotype, test.first.name, test.second.name) == (
        *("mine", "jobs", "women", "second"),
    )
    assert test.toward.words == ("null", "no")
    assert word_tests.test_words([test])[:3] == ["she", "her", "he"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"first": {"words": ["she"]}}, r"jobs.first.words: 1 words: too few words for the test"),
        ({"second": {"words": ["he", "She"]}}, "first and second: word 'she' stands on both sides"),
        ({"against": {"words": ["no", "x"]}}, "toward and against: word 'no' stands on both"),
        ({"first": {"words": ["a", "A"]}}, "word 'A' stands twice"),
        ({"third": {"words": ["a", "b"]}}, "jobs: unknown field 'third'"),
        ({"first": {"words": ["a", " "]}}, "empty word"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_field(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=rf"mine\.yaml:\d+: tests\..*{message}"):
        load_tests(write(tmp_path, **changed))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "tests: {a: &x {}, b: *x}", "anchors"),
        ("a.yaml", "tests: {}", "tests"),
        ("a.yaml", "words: [a]", "expected tests"),
        ("a.json", '{"tests": {"a": 1, "a": 2}}', "'a' stands twice"),
        ("a.json", "{", "malformed JSON"),
    ],
)
def test_files_that_are_no_tests(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ClinometerError, match=message):
        load_tests(tmp_path / name)


def test_unknown_names_are_told_with_near_ones() -> None:
    with pytest.raises(InputError, match="did you mean caliskan2017"):
        load_tests("caliskan")


def test_a_word_of_both_sides_is_refused_without_a_file() -> None:
    sets = [WordSet(name, (name,)) for name in "abca"]
    with pytest.raises(InputError, match="empty"):
        WordTest("s", "t", WordSet("a", ()), *sets[1:])
    with pytest.raises(InputError, match="'a' stands on both sides"):
        WordTest("s", "t", sets[0], sets[3], sets[1], sets[2])
