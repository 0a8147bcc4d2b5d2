"""The journal: every answer is on disk before the next one is asked for.

inspect keeps the full log of a run but writes it in batches; a killed process loses what was
not yet written. The journal is one line of JSON per answer, appended as the answer arrives. A
line torn by a kill is ignored, and its trial asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Journal", "journals", "slug"]


def slug(model: str) -> str:
    """Name the file or folder of a model's answers."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")


class Journal:
    """The answers of one model in a results directory.

    Parameters
    ----------
    directory
        The results directory.
    model
        The model's name, as inspect names it.
    """

    def __init__(self, directory: Path, model: str) -> None:
        self.path = directory / "answers" / f"{slug(model)}.jsonl"
        self.model = model

    def append(self, answer: dict[str, Any]) -> None:
        """Write one answer; a line begins anew even where a torn one stands before it.

        Raises
        ------
        OSError
            If the disk is full; what was written before stays whole.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"model": self.model, **answer}, ensure_ascii=True)
        with self.path.open("ab") as file:
            file.write(f"{self._lead()}{line}\n".encode())

    def _lead(self) -> str:
        if not self.path.exists() or not (size := self.path.stat().st_size):
            return ""
        with self.path.open("rb") as file:
            file.seek(size - 1)
            return "" if file.read(1) == b"\n" else "\n"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the answers, the last one where a trial has several."""
        last: dict[str, int] = {}
        for offset, answer in self._lines():
            known = last.get(answer["trial_id"])
            if known is None or answer.get("error") is None:
                last[answer["trial_id"]] = offset
        chosen = set(last.values())
        for offset, answer in self._lines():
            if offset in chosen:
                yield answer

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if not self.path.exists():
            return
        for offset, answer in _answers(self.path):
            if answer["model"] == self.model:
                yield offset, answer


def journals(directory: Path) -> list[Journal]:
    """Return the journals of a directory, in the order of their models' names."""
    paths = (directory / "answers").glob("*.jsonl")
    models = {answer["model"] for path in paths for _, answer in _answers(path)}
    return [Journal(directory, model) for model in sorted(models)]


def _answers(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the whole lines of a journal, with their offsets; torn ones are left out."""
    with path.open("rb") as file:
        offset = 0
        for line in file:
            try:
                answer = json.loads(line)
            except ValueError:
                answer = None
            if isinstance(answer, dict) and isinstance(answer.get("model"), str):
                if isinstance(answer.get("trial_id"), str):
                    yield offset, answer
            offset += len(line)
