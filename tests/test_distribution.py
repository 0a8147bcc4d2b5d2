"""What is installed from a wheel is all of the package, and its command works."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", *folders], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("needs the repository, to know which files belong to it")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheel and source distribution without fetching anything."""
    folder = tmp_path_factory.mktemp("dist")
    command = ["-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)]
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    missing = {name.removeprefix("src/") for name in tracked("src")} - names
    assert not missing


def test_the_source_distribution_holds_every_file(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert not tracked() - names


def test_the_wheel_names_the_project_its_command_and_its_entry_points(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        facts = Parser().parsestr(archive.read(about).decode())
        entries = archive.read(about.replace("METADATA", "entry_points.txt")).decode()
    assert facts["Name"] == "clinometer"
    assert {"bold", "dev", "docs", "local", "mlflow", "papers"} == set(
        facts.get_all("Provides-Extra", [])
    )
    for line in ("clinometer = clinometer.cli:main", "clinometer = clinometer.audits.registry",
                 "clinometer = clinometer.comparing.plugin"):  # fmt: skip
        assert line in entries


def test_the_installed_package_runs_as_a_module(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([sys.executable, *pip, str(target), str(wheel)], check=True)
    environment = {**os.environ, "PYTHONPATH": str(target)}
    where = "import clinometer; print(clinometer.__file__)"
    for code, said in ((("-c", where), str(target)), (("-m", "clinometer", "--version"), "version"),
                       (("-m", "clinometer", "list"), "word_association")):  # fmt: skip
        done = subprocess.run(
            [sys.executable, *code], env=environment, cwd=tmp_path, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert said in done.stdout


def test_the_container_file_copies_what_there_is_and_runs_commands_that_exist() -> None:
    import json

    from clinometer.cli.demo import demo_command

    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines]
    copied = {name for one in words if one[:1] == ["COPY"] for name in one[1:-1]}
    assert copied and all((ROOT / name).exists() for name in copied)
    assert [one for one in words if one[:1] == ["USER"]][-1] == ["USER", "auditor"]
    (command,) = (line.removeprefix("CMD ") for line in lines if line.startswith("CMD "))
    name, *options = json.loads(command)
    known = {opt for one in demo_command.params for opt in (*one.opts, *one.secondary_opts)}
    assert name == "demo" and {*options} <= known
