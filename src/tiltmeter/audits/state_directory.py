"""Hidden states in a results directory: their tables, and ``states.json``, what was read."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

import tiltmeter
from tiltmeter.asking.plan import Plan, Selection
from tiltmeter.audits.relating import read_answers
from tiltmeter.audits.states import (
    Profiling,
    StateTables,
    Testing,
    called,
    join_tables,
    measure_states,
)
from tiltmeter.errors import InputError
from tiltmeter.models.readers.opening import open_reader, shows_states
from tiltmeter.models.readers.states import Reader
from tiltmeter.results.directory import write_results
from tiltmeter.states.contexts import place_terms, place_words
from tiltmeter.states.dictionary import read_dictionary
from tiltmeter.states.word_tests import WordTest, load_tests, test_words
from tiltmeter.states.words import SHIPPED, read_words

__all__ = ["FACTS", "audit_states", "check_names", "measure_each", "readable", "write_states"]

#: The file that says what was read, beside the tables.
FACTS = "states.json"

#: Tests whose outcome is known of most models, beside those of the plan's studies.
KNOWN_TESTS = "caliskan2017"


def readable(plan: Plan) -> list[str]:
    """Name the models of a plan whose states can be read here; none without the extra ``local``."""
    needed = ("torch", "transformers")
    if any(importlib.util.find_spec(library) is None for library in needed):
        return []
    return [model for model in plan.models if shows_states(model)]


def audit_states(plan: Plan, directory: Path) -> bool:
    """Measure profiles and associations in the states of a plan's models.

    The directory has the plan's scores and gets the tables. Tells whether anything was measured:
    not where no model can be read, or all of it is there. Raises ModelError if a model cannot be
    read after all.
    """
    models = readable(plan)
    if not models or _measured(directory, models):
        return False
    tests = [test for part in plan.selections for test in _tests_of(directory, part)]
    tests = [*dict.fromkeys(tests), *load_tests(KNOWN_TESTS)]
    try:
        answers = read_answers(directory)
    except InputError:
        answers = None
    dictionary = read_dictionary()
    profiling = Profiling(dictionary, place_terms(dictionary), [read_words(n) for n in SHIPPED])
    words = [*test_words(tests), *(answers.all_words if answers else ())]
    testing = Testing(tests, place_words(words), answers=answers)
    write_states(map(open_reader, models), profiling, testing, directory)
    return True


def _measured(directory: Path, models: list[str]) -> bool:
    """Whether these models were measured by this version already."""
    try:
        facts = json.loads((directory / FACTS).read_text(encoding="utf-8"))
        named = [model["name"] for model in facts["models"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return named == [*map(called, models)] and facts.get("tiltmeter") == tiltmeter.__version__


def _tests_of(directory: Path, part: Selection) -> list[WordTest]:
    """Make tests of what was asked of a study; none of a control, or where there are no words."""
    if part.study.control:
        return []
    try:
        tests = load_tests(directory / "studies" / f"{part.study.name}.yaml")
    except InputError:
        return []
    return [test for test in tests if test.stereotype in part.stereotypes]


def check_names(models: Sequence[str]) -> None:
    """Refuse models that would be called the same.

    Raises
    ------
    InputError
        If two are.
    """
    names = [called(model) for model in models]
    for model, name in zip(models, names, strict=True):
        if names.count(name) > 1:
            raise InputError(f"model {model}: two are called {name!r}; each may stand once")


def measure_each(
    readers: Iterable[Reader],
    profiling: Profiling | None,
    testing: Testing | None,
    *,
    removed: Sequence[int] = (0,),
    store: Path | None = None,
) -> Iterator[tuple[dict[str, Any], StateTables]]:
    """Measure models, with distinct names, one after another; see `measure_states`.

    Where they are opened one by one, none is held while the next is opened. Yields which model was
    read, and how; and its tables.
    """
    names: list[str] = []
    for reader in readers:
        check_names([*names, reader.name])
        names.append(reader.name)
        tables = measure_states(reader, profiling, testing, removed=removed, store=store)
        facts = _of_reader(reader)
        del reader
        yield facts, tables


def write_states(
    readers: Iterable[Reader],
    profiling: Profiling | None,
    testing: Testing | None,
    directory: Path,
    *,
    removed: Sequence[int] = (0,),
    store: Path | None = None,
) -> StateTables:
    """Measure models and write the tables down, anew after each model; see `measure_each`.

    Where a model fails, those before it are written.
    """
    new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    models: list[dict[str, Any]] = []
    tables = join_tables([])
    how: dict[str, Any] = {"removed": removed, "store": store}
    try:
        for facts, own in measure_each(readers, profiling, testing, **how):
            models.append(facts)
            tables = join_tables([tables, own])
            write_results(directory, "states", tables.estimates, tables.details)
            record = json.dumps(
                _facts(models, profiling, testing, removed), indent=2, ensure_ascii=False
            )
            (directory / FACTS).write_text(f"{record}\n", encoding="utf-8")
    finally:
        if new and not models:
            with suppress(OSError):  # the store may be in it
                directory.rmdir()
    return tables


def _of_reader(reader: Reader) -> dict[str, Any]:
    """Say which model was read, and how."""
    names = ("width", "last", "causal", "dtype")
    known = {name: getattr(reader, name) for name in names if hasattr(reader, name)}
    stated = {"fingerprint": reader.fingerprint, "layers": list(reader.layers)}
    return {"name": called(reader.name), **stated, **known}


def _facts(
    models: Sequence[Mapping[str, Any]],
    profiling: Profiling | None,
    testing: Testing | None,
    removed: Sequence[int],
) -> dict[str, Any]:
    """Say what was measured, so that anyone can do it again; paths without their folders."""
    facts: dict[str, Any] = {
        "tiltmeter": tiltmeter.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "models": list(models),
        "words": [],
        "tests": [],
        "setting": {"removed": list(removed)},
    }
    if profiling is not None:
        facts |= _of_profiling(profiling)
        how = profiling.setting
        facts["setting"] |= {"confidence": how.confidence, "draws": how.draws, "seed": how.seed}
    if testing is not None:
        facts |= _of_testing(testing)
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


def _of_profiling(profiling: Profiling) -> dict[str, Any]:
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


def _of_testing(testing: Testing) -> dict[str, Any]:
    counts = Counter(test.study for test in testing.tests)
    facts: dict[str, Any] = {
        "tests": [{"study": study, "tests": count} for study, count in counts.items()],
        "words_of_tests": testing.words.describe(),
    }
    if testing.answers is not None:
        answers = testing.answers
        facts["relations"] = {
            "scores": answers.scores.height,
            "trials": answers.words.height if answers.words is not None else None,
            "mode": answers.mode,
        }
    return facts


def _digest(frame: pl.DataFrame) -> str:
    return hashlib.sha256(frame.write_json().encode()).hexdigest()
