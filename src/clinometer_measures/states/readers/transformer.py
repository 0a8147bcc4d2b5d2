"""The states of terms at every layer of a transformer, encoder or decoder.

Source: Schuster et al. 2024, whose script reads one sentence at a time: the state of a term is
the mean over its tokens, then over its contexts. Layers are "0", the embeddings below the first
block, to the number of blocks. A state is a list of numbers without a range; it means nothing
alone, only beside other states of the same layer.

Hooks on a model's blocks average the states of the terms' tokens when a block hands its output
on, and let go of the rest: no more than a layer's states are held at a time. Where the blocks
are is found by trying: their outputs must be what the model gives when asked for all its hidden
states. Where none are (ALBERT has one block and runs it twelve times), it is asked for them,
batch by batch.

Deviations: tokens of a term are found by characters, not by decoding them; a causal model reads
each context up to the term only, which gives the same states; contexts of a key are averaged in
float64.
"""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import ClinometerWarning, ModelError
from clinometer_measures.states.readers.pretrained import Loading, Pretrained
from clinometer_measures.states.readers.states import (
    Batch,
    HiddenStates,
    Tokens,
    find_terms,
    make_batches,
)

if TYPE_CHECKING:
    import torch

__all__ = ["Depth", "TransformerReader", "mean_states", "run"]

Array = NDArray[np.float32]

#: What is held beside the model and the result: at most this share of the model, or this much.
SHARE = 0.02
LEAST_BYTES = 12_000_000

#: Tokens per forward pass; more are no faster for each.
BATCH_TOKENS = {"cpu": 2_048, "gpu": 16_384}

#: Contexts that are tokenised at a time.
CONTEXTS_AT_A_TIME = 2_000

#: Tokens of the text with which a model is tried.
TRIAL_TOKENS = 12


