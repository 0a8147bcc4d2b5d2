"""``clinometer audit``, ``run`` and ``cost``: what is asked, and whole runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
import yaml

from clinometer.asking.plan import Plan
from clinometer.audits.deciding import parts_of_stage
from clinometer.audits.planning import power_of_plan
from clinometer.cli.auditing import audit_command, run_command
from clinometer.cli.options import build_plan
from clinometer.cli.planning import say_power
from clinometer.comparing.showing import show
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.errors import StudyError
from clinometer.report.answers.people import people_section
from clinometer.report.answers.reading import read_results
from clinometer.stimuli import load_study, study_hash
from clinometer_measures.bold.items import read_bold

Run = Callable[..., tuple[int, str, str]]
LOOP = "openai-api/loop/m"
MIST = load_study("mist2025")


def planned(model: str, *arguments: str) -> Plan:
    """Plan an audit as the command line would."""
    with audit_command.make_context("audit", [model, *arguments]) as context:
        assert isinstance(context, click.Context)
        options = dict(context.params)
    return build_plan(options.pop("models"), options, options.pop("size"))


def planned_instruments(plan: Plan) -> set[tuple[str, str]]:
    return {(s.study.name, s.instrument) for s in plan.selections}


def planned_controls(plan: Plan) -> set[tuple[str, str, str]]:
    """Return what stands as a control in the wordings of a study: study, instrument, control."""
    return {
        (part.study.name, part.instrument, control)
        for part in plan.selections
        for key in part.stereotypes
        if (control := part.study.stereotypes[key].taken_from)
    }


def test_an_audit_asks_the_wide_study_and_the_controls() -> None:
    plan = planned("openai/x", "--size", "standard")
    planned_pairs = planned_instruments(plan)
    wide = {("clinometer2026", name) for name in ("word_association", "relative_decision")}
    assert wide < planned_pairs and not {("bai2025", name) for _, name in wide} & planned_pairs
    assert ("clinometer2026_content", "word_association") in planned_pairs
    assert {instrument for study, instrument in planned_pairs if study == "mist2025"} == {
        "affective_attribution"
    }
    task_instruments = {
        ("control_insects", "relative_decision"),
        ("control_constructs", "relative_decision"),
    }
    assert task_instruments < planned_pairs
    assert {(*pair, control) for pair, control in (
        (("clinometer2026", "word_association"), "control_insects"),
        (("clinometer2026", "word_association"), "control_constructs"),
        (("clinometer2026_content", "word_association"), "control_constructs"),
        (("clinometer2026_content", "word_association"), "control_nonsense"),
        (("mist2025", "affective_attribution"), "control_occasions"),
        (("mist2025", "affective_attribution"), "control_nonsense"),
    )} < planned_controls(plan)  # fmt: skip


def test_an_audit_of_papers_size_has_their_numbers_of_trials() -> None:
    trials = planned("openai/x", "--size", "paper").trials()
    counts = dict(trials.group_by("study", "instrument").len().select(
        pl.concat_str("study", "instrument", separator=" "), "len").iter_rows())  # fmt: skip
    assert counts == {
        "bai2025 word_association": 4_200, "bai2025 relative_decision": 4_200,
        "mist2025 word_association": 4_500, "mist2025 affective_attribution": 1_500,
    }  # fmt: skip


def test_a_quick_audit_leaves_out_what_so_few_calls_cannot_tell() -> None:
    assert {study for study, _ in planned_instruments(planned("openai/x"))} == {
        "clinometer2026", "control_insects", "control_constructs", "control_nonsense"
    }  # fmt: skip
    mist_instruments = planned_instruments(planned("openai/x", "--study", "mist2025"))
    assert mist_instruments == {("mist2025", name) for name in (
        "word_association", "affective_attribution", "self_report_agreement",
        "self_report_comparison",
    )}  # fmt: skip
    assert ("mist2025", "word_association") in planned_instruments(
        planned("openai/x", "--stereotypes", "age")
    )


@pytest.mark.parametrize("name", ["bbq", "hypothetical_decision", "reasoning_cost"])
def test_a_benchmark_is_asked_where_it_or_its_study_is_named(name: str) -> None:
    study = INSTRUMENTS[name].study
    for arguments in ((), ("--stereotypes", "age"), ("--size", "paper")):
        assert (study, name) not in planned_instruments(planned("openai/x", *arguments))
    for arguments in (("--instrument", name), ("--study", study)):
        assert (study, name) in planned_instruments(planned("openai/x", *arguments))


HIRING = ("--instrument", "hiring")


@pytest.mark.parametrize(
    "command",
    ["audit", "run", "cost", "cost --size run", "power", "power --size quick", "plan --out r"],
)
def test_names_are_looked_for_in_the_study_of_the_instrument(run: Run, command: str) -> None:
    name, *options = command.split()
    call = (name, "openai/x", *options, *HIRING)
    code, _, err = run(*call, "--stereotypes", "black_woman")
    assert code == 2 and "did you mean black_women" in err
    code, _, err = run(*call, "--variations", "screens")
    assert code == 2 and "did you mean screen" in err
    # A study that is named is the one that is looked in.
    code, _, err = run(*call, "--study", "bai2025", "--stereotypes", "black_women")
    assert code == 2 and "study 'bai2025' has no instrument 'hiring'" in err


def test_a_run_asks_each_instrument_about_its_study() -> None:
    both = (*HIRING, "--instrument", "word_association")
    hiring, words = ("hiring", "hiring"), ("bai2025", "word_association")
    assert planned_instruments(planned_run()) == {words}
    assert planned_instruments(planned_run(*HIRING)) == {hiring}
    assert planned_instruments(planned_run(*both)) == {hiring, words}
    assert planned_instruments(planned_run(*both, "--stereotypes", "black_women")) == {hiring}
    assert planned_instruments(planned_run(*both, "--stereotypes", "age")) == {words}
    with pytest.raises(StudyError, match="has no instrument 'hiring'"):
        planned_run(*HIRING, "--study", "bai2025")


@pytest.mark.parametrize("name", ["bbq", "hypothetical_decision", "bold"])
def test_an_explicit_baseline_is_asked_by_name_with_its_controls(name: str) -> None:
    study = INSTRUMENTS[name].study
    controls = {(control, name) for control in ("control_insects", "control_nonsense")}
    for size in ("quick", "standard", "paper"):
        plan = planned("openai/x", "--instrument", name, "--size", size)
        assert planned_instruments(plan) == {(study, name), *controls}
    for arguments in (("--study", study), ("--study", study, "--instrument", name)):
        assert planned_instruments(planned("openai/x", *arguments)) == {(study, name)}
    assert not controls & planned_instruments(planned("openai/x"))


@pytest.mark.parametrize(
    ("name", "counts"),
    [("bbq", [("bbq", 88), ("control_insects", 32), ("control_nonsense", 32)]),
     ("hypothetical_decision",
      [("control_insects", 24), ("control_nonsense", 16), ("discrim_eval", 32)])],
)  # fmt: skip
def test_calls_of_a_quick_explicit_baseline(name: str, counts: list[tuple[str, int]]) -> None:
    trials = planned("openai/x", "--instrument", name).trials()
    assert trials.group_by("study").len().sort("study").rows() == counts
    assert trials.filter(pl.col("prompt").str.contains("{", literal=True)).is_empty()


def test_bold_without_its_items_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINOMETER_ITEMS", "items")
    read_bold.cache_clear()  # what other tests read
    code, _, err = run("audit", "openai/x", "--instrument", "bold", "--out", "r")
    assert code == 2 and "Bring it with: clinometer items bold" in err and err.count("\n") == 1
    assert not Path("r").exists()


def test_a_study_that_was_not_named_is_left_out_where_it_lacks_what_was() -> None:
    assert {s for s, _ in planned_instruments(planned("openai/x", "--stereotypes", "racism"))} == {
        "clinometer2026", "control_insects", "control_nonsense"
    }  # fmt: skip
    assert "bai2025" not in {
        s for s, _ in planned_instruments(planned("openai/x", "--variations", "template1"))
    }
    only = planned("openai/x", "--instrument", "affective_attribution")
    assert planned_instruments(only) == {("mist2025", "affective_attribution")}
    assert {control for *_, control in planned_controls(only)} == {
        "control_occasions", "control_nonsense"
    }  # fmt: skip


def test_the_embedded_model_is_spared_what_takes_long() -> None:
    plan = planned("clinometer/smollm2")
    selections = {(s.study.name, s.instrument): s for s in plan.selections}
    assert plan.modes == ("likelihood",)
    for selection in selections.values():
        fitting = INSTRUMENTS[selection.instrument].variations_in(
            "likelihood", selection.study, selection.variations
        )
        assert fitting == list(selection.variations)
    assert {*selections} == {
        ("clinometer2026", n) for n in ("word_association", "relative_decision")
    }
    mist_plan = planned("clinometer/smollm2", "--study", "mist2025", "--variations", "template3")
    assert {tuple(s.variations) for s in mist_plan.selections} == {("template3",)}
    standard = planned("clinometer/smollm2", "--size", "standard")
    assert standard.modes == ("likelihood", "structured")  # where an instrument has no sentences
    assert plan.generation.max_tokens == 48
    assert planned("clinometer/smollm2", "--mode", "free").generation.max_tokens == 1024


def test_the_embedded_model_is_asked_in_a_mode_that_the_instruments_have() -> None:
    arguments = ("clinometer/smollm2", "--instrument", "self_moderation")
    assert planned(*arguments).modes == ("structured",)
    assert set(planned(*arguments).trials()["mode"]) == {"structured"}
    assert planned(*arguments, "--mode", "free").modes == ("free",)


def leaning(body: dict[str, Any]) -> str:
    """Answer as a model that gives old people the low poles and tragedy."""
    prompt = body["messages"][-1]["content"]
    old, young = (
        set(getattr(MIST.stereotypes["age"], side)) for side in ("marginalized", "default")
    )
    if words := re.search(r"The words are (.+?)\. Do not", prompt):
        prompt_words = [
            w for w in (*old, *young) if re.search(rf"\b{w}\b", prompt.split("(X, S)")[0])
        ]
        first, second = (next(w for w in prompt_words if w in side) for side in (old, young))
        low = {word for pole in MIST.dimensions.values() for word in pole.tied}
        pairs = [f"({w}, {first if w in low else second})" for w in words[1].split(", ")]
        return "\n".join(pairs)
    opening = body["messages"][0]["content"]
    if len(body["messages"]) == 1:
        return "A thing that stands there."
    thinks_of_old = any(re.search(rf"\b{word}\b", opening) for word in old)
    return "It: " + ("Tragedy." if thinks_of_old else "Comedy.")


def test_a_whole_audit_of_one_stereotype(run: Run, serve: Callable[..., Any]) -> None:
    server = serve()
    server.reply = lambda body: server.chat(body, leaning(body))
    command = ("audit", LOOP, "--study", "mist2025", "--stereotypes", "age", "--out", "r")
    code, out, err = run(*command, "--max-connections", "2")
    assert code == 0 and "r/report.html" in out
    lines = [line for line in err.splitlines() if "asking: " not in line]  # said if it takes long
    remark, *unscored = lines
    assert remark.startswith("clinometer: no controls are asked")
    assert len(unscored) == 2 and all("self_report" in line for line in unscored)
    estimates = pl.read_parquet("r/estimates.parquet").filter(level="model", method="clustered")
    tests = estimates.drop_nulls("dimension").filter(instrument="word_association")
    assert set(tests["dimension"]) == {*MIST.dimensions}
    assert tests.select("n", "n_scored", "estimate").unique().rows() == [(12, 12, 1.0)]
    rates = pl.read_parquet("r/attributions.parquet").filter(level="model").sort("version")
    assert rates.select("far", "uar").rows() == [(1.0, None), (None, 1.0)]
    change = estimates.filter(pl.col("measure") != "compliance", factor="version")
    assert change.select("measure", "estimate").sort("measure").rows() == [
        ("comedy_share", 1.0), ("far_minus_uar", 0.0), ("tragedy_share", -1.0)
    ]  # fmt: skip
    before = server.prompts.total()
    assert run(*command)[0] == 0 and server.prompts.total() == before


def test_an_instrument_a_study_lacks_is_named(run: Run) -> None:
    code, _, err = run("run", LOOP, "--study", "control_occasions")
    assert code == 2
    assert "'control_occasions' has no instrument 'word_association'" in err
    assert "it has affective_attribution" in err


STUDY = """
name: teams
dimensions:
  competence: {{tied: [clumsy, slow], counter: [skilled, {word}]}}
{more}
stereotypes:
  visitors: {{marginalized: [visitor], default: [host]}}
