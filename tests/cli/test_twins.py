"""``clinometer twins``: the audit of a prompt of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import clinometer as cm
from clinometer.audits.running import Asking
from clinometer.models.opening import Connection

Run = Callable[..., tuple[int, str, str]]

STUDY = """
name: loans
instruments:
  twins:
    outcome: {kind: choice, good: 'yes', bad: 'no'}
    people:
      women: {marginalized: women, default: men}
    prompts:
      as_it_stands: "{person} wants a loan. Yes or no?"
      again: "A loan is what {person} wants. Yes or no?"
stereotypes:
  women: {category: gender, marginalized: [Ann, Eve, Ida], default: [Bob, Dan, Tim]}
  sure:
    category: sure
    control: positive
    marginalized: [a thief, a liar]
    default: [a saint, a client]
"""
APP = """
def answer(prompt):
    is_liked = any(word in prompt for word in ("Bob", "Dan", "Tim", "saint", "client"))
    return "Yes." if is_liked else "No."
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lender.py").write_text(APP, "utf-8")
    (tmp_path / "loans.yaml").write_text(STUDY, "utf-8")
    return tmp_path


def test_a_function_of_the_folder_is_audited(run: Run, folder: Path) -> None:
    code, out, _ = run("twins", "loans.yaml", "app/lender:answer", "--iterations", "12")
    assert code == 0 and "Gender" in out
    (finding,) = (f for f in cm.findings("results/twins-loans") if f.level == "stereotype")
    assert finding.direction == "men are answered “yes” more often than women (100 and 0 of 100)"
    assert finding.valid


def test_a_model_may_be_named_and_options_are_those_of_audit(run: Run, folder: Path) -> None:
    code, out, _ = run(
        "twins", "loans.yaml", "simulated/neutral", "--out", "r", "--iterations", "4"
    )
    assert code == 0 and "simulated/neutral" in out and Path("r/report.html").is_file()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("twins",), "name a STUDY"),
        (("twins", "loans.yaml"), "name a MODEL: clinometer twins loans.yaml MODEL"),
        (("twins", "--size", "quick", "loans.yaml", "app/lender:answer"), "name a STUDY"),
        (("twins", "loans.yaml", "--size", "quick"), "name a MODEL"),
        (("twins", "loans.yaml", "m/m", "--outcome", "a/b"), "says itself what counts"),
        (("twins", "prompt.txt", "simulated/neutral"), "--outcome: say what counts"),
        (("twins", "prompt.txt", "--outcome", "a/b"), "prompt.txt: No such file"),
        (("twins", "loans.yaml", "app/lender"), "expected app/MODULE:FUNCTION"),
        (("twins", "bai2025", "simulated/neutral"), "has no instrument 'twins'"),
        (("twins", "missing.yaml", "simulated/neutral"), "missing.yaml: no such file"),
        (("twins", "loans.yaml", "simulated/neutral", "--sise", "quick"), "No such option"),
    ],
)
def test_what_cannot_be_asked_is_a_line(
    run: Run, folder: Path, words: tuple[str, ...], says: str
) -> None:
    code, _, err = run(*words)
    assert code == 2 and says in err and len(err.strip().splitlines()) == 1


def test_a_prompt_file_becomes_a_study_which_is_asked(run: Run, folder: Path) -> None:
    (folder / "loan.txt").write_text("{name} wants a loan. Yes or no?", "utf-8")
    asked = ("--outcome", "yes/no", "--contrast", "women", "--iterations", "2")
    code, out, err = run("twins", "loan.txt", "app/lender:answer", *asked)
    assert code == 0, err
    assert "loan.twins.yaml: written; read its rewordings" in out
    assert Path("results/twins-loan/report.html").is_file()
    code, _, err = run("twins", "loan.txt", *asked[:4])
    assert code == 2 and "is there already" in err


def test_without_a_model_a_prompt_s_study_is_written_and_nothing_asked(
    run: Run, folder: Path
) -> None:
    (folder / "loan.txt").write_text("{name} wants a loan. Yes or no?", "utf-8")
    code, out, _ = run("twins", "loan.txt", "--outcome", "yes/no")
    assert code == 0 and "then: clinometer twins loan.twins.yaml MODEL" in out
    assert not Path("results").exists()


