"""The mean state of a term's tokens at every layer, taken while a model runs.

Hooks on a model's blocks average the states of the terms' tokens when a block hands its output
on, and let go of the rest: no more than a layer's states are held at a time. Where the blocks
are is found by trying: their outputs must be what the model gives when asked for all its hidden
states. Where none are (ALBERT has one block and runs it twelve times), it is asked for them,
batch by batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import ModelError
from tiltmeter.models.readers.states import Batch

if TYPE_CHECKING:
    import torch

__all__ = ["Depth", "find_depth", "is_causal", "mean_states", "run"]

Array = NDArray[np.float32]


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


def run(model: Any, texts: Sequence[Sequence[int]], every_state: bool = False) -> Any:
    """Run a transformers model over token sequences, filled up on the right.

    With `every_state` it hands back the hidden states of all tokens at all layers.
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
            output_hidden_states=every_state,
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
        for layer, state in enumerate(run(model, batch.texts, every_state=True).hidden_states):
            means[layer] = pool(state)
    else:
        layers = iter(range(depth.count))
        with _watched(depth.blocks, lambda state: means[next(layers)].copy_(pool(state))):
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
    places: list[int] = []
    starts: list[int] = []
    for row, start, stop in batch.spans:
        starts.append(len(places))
        places += range(row * longest + start, row * longest + stop)
    numbers = (places, list(range(len(places))), starts)

    @functools.cache
    def on(device: torch.device) -> list[torch.Tensor]:
        return [torch.tensor(listed, device=device) for listed in numbers]

    def pool(state: torch.Tensor) -> torch.Tensor:
        at, order, begins = on(state.device)
        picked = state.reshape(-1, state.shape[-1]).index_select(0, at).float()
        # Each sum is in the order of the tokens: the same on every run, on a GPU too.
        return embedding_bag(order, picked, begins, mode="mean")

    return pool


@contextmanager
def _watched(blocks: Any, see: Callable[[Any], object]) -> Iterator[None]:
    """Let `see` have the input of the first block, then the output of each."""

    def below(module: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        see(given[0] if given else named["hidden_states"])

    def above(module: Any, given: tuple[Any, ...], output: Any) -> None:
        see(output[0] if isinstance(output, tuple) else output)

    with ExitStack() as hooks:
        hooks.callback(blocks[0].register_forward_pre_hook(below, with_kwargs=True).remove)
        for block in blocks:
            hooks.callback(block.register_forward_hook(above).remove)
        yield


def find_depth(model: Any, texts: Sequence[tuple[int, ...]], last: str) -> Depth:
    """Find where a model's states come out, trying it with two texts of different length.

    Raises ModelError if it gives no states, or not one per token at every layer, or `last` (one of
    LAST) cannot be had.
    """
    from torch.nn import ModuleList

    states = run(model, texts, every_state=True).get("hidden_states")
    shape = (len(texts), max(map(len, texts)))
    if not states or any(s.shape[:2] != shape or s.shape != states[0].shape for s in states):
        raise ModelError("it does not give a state per token at every layer; use another model")
    depth = Depth(len(states), int(states[0].shape[2]))
    every = _every_token(texts)
    expected = mean_states(model, depth, every)
    lists = [module for module in model.modules() if isinstance(module, ModuleList)]
    for blocks in (module for module in lists if len(module) == len(states) - 1 > 0):
        normed = replace(depth, blocks=blocks, last="normed")
        if _gives(model, normed, every, expected):
            block = replace(normed, last="block")
            return block if last == "block" or _gives(model, block, every, expected) else normed
    if last == "block":
        raise ModelError("last='block': its blocks cannot be told apart; use last='normed'")
    return depth


def _every_token(texts: Sequence[tuple[int, ...]]) -> Batch:
    spans = [(row, at, at + 1) for row, text in enumerate(texts) for at in range(len(text))]
    return Batch(list(texts), spans, [[number] for number in range(len(spans))])


def _gives(model: Any, depth: Depth, batch: Batch, expected: Array) -> bool:
    """Read through blocks that may be the wrong ones: they raise or give what they like."""
    try:
        return _close(mean_states(model, depth, batch), expected)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        return False


def _close(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.abs(a - b).max() <= 1e-5 * np.abs(b).max())


def is_causal(model: Any, depth: Depth, text: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Try whether later tokens leave the states of earlier ones as they are.

    `text` and `other` are equally long, with the same first half and another second. False in
    doubt: contexts are then read whole, which is slower and always right.
    """
    half = len(text) // 2
    one, two = (mean_states(model, depth, _every_token([t]))[:half] for t in (text, other))
    return all(_close(one[:, layer], two[:, layer]) for layer in range(depth.count))