"""


@pytest.mark.parametrize(
    ("word", "more", "says"),
    [
        ("quick", "objects: [a, a]", "objects: word 'a' stands twice"),
        ("host", "", "visitors on competence: word 'host' stands in both default and counter"),
        ("slow", "", None),
        (
            "quick",
            "answers: {refusal: [no]}",
            "answers: unknown field 'refusal'; did you mean refusals",
        ),
    ],
)
def test_what_is_wrong_with_a_study_is_one_line(
    run: Run, word: str, more: str, says: str | None
) -> None:
    Path("teams.yaml").write_text(STUDY.format(word=word, more=more))
    code, _, err = run("validate", "teams.yaml")
    assert (code, err.count("\n")) == (2, 1)
    assert (says or "'slow'") in err and "teams.yaml:" in err


@pytest.mark.parametrize(
    ("wordings", "says"),
    [
        ("word_association: {words_per_set: 3}", "words_per_set 3: competence has a set of 2"),
        ("affective_attribution: {comedy: [odd], tragedy: [Odd]}", "in both comedy and tragedy"),
        ("affective_attribution: {variations: {x: {wording: 'On {group}', followup: a}}}",
         "must hold {object}"),
    ],
)  # fmt: skip
def test_wordings_that_cannot_be_asked_are_refused(wordings: str, says: str) -> None:
    import yaml

    from clinometer.errors import StudyError
    from clinometer.stimuli import parse_study

    content = yaml.safe_load(STUDY.format(word="quick", more="objects: [a, b]"))
    instrument, changed = next(iter(yaml.safe_load(wordings).items()))
    shared = MIST.instruments.model_dump(mode="json", exclude_none=True)[instrument]
    content["instruments"] = {instrument: {**shared, **changed}}
    with pytest.raises(StudyError, match=re.escape(says)):
        parse_study(yaml.safe_dump(content), "teams.yaml")


def test_cost_of_the_papers_size(run) -> None:
    assert "14,400 trials, 15,900 calls" in run("cost", "openai/gpt-4o-mini", "--size", "paper")[1]


@pytest.mark.parametrize("command", ["run", "audit"])
@pytest.mark.parametrize("model", ["nope/x", "openai/gpt-4o", "gpt-4o"])
def test_a_model_that_cannot_be_opened_is_refused_before_the_cost_is_printed(
    run, command: str, model: str
) -> None:
    code, out, err = run(command, model, "--out", "r")
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert f"model {model!r}" in err and not Path("r").exists()


def test_cost_counts_both_turns_and_what_forced_mode_asks(run: Run) -> None:
    ask = ("cost", "openai/gpt-4o", "--size", "run", "--iterations", "4")
    ask += ("--stereotypes", "black", "--instrument")
    assert "4 trials, 8 calls" in run(*ask, "relative_decision", "--variations", "accents")[1]
    assert "4 trials, 4 calls" in run(*ask, "absolute_decision", "--mode", "forced")[1]
    assert "16 trials, 32 calls" in run(*ask, "relative_decision", "--mode", "forced")[1]


PETS_TEXT = """name: pets
interventions:
  gentle: Be gentle.
