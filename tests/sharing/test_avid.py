"""Reports of AVID, read by its own data model."""

import json
import warnings

import pytest

from clinometer.sharing import write_avid

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it is written for an earlier pydantic
    report = pytest.importorskip("avidtools.datamodels.report")


def test_avid_reads_every_mean_of_every_model(audited, findings, tmp_path):
    first, *others = write_avid(audited, tmp_path)
    read = report.Report.model_validate_json(first.read_text("utf-8"))
    assert read.affects.artifacts[0].name == "simulated/leaning"
    assert read.problemtype.classof == report.Problemtype.model_fields["classof"].annotation.llm
    valid = [finding for finding in findings if finding.valid]
    results = [metric.results for metric in read.metrics]
    assert [result["mean"] for result in results] == [finding.mean for finding in valid]
    assert [result["verdict"] for result in results] == [finding.verdict for finding in valid]
    assert len({metric.name for metric in read.metrics}) == len(valid) > 0
    leaning = [finding for finding in findings if finding.told]
    assert leaning
    assert all(str(finding) in read.description.value for finding in leaning)
    assert others


def test_a_model_that_leans_nowhere_is_reported_with_all_its_means(audited, tmp_path):
    _, second = write_avid(audited, tmp_path)
    content = json.loads(second.read_text("utf-8"))
    assert content["metrics"]
    assert content["description"]["value"].endswith("does not mean unbiased.")
