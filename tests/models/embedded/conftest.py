"""A two-layer model with one token per byte, and the embedded model where it is installed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

pytest.importorskip("torch", reason="extra `local` not installed")
pytest.importorskip("transformers", reason="extra `local` not installed")

from clinometer.errors import ModelError
from clinometer.models.embedded.provider import EmbeddedModel
from clinometer.models.embedded.weights import find_weights

TEMPLATE = (
    "{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<s>": 0, "</s>": 1} | {letter: i + 2 for i, letter in enumerate(letters)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", chat_template=TEMPLATE
    ).save_pretrained(folder)
    torch.manual_seed(0)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=1024,
            initializer_range=0.3,
            bos_token_id=0,
            eos_token_id=1,
        )
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> EmbeddedModel:
    return EmbeddedModel("smollm2", weights=str(tiny_folder), dtype="float32", device="cpu")


@pytest.fixture(scope="session", params=["float32", "bfloat16"])
def smollm2(request: pytest.FixtureRequest) -> EmbeddedModel:
    try:
        find_weights()
    except ModelError as error:
        pytest.skip(str(error))
    return EmbeddedModel("smollm2", dtype=request.param, device="cpu")


Ask = Callable[..., Any]


@pytest.fixture
def ask() -> Ask:
    async def generate(model: EmbeddedModel, text: str, **config: Any) -> ModelOutput:
        messages = [ChatMessageUser(content=text)]
        return await model.generate(messages, [], "auto", GenerateConfig(**config))

    return generate