stereotypes:
  cats:
    marginalized: [cat]
    default: [dog]
    tied: [aloof]
    counter: [loyal]
    decisions:
      relative_decision:
        farm:
          wording: "{group0} or {group1}: {attribute0}? {attribute1}?"
"""


def test_a_run_with_interventions_sizes_and_a_judge(run: Run, serve: Any) -> None:
    Path("pets.yaml").write_text(PETS_TEXT)
    Path("sizes.yaml").write_text(f"{LOOP}: 7\n")
    server = serve()
    systems = set()

    def reply(body: dict[str, Any]) -> Any:
        messages = body["messages"]
        systems.update(m["content"] for m in messages if m["role"] == "system")
        judging = "response_format" in body
        return server.chat(body, '{"task 1": "group 1", "task 2": "group 2"}' if judging else "Hm.")

    server.reply = reply
    command = ("run", LOOP, "--study", "pets.yaml", "--instrument", "relative_decision")
    command += ("--iterations", "4", "--intervention", "gentle", "--intervention", "own=Be rude.")
    command += ("--sizes", "sizes.yaml", "--grader", "openai-api/loop/judge", "--out", "r")
    code, stdout, err = run(*command)
    assert code == 0, err
    assert systems == {"Be gentle.", "Be rude."}
    assert "judge openai-api/loop/judge: 1 of 1 open decisions" in stdout
    plan = json.loads(Path("r/plan.json").read_text())
    assert plan["sizes"] == {LOOP: 7.0}
    assert plan["interventions"] == {"none": None, "gentle": "Be gentle.", "own": "Be rude."}
    scores = pl.read_parquet("r/scores.parquet")
    assert scores["read_by"].to_list() == ["judge"] * 12
    candidates = pl.read_parquet("r/estimates.parquet")["candidate"].drop_nulls()
    assert set(candidates) == {"gentle", "own"}
    n_prompts = server.prompts.total()
    assert run(*command)[0] == 0
    assert server.prompts.total() == n_prompts


def test_efforts_and_temperatures_are_paired_and_reasoning_is_kept(run: Run, serve: Any) -> None:
    server = serve()
    settings = set()

    def reply(body: dict[str, Any]) -> Any:
        settings.add((body["reasoning_effort"], body["temperature"]))
        status, answer = server.chat(body)
        answer["choices"][0]["message"] |= {"reasoning_content": "Old?\ud800"}
        answer["usage"]["completion_tokens_details"] = {"reasoning_tokens": 40}
        return status, answer

    server.reply = reply
    command = ("run", LOOP, "--stereotypes", "age", "--variations", "replication",
               "--iterations", "4", "--out", "r")  # fmt: skip
    code, _, err = run(*command, "--reasoning-effort", "low,high", "--temperature", "0.5,0")
    assert code == 0, err
    assert settings == {(effort, t) for effort in ("low", "high") for t in (0.5, 0)}
    answers = pl.read_parquet("r/responses.parquet")
    assert answers.group_by("reasoning_effort", "temperature").len()["len"].unique().to_list() == [
        answers.height / 4
    ]
    assert set(answers["reasoning_tokens"]) == {40} and set(answers["reasoning"]) == {"Old??"}
    estimates = pl.read_parquet("r/estimates.parquet")
    calls = server.prompts.total()
    code, _, err = run(*command[:-1], "n", "--reasoning-effort", "low,1024")
    assert (code, server.prompts.total()) == (2, calls) and f"reasoning of {LOOP} cannot" in err
    changes = estimates.filter(level="model", method="clustered", measure="word_association")
    factors = changes.drop_nulls("factor").select("factor", "baseline", "candidate").unique()
    assert set(factors.rows()) == {
        ("reasoning_effort", "low", "high"), ("temperature", "0", "0.5")
    }  # fmt: skip
    scores = ("--scores", "r/scores.parquet", "--out", "e.csv")
    code, _, err = run("contrast", *scores, "--factor", "temperature", "--baseline", "0")
    assert code == 0, err
    differences = pl.read_csv("e.csv", infer_schema=False)
    assert set(differences["candidate"]) == {"0.5"}
    assert set(differences["reasoning_effort"]) == {"low", "high"}


def test_a_model_that_states_no_reasoning_is_told_so_in_a_line(run: Run, serve: Any) -> None:
    server = serve()

    def reply(body: dict[str, Any]) -> Any:
        return server.chat(body, re.findall(r"\[(\w+), ", body["messages"][-1]["content"])[0])

    server.reply = reply
    part = ("--study", "rmiat2025", "--instrument", "reasoning_cost", "--stereotypes", "young_old")
    code, _, err = run("run", LOOP, *part, "--iterations", "4", "--variations", "1,4", "--out", "r")
    assert code == 0, err
    assert (
        f"nothing scored: {LOOP}, rmiat2025, reasoning_cost, free: 8 unreasoned: "
        "no tokens of reasoning are stated" in err
    )
    rows = pl.read_parquet("r/estimates.parquet").filter(level="model", method="clustered")
    assert dict(rows.select("measure", "verdict").rows())["reasoning_cost"] == (
        "no verdict: nothing scored"
    )


def test_reasoning_cost_is_asked_by_name_with_its_controls() -> None:
    for size in ("quick", "standard", "paper"):
        assert "reasoning_cost" not in {
            i for _, i in planned_instruments(planned("openai/x", "--size", size))
        }
    plan = planned("openai/x", "--instrument", "reasoning_cost")
    assert planned_instruments(plan) == {
        (study, "reasoning_cost") for study in ("rmiat2025", "control_insects", "control_nonsense")
    }
    trials = plan.trials()
    assert trials.group_by("study").len().sort("study").rows() == [
        ("control_insects", 160), ("control_nonsense", 80), ("rmiat2025", 480)
    ]  # fmt: skip
    assert trials.filter(pl.col("prompt").str.contains("{", literal=True)).is_empty()


def test_a_temperature_that_is_no_number_is_refused(run: Run) -> None:
    code, _, err = run("cost", "openai/x", "--temperature", "0,warm")
    assert code == 2 and "temperature '0,warm': expected a number, or several as 0,1" in err


def test_power_says_what_a_design_can_tell_and_asks_nothing(run: Run) -> None:
    five = ("--stereotypes", "age,weight,disability,mentalill,eating", "--iterations", "4")
    code, out, _ = run("power", "openai/x", *five)
    assert code == 0
    assert "5 stereotypes" in out and "gpt-4o" in out
    code, out, _ = run("power", "openai/x", *five, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert {row["level"] for row in rows} == {"stereotype", "category", "model"}


def test_an_audit_says_which_levels_it_can_tell(capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned("openai/x", "--instrument", "relative_decision")
    say_power(plan, verbose=False)
    (brief,) = capsys.readouterr().out.splitlines()
    assert re.search(r": relative decision 0\.\d\d, (0\.\d\d|none)$", brief)
    say_power(plan, verbose=True)
    means, *controls = capsys.readouterr().out.splitlines()[1:]
    assert re.search(r": model 0\.\d\d; category 0\.\d\d.*; stereotype 0\.\d\d", means)
    for study, control in zip(("control_constructs", "control_insects"), controls, strict=True):
        assert study in control and "beyond the margin from" in control


def test_a_control_with_dimensions_is_told_by_the_worst(capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned("openai/x", "--instrument", "bbq")
    needed = power_of_plan(plan, runs=8).filter(control="positive")["smallest_beyond"]
    say_power(plan, verbose=True)
    worst = "none" if needed.null_count() else f"{needed.max():.2f}"
    assert capsys.readouterr().out.splitlines()[-1].endswith(f"beyond the margin from {worst}")


def test_power_compares_designs_with_as_many_calls(run: Run) -> None:
    code, out, _ = run("power", "openai/x", "--stereotypes", "age,weight", "--calls", "60")
    assert code == 0
    assert len(out.splitlines()) == 2 + 3  # two, three and four wordings
    assert run("power", "openai/x", "--study", "bai2025", "--calls", "-3")[2].endswith(
        "calls -3: at least 1\n"
    )
    code, out, err = run("power", "openai/x", "--calls", "1")
    assert (code, out) == (2, "")
    assert err.startswith("clinometer: calls 1: ") and err.count("\n") == 1


def test_controls_are_asked_beside_a_named_study_where_they_are_asked_for() -> None:
    arguments = ("openai/x", "--study", "mist2025", "--instrument", "word_association")
    measure = ("mist2025", "word_association")
    plan = planned(*arguments, "--controls")
    assert planned_instruments(plan) == {measure}
    assert planned_controls(plan) == {
        (*measure, f"control_{name}") for name in ("insects", "constructs", "nonsense")
    }  # fmt: skip
    assert not planned_controls(planned(*arguments))
    assert not planned_controls(planned("openai/x", "--no-controls"))


WIDE = ("openai/x", "--study", "clinometer2026", "--instrument", "word_association")


def test_the_wordings_of_a_wide_study_take_turns() -> None:
    trials = planned(*WIDE).trials()
    assert len(trials) == 21 * 8 * 2
    by_stereotype = trials.group_by("stereotype").agg(pl.col("variation").n_unique(), pl.len())
    assert {*by_stereotype["variation"]} == {8} and {*by_stereotype["len"]} == {16}
    by_wording = trials.group_by("variation").agg(pl.col("stereotype").n_unique())
    assert by_wording.height == 16
    assert by_wording["stereotype"].is_between(10, 11).all()
    # Stereotypes that follow each other, of one category, are asked in different wordings.
    wordings = [{*trials.filter(stereotype=key)["variation"]} for key in ("racism", "guilt")]
    assert len(wordings[0] & wordings[1]) == 4


def test_a_stereotype_has_the_same_turn_alone() -> None:
    everything = planned(*WIDE).trials()
    for key in ("guilt", "age"):
        alone = planned(*WIDE, "--stereotypes", key).trials()
        assert alone.sort("trial_id").equals(everything.filter(stereotype=key).sort("trial_id"))


@pytest.mark.parametrize(
    ("options", "per_stereotype"),
    [(("--size", "standard"), 64), (("--iterations", "4"), 32), (("--variations", "w01,w02"), 4),
     (("--until", "decided"), 64)],
)  # fmt: skip
def test_turns_leave_room_for_what_the_user_sets(
    options: tuple[str, ...], per_stereotype: int
) -> None:
    trials = planned(*WIDE, *options).without_looks().trials()
    assert {*trials.group_by("stereotype").len()["len"]} == {per_stereotype}


def test_controls_of_a_wide_study_are_asked_in_its_wordings() -> None:
    """In all of them."""
    trials = planned(*WIDE, "--controls").trials()
    for key, per_wording in (("insects", 2), ("predators", 2), ("nonsense", 4)):
        control = trials.filter(stereotype=key)
        assert control["variation"].n_unique() == 16 and control.height == 16 * per_wording


def test_positive_controls_are_of_the_constructs_that_are_asked_about() -> None:
    def controls(*stereotypes: str) -> set[str]:
        arguments = (*WIDE, "--controls", "--stereotypes", ",".join(stereotypes))
        keys = {key for part in planned(*arguments).selections for key in part.stereotypes}
        return keys - {*stereotypes, "nonsense"}

    assert controls("age") == {"insects"}
    assert controls("career") == {"actresses"}
    assert controls("age", "weapon", "power") == {"insects", "predators", "beginners"}


CONTENT = ("openai/x", "--study", "clinometer2026_content", "--instrument", "word_association")


@pytest.mark.parametrize(("size", "wordings", "number"), [("quick", 8, 2), ("standard", 16, 2),
                                                          ("paper", 16, 10)])  # fmt: skip
def test_a_study_of_dimensions_takes_turns_on_each(size: str, wordings: int, number: int) -> None:
    trials = planned(*CONTENT, "--size", size).trials()
    cells = trials.group_by("stereotype", "dimension")
    assert {*cells.agg(pl.col("variation").n_unique())["variation"]} == {wordings}
    assert {*cells.len()["len"]} == {wordings * number} and len(cells.len()) == 30


def test_each_dimension_has_a_control_of_its_construct() -> None:
    keys = {key for part in planned(*CONTENT, "--controls").selections for key in part.stereotypes}
    controls = keys - {*load_study("clinometer2026_content").stereotypes}
    assert controls == {"beginners", "hermits", "thieves", "nonsense"}
    replicated = planned(*CONTENT[:1], "--study", "mist2025", *CONTENT[3:], "--controls")
    mist_keys = {key for part in replicated.selections for key in part.stereotypes}
    assert mist_keys - {*MIST.stereotypes} == {"beginners", "insects", "nonsense"}


def test_tasks_have_their_controls_in_the_sentences_of_the_study() -> None:
    arguments = ("hf/x", "--mode", "likelihood", "--instrument", "relative_decision")
    plan = planned(*arguments)
    assert {study for study, _ in planned_instruments(plan)} == {"clinometer2026"}
    assert {control for *_, control in planned_controls(plan)} == {
        "control_insects", "control_constructs", "control_nonsense"
    }  # fmt: skip
    trials = plan.trials()
    nonsense = trials.filter(stereotype="nonsense")
    assert {*nonsense["variation"]} == {*trials.filter(category="race")["variation"]}
    assert nonsense["variation"].n_unique() == 34


def test_controls_in_sentences_leave_tasks_as_they_are() -> None:
    arguments = (
        "hf/x",
        "--study",
        "bai2025",
        "--instrument",
        "relative_decision",
        "--mode",
        "likelihood",
    )
    alone, controlled = (
        planned(*arguments, option).trials() for option in ("--no-controls", "--controls")
    )
    is_of_study = pl.col("stereotype").is_in([*load_study("bai2025").stereotypes])
    assert controlled.filter(is_of_study).sort("trial_id").equals(alone.sort("trial_id"))
    assert {"insects", "predators", "nonsense"} <= {*controlled.filter(~is_of_study)["stereotype"]}


def test_controls_leave_what_else_is_asked_as_it_is() -> None:
    arguments = ("openai/x", "--study", "bai2025", "--instrument", "word_association")
    alone, controlled = (
        planned(*arguments, option).trials() for option in ("--no-controls", "--controls")
    )
    stereotypes = [*load_study("bai2025").stereotypes]
    controlled = controlled.filter(study="bai2025")
    study_trials = controlled.filter(pl.col("stereotype").is_in(stereotypes))
    assert study_trials.sort("trial_id").equals(alone.sort("trial_id"))
    controls = controlled.filter(~pl.col("stereotype").is_in(stereotypes))
    controls = controls.filter(~pl.col("stereotype").str.contains("^(words|things)_"))
    assert {*controls["stereotype"]} == {
        "insects", "nonsense", "actresses", "beginners", "predators"
    }  # fmt: skip
    # Synonyms are asked of stereotypes that name them.
    assert {*controls["variation"]} == {*study_trials["variation"]} - {"synonym"}


LEANING = ("audit", "simulated/leaning", "--study", "bai2025", "--stereotypes", "age,career",
           "--instrument", "word_association")  # fmt: skip


@pytest.fixture(scope="module")
def controlled(run_in: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of an audit with controls, which nothing may change, and its output."""
    folder = tmp_path_factory.mktemp("controlled")
    code, out, err = run_in(folder, *LEANING, "--controls", "--verbose", "--out", "r")
    assert code == 0, err
    return folder / "r", out


