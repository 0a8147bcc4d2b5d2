"""Which question a prompt puts: `RecognisedPrompt`, for all instruments and studies.

Nothing is told to a simulated model but the messages and settings of a call. An instrument draws
trials of a study whose words are between marks; what stands between the marks in these prompts is
text that all trials of a wording share, and what stands in its gaps in a real prompt are the words.
Which word has which role follows from the lists of the study. Instruments whose prompts follow from
a table of items recognise them themselves (`Instrument.recognise`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import Any

from clinometer.errors import ClinometerError
from clinometer.instruments.catalogue import INSTRUMENTS
from clinometer.instruments.cells import Cell
from clinometer.instruments.design import Design
from clinometer.instruments.instrument import Instrument
from clinometer.instruments.simulation import RecognisedPrompt, Word
from clinometer.modes import MODES, TEXT
from clinometer.modes.likelihood import OPTION, Texts
from clinometer.stimuli import Study, load_study, shipped_studies

__all__ = ["Recognition", "SharedText"]

#: Trials of a cell that are drawn to see every text it has: orders, labels and versions differ.
DRAWN = 12

#: Characters at the beginning of a prompt by which texts are sorted.
START = 12

ROLES = ("marginalized", "default", "tied", "counter", "extra")
GROUPS = ROLES[:2]
_MARKED = re.compile(r"⟦([^⟦⟧]*)⟧")
_LIST = re.compile(r"(?:'?⟦[^⟦⟧]*⟧'?, ){2,}'?⟦[^⟦⟧]*⟧'?")
_PART = re.compile(r"\w+|\W+")
_LABEL = re.compile(r"^([A-Z])\. (.+)$", re.MULTILINE)

#: What a gap of a text holds: a word, the words of a list, an earlier answer, an attribute.
_GAPS = {"⟦": r"([^\n]{1,80}?)", "[": "(.+)", "(": "(.*?)"}


def _mark(word: str) -> str:
    return f"⟦{word}⟧"


def _marked(words: Any) -> dict[str, list[str]]:
    """Return the lists of words that are there, every word between marks."""
    lists = {role: getattr(words, role, None) for role in ROLES}
    return {role: [_mark(word) for word in of] for role, of in lists.items() if of}


def mark_words(study: Study, key: str) -> Study:
    """Return a study with one stereotype, whose words stand between marks."""
    stereotype, decisions = study.stereotypes[key], study.stereotypes[key].decisions
    marked = {
        **_marked(stereotype),
        "variations": _each_marked(stereotype.variations),
        "decisions": decisions.model_copy(update={"words": _each_marked(decisions.words)}),
    }
    return study.model_copy(
        update={
            "stereotypes": {key: stereotype.model_copy(update=marked)},
            "dimensions": _each_marked(study.dimensions),
            "objects": [_mark(word) for word in study.objects],
        }
    )


def _each_marked(lists: Mapping[str, Any]) -> dict[str, Any]:
    return {name: words.model_copy(update=_marked(words)) for name, words in lists.items()}


@dataclass(frozen=True)
class SharedText:
    """What all prompts of a wording share: literal text, and the gaps between."""

    literal: tuple[str, ...]
    gaps: str
    """The kind of each gap, a key of `_GAPS`."""

    @classmethod
    def of(cls, prompt: str) -> SharedText:
        """Find the gaps of a prompt whose words are between marks."""
        listed = _LIST.sub("⟦[⟧", prompt)
        shown = listed.replace("{response1}", "⟦(⟧").replace("{attribute}", "⟦⟧")
        parts = _MARKED.split(shown.strip())
        kinds = (part if part in ("[", "(") else "⟦" for part in parts[1::2])
        return cls(tuple(parts[::2]), "".join(kinds))

    def word(self, found: Sequence[str]) -> str:
        """Return the word in the first gap that holds one."""
        place = self.gaps.find("⟦")
        return found[place] if place >= 0 else ""

    @property
    def opening(self) -> str:
        """The beginning that all prompts have; an article depends on the word after it."""
        return self.literal[0].removesuffix(" a ")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that matches a prompt, with a group for each gap."""
        pieces = [re.escape(self.literal[0])]
        for kind, text in zip(self.gaps, self.literal[1:], strict=True):
            pieces += [_GAPS[kind], re.escape(text)]
        # An article follows the word; the mark is no vowel.
        return re.compile(re.sub(r"\ba\\ (?=\()", "an?\\ ", "".join(pieces)), re.DOTALL)


