"""Models as transformers loads them: from the hub, a folder, or the embedded weights.

Nothing but safetensors is read, and no code that comes with a model is run. The tokenizer and
weights are of the commit whose configuration was read first.

What identifies a model: on the hub, its commit, which fixes every file. In a folder there is
none, so its weights, configuration and tokenizer files are hashed whole (SHA-256, once per file
and process): a hash of sizes or of file headers would not notice weights that were trained
further, and reading a file for its hash takes less time than loading it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinometer.errors import InputError, ModelError
from clinometer.models.libraries import hash_file, quiet, require_libraries, use_cache_if_offline

__all__ = ["Loading", "Pretrained", "load_pretrained"]

DTYPES = ("auto", "float32", "bfloat16", "float16")

#: What the last layer may be: the state after the final norm, or that of the last block.
LAST = ("normed", "block")

#: What stands before a term that would be first.
FIRST = ("break", "bare")

LIBRARIES = ("torch", "transformers", "safetensors")

#: Files of a folder that enter its identity.
HASHED = ("*.safetensors", "*.json", "*.txt", "*.model")


@dataclass(frozen=True)
class Loading:
    """How a model is loaded and read.

    Parameters
    ----------
    dtype
        Of the weights; "auto": float32 on a processor, so that numbers agree between machines,
        and the checkpoint's own on a GPU. States are averaged in float32 and above always.
    device
        As torch names it; "auto": a GPU if there is one.
    device_map
        For models larger than one device: "auto", "balanced" and so on, as accelerate has them.
    revision
        A branch, tag or commit of the model's repository.
    batch_tokens
        Tokens per forward pass; None: 2,048 on a processor, 16,384 on a GPU.
    last
        What the last layer is in models that end with a norm of their own, as Llama does:
        "normed", the state after it, as transformers has it, or "block", the one before, which
        is on the scale of the other layers.
    first
        What a causal model reads before a term that would be its very first token: "break", a line
        break, or "bare", nothing, as published.
    """

    dtype: str = "auto"
    device: str = "auto"
    device_map: str | None = None
    revision: str | None = None
    batch_tokens: int | None = None
    last: str = "normed"
    first: str = "break"

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        for name, allowed in (("dtype", DTYPES), ("last", LAST), ("first", FIRST)):
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"{name} {getattr(self, name)!r}: allowed are {', '.join(allowed)}"
                )
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise InputError(f"batch_tokens {self.batch_tokens}: at least 1")
        if self.device_map is not None and self.device != "auto":
            raise InputError(f"device {self.device!r} and device_map: give one of them")


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A loaded model of transformers: the encoder where there is an encoder and a decoder.

    `identity` changes when its weights, tokenizer, revision or precision do; `limit`: most tokens
    it reads, None for no limit.
    """

    model: Any
    tokenizer: Any
    identity: str
    limit: int | None


def load_pretrained(name: str, source: str, loading: Loading) -> Pretrained:
    """Load a model without its output layer, from the hub or a folder.

    Raises ModelError if there is no such model, or it needs code of its own, has no safetensors, or
    its tokenizer has no offsets.
    """
    require_libraries(name, *LIBRARIES, *(["accelerate"] if loading.device_map else []))
    _check_folder(name, source)
    use_cache_if_offline(source)
    with quiet(), _shorten_errors(name):
        from transformers import AutoConfig, AutoTokenizer

        revision = loading.revision or "main"
        AutoConfig.from_pretrained(source, revision=revision, trust_remote_code=False)
        # transformers asks a service to convert weights of "main"; of a commit it does not.
        revision = revision if Path(source).is_dir() else _commit(source, revision)
        tokenizer: Any = AutoTokenizer.from_pretrained(
            source, revision=revision, trust_remote_code=False
        )
        if not tokenizer.is_fast:
            raise ModelError(
                f"model {name!r}: its tokenizer ({type(tokenizer).__name__}) has no character "
                "offsets, so terms cannot be found in it; use a model with a fast tokenizer"
            )
        model = _load_model(name, source, revision, loading)
    model.config.get_text_config().use_cache = False  # nothing is generated
    identity = f"{_identity(source, revision)} {type(model).__name__} {model.dtype}"
    return Pretrained(model, tokenizer, identity, _limit(model, tokenizer))


