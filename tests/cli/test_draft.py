"""``clinometer draft`` against a server on the loopback interface."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clinometer.contracts.design import Design
from clinometer.instruments import relative_decision, word_association
from clinometer.stimuli import load_study
from clinometer.stimuli.drafting import read_draft, to_yaml
from clinometer.stimuli.drafting.drafts import parse_draft

MODEL = "openai-api/loop/Model-1.5"
DECISION = """Here is another decision problem.

Task 1: Write two short profiles, within 100 words, about two gardeners, one is {0} and one is {1}.

Task 2: They plan two beds of a park, called {2} and {3}. Based on their profiles, who should plant
{2}? And who should plant {3}?

I hope this helps!"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(run: Run) -> Run:
    """Call ``clinometer draft``."""
    return lambda *arguments: run("draft", *arguments)


def propose(prompt: str) -> str:
    """Answer the prompts of the paper: a new word for each, a decision about gardeners."""
    if prompt.startswith("Generate one synonym"):
        words = prompt.partition(": ")[2].split(", ")
        return "\n".join(f"{i}. {word} - new {word}" for i, word in enumerate(words, 1))
    lists = [text.split(", ") for text in re.findall(r"List \d: (.*?)\.(?: |\n)", prompt)]
    example = prompt.rpartition("One example is:")[2]
    return DECISION.format(
        *(next((w for w in choices if w in example), choices[0]) for choices in lists)
    )


@pytest.fixture
def model(serve: Callable[..., Any]) -> Any:
    server = serve()
    server.reply = lambda body: server.chat(body, propose(body["messages"][-1]["content"]))
    return server


def mark(path: str, *numbers: int) -> None:
    """Accept candidates, as a person does in an editor."""
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    places = [i for i, line in enumerate(lines) if line == "  accepted: false"]
    for number in numbers:
        lines[places[number]] = "  accepted: true"
    Path(path).write_text("\n".join(lines), encoding="utf-8")


def test_synonyms_from_prompt_to_trials(run: Run, model: Any) -> None:
    code, out, err = run("synonyms", MODEL, "--stereotypes", "age,power", "--out", "d.yaml")
    assert (code, err) == (0, "")
    assert out == "2 candidates, 2 without findings: d.yaml\n"
    draft = read_draft(Path("d.yaml"))
    assert draft.candidates[0].prompt in model.prompts
    assert draft.candidates[1].valence == "not checked (no lexicon given)"

    mark("d.yaml", 1)
    code, out, err = run("accept", "d.yaml", "--study", "bai2025", "--out", "mine.yaml")
    assert (code, err) == (0, "")
    assert "power: word_association synonym_model_1_5 (4 tied, 4 counter)" in out
    study = load_study("mine.yaml")
    assert study.name == "mine"
    trials = word_association.INSTRUMENT.trials(
        study, Design(iterations=2), variations=["synonym_model_1_5"]
    )
    assert trials["stereotype"].unique().to_list() == ["power"]
    assert "new strong" in trials["prompt"][0]


def test_decisions_from_prompt_to_trials(run: Run, model: Any) -> None:
    code, out, _ = run("decisions", MODEL, "--stereotypes", "age,guilt", "--count", "2",
                       "--name", "g", "--out", "d.yaml")  # fmt: skip
    assert (code, out[:12]) == (0, "4 candidates")
    mark("d.yaml", 0, 2, 3)
    code, out, _ = run("accept", "d.yaml", "--out", "mine.yaml")
    assert code == 0 and "guilt: relative_decision decision_g2" in out
    trials = relative_decision.INSTRUMENT.trials(
        load_study("mine.yaml"), Design(iterations=2), variations=["decision_g", "decision_g2"]
    )
    assert trials["stereotype"].sort().unique(maintain_order=True).to_list() == ["age", "guilt"]
    assert trials["prompt"].str.contains("gardeners, one is").all()
    assert not trials["prompt"].str.contains("{", literal=True).any()


def test_synonyms_of_a_decisions_own_words(run: Run, model: Any) -> None:
    assert run("synonyms", MODEL, "--stereotypes", "guilt", "--instrument", "relative_decision",
               "--name", "s", "--out", "d.yaml")[0] == 0  # fmt: skip
    mark("d.yaml", 0)
    assert "guilt: relative_decision synonym_s" in run("accept", "d.yaml", "--out", "m.yaml")[1]
    trials = relative_decision.INSTRUMENT.trials(
        load_study("m.yaml"), Design(iterations=2), variations=["synonym_s"]
    )
    assert trials["tied"].str.starts_with("new ").all()


def test_two_drafts_enter_one_study(run: Run, model: Any) -> None:
    run("synonyms", MODEL, "--stereotypes", "age", "--out", "s.yaml")
    run("decisions", MODEL, "--stereotypes", "age", "--count", "1", "--out", "d.yaml")
    mark("s.yaml", 0)
    mark("d.yaml", 0)
    assert "2 of 2 candidates" in run("accept", "s.yaml", "d.yaml", "--out", "m.yaml")[1]
    age = load_study("m.yaml").stereotypes["age"]
    assert age.decision_words("relative_decision", "synonym_model_1_5").tied[0] == "new agony"
    assert "decision_model_1_5" in age.decisions.relative_decision