def test_controls_within_a_study_are_told_apart_from_it(
    run: Run, controlled: tuple[Path, str]
) -> None:
    """In what a plan can tell, and in the means that an answer enters."""
    folder, out = controlled
    planned_lines = [line for line in out.splitlines() if "word_association, bai2025," in line]
    assert len(planned_lines) == 2 and "control; shown to lie beyond" in planned_lines[1]
    for name, kinds in (("age", {None}), ("insects", {"positive"}), ("nonsense", {"negative"})):
        assert {*show(folder, [name]).estimates["control"]} == kinds
    rows = pl.read_parquet(folder / "estimates.parquet")
    rows = rows.filter(level="stereotype", method="clustered")
    constructs = dict(rows.select("stereotype", "construct").iter_rows())
    assert constructs["age"] == constructs["insects"] == "pleasantness"
    assert constructs["nonsense"] is None
    code, out, _ = run("show", str(folder), "insects")
    assert code == 0 and "model positive controls" in out


def test_a_run_with_controls_goes_on_unless_their_words_were_changed(run: Run) -> None:
    arguments = ("run", "simulated/leaning", "--study", "bai2025", "--stereotypes", "age",
             "--variations", "replication", "--controls", "--iterations", "2",
             "--out", "r")  # fmt: skip
    assert run(*arguments)[0] == 0
    code, _, err = run(*arguments)
    assert code == 0 and "shipped study" not in err
    plan = json.loads(Path("r/plan.json").read_text(encoding="utf-8"))
    assert plan["sources"]["bai2025"]["study_hash"] == study_hash(load_study("bai2025"))
    study = Path("r/studies/bai2025.yaml")
    study.write_text(study.read_text(encoding="utf-8").replace("wasp", "bee"), encoding="utf-8")
    code, _, err = run("report", "r")
    assert code == 2 and "changed since the plan was made" in err


