"""Paths of layered networks are counted as if each were listed."""

from __future__ import annotations

import pytest

from clinometer_measures.networks.layered_paths import (
    PATH_TYPES,
    digits,
    path_types,
    paths_from,
    paths_through,
)

DIAMOND = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


def test_paths_through_nodes_and_edges() -> None:
    nodes, edges = paths_through([*DIAMOND, ("d", "e"), ("d", "f")], "a", "e")
    assert nodes == {"a": 2, "b": 1, "c": 1, "d": 2, "e": 2}
    assert edges == [1, 1, 1, 1, 2, 0]


@pytest.mark.parametrize(
    ("tones", "kind"),
    [
        ("positive positive positive", "positive"),
        ("negative negative negative", "negative"),
        ("neutral neutral neutral", "neutral"),
        ("neutral positive neutral", "mixed"),
        ("negative neutral neutral", "mixed"),
        ("positive neutral negative", "conflicting"),
        ("negative unknown positive", "conflicting"),
        ("unknown positive unknown", "positive"),
        ("unknown unknown unknown", "unknown"),
    ],
)
def test_the_type_goes_by_all_rated_words_of_a_path(tones: str, kind: str) -> None:
    tone_by_word = dict(zip("abc", tones.split(), strict=True))
    types = path_types([("a", "b"), ("b", "c")], tone_by_word, "a", "c")
    assert types == {**dict.fromkeys(PATH_TYPES, 0), kind: 1}


def test_counts_are_exact_beyond_the_numbers_of_a_machine() -> None:
    edges = [
        (f"{start}{step}", f"{end}{step + 1}")
        for step in range(200)
        for start in (["s"] if step == 0 else "xyz")
        for end in (["t"] if step == 199 else "xyz")
    ]
    assert paths_from(edges, "s0")["t200"] == 3**199
    tones = {node: "neutral" if node[0] in "st" else "positive" for edge in edges for node in edge}
    assert path_types(edges, tones, "s0", "t200")["mixed"] == 3**199


def test_a_number_is_written_out_whatever_its_size() -> None:
    assert digits(10**5000 + 7) == "1" + "0" * 4999 + "7"