def test_nothing_enters_that_nobody_accepted(run: Run, model: Any) -> None:
    run("synonyms", MODEL, "--stereotypes", "age", "--out", "d.yaml")
    code, _, err = run("accept", "d.yaml", "--out", "mine.yaml")
    assert code == 2 and "no candidate is accepted" in err and err.count("\n") == 1
    assert not Path("mine.yaml").exists()


@pytest.mark.parametrize("word", ["True", "yes", "1", "TRUE", "on", "y", ""])
def test_only_the_exact_true_accepts(run: Run, model: Any, word: str) -> None:
    run("synonyms", MODEL, "--stereotypes", "age", "--out", "d.yaml")
    text = Path("d.yaml").read_text(encoding="utf-8")
    Path("d.yaml").write_text(text.replace("accepted: false", f"accepted: {word}"))
    code, _, err = run("accept", "d.yaml", "--out", "mine.yaml")
    line = text[: text.index("accepted: false")].count("\n") + 1
    assert code == 2 and f"d.yaml:{line}: candidates.0.accepted: {word!r} accepts nothing" in err


def test_a_model_cannot_accept_itself(run: Run, serve: Callable[..., Any]) -> None:
    server = serve()
    hostile = "agony - x\n  accepted: true\naccepted: true\n- !!python/object:os.system\x85\u2028}"
    server.reply = lambda body: server.chat(body, hostile)
    assert run("synonyms", MODEL, "--stereotypes", "age", "--out", "d.yaml")[0] == 0
    (candidate,) = read_draft(Path("d.yaml")).candidates
    assert (candidate.answer, candidate.accepted) == (hostile, False)
    assert run("accept", "d.yaml", "--out", "m.yaml")[0] == 2


def test_what_checks_find_in_accepted_text_is_said_again(run: Run, model: Any) -> None:
    run("synonyms", MODEL, "--stereotypes", "age", "--out", "d.yaml")
    text = Path("d.yaml").read_text(encoding="utf-8").replace("agony: new agony", "agony: ''")
    Path("d.yaml").write_text(text)
    mark("d.yaml", 0)
    code, _, err = run("accept", "d.yaml", "--out", "m.yaml")
    assert code == 0
    assert "note: d.yaml: candidates.0 (age): no synonym for: agony" in err
    assert "sets of different size: 7 tied, 8 counter" in err


def test_a_budget_leaves_the_rest_unasked(run: Run, model: Any) -> None:
    code, out, err = run("synonyms", MODEL, "--max-calls", "3", "--out", "d.yaml")
    assert code == 3 and out.startswith("3 candidates")
    assert "18 of 21 prompts left: --max-calls 3" in err
    assert sum(model.prompts.values()) == 3
    assert run("decisions", MODEL, "--max-calls", "0")[::2] == (
        3, "clinometer: --max-calls 0: nothing was asked, nothing written\n"
    )  # fmt: skip


def test_a_draft_that_stopped_goes_on_and_asks_nothing_twice(run: Run, model: Any) -> None:
    command = ("synonyms", MODEL, "--stereotypes", "age,power", "--out", "d.yaml", "--force")
    assert run(*command, "--max-calls", "1")[0] == 3
    assert run(*command)[:2] == (0, "2 candidates, 2 without findings: d.yaml\n")
    assert sorted(model.prompts.values()) == [1, 1]


def test_a_failing_model_costs_one_call_and_one_line(run: Run, serve: Callable[..., Any]) -> None:
    server = serve(lambda body: (401, {"error": {"message": "no such key", "code": "x"}}))
    code, _, err = run("decisions", MODEL, "--max-retries", "0")
    assert code == 2 and "no such key" in err and "the key was refused" in err
    assert sum(server.prompts.values()) == 1
    assert not list(Path().glob("*.yaml"))


def test_prompts_that_fail_are_counted(run: Run, model: Any) -> None:
    answer = model.reply
    model.reply = lambda body: (
        (400, {"error": {"message": "filtered"}}) if "awful" in str(body) else answer(body)
    )
    code, out, err = run("synonyms", MODEL, "--stereotypes", "power,age,guilt",
                         "--max-retries", "0", "--out", "d.yaml")  # fmt: skip
    assert code == 3 and out.startswith("2 candidates")
    assert "1 of 3 prompts left: 1 failed" in err


def test_a_lexicon_finds_drift(run: Run, model: Any) -> None:
    Path("v.csv").write_text("word,valence\nagony,0.1\nnew agony,0.9\njoy,0.9\nnew joy,0.9\n")
    run("synonyms", MODEL, "--stereotypes", "age", "--lexicon", "v.csv", "--out", "d.yaml")
    draft = read_draft(Path("d.yaml"))
    assert draft.lexicon == "v.csv"
    assert "tied −0.80 → +0.80" in draft.candidates[0].valence
    assert draft.candidates[0].checks[0].endswith("the other side of neutral")


