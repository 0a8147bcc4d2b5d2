from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clinometer_measures
from clinometer.errors import StudyError
from clinometer.stimuli import (
    BenchmarkItems,
    Stereotype,
    Study,
    arbitrary_name,
    find_items,
    load_study,
    parse_study,
    shipped_studies,
    study_hash,
    user_studies,
)
from clinometer.stimuli.folders import STUDIES

PETS = """name: pets
stereotypes:
  cats:
    category: animals
    marginalized: [cat]
    default: [dog]
    tied: [aloof, "null"]
    counter: [loyal, nan]
"""


def broken(old: str, new: str) -> str:
    assert old in PETS
    return PETS.replace(old, new)


def test_a_file_is_read_as_it_is_now_and_errors_name_the_file_they_are_in(tmp_path: Path) -> None:
    first_path, second_path = tmp_path / "one.yaml", tmp_path / "other.yaml"
    first_path.write_text(PETS)
    assert load_study(first_path).stereotypes["cats"].tied == ["aloof", "null"]
    first_path.write_text(broken("aloof", "sly"))
    assert load_study(first_path).stereotypes["cats"].tied == ["sly", "null"]
    for path in (first_path, second_path):
        path.write_text(broken("marginalized", "marginal"))
        with pytest.raises(StudyError, match=path.name):
            load_study(path)


@pytest.mark.parametrize("name", shipped_studies())
def test_every_shipped_study_keeps_the_schema(name: str) -> None:
    study = load_study(name)
    assert study.name == name
    assert study.citation.text
    # Words of guises are drawn in pairs, of lists that may differ in length.
    has_guises = "matched_guise" in study.instruments.raw()
    for stereotype in study.stereotypes.values():
        assert has_guises or len(stereotype.tied) == len(stereotype.counter)


def test_bai2025_holds_the_21_stereotypes_of_the_paper() -> None:
    study = load_study("bai2025")
    categories = [s.category for s in study.stereotypes.values()]
    counts = {c: categories.count(c) for c in categories}
    assert counts == {"race": 9, "gender": 4, "religion": 3, "health": 5}  # PNAS, p. 6
    assert study.instruments.word_association.default_variations == [
        "replication", "instruction1", "instruction2", "synonym"
    ]  # fmt: skip


def test_bai2025_equals_the_released_stimuli(shared_data: Path) -> None:
    import json

    released = json.loads((shared_data / "bai" / "stimuli.json").read_text())["stereotypes"]
    study = load_study("bai2025")
    for key, source in released.items():
        for name, lists in source["variations"].items():
            words = study.stereotypes[key].words(name)
            assert (words.marginalized, words.default) == (lists["s_a"], lists["s_b"])
            assert (words.tied, words.counter) == (lists["x_a"], lists["x_b"])
            assert len(words.tied + words.counter + words.extra) == lists["n_words_in_prompt"]


def test_the_pilot_has_the_stimuli_of_the_study_and_the_printed_wordings() -> None:
    study, pilot = load_study("bai2025"), load_study("bai2025_pilot")
    for key, stereotype in study.stereotypes.items():
        assert pilot.stereotypes[key].words("") == stereotype.words("")
        ours = pilot.stereotypes[key].decision("relative_decision", "pilot")
        theirs = stereotype.decision("relative_decision", "replication")
        assert ours is not None and theirs is not None and "Task" not in ours.wording
        if ours.words_of is None or "job" not in ours.wording:  # the scripts add their framing
            framed = theirs.wording.replace("who one can", "which one can").split("Task ")[1:]
            assert ours.wording == " ".join(part[3:].strip() for part in framed)
    black = pilot.stereotypes["black"].decision_words("relative_decision", "pilot")
    assert (len(black.marginalized), black.marginalized[-1]) == (8, "Lakisha Jones")  # SI section G


def test_the_padded_synonym_lists_are_flagged_and_corrected_under_another_name() -> None:
    hiring = [load_study("bai2025").stereotypes[k] for k in ("black", "hispanic", "asian", "arab")]
    for stereotype in hiring:
        assert "appended" in (stereotype.defect("synonym") or "")
        assert len(stereotype.words("synonym").extra) == 4
        assert stereotype.words("synonym_clean").extra == []
        assert "appended" not in (stereotype.defect("synonym_clean") or "")


