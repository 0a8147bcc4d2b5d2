"""Read several pairs that stand in one line: ``white-cannon - black-wallet``.

A line is cut at what separates its pairs, and each piece is read alone, so that an unknown word
costs only its own pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinometer.reading.mentions import LETTERS, Lexicon, Line, Pair, read_line
from clinometer.reading.rows import pairs_within

#: What separates pairs, where what joins them is another mark.
_SEPARATORS = tuple(map(re.compile, (r"[,;]\s", r"\s+-+\s+", r"\s[/|•·]\s")))
_LINK = re.compile(r"[-:=>→|/]")


def read_pieces(line: Line, lexicon: Lexicon) -> list[Pair]:
    """Return the pairs of a line, cut where that gives more of them."""
    pairs = pairs_within(line)
    # A word may be paired twice, with two groups; then it has no pair, and both must be seen.
    for pieces in _cut(line, lexicon):
        in_pieces = [pair for piece in pieces for pair in pairs_within(piece)]
        if len(in_pieces) > len(pairs):
            pairs = in_pieces
    return pairs


def _cut(line: Line, lexicon: Lexicon) -> Iterator[list[Line]]:
    """Yield the pieces of a line, for each separator at which it is a list of pairs."""
    if len(line.mentions) < 3:
        return
    for separator in _SEPARATORS:
        texts = [text for text in separator.split(line.text) if LETTERS.search(text)]
        pieces = [read_line(text, lexicon) for text in texts]
        kinds = {piece.kinds for piece in pieces if len(piece.kinds) == 2}
        # All in one order, but for pairs of which one word is not known.
        if kinds in ({"ag"}, {"ga"}) and all(map(_is_pair, pieces)):
            yield pieces


def _is_pair(piece: Line) -> bool:
    """Return whether a piece has two words and a mark between them, if only one is known."""
    if len(piece.mentions) == 2:
        return True
    return len(_LINK.findall(piece.text)) == 1 and len(piece.mentions) < 2
