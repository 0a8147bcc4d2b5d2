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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import yaml
from pydantic import AfterValidator, Field, model_validator

from clinometer.errors import InputError, StudyError, unknown
from clinometer.families.states.words import read_json
from clinometer.statistics.clustered import check_confidence
from clinometer.stimuli import Study, load_study, parse_study, shipped_studies, word_key
from clinometer.stimuli.loading import read_study
from clinometer.stimuli.words import MaybeWords, Strict
from clinometer.stimuli.yaml_text import parse_yaml, validate

#: A function called test is no test of pytest's.
__test__: dict[str, str] = {}

__all__ = ["TestSetting", "WordSet", "WordTest", "load_tests", "test_words"]

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
        for one, other in ((self.first, self.second), (self.toward, self.against)):
            problem = _overlap(one.words, other.words)
            if problem or not (one.words and other.words):
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
        sets = (self.toward, self.against, self.first, self.second)
        return WordTest(self.study, self.stereotype, *sets, dimension=self.dimension)


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
        least = {
            "draws": 0,
            "most_partitions": 0,
            "drawn_partitions": 1,
            "samples": 2,
            "placebos": 0,
        }
        for name, fewest in least.items():
            if getattr(self, name) < fewest:
                raise InputError(f"{name} {getattr(self, name)}: at least {fewest}")


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
    text, studies = str(named), shipped_studies()
    if text in _SHIPPED:
        return list(_shipped(text))
    if text in studies:
        return _of_study(load_study(text))
    if not text.endswith((".yaml", ".yml", ".json")):
        message = unknown("tests", text, sorted([*_SHIPPED, *studies]))
        raise InputError(f"{message} (or give a file ending in .yaml or .json)")
    return _read(Path(named))


def test_words(tests: Iterable[WordTest]) -> list[str]:
    """List the words of tests, each once: those whose states are needed."""
    return list(dict.fromkeys(w for test in tests for one in test.sets for w in one.words))


@lru_cache(maxsize=4)
def _shipped(name: str) -> tuple[WordTest, ...]:
    with resources.as_file(resources.files("clinometer.families.states") / f"{name}.yaml") as path:
        return tuple(_read(path))


def _of_study(study: Study) -> list[WordTest]:
    tests = []
    for key in study.stereotypes:
        for dimension in study.dimensions_of(key):
            words = study.words(key, "", dimension)
            roles = ("marginalized", "default", "tied", "counter")
            sets = _sets((role, getattr(words, role)) for role in roles)
            tests.append(WordTest(study.name, key, *sets, dimension=dimension, by_attributes=True))
    if not tests:
        raise InputError(f"{study.name}: no stereotype has attributes; nothing to test")
    return tests


def _read(path: Path) -> list[WordTest]:
    if path.suffix == ".json":
        return _checked(read_json(path), None, str(path))
    try:
        text = read_study(path)
        content, root = parse_yaml(text, str(path))
    except StudyError as error:
        raise InputError(str(error)) from None
    if isinstance(content, dict) and "tests" in content:
        return _checked(content, root, str(path))
    if isinstance(content, dict) and "stereotypes" in content:
        return _of_study(parse_study(text, str(path)))
    raise InputError(f"{path}: expected tests, or the stereotypes of a study")


def _checked(content: Any, root: yaml.Node | None, source: str) -> list[WordTest]:
    try:
        file = validate(_File, content, root, source)
    except StudyError as error:
        raise InputError(str(error)) from None
    study = file.name or Path(source).stem
    return [
        WordTest(study, key, *_sets((one.name or role, one.words) for role, one in test))
        for key, test in file.tests.items()
    ]


def _sets(named: Iterable[tuple[str, Sequence[str]]]) -> Sets:
    first, second, toward, against = (WordSet(name, tuple(words)) for name, words in named)
    return first, second, toward, against


def _enough(words: list[str]) -> list[str]:
    if len(words) < FEWEST:
        raise ValueError(f"{len(words)} words: too few words for the test; at least {FEWEST}")
    return words


def _overlap(one: Iterable[str], other: Iterable[str]) -> str | None:
    """Say which word stands on both sides, if any."""
    seen = {word_key(word) for word in other}
    both = next((word for word in one if word_key(word) in seen), None)
    return None if both is None else f"word {both!r} stands on both sides; leave it out of one"


class _Set(Strict):
    name: str = ""
    words: Annotated[MaybeWords, AfterValidator(_enough)]


class _Test(Strict):
    first: _Set
    second: _Set
    toward: _Set
    against: _Set

    @model_validator(mode="after")
    def _apart(self) -> _Test:
        for one, other in (("first", "second"), ("toward", "against")):
            if problem := _overlap(getattr(self, one).words, getattr(self, other).words):
                raise ValueError(f"{one} and {other}: {problem}")
        return self


class _File(Strict):
    name: str = ""
    tests: Annotated[dict[str, _Test], Field(min_length=1, max_length=10_000)]
