"""Runs against a loopback server: resumed, limited, interrupted, failing."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sessions import Outcome, ask_models
from clinometer.audits.sharding import load_any_plan
from clinometer.audits.tabulating import tabulate
from clinometer.errors import InputError, ModelError, NoAnswerError, PlanError
from clinometer.models.opening import Connection, open_models
from clinometer.results.records import Journal
from clinometer.stimuli import load_study
from forking import Forked
from waiting import until

Serve = Callable[..., Any]
Clinometer = Callable[..., Forked]
MODEL = "openai-api/loop/m"
TABLES = ("responses", "scores", "words", "compliance", "estimates")


def ask(plan: Plan, directory: Path, budget: Budget | None = None, retries: int = 0) -> Outcome:
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=retries))
    return ask_models(plan.pieces, models, directory, budget or Budget())


def lines(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def tables(directory: Path) -> list[pl.DataFrame]:
    return [pl.read_parquet(directory / f"{name}.parquet") for name in TABLES]


def test_every_trial_is_asked_once_and_has_a_row(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    assert ask(plan, tmp_path / "r").complete
    tabulate(tmp_path / "r")
    assert sorted(server.prompts.values()) == [1] * 8
    assert set(server.prompts) == set(plan.trials()["prompt"])
    assert pl.read_parquet(tmp_path / "r" / "scores.parquet")["score"].is_not_null().all()


def test_a_finished_run_asks_nothing_more(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    ask(plan, tmp_path / "r")
    assert ask(plan, tmp_path / "r").complete
    assert server.prompts.total() == 8


def test_a_budget_stops_a_run_which_then_continues(
    plan: Plan, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    stopped = ask(plan, tmp_path / "r", Budget(max_calls=5))
    assert (stopped.answered, stopped.stopped_by) == (5, "--max-calls 5")
    assert not ask(plan, tmp_path / "r", Budget(max_calls=5)).complete
    assert ask(plan, tmp_path / "r", Budget(max_calls=8)).complete
    assert set(server.prompts.values()) == {1}
    ask(plan, tmp_path / "whole")
    for directory in ("r", "whole"):
        tabulate(tmp_path / directory)
    for broken, unbroken in zip(tables(tmp_path / "r"), tables(tmp_path / "whole"), strict=True):
        assert broken.equals(unbroken)


def test_without_an_answer_there_is_nothing_to_estimate(serve: Serve, tmp_path: Path) -> None:
    serve()
    studies = [load_study(name) for name in ("control_insects", "control_nonsense")]
    parts = [Selection(study, [*study.stereotypes], ["replication"]) for study in studies]
    none = ask(Plan(parts, [MODEL], iterations=2), tmp_path / "r", Budget(max_calls=0))
    assert (none.answered, none.stopped_by) == (0, "--max-calls 0")
    with pytest.raises(NoAnswerError, match="no trial has an answer; nothing was replaced"):
        tabulate(tmp_path / "r")


def test_a_killed_run_loses_nothing_and_asks_nothing_twice(
    serve: Serve, clinometer: Clinometer, tmp_path: Path
) -> None:
    server = serve(at_once=8)
    command = ("run", MODEL, "--iterations", "2", "--stereotypes", "age,power,career")
    command = (*command, "--max-connections", "4", "--out", "r")
    journal = tmp_path / "r" / "answers" / "openai-api-loop-m" / "00000.jsonl"
    process = clinometer(*command)
    until(lambda: server.prompts.total() == 12 and lines(journal) == 8, process)
    process.kill()
    process.communicate()
    server.go.set()
    answered_ids = {answer["trial_id"] for answer in Journal(tmp_path / "r", MODEL)}
    assert len(answered_ids) == 8
    calls_before = server.prompts.total()
    again = clinometer(*command)
    out, err = again.communicate()
    assert again.returncode == 0, err
    assert server.prompts.total() - calls_before == 24 - len(answered_ids)
    assert len(server.prompts) == 24  # none missing
    ask(load_any_plan(tmp_path / "r"), tmp_path / "whole")
    tabulate(tmp_path / "whole")
    for broken, unbroken in zip(tables(tmp_path / "r"), tables(tmp_path / "whole"), strict=True):
        assert broken.equals(unbroken)


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    serve: Serve, clinometer: Clinometer, tmp_path: Path
) -> None:
    serve(at_once=4)
    process = clinometer("run", MODEL, "--iterations", "8", "--max-connections", "4", "--out", "r")
    journal = tmp_path / "r" / "answers" / "openai-api-loop-m" / "00000.jsonl"
    until(lambda: lines(journal), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "repeat the command to continue" in err
    assert "Traceback" not in err


def test_errors_are_reported_per_trial_and_asked_again(
    plan: Plan, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    server.reply = lambda body: (
        (500, {"error": {"message": "boom"}})
        if "julia" in str(body) or "old" in str(body)
        else server.chat(body)
    )
    failed = ask(plan, tmp_path / "r")
    assert (failed.answered, failed.errors) == (4, 4)
    tabulate(tmp_path / "r")
    responses = pl.read_parquet(tmp_path / "r" / "responses.parquet")
    assert responses.height == 8
    assert responses.filter(pl.col("stereotype") == "age")["error"].str.contains("boom").all()
    scores = pl.read_parquet(tmp_path / "r" / "scores.parquet")
    assert scores["reason"].drop_nulls().to_list() == ["error"] * 4
    server.reply = lambda body: server.chat(body, "As I see it")
    assert ask(plan, tmp_path / "r").complete


def test_a_provider_that_is_busy_is_asked_again(
    plan: Plan, serve: Serve, impatient: None, tmp_path: Path
) -> None:
    server, busy = serve(), iter([True])
    server.reply = lambda body: (
        (429, {"error": {"message": "slow down"}}) if next(busy, False) else server.chat(body)
    )
    assert ask(plan, tmp_path / "r", retries=2).complete
    assert server.prompts.total() == 9


def test_a_model_that_only_fails_is_given_up(serve: Serve, tmp_path: Path) -> None:
    from clinometer.asking.plan import Selection
    from clinometer.stimuli import load_study

    server = serve(lambda body: (401, {"error": {"message": "wrong key"}}))
    selection = Selection(load_study("bai2025"), ["age", "power"], ["replication"])
    with pytest.raises(ModelError, match="wrong key"):
        ask(Plan([selection], [MODEL], iterations=50), tmp_path / "r")
    assert server.prompts.total() < 60


def test_one_model_that_fails_costs_only_itself(serve: Serve, tmp_path: Path, plan: Plan) -> None:
    server = serve()
    server.reply = lambda body: (
        (401, {"error": {"message": "wrong key"}}) if body["model"] == "bad" else server.chat(body)
    )
    outcome = ask(dataclasses.replace(plan, models=["openai-api/loop/bad", MODEL]), tmp_path / "r")
    assert (outcome.answered, outcome.complete, outcome.settled) == (8, False, True)
    assert list(outcome.failed) == ["openai-api/loop/bad"]
    tabulate(tmp_path / "r")
    scores = pl.read_parquet(tmp_path / "r" / "scores.parquet").filter(model=MODEL)
    assert scores["score"].is_not_null().sum() == 8


NOTHING = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@pytest.mark.parametrize("odd", [{"usage": NOTHING}, {"usage": None}, {"choices": []}])
def test_a_limit_of_tokens_holds_whatever_a_server_states(
    serve: Serve, tmp_path: Path, plan: Plan, odd: dict[str, Any]
) -> None:
    server = serve()
    server.reply = lambda body: (200, {**server.chat(body)[1], **odd})
    outcome = ask(plan, tmp_path / "r", Budget(max_tokens=300))
    assert outcome.stopped_by == "--max-tokens 300" and not outcome.complete
    assert 0 < server.prompts.total() < 8


def test_what_an_honest_server_states_is_what_counts(
    serve: Serve, tmp_path: Path, plan: Plan
) -> None:
    serve()  # it states 160 tokens a call
    budget = Budget(max_tokens=800)
    assert ask(plan, tmp_path / "r", budget).answered == 5
    assert budget.tokens == 800
    answers = [line for line in Journal(tmp_path / "r", MODEL).lines() if "error" not in line]
    assert not any("estimated_tokens" in line for line in answers)


def test_forced_mode_needs_log_probabilities(serve: Serve, tmp_path: Path, plan: Plan) -> None:
    server = serve()
    with pytest.raises(ModelError, match="gives no log-probabilities.*--mode structured"):
        ask(dataclasses.replace(plan, modes=["forced"]), tmp_path / "r")
    assert server.prompts.total() <= 10  # one call a trial, not one a word


def test_structured_mode_needs_schemas(serve: Serve, tmp_path: Path, plan: Plan) -> None:
    server = serve()
    structured = dataclasses.replace(plan, modes=["structured"], iterations=20)
    with pytest.raises(ModelError, match="does not close answers to a JSON schema.*--mode free"):
        ask(structured, tmp_path / "r")
    assert server.prompts.total() < structured.trials().height
    assert all("JSON schema" in line["error"] for line in Journal(tmp_path / "r", MODEL).lines())


def test_an_answer_that_ignores_a_schema_is_one_of_a_model_that_keeps_to_it(
    serve: Serve, tmp_path: Path, plan: Plan
) -> None:
    def reply(body: dict[str, Any]) -> Any:
        schema = body["response_format"]["json_schema"]["schema"]["properties"]
        return server.chat(
            body,
            json.dumps({name: field_schema["enum"][0] for name, field_schema in schema.items()}),
        )

    structured, server = dataclasses.replace(plan, modes=["structured"]), serve()
    server.reply = reply
    ask(structured, tmp_path / "r", Budget(max_calls=5))
    server.reply = lambda body: server.chat(body, "As I see it")
    assert ask(structured, tmp_path / "r").complete
    tabulate(tmp_path / "r")
    reasons = pl.read_parquet(tmp_path / "r" / "scores.parquet")["reason"].drop_nulls()
    assert reasons.to_list() == ["unparsed"] * 3


def test_a_provider_that_is_known_to_be_unable_is_not_asked(tmp_path: Path, plan: Plan) -> None:
    from clinometer.audits.auditing import ask as ask_trials

    trials = dataclasses.replace(plan, modes=["forced"]).trials()
    with pytest.raises(ModelError, match="^groq/m gives no log-probabilities"):
        ask_trials(trials, "groq/m", directory=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_two_processes_do_not_ask_the_same_trials(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    from clinometer.results.locks import only_process

    serve()
    claim(tmp_path / "r", plan)
    with only_process(tmp_path / "r"), pytest.raises(PlanError, match="another process"):
        ask(plan, tmp_path / "r")


def test_a_full_disk_stops_the_run_with_one_line(
    plan: Plan, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    server = serve()

    def full(journal: Journal, *answers: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(InputError, match="disk full; make room and repeat"):
        ask(plan, tmp_path / "r")
    assert server.prompts.total() <= 8


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("gpt-4o", "expected PROVIDER/NAME"),
        ("openia/gpt-4o", "did you mean openai"),
        ("openai/gpt-4o", "OPENAI_API_KEY"),
    ],
)
def test_a_model_that_cannot_be_opened_is_one_line(
    model: str, says: str, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match=says) as error:
        open_models([model], plan.generation, Connection())
    assert "\n" not in str(error.value) and "[bold]" not in str(error.value)


def test_progress_begins_where_the_last_run_ended(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    serve()
    ask(plan, tmp_path / "r", Budget(max_calls=5))
    counts: list[int] = []
    models = open_models(plan.models, plan.generation, Connection())
    ask_models(
        plan.pieces,
        models,
        tmp_path / "r",
        Budget(),
        on_progress=lambda model, answer: counts.append(answer.get("trials", 1)),
    )
    assert counts == [5, 1, 1, 1]


def test_what_is_missing_is_said_on_the_page_and_in_the_exit_code(
    plan: Plan, serve: Serve, clinometer: Clinometer, tmp_path: Path
) -> None:
    serve()
    assert ask(plan, tmp_path / "r").complete
    journal = Journal(tmp_path / "r", MODEL).folder / "00000.jsonl"
    original = journal.read_bytes()

    def report() -> tuple[int, str]:
        process = clinometer("report", "r")
        _, err = process.communicate()
        return process.returncode, err

    assert report() == (0, "")
    page = (tmp_path / "r" / "report.html").read_text()
    assert "trials have an answer" not in page
    journal.write_bytes(original[:-40])  # a line cut
    code, err = report()
    assert code == 3 and f"incomplete: {MODEL}: 7 of 8 trials have an answer" in err
    page = (tmp_path / "r" / "report.html").read_text()
    assert page.index("7 of 8 trials have an answer") < page.index("Contents")
    before = {path.name: path.read_bytes() for path in (tmp_path / "r").glob("*.*")}
    journal.write_bytes(original.replace(b"weak - ", b"weak: ", 1))  # a line changed
    code, err = report()
    assert code == 2 and "changed since it was written" in err and err.count("\n") == 1
    journal.unlink()  # all answers deleted
    code, err = report()
    assert code == 3 and "no trial has an answer; nothing was replaced" in err
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "r").glob("*.*")}


def test_answers_to_other_trials_are_not_counted(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    serve()
    ask(plan, tmp_path / "r")
    with contextlib.closing(Journal(tmp_path / "r", MODEL)) as journal:
        journal.append({"trial_id": "foreign", "response": "x"})
    outcome = ask(plan, tmp_path / "r")
    assert (outcome.answered, outcome.trials) == (8, 8)


def test_retries_and_failures_count_against_the_budget_in_every_session(
    plan: Plan, serve: Serve, impatient: None, tmp_path: Path
) -> None:
    server = serve()
    served = server.chat
    server.reply = lambda body: served(body) if server.prompts.total() % 2 == 0 else (500, b"no")
    stopped = ask(plan, tmp_path / "r", Budget(max_calls=6), retries=1)
    assert stopped.stopped_by == "--max-calls 6" and 6 <= server.prompts.total() <= 14
    used = server.prompts.total()
    ask(plan, tmp_path / "r", Budget(max_calls=used), retries=1)
    assert server.prompts.total() == used
    lines = list(Journal(tmp_path / "r", MODEL).lines())
    assert sum(line["calls"] + line.get("retries", 0) for line in lines) == used


@pytest.mark.parametrize("most", [1, 6, 9])
def test_no_more_requests_are_made_than_calls_are_allowed(
    plan: Plan, serve: Serve, impatient: None, tmp_path: Path, most: int
) -> None:
    """At a server that fails twice before each answer."""

    def reply(body: dict[str, Any]) -> Any:
        n_calls = server.prompts[body["messages"][-1]["content"]]
        return server.chat(body) if n_calls % 3 == 0 else (500, {"error": {"message": "busy"}})

    server = serve(reply)
    outcome = ask(plan, tmp_path / "r", Budget(max_calls=most), retries=5)
    assert server.prompts.total() == most
    assert outcome.stopped_by == f"--max-calls {most}" and not outcome.complete
    budget = Budget()
    assert ask(plan, tmp_path / "r", budget, retries=5).complete
    assert budget.calls == server.prompts.total()


def test_the_limit_of_dollars_holds_without_usage_and_with_many_at_once(
    plan: Plan, serve: Serve, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"{MODEL}: [1000, 1000]", encoding="utf-8")  # about a fifth of a dollar each

    def reply(body: dict[str, Any]) -> Any:
        status, payload = server.chat(body)
        return status, {**payload, "usage": None}

    server = serve(reply)
    budget = Budget(max_cost=0.5)
    claim(tmp_path / "r", plan)
    models = open_models(plan.models, plan.generation, Connection(max_connections=20))
    outcome = ask_models(plan.pieces, models, tmp_path / "r", budget, prices=prices)
    assert outcome.stopped_by == "--max-cost 0.5"
    assert 0.25 < budget.usd <= 0.5 and 1 < server.prompts.total() < 8


def test_prompt_tokens_in_a_cache_count(plan: Plan, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    cached = {"prompt_tokens_details": {"cached_tokens": 90}}

    def reply(body: dict[str, Any]) -> Any:
        status, answer = server.chat(body)
        return status, {**answer, "usage": {**answer["usage"], **cached}}

    server.reply = reply
    ask(plan, tmp_path / "r")
    lines = Journal(tmp_path / "r", MODEL).lines()
    assert {(line["input_tokens"], line["output_tokens"]) for line in lines} == {(100, 60)}


def test_one_answer_without_log_probabilities_costs_its_trial_alone(
    serve: Serve, tmp_path: Path
) -> None:
    part = Selection(load_study("bai2025"), ["age", "power"], ["replication"])
    plan = Plan([part], [MODEL], modes=("forced",), iterations=8)
    server = serve()
    listed = [{"token": w, "logprob": -1.0, "bytes": None} for w in ("old", "young", "karen")]
    logprobs = {"content": [{**listed[0], "top_logprobs": listed}], "refusal": None}

    def reply(body: dict[str, Any]) -> Any:
        lacks = "agony" in body["messages"][-1]["content"]
        return server.chat(body, **({} if lacks else {"logprobs": logprobs}))

    server.reply = reply
    outcome = ask(plan, tmp_path / "r")
    assert 0 < outcome.errors < outcome.answered
    tabulate(tmp_path / "r")
    responses = pl.read_parquet(tmp_path / "r" / "responses.parquet")
    errors = responses["error"].drop_nulls()
    assert len(errors) == outcome.errors and errors.str.contains("no log-probabilities").all()
    scores = pl.read_parquet(tmp_path / "r" / "scores.parquet")
    assert scores.filter(reason="error").height == outcome.errors
