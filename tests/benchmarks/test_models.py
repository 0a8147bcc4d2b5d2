"""Audits of models that others made, and the table of them."""

from pathlib import Path

import pytest
from benchmarks.measuring import NotRun

from benchmarks import models


def test_without_audits_nothing_is_set_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "RUNS", tmp_path)
    monkeypatch.setattr(models, "REPOSITORY", tmp_path.parent)
    with pytest.raises(NotRun, match="no audits"):
        models.run()


def test_a_row_for_each_audit_and_how_two_modes_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "RUNS", tmp_path)
    arguments = "simulated/leaning --study bai2025 --instrument word_association --stereotypes"
    stereotypes = ["age,islam,science"]  # one has a form that names people
    models.main([*arguments.split(), *stereotypes, "--mode", "structured", "--mode", "free"])
    result = models.run()
    assert {tuple(row[:2]) for row in result.rows} == {
        (f"simulated-leaning, {study}", f"word association {mode}")
        for mode in ("free", "structured")
        for study in ("bai2025", "bai2025_people")
    }
    for row in result.rows:
        by_column = dict(zip(result.columns, row, strict=True))
        assert by_column["scored"] == 1.0 and by_column["refused"] == 0.0
        n_stereotypes = 1 if "people" in str(row[0]) else 3
        assert str(by_column["lean"]).endswith(f" of {n_stereotypes}") and "passed" in str(row[-2])
    assert "free and structured: r " in result.notes[-1]


def test_a_mode_that_a_model_lacks_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "RUNS", tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    models.main(["openai/gpt-4o", "--study", "bai2025", "--mode", "likelihood"])
    assert "openai/gpt-4o, bai2025, likelihood: " in capsys.readouterr().err
    assert not [*tmp_path.rglob("estimates.parquet")]
