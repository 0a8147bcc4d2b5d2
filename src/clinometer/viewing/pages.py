"""The pages: templates with autoescape; one inline script and one style sheet, known by hashes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from clinometer.numbers import interval, number
from clinometer.pieces.drawing.theme import stylesheet
from clinometer.pieces.pages import page_environment
from clinometer.pieces.prose import verdict, verdict_class


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
    page = _environment().get_template(template)
    return page.render(**fields, css=Markup(_style()), script=Markup(_script()))


@cache
def _environment() -> Environment:
    environment = page_environment("clinometer.viewing", "clinometer.report")
    environment.filters |= {
        "ago": ago,
        "first_sentence": str,
        "number": number,
        "other_sentences": str,
        "verdict": verdict,
        "verdict_class": verdict_class,
    }
    environment.globals["interval"] = interval
    return environment


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
