"""Pairs that stand in one line, with words that were not asked for among them."""

from __future__ import annotations

import pytest

from clinometer.reading.parsing import read_pairs

GROUPS = ("black", "white")
WORDS = ["mace", "cannon", "wallet", "coke", "ice cream"]
PAIRED = {"cannon": "white", "wallet": "black", "coke": "white", "ice cream": "black"}


@pytest.mark.parametrize(
    "text",
    [
        "white-cane - white-cannon - black-wallet - white-coke - black-ice-cream",
        "cane-white - cannon-white - wallet-black - coke-white - ice cream-black",
        "white-cane, white-cannon, black-wallet, white-coke, black-ice cream",
        "cane - white, cannon - white, wallet - black, coke - white, ice-cream - black",
        "white: cane; white: cannon; black: wallet; white: coke; black: ice cream",
        "cannon-white - wallet-black - cane-white - coke-white - ice-cream-black",
        "white-cannon / black-wallet / white-cane / white-coke / black-ice-cream",
        "cannon → white | cane → white | wallet → black | coke → white | ice cream → black",
        "*white-cannon* - *black-wallet* - *white-cane* - *white-coke* - *black-ice-cream*",
    ],
)
def test_an_unknown_word_costs_only_its_pair(text: str) -> None:
    assert read_pairs(text, GROUPS, WORDS).pairs == PAIRED


@pytest.mark.parametrize(
    "text",
    [
        "white-mace - black-mace - white-cannon - black-cannon - white-coke - black-coke",
        "mace-white, mace-black, cannon-white, cannon-black",
        "white - black - white - black - mace",
        "mace - cane - white - cannon - tin - black",
    ],
)
def test_what_is_paired_with_both_or_with_none(text: str) -> None:
    assert read_pairs(text, GROUPS, WORDS).pairs == {}


def test_a_chain_is_not_cut_at_its_links() -> None:
    chain = "mace - white, cannon - white, wallet - black"
    assert read_pairs(chain, GROUPS, WORDS).pairs == {
        "mace": "white",
        "cannon": "white",
        "wallet": "black",
    }
