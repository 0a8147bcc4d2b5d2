import ast
from pathlib import Path

import pytest

import clinometer.report

MODULES = sorted(Path(clinometer.report.__file__).parent.rglob("*.py"))
BEYOND = (
    "stimuli",
    "reading",
    "models",
    "networks",
    "states",
    "asking",
    "audits",
    "cli",
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_report_knows_nothing_of_how_scores_come_about(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert not [
        name for name in imported if name.startswith(tuple(f"clinometer.{b}" for b in BEYOND))
    ]
    # Of instruments it asks what they say of themselves, and none by name.
    instruments = {name for name in imported if name.startswith("clinometer.instruments")}
    assert instruments <= {
        "clinometer.contracts.catalogue",
        "clinometer.contracts.instrument",
    }


def test_public_names():
    assert clinometer.report.__all__ == ["family_lines", "write_report"]