@dataclass(frozen=True)
class TextOrigin:
    """A stereotype under one wording, and the roles of its words."""

    study: Study
    instrument: str
    stereotype: str
    variation: str
    columns: Mapping[str, Any]
    """A trial with this text; see `RecognisedPrompt.columns`."""
    roles: Mapping[str, str]
    place: tuple[int, int, int]
    """Of the study, the instrument and the stereotype; the lowest goes first."""
    followup: bool = False

    def question(
        self, gaps: str, found: Sequence[str], ends: Sequence[str] | None = None
    ) -> RecognisedPrompt | None:
        """Return the question of the texts in the gaps; None if one is none of its words.

        `ends` are those of an open sentence; where it ends in an attribute, they are its words.
        """
        sentence = self.columns["prompt"]
        if (ends is None) == (OPTION in sentence):
            return None
        words: list[Word] = []
        listed: list[Word] = []
        if ends is not None and Texts.of(self.columns).of_options:
            if not all(word in self.roles for word in ends):
                return None
            listed = [(word, self.roles[word]) for word in ends]
        for kind, text in zip(gaps, found, strict=True):
            if kind == "(":
                words += self._groups_in(text)
                continue
            shown = [word.strip("'") for word in text.split(", ")] if kind == "[" else [text]
            if not all(word in self.roles for word in shown):
                return None
            (listed if kind == "[" else words).extend((word, self.roles[word]) for word in shown)
        return RecognisedPrompt(
            self.study,
            self.instrument,
            self.stereotype,
            self.variation,
            TEXT,
            tuple(words),
            tuple(listed),
            self.columns,
            self.followup,
        )

    def _groups_in(self, text: str) -> list[Word]:
        """Return the group words in an answer that is quoted, in its order."""
        groups = [word for word, role in self.roles.items() if role in GROUPS]
        places = sorted((text.find(word), word) for word in groups if word in text)
        return [(word, self.roles[word]) for _, word in places]


class Recognition:
    """Finds the question of a prompt among known studies.

    Texts are learned when a group of their stereotype is first mentioned. What is found does not
    depend on what was asked before.

    Parameters
    ----------
    studies
        Studies of one's own, which are looked through before the shipped ones.
    """

    def __init__(self, studies: Iterable[Study] = ()) -> None:
        own = list(studies)
        names = {study.name for study in own}
        shipped = [load_study(name) for name in shipped_studies() if name not in names]
        self._studies = [*own, *shipped]
        # First part of a group word → the stereotypes that have it, until they are learned.
        self._unlearned: dict[str, set[tuple[int, str]]] = {}
        for place, study in enumerate(self._studies):
            for key in study.stereotypes:
                for word in _group_words(study, key):
                    self._unlearned.setdefault(_PART.findall(word)[0], set()).add((place, key))
        self._learned: set[tuple[int, str]] = set()
        self._recognisers = [
            one.recognise(study)
            for study in self._studies
            for one in INSTRUMENTS.values()
            if one.recognise is not None
        ]
        # Beginning of a text → text → a word in its first gap → what asks with this word.
        self._texts: dict[str, dict[SharedText, dict[str, list[TextOrigin]]]] = {}

    def find(
        self, messages: Sequence[str], ends: Sequence[str] | None = None
    ) -> RecognisedPrompt | None:
        """Return the question that the last message of a user puts; None if it is not known.

        Parameters
        ----------
        messages
            All messages of the user. A second one is a question about the first answer.
        ends
            Of a sentence that is left open: the words that may end it. Then the question `listed`
            has them.
        """
        text, followup = messages[0].strip(), len(messages) > 1
        self._learn(text)
        found = self._known(text, followup, ends) or self._of_items(text)
        return replace(found, followup=True) if found and followup else found

    def _known(
        self, prompt: str, followed: bool, ends: Sequence[str] | None = None
    ) -> RecognisedPrompt | None:
        """Return the prompt of the first study and instrument that have its text.

        Stereotypes of a study may share it: then all are named, in the order of the study.
        """
        matches: list[tuple[TextOrigin, RecognisedPrompt]] = []
        texts = {**self._texts.get(prompt[:START], {}), **self._texts.get("", {})}
        for text, origins in texts.items():
            if prompt.endswith(text.literal[-1]) and (match := text.pattern.fullmatch(prompt)):
                for origin in origins.get(text.word(match.groups()), ()):
                    question = origin.question(text.gaps, match.groups(), ends)
                    if question is not None and question.groups:
                        matches.append((origin, question))
        if followed:
            matches = [match for match in matches if match[0].columns.get("followup")]
        if not matches:
            return None
        matches.sort(key=lambda match: match[0].place)
        first, question = matches[0]
        alike = (origin for origin, _ in matches if origin.place[:2] == first.place[:2])
        beside = tuple(dict.fromkeys(origin.stereotype for origin in alike))
        return replace(question, labels=_labels(prompt, question), beside=beside)

    def _of_items(self, text: str) -> RecognisedPrompt | None:
        found = (recognise(text) for recognise in self._recognisers)
        return next((question for question in found if question is not None), None)

    def _learn(self, prompt: str) -> None:
        """Learn every stereotype of which a group is mentioned."""
        mentioned = self._unlearned.keys() & set(_PART.findall(prompt))
        stereotypes = {each for part in mentioned for each in self._unlearned.pop(part)}
        for place, key in sorted(stereotypes - self._learned):
            self._learned.add((place, key))
            for text, origin in learn(self._studies[place], key, place):
                self._add(text, origin)

    def _add(self, text: SharedText, origin: TextOrigin) -> None:
        start = text.opening[:START]
        texts = self._texts.setdefault(start if len(start) == START else "", {})
        origins = texts.setdefault(text, {})
        if "⟦" in text.gaps:
            for word in origin.roles:
                origins.setdefault(word, []).append(origin)
        elif all(origin.place != other.place for other in origins.get("", ())):
            # What holds no word but those of a quoted answer is one question for a stereotype.
            origins.setdefault("", []).append(origin)


