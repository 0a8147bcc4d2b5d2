"""Paragraphs that only the page shows: written in templates, filled when the page is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@dataclass(frozen=True)
class Paragraphs:
    """Paragraphs of a template in ``templates/prose``, and what it is filled with."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)


def fill_paragraphs(text: Sequence[str] | Paragraphs) -> Sequence[str]:
    """Return the paragraphs of a text, each on a line; those of a template are filled."""
    if not isinstance(text, Paragraphs):
        return text
    filled = _environment().get_template(f"{text.template}.txt.j2").render(text.values)
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", filled.strip())]


@cache
def _environment() -> Environment:
    """Return what fills plain text; what puts it into a page makes it safe there."""
    return Environment(
        loader=PackageLoader("clinometer.pieces", "templates/prose"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
