"""Asking for associates: choices, shards, resuming, limits, against a loopback server."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import gc
import itertools
import json
import signal
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.asking.budget import Budget, Ledger
from clinometer.asking.claim import claim
from clinometer.errors import InputError, ModelError, PlanError
from clinometer.models.opening import Connection, Generation
from clinometer.models.providers import PROVIDERS, find_provider
from clinometer.results import records
from clinometer.results.records import Journal
from clinometer_measures.networks import associating
from clinometer_measures.networks.associating import (
    Associated,
    associate,
    collect_associations,
    open_associating,
)
from clinometer_measures.networks.association_plan import AssociationPlan, cost_of_associations
from clinometer_measures.networks.cues import Cues, Rounds, Tally, read_cues
from clinometer_measures.networks.loading import read_associations
from forking import Forked
from waiting import until

Serve = Callable[..., Any]
Clinometer = Callable[..., Forked]
MODEL = "openai-api/loop/m"
FOLDER = "openai-api-loop-m"


class Words:
    """Gives `n` answers to a call, each another, as many as it `honours`; counts them."""

    def __init__(self, honours: int = 128, refuses: bool = False) -> None:
        self.honours, self.refuses = honours, refuses
        self.asked: list[int] = []
        self.given: Counter[str] = Counter()
        self.lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        cue, count_asked = body["messages"][-1]["content"], body.get("n") or 1
        with self.lock:
            self.asked.append(count_asked)
            if self.refuses and count_asked > self.honours:
                return 400, {"error": {"message": f"n must be at most {self.honours}"}}
            count = min(count_asked, self.honours)
            first = self.given[cue]
            self.given[cue] += count
        return 200, {
            "id": "loopback",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [
                {
                    "index": number,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": f"{cue}{first + number},b,c"},
                }
                for number in range(count)
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 7 * count, "total_tokens": 0},
        }


def plan_of(cues: int = 4, repetitions: int = 50, **settings: Any) -> AssociationPlan:
    words = [f"cue{number}" for number in range(cues)]
    return AssociationPlan([MODEL], words, repetitions, **settings)


def ask(
    plan: AssociationPlan, directory: Path, budget: Budget | None = None, **settings: Any
) -> Associated:
    claim(directory, plan)
    models = open_associating(plan, Connection(max_retries=0, max_connections=8))
    (outcome,) = associate(plan, models, directory, budget or Budget(), **settings)
    return outcome


def lines(directory: Path) -> list[dict[str, Any]]:
    paths = sorted((directory / "answers" / FOLDER).glob("*.jsonl"))
    records = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return [
        {key: value for key, value in line.items() if key not in ("sum", "mark")}
        for line in records
    ]


def answered(directory: Path) -> Counter[tuple[str, int]]:
    return Counter((a["cue"], a["repetition"]) for a in lines(directory) if "error" not in a)


def everything(plan: AssociationPlan) -> Counter[tuple[str, int]]:
    return Counter((cue, number) for cue in plan.cues for number in range(plan.repetitions))


def test_a_prompt_is_paid_once_a_call(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(f"{MODEL}: [1, 2]", encoding="utf-8")
    plan = plan_of(cues=10, repetitions=50)
    batched, single = (
        cost_of_associations(plan, MODEL, n, tmp_path / "prices.yaml") for n in (20, 1)
    )
    assert (batched.trials, batched.calls, single.calls) == (500, 30, 500)
    assert single.input_tokens == pytest.approx(batched.input_tokens * 500 / 30, rel=0.01)
    assert batched.output_tokens == single.output_tokens == 4_500
    assert single.usd == (single.input_tokens + 2 * single.output_tokens) / 1e6


def test_from_python_the_same_call_continues(serve: Serve, tmp_path: Path) -> None:
    words, plan = Words(), plan_of(cues=2, repetitions=5)
    serve(words)
    for _ in range(2):
        (outcome,) = collect_associations(plan, tmp_path / "r")
        assert outcome.complete and outcome.answered == 10
    assert sum(words.given.values()) == 10
    assert read_associations(tmp_path / "r").filter(response="b")["count"].to_list() == [5, 5]


def test_every_repetition_has_one_answer_of_its_own(serve: Serve, tmp_path: Path) -> None:
    words, plan = Words(), plan_of()
    serve(words)
    outcome = ask(plan, tmp_path / "r")
    assert outcome.complete and (outcome.calls, outcome.choices) == (12, 20)
    assert Counter(words.asked) == {20: 8, 10: 4}
    assert answered(tmp_path / "r") == everything(plan)
    assert len({answer["responses"][0] for answer in lines(tmp_path / "r")}) == 200


def test_an_answer_says_what_was_given_and_what_it_cost(serve: Serve, tmp_path: Path) -> None:
    serve(Words())
    ask(plan_of(cues=1, repetitions=3), tmp_path / "r")
    first, *later = lines(tmp_path / "r")
    assert first == {
        "cue": "cue0",
        "repetition": 0,
        "responses": ["cue00", "b", "c"],
        "raw": "cue00,b,c",
        "stop_reason": "stop",
        "input_tokens": 34,
        "output_tokens": 7,
        "calls": 1,
        "model": MODEL,
    }
    assert sum(answer["input_tokens"] for answer in [first, *later]) == 100


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("honours", [1, 8])
def test_a_server_that_gives_fewer_is_asked_for_what_it_gives(
    honours: int, refuses: bool, serve: Serve, tmp_path: Path
) -> None:
    words, plan = Words(honours, refuses), plan_of(repetitions=20)
    serve(words)
    outcome = ask(plan, tmp_path / "r")
    assert outcome.complete and outcome.choices == honours and outcome.errors == 0
    assert answered(tmp_path / "r") == everything(plan)
    assert words.given.total() == 80  # none was asked in vain
    assert sum(count > honours for count in words.asked) <= 2  # learnt from the first call
    assert outcome.calls == len(words.asked)


def test_one_choice_a_call_can_be_asked_for(serve: Serve, tmp_path: Path) -> None:
    words = Words()
    serve(words)
    assert ask(plan_of(cues=2, repetitions=3), tmp_path / "r", choices=1).calls == 6
    assert set(words.asked) == {1}
    with pytest.raises(InputError, match="choices 0"):
        ask(plan_of(cues=2, repetitions=3), tmp_path / "r", choices=0)


def test_a_finished_run_asks_nothing_and_more_repetitions_extend_it(
    serve: Serve, tmp_path: Path
) -> None:
    words = Words()
    serve(words)
    ask(plan_of(repetitions=5), tmp_path / "r")
    assert ask(plan_of(repetitions=5), tmp_path / "r").calls == 0
    extended = ask(plan_of(repetitions=12), tmp_path / "r")
    assert (extended.calls, extended.answered) == (4, 48)
    assert answered(tmp_path / "r") == everything(plan_of(repetitions=12))
    with pytest.raises(PlanError, match="repetitions is 12 there, 5 here"):
        ask(plan_of(repetitions=5), tmp_path / "r")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cues": 3}, "cues is 4 there, 3 here"),
        ({"seed": 1}, "seed is 0 there, 1 here"),
        ({"continuation": True}, "continuation is false there, true here"),
        ({"generation": Generation(0.5, 1.0, 32)}, "temperature is 1.0 there, 0.5 here"),
    ],
)
def test_another_plan_in_the_directory_says_what_differs(
    changes: dict[str, Any], says: str, tmp_path: Path
) -> None:
    claim(tmp_path / "r", plan_of())
    with pytest.raises(PlanError, match=says):
        claim(tmp_path / "r", plan_of(**changes))


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear all")
    with pytest.raises(PlanError, match="not empty and was not made by this command"):
        claim(tmp_path, plan_of())
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_two_processes_do_not_ask_at_once(serve: Serve, tmp_path: Path) -> None:
    from clinometer.results.locks import only_process

    serve(Words())
    claim(tmp_path / "r", plan_of())
    with only_process(tmp_path / "r"), pytest.raises(PlanError, match="another process"):
        ask(plan_of(), tmp_path / "r")


def test_torn_lines_are_asked_again_and_no_others(serve: Serve, tmp_path: Path) -> None:
    words, plan = Words(), plan_of()
    serve(words)
    ask(plan, tmp_path / "r")
    shard = tmp_path / "r" / "answers" / FOLDER / "00000.jsonl"
    shard.write_bytes(shard.read_bytes()[:-20])
    assert ask(plan, tmp_path / "r").complete
    assert words.given.total() == 201
    complete = [line for line in shard.read_text().splitlines() if line.endswith("}")]
    assert len(complete) == 200 and shard.read_bytes().endswith(b"\n")


def test_shards_are_begun_anew_when_full(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "SHARD", 60)
    serve(Words())
    ask(plan_of(), tmp_path / "r", Budget(max_calls=4))
    assert ask(plan_of(), tmp_path / "r").complete
    paths = sorted((tmp_path / "r" / "answers" / FOLDER).glob("*.jsonl"))
    assert 2 <= len(paths) <= 4  # as answers come in together, a shard may hold more than 60
    assert [path.name for path in paths] == [f"0000{n}.jsonl" for n in range(len(paths))]
    assert all(len(path.read_text().splitlines()) >= 60 for path in paths[:-1])
    assert answered(tmp_path / "r") == everything(plan_of())


def test_limits_stop_a_run_and_count_what_was_asked_before(serve: Serve, tmp_path: Path) -> None:
    words = Words()
    serve(words)
    stopped = ask(plan_of(), tmp_path / "r", Budget(max_calls=5))
    assert (stopped.calls, stopped.stopped_by) == (5, "--max-calls 5")
    assert set(words.given) == {"cue0", "cue1", "cue2", "cue3"}  # a round asks every cue
    assert ask(plan_of(), tmp_path / "r", Budget(max_calls=5)).calls == 0
    assert ask(plan_of(), tmp_path / "r", Budget(max_tokens=100)).stopped_by == "--max-tokens 100"
    assert ask(plan_of(), tmp_path / "r").complete and words.given.total() == 200


def test_errors_are_recorded_and_asked_again(serve: Serve, tmp_path: Path) -> None:
    words, server = Words(), serve()
    server.reply = lambda body: (
        (500, {"error": {"message": "boom"}})
        if body["messages"][-1]["content"] == "cue1"
        else words(body)
    )
    failed = ask(plan_of(), tmp_path / "r")
    assert (failed.answered, failed.errors) == (150, 3) and "boom" in str(failed.last_error)
    wrong = [answer for answer in lines(tmp_path / "r") if "error" in answer]
    assert Counter(answer["cue"] for answer in wrong) == {"cue1": 50}
    server.reply = words
    assert ask(plan_of(), tmp_path / "r").complete
    assert answered(tmp_path / "r") == everything(plan_of())


def test_a_model_that_only_fails_is_given_up(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda body: (400, {"error": {"message": "wrong size"}}))
    with pytest.raises(ModelError, match="the first 2. calls all failed: .*wrong size") as error:
        ask(plan_of(cues=100), tmp_path / "r")
    assert "\n" not in str(error.value)
    assert server.prompts.total() < 3 * 40  # a prompt is tried in three forms


def test_a_refused_key_is_not_tried_again(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda body: (401, {"error": {"message": "wrong key"}}))
    with pytest.raises(
        ModelError, match="the first call failed: .*wrong key .*\nthe key was refused"
    ):
        ask(plan_of(cues=100), tmp_path / "r")
    assert server.prompts.total() < 25


def test_a_model_that_is_gone_is_given_up(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(associating, "Ledger", functools.partial(Ledger, patience=(20, 30)))
    words, server = Words(honours=1), serve()
    server.reply = lambda body: (
        (503, {"error": {"message": "gone"}}) if words.given.total() >= 50 else words(body)
    )
    with pytest.raises(ModelError, match="30 calls in a row failed: .*gone"):
        ask(plan_of(cues=100), tmp_path / "r")
    assert 50 <= answered(tmp_path / "r").total() < 70


def test_a_full_disk_stops_the_run_with_one_line(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(journal: Journal, *answers: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    words = Words()
    serve(words)
    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(InputError, match="disk full; make room and repeat"):
        ask(plan_of(cues=50), tmp_path / "r")
    assert len(words.asked) <= 10


def test_seeds_go_to_local_models_only(serve: Serve, tmp_path: Path) -> None:
    seeds: list[Any] = []
    words = Words()
    serve(lambda body: (seeds.append(body.get("seed")), words(body))[1])
    ask(plan_of(cues=1), tmp_path / "r")
    assert set(seeds) == {None}


def test_a_killed_run_loses_nothing_and_asks_nothing_twice(
    serve: Serve, clinometer: Clinometer, tmp_path: Path
) -> None:
    words = Words(honours=5)
    server = serve(words, at_once=10)
    (tmp_path / "cues.txt").write_text("".join(f"cue{number}\n" for number in range(10)))
    command = ("network", "associate", MODEL, "--cues", "cues.txt", "--repetitions", "12")
    command = (*command, "--max-connections", "4", "--out", "r")
    shard = tmp_path / "r" / "answers" / FOLDER / "00000.jsonl"
    process = clinometer(*command)
    all_saved = lambda: shard.exists() and answered(tmp_path / "r").total() == words.given.total()  # noqa: E731
    until(lambda: server.prompts.total() == 14 and all_saved(), process)
    process.kill()
    process.communicate()
    server.go.set()
    until(lambda: len(words.asked) == 14)  # the server ends what it had begun
    counts, n_before = answered(tmp_path / "r"), words.given.total()
    assert 0 < counts.total() < 120 and max(counts.values()) == 1
    again = clinometer(*command)
    out, err = again.communicate()
    assert again.returncode == 0, err
    assert "120 of 120 answers" in out and "next: clinometer network build r" in out
    assert words.given.total() - n_before == 120 - counts.total()
    assert answered(tmp_path / "r") == everything(plan_of(10, 12))


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    serve: Serve, clinometer: Clinometer, tmp_path: Path
) -> None:
    serve(Words(), at_once=2)
    process = clinometer(
        "network", "associate", MODEL, "--cues", "a,b,c,d", "--repetitions", "9000",
        "--out", "r", "--max-connections", "2",
    )  # fmt: skip
    shard = tmp_path / "r" / "answers" / FOLDER / "00000.jsonl"
    until(shard.exists, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "stopped: repeat the command to continue" in err and "Traceback" not in err


def test_what_inspect_keeps_of_a_call_is_let_go(serve: Serve, tmp_path: Path) -> None:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import transcript

    calls, alive = itertools.count(), []

    def look(model: str, answer: dict[str, Any]) -> None:
        if next(calls) % 50 == 0:
            gc.collect()
            alive.append(sum(type(candidate) is ModelEvent for candidate in gc.get_objects()))

    def ask_within_a_transcript() -> None:
        transcript()  # inspect appends the events of its context to it
        ask(plan_of(cues=25, repetitions=10), tmp_path / "r", choices=1, on_progress=look)

    serve(Words())
    gc.collect()
    gc.freeze()  # what other tests left is not looked through
    contextvars.copy_context().run(ask_within_a_transcript)
    assert len(alive) == 6 and max(alive) - alive[0] <= 40


def test_the_embedded_model_answers_the_same_however_often_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = replace(find_provider("clinometer/smollm2"), short_answers={})
    monkeypatch.setitem(PROVIDERS, "clinometer", plain)  # the engine other tests loaded
    pytest.importorskip("torch", reason="extra `local` not installed")
    from clinometer.models.embedded.weights import find_weights

    try:
        find_weights()
    except ModelError as error:
        pytest.skip(str(error))
    few = Generation(max_tokens=12)
    plan = AssociationPlan(["clinometer/smollm2"], ["winter", "dog"], 3, seed=3, generation=few)

    def answers(name: str, *limits: int, choices: int) -> list[list[str]]:
        directory = tmp_path / name
        claim(directory, plan)
        for limit in limits:
            models = open_associating(plan, Connection())
            associate(plan, models, directory, Budget(max_calls=limit), choices=choices)
        (path,) = directory.glob("answers/*/*.jsonl")
        records = [json.loads(line) for line in path.read_text().splitlines()]
        return [a["responses"] for a in sorted(records, key=lambda a: (a["cue"], a["repetition"]))]

    uninterrupted = answers("whole", 10, choices=3)
    assert len(uninterrupted) == 6 and len({tuple(responses) for responses in uninterrupted}) > 3
    assert answers("parts", 2, 99, choices=1) == uninterrupted


def test_providers_are_given_what_short_texts_need(monkeypatch: pytest.MonkeyPatch) -> None:
    model_args: dict[str, Any] = {}
    monkeypatch.setattr(
        associating,
        "open_model",
        lambda name, _, reached: model_args.update({name: reached.model_args}),
    )
    names = ["clinometer/smollm2", "hf/base", "openai/m"]
    connection = Connection(model_args={"batch_size": "8"})
    open_associating(AssociationPlan(names, ["a"], continuation=True), connection)
    assert [set(model_args[name]) for name in names] == [
        {"batch_size"}, {"batch_size", "chat_template"}, {"batch_size"},
    ]  # fmt: skip
    assert model_args["clinometer/smollm2"]["batch_size"] == "8"


@given(
    done=st.lists(st.integers(0, 2**12 - 1), min_size=1, max_size=5),
    most=st.integers(1, 9),
    answered=st.lists(st.integers(1, 9), max_size=40),
)
def test_rounds_hand_out_what_is_missing_and_nothing_twice(
    done: list[int], most: int, answered: list[int]
) -> None:
    rounds, got = Rounds(done, 10), [bits & 2**10 - 1 for bits in done]
    while (call := rounds.take(most)) is not None:
        assert 1 <= call.count <= most
        n_given = min(call.count, answered.pop() if answered else call.count)
        bits = ((1 << n_given) - 1) << call.first
        assert not got[call.cue] & bits
        got[call.cue] |= bits
        rounds.give_back(call, range(n_given, call.count))
    assert set(got) == {2**10 - 1}


def test_a_round_asks_every_cue_before_any_again() -> None:
    rounds = Rounds([0, 0, 0], 4)
    calls = [rounds.take(2) for _ in range(6)]
    assert [(call.cue, call.first) for call in calls if call] == [
        (0, 0), (1, 0), (2, 0), (0, 2), (1, 2), (2, 2),
    ]  # fmt: skip
    assert rounds.take(2) is None


def test_foreign_lines_are_no_answers(tmp_path: Path) -> None:
    journal, tally = Journal(tmp_path, MODEL), Tally(["a", "b"], 2)
    journal.folder.mkdir(parents=True)
    good = {"cue": "a", "repetition": 0, "responses": ["b"]}
    bad = [
        {**good, "cue": 1}, {**good, "repetition": "1"}, {**good, "repetition": -1},
        {**good, "repetition": True}, {**good, "responses": "b"}, {**good, "cue": "z"},
        {**good, "repetition": 9}, {**good, "responses": [1], "repetition": 1},
    ]  # fmt: skip
    text = "\n".join(["\udcff", "{", "[" * 100_000, "[1]", '"x"', "null", ""])
    (journal.folder / "00000.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    with contextlib.closing(journal):
        journal.append(*bad, good, good)
    assert [tally.count(line) for line in journal.lines()].count(True) == 2
    assert (tally.answered, tally.readable, tally.missing, tally.done) == (1, 1, 3, [1, 0])


def test_models_whose_folders_are_the_same_are_refused() -> None:
    with pytest.raises(InputError, match="would share the folder x-m"):
        AssociationPlan(["x/m", "x:m"], ["a"])


def test_words_that_look_like_nothing_are_cues() -> None:
    cues = Cues.from_words(["null", "nan", "none", "true", " null ", "", None, "ice  cream"])
    assert cues.words == ("null", "nan", "none", "true", "ice cream")
    assert str(cues) == "5 cues (2 blank, 1 repeated)"


def test_cues_come_from_files_of_every_kind(tmp_path: Path) -> None:
    words = ["null", "old", "new"]
    (tmp_path / "a.txt").write_text("\ufeffnull\r\nold\n\nnew\nold\n", encoding="utf-8")
    pl.DataFrame({"cue": words, "R1": ["a", "b", "c"]}).write_csv(tmp_path / "b.csv")
    pl.DataFrame({"word": words}).write_parquet(tmp_path / "c.parquet")
    edges = pl.DataFrame({"src": ["null", "old"], "tgt": ["new", "new"], "wt": [1, 2]})
    edges.write_csv(tmp_path / "d.csv")
    for name in ("a.txt", "b.csv", "c.parquet", "d.csv"):
        assert sorted(read_cues(str(tmp_path / name)).words) == sorted(words), name
    assert str(read_cues(str(tmp_path / "a.txt"))) == "3 cues (1 blank, 1 repeated)"
    assert read_cues("null, old,new").words == tuple(words)


def test_a_hundred_thousand_cues_are_read(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("\n".join(f"word{number}" for number in range(120_000)))
    assert len(read_cues(str(path)).words) == 120_000


@pytest.mark.parametrize(
    ("cues", "says"),
    [
        ("missing.txt", "missing.txt: no such file"),
        ("missing.csv", "missing.csv: no such file"),
        (" , ", "none; give a file or words"),
        ("columns.csv", "no column cue or word.*has a, b"),
        ("words.doc", "ending '.doc'; allowed are .txt"),
        ("latin.txt", "not UTF-8 at byte 1"),
    ],
)
def test_cues_that_cannot_be_read_are_one_line(
    cues: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("columns.csv").write_text("a,b\n1,2\n")
    Path("words.doc").write_text("a")
    Path("latin.txt").write_bytes(b"a\xe9")
    with pytest.raises(InputError, match=says):
        read_cues(cues)


def test_a_provider_that_gives_one_answer_a_call_is_asked_for_one() -> None:
    from clinometer_measures.networks.associating import CHOICES, most_choices

    assert [most_choices(f"{name}/m", 8) for name in ("hf", "ollama", "vllm", "acme")] == [
        1,
        1,
        8,
        8,
    ]
    assert most_choices("acme/m") == CHOICES
    with pytest.raises(InputError, match="choices 0: at least 1"):
        most_choices("acme/m", 0)
