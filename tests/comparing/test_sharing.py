"""Records in the format of Every Eval Ever: what its schema (0.2.1) requires."""

import json

import polars as pl
import pytest

from clinometer.audits.tabulating import estimate
from clinometer.comparing.sharing import write_every_eval_ever
from clinometer.errors import InputError
from clinometer.results.directory import write_results

#: Required keys and those allowed beside them.
REQUIRED = {
    *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata"),
    *("model_info", "eval_library", "evaluation_results"),
}
ALLOWED = REQUIRED | {"dedupe_identity", "evaluation_timestamp", "detailed_evaluation_results"}


@pytest.fixture
def record(run_of, tmp_path):
    write_results(tmp_path / "run", "answers", estimate(run_of("lab/m", 0.2)), {})
    (path,) = write_every_eval_ever(tmp_path / "run", tmp_path / "shared")
    assert path.name == "lab-m.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_record_has_what_the_schema_requires_and_nothing_else(record):
    assert REQUIRED <= record.keys() <= ALLOWED
    assert record["model_info"] == {"name": "lab/m", "id": "lab/m"}
    assert record["source_metadata"]["source_type"] in ("documentation", "evaluation_run")
    for one in record["evaluation_results"]:
        assert {"evaluation_name", "source_data", "metric_config", "score_details"} <= one.keys()
        assert one["source_data"].keys() >= {"dataset_name", "source_type"}
        metric = one["metric_config"]
        assert (metric["score_type"], metric["min_score"], metric["max_score"]) == (
            "continuous", -1.0, 1.0,
        )  # fmt: skip
        details = one["score_details"]["details"]
        assert all(isinstance(text, str) for text in details.values())


def test_scores_have_the_intervals_of_each_alone(record, run_of):
    levels = [one["score_details"]["details"]["level"] for one in record["evaluation_results"]]
    assert sorted(set(levels)) == ["category", "model", "stereotype"]
    assert len(levels) == 8 + 2 + 1
    for one in record["evaluation_results"]:
        ends = one["score_details"]["uncertainty"]["confidence_interval"]
        assert ends["lower"] < one["score_details"]["score"] < ends["upper"]
        of_one = estimate(run_of("lab/m", 0.2)).filter(
            pl.col("pointwise_low") == ends["lower"], pl.col("pointwise_high") == ends["upper"]
        )
        assert of_one["confidence"].unique().to_list() == [ends["confidence_level"]]


def test_without_answers_there_is_nothing_to_share(run_of, tmp_path):
    write_results(tmp_path / "run", "answers", estimate(run_of("m")).clear(), {})
    with pytest.raises(InputError, match="nothing to share"):
        write_every_eval_ever(tmp_path / "run", tmp_path / "shared")
