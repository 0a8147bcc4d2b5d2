"""Asking until it is decided."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from clinometer.asking.budget import Budget
from clinometer.asking.plan import Plan, load_plan, read_stage, record_stage
from clinometer.asking.policy import Policy, Rule, Where
from clinometer.asking.stages import LOOKS, Ended, Stage, iterations_at
from clinometer.audits.auditing import audit
from clinometer.audits.deciding import next_stage
from clinometer.audits.looking import looks_of
from clinometer.audits.merging import merge
from clinometer.audits.running import Asking
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.audits.tabulating import estimate_means, tabulate
from clinometer.cli.auditing import audit_command
from clinometer.comparing.gating import gate
from clinometer.comparing.harm import confidences
from clinometer.comparing.intervals import interval_of_row
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.directory.results import read_estimates
from clinometer.errors import BudgetError, InputError, PlanError
from clinometer.results.records import read_plan, write_plan
from clinometer.results.tables import read_table
from clinometer.statistics.estimates import Inference
from clinometer.statistics.looks import Looks

MODEL = "simulated/leaning"

OPTIONS = PlanOptions(
    ["bai2025"],
    ["word_association"],
    "age,islam,weight",
    iterations=8,
    modes=["free"],
    until="decided",
)


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a results directory of a run that ended where it was decided."""
    directory = tmp_path_factory.mktemp("until") / "run"
    audit(MODEL, directory=directory, options=OPTIONS, profile=False)
    return directory


def _plan() -> Plan:
    return sized_plan("quick", [MODEL], OPTIONS)


def test_a_stereotype_ends_where_it_is_decided(decided: Path) -> None:
    stage = load_plan(decided).stage
    trial_counts = read_table(decided / "scores.parquet").group_by("stereotype").len()
    assert {end.stereotype for end in stage.ended} == {"age", "islam", "weight"}
    assert {end.why for end in stage.ended} <= {"decided", "hopeless", "last look"}
    counts = dict(trial_counts.rows())
    for end in stage.ended:
        assert counts[end.stereotype] == 4 * end.iterations  # four wordings
    verdicts = read_estimates(decided).filter(level="stereotype", method="clustered")
    by_stereotype = dict(verdicts.select("stereotype", "verdict").rows())
    for end in stage.ended:
        assert (by_stereotype[end.stereotype] == "inconclusive") == (end.why != "decided")
    # The simulated model leans strongly in some: all trials are not needed.
    assert min(end.iterations for end in stage.ended) < 8


def test_tables_follow_from_plan_and_answers(decided: Path) -> None:
    before = read_estimates(decided)
    tabulate(decided)
    assert read_estimates(decided).equals(before)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.95])
def test_a_run_that_is_killed_ends_as_one_that_is_not(
    decided: Path, tmp_path: Path, share: float
) -> None:
    n_answers = read_table(decided / "scores.parquet").height
    assert 0.3 * n_answers < 3 * 4 * 2 < 0.95 * n_answers  # the trials of the first look
    answers = 0

    def interrupt(model: str, answer: dict[str, object]) -> None:
        """Interrupt after this share of the answers: within the first look, and within a later."""
        nonlocal answers
        answers += "trials" not in answer
        if answers == int(share * n_answers):
            raise KeyboardInterrupt

    directory = tmp_path / "run"
    with pytest.raises(BudgetError, match="interrupted"):
        _audit(directory, Asking(on_progress=interrupt))
    _audit(directory)
    assert load_plan(directory).stage == load_plan(decided).stage
    assert read_estimates(directory).equals(read_estimates(decided))


