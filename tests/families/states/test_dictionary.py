"""Dictionaries of stereotype dimensions: the released layout, our own, and the shipped one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer_measures.states.dictionary import Dictionary, read_dictionary

HEADER = "dimension,term,direction,synset,definition,examples\n"
POLES = "Warmth,warm,high,,,\nWarmth,cold,low,,,\n"


def write_dictionary(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "poles.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_released_dictionary_has_the_counts_of_the_paper(shared_data: Path) -> None:
    dictionary = read_dictionary(shared_data / "schuster" / "stereotype_dimensions_dictionary.csv")
    counts = {d: (len(dictionary.pole([d], "high")), len(dictionary.pole([d], "low")))
              for d in dictionary.dimensions}  # fmt: skip
    assert counts == {  # table 1 of Schuster et al. 2024; progressive and non-religious are low
        "Sociability": (43, 42), "Morality": (51, 69), "Ability": (40, 39), "Agency": (42, 39),
        "Status": (21, 13), "Politics": (12, 16), "Religion": (18, 10),
    }  # fmt: skip
    assert len(dictionary.terms) == 455
    assert len(set(dictionary.terms.values())) == 341
    assert dictionary.broad == {"Warmth": ("Sociability", "Morality"),
                                "Competence": ("Ability", "Agency")}  # fmt: skip


def test_released_examples_are_lists(shared_data: Path) -> None:
    dictionary = read_dictionary(shared_data / "schuster" / "stereotype_dimensions_dictionary.csv")
    row = dictionary.senses.row(0, named=True)
    assert row["key"] == "sociability|sociability.n.01"
    assert row["examples"] == ["her lively sociability complemented his reserved nature"]
    assert dictionary.senses["examples"].list.len().min() >= 1


def test_the_shipped_dictionary_has_the_dimensions_of_the_released_one(shared_data: Path) -> None:
    released = read_dictionary(shared_data / "schuster" / "stereotype_dimensions_dictionary.csv")
    dictionary = read_dictionary()
    assert dictionary.dimensions == released.dimensions
    assert dictionary.broad == released.broad
    assert dictionary.terms.keys().isdisjoint(released.terms)  # which tells senses apart


def test_a_broad_dimension_is_made_of_what_there_is(tmp_path: Path) -> None:
    rows = "".join(
        f"{d},{d}-{p},{p}\n" for d in ("Sociability", "Competence") for p in ("high", "low")
    )
    dictionary = read_dictionary(write_dictionary(tmp_path, "dimension,term,dir\n" + rows))
    assert dictionary.broad == {"Warmth": ("Sociability",), "Competence": ("Competence",)}


def test_senses_of_one_term_are_told_apart(tmp_path: Path) -> None:
    rows = "Warmth,cold,low,cold.a.02,without warmth,a cold man | cold eyes\n"
    dictionary = read_dictionary(write_dictionary(tmp_path, HEADER + POLES + rows))
    assert dictionary.pole(["Warmth"], "low") == ["cold", "cold|cold.a.02"]
    assert dictionary.terms["cold|cold.a.02"] == "cold"
    assert dictionary.senses["examples"].to_list()[-1] == ["a cold man", "cold eyes"]
    assert dictionary.senses["definition"].to_list() == [None, None, "without warmth"]
    assert dictionary.broad == {}


def test_a_sense_in_two_dimensions_has_one_key_and_counts_in_both(tmp_path: Path) -> None:
    rows = "Sociability,good,1\nSociability,bad,-1\nMorality,good,HIGH\nMorality,evil,low\n"
    dictionary = read_dictionary(write_dictionary(tmp_path, "dimension,term,dir\n" + rows))
    assert dictionary.pole(["Sociability", "Morality"], "high") == ["good", "good"]
    assert list(dictionary.terms) == ["good", "bad", "evil"]


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    rows = [
        {"dimension": "Warmth", "term": "warm", "direction": 1, "examples": ["a warm smile"]},
        {"dimension": "Warmth", "term": "null", "direction": -1, "examples": []},
    ]
    path = tmp_path / "poles.parquet"
    pl.DataFrame(rows).write_parquet(path)
    dictionary = read_dictionary(path)
    assert dictionary.pole(["Warmth"], "high") == ["warm"]
    assert dictionary.pole(["Warmth"], "low") == ["null"]
    assert dictionary.senses["examples"].to_list() == [["a warm smile"], []]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("Warmth,nice,up,,,\n", ":4: direction 'up'; allowed are high and low, or 1 and -1"),
        ("Warmth,nice,0,,,\n", ":4: direction '0'"),
        ("Warmth,,high,,,\n", ":4: term is empty"),
        (",nice,high,,,\n", ":4: dimension is empty"),
        ('Warmth,"a\nb",high,,,\nWarmth,nice,x,,,\n', ":6: direction 'x'"),
        ("Warmth,a|b,high,,,\n", ":4: term 'a|b'"),
        ("Warmth,nice,high,,,[__import__('os')]\n", ":4: examples of 'nice'"),
        ("Warmth,nice,high,,,[3]\n", ":4: examples of 'nice'"),
        ("Warmth,warm,low,,,\n", "'warm' stands at both poles of 'Warmth'"),
        ("Warmth,warm,high,,,\n", "'warm' stands twice in 'Warmth'"),
        ("Status,rich,high,,,\n", "dimension 'Status' has no low words"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(rows: str, message: str, tmp_path: Path) -> None:
    path = write_dictionary(tmp_path, HEADER + POLES + rows)
    with pytest.raises(InputError) as raised:
        read_dictionary(path)
    assert str(path) in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("term,direction\nwarm,high\n", "missing column dimension"),
        ("dimension,term,direction\n", "no rows"),
    ],
)
def test_a_table_without_rows_or_columns(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_dictionary(write_dictionary(tmp_path, text))


def test_broad_dimensions_may_be_given(tmp_path: Path) -> None:
    dictionary = read_dictionary(write_dictionary(tmp_path, HEADER + POLES))
    rebuilt = Dictionary("mine", dictionary.senses, {"Communion": ("Warmth",)})
    assert rebuilt.broad == {"Communion": ("Warmth",)}
    with pytest.raises(InputError, match="unknown dimension 'Warm'; did you mean"):
        Dictionary("mine", dictionary.senses, {"Communion": ("Warm",)})
