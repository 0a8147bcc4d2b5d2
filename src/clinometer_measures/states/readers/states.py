"""The hidden states of terms, at every layer of a model.

The first occurrence of a term in a context counts, whatever its case, as a word of its own: not
inside another word ("art" in "party") and not in a hyphenated one ("religious" in
"non-religious"); a possessive is an occurrence ("the woman's"). Words of a longer term may be set
apart by any white space. Scripts that do not set words apart are not segmented: a term must stand
between spaces or punctuation.

A term's tokens are those whose characters overlap the term's; marks that the tokenizer adds have
no characters. A causal model's context ends with the term: what follows cannot enter the term's
state, so this is exact, and "X is here" and "X is there" become the same. The context is
tokenised whole before it is cut, so that the cut moves no border between tokens.

The first token of a text is an attention sink of causal models: its state is often a hundred times
as long as others and says nothing about the term. Where a tokenizer sets no mark before a text, a
term that would stand first gets a line break before it.

A context that is longer than the model can read keeps its beginning, if the term is in it, or
else a window around the term.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import InputError
from clinometer.results.tables import need_columns
from clinometer_measures.states.tables import CONTEXTS

__all__ = [
    "Batch",
    "TextPiece",
    "Reader",
    "HiddenStates",
    "Tokens",
    "find_terms",
    "locate",
    "make_batches",
]


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The mean state of each term over its contexts, layer by layer.

    Parameters
    ----------
    keys
        What each row is of: a term, a sense of it, or a term in one context.
    layers
        Labels, from "0", the embeddings below the first block.
    values
        Shape (keys, layers, width), float32.
    counts
        Shape (keys,): contexts behind each row.
    """

    keys: tuple[str, ...]
    layers: tuple[str, ...]
    values: NDArray[np.float32]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse shapes that do not fit, and keys that stand twice."""
        shape = (len(self.keys), len(self.layers))
        if self.values.ndim != 3 or self.values.shape[:2] != shape:
            raise InputError(f"values of shape {self.values.shape}; expected {shape} and a width")
        if self.counts.shape != shape[:1] or len(set(self.keys)) != len(self.keys):
            raise InputError("states need a count for each key, and no key twice")

    def of(self, keys: Iterable[str]) -> NDArray[np.float64]:
        """Give the states of some keys, in their order: shape (keys, layers, width), float64.

        Raises InputError if a key has no state.
        """
        row_by_key = {key: row for row, key in enumerate(self.keys)}
        listed = list(keys)
        absent = [key for key in listed if key not in row_by_key]
        if absent:
            raise InputError(f"no states of {', '.join(map(repr, absent[:5]))}")
        return self.values[[row_by_key[key] for key in listed]].astype(np.float64)

    def unit(self, keys: Iterable[str]) -> NDArray[np.float64]:
        """Give states as `of` does, each of length 1; raise InputError where one is all zero."""
        listed = list(keys)
        vectors = self.of(listed)
        length = np.linalg.norm(vectors, axis=2, keepdims=True)
        if not length.all():
            key, layer = np.argwhere(length[..., 0] == 0)[0]
            raise InputError(
                f"the state of {listed[key]!r} at layer {self.layers[layer]} is all zero"
            )
        return np.asarray(vectors / length)


class Reader(Protocol):
    """A model whose states can be read.

    `name`: as the user named it; `fingerprint`: another one for other weights, another revision,
    another precision; `layers`: labels of what `read` gives.
    """

    name: str
    fingerprint: str
    layers: tuple[str, ...]

    def read(self, contexts: pl.DataFrame) -> HiddenStates:
        """Read the states of terms in contexts (columns CONTEXTS); a row per key."""


Span = tuple[int, int]

#: Hyphen-minus, hyphen, non-breaking hyphen: they make one word of two.
HYPHENS = "-\u2010\u2011"

#: Letters, digits, and marks that are written over the letter before them.
LETTER = r"[\w\u0300-\u036f]"

#: A batch that is fuller than the one share ends before its padding is more than the other.
LEAST_FILL = 0.25
MOST_PADDING = 0.1


def locate(term: str, context: str) -> tuple[int, int]:
    """Find the characters of a context at which a term first begins, and ends (exclusive).

    Raises InputError if the term, one or several words, does not stand in the context.

    Examples
    --------
    >>> locate("art", "The party was about Art.")
    (20, 23)
    """
    match = _pattern(term).search(context)
    if match is None:
        raise InputError(
            f"term {term!r} does not stand in {context!r} as a word of its own; correct either"
        )
    return match.span()


def find_terms(contexts: pl.DataFrame) -> list[tuple[int, int]]:
    """Find the term of every row of contexts (columns CONTEXTS), as `locate` does.

    Raises InputError if there are no rows, a column or field is missing, or a term is not found;
    the row is named, from 1 on.
    """
    need_columns(contexts, list(CONTEXTS), "contexts")
    if contexts.is_empty():
        raise InputError("contexts: no rows; expected a key, a term and a context in each")
    spans = []
    rows = contexts.select(list(CONTEXTS)).rows()
    for number, (key, term, context) in enumerate(rows, start=1):
        if not (key and term and term.strip() and context):
            raise InputError(f"contexts, row {number}: key, term or context is empty")
        try:
            spans.append(locate(term, context))
        except InputError as error:
            raise InputError(f"contexts, row {number}: {error}") from None
    return spans


@functools.lru_cache(maxsize=4096)
def _pattern(term: str) -> re.Pattern[str]:
    """Make the pattern of a term as words of its own; cached, as many contexts hold one term."""
    words = r"\s+".join(map(re.escape, term.split()))
    return re.compile(
        rf"(?<!\w)(?<!\w[{HYPHENS}]){words}(?!{LETTER})(?![{HYPHENS}]\w)", re.IGNORECASE
    )


@dataclass(frozen=True)
class TextPiece:
    """What is read of a context, and which of its tokens are the term's."""

    ids: tuple[int, ...]
    start: int
    stop: int
    shortened: bool = False