def _labels(text: str, question: RecognisedPrompt) -> dict[str, str]:
    """Return the labels of options, such as ``A. old``, and the group words they stand for."""
    words = {word for word, _ in question.groups}
    return {label: word for label, word in _LABEL.findall(text) if word in words}


def _group_words(study: Study, key: str) -> set[str]:
    """Return all group words of a stereotype, of its wordings and decisions too."""
    one = study.stereotypes[key]
    lists = (one, *one.variations.values(), *one.decisions.words.values())
    return {word for words in lists for side in GROUPS for word in getattr(words, side) or ()}


def learn(study: Study, key: str, place: int) -> Iterator[tuple[SharedText, TextOrigin]]:
    """Yield the texts of all prompts about a stereotype; `place` is that of its study."""
    marked = mark_words(study, key)
    stereotype = [*study.stereotypes].index(key)
    for number, instrument in enumerate(INSTRUMENTS.values()):
        if instrument.recognise is not None or instrument.simulate is None:
            continue
        for variation, design in product(instrument.variations(study), _designs(instrument)):
            with suppress(ClinometerError):  # of recorded answers, or of others
                for cell in instrument.draw(marked, design, [key], [variation]):
                    at = (place, number, stereotype)
                    yield from _texts_of(study, instrument, cell, at)


def _designs(instrument: Instrument) -> Iterator[Design]:
    for mode in instrument.modes:
        yield Design(mode=mode, iterations=DRAWN)
        if "options" in instrument.options and MODES[mode].per_attribute:
            yield Design(mode=mode, iterations=DRAWN, options="labels")
        elif "word_list" in instrument.options:
            yield Design(mode=mode, iterations=DRAWN, word_list="as_released")


def _texts_of(
    study: Study, instrument: Instrument, cell: Cell, place: tuple[int, int, int]
) -> Iterator[tuple[SharedText, TextOrigin]]:
    """Yield the texts of a cell, each once; its trials show marked words."""
    roles, seen = _roles(study, instrument, cell), set[SharedText]()
    for trial in islice(cell.trials, DRAWN):
        followup = trial.get("followup") or ""
        prompts = [trial["prompt"]]
        if OPTION in trial["prompt"]:
            prompts = Texts.of(trial).beginnings[:1]
        elif "{response1}" in followup:
            prompts.append(followup)
        for prompt in prompts:
            if (text := SharedText.of(prompt)) not in seen:
                seen.add(text)
                yield (
                    text,
                    TextOrigin(
                        study,
                        instrument.name,
                        cell.stereotype,
                        cell.variation,
                        trial,
                        roles,
                        place,
                        followup=prompt is followup,
                    ),
                )


def _roles(study: Study, instrument: Instrument, cell: Cell) -> dict[str, str]:
    """Return the role of each word that a cell may show."""
    key, dimension = cell.stereotype, cell.dimension
    lists = (
        study.words(key, "", dimension),
        instrument.words(study, key, cell.variation, dimension),
    )
    roles = {word: role for words in lists for role in ROLES for word in getattr(words, role)}
    return {**dict.fromkeys(study.objects, "object"), **roles}
