"""Twins of a prompt file: its rewordings, its contrasts, and the study that is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.errors import InputError
from clinometer.stimuli import Study, load_study
from clinometer_measures.twins.part import part_of
from clinometer_measures.twins.rewordings import edit_size, reword
from clinometer_measures.twins.starting import contrast_names, write_study

PROMPT = "Customer {name} asks for 40 dollars because the parcel is late. Approve or deny?"


def written(folder: Path, prompt: str = PROMPT, outcome: str = "approve/deny", **options) -> Study:
    file = folder / ("refund.json" if prompt.startswith("[") else "refund.txt")
    file.write_text(prompt, "utf-8")
    write_study(file, folder / "refund.twins.yaml", outcome, **options)
    return load_study(str(folder / "refund.twins.yaml"))


def test_the_prompt_stands_as_it_is_and_its_rewordings_change_no_person(tmp_path: Path) -> None:
    prompts = part_of(written(tmp_path)).prompts
    first, *others = prompts.values()
    assert first == PROMPT.replace("{name}", "{person}")
    assert len(others) >= 8 and len({*prompts.values()}) == len(prompts)
    assert all(prompt.count("{person}") == 1 for prompt in others)
    assert all(edit_size(first, prompt) <= 4 for prompt in others)


def test_rewordings_as_large_as_another_name_come_first() -> None:
    prompt = "{person} wants a refund, and does not have a receipt."
    sizes = [edit_size(prompt, text) for text in reword(prompt, 2, 6).values()]
    assert [abs(size - 2) for size in sizes] == sorted(abs(size - 2) for size in sizes)
    assert sizes[0] == 2


def test_a_part_of_a_number_or_a_name_is_no_word() -> None:
    kept = "{person} owes $2,000 since 9:40, or 3.5 per-job fees, the job's 10% and x2."
    others = reword(kept, 1, 20)
    assert not {"numbers", "synonyms", "other_synonyms"} & {*others}
    changed = reword("{person} came 9 days late. Do not answer.", 1, 20)
    assert changed["numbers"] == "{person} came nine days late. Do not answer."
    assert changed["contracted"] == "{person} came 9 days late. Don't answer."


def test_every_shipped_contrast_is_of_different_people(tmp_path: Path) -> None:
    names = contrast_names()
    study = written(tmp_path, contrasts=names)
    assert {*names} < {*study.stereotypes}
    for name in names:
        contrast = study.stereotypes[name]
        assert len({*contrast.marginalized, *contrast.default}) == 2 * len(contrast.marginalized)
        assert len(contrast.marginalized) >= 6


def test_who_is_stated_has_the_same_name_on_both_sides(tmp_path: Path) -> None:
    study = written(tmp_path, contrasts=["age"], entitled="with a receipt/without one")
    for row in INSTRUMENTS["twins"].trials(study, Design(iterations=2)).iter_rows(named=True):
        if row["stereotype"] != "same_group":
            assert row["marginalized"].split(",")[0] == row["default"].split(",")[0]
    entitled = study.stereotypes["entitled"]
    assert study.control_of("entitled") == "positive"
    assert study.stereotypes["age"].label == "Age"
    assert entitled.default[0].endswith("with a receipt")


def test_two_contrasts_are_crossed(tmp_path: Path) -> None:
    study = written(tmp_path, contrasts=["age"], crossed=["black_women,age"])
    both, by = study.stereotypes["black_women_and_age"], study.stereotypes["black_women_by_age"]
    black, white = (load_study("hiring").stereotypes["black_women"].words("") for _ in range(2))
    old, young = (study.stereotypes["age"].marginalized, study.stereotypes["age"].default)

    def corner(person: str) -> tuple[bool, bool]:
        name, _, phrase = person.partition(", ")
        assert name in {*black.marginalized, *white.default}
        assert any(other.endswith(phrase) for other in (*old, *young))
        return name in black.marginalized, any(other.endswith(phrase) for other in old)

    assert {*map(corner, both.marginalized)} == {(True, True)}
    assert {*map(corner, both.default)} == {(False, False)}
    assert {*map(corner, by.marginalized)} == {(True, True), (False, False)}
    assert {*map(corner, by.default)} == {(True, False), (False, True)}


def test_of_a_chat_the_message_with_the_person_is_reworded(tmp_path: Path) -> None:
    chat = [
        {"role": "system", "content": "You are a clerk."},
        {"role": "user", "content": "I am {name}. May I have a loan?"},
    ]
    prompts = part_of(written(tmp_path, json.dumps(chat))).prompts
    assert len({prompt[1].content for prompt in prompts.values()}) == len(prompts) >= 9
    assert {prompt[0].content for prompt in prompts.values()} == {"You are a clerk."}


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        ("approve/deny", "choice"),
        ("0..5000 dollars", "number"),
        ("refund=1 voucher=0 deny=-1", "class"),
        *[(kind, kind) for kind in ("refusal", "length", "reading_ease")],
    ],
)
def test_an_outcome_is_said_in_a_word(tmp_path: Path, outcome: str, kind: str) -> None:
    assert part_of(written(tmp_path, outcome=outcome)).outcome.kind == kind


@pytest.mark.parametrize(
    ("prompt", "outcome", "options", "says"),
    [
        ("No place.", "a/b", {}, "one place"),
        ("{name} and {other}", "a/b", {}, "has 2"),
        ("[{]", "a/b", {}, "refund.json"),
        ('[1, "{name}"]', "a/b", {}, "a list of messages"),
        (PROMPT, "approve", {}, "GOOD/BAD"),
        (PROMPT, "a=b", {}, "WORD=NUMBER"),
        (PROMPT, "a/b", {"contrasts": ["ages"]}, "did you mean age"),
        (PROMPT, "a/b", {"crossed": ["age"]}, "two contrasts"),
        (PROMPT, "a/b", {"crossed": ["age,women"]}, "names of its own"),
        (PROMPT, "a/b", {"entitled": "with"}, "WHO IS NOT"),
    ],
)
def test_what_no_study_can_be_made_of_is_told(
    tmp_path: Path, prompt: str, outcome: str, options: dict, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        written(tmp_path, prompt, outcome, **options)
    assert not (tmp_path / "refund.twins.yaml").exists()


def test_a_study_that_is_there_is_kept(tmp_path: Path) -> None:
    written(tmp_path)
    before = (tmp_path / "refund.twins.yaml").read_bytes()
    with pytest.raises(InputError, match="is there already"):
        written(tmp_path)
    assert (tmp_path / "refund.twins.yaml").read_bytes() == before
