"""Shards asked as batches: nothing is paid twice and nothing lost, wherever a process ends."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from batch_service import BatchService
from clinometer.asking import batches
from clinometer.asking.batches import Batches
from clinometer.asking.plan import Plan
from clinometer.audits import batching, sharding
from clinometer.audits.batching import Submission, submit_shards
from clinometer.audits.sharding import collect_answers, shard_plan
from clinometer.audits.spending import Spending
from clinometer.audits.tabulating import tabulate
from clinometer.errors import BudgetError, InputError, ModelError, PlanError
from clinometer.models import batch_files
from clinometer.results.locks import only_process
from clinometer.results.records import Journal
from sharded_plans import SINGLE, answer, asked_in_one_go, plan_of, reply, requests_in
from waiting import until

MODEL = "openai-api/loop/m"
KEY = "sk-loop-0123456789"
QUICK = Submission(poll_s=0.01)

#: The plan of each directory.
PLANS: dict[Path, Plan] = {}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchService]:
    """Serve batches to ``openai-api/loop``; nobody waits long."""
    batch_service = BatchService(reply)
    monkeypatch.setenv("LOOP_BASE_URL", batch_service.url)
    monkeypatch.setenv("LOOP_API_KEY", KEY)
    monkeypatch.setattr(batch_files, "FIRST_S", 0.001)
    monkeypatch.setattr(batches, "SETTLE_S", 0.01)
    monkeypatch.setattr(batching, "load_any_plan", PLANS.__getitem__)  # reading takes longest
    monkeypatch.setattr(sharding, "tabulate", lambda directory: None)
    monkeypatch.setattr(batching, "BatchFiles", cache(batch_files.BatchFiles))
    yield batch_service
    batch_service.close()


def write(plan: Plan, directory: Path, shards: int = 1) -> list[Path]:
    PLANS[directory] = plan
    return shard_plan(plan, directory, shards)


@pytest.fixture
def messages() -> list[str]:
    return []


def two_turns(iterations: int = 2) -> Plan:
    return plan_of("structured", iterations, ("affective_attribution", "word_association"))


def single_turn_plan(iterations: int = 2) -> Plan:
    return plan_of("structured", iterations, SINGLE[:1])


def journal(directory: Path) -> list[dict[str, Any]]:
    lines = (directory / "shards" / "batches.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def paid_once(service: BatchService) -> bool:
    return set(service.paid.values()) == {1}


def recorded_once(directory: Path, plan: Plan) -> bool:
    trials = [
        line["trial_id"] for line in Journal(directory, MODEL).lines() if not line.get("error")
    ]
    return sorted(trials) == sorted(plan.trials()["trial_id"])


def fail_times(count: int, fault: Any, method: str, path: str) -> Callable[[str, str], Any]:
    """Make a fault of the first calls whose path begins as this does."""
    countdown = itertools.count(count, -1)
    return lambda m, p: (
        fault if m == method and p.startswith(path) and next(countdown) > 0 else None
    )


def test_batches_give_the_tables_of_an_unbroken_run(
    service: BatchService, serve: Callable[..., Any], tmp_path: Path, messages: list[str]
) -> None:
    plan, run_folder, batch_folder = two_turns(), tmp_path / "run", tmp_path / "batches"
    write(plan, batch_folder, 2)
    done = submit_shards(batch_folder, QUICK, messages.append)
    bodies = asked_in_one_go(plan, serve, run_folder)
    assert done.complete and not done.running and paid_once(service)
    assert len(service.paid) == len(bodies)
    assert any("shards/2/" in line for line in messages)  # second turns
    tabulate(batch_folder)
    for name in ("scores", "estimates"):
        tables = [
            pl.read_parquet(folder / f"{name}.parquet") for folder in (run_folder, batch_folder)
        ]
        assert_frame_equal(*tables)


def test_a_batch_that_is_created_is_in_the_journal_first(
    service: BatchService, tmp_path: Path
) -> None:
    (path,) = write(single_turn_plan(), tmp_path)
    submit_shards(tmp_path, QUICK, print)
    creating, created, ended = journal(tmp_path)
    (batch,) = service.batches.values()
    assert [entry["event"] for entry in (creating, created, ended)] == [
        "creating",
        "created",
        "ended",
    ]
    assert creating["shard"] == path.relative_to(tmp_path).as_posix()
    assert batch["metadata"]["clinometer"] == creating["name"] == created["name"] == ended["name"]
    assert batch["input_file_id"] == creating["file"] and created["batch"] == batch["id"]
    assert KEY not in "".join(p.read_text() for p in tmp_path.rglob("*.json*"))


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def kill_at_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Make a function that kills after the n-th step from now."""
    countdown = [0]

    def step() -> None:
        countdown[0] -= 1
        if countdown[0] == 0:
            raise Killed

    def wrap(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def stepped(*arguments: Any, **options: Any) -> Any:
            outcome = original(*arguments, **options)
            step()
            return outcome

        monkeypatch.setattr(owner, name, stepped)

    for name in ("upload", "create", "find", "retrieve", "download"):
        wrap(batch_files.BatchFiles, name)
    wrap(Batches, "_note")
    wrap(batches, "write_bytes")
    wrap(batching, "collect_and_tabulate")
    return partial(countdown.__setitem__, 0)


def run_to_end(directory: Path) -> bool:
    """Submit; return whether the process was not killed."""
    try:
        return submit_shards(directory, QUICK, lambda line: None).complete
    except Killed:
        return False


def test_a_process_that_is_killed_at_any_step_pays_nothing_twice(
    service: BatchService, tmp_path: Path, kill_at_step: Callable[[int], None]
) -> None:
    """Killed at each step of a first run, once, and again soon after each restart."""
    plan = two_turns()
    for number in itertools.count(1):
        service.paid.clear()
        directory = tmp_path / str(number)
        write(plan, directory)
        kill_at_step(number)
        is_complete = run_to_end(directory)
        for again in (2, 4, 0):
            kill_at_step(again)
            if not is_complete and run_to_end(directory):
                break
        assert paid_once(service), f"killed at step {number}"
        assert recorded_once(directory, plan), f"killed at step {number}"
        if is_complete:
            break
    assert number > 17  # two rounds


#: Calls `submit_shards` in a new process for each line of standard input; the modules are imported
#: once. Prints the process's id, and its exit code.
FORKING = """
import functools, os, sys
from pathlib import Path
from clinometer.asking import batches
from clinometer.audits import batching, sharding
from clinometer.models import batch_files
batches.SETTLE_S, batch_files.FIRST_S = 0.01, 0.01
sharding.tabulate = lambda directory: None
batching.load_any_plan = functools.cache(batching.load_any_plan)
os.environ.update(LOOP_BASE_URL="http://127.0.0.1:9/v1", LOOP_API_KEY="none")
batch_files.BatchFiles("openai-api/loop/m")  # imports the rest
print("ready", flush=True)
for line in sys.stdin:
    os.environ["LOOP_BASE_URL"], directory = line.split()
    directory = Path(directory)
    batching.load_any_plan(directory)
    child = os.fork()
    if not child:
        quick = batching.Submission(poll_s=0.02)
        done = batching.submit_shards(directory, quick, lambda line: None)
        os._exit(0 if done.complete else 1)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def forking() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", FORKING]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        yield process


@pytest.fixture
def submitted(service: BatchService, forking: Any) -> Callable[[Path], Any]:
    """Start a process that submits a directory: gives its id, and a function that waits for it."""

    def start(directory: Path) -> tuple[int, Callable[[], int]]:
        forking.stdin.write(f"{service.url} {directory}\n")
        forking.stdin.flush()
        child = int(forking.stdout.readline())
        return child, lambda: int(forking.stdout.readline())

    return start


def kill_at_a_call(service: BatchService, rng: random.Random, most: int) -> Future[int]:
    """Kill a process, which is yet to be named, at one of its first calls or soon after it."""
    child: Future[int] = Future()

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.kill(child.result(), signal.SIGKILL)

    killing = rng.choice([kill, threading.Timer(rng.uniform(0, 0.05), kill).start])
    countdown = itertools.count(rng.randrange(most), -1)
    service.faults = lambda method, path: killing if next(countdown) == 0 else None
    return child


def test_twenty_kills_at_random_pay_nothing_twice(
    service: BatchService, tmp_path: Path, submitted: Callable[..., Any]
) -> None:
    plan, rng = two_turns(4), random.Random(0)
    service.looks = 3
    kills = rounds = 0
    while kills < 20:
        rounds += 1
        directory = tmp_path / str(rounds)
        write(plan, directory, 3)
        for most in itertools.count(5, 5):  # so that every directory is finished
            killed = kill_at_a_call(service, rng, most)
            child, wait = submitted(directory)
            killed.set_result(child)
            code = wait()
            until(lambda: not service.connections)
            if code == 0:
                break
            assert code == -signal.SIGKILL
            kills += 1
        assert recorded_once(directory, plan)
        assert paid_once(service)
        service.paid.clear()


@pytest.mark.parametrize("late", [False, True])
def test_a_batch_is_paid_once_if_its_client_dies_while_it_is_created(
    service: BatchService,
    tmp_path: Path,
    submitted: Callable[..., Any],
    late: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`late`: the service creates it when the next process has looked for it already."""
    plan = single_turn_plan()
    write(plan, tmp_path)
    children: list[int] = []

    def kill() -> None:
        os.kill(children[0], signal.SIGKILL)
        until(lambda: not late or service.calls["GET /batches"])

    service.faults = fail_times(1, kill, "POST", "/batches")
    child, wait = submitted(tmp_path)
    children.append(child)
    assert wait() == -signal.SIGKILL
    assert [entry["event"] for entry in journal(tmp_path)] == ["creating"]
    monkeypatch.setattr(batches, "SETTLE_S", 3600)
    monkeypatch.setattr(batches.time, "sleep", lambda seconds: until(lambda: service.batches))
    assert submit_shards(tmp_path, QUICK, print).complete
    assert len(service.batches) == 1 and paid_once(service) and recorded_once(tmp_path, plan)


@pytest.mark.parametrize("fault", ["drop", "lose", 500, 503, 429])
def test_a_batch_whose_creation_gave_no_answer_is_created_once(
    service: BatchService, tmp_path: Path, fault: str | int
) -> None:
    write(single_turn_plan(), tmp_path)
    service.faults = fail_times(1, fault, "POST", "/batches")
    assert submit_shards(tmp_path, QUICK, print).complete
    assert len(service.batches) == 1 and paid_once(service)


def test_a_batch_is_found_on_a_later_page(
    service: BatchService, tmp_path: Path, kill_at_step: Callable[[int], None]
) -> None:
    write(single_turn_plan(), tmp_path)
    kill_at_step(4)  # created, not noted
    assert not run_to_end(tmp_path) and len(service.batches) == 1
    for number in range(1, 6):
        service.batches[f"batch-{number}"] = {
            **service.batches["batch-0"], "id": f"batch-{number}", "input_file_id": "file-other",
            "metadata": None,
        }  # fmt: skip
    assert run_to_end(tmp_path)
    assert service.calls["GET /batches"] == 3 and service.calls["POST /batches"] == 1


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_was_answered_of_a_batch_is_kept(
    service: BatchService, tmp_path: Path, messages: list[str], end: str
) -> None:
    plan = single_turn_plan(60)
    write(plan, tmp_path)
    ends = iter([(end, 0.1), ("completed", 1.0)])
    service.ends = lambda batch: next(ends)
    done = submit_shards(tmp_path, QUICK, messages.append)
    if end == "cancelled":  # whoever cancels a batch does not want the next one at once
        assert not done.complete and len(service.batches) == 1
        done = submit_shards(tmp_path, QUICK, messages.append)
    assert done.complete and paid_once(service) and recorded_once(tmp_path, plan)


def test_a_batch_that_gave_nothing_is_not_submitted_again_by_this_process(
    service: BatchService, tmp_path: Path, messages: list[str]
) -> None:
    write(single_turn_plan(), tmp_path)
    ends = iter([("failed", 0.0), ("expired", 0.0), ("completed", 1.0)])
    service.ends = lambda batch: next(ends)
    assert not submit_shards(tmp_path, QUICK, messages.append).complete
    assert "failed: line 1 is invalid, nothing is paid" in messages[-1]
    assert not submit_shards(tmp_path, QUICK, messages.append).complete
    assert submit_shards(tmp_path, QUICK, messages.append).complete and paid_once(service)
    names = [entry["name"] for entry in journal(tmp_path) if entry["event"] == "creating"]
    assert len(set(names)) == 3


def test_a_batch_refused_for_the_queue_is_submitted_when_another_has_ended(
    service: BatchService, tmp_path: Path
) -> None:
    assert len(write(single_turn_plan(6), tmp_path, 2)) == 2

    def ends(batch: dict[str, Any]) -> tuple[str, float]:
        batch["code"] = "token_limit_exceeded"
        return ("failed" if len(service.batches) == 1 else "completed"), 1.0

    service.ends = ends
    assert submit_shards(tmp_path, QUICK, print).complete and len(service.batches) == 3


def test_a_request_that_fails_alike_twice_is_not_submitted_again(
    service: BatchService, tmp_path: Path
) -> None:
    (path,) = write(single_turn_plan(6), tmp_path)
    bad = requests_in([path])[0]["body"]
    errors = (f"no such thing, request req_{n}" for n in itertools.count())
    service.reply = lambda body: (
        (400, {"error": {"message": next(errors)}}) if body == bad else reply(body)
    )
    done = submit_shards(tmp_path, QUICK, print)
    (row,) = done.collected
    assert row.expected - row.answered == 1
    for _ in range(2):
        assert (done.failing, len(service.batches)) == (1, 2)
        done = submit_shards(tmp_path, QUICK, print)
    submit_shards(tmp_path, Submission(poll_s=0.01, retry_failed=True), print)
    assert len(service.batches) == 3


def test_a_request_that_is_asked_again_is_in_one_batch(
    service: BatchService, tmp_path: Path
) -> None:
    (path,) = write(single_turn_plan(6), tmp_path)
    bad, answers = requests_in([path])[0]["body"], iter([(500, {})])
    service.reply = lambda body: next(answers, reply(body)) if body == bad else reply(body)
    service.looks, states = 3, []
    for _ in range(8):
        done = submit_shards(tmp_path, Submission(wait=False), print)
        states.append((len(service.batches), done.complete))
    assert states[3] == (2, False) and states[-1] == (2, True)
    assert len([*tmp_path.glob("shards/[0-9]*")]) == 2


def test_a_request_in_two_shards_is_in_one_batch(service: BatchService, tmp_path: Path) -> None:
    """As when answers that were named are gone: the first shard and the second are unanswered."""
    directory, answers_file = tmp_path / "out", tmp_path / "answers.jsonl"
    (path,) = write(single_turn_plan(6), directory)
    answers_file.write_text("\n".join(answer(request) for request in requests_in([path])[1:]))
    collect_answers(directory, [answers_file])
    assert len([*directory.glob("shards/*/*/00000.jsonl")]) == 2
    service.looks = 2
    for _ in range(3):
        done = submit_shards(directory, Submission(wait=False), print)
        assert len(service.batches) == 1
    assert done.complete and len(service.paid) == 1


def test_passing_errors_are_waited_out(service: BatchService, tmp_path: Path) -> None:
    rng = random.Random(1)
    service.faults = lambda method, path: rng.choice([None, None, 429, 500, "lose", "drop"])
    service.looks = 2
    write(two_turns(), tmp_path)
    assert submit_shards(tmp_path, QUICK, print).complete and paid_once(service)


def test_a_page_in_place_of_an_answer_is_waited_out(
    service: BatchService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(single_turn_plan(), tmp_path)
    show_batch, pages = service._shown, iter([b"<html>", b"{", b"\xff"] * 2)
    monkeypatch.setattr(service, "_shown", lambda batch: next(pages, None) or show_batch(batch))
    assert submit_shards(tmp_path, QUICK, print).complete and paid_once(service)


def test_half_a_file_of_results_is_asked_for_again(service: BatchService, tmp_path: Path) -> None:
    (path,) = write(single_turn_plan(), tmp_path)
    contents: dict[str, bytes] = {}

    def halve() -> None:
        contents.update(
            {name: content for name, content in service.files.items() if b"choices" in content}
        )
        service.files.update({name: content[:-20] for name, content in contents.items()})

    faults = iter([halve, lambda: service.files.update(contents)])
    service.faults = lambda m, p: next(faults, None) if p.endswith("content") else None
    assert submit_shards(tmp_path, QUICK, print).complete
    assert service.calls["GET /files/ID/content"] == 2


def test_results_are_never_overwritten_by_less(service: BatchService, tmp_path: Path) -> None:
    (path,) = write(single_turn_plan(), tmp_path)
    submit_shards(tmp_path, QUICK, print)
    answers = path.with_suffix(".answers.jsonl")
    before = answers.read_bytes()
    lines = (tmp_path / "shards/batches.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "shards/batches.jsonl").write_bytes(b"".join(lines[:-1]) + lines[-1][:30])
    for name, content in service.files.items():
        service.files[name] = content.splitlines()[0]
    assert submit_shards(tmp_path, QUICK, print).complete
    assert answers.read_bytes() == before and journal_is_intact(tmp_path)


def journal_is_intact(directory: Path) -> bool:
    """Whether each line but the torn one is JSON, and the last one is the end."""
    *_, torn, last = (directory / "shards/batches.jsonl").read_text().splitlines()
    return not torn.endswith("}") and json.loads(last)["event"] == "ended"


def test_without_waiting_it_submits_collects_and_ends(
    service: BatchService, tmp_path: Path
) -> None:
    plan, quick = two_turns(), Submission(wait=False)
    service.looks = 2
    write(plan, tmp_path)
    states = []
    for _ in range(6):
        done = submit_shards(tmp_path, quick, print)
        states.append((len(service.batches), len(done.running), done.complete))
    assert states[:2] == [(1, 1, False), (1, 1, False)]  # submitted; looked at
    assert states[2] == (2, 1, False)  # collected, second turns submitted
    assert states[4] == states[5] == (2, 0, True) and paid_once(service)


def test_a_wrong_key_and_a_second_process_are_refused(
    service: BatchService, tmp_path: Path
) -> None:
    write(single_turn_plan(), tmp_path)
    service.key = "another"
    with pytest.raises(ModelError, match=r"m: upload: status 401: Incorrect API key provided$"):
        submit_shards(tmp_path, QUICK, print)
    with only_process(tmp_path), pytest.raises(PlanError, match="another process"):
        submit_shards(tmp_path, QUICK, print)
    assert not service.batches


def test_a_server_that_is_down_is_not_waited_for_without_waiting(
    service: BatchService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(single_turn_plan(), tmp_path)
    monkeypatch.setenv("LOOP_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match="upload: no answer; repeat the command later"):
        submit_shards(tmp_path, Submission(wait=False), print)


def test_a_provider_without_batches_is_refused(tmp_path: Path) -> None:
    plan = Plan(single_turn_plan().selections, ["anthropic/claude-haiku-4-5"], modes=["structured"])
    write(plan, tmp_path)
    with pytest.raises(ModelError, match=r"\(openai, openai-api\); .* clinometer collect"):
        submit_shards(tmp_path, QUICK, print)


def test_what_would_cost_too_much_is_not_submitted(service: BatchService, tmp_path: Path) -> None:
    write(single_turn_plan(), tmp_path)
    with pytest.raises(InputError, match="price of 'openai-api/loop/m' is not known"):
        submit_shards(tmp_path, Submission(spending=Spending(1.0)), print)
    prices = tmp_path.with_suffix(".yaml")
    prices.write_text(f"{MODEL}: [1000, 4000]")
    with pytest.raises(BudgetError, match=r"about \$\d+\.\d\d, of which \$0.00 are submitted"):
        submit_shards(tmp_path, Submission(spending=Spending(1.0, prices)), print)
    assert not service.batches


def test_a_limit_in_dollars_is_of_all_rounds_and_all_models(
    service: BatchService, tmp_path: Path, messages: list[str]
) -> None:
    models = [MODEL, "openai-api/loop/other"]
    plan = plan_of("structured", 2, ("affective_attribution",), models=models)
    write(plan, tmp_path / "r")
    prices = tmp_path / "prices.yaml"
    prices.write_text("".join(f"{model}: [1000, 4000]\n" for model in models))
    submit_shards(
        tmp_path / "r", Submission(wait=False, spending=Spending(prices=prices)), messages.append
    )
    first = sum(line["usd"] for line in journal(tmp_path / "r") if line["event"] == "creating")
    with pytest.raises(BudgetError, match=f"of which \\${first:.2f} are submitted"):
        limited = Submission(poll_s=0.01, spending=Spending(1.01 * first, prices))
        submit_shards(tmp_path / "r", limited, messages.append)
    assert len(service.batches) == len(models)
    for few in (0.51, 0.99):  # of both models, of which each costs half
        write(plan, tmp_path / str(few))
        with pytest.raises(BudgetError, match=r"of which \$0.00 are submitted"):
            submit_shards(
                tmp_path / str(few),
                Submission(spending=Spending(few * first, prices)),
                messages.append,
            )
    assert len(service.batches) == len(models)
    write(plan, tmp_path / "unpriced")
    submit_shards(tmp_path / "unpriced", Submission(wait=False), messages.append)
    with pytest.raises(InputError, match="price of .* is not known"):
        submit_shards(
            tmp_path / "unpriced",
            replace(limited, spending=Spending(limited.spending.max_cost)),
            messages.append,
        )
    with pytest.raises(BudgetError, match=f"of which \\${first:.2f} are submitted"):
        submit_shards(tmp_path / "unpriced", limited, messages.append)
    assert len(service.batches) == 2 * len(models)
