"""What ``make release`` checks and writes; its environments need a package index."""

from __future__ import annotations

import hashlib
import runpy
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RELEASE = runpy.run_path(str(ROOT / ".ci" / "release.py"))


def test_the_page_of_the_action_names_the_next_release() -> None:
    versions = RELEASE["read_versions"](ROOT)
    package = versions["src/clinometer/__init__.py"]
    assert all(versions.values())
    assert versions["docs/how-to/gate.md"] == package.partition(".dev")[0]


@pytest.mark.parametrize(
    ("versions", "tags", "changes", "obstacle"),
    [
        ({"package": "1.2.0", "CITATION.cff": "1.1.0"}, [], "", "CITATION.cff: names version 1.1"),
        ({"package": "1.2.0", "CHANGELOG.md": ""}, [], "", "CHANGELOG.md: names version none"),
        ({"package": "1.2.0.dev0"}, [], "", "version '1.2.0.dev0' is none of"),
        ({"package": "1.2.0"}, ["v1.1.0", "v1.2.0"], "", "tag v1.2.0 exists"),
        ({"package": "1.2.0"}, [], "?? a\n?? b", "not committed: ?? a, ?? b"),
    ],
)  # fmt: skip
def test_what_stands_against_a_release(
    versions: dict[str, str], tags: list[str], changes: str, obstacle: str
) -> None:
    (found,) = RELEASE["find_obstacles"](versions, tags, changes)
    assert found.startswith(obstacle)
    assert not RELEASE["find_obstacles"]({"package": "1.2.0"}, ["v1.1.0"], "")


def test_the_notes_are_those_of_one_version() -> None:
    changelog = "# Changelog\n\n## 1.2.0\n\n- **New**: a.\n\n## 1.1.0\n\n- Old.\n"
    assert RELEASE["read_notes"](changelog, "1.2.0") == "- **New**: a.\n"


def test_the_lowest_version_of_each_dependency_is_declared() -> None:
    lowest = RELEASE["lowest_versions"]((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "numpy==2.0" in lowest and all(line.count("==") == 1 for line in lowest)


def test_a_bill_of_materials_has_every_package_but_the_one_it_is_of() -> None:
    packages = [*distributions(path=[sysconfig.get_path("purelib")])]
    bill = RELEASE["bill_of_materials"](packages)
    names = {component["name"] for component in bill["components"]}
    assert names == {package.metadata["Name"] for package in packages} - {"clinometer"}
    assert bill["metadata"]["component"]["purl"].startswith("pkg:pypi/clinometer@")


def test_hashes_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"a")
    RELEASE["write_hashes"](tmp_path)
    line = f"{hashlib.sha256(b'a').hexdigest()}  a.whl\n"
    assert (tmp_path / "SHA256SUMS").read_text() == line
