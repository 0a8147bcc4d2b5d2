"""The pages: templates with autoescape; one inline script and one style sheet, known by hashes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from clinometer.numbers import interval, number
from clinometer.pieces.drawing.theme import stylesheet
from clinometer.pieces.markdown import as_html, as_it_came
from clinometer.pieces.paragraphs import fill_paragraphs
from clinometer.pieces.prose import verdict, verdict_class
from clinometer.texts import visible

__all__ = ["POLICY", "ago", "rendered"]


def ago(seconds: float | None) -> str:
    """Write how long ago something was."""
    if seconds is None:
        return "none yet"
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def rendered(template: str, fields: Mapping[str, Any]) -> str:
    """Fill a template."""
    page = (
        _environment()
        .get_template(template)
        .render(**fields, css=Markup(_style()), script=Markup(_script()))
    )
    return page


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("clinometer.viewing"), PackageLoader("clinometer.report")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_make_visible,
    )
    environment.filters |= {
        "ago": ago,
        "as_html": as_html,
        "as_it_came": as_it_came,
        "first_sentence": str,
        "number": number,
        "other_sentences": str,
        "verdict": verdict,
        "verdict_class": verdict_class,
        "written": fill_paragraphs,
    }
    environment.globals["interval"] = interval
    return environment


def _make_visible(value: Any) -> Any:
    """Show what would act invisibly; text of our own is left alone."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _script() -> str:
    return _text("view.js")


@cache
def _style() -> str:
    return stylesheet() + _text("view.css")


def _text(name: str) -> str:
    return (files("clinometer.viewing") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


#: What the browser may do on our pages: run the script and use the style sheet that they hold, ask
#: this server, and send forms to it.
POLICY = (
    f"default-src 'none'; script-src 'sha256-{_hash(_script())}'; "
    f"style-src 'sha256-{_hash(_style())}'; img-src data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
