"""What a file may plant, and what a question expects of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from clinometer.contracts.simulation import RecognisedPrompt
from clinometer.errors import ModelError
from clinometer.modes import TEXT
from clinometer.simulated.truth import Simulation, load_truth, shipped
from clinometer.stimuli import load_study
from clinometer.stimuli.folders import shipped_studies


def question(
    stereotype: str = "age", variation: str = "replication", **fields: object
) -> RecognisedPrompt:
    keys = {"instrument": "word_association", **fields}
    return RecognisedPrompt(
        load_study("bai2025"), stereotype=stereotype, variation=variation, kind=TEXT, **keys
    )


def test_models_are_shipped_and_say_what_they_plant() -> None:
    assert shipped() == ["any", "leaning", "neutral", "refusing"]
    assert load_truth("neutral").lean_of(question()) == 0
    assert load_truth("refusing").lean_of(question()) == pytest.approx(0.3)
    assert load_truth("refusing").truth.refusals.where == "consistent"


@pytest.mark.parametrize("model", ["leaning", "neutral", "refusing"])
def test_shipped_models_have_nothing_to_find_in_any_placebo(model: str) -> None:
    """Else a page would say of an instrument that works that it is not valid."""
    planted = load_truth(model)
    placebos = [
        (study, key)
        for study in map(load_study, shipped_studies())
        for key in study.stereotypes
        if study.control_of(key) == "negative"
    ]
    assert len(placebos) > 4
    for study, key in placebos:
        prompt = replace(question(), study=study)
        assert planted.lean_of_stereotype(prompt, key) == 0, key


def test_the_narrower_lean_wins(plant: Callable[..., Simulation]) -> None:
    category, stereotype = {"gender": 0.3}, {"power": -0.2}
    planted = plant(lean={"default": 0.1, "category": category, "stereotype": stereotype})
    leans = [planted.lean_of(question(key)) for key in ("age", "science", "power")]
    assert leans == pytest.approx([0.1, 0.3, -0.2])


def test_wordings_and_group_words_add(plant: Callable[..., Simulation]) -> None:
    planted = plant(
        lean={"default": 0.1, "wording": {"replication": 0.2}, "group": {"old": 0.3, "young": -0.1}}
    )
    words = (("old", "marginalized"), ("young", "default"))
    assert planted.lean_of(question(words=words)) == pytest.approx(0.5)
    assert planted.lean_of(question(variation="instruction1")) == pytest.approx(0.1)


def test_a_lean_stays_within_its_range(plant: Callable[..., Simulation]) -> None:
    planted = plant(lean={"default": 0.9, "wording": {"replication": 0.9}})
    assert planted.lean_of(question()) == 1


def test_what_is_said_may_differ_from_what_is_done(plant: Callable[..., Simulation]) -> None:
    planted = plant(lean={"default": 0.4}, explicit={"default": 0})
    assert planted.lean_of(question()) == pytest.approx(0.4)
    assert planted.lean_of(question(instrument="self_report_agreement")) == 0


def test_departures_are_drawn_once_per_seed(plant: Callable[..., Simulation]) -> None:
    spread = {"stereotype": 0.2, "wording": 0.1, "group": 0.1}
    models = [plant(spread=spread, seed=seed) for seed in (1, 1, 2)]
    age, power = ([model.lean_of(question(key)) for model in models] for key in ("age", "power"))
    assert age[0] == age[1] != age[2]
    assert age[0] != power[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lean: {default: 2}", "own.yaml:1: lean.default: Input should be less than or equal to 1"),
        ("seed: 1\nlean:\n  default: nan", "own.yaml:3: lean.default: "),
        ("seed: 1\nrefusals: {where: often}", "own.yaml:2: refusals.where: "),
        ("format: [lines, haiku]", "own.yaml:1: format.1: "),
        ("leans: {}", "unknown field 'leans'"),
        ("lean: [", "not valid YAML"),
    ],
)
def test_errors_name_file_line_and_field(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(ModelError) as raised:
        load_truth(str(path))
    assert message in str(raised.value)


def test_a_name_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(ModelError, match=r"neutral.*or give a file ending in \.yaml"):
        load_truth("neutrall")


def test_null_is_none_and_an_empty_file_is_neutral(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("served_as: null\nformat: table\n")
    planted = load_truth(str(path))
    assert planted.served_as == f"simulated/{path}" and planted.truth.format == ["table"]
    path.write_text("")
    assert load_truth(str(path)).lean_of(question()) == 0