def _check_folder(name: str, source: str) -> None:
    """Raise ModelError if the source is a folder without a model that can be read."""
    folder = Path(source)
    if not (folder.is_dir() or folder.is_absolute() or source.startswith(".")):
        return
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"model {name!r}: no config.json in {folder}; expected a folder with a model as "
            "transformers saves it, or hf/ORGANISATION/NAME for one on the hub"
        )
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"model {name!r}: no safetensors in {folder}, and other weights are not read; "
            "convert them with save_pretrained"
        )


def _load_model(name: str, source: str, revision: str, loading: Loading) -> Any:
    """Load weights, and refuse a checkpoint that lacks some of those that are used."""
    import torch
    from transformers import AutoModel

    gpu = torch.cuda.is_available()
    device = loading.device
    if device == "auto":
        device = "cuda" if gpu else "cpu"
    dtype: Any = loading.dtype
    if dtype == "auto" and (device == "cpu" or (loading.device_map and not gpu)):
        dtype = "float32"
    full_model: Any
    full_model, info = AutoModel.from_pretrained(
        source,
        revision=revision,
        dtype=dtype if dtype == "auto" else getattr(torch, dtype),
        device_map=loading.device_map,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    model = full_model.get_encoder() if full_model.config.is_encoder_decoder else full_model
    # By identity: an encoder's parameters have other names in the full model.
    used = {id(parameter) for parameter in model.parameters()}
    random = []
    for weight, parameter in full_model.named_parameters():
        missing = weight in info["missing_keys"] and id(parameter) in used
        if missing and "pooler" not in weight:  # a pooler works on states, and is not read
            random.append(weight)
    if random:
        raise ModelError(
            f"model {name!r}: its weights lack {', '.join(random[:3])}, which would be random; "
            "use a complete checkpoint"
        )
    return (model if loading.device_map else model.to(device)).eval()


def _limit(model: Any, tokenizer: Any) -> int | None:
    """Find how many tokens the model reads, by its configuration and tokenizer."""
    limits = [tokenizer.model_max_length]
    limits.append(getattr(model.config.get_text_config(), "max_position_embeddings", None))
    for name, module in model.named_modules():
        # RoBERTa counts positions from after the padding token's.
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            limits.append(module.num_embeddings - padding - 1)
    allowed = [int(limit) for limit in limits if limit and 0 < limit < 10**9]
    return min(allowed, default=None)


def _commit(source: str, revision: str) -> str:
    """Find the commit of a model of the hub, by the folder its configuration is kept in."""
    from huggingface_hub import hf_hub_download

    return Path(hf_hub_download(source, "config.json", revision=revision)).parent.name


def _identity(source: str, revision: str) -> str:
    """Name the commit of a model on the hub; hash the files of a folder."""
    if not Path(source).is_dir():
        return f"{source}@{revision}"
    digest = hashlib.sha256()
    paths: set[Path] = set()
    for pattern in HASHED:
        paths |= set(Path(source).glob(pattern))
    # Sorted, because the order of a folder differs between machines.
    for path in sorted(paths):
        digest.update(f"{path.name} ".encode() + bytes.fromhex(hash_file(path)))
    return digest.hexdigest()


@contextmanager
def _shorten_errors(name: str) -> Iterator[None]:
    """Raise what transformers raises as an error of one line."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # libraries raise what they like
        text = str(error)
        if "trust_remote_code" in text:
            reason = (
                "it needs code from its own repository (auto_map in config.json), which is not "
                "run; use a model whose architecture is part of transformers"
            )
        elif "safetensors" in text:
            reason = "it has no safetensors, and other weights are not read; use a revision with"
        else:
            first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
            reason = f"{first.strip().rstrip('.')}; expected a model on the hub or a folder"
        raise ModelError(f"model {name!r}: {reason}") from None
