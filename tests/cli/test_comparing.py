"""``clinometer compare`` as a user calls it."""

import polars as pl
import pytest

ANSWER = "weak - {0}\ntimid - {0}\nfollow - {0}\nsubmissive - {0}\nstrong - {1}\ncommand - {1}\n" \
    "confident - {1}\ndominant - {1}"  # fmt: skip


@pytest.fixture
def answers(tmp_path):
    """Recorded answers of two models: one pairs as the stereotype has it, one the other way."""
    paths = []
    for model, names in (("old", ("eric", "karen")), ("new", ("karen", "eric"))):
        frame = pl.DataFrame(
            {"llm": model, "stereotype": "power", "variation": "replication",
             "iteration": range(12), "response": ANSWER.format(*names)}
        )  # fmt: skip
        paths.append(tmp_path / f"{model}.csv")
        frame.write_csv(paths[-1])
    return paths


def test_the_first_line_is_the_verdict(run, answers, tmp_path):
    code, out, err = run("compare", *map(str, answers), "--out", "out")
    assert code == 0, err
    first, second, *_ = out.splitlines()
    assert first.startswith(
        "turned to the other side in 1 of 1, in these prompts: Gender (word association) "
        "−1.00 -> 1.00, +2.00 ["
    )
    assert second == "old -> new"
    assert (tmp_path / "out" / "report.html").is_file()
    _, back, _ = run("compare", *map(str, reversed(answers)), "--controls", "ignored")
    assert back.startswith("turned to the other side in 1 of 1, in these prompts: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv", "absent.csv"], "absent.csv: no such file or directory"),
        (["{0}"], "old alone; name a candidate"),
        (["{0}", "{1}", "--margin", "0"], "margin 0.0: must be above 0"),
        (["{0}", "{1}", "--study", "nonsense"], "unknown study"),
        (["{0}", "{1}", "--baseline-model", "x"], "unknown model 'x'"),
    ],
)
def test_bad_input_is_one_line(run, answers, arguments, message):
    code, _, err = run("compare", *(str(argument).format(*answers) for argument in arguments))
    assert code == 2
    assert message in err and err.count("\n") == 1


def test_too_few_answers_for_an_interval_are_said_to_be_too_few(run, answers):
    for path in answers:
        pl.read_csv(path).head(1).write_csv(path)
    code, out, err = run("compare", *map(str, answers), "--controls", "ignored")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        "cannot tell yet, 1 of 1 open: Gender (word association) −1.00 -> 1.00, "
        "+2.00 [−1.37 to 2.00]; 5 more trials of each would tell"
    )
