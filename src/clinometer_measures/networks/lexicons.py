"""The lexicons that networks are measured with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from clinometer.words.lexicons import read_emotions as read_emotions
from clinometer.words.lexicons import read_valence as read_valence

__all__ = ["Lexicons", "read_emotions", "read_valence"]


@dataclass(frozen=True)
class Lexicons:
    """Human ratings of words, supplied by the user.

    Parameters
    ----------
    valence
        Word → 0 (negative) to 1 (positive), from `lexicons.read_valence`.
    emotions
        Emotion → its words, from `lexicons.read_emotions`.
    """

    valence: Mapping[str, float] | None = None
    emotions: Mapping[str, Iterable[str]] | None = None

    @classmethod
    def read(cls, valence: Path | None = None, emotions: Path | None = None) -> Lexicons:
        """Read the lexicons whose paths are given; raises as `read_valence` and `read_emotions`."""
        return cls(
            valence=None if valence is None else read_valence(valence),
            emotions=None if emotions is None else read_emotions(emotions),
        )

    def serve(self, approach: str) -> bool:
        """Return whether an approach has the lexicon it needs."""
        return approach == "stereotypes" or getattr(self, approach) is not None
