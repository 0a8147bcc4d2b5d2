"""What is valid in a study, but is seldom meant."""

import pytest

from clinometer.errors import StudyError
from clinometer.stimuli import load_study, parse_study, remarks, shipped_studies

STUDY = """name: pets
language: {language}
stereotypes:
  cats:
    {field}: {groups}
    default: [dog, puppy]
    tied: [aloof, sly]
    counter: {counter}
"""
USUAL = {
    "language": "en", "field": "marginalized", "groups": "[cat, kitten]",
    "counter": "[loyal, brave]",
}  # fmt: skip


def list_remarks(**changed: str) -> list[str]:
    return list(remarks(parse_study(STUDY.format(**USUAL | changed), "pets.yaml")))


@pytest.mark.parametrize("name", shipped_studies())
def test_there_is_nothing_to_say_of_a_shipped_study(name: str) -> None:
    assert not list(remarks(load_study(name)))


def test_what_is_seldom_meant_is_said() -> None:
    assert list_remarks() == []
    assert list_remarks(groups="[cat]") == [
        "cats: marginalized is one word, 'cat'; results will be about this word"
    ]
    assert list_remarks(counter="[loyal]") == [
        "cats: 2 tied and 1 counter words; each set counts alike"
    ]
    assert list_remarks(language="es") == [
        "language 'es': the wordings are the English ones; give your own"
    ]


def test_a_study_called_like_a_shipped_one_is_named() -> None:
    text = STUDY.format(**USUAL).replace("name: pets", "name: bai2025")
    (line,) = remarks(parse_study(text, "x.yaml"))
    assert line.startswith("name 'bai2025': a shipped study has this name")


def test_an_unknown_field_suggests_the_near_one() -> None:
    with pytest.raises(StudyError) as error:
        list_remarks(field="marginalised")
    assert "unknown field 'marginalised'; did you mean marginalized" in str(error.value)


def test_no_line_of_an_error_is_long() -> None:
    with pytest.raises(StudyError) as error:
        list_remarks(field="x" * 500)
    assert max(map(len, str(error.value).splitlines())) <= 200


def test_aligned_words_have_partners() -> None:
    text = STUDY.format(**USUAL) + "    aligned: true\n"
    assert parse_study(text, "pets.yaml").stereotypes["cats"].aligned
    with pytest.raises(StudyError, match="aligned, but 1 marginalized and 2 default words"):
        parse_study(text.replace("cat, kitten", "cat"), "pets.yaml")
