from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai._util.registry import registry_find
from inspect_ai.model._providers import providers  # registers inspect's providers

from clinometer.models.providers import PROVIDERS, Provider, find_provider


def test_every_listed_provider_is_one_that_inspect_knows() -> None:
    registrations = registry_find(lambda info: info.type == "modelapi")
    registered = {name.rpartition("/")[2] for name in map(_name, registrations)}
    assert set(PROVIDERS) <= registered | {"clinometer", "simulated"}


def _name(entry: object) -> str:
    from inspect_ai._util.registry import registry_info

    return registry_info(entry).name


@pytest.mark.parametrize("model", ["vllm/m", "vllm/a/b"])
def test_a_provider_is_found_by_the_name_of_a_model(model: str) -> None:
    assert find_provider(model) is PROVIDERS["vllm"]


def test_a_name_for_plain_texts_changes_no_more_than_that() -> None:
    plain = find_provider("vllm-completions/m")
    assert plain == replace(PROVIDERS["vllm"], texts=True, batch=False, batch_files=False)


def test_of_an_unknown_provider_little_is_assumed() -> None:
    unknown = find_provider("acme/m")
    assert unknown == Provider() and unknown.top_logprobs == 20
    assert (unknown.choices, unknown.logprobs, unknown.schemas) == (None, None, None)
    assert not (unknown.local or unknown.seeded or unknown.exact or unknown.states)


def test_only_models_in_this_process_score_whole_options() -> None:
    assert [name for name, provider in PROVIDERS.items() if provider.exact] == [
        "clinometer",
        "simulated",
    ]


#: What inspect's source shows that it neither sends nor reads.
IGNORED = {
    "response_schema": ("schemas", ["hf", "azureai", "transformer_lens"]),
    "logprobs": ("logprobs", ["anthropic", "azureai", "bedrock", "mistral", "transformer_lens"]),
    "num_choices": ("choices", ["anthropic", "azureai", "bedrock", "hf", "mistral"]),
}


@pytest.mark.parametrize("setting", IGNORED)
def test_what_inspect_does_not_send_its_providers_cannot_do(setting: str) -> None:
    column, names = IGNORED[setting]
    for name in names:
        source = Path(providers.__file__).with_name(f"{name}.py").read_text()
        assert setting not in source and getattr(PROVIDERS[name], column) is False


def test_the_documented_table_is_that_of_the_providers() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "cluster.md").read_text()
    rows = re.findall(r"^\| (`.+?) \| (.+?) \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    documented = {
        name: tuple(cell.partition(" (")[0] for cell in cells)
        for names, *cells in rows
        for name in re.findall(r"`([\w-]+)/", names)
    }
    words = {True: "yes", False: "no", None: "not known"}
    assert documented == {
        name: tuple(words[able] for able in (provider.schemas, provider.logprobs, provider.choices))
        for name, provider in PROVIDERS.items()
        if name != "mockllm"
    }
