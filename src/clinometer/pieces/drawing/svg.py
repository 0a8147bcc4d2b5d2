"""Drawings as SVG: in the page, where they follow its colours, and as files in the light scheme.

Vega names the colours of a drawing as its specification does, ``var(--ink)``. Its labels are text
of models and studies: only elements and attributes that draw are kept.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree

import vl_convert

from clinometer.pieces.drawing.theme import light, text_width
from clinometer.texts import visible

_SVG = "{http://www.w3.org/2000/svg}"

#: Elements that draw.
_DRAWING = (
    "svg",
    "g",
    "path",
    "line",
    "rect",
    "circle",
    "text",
    "tspan",
    "defs",
    "clipPath",
    "linearGradient",
    "stop",
)
_DRAWING_TAGS = frozenset(f"{_SVG}{name}" for name in _DRAWING)

#: Attributes that draw nothing in a page, or are set by its style sheet.
_UNUSED = (
    "aria-label",
    "aria-roledescription",
    "aria-hidden",
    "role",
    "version",
    "pointer-events",
    "font-family",
    "font-style",
)

#: Attributes that are not needed where they have this value.
_USUAL = {
    "opacity": "1",
    "fill-opacity": "1",
    "stroke-width": "1",
    "stroke-miterlimit": "10",
    "font-weight": "normal",
}

#: Up to this many marks of one drawing say what they show.
MOST_TITLES = 150

#: A tenth of a pixel is as fine as is seen.
_LONG_NUMBER = re.compile(r"(\d\.\d)\d+")

#: Attributes that marks inherit from their group.
_INHERITED = (
    "fill",
    "stroke",
    "stroke-width",
    "fill-opacity",
    "font-size",
    "font-weight",
    "text-anchor",
)

#: What Vega says of a mark before its tooltip, by the names of our columns.
_CHANNELS = re.compile(r"^(?:[a-z_]{2,}: [^;]*; )*(?=[A-Z])|; [^;:]+: null(?=;|$)")

_TRANSFORM = re.compile(r"(\w+)\(([^)]*)\)")

#: Which part of a text lies before its place.
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}

_VARIABLE = re.compile(r"var\(--([\w-]+)\)")

#: Not needed in HTML.
_NAMESPACE = f' xmlns="{_SVG[1:-1]}"'

ElementTree.register_namespace("", _SVG[1:-1])


def draw(spec: dict[str, Any]) -> ElementTree.Element:
    """Draw a Vega-Lite specification, with only elements that draw and visible characters."""
    svg = ElementTree.fromstring(vl_convert.vegalite_to_svg(json.dumps(_visible(spec))))
    # Copies of both lists: elements leave them while they are gone through.
    for parent in [*svg.iter()]:
        for child in [*parent]:
            if child.tag not in _DRAWING_TAGS or child.get("display") == "none":
                parent.remove(child)
    _make_room(svg)
    return svg


def _make_room(svg: ElementTree.Element) -> None:
    """Widen the view of a drawing until no text reaches beyond it, in whatever usual font."""
    left, top, width, height = map(float, svg.get("viewBox", "0 0 0 0").split())
    corners = [(left, top), (left + width, top + height), *_text_corners(svg, _Place())]
    xs, ys = zip(*corners, strict=True)
    left, top = math.floor(min(xs)), math.floor(min(ys))
    size = math.ceil(max(xs)) - left, math.ceil(max(ys)) - top
    svg.set("viewBox", f"{left} {top} {size[0]} {size[1]}")
    for name, length in zip(("width", "height"), size, strict=True):
        svg.set(name, str(length))


class _Place(NamedTuple):
    """Where an element begins, and by how much it is turned, in radians."""

    x: float = 0.0
    y: float = 0.0
    angle: float = 0.0

    def moved(self, x: float, y: float) -> _Place:
        """Go on from here, along and across the direction of the text."""
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        return self._replace(x=self.x + x * cos - y * sin, y=self.y + x * sin + y * cos)

    def transformed(self, transform: str) -> _Place:
        """Follow a transform, of which Vega writes shifts and turns."""
        place = self
        for name, arguments in _TRANSFORM.findall(transform):
            numbers = [float(value) for value in re.split("[, ]+", arguments)]
            if name == "translate":
                place = place.moved(numbers[0], (*numbers, 0.0)[1])
            elif name == "rotate":
                place = place._replace(angle=place.angle + math.radians(numbers[0]))
        return place


def _text_corners(element: ElementTree.Element, place: _Place) -> Iterator[tuple[float, float]]:
    """Yield the corners of the texts in an element; a line of a text begins at its `dy`."""
    place = place.transformed(element.get("transform", ""))
    if element.tag != f"{_SVG}text":
        for child in element:
            yield from _text_corners(child, place)
        return
    size = float(element.get("font-size", "11").removesuffix("px"))
    bold = element.get("font-weight") in ("bold", "600", "700")
    anchor = _ANCHORS[element.get("text-anchor", "start")]
    lines = [element.text or "", *(tspan.text or "" for tspan in element)]
    for line in filter(None, lines):
        length = text_width(line, size, bold=bold)
        for end in (-anchor * length, (1 - anchor) * length):
            for height in (-0.8 * size, 0.3 * size):
                corner = place.moved(end, height)
                yield corner.x, corner.y


def _visible(value: Any) -> Any:
    """Make texts safe to draw: a character that XML does not have ends the whole process."""
    if isinstance(value, dict):
        return {name: _visible(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(part) for part in value]
    return visible(value) if isinstance(value, str) else value


def for_file(drawing: ElementTree.Element) -> str:
    """Write a drawing in the light scheme, on paper."""
    svg = _copy(drawing)
    for element in svg.iter():
        for name, value in element.items():
            if match := _VARIABLE.fullmatch(value):
                element.set(name, light().get(match[1], value))
    paper = {"width": "100%", "height": "100%", "fill": light()["paper"]}
    svg.insert(0, ElementTree.Element(f"{_SVG}rect", paper))
    return ElementTree.tostring(svg, encoding="unicode")


def for_page(drawing: ElementTree.Element, name: str) -> str:
    """Write a drawing to stand in a page: what marks show is read where the pointer rests.

    `name`, of the figure, tells its identifiers from those of others.
    """
    svg = _copy(drawing)
    # First, while each mark has what Vega says of it: `_slim` takes that away.
    for mark in _marks_with_titles(svg):
        title = ElementTree.SubElement(mark, f"{_SVG}title")
        title.text = _CHANNELS.sub("", mark.get("aria-label", ""))
    for element in svg.iter():
        _slim(element, name)
    for parent in [*svg.iter()]:
        for child in [*parent]:
            if _is_empty(child):
                parent.remove(child)
    for group in svg.iter(f"{_SVG}g"):
        _say_once(group)
        if "mark-rect" in group.get("class", "").split():
            _join(group)
    text = ElementTree.tostring(svg, encoding="unicode")
    return text.replace(_NAMESPACE, "", 1).replace(" />", "/>")


def _slim(element: ElementTree.Element, name: str) -> None:
    """Leave an element what a page needs; opacity of a fill, unlike that of all, is inherited."""
    filled = element.tag != f"{_SVG}g" and element.get("stroke", "none") == "none"
    if filled and "opacity" in element.attrib:
        element.set("fill-opacity", element.attrib.pop("opacity"))
    for attribute, value in [*element.items()]:
        in_page = _value_in_page(attribute, value, name)
        if in_page is None:
            del element.attrib[attribute]
        else:
            element.set(attribute, in_page)


def _say_once(group: ElementTree.Element) -> None:
    """State what most marks of a group have in common at the group, which they inherit."""
    for name in _INHERITED:
        values = [child.get(name) for child in group]
        if len(values) < 2 or None in values or group.get(name) is not None:
            continue
        ((most_common, _),) = Counter(values).most_common(1)
        group.set(name, str(most_common))
        for child in group:
            if child.get(name) == most_common:
                del child.attrib[name]


def _join(group: ElementTree.Element) -> None:
    """Draw bars and cells of one colour, of which none says what it shows, as one path."""
    shapes: dict[tuple[tuple[str, str], ...], ElementTree.Element] = {}
    for child in [*group]:
        if child.tag != f"{_SVG}path" or len(child):
            continue
        style = tuple((name, value) for name, value in child.items() if name != "d")
        first = shapes.setdefault(style, child)
        if first is not child:
            # A path may hold several shapes, one after the other.
            first.set("d", f"{first.get('d')}{child.get('d')}")
            group.remove(child)


def _marks_with_titles(svg: ElementTree.Element) -> list[ElementTree.Element]:
    """Return the marks that say what they show; none of very many, whose table says it.

    Where there are points, an interval and its mean say it at the point.
    """
    shapes = (f"{_SVG}path", f"{_SVG}line", f"{_SVG}rect")
    marks = [mark for mark in svg.iter() if mark.tag in shapes and mark.get("aria-label")]
    points = [mark for mark in marks if mark.get("aria-roledescription") == "point"]
    titled = points or marks
    return titled if len(titled) <= MOST_TITLES else []


def _value_in_page(attribute: str, value: str, name: str) -> str | None:
    """Return what an attribute is in the page; None where it is not needed."""
    if attribute in _UNUSED or _USUAL.get(attribute) == value:
        return None
    if attribute == "id":
        return f"{name}-{value}"
    if attribute == "class":  # what a group of marks is
        return " ".join(part for part in value.split() if part.startswith("mark")) or None
    if value.startswith("url(#"):
        return f"url(#{name}-{value[5:]}"
    return value if value.startswith("#") else _LONG_NUMBER.sub(r"\1", value)


def _is_empty(element: ElementTree.Element) -> bool:
    """Whether an element draws nothing: a path without area or colour."""
    if element.tag != f"{_SVG}path":
        return False
    colours = (element.get("fill", "none"), element.get("stroke", "none"))
    return not element.get("d") or "h0v0h0" in element.get("d", "") or set(colours) == {"none"}


def _copy(drawing: ElementTree.Element) -> ElementTree.Element:
    return ElementTree.fromstring(ElementTree.tostring(drawing))
