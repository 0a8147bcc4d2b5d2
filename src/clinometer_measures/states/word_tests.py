"""Word lists of association tests: two sets of targets, two sets of attributes.

Reference
    ``caliskan2017``: Caliskan, Bryson & Narayanan (2017), Science 356, 183–186, tests 1 to 10;
    the words are those of its supplement. Its signs are the paper's: positive is the expected
    direction, as flowers with pleasant words.

    A study of answers gives a test for each stereotype: its marginalized and default group words
    with its tied and counter words, the main lists. Positive is then stereotype-consistent. A
    stereotype without words of its own, as in MIST, is tested on each dimension of the study.
    Groups are often named by one word, attributes by eight or more: so the attributes are the
    targets there, as Bai et al. (2025, SI sections J and O) have it.

A user's file, YAML or JSON, has a name and tests::

    name: mine
    tests:
      jobs:
        first: {name: women, words: [she, her]}
        second: {name: men, words: [he, him]}
        toward: {name: home, words: [kitchen, laundry]}
        against: {name: office, words: [salary, desk]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import yaml
from pydantic import AfterValidator, Field, model_validator

from clinometer.errors import InputError, StudyError, unknown
from clinometer.statistics.clustered import check_confidence
from clinometer.stimuli import Study, load_study, parse_study, shipped_studies, word_key
from clinometer.stimuli.loading import read_study
from clinometer.stimuli.words import MaybeWords, Strict
from clinometer.stimuli.yaml_text import parse_yaml, validate
from clinometer_measures.states.words import read_json

#: A function called test is no test of pytest's.
__test__: dict[str, str] = {}

__all__ = ["TestSetting", "WordSet", "WordTest", "load_tests", "test_words"]

#: Words of a set, at least; and of targets, that partitions and a spread need.
FEWEST = 2
_SHIPPED = ("caliskan2017",)


class WordSet(NamedTuple):
    """Words under one name."""

    name: str
    words: tuple[str, ...]


Sets = tuple[WordSet, WordSet, WordSet, WordSet]


@dataclass(frozen=True)
class WordTest:
    """One question: do the first targets stand closer to the first attributes than the second do.

    Parameters
    ----------
    study, stereotype
        Where the words come from, and which of its stereotypes, or tests, this is.
    first, second
        Targets, as groups.
    toward, against
        Attributes; an effect is positive where the first targets are closer to `toward`.
    dimension
        Of stereotype content, where the attributes are those of a dimension.
    by_attributes
        Whether WEAT takes the attributes for targets: are those tied to the first group closer to
        it? The sign means the same.
    """

    __test__: ClassVar[bool] = False  # the name looks like a test of pytest's

    study: str
    stereotype: str
    first: WordSet
    second: WordSet
    toward: WordSet
    against: WordSet
    dimension: str | None = None
    by_attributes: bool = False

    def __post_init__(self) -> None:
        """Refuse empty sets, and a word that stands on both sides."""
        targets = (self.first, self.second)
        attributes = (self.toward, self.against)
        for first, second in (targets, attributes):
            problem = _overlap(first.words, second.words)
            if problem or not (first.words and second.words):
                raise InputError(f"{self.stereotype}: {problem or 'a set of words is empty'}")

    @property
    def sets(self) -> Sets:
        """The four sets: first, second, toward, against."""
        return self.first, self.second, self.toward, self.against

    @property
    def as_weat(self) -> WordTest:
        """The same with the sets that WEAT takes for targets first."""
        if not self.by_attributes:
            return self
        return replace(
            self,
            first=self.toward,
            second=self.against,
            toward=self.first,
            against=self.second,
            by_attributes=False,
        )


@dataclass(frozen=True)
class TestSetting:
    """How associations are tested.

    Parameters
    ----------
    confidence
        Of intervals.
    draws
        Bootstrap samples behind an interval; 0 for none.
    most_partitions
        Up to this many partitions of the words are enumerated.
    drawn_partitions
        How many are drawn above that.
    samples
        Draws of contexts behind a ``ceat`` effect.
    seed
        For drawing.
    placebos
        Shuffles of the attribute words between their two sets; 0 for none.
    """

    __test__: ClassVar[bool] = False

    confidence: float = 0.95
    draws: int = 2_000
    most_partitions: int = 10**6
    drawn_partitions: int = 100_000
    samples: int = 1_000
    seed: int = 0
    placebos: int = 999

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        check_confidence(self.confidence)
        # ceat needs two samples for a variance between them.
        least_by_field = {
            "draws": 0,
            "most_partitions": 0,
            "drawn_partitions": 1,
            "samples": 2,
            "placebos": 0,
        }
        for name, least in least_by_field.items():
            if getattr(self, name) < least:
                raise InputError(f"{name} {getattr(self, name)}: at least {least}")


def load_tests(named: str | Path) -> list[WordTest]:
    """Load tests by the name of a shipped list or study, or from a user's file.

    Parameters
    ----------
    named
        ``"caliskan2017"``, a study as ``"bai2025"``, or a path ending in ``.yaml``, ``.yml`` or
        ``.json`` of a study or of tests.

    Returns
    -------
    list of WordTest
        In the order of the file. Groups of a study may have a single word: such tests are kept,
        and a measure that cannot use them says so.

    Raises
    ------
    InputError
        If the name is not known, or a file of tests is missing or malformed: a set of fewer than
        2 words, a word on both sides. File, line and field are named.
    StudyError
        If a study file is malformed.

    Examples
    --------
    >>> test = load_tests("caliskan2017")[5]
    >>> test.stereotype, test.first.name, len(test.first.words), test.toward.name
    ('weat6', 'male names', 8, 'career')
    """
    text = str(named)
    studies = shipped_studies()
    if text in _SHIPPED:
        return list(_load_shipped(text))
    if text in studies:
        return _study_tests(load_study(text))
    if not text.endswith((".yaml", ".yml", ".json")):
        message = unknown("tests", text, sorted([*_SHIPPED, *studies]))
        raise InputError(f"{message} (or give a file ending in .yaml or .json)")
    return _read_tests(Path(named))


def test_words(tests: Iterable[WordTest]) -> list[str]:
    """List the words of tests, each once: those whose states are needed."""
    words: list[str] = []
    for test in tests:
        for word_set in test.sets:
            words += word_set.words
    return list(dict.fromkeys(words))


@lru_cache(maxsize=4)
def _load_shipped(name: str) -> tuple[WordTest, ...]:
    """Load a shipped list of tests; a tuple, because it is cached."""
    with resources.as_file(resources.files("clinometer_measures.states") / f"{name}.yaml") as path:
        return tuple(_read_tests(path))


def _study_tests(study: Study) -> list[WordTest]:
    """Make a test for each stereotype of a study and each of its dimensions."""
    tests = []
    for key in study.stereotypes:
        for dimension in study.dimensions_of(key):
            words = study.words(key, "", dimension)  # "": the main lists, of no variation
            tests.append(
                WordTest(
                    study.name,
                    key,
                    first=WordSet("marginalized", tuple(words.marginalized)),
                    second=WordSet("default", tuple(words.default)),
                    toward=WordSet("tied", tuple(words.tied)),
                    against=WordSet("counter", tuple(words.counter)),
                    dimension=dimension,
                    by_attributes=True,
                )
            )
    if not tests:
        raise InputError(f"{study.name}: no stereotype has attributes; nothing to test")
    return tests


def _read_tests(path: Path) -> list[WordTest]:
    """Read a file of tests, or of a study."""
    if path.suffix == ".json":
        return _parse_tests(read_json(path), None, str(path))
    try:
        text = read_study(path)
        content, root = parse_yaml(text, str(path))
    except StudyError as error:
        raise InputError(str(error)) from None
    if isinstance(content, dict) and "tests" in content:
        return _parse_tests(content, root, str(path))
    if isinstance(content, dict) and "stereotypes" in content:
        return _study_tests(parse_study(text, str(path)))
    raise InputError(f"{path}: expected tests, or the stereotypes of a study")


def _parse_tests(content: Any, root: yaml.Node | None, source: str) -> list[WordTest]:
    """Make tests from the content of a file; `root` has its lines, for messages."""
    try:
        file = validate(_File, content, root, source)
    except StudyError as error:
        raise InputError(str(error)) from None
    study = file.name or Path(source).stem
    tests = []
    for key, test in file.tests.items():
        first = _word_set(test.first, "first")
        second = _word_set(test.second, "second")
        toward = _word_set(test.toward, "toward")
        against = _word_set(test.against, "against")
        tests.append(WordTest(study, key, first, second, toward, against))
    return tests


def _word_set(part: _Set, role: str) -> WordSet:
    """Make a set of words; without a name it is called by its role."""
    return WordSet(part.name or role, tuple(part.words))


def _check_size(words: list[str]) -> list[str]:
    """Refuse too few words for a set."""
    if len(words) < FEWEST:
        raise ValueError(f"{len(words)} words: too few words for the test; at least {FEWEST}")
    return words


def _overlap(first: Iterable[str], second: Iterable[str]) -> str | None:
    """Say which word stands on both sides, if any."""
    second_keys = {word_key(word) for word in second}
    shared = next((word for word in first if word_key(word) in second_keys), None)
    if shared is None:
        return None
    return f"word {shared!r} stands on both sides; leave it out of one"


class _Set(Strict):
    name: str = ""
    words: Annotated[MaybeWords, AfterValidator(_check_size)]


class _Test(Strict):
    first: _Set
    second: _Set
    toward: _Set
    against: _Set

    @model_validator(mode="after")
    def _check_overlap(self) -> _Test:
        """Refuse a word that stands on both sides."""
        if problem := _overlap(self.first.words, self.second.words):
            raise ValueError(f"first and second: {problem}")
        if problem := _overlap(self.toward.words, self.against.words):
            raise ValueError(f"toward and against: {problem}")
        return self


class _File(Strict):
    name: str = ""
    tests: Annotated[dict[str, _Test], Field(min_length=1, max_length=10_000)]
