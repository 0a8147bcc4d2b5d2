"""Find pairs within a line by punctuation, and across lines by order.

Mentions separated only by punctuation form a *row*. Its pairs follow from the order of its words
and groups if that is regular, else from the links between them. Brackets with a word and a group
are read directly, and so are sentences (`sentences`). Pairs across lines come from headings
with lists, two-column tables, and one word per line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from clinometer.reading.mentions import LETTERS, Line, Pair, introduces
from clinometer.reading.sentences import spoken_pairs

_FIRST = re.compile(r"[^\w(\[]*(?:\d+[^\w(\[]*)?[(\[]")
_OPEN = re.compile(r"[(\[][\s\"'`*_]*(?:[xs]\d{0,2} ?[:=])?[\s\"'`*_]*$")
_CLOSE = re.compile(r"[\s\"'`*_]*[)\]]")


_SENTENCE_ENDS = frozenset(".;")


class Row(NamedTuple):
    """Mentions separated only by punctuation."""

    kinds: str
    terms: list[str]
    gaps: list[str]  # between the mentions
    opens: str
    closes: bool


def pairs_within(line: Line) -> list[Pair]:
    """Return the pairs within a line."""
    return _bracketed_pairs(line) or _row_pairs(line) or spoken_pairs(line)


def _bracketed_pairs(line: Line) -> list[Pair]:
    """Return pairs in brackets, if a bracket starts the line or follows a colon.

    The rest of the line is ignored: ``(joy, young) because …`` is a pair.
    """
    if "(" not in line.text and "[" not in line.text:
        return []
    pairs: list[Pair] = []
    end = 0
    begun = _FIRST.match(line.text) is not None
    for gap, first, second in zip(line.gaps[1:], line.mentions, line.mentions[1:], strict=False):
        lead = line.text[end : first.start]
        opens = _OPEN.search(lead[-12:]) is not None
        begun = begun or (opens and ":" in lead and not LETTERS.search(lead.rpartition(":")[2]))
        end = first.end
        closes = gap.kind not in ("words", "stop") and _CLOSE.match(line.text, second.end)
        if begun and opens and closes and first.kind != second.kind:
            word, group = (first, second) if first.kind == "a" else (second, first)
            pairs.append((word.term, group.term))
    return pairs


def _row_pairs(line: Line) -> list[Pair]:
    """Return the pairs in the rows of a line."""
    pairs: list[Pair] = []
    index = 0
    for row in _rows(line):
        opens = row.opens == ":" or (row.opens == "," and bool(pairs))
        if opens or (len(row.kinds) > 1 and _is_introduced(line, index)):
            pairs += _pairs_of_row(row)
        index += len(row.kinds)
    return pairs


def _is_introduced(line: Line, index: int) -> bool:
    """Return whether words introduce a mention with a colon: ``words for julia: home, wedding``."""
    first, second = line.mentions[index : index + 2]
    before = line.text[line.mentions[index - 1].end if index else 0 : first.start]
    begins = index == 0 or not _SENTENCE_ENDS.isdisjoint(before)
    return begins and ":" in line.text[first.end : second.start] and introduces(before)


def _pairs_of_row(row: Row) -> list[Pair]:
    """Return the pairs of a row: by its order if that is regular, else by its links.

    The prompt asks for the word first. So a chain that starts with a word is read even if its end
    is missing; one that starts with a group must be complete.
    """
    kinds = row.kinds
    gaps = row.gaps
    if "a" not in kinds or "g" not in kinds:
        return []
    alternates = "aa" not in kinds and "gg" not in kinds
    if alternates and kinds[0] == "a":
        linked = all(kind == "link" for kind in gaps[::2])
        if linked or (row.closes and kinds[-1] == "g"):
            return list(zip(row.terms[::2], row.terms[1::2], strict=False))
    elif row.closes and kinds[0] == "g" and kinds[-1] == "a" and "gg" not in kinds:
        if alternates or _owns(kinds, gaps):
            return _pairs_under_groups(kinds, row.terms)
    elif row.closes and kinds.find("g") == len(kinds) - 1 and gaps[-1] == "link":
        if all(gap == "list" for gap in gaps[:-1]):
            return [(term, row.terms[-1]) for term in row.terms[:-1]]
    return _linked_pairs(row)


def _owns(kinds: str, gaps: list[str]) -> bool:
    """Return whether every group is linked to the words after it, as in ``julia: home, art``."""
    after_group = {gap for kind, gap in zip(kinds, gaps, strict=False) if kind == "g"}
    in_list = {gap for index, gap in enumerate(gaps) if kinds[index : index + 2] == "aa"}
    return after_group == {"link"} and (kinds.count("g") == 1 or "link" not in in_list)


def _pairs_under_groups(kinds: str, terms: list[str]) -> list[Pair]:
    pairs: list[Pair] = []
    group = ""
    for kind, term in zip(kinds, terms, strict=True):
        if kind == "g":
            group = term
        else:
            pairs.append((term, group))
    return pairs


def _linked_pairs(row: Row) -> list[Pair]:
    """Return pairs whose link is the only one on either side; ``home - julia or ben`` has none."""
    # Padded on both sides: gap n is then before term n, and between kinds n and n + 1.
    kinds = f".{row.kinds}."
    gaps = ["", *row.gaps, ""]
    terms = row.terms
    pairs = []
    for index, gap in enumerate(gaps):
        if gap != "link" or "link" in (gaps[index - 1], gaps[index + 1]):
            continue
        kinds_around = kinds[index : index + 2]
        if kinds_around == "ag" and kinds[index + 2] != "g" and gaps[index - 1] != "space":
            pairs.append((terms[index - 1], terms[index]))
        elif (
            kinds_around == "ga"
            and kinds[index - 1] != "g"
            and row.closes
            and gaps[index + 1] != "space"
        ):
            pairs.append((terms[index], terms[index - 1]))
    return pairs


def _rows(line: Line) -> Iterator[Row]:
    """Split a line into rows at every gap with words or a full stop."""
    start = 0
    for end in range(1, len(line.mentions) + 1):
        if end < len(line.mentions) and line.gaps[end].kind not in ("words", "stop"):
            continue
        yield Row(
            line.kinds[start:end],
            [mention.term for mention in line.mentions[start:end]],
            [gap.kind for gap in line.gaps[start + 1 : end]],
            line.gaps[start].opens,
            line.gaps[end].closes,
        )
        start = end


_BULLET = re.compile(r"\s*(?:[-*•+](?!\*)|\d+[.)])")
_CELL = re.compile(r"[|\t]")


def read_blocks(lines: list[Line], inline: list[list[Pair]]) -> list[list[Pair]]:
    """Return the pairs of each line with a line above it.

    `inline` are the pairs found within each line.
    """
    if all(inline):
        return [[] for _ in lines]
    shapes = ["" if pairs else _shape(line) for line, pairs in zip(lines, inline, strict=True)]
    if _is_alternating(lines, shapes):
        return _alternating(lines, shapes)
    shape = "".join(shapes)
    plain = shape.startswith("g") and "gg" not in shape
    blocks: list[list[Pair]] = []
    # A line of words belongs to a heading or to the columns of a table, never to both.
    heading: str | None = None
    columns: dict[int, str] = {}
    for line, pairs, kind in zip(lines, inline, shapes, strict=True):
        has_head = bool(columns) or heading is not None
        block = [] if pairs or not has_head else _pairs_with_above(line, kind, heading, columns)
        if not pairs and _is_heading(line, plain):
            heading = line.mentions[0].term
            columns = {}
        elif not block and (pairs or _ends_list(line, begun=bool(blocks and blocks[-1]))):
            heading = None
            columns = {} if pairs else _columns(line)
        blocks.append(block)
    return blocks


def _pairs_with_above(
    line: Line, kind: str, heading: str | None, columns: dict[int, str]
) -> list[Pair]:
    """Return the pairs of a line of words with the lines above it."""
    if "g" in line.kinds:
        return []
    if heading is not None:
        return [(word, heading) for word in _items(line, kind)]
    cells = _by_column(line) if kind and _CELL.search(line.text) else []
    return [(word, columns[column]) for column, word in cells if column in columns]


def _ends_list(line: Line, begun: bool) -> bool:
    """Return whether the list above has ended: after prose, or under another heading."""
    if "g" in line.kinds or _is_marked(line):
        return True
    return begun and bool(LETTERS.search(line.text)) and not _BULLET.match(line.text)


def _shape(line: Line) -> str:
    """Return ``g`` or ``a`` for a line of one mention, ``l`` for a list of words, "" for prose."""
    if not line.kinds or any(gap.kind == "words" for gap in line.gaps):
        return ""
    if len(line.kinds) == 1:
        return line.kinds
    return "" if "g" in line.kinds else "l"


def _is_alternating(lines: list[Line], shapes: list[str]) -> bool:
    """Return whether words and groups alternate, line by line, starting with a word."""
    if not re.fullmatch("a*(?:ag)+", "".join(shapes)):
        return False
    groups = (line for line, kind in zip(lines, shapes, strict=True) if kind == "g")
    return not any(_is_marked(line) for line in groups)


def _alternating(lines: list[Line], shapes: list[str]) -> list[list[Pair]]:
    """Return the pair of each line of a group with the word above it."""
    blocks: list[list[Pair]] = []
    word = ""
    distance = 0  # lines since the word
    for line, kind in zip(lines, shapes, strict=True):
        distance += 1
        near = kind == "g" and distance < 3  # a JSON object may have a reason in between
        blocks.append([(word, line.mentions[0].term)] if near else [])
        if kind == "a":
            word = line.mentions[0].term
            distance = 0
    return blocks


def _is_marked(line: Line) -> bool:
    return line.text.rstrip(" \t*_\"'`").endswith((":", "[", "{", "(")) or line.text.startswith("#")


def _is_heading(line: Line, plain: bool) -> bool:
    """Return whether a line with one group heads a list; `plain` if it needs no colon or markup."""
    if line.kinds != "g":
        return False
    mention = line.mentions[0]
    if any(gap.kind == "words" for gap in line.gaps):
        around = f"{line.text[: mention.start]} {line.text[mention.end :]}"
        return len(around) < 100 and introduces(around) and _is_marked(line)
    return plain or _is_marked(line) or "**" in line.text


def _items(line: Line, kind: str) -> list[str]:
    """Return the words of a line under a heading; in ``- home: where families live`` the first."""
    if kind:
        return [mention.term for mention in line.mentions]
    if not line.mentions or not _BULLET.match(line.text):
        return []
    stands_alone = line.gaps[0].kind != "words" and line.gaps[1].closes
    return [line.mentions[0].term] if stands_alone else []


def _columns(line: Line) -> dict[int, str]:
    """Return the groups of the columns, if the line is the header of a two-column table."""
    return dict(_by_column(line)) if line.kinds == "gg" and _CELL.search(line.text) else {}


def _by_column(line: Line) -> list[tuple[int, str]]:
    """Return the terms of a row of a table with the number of their column."""
    mark = "|" if "|" in line.text else "\t"
    column = 0
    end = 0
    cells = []
    for mention in line.mentions:
        column += line.text.count(mark, end, mention.start)
        end = mention.end
        cells.append((column, mention.term))
    return cells
