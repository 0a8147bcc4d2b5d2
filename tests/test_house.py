"""The house: what may import what, and which names are public."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

import clinometer
from clinometer.contracts.instrument import Instrument

SRC = Path(clinometer.__file__).parent
#: Instruments and families in a package beside, as those of others are.
MEASURES = SRC.parent / "clinometer_measures"

#: What every room may import from.
EVERYWHERE = {"errors", "numbers", "packed", "secrets", "texts"}

#: Room → the rooms to its left, the only others it may import from.
LEFT_OF = {
    "errors": set(),
    "numbers": set(),
    "secrets": set(),
    "texts": set(),
    "packed": set(),
    "results": set(),
    "words": {"results"},
    "reading": {"results", "words"},
    "models": {"results"},
    "modes": {"results", "reading", "models"},
    "statistics": {"results"},
    "papers": {"results", "statistics"},
    "reference": {"results"},
    "pieces": {"results", "statistics", "reference"},
    "families": {"results", "models", "pieces"},
    "stimuli": {"families"},
    "contracts": {"results", "families", "stimuli", "reading", "modes", "reference", "pieces"},
    "authoring": {"results", "stimuli", "reading", "modes", "reference", "contracts"},
    "instruments": {"statistics", "papers", "pieces", "authoring"},
    "scoring": {"results", "stimuli", "reading", "modes", "contracts"},
    "directory": {"results", "families", "contracts"},
    "simulated": {"results", "stimuli", "models", "modes", "contracts"},
    "asking": {"results", "stimuli", "reading", "models", "modes", "contracts", "scoring",
               "simulated"},
    "audits": {"results", "families", "stimuli", "models", "modes", "statistics", "reference",
               "contracts", "scoring", "directory", "simulated", "asking"},
    "report": {"results", "families", "statistics", "reference", "pieces", "contracts",
               "directory"},
    "comparing": {"results", "families", "stimuli", "statistics", "pieces", "contracts", "scoring",
                  "directory", "asking", "audits", "report"},
    "sharing": {"results", "models", "statistics", "pieces", "contracts", "directory", "report"},
    "dossier": {"results", "stimuli", "pieces", "contracts", "directory", "asking", "audits",
                "report", "comparing", "sharing"},
    "viewing": {"results", "families", "stimuli", "modes", "pieces", "directory", "simulated",
                "asking", "audits", "report"},
    "harnesses": {"results", "stimuli", "contracts", "scoring", "audits"},
    "cli": {"results", "words", "families", "stimuli", "models", "modes", "statistics", "papers",
            "reference", "pieces", "contracts", "directory", "asking", "audits", "comparing",
            "report", "sharing", "dossier", "viewing"},
}  # fmt: skip


#: Tells the types of `clinometer.networks` and `clinometer.states`, packages of the families.
NAMESPACE_TYPES = SRC / "families.py"


def modules(path: Path) -> set[str]:
    """Return the modules of Clinometer that a file imports, or imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith(("clinometer.", "clinometer_measures"))}


def imports(path: Path) -> set[str]:
    """Return the rooms that a file imports from, and the package beside."""
    rooms = {name.removeprefix("clinometer.").split(".")[0] for name in modules(path)}
    return rooms - {"clinometer_measures"} if path == NAMESPACE_TYPES else rooms


@pytest.mark.parametrize("room", LEFT_OF)
def test_a_stage_imports_only_what_stands_to_its_left(room: str) -> None:
    files = [SRC / f"{room}.py"] if (SRC / f"{room}.py").exists() else (SRC / room).rglob("*.py")
    for path in files:
        assert not imports(path) - (LEFT_OF[room] | EVERYWHERE | {room}), path