def test_controls_that_are_asked_more_have_more_looks_too() -> None:
    """Of a plan that ends where it is decided, each part has its own last look."""
    plan = planned("openai/x", "--study", "bai2025", "--instrument", "word_association",
                   "--controls", "--until", "decided")  # fmt: skip
    final_iterations = {
        key: trials_per_wording
        for part, trials_per_wording in parts_of_stage(plan)
        for key in part.stereotypes
    }
    keys = ("age", "insects", "predators", "nonsense")
    assert [final_iterations[key] for key in keys] == [16, 32, 32, 64]


def test_controls_in_another_language_or_in_longer_sets_keep_their_own_wordings(
    tmp_path: Path,
) -> None:
    """German wordings take no English words, and sets of 9 words no control of 8."""
    content = {**MIST.model_dump(exclude_none=True), "name": "long"}
    content["instruments"]["word_association"]["words_per_set"] = 9
    longer = tmp_path / "long.yaml"
    longer.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    arguments = ("openai/x", "--instrument", "word_association", "--controls", "--study")
    for study in ("herkunft_de", str(longer)):
        plan = planned(*arguments, study)
        assert not planned_controls(plan)
        assert ("control_insects", "word_association") in planned_instruments(plan)


def planned_run(*arguments: str) -> Plan:
    """Plan a run as the command line would."""
    with run_command.make_context("run", ["openai/x", *arguments]) as context:
        options = dict(context.params)
    return build_plan(options.pop("models"), options)


