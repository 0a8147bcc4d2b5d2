"""Trials of several questions, each after the answer to the one before: a toy that remembers."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelOutput

from clinometer.asking.budget import Budget, estimate_costs
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.questions import TrialQuestions
from clinometer.asking.requests import write_output
from clinometer.asking.sent import sent_messages
from clinometer.asking.sessions import Outcome, ask_models
from clinometer.asking.shards import Answers
from clinometer.audits.merging import merge
from clinometer.audits.tabulating import collect_responses
from clinometer.contracts.catalogue import INSTRUMENTS, MEASURES, register
from clinometer.contracts.episodes import Episode, Game, replay
from clinometer.contracts.instrument import Instrument, Scored
from clinometer.errors import NoAnswerError
from clinometer.models.opening import Connection, open_models
from clinometer.results.records import Journal
from clinometer.results.tables import read_table
from clinometer.stimuli import parse_study

Serve = Callable[..., Any]
MODEL = "openai-api/loop/m"
STEPS = 5

STUDY = """name: toys
instruments:
  toy:
    warm: warm
    cold: cold
    default_variations: [plain]
    variations:
      plain: "Is {group} warm or cold? One word."
stereotypes:
  cats:
    marginalized: [cat, tomcat, kitten]
    default: [dog, hound, puppy]
    tied: [sly]
    counter: [brave]
