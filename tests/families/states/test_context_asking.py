"""Sentences asked of a loopback server: checks, rounds, resuming, limits, errors."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.asking.budget import Budget
from clinometer.errors import InputError, ModelError, PlanError
from clinometer.models.opening import Connection
from clinometer.models.providers import PROVIDERS, Provider
from clinometer_measures.states import context_asking as contexts
from clinometer_measures.states.context_asking import (
    ContextOptions,
    Written,
    cost_of_contexts,
    make_contexts,
    shard_contexts,
)
from clinometer_measures.states.examples import senses_of
from forking import Forked
from waiting import until

Serve = Callable[..., Any]
Clinometer = Callable[..., Forked]
MODEL = "openai-api/loop/m"
REQUEST = re.compile(r'Write (\d+) English sentences? with "(.+?)"\.')
#: Letters, as a first word that is no word of the language would be a name.
PLACES = ("garden", "kitchen", "library", "station", "market", "village", "harbor", "office")


class Writer:
    """Writes sentences for a term, each another; some `spoilt` ones with every answer."""

    def __init__(self, spoilt: tuple[str, ...] = (), fewer: int = 0) -> None:
        self.spoilt, self.fewer = spoilt, fewer
        self.asked: list[tuple[str, int]] = []
        self.said: list[str] = []
        self.lock = threading.Lock()

    def sentences(self, term: str, count: int) -> list[str]:
        before = (
            sum(n_asked for earlier_term, n_asked in self.asked if earlier_term == term) - count
        )
        return [
            f"The {PLACES[n % 8]} and the {PLACES[n // 8]} were {term} in those days."
            for n in range(before, before + count)
        ]

    def __call__(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        prompt = body["messages"][-1]["content"]
        request = REQUEST.match(prompt)
        assert request is not None, prompt
        count, term = int(request[1]), request[2]
        with self.lock:
            self.said.append(prompt)
            self.asked.append((term, count))
            good = self.sentences(term, count)[: max(count - self.fewer, 1)]
        lines = [*(line.format(term=term) for line in self.spoilt), *good]
        text = "\n".join(f"{n}. {line}" for n, line in enumerate(lines, start=1))
        message = {"role": "assistant", "content": text}
        return 200, {
            "id": "loopback", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 60, "total_tokens": 160},
        }  # fmt: skip


TERMS = ("warm", "cold", "bright", "dull")


def make(
    out: Path, terms: tuple[str, ...] = TERMS, budget: Budget | None = None, **settings: Any
) -> Written:
    connection = Connection(max_retries=0, max_connections=4)
    options = ContextOptions(connection=connection, **settings)
    return make_contexts(MODEL, senses_of(terms), out, options=options, budget=budget)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def record(out: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(out.with_name(f"{out.name}.record.json").read_text())
    return facts


def test_every_sense_gets_its_sentences_in_one_call(serve: Serve, tmp_path: Path) -> None:
    writer = Writer()
    serve(writer)
    summary = make(tmp_path / "c.jsonl")
    assert (summary.sentences, summary.calls, summary.incomplete) == (20, 4, ())
    rows = lines(tmp_path / "c.jsonl")
    assert [row["term"] for row in rows] == list(TERMS)
    assert all(len(set(row["examples"])) == 5 for row in rows)
    assert {row["example_source"] for row in rows} == {MODEL}
    assert sorted(writer.asked) == sorted((term, 5) for term in TERMS)


def test_the_definition_is_in_the_prompt(serve: Serve, tmp_path: Path) -> None:
    writer = Writer()
    serve(writer)
    senses = pl.DataFrame(
        [("warm|warm.a.01", "warm", "warm.a.01", "friendly"),
         ("warm|warm.a.01", "warm", "warm.a.01", "of another dimension")],
        schema=["key", "term", "synset", "definition"], orient="row",
    )  # fmt: skip
    make_contexts(MODEL, senses, tmp_path / "c.jsonl")
    assert len(writer.said) == 1 and 'Here "warm" means: friendly.' in writer.said[0]
    assert lines(tmp_path / "c.jsonl")[0]["synset"] == "warm.a.01"


def test_what_fails_is_counted_and_asked_for_again(serve: Serve, tmp_path: Path) -> None:
    writer = Writer(spoilt=("He was {term} to them all.", "They were {term} and"), fewer=2)
    serve(writer)
    summary = make(tmp_path / "c.jsonl", ("warm",))
    assert [count for _, count in writer.asked] == [5, 2, 1]
    assert writer.said[1].count("\n- The ") == 3  # those it has
    assert (summary.sentences, summary.incomplete) == (5, ())
    assert summary.rejected == {"gendered": 3, "unfinished": 3} == record(
        tmp_path / "c.jsonl"
    )["rejected"]  # fmt: skip


def test_a_sense_that_stays_incomplete_is_named_and_more_rounds_may_be_asked_for(
    serve: Serve, tmp_path: Path
) -> None:
    writer, out = Writer(fewer=4), tmp_path / "c.jsonl"
    serve(writer)
    summary = make(out, ("warm", "cold"), rounds=2)
    assert (summary.incomplete, summary.finished) == (("warm", "cold"), True)
    assert record(out)["incomplete_senses"] == ["warm", "cold"]
    assert [len(row["examples"]) for row in lines(out)] == [2, 2]
    assert make(out, ("warm", "cold"), rounds=2).calls == 0
    assert make(out, ("warm", "cold"), rounds=9).sentences == 10


def test_a_finished_file_is_not_asked_for_again(serve: Serve, tmp_path: Path) -> None:
    writer, out = Writer(), tmp_path / "c.jsonl"
    serve(writer)
    make(out)
    before = out.read_bytes()
    assert make(out).calls == 0 and out.read_bytes() == before
    assert record(out)["calls"] == 4 and record(out)["output_tokens"] == 240
    assert make(out, per_sense=7).sentences == 28  # two more of each
    assert Counter(count for _, count in writer.asked) == {5: 4, 2: 4}


def test_another_plan_or_file_is_refused(serve: Serve, tmp_path: Path) -> None:
    serve(Writer())
    out = tmp_path / "c.jsonl"
    make(out, ("warm",))
    with pytest.raises(PlanError, match="holds another plan: senses_hash is .*; seed is 0 there"):
        make(out, ("cold",), seed=1)
    (tmp_path / "mine.jsonl").write_text("{}")
    with pytest.raises(PlanError, match="a file that was not made by this command"):
        make(tmp_path / "mine.jsonl")
    with pytest.raises(InputError, match="must end in .jsonl"):
        make(tmp_path / "c.csv")
    (tmp_path / "c.jsonl.record.json").write_text("[]")
    with pytest.raises(PlanError, match="c.jsonl.record.json: not a plan"):
        make(out, ("warm",))


def test_limits_stop_and_the_same_call_goes_on(serve: Serve, tmp_path: Path) -> None:
    writer, out = Writer(), tmp_path / "c.jsonl"
    serve(writer)
    stopped = make(out, budget=Budget(max_calls=3))
    assert (stopped.calls, stopped.stopped_by) == (3, "--max-calls 3")
    assert not stopped.finished and not out.exists()
    assert make(out, budget=Budget(max_calls=3)).calls == 0
    assert make(out, budget=Budget(max_tokens=100)).stopped_by == "--max-tokens 100"
    assert make(out).sentences == 20 and len(writer.asked) == 4


def test_a_call_that_fails_is_repeated_in_the_next_round(serve: Serve, tmp_path: Path) -> None:
    writer, failed = Writer(), []

    def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if "cold" in body["messages"][-1]["content"] and not failed:
            failed.append(body)
            return 401, {"error": {"message": "boom"}}
        return writer(body)

    serve(reply)
    summary = make(tmp_path / "c.jsonl")
    assert (summary.errors, summary.calls, summary.sentences) == (1, 5, 20)
    assert "boom" in str(summary.last_error)


def test_a_wrong_key_costs_one_call(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda body: (401, {"error": {"message": "wrong key"}}))
    with pytest.raises(ModelError, match="the first call failed: .*wrong key"):
        make(tmp_path / "c.jsonl")
    assert server.prompts.total() == 1


def test_a_model_that_is_gone_is_given_up(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "PATIENCE", (1, 3))
    writer, out = Writer(), tmp_path / "c.jsonl"
    serve(lambda body: (503, {"error": {"message": "gone"}}) if writer.asked else writer(body))
    with pytest.raises(ModelError, match="3 calls in a row failed: .*gone .*; repeat"):
        make(out)
    assert record(out)["sentences"] == 5 and not out.exists()


def test_a_full_disk_stops_with_one_line(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(journal: object, *answers: object) -> None:
        raise OSError(28, "No space left on device")

    serve(Writer())
    monkeypatch.setattr("clinometer.results.records.Journal.append", full)
    with pytest.raises(InputError, match="disk full; make room and repeat"):
        make(tmp_path / "c.jsonl")


def test_local_models_get_a_seed_for_each_call(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROVIDERS, "openai-api", Provider(seeded=True))
    seeds: list[Any] = []
    writer = Writer(fewer=1)
    serve(lambda body: (seeds.append(body.get("seed")), writer(body))[1])
    make(tmp_path / "c.jsonl", ("warm", "cold"))
    make(tmp_path / "d.jsonl", ("warm", "cold"))
    assert len(seeds) == 8 and None not in seeds and len(set(seeds)) == 4


def test_a_killed_run_asks_nothing_twice(
    serve: Serve, clinometer: Clinometer, tmp_path: Path
) -> None:
    writer = Writer()
    server = serve(writer, at_once=6)
    terms = [f"warm {place}-{second}" for place in PLACES[:2] for second in PLACES]
    rows = "".join(f"Warmth,{term},{('high', 'low')[n % 2]}\n" for n, term in enumerate(terms))
    (tmp_path / "d.csv").write_text(f"dimension,term,direction\n{rows}")
    command = ("profile", "contexts", MODEL, "--dictionary", "d.csv", "--out", "c.jsonl")
    command = (*command, "--max-connections", "2")
    journal = tmp_path / "c.jsonl.answers" / "answers" / "openai-api-loop-m" / "00000.jsonl"
    process = clinometer(*command)
    all_saved = lambda: journal.exists() and len(lines(journal)) == 6  # noqa: E731
    until(lambda: server.prompts.total() == 8 and all_saved(), process)
    process.kill()
    process.communicate()
    server.go.set()
    until(lambda: len(writer.asked) == 8)  # the server ends what it had begun
    n_kept, n_asked = len(lines(journal)), len(writer.asked)
    assert (n_kept, n_asked) == (6, 8)
    journal.write_bytes(journal.read_bytes()[:-9])  # a torn line
    summary = make(tmp_path / "c.jsonl", tuple(terms))
    assert summary.sentences == 80 and summary.calls == len(writer.asked) - n_asked
    assert summary.calls == 16 - n_kept + 1
    assert [row["term"] for row in lines(tmp_path / "c.jsonl")] == terms


def test_the_cost_is_that_of_one_round(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(f"{MODEL}: [1, 2]", encoding="utf-8")
    cost = cost_of_contexts(MODEL, senses_of(TERMS), ContextOptions(), tmp_path / "prices.yaml")
    assert (cost.trials, cost.calls, cost.output_tokens) == (20, 4, 600)
    assert 600 < cost.input_tokens < 1200
    assert cost.usd == (cost.input_tokens + 2 * cost.output_tokens) / 1e6


@pytest.mark.parametrize("name", ["per_sense", "rounds"])
def test_asking_for_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} 0: at least 1"):
        ContextOptions(**{name: 0})


def test_shards_give_the_sentences_of_an_unbroken_run(serve: Serve, tmp_path: Path) -> None:
    """Two of five sentences fail the checks, so that every sense takes several rounds."""
    options = ContextOptions(rounds=4, connection=Connection(max_retries=0))
    serve(Writer(spoilt=("He was {term}.",), fewer=2))
    make(tmp_path / "run.jsonl", rounds=4)
    writer, out = Writer(spoilt=("He was {term}.",), fewer=2), tmp_path / "shards.jsonl"
    for turn in range(6):
        summary, files = shard_contexts(MODEL, senses_of(TERMS), out, 2, options=options)
        if summary.finished:
            break
        assert files and not out.exists() and (turn or not summary.sentences)
        for path in files:
            answered = []
            for line in path.read_text().splitlines():
                request = json.loads(line)
                response = {"status_code": 200, "body": writer(request["body"])[1]}
                answered.append({"custom_id": request["custom_id"], "response": response})
            text = "\n".join(map(json.dumps, answered))
            path.with_suffix(".answers.jsonl").write_text(text)
    assert summary.finished and turn >= 2
    assert lines(out) == lines(tmp_path / "run.jsonl")
    records = [record(path) for path in (out, tmp_path / "run.jsonl")]
    assert (
        records[0]["calls"] == records[1]["calls"]
        and records[0]["rejected"] == records[1]["rejected"]
    )