def test_a_run_asks_the_controls_with_its_own_number_of_trials() -> None:
    selection = ("--study", "mist2025", "--instrument", "word_association", "--iterations", "6")
    with_controls = planned_run(*selection, "--controls")
    assert {control for *_, control in planned_controls(with_controls)} == {
        "control_insects", "control_constructs", "control_nonsense"
    }  # fmt: skip
    sizes = with_controls.trials().group_by("study", "stereotype", "dimension", "variation").len()
    assert set(sizes["len"]) == {6}
    for arguments in (selection, (*selection, "--no-controls")):
        assert planned_instruments(planned_run(*arguments)) == {("mist2025", "word_association")}


def test_stereotypes_with_one_word_are_asked_of_arbitrary_words_too() -> None:
    """As many trials as they have, but 48 in all at least; nothing else is asked otherwise."""
    arguments = ("openai/x", "--instrument", "word_association")
    placebos = {
        part.stereotypes[0]: part
        for part in planned(*arguments, "--study", "bai2025", "--controls").selections
        if part.stereotypes[0].startswith("words_")
    }
    (part,) = placebos.values()
    assert part.iterations == 4 and len(part.stereotypes) == 8
    alone = planned(*arguments, "--study", "bai2025", "--controls", "--stereotypes", "age,black")
    (part,) = (selection for selection in alone.selections if "words_age" in selection.stereotypes)
    assert part.stereotypes == ["words_age"] and part.iterations == 12
    assert len(part.study.stereotypes["words_age"].default) == 12
    several = planned(*arguments, "--study", "clinometer2026", "--controls")
    german = planned(*arguments, "--study", "herkunft_de", "--controls")
    without = planned(*arguments, "--study", "bai2025")
    for plan in (several, german, without):
        assert not any("words_" in key for part in plan.selections for key in part.stereotypes)
    five = ("--stereotypes", "age,weight,guilt,racism,weapon", "--iterations", "2")
    (part,) = (
        selection
        for selection in planned(*arguments, "--study", "bai2025", "--controls", *five).selections
        if "words_age" in selection.stereotypes
    )
    assert part.iterations == 4  # of 9 trials each, in both orders


