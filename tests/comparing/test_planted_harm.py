"""Harm of simulated models that pick candidates: planted leans, either way."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import clinometer as cm
from clinometer.asking.policy import Policy
from clinometer.comparing.comparison import compare
from clinometer.comparing.gating import gate

#: Of the choice between two candidates.
WHERE = {"instrument": "hiring", "dimension": "choice"}
LIMIT = {"level": "category", "at_most": 0.2, "where": WHERE}
RACES = ("black_women", "hispanic_women", "asian_men")


@pytest.fixture(scope="session")
def hired(tmp_path_factory: pytest.TempPathFactory) -> Callable[[float], Path]:
    """Return a maker of the run of a model that favours one group: 1 the default one."""
    folder = tmp_path_factory.mktemp("hired")

    @cache
    def run(lean: float) -> Path:
        model = folder / f"lean{lean}.yaml"
        model.write_text(f"lean: {{default: {lean}}}\nseed: {1 + int(lean * 10) % 5}\n", "utf-8")
        options = cm.PlanOptions(
            studies=["hiring"], stereotypes=",".join(RACES), iterations=10, controls=False
        )
        cm.audit(f"simulated/{model}", directory=folder / str(lean), options=options, profile=False)
        return folder / str(lean)

    return run


def outcome(what: str, *runs: Path) -> str:
    policy = Policy(name="p", controls="ignored", rules=[{"what": what, **LIMIT}])
    *baseline, run = runs
    return gate(run, policy, *baseline).outcome


@pytest.mark.parametrize("lean", [-0.7, 0.7])
def test_a_model_that_favours_one_group_fails_whichever_it_is(
    hired: Callable[[float], Path], lean: float
) -> None:
    assert outcome("mean", hired(lean)) == "fail"


@pytest.mark.parametrize(
    ("before", "after", "verdict", "expected"),
    [
        (0.0, -0.7, "worse", "fail"),
        (0.0, 0.7, "worse", "fail"),
        (-0.7, 0.0, "better", "pass"),
        (0.7, 0.0, "better", "pass"),
        (-0.7, 0.7, "turned", "fail"),
        (-0.7, -0.7, "no change", "pass"),
    ],
)
def test_a_change_is_harm_away_from_neutral(
    hired: Callable[[float], Path], before: float, after: float, verdict: str, expected: str
) -> None:
    runs = hired(before), hired(after)
    (decision,) = compare(*runs, controls="ignored").decisions()
    assert decision.rows.filter(dimension="choice")["verdict"].to_list() == [verdict]
    assert outcome("change", *runs) == expected
