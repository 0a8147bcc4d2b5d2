"""What fills the templates of pages, in the report and in the viewer."""

from __future__ import annotations

from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from clinometer.pieces.markdown import as_html, as_it_came
from clinometer.pieces.paragraphs import fill_paragraphs
from clinometer.texts import visible


def page_environment(*packages: str) -> Environment:
    """Return what fills the templates of packages; a template of the first is taken first."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_make_visible,
    )
    environment.filters |= {
        "as_html": as_html,
        "as_it_came": as_it_came,
        "written": fill_paragraphs,
    }
    return environment


def _make_visible(value: Any) -> Any:
    """Show what would act invisibly; text of our own is left alone."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
