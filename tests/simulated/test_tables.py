"""Scores of simulated models: through texts and readers, and drawn straight."""

import pytest

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.errors import InputError
from clinometer.results import FACTORS
from clinometer.scoring import score
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.tables import SimulatedQuestions, answer_trials, draw_scores
from clinometer.simulated.truth import Simulation, Truth
from clinometer.stimuli import load_study


@pytest.mark.parametrize("instrument", ["word_association", "relative_decision"])
@pytest.mark.parametrize("name", ["bai2025", "control_insects", "control_nonsense"])
def test_scores_drawn_straight_are_those_that_are_read(instrument: str, name: str) -> None:
    study = load_study(name)
    trials = INSTRUMENTS[instrument].trials(study, Design(iterations=2))
    planted = {"lean": {"default": 0.3}, "order": 0.2, "spread": {"wording": 0.05, "group": 0.05},
               "refusals": {"rate": 0.3, "where": "consistent"}}  # fmt: skip
    simulation = Simulation("own", Truth.model_validate(planted), "")
    scores, _ = score(answer_trials(trials, simulation, Recognition([study])), study)
    simulated = draw_scores(SimulatedQuestions(trials, study), simulation)
    assert simulated["score"].null_count() < simulated.height
    assert simulated["score"].to_list() == pytest.approx(scores["score"].to_list(), abs=1e-12)
    columns = [*FACTORS, "control", "trial_id", "iteration", "pair_id", "order", "marginalized",
               "default", "tied", "counter", "attribute_order", "word_list", "scoring"]  # fmt: skip
    assert simulated.select(columns).equals(scores.select(columns))
    assert (simulated["score"].is_null() == simulated["reason"].is_not_null()).all()


def test_scores_of_two_prompts_are_not_drawn_straight() -> None:
    study = load_study("bai2025")
    forced = INSTRUMENTS["word_association"].trials(study, Design(iterations=2, mode="forced"))
    with pytest.raises(InputError, match="single prompts in free text"):
        SimulatedQuestions(forced, study)
