"""Drawings in a page are lean, and show what they did."""

import re
from xml.etree import ElementTree

import pytest

from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.intervals import dots, forest
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


#: Widths in pixels at 12 px, as Chromium measures them in DejaVu Sans.
MEASURED = {
    "Women among Hispanic candidates": 215.2,
    "Hispanic candidates, stated": 166.4,
    "Black women": 80.1,
}


def rows_with_labels(labels):
    row = {"category": "Gender", "block": "Gender", "panel": "free", "mean": 0.4, "variation": "a"}
    return [{**row, "low": 0.2, "high": 0.6, "label": label} for label in labels]


def label_ends(drawing, labels):
    """Give for each label where it ends on the right, in the coordinates of the view."""
    found = {}

    def walk(element, x):
        for shift in re.findall(r"translate\(([-\d.]+)", element.get("transform", "")):
            x += float(shift)
        if element.text in labels:
            assert element.get("text-anchor") == "end"
            found[element.text] = x
        for child in element:
            walk(child, x)

    walk(drawing, 0.0)
    return found


@pytest.mark.parametrize("chart", [forest, lambda rows, axis: dots(rows, axis, "Wording")])
def test_no_label_reaches_beyond_its_drawing_in_a_wide_font(chart):
    drawing = draw(chart(rows_with_labels(MEASURED), Axis("Hiring", -1, 1, 0)))
    left = float(drawing.get("viewBox").split()[0])
    ends = label_ends(drawing, MEASURED)
    assert ends.keys() == MEASURED.keys()
    for label, width in MEASURED.items():
        assert ends[label] - width >= left, label


def test_a_very_long_label_is_drawn_whole():
    label = "Applicants who " + "and who ".join(["were born abroad "] * 8)
    drawing = draw(forest(rows_with_labels([label]), Axis("Hiring", -1, 1, 0)))
    assert label.split() == next(
        text.text.split() for text in drawing.iter() if "Applicants" in (text.text or "")
    )
    # The page and its files have the room, too.
    left = float(drawing.get("viewBox").split()[0])
    written = ElementTree.fromstring(for_page(drawing, "f").replace("<svg", '<svg x="0"', 1))
    assert float(written.get("viewBox").split()[0]) == left