class TransformerReader:
    """Reads the states of terms from a transformer.

    `width`: numbers in a state. `last`: "normed" where the last layer is after the model's final
    norm, "block" as the last block gives it, "unknown" where blocks cannot be told apart. `causal`:
    contexts are cut after the term. `hooked`: terms are pooled block by block, not from all hidden
    states of a batch. Raises ModelError if the model does not give a state per token at every
    layer.
    """

    def __init__(self, name: str, loaded: Pretrained, loading: Loading) -> None:
        self.name = name
        self.model = loaded.model
        self.tokenizer = loaded.tokenizer
        text, twin_text = _trial_texts(loaded)
        try:
            self._depth = find_depth(loaded.model, [text, text[: TRIAL_TOKENS // 2]], loading.last)
        except ModelError as error:
            raise ModelError(f"model {name!r}: {error}") from None
        except Exception as error:  # an architecture may want something else than text
            first = (str(error) or type(error).__name__).splitlines()[0]
            raise ModelError(f"model {name!r} does not read plain text: {first}") from None
        self.causal = is_causal(loaded.model, self._depth, text, twin_text)
        self.last = self._depth.last
        self.width = self._depth.width
        self.hooked = self._depth.blocks is not None
        self.layers = tuple(map(str, range(self._depth.count)))
        identity = f"{loaded.identity} {self.last} {loading.first}"
        self.fingerprint = hashlib.sha256(identity.encode()).hexdigest()
        # What is set before a term that would be a causal model's first token.
        line_break = self.causal and loading.first == "break"
        before = self.tokenizer("\n", add_special_tokens=False)["input_ids"] if line_break else ()
        self._tokens = Tokens(self.tokenizer, self.causal, loaded.limit, tuple(before))
        processor = loaded.model.device.type == "cpu"
        self._batch_tokens = loading.batch_tokens or BATCH_TOKENS["cpu" if processor else "gpu"]
        weights = sum(p.numel() * p.element_size() for p in loaded.model.parameters())
        self._spare = max(LEAST_BYTES, int(SHARE * weights))

    def read(self, contexts: pl.DataFrame) -> HiddenStates:
        """Read the states of terms in contexts (columns CONTEXTS); rows of one key are averaged.

        A row per key, in the order of the table. Raises InputError if a term does not stand in its
        context (row, term and context are named), and ModelError if a layer is all zero or holds
        what is no number.
        """
        spans = find_terms(contexts)
        by_key = contexts.with_row_index("row").group_by("key", maintain_order=True).agg("row")
        rows: dict[str, list[int]] = dict(by_key.iter_rows())
        texts: list[str] = contexts["context"].to_list()
        place_by_key = {key: place for place, key in enumerate(rows)}
        values = np.empty((len(rows), len(self.layers), self.width), dtype=np.float32)
        shortened = 0
        for part in self._parts(rows, texts):
            places: list[int] = []  # of the key of each row
            part_rows: list[int] = []
            for key in part:
                places += [place_by_key[key]] * len(rows[key])
                part_rows += rows[key]
            pieces = self._tokens.pieces(texts, spans, part_rows)
            shortened += sum(piece.shortened for piece in pieces)
            self._fill(values, places, pieces)
        if shortened:
            warnings.warn(
                f"{self.name}: {shortened} contexts are longer than the {self._tokens.limit} "
                "tokens it reads; the part with the term was read",
                ClinometerWarning,
                stacklevel=2,
            )
        self._check(values)
        counts = np.array([len(key_rows) for key_rows in rows.values()], dtype=np.int64)
        return HiddenStates(tuple(rows), self.layers, values, counts)

    def _parts(
        self, rows: Mapping[str, Sequence[int]], texts: Sequence[str]
    ) -> Iterator[list[str]]:
        """Yield keys whose sums fit into memory, those with like contexts together."""
        # A sum is in float64: 8 bytes for each number of a state.
        most = max(8, self._spare // (8 * len(self.layers) * self.width))
        part: list[str] = []
        sums = 0  # keys of several contexts
        contexts = 0
        for key in sorted(rows, key=lambda key: (len(texts[rows[key][0]]), texts[rows[key][0]])):
            count = len(rows[key])
            if part and (sums >= most or contexts + count > CONTEXTS_AT_A_TIME):
                yield part
                part = []
                sums = contexts = 0
            part.append(key)
            sums += count > 1
            contexts += count
        if part:
            yield part

    def _fill(self, values: Array, keys: Sequence[int], pieces: Sequence[Any]) -> None:
        """Run the model and put the mean of each key into its place."""
        counts = Counter(keys)
        several = [key for key, count in counts.items() if count > 1]
        row_by_key = {key: row for row, key in enumerate(several)}
        sums = np.zeros((len(several), *values.shape[1:]))
        # States of a batch are in float32.
        most_spans = max(16, self._spare // (4 * len(self.layers) * self.width))
        for batch in make_batches(pieces, self._batch_tokens, most_spans):
            for mean, members in zip(self._run(batch), batch.members, strict=True):
                for member in members:
                    key = keys[member]
                    if key in row_by_key:
                        sums[row_by_key[key]] += mean
                    else:
                        values[key] = mean
        for key, row in row_by_key.items():
            values[key] = sums[row] / counts[key]

    def _run(self, batch: Any) -> Array:
        """Give the mean states of a batch; raise ModelError if memory does not suffice."""
        import torch

        try:
            return mean_states(self.model, self._depth, batch)
        except torch.OutOfMemoryError:
            raise ModelError(
                f"model {self.name!r}: out of memory with batch_tokens {self._batch_tokens}; "
                "use fewer, or device_map='auto'"
            ) from None

    def _check(self, values: Array) -> None:
        """Raise ModelError for a layer that is all zero or not finite."""
        for number, layer in enumerate(self.layers):
            finite = np.isfinite(values[:, number]).all()
            if not finite or not values[:, number].any():
                wrong = "is all zero" if finite else "holds numbers that are not finite"
                raise ModelError(
                    f"model {self.name!r}: layer {layer} {wrong}; its weights are broken, or its "
                    "dtype is too narrow (try float32)"
                )


def _trial_texts(loaded: Pretrained) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Take tokens from all over the vocabulary: two texts whose second halves differ."""
    # Either may be larger: embeddings are padded, and tokens are added to a tokenizer.
    size = min(len(loaded.tokenizer), loaded.model.get_input_embeddings().num_embeddings)
    ordinary = sorted(set(range(size)).difference(loaded.tokenizer.all_special_ids))
    step = max(1, size // (2 * TRIAL_TOKENS))
    half = TRIAL_TOKENS // 2
    spread = [ordinary[(number * step) % len(ordinary)] for number in range(2 * TRIAL_TOKENS)]
    start = spread[:half]
    end = spread[half : 2 * half]
    twin_end = spread[2 * half : 3 * half]
    return (*start, *end), (*start, *twin_end)


@dataclass(frozen=True, eq=False)
class Depth:
    """Where a model's states come out.

    `count` states: the embeddings below the first block, and one for each block; `width` numbers in
    each. `blocks` are modules; None: the model is asked for its hidden states. `last`: "normed"
    where the last state is after a final norm, "block" as the last block gives it, "unknown" where
    there are no blocks.
    """

    count: int
    width: int
    blocks: Any = None
    last: str = "unknown"


def run(model: Any, texts: Sequence[Sequence[int]], all_states: bool = False) -> Any:
    """Run a transformers model over token sequences, filled up on the right.

    With `all_states` it hands back the hidden states of all tokens at all layers.
    """
    import torch

    filling = getattr(model.config.get_text_config(), "pad_token_id", None) or 0
    tokens = torch.full((len(texts), max(map(len, texts))), filling, dtype=torch.int64)
    mask = torch.zeros_like(tokens)
    for row, text in enumerate(texts):
        tokens[row, : len(text)] = torch.tensor(text)
        mask[row, : len(text)] = 1
    device = _device(model)
    with torch.inference_mode():
        return model(
            input_ids=tokens.to(device),
            attention_mask=mask.to(device),
            output_hidden_states=all_states,
        )


def _device(model: Any) -> Any:
    """Say where tokens go: weights that wait on disk are on no device; accelerate moves tokens."""
    return "cpu" if model.device.type == "meta" else model.device


def mean_states(model: Any, depth: Depth, batch: Batch) -> Array:
    """Average the states of each term's tokens; shape (spans, layers, width)."""
    import torch

    pool = _pooling(batch)
    # One piece of memory for all layers: small ones between those that blocks take and give back
    # would keep the process from giving them back too.
    shape = (depth.count, len(batch.spans), depth.width)
    means = torch.empty(shape, dtype=torch.float32, device=_device(model))
    if depth.blocks is None:
        for layer, state in enumerate(run(model, batch.texts, all_states=True).hidden_states):
            means[layer] = pool(state)
    else:
        layers = iter(range(depth.count))
        with _watch_blocks(depth.blocks, lambda state: means[next(layers)].copy_(pool(state))):
            output = run(model, batch.texts)
        if depth.last == "normed":
            means[-1] = pool(output.last_hidden_state)
        if next(layers, None) is not None:
            raise ValueError("fewer states than layers")
    pooled: Array = means.transpose(0, 1).cpu().numpy()
    return pooled


def _pooling(batch: Batch) -> Callable[[torch.Tensor], torch.Tensor]:
    """Make what averages the states of spans of tokens, in float32, wherever the states are."""
    import torch
    from torch.nn.functional import embedding_bag

    longest = max(map(len, batch.texts))
    places: list[int] = []  # of the tokens of all spans, in the states of the batch laid end to end
    starts: list[int] = []
    for row, start, stop in batch.spans:
        starts.append(len(places))
        places += range(row * longest + start, row * longest + stop)
    numbers = (places, list(range(len(places))), starts)

    @functools.cache
    def on_device(device: torch.device) -> list[torch.Tensor]:
        """Put the numbers on a device, once: blocks may be on several."""
        return [torch.tensor(listed, device=device) for listed in numbers]

    def pool(state: torch.Tensor) -> torch.Tensor:
        """Average a layer's states (texts, tokens, width) by span: (spans, width)."""
        positions, order, begins = on_device(state.device)
        picked = state.reshape(-1, state.shape[-1]).index_select(0, positions).float()
        # Each sum is in the order of the tokens: the same on every run, on a GPU too.
        return embedding_bag(order, picked, begins, mode="mean")

    return pool


@contextmanager
def _watch_blocks(blocks: Any, see: Callable[[Any], object]) -> Iterator[None]:
    """Let `see` have the input of the first block, then the output of each."""

    def see_input(module: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Show the embeddings, which some architectures pass by name."""
        see(arguments[0] if arguments else keywords["hidden_states"])

    def see_output(module: Any, arguments: tuple[Any, ...], output: Any) -> None:
        """Show a block's states, beside which some architectures return more."""
        see(output[0] if isinstance(output, tuple) else output)

    with ExitStack() as hooks:
        hooks.callback(blocks[0].register_forward_pre_hook(see_input, with_kwargs=True).remove)
        for block in blocks:
            hooks.callback(block.register_forward_hook(see_output).remove)
        yield


def find_depth(model: Any, texts: Sequence[tuple[int, ...]], last: str) -> Depth:
    """Find where a model's states come out, trying it with two texts of different length.

    Raises ModelError if it gives no states, or not one per token at every layer, or `last` (one of
    LAST) cannot be had.
    """
    from torch.nn import ModuleList

    states = run(model, texts, all_states=True).get("hidden_states")
    shape = (len(texts), max(map(len, texts)))
    if not states or any(s.shape[:2] != shape or s.shape != states[0].shape for s in states):
        raise ModelError("it does not give a state per token at every layer; use another model")
    depth = Depth(len(states), int(states[0].shape[2]))
    all_tokens = _token_batch(texts)
    expected = mean_states(model, depth, all_tokens)
    for blocks in list(model.modules()):
        if not isinstance(blocks, ModuleList) or not len(blocks) == len(states) - 1 > 0:
            continue
        normed = replace(depth, blocks=blocks, last="normed")
        if _gives_expected(model, normed, all_tokens, expected):
            block = replace(normed, last="block")
            # Without a norm of its own a model has the same last state either way.
            if last == "block" or _gives_expected(model, block, all_tokens, expected):
                return block
            return normed
    if last == "block":
        raise ModelError("last='block': its blocks cannot be told apart; use last='normed'")
    return depth


def _token_batch(texts: Sequence[tuple[int, ...]]) -> Batch:
    """Make a batch in which each token is a span by itself."""
    spans = []
    for row, text in enumerate(texts):
        spans += [(row, position, position + 1) for position in range(len(text))]
    return Batch(list(texts), spans, [[number] for number in range(len(spans))])


def _gives_expected(model: Any, depth: Depth, batch: Batch, expected: Array) -> bool:
    """Read through blocks that may be the wrong ones: they raise or give what they like."""
    try:
        return _close(mean_states(model, depth, batch), expected)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        return False


def _close(a: Array, b: Array) -> bool:
    """Tell whether states are alike but for rounding, measured by the largest of `b`."""
    return a.shape == b.shape and bool(np.abs(a - b).max() <= 1e-5 * np.abs(b).max())


def is_causal(model: Any, depth: Depth, text: tuple[int, ...], twin_text: tuple[int, ...]) -> bool:
    """Try whether later tokens leave the states of earlier ones as they are.

    `text` and `twin_text` are equally long, with the same first half and another second. False in
    doubt: contexts are then read whole, which is slower and always right.
    """
    half = len(text) // 2
    # One text at a time: shape (tokens, layers, width), a span for each token.
    states = mean_states(model, depth, _token_batch([text]))[:half]
    twin_states = mean_states(model, depth, _token_batch([twin_text]))[:half]
    layers = range(depth.count)
    return all(_close(states[:, layer], twin_states[:, layer]) for layer in layers)
