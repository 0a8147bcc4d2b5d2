"""Reads pages of Markdown: passages of prose, rows of tables, and blocks of code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Block:
    """A block of code, with the language that it names."""

    language: str
    text: str


@dataclass(frozen=True)
class Passage:
    """A paragraph, an item of a list, a heading, or a row of a table."""

    line: int
    text: str
    """What is read, code left out."""
    code: tuple[str, ...]
    """What stands in code, such as commands."""
    headings: tuple[int, ...]
    """Lines of the headings that it stands under, the outermost first."""
    labels: tuple[str, ...] = ()
    """The first cells of a row of a table, up to one with a number."""


def parse(path: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))


def blocks(path: Path) -> list[Block]:
    """Return the blocks of code of a page, in order."""
    return [
        Block(token.info.split(" ")[0], token.content)
        for token in parse(path)
        if token.type == "fence"
    ]


def passages(path: Path) -> Iterator[Passage]:
    """Yield the passages of a page in order."""
    headings: list[tuple[int, int]] = []  # level and line
    cells: list[Token] = []
    line, in_row = 0, False
    for token in parse(path):
        if token.map:
            line = token.map[0] + 1
        if token.type == "heading_open":
            level = int(token.tag[1])
            headings = [*(above for above in headings if above[0] < level), (level, line)]
        elif token.type == "tr_open":
            cells, in_row = [], True
        elif token.type == "tr_close":
            in_row = False
            texts = [_text(cell) for cell in cells]
            label_cells = takewhile(lambda text: not any(map(str.isdigit, text)), texts[1:])
            yield _passage(line, cells, headings, (texts[0], *label_cells))
        elif token.type == "inline" and in_row:
            cells.append(token)
        elif token.type == "inline":
            yield _passage(line, [token], headings)


def _passage(
    line: int, tokens: list[Token], headings: list[tuple[int, int]], labels: tuple[str, ...] = ()
) -> Passage:
    code = [
        child.content
        for token in tokens
        for child in token.children or ()
        if child.type == "code_inline"
    ]
    return Passage(
        line,
        " | ".join(_text(token) for token in tokens),
        tuple(code),
        tuple(heading_line for _, heading_line in headings),
        labels,
    )


def _text(token: Token) -> str:
    """Return the text of a passage; of code a mark stays, so that nothing grows together."""
    kept = {"text": None, "softbreak": " ", "hardbreak": " ", "code_inline": "`"}
    parts = [
        child.content if kept[child.type] is None else kept[child.type]
        for child in token.children or ()
        if child.type in kept
    ]
    return "".join(part or "" for part in parts)
