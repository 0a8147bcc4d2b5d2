"""Models that are loaded, and those that are refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="extra `local` not installed")
pytest.importorskip("transformers", reason="extra `local` not installed")

import transformers

from clinometer.errors import InputError, ModelError
from clinometer_measures.states.readers.opening import Loading, open_reader

Tiny = Callable[[str], Any]


@pytest.fixture
def copy(tiny_folder: Tiny, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_folder("bert"), tmp_path / "copy"))


def test_a_model_that_needs_its_own_code_is_refused(copy: Path) -> None:
    code = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.C", "AutoModel": "mine.M"}}
    (copy / "config.json").write_text(json.dumps(code))
    (copy / "mine.py").write_text("raise SystemExit('code of the model was run')")
    with pytest.raises(ModelError, match=r"copy'.*auto_map.*not run; use a model"):
        open_reader(str(copy))


def test_a_tokenizer_without_offsets_is_refused(copy: Path) -> None:
    (copy / "tokenizer.json").unlink()
    transformers.ByT5Tokenizer().save_pretrained(copy)
    with pytest.raises(ModelError, match=r"ByT5Tokenizer.*no character offsets"):
        open_reader(str(copy))


def test_weights_that_are_no_safetensors_are_refused(copy: Path) -> None:
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelError, match="no safetensors in"):
        open_reader(str(copy))


def test_weights_that_lack_a_block_are_refused(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 4}))
    with pytest.raises(ModelError, match=r"weights lack .*layer\.3.* random"):
        open_reader(str(copy))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no config.json in"):
        open_reader(str(tmp_path))


@pytest.mark.parametrize("name", ["nobody/nothing", "hf/nobody/nothing"])
def test_a_model_that_does_not_exist_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=f"model '{name}': [^\n]*$"):
        open_reader(name)


@pytest.mark.parametrize("name", ["hf/me/tiny", "me/tiny"])
def test_a_model_of_the_hub_is_known_by_its_commit(
    name: str, tiny_folder: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = tmp_path / "models--me--tiny"  # as the hub's own cache has it
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for commit in ("a" * 40, "b" * 40):
        shutil.copytree(tiny_folder("bert"), cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("a" * 40)
    main = open_reader(name)
    assert main.name == name and main.fingerprint == open_reader("me/tiny").fingerprint
    pinned = open_reader(name, Loading(revision="b" * 40))
    assert pinned.fingerprint != main.fingerprint


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dtype": "int3"}, "dtype 'int3': allowed are auto, float32"),
        ({"last": "first"}, "last 'first': allowed are normed, block"),
        ({"batch_tokens": 0}, "batch_tokens 0: at least 1"),
        ({"device": "cpu", "device_map": "auto"}, "give one of them"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Loading(**wrong)


def test_the_fingerprint_follows_the_weights(copy: Path, tiny_reader: Tiny) -> None:
    from safetensors.torch import load_file, save_file

    assert open_reader(str(copy)).fingerprint == tiny_reader("bert").fingerprint
    weights = load_file(copy / "model.safetensors")
    weights["embeddings.LayerNorm.bias"][0] += 1e-3
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    assert open_reader(str(copy)).fingerprint != tiny_reader("bert").fingerprint
