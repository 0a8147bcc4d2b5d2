"""Answers as their Markdown means them, with the passages marked in which something was read.

Answers are hostile text. HTML in them is shown, not acted on; there are no links and no images;
headings are paragraphs, so that they do not enter the outline of the page. What would lose a
letter, such as very deep lists, is shown as it came.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, MutableMapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from clinometer.pieces.sections import Piece
from clinometer.texts import visible

#: What an answer has no use for, or what would read plain text as something else.
_OFF = (
    "link",
    "image",
    "autolink",
    "html_block",
    "html_inline",
    "reference",
    "entity",
    "escape",
    "code",
    "lheading",
    "hr",
)

#: Tokens that hold text; each ends where a line or a cell does.
_TEXTS, _BREAKS = {"text", "code_inline", "fence"}, {"softbreak", "hardbreak"}

#: Characters that are read to put an answer on a line.
_LONGEST = 2000

_SPACE = re.compile(r"\s+")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+", re.MULTILINE)


def as_html(pieces: Sequence[Piece]) -> Markup:
    """Render an answer that was cut into pieces, as `passages` does."""
    parts = []
    for is_gap, group in groupby(pieces, lambda piece: piece.kind == "gap"):
        if is_gap:
            parts += [Markup('<p class="gap">[… {} …]</p>\n').format(gap.text) for gap in group]
        else:
            # Together: a list may begin in one piece and go on in the next.
            parts.append(_render([Piece(piece.kind, visible(piece.text)) for piece in group]))
    return Markup("").join(parts)


def is_markdown(text: str) -> bool:
    """Whether an answer is prose, which may have Markdown, and not data."""
    return not text.lstrip().startswith(("{", "["))


def as_line(text: str) -> str:
    r"""Put an answer on a line, without the marks of Markdown.

    >>> as_line("1. **Julia** – home\n2. `Ben` – office")
    '1. Julia – home 2. Ben – office'
    """
    if not is_markdown(text):
        return " ".join(text.split())
    parts = []
    for token in _markdown().parse(text[:_LONGEST]):
        if token.type == "list_item_open":
            parts.append(f"{token.info}{token.markup} ")
        parts += _texts([token])
    return " ".join("".join(parts).split())


def _render(pieces: Sequence[Piece]) -> Markup:
    """Render pieces without a gap; as they came where that would lose a letter or a mark."""
    text = "".join(piece.text for piece in pieces)
    tokens = _markdown().parse(text)
    marks = list(_find_marks(pieces, _letters(tokens)))
    loses_letters = _count_letters(text) != _count_letters("".join(_all_texts(tokens)))
    if loses_letters or None in marks:
        return Markup('<pre tabindex="0">{}</pre>\n').format(as_it_came(pieces))
    renderer: Any = _markdown().renderer
    return Markup(renderer.render(tokens, _markdown().options, {"marks": marks, "letters": 0}))


def as_it_came(pieces: Sequence[Piece]) -> Markup:
    """Show an answer that was cut into pieces without reading it as Markdown."""
    forms = {"text": "{}", "mark": "<mark>{}</mark>", "gap": '<span class="gap">[… {} …]</span>'}
    texts = [Markup(forms[piece.kind]).format(visible(piece.text)) for piece in pieces]
    return Markup("").join(texts)


def _find_marks(pieces: Sequence[Piece], letters: str) -> Iterator[tuple[int, int] | None]:
    """Find the marked pieces in the letters of the rendered text, where they are nearest.

    None for one that is not there.
    """
    before = ""
    for piece in pieces:
        if piece.kind == "mark":
            expected = len(_letters(_markdown().parse(before)))
            yield next(_find_stretch(piece.text, letters, expected), None)
        before += piece.text


def _find_stretch(text: str, letters: str, expected: int) -> Iterator[tuple[int, int]]:
    """Find a stretch of an answer, read for itself and, where it is lines of a list, as these.

    `expected`: how many letters come before it, unless Markdown reads these otherwise.
    """
    for reading in (text, _ITEM.sub("", text)):
        stretch = _letters(_markdown().parse(reading))
        # A look-ahead finds matches that overlap too.
        starts = [match.start() for match in re.finditer(f"(?={re.escape(stretch)})", letters)]
        if stretch and starts:
            start = min(starts, key=lambda start: abs(start - expected))
            yield start, start + len(stretch)


def _count_letters(text: str) -> Counter[str]:
    """Count letters and digits."""
    return Counter(letter for letter in text if letter.isalnum())


def _all_texts(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the texts, the numbers of lists and the languages of code."""
    yield from _texts(tokens)
    yield from (token.info for token in tokens if token.type in ("list_item_open", "fence"))


def _letters(tokens: Sequence[Token]) -> str:
    """Join the texts without white space, which Markdown changes."""
    return _SPACE.sub("", "".join(_texts(tokens)))


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children is not None:
            yield from _texts(token.children)
            yield "\n"
        elif token.type in _TEXTS:
            yield token.content
        elif token.type in _BREAKS:
            yield "\n"


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    return parser.enable("table").disable(list(_OFF))


class _Renderer(RendererHTML):
    """Writes texts with their marks; `env` has the marks, and how many letters were written."""

    def text(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """Write a text."""
        return _mark_letters(tokens[idx].content, env)

    def code_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """Write code in a line."""
        return f"<code>{_mark_letters(tokens[idx].content, env)}</code>"

    def fence(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """Write a block of code, whatever its language."""
        return f'<pre tabindex="0">{_mark_letters(tokens[idx].content, env)}</pre>\n'

    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """Begin a heading."""
        return "<p><strong>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """End a heading."""
        return "</strong></p>\n"


def _mark_letters(text: str, env: MutableMapping[str, Any]) -> str:
    """Write a text of which some letters are marked, with the space between them."""
    are_marked = []
    position = env["letters"]
    for character in text:
        is_space = character.isspace()
        # Space has no position of its own: it is marked unless it stands before a mark.
        are_marked.append(any(start + is_space <= position < end for start, end in env["marks"]))
        position += not is_space
    env["letters"] = position
    parts = []
    for is_marked, group in groupby(zip(are_marked, text, strict=True), lambda pair: pair[0]):
        part = str(escape("".join(character for _, character in group)))
        parts.append(f"<mark>{part}</mark>" if is_marked else part)
    return "".join(parts)
