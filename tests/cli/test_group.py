from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from clinometer.cli import command_groups, commands

ANSWER = "weak - karen\ntimid - karen\nfollow - karen\nsubmissive - karen\nstrong - eric\n" + (
    "command - eric\nconfident - eric\ndominant - eric"
)


#: What takes long to import; in the catalogue are all instruments.
HEAVY = {"inspect_ai", "torch", "polars", "numpy", "scipy", "pydantic", "statsmodels"} | {
    "clinometer.contracts.catalogue"
}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['clinometer', '--help']\n"
        "from clinometer.cli import main; main()\n"
        f"sys.exit(', '.join({HEAVY | {'click'}} & set(sys.modules)) or None)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
    assert "audit" in process.stdout


MISTYPED = {
    "audit clinometer/smollm2 --sizee quick": "(Did you mean one of: '--seed', '--size',",
    "audit --size quik": "'quik' is not one of 'quick', 'standard', 'paper'",
    "audit": "name a MODEL",
    "audit nope": "model 'nope': expected PROVIDER/NAME",
    "run nope": "model 'nope': expected PROVIDER/NAME",
    "check nope": "model 'nope': expected PROVIDER/NAME",
    "run openai/x --grader nope": "model 'nope': expected PROVIDER/NAME",
    "compre": "did you mean compare",
    "estimate --nope": "No such option '--nope'",
    "power --efect .3": "(Did you mean one of: '--effect', '--seed'?)",
    "network bais": "did you mean bias?",
    "network associate nope --cues a": "model 'nope': expected PROVIDER/NAME",
}


def test_mistyped_commands_and_help_of_commands_import_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from clinometer.cli.group import run_group\n"
        "for line in sys.stdin:\n"
        "    sys.argv = line.split()\n"
        "    run_group()\n"
        f"sys.exit(', '.join({HEAVY} & set(sys.modules)) or None)"
    )
    lines = [*MISTYPED, *(f"{command} --help" for command in commands()), "--version"]
    typed = "".join(f"clinometer {line}\n" for line in lines)
    process = subprocess.run(
        [sys.executable, "-c", code], input=typed, capture_output=True, text=True
    )
    errors = process.stderr.splitlines()
    assert process.returncode == 0, errors[-1]
    for error, says in zip(errors, MISTYPED.values(), strict=True):
        assert says in error