def test_an_instrument_draws_when_it_is_asked_to() -> None:
    """Importing every instrument must import neither the report nor what takes long to load."""
    program = (
        "import sys, clinometer.contracts.catalogue; "
        "print([m for m in sys.modules if m in ('altair', 'clinometer.report', 'scipy.stats')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_only_what_reads_the_answers_of_a_page_gets_a_path() -> None:
    """What says and draws them gets tables; the entrances named here hand a directory over."""
    with_path = set()
    for path in (SRC / "report" / "answers").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            is_import = isinstance(node, ast.Import | ast.ImportFrom)
            if not is_import and re.search(r"\bPath", ast.unparse(node)):
                with_path.add((path.stem, getattr(node, "name", "")))
    entrances = {
        ("part", "answer_part"),
        *(("summary", name) for name in ("findings", "in_brief", "in_lines")),
    }
    assert {place for place in with_path if place[0] not in ("reading", "earlier")} == entrances


FAMILIES = sorted(path.name for path in MEASURES.iterdir() if (path / "family.py").exists())


def test_the_core_imports_no_measure_of_the_package_beside() -> None:
    for path in SRC.rglob("*.py"):
        assert "clinometer_measures" not in imports(path), path


def test_the_core_names_no_instrument() -> None:
    for path in SRC.rglob("*.py"):
        if "instruments" not in path.relative_to(SRC).parts:
            assert "instruments" not in imports(path), path


#: The room whose modules are public as far as their `__all__` goes.
INSTRUMENTS = "clinometer.instruments"

#: From which an instrument may take what is no public name: its analyses, on the engine.
ENGINES = ("clinometer.statistics", "clinometer.papers")


def test_an_instrument_imports_public_names_alone() -> None:
    """So that what holds for ours holds for one of another package."""
    public = {"clinometer.authoring", "clinometer.pieces", INSTRUMENTS}
    packages = [SRC / "instruments", *(path for path in MEASURES.iterdir() if path.is_dir())]
    for package in (package for package in packages if package.name not in FAMILIES):
        own = INSTRUMENTS if package.parent == SRC else f"clinometer_measures.{package.name}"
        for path in package.rglob("*.py"):
            named = {name for name in modules(path) if not name.startswith((own, *ENGINES))}
            assert named <= public, path


def test_a_measure_takes_of_an_instrument_what_its_module_declares() -> None:
    """As one of another package may, which is made of ours."""
    for path in MEASURES.rglob("*.py"):
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        instruments = {}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == INSTRUMENTS:
                for alias in node.names:
                    instruments[alias.name] = import_module(f"{INSTRUMENTS}.{alias.name}")
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                instrument = instruments.get(node.value.id)
                assert instrument is None or node.attr in instrument.__all__, (path, node.attr)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_imports_rooms_that_no_room_imports_it_from(family: str) -> None:
    """It stands beside the command line, and imports no other measure."""
    allowed = (set(LEFT_OF) | EVERYWHERE) - {"comparing", "sharing", "dossier", "viewing"}
    for path in (MEASURES / family).rglob("*.py"):
        assert imports(path) <= allowed | {"clinometer_measures"}, path
        beside = {name for name in modules(path) if name.startswith("clinometer_measures.")}
        assert all(name.split(".")[1] == family for name in beside), path


def test_the_catalogue_of_families_imports_only_errors_when_it_is_imported() -> None:
    tree = ast.parse((SRC / "families.py").read_text(encoding="utf-8"))
    named = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert {name for name in named if str(name).startswith("clinometer")} == {"clinometer.errors"}


def test_every_room_is_on_the_list() -> None:
    others = {"__init__", "__main__", "__pycache__", "py"}
    rooms = {p.stem for p in SRC.iterdir()} - others
    assert {room for room in rooms if not room.startswith(".")} == set(LEFT_OF)


def test_the_page_lists_the_rooms_and_each_imports_only_rooms_above_it() -> None:
    page = (SRC.parents[1] / "docs" / "house.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| [^|]+ \|$", page, re.MULTILINE) == list(LEFT_OF)
    above: set[str] = set()
    for room, left in LEFT_OF.items():
        assert left <= above, room
        above.add(room)


FLAT = {
    "Asking", "Design", "Finding", "INSTRUMENTS", "Inference", "PlanOptions", "Recording", "Study",
    "ClinometerError", "allocate", "as_model", "ask", "audit", "audit_recorded", "collect_answers",
    "compare", "draw", "estimate", "findings", "load_study", "merge", "power", "read_results",
    "score", "shard_audit", "twins", "write_report",
}  # fmt: skip
NAMESPACES = {
    "asking", "comparing", "models", "networks", "papers", "reading", "reference", "sharing",
    "states", "statistics",
}  # fmt: skip


def test_the_public_names() -> None:
    assert set(clinometer.__all__) == FLAT | NAMESPACES
    with pytest.raises(AttributeError):
        clinometer.nothing  # noqa: B018


@pytest.mark.parametrize("room", ["", *sorted(NAMESPACES)])
def test_every_public_name_is_there_and_says_what_it_is(room: str) -> None:
    namespace = getattr(clinometer, room) if room else clinometer
    for name in namespace.__all__:
        found = getattr(namespace, name)
        assert inspect.ismodule(found) == (name in NAMESPACES), name
        assert found.__doc__, name


def test_no_model_text_is_ever_evaluated() -> None:
    for path in SRC.parent.rglob("*.py"):
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"eval", "exec", "compile", "__import__"}, path
        assert "pickle" not in path.read_text(encoding="utf-8").replace("no pickle", ""), path


