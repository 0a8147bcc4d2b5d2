"""What a provider cannot do is said by name, from the table of providers alone."""

from __future__ import annotations

from typing import Any

import pytest

from clinometer.errors import ModelError
from clinometer.models.providers import PROVIDERS
from clinometer.modes import MODES
from clinometer.modes.needs import check_need, refuse_unable, unknown_modes
from clinometer.modes.structured import write_schema

UNABLE = {
    "anthropic/m": ["forced", "likelihood"],
    "azureai/m": ["structured", "forced", "likelihood"],
    "hf/m": ["structured"],
    "together/m": ["forced", "likelihood"],
    "vllm/m": ["likelihood"],
    "vllm-completions/m": [],
    "clinometer/smollm2": [],
    "openai-api/local/m": ["likelihood"],
}


@pytest.mark.parametrize("model", UNABLE)
def test_a_line_names_the_model_the_mode_and_what_to_use(model: str) -> None:
    assert [name for name, mode in MODES.items() if mode.able(model) is False] == UNABLE[model]
    for name in UNABLE[model]:
        with pytest.raises(ModelError, match=f"^{model} .*'{name}' needs; use .*--mode free"):
            refuse_unable([model], [name])
    refuse_unable([model], MODES.keys() - UNABLE[model])


def test_every_model_and_mode_has_a_line() -> None:
    with pytest.raises(ModelError) as error:
        refuse_unable(["azureai/a", "vllm/b", "hf/c"], MODES)
    lines = str(error.value).splitlines()
    assert [line.partition(" ")[0] for line in lines] == [*["azureai/a"] * 3, "vllm/b", "hf/c"]


def test_what_is_not_known_is_said_of_services_and_unlisted_providers() -> None:
    models = ["openai-api/local/m", "acme/m", "vllm/m", "anthropic/m"]
    lines = unknown_modes(models, ["free", "forced"])
    assert [line.split()[1] for line in lines] == ["openai-api/local/m", "acme/m"]
    assert all("gives log-probabilities" in line and "is not known" in line for line in lines)


def test_a_mode_needs_a_column_of_the_providers() -> None:
    needs = {mode.needs for mode in MODES.values() if mode.needs}
    assert all(hasattr(PROVIDERS["openai"], need) for need in needs)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_number_of_reasoning_tokens_is_refused_where_it_would_not_be_sent(name: str) -> None:
    refuse_unable([f"{name}/m"], ["free"], [None])
    if not PROVIDERS[name].reasons:
        with pytest.raises(ModelError, match=f"^reasoning_effort low: {name}/m does not reason"):
            refuse_unable([f"{name}/m"], ["free"], ["low"])
        return
    refuse_unable([f"{name}/m"], ["free"], [None, "low"])
    if name in ("anthropic", "bedrock", "google", "openrouter"):
        refuse_unable([f"{name}/m"], ["free"], ["1024"])
        return
    with pytest.raises(ModelError, match=f"^reasoning_effort 1024: .* of {name}/m cannot be"):
        refuse_unable(["google/m", f"{name}/m"], ["free"], ["low", "1024"])


@pytest.mark.parametrize(
    ("response", "stop_reason", "follows_schema"),
    [
        ('{"decision": "yes"}', "stop", True),
        ('```json\n{"decision": "perhaps"}```', "stop", True),
        ('{"choice": "yes"}', "stop", False),
        ("Yes, they should.", "stop", False),
        ("I suggest them because", "max_tokens", False),
        ('{"decision": "y', "max_tokens", None),
        ("I'm sorry, but I can't help with that.", "stop", None),
        ("", "max_tokens", None),
        ("no", "content_filter", None),
    ],
)
def test_free_text_shows_that_a_schema_was_ignored(
    response: str, stop_reason: str, follows_schema: bool | None
) -> None:
    trial = {"mode": "structured", "schema": write_schema({"decision": ["yes", "no"]})}
    answer: dict[str, Any] = {"response": response, "stop_reason": stop_reason}
    assert MODES["structured"].shows_need(trial, answer) is follows_schema
    proven = set[str]()
    if follows_schema is False:
        with pytest.raises(ModelError, match="acme/m does not close answers to a JSON schema"):
            check_need(trial, answer, "acme/m", proven)
    else:
        check_need(trial, answer, "acme/m", proven)
    assert bool(proven) is bool(follows_schema)
    check_need(trial, answer, "acme/m", {"structured"})  # then it cannot be read, and that is all
