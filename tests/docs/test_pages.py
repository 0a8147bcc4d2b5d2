"""Pages are found: from the first one, and what binds can be read at one sitting."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

#: What a page leads to: links and pictures, files that it includes, and entries of its contents.
LINK = re.compile(r"\]\(([^)#\s]+)")
INCLUDED = re.compile(r"^```\{(?:literal)?include\} (\S+)$", re.MULTILINE)
CONTENTS = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: What the builder of the site reads, and no page.
SETTINGS = {DOCS / "conf.py", DOCS / "static" / "site.css"}


def targets(page: Path) -> set[Path]:
    """Return the files that a page leads to; of contents with either ending."""
    text = page.read_text(encoding="utf-8")
    names = [*LINK.findall(text), *INCLUDED.findall(text)]
    for contents in CONTENTS.findall(text):
        entries = [line for line in contents.splitlines() if line and not line.startswith(":")]
        names += [f"{entry}{ending}" for entry in entries for ending in (".md", ".ipynb")]
    return {(page.parent / name).resolve() for name in names}


def reachable(start: Path) -> set[Path]:
    """Return a page, and the files of its folder that it leads to, over whatever pages."""
    existing = {path for path in start.parent.rglob("*") if path.is_file()}
    files, pages = {start}, [start]
    while pages:
        new = targets(pages.pop()) & existing - files
        files |= new
        pages += [file for file in new if file.suffix == ".md"]
    return files


def test_every_file_can_be_reached_from_the_first_page() -> None:
    files = {path for path in DOCS.rglob("*") if path.is_file()}
    assert sorted(files - SETTINGS - reachable(DOCS / "index.md")) == []


def test_a_page_that_no_page_names_is_not_reached(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("```{toctree}\n:hidden:\n\nfirst\n```\n")
    (tmp_path / "first.md").write_text("[second](second.md#part)")
    (tmp_path / "second.md").write_text("not third.md")
    (tmp_path / "third.md").touch()
    names = {path.name for path in reachable(tmp_path / "index.md")}
    assert names == {"index.md", "first.md", "second.md"}


def test_what_binds_can_be_read_at_one_sitting() -> None:
    assert len((DOCS / "architecture.md").read_text(encoding="utf-8").split()) <= 3000


def test_every_decision_that_binds_has_its_date() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    decisions = re.findall(r"^- (.*?)(?=^- |^$)", text, re.MULTILINE | re.DOTALL)
    assert len(decisions) > 50
    assert [decision for decision in decisions if not re.search(r"\d{4}-\d\d-\d\d", decision)] == []


def test_the_first_page_says_what_each_how_to_answers() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| \[[^]]+\]\(how-to/(\S+\.md)\) \| [^|]+\? ?[^|]* \|$", text, re.MULTILINE
    )
    assert sorted(rows) == sorted(path.name for path in (DOCS / "how-to").glob("*.md"))
