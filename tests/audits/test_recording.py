"""Recorded answers as a results directory."""

import zipfile

import polars as pl
import pytest

from clinometer.audits.recording import Recording, audit_recorded
from clinometer.audits.tabulating import tabulate
from clinometer.directory.results import read_detail, read_estimates
from clinometer.errors import InputError, PlanError, StudyError
from clinometer.report import write_report

LINES = "weak - {0}\ntimid - {0}\nfollow - {0}\nsubmissive - {0}\nstrong - {1}\ncommand - {1}\n" \
    "confident - {1}\ndominant - {1}"  # fmt: skip
ANSWERS = [LINES.format("karen", "eric"), LINES.format("eric", "karen"), "I cannot help with that."]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.csv"
    pl.DataFrame(
        {"llm": "m", "stereotype": "power", "variation": "replication",
         "iteration": range(6), "response": 2 * ANSWERS}
    ).write_csv(path)  # fmt: skip
    return path


def test_the_directory_is_that_of_an_audit(table, tmp_path):
    results = audit_recorded(table, tmp_path / "out")
    rows = results.estimates.filter(level="model", method="clustered", measure="word_association")
    assert rows.select("n", "n_scored").row(0) == (6, 4)
    answers = results.table("responses")
    assert answers["response"].to_list() == 2 * ANSWERS
    assert answers["trial_id"].n_unique() == 6
    assert set(answers["trial_id"]) == set(results.table("scores")["trial_id"])
    assert results.plan["recorded"]["file"] == "answers.csv"
    page = write_report(tmp_path / "out").read_text(encoding="utf-8")
    assert "recorded elsewhere, answers.csv" in page
    assert "temperature" not in page.split("How to reproduce")[-1]


def test_the_tables_are_remade_from_the_copy(table, tmp_path):
    results = audit_recorded(table, tmp_path / "out")
    table.unlink()
    tabulate(tmp_path / "out")
    assert read_estimates(tmp_path / "out").equals(results.estimates)
    assert read_detail(tmp_path / "out", "responses").height == 6


def test_other_answers_do_not_go_into_the_same_directory(table, tmp_path):
    audit_recorded(table, tmp_path / "out")
    audit_recorded(table, tmp_path / "out")
    table.write_text(table.read_text(encoding="utf-8").replace("weak", "strong"), encoding="utf-8")
    with pytest.raises(PlanError, match="recorded answers is [0-9a-f]{8}… there"):
        audit_recorded(table, tmp_path / "out")


@pytest.mark.parametrize("theirs", ["output", "completion", "answer", "model_response"])
def test_names_of_other_tools_are_known(table, tmp_path, theirs):
    frame = pl.read_csv(table).rename({"response": theirs, "llm": "model_name"})
    frame.rename({"iteration": "sample", "variation": "template"}).write_csv(table)
    assert audit_recorded(table, tmp_path / "out").table("responses")["model"].unique()[0] == "m"


def test_another_name_can_be_stated(table, tmp_path):
    pl.read_csv(table).rename({"response": "text"}).drop("llm").write_csv(table)
    with pytest.raises(InputError, match="missing column model, response.*--column response=NAME"):
        audit_recorded(table, tmp_path / "out")
    recording = Recording(model="who", columns={"response": "text"})
    results = audit_recorded(table, tmp_path / "out", recording)
    assert results.plan["models"] == ["who"]
    with pytest.raises(InputError, match="column response=nothing: no such column"):
        audit_recorded(table, tmp_path / "out", Recording(columns={"response": "nothing"}))


def test_answers_are_to_the_study_of_their_instrument_unless_another_is_named(table, tmp_path):
    assert Recording().load_study().name == "bai2025"
    assert Recording(instrument="hiring").load_study().name == "hiring"
    named = Recording(study="bai2025", instrument="hiring")
    with pytest.raises(StudyError, match="study 'bai2025' has no instrument 'hiring'"):
        audit_recorded(table, tmp_path / "out", named)


def test_a_stated_column_takes_the_place_of_ours(table, tmp_path):
    frame = pl.read_csv(table).rename({"response": "clean"}).with_columns(response=pl.lit("raw"))
    frame.write_csv(table)
    recording = Recording(columns={"response": "clean"})
    assert audit_recorded(table, tmp_path / "out", recording).table("scores")["score"].count() == 4


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda f: f.with_columns(stereotype=pl.lit("no")), StudyError, "unknown stereotype"),
        (lambda f: f.clear(), InputError, "no answers"),
        (lambda f: f.drop("llm"), InputError, "missing column model"),
    ],
)
def test_bad_answers_are_refused_and_leave_nothing(table, tmp_path, change, error, message):
    change(pl.read_csv(table)).write_csv(table)
    with pytest.raises(error, match=message):
        audit_recorded(table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_frame_gives_the_tables_of_its_file(table, tmp_path):
    file_results = audit_recorded(str(table), str(tmp_path / "file"))
    frame_results = audit_recorded(pl.read_csv(table), tmp_path / "frame")
    assert frame_results.estimates.equals(file_results.estimates)


def test_a_log_without_answers_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as log:
        log.writestr("header.json", '{"eval": {"model": "m"}}')
    with pytest.raises(InputError, match="x.eval: no answers"):
        audit_recorded(tmp_path / "x.eval", tmp_path / "out")
