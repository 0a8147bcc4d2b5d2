"""Many requests in one forward pass, each with the numbers it would get on its own.

A token sequence is a chain of segments: pieces of a prompt, then what is generated. A forward
pass lays the new segments of all requests end to end, without padding. Everything but attention
works row by row. Attention is computed for each segment over that segment's own ancestors; those
of one shape, rounded up, share a call, in which each is computed by itself. So neither the lengths
nor the number of the other requests enter a result, and a run that is broken off and resumed with
other neighbours gives the same answers.

This is exact where a row of a matrix product does not depend on the number of rows. That holds
for torch 2.13 on x86 with AVX-512 from `MIN_ROWS` rows on, hence the filling rows. Elsewhere a
log-probability may move by about 1e-5 in float32, unless requests are run one by one
(``batch_size=1``).

Equal segments with equal ancestors are computed once: requests that share the beginning of their
prompts share its cost, also with earlier passes, of which the latest pieces are kept. Prompts are
cut at fixed positions, so that sharing changes no number.

Keys and values of all segments stand in one table, where each has its places until it is let go;
attention looks them up there, so that nothing is copied from pass to pass.
"""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.functional import log_softmax, scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface

#: The name under which transformers finds the attention of this file.
ATTENTION = "clinometer_segments"

#: Tokens per piece of a prompt, the grain in which prompts share their beginnings, and the share
#: of what stands before it that a piece may be longer: long prompts have few pieces.
PIECE = 4
LONGER = 16

#: Tokens whose keys and values are kept for later passes; in float32 SmolLM2's take 46 KB each.
CACHED_TOKENS = 8192

#: Texts whose tokens are kept; options come again and again.
ENCODED = 4096

#: To what tokens and positions of a segment are rounded up for attention: few shapes, few calls.
SOME_TOKENS = 4
SOME_POSITIONS = 32

#: Fewer rows than this take other code paths in matrix products, with other rounding.
MIN_ROWS = 16

#: Log-probabilities before a pass.
_NOTHING = torch.empty(0)


