"""What was measured of models' states, for the record beside the tables."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import tiltmeter
from tiltmeter.errors import InputError
from tiltmeter.models.readers.states import Reader

if TYPE_CHECKING:
    from tiltmeter.audits.states import Profiling, Testing

__all__ = ["call", "check_names", "say_measured", "say_read"]


def call(model: str) -> str:
    """Name a model in what is written and passed on: of a folder only its last part."""
    path = Path(model).expanduser()
    return path.resolve().name if path.is_dir() else model


def check_names(models: Sequence[str]) -> None:
    """Refuse models that would be called the same.

    Raises
    ------
    InputError
        If two are.
    """
    names = [call(model) for model in models]
    for model, name in zip(models, names, strict=True):
        if names.count(name) > 1:
            raise InputError(f"model {model}: two are called {name!r}; each may stand once")


def say_read(reader: Reader) -> dict[str, Any]:
    """Say which model was read, and how."""
    told = ("width", "last", "causal", "dtype")
    known: Mapping[str, Any] = {key: getattr(reader, key) for key in told if hasattr(reader, key)}
    return {
        "name": call(reader.name),
        "fingerprint": reader.fingerprint,
        "layers": list(reader.layers),
        **known,
    }


def say_measured(
    models: Sequence[Mapping[str, Any]],
    profiling: Profiling | None,
    testing: Testing | None,
    removed: Sequence[int],
) -> dict[str, Any]:
    """Say what was measured, so that anyone can do it again; paths without their folders.

    Parameters
    ----------
    models
        What `say_read` says of each.
    profiling, testing, removed
        As for `measure_states`.

    Returns
    -------
    dict
        The content of ``representation.json``.
    """
    facts: dict[str, Any] = {
        "tiltmeter": tiltmeter.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "models": list(models),
        "words": [],
        "tests": [],
        "setting": {"removed": list(removed)},
    }
    if profiling is not None:
        facts |= _say_profiling(profiling)
        how = profiling.setting
        facts["setting"] |= {"confidence": how.confidence, "draws": how.draws, "seed": how.seed}
    if testing is not None:
        facts |= _say_testing(testing)
        tested = testing.setting
        facts["setting"] |= {
            "methods": list(testing.methods),
            "confidence": tested.confidence,
            "test_draws": tested.draws,
            "most_partitions": tested.most_partitions,
            "drawn_partitions": tested.drawn_partitions,
            "test_seed": tested.seed,
        }
    return facts


def _say_profiling(profiling: Profiling) -> dict[str, Any]:
    dictionary = profiling.dictionary
    facts: dict[str, Any] = {
        "dictionary": {
            "name": Path(dictionary.name).name,
            "senses": dictionary.senses["key"].n_unique(),
            "terms": dictionary.senses["term"].n_unique(),
            "dimensions": list(dictionary.dimensions),
            "sha256": _digest(dictionary.senses),
        },
        "contexts": profiling.poles.describe(),
        "words": [
            {
                "name": words.name,
                "groups": {group: len(members) for group, members in words.groups.items()},
                "individuals": list(words.individuals),
            }
            for words in profiling.words
        ],
    }
    if profiling.extended is not None:
        inside = profiling.extended_in
        facts["extended"] = {
            "terms": profiling.extended["term"].n_unique(),
            "sha256": _digest(profiling.extended),
            "contexts": inside.describe() if inside else {"kind": "none"},
        }
    return facts


def _say_testing(testing: Testing) -> dict[str, Any]:
    counts = Counter(test.study for test in testing.tests)
    facts: dict[str, Any] = {
        "tests": [{"study": study, "tests": count} for study, count in counts.items()],
        "words_of_tests": testing.words.describe(),
    }
    if testing.relating is not None:
        said = testing.relating
        facts["relations"] = {
            "scores": said.scores.height,
            "trials": said.words.height if said.words is not None else None,
            "mode": said.mode,
        }
    return facts


def _digest(frame: pl.DataFrame) -> str:
    return hashlib.sha256(frame.write_json().encode()).hexdigest()
