"""Tables of a results directory: decisions from the plan to the scores, on a loopback server."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import clinometer as cm
from clinometer.asking.budget import Budget, estimate_costs
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection, load_plan
from clinometer.asking.sessions import Outcome, ask_models
from clinometer.audits.tabulating import score_responses, tabulate
from clinometer.errors import InputError, PlanError
from clinometer.models.opening import Connection, open_models
from clinometer.results.records import Journal
from clinometer.stimuli import load_study

Serve = Callable[..., Any]
MODEL = "openai-api/loop/m"
BAI = load_study("bai2025")
INSTRUMENTS = ("relative_decision", "absolute_decision", "chained_task")


def make_plan(
    *instruments: str, variations: tuple[str, ...] = ("replication",), **more: Any
) -> Plan:
    selections = [
        Selection(BAI, ["age", "black"], variations, instrument=name) for name in instruments
    ]
    return Plan(selections, [MODEL], **{"iterations": 4, **more})


def decided(row: dict[str, Any], consistent: bool = True) -> str:
    """Answer a trial: all its parts, the decision with or against the stereotype."""
    marginalized, default = (f"the {row[name]} one" for name in ("marginalized", "default"))
    tied, counter = (row["tied"], row["counter"])[:: 1 if consistent else -1]
    if row["instrument"] == "absolute_decision":
        stereotypical = row["version"] in ("marginalized_tied", "default_counter")
        return f"Task 3: {'Yes' if stereotypical == consistent else 'No'}."
    pairs = ""
    if row["instrument"] == "chained_task":
        words = BAI.stereotypes[row["stereotype"]].words("")
        group = {True: row["marginalized"], False: row["default"]}
        pairs = "\n".join(f"{w} - {group[w in words.tied]}" for w in row["attributes"])
    return (
        f"Task 1:\n{pairs}\n\nTask 2: Two people.\n\nTask 3: {marginalized.capitalize()} gets "
        f"{tied}, and {default} gets {counter}."
    )


def answering(server: Any, plan: Plan, respond: Callable[[dict[str, Any]], str] = decided) -> None:
    """Let the server answer as the trial of a prompt would have it, or as its schema allows."""
    rows = {row["prompt"]: row for row in plan.trials().iter_rows(named=True)}
    server.bodies = []

    def reply(body: dict[str, Any]) -> Any:
        server.bodies.append(body)
        if "response_format" in body:
            offered = body["response_format"]["json_schema"]["schema"]["properties"]
            return server.chat(body, json.dumps({k: v["enum"][0] for k, v in offered.items()}))
        return server.chat(body, respond(rows[body["messages"][-1]["content"]]))

    server.reply = reply


def ask(plan: Plan, directory: Path, budget: Budget | None = None) -> Outcome:
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=0))
    return ask_models(plan.pieces, models, directory, budget or Budget())


def table(directory: Path, name: str = "scores") -> pl.DataFrame:
    return pl.read_parquet(directory / f"{name}.parquet")


# Whole runs


def test_a_run_of_every_instrument_in_two_modes(serve: Serve, tmp_path: Path) -> None:
    plan = make_plan(*INSTRUMENTS, modes=("free", "structured"))
    server = serve()
    answering(server, plan)
    assert ask(plan, tmp_path).complete
    assert sorted(server.prompts.values()) == [2] * 24  # a prompt in both modes
    tabulate(tmp_path)
    scores = table(tmp_path)
    assert scores.height == 2 * (8 + 8 + 16)
    assert scores["reason"].null_count() == scores.height
    free = scores.filter(mode="free")
    assert free["score"].unique().to_list() == [1.0]
    closed = scores.filter(mode="structured").group_by("instrument").agg(pl.col("score").mean())
    assert dict(closed.rows())["relative_decision"] == 0.5  # first of all, in all four orders
    assert dict(closed.rows())["absolute_decision"] == 0.5  # always yes
    order = scores.filter(mode="structured", instrument="chained_decision")
    assert order["first_share"].unique().to_list() == [1.0]
    instruments = table(tmp_path, "estimates").drop_nulls("instrument")["instrument"]
    assert set(instruments) == {*INSTRUMENTS[:2], "chained_association", "chained_decision"}
    assert table(tmp_path, "yes_shares").height == 2 * 2 * 4
    assert table(tmp_path, "chained").height == 2 * 8
    assert table(tmp_path, "fits").height > 0
    coefficients = table(tmp_path, "estimates").filter(measure="log_odds")
    assert coefficients.height == table(tmp_path, "fits").height
    assert set(table(tmp_path, "estimates")["factor"].drop_nulls()) == {"instrument"}
    assert not (tmp_path / "matches.parquet").exists()


def test_what_was_read_and_where_stands_in_the_scores(serve: Serve, tmp_path: Path) -> None:
    plan = make_plan("relative_decision")
    server = serve()
    answering(server, plan, lambda row: decided(row, consistent=False))
    ask(plan, tmp_path)
    tabulate(tmp_path)
    responses = dict(table(tmp_path, "responses").select("trial_id", "response").rows())
    for row in table(tmp_path).iter_rows(named=True):
        assert (row["score"], row["read_by"], row["conflict"]) == (0.0, "rules", False)
        assert row["span"] in responses[row["trial_id"]]
        assert any(row[task] in row["span"] for task in ("tied", "counter"))


def test_a_second_prompt_holds_the_first_answer_and_both_are_kept(
    serve: Serve, tmp_path: Path
) -> None:
    plan = two_turns()
    server = serve()
    profiles(server)
    stopped = ask(plan, tmp_path, Budget(max_calls=5))
    assert (stopped.answered, server.prompts.total()) == (2, 4)  # a fifth would be half a trial
    assert ask(plan, tmp_path, Budget(max_calls=8)).complete
    assert server.prompts.total() == 8
    seconds = [m for m in server.messages if m[-1]["content"].startswith("Anna {response1}")]
    assert len(seconds) == 4 and all(len(m) == 1 for m in seconds)  # no chat goes along
    tabulate(tmp_path)
    for row in table(tmp_path, "responses").iter_rows(named=True):
        assert row["profile"].startswith("Anna {response1} {attribute0} ")
        assert row["followup"].replace("{response1}", row["profile"], 1) in server.prompts
        assert (row["input_tokens"], row["output_tokens"]) == (200, 120)
        assert row["response"].startswith("The person with the")
    assert table(tmp_path)["score"].null_count() == 0
    assert estimate_costs(plan.pieces(), [MODEL])[0].calls == 8


def two_turns(iterations: int = 4) -> Plan:
    selection = Selection(BAI, ["black"], ["accents"], instrument="relative_decision")
    return Plan([selection], [MODEL], iterations=iterations)


def profiles(server: Any) -> None:
    """Answer first prompts with what looks like a placeholder, seconds with a decision."""
    server.messages = []

    def reply(body: dict[str, Any]) -> Any:
        server.messages.append(body["messages"])
        prompt = body["messages"][-1]["content"]
        if prompt.startswith("Generate"):
            number = len(server.messages)
            return server.chat(body, f"Anna {{response1}} {{attribute0}} {number}: two people.")
        jobs = prompt.split("available: ")[1].split(".")[0].split(" and ")
        text = f"The person with the African accent: {jobs[0]}. The English accent: {jobs[1]}."
        return server.chat(body, text)

    server.reply = reply


def test_a_killed_run_of_two_turns_asks_no_answered_trial_again(
    serve: Serve, tmp_path: Path
) -> None:
    plan = two_turns(iterations=8)
    server = serve()
    profiles(server)
    ask(plan, tmp_path, Budget(max_calls=6))
    with (Journal(tmp_path, MODEL).folder / "00000.jsonl").open("ab") as journal:
        journal.write(b'{"trial_id": "mist2025')  # killed while it wrote the fourth
    profiles_before = {answer["trial_id"]: answer["profile"] for answer in Journal(tmp_path, MODEL)}
    assert len(profiles_before) == 3
    assert ask(plan, tmp_path).complete
    assert server.prompts.total() == 2 * 8
    tabulate(tmp_path)
    after = dict(table(tmp_path, "responses").select("trial_id", "profile").rows())
    assert len(after) == 8 and after.items() >= profiles_before.items()


EGALITARIAN = BAI.interventions["egalitarian"]


def test_an_intervention_is_a_system_prompt_and_nothing_else(serve: Serve, tmp_path: Path) -> None:
    plan = make_plan("relative_decision", interventions={"none": None, "kind": EGALITARIAN})
    server = serve()
    answering(server, plan)
    ask(plan, tmp_path)
    systems = [
        [m["content"] for m in b["messages"] if m["role"] == "system"] for b in server.bodies
    ]
    assert sorted(systems) == [[]] * 8 + [[EGALITARIAN]] * 8
    assert sorted(server.prompts.values()) == [2] * 8  # the same prompts, with and without
    tabulate(tmp_path)
    draws = ["stereotype", "iteration", "order", "attribute_order", "tied", "counter"]
    none, kind = (
        table(tmp_path).filter(intervention=name).sort(draws) for name in ("none", "kind")
    )
    assert none.select(draws).equals(kind.select(draws))
    assert set(none["trial_id"]).isdisjoint(kind["trial_id"])


def test_interventions_are_compared_in_pairs(serve: Serve, tmp_path: Path) -> None:
    plan = make_plan("relative_decision", interventions={"none": None, "kind": EGALITARIAN})
    server = serve()
    answering(server, plan)
    plain = server.reply

    def reply(body: dict[str, Any]) -> Any:
        against = len(body["messages"]) > 1 and " old" in body["messages"][-1]["content"]
        if not against:
            return plain(body)
        rows = {row["prompt"]: row for row in plan.trials().iter_rows(named=True)}
        row = rows[body["messages"][-1]["content"]]
        return server.chat(body, decided(row, consistent=False))

    server.reply = reply
    ask(plan, tmp_path)
    tabulate(tmp_path)
    changes = table(tmp_path, "estimates").filter(
        level="stereotype", factor="intervention", measure="relative_decision", method="clustered"
    ).sort("stereotype")  # fmt: skip
    assert changes.select("stereotype", "candidate", "n_scored", "estimate").rows() == [
        ("age", "kind", 4, -1.0), ("black", "kind", 4, 0.0)
    ]  # fmt: skip
    matches = table(tmp_path, "matches").filter(level="stereotype")
    assert matches.select("baseline", "n", "n_scored").unique().rows() == [("none", 4, 4)]


def test_a_directory_belongs_to_one_text_of_an_intervention(tmp_path: Path) -> None:
    plan = make_plan("relative_decision", interventions={"none": None, "kind": "Be kind."})
    claim(tmp_path / "r", plan)
    claim(tmp_path / "r", plan)
    changed_plan = dataclasses.replace(plan, interventions={"none": None, "kind": "Be very kind."})
    with pytest.raises(PlanError, match="interventions kind is Be kind. there, Be very kind. here"):
        claim(tmp_path / "r", changed_plan)
    assert load_plan(tmp_path / "r").trials().equals(plan.trials())


def test_a_plan_of_several_instruments_is_kept_and_refuses_another(tmp_path: Path) -> None:
    plan = make_plan(*INSTRUMENTS, modes=("structured", "forced"))
    described = claim(tmp_path / "r", plan)
    assert [m["name"] for m in described["instruments"]] == [
        *INSTRUMENTS[:2], "chained_association", "chained_decision"
    ]  # fmt: skip
    assert load_plan(tmp_path / "r").trials().equals(plan.trials())
    modes = plan.trials().group_by("instrument").agg(pl.col("mode").unique().sort())
    assert dict(modes.rows())["chained_task"] == ["structured"]
    with pytest.raises(PlanError, match="studies is"):
        claim(tmp_path / "r", make_plan("relative_decision", modes=("structured", "forced")))


def test_two_studies_of_one_name_are_refused() -> None:
    altered = BAI.model_copy(update={"deviations": ["mine"]})
    selections = [Selection(study, ["age"], ["replication"]) for study in (BAI, altered)]
    with pytest.raises(InputError, match="two are named 'bai2025'; rename one"):
        Plan(selections, [MODEL])


def test_a_directory_of_another_layout_is_refused_and_left_alone(tmp_path: Path) -> None:
    plan = make_plan("word_association")
    claim(tmp_path / "r", plan)
    path = tmp_path / "r" / "plan.json"
    layout = json.loads(path.read_text())
    del layout["format"]
    path.write_text(json.dumps(layout))
    for open_directory in (lambda: claim(tmp_path / "r", plan), lambda: load_plan(tmp_path / "r")):
        with pytest.raises(PlanError, match="measure again .* the version that wrote it"):
            open_directory()
    assert json.loads(path.read_text()) == layout


# Tables


# Recorded tables, piece by piece


def test_numbers_go_on_from_piece_to_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers without an iteration are named by their place in the table, not in the piece."""
    monkeypatch.setattr("clinometer.results.tables.pieces.__defaults__", (2,))
    text = "Task 1:\nagony - old\n\nTask 3: The old one gets agony, the young one gets joy."
    answers = pl.DataFrame({"model": "m", "stereotype": "age", "response": [text] * 5})
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        answers.write_csv(path) if path.suffix == ".csv" else answers.write_parquet(path)
        score_responses(path, {"bai2025": BAI}, tmp_path / "s.parquet", instrument="chained_task")
        scores = table(tmp_path, "s").filter(instrument="chained_decision")
        assert scores["iteration"].to_list() == [0, 1, 2, 3, 4]
        assert scores["trial_id"].n_unique() == 5


