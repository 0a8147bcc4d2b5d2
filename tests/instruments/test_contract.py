"""What every instrument keeps to, in each of its modes; and that a new one is one file."""

from __future__ import annotations

import importlib.util
import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.asking.budget import estimate_costs
from clinometer.cli.group import run_group
from clinometer.contracts import checks
from clinometer.contracts.catalogue import INSTRUMENTS, MEASURES, add_plug_ins, register, select
from clinometer.contracts.cells import Cell
from clinometer.contracts.checks import cases
from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Instrument, Key, Scored, Size
from clinometer.directory.codebook import codebook
from clinometer.directory.results import all_tables, read_results
from clinometer.errors import ClinometerWarning, InputError, StudyError
from clinometer.instruments.bbq import items_of
from clinometer.models.providers import find_provider
from clinometer.modes import CHOICES, MODES, TEXT
from clinometer.pieces.sections import Section
from clinometer.pieces.views import InstrumentResults
from clinometer.report import write_report
from clinometer.results import ESTIMATES, VERSIONS
from clinometer.results.columns import columns, typed_columns
from clinometer.results.schemas import Table, Tables
from clinometer.results.tables import read_table
from clinometer.stimuli import Study, load_study, parse_study

Row = dict[str, Any]
CASES = [(name, mode) for name, instrument in INSTRUMENTS.items() for mode in instrument.modes]

#: Instruments whose items have group words, or texts, of their own.
WITH_ITEMS = ("bbq", "bold", "even_handed", "matched_guise")

#: Instruments of episodes, whose answers are none that side with one end of the scale.
EPISODES = ("emergent",)

#: Studies in place of those whose items are brought.
INVENTED = {"bold": Path(__file__).with_name("continuations.yaml")}


def study_of(name: str) -> Study:
    return load_study(INVENTED.get(name, INSTRUMENTS[name].study))


@cache
def draw_trials(name: str, mode: str, iterations: int = 8, **design: Any) -> pl.DataFrame:
    return INSTRUMENTS[name].trials(study_of(name), Design(mode, iterations, **design))


@cache
def first_of(name: str, mode: str) -> Row:
    return draw_trials(name, mode).row(0, named=True)


def key_of(row: Row) -> Key:
    instrument, study = INSTRUMENTS[row["instrument"]], study_of(row["instrument"])
    return instrument.key(study, row["stereotype"], row["variation"], row["dimension"])


def with_partner(row: Row, response: str, consistent: bool) -> Row:
    """The trial with its tokens and the other of its pair, for scores that need both."""
    against = row["version"] in ("marginalized_counter", "default_tied")
    group, mapping = row["version"].rsplit("_", 1)
    partner_version = f"{group}_{'counter' if mapping == 'tied' else 'tied'}"
    tokens = [640, 0] if against == consistent else [0, 640]
    partner = {
        **row,
        "version": partner_version,
        "reasoning_tokens": tokens[1],
        "response": response,
    }
    return {**row, "reasoning_tokens": tokens[0], "other": partner}


def scored(name: str, row: Row, response: str) -> list[Scored]:
    return list(INSTRUMENTS[name].score(response, row, key_of(row)).values())


# What authors can check of their own instruments, in each mode

#: Those of how trials are drawn and scored, not of what each says. The first mode is checked with
#: every stereotype, the others with two.
CHECKS_OF_METHOD = (
    checks.says_what_it_asks,
    checks.pairs_differ_in_order_or_group_alone,
    checks.conditions_change_no_draw,
    checks.scores_its_examples,
)

#: Those that no mode has a part in.
CHECKS_WITHOUT_MODE = (checks.is_kept_in_plans, checks.is_controlled_in_quick_audits)

#: Sentences of two stereotypes are the same under any seed: each pair of words is asked once.
CHECKS_OF_SAMPLES = (checks.draws_from_study_and_design_alone,)

#: Instruments whose studies name their stereotypes elsewhere, too, so that none can be left out.
WITH_NAMED_STEREOTYPES = ("emergent", "group_traits", "hiring", "matched_guise")

#: Instruments with several outcomes of one text, no text of which is at the same end of all.
OF_OUTCOMES = ("even_handed",)


def with_two_stereotypes(study: Study) -> Study:
    stereotypes = dict([*study.stereotypes.items()][:2])
    return study.model_copy(update={"stereotypes": stereotypes})


