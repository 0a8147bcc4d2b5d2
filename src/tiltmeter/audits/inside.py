"""The part of an audit that reads hidden states, for models whose states can be read."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import tiltmeter
from tiltmeter.asking.plan import Plan, Selection
from tiltmeter.audits.relating import Relating, read_said
from tiltmeter.audits.state_facts import call
from tiltmeter.audits.state_tables import FACTS, write_representation
from tiltmeter.audits.states import Profiling, Testing
from tiltmeter.errors import InputError
from tiltmeter.models.readers.opening import open_reader, shows_states
from tiltmeter.states.dictionary import read_dictionary
from tiltmeter.states.pole_contexts import place_terms, place_words
from tiltmeter.states.word_tests import WordTest, load_tests, test_words
from tiltmeter.states.words import SHIPPED, read_words

__all__ = ["look_inside", "readable"]

#: Tests whose outcome is known of most models, beside those of the plan's studies.
KNOWN_TESTS = "caliskan2017"


def readable(plan: Plan) -> list[str]:
    """Name the models of a plan whose states can be read here; none without the extra ``local``."""
    if (
        importlib.util.find_spec("torch") is None
        or importlib.util.find_spec("transformers") is None
    ):
        return []
    return [model for model in plan.models if shows_states(model)]


def look_inside(plan: Plan, directory: Path) -> bool:
    """Measure profiles and associations in the states of a plan's models.

    Parameters
    ----------
    plan
        Whose models and studies.
    directory
        Its results directory, with scores; the tables go there.

    Returns
    -------
    bool
        Whether anything was measured: not where no model can be read, or all of it is there.

    Raises
    ------
    ModelError
        If a model cannot be read after all.
    """
    models = readable(plan)
    if not models or _held(directory, models):
        return False
    tests = [test for part in plan.selections for test in _tests_of(directory, part)]
    tests = [*dict.fromkeys(tests), *load_tests(KNOWN_TESTS)]
    said = _said(directory)
    dictionary = read_dictionary()
    profiling = Profiling(dictionary, place_terms(dictionary), [read_words(n) for n in SHIPPED])
    words = [*test_words(tests), *(said.all_words if said else ())]
    testing = Testing(tests, place_words(words), relating=said)
    write_representation(map(open_reader, models), profiling, testing, directory)
    return True


def _held(directory: Path, models: list[str]) -> bool:
    """Whether these models were measured by this version already."""
    try:
        facts = json.loads((directory / FACTS).read_text(encoding="utf-8"))
        named = [model["name"] for model in facts["models"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return named == [*map(call, models)] and facts.get("tiltmeter") == tiltmeter.__version__


def _tests_of(directory: Path, part: Selection) -> list[WordTest]:
    """Make tests of what was asked of a study; none of a control, or where there are no words."""
    if part.study.control:
        return []
    try:
        tests = load_tests(directory / "studies" / f"{part.study.name}.yaml")
    except InputError:
        return []
    return [test for test in tests if test.test.partition(".")[0] in part.stereotypes]


def _said(directory: Path) -> Relating | None:
    try:
        return read_said(directory)
    except InputError:
        return None