def test_a_study_of_ones_own_needs_no_wordings() -> None:
    study = parse_study(PETS, "pets.yaml")
    assert "replication" in study.instruments.word_association.variations
    assert study.stereotypes["cats"].tied == ["aloof", "null"]  # words, not missing values
    assert study.stereotypes["cats"].counter == ["loyal", "nan"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (broken("[cat]", "[]"), "pets.yaml:5: stereotypes.cats.marginalized"),
        (broken("[cat]", "[cat, Cat]"), "pets.yaml:5: stereotypes.cats.marginalized: word 'Cat'"),
        (broken("[cat]", "['']"), "pets.yaml:5: stereotypes.cats.marginalized.0: empty word"),
        (broken("[cat]", '["a\\u202eb"]'), "control character"),
        (broken("loyal", "aloof"), "word 'aloof' stands in both tied and counter"),
        (broken("[dog]", "[cat]"), "word 'cat' stands in both marginalized and default"),
        (
            broken("category", "categroy"),
            "pets.yaml:4: stereotypes.cats: unknown field 'categroy'",
        ),
        (broken("  cats:", "  Cats & co:"), "name 'Cats & co'"),
        (broken("    default: [dog]\n", ""), "pets.yaml:3: stereotypes.cats.default: Field"),
        (broken("[dog]", "&x [dog]") + "  dogs: *x\n", "anchors and aliases are not allowed"),
        (broken("[dog]", "[dog"), "pets.yaml:7: not valid YAML"),
        (PETS + "name: other\n", "pets.yaml:9: key 'name' stands twice"),
        ("- just\n- a list\n", "expected a mapping"),
        ("", "expected a mapping"),
        ("[" * 5000, "pets.yaml"),
    ],
)
def test_an_error_names_file_line_and_field(text: str, says: str) -> None:
    with pytest.raises(StudyError) as error:
        parse_study(text, "pets.yaml")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bai2024", "did you mean bai2025, bai2025_pilot, cao2022?"),
        ("nowhere.yaml", "nowhere.yaml: no such file"),
        ("../secrets", "unknown study"),
    ],
)
def test_an_unknown_study_gets_near_names(name: str, says: str) -> None:
    with pytest.raises(StudyError, match=says.replace("?", r"\?")):
        load_study(name)


def test_the_hash_is_of_what_reaches_a_prompt_or_a_score() -> None:
    plain = study_hash(parse_study(PETS, "a.yaml"))
    assert study_hash(parse_study(f"# a comment\n\n{PETS}", "b.yaml")) == plain
    assert study_hash(parse_study(f"{PETS}    source_defect: x\n    label: y\n", "a.yaml")) == plain
    assert study_hash(parse_study(broken("animals", "pets"), "a.yaml")) != plain
    assert study_hash(parse_study(broken("aloof", "distant"), "a.yaml")) != plain


@given(st.text(max_size=300))
def test_no_text_gets_past_the_check_or_breaks_it(text: str) -> None:
    with pytest.raises(StudyError):
        parse_study(text, "any.yaml")


# Folders of the user's own studies


def test_a_study_in_a_named_folder_is_loaded_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, word in ((first, "aloof"), (second, "sly")):
        folder.mkdir()
        (folder / "pets.yaml").write_text(broken("aloof", word))
    (first / "bai2025.yaml").write_text(PETS)  # a shipped study goes before it
    with pytest.raises(StudyError, match="pets"):
        load_study("pets")
    monkeypatch.setenv(STUDIES, os.pathsep.join(map(str, (first, second))))
    assert user_studies() == {"pets": first / "pets.yaml"}
    assert load_study("pets").stereotypes["cats"].tied == ["aloof", "null"]
    assert load_study("bai2025").name == "bai2025"
    with pytest.raises(StudyError, match="pets"):
        load_study("pet")


def test_a_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STUDIES, "nowhere")
    with pytest.raises(StudyError, match="CLINOMETER_STUDIES: nowhere: no such folder"):
        user_studies()


def test_an_installed_package_brings_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "warmth_studies").mkdir()
    (tmp_path / "warmth_studies" / "pets.yaml").write_text(PETS)
    information = tmp_path / "warmth-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: warmth\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[clinometer.studies]\nwarmth = warmth_studies\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_study("pets").stereotypes["cats"].marginalized == ["cat"]
    (information / "entry_points.txt").write_text("[clinometer.studies]\nwarmth = nothing_here\n")
    with pytest.raises(StudyError, match="studies 'warmth': no package 'nothing_here'"):
        load_study("pets")