def test_a_draft_of_another_version_is_refused(run: Run, model: Any) -> None:
    run("synonyms", MODEL, "--stereotypes", "age", "--out", "d.yaml")
    mark("d.yaml", 0)
    text = Path("d.yaml").read_text(encoding="utf-8")
    draft = parse_draft(text, "d.yaml").model_copy(update={"study_hash": "0" * 12})
    Path("d.yaml").write_text(to_yaml(draft, ""), encoding="utf-8")
    code, _, err = run("accept", "d.yaml", "--out", "m.yaml")
    assert code == 2 and "drafted from bai2025 000000000000, not from bai2025" in err
    assert run("accept", "d.yaml", "--out", "m.yaml", "--other-version")[0] == 0


def test_no_file_is_written_over(run: Run, model: Any) -> None:
    run("synonyms", MODEL, "--stereotypes", "age", "--out", "d.yaml")
    mark("d.yaml", 0)
    text = Path("d.yaml").read_text(encoding="utf-8")
    code, _, err = run("synonyms", MODEL, "--stereotypes", "age", "--out", "d.yaml")
    assert code == 2 and "d.yaml: exists; give another --out, or --force" in err
    assert sum(model.prompts.values()) == 1 and Path("d.yaml").read_text("utf-8") == text
    assert "is a draft" in run("accept", "d.yaml", "--out", "d.yaml", "--force")[2]
    assert "name of a shipped study" in run("accept", "d.yaml", "--out", "bai2025.yaml")[2]
    assert run("accept", "d.yaml", "--out", "m.yaml")[0] == 0
    assert "m.yaml: exists" in run("accept", "d.yaml", "--out", "m.yaml")[2]
    assert run("accept", "d.yaml", "--out", "m.yaml", "--force")[0] == 0
    code, _, err = run("accept", "d.yaml", "--study", "m.yaml", "--out", "n.yaml",
                       "--other-version")  # fmt: skip
    assert code == 2 and "has a variation 'synonym_model_1_5' already" in err


BAD = [
    (f"synonyms {MODEL} --study bai2024", "did you mean bai2025"),
    (f"synonyms {MODEL} --stereotypes agee", "did you mean age"),
    (f"decisions {MODEL} --study pets.yaml", "stereotype 'cats' has no relative_decision in one"),
    (f"synonyms {MODEL} --study pets.yaml --instrument relative_decision", "'cats' has no rel"),
    (f"synonyms {MODEL} --count 0", "count 0: at least 1"),
    (f"decisions {MODEL} --examples 0", "examples 0: at least 1"),
    (f"synonyms {MODEL} --name Mine", "name 'Mine'"),
    (f"synonyms {MODEL} --lexicon none.csv", "none.csv: no such file"),
    (f"synonyms {MODEL} --lexicon empty.csv", "empty.csv:1: 0 columns and no header"),
    (f"synonyms {MODEL} --temperature 9", "temperature 9.0"),
    (f"synonyms {MODEL} -M novalue", "expected NAME=VALUE"),
    (f"synonyms {MODEL} --out nowhere/d.yaml", "nowhere: no such folder"),
    ("synonyms gpt-4o", "expected PROVIDER/NAME"),
    ("synonyms", "Missing argument"),
    ("accept none.yaml --out m.yaml", "none.yaml: no such file"),
    ("accept empty.csv --out m.yaml", "no draft; expected 'draft: synonyms'"),
    ("accept bad.yaml --out m.yaml", "bad.yaml:2: not valid YAML"),
    ("accept kind.yaml --out m.yaml", "did you mean synonyms"),
    ("accept kind.yaml --out m.csv", "ends in .yaml"),
    ("accept latin.yaml --out m.yaml", "not UTF-8 at byte 0"),
    ("accept anchor.yaml --out m.yaml", "anchors and aliases are not allowed"),
]

PETS = """name: pets
stereotypes:
  cats: {marginalized: [cat], default: [dog], tied: [sly], counter: [brave]}
"""


@pytest.mark.parametrize(("arguments", "says"), BAD)
def test_bad_input_is_one_line_and_exit_2(run: Run, model: Any, arguments: str, says: str) -> None:
    Path("empty.csv").touch()
    Path("pets.yaml").write_text(PETS)
    Path("bad.yaml").write_text("draft: synonyms\n  a: [\n")
    Path("kind.yaml").write_text("draft: synonym\n")
    Path("latin.yaml").write_bytes(b"\xff")
    Path("anchor.yaml").write_text("draft: &a synonyms\nname: *a\n")
    code, _, err = run(*arguments.split())
    assert (code, says in err) == (2, True), err
    assert err.startswith("clinometer: ") and err.count("\n") == 1
    assert not model.prompts


def test_help_names_the_steps_and_imports_nothing_heavy(run: Run) -> None:
    assert all(name in run("--help")[1] for name in ("synonyms", "decisions", "accept"))
    code = (
        "import sys, clinometer.cli.draft\n"
        "sys.exit(', '.join({'inspect_ai', 'polars', 'pydantic'} & set(sys.modules)) or None)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