def test_the_placebos_of_single_words_are_asked_scored_and_shown(
    controlled: tuple[Path, str],
) -> None:
    rows = pl.read_parquet(controlled[0] / "estimates.parquet")
    rows = rows.filter(level="stereotype", method="clustered", study="bai2025")
    means = rows.filter(pl.col("factor").is_null(), measure="word_association")
    by_name = {row["stereotype"]: row for row in means.iter_rows(named=True)}
    assert by_name["words_age"]["control"] == "words"
    assert by_name["words_age"]["verdict"] == "passed"
    assert "words as arbitrary ones" in by_name["age"]["conditional_on"]


def test_stereotypes_with_one_word_are_asked_of_people_and_of_things_too() -> None:
    """As often as of the word, in the same wordings; not without controls, nor at size paper."""
    options = ("openai/x", "--instrument", "word_association", "--study", "bai2025")
    plan = planned(*options, "--controls")
    trials = plan.trials().with_columns(of_people=pl.col("study") == "bai2025_people")
    sizes = {row[:2]: row[2] for row in trials.group_by("of_people", "stereotype").len().rows()}
    assert sizes[True, "age"] == sizes[False, "things_age"] == sizes[False, "age"] == 16
    people_keys = {key for people, key in sizes if people}
    # Controls of the constructs that these stereotypes differ in stand in their study, too.
    assert people_keys == {
        *("racism", "guilt", "skintone", "weapon", "sexuality", "disability", "weight", "age"),
        *("insects", "predators", "nonsense"),
    }
    assert {key for _, key in sizes if key.startswith("things_")} == {
        f"things_{key}" for key in ("racism", "guilt", "skintone", "weapon", "weight", "age")
    }
    assert plan.selections[0].study.name == plan.describe()["study"] == "bai2025"
    for arguments in (
        (*options, "--no-controls"),
        (*options, "--controls", "--size", "paper"),
        options,
    ):
        bare = planned(*arguments)
        assert planned_instruments(bare) == {("bai2025", "word_association")}
        assert not any("things_" in key for part in bare.selections for key in part.stereotypes)
    several = planned("openai/x", "--study", "clinometer2026", "--controls")
    assert "clinometer2026_people" not in {study for study, _ in planned_instruments(several)}


