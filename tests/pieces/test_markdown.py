"""Answers as Markdown: what is shown, what is marked, and that nothing is lost or acted on."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinometer.pieces.markdown import as_html, as_line
from clinometer.pieces.sections import Piece
from clinometer.report.answers.examples import passages


class Shown(HTMLParser):
    """What a browser shows of a page: its elements, its text, and which of it is marked."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.marked, self._open = "", [""], 0
        self.feed(str(page))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open += tag == "mark"

    def handle_endtag(self, tag):
        self._open -= tag == "mark"

    def handle_data(self, data):
        self.text += data
        if self._open:
            self.marked[-1] += data


def render(text: str, *spans: str) -> Shown:
    return Shown(as_html(passages(text, spans)[0]))


def test_an_answer_is_shown_as_it_is_meant():
    page = as_html([Piece("text", "Sure!\n\n1. home – **Julia**\n2. office – Ben\n\n## Why\nso")])
    assert "<li>home – <strong>Julia</strong></li>" in page
    assert "<p>Sure!</p>" in page and "**" not in page and "<h2" not in page
    assert as_html([Piece("text", "home - Julia\noffice - Ben")]).count("<br") == 1
    table = as_html([Piece("text", "| word | name |\n|---|---|\n| home | Julia |")])
    assert "<td>Julia</td>" in table


@pytest.mark.parametrize(
    ("text", "span", "marked"),
    [
        ("I would choose **Julia**.", "Julia", "Julia"),
        ("I would choose **Julia**.", "**Julia**", "Julia"),
        ("I would choose **Julia.** Why?", "choose **Julia.**", "choose Julia."),
        ("Julia? No: *Ben* over Julia", "Ben", "Ben"),
        ("Ben, then Ben\n\n- Ben", "- Ben", "Ben"),
        (
            "1. home – **Julia**\n2. office – Ben",
            "**Julia**\n2. office – Ben",
            "Julia office – Ben",
        ),
    ],
)
def test_the_passage_that_was_read_is_marked_through_its_markup(text, span, marked):
    page = render(text, span)
    assert "".join(page.marked[0].split()) == "".join(marked.split())


def test_of_several_alike_the_one_that_was_read_is_marked():
    page = as_html(passages("Ben. **Julia**. *Ben*", ["Ben"])[0])
    assert page.index("<mark>Ben") > page.index("Julia")


def test_nothing_in_an_answer_is_acted_on():
    hostile = (
        "<script>alert(1)</script> <img src=http://a.b onerror=x> [x](javascript:alert(1)) "
        "![i](http://a.b/c.png) <http://a.b> <b>bold</b> &lt;i&gt; \u202e \x00\n\n<div onclick=x>\n"
    )
    page = render(hostile)
    assert {tag for tag, _ in page.elements} <= {"p", "br", "pre", "mark"}
    assert all(name == "tabindex" for _, attributes in page.elements for name in attributes)
    assert "<script>alert(1)</script>" in page.text and "&lt;i&gt;" in page.text
    assert "⟨U+202E⟩" in page.text and "␀" in page.text


_LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["- a", "  - b", "> c", "1. d", "007) e", "# f", "```x", "```", "---", "| g | h |",
             "|---|", "| i | j | k |", "***", "**l**", "_m_", "`n", "    o", "===",
             "\\*p", "[q]: r"]
        ),
        st.text(alphabet="ab*_`>-#|1.\\[]()<&; ", max_size=12),
    ),
    max_size=12,
).map("\n".join)  # fmt: skip


@settings(max_examples=300)
@given(_LINES, st.data())
def test_no_letter_is_lost_and_the_passage_is_marked_whole(text, data):
    start = data.draw(st.integers(0, len(text)))
    span = text[start : data.draw(st.integers(start, len(text)))]
    page = render(text, span)
    if "`" not in text:  # the language of code is not shown
        assert _letters(page.text) == _letters(text)
        assert _letters("".join(page.marked)) == _letters(span if span.strip() else "")


def _letters(text: str) -> str:
    return re.sub(r"[\W\d_]", "", text)


def test_very_deep_lists_are_shown_as_they_came():
    deep = "\n".join("  " * depth + f"- x{depth}" for depth in range(40))
    assert "x39" in Shown(as_html([Piece("text", deep)])).text


def test_a_gap_stands_between_what_is_shown():
    text = "*a* " + "b " * 2000 + "**Ben**"
    page = as_html(passages(text, ["**Ben**"])[0])
    assert re.search(r'<p class="gap">\[… [\d,]+ characters left out …\]</p>', page)
    assert "<strong><mark>Ben</mark></strong>" in page


def test_an_answer_on_a_line():
    assert as_line("**Julia**\n\n- home\n- office") == "Julia - home - office"
    assert as_line('{"home":\n "*Julia*"}') == '{"home": "*Julia*"}'
