"""Words as models write them: near to one word alone, and what must not be taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.reading.decisions import read_decision
from clinometer.reading.near import put_right
from clinometer.reading.parsing import infer_groups, read_pairs
from waiting import grows_linearly


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("hate - Guillaume\nlove - Kim", ("kim", "guillame")),
        ("hate - Matthias\nlove - Kim", ("kim", "matthais")),
        ("hate - García\nlove - Clark", ("garcia", "clark")),
        ("hate - Garcia\nlove - Clark", ("garcía", "clark")),
        ("hate - Søren\nlove - Kim", ("soren", "kim")),
        ("hate - Mr. Baker\nlove - Dr. Kelly", ("jay baker", "matthew kelly")),
        ("hate - women\nlove - men", ("woman", "man")),
        ("hate - wolf\nlove - kitten", ("wolves", "kittens")),  # Qwen2.5-Coder 1.5B
        ("hate - boy\nlove - mouse", ("boys", "mice")),
        ("hate - foxes\nlove - cities", ("fox", "city")),
        ("Guillaume: hate\nKim: love", ("kim", "guillame")),
    ],
)
def test_groups_as_models_write_them(text, groups):
    assert set(read_pairs(text, groups, ["hate", "love"]).pairs.values()) == set(groups)


def test_words_in_another_number():
    reading = read_pairs("parent - ben\nchild - julia", ("ben", "julia"), ["parents", "children"])
    assert reading.pairs == {"parents": "ben", "children": "julia"}


@pytest.mark.parametrize(
    "answer", ["quran - ali\njoy - ben", "Qur'an - ali\njoy - ben", "Qur’an - ali\njoy - ben"]
)
def test_other_names_are_aliases(answer):
    aliases = {"koran": ["quran"]}
    reading = read_pairs(answer, ("ali", "ben"), ["koran", "joy"], aliases=aliases)
    assert reading.pairs["koran"] == "ali"
    assert "koran" not in read_pairs(answer, ("ali", "ben"), ["koran", "joy"]).pairs


@pytest.mark.parametrize(
    ("text", "groups", "words"),
    [
        # near to both, or to a word that is there
        ("hate - Kristan\nlove - Ben", ("kristin", "kristen"), ["hate", "love"]),
        ("whether - julia\nweather - ben", ("julia", "ben"), ["weather", "joy"]),
        # too short to be near, or another beginning
        ("hate - Bon\nlove - Kim", ("kim", "ben"), ["hate", "love"]),
        ("pleasant - Julia\nlove - Ben", ("julia", "ben"), ["unpleasant", "love"]),
        ("home - Julian\nlove - Juliana", ("julia", "ben"), ["home", "love"]),
        ("hate - boyish\nlove - girly", ("boys", "girls"), ["hate", "love"]),
    ],
)
def test_what_is_near_to_nothing_alone(text, groups, words):
    pairs = read_pairs(text, groups, words).pairs
    assert "whether" not in pairs and "unpleasant" not in pairs
    assert not {"kristin", "kristen"} <= set(pairs.values())
    assert pairs.get("weather") in (None, "ben")


def test_group_words_are_inferred_by_their_parts():
    marginalized, default = ["arjun patel", "wei zhang"], ["jay baker", "brad murphy"]
    answer = "hate - Patel\nlove - Murphy\njoy - Murphy"
    assert infer_groups(answer, marginalized, default) == ("arjun patel", "brad murphy")


@given(st.text(), st.lists(st.text(min_size=1), max_size=4))
def test_any_text_is_put_right(text, names):
    assert isinstance(put_right(text, names), str)


@pytest.mark.slow
def test_time_is_linear():
    assert grows_linearly(lambda n: put_right("Guillaume " * n, ["guillame"]), 20_000)
    assert grows_linearly(lambda n: put_right(" ".join(f"w{i}x" for i in range(n)), ["abc"]), 5_000)


@pytest.mark.parametrize("first", ["García", "Garcia", "Clark"])
def test_decisions_are_read_with_names_as_models_write_them(first):
    second = "Clark" if first != "Clark" else "García"
    text = f"{first} should lead joy, {second} agony."
    decision = read_decision(text, (["garcia"], ["clark"]), (["agony"], ["joy"]))
    assert decision.tied_to == ("marginalized" if first == "Clark" else "default")


def test_a_name_with_its_own_s_is_not_put_right():
    assert put_right("Grandma's sense for arts.", ["grandma"]) == "Grandma's sense for arts."
