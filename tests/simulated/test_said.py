"""Results of simulated models say so wherever they stand; those of others do not."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

import clinometer as cm
from clinometer.comparing import bundle, verify, write_comparison
from clinometer.results.subjects import say_simulated, simulated

OPTIONS = cm.PlanOptions(
    studies=("bai2025",), instruments=("word_association",), stereotypes="age,power", iterations=2
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audits of two simulated models, and their comparison."""
    path = tmp_path_factory.mktemp("simulated")
    for name in ("neutral", "leaning"):
        cm.audit(f"simulated/{name}", directory=path / name, options=OPTIONS, profile=False)
        cm.write_report(path / name)
    write_comparison(cm.compare(path / "neutral", path / "leaning"), path / "change")
    cm.write_report(path / "change")
    return path


def test_the_plan_has_the_hash_of_what_is_planted(folder: Path) -> None:
    plan = json.loads((folder / "neutral" / "plan.json").read_text())
    assert list(plan["simulated"]) == ["simulated/neutral"]


def test_every_table_names_the_model_as_simulated(folder: Path) -> None:
    for path in (folder / "neutral").glob("*.parquet"):
        names = pl.read_parquet(path)["model"].drop_nulls().unique().to_list()
        assert names == ["simulated/neutral"], path.name


def test_pages_say_it_first(folder: Path) -> None:
    page = (folder / "neutral" / "report.html").read_text()
    assert page.index("<strong>Simulated.</strong>") < page.index("<main")
    change = (folder / "change" / "report.html").read_text()
    sentence = "simulated/leaning, simulated/neutral are simulated models"
    assert sentence in change[: change.index("<main")]


def test_card_and_manifest_say_it(folder: Path, tmp_path: Path) -> None:
    archive = bundle(folder / "leaning", tmp_path / "run.zip")
    with zipfile.ZipFile(archive) as members:
        for name in ("card.json", "manifest.json"):
            assert json.loads(members.read(name))["simulated"] == ["simulated/leaning"]
    assert verify(archive).holds


def test_other_models_are_not_simulated() -> None:
    names = ["openai/gpt-4o", "clinometer/smollm2", "hf/simulated", None]
    assert simulated(names) == [] and say_simulated(names) == ""