def test_no_room_hides_a_public_function() -> None:
    rooms = {path.stem for path in SRC.iterdir()} - NAMESPACES
    assert not rooms & FLAT


def test_the_page_lists_every_field_of_an_instrument() -> None:
    page = (SRC.parents[1] / "docs" / "how-to" / "extending.md").read_text(encoding="utf-8")
    section = page.split("## An instrument\n")[1].split("\n## ")[0]
    assert not [field.name for field in fields(Instrument) if f"`{field.name}`" not in section]


#: Words that say nothing of what they name.
OPAQUE = set(
    "one own of at found known said shown named asked left taken whole both each every held given "
    "kept told made drawn joined there here it its way ways how about so apart beside together "
    "other others mine read written wanted seen chosen stated".split()
)


def is_opaque(name: str) -> bool:
    """Whether a name begins or ends with such a word: `of_model`, `rows_asked`."""
    parts = name.strip("_").lower().split("_")
    return bool({parts[0], parts[-1]} & OPAQUE)


def bound_names(path: Path) -> list[str]:
    """Return the variables, parameters and functions of a module, as often as they are bound."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("test_"):
            names.append(node.name)
    return names


@pytest.mark.parametrize(
    ("folder", "most"), [(SRC, 0.01), (MEASURES, 0.01), (Path(__file__).parent, 0.02)]
)
def test_names_say_what_they_name(folder: Path, most: float) -> None:
    names = [name for path in folder.rglob("*.py") for name in bound_names(path)]
    opaque = Counter(name for name in names if is_opaque(name))
    assert opaque.total() < most * len(names), opaque.most_common(20)


def test_no_public_class_has_the_name_of_another() -> None:
    places: dict[str, set[str]] = {}
    for path in SRC.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, set()).add(str(path))
    assert not {name: modules for name, modules in places.items() if len(modules) > 1}


#: Quantiles of a distribution (numpy's, scipy's and the standard library's names), or of numbers.
QUANTILES = set(
    "ppf isf inv_cdf ndtri stdtrit chdtri fdtri btdtri betaincinv gammaincinv "
    "quantile nanquantile percentile nanpercentile quantiles mquantiles".split()
)


def quantiles(path: Path) -> set[str]:
    """Return the quantiles that a module takes of a library, or writes out as a number."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and not str(node.module).startswith("clinometer"):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, float):
            names |= {"quantile"} if abs(node.value - 1.96) < 1e-3 else set()
    return names & QUANTILES


def test_quantiles_are_taken_in_statistics_alone() -> None:
    """So that intervals are made in one place: `statistics.intervals`."""
    for path in SRC.parent.rglob("*.py"):
        if SRC / "statistics" not in path.parents:
            assert not quantiles(path), path


def functions(path: Path) -> list[ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_tables_are_data() -> None:
    """Most are specifications, rendered with rows; a function makes what depends on data."""
    returned = [node.returns for path in SRC.parent.rglob("*.py") for node in functions(path)]
    assert sum("ReportTable" in ast.unparse(node) for node in returned if node) <= 30


#: A number with digits after its point, or a share: ".2f", "+.3f", ".0%"; not ",.2f", of money.
DECIMALS = re.compile(r"^[+]?\.[1-9]f$|%$")
#: Where such a number is no result of a measurement: dollars and seconds.
PRICES_AND_TIMES = {"answering.py", "batching.py", "output.py", "checking.py"}


def test_numbers_are_written_in_one_place() -> None:
    places = set()
    for path in SRC.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
                spec = "".join(str(part.value) for part in node.format_spec.values
                               if isinstance(part, ast.Constant))  # fmt: skip
                places |= {path.name} if DECIMALS.search(spec) else set()
    assert places == PRICES_AND_TIMES | {"numbers.py"}
