"""A study file may take groups and wordings from a shipped study."""

from __future__ import annotations

import pytest

from clinometer.errors import StudyError
from clinometer.stimuli import load_study, parse_study

WIDE = load_study("clinometer2026")
STUDY = """name: crews
instruments:
  word_association:
    wordings_of: clinometer2026
stereotypes:
  elders:
    category: crew
    groups_of: clinometer2026.age
    tied: [grumpy, rusty]
    counter: [merry, nimble]
"""


def changed(old: str, new: str) -> str:
    assert old in STUDY
    return STUDY.replace(old, new)


def test_groups_are_those_of_the_other_study_and_the_rest_is_stated() -> None:
    elders, source = parse_study(STUDY, "crews.yaml").stereotypes["elders"], WIDE.stereotypes["age"]
    assert (elders.marginalized, elders.default) == (source.marginalized, source.default)
    assert elders.aligned and elders.category == "crew"
    assert (elders.tied, elders.label) == (["grumpy", "rusty"], "")
    assert not elders.decisions.relative_decision


def test_wordings_are_those_of_the_other_study_but_for_what_stands_beside() -> None:
    borrowed = parse_study(STUDY, "crews.yaml").instruments.word_association
    assert borrowed == WIDE.instruments.word_association
    text = changed("wordings_of: clinometer2026", "wordings_of: clinometer2026\n    draws: own")
    modified = parse_study(text, "crews.yaml").instruments.word_association
    assert (modified.draws, modified.variations) == ("own", borrowed.variations)


def test_what_is_taken_may_itself_be_taken() -> None:
    text = changed("clinometer2026.age", "clinometer2026_content.women")
    groups = parse_study(text, "crews.yaml").stereotypes["elders"].marginalized
    assert groups == WIDE.stereotypes["career"].marginalized


def test_the_other_study_stays_as_it_is() -> None:
    before = WIDE.model_dump()
    text = changed("wordings_of: clinometer2026", "wordings_of: clinometer2026\n    draws: own")
    parse_study(text, "crews.yaml")
    assert load_study("clinometer2026").model_dump() == before


def test_a_part_of_another_instrument_is_left_to_it() -> None:
    text = changed("instruments:\n", "instruments:\n  choir:\n    wordings_of: a_song\n")
    assert parse_study(text, "crews.yaml").instruments.raw()["choir"] == {"wordings_of": "a_song"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (changed("2026.age", "2026.aeg"), "crews.yaml:8: stereotypes.elders.groups_of: unknown "
         "stereotype of clinometer2026 'aeg'; did you mean age?"),
        (changed("2026.age", "2027.age"), "crews.yaml:8: stereotypes.elders.groups_of: unknown "
         "shipped study 'clinometer2027'; did you mean clinometer2026"),
        (changed("clinometer2026.age", "clinometer2026"), "crews.yaml:8: stereotypes.elders."
         "groups_of: 'clinometer2026': expected STUDY.STEREOTYPE"),
        (changed("clinometer2026.age", "[age]"), "crews.yaml:8: stereotypes.elders.groups_of: "),
        (changed("    tied", "    default: [mates]\n    tied"), "crews.yaml:8: stereotypes.elders."
         "groups_of: default stands beside it; give one of them"),
        (changed("wordings_of: clinometer2026", "wordings_of: ../x.yaml"), "crews.yaml:4: "
         "instruments.word_association.wordings_of: unknown shipped study '../x.yaml'"),
        (changed("[grumpy", "[old people"), "'old people' stands in both marginalized and tied"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(StudyError) as error:
        parse_study(text, "crews.yaml")
    assert says in str(error.value) and "\n" not in str(error.value)
