"""The site builds without a warning, loads nothing from elsewhere and has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import clinometer
from clinometer.cli import commands

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAMESPACES = sorted(
    name for name in clinometer.__all__ if type(getattr(clinometer, name)).__name__ == "module"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does; notebooks are run."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going",
         "--doctree-dir", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Loads(HTMLParser):
    """What a browser fetches to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag != "a":
            self.found += [v for k in ("src", "href", "srcset", "data") if (v := attributes.get(k))]


def outside(html: str) -> list[str]:
    """Return the addresses outside the site that a page loads."""
    page = Loads()
    page.feed(html)
    styles = re.findall(r"url\(\s*[\"']?([^)\"']+)|@import\s+[\"']([^\"']+)", html)
    loaded = [*page.found, *(a or b for a, b in styles)]
    return [address for address in loaded if re.match(r"\s*(https?:)?//", address)]


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 30
    for page in pages:
        assert outside(page.read_text(encoding="utf-8")) == [], page.name


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://a.b/c.js"></script>',
        '<link href="//a.b/c.css">',
        '<img src="http://a.b/c.png">',
        "<style>@import 'https://a.b'</style>",
        "p { background: url(https://a.b/c) }",
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(html: str) -> None:
    assert len(outside(html)) == 1
    assert outside(html.replace("https:", "").replace("http:", "").replace("//", "a/")) == []


@pytest.mark.parametrize("namespace", ["", *NAMESPACES])
def test_every_public_name_has_its_docstring_and_signature(site: Path, namespace: str) -> None:
    module = getattr(clinometer, namespace) if namespace else clinometer
    page = (site / f"reference/api/{namespace or 'clinometer'}.html").read_text(encoding="utf-8")
    documented = set(
        re.findall(rf'<dt class="sig[^>]*id="{re.escape(module.__name__)}\.(\w+)"', page)
    )
    assert documented | ({"Inference"} if namespace else set()) >= {*module.__all__} - {*NAMESPACES}


def test_a_signature_is_that_of_the_function(site: Path) -> None:
    page = (site / "reference/api/clinometer.html").read_text(encoding="utf-8")
    (draw,) = re.findall(r'<dt class="sig[^>]*id="clinometer.draw">(.*?)</dt>', page, re.DOTALL)
    text = re.sub(r"<[^>]+>|\s", "", draw)
    assert "clinometer.draw(study:str|Path|Study,design:Design|None=None" in text


def test_every_command_has_its_options(site: Path) -> None:
    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    for name in commands():
        assert f'id="cmdoption-clinometer-{name}-' in page or f'id="clinometer-{name}"' in page, (
            name
        )
    assert 'id="cmdoption-clinometer-audit-policy"' in page


def test_notebooks_were_run(site: Path) -> None:
    page = (site / "notebooks/results-with-pandas.html").read_text(encoding="utf-8")
    assert "scored answers" in page or "consistent" in page
    assert "aria-label" in page or ".svg" in page
