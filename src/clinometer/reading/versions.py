"""Read what an answer settles on: corrections within a line, and a second version of a list.

What follows the last mark of a correction, such as ``wait`` or ``final answer``, goes before what
precedes it, word by word. A word that is given to both groups in one version has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from clinometer.reading.mentions import LETTERS, Lexicon, Line, Pair, read_line

_VERSION = re.compile(
    r"\b(?:final|corrected|revised|updated)\b(?: \w+){0,2}? (?:answer|list|pairs?|pairings?|version"
    r"|assignments?|choices?)\b|\bwait\b|\b(?:on|after) (?:\w+ )?(?:reflection|second thoughts?)\b"
    r"|\blet me (?:re\w+|correct|change|fix|try again|start over)\b|\bscratch that\b"
    r"|\bcorrection\b"
)
_SLIP = frozenset("actually correction no oops scratch sorry wait".split())
_AROUND_SLIP = _SLIP | frozenset("hmm i it let make mean me or rather s that".split())


def without_slips(line: Line, lexicon: Lexicon) -> Line:
    """Leave out groups that the line puts right: ``office - julia... wait, ben``."""
    text = line.text
    for first, second in pairwise(line.mentions):
        words = set(LETTERS.findall(line.text[first.end : second.start]))
        if first.kind == second.kind == "g" and words & _SLIP and words <= _AROUND_SLIP:
            blank = " " * (second.start - first.start)
            text = f"{text[: first.start]}{blank}{text[second.start :]}"
    return line if text is line.text else read_line(text, lexicon)


def settled_pairs(
    lines: Sequence[Line], inline: list[list[Pair]], blocks: list[list[Pair]]
) -> dict[str, str]:
    """Return the pairs of an answer, from those in its lines and those with lines above."""
    starts = [number for number, line in enumerate(lines) if _VERSION.search(line.text)]
    start = starts[-1] if starts else 0
    last = inline[start:] + blocks[start:]
    corrected = {word for word, _ in chain.from_iterable(last)}
    earlier = _agreed_pairs(inline[:start] + blocks[:start])
    unchanged = {word: group for word, group in earlier.items() if word not in corrected}
    return unchanged | _agreed_pairs(last)


def _agreed_pairs(lists: Iterable[list[Pair]]) -> dict[str, str]:
    """Return the words that were paired with exactly one group."""
    pairs: dict[str, str] = {}
    torn = set()
    for word, group in chain.from_iterable(lists):
        if pairs.setdefault(word, group) != group:
            torn.add(word)
    return {word: group for word, group in pairs.items() if word not in torn}