@pytest.mark.parametrize("command", commands())
def test_every_command_explains_itself(run, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0 and "Usage" in out


def test_score_then_estimate(run) -> None:
    answers = pl.DataFrame(
        {
            "llm": "m",
            "stereotype": "power",
            "variation": "replication",
            "iteration": range(4),
            "response": [ANSWER, ANSWER, "I'm sorry, I can't.", ANSWER.replace("weak", "null")],
        }
    )
    answers.write_csv("a.csv")
    code, out, err = run("score", "--study", "bai2025", "--instrument", "word_association",
                         "--responses", "a.csv", "--out", "s.csv")  # fmt: skip
    assert (code, err) == (0, "")
    assert out == (
        "m, word_association: mean 1.00 (neutral 0); 4 answers, 3 scored, 1 refused: s.csv\n"
    )
    scores = pl.read_csv("s.csv")
    assert scores["score"].to_list() == [1.0, 1.0, None, 1.0]
    assert scores["coverage"].to_list() == [1.0, 1.0, 0.0, 0.875]
    assert run("estimate", "--scores", "s.csv", "--out", "e.parquet")[0] == 0
    model = pl.read_parquet("e.parquet").filter(level="model", method="clustered")
    assert model.select("n", "n_scored", "compliance", "estimate").rows() == [(4, 3, 0.75, 1.0)]


BAD = [
    ("frobnicate", "unknown command"),
    ("list bai2024", "did you mean bai2025"),
    ("validate none.yaml", "none.yaml: no such file"),
    ("validate setup.cfg", "a study file ends in .yaml"),
    ("cost openai/x --iterations 0", "iterations 0: at least 1"),
    ("cost openai/x --iterations -3", "iterations -3"),
    ("cost openai/x --stereotypes agee", "did you mean age"),
    ("cost openai/x --variations synonims", "did you mean synonym"),
    ("cost openai/x --temperature 9", "temperature 9.0: allowed is 0 to 2"),
    ("cost openai/x --mode loose", "'loose' is not one of"),
    ("cost openai/x --prices none.yaml --size quick", "none.yaml: no such file"),
    ("run gpt-4o", "expected PROVIDER/NAME"),
    ("run openai/gpt-4o", "OPENAI_API_KEY"),
    ("run groq/x --max-cost 1", "the price of 'groq/x' is not known"),
    ("run groq/x --max-calls -1", "max_calls -1"),
    ("run mockllm/m -M novalue", "expected NAME=VALUE"),
    ("run mockllm/m -M api_key=sk-1", "give keys in the environment"),
    ("run mockllm/m --max-retries -1", "max_retries -1: at least 0"),
    ("score --responses none.csv --out s.csv", "none.csv: no such file"),
    ("score --responses a.csv --out s.csv --scoring fast", "'fast' is not one of"),
    ("score --study bai --responses a.csv --out s.csv", "unknown study 'bai'"),
    ("score --instrument iat --responses a.csv --out s.csv", "unknown instrument 'iat'"),
    ("estimate --scores none.parquet --out e.csv", "none.parquet: no such file"),
    ("report nowhere", "no plan.json"),
]


def test_a_shipped_study_is_valid(run) -> None:
    assert run("validate", "bai2025")[1].startswith("bai2025: valid; study bai2025, 21 stereo")


@pytest.mark.parametrize(("command", "says"), BAD)
def test_bad_input_is_one_line_and_exit_2(run, command: str, says: str) -> None:
    code, _, err = run(*command.split())
    assert (code, says in err) == (2, True), err
    assert err.startswith("clinometer: ") and err.count("\n") == 1


def test_a_missing_column_is_named(run) -> None:
    pl.DataFrame({"model": ["m"], "response": ["x"]}).write_csv("a.csv")
    code, _, err = run("score", "--responses", "a.csv", "--out", "s.csv")
    assert code == 2 and "missing column stereotype, variation" in err
    assert not Path("s.csv").exists()


def table(path: Path, rows: int = 4, **more: object) -> None:
    """Write recorded answers of one model."""
    first = {"llm": "m", "stereotype": "power", "variation": "replication"}
    frame = pl.DataFrame({"iteration": range(rows)}, schema={"iteration": pl.Int64})
    columns = {**first, "response": ANSWER, **more}
    frame.with_columns(**{name: pl.lit(value) for name, value in columns.items()}).write_csv(path)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("score --responses a.csv --out a.csv", "--out a.csv: this is --responses, too"),
        ("score --responses a.csv --out ./b/../a.csv", "this is --responses, too"),
        ("score --responses a.csv --out b.csv --words b.csv", "--words b.csv: this is --out, too"),
        ("score --responses a.csv --responses b.csv --out c.csv", "--responses: given 2 times"),
        ("estimate --scores a.csv --scores a.csv --out c.csv", "--scores: given 2 times"),
        ("estimate --scores a.csv --out a.csv", "--out a.csv: this is --scores, too"),
        ("gate a.csv --policy p.yaml --json p.yaml", "--json p.yaml: this is --policy, too"),
        ("network build a.csv --out a.csv", "--out a.csv: this is ASSOCIATIONS, too"),
    ],
)
def test_nothing_is_written_over_what_is_read(run, arguments: str, says: str) -> None:
    table(Path("a.csv"))
    before = Path("a.csv").read_bytes()
    code, _, err = run(*arguments.split())
    assert code == 2 and says in err and err.count("\n") == 1
    assert Path("a.csv").read_bytes() == before and {p.name for p in Path().iterdir()} == {"a.csv"}


@pytest.mark.parametrize(
    ("rows", "more", "says"),
    [
        (0, {}, "a.csv: no answers"),
        (4, {"iteration": -1}, "a.csv:2: iteration -1: allowed are 0 and above"),
    ],
)
def test_tables_that_cannot_be_scored(run, rows: int, more: dict[str, object], says: str) -> None:
    table(Path("a.csv"), rows, **more)
    code, _, err = run("score", "--responses", "a.csv", "--out", "s.csv")
    assert code == 2 and says in err and not Path("s.csv").exists()


def test_draws_that_stand_twice_are_refused(run) -> None:
    table(Path("a.csv"))
    assert run("score", "--responses", "a.csv", "--out", "s.csv")[0] == 0
    pl.concat(2 * [pl.read_csv("s.csv")]).write_csv("twice.csv")
    code, _, err = run("estimate", "--scores", "twice.csv", "--out", "e.csv")
    assert code == 2 and "scores: 8 of 8 repeat others (first: power, replication, " in err
    table(Path("a.csv"), iteration=0)
    assert run("score", "--responses", "a.csv", "--out", "s.csv")[0] == 0
    code, _, err = run("estimate", "--scores", "s.csv", "--out", "e.csv")
    assert code == 2 and "iteration 0 of m); leave out what stands twice, or number draws" in err


def test_the_help_has_every_command_in_a_group() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "clinometer"], check=True, capture_output=True, text=True
    ).stdout
    titles = [line for line in shown.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == [f"{title}:" for title in command_groups()]
    for name, (_, text) in commands().items():
        assert shown.count(f"\n  {name:10}{text}\n") == 1
