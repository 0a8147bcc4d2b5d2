"""Colours of the style sheet, against WCAG 2.2: text 4.5:1, marks 3:1."""

import re

import pytest

from clinometer.pieces.drawing.theme import HEAT, YES, category_colors, light, stylesheet
from clinometer.results import REASONS

TEXT = ["ink", "soft", "link", "up", "down", "level", "open"]
MARKS = ["race", "gender", "religion", "health", "other-1", "other-2", "other-3", "other-4"]
PARTS = [
    "comedy",
    "undecided",
    "tragedy",
    "scored",
    *[reason.replace("_", "-") for reason in REASONS],
    "neutral",
    "focus",
]


def schemes():
    blocks = re.findall(r":root \{(.*?)\}", stylesheet(), re.S)
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in blocks)
    return {"light": light, "dark": dark}


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_and_white():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_is_readable(name):
    scheme = schemes()[name]
    assert all(contrast(scheme[text], scheme["paper"]) >= 4.5 for text in TEXT)
    assert all(contrast(scheme[text], scheme["panel"]) >= 4.5 for text in ("ink", "soft"))


@pytest.mark.parametrize("name", ["light", "dark"])
def test_numbers_in_the_heat_map_are_readable(name):
    scheme = schemes()[name]
    cells = [cell[6:-1] for cell in (*HEAT, *YES)] + ["mark"]
    assert all(contrast(scheme["ink"], scheme[cell]) >= 4.5 for cell in cells)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_marks_stand_out(name):
    scheme = schemes()[name]
    faint = {m for m in MARKS + PARTS if contrast(scheme[m], scheme["paper"]) < 3}
    faint |= {m for m in MARKS if contrast(scheme[m], scheme["band"]) < 3}
    assert faint == set()


def test_both_schemes_name_the_same_colours():
    light, dark = schemes().values()
    assert light.keys() == dark.keys()


def test_unknown_categories_get_colours_of_their_own():
    colors = category_colors(["race", "caste", "class"])
    assert list(colors.values()) == ["var(--race)", "var(--other-1)", "var(--other-2)"]


def test_files_have_the_light_colours():
    assert light() == schemes()["light"]
