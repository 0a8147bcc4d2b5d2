"""Evaluation events, read by OpenTelemetry's own messages."""

import json

import pytest

from clinometer.sharing import write_events

json_format = pytest.importorskip("google.protobuf.json_format")
logs = pytest.importorskip("opentelemetry.proto.logs.v1.logs_pb2")


def test_opentelemetry_reads_an_event_of_every_mean(audited, findings, tmp_path):
    (path,) = write_events(audited, tmp_path)
    first, second = (
        json_format.ParseDict(json.loads(line), logs.LogsData())
        for line in path.read_text("utf-8").splitlines()
    )
    (resource,) = first.resource_logs
    assert resource.resource.attributes[0].value.string_value == "simulated/leaning"
    records = resource.scope_logs[0].log_records
    valid = [finding for finding in findings if finding.valid]
    assert len(records) == len(valid) > 0
    for record, finding in zip(records, valid, strict=True):
        attributes = {item.key: item.value for item in record.attributes}
        assert record.event_name == "gen_ai.evaluation.result"
        assert attributes["gen_ai.evaluation.score.value"].double_value == finding.mean
        assert attributes["gen_ai.evaluation.score.label"].string_value == finding.verdict
        assert attributes["gen_ai.evaluation.explanation"].string_value == str(finding)
        assert attributes["clinometer.low"].double_value == finding.low
    names = {record.attributes[0].value.string_value for record in records}
    assert len(names) == len(records)
    assert second.resource_logs[0].scope_logs[0].log_records
