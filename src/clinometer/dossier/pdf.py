"""A dossier as PDF, with the chapters of its page.

The fonts are those that every reader of PDF has. They have no characters beyond Western European:
others are shown by their numbers, as ``[U+4E2D]``, so that none is lost; the page has them all.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

from clinometer.dossier.chapters import Chapter, chapters
from clinometer.report.sections import Exchange
from clinometer.report.tables import ReportTable
from clinometer.texts import visible

__all__ = ["pdf_bytes", "printable"]

#: Characters of a cell; reportlab breaks rows between pages, but no cell of more than one.
LONGEST = 1500

#: Signs of verdicts that the fonts lack → what is printed.
_SIGNS = {
    "▲": "^",
    "▼": "v",
    "⇄": "<>",
    "■": "=",
    "○": "o",
    "✓": "+",
    "✗": "x",
    "−": "-",
    "≤": "<=",
}

#: Margins of a page, and its width without them and the frame's padding, in points.
_MARGINS = {"leftMargin": 50, "rightMargin": 50, "topMargin": 50, "bottomMargin": 50}
_WIDTH = 482.0


def pdf_bytes(content: Mapping[str, Any]) -> bytes:
    """Return a dossier as PDF; the same content gives the same bytes.

    Raises ImportError if reportlab is not installed.
    """
    from reportlab.platypus import SimpleDocTemplate

    title = f"Dossier: {content['profile']['system']['name']}"
    file = io.BytesIO()
    document = SimpleDocTemplate(
        file, title=printable(title), author="Clinometer", invariant=1, **_MARGINS
    )
    story = [_text(title, "Title"), _text(f"Clinometer dossier, {content['made']}")]
    if content["run"]["simulated"]:
        story.append(_text(f"Simulated. {content['run']['simulated']}."))
    story += [_text(f"Gate: {content['policy']['outcome']}", "Heading3"), _text(content["claims"])]
    for chapter in chapters(content):
        story += _chapter(chapter)
    document.build(story)
    return file.getvalue()


def printable(text: str) -> str:
    """Return a text in the characters of the fonts; others by their sign or number.

    >>> printable("▲ leans · 中")
    '^ leans · [U+4E2D]'
    """
    for sign, letters in _SIGNS.items():
        text = text.replace(sign, letters)
    return "".join(
        letter if _is_in_fonts(letter) else f"[U+{ord(letter):04X}]" for letter in visible(text)
    )


def _is_in_fonts(letter: str) -> bool:
    try:
        letter.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def _text(text: str, style: str = "BodyText") -> Any:
    """Return a paragraph; nothing in the text is acted on."""
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph

    lines = escape(printable(text)).replace("\n", "<br/>")
    return Paragraph(lines, getSampleStyleSheet()[style])


def _cell(text: str, *, bold: bool = False) -> Any:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph

    style = ParagraphStyle("cell", fontName="Helvetica", fontSize=7.5, leading=9, splitLongWords=1)
    shortened = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    lines = escape(printable(shortened))
    return Paragraph(f"<b>{lines}</b>" if bold else lines, style)


def _chapter(chapter: Chapter) -> Iterator[Any]:
    """Yield the paragraphs and tables of a chapter."""
    yield _text(chapter.title, "Heading1")
    for text in chapter.text:
        yield _text(text)
    for term in chapter.terms:
        yield _text(f"{term.name}: {term.text}")
    for point in chapter.points:
        yield _text(f"• {point}")
    for table in chapter.tables:
        yield _text(table.caption, "Italic")
        yield _table(table)
    for exchange in chapter.exchanges:
        yield from _exchange(exchange)


def _table(table: ReportTable) -> Any:
    """Return a table whose columns are as wide as their texts ask for."""
    from reportlab.lib import colors
    from reportlab.platypus import Table

    heads = [_cell(cell.text, bold=True) for cell in table.columns]
    rows = [[_cell(cell.text) for cell in row] for row in table.rows]
    widths = []
    for place, head in enumerate(table.columns):
        texts = [head.text, *(row[place].text for row in table.rows)]
        # Long texts wrap: a column grows more slowly than its texts, and is never below a word.
        words = [min(len(word), 24) for text in texts for word in text.split()]
        widths.append(max(6, *words, *(min(len(text), 400) ** 0.75 for text in texts)) + 2)
    scale = _WIDTH / sum(widths)
    grid = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.lightgrey),
    ]
    return Table(
        [heads, *rows],
        [width * scale for width in widths],
        repeatRows=1,
        style=grid,
        spaceAfter=10,
        splitInRow=1,
    )


def _exchange(exchange: Exchange) -> Iterator[Any]:
    yield _text(exchange.about, "Heading4")
    for quote in exchange.quotes:
        text = "".join(piece.text for piece in quote.pieces) or "No text."
        yield _text(f"{quote.label}:", "Italic")
        yield _text(re.sub(r"\n{3,}", "\n\n", text))
    for reading in exchange.readings:
        yield _text(f"• {reading}")
    if exchange.note:
        yield _text(exchange.note, "Italic")
