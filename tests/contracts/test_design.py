"""How pairs of words go round the wordings."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from clinometer.contracts.design import Groups, Rotation


def shown(ours: int, theirs: int, wordings: int, pairs: int, *, aligned: bool) -> list[list[str]]:
    """Return wording, marginalized and default word of each pair."""
    groups = Groups([f"m{k}" for k in range(ours)], [f"d{k}" for k in range(theirs)], aligned)
    return [
        [str(place), *Rotation("", place, wordings).balanced_pair(groups, pair)]
        for pair, place in product(range(pairs), range(wordings))
    ]


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("words", [(6, 6), (6, 4), (5, 3), (4, 4)])
@pytest.mark.parametrize("wordings", [1, 6, 8, 9])
def test_each_wording_shows_all_words_as_often(
    words: tuple[int, int], wordings: int, aligned: bool
) -> None:
    ours, theirs = (min(words), min(words)) if aligned else words
    rows = shown(ours, theirs, wordings, 60, aligned=aligned)
    for side, count in ((1, ours), (2, theirs)):
        counts = Counter((row[0], row[side]) for row in rows)
        assert set(counts.values()) == {60 // count}
        assert len(counts) == wordings * count


def test_the_first_pairs_of_all_wordings_show_all_words() -> None:
    rows = shown(6, 6, 9, 1, aligned=False)
    assert len({row[1] for row in rows}) == len({row[2] for row in rows}) == 6


def test_partners_stay_together_where_words_are_aligned() -> None:
    assert all(row[1][1:] == row[2][1:] for row in shown(5, 5, 7, 9, aligned=True))


def test_more_wordings_than_words_have_different_partners() -> None:
    partners = Counter((row[1], row[2]) for row in shown(6, 6, 9, 12, aligned=False))
    assert len(partners) == 36
