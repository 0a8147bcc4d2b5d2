"""Weights are put in place only if they are the ones that are named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from benchmarks import weights
from clinometer.errors import InputError

CONTENT = b"weights"
HASH = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def gguf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that stands for a GGUF, whose weights are its content."""

    def convert(source: Path, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(source.read_bytes())

    monkeypatch.setattr(weights, "convert_gguf", convert)
    file = tmp_path / "model.gguf"
    file.write_bytes(CONTENT)
    return file


def test_a_file_is_put_in_place(gguf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "small"
    weights.place(str(gguf), HASH.upper(), folder)
    assert (folder / "model.safetensors").read_bytes() == CONTENT
    assert [path.name for path in folder.parent.iterdir()] == ["small"]
    weights.place("nowhere", "", folder)  # what is there stays


@pytest.mark.parametrize(
    ("source", "sha256", "message"),
    [
        ("{gguf}", "0" * 64, f"SHA-256 is {HASH}"),
        ("{gguf}x", HASH, "no such file"),
        ("ftp://localhost/model.gguf", HASH, "allowed are a file and an https address"),
    ],
)
def test_else_nothing_is(
    gguf: Path, tmp_path: Path, source: str, sha256: str, message: str
) -> None:
    folder = tmp_path / "models" / "small"
    with pytest.raises(InputError, match=message):
        weights.place(source.format(gguf=gguf), sha256, folder)
    assert not [*folder.parent.iterdir()]
