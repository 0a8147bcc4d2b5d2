"""WordNet, against nltk 3.8.1 on the files of WordNet 3.0."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.words import wordnet
from clinometer.words.wordnet import in_wordnet, is_lemma, lemma
from clinometer_measures.networks.network import Network

FOLDER = Path(wordnet.__file__).parent / "wordnet30"


@pytest.fixture(scope="module")
def words(shared_data: Path, haiku: Network) -> list[str]:
    """All words of the Haiku network and of Small World of Words, as spelt and in lower case."""
    swow = pl.read_csv(
        shared_data / "swow" / "swow_en_r1.csv.gz", columns=["cue", "response"], infer_schema=False
    )
    spoken = {*swow["cue"].fill_null(""), *swow["response"].fill_null("")}
    return sorted(spoken | {word.lower() for word in spoken} | set(haiku.words))


@pytest.fixture(scope="module")
def reference(shared_data: Path) -> Any:
    path = shared_data / "wordnet" / "wnlite_reference.py"
    spec = importlib.util.spec_from_file_location("wnlite_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WordNetLemmas(path.parent)


def test_membership_is_that_of_the_reference(words: list[str], reference: Any) -> None:
    assert in_wordnet(words) == {word for word in words if word in reference}
    assert len(words) == 72_411
    assert len(in_wordnet(words)) == 41_079  # as nltk 3.8.1 counts


def test_nouns_are_those_of_nltk(words: list[str]) -> None:
    # SHA-256 of the output of nltk 3.8.1, WordNetLemmatizer().lemmatize(word), word by word.
    lines = "\n".join(f"{word}\t{lemma(word)}" for word in words)
    assert (
        hashlib.sha256(lines.encode()).hexdigest()
        == "9368fff81310bf0cf71b36d74a9dade668e2a8cb1e54cc00add1ddf5480896b8"
    )


def test_every_node_of_the_published_network_is_known(haiku: Network) -> None:
    assert in_wordnet(haiku.words) == set(haiku.words)


@pytest.mark.parametrize(
    ("word", "noun"),
    [("women", "woman"), ("mice", "mouse"), ("hands", "hand"), ("churches", "church"),
     ("men", "men"), ("boss", "bos"), ("us", "u"), ("ice creams", "ice creams"), ("", "")],
)  # fmt: skip
def test_a_noun_as_nltk_gives_it(word: str, noun: str) -> None:
    assert lemma(word) == noun


def test_a_space_stands_for_an_underscore_and_case_is_no_matter() -> None:
    terms = ["ice cream", "ice_cream", "ICE CREAMS", "went", "qwrtz", "", " "]
    assert in_wordnet(terms) == {"ice cream", "ice_cream", "ICE CREAMS", "went"}


def test_rules_apply_again_until_a_form_is_known() -> None:
    # nltk 3.10 applies them once and does not know the word.
    assert in_wordnet(["hauntings"]) == {"hauntings"}


def test_a_word_of_many_endings_is_looked_up_at_once() -> None:
    assert in_wordnet(["qq" + "es" * 2_000]) == set()


@given(st.text(alphabet="abemnsxyz", max_size=8).map(lambda stem: stem + "es"))
def test_a_noun_never_leaves_wordnet(word: str) -> None:
    assert lemma(word) == word or is_lemma(lemma(word))


def test_files_are_those_of_the_index() -> None:
    rows = [line.split("|") for line in (FOLDER / "README.md").read_text().splitlines()]
    index = {row[1].strip(" `"): row[4].strip(" `") for row in rows if len(row) == 7}
    files = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert files == set(index) - {"file", "---"}
    for name in files:
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == index[name], name
