"""Records of Every Eval Ever, checked by its own validator and its own schema."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.sharing import write_every_eval_ever
from clinometer.sharing.every_eval_ever import SCHEMA_VERSION


@pytest.fixture
def record(audited, tmp_path):
    (tmp_path / "data").mkdir()  # a checkout of the collection
    path, neutral_path = write_every_eval_ever(audited, tmp_path)
    assert path.parent == tmp_path / "data" / "clinometer" / "simulated" / "leaning"
    assert neutral_path.parent == tmp_path / "data" / "clinometer" / "simulated" / "neutral"
    return json.loads(path.read_text(encoding="utf-8"))


def renamed(audited: Path, directory: Path, model: str) -> Path:
    """Copy a results directory, in which its first model has another name."""
    (directory / "plan.json").write_bytes((audited / "plan.json").read_bytes())
    estimates = pl.read_parquet(audited / "estimates.parquet")
    names = pl.col("model").replace("simulated/leaning", model)
    estimates.with_columns(names).write_parquet(directory / "estimates.parquet")
    return directory


@pytest.mark.parametrize(
    "model",
    [
        *("simulated/leaning", "openai/gpt-4o", "hf/lab/model-1", "openai-api/local/m"),
        *("ollama/llama3:8b", "GPT-4 (May)", "hf//home/me/Model ü", "data/con.x", "x/unknown", "?"),
    ],
)
def test_the_collection_s_validator_finds_nothing(audited, tmp_path, model):
    pytest.importorskip("every_eval_ever")
    (tmp_path / "data").mkdir()
    paths = write_every_eval_ever(renamed(audited, tmp_path, model), tmp_path, model)
    files = [str(path.relative_to(tmp_path)) for path in paths]
    command = [sys.executable, "-m", "every_eval_ever", "validate", *files]
    validated = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert len(files) == 1 and validated.returncode == 0, (
        validated.stdout
    )  # warnings end with another code


def test_a_record_fits_the_schema_of_its_version(record):
    package = pytest.importorskip("every_eval_ever")
    jsonschema = pytest.importorskip("jsonschema")
    text = (Path(package.__file__).parent / "schemas" / "eval.schema.json").read_text("utf-8")
    schema = json.loads(text)
    assert record["schema_version"] == schema["version"] == SCHEMA_VERSION
    jsonschema.validate(record, schema)
    bounds = {result["metric_config"]["min_score"] for result in record["evaluation_results"]}
    assert bounds == {-1.0, 0.0}


@pytest.mark.parametrize(
    ("model", "identity", "deployment"),
    [
        ("hf/lab/model", "lab/model", "self_deployed"),
        ("anthropic/claude", "anthropic/claude", "externally_managed"),
        ("openai-api/local/m", "openai-api/local/m", "unknown"),
    ],
)
def test_who_served_a_model_is_said_where_its_name_says_it(
    audited, tmp_path, model, identity, deployment
):
    (path,) = write_every_eval_ever(renamed(audited, tmp_path, model), tmp_path, model)
    info = json.loads(path.read_text(encoding="utf-8"))["model_info"]
    assert (info["name"], info["id"]) == (model, identity)
    assert info["additional_details"] == {
        "deployment_type": deployment,
        "model_availability": "unknown",
    }


def test_a_run_has_the_same_files_again_and_each_model_its_own(audited, tmp_path):
    first = write_every_eval_ever(audited, tmp_path)
    assert {path.parent for path in first} == {tmp_path}
    assert write_every_eval_ever(audited, tmp_path) == first
    names = {UUID(path.stem) for path in first}
    assert len(names) == 2 and {name.version for name in names} == {4}


def test_scores_have_the_intervals_of_each_alone(record, means):
    shared = record["evaluation_results"]
    assert len(shared) == means.height > 0
    for entry, row in zip(shared, means.iter_rows(named=True), strict=True):
        assert entry["score_details"]["score"] == row["estimate"]
        assert entry["score_details"]["details"]["level"] == row["level"]
        ends = entry["score_details"]["uncertainty"].get("confidence_interval")
        assert (ends is None) == (row["ci_low"] is None)
        if ends is not None:
            assert (ends["lower"], ends["upper"]) == (row["ci_low"], row["ci_high"])
            assert ends["confidence_level"] == row["confidence"]


def test_without_answers_there_is_nothing_to_share(audited, tmp_path):
    (tmp_path / "plan.json").write_bytes((audited / "plan.json").read_bytes())
    estimates = pl.read_parquet(audited / "estimates.parquet")
    estimates.clear().write_parquet(tmp_path / "estimates.parquet")
    with pytest.raises(InputError, match="nothing to share"):
        write_every_eval_ever(tmp_path, tmp_path / "shared")


def test_models_whose_names_are_alike_have_a_record_each(audited, tmp_path):
    directory = renamed(audited, tmp_path, "simulated-neutral")
    assert len({*write_every_eval_ever(directory, tmp_path / "shared")}) == 2
