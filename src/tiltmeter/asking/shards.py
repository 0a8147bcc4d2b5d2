"""Associations on disk: shards of answers, and which answers are still missing.

``answers/<model>/00000.jsonl`` and so on hold one answer a line, appended as it arrives, in
shards of 50,000 lines. A line torn by a kill is ignored, and asked again. What is done is one bit
per cue and repetition, so 12,000 cues × 100 repetitions take less than 1 MB.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from tiltmeter.asking.journal import slug
from tiltmeter.errors import InputError

__all__ = ["Shards", "Tally"]

#: Answers per shard.
SHARD = 50_000


@dataclass
class Tally:
    """Which answers a model has given, and what they cost."""

    cues: Sequence[str]
    repetitions: int
    answered: int = 0
    readable: int = 0
    """Answers that hold at least one associate."""
    associates: int = 0
    calls: int = 0
    tokens: int = 0
    done: list[int] = field(init=False)
    """A number per cue whose bits are its repetitions."""

    def __post_init__(self) -> None:
        """Begin with nothing done."""
        self.done = [0] * len(self.cues)

    @property
    def wanted(self) -> int:
        """How many answers there will be."""
        return len(self.cues) * self.repetitions

    @property
    def missing(self) -> int:
        """How many answers are still to be asked for."""
        return self.wanted - self.answered

    def count(self, cue: int, answer: dict[str, Any]) -> None:
        """Take note of a recorded answer or error."""
        self.calls += answer.get("calls", 1)
        self.tokens += (answer.get("input_tokens") or 0) + (answer.get("output_tokens") or 0)
        bit = 1 << answer["repetition"]
        if answer.get("error") is None and not self.done[cue] & bit:
            self.done[cue] |= bit
            self.answered += 1
            self.readable += bool(answer["responses"])
            self.associates += len(answer["responses"])


class Shards:
    """The answers of one model.

    Parameters
    ----------
    directory
        The folder of all models' answers is ``answers`` in it.
    model
        As inspect names it.
    """

    def __init__(self, directory: Path, model: str) -> None:
        self.folder = directory / "answers" / slug(model)
        self.model = model
        self._file: BinaryIO | None = None
        self._number = self._lines = 0

    def tally(self, cues: Sequence[str], repetitions: int) -> Tally:
        """Count what is recorded.

        Parameters
        ----------
        cues, repetitions
            Answers to others are no part of it.
        """
        tally = Tally(cues, repetitions)
        places = {cue: place for place, cue in enumerate(cues)}
        for path in self._paths():
            for answer in _answers(path):
                place = places.get(answer["cue"])
                if place is not None and answer["repetition"] < repetitions:
                    tally.count(place, answer)
        return tally

    def append(self, answers: Iterable[dict[str, Any]]) -> None:
        """Write the answers of one call at once.

        Raises
        ------
        OSError
            If the disk is full; what was written before stays whole.
        """
        lines = [json.dumps({**answer, "model": self.model}) + "\n" for answer in answers]
        if self._file is None or self._lines >= SHARD:
            self._open()
        assert self._file is not None
        try:
            self._file.write("".join(lines).encode())
        except OSError:
            self.close()  # opened anew, it begins on a new line
            raise
        self._lines += len(lines)

    def close(self) -> None:
        """Close the shard that is being written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        """Go on with the last shard, or with the next one where it is full."""
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = self._paths()
        self._number, self._lines = 0, 0
        if paths:
            self._number, self._lines = int(paths[-1].stem), _count_lines(paths[-1])
        if self._lines >= SHARD:
            self._number, self._lines = self._number + 1, 0
        path = self.folder / f"{self._number:05d}.jsonl"
        torn = path.exists() and not _is_whole(path)
        self._file = path.open("ab", buffering=0)
        if torn:
            self._file.write(b"\n")

    def _paths(self) -> list[Path]:
        paths = [path for path in self.folder.glob("*.jsonl") if path.stem.isdecimal()]
        return sorted(paths, key=lambda path: int(path.stem))


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _is_whole(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 1, 0))
        return not size or file.read(1) == b"\n"


def _answers(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of a shard."""
    try:
        with path.open("rb") as file:
            for line in file:
                try:
                    answer = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if _is_answer(answer):
                    yield answer
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _is_answer(answer: Any) -> bool:
    if not isinstance(answer, dict) or not isinstance(answer.get("cue"), str):
        return False
    if type(answer.get("repetition")) is not int or answer["repetition"] < 0:
        return False
    responses = answer.get("responses")
    given = isinstance(responses, list) and all(isinstance(word, str) for word in responses)
    return given or isinstance(answer.get("error"), str)
