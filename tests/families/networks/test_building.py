"""Cleaning after the code of LWOW and against its mistakes; networks against published ones."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer.words.wordnet import in_wordnet
from clinometer_measures.networks.building import DEFAULT_STEPS, LWOW_STEPS, build, clean
from clinometer_measures.networks.loading import read_associations
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.rewriting import COUNTRIES

#: The steps that do nothing the second time. Articles depend on the cues, which later steps
#: change; a noun, or a phrase taken apart, may itself be a form of another.
IDEMPOTENT = ("lower_case", "underscores", "punctuation", "countries", "two_words", "no_echo")


def table(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["cue", "response", "count"], orient="row")


def clean_response(response: str, *steps: str, cue: str = "zzz", lwow: bool = False) -> str | None:
    """Clean a response, given to a cue beside another answer."""
    associations = table((cue, response, 1), ("other", "stays", 1))
    cleaned, _ = clean(associations, steps, lwow_compatible=lwow)
    responses = cleaned.filter(pl.col("cue") != "other")["response"].to_list()
    return responses[0] if responses else None


@pytest.mark.parametrize(
    ("step", "response", "expected"),
    [("lower_case", "TRUE", "true"), ("underscores", "ice_cream", "ice cream"),
     ("punctuation", "well-known!", "well-known"), ("punctuation", "«dog’s»", "dog's"),
     ("punctuation", "rock  &  roll", "rock roll"), ("punctuation", "-x-", "x"),
     ("punctuation", "U.S.A.", "U.S.A."), ("punctuation", "(u.s.)", "u.s."),
     ("punctuation", "st. louis", "st. louis"), ("punctuation", "café", "café"),
     ("punctuation", "?!", None), ("punctuation", "x_y", "x y"),
     ("two_words", "a b", "a b"), ("two_words", "a b c", None),
     ("articles", "the dog", "dog"), ("articles", "to the moon", "moon"),
     ("articles", "toy", "toy"), ("articles", "the", "the"),
     ("spaces", "teddybear", "teddy bear"), ("spaces", "goodlooking", "good-looking"),
     ("spaces", "icecream", "icecream"), ("spaces", "handlebars", "handlebars"),
     ("spaces", "911", "911"),
     ("countries", "united states of america", "usa"), ("countries", "us", "us"),
     ("lemmas", "dogs", "dog"), ("lemmas", "women", "woman"), ("lemmas", "men", "man"),
     ("lemmas", "young men", "young man"), ("lemmas", "government", "government"),
     ("lemmas", "mention", "mention"), ("lemmas", "hold hands", "hold hand"),
     ("lemmas", "hands down", "hands down"), ("lemmas", "thousands", "thousand"),
     ("lemmas", "boss", "boss"), ("lemmas", "us", "us"), ("lemmas", "has", "has"),
     ("lemmas", "ice creams", "ice cream"), ("lemmas", "oxen", "ox"),
     ("no_echo", "zzz", None)],
)  # fmt: skip
def test_a_step(step: str, response: str, expected: str | None) -> None:
    assert clean_response(response, step) == expected


@pytest.mark.parametrize(
    ("step", "response", "expected"),
    [("lemmas", "government", "governmant"), ("lemmas", "men", "man"), ("lemmas", "boss", "bos"),
     ("lemmas", "hold hands", "hold hand"), ("lemmas", "thousands", "thousand"),
     ("lemmas", "handsome", "handome"), ("lemmas", "ice creams", "ice creams"),
     ("articles", "to the moon", "the moon"), ("articles", "a the x", "x"),
     ("spaces", "adlib", "ad-lib"), ("spaces", "teddybear", "teddy bear")],
)  # fmt: skip
def test_a_step_of_lwow(step: str, response: str, expected: str) -> None:
    assert clean_response(response, step, lwow=True) == expected


def test_an_article_stays_where_the_answer_is_a_cue() -> None:
    cleaned, _ = clean(table(("much", "a lot", 3), ("a lot", "much", 2)), ["articles"])
    assert cleaned["response"].to_list() == ["a lot", "much"]


def test_lwow_compares_answers_with_corrected_cues() -> None:
    associations = table(("much", "a lot", 3), ("a lott", "much", 2))
    for lwow, expected in ((True, "a lot"), (False, "lot")):
        cleaned, _ = clean(
            associations, ["articles"], spelling={"a lott": "a lot"}, lwow_compatible=lwow
        )
        assert cleaned["response"][0] == expected


def test_what_becomes_equal_is_added_up() -> None:
    associations = table(("Cats", "the Dogs", 2), ("cat", "dog", 3), ("cat", "CAT", 9))
    cleaned, log = clean(associations)
    assert cleaned.rows() == [("cat", "dog", 5)]
    rows = {row["step"]: row for row in log.iter_rows(named=True)}
    assert list(rows) == ["associations", *DEFAULT_STEPS, "empty", "summed"]
    assert (rows["associations"]["rows"], rows["associations"]["answers"]) == (3, 14)
    assert (rows["lower_case"]["changed"], rows["lower_case"]["dropped"]) == (2, 0)
    assert (rows["no_echo"]["dropped"], rows["no_echo"]["answers"]) == (1, 5)
    assert (rows["summed"]["rows"], rows["summed"]["dropped"]) == (1, 1)


def test_spelling_from_a_mapping_and_from_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("wrong,right\ncolour,color\n")
    (tmp_path / "b.txt").write_text("Colour\tpaint\ncolour\tColor\n")
    associations = table(("paint", "Colour", 1))
    for spelling in ({"colour": "color"}, tmp_path / "a.csv", tmp_path / "b.txt"):
        assert clean(associations, spelling=spelling)[0]["response"].item() == "color"
    (tmp_path / "c.csv").write_text("a,b,c\n")
    with pytest.raises(InputError, match="3 columns; a spelling table has two"):
        clean(associations, spelling=tmp_path / "c.csv")


def test_steps_are_taken_in_their_own_order() -> None:
    associations = table(("x", "The Dog", 1))
    assert clean(associations, ("articles", "lower_case"))[0]["response"].item() == "dog"


def test_a_country_of_many_words_is_not_dropped() -> None:
    cleaned, _ = clean(table(("flag", "the United States of America", 2)))
    assert cleaned.rows() == [("flag", "usa", 2)]


def test_no_steps_leave_the_words_but_drop_the_empty() -> None:
    associations = table(("Old", "The Age", 2), ("Old", " ", 1))
    assert clean(associations, ())[0].rows() == [("Old", "The Age", 2)]


def test_lwow_has_steps_of_its_own() -> None:
    _, log = clean(table(("a", "b", 1)), lwow_compatible=True)
    assert tuple(log["step"][1:-2]) == LWOW_STEPS
    assert set(DEFAULT_STEPS) - set(LWOW_STEPS) == {"punctuation", "two_words", "countries"}


def test_an_unknown_step() -> None:
    with pytest.raises(InputError, match="unknown step 'lemma'; did you mean lemmas"):
        clean(table(("a", "b", 1)), ["lemma"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [([("a", "a", 1)], "step 'no_echo' left no pairs"),
     ([("a", "?", 1)], "step 'empty' left no pairs"),
     ([("a", "b c d", 1)], "step 'two_words' left no pairs")],
)  # fmt: skip
def test_a_step_that_leaves_nothing_is_named(
    rows: list[tuple[str, str, int]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        clean(table(*rows))


def test_nothing_to_clean() -> None:
    with pytest.raises(InputError, match="the table is empty"):
        clean(table(("a", "b", 1)).clear())
    with pytest.raises(InputError, match="missing column count"):
        clean(table(("a", "b", 1)).drop("count"))


@given(st.lists(st.tuples(st.text(max_size=9), st.text(" aA.-_'’u.sthe!é", max_size=12)),
                min_size=1, max_size=5))  # fmt: skip
def test_cleaning_twice_is_cleaning_once(pairs: list[tuple[str, str]]) -> None:
    associations = table(*((cue, response, 1) for cue, response in pairs), ("b", "c", 1))
    cleaned, _ = clean(associations, IDEMPOTENT)
    assert clean(cleaned, IDEMPOTENT)[0].rows() == cleaned.rows()


@given(st.text(" abcdeh.-'", max_size=12))
def test_no_answer_is_invented(response: str) -> None:
    cleaned, log = clean(table(("dog", response, 2), ("b", "c", 1)))
    assert cleaned["count"].sum() <= 3
    assert log["dropped"].min() == 0
    assert log["answers"][-1] == cleaned["count"].sum()


def test_countries_are_kept_in_forms_that_wordnet_knows() -> None:
    assert in_wordnet(COUNTRIES.values()) == set(COUNTRIES.values())
    assert not set(COUNTRIES) & set(COUNTRIES.values())
    assert max(len(form.split()) for form in COUNTRIES.values()) <= 2  # else two_words drops them


def test_the_published_networks_bear_the_marks_of_their_cleaning(haiku: Network) -> None:
    # "men" is nowhere, so "government" is not either; "boss" has become "bos".
    assert not [word for word in haiku.words if "men" in word or "hands" in word]
    assert "bos" in haiku and "boss" not in haiku


@pytest.fixture(scope="module")
def humans(shared_data: Path) -> pl.DataFrame:
    return read_associations(shared_data / "swow" / "swow_en_r1.csv.gz")


def test_the_published_network_is_built_of_its_own_edges(haiku: Network) -> None:
    edges = haiku.edges().rename({"src": "cue", "tgt": "response", "wt": "count"})
    network, _ = build(edges, name="Haiku")
    assert repr(network) == "Network('Haiku', 15,596 nodes, 64,599 edges)"
    assert network.weights.sum() == haiku.weights.sum()


def test_humans_first_responses(humans: pl.DataFrame) -> None:
    # Another program, which took the larger count where lower case makes two pairs one.
    lower = humans.with_columns(pl.col("cue", "response").str.to_lowercase())
    larger = lower.group_by("cue", "response").agg(pl.col("count").max())
    network, _ = build(larger)
    assert (len(network), network.n_edges) == (18_756, 124_140)


def test_humans_first_responses_added_up(humans: pl.DataFrame) -> None:
    cleaned, _ = clean(humans, ("lower_case",))
    network, log = build(cleaned)
    assert (len(network), network.n_edges) == (18_778, 124_264)
    assert cleaned["count"].sum() == humans["count"].sum()
    assert log["step"].to_list() == [
        "associations", "no_loops", "undirected", "wordnet", "min_weight", "component",
    ]  # fmt: skip


def test_each_step_counts_what_it_left() -> None:
    associations = table(
        ("cat", "cat", 9), ("cat", "dog", 2), ("dog", "cat", 5), ("dog", "qwrtz", 4),
        ("dog", "bone", 1), ("sun", "moon", 3), ("dog", "wolf", 2),
    )  # fmt: skip
    network, log = build(associations)
    assert network.edges().sort("src", "tgt").rows() == [("cat", "dog", 5), ("dog", "wolf", 2)]
    assert log.rows() == [
        ("associations", 7, 7), ("no_loops", 7, 6), ("undirected", 7, 5), ("wordnet", 6, 4),
        ("min_weight", 5, 3), ("component", 3, 2),
    ]  # fmt: skip


def test_steps_may_be_left_out() -> None:
    associations = table(("qwrtz", "dog", 1), ("sun", "moon", 3))
    network, log = build(associations, wordnet=False, min_weight=0, component=False)
    assert (len(network), network.n_edges) == (4, 2)
    assert log["step"].to_list() == ["associations", "no_loops", "undirected"]


def test_a_directed_network_keeps_both_ways() -> None:
    network, log = build(table(("cat", "dog", 2), ("dog", "cat", 5)), directed=True, name="D")
    assert network.directed and network.name == "D"
    assert sorted(network.edges().rows()) == [("cat", "dog", 2), ("dog", "cat", 5)]
    assert "undirected" not in log["step"]


def test_of_components_of_one_size_the_first_in_the_alphabet() -> None:
    network, _ = build(table(("sun", "moon", 3), ("dog", "bone", 2)))
    assert set(network.words) == {"bone", "dog"}


def test_equal_pairs_are_added_up() -> None:
    assert build(table(("cat", "dog", 1), ("cat", "dog", 1)))[0].n_edges == 1


letters = st.sampled_from("abcdef")


@given(st.dictionaries(st.tuples(letters, letters), st.integers(1, 9), min_size=1))
def test_an_edge_has_the_larger_weight(counts: dict[tuple[str, str], int]) -> None:
    associations = table(("x", "y", 1), *((*pair, count) for pair, count in counts.items()))
    network, _ = build(associations, wordnet=False, min_weight=0, component=False)
    weights = {frozenset(row[:2]): row[2] for row in network.edges().iter_rows()}
    for (cue, response), count in counts.items():
        if cue != response:
            assert weights[frozenset((cue, response))] == max(count, counts.get((response, cue), 0))
    assert len(weights) == len({frozenset(pair) for pair in counts if len(set(pair)) == 2}) + 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [([("cat", "cat", 3)], "step 'no_loops' left no edge"),
     ([("qwrtz", "cat", 3)], "step 'wordnet' left no edge"),
     ([("dog", "cat", 1)], "step 'min_weight' left no edge"),
     ([("dog", "cat", 0)], "'dog' – 'cat': count 0; expected two words and a number above 0"),
     ([("dog", "cat", -1)], "count -1"), ([("dog", "", 2)], "'dog' – ''"),
     ([("dog", "cat", float("nan"))], "count nan")],
)  # fmt: skip
def test_associations_that_make_no_network(
    rows: list[tuple[str, str, float]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        build(table(*rows))


def test_parameters_and_columns_are_checked() -> None:
    with pytest.raises(InputError, match="min_weight: -1"):
        build(table(("a", "b", 1)), min_weight=-1)
    with pytest.raises(InputError, match="missing column response"):
        build(table(("a", "b", 1)).drop("response"))
