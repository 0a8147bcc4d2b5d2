"""Pairs that stretch over lines: headings with lists, two-column tables, a word a line."""

from __future__ import annotations

import re

from tiltmeter.reading.mentions import LETTERS, Line, Pair, introduces

__all__ = ["read_blocks"]

_BULLET = re.compile(r"\s*(?:[-*•+](?!\*)|\d+[.)])")
_CELL = re.compile(r"[|\t]")


def read_blocks(lines: list[Line], inline: list[list[Pair]]) -> list[list[Pair]]:
    """Read pairs across lines, given those already found within lines.

    Parameters
    ----------
    lines
        The lines of the answer.
    inline
        The pairs found within each line.

    Returns
    -------
    list of list of Pair
        As long as `lines`: the pairs each line makes with a line above it.
    """
    if all(inline):
        return [[] for _ in lines]
    shapes = ["" if found else _shape(line) for line, found in zip(lines, inline, strict=True)]
    if _one_a_line(lines, shapes):
        return _alternating(lines, shapes)
    shape = "".join(shapes)
    plain = shape.startswith("g") and "gg" not in shape
    blocks: list[list[Pair]] = []
    heading: str | None = None
    columns: dict[int, str] = {}
    for line, found, kind in zip(lines, inline, shapes, strict=True):
        heads = bool(columns) or heading is not None
        here = [] if found or not heads else _below(line, kind, heading, columns)
        if not found and _is_heading(line, plain):
            heading, columns = line.mentions[0].term, {}
        elif not here and (found or _ends_list(line, begun=bool(blocks and blocks[-1]))):
            heading, columns = None, {} if found else _columns(line)
        blocks.append(here)
    return blocks


def _below(line: Line, kind: str, heading: str | None, columns: dict[int, str]) -> list[Pair]:
    """Pairs of a line of words with what stands above it."""
    if any(mention.kind == "g" for mention in line.mentions):
        return []
    if heading is not None:
        return [(word, heading) for word in _items(line, kind)]
    cells = _by_column(line) if kind and _CELL.search(line.text) else []
    return [(word, columns[at]) for at, word in cells if at in columns]


def _ends_list(line: Line, begun: bool) -> bool:
    """Whether what stood above holds no longer: after prose, or under another heading."""
    if any(mention.kind == "g" for mention in line.mentions) or _is_marked(line):
        return True
    return begun and bool(LETTERS.search(line.text)) and not _BULLET.match(line.text)


def _shape(line: Line) -> str:
    """``g`` or ``a`` for a line of one mention, ``l`` for a list of words, "" for prose."""
    kinds = "".join(mention.kind for mention in line.mentions)
    if not kinds or any(gap.kind == "words" for gap in line.gaps):
        return ""
    return kinds if len(kinds) == 1 else "l" if "g" not in kinds else ""


def _one_a_line(lines: list[Line], shapes: list[str]) -> bool:
    """Whether words and groups take turns, line by line, the words first."""
    if not re.fullmatch("a*(?:ag)+", "".join(shapes)):
        return False
    groups = (line for line, kind in zip(lines, shapes, strict=True) if kind == "g")
    return not any(_is_marked(line) for line in groups)


def _alternating(lines: list[Line], shapes: list[str]) -> list[list[Pair]]:
    blocks: list[list[Pair]] = []
    word, distance = "", 0
    for line, kind in zip(lines, shapes, strict=True):
        distance += 1
        near = kind == "g" and distance < 3  # a JSON object may hold its reason in between
        blocks.append([(word, line.mentions[0].term)] if near else [])
        if kind == "a":
            word, distance = line.mentions[0].term, 0
    return blocks


def _is_marked(line: Line) -> bool:
    return line.text.rstrip(" \t*_\"'`").endswith((":", "[", "{", "(")) or line.text.startswith("#")


def _is_heading(line: Line, plain: bool) -> bool:
    """Whether a line with one group stands over a list; `plain` if it needs no mark."""
    if [mention.kind for mention in line.mentions] != ["g"]:
        return False
    mention = line.mentions[0]
    if any(gap.kind == "words" for gap in line.gaps):
        around = f"{line.text[: mention.start]} {line.text[mention.end :]}"
        return len(around) < 100 and introduces(around) and _is_marked(line)
    return plain or _is_marked(line) or "**" in line.text


def _items(line: Line, kind: str) -> list[str]:
    """Words of a line under a heading; of ``- home: where families live`` the first."""
    if kind:
        return [mention.term for mention in line.mentions]
    item = (
        line.mentions
        and _BULLET.match(line.text)
        and line.gaps[0].kind != "words"
        and line.gaps[1].closes
    )
    return [line.mentions[0].term] if item else []


def _columns(line: Line) -> dict[int, str]:
    """Which column belongs to which group, if the line heads a table of two."""
    kinds = "".join(mention.kind for mention in line.mentions)
    return dict(_by_column(line)) if kinds == "gg" and _CELL.search(line.text) else {}


def _by_column(line: Line) -> list[tuple[int, str]]:
    mark = "|" if "|" in line.text else "\t"
    column, end, found = 0, 0, []
    for mention in line.mentions:
        column += line.text.count(mark, end, mention.start)
        end = mention.end
        found.append((column, mention.term))
    return found