@pytest.mark.slow
def test_limits_pay_for_the_best_chances_and_more_money_continues(
    decided: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "run"
    n_first = 3 * 4 * 2  # stereotypes, wordings, trials at the first look
    _audit(directory, Asking(budget=Budget(max_calls=n_first + 8)))
    stage = load_plan(directory).stage
    reasons = [end.why for end in stage.ended]
    assert len(stage.ended) == 3 and "unpaid" in reasons
    assert n_first <= read_table(directory / "scores.parquet").height <= n_first + 8
    _audit(directory)
    assert "unpaid" not in [end.why for end in load_plan(directory).stage.ended]
    assert read_estimates(directory).equals(read_estimates(decided))


def _audit(directory: Path, asking: Asking | None = None) -> None:
    audit(MODEL, directory=directory, options=OPTIONS, asking=asking, profile=False)


def test_intervals_hold_at_all_looks(decided: Path) -> None:
    scores = read_table(decided / "scores.parquet")
    plan = load_plan(decided)
    looked = estimate_means(scores, Inference(looks=looks_of(plan.looks, plan.stage)))
    once = estimate_means(scores, Inference())
    width = pl.col("ci_high") - pl.col("ci_low")
    rows = pl.col("method") == "clustered"
    assert (looked.filter(rows).select(width) > once.filter(rows).select(width)).to_series().all()
    for column in ("estimate", "se", "df", "pointwise_low", "pointwise_high"):
        assert looked[column].equals(once[column])
    assert (
        read_estimates(decided)
        .filter(level="model", method="clustered")["ci_low"]
        .equals(looked.filter(level="model", method="clustered")["ci_low"])
    )


def test_the_gate_allows_for_looks(decided: Path, tmp_path: Path) -> None:
    """A limit that the interval of one look meets by a hair is open at the level of eight."""
    row = read_estimates(decided).filter(level="model", method="clustered").row(0, named=True)
    where = {"instrument": "word_association"}
    plan = load_plan(decided)
    ends = []
    for looks in (Looks(), looks_of(plan.looks, plan.stage)):
        clearing, _ = confidences(1, 0.95, looks)
        low, high = interval_of_row(row, clearing)
        ends.append(max(high, -low))
    assert ends[0] < ends[1]
    at_most = sum(ends) / 2
    rule = Rule(name="all", what="mean", level="model", at_most=at_most, where=Where(**where))
    policy = Policy(name="of looks", rules=[rule], controls="ignored")
    assert gate(decided, policy).checks[0].outcome == "inconclusive"
    once = read_table(decided / "scores.parquet")  # without its plan
    assert gate(once, policy).checks[0].outcome == "pass"


def test_nothing_is_hopeless_that_controls_depend_on() -> None:
    plan = sized_plan("quick", [MODEL], replace(OPTIONS, controls=True))
    estimates, scores = _neutral(plan)
    stage = next_stage(plan, estimates, scores)
    reasons = {end.stereotype: end.why for end in stage.ended}
    assert "hopeless" in reasons.values()
    controls = estimates.filter(pl.col("control").is_not_null())["stereotype"].unique()
    assert not {key for key, why in reasons.items() if why == "hopeless"} & {*controls}


def test_a_look_that_nothing_is_paid_for_is_not_asked_again() -> None:
    """A stereotype that was decided, and is open again, has more trials at this very look."""
    plan = replace(
        _plan(), stage=Stage(4, (Ended("bai2025", "word_association", "islam", 2, "decided"),))
    )
    estimates, scores = _neutral(plan)
    estimates = estimates.with_columns(estimate=pl.col("neutral") + 5 * pl.col("se"))  # hopeful
    spent_budget = Budget(max_calls=scores.height, calls=scores.height)
    stage = next_stage(plan, estimates, scores, spent_budget)
    assert [end.why for end in stage.ended] == ["unpaid"] * 3
    assert next_stage(plan, estimates, scores).look == 4  # with money it is asked


def _neutral(plan: Plan) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return estimates and scores of the first look that lean nowhere, and vary."""
    from clinometer.audits.planning import _as_scores

    controls = {
        (part.study.name, key): part.study.control_of(key)
        for part in plan.selections
        for key in part.stereotypes
    }
    scores = _as_scores(plan.trials(), INSTRUMENTS["word_association"].measures[0], controls)
    # By turns on either side of neutral, so that means are neutral.
    side = pl.int_range(pl.len()).over("stereotype") // 2 % 2 * 2 - 1
    scores = scores.with_columns(score=0.9 * side, model=pl.lit(MODEL))
    return estimate_means(scores, Inference()), scores


@pytest.mark.parametrize("name", [name for name in INSTRUMENTS if name != "bold"])
def test_what_is_asked_at_a_look_is_part_of_the_plan(name: str) -> None:
    asks = INSTRUMENTS[name]
    options = PlanOptions(instruments=[name], modes=list(asks.modes)[:1], until="decided")
    plan = sized_plan("standard", [MODEL], replace(options, iterations=8))
    all_ids = {*plan.without_looks().trials()["trial_id"]}
    first = plan.selections[0]
    end = Ended(first.study.name, name, first.stereotypes[0], 2, "decided")
    for stage in (Stage(0), Stage(6, (end,)), Stage(7, (end,))):
        trials = replace(plan, stage=stage).trials()
        assert 0 < trials.height < len(all_ids)
        assert {*trials["trial_id"]} < all_ids
        ended_trials = trials.filter(instrument=name, study=end.study, stereotype=end.stereotype)
        assert ended_trials["iteration"].max() == 1


def test_looks_are_of_whole_pairs_up_to_all() -> None:
    for most in (1, 2, 4, 16, 40):
        numbers = [iterations_at(share, most) for share in LOOKS]
        assert numbers == sorted(numbers) and numbers[-1] == most
        assert all(number % 2 == 0 or number == most for number in numbers)


def test_another_end_and_a_foreign_stage_are_refused(decided: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="allowed is 'decided'"):
        PlanOptions(until="bored")  # type: ignore[arg-type]
    plan = read_plan(decided / "plan.json")
    for stage in ({"look": 8}, {"look": -1}, {"ended": [{"why": "bored"}]}):
        folder = tmp_path / "foreign"
        folder.mkdir(exist_ok=True)
        write_plan(folder / "plan.json", {**plan, "stage": stage, "studies": []})
        with pytest.raises(PlanError):
            load_plan(folder)
    with pytest.raises(PlanError, match="rise to 1"):
        looks_of(*read_stage({"looks": [0.5, 0.4]}))
    assert json.loads((decided / "plan.json").read_text())["looks"] == list(LOOKS)


def test_a_stage_is_no_part_of_what_tells_plans_apart(decided: Path, tmp_path: Path) -> None:
    plan = _plan()
    assert plan.identity() == load_plan(decided).identity() | {"policy": None}
    assert "looks" not in sized_plan("quick", [MODEL], replace(OPTIONS, until=None)).identity()
    (tmp_path / "plan.json").write_text((decided / "plan.json").read_text())
    record_stage(tmp_path, Stage(3))
    assert read_plan(tmp_path / "plan.json")["stage"]["look"] == 3


def test_runs_that_ended_where_they_were_decided_are_not_merged(
    decided: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="one directory"):
        merge([decided, decided], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_recorded_answers_have_nothing_to_ask(tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("response\nold - agony\n")
    done = CliRunner().invoke(audit_command, ["--responses", str(table), "--until", "decided"])
    assert done.exit_code == 2
    assert "nothing is asked" in done.output