@dataclass(eq=False)
class Batch:
    """Contexts of a forward pass, each of them once.

    `texts`: tokens of each context; `spans`: which context, first token, end (exclusive) of the
    terms in them; `members`: for each span, which of the pieces it stands for.
    """

    texts: list[tuple[int, ...]] = field(default_factory=list)
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    members: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Tokens:
    """Makes tokens of contexts, with a tokenizer that knows the characters of its tokens.

    `causal`: later tokens cannot change the states of earlier ones; `limit`: most tokens the model
    reads, None for no limit; `before`: tokens set before a term that would be a causal model's
    first token.
    """

    tokenizer: Any
    causal: bool
    limit: int | None = None
    before: tuple[int, ...] = ()

    def pieces(
        self, contexts: Sequence[str], spans: Sequence[Span], rows: Sequence[int]
    ) -> list[TextPiece]:
        """Find the tokens of terms: a piece for each of `rows`.

        `spans` are first character and end of the term in each of the contexts. Raises InputError
        if a term has no tokens, or more than the model reads; the row is named, from 1 on.
        """
        encoding = self.tokenizer(
            [contexts[row] for row in rows],
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            verbose=False,
        )
        columns = (
            encoding["input_ids"],
            encoding["offset_mapping"],
            encoding["special_tokens_mask"],
        )
        pieces = []
        for row, ids, offsets, added in zip(rows, *columns, strict=True):
            begin, end = spans[row]
            place = f"contexts, row {row + 1}: term {contexts[row][begin:end]!r}"
            inside = _tokens_within(offsets, spans[row])
            if not inside:
                raise InputError(f"{place}: the tokenizer drops it; use another spelling")
            if self.causal and inside[0] == 0:
                shift = len(self.before)
                ids = [*self.before, *ids]
                added = [0] * shift + added
                inside = [token + shift for token in inside]
            piece = self._piece(ids, added, (inside[0], inside[-1] + 1))
            if piece is None:
                raise InputError(f"{place} is longer than the {self.limit} tokens the model reads")
            pieces.append(piece)
        return pieces

    def _piece(self, ids: list[int], added: list[int], span: Span) -> TextPiece | None:
        """Cut a context to what the model reads; None if the term alone is longer."""
        start, stop = span
        if self.causal:  # what follows the term cannot enter its state
            ids = ids[:stop]
            added = added[:stop]
        if self.limit is None or len(ids) <= self.limit:
            return TextPiece(tuple(ids), start, stop)
        front = _count_marks(added)
        back = _count_marks(added[::-1])
        room = self.limit - front - back
        if stop - start > room:
            return None
        end = len(ids) - back
        begin = front
        if stop - front > room:  # the term is not in the beginning: put it in the middle
            begin = min(end - room, start - (room - (stop - start)) // 2)
        window = (*ids[:front], *ids[begin : begin + room], *ids[end:])
        return TextPiece(window, start - begin + front, stop - begin + front, shortened=True)


def _tokens_within(offsets: Sequence[Span], span: Span) -> list[int]:
    """Return the tokens whose characters overlap those of a term; marks have no characters."""
    begin, end = span
    return [token for token, (a, z) in enumerate(offsets) if a < end and z > max(a, begin)]


def _count_marks(added: Sequence[int]) -> int:
    """Count the marks at the beginning."""
    for number, mark in enumerate(added):
        if not mark:
            return number
    return len(added)


def make_batches(pieces: Sequence[TextPiece], most_tokens: int, most_spans: int) -> Iterator[Batch]:
    """Put contexts of about the same length together; equal ones are read once, the longest first.

    A batch has at most `most_tokens`, padding included (a longer context is a batch of its own),
    and at most `most_spans` terms.
    """
    spans_by_text: dict[tuple[int, ...], dict[Span, list[int]]] = {}  # context → span → its pieces
    for number, piece in enumerate(pieces):
        spans = spans_by_text.setdefault(piece.ids, {})
        spans.setdefault((piece.start, piece.stop), []).append(number)
    batch = Batch()
    real = 0  # tokens that are no padding
    for ids in sorted(spans_by_text, key=len, reverse=True):
        # The first context is the longest, to whose length the others are filled up.
        places = len(batch.texts[0]) * (len(batch.texts) + 1) if batch.texts else 0
        ragged = (
            places > LEAST_FILL * most_tokens and places - real - len(ids) > MOST_PADDING * places
        )
        many = len(batch.spans) + len(spans_by_text[ids]) > most_spans
        if batch.texts and (places > most_tokens or ragged or many):
            yield batch
            batch = Batch()
            real = 0
        for (start, stop), members in spans_by_text[ids].items():
            batch.spans.append((len(batch.texts), start, stop))
            batch.members.append(members)
        batch.texts.append(ids)
        real += len(ids)
    if batch.texts:
        yield batch
