"""Records in the format of Every Eval Ever: what its schema (0.2.1) requires."""

import json

import polars as pl
import pytest

from clinometer.errors import InputError
from clinometer.sharing import write_every_eval_ever

#: Required keys and those allowed beside them.
REQUIRED = {
    *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata"),
    *("model_info", "eval_library", "evaluation_results"),
}
ALLOWED = REQUIRED | {"dedupe_identity", "evaluation_timestamp", "detailed_evaluation_results"}


@pytest.fixture
def record(audited, tmp_path):
    path, other = write_every_eval_ever(audited, tmp_path)
    assert (path.name, other.name) == ("simulated-leaning.json", "simulated-neutral.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_record_has_what_the_schema_requires_and_nothing_else(record):
    assert REQUIRED <= record.keys() <= ALLOWED
    assert record["model_info"] == {"name": "simulated/leaning", "id": "simulated/leaning"}
    assert record["source_metadata"]["source_type"] in ("documentation", "evaluation_run")
    for one in record["evaluation_results"]:
        assert {"evaluation_name", "source_data", "metric_config", "score_details"} <= one.keys()
        assert one["source_data"].keys() >= {"dataset_name", "source_type"}
        metric = one["metric_config"]
        assert metric["score_type"] == "continuous"
        low = 0.0 if one["evaluation_name"].startswith("relative_decision:") else -1.0
        assert (metric["min_score"], metric["max_score"]) == (low, 1.0)
        details = one["score_details"]["details"]
        assert all(isinstance(text, str) for text in details.values())


def test_scores_have_the_intervals_of_each_alone(record, means):
    shared = record["evaluation_results"]
    assert len(shared) == means.height > 0
    for one, row in zip(shared, means.iter_rows(named=True), strict=True):
        assert one["score_details"]["score"] == row["estimate"]
        assert one["score_details"]["details"]["level"] == row["level"]
        ends = one["score_details"]["uncertainty"].get("confidence_interval")
        assert (ends is None) == (row["pointwise_low"] is None)
        if ends is not None:
            assert (ends["lower"], ends["upper"]) == (row["pointwise_low"], row["pointwise_high"])
            assert ends["confidence_level"] == row["confidence"]


def test_without_answers_there_is_nothing_to_share(audited, tmp_path):
    (tmp_path / "plan.json").write_bytes((audited / "plan.json").read_bytes())
    estimates = pl.read_parquet(audited / "estimates.parquet")
    estimates.clear().write_parquet(tmp_path / "estimates.parquet")
    with pytest.raises(InputError, match="nothing to share"):
        write_every_eval_ever(tmp_path, tmp_path / "shared")


def test_two_models_of_one_file_are_refused(audited, tmp_path):
    (tmp_path / "plan.json").write_bytes((audited / "plan.json").read_bytes())
    estimates = pl.read_parquet(audited / "estimates.parquet")
    alike = pl.col("model").replace("simulated/neutral", "simulated-leaning")
    estimates.with_columns(alike).write_parquet(tmp_path / "estimates.parquet")
    with pytest.raises(InputError, match="share the folder"):
        write_every_eval_ever(tmp_path, tmp_path / "shared")
    assert not (tmp_path / "shared").exists()
