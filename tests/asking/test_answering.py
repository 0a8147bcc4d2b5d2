"""Shards answered by models that inspect opens give the tables of an unbroken run."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    TopLogprob,
)
from polars.testing import assert_frame_equal

from clinometer.asking.answering import PART, Shard, ShardAnswerer, answer_side_by_side
from clinometer.asking.requests import inspect_settings, read_output, settings_of, write_output
from clinometer.audits.answering import Answering, answer_numbered, answer_shards
from clinometer.audits.sharding import collect_answers, shard_plan
from clinometer.audits.spending import Spending
from clinometer.errors import BudgetError, InputError, ModelError, PlanError
from clinometer.models.bodies import read_answer
from clinometer.models.opening import Connection
from clinometer.models.outputs import reasoning_text, tokens_in
from clinometer.results.locks import hold_if_free, only_process
from clinometer_measures.networks.association_plan import AssociationPlan
from sharded_plans import MODEL, SINGLE, answer, plan_of, reply, requests_in

ONCE = Answering(Connection(max_retries=0))


def canonical(body: dict[str, Any]) -> str:
    return json.dumps(body, sort_keys=True)


def same_tables(first: Path, second: Path) -> None:
    for name in ("scores", "estimates", "responses"):
        tables = [pl.read_parquet(folder / f"{name}.parquet") for folder in (first, second)]
        assert_frame_equal(*tables, check_row_order=name != "responses")


def write_shard(directory: Path, mode: str = "structured") -> Shard:
    (path,) = shard_plan(plan_of(mode, names=SINGLE), directory)
    return Shard(MODEL, path)


@pytest.mark.parametrize("mode", ["free", "structured", "forced"])
def test_answers_give_the_tables_of_an_unbroken_run(
    unbroken: Callable[..., Any], serve: Callable[..., Any], tmp_path: Path, mode: str
) -> None:
    run, bodies = unbroken(mode)
    shard_plan(plan_of(mode), tmp_path, 3)
    sent: list[dict[str, Any]] = []
    serve(lambda body: (sent.append(body), (200, reply(body)))[1])
    assert answer_shards(tmp_path, ONCE).collected[0].complete
    assert sorted(map(canonical, sent)) == sorted(map(canonical, bodies))
    same_tables(run, tmp_path)


@pytest.mark.parametrize("choices", [1, 4])
def test_cues_are_answered(serve: Callable[..., Any], tmp_path: Path, choices: int) -> None:
    server = serve(lambda body: (200, reply(body)))
    shard_plan(AssociationPlan([MODEL], ["sea", "bread"], repetitions=4), tmp_path, choices=choices)
    (collected,) = answer_shards(tmp_path, ONCE).collected
    assert collected.complete and sum(server.prompts.values()) == 8 / choices


def test_what_is_answered_is_not_asked_again(serve: Callable[..., Any], tmp_path: Path) -> None:
    sent: list[str] = []
    serve(lambda body: (sent.append(canonical(body)), (200, reply(body)))[1])
    shard = write_shard(tmp_path)
    requests = requests_in([shard.path])
    failed = {"custom_id": requests[1]["custom_id"], "response": None, "error": "busy"}
    part = shard.path.with_suffix(f".answers.jsonl{PART}")
    torn = answer(requests[2])[:99]
    part.write_text("\n".join([answer(requests[0]), json.dumps(failed), torn]))
    assert answer_side_by_side([(ShardAnswerer(MODEL, ONCE.connection), [shard, shard])]) == (0, [])
    assert sorted(sent) == sorted(canonical(request["body"]) for request in requests[1:])
    ((collected,), answers) = collect_answers(tmp_path)
    assert collected.complete and not part.exists() and not answers.broken


def test_no_request_is_asked_in_two_shards(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve(lambda body: (200, reply(body)))
    shard = write_shard(tmp_path / "r")
    first, *rest = requests_in([shard.path])
    (tmp_path / "answers.jsonl").write_text(answer(first))
    collect_answers(tmp_path / "r", [tmp_path / "answers.jsonl"])  # the others are in round 2, too
    assert answer_shards(tmp_path / "r", ONCE).collected[0].complete
    assert server.prompts.total() == len(rest)


def test_a_killed_process_loses_the_calls_under_way_alone(
    unbroken: Callable[..., Any],
    serve: Callable[..., Any],
    tmp_path: Path,
    clinometer: Callable[..., Any],
) -> None:
    run, _ = unbroken("forced")
    shard_plan(plan_of("forced"), tmp_path, 2)
    call_counts, lock = Counter[str](), threading.Lock()
    process: Any = None
    most = 4

    def stops(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with lock:
            call_counts[canonical(body)] += 1
            if call_counts.total() in kills:
                os.kill(process.pid, signal.SIGKILL)
        return 200, reply(body)

    serve(stops)
    kills = {30, 75}
    for _ in range(len(kills) + 1):
        process = clinometer("answer", str(tmp_path), "--max-connections", str(most))
        _, output = process.communicate()
    assert process.returncode == 0, output
    assert sum(number - 1 for number in call_counts.values()) <= most * len(kills)
    same_tables(run, tmp_path)


def test_a_shard_is_answered_by_one_process(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve(lambda body: (200, reply(body)))
    shard = write_shard(tmp_path)
    with hold_if_free(shard.path) as free:
        assert free and answer_side_by_side([(ShardAnswerer(MODEL, ONCE.connection), [shard])]) == (
            1,
            [],
        )
        done = answer_shards(tmp_path, ONCE)
    assert done.elsewhere == 1 and not done.collected[0].answered and not server.prompts


def test_tasks_of_an_array_answer_a_shard_each(serve: Callable[..., Any], tmp_path: Path) -> None:
    serve(lambda body: (200, reply(body)))
    files = shard_plan(plan_of("structured", 6, SINGLE), tmp_path, 2)
    with only_process(tmp_path):  # tasks run side by side
        for number, path in enumerate(files):
            counted = []
            answer_numbered(tmp_path, [number], ONCE, lambda n, c=counted: lambda: c.append(n))
            assert counted == [len(requests_in([path]))] * len(requests_in([path]))
    assert collect_answers(tmp_path)[0][0].complete
    with pytest.raises(InputError, match="shard 2: .* has 0 to 1"):
        answer_numbered(tmp_path, [2], ONCE)


def test_a_request_that_fails_is_asked_once_by_a_call(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    sent: list[str] = []

    def fails(body: dict[str, Any]) -> tuple[int, Any]:
        sent.append(canonical(body))
        return (400, {"error": {"message": "no"}}) if sent[0] == sent[-1] else (200, reply(body))

    serve(fails)
    shard = write_shard(tmp_path)
    for calls in (1, 2):
        done = answer_shards(tmp_path, ONCE)
        assert sent.count(sent[0]) == calls
    (collected,) = done.collected
    assert collected.expected - collected.answered == 1
    assert len(sent) == len(requests_in([shard.path])) + 1
    assert "no" in next(iter(done.answers.errors.values()))


def test_a_model_that_gives_nothing_but_errors_is_given_up(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    serve(lambda body: (400, {"error": {"message": "no such model"}}))
    shard_plan(plan_of("forced", names=SINGLE[:1]), tmp_path, 2)
    with pytest.raises(ModelError, match=r"the first 20 calls all failed.*no such model"):
        answer_shards(tmp_path, Answering(Connection(max_retries=0, max_connections=1)))
    serve(lambda body: (200, reply(body)))
    assert answer_shards(tmp_path, ONCE).collected[0].complete


def test_other_shards_are_refused(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve()
    shard = write_shard(tmp_path)
    shard.path.write_text(shard.path.read_text()[:-20])
    with pytest.raises(InputError, match=r"00000.jsonl: not a whole shard"):
        answer_shards(tmp_path, ONCE)
    with pytest.raises(InputError, match="no shards"):
        answer_shards(tmp_path / "nothing", ONCE)
    with only_process(tmp_path), pytest.raises(PlanError, match="another process"):
        answer_shards(tmp_path, ONCE)
    assert not server.prompts


def test_nothing_is_asked_that_costs_too_much(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve(lambda body: (200, reply(body)))
    write_shard(tmp_path)
    with pytest.raises(InputError, match="the price of 'openai-api/loop/m' is not known"):
        answer_shards(tmp_path, Answering(spending=Spending(1)))
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"{MODEL}: [1000, 1000]\n")
    with pytest.raises(BudgetError, match=r"would cost about \$"):
        answer_shards(tmp_path, Answering(spending=Spending(0.01, prices)))
    assert not server.prompts
    answer_shards(tmp_path, Answering(ONCE.connection, spending=Spending(1000, prices)))
    assert server.prompts


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "vllm/m"])
def test_settings_survive_the_way_through_a_body(model: str) -> None:
    config = GenerateConfig(
        temperature=0.3, top_p=0.9, max_tokens=7, seed=3, num_choices=2, logprobs=True,
        top_logprobs=5, stop_seqs=["."], reasoning_effort="low",
        response_schema={"name": "x", "json_schema": {"type": "object", "properties": {}}},
        extra_body={"structured_outputs": {"choice": ["a", "b"]}},
    )  # fmt: skip
    body = settings_of(model, config)
    assert GenerateConfig(**inspect_settings(model, body)) == config


@pytest.mark.parametrize("ended", ["stop", "max_tokens", "content_filter"])
def test_an_answer_survives_the_way_through_a_line(ended: Any) -> None:
    first = Logprob(token=" a", logprob=-0.5, top_logprobs=[TopLogprob(token=" a", logprob=-0.5)])
    parts = [ContentReasoning(reasoning="so"), ContentText(text="\n a \ud800")]
    output = ModelOutput(
        model="m-2025",
        choices=[
            ChatCompletionChoice(
                message=ChatMessageAssistant(content=content, model="m-2025", source="generate"),
                stop_reason=ended,
                logprobs=Logprobs(content=[first]),
            )
            for content in ("yes", parts)
        ],
        usage=ModelUsage(input_tokens=9, input_tokens_cache_read=4, output_tokens=5,
                         reasoning_tokens=3, total_tokens=18),
    )  # fmt: skip
    restored = read_output(read_answer(200, json.loads(json.dumps(write_output(output)))))
    assert (restored.model, restored.completion, restored.stop_reason) == ("m-2025", "yes", ended)
    second = restored.choices[1].message
    assert (second.text, reasoning_text(second.content)) == ("\n a ?", "so")
    assert (
        restored.choices[0].logprobs == restored.choices[1].logprobs == output.choices[0].logprobs
    )
    assert (
        tokens_in(restored.usage),
        restored.usage.output_tokens,
        restored.usage.reasoning_tokens,
    ) == (
        13,
        5,
        3,
    )
