"""The PDF of a dossier."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from clinometer.dossier.pdf import pdf_bytes, printable
from clinometer.dossier.writing import DossierFiles


def test_a_letter_that_the_fonts_lack_is_shown_by_its_number() -> None:
    assert printable("Zoë · “中” \u202e") == "Zoë · “[U+4E2D]” [U+27E8]U+202E[U+27E9]"


def test_the_same_dossier_gives_the_same_bytes(files: DossierFiles) -> None:
    pytest.importorskip("reportlab")
    content = {**files.content, "claims": "<para>&</font> " + 3000 * "long "}
    first, second = pdf_bytes(content), pdf_bytes(content)
    assert first == second and first.startswith(b"%PDF-")


def test_without_the_library_it_is_said_how_to_get_it(
    files: DossierFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = builtins.__import__

    def refuse(name: str, *arguments: Any, **options: Any) -> Any:
        if name.startswith("reportlab"):
            raise ImportError(name)
        return load(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError):
        pdf_bytes(files.content)
