"""Drawings in a page are lean, and show what they did."""

import re

from clinometer.pieces.drawing.svg import MOST_TITLES, draw, for_page


def cells(count):
    rows = [{"x": n % 20, "y": n // 20, "kind": "ab"[n % 2]} for n in range(count)]
    colours = {"domain": ["a", "b"], "range": ["var(--up)", "var(--down)"]}
    return {
        "data": {"values": rows},
        "mark": {"type": "rect", "opacity": 0.5},
        "encoding": {
            "x": {"field": "x", "type": "ordinal", "axis": None},
            "y": {"field": "y", "type": "ordinal", "axis": None},
            "color": {"field": "kind", "type": "nominal", "scale": colours, "legend": None},
        },
    }


def marks(page):
    (group,) = re.findall(r'<g class="mark-rect\b.*?</g>', page, re.DOTALL)
    return group


def test_cells_of_a_colour_are_one_path_where_none_says_what_it_shows():
    group = marks(for_page(draw(cells(MOST_TITLES + 50)), "f"))
    assert group.count("<path") == 2 and group.count("<title") == 0
    assert group.count("M") == MOST_TITLES + 50
    assert "var(--up)" in group and "var(--down)" in group


def test_cells_that_say_what_they_show_stand_by_themselves():
    group = marks(for_page(draw(cells(MOST_TITLES)), "f"))
    assert group.count("<path") == group.count("<title") == MOST_TITLES


def test_what_all_marks_have_in_common_is_said_once():
    group = marks(for_page(draw(cells(MOST_TITLES)), "f"))
    assert group.count("opacity") == 1 and 'fill-opacity="0.5"' in group.split(">")[0]
