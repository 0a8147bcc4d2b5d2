"""Pairs within a line, by its punctuation.

Mentions with nothing but punctuation between them form a *row*. Its pairs follow from the order of
its words and groups if that is regular, else from what links them; brackets that hold a word and a
group, and whole lines such as ``joy goes with young``, are read as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tiltmeter.reading.mentions import LETTERS, Line, Pair, introduces

__all__ = ["within"]

_FIRST = re.compile(r"[^\w(\[]*(?:\d+[^\w(\[]*)?[(\[]")
_OPEN = re.compile(r"[(\[][\s\"'`*_]*(?:[xs]\d{0,2} ?[:=])?[\s\"'`*_]*$")
_CLOSE = re.compile(r"[\s\"'`*_]*[)\]]")


class Row(NamedTuple):
    """Mentions with nothing but punctuation between them."""

    kinds: str
    terms: list[str]
    gaps: list[str]
    opens: str
    closes: bool


def within(line: Line) -> list[Pair]:
    """Pairs that a line makes by itself."""
    return _enclosed(line) or _in_rows(line) or _spoken(line)


def _enclosed(line: Line) -> list[Pair]:
    """Pairs in brackets, where one opens the line or follows a colon.

    Whatever else the line says, ``(joy, young) because …`` is a pair.
    """
    if "(" not in line.text and "[" not in line.text:
        return []
    pairs: list[Pair] = []
    end, begun = 0, _FIRST.match(line.text) is not None
    for gap, one, two in zip(line.gaps[1:], line.mentions, line.mentions[1:], strict=False):
        lead = line.text[end : one.start]
        opens = _OPEN.search(lead[-12:]) is not None
        begun = begun or (opens and ":" in lead and not LETTERS.search(lead.rpartition(":")[2]))
        end = one.end
        closes = gap.kind not in ("words", "stop") and _CLOSE.match(line.text, two.end)
        if begun and opens and closes and one.kind != two.kind:
            word, group = (one, two) if one.kind == "a" else (two, one)
            pairs.append((word.term, group.term))
    return pairs


def _in_rows(line: Line) -> list[Pair]:
    """Pairs of its rows."""
    found: list[Pair] = []
    at = 0
    for row in _rows(line):
        opens = row.opens == ":" or (row.opens == "," and bool(found))
        if opens or (len(row.kinds) > 1 and _introduced(line, at)):
            found += _pairs(row)
        at += len(row.kinds)
    return found


def _introduced(line: Line, at: int) -> bool:
    """Whether a few words lead to a mention with a colon: ``words for julia: home, wedding``."""
    first, second = line.mentions[at : at + 2]
    before = line.text[line.mentions[at - 1].end if at else 0 : first.start]
    begins = at == 0 or ";" in before
    return begins and ":" in line.text[first.end : second.start] and introduces(before)


def _pairs(row: Row) -> list[Pair]:
    """Pairs of a row: by its order if that is regular, else by its links.

    The prompt asks for the word first. So a chain that starts with a word is read so even if its
    end was cut off; one that starts with a group must come out even.
    """
    kinds, terms, gaps = row.kinds, row.terms, row.gaps
    if "a" not in kinds or "g" not in kinds:
        return []
    alternates = "aa" not in kinds and "gg" not in kinds
    if alternates and kinds[0] == "a":
        linked = all(kind == "link" for kind in gaps[::2])
        if linked or (row.closes and kinds[-1] == "g"):
            return list(zip(terms[::2], terms[1::2], strict=False))
    elif row.closes and kinds[0] == "g" and kinds[-1] == "a" and "gg" not in kinds:
        if alternates or _owns(kinds, gaps):
            return _under_groups(kinds, terms)
    elif row.closes and kinds.find("g") == len(kinds) - 1 and gaps[-1] == "link":
        if all(gap == "list" for gap in gaps[:-1]):
            return [(term, terms[-1]) for term in terms[:-1]]
    return _linked(row)


def _owns(kinds: str, gaps: list[str]) -> bool:
    """Whether every group is linked to the list of words after it, as in ``julia: home, art``."""
    after_group = {gap for kind, gap in zip(kinds, gaps, strict=False) if kind == "g"}
    listed = {gap for at, gap in enumerate(gaps) if kinds[at : at + 2] == "aa"}
    return after_group == {"link"} and (kinds.count("g") == 1 or "link" not in listed)


def _under_groups(kinds: str, terms: list[str]) -> list[Pair]:
    pairs: list[Pair] = []
    group = ""
    for kind, term in zip(kinds, terms, strict=True):
        if kind == "g":
            group = term
        else:
            pairs.append((term, group))
    return pairs


def _linked(row: Row) -> list[Pair]:
    """Pairs whose link is the only one on either side; ``home - julia or ben`` has none."""
    kinds, terms = f".{row.kinds}.", row.terms
    gaps = ["", *row.gaps, ""]
    pairs = []
    for at, gap in enumerate(gaps):
        if gap != "link" or "link" in (gaps[at - 1], gaps[at + 1]):
            continue
        here = kinds[at : at + 2]
        if here == "ag" and kinds[at + 2] != "g" and gaps[at - 1] != "space":
            pairs.append((terms[at - 1], terms[at]))
        elif here == "ga" and kinds[at - 1] != "g" and row.closes and gaps[at + 1] != "space":
            pairs.append((terms[at], terms[at - 1]))
    return pairs


def _rows(line: Line) -> Iterator[Row]:
    """Cut a line into rows at every gap with words or a full stop."""
    start = 0
    for end in range(1, len(line.mentions) + 1):
        if end < len(line.mentions) and line.gaps[end].kind not in ("words", "stop"):
            continue
        mentions = line.mentions[start:end]
        yield Row(
            "".join(mention.kind for mention in mentions),
            [mention.term for mention in mentions],
            [gap.kind for gap in line.gaps[start + 1 : end]],
            line.gaps[start].opens,
            line.gaps[end].closes,
        )
        start = end


#: What a whole line may say between its word and its group: ``joy goes with young``.
_SPOKEN = frozenset(
    tuple(text.split())
    for text in (
        *("the", "a", "an", "is", "is for", "fits", "suits", "answer", "choice", "my choice"),
        *("goes with", "goes to", "pairs with", "paired with", "belongs to", "belongs with"),
        *("i choose", "i would choose", "i pick", "i would pick", "i say", "i would say"),
        *("my choice is", "assigned to", "is assigned to", "matched with", "matches"),
        *("associated with", "is associated with", "more associated with"),
        *("is more associated with", "most associated with", "is most associated with"),
    )
)


def _spoken(line: Line) -> list[Pair]:
    """Pair of a line that holds one word, one group after it and nothing else but such words."""
    if [mention.kind for mention in line.mentions] != ["a", "g"]:
        return []
    word, group = line.mentions
    between = line.text[word.end : group.start]
    around = line.text[: word.start] + line.text[group.end :]
    if LETTERS.search(around) or "?" in around or tuple(LETTERS.findall(between)) not in _SPOKEN:
        return []
    return [(word.term, group.term)]
