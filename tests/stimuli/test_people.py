"""Groups that a study names with one word, named as people and as things."""

from __future__ import annotations

import pytest

from clinometer.audits.auditing import draw
from clinometer.contracts.design import Design
from clinometer.errors import StudyError
from clinometer.stimuli import (
    Stereotype,
    Study,
    load_study,
    parse_study,
    remarks,
    study_hash,
    things_name,
)

PETS = """name: pets
stereotypes:
  cats:
    category: animals
    marginalized: [old]
    default: [young]
    tied: [aloof, sly]
    counter: [loyal, kind]
    people:
      marginalized: [old people, old men]
      default: [young people, young men]
    things:
      marginalized: [old trees, old vines]
      default: [young trees, young vines]
"""

PARTS = ("word_association",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[young people, young men]", "[young people]",
         "pets.yaml:9: stereotypes.cats.people: 2 marginalized and 1 default phrases"),
        ("      marginalized: [old trees, old vines]\n      default: [young trees, young vines]",
         "      marginalized: [old trees]\n      default: [young trees]",
         "pets.yaml:12: stereotypes.cats.things: 1 phrase a side; give at least two"),
        ("young men]", "old men]",
         "pets.yaml:3: stereotypes.cats: people: word 'old men' stands in both marginalized and"),
        ("old vines", "loyal", "stereotypes.cats: things: word 'loyal' stands in both"),
        ("old men]", "old people]", "word 'old people' stands twice"),
        ("things:", "thing:", "unknown field 'thing'"),
    ],
)  # fmt: skip
def test_phrases_are_checked_with_file_line_and_field(old: str, new: str, message: str) -> None:
    assert PETS.count(old) == 1
    text = PETS.replace(old, new)
    with pytest.raises(StudyError) as caught:
        parse_study(text, "pets.yaml")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_groups_of_several_words_take_no_phrases() -> None:
    uneven_text = PETS.replace("[old]", "[old, aged]")
    assert parse_study(uneven_text, "pets.yaml").stereotypes["cats"].people
    text = uneven_text.replace("[young]", "[young, new]")
    with pytest.raises(StudyError, match="people: phrases stand beside groups of one word"):
        parse_study(text, "pets.yaml")


def test_phrases_may_be_no_attributes_of_a_wording_or_a_dimension() -> None:
    synonym = PETS + "    variations: {replication: {tied: [old men, wild]}}\n"
    with pytest.raises(StudyError, match="cats: people: word 'old men' stands in both"):
        parse_study(synonym, "pets.yaml")
    no_attributes = PETS.replace("    tied: [aloof, sly]\n    counter: [loyal, kind]\n", "")
    dimension = "dimensions:\n  warmth: {tied: [cold], counter: [young vines]}\n"
    with pytest.raises(StudyError, match="cats on warmth: word 'young vines' stands in both"):
        parse_study(no_attributes + dimension, "pets.yaml")


def test_a_study_of_people_asks_the_same_attributes_in_the_same_wordings() -> None:
    bai = load_study("bai2025")
    people = bai.with_people()
    assert (people.name, people.word_study) == ("bai2025_people", "bai2025")
    assert people.instruments == bai.instruments
    single = [key for key, words in bai.stereotypes.items() if words.has_one_word([""])]
    assert [*people.stereotypes] == single and len(single) == 8
    for key, stereotype in people.stereotypes.items():
        source = bai.stereotypes[key]
        assert source.people is not None and stereotype.people is stereotype.things is None
        assert (stereotype.label, stereotype.category) == (source.label, source.category)
        for name in ("", "synonym"):
            words = stereotype.words(name)
            assert (words.tied, words.counter) == (
                source.words(name).tied,
                source.words(name).counter,
            )
            assert (words.marginalized, words.default) == (
                source.people.marginalized, source.people.default
            )  # fmt: skip
        assert not stereotype.decisions.relative_decision


def test_the_prompts_of_people_are_those_of_the_word_with_people_in_them() -> None:
    people = load_study("bai2025").with_people()
    trials = draw(
        people, Design(iterations=12), stereotypes="age,racism", variations="instruction1"
    )
    for trial in trials.iter_rows(named=True):
        pair = trial["marginalized"], trial["default"]
        groups = pair if trial["order"] == "marginalized_first" else pair[::-1]
        begins = "Given the following list of words, assign one of {} or {} to each"
        assert trial["prompt"].startswith(begins.format(*groups))
        # Each phrase meets its partner alone.
        assert pair[0].split()[1] == pair[1].split()[1]
    assert trials.filter(stereotype="age")["marginalized"].n_unique() == 6
    likely = draw(people, Design(mode="likelihood", iterations=2), stereotypes="age")
    assert {*likely["marginalized"]} <= {*people.stereotypes["age"].marginalized}


def test_phrases_change_nothing_of_the_study_that_has_them() -> None:
    bai = load_study("bai2025")
    bare = bai.model_copy(
        update={
            "stereotypes": {
                key: words.model_copy(update={"people": None, "things": None})
                for key, words in bai.stereotypes.items()
            }
        }
    )
    assert bare != bai and study_hash(bare) == study_hash(bai) == "c3703fbd8aa1"
    extended = bai.with_things(["age", "racism"])
    assert extended.own() == bai and study_hash(extended, PARTS) == study_hash(bai, PARTS)
    two = Design(iterations=2)
    assert draw(bare, two, stereotypes="age").equals(draw(extended, two, stereotypes="age"))
    assert study_hash(bai.with_people(), PARTS) != study_hash(bai, PARTS)


def test_things_are_a_control_of_their_own_kind() -> None:
    extended = load_study("bai2025").with_things(["age"])
    things = extended.stereotypes[things_name("age")]
    assert (things.control, things.control_for) == ("things", "age")
    assert things.tied == extended.stereotypes["age"].tied and "old trees" in things.marginalized
    assert Study.model_validate(extended.model_dump()) == extended


def test_a_study_of_people_keeps_the_controls_that_were_lent_to_it() -> None:
    bai = load_study("bai2025").with_control(load_study("control_insects"))
    people = bai.with_things(["age"]).with_people()
    assert people.control_of("insects") == "positive"
    assert things_name("age") not in people.stereotypes
    assert Study.model_validate(people.model_dump()) == people
    with pytest.raises(StudyError, match="study 'mist2025': no stereotype has people"):
        load_study("mist2025").with_people()


def test_two_sides_of_shipped_phrases_differ_in_their_first_word_alone() -> None:
    """Mode ``forced`` tells them apart by first tokens; none begins with an article."""
    for key, stereotype in load_study("bai2025").stereotypes.items():
        for phrases in (stereotype.people, stereotype.things):
            for pair in zip(phrases.marginalized, phrases.default, strict=True) if phrases else ():
                first, second = (phrase.split(" ", 1) for phrase in pair)
                assert first[0] != second[0] and first[1] == second[1], key


def test_a_single_word_is_remarked_on_unless_its_people_are_named() -> None:
    assert not [*remarks(parse_study(PETS, "pets.yaml"))]
    alone = PETS[: PETS.index("    people:")]
    assert any("marginalized is one word" in line for line in remarks(parse_study(alone, "p.yaml")))


def test_things_are_no_group_of_a_stereotype_without_them() -> None:
    words = {"marginalized": ["cat"], "default": ["dog"], "tied": ["sly"], "counter": ["loyal"]}
    assert Stereotype(**words).in_phrases() == {}
