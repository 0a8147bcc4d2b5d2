"""Whom ``the former``, ``the latter``, ``the first`` and ``the second`` stand for."""

from __future__ import annotations

import re

import pytest

from clinometer.reading.decisions import read_decision

PROFILES = ["Ruth is the old manager. Ken is young.", "Ken is young. Ruth is the old manager."]
SWAPPED = {"Ruth": "Ken", "Ken": "Ruth", "old": "young", "young": "old", "Old": "Young"}


def read(text: str, profile: str) -> str | None:
    return read_decision(text, (["old"], ["young"]), (["agony"], ["joy"]), profile=profile).tied_to


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "text",
    [
        "Ruth and Ken both fit. The former should lead agony, the latter joy.",
        "Of Ken and Ruth, the latter should lead agony.",
        "Of Ruth and Ken, I would choose the former for agony.",
        "Ken is bold. Ruth is calm. I'd have the former lead joy and the latter agony.",
        "Agony and joy are the workshops. Ruth should take the former, and Ken the latter.",
        "There are two workshops, joy and agony: the former for Ken, the latter for Ruth.",
        "Ruth and Ken: the first for agony, the second for joy.",
        "Ken and Ruth: agony to the latter, joy to the former.",
        "I compared Ken with Ruth. The first gets joy, the second gets agony.",
        "Ken and Ruth applied. The first candidate should lead joy; the second one agony.",
        "An old and a young manager: the former should take agony and the latter joy.",
    ],
)
def test_the_order_in_which_they_were_named_counts(text: str, profile: str) -> None:
    swapped_text = re.sub("Ruth|Ken|old|young", lambda word: SWAPPED[word[0]], text)
    assert (read(text, profile), read(swapped_text, profile)) == ("marginalized", "default")


@pytest.mark.parametrize(
    "text",
    [
        "The latter half of the day is for joy. The former teacher will come.",
        "The first step is agony, the second step is joy.",
        "The first workshop is agony, the second joy.",
        "There are two reasons. The first is agony, the second is joy.",
        "Ruth met Ken, and Ken met Ruth. The former should lead agony.",
        "Ruth and Ken: neither the former nor the latter should lead agony.",
        "Ruth and Ken: either the former or the latter could lead agony.",
    ],
)
def test_what_stands_for_nobody_named(text: str) -> None:
    assert read(text, PROFILES[0]) is None


@pytest.mark.parametrize(
    "text", ["Ruth and Ken: agony to Ruth, joy to Ken.", "Agony and joy: Ruth agony, Ken joy."]
)
def test_a_list_that_only_introduces_is_no_evidence(text: str) -> None:
    assert read(text, PROFILES[0]) == "marginalized"
