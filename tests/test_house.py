"""The house: what may import what, and which names are public."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tiltmeter

SRC = Path(tiltmeter.__file__).parent

#: Room → the rooms to its left, the only ones it may import from.
LEFT_OF = {
    "errors": set(),
    "results": {"errors"},
    "stimuli": {"errors"},
    "reading": {"errors", "results"},
    "models": {"errors", "results"},
    "modes": {"errors", "reading", "models"},
    "statistics": {"errors", "results"},
    "reference": {"errors", "results"},
    "networks": {"errors", "results", "stimuli", "statistics"},
    "states": {"errors", "results", "stimuli", "statistics", "models"},
    "instruments": {"errors", "results", "stimuli", "reading", "modes"},
    "asking": {"errors", "results", "stimuli", "reading", "models", "modes", "networks", "states",
               "instruments"},
    "audits": {"errors", "results", "stimuli", "models", "modes", "statistics", "networks",
               "states", "instruments", "asking"},
    "report": {"errors", "results", "statistics", "reference"},
    "cli": {"errors", "results", "stimuli", "models", "modes", "statistics", "reference",
            "networks", "states", "instruments", "asking", "audits", "report"},
}  # fmt: skip


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {n.split(".")[1] for n in found if n.startswith("tiltmeter.")}


@pytest.mark.parametrize("room", LEFT_OF)
def test_a_stage_imports_only_what_stands_to_its_left(room: str) -> None:
    files = [SRC / f"{room}.py"] if (SRC / f"{room}.py").exists() else (SRC / room).rglob("*.py")
    for path in files:
        wrong = imports(path) - LEFT_OF[room] - {room}
        assert not wrong, path


def test_every_room_is_on_the_list() -> None:
    rooms = {p.stem for p in SRC.iterdir() if p.stem not in ("__init__", "__pycache__", "py")}
    assert {room for room in rooms if not room.startswith(".")} == set(LEFT_OF)


def test_the_public_names() -> None:
    assert sorted(tiltmeter.__all__) == [
        "AssociationPlan", "Design", "Dictionary", "INSTRUMENTS", "Inference", "Lexicons",
        "Loading", "MEASURES", "Measure", "Network", "NetworkSetting", "ProfileSetting",
        "Spreading", "States", "Study", "TiltmeterError", "WORD_ASSOCIATION", "WordSet",
        "WordTest", "WordTestSetting", "Words", "activate", "agreement", "associations_inside",
        "attribution_contrasts", "attributions", "build_network", "check_priming",
        "clean_associations", "collect_associations", "compare_predictors", "compliance",
        "contrast", "correlate_dimensions", "describe_network", "dimension_tests", "estimate",
        "hold_against_chance", "load_network_study", "load_published", "load_study",
        "load_word_tests", "make_contexts", "measure_bias", "measure_profile", "network_overlap",
        "open_reader", "predict_directions", "rank_models", "read_associations",
        "read_attribution", "read_decision", "read_dictionary", "read_emotions", "read_examples",
        "read_extended", "read_network", "read_states", "read_valence", "read_words", "regress",
        "relate", "remove_components", "sample_corpus", "score", "stream", "terms_alone",
        "terms_in_templates", "trials", "vary_setting", "write_report",
    ]  # fmt: skip
    for name in tiltmeter.__all__:
        assert getattr(tiltmeter, name).__doc__
    assert set(tiltmeter.__all__) <= set(dir(tiltmeter))
    with pytest.raises(AttributeError):
        tiltmeter.nothing  # noqa: B018


def test_no_model_text_is_ever_evaluated() -> None:
    for path in SRC.rglob("*.py"):
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"eval", "exec", "compile", "__import__"}, path
        assert "pickle" not in path.read_text(encoding="utf-8").replace("no pickle", ""), path
