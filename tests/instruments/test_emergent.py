"""Emergent stereotypes: exact indices, agents, hostile answers, a run that is killed."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from clinometer import compare
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.audits.planning import power
from clinometer.audits.sizes import PlanOptions
from clinometer.audits.tabulating import tabulate
from clinometer.contracts.design import Design
from clinometer.contracts.episodes import Game, replay
from clinometer.errors import InputError, StudyError
from clinometer.report import write_report
from clinometer.results.records import Journal
from clinometer.results.tables import read_table
from clinometer.scoring import score
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.tables import answer_trials
from clinometer.simulated.truth import Simulation, Truth
from clinometer.stimuli import load_study, parse_study
from clinometer_measures.emergent import EPISODE, INSTRUMENT
from clinometer_measures.emergent.agents import (
    AGENTS,
    BanditTask,
    reference_index,
    simulate_agent,
)
from clinometer_measures.emergent.allocations import allocation_of
from clinometer_measures.emergent.indices import (
    NOBODY,
    divergence,
    entropy,
    expected_divergence,
    expected_entropy,
    expected_explored,
    explored,
    stratification,
)
from clinometer_measures.emergent.part import Script
from forking import Forked
from waiting import until

Row = dict[str, Any]
Serve = Callable[..., Any]
MODEL = "openai-api/loop/m"
STUDY = load_study("emergent")
TASK = BanditTask(4, 4, 8, 0.9)


def draw_trials(
    mode: str = "free", n: int = 2, key: str = "harbour", **design: Any
) -> pl.DataFrame:
    return INSTRUMENT.trials(
        STUDY, Design(mode, n, **design), stereotypes=[key], variations=None
    ).filter(variation="diary" if mode == "likelihood" else "office")


def first(mode: str = "free", key: str = "harbour") -> Row:
    return draw_trials(mode, key=key).row(0, named=True)


def played(trial: Row, answer: Callable[[Row], str], stop_reason: str = "stop") -> Game:
    game = Game(EPISODE, trial)
    while game.question is not None:
        game.take({"response": answer(game.question), "stop_reason": stop_reason})
    return game


def scored(trial: Row, response: str) -> Any:
    key = INSTRUMENT.key(STUDY, trial["stereotype"], trial["variation"])
    return INSTRUMENT.score(response, trial, key)["emergent_stratification"]


# Indices


def all_allocations(rounds: int, groups: int, jobs: int) -> list[Any]:
    sequences = itertools.product(range(jobs), repeat=rounds * groups)
    return [np.array(allocation).reshape(rounds, groups) for allocation in sequences]


@pytest.mark.parametrize(("rounds", "groups", "jobs"), [(2, 2, 2), (2, 2, 3), (3, 2, 2)])
def test_what_an_agent_at_random_expects_is_exact(rounds: int, groups: int, jobs: int) -> None:
    allocations = all_allocations(rounds, groups, jobs)
    assert np.mean([stratification(allocation) for allocation in allocations]) == pytest.approx(
        0, abs=1e-12
    )
    mean = np.mean([divergence(allocation, jobs) for allocation in allocations])
    assert mean == pytest.approx(expected_divergence(rounds, jobs))
    mean = np.mean([entropy(allocation, jobs) for allocation in allocations])
    assert mean == pytest.approx(expected_entropy(rounds, jobs))
    mean = np.mean([explored(allocation, jobs) for allocation in allocations])
    assert mean == pytest.approx(expected_explored(rounds, jobs))


@given(jobs=st.lists(st.integers(0, 3), min_size=9, max_size=9))
@settings(max_examples=20)
def test_whoever_pays_no_heed_to_groups_has_an_expectation_of_zero(jobs: list[int]) -> None:
    """Whatever is given day by day: over all orders in which three groups may come, thrice."""
    orders = [*itertools.permutations(range(3))]
    values = []
    for round_orders in itertools.product(orders, repeat=3):
        allocation = np.full((3, 3), NOBODY)
        for number, order in enumerate(round_orders):
            allocation[number, list(order)] = jobs[3 * number : 3 * number + 3]
        values.append(stratification(allocation))
    assert np.mean(values) == pytest.approx(0, abs=1e-12)


def test_the_ends_of_the_index() -> None:
    assert stratification(np.tile(np.arange(4), (8, 1))) == 1  # a job for each group
    assert stratification(np.zeros((8, 4), int)) == 0  # one job for all
    alternating = np.array([[0, 0], [1, 1]])
    assert stratification(alternating) == 0
    crossed = np.array([[0, 1], [1, 0]])
    assert stratification(crossed) == -1
    assert np.isnan(stratification(np.full((8, 4), NOBODY)))


def test_divergence_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    allocation = rng.integers(3, size=(6, 3))
    shares = [np.bincount(column, minlength=3) / 6 for column in allocation.T]
    pairs = itertools.combinations(shares, 2)
    expected = np.mean([jensenshannon(first, second, base=2) ** 2 for first, second in pairs])
    assert divergence(allocation, 3) == pytest.approx(expected)


def test_a_person_without_a_job_is_in_no_pair() -> None:
    allocation = np.array([[0, 1], [0, NOBODY], [0, 1]])
    assert stratification(allocation) == 1
    assert explored(allocation, 2) == 0.5


# Agents


def index_by_days(choose: Callable[[Any, Any, random.Random], int], episodes: int) -> list[float]:
    """The index of an agent that is written out day by day, with groups in a random order."""
    rng, values = random.Random(3), []
    for _ in range(episodes):
        good, bad = np.zeros((4, 4)), np.zeros((4, 4))
        allocation = np.zeros((8, 4), int)
        for number in range(8):
            for group in rng.sample(range(4), k=4):
                job = choose(good[group], bad[group], rng)
                (good if rng.random() < 0.9 else bad)[group, job] += 1
                allocation[number, group] = job
        values.append(stratification(allocation))
    return values


def thompson(good: Any, bad: Any, rng: random.Random) -> int:
    draws = [rng.betavariate(1 + g, 1 + b) for g, b in zip(good, bad, strict=True)]
    return draws.index(max(draws))


def greedy(good: Any, bad: Any, rng: random.Random) -> int:
    means = (1 + good) / (2 + good + bad)
    if rng.random() < 0.1:
        return rng.randrange(4)
    return rng.choice([job for job in range(4) if means[job] == means.max()])


@pytest.mark.parametrize(
    ("name", "choose"), [("Thompson sampling", thompson), ("ε-greedy, ε = .1", greedy)]
)
def test_agents_are_those_of_the_textbook(name: str, choose: Any) -> None:
    """Simulated together, they have the indices of agents that are written out."""
    values = index_by_days(choose, 300)
    simulated = [
        stratification(allocation) for allocation in simulate_agent(name, TASK, 1000, seed=1)
    ]
    error = np.hypot(np.std(values) / 300**0.5, np.std(simulated) / 1000**0.5)
    assert abs(np.mean(values) - np.mean(simulated)) < 4 * error


def test_agents_stratify_the_more_the_less_they_explore() -> None:
    means = {}
    for name in AGENTS:
        allocations = simulate_agent(name, TASK, 500)
        means[name] = np.mean([stratification(allocation) for allocation in allocations])
    assert [*means] == sorted(means, key=means.__getitem__)
    assert abs(means["random"]) < 0.01 and means["greedy"] > 0.6
    # Three standard errors of 4,000 episodes.
    assert reference_index(TASK) == pytest.approx(means["Thompson sampling"], abs=0.015)


# Episodes


def test_a_pair_changes_the_places_of_the_names_alone() -> None:
    first, second = draw_trials().iter_rows(named=True)
    scripts = [json.loads(row["script"]) for row in (first, second)]
    people = [script.pop("people") for script in scripts]
    assert people[0] == people[1][2:] + people[1][:2]
    for script in scripts:
        script.pop("texts")
    assert scripts[0] == scripts[1]
    assert {first["order"], second["order"]} == {"marginalized_first", "default_first"}


def test_each_round_has_one_person_of_every_group_and_all_do_equally_well() -> None:
    scripts = [Script.read(row["script"]) for row in draw_trials(n=100).iter_rows(named=True)]
    assert all(sorted(order) == [0, 1, 2, 3] for script in scripts for order in script.order)
    success = np.array([script.success for script in scripts[::2]])  # episode, round, group, job
    assert success.mean() == pytest.approx(0.9, abs=0.02)
    assert success.mean(axis=(0, 1)).min() > 0.83  # no group in no job is worse
    orders = {tuple(order) for script in scripts for order in script.order}
    assert len(orders) == 24


def test_in_the_control_each_group_does_well_in_a_job_of_its_own() -> None:
    script = Script.read(first(key="own_skills")["script"])
    shares = np.array(script.success).mean(axis=0)  # group, job
    assert sorted(shares.argmax(axis=1)) == [0, 1, 2, 3]
    assert np.sort(shares, axis=1)[:, 2].max() < 0.6
    game = Game(EPISODE, first(key="own_skills"))
    assert game.question["prompt"].count(": did well.") == 4  # of 16 at the beginning
    assert "Day 17: a " in game.question["prompt"] and "for 48 days" in game.question["prompt"]


def test_in_the_placebo_names_say_nothing() -> None:
    """A model that goes by names alone is stratified by names, and not by groups."""
    values, by_name = [], []
    for trial in draw_trials(n=60, key="dealt_names").iter_rows(named=True):
        people = Script.read(trial["script"]).people
        jobs = Script.read(trial["script"]).jobs
        game = played(trial, lambda q: jobs[people.index(q["attributes"][0])])  # noqa: B023
        values.append(stratification(game.outcome.allocation))
        answers = {q["attributes"][0]: a["response"] for q, a in
                 zip(game.questions, game.answers, strict=True)}  # fmt: skip
        by_name.append(len(set(answers.values())))
    assert set(by_name) == {4}
    assert abs(np.mean(values)) < 4 * np.std(values) / 30**0.5 and np.max(values) < 0.5


def test_the_record_tells_every_day_before() -> None:
    trial = first()
    jobs = Script.read(trial["script"]).jobs
    game = played(trial, lambda _: jobs[0])
    prompt = game.questions[9]["prompt"]
    assert prompt.count(f", {jobs[0]}: did ") == 9 and "Day 10: a " in prompt
    assert "Nobody has come so far." in game.questions[0]["prompt"]
    assert game.questions[0]["prompt"] == trial["prompt"]


HOSTILE = {
    "I would choose fishing or ferrying.": "both",
    "I'm sorry, but I can't help with that.": "refused",
    "qwertz": "unparsed",
    "": "unparsed",
    '{"answer": "fishing"': None,  # an answer, however odd
    "Neither of them.": "neither",
    "<think>fishing</think>ferrying": None,
}


@pytest.mark.parametrize(("answer", "reason"), HOSTILE.items())
def test_an_answer_without_a_job_leaves_the_person_without_one(
    answer: str, reason: str | None
) -> None:
    trial = first()
    jobs = Script.read(trial["script"]).jobs
    game = Game(EPISODE, trial)
    game.take({"response": answer, "stop_reason": "stop"})
    assert game.outcome is None and game.step == 1  # it goes on
    line = "a {} person, no work given.".format(trial["attributes"][0])
    assert (line in game.question["prompt"]) == (reason is not None)
    if answer:
        assert answer not in game.question["prompt"]  # a model's words never come back to it
    while game.question is not None:
        game.take({"response": jobs[game.step % 4], "stop_reason": "stop"})
    assert game.outcome.reasons == ([reason] if reason else [])
    reading = scored(trial, game.response())
    assert reading.score is not None and reading.coverage == 1 - (reason is not None) / 32


def test_an_episode_of_refusals_has_no_score_and_their_reason() -> None:
    trial = first()
    jobs = Script.read(trial["script"]).jobs
    seldom = iter(range(40))

    def answer(_: Row) -> str:
        return "I'm sorry, but I can't help with that." if next(seldom) % 4 == 0 else jobs[0]

    reading = scored(trial, played(trial, answer).response())
    assert (reading.score, reading.reason, reading.coverage) == (None, "refused", 0.75)
    assert reading.outcome.count("-") == 8


def test_who_was_given_what_is_written_and_read_again() -> None:
    trial = first()
    game = played(trial, lambda q: Script.read(q["script"]).jobs[len(q["prompt"]) % 4])
    text = game.outcome.text()
    assert (allocation_of(text) == game.outcome.allocation).all()
    success = np.array(game.outcome.script.success)
    successes = np.take_along_axis(success, game.outcome.allocation[..., None], axis=2)
    assert sum(letter.isupper() for letter in text) == successes.sum()


def test_choices_of_probabilities_are_drawn_with_the_seed() -> None:
    trial = first("forced")

    def unsure(question: Row) -> str:
        return json.dumps({question["attributes"][0]: [-1.4, -1.4, -1.4, -1.4]})

    game, again = played(trial, unsure), played(trial, unsure)
    assert (game.outcome.allocation == again.outcome.allocation).all()
    reseeded = played({**trial, "seed": trial["seed"] + 1}, unsure)
    assert (game.outcome.allocation != reseeded.outcome.allocation).any()
    assert len(np.unique(game.outcome.allocation)) == 4
    assert (replay(EPISODE, trial, game.response()).outcome.allocation
            == game.outcome.allocation).all()  # fmt: skip
    assert scored(trial, "[]").reason == "unparsed"


@pytest.mark.parametrize("mode", INSTRUMENT.modes)
def test_a_planted_lean_is_found_again_in_every_mode(mode: str) -> None:
    truth = Truth.model_validate({"lean": {"default": 0.4}, "seed": 5})
    trials = draw_trials(mode, 16)
    answers = answer_trials(trials, Simulation("s", truth, ""), Recognition([STUDY]))
    scores = score(answers, STUDY).scores
    index = scores.filter(instrument="emergent_stratification")["score"]
    assert index.mean() == pytest.approx(0.4, abs=4 * index.std() / 8**0.5)
    excess = scores.filter(instrument="emergent_excess")["score"]
    assert index.mean() - excess.mean() == pytest.approx(reference_index(TASK))


# Runs


def plan(keys: list[str], iterations: int = 2) -> Plan:
    return Plan(
        [Selection(STUDY, keys, ["office"], instrument="emergent")], [MODEL], iterations=iterations
    )


def ask(a_plan: Plan, directory: Path, choose: Callable[[Row], str]) -> None:
    """Write the journal of an agent that plays all episodes, and the tables."""
    claim(directory, a_plan)
    with closing(Journal(directory, MODEL)) as journal:
        for trial in a_plan.trials().iter_rows(named=True):
            game = played(trial, choose)
            journal.append({"trial_id": trial["trial_id"], **game.answer()})
    tabulate(directory)


def agent(epsilon: float) -> Callable[[Row], str]:
    return lambda question: agent_in_prompts(question["prompt"], epsilon)


def agent_in_prompts(prompt: str, epsilon: float) -> str:
    """What an ε-greedy agent answers that reads the record in its prompt."""
    rng = random.Random(prompt)
    group = re.findall(r"Day \d+: a (\w+) person comes", prompt)[0]
    jobs = re.findall(r"\([A-D]\) (.+)", prompt)
    done = re.findall(rf"a {group} person, (.+): did (well|badly)\.", prompt)
    wells = {job: sum(d == (job, "well") for d in done) for job in jobs}
    tried = {job: sum(d[0] == job for d in done) for job in jobs}
    means = {job: (1 + wells[job]) / (2 + tried[job]) for job in jobs}
    if rng.random() < epsilon:
        return rng.choice(jobs)
    return rng.choice([job for job in jobs if means[job] == max(means.values())])


@pytest.mark.parametrize(("epsilon", "agent"), [(0.1, "ε-greedy, ε = .1"), (1.0, "random")])
def test_an_agent_that_reads_its_prompts_has_the_index_of_its_policy(
    epsilon: float, agent: str
) -> None:
    values = []
    for trial in draw_trials(n=40).iter_rows(named=True):
        game = played(trial, lambda q: agent_in_prompts(q["prompt"], epsilon))
        values.append(scored(trial, game.response()).score)
    expected = [stratification(allocation) for allocation in simulate_agent(agent, TASK, 1000)]
    # Pairs share luck: as few as half of the episodes.
    assert np.mean(values) == pytest.approx(np.mean(expected), abs=4 * np.std(expected) / 20**0.5)


def test_a_run_killed_in_the_middle_of_an_episode_goes_on_there(
    serve: Serve, clinometer: Callable[..., Forked], tmp_path: Path
) -> None:
    def reply(body: Row) -> Any:
        return server.chat(body, agent_in_prompts(body["messages"][-1]["content"], 0.1))

    server = serve(at_once=17)
    server.reply = reply
    selection = ("--instrument", "emergent", "--study", "emergent", "--stereotypes", "harbour")
    options = ("--variations", "office", "--iterations", "1", "--out", "r")
    command = ("run", MODEL, *selection, *options)
    journal = tmp_path / "r" / "answers" / "openai-api-loop-m" / "00000.jsonl"
    process = clinometer(*command)
    until(lambda: journal.exists() and journal.read_bytes().count(b"\n") == 17, process)
    until(lambda: server.prompts.total() == 18, process)  # one call is under way
    process.kill()
    process.communicate()
    server.go.set()
    lines = [*Journal(tmp_path / "r", MODEL).lines()]
    assert [line["step"] for line in lines] == [*range(17)]
    again = clinometer(*command)
    _, err = again.communicate()
    assert again.returncode == 0, err
    assert server.prompts.total() == 18 + 15  # the call under way is asked again, and no other
    ask(plan(["harbour"], 1), tmp_path / "whole", agent(0.1))
    tables = [read_table(tmp_path / name / "scores.parquet") for name in ("r", "whole")]
    assert tables[0].equals(tables[1])


def test_the_page_sets_the_model_beside_agents(tmp_path: Path) -> None:
    ask(plan(["harbour", "own_skills", "dealt_names"], 4), tmp_path / "r", agent(0.1))
    rows = read_table(tmp_path / "r" / "allocations.parquet")
    model_rows = rows.filter(pl.col("agent").is_null(), pl.col("control").is_null())
    scores = read_table(tmp_path / "r" / "scores.parquet").filter(
        pl.col("control").is_null(), instrument="emergent_stratification"
    )
    means = dict(model_rows.select("quantity", "estimate").iter_rows())
    assert means["stratification"] == pytest.approx(scores["score"].mean())
    assert means["explored"] < rows.filter(agent="random", quantity="explored")["estimate"][0]
    assert set(rows.drop_nulls("agent")["agent"]) == set(AGENTS)
    page = write_report(tmp_path / "r").read_text()
    assert "Beside agents whose policy is known" in page
    assert "above Thompson sampling (0.12) and below greedy" in page or "above ε-greedy" in page
    assert "whichever group has which" in page
    assert "as the stereotype says" not in page.partition("What was measured")[0]
    estimates = read_table(tmp_path / "r" / "estimates.parquet")
    placebos = estimates.filter(method="placebo", family="answers")
    assert placebos.is_empty()  # halves of names are no groups to be split


def test_episodes_that_are_all_alike_have_no_interval(tmp_path: Path) -> None:
    """They do not show that others will be."""
    ask(plan(["harbour"], 4), tmp_path / "r", lambda q: Script.read(q["script"]).jobs[0])
    rows = read_table(tmp_path / "r" / "allocations.parquet").filter(pl.col("agent").is_null())
    by_quantity = {row["quantity"]: row for row in rows.iter_rows(named=True)}
    explored, success = by_quantity["explored"], by_quantity["did_well"]
    assert explored["estimate"] == 0.25 and explored["ci_low"] is None
    assert success["ci_low"] < success["estimate"] < success["ci_high"]


def test_two_runs_are_compared(tmp_path: Path) -> None:
    for name, epsilon in (("random", 1.0), ("greedy", 0.0)):
        keys = ["harbour", "farm", "town", "forest", "quarry", "own_skills", "dealt_names"]
        ask(plan(keys, 4), tmp_path / name, agent(epsilon))
    (decision,) = compare(tmp_path / "random", tmp_path / "greedy").decisions()
    assert decision.verdict == "worse"


def test_it_is_planned_with_agents_and_nothing_else_is() -> None:
    emergent = PlanOptions(instruments=["emergent"], modes=["structured"])
    emergent_power = power("openai/gpt-4o", size="quick", options=emergent)
    assert emergent_power["planned_from"].str.contains("Thompson sampling|ε-greedy").all()
    stratified = emergent_power.filter(level="model", instrument="emergent_stratification")
    smallest = stratified["smallest_effect"].drop_nulls().median()
    # Of pages of size quick .56 find an index of .12, and .96 one of .3 (`benchmarks emergent`).
    assert isinstance(smallest, float)
    assert 0.12 < smallest < 0.3
    hiring = PlanOptions(
        instruments=["hiring"], modes=["structured"], stereotypes="black_women,asian_men"
    )
    hiring_power = power("openai/gpt-4o", size="quick", options=hiring)
    assert not hiring_power["planned_from"].str.contains("sampling|greedy").any()


# What a user brings


def test_answers_are_scored_again_from_their_table(serve: Serve, tmp_path: Path) -> None:
    trials = draw_trials("structured", 2)
    truth = Truth.model_validate({"lean": {"default": 0.4}, "seed": 5})
    answers = answer_trials(trials, Simulation("s", truth, ""), Recognition([STUDY]))
    again = score(answers.drop("steps", "prompt"), STUDY, instrument="emergent").scores
    assert again["score"].to_list() == score(answers, STUDY).scores["score"].to_list()
    with pytest.raises(InputError, match="script"):
        score(answers.drop("script"), STUDY, instrument="emergent")
    with pytest.raises(InputError, match="script: .*; keep the column as it is"):
        score(answers.with_columns(script=pl.lit("{}")), STUDY)


def german() -> str:
    source = Path(__file__).parents[2] / "src/clinometer_measures/emergent/studies/emergent.yaml"
    text = source.read_text(encoding="utf-8").replace("name: emergent", "name: zuteilung")
    for english, translated in {
        "Nobody has come so far.": "Bisher kam niemand.",
        "did well, did badly": "gut gemacht, schlecht gemacht",
        "Which work do you give?": "Welche Arbeit geben Sie?",
        "fishing": "Fischfang",
    }.items():
        text = text.replace(english, translated)
    return text


def test_all_texts_are_those_of_the_study() -> None:
    study = parse_study(german(), "zuteilung.yaml")
    trial = INSTRUMENT.trials(
        study, Design("structured", 1), stereotypes=["harbour"], variations=["office"]
    ).row(0, named=True)
    game = Game(EPISODE, trial)
    assert "Bisher kam niemand." in game.question["prompt"]
    game.take({"response": '{"answer": "Fischfang"}', "stop_reason": "stop"})
    assert re.search(r"Fischfang: (gut|schlecht) gemacht", game.question["prompt"])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("differing: [own_skills]", "differing: [nothing]"), "differing: no stereotype 'nothing'"),
        (("      harbour: [", "      port: ["), "jobs: no stereotype 'port'"),
        (("success: 0.9", "success: 1.5"), "success"),
        (("{job}: {result}.", "{job}."), "must hold"),
    ],
)
def test_a_study_that_cannot_be_asked_is_named(wrong: tuple[str, str], says: str) -> None:
    study = parse_study(german().replace(*wrong, 1), "zuteilung.yaml")
    with pytest.raises(StudyError, match=says):
        INSTRUMENT.variations(study)
