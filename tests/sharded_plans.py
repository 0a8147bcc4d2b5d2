"""Small plans of several instruments, asked in shards or in one go, and a model's answers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sessions import ask_models
from clinometer.audits.tabulating import tabulate
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.models.opening import Connection, open_models
from clinometer.stimuli import load_study

MODEL = "openai-api/loop/m"
STUDIES = {
    "word_association": "bai2025",
    "relative_decision": "bai2025",
    "chained_task": "bai2025",
    "affective_attribution": "mist2025",
    "self_moderation": "bai2025",
}


#: Instruments with one turn.
SINGLE = ("word_association", "relative_decision")


def plan_of(mode: str, iterations: int = 2, names: Iterable[str] = STUDIES, **chosen: Any) -> Plan:
    parts = []
    for name in names:
        study = STUDIES[name]
        if mode in INSTRUMENTS[name].modes:
            loaded = load_study(study)
            keys = list(loaded.stereotypes)[:2]
            wordings = [next(iter(INSTRUMENTS[name].variations(loaded)))]
            parts.append(Selection(loaded, keys, wordings, instrument=name))
    return Plan(parts, **{"models": [MODEL], **chosen}, modes=[mode], iterations=iterations)


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """Answer a request by what it asks alone."""
    rng = random.Random(json.dumps(body, sort_keys=True))
    said = body["messages"][-1]["content"]
    text = rng.choice(["Yes.", "No.", "comedy", "tragedy", f"Of {len(said)} characters: no"])
    choice: dict[str, Any] = {"finish_reason": "stop"}
    if "response_format" in body:
        properties = body["response_format"]["json_schema"]["schema"]["properties"]
        text = json.dumps({name: rng.choice(of["enum"]) for name, of in properties.items()})
    if body.get("logprobs"):
        tokens = [
            {"token": word, "logprob": -rng.random(), "bytes": None}
            for word in ("old", "young", "black", "white", "a", "b")
        ]
        choice["logprobs"] = {"content": [{**tokens[0], "top_logprobs": tokens}], "refusal": None}
    choices = [
        {"index": n, "message": {"role": "assistant", "content": f"{text}{' ' * n}"}, **choice}
        for n in range(body.get("n", 1))
    ]
    usage = {"prompt_tokens": 300, "completion_tokens": 200, "total_tokens": 500}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": choices, "usage": usage}  # fmt: skip


def requests_in(files: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def answer(request: dict[str, Any]) -> str:
    response = {"status_code": 200, "request_id": "r", "body": reply(request["body"])}
    named = {"id": "b", "custom_id": request["custom_id"]}
    return json.dumps({**named, "response": response, "error": None})


def asked_in_one_go(plan: Plan, serve: Callable[..., Any], directory: Path) -> list[dict[str, Any]]:
    """Run a plan on a server; return the bodies it got."""
    bodies: list[dict[str, Any]] = []
    serve(lambda body: (bodies.append(body), (200, reply(body)))[1])
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=0))
    assert ask_models(plan.pieces, models, directory, Budget()).complete
    tabulate(directory)
    return bodies


@pytest.fixture
def unbroken(
    serve: Callable[..., Any], made_once: Callable[..., Path]
) -> Callable[[str], tuple[Path, list[dict[str, Any]]]]:
    """Give the folder of an unbroken run of `plan_of` a mode, and the bodies that were sent."""

    def run(mode: str) -> tuple[Path, list[dict[str, Any]]]:
        def fill(folder: Path) -> None:
            bodies = asked_in_one_go(plan_of(mode), serve, folder / "run")
            (folder / "bodies.json").write_text(json.dumps(bodies))

        folder = made_once(f"unbroken-{mode}", fill)
        return folder / "run", json.loads((folder / "bodies.json").read_text())

    return run