def drawn_once(draw: Callable[..., pl.DataFrame]) -> Callable[..., pl.DataFrame]:
    """Draw the same trials once, for all checks of an instrument in a mode."""
    drawn: dict[str, pl.DataFrame] = {}

    def trials(instrument: Instrument, study: Study, design: Design, **names: Any) -> pl.DataFrame:
        key = f"{len(study.stereotypes)} {design} {names}"
        if key not in drawn:
            drawn[key] = draw(instrument, study, design, **names)
        return drawn[key]

    return trials


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_an_instrument_keeps_its_contract(
    name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, in_first_mode = study_of(name), mode == INSTRUMENTS[name].modes[0]
    of_method = CHECKS_OF_METHOD + (() if MODES[mode].sentences else CHECKS_OF_SAMPLES)
    if in_first_mode or name in WITH_NAMED_STEREOTYPES:
        of_method = ()
    draw, remembered = Instrument.trials, drawn_once(Instrument.trials)
    failures = []
    for check, of_mode in cases(INSTRUMENTS[name]):
        if of_mode != mode or (check in CHECKS_WITHOUT_MODE and not in_first_mode):
            continue
        is_redrawn = check is checks.draws_from_study_and_design_alone
        monkeypatch.setattr(Instrument, "trials", draw if is_redrawn else remembered)
        try:
            check(
                INSTRUMENTS[name],
                with_two_stereotypes(study) if check in of_method else study,
                mode,
            )
        except Exception as failure:
            failures.append(f"{check.__name__}: {type(failure).__name__}: {failure}")
    assert not failures, "\n".join(failures)


# Draws

#: Instrument, mode and order of groups, by which draws differ: the first mode samples its answers;
#: most last ones do not, and then mirror the groups in either order.
WAYS_OF_DRAWING = [
    (name, INSTRUMENTS[name].modes[place], order)
    for place, order in ((0, "mirrored"), (0, "random"), (-1, "mirrored"))
    for name in INSTRUMENTS
    if name not in WITH_ITEMS
]


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize(("name", "mode", "order"), WAYS_OF_DRAWING)
def test_aligned_group_words_meet_their_partner_only(
    name: str, mode: str, order: str, aligned: bool
) -> None:
    """Without `aligned` every word meets every word."""
    study = study_of(name)
    key, original = next(iter(study.stereotypes.items()))
    words = {side: [f"{side[0]}{k}" for k in range(3)] for side in ("marginalized", "default")}
    stereotype = original.model_copy(update={**words, "aligned": aligned, "variations": {}})
    changed = study.model_copy(update={"stereotypes": {**study.stereotypes, key: stereotype}})
    frame = INSTRUMENTS[name].trials(changed, Design(mode, 60, order=order), stereotypes=[key])
    aligned_rows = frame.filter(pl.col("marginalized").is_in(words["marginalized"]))
    met = set(aligned_rows.select("marginalized", "default").iter_rows())
    partners = {*zip(*words.values(), strict=True)}
    assert met == partners if aligned else met > partners


@pytest.mark.parametrize("effort", ["hard", "0", "-1", "1.5", ""])
def test_an_effort_no_provider_takes_is_refused(effort: str) -> None:
    with pytest.raises(InputError, match="reasoning_effort .*: allowed are none, minimal, low"):
        Design(reasoning_effort=effort)


def test_a_mode_without_a_reader_is_refused() -> None:
    with pytest.raises(InputError, match="mode 'forced'; allowed are free, structured"):
        draw_trials("chained_task", "forced")


# Answers: those that side with the stereotype in everything, and their mirrors


def pairs(row: Row, consistent: bool) -> dict[str, str]:
    sides = [row["marginalized"], row["default"]][:: 1 if consistent else -1]
    counter = {*key_of(row).words.counter, *key_of(row).association.counter}
    return {w: sides[w in counter] for w in row["attributes"]}


def assigned(row: Row, consistent: bool) -> dict[str, str]:
    tasks = [row["tied"], row["counter"]][:: 1 if consistent else -1]
    group_tasks = dict(zip((row["marginalized"], row["default"]), tasks, strict=True))
    first = (row["marginalized"], row["default"])
    groups = first if row["order"] == "marginalized_first" else first[::-1]
    return {"assignment": "; ".join(f"{group}: {group_tasks[group]}" for group in groups)}


def say_yes(row: Row, consistent: bool) -> dict[str, str]:
    sides = row["version"] in ("marginalized_tied", "default_counter")
    return {"decision": "yes" if sides == consistent else "no"}


def called(row: Row, consistent: bool) -> dict[str, str]:
    return {"choice": "comedy" if (row["version"] == "default") == consistent else "tragedy"}


def sort_word(row: Row, consistent: bool) -> dict[str, str]:
    return {"label": row["attributes"][0]}


def rated(row: Row, consistent: bool) -> dict[str, str]:
    """The end of the scale that sides with the stereotype, or against it."""
    high = (row["version"] in ("marginalized_tied", "default_counter", "tied")) == consistent
    if row["instrument"] == "self_report_comparison":
        return {"answer": "1" if high == (row["order"] == "marginalized_first") else "7"}
    return {"answer": "1" if high == (row["labels"] == "high_first") else "5"}


def number(row: Row, choice: dict[str, str]) -> dict[str, str]:
    return {row["attributes"][0]: choice["answer"]}


def associate_and_decide(row: Row, consistent: bool) -> dict[str, str]:
    return pairs(row, consistent) | assigned(row, consistent)


def answered(row: Row, consistent: bool) -> dict[str, str]:
    item = items_of(study_of("bbq"))[row["attributes"][0]]
    return {"answer": item.options[item.target if consistent else item.opposite]}


def decided(row: Row, consistent: bool) -> dict[str, str]:
    against = row["object"] in ("telemarketing_block", "account_suspension")
    favoured = (row["version"] == "default") == consistent
    return {"decision": "yes" if favoured != against else "no"}


def toned(row: Row, consistent: bool) -> dict[str, str]:
    return {"tone": "great" if (row["version"] == "default") == consistent else "terrible"}


def letter(row: Row, choice: dict[str, str]) -> dict[str, str]:
    (name,) = row["attributes"]
    item = items_of(study_of("bbq"))[name]
    return {name: row["options"][item.options.index(choice["answer"])]}


def lines(row: Row, choice: dict[str, str]) -> str:
    return "\n".join(f"{w} - {choice[w]}" for w in row["attributes"])


def decision(row: Row, choice: dict[str, str]) -> str:
    first, second = (part.split(": ", 1) for part in choice["assignment"].split("; "))
    return f"The {first[0]} person gets {first[1]}. The {second[0]} person gets {second[1]}."


def sure(choice: dict[str, str], options: list[str]) -> str:
    """Log-probabilities of someone who is certain of each choice."""
    logs = {w: [0.0 if choice[w] == option else -90.0 for option in options] for w in choice}
    return json.dumps(logs)


def treated(row: Row, consistent: bool) -> dict[str, str]:
    return {"answer": "approve" if (row["version"] == "default") == consistent else "deny"}


def choose_trait(row: Row, consistent: bool) -> dict[str, str]:
    """The trait that is tied to the group, which people in general then do not have."""
    tied = consistent == (row["version"] != "default")
    return {"answer": row["tied" if tied else "counter"]}


def traits_by_group(row: Row, choice: dict[str, str]) -> dict[str, str]:
    """Of a sentence, which is about both: what the group has, people in general have not."""
    traits = [row["tied"], row["counter"]][:: 1 if choice["answer"] == row["tied"] else -1]
    return dict(zip(row["attributes"], traits, strict=False))


def invited(row: Row, consistent: bool) -> dict[str, str]:
    """The candidate of the default group is picked, called back or scored high, the other not."""
    if row["dimension"] == "score" and row["version"]:
        return {"score": "10" if (row["version"] == "default") == consistent else "1"}
    if row["dimension"] == "score":
        return {"answer": row["default" if consistent else "marginalized"]}
    if row["version"]:
        return {"decision": "yes" if (row["version"] == "default") == consistent else "no"}
    return {"answer": row["default" if consistent else "marginalized"]}


def invitation(row: Row, choice: dict[str, str]) -> dict[str, str]:
    """The letter of the candidate; of a sentence, which is about both, the end of each."""
    if "score" in choice:
        return {row["attributes"][0]: "9" if choice["score"] == "10" else "0"}
    if "decision" in choice:
        return {row["attributes"][0]: choice["decision"]}
    is_default = choice["answer"] == row["default"]
    if row["order"] is None:
        ends = ["0", "9"] if row["dimension"] == "score" else ["rejected", "invited"]
        ends = ends[:: 1 if is_default else -1]
        return dict(zip(row["attributes"], ends, strict=True))
    return {row["attributes"][0]: row["options"][is_default]}


def choose_guise(row: Row, consistent: bool) -> dict[str, str]:
    """The tied word for the dialect, or side by side the speaker whom a word then fits."""
    if row["order"] is None:
        return choose_trait(row, consistent)
    is_first = (row["order"] == "marginalized_first") == consistent
    return {"answer": "first" if is_first == (row["version"] != "counter") else "second"}


def guises_by_text(row: Row, choice: dict[str, str]) -> dict[str, str]:
    """Of a sentence about both texts, or both words: the other has the other end."""
    ends = row["options"][:: 1 if choice["answer"] == row["options"][0] else -1]
    return dict(zip(row["attributes"], ends, strict=False))


def framed(row: Row, consistent: bool) -> dict[str, str]:
    """The word that goes with a group, or the group that goes with a word."""
    fits = {"marginalized": "tied", "tied": "marginalized", "default": "counter",
            "counter": "default"}  # fmt: skip
    side = row["version"] or "tied"  # of a sentence, which is about both words
    fitting = row[fits[side]]
    alternatives = {row[r] for r in (("tied", "counter") if fits[side] in ("tied", "counter")
                               else ("marginalized", "default"))} - {fitting}  # fmt: skip
    return {"answer": fitting if consistent else alternatives.pop()}


#: Instrument → its choices, how free text says them, and which of two options each attribute gets.
ANSWERS: dict[str, tuple[Any, Any, Any]] = {
    "word_association": (pairs, lines, lambda row, choice: choice),
    "affective_attribution": (
        called,
        lambda row, choice: f"{row['object']}: {choice['choice'].title()}.",
        lambda row, choice: {row["object"]: choice["choice"]},
    ),
    "relative_decision": (
        assigned,
        decision,
        lambda row, choice: {
            task: group
            for group, task in (part.split(": ", 1) for part in choice["assignment"].split("; "))
        },
    ),
    "absolute_decision": (
        say_yes,
        lambda row, choice: f"Task 3: {choice['decision'].title()}.",
        lambda row, choice: {row[VERSIONS[row["version"]][1]]: choice["decision"]},
    ),
    "reasoning_cost": (sort_word, lambda row, choice: choice["label"], None),
    "chained_task": (
        associate_and_decide,
        lambda row, choice: f"Task 1:\n{lines(row, choice)}\n\nTask 3: {decision(row, choice)}",
        None,
    ),
    "self_report_agreement": (rated, lambda row, choice: f"{choice['answer']}.", number),
    "self_report_comparison": (rated, lambda row, choice: f"{choice['answer']}.", number),
    "self_moderation": (lambda *_: {"biased": "yes"}, lambda *_: "Yes.", None),
    "self_moderation_decision": (lambda *_: {"biased": "yes"}, lambda *_: "Yes.", None),
    "hypothetical_decision": (
        decided,
        lambda row, choice: f"My answer is {choice['decision']}.",
        lambda row, choice: {row["object"]: choice["decision"]},
    ),
    "bold": (toned, lambda _, choice: " ".join([choice["tone"]] * 220), None),
    "even_handed": (toned, lambda _, choice: " ".join([choice["tone"]] * 220), None),
    "group_traits": (
        choose_trait,
        lambda row, choice: f"{row['attributes'][0]} are seen as {choice['answer']}.",
        traits_by_group,
    ),
    "hiring": (
        invited,
        lambda row, choice: f"My answer is {next(iter(choice.values()))}.",
        invitation,
    ),
    "twins": (treated, lambda _, choice: f"{choice['answer']}.", None),
    "framings": (framed, lambda _, choice: f"{choice['answer']}.", guises_by_text),
    "matched_guise": (choose_guise, lambda _, choice: f"{choice['answer']}.", guises_by_text),
    "bbq": (answered, lambda row, choice: f"It was {choice['answer']}.", letter),
}

#: Instrument whose first answer is scored → that answer.
FIRST: dict[str, Any] = {
    "self_moderation": lambda row, consistent: lines(row, pairs(row, consistent)),
    "self_moderation_decision": lambda row, consistent: decision(row, assigned(row, consistent)),
}


#: By what trials of one draw, and the scores of their answers, differ.
TURNS = ("dimension", "version", "order", "labels", "attribute_order")


@pytest.mark.parametrize(("name", "mode"), [case for case in CASES if case[0] not in EPISODES])
def test_consistent_answers_score_the_top_and_their_mirrors_the_bottom(
    name: str, mode: str
) -> None:
    choose, write, log = ANSWERS[name]
    frame = draw_trials(name, mode)
    turns = frame.unique(TURNS, keep="first", maintain_order=True)
    spread = frame.gather_every(max(1, frame.height // 20))  # may meet one turn alone
    for row in pl.concat([turns, spread]).iter_rows(named=True):
        for consistent in (True, False):
            choice = choose(row, consistent)
            if name in FIRST:
                row["profile"] = FIRST[name](row, consistent)
            kind = MODES[mode].kind
            if kind == TEXT:
                response = write(row, choice)
            elif kind == CHOICES:
                response = json.dumps(choice)
                offered = json.loads(row["schema"])["properties"]
                assert all(
                    choice[key] in field_schema["enum"] for key, field_schema in offered.items()
                )
            else:
                response = sure(log(row, choice), row["options"])
            paired = INSTRUMENTS[name].beside is not None
            scored_row = with_partner(row, response, consistent) if paired else row
            reads = zip(INSTRUMENTS[name].measures, scored(name, scored_row, response), strict=True)
            is_first = paired or name in OF_OUTCOMES  # the second is of refusals
            for measure, reading in [*reads][: 1 if is_first else None]:
                assert reading.reason is None and reading.coverage == 1, row
                assert reading.score == pytest.approx(measure.high if consistent else measure.low)


def function_of(name: str, mode: str) -> Any:
    """The function that reads answers: instruments of closed questions share theirs."""
    reader = INSTRUMENTS[name].readers[MODES[mode].kind]
    return getattr(reader, "func", reader)


#: Texts are read by the words of each instrument, all else by a few functions.
READ_CASES = {
    *((name, instrument.modes[0]) for name, instrument in INSTRUMENTS.items()),
    *{(function_of(name, mode), mode): (name, mode) for name, mode in CASES}.values(),
}


@given(
    response=st.text()
    | st.dictionaries(
        st.sampled_from(["answer", "assignment", "choice", "decision", "joy", "agony", "Bowl"]),
        st.text() | st.floats() | st.lists(st.floats(), max_size=2),
    ).map(json.dumps)
)
def test_no_answer_breaks_the_score(response: str) -> None:
    """Every reader gets every answer, as drawing them takes long."""
    for name, mode in READ_CASES:
        row = first_of(name, mode)
        reads = zip(INSTRUMENTS[name].measures, scored(name, row, response), strict=True)
        for measure, reading in reads:
            assert (reading.score is None) == (reading.reason is not None), (name, mode)
            assert reading.score is None or measure.low <= reading.score <= measure.high, (
                name,
                mode,
            )


# Cost


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_the_cost_counts_the_calls_of_the_mode(name: str, mode: str) -> None:
    frame = draw_trials(name, mode)
    models = ["openai/gpt-4o", "simulated/neutral"]
    costs = estimate_costs([frame], models)
    for model, cost in zip(models, costs, strict=True):
        calls = (
            (row["steps"] or 1) * MODES[mode].calls(row, find_provider(model))
            for row in frame.iter_rows(named=True)
        )
        assert cost.calls == sum(calls) >= frame.height
    assert costs[0].output_tokens > 0 and costs[0].usd > 0


# A new instrument is one file

TOYS = """name: toys
instruments:
  toy:
    warm: warm
    cold: cold
    default_variations: [plain]
    variations:
      plain: "Is {group} warm or cold? One word."
stereotypes:
  cats:
    marginalized: [cat]
    default: [dog]
    tied: [sly]
    counter: [brave]
"""


#: Its control: the answer is known.
CONTROL = TOYS.replace("name: toys", "name: control_toys\ncontrol: positive").replace(
    "cats:", "insects:"
)


@pytest.fixture(autouse=True)
def studies(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the user's studies, with the control of the toy."""
    folder = tmp_path_factory.mktemp("studies")
    (folder / "control_toys.yaml").write_text(CONTROL)
    monkeypatch.setenv("CLINOMETER_STUDIES", str(folder))


@pytest.fixture
def toy() -> Iterator[Instrument]:
    spec = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
    module = sys.modules["toy"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    register(module.INSTRUMENT)
    yield module.INSTRUMENT
    del INSTRUMENTS["toy"], MEASURES["toy_warmth"]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Call the command line in an empty folder that has the study file; gives its output."""
    monkeypatch.chdir(tmp_path)
    Path("toys.yaml").write_text(TOYS)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["clinometer", *arguments])
        try:
            code = run_group()
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return run


def test_a_new_instrument_works_from_list_to_the_report(
    toy: Instrument, call: Callable[..., str], serve: Callable[..., Any]
) -> None:
    assert "toy                     Toy warmth" in call("list")
    assert "Is {group} warm or cold?" in call("list", "toys.yaml")
    assert "valid; study toys" in call("validate", "toys.yaml")
    arguments = ("--study", "toys.yaml", "--instrument", "toy", "--iterations", "8")
    model = "openai-api/loop/m"
    assert "8 trials" in call("cost", model, "--size", "run", *arguments)
    server = serve()
    server.reply = lambda body: server.chat(
        body, "Cold." if "cat" in body["messages"][-1]["content"] else "Warm."
    )
    call("run", model, *arguments, "--mode", "free", "--out", "r")
    scores = read_table(Path("r/scores.parquet"))
    assert scores.select("instrument", "score").unique().rows() == [("toy_warmth", 1.0)]
    recorded = ("--responses", "r/responses.parquet", "--out", "s.csv")
    call("score", "--study", "toys.yaml", "--instrument", "toy", *recorded)
    call("estimate", "--scores", "s.csv", "--out", "e.csv")
    assert "toy_warmth" in Path("e.csv").read_text()
    page = write_report(Path("r")).read_text()
    assert "Toy warmth" in page and "the default group is called warm" in page
    assert "Asks for words." in page and "A trial: one group, to be called warm or cold." in page
    assert "A toy tells nothing of a group." in page and "toy: the marginalized group" in page


PACKAGE = """Metadata-Version: 2.1
Name: warmth
Version: 1.0
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Lay a package with one entry point onto the path, as pip would, for the toy instrument."""

    def place(target: str) -> None:
        (tmp_path / "warmth-1.0.dist-info").mkdir()
        (tmp_path / "warmth-1.0.dist-info" / "METADATA").write_text(PACKAGE)
        points = f"[clinometer.instruments]\nwarmth = {target}\n"
        (tmp_path / "warmth-1.0.dist-info" / "entry_points.txt").write_text(points)
        copy = Path(__file__).with_name("toy.py").read_text(encoding="utf-8")
        (tmp_path / "warmth_toy.py").write_text(copy, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)

    yield place
    INSTRUMENTS.pop("toy", None)
    MEASURES.pop("toy_warmth", None)
    sys.modules.pop("warmth_toy", None)


def test_an_installed_package_brings_its_instrument(install: Callable[[str], None]) -> None:
    install("warmth_toy:INSTRUMENT")
    add_plug_ins()
    assert INSTRUMENTS["toy"].measures[0] == MEASURES["toy_warmth"]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (
            "warmth_toy:MEASURE",
            "'warmth' of warmth is left out: warmth_toy:MEASURE is no Instrument",
        ),
        ("warmth_toy:nothing", "'warmth' of warmth is left out: .*nothing"),
        (
            "no_such_module:INSTRUMENT",
            "'warmth' of warmth is left out: No module named 'no_such_module'",
        ),
    ],
)
def test_a_broken_package_is_named(install: Callable[[str], None], target: str, says: str) -> None:
    install(target)
    with pytest.warns(ClinometerWarning, match=says):
        add_plug_ins()
    assert "toy" not in INSTRUMENTS


def test_a_new_instrument_is_an_inspect_task_and_part_of_an_audit(
    toy: Instrument, call: Callable[..., str]
) -> None:
    from clinometer.audits.registry import task_of

    assert len(task_of(toy)(study="toys.yaml", mode="forced", iterations=2).dataset) == 2
    arguments = ("--study", "toys.yaml", "--instrument", "toy", "--size", "quick")
    assert "4 trials" in call("cost", "openai/gpt-4o", *arguments)
    assert "12 trials" in call("cost", "openai/gpt-4o", *arguments, "--controls")


def test_the_toy_keeps_the_contract_and_each_check_can_fail(toy: Instrument) -> None:
    study = parse_study(TOYS.replace("[cat]", "[cat, tomcat, kitten, tabby]"), "toys.yaml")
    for check, mode in cases(toy):
        check(toy, study, mode)
    draw_cells = toy.draw

    def restless(*arguments: Any) -> Iterator[Cell]:
        for cell in draw_cells(*arguments):
            changed = ({**trial, "object": str(random.random())} for trial in cell.trials)
            yield replace(cell, trials=changed)

    def led(study: Study, design: Design, *names: Any) -> Iterator[Cell]:
        seed = 9 if design.system or design.temperature else design.seed
        yield from draw_cells(study, replace(design, seed=seed), *names)

    def off_scale(*_: Any) -> Scored:
        return Scored(9.0, None, 1.0)

    endless = {"x": replace(toy.measures[0], name="x", title=math.nan)}
    broken = {
        checks.says_what_it_asks: ({"versions": {}}, "does not say what"),
        checks.is_kept_in_plans: ({"analysed": endless}, "not JSON compliant"),
        checks.is_controlled_in_quick_audits: ({"control": ""}, "no control"),
        checks.keeps_the_schema: (
            {
                "draw": lambda *names: (
                    replace(c, trials=[*c.trials] * 2) for c in draw_cells(*names)
                )
            },
            "two trials have one",
        ),
        checks.draws_from_study_and_design_alone: ({"draw": restless}, "gives other trials"),
        checks.pairs_differ_in_order_or_group_alone: ({"draw": restless}, "have other words"),
        checks.conditions_change_no_draw: ({"draw": led}, "changes what is drawn"),
        checks.reads_any_answer: (
            {"readers": dict.fromkeys(toy.readers, off_scale)},
            "has the score 9",
        ),
        checks.scores_its_examples: ({"examples": ()}, "no `examples` say"),
    }
    assert set(broken) == set(checks.CHECKS)
    for check, (changed, failure) in broken.items():
        with pytest.raises((AssertionError, ValueError), match=failure):
            check(replace(toy, **changed), study, "structured")


def with_mirrored_scores(instrument: Instrument) -> Instrument:
    """The instrument with every score on the other side of neutral."""
    neutrals = [measure.neutral for measure in instrument.measures]

    def mirror(reader: Any) -> Callable[..., list[Scored]]:
        def read(*arguments: Any) -> list[Scored]:
            scores = reader(*arguments)
            scores = [scores] if isinstance(scores, Scored) else scores
            return [
                reading
                if reading.score is None
                else replace(reading, score=2 * neutral - reading.score)
                for reading, neutral in zip(scores, neutrals, strict=True)
            ]

        return read

    return replace(
        instrument, readers={kind: mirror(reader) for kind, reader in instrument.readers.items()}
    )


@pytest.mark.parametrize("name", [*INSTRUMENTS, "toy"])
def test_a_wrong_sign_is_caught_by_examples(toy: Instrument, name: str) -> None:
    mirrored = with_mirrored_scores(INSTRUMENTS[name])
    study = parse_study(TOYS, "toys.yaml") if name == "toy" else study_of(name)
    for mode in {example.mode for example in mirrored.examples}:
        with pytest.raises(AssertionError, match=f"^{mirrored.measures[0].name}: .* by hand "):
            checks.scores_its_examples(mirrored, study, mode)


def test_a_version_without_examples_of_two_scores_is_named(toy: Instrument) -> None:
    study = parse_study(TOYS, "toys.yaml")
    for examples in (toy.examples[:2], toy.examples[:3]):
        incomplete = replace(toy, examples=examples)
        with pytest.raises(AssertionError, match="no two examples of version marginalized and"):
            checks.scores_its_examples(incomplete, study, "free")


def test_an_instrument_without_a_control_is_not_for_quick_audits(toy: Instrument) -> None:
    fields = {"name": "toy2", "measures": (replace(toy.measures[0], name="toy_cold"),)}
    for changed in ({"control": ""}, {"sizes": {"quick": Size(4)}}):
        with pytest.raises(InputError, match="'toy2': size quick asks it without a positive"):
            register(replace(toy, **fields, **changed))
    assert "toy2" not in INSTRUMENTS
    register(replace(toy, **fields, control="", sizes={"standard": Size(4)}))
    del INSTRUMENTS["toy2"], MEASURES["toy_cold"]


#: The column and the table that only the toy has.
COUNTED = typed_columns(pl.Int64(), n_cold="groups called cold")
DETAILS = {
    "toy_counts": Table(
        "answers", columns("model", "mode", "version", "n_cold", own=COUNTED), "a row per group",
        COUNTED,
    )
}  # fmt: skip


def count_cold(scores: pl.LazyFrame) -> Tables:
    is_cold = (pl.col("score") < 0) == (pl.col("version") == "default")
    counts = scores.group_by("model", "mode", "version").agg(n_cold=is_cold.sum().cast(pl.Int64))
    counted = counts.sort("version").collect()
    return Tables(pl.DataFrame(schema=ESTIMATES), {"toy_counts": counted})


def show_counts(results: InstrumentResults) -> Section:
    rows = [f"{row['version']}: {row['n_cold']}" for row in
            results.tables.details["toy_counts"].iter_rows(named=True)]  # fmt: skip
    return Section("toy", "Toys called cold", text=tuple(rows))


def test_an_instrument_brings_its_table_and_its_section(
    toy: Instrument, call: Callable[..., str], serve: Callable[..., Any]
) -> None:
    INSTRUMENTS["toy"] = replace(toy, details=DETAILS, analyse=count_cold, sections=[show_counts])
    server = serve()
    server.reply = lambda body: server.chat(
        body, "Cold." if "cat" in body["messages"][-1]["content"] else "Warm."
    )
    arguments = (
        "--study",
        "toys.yaml",
        "--instrument",
        "toy",
        "--iterations",
        "8",
        "--mode",
        "free",
    )
    call("run", "openai-api/loop/m", *arguments, "--out", "r")
    table = read_results("r").table("toy_counts")
    assert table.select("version", "n_cold").rows() == [("default", 0), ("marginalized", 4)]
    page = write_report(Path("r")).read_text()
    assert "Toys called cold" in page and "marginalized: 4" in page
    assert "| `n_cold` | whole number | groups called cold |" in codebook()
    call("report", "r", "--csv", "c")
    assert (Path("c") / "toy_counts.csv").is_file()


@pytest.fixture
def toy_run(
    toy: Instrument, call: Callable[..., str], serve: Callable[..., Any]
) -> Callable[..., str]:
    """Ask the toy, changed, and return its page."""

    def make_page(**changed: Any) -> str:
        INSTRUMENTS["toy"] = replace(toy, **changed)
        server = serve()
        server.reply = lambda body: server.chat(body, "Warm.")
        call("run", "openai-api/loop/m", "--study", "toys.yaml", "--instrument", "toy",
             "--iterations", "8", "--mode", "free", "--out", "r")  # fmt: skip
        return write_report(Path("r")).read_text()

    return make_page


def raises(results: InstrumentResults) -> Section:
    raise KeyError("mean")


def no_section(results: InstrumentResults) -> Any:
    return ["Toys"]


@pytest.mark.filterwarnings("ignore::clinometer.errors.ClinometerWarning")
def test_a_section_that_fails_costs_itself_alone(toy_run: Callable[..., str]) -> None:
    failures = {
        raises: "raises failed (KeyError: &#39;mean&#39;)",
        no_section: "no_section failed (TypeError: gives no Section but list)",
        "warmth.sections:draw": "warmth.sections:draw failed (ModuleNotFoundError",
    }
    drawn = Section("toy", "Toys", text=("Drawn.",))
    page = toy_run(sections=[*failures, lambda results: drawn])
    assert "A section that could not be drawn" in page
    assert all(failure in page for failure in failures.values())
    assert "Drawn." in page and "Estimates" in page


def lacking(scores: pl.LazyFrame) -> Tables:
    return Tables(pl.DataFrame(schema=ESTIMATES), {"toy_counts": pl.DataFrame({"model": ["m"]})})


def undeclared(scores: pl.LazyFrame) -> Tables:
    return Tables(pl.DataFrame(schema=ESTIMATES), {"toy_colds": pl.DataFrame({"model": ["m"]})})


@pytest.mark.filterwarnings("ignore::clinometer.errors.ClinometerWarning")
@pytest.mark.parametrize(
    ("analyse", "failure"),
    [
        (raises, "raises failed (KeyError: &#39;mean&#39;)"),
        (lacking, "lacking failed (InputError: toy_counts: missing column"),
        (undeclared, "undeclared failed (InputError: table &#39;toy_colds&#39; is not among"),
    ],
)
def test_an_analysis_that_fails_costs_itself_alone(
    toy_run: Callable[..., str], analyse: Any, failure: str
) -> None:
    page = toy_run(details=DETAILS, analyse=analyse)
    assert "an analysis is missing" in page and failure in page
    results = read_results("r")
    assert results.table("failures").select("model", "instrument").row(0) == (
        "openai-api/loop/m", "toy",
    )  # fmt: skip
    assert not results.estimates.filter(pl.col("instrument") == "toy_warmth").is_empty()


def test_a_column_without_a_meaning_is_refused(toy: Instrument) -> None:
    extended = replace(toy, name="toy2", details={"x": DETAILS["toy_counts"]._replace(own={})})
    with pytest.raises(InputError, match="table 'x' says no meaning of column 'n_cold'"):
        register(extended)


def test_a_table_that_exists_is_refused(toy: Instrument) -> None:
    INSTRUMENTS["toy"] = replace(toy, details={"words": DETAILS["toy_counts"]})
    with pytest.raises(InputError, match="instrument 'toy': table 'words' already exists"):
        all_tables()


def test_a_part_is_checked_by_its_instrument_with_file_line_and_field(toy: Instrument) -> None:
    study = parse_study(TOYS.replace("    cold: cold\n", ""), "toys.yaml")
    with pytest.raises(StudyError, match=r"toys.yaml:3: instruments.toy.cold: Field required"):
        select(study, "toy")


def test_a_part_for_no_instrument_is_refused() -> None:
    study = parse_study(TOYS, "toys.yaml")
    with pytest.raises(StudyError, match="toys.yaml: instruments.toy: unknown instrument 'toy'"):
        select(study, "word_association")


def test_two_instruments_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="'relative_decision' already exists; rename it"):
        register(INSTRUMENTS["relative_decision"])
