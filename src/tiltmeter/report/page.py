"""The page itself: a template filled, with its styles, scripts and policy in one file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tiltmeter.report.drawing.theme import stylesheet
from tiltmeter.report.prose import visible

__all__ = ["rendered"]

#: A drawing larger than this (in bytes) is not also embedded for readers without scripts.
LARGEST_STATIC = 400_000
#: Nor are any after the first that add up to this much.
MOST_STATIC = 3_000_000


def rendered(template: str, drawings: Mapping[str, str], about: Mapping[str, Any]) -> str:
    """Fill a template; every page has the same styles, scripts and policy.

    `drawings`: name of a figure → its SVG, for readers without scripts.
    """
    return (
        _environment()
        .get_template(template)
        .render(
            **about,
            stills=_stills(drawings),
            policy=_policy(),
            css=Markup(stylesheet()),
            bundle=Markup(_bundle()),
            boot=Markup(_boot()),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tiltmeter.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["spec"] = _script_json
    environment.filters["first_sentence"] = lambda text: text.split(". ", 1)[0].rstrip(".") + "."
    environment.filters["other_sentences"] = lambda text: text.partition(". ")[2]
    return environment


def _shown(value: Any) -> Any:
    """Show what would act invisibly; text of our own is left alone."""
    if isinstance(value, Markup):
        return value
    return visible(value) if isinstance(value, str) else value


def _script_json(spec: Mapping[str, Any]) -> Markup:
    """Write JSON that cannot end the script element it stands in."""
    text = json.dumps(spec, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _stills(drawings: Mapping[str, str]) -> dict[str, str]:
    """Give drawings as data URIs, in the order of the page, as far as their weight allows."""
    stills, spent = {}, 0
    for name, svg in drawings.items():
        weighs = len(svg.encode())
        fits = spent + weighs <= MOST_STATIC
        stills[name] = _data_uri(svg) if fits else ""
        spent += weighs if stills[name] else 0
    return stills


def _data_uri(svg: str) -> str:
    """Give a drawing as a data URI; empty where it would weigh too much."""
    data = svg.encode()
    if len(data) > LARGEST_STATIC:
        return ""
    return "data:image/svg+xml;base64," + base64.b64encode(data).decode()


@cache
def _bundle() -> str:
    """Give Vega, Vega-Lite and Vega-Embed as one script, safe inside a script element."""
    code = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return code.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def _boot() -> str:
    return (files("tiltmeter.report") / "templates" / "report.js").read_text(encoding="utf-8")


@cache
def _policy() -> str:
    """Allow the two scripts of the page by their hashes, styles, and nothing else."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
        for code in (_bundle(), _boot())
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