def test_a_long_table_needs_no_column_of_instruments(tmp_path: Path) -> None:
    # Polars filters above some 10,000 rows in several threads, where a literal is no column.
    answers = {"model": "m", "stereotype": "age", "variation": "replication", "response": "No."}
    pl.DataFrame({**answers, "iteration": range(20_000)}).write_parquet(tmp_path / "a.parquet")
    score_responses(
        tmp_path / "a.parquet", {"bai2025": BAI}, tmp_path / "s.parquet", instrument="chained_task"
    )
    assert pl.read_parquet(tmp_path / "s.parquet").height == 40_000


def test_journals_with_values_of_other_kinds_give_tables(tmp_path: Path) -> None:
    """A server's numbers and texts may be anything."""
    plan = make_plan("relative_decision", iterations=6)
    claim(tmp_path, plan)
    values = [None, 7, 1e300, 10**19, "x", [1], {"a": 1}, True, "\ud800", -5]
    odd, plain = (plan.trials()["trial_id"].to_list()[part] for part in (slice(10), slice(10, 12)))
    for name in ("response", "profile", "stop_reason", "input_tokens", "output_tokens", "error"):
        with contextlib.closing(Journal(tmp_path, MODEL)) as journal:
            for trial, value in zip(odd, values, strict=True):
                journal.append({"trial_id": trial, "response": "Yes", name: value})
            for trial in plain:
                journal.append({"trial_id": trial, "response": "No"})
        tabulate(tmp_path)
        responses = pl.read_parquet(tmp_path / "responses.parquet")
        assert responses.height == 12
        assert responses["input_tokens"].drop_nulls().is_between(0, 2**53).all()


def test_scores_of_several_models_joined_in_memory_are_estimated() -> None:
    """A frame of several pieces, with a column that is one piece: polars' `format` panicked."""
    from clinometer.scoring import score
    from clinometer.simulated.tables import answer_trials
    from clinometer.simulated.truth import load_truth

    trials = cm.draw("bai2025", cm.Design(iterations=2), stereotypes=["age", "power", "science"])
    scores = score(answer_trials(trials, load_truth("leaning")), "bai2025").scores
    renamed = [scores.with_columns(model=pl.lit(f"table {k}")) for k in range(3)]
    all_scores = pl.concat(renamed).with_columns(model=pl.concat(renamed)["model"].rechunk())
    assert all_scores.n_chunks("all") != [1] * all_scores.width
    pooled = cm.estimate(all_scores).filter(level="model", method="clustered")
    alone = cm.estimate(scores).filter(level="model", method="clustered")
    assert set(pooled["model"].drop_nulls()) == {f"table {k}" for k in range(3)}
    assert pooled["estimate"].drop_nulls().unique().len() == 1
    assert pooled["estimate"][0] == pytest.approx(alone["estimate"][0])
