"""The README leads somewhere and is short; notebooks are kept without what they print."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_links_of_the_readme_lead_somewhere() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)h#][^)#]*)", readme)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert len(readme.splitlines()) <= 90


def test_notebooks_hold_no_outputs() -> None:
    for path in (ROOT / "docs/notebooks").glob("*.ipynb"):
        assert '"outputs": [' not in path.read_text().replace('"outputs": []', ""), path
