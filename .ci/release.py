"""Build a release and check it: ``make release``; what it makes lies in ``dist/VERSION/``.

Wheel, source distribution, the notes of the version (``NOTES.md``), a bill of materials
(``bom.json``, CycloneDX 1.6) and hashes of all files (``SHA256SUMS``). Before that the version of
the package must be that of CITATION.cff, CHANGELOG.md and the page of the Action, without a tag of
its name in this clone. Then the wheel is installed in two empty environments, once with the lowest
versions that pyproject.toml declares, and each shows a demo. Both need a package index; tags that
only a remote has are not seen. It publishes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import uuid
import venv
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: File → what in it names the version of a release.
VERSIONS = {
    "src/clinometer/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "CHANGELOG.md": r"^## (\d\S*)",
    "docs/how-to/gate.md": r"^- uses: OWNER/clinometer@v(.+)$",
}


def read_versions(root: Path) -> dict[str, str]:
    """Return the version that each file names, the first of several; empty where it names none."""
    versions = {}
    for name, pattern in VERSIONS.items():
        match = re.search(pattern, (root / name).read_text("utf-8"), re.MULTILINE)
        versions[name] = match[1] if match else ""
    return versions


def find_obstacles(versions: Mapping[str, str], tags: Iterable[str], changes: str) -> list[str]:
    """Return what stands against a release.

    `versions`: by file; the first is that of the package. `changes`: what is not committed.
    """
    version = next(iter(versions.values()))
    obstacles = [
        f"{name}: names version {found or 'none'}, the package is {version}"
        for name, found in versions.items()
        if found != version
    ]
    if not re.fullmatch(r"\d+(\.\d+)+", version):
        obstacles.append(f"version {version!r} is none of a release, such as 1.2.0")
    if f"v{version}" in tags:
        obstacles.append(f"tag v{version} exists; raise the version")
    if changes:
        obstacles.append(f"not committed: {', '.join(changes.splitlines())}")
    return obstacles


def read_notes(changelog: str, version: str) -> str:
    """Return what the changelog says of a version; links are those of the repository."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)
    (section,) = (text for text in sections if text.split(maxsplit=1)[0] == version)
    return section.partition("\n")[2].strip() + "\n"


def lowest_versions(pyproject: str) -> list[str]:
    """Return constraints to the lowest version of each dependency that is declared."""
    declared = tomllib.loads(pyproject)["project"]["dependencies"]
    return [re.sub(r">=([\w.]+).*", r"==\1", dependency) for dependency in declared]


def bill_of_materials(packages: Iterable[Distribution]) -> dict[str, object]:
    """List packages as a CycloneDX document; that of Clinometer is what it is about."""
    components = [_component(package) for package in packages]
    components.sort(key=lambda component: component["name"].lower())
    (subject,) = (component for component in components if component["name"] == "clinometer")
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid4().urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": {**subject, "type": "application"},
        },
        "components": [component for component in components if component is not subject],
    }


def _component(package: Distribution) -> dict[str, str]:
    name, version = package.metadata["Name"], package.version
    normal_name = re.sub(r"[-_.]+", "-", name).lower()
    address = f"pkg:pypi/{normal_name}@{version}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "purl": address,
    }


def write_hashes(folder: Path) -> None:
    """Write the SHA-256 of each file of a folder, as ``sha256sum --check`` reads them."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")


def install(wheel: Path, folder: Path, constraints: Iterable[str] = ()) -> Path:
    """Install a wheel in a new environment; return where its packages lie."""
    venv.create(folder, with_pip=True)
    constraint_file = folder / "constraints.txt"
    constraint_file.write_text("\n".join(constraints), "utf-8")
    command = ["-m", "pip", "install", "--quiet", "--constraint", str(constraint_file), str(wheel)]
    _run(folder / "bin" / "python", *command)
    (packages,) = folder.glob("lib/python*/site-packages")
    return packages


def show_demo(environment: Path) -> None:
    """Make the page of the demo with what an environment has, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        _run(environment / "bin" / "clinometer", "demo", "--out", "demo", cwd=Path(folder))
        if not (Path(folder) / "demo" / "report.html").exists():
            sys.exit("release: clinometer demo wrote no page")


def _run(program: Path | str, *arguments: str, cwd: Path = ROOT) -> str:
    """Run a program without the packages of this environment; return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(program), *arguments], cwd=cwd, env=environment, check=True, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    return done.stdout


def main() -> None:
    """Check, build, try and describe the release."""
    versions = read_versions(ROOT)
    tags = _run("git", "tag", "--list").split()
    if obstacles := find_obstacles(versions, tags, _run("git", "status", "--porcelain")):
        sys.exit("\n".join(f"release: {obstacle}" for obstacle in obstacles))
    version = versions["src/clinometer/__init__.py"]
    folder = ROOT / "dist" / version
    if folder.exists():
        sys.exit(f"release: {folder} exists; remove it to build the release again")
    _run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)
    )
    (wheel,) = folder.glob("*.whl")
    with tempfile.TemporaryDirectory() as environments:
        lowest, newest = Path(environments) / "lowest", Path(environments) / "newest"
        install(wheel, lowest, lowest_versions((ROOT / "pyproject.toml").read_text("utf-8")))
        show_demo(lowest)
        packages = install(wheel, newest)
        show_demo(newest)
        bill = bill_of_materials(distributions(path=[str(packages)]))
    (folder / "bom.json").write_text(json.dumps(bill, indent=1) + "\n", "utf-8")
    notes = read_notes((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    (folder / "NOTES.md").write_text(notes, "utf-8")
    write_hashes(folder)
    print(f"{folder}: {', '.join(path.name for path in sorted(folder.iterdir()))}")
    print(f"next: git tag -s v{version}, and publish these files")


if __name__ == "__main__":
    main()
