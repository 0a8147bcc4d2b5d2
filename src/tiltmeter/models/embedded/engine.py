"""Many requests in one forward pass, each with the numbers it would get on its own.

A token sequence is a chain of segments: pieces of a prompt, then what is generated. A forward
pass lays the new segments of all requests end to end, without padding. Everything but attention
works row by row, and attention is computed for one segment at a time, over that segment's own
ancestors. So neither the lengths nor the number of the other requests enter a result, and a run
that is broken off and resumed with other neighbours gives the same answers.

This is exact where a row of a matrix product does not depend on the number of rows. That holds
for torch 2.13 on x86 with AVX-512 from `MIN_ROWS` rows on, hence the filling rows. Elsewhere a
log-probability may move by about 1e-5 in float32, unless requests are run one by one
(``batch_size=1``).

Equal segments with equal ancestors are computed once: requests that share the beginning of their
prompts share its cost. Prompts are cut at fixed positions, so that sharing changes no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.functional import log_softmax, scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface

__all__ = ["ATTENTION", "Engine", "Segment", "prompt_chain"]

#: The name under which transformers finds the attention of this file.
ATTENTION = "tiltmeter_segments"

#: Tokens per piece of a prompt: the grain in which prompts share their beginnings.
PIECE = 16

#: Fewer rows than this take other code paths in matrix products, with other rounding.
MIN_ROWS = 16


@dataclass(eq=False)
class Segment:
    """Tokens, at least one, that follow those of `parent`.

    The parent is let go once its keys and values are taken over. `wanted` are the positions whose
    following token's log-probabilities are needed; after the forward pass `logprobs` has a row for
    each, over the whole vocabulary.
    """

    tokens: tuple[int, ...]
    parent: Segment | None = None
    wanted: range = range(0)
    logprobs: torch.Tensor = field(default_factory=lambda: torch.empty(0))
    start: int = field(init=False)
    keys: list[torch.Tensor] = field(default_factory=list)
    values: list[torch.Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Place the segment after its parent."""
        self.start = self.parent.stop if self.parent else 0

    @property
    def stop(self) -> int:
        """The position after the last token."""
        return self.start + len(self.tokens)


def prompt_chain(tokens: Sequence[int], wanted: int = 0) -> list[Segment]:
    """Cut a prompt into pieces at fixed positions; each is the parent of the next.

    `wanted` is 1 if the log-probabilities after the last token are needed, else 0.
    """
    chain: list[Segment] = []
    for start in range(0, len(tokens), PIECE):
        chain.append(Segment(tuple(tokens[start : start + PIECE]), chain[-1] if chain else None))
    last = len(chain[-1].tokens)
    chain[-1].wanted = range(last - wanted, last)
    return chain


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Attend segment by segment; arrays are (1, heads, tokens, size of a head)."""
    result = torch.zeros_like(query)
    start = 0
    for segment, mask in options["segments"]:
        rows = slice(start, start + len(segment.tokens))
        start = rows.stop
        keys, values = key[:, :, rows].clone(), value[:, :, rows].clone()
        if segment.parent is not None:
            keys = torch.cat([segment.parent.keys[module.layer_idx], keys], dim=2)
            values = torch.cat([segment.parent.values[module.layer_idx], values], dim=2)
        segment.keys.append(keys)
        segment.values.append(values)
        result[:, :, rows] = scaled_dot_product_attention(
            query[:, :, rows], keys, values, mask, scale=options["scaling"], enable_gqa=True
        )
    return result.transpose(1, 2), None


AttentionInterface.register(ATTENTION, _attend)
AttentionMaskInterface.register(ATTENTION, lambda *args, **kwargs: None)


class Engine:
    """A causal language model that runs segments.

    The transformers model is loaded with ``attn_implementation=ATTENTION``; `source` identifies the
    weights, for the record.
    """

    def __init__(self, model: Any, tokenizer: Any, source: str) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.source = source
        self.context: int = model.config.max_position_embeddings
        self.ends = _end_tokens(model, tokenizer)

    @property
    def dtype(self) -> str:
        """The number format, as torch names it: ``"float32"``."""
        return str(self.model.dtype).removeprefix("torch.")

    def encode(self, text: str) -> list[int]:
        """Return the tokens of `text`, with nothing put before or after."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def decode(self, tokens: Sequence[int], marks: bool = False) -> str:
        """Return the text of `tokens`, with or without the marks of the chat format."""
        how = {"skip_special_tokens": not marks, "clean_up_tokenization_spaces": False}
        return str(self.tokenizer.decode(list(tokens), **how))

    @torch.inference_mode()
    def run(self, segments: Sequence[Segment]) -> None:
        """Fill in keys, values and log-probabilities of new segments, parents before children.

        Parents that are not among them have been run before.
        """
        unique: dict[tuple[int, tuple[int, ...], range], Segment] = {}
        first: dict[int, Segment] = {}
        for segment in segments:
            segment.parent = first.get(id(segment.parent), segment.parent)
            # Equal segments of an earlier pass hold the same list of keys.
            ancestors = id(segment.parent.keys if segment.parent else None)
            same = (ancestors, segment.tokens, segment.wanted)
            first[id(segment)] = unique.setdefault(same, segment)
        self._forward(list(unique.values()))
        for segment in segments:
            equal = first[id(segment)]
            segment.keys, segment.values = equal.keys, equal.values
            segment.logprobs, segment.parent = equal.logprobs, None

    def _forward(self, segments: list[Segment]) -> None:
        tokens = [token for segment in segments for token in segment.tokens]
        positions = [p for segment in segments for p in range(segment.start, segment.stop)]
        rows: list[int] = []
        start = 0
        for segment in segments:
            rows += [start + position for position in segment.wanted]
            start += len(segment.tokens)
        device = self.model.device
        output = self.model(
            input_ids=torch.tensor([_filled(tokens)], device=device),
            position_ids=torch.tensor([_filled(positions)], device=device),
            use_cache=False,
            segments=[(segment, _mask(segment, device)) for segment in segments],
            logits_to_keep=torch.tensor(_filled(rows), device=device),
        )
        logprobs = log_softmax(output.logits[0, : len(rows)].float(), dim=-1).cpu()
        parts = torch.split(logprobs, [len(segment.wanted) for segment in segments])
        for segment, part in zip(segments, parts, strict=True):
            segment.logprobs = part


def _filled(values: list[int]) -> list[int]:
    return values + [0] * (MIN_ROWS - len(values))


def _mask(segment: Segment, device: torch.device) -> torch.Tensor | None:
    """Say which positions each token sees: itself and all before; None if that is all."""
    count = len(segment.tokens)
    if count == 1:
        return None
    every = torch.ones(count, segment.stop, dtype=torch.bool, device=device)
    return every.tril(diagonal=segment.start)


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end an answer, by the tokenizer and the generation settings."""
    ends = getattr(model.generation_config, "eos_token_id", None)
    listed = ends if isinstance(ends, list) else [ends]
    return frozenset(t for t in [*listed, tokenizer.eos_token_id] if t is not None)
