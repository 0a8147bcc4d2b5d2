"""Requests in files, answered in any order, twice or broken, give the tables of an unbroken run."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.requests import Request
from clinometer.asking.shards import Answers, collect, write_setting
from clinometer.audits.sharding import collect_answers, shard_plan
from clinometer.errors import InputError, ModelError
from clinometer.models.opening import Connection
from clinometer.results.records import Journal
from clinometer_measures.networks.associating import associate, open_associating
from clinometer_measures.networks.association_plan import AssociationPlan
from sharded_plans import MODEL, SINGLE, answer, plan_of, reply, requests_in


@pytest.mark.parametrize("mode", ["free", "structured", "forced"])
def test_shards_give_the_tables_of_an_unbroken_run(
    unbroken: Callable[..., Any], tmp_path: Path, mode: str
) -> None:
    plan, shard_folder = plan_of(mode), tmp_path / "shards"
    run_folder, bodies = unbroken(mode)
    files, sent = shard_plan(plan, shard_folder, 3), []
    assert 1 < len(files) <= 3
    for _ in range(3):  # first turns, second turns, nothing
        requests = requests_in(files)
        sent += [json.dumps(request["body"], sort_keys=True) for request in requests]
        lines = [answer(request) for request in requests]
        random.Random(0).shuffle(lines)
        broken = ["{", '{"custom_id": 3}', "null", lines[0][:40]]
        (tmp_path / "answers.jsonl").write_text("\n".join([*broken, *lines, *lines[:5]]))
        for path in files:  # answers beside their shards are read, too
            path.with_suffix(".answers.jsonl").write_text(f"{answer(requests_in([path])[0])}\n")
        (collected,), answers = collect_answers(shard_folder, [tmp_path / "answers.jsonl"])
        assert answers.broken == len(broken) and answers.repeated >= 5 and not answers.foreign
        if collected.complete:
            break
        files = collected.files
    assert collected.complete and collected.answered == plan.trials().height
    assert sorted(sent) == sorted(json.dumps(body, sort_keys=True) for body in bodies)
    for name in ("scores", "estimates"):
        tables = [
            pl.read_parquet(folder / f"{name}.parquet") for folder in (run_folder, shard_folder)
        ]
        assert_frame_equal(*tables)
    responses = [
        pl.read_parquet(folder / "responses.parquet") for folder in (run_folder, shard_folder)
    ]
    assert_frame_equal(*responses, check_row_order=False)


def test_a_shard_follows_from_the_trial_alone(tmp_path: Path) -> None:
    plan, more = plan_of("forced"), plan_of("forced", iterations=4)
    assignments = [
        {request["custom_id"]: path.name for path in files for request in requests_in([path])}
        for files in (shard_plan(plan, tmp_path / "a", 4), shard_plan(more, tmp_path / "b", 4))
    ]
    assert assignments[0].items() <= assignments[1].items()


def test_collecting_twice_records_nothing_twice(tmp_path: Path) -> None:
    files = shard_plan(plan_of("structured", names=SINGLE), tmp_path, 2)
    for path in files:
        lines = [answer(request) for request in requests_in([path])]
        path.with_suffix(".answers.jsonl").write_text("\n".join(lines))
    collect_answers(tmp_path)
    first = list(Journal(tmp_path, MODEL).lines())
    (collected,), _ = collect_answers(tmp_path)
    assert collected.complete and not collected.files
    assert list(Journal(tmp_path, MODEL).lines()) == first


def test_what_is_not_answered_is_asked_again_and_what_runs_is_waited_for(tmp_path: Path) -> None:
    first, second = shard_plan(plan_of("structured", 6, SINGLE), tmp_path, 2)
    requests = requests_in([first])
    failed = {"custom_id": requests[0]["custom_id"], "response": None, "error": {"message": "busy"}}
    lines = [json.dumps(failed), *map(answer, requests[1:-1])]  # one failed, one never came
    first.with_suffix(".answers.jsonl").write_text("\n".join(lines))
    (collected,), answers = collect_answers(tmp_path)
    assert (collected.next_round, collected.waiting) == (2, len(requests_in([second])))
    assert list(answers.errors.values()) == ["failed: busy"]
    new = [path for path in collected.files if path != second]
    assert {request["custom_id"] for request in requests_in(new)} == {
        requests[0]["custom_id"], requests[-1]["custom_id"],
    }  # fmt: skip
    collect_answers(tmp_path)
    errors = [line for line in Journal(tmp_path, MODEL).lines() if line.get("error")]
    assert len(errors) == 1


def test_what_a_killed_process_left_of_a_round_is_not_used(tmp_path: Path) -> None:
    (path,) = shard_plan(plan_of("structured", names=SINGLE), tmp_path)
    path.with_suffix(".answers.jsonl").write_text(answer(requests_in([path])[0]))
    part = tmp_path / "shards" / "2.part" / path.relative_to(tmp_path / "shards" / "1")
    part.parent.mkdir(parents=True)
    part.write_text(path.read_text()[:500])
    (collected,), _ = collect_answers(tmp_path)
    assert len(requests_in(collected.files)) == collected.next_round


def test_answers_of_other_plans_are_not_used(tmp_path: Path) -> None:
    shard_plan(plan_of("structured"), tmp_path / "a", 1)
    foreign_requests = requests_in(shard_plan(plan_of("forced"), tmp_path / "b", 1))
    (tmp_path / "answers.jsonl").write_text("\n".join(map(answer, foreign_requests)))
    (collected,), answers = collect_answers(tmp_path / "a", [tmp_path / "answers.jsonl"])
    assert collected.answered == 0 and len(answers.foreign) == len(foreign_requests)


@pytest.mark.parametrize("choices", [1, 4])
def test_cues_in_shards_give_the_answers_of_an_unbroken_run(
    serve: Callable[..., Any], tmp_path: Path, choices: int
) -> None:
    plan = AssociationPlan([MODEL], ["sea", "null", "bread"], repetitions=6)
    bodies: list[dict[str, Any]] = []
    serve(lambda body: (bodies.append(body), (200, reply(body)))[1])
    claim(tmp_path / "run", plan)
    opened = open_associating(plan, Connection(max_retries=0))
    associate(plan, opened, tmp_path / "run", Budget(), choices=choices)
    files = shard_plan(plan, tmp_path / "shards", 2, choices=choices)
    for path in files:
        lines = [answer(request) for request in requests_in([path])]
        path.with_suffix(".answers.jsonl").write_text("\n".join(lines))
    sent = [json.dumps(request["body"], sort_keys=True) for request in requests_in(files)]
    (collected,), _ = collect_answers(tmp_path / "shards")
    assert collected.complete and collected.expected == 18
    assert sorted(sent) == sorted(json.dumps(body, sort_keys=True) for body in bodies)
    lines = [
        sorted(
            (line["cue"], line["repetition"], line["responses"])
            for line in Journal(tmp_path / name, MODEL).lines()
        )
        for name in ("run", "shards")
    ]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("damage", ["", "{", "[1]\n", '{"a": 1}\n'])
def test_a_damaged_shard_is_named_and_one_that_was_removed_is_written_anew(
    tmp_path: Path, damage: str
) -> None:
    files = shard_plan(plan_of("structured", 6, SINGLE), tmp_path, 2)
    lost = requests_in(files[:1])
    files[0].write_text(files[0].read_text()[:-20] if not damage else damage)
    with pytest.raises(InputError, match="00000.jsonl: not a whole shard"):
        collect_answers(tmp_path)
    files[0].unlink()
    (collected,), _ = collect_answers(tmp_path)
    new = requests_in(path for path in collected.files if path.parent.parent.name == "2")
    assert new == lost


def test_a_mode_that_the_provider_cannot_do_has_no_shards(tmp_path: Path) -> None:
    plan = dataclasses.replace(plan_of("forced", names=SINGLE), models=["mistral/m"])
    with pytest.raises(ModelError, match="^mistral/m gives no log-probabilities.*--mode struc"):
        shard_plan(plan, tmp_path / "r")
    assert not (tmp_path / "r").exists()


class Questions:
    """Of a model that has nothing left to ask, or whose answers are useless."""

    expected = answered = 1

    def __init__(self, model: str, error: str = "") -> None:
        self.model = model
        self.error = error

    def unanswered(self, answers: Answers) -> Iterator[Request]:
        if self.error:
            raise ModelError(self.error)
        yield from ()


def test_a_model_whose_answers_are_useless_costs_only_itself(tmp_path: Path) -> None:
    write_setting(tmp_path, {"shards": 1})
    rows, _ = collect(tmp_path, [Questions("a/m", "no log-probabilities"), Questions("b/m")])
    assert [row.failure for row in rows] == ["no log-probabilities", None]
    assert [row.complete for row in rows] == [False, True]
    with pytest.raises(ModelError, match="no log-probabilities"):
        collect(tmp_path, [Questions("a/m", "no log-probabilities")])


def test_lines_that_are_not_used_are_named_by_file_and_line(tmp_path: Path) -> None:
    failed = json.dumps({"custom_id": "a", "result": {"type": "expired"}})
    gemini = {"candidates": [{"content": {"parts": [{"text": "yes"}]}}]}
    gemini_line = json.dumps({"key": "b", "response": gemini})
    path = tmp_path / "a.jsonl"
    path.write_text(f"{failed}\n\n{{\n{gemini_line}\n")
    answers = Answers([path])
    assert (answers.broken, answers.first_broken) == (1, f"{path}:3: not JSON")
    assert answers.errors == {"a": "failed: expired"}
    assert answers.error_places == {"a": f"{path}:1"}
    assert "b" in answers and answers.interfaces == {"Google's Gemini": 1}


def test_tokens_of_collected_answers_count_as_those_of_a_run(tmp_path: Path) -> None:
    files = shard_plan(plan_of("structured", names=SINGLE), tmp_path, 1)
    lines = [json.loads(answer(request)) for request in requests_in(files)]
    for line in lines:
        line["response"]["body"]["usage"] = {"prompt_tokens": 0, "completion_tokens": 0}
    files[0].with_suffix(".answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    collect_answers(tmp_path)
    assert all(min(line["estimated_tokens"]) > 0 for line in Journal(tmp_path, MODEL).lines())
