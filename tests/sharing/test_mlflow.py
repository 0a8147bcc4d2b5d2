"""Runs of MLflow, read back by its client from a store of files."""

import sys
from dataclasses import replace

import polars as pl
import pytest

from clinometer.errors import ClinometerError, InputError
from clinometer.sharing import log_mlflow
from clinometer.sharing.mlflow import mean_name

mlflow = pytest.importorskip("mlflow")


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    return mlflow.MlflowClient(tracking_uri=(tmp_path / "runs").as_uri())


def test_a_model_is_a_run_with_every_mean_as_it_is_told(store, audited, findings):
    runs = [store.get_run(run) for run in log_mlflow(audited)]
    assert [run.data.params["model"] for run in runs] == ["simulated/leaning", "simulated/neutral"]
    run = runs[0]
    assert run.info.status == "FINISHED"
    assert sum(name.endswith("/mean") for name in run.data.metrics) == len(findings)
    for finding in findings:
        name = mean_name(finding)
        for metric in ("mean", "low", "high", "low_in_prompts", "high_in_prompts"):
            assert run.data.metrics[f"{name}/{metric}"] == getattr(finding, metric)
        for tag in ("verdict", "lean", "works"):
            assert run.data.tags[f"{name}/{tag}"] == getattr(finding, tag)
        assert run.data.tags.get(f"{name}/direction", "") == finding.direction
    artifacts = {file.path for file in store.list_artifacts(run.info.run_id)}
    assert artifacts == {"plan.json", "estimates.parquet"}  # no report was written, and no answers


def test_the_same_results_are_logged_once_and_other_results_again(store, audited, tmp_path):
    first = log_mlflow(audited, "bias")
    assert log_mlflow(audited, "bias") == first
    assert set(log_mlflow(audited, "other")).isdisjoint(first)
    for file in audited.iterdir():
        if file.suffix in (".parquet", ".json"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    table = tmp_path / "estimates.parquet"
    moved = pl.read_parquet(table).with_columns(pl.col("estimate") + 0.01)
    moved.write_parquet(table)
    assert set(log_mlflow(tmp_path, "bias")).isdisjoint(first)


def test_a_run_that_was_not_finished_is_no_run(store, audited):
    (run, _) = log_mlflow(audited)
    store.update_run(run, status="FAILED")
    assert run not in log_mlflow(audited)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nowhere://x", r"got unsupported URI 'nowhere://x' .* backend storage locations\.$"),
        ("mlruns", "in folders any more; set MLFLOW_TRACKING_URI to sqlite:///FILE"),
        ("http://127.0.0.1:1", "127.0.0.1.*Connection refused"),
    ],
)
def test_what_mlflow_cannot_do_is_one_whole_line(audited, tmp_path, monkeypatch, address, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    with pytest.raises(ClinometerError, match=message) as raised:
        log_mlflow(audited)
    assert str(raised.value).startswith("MLflow: ") and "\n" not in str(raised.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # MLflow's, of its store
def test_without_a_server_runs_are_stored_in_a_file(audited, tmp_path, monkeypatch):
    pytest.importorskip("alembic")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    runs = log_mlflow(audited)
    assert log_mlflow(audited) == runs
    client = mlflow.MlflowClient(tracking_uri="sqlite:///mlflow.db")
    assert client.get_run(runs[0]).data.params["model"] == "simulated/leaning"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # MLflow's, of its store
def test_a_package_that_a_store_needs_is_named_with_the_extra(audited, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/runs.db")
    monkeypatch.setitem(sys.modules, "alembic", None)
    monkeypatch.setitem(sys.modules, "alembic.command", None)
    monkeypatch.delitem(sys.modules, "mlflow.store.db.utils", raising=False)
    monkeypatch.delitem(sys.modules, "mlflow.store.tracking.sqlalchemy_store", raising=False)
    with pytest.raises(ClinometerError, match=r"alembic.*pip install 'clinometer\[mlflow\]'"):
        log_mlflow(audited)


def test_without_mlflow_the_extra_is_named(audited, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match=r"clinometer\[mlflow\]"):
        log_mlflow(audited)


def test_no_two_means_share_a_name(findings):
    """Also where answers were scored, or words listed, in two ways (BOLD's emotions)."""
    other = {"scoring": "emotions", "word_list": "as_released"}
    rescored = [replace(finding, about={**finding.about, **other}) for finding in findings]
    names = list(map(mean_name, [*findings, *rescored]))
    assert len(set(names)) == len(names) == 2 * len(findings)
