import asyncio
import subprocess
import sys

import pytest
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
    get_model,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import JSONSchema

from clinometer.errors import ModelError
from clinometer.models.embedded.provider import EmbeddedModel


def test_importing_the_provider_imports_no_torch():
    code = (
        "import sys, clinometer.models.embedded.provider\n"
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_unknown_model_names_the_known_one():
    with pytest.raises(ModelError, match="'foo'.*smollm2"):
        EmbeddedModel("foo")


def test_unknown_argument_names_the_known_ones(tiny_folder):
    with pytest.raises(ModelError, match="'dtyp'.*dtype"):
        EmbeddedModel("smollm2", weights=str(tiny_folder), dtyp="float32")


@pytest.mark.parametrize("size", [0, "many", None])
def test_batch_size_is_a_positive_number(tiny_folder, size):
    with pytest.raises(ModelError, match=f"batch_size={size!r}"):
        EmbeddedModel("smollm2", weights=str(tiny_folder), batch_size=size)


def test_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"clinometer\[local\]"):
        EmbeddedModel("smollm2")


def test_loading_error_reaches_every_request_and_is_tried_again(tiny_folder, ask):
    model = EmbeddedModel("smollm2", weights=str(tiny_folder), dtype="int3")

    async def several():
        return await asyncio.gather(*(ask(model, "a") for _ in range(3)), return_exceptions=True)

    for _ in range(2):
        errors = asyncio.run(several())
        assert all("dtype='int3'" in str(error) for error in errors)


def test_output_counts_tokens_and_names_the_weights(tiny, tiny_folder, ask):
    output = asyncio.run(ask(tiny, "hello", max_tokens=5, seed=1))
    marks = 3  # two that begin a message, one that ends one; a token each, like every letter
    assert output.usage.input_tokens == marks + len("user\nhello\nassistant\n")
    assert output.usage.output_tokens == 5 and output.stop_reason == "max_tokens"
    assert output.metadata == {"weights": str(tiny_folder), "dtype": "float32"}


def texts(output):
    return [choice.message.text for choice in output.choices]


@pytest.mark.parametrize(
    "mode", [{}, {"extra_body": {"structured_outputs": {"choice": list("abc")}}}]
)
def test_several_choices_are_those_of_as_many_requests_with_seeds_in_a_row(tiny, ask, mode):
    async def singly():
        return await asyncio.gather(
            *(ask(tiny, "Say.", seed=40 + i, max_tokens=9, **mode) for i in range(7))
        )

    alone = asyncio.run(singly())
    output = asyncio.run(ask(tiny, "Say.", seed=40, max_tokens=9, num_choices=7, **mode))
    assert texts(output) == [single.completion for single in alone]
    assert len(set(texts(output))) > 1
    assert output.usage.input_tokens == alone[0].usage.input_tokens
    assert output.usage.output_tokens == sum(single.usage.output_tokens for single in alone)


def test_several_choices_read_the_prompt_once(tiny, ask, monkeypatch):
    asyncio.run(ask(tiny, "x", max_tokens=1))
    engine, run = tiny._worker.engine, []
    engine._kept.clear()
    forward = engine._forward

    def counted(segments):
        run.append(sum(len(segment.tokens) for segment in segments))
        forward(segments)

    monkeypatch.setattr(engine, "_forward", counted)
    output = asyncio.run(ask(tiny, "y" * 400, max_tokens=3, num_choices=20))
    assert len(output.choices) == 20
    assert run[0] == output.usage.input_tokens and max(run[1:]) <= 20


def test_choices_without_a_seed_are_drawn_anew(tiny, ask):
    config = {"max_tokens": 9, "num_choices": 10, "temperature": 2.0}
    first, second = (asyncio.run(ask(tiny, "Say.", **config)) for _ in range(2))
    assert texts(first) != texts(second) and len(set(texts(first))) > 1


def test_a_final_assistant_message_is_continued(tiny, ask):
    async def first_token(text, *messages):
        config = GenerateConfig(logprobs=True, top_logprobs=300, max_tokens=1, seed=0)
        chat = [ChatMessageUser(content=text), *messages]
        output = await tiny.generate(chat, [], "auto", config)
        return output.usage.input_tokens, output.choices[0].logprobs

    plain = asyncio.run(first_token("hello"))
    begun = asyncio.run(first_token("hello", ChatMessageAssistant(content="abc")))
    assert begun[0] == plain[0] + 3 and begun[1] != plain[1]


@pytest.mark.parametrize(
    "schema",
    [
        JSONSchema(type="string"),
        JSONSchema(type="object"),
        JSONSchema(type="object", properties={"w": JSONSchema(type="integer")}),
        JSONSchema(type="object", properties={"w": JSONSchema(type="string", enum=["a", 1])}),
    ],
)
def test_a_schema_without_enums_is_refused(tiny, ask, schema):
    with pytest.raises(ModelError, match="enum of strings"):
        asyncio.run(ask(tiny, "x", response_schema=ResponseSchema(name="s", json_schema=schema)))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"num_choices": -1}, "num_choices=-1"),
        ({"temperature": -1.0}, "temperature=-1.0"),
        ({"extra_body": {"guided_regex": "x"}}, "structured_outputs"),
    ],
)
def test_what_it_cannot_do_is_refused(tiny, ask, config, message):
    with pytest.raises(ModelError, match=message):
        asyncio.run(ask(tiny, "x", **config))


def test_tools_are_refused(tiny):
    tool = ToolInfo(name="t", description="d")
    with pytest.raises(ModelError, match="tools"):
        asyncio.run(tiny.generate([ChatMessageUser(content="x")], [tool], "auto", GenerateConfig()))


def test_a_prompt_beyond_the_context_is_refused(tiny, ask):
    with pytest.raises(ModelError, match="1024"):
        asyncio.run(ask(tiny, "x" * 1100))


def test_workers_are_shared_by_equal_providers(tiny, tiny_folder):
    again = EmbeddedModel("smollm2", weights=str(tiny_folder), dtype="float32", device="cpu")
    assert again._worker is tiny._worker


def test_get_model_finds_it_through_the_entry_point(tiny_folder):
    model = get_model("clinometer/smollm2", weights=str(tiny_folder), memoize=False)
    output = asyncio.run(model.generate("hello", config=GenerateConfig(max_tokens=3, seed=2)))
    assert str(model) == "clinometer/smollm2" and output.usage.output_tokens <= 3