@dataclass(eq=False)
class Segment:
    """Tokens, at least one, that follow those of `parent`.

    `scored` are the positions whose following token's log-probabilities are needed; after the
    forward pass `logprobs` has a row for each, over the whole vocabulary. `first` is an equal
    segment that is run instead. `places`: where its keys and values stand, once it has run.
    """

    tokens: tuple[int, ...]
    parent: Segment | None = None
    scored: range = range(0)
    logprobs: torch.Tensor = _NOTHING
    start: int = field(init=False)
    first: Segment | None = None
    places: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Place the segment after its parent."""
        self.start = self.parent.stop if self.parent else 0

    @property
    def stop(self) -> int:
        """The position after the last token."""
        return self.start + len(self.tokens)

    def take_logprobs(self) -> torch.Tensor:
        """Hand over the log-probabilities: whoever follows would keep a whole vocabulary a row."""
        taken, self.logprobs = self.logprobs, _NOTHING
        return taken


#: What equal segments have in common: the parent's identity, tokens, what is scored.
_Key = tuple[int, tuple[int, ...], range]


def prompt_chain(tokens: Sequence[int], scored: int = 0) -> list[Segment]:
    """Cut a prompt into pieces at fixed positions; each is the parent of the next.

    `scored` is 1 if the log-probabilities after the last token are needed, else 0.
    """
    chain: list[Segment] = []
    start = 0
    while start < len(tokens):
        stop = start + max(PIECE, start // LONGER)
        chain.append(Segment(tuple(tokens[start:stop]), chain[-1] if chain else None))
        start = stop
    last = len(chain[-1].tokens)
    chain[-1].scored = range(last - scored, last)
    return chain


class _Memory:
    """Keys and values of segments, `table` (layers, places, 2, width), which grows as needed."""

    def __init__(self, model: Any) -> None:
        config = model.config
        self.heads: int = config.num_key_value_heads
        self.queries: int = config.num_attention_heads // self.heads
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.table = torch.empty(
            (config.num_hidden_layers, 0, 2, self.heads * size),
            dtype=model.dtype,
            device=model.device,
        )
        self._free: list[int] = []

    def take(self, segment: Segment) -> None:
        """Give a segment its places, which are free again when nothing needs the segment."""
        count = len(segment.tokens)
        while len(self._free) < count:
            self._grow()
        segment.places = [self._free.pop() for _ in range(count)]
        weakref.finalize(segment, self._free.extend, segment.places).atexit = False

    def _grow(self) -> None:
        layers, old, *shape = self.table.shape
        grown = self.table.new_empty((layers, max(CACHED_TOKENS, 2 * old), *shape))
        grown[:, :old] = self.table
        self.table = grown
        self._free += range(grown.shape[1] - 1, old - 1, -1)


@dataclass(frozen=True)
class _ShapeGroup:
    """Segments with as many tokens and as many positions up to the last, both rounded up.

    Rounding repeats the last. `rows` (segments · tokens): where their tokens stand among the new
    ones; `visible` (segments · positions): the places of them and all before them; `mask`
    (segments, 1, rows of a key head, positions): 0 where a token sees a position, else minus
    infinity, again for each query head of a key head.
    """

    count: int
    rows: torch.Tensor
    visible: torch.Tensor
    mask: torch.Tensor


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Attend segment by segment; arrays are (1, heads, tokens, size of a head).

    `table` is that of `_Memory`, and `places` are those of the new tokens. Query heads of one key
    head stand as further rows, so that its keys are not repeated.
    """
    table = options["table"][module.layer_idx]
    places = options["places"]
    for side, states in enumerate((key, value)):
        # The rows that only fill up the pass have no places.
        table[places, side] = states[0, :, : len(places)].transpose(0, 1).flatten(1)
    heads = key.shape[1]
    size = key.shape[3]
    shape = (heads, query.shape[1] // heads, size)  # key heads, query heads of each
    rows = query[0].transpose(0, 1).flatten(1)
    result = torch.zeros_like(rows)
    for group in options["segments"]:
        queries = rows.index_select(0, group.rows).view(group.count, -1, *shape)
        visible = table.index_select(0, group.visible).view(group.count, -1, 2, heads, size)
        keys, values = visible.permute(2, 0, 3, 1, 4)
        # (segments, key heads, query heads of each, tokens, size)
        queries = queries.permute(0, 2, 3, 1, 4)
        output = scaled_dot_product_attention(
            queries.flatten(2, 3), keys, values, group.mask, scale=options["scaling"]
        )
        output = output.view(queries.shape).permute(0, 3, 1, 2, 4)
        result.index_copy_(0, group.rows, output.reshape(len(group.rows), -1))
    return result.view(1, len(rows), -1, size), None


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
        self._encoded = functools.lru_cache(ENCODED)(self._encode)
        self._memory = _Memory(model)
        self._waiting: dict[_Key, Segment] = {}
        self._shared: list[Segment] = []
        self._kept: OrderedDict[_Key, Segment] = OrderedDict()

    @property
    def dtype(self) -> str:
        """The number format, as torch names it: ``"float32"``."""
        return str(self.model.dtype).removeprefix("torch.")

    def encode(self, text: str) -> list[int]:
        """Return the tokens of `text`, with nothing put before or after."""
        return list(self._encoded(text))

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    def decode(self, tokens: Sequence[int], marks: bool = False) -> str:
        """Return the text of `tokens`, with or without the marks of the chat format."""
        options = {"skip_special_tokens": not marks, "clean_up_tokenization_spaces": False}
        return str(self.tokenizer.decode(list(tokens), **options))

    def add(self, segments: Sequence[Segment]) -> int:
        """Put new segments, parents before children, into the next pass; return its tokens.

        Parents that are not among them have been run before.
        """
        for segment in segments:
            if segment.parent is not None:
                segment.parent = segment.parent.first or segment.parent
            # A segment holds its parent, so that no other gets the parent's id.
            key = (id(segment.parent), segment.tokens, segment.scored)
            if key in self._kept:
                self._kept.move_to_end(key)
            segment.first = self._waiting.get(key) or self._kept.get(key)
            if segment.first is None:
                self._waiting[key] = segment
            else:
                self._shared.append(segment)
        return sum(len(segment.tokens) for segment in self._waiting.values())

    def run(self) -> None:
        """Fill in keys, values and log-probabilities of all segments that were added."""
        waiting = self._waiting
        shared = self._shared
        # Emptied first: segments of a pass that fails are not run again.
        self._waiting = {}
        self._shared = []
        if waiting:
            self._forward(list(waiting.values()))
        for segment in shared:
            if segment.first is not None:
                segment.logprobs = segment.first.logprobs
        self._keep(waiting)

    def _keep(self, ran: dict[_Key, Segment]) -> None:
        """Keep pieces of prompts for later passes; let go those not used for longest."""
        self._kept |= {key: segment for key, segment in ran.items() if not segment.scored}
        size = sum(len(tokens) for _, tokens, _ in self._kept)
        while size > CACHED_TOKENS:
            (_, tokens, _), _ = self._kept.popitem(last=False)
            size -= len(tokens)

    @torch.inference_mode()
    def _forward(self, segments: list[Segment]) -> None:
        tokens = [token for segment in segments for token in segment.tokens]
        positions = [p for segment in segments for p in range(segment.start, segment.stop)]
        rows: list[int] = []
        start = 0
        for segment in segments:
            self._memory.take(segment)
            rows += [start + position for position in segment.scored]
            start += len(segment.tokens)
        device = self.model.device
        output = self.model(
            input_ids=torch.tensor([_fill_rows(tokens)], device=device),
            position_ids=torch.tensor([_fill_rows(positions)], device=device),
            use_cache=False,
            table=self._memory.table,
            places=torch.tensor([p for s in segments for p in s.places], device=device),
            segments=_by_shape(segments, self._memory),
            logits_to_keep=torch.tensor(_fill_rows(rows), device=device),
        )
        logprobs = log_softmax(output.logits[0, : len(rows)].float(), dim=-1).cpu()
        parts = torch.split(logprobs, [len(segment.scored) for segment in segments])
        for segment, part in zip(segments, parts, strict=True):
            if segment.scored:  # an empty part, too, would keep the whole of the pass in memory
                segment.logprobs = part


def _by_shape(segments: Sequence[Segment], memory: _Memory) -> list[_ShapeGroup]:
    """Put segments of one shape together."""
    shapes: dict[tuple[int, int], list[Segment]] = {}
    token_rows: dict[int, range] = {}  # a segment's id → where its tokens stand among the new ones
    start = 0
    for segment in segments:
        count = len(segment.tokens)
        shape = _round_up(count, SOME_TOKENS), _round_up(segment.stop, SOME_POSITIONS)
        shapes.setdefault(shape, []).append(segment)
        token_rows[id(segment)] = range(start, start + count)
        start += count
    groups = []
    for (tokens, positions), alike in shapes.items():
        rows = [_pad(token_rows[id(segment)], tokens) for segment in alike]
        places = [_pad(_visible_places(segment), positions) for segment in alike]
        last = torch.tensor([_pad(range(segment.start, segment.stop), tokens) for segment in alike])
        hidden = torch.arange(positions) > last.repeat(1, memory.queries)[:, None, :, None]
        mask = torch.zeros(hidden.shape, dtype=memory.table.dtype)
        mask = mask.masked_fill(hidden, -torch.inf)
        device = memory.table.device
        groups.append(
            _ShapeGroup(
                count=len(alike),
                rows=torch.tensor(rows, device=device).flatten(),
                visible=torch.tensor(places, device=device).flatten(),
                mask=mask.to(device),
            )
        )
    return groups


def _round_up(number: int, grain: int) -> int:
    return -(-number // grain) * grain


def _pad(values: Sequence[int], length: int) -> list[int]:
    """Repeat the last value up to a length."""
    return [*values, *[values[-1]] * (length - len(values))]


def _visible_places(segment: Segment) -> list[int]:
    """Return the places of a segment and all before it."""
    chain: list[Segment] = []
    above: Segment | None = segment
    while above is not None:
        chain.append(above)
        above = above.parent
    places: list[int] = []
    for ancestor in reversed(chain):
        places += ancestor.places
    return places


def _fill_rows(values: list[int]) -> list[int]:
    return values + [0] * (MIN_ROWS - len(values))


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end an answer, by the tokenizer and the generation settings."""
    ends = getattr(model.generation_config, "eos_token_id", None)
    listed = ends if isinstance(ends, list) else [ends]
    return frozenset(t for t in [*listed, tokenizer.eos_token_id] if t is not None)