"""


def play(trial: Mapping[str, Any]) -> Generator[dict[str, Any], Mapping[str, Any], list[str]]:
    """Ask the same again, and tell what was said before."""
    answers: list[str] = []
    while len(answers) < STEPS and "stop" not in answers:
        answer = yield {"prompt": f"{trial['prompt']} So far: {', '.join(answers) or 'nothing'}."}
        answers.append(answer["response"])
    return answers


@pytest.fixture
def toy() -> Iterator[Instrument]:
    """The toy of `tests/instruments`, with five steps; its score is the share of ``warm``."""
    path = Path(__file__).parents[1] / "instruments" / "toy.py"
    spec = importlib.util.spec_from_file_location("toy", path)
    module = sys.modules["toy"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plain = module.INSTRUMENT

    def draw(*names: Any) -> Any:
        for cell in plain.draw(*names):
            trials = ({**trial, "steps": STEPS, "script": "{}"} for trial in cell.trials)
            yield replace(cell, trials=trials)

    def read(response: str, trial: Mapping[str, Any], _: Any) -> Scored:
        outcome = replay(INSTRUMENTS["toy"].episode, trial, response).outcome
        return (
            Scored(outcome.count("warm") / STEPS, None, 1.0)
            if outcome
            else Scored(None, "error", 0.0)
        )

    instrument = replace(
        plain, draw=draw, episode=Episode(play, 6), readers=dict.fromkeys(plain.readers, read)
    )
    register(instrument)
    yield instrument
    del INSTRUMENTS["toy"], MEASURES["toy_warmth"]


@pytest.fixture
def plan(toy: Instrument) -> Plan:
    study = parse_study(STUDY, "toys.yaml")
    return Plan([Selection(study, ["cats"], ["plain"], instrument="toy")], [MODEL], iterations=4)


def ask(plan: Plan, directory: Path, budget: Budget | None = None) -> Outcome:
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=0))
    outcome = ask_models(plan.pieces, models, directory, budget or Budget())
    return outcome


def number(prompt: str) -> int:
    """How many answers a prompt tells of."""
    answers = re.search(r"So far: (.*)\.", prompt)[1]
    return 0 if answers == "nothing" else answers.count(",") + 1


def counting(server: Any) -> None:
    """Answer with what was asked, so that every prompt is another."""
    server.reply = lambda body: server.chat(
        body, f"a{number(body['messages'][-1]['content'])}", finish_reason="stop"
    )


def test_the_next_question_has_the_answers_before_it(
    plan: Plan, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    counting(server)
    assert ask(plan, tmp_path / "r").complete
    assert max(server.prompts, key=number).endswith("So far: a0, a1, a2, a3.")
    assert server.prompts.total() == 4 * STEPS
    collect_responses(plan, tmp_path / "r")
    rows = read_table(tmp_path / "r" / "responses.parquet")
    assert rows.height == 4  # a row per episode
    assert json.loads(rows["response"][0]) == [[f"a{n}", "stop"] for n in range(STEPS)]
    assert rows["input_tokens"].to_list() == [100 * STEPS] * 4


def test_every_answer_is_kept_at_once_and_counted_once(
    plan: Plan, serve: Serve, tmp_path: Path
) -> None:
    counting(serve())
    budget, progress = Budget(), []
    claim(tmp_path / "r", plan)
    models = open_models(plan.models, plan.generation, Connection())
    ask_models(
        plan.pieces, models, tmp_path / "r", budget, on_progress=lambda _, a: progress.append(a)
    )
    lines = [*Journal(tmp_path / "r", MODEL).lines()]
    assert sum("episode" in line for line in lines) == 4 * STEPS
    assert sum(line.get("trial_id") is not None for line in lines) == 4
    assert (budget.calls, budget.tokens) == (20, 20 * 160)
    assert sum(answer.get("trials", 1) for answer in progress) == 4
    again = Budget()
    ask(plan, tmp_path / "r", again)
    assert (again.calls, again.tokens) == (20, 20 * 160)


@pytest.mark.parametrize("calls", [1, 3, 7, 19])
def test_a_run_that_stops_in_the_middle_goes_on_there(
    plan: Plan, serve: Serve, tmp_path: Path, calls: int
) -> None:
    server = serve()
    counting(server)
    stopped = ask(plan, tmp_path / "r", Budget(max_calls=calls))
    assert not stopped.complete and server.prompts.total() == calls
    assert ask(plan, tmp_path / "r").complete
    assert server.prompts.total() == 4 * STEPS  # nothing twice
    ask(plan, tmp_path / "whole")
    for name in ("r", "whole"):
        collect_responses(plan, tmp_path / name)
    broken, unbroken = (
        read_table(tmp_path / name / "responses.parquet") for name in ("r", "whole")
    )
    assert broken.equals(unbroken)


def test_a_dying_provider_loses_nothing(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    counting(server)
    answer, calls = server.reply, []

    def dying(body: dict[str, Any]) -> Any:
        calls.append(body)
        failing = number(body["messages"][-1]["content"]) == 3
        return (500, {"error": {"message": "gone"}}) if failing else answer(body)

    server.reply = dying
    outcome = ask(plan, tmp_path / "r")
    assert (outcome.answered, outcome.errors) == (0, 4) and "gone" in outcome.last_error
    assert sum("episode" in line for line in Journal(tmp_path / "r", MODEL).lines()) == 12
    server.reply = answer
    before = server.prompts.total()
    assert ask(plan, tmp_path / "r").complete
    assert server.prompts.total() - before == 4 * 2


def test_an_episode_may_end_before_its_last_step(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.reply = lambda body: server.chat(body, "stop")
    assert ask(plan, tmp_path / "r").complete
    assert server.prompts.total() == 4


def test_what_was_sent_follows_from_the_answers(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    counting(server)
    ask(plan, tmp_path / "r")
    collect_responses(plan, tmp_path / "r")
    responses = read_table(tmp_path / "r" / "responses.parquet")
    sent = [*sent_messages(responses, tmp_path / "r", MODEL)]
    texts = [row["messages"][-1]["content"] for row in sent]
    assert len(texts) == 20 and set(texts) == set(server.prompts)
    assert [row["call"] for row in sent[:STEPS]] == [1, 2, 3, 4, 5]


def test_merging_does_not_mix_the_steps_of_two_runs(
    plan: Plan, serve: Serve, tmp_path: Path
) -> None:
    """One asked three questions of the first episode, the other four, with other answers."""
    server = serve()
    counting(server)
    ask(plan, tmp_path / "a", Budget(max_calls=3))
    server.reply = lambda body: server.chat(body, "warm")
    ask(plan, tmp_path / "b", Budget(max_calls=4))
    episodes = [{line["episode"] for line in Journal(tmp_path / name, MODEL).lines()}
                for name in "ab"]  # fmt: skip
    assert episodes[0] & episodes[1]
    with pytest.raises(NoAnswerError, match="no trial has an answer"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    lines = [*Journal(tmp_path / "c", MODEL).lines()]
    for episode in episodes[0] & episodes[1]:
        answers = {line["response"] for line in lines if line["episode"] == episode}
        assert not {"warm"} & answers


def test_the_plan_knows_the_most_that_it_may_cost(plan: Plan) -> None:
    (cost,) = estimate_costs(plan.pieces(), [MODEL])
    assert (cost.trials, cost.calls) == (4, 20)
    prompts = plan.trials()["prompt"].str.len_chars().sum() / 4
    # A prompt is 10 tokens longer than its text, and grows by 6 with each of four steps.
    assert cost.input_tokens == pytest.approx(STEPS * prompts + 20 * (10 + 6 * 2), abs=1)


def test_an_answer_that_cannot_be_replayed_is_none(toy: Instrument) -> None:
    trial = {"trial_id": "t", "seed": 1, "prompt": "p"}
    for response in ("", "{", "[1]", '[["a"]]', '[["a", 1]]', "[" * 9_999):
        assert replay(toy.episode, trial, response).answers == []
    assert replay(toy.episode, trial, '[["<think>no</think>warm", "stop"]]').question["prompt"] == (
        "p So far: warm."
    )


def test_steps_have_seeds_of_their_own(toy: Instrument) -> None:
    seeds = set()
    game = Game(toy.episode, {"trial_id": "t", "seed": 1, "prompt": "p"})
    while game.question is not None:
        seeds.add(game.question["seed"])
        game.take({"response": "warm", "stop_reason": "stop"})
    assert len(seeds) == STEPS and game.outcome == ["warm"] * STEPS


def test_shards_have_the_next_question_of_each_episode(plan: Plan, tmp_path: Path) -> None:
    """Round after round, a kept answer is not asked for again."""
    claim(tmp_path, plan)
    rounds, path = [], tmp_path / "answers.jsonl"
    path.touch()
    while True:
        questions = TrialQuestions(plan, MODEL, tmp_path)
        answers = Answers([path])
        requests = [*questions.unanswered(answers)]
        if not requests:
            break
        assert len(answers.kept) == 4 * len(rounds)  # of the questions before
        rounds.append(len(requests))
        with path.open("a") as file:
            for request in requests:
                text = f"a{number(request.messages[-1]['content'])}"
                output = ModelOutput.from_content("m", text)
                response = {"status_code": 200, "body": write_output(output)}
                line = {"custom_id": request.custom_id, "response": response}
                file.write(json.dumps(line) + "\n")
    assert rounds == [4] * STEPS and questions.answered == 4
    lines = [*Journal(tmp_path, MODEL).lines()]
    assert [line["calls"] for line in lines] == [STEPS] * 4
    assert json.loads(lines[0]["response"])[-1] == ["a4", "stop"]
