"""Files for the hub, read back by the hub's own client and inspect's reader of benchmarks."""

import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

from clinometer.errors import InputError
from clinometer.sharing import write_hub

hub = pytest.importorskip("huggingface_hub")


def _entries(path: Path) -> list:
    return hub.parse_eval_result_entries(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_the_hub_s_client_reads_the_means_of_every_model(audited, findings, tmp_path):
    *_, leaning, neutral = write_hub(audited, tmp_path, "lab/bias", "https://example.org/bundle")
    assert leaning == tmp_path / "models/simulated-leaning/.eval_results/clinometer.yaml"
    assert neutral == tmp_path / "models/simulated-neutral/.eval_results/clinometer.yaml"
    means = [finding for finding in findings if finding.level == "model"]
    entries = _entries(leaning)
    assert [entry.value for entry in entries] == [round(mean.mean, 4) for mean in means]
    for entry, mean in zip(entries, means, strict=True):
        assert entry.dataset_id == "lab/bias"
        names = ("study", "instrument", "mode")
        assert entry.task_id == "-".join(mean.about[name] for name in names)
        assert entry.source_url == "https://example.org/bundle"
        assert entry.notes.startswith(f"{mean}; 95% intervals; no end is best; ")
    # Without a verdict on them, the values of two models differ: they are not one model's twice.
    assert [entry.value for entry in entries] != [entry.value for entry in _entries(neutral)]


def test_the_benchmark_has_every_task_and_every_question(audited, tmp_path):
    benchmark, questions, *results = write_hub(audited, tmp_path, "lab/bias")
    definition = yaml.safe_load(benchmark.read_text(encoding="utf-8"))
    assert definition.keys() >= {"name", "description", "evaluation_framework", "tasks"}
    tasks = [task["id"] for task in definition["tasks"]]
    assert len(set(tasks)) == len(tasks)
    for path in results:
        assert {entry.task_id for entry in _entries(path)} == set(tasks)
    assert {(task["config"], task["split"]) for task in definition["tasks"]} == {
        ("default", "test")
    }
    answers = pl.read_parquet(audited / "responses.parquet")
    question_rows = pl.read_parquet(questions)
    assert question_rows["trial_id"].is_unique().all()
    assert set(question_rows["trial_id"]) == set(answers["trial_id"])
    assert "response" not in question_rows.columns


@pytest.mark.parametrize("name", ["bias", "a/b/c", "/bias", "lab/", "lab/../x", "lab/b c"])
def test_a_name_that_the_hub_would_not_take_is_refused(audited, tmp_path, name):
    with pytest.raises(InputError, match="OWNER/NAME"):
        write_hub(audited, tmp_path, name)
    assert not any(tmp_path.iterdir())


def test_recorded_answers_without_questions_make_no_benchmark(audited, tmp_path):
    for file in audited.iterdir():
        if file.suffix in (".parquet", ".json"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    table = tmp_path / "responses.parquet"
    pl.read_parquet(table).with_columns(prompt=pl.lit(None, pl.String)).write_parquet(table)
    with pytest.raises(InputError, match="without their questions"):
        write_hub(tmp_path, tmp_path / "out", "lab/bias")
    assert not (tmp_path / "out").exists()


def test_results_with_a_key_are_not_shared(audited, tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_TOKEN", "hf_4k3jh5kjh3k4jh5k")
    directory = tmp_path / "run"
    shutil.copytree(audited, directory)
    responses = pl.read_parquet(directory / "responses.parquet")
    leaking = responses.with_columns(reasoning=pl.lit("it is hf_4k3jh5kjh3k4jh5k"))
    leaking.write_parquet(directory / "responses.parquet")
    with pytest.raises(InputError, match="responses.parquet: holds a key"):
        write_hub(directory, tmp_path / "hub", "me/bias")
    assert not (tmp_path / "hub").exists()
