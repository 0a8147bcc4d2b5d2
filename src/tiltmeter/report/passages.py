"""Texts from outside: prompts and answers in pieces, marked and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LONGEST", "Exchange", "Piece", "Quote", "passages"]

#: Characters of an answer shown at a stretch; the rest stays in responses.parquet.
LONGEST = 1500
#: Characters shown of the opening, and around a passage, where passages are marked further on.
OPENING, AROUND = 500, 300


@dataclass(frozen=True)
class Piece:
    """A stretch of an answer: ``text``, ``mark``, or a ``gap`` that says how much is left out."""

    kind: str
    text: str


@dataclass(frozen=True)
class Quote:
    """A text under a label; an excerpt stands apart from the text it was taken from."""

    label: str
    pieces: tuple[Piece, ...]
    excerpt: bool = False

    @classmethod
    def whole(cls, label: str, text: str, *, excerpt: bool = False) -> Quote:
        """Quote a text in one piece; without any piece where it is empty."""
        return cls(label, (Piece("text", text),) if text else (), excerpt)


@dataclass(frozen=True)
class Exchange:
    """What a model was asked, what it answered, and what was made of it."""

    about: str
    quotes: tuple[Quote, ...]
    readings: tuple[str, ...] = ()
    note: str = ""


def passages(text: str, spans: Sequence[str]) -> tuple[list[Piece], list[bool]]:
    """Cut an answer into pieces, with the passages marked in which something was read.

    Parameters
    ----------
    text
        The answer, as the model gave it.
    spans
        Passages to mark; an empty one, or one that is not in the answer, is not.

    Returns
    -------
    pieces : list of Piece
        The opening of the answer, and the surroundings of passages further on.
    found : list of bool
        For each passage whether it is marked.

    Examples
    --------
    >>> pieces, found = passages("Ben, then Julia.", ["Julia", "Anna"])
    >>> [(piece.kind, piece.text) for piece in pieces], found
    ([('text', 'Ben, then '), ('mark', 'Julia'), ('text', '.')], [True, False])
    """
    places = [_place(text, span) for span in spans]
    marks = _joined([place for place in places if place])
    far = len(text) > LONGEST and bool(marks)
    shown = _joined(
        [(0, min(len(text), OPENING if far else LONGEST))]
        + [(max(0, start - AROUND), min(len(text), end + AROUND)) for start, end in marks]
    )
    pieces: list[Piece] = []
    reached = 0
    for start, end in shown:
        if start > reached:
            pieces.append(Piece("gap", f"{start - reached:,} characters left out"))
        pieces += _marked(text, start, end, marks)
        reached = end
    return pieces, [place is not None for place in places]


def _place(text: str, span: str) -> tuple[int, int] | None:
    """Find the last occurrence, for decisions close an answer; none of an endless passage."""
    if not span.strip() or len(span) > LONGEST:
        return None
    start = text.rfind(span)
    return None if start < 0 else (start, start + len(span))


def _joined(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches that touch."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _marked(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> list[Piece]:
    pieces = []
    for left, right in marks:
        if start <= left < end:
            pieces += [Piece("text", text[start:left]), Piece("mark", text[left:right])]
            start = right
    pieces.append(Piece("text", text[start:end]))
    return [piece for piece in pieces if piece.text]
