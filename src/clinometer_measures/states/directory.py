"""Hidden states in a results directory: answers to relate, tables, and ``states.json``."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import clinometer
from clinometer.asking.plan import Plan, Selection, load_plan
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.directory.results import write_results
from clinometer.errors import InputError
from clinometer.modes import MODES
from clinometer.results import CONDITIONS, SCORES
from clinometer.results.schemas import Tables
from clinometer.results.tables import scan_table
from clinometer.stimuli import word_key
from clinometer.texts import write_text
from clinometer_measures.states.contexts import place_terms, place_words
from clinometer_measures.states.dictionary import read_dictionary
from clinometer_measures.states.family import FAMILY
from clinometer_measures.states.measuring import (
    Profiling,
    ScoredAnswers,
    Testing,
    join_tables,
    measure_states,
    model_label,
    stereotype_name,
)
from clinometer_measures.states.readers.opening import open_reader, shows_states
from clinometer_measures.states.readers.states import Reader
from clinometer_measures.states.relation import TRIAL_WORDS
from clinometer_measures.states.word_tests import WordTest, load_tests, test_words
from clinometer_measures.states.words import DEFAULT, read_words

__all__ = ["audit_states", "check_names", "measure_models", "read_answers", "readable_models"]

#: Tests with a known outcome in most models, added to those of the plan's studies.
REFERENCE_TESTS = "caliskan2017"

#: Prefix of control studies, which have no stereotypes.
_CONTROL = "control_"


def readable_models(models: Iterable[str]) -> list[str]:
    """List the models with readable states; none without the extra ``local``."""
    needed = ("torch", "transformers")
    if any(importlib.util.find_spec(library) is None for library in needed):
        return []
    return [model for model in models if shows_states(model)]


def audit_states(directory: Path, folder: str | None = None) -> None:
    """Measure profiles and associations in the states of the models of a directory's plan.

    `folder` is where models of the hub lie on this machine. Reads the plan's scores from the
    directory and writes the tables there, unless it already has them. Raises ModelError if a model
    cannot be read.
    """
    plan = load_plan(directory)
    models = readable_models(plan.models)
    if not models or _is_measured(directory, models):
        return
    study_tests: list[WordTest] = []
    for selection in plan.selections:
        study_tests += _tests_of(directory, selection)
    # A study may be selected twice, with other instruments.
    tests = [*dict.fromkeys(study_tests), *load_tests(REFERENCE_TESTS)]
    try:
        answers = read_answers(directory)
    except InputError:  # the audit has no word associations
        answers = None
    dictionary = read_dictionary()
    profiling = Profiling(dictionary, [place_terms(dictionary)], [read_words(n) for n in DEFAULT])
    words = [*test_words(tests), *(answers.all_words if answers else ())]
    testing = Testing(tests, place_words(words), answers=answers)
    readers = (open_reader(model, folder=folder) for model in models)
    measure_models(readers, [profiling, testing], directory)


def read_answers(path: Path) -> ScoredAnswers:
    """Read scored answers from a results directory (with trials) or a table of scores.

    Only answers without an intervention, in one mode: free if available, else structured, else
    forced. Raises InputError if there are no scores of word associations, PlanError if a directory
    holds no plan.
    """
    table = path / "scores.parquet" if path.is_dir() else path
    # Instruments that ask for associations, and for a decision about the same words.
    association_names: list[str] = []
    decision_names: list[str] = []
    for instrument in INSTRUMENTS.values():
        if instrument.paired:
            association_names.append(instrument.paired.name)
            for measure in instrument.measures:
                if measure != instrument.paired:
                    decision_names.append(measure.name)
    frame = scan_table(table, SCORES).filter(pl.col("intervention").fill_null("none") == "none")
    controls = pl.col("study").str.starts_with(_CONTROL)
    answers = frame.filter(pl.col("instrument").is_in(association_names), ~controls).collect()
    if answers.is_empty():
        raise InputError(f"{table}: no scores of word associations; ask for some first")
    for name in CONDITIONS:  # never pooled
        answers = answers.filter(pl.col(name).eq_missing(pl.col(name).first()))
    mode = next((mode for mode in MODES if mode in answers["mode"]), None)  # never pooled
    keys = ["model", "trial_id", "variation"]
    decisions = (
        frame.filter(pl.col("instrument").is_in(decision_names))
        .select(*keys, decision="score")
        .collect()
        .unique(keys, keep="first")
    )
    answers = answers.filter(pl.col("mode").eq_missing(pl.lit(mode)))
    # The decision of an association is that of its trial, not a column that stands there already.
    decided = answers.drop("decision", strict=False).join(
        decisions, on=keys, how="left", maintain_order="left"
    )
    scores = decided.select("model", stereotype_name(), _trial_name(), "score", "decision")
    scores = scores.unique(["model", "stereotype", "trial"], keep="first", maintain_order=True)
    words = _trial_words(load_plan(path)) if path.is_dir() else None
    return ScoredAnswers(scores, words, str(mode))


def _trial_name() -> pl.Expr:
    """Name a trial with its variation and iteration, where it has them."""
    parts = [pl.col(name).cast(pl.String) for name in ("trial_id", "variation", "iteration")]
    return pl.concat_str(parts, separator=" ", ignore_nulls=True).alias("trial")


def _trial_words(plan: Plan) -> pl.DataFrame:
    """List the words of each trial, divided into tied and counter: columns TRIAL_WORDS."""
    studies = {selection.study.name: selection.study for selection in plan.selections}

    @cache  # many trials are about the same stereotype, variation and dimension
    def halves(
        study: str, stereotype: str, variation: str, dimension: str | None
    ) -> tuple[set[str], set[str]]:
        """Give the keys of tied and of counter words."""
        words = studies[study].words(stereotype, variation, dimension)
        return {*map(word_key, words.tied)}, {*map(word_key, words.counter)}

    # Piece by piece, because all trials of a plan with all their columns may not fit into memory.
    tables = []
    for trials in plan.pieces():
        associations = trials.filter(pl.col("attributes").list.len() > 0)
        tables.append(
            associations.select(
                *("study", "stereotype", "variation", "dimension"),
                *("attributes", "marginalized", "default"),
                stereotype_name().alias("name"),
                _trial_name(),
            )
        )
    rows = []
    for row in pl.concat(tables).iter_rows(named=True):
        tied_keys, counter_keys = halves(
            row["study"], row["stereotype"], row["variation"], row["dimension"]
        )
        tied = [word for word in row["attributes"] if word_key(word) in tied_keys]
        counter = [word for word in row["attributes"] if word_key(word) in counter_keys]
        words = (row["marginalized"], row["default"], tied, counter)
        if all(words):
            rows.append((row["name"], row["trial"], *words))
    return pl.DataFrame(rows, schema=TRIAL_WORDS, orient="row")


def _is_measured(directory: Path, models: list[str]) -> bool:
    """Return whether this version has already measured these models."""
    try:
        facts = json.loads((directory / FAMILY.record).read_text(encoding="utf-8"))
        labels = [model["name"] for model in facts["models"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    same_models = labels == [*map(model_label, models)]
    return same_models and facts.get("clinometer") == clinometer.__version__


def _tests_of(directory: Path, selection: Selection) -> list[WordTest]:
    """Make association tests from a study in the plan; none for controls or without words."""
    if selection.study.control:
        return []
    try:
        tests = load_tests(directory / "studies" / f"{selection.study.name}.yaml")
    except InputError:
        return []
    return [test for test in tests if test.stereotype in selection.stereotypes]


def check_names(models: Sequence[str]) -> None:
    """Raise InputError if two models would have the same name."""
    names = [model_label(model) for model in models]
    for model, name in zip(models, names, strict=True):
        if names.count(name) > 1:
            raise InputError(f"model {model}: two are called {name!r}; give each model once")


def measure_models(
    readers: Iterable[Reader],
    measurements: Sequence[Profiling | Testing],
    directory: Path | None = None,
    *,
    removed: Sequence[int] = (0,),
    store: Path | None = None,
) -> Tables:
    """Measure models one after another; see `measure_states`.

    Models that are opened one by one are released before the next is opened. In a directory the
    tables are rewritten after each model, so a failure keeps the results of earlier models. Raises
    InputError if two models have one name.
    """
    new = directory is not None and not directory.exists()
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    names: list[str] = []
    models: list[dict[str, Any]] = []
    tables = join_tables([])
    try:
        for reader in readers:
            names.append(reader.name)
            check_names(names)
            model_tables = measure_states(reader, measurements, removed=removed, store=store)
            tables = join_tables([tables, model_tables])
            models.append(_describe_reader(reader))
            del reader  # its memory is free before the next is opened
            if directory is not None:
                write_results(directory, FAMILY.name, tables.estimates, tables.details)
                facts = _facts(models, measurements, removed)
                record = json.dumps(facts, indent=2, ensure_ascii=False)
                write_text(directory / FAMILY.record, f"{record}\n")
    finally:
        if directory is not None and new and not models:
            with suppress(OSError):  # the store may be inside the directory
                directory.rmdir()
    return tables


def _describe_reader(reader: Reader) -> dict[str, Any]:
    """Record which model was read, and how."""
    names = ("width", "last", "causal", "dtype")
    # Not every reader has all of them.
    properties = {name: getattr(reader, name) for name in names if hasattr(reader, name)}
    return {
        "name": model_label(reader.name),
        "fingerprint": reader.fingerprint,
        "layers": list(reader.layers),
        **properties,
    }


def _facts(
    models: Sequence[Mapping[str, Any]],
    measurements: Sequence[Profiling | Testing],
    removed: Sequence[int],
) -> dict[str, Any]:
    """Record inputs and settings for reproduction; paths without their folders."""
    facts: dict[str, Any] = {
        "clinometer": clinometer.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "models": list(models),
        "words": [],
        "tests": [],
    }
    setting: dict[str, Any] = {"removed": list(removed)}
    for measurement in measurements:
        facts |= measurement.describe()
        setting |= facts["setting"]
    return {**facts, "setting": setting}
