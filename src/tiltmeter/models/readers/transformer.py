"""The states of terms at every layer of a transformer, encoder or decoder.

Source: Schuster et al. 2024, whose script reads one sentence at a time: the state of a term is
the mean over its tokens, then over its contexts. Layers are "0", the embeddings below the first
block, to the number of blocks. A state is a list of numbers without a range; it means nothing
alone, only beside other states of the same layer.

Deviations: tokens of a term are found by characters, not by decoding them; a causal model reads
each context up to the term only, which gives the same states; contexts of a key are averaged in
float64.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.errors import ModelError, TiltmeterWarning
from tiltmeter.models.readers.pooling import find_depth, is_causal, mean_states
from tiltmeter.models.readers.pretrained import Loading, Pretrained
from tiltmeter.models.readers.states import States, Tokens, find_terms, make_batches

__all__ = ["TransformerReader"]

#: What is held beside the model and the result: at most this share of the model, or this much.
SHARE, LEAST_BYTES = 0.02, 12_000_000

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
        self.model, self.tokenizer = loaded.model, loaded.tokenizer
        one, other = _trial_texts(loaded)
        try:
            self._depth = find_depth(loaded.model, [one, one[: TRIAL_TOKENS // 2]], loading.last)
        except ModelError as error:
            raise ModelError(f"model {name!r}: {error}") from None
        except Exception as error:  # an architecture may want something else than text
            first = (str(error) or type(error).__name__).splitlines()[0]
            raise ModelError(f"model {name!r} does not read plain text: {first}") from None
        self.causal = is_causal(loaded.model, self._depth, one, other)
        self.last, self.width = self._depth.last, self._depth.width
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

    def read(self, contexts: pl.DataFrame) -> States:
        """Read the states of terms in contexts (columns CONTEXTS); rows of one key are averaged.

        A row per key, in the order of the table. Raises InputError if a term does not stand in its
        context (row, term and context are named), and ModelError if a layer is all zero or holds
        what is no number.
        """
        spans = find_terms(contexts)
        rows: dict[str, list[int]] = {}
        for row, key in enumerate(contexts["key"]):
            rows.setdefault(key, []).append(row)
        texts: list[str] = contexts["context"].to_list()
        place = {key: at for at, key in enumerate(rows)}
        values = np.empty((len(rows), len(self.layers), self.width), dtype=np.float32)
        shortened = 0
        for part in self._parts(rows, texts):
            of = [(place[key], row) for key in part for row in rows[key]]
            pieces = self._tokens.pieces(texts, spans, [row for _, row in of])
            shortened += sum(piece.shortened for piece in pieces)
            self._fill(values, [key for key, _ in of], pieces)
        if shortened:
            warnings.warn(
                f"{self.name}: {shortened} contexts are longer than the {self._tokens.limit} "
                "tokens it reads; the part with the term was read",
                TiltmeterWarning,
                stacklevel=2,
            )
        self._check(values)
        counts = np.array(list(map(len, rows.values())), dtype=np.int64)
        return States(tuple(rows), self.layers, values, counts)

    def _parts(
        self, rows: Mapping[str, Sequence[int]], texts: Sequence[str]
    ) -> Iterator[list[str]]:
        """Yield keys whose sums fit into memory, those with like contexts together."""
        most = max(8, self._spare // (8 * len(self.layers) * self.width))
        part: list[str] = []
        sums = contexts = 0
        for key in sorted(rows, key=lambda key: (len(texts[rows[key][0]]), texts[rows[key][0]])):
            count = len(rows[key])
            if part and (sums >= most or contexts + count > CONTEXTS_AT_A_TIME):
                yield part
                part, sums, contexts = [], 0, 0
            part.append(key)
            sums, contexts = sums + (count > 1), contexts + count
        if part:
            yield part

    def _fill(
        self, values: NDArray[np.float32], keys: Sequence[int], pieces: Sequence[Any]
    ) -> None:
        """Run the model and put the mean of each key into its place."""
        counts = Counter(keys)
        several = {key: at for at, key in enumerate(k for k, n in counts.items() if n > 1)}
        sums = np.zeros((len(several), *values.shape[1:]))
        most_spans = max(16, self._spare // (4 * len(self.layers) * self.width))
        for batch in make_batches(pieces, self._batch_tokens, most_spans):
            for mean, members in zip(self._run(batch), batch.members, strict=True):
                for key in (keys[member] for member in members):
                    if key in several:
                        sums[several[key]] += mean
                    else:
                        values[key] = mean
        for key, at in several.items():
            values[key] = sums[at] / counts[key]

    def _run(self, batch: Any) -> NDArray[np.float32]:
        import torch

        try:
            return mean_states(self.model, self._depth, batch)
        except torch.OutOfMemoryError:
            raise ModelError(
                f"model {self.name!r}: out of memory with batch_tokens {self._batch_tokens}; "
                "use fewer, or device_map='auto'"
            ) from None

    def _check(self, values: NDArray[np.float32]) -> None:
        for at, layer in enumerate(self.layers):
            one = values[:, at]
            wrong = None if np.isfinite(one).all() else "holds numbers that are not finite"
            wrong = wrong if one.any() else "is all zero"
            if wrong:
                raise ModelError(
                    f"model {self.name!r}: layer {layer} {wrong}; its weights are broken, or its "
                    "dtype is too narrow (try float32)"
                )


def _trial_texts(loaded: Pretrained) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Take tokens from all over the vocabulary: two texts whose second halves differ."""
    known = min(len(loaded.tokenizer), loaded.model.get_input_embeddings().num_embeddings)
    special = set(loaded.tokenizer.all_special_ids)
    step = max(1, known // (2 * TRIAL_TOKENS))
    ordinary = [token for token in range(known) if token not in special]
    spread = [ordinary[(at * step) % len(ordinary)] for at in range(2 * TRIAL_TOKENS)]
    half = TRIAL_TOKENS // 2
    one = spread[:TRIAL_TOKENS]
    return tuple(one), tuple(one[:half] + spread[TRIAL_TOKENS : TRIAL_TOKENS + half])