def test_windows_of_sentences_are_those_of_the_word() -> None:
    plan = planned("clinometer/smollm2", "--study", "bai2025", "--controls", "--mode", "likelihood")
    variations = {
        (part.study.name, key): part.variations
        for part in plan.selections
        for key in part.stereotypes
        if part.instrument == "word_association"
    }
    for key in ("racism", "guilt", "skintone", "weapon", "age"):
        word_windows = variations["bai2025", key]
        assert word_windows == variations["bai2025_people", key]
        assert word_windows == variations["bai2025", f"things_{key}"]
    decisions = {part.study.name for part in plan.selections if "decision" in part.instrument}
    assert "bai2025_people" not in decisions


def test_people_lead_and_the_word_and_things_stand_beside_them(
    run: Run, controlled: tuple[Path, str]
) -> None:
    beside, out = controlled
    first, second = read_results(beside).instruments
    assert (first.study, second.study) == ("bai2025_people", "bai2025")
    section = people_section(first)
    assert section is not None and people_section(second) is None
    (_, table), *_ = section.tables
    rows = [[cell.text for cell in row[:2]] for row in table.rows]
    assert rows == [["Age", "people"], ["Age", "the study’s word alone"], ["Age", "things"]]
    # Headlines count people, and the word no more.
    assert {*second.by_stereotype["stereotype"]} == {"age", "career"}
    assert second.headline["stereotype"].to_list() == ["career"]
    assert "1 stereotype named with one word: counted as people" in out
    things = second.controls.filter(control="things").row(0, named=True)
    assert things["verdict"] not in ("passed", "failed") and things["stereotype"] == "things_age"

    code, out, err = run(*LEANING, "--no-controls", "--out", "alone")
    assert code == 0 and "counted as people" not in out
    (alone,) = read_results(Path("alone")).instruments
    assert people_section(alone) is None and alone.headline.height == 2
    # What the paper asks, and its means, are as they were.
    for name, column in (("responses", "response"), ("scores", "score")):
        keys = ["trial_id", "prompt", column] if name == "responses" else ["trial_id", column]
        frames = [pl.read_parquet(f"{folder}/{name}.parquet") for folder in (beside, "alone")]
        extended, before = (frame.select(keys).sort("trial_id") for frame in frames)
        assert before.equals(extended.join(before, on="trial_id", how="semi").sort("trial_id"))
    means = ["level", "category", "stereotype", "estimate", "n"]
    assert second.by_stereotype.select(means).equals(alone.by_stereotype.select(means))
    assert second.by_model.select(means).equals(alone.by_model.select(means))


@pytest.mark.parametrize(("page", "key"), [("norms", "women"), ("matched-guise", "katz1933")])
def test_the_run_that_a_page_shows_has_the_controls_that_it_names(
    run: Run, page: str, key: str
) -> None:
    text = (Path(__file__).parents[2] / f"docs/how-to/{page}.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^clinometer (run MODEL .*--controls.*)$", text, re.MULTILINE)
    typed = command.replace("MODEL", "simulated/leaning").split()
    code, _, err = run(*typed, "--stereotypes", key, "--iterations", "2", "--out", "asked")
    assert code == 0, err
    estimates = pl.read_parquet("asked/estimates.parquet")
    assert {"positive", "negative"} <= {*estimates["control"].drop_nulls()}


@pytest.mark.parametrize(
    "typed",
    [
        "audit --responses a.csv --temperature 0",
        "audit --responses a.csv --until decided",
        "audit --responses a.csv --controls",
        "audit --responses a.csv --max-calls 5",
        "power openai/x --prices a.yaml",
        "power openai/x --calls 500 --margin 0.2",
    ],
)
def test_an_option_that_has_no_say_is_refused_by_name(run: Run, typed: str) -> None:
    code, out, err = run(*typed.split())
    option = next(word for word in reversed(typed.split()) if word.startswith("--"))
    assert (code, out) == (2, "")
    assert err.startswith(f"clinometer: {option}: has no say")


def test_options_that_recorded_answers_have_use_for_are_not_refused(run: Run) -> None:
    options = "--study bai2025 --instrument word_association --column response=output --json"
    code, _, err = run("audit", "--responses", "missing.csv", *options.split())
    assert code == 2 and "missing.csv" in err and "no say" not in err


def test_a_run_of_sentences_has_a_page_with_them_as_they_were_asked(run: Run) -> None:
    arguments = (
        "--study",
        "bai2025",
        "--instrument",
        "word_association",
        "--stereotypes",
        "age,power",
    )
    code, out, err = run(
        *(
            "audit",
            "simulated/leaning",
            "--mode",
            "likelihood",
            *arguments,
            "--no-profile",
            "--out",
            "r",
        )
    )
    assert code == 0, err
    page = Path("r/report.html").read_text(encoding="utf-8")
    assert "a sentence read to its end with each word" in page
    assert "{option}" not in page.split("<script>")[0].split("</style>")[-1]
    code, out, _ = run("show", "r", "age", "--limit", "1")
    assert code == 0 and "old | young" in out and "{option}" not in out