def test_studies_are_found_without_importing_the_package_that_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "warmth" / "studies").mkdir(parents=True)
    (tmp_path / "warmth" / "__init__.py").write_text("raise RuntimeError")
    (tmp_path / "warmth" / "studies" / "pets.yaml").write_text(PETS)
    information = tmp_path / "warmth-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: warmth\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[clinometer.studies]\nwarmth = warmth.studies\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert user_studies() == {"pets": tmp_path / "warmth" / "studies" / "pets.yaml"}


def test_what_one_measure_asks_lies_beside_it() -> None:
    """Its study, and the items that the study names; it is shipped as those of the core are."""
    folder = Path(clinometer_measures.__file__).parent / "hiring" / "studies"
    assert shipped_studies()["hiring"] == folder / "hiring.yaml" and "hiring" not in user_studies()
    names = BenchmarkItems(file="hiring_names.csv", sha256="0" * 64)
    assert find_items(names, "hiring.yaml") == folder / "hiring_names.csv"
    assert list(shipped_studies()) == sorted(shipped_studies())


def test_only_a_control_is_taken_from_another_study() -> None:
    """What is taken is left out of the hash that draws follow from."""
    words = {"marginalized": ["cats"], "default": ["dogs"], "tied": ["sly"], "counter": ["loyal"]}
    with pytest.raises(ValueError, match="taken_from is of controls"):
        Stereotype(**words, taken_from="bai2025")
    pets = Study(
        name="pets", instruments=load_study("bai2025").instruments, stereotypes={"cats": words}
    )
    insects = load_study("control_insects")
    extended = pets.with_control(insects)
    assert extended.control_of("insects") == "positive" and extended.own() == pets
    assert study_hash(extended, ("word_association",)) == study_hash(pets, ("word_association",))
    assert study_hash(extended) != study_hash(pets)


def test_arbitrary_words_take_the_place_of_groups_and_nothing_else() -> None:
    bai, words = load_study("bai2025"), load_study("control_words")
    keys = ["weapon", "age"]
    extended = bai.with_arbitrary_words(keys, words, 4)
    assert extended.own() == bai and study_hash(extended, ("word_association",)) == study_hash(
        bai, ("word_association",)
    )
    weapon, age = (extended.stereotypes[arbitrary_name(key)] for key in keys)
    assert weapon.tied == bai.stereotypes["weapon"].tied and weapon.control == "words"
    assert weapon.words("synonym").tied == bai.stereotypes["weapon"].words("synonym").tied
    assert weapon.words("synonym").marginalized == weapon.marginalized
    # "bottle" is an attribute of this stereotype.
    assert "bottle" in bai.stereotypes["weapon"].counter + words.stereotypes["words"].marginalized
    assert "bottle" not in weapon.marginalized + weapon.default
    assert not {*weapon.marginalized, *weapon.default} & {*age.marginalized, *age.default}
    assert len(weapon.marginalized) == len(weapon.default) == 4
    assert Study.model_validate(extended.model_dump()) == extended


def test_a_group_with_one_word_in_some_wordings_alone_has_several() -> None:
    words = {"marginalized": ["cat"], "default": ["dog"], "tied": ["sly"], "counter": ["loyal"]}
    variants = {"synonym": {"marginalized": ["kitten"], "default": ["puppy"]}}
    cats = Stereotype(**words, variations=variants)
    assert cats.has_one_word(["replication"]) and cats.has_one_word(["synonym"])
    assert not cats.has_one_word(["replication", "synonym"])
    assert Stereotype(**words | {"default": ["dog", "puppy"]}).has_one_word(["replication"])


@pytest.mark.parametrize(
    ("study", "instrument"),
    [("bai2025", "word_association"), ("bai2025", "relative_decision"),
     ("bai2025", "absolute_decision"), ("mist2025", "affective_attribution")],
)  # fmt: skip
def test_every_family_has_many_sentences_and_none_begins_with_a_group(
    study: str, instrument: str
) -> None:
    loaded = load_study(study)
    family = loaded.decision_sentences if "decision" in instrument else loaded.instruments
    part = getattr(family, instrument)
    sentences = part if "decision" in instrument else part.sentences
    assert len({*sentences.values()}) == len(sentences) >= 24
    assert not [text for text in sentences.values() if text.startswith(("{group}", "{decision}"))]
