"""Contexts of senses, from files and from the dictionary's own examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.errors import ClinometerWarning, InputError
from clinometer_measures.states.dictionary import SENSES, Dictionary, read_dictionary
from clinometer_measures.states.examples import (
    dictionary_examples,
    for_senses,
    read_examples,
    read_word_examples,
    senses_of,
    write_examples,
)
from clinometer_measures.states.tables import CONTEXTS


def sense(term: str, direction: str, synset: str | None = None, *examples: str) -> dict[str, Any]:
    key = f"{term}|{synset}" if synset else term
    return {"key": key, "term": term, "synset": synset, "definition": f"being {term}",
            "dimension": "Warmth", "direction": direction, "examples": list(examples)}  # fmt: skip


DICTIONARY = Dictionary(
    "d",
    pl.DataFrame(
        [
            sense("warm", "high", "warm.a.01", "a warm welcome", "warmth", "warm people"),
            sense("warm", "high", "warm.a.02", "a warm room"),
            sense("cold", "low", None, "Cold people"),
            sense("icy", "low", None, "ice"),
        ],
        schema=dict(SENSES),
    ),
    {"Warmth": ("Warmth",)},
)
ROWS = [
    {"term": "cold", "examples": ["a cold look", "cold words"]},
    {"term": "other", "examples": ["not of this dictionary"]},
    {"term": "warm", "synset": "warm.a.02", "examples": ["a warm room"]},
    {"term": "warm", "synset": "warm.a.01", "examples": [f"warm {n}" for n in range(9)]},
    {"term": "icy", "synset": None, "examples": ["an icy look"]},
]


def write(path: Path, rows: list[Any]) -> Path:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_sentences_are_read_by_sense_in_the_order_of_the_dictionary(tmp_path: Path) -> None:
    contexts = read_examples(write(tmp_path / "c.jsonl", ROWS), DICTIONARY, most=2)
    assert dict(contexts.schema) == CONTEXTS
    assert contexts.rows() == [
        ("warm|warm.a.01", "warm", "warm 0"),
        ("warm|warm.a.01", "warm", "warm 1"),
        ("warm|warm.a.02", "warm", "a warm room"),
        ("cold", "cold", "a cold look"),
        ("cold", "cold", "cold words"),
        ("icy", "icy", "an icy look"),
    ]


def test_a_sense_without_sentences_is_left_out_with_one_warning(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", ROWS[:3])
    says = r"2 of 4 senses have no example and are left out: warm\|warm.a.01, icy"
    with pytest.warns(ClinometerWarning, match=says):
        contexts = read_examples(path, DICTIONARY)
    assert set(contexts["key"]) == {"warm|warm.a.02", "cold"}


def test_a_pole_without_sentences_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sense of the low pole of Warmth has an example"):
        read_examples(write(tmp_path / "c.jsonl", ROWS[2:4]), DICTIONARY)


def test_a_sentence_without_its_term_is_an_error(tmp_path: Path) -> None:
    rows = [*ROWS[1:], {"term": "cold", "examples": ["a cold-blooded lizard", "a cold look"]}]
    path = write(tmp_path / "c.jsonl", rows)
    with pytest.raises(InputError, match="c.jsonl:5: 'cold' is no word of .*'a cold-blooded"):
        read_examples(path, DICTIONARY)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", ":6: not a line of JSON"),
        ("[" * 100_000, ":6: not a line of JSON"),
        ("[1]", ":6: expected an object"),
        ({"term": 1}, ":6: term 1: expected a word"),
        ({"term": "cold", "synset": 2}, ":6: synset 2: expected a text"),
        ({"term": "cold", "examples": "cold"}, ":6: examples of 'cold': expected a list"),
        ({"term": "cold", "examples": ["too cold"]}, ":6: 'cold' has other examples in line 1"),
    ],
)
def test_a_malformed_line_is_named(line: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        read_examples(write(tmp_path / "c.jsonl", [*ROWS, line]), DICTIONARY)


def test_files_that_cannot_be_read_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_examples(tmp_path / "c.jsonl", DICTIONARY)
    (tmp_path / "c.jsonl").write_bytes(b"\n\xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_examples(tmp_path / "c.jsonl", DICTIONARY)
    with pytest.raises(InputError, match="most 0: at least 1"):
        read_examples(tmp_path / "c.jsonl", DICTIONARY, most=0)


def test_a_dictionarys_own_examples_must_hold_the_term() -> None:
    with pytest.warns(ClinometerWarning, match="1 of 4 senses have no example.*: icy"):
        contexts = dictionary_examples(DICTIONARY)
    assert contexts["context"].to_list() == [
        "a warm welcome", "warm people", "a warm room", "Cold people",
    ]  # fmt: skip


def test_a_dictionary_without_examples_says_so() -> None:
    with pytest.raises(InputError, match="examples of clinometer: no sense of the high pole"):
        dictionary_examples(read_dictionary())


def test_words_without_senses_keep_their_sentences_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", ROWS)
    contexts = read_word_examples(path, ["icy", "cold"])
    assert contexts["key"].to_list() == ["icy|1", "cold|1", "cold|2"]
    with pytest.raises(InputError, match="1 of 2 words have no example: warm; add a line"):
        read_word_examples(path, ["warm", "cold"])


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    contexts = read_examples(write(tmp_path / "c.jsonl", ROWS), DICTIONARY, most=3)
    write_examples(contexts.reverse(), DICTIONARY.senses, tmp_path / "deep" / "d.jsonl", "me")
    lines = (tmp_path / "deep" / "d.jsonl").read_text().splitlines()
    assert json.loads(lines[1]) == {
        "term": "warm", "synset": "warm.a.02", "definition": "being warm",
        "examples": ["a warm room"], "example_source": "me",
    }  # fmt: skip
    again = read_examples(tmp_path / "deep" / "d.jsonl", DICTIONARY)
    assert sorted(again.rows()) == sorted(contexts.rows())


def test_all_senses_of_a_term_share_what_a_corpus_has() -> None:
    corpus = pl.DataFrame([("warm", "warm", "a warm day")], schema=CONTEXTS, orient="row")
    with pytest.warns(ClinometerWarning, match="corpus: 2 of 4 senses"):
        contexts = for_senses(corpus, DICTIONARY.senses, "corpus")
    assert contexts["key"].to_list() == ["warm|warm.a.01", "warm|warm.a.02"]
    assert senses_of(["a", "b", "a"])["key"].to_list() == ["a", "b"]


def test_the_released_file_is_read_whole(shared_data: Path) -> None:
    folder = shared_data / "schuster"
    dictionary = read_dictionary(folder / "stereotype_dimensions_dictionary.csv")
    contexts = read_examples(folder / "generated_examples.txt", dictionary)
    assert (contexts.height, contexts["key"].n_unique()) == (2205, 455)
    examples = dictionary_examples(dictionary)
    assert examples["key"].n_unique() == 455  # every sense has one that holds its term