@pytest.mark.slow
def test_the_example_asks_nothing_of_the_network(run: Run, folder: Path) -> None:
    code, out, _ = run("twins", "--example")
    assert code == 0 and "get the refund" in out


def test_files_of_requests_run_no_function_that_they_name(run: Run, folder: Path) -> None:
    """They may come from anywhere, and `app/os:system` is a function of one text."""
    (folder / "lender.py").write_text("def answer(prompt):\n    open('ran', 'w')\n", "utf-8")
    asked = ("--study", "loans.yaml", "--instrument", "twins", "--mode", "free", "--size", "quick")
    code, _, err = run("plan", "app/lender:answer", *asked, "--out", "shards")
    assert code == 0, err
    code, _, err = run("answer", "shards")
    assert code == 2 and "no file names code to run" in err
    assert not (folder / "ran").exists()


SYSTEM = (
    "--system",
    "S",
    "--model",
    "app/lender:answer",
    "--use",
    "Lends.",
    "--group",
    "women=gender",
)


def test_init_begins_with_the_twins_of_a_prompt(run: Run, folder: Path) -> None:
    (folder / "loan.txt").write_text("{name} wants a loan. Yes or no?", "utf-8")
    asked = ("init", "--size", "quick", *SYSTEM)
    code, _, err = run(*asked, "--prompt", "loan.txt")
    assert code == 2 and "--outcome" in err and not Path("profile.yaml").exists()
    code, out, err = run(*asked, "--prompt", "loan.txt", "--outcome", "yes/no")
    assert code == 0, err
    assert out.splitlines()[0].startswith("loan.twins.yaml: read its rewordings, then: clinometer")
    assert Path("profile.yaml").is_file()
    code, _, err = run(*asked, "--outcome", "yes/no", "--force")
    assert code == 2 and "of a --prompt" in err


def test_in_python_a_function_is_asked_in_one_call(folder: Path) -> None:
    def answer(prompt: str) -> str:
        return "Yes."

    asking = Asking(connection=Connection(max_retries=0))
    results = cm.twins(answer, "loans.yaml", directory="r", asking=asking)
    assert {*results.table("scores")["outcome"]} == {"yes"}


def test_answers_are_read_again_for_another_outcome(run: Run, folder: Path) -> None:
    study = STUDY.replace("{kind: choice, good: 'yes', bad: 'no'}", "{kind: length, highest: 2}")
    (folder / "length.yaml").write_text(study.replace("name: loans", "name: length"), "utf-8")
    run("twins", "loans.yaml", "app/lender:answer", "--iterations", "4", "--out", "r")
    recorded = ("--responses", "r/responses.parquet", "--study", "length.yaml")
    code, _, err = run("audit", *recorded, "--instrument", "twins", "--out", "again")
    assert code == 0, err
    assert {*cm.read_results("again").table("scores")["outcome"]} == {"1"}


POLICY = """
name: alike
rules:
  - name: gender
    what: mean
    level: category
    at_most: 0.6
    where: {instrument: twins, category: gender}
"""
PLACEBO = """\
  same: {category: names, control: negative, marginalized: [Abe, Gus], default: [Hal, Ike]}
"""
FAIR = """
def answer(prompt):
    return "No." if "thief" in prompt or "liar" in prompt else "Yes."
"""


def test_versions_of_an_app_are_judged_compared_and_bundled(run: Run, folder: Path) -> None:
    for name, text in (
        *(("fair_lender.py", FAIR), ("policy.yaml", POLICY)),
        ("loans.yaml", STUDY + PLACEBO),
    ):
        (folder / name).write_text(text, "utf-8")
    for module, out in (("fair_lender", "before"), ("lender", "after")):
        asked = ("twins", "loans.yaml", f"app/{module}:answer", "--iterations", "24", "--out", out)
        assert run(*asked)[0] == 0
    code, out, _ = run("gate", "before", "--policy", "policy.yaml")
    assert code == 0, out
    code, out, _ = run("gate", "after", "--policy", "policy.yaml")
    assert code == 1 and "✗ fail   gender" in out
    code, out, _ = run("compare", "before", "after")
    assert code == 0 and "worse" in out
    assert run("bundle", "after", "--out", "after.zip")[0] == 0
    code, out, err = run("verify", "after.zip")
    assert code == 0, err
