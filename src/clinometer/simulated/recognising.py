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
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.cells import Cell
from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Instrument
from clinometer.contracts.simulation import RecognisedPrompt, Recogniser, Word
from clinometer.errors import ClinometerError
from clinometer.modes import MODES, TEXT
from clinometer.modes.likelihood import OPTION, Texts
from clinometer.simulated.prompts import KnownPeople, shipped_people
from clinometer.stimuli import Study, load_study, shipped_studies

#: Trials of a cell that are drawn to see every text it has: orders, labels and versions differ.
SAMPLED_TRIALS = 12

#: Characters at the beginning of a prompt by which texts are sorted.
START = 12

ROLES = ("marginalized", "default", "tied", "counter", "extra")
GROUPS = ROLES[:2]
_MARK_GROUP = re.compile(r"⟦([^⟦⟧]*)⟧")
_LIST = re.compile(r"(?:'?⟦[^⟦⟧]*⟧'?, ){2,}'?⟦[^⟦⟧]*⟧'?")
_PART = re.compile(r"\w+|\W+")
_LABEL = re.compile(r"^([A-Z])\. (.+)$", re.MULTILINE)

#: What a gap of a text holds: a word, the words of a list, an earlier answer, an attribute.
_GAPS = {"⟦": r"([^\n]{1,80}?)", "[": "(.+)", "(": "(.*?)"}


def _mark(word: str) -> str:
    return f"⟦{word}⟧"


def _mark_lists(words: Any) -> dict[str, list[str]]:
    """Return the lists of words that there are, every word between marks."""
    lists = {}
    for role in ROLES:
        if listed := getattr(words, role, None):
            lists[role] = [_mark(word) for word in listed]
    return lists


def mark_words(study: Study, key: str) -> Study:
    """Return a study with one stereotype, whose words stand between marks."""
    stereotype = study.stereotypes[key]
    decisions = stereotype.decisions
    changes = {
        **_mark_lists(stereotype),
        "variations": _mark_all(stereotype.variations),
        "decisions": decisions.model_copy(update={"words": _mark_all(decisions.words)}),
    }
    return study.model_copy(
        update={
            "stereotypes": {key: stereotype.model_copy(update=changes)},
            "dimensions": _mark_all(study.dimensions),
            "objects": [_mark(word) for word in study.objects],
        }
    )


def _mark_all(lists: Mapping[str, Any]) -> dict[str, Any]:
    return {name: words.model_copy(update=_mark_lists(words)) for name, words in lists.items()}


@dataclass(frozen=True)
class SharedText:
    """What all prompts of a wording share: literal text, and the gaps between."""

    literal: tuple[str, ...]
    gaps: str
    """The kind of each gap, a key of `_GAPS`."""

    @classmethod
    def from_prompt(cls, prompt: str) -> SharedText:
        """Find the gaps of a prompt whose words are between marks."""
        # A list first, as one gap: its words differ in number and order.
        marked = _LIST.sub("⟦[⟧", prompt)
        marked = marked.replace("{response1}", "⟦(⟧").replace("{attribute}", "⟦⟧")
        # Literal texts and what stands between marks alternate.
        parts = _MARK_GROUP.split(marked.strip())
        kinds = [part if part in ("[", "(") else "⟦" for part in parts[1::2]]
        return cls(tuple(parts[::2]), "".join(kinds))

    def word(self, gap_texts: Sequence[str]) -> str:
        """Return the word in the first gap that holds one."""
        place = self.gaps.find("⟦")
        return gap_texts[place] if place >= 0 else ""

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
    place: tuple[int, ...]
    """Of the study among those that are known, the instrument and the stereotype; the lowest goes
    first. What is learned of one study lacks the first."""
    followup: bool = False

    def question(
        self, gaps: str, gap_texts: Sequence[str], ends: Sequence[str] | None = None
    ) -> RecognisedPrompt | None:
        """Return the question of the texts in the gaps; None if one is none of its words.

        `ends` are those of an open sentence; where it ends in an attribute, they are its words.
        """
        sentence = self.columns["prompt"]
        if (ends is None) == (OPTION in sentence):
            return None
        words: list[Word] = []
        listed: list[Word] = []
        if ends is not None and Texts.from_trial(self.columns).option_first:
            if not all(word in self.roles for word in ends):
                return None
            listed = self._with_roles(ends)
        for kind, text in zip(gaps, gap_texts, strict=True):
            if kind == "(":
                words += self._groups_in(text)
                continue
            gap_words = [word.strip("'") for word in text.split(", ")] if kind == "[" else [text]
            if not all(word in self.roles for word in gap_words):
                return None
            (listed if kind == "[" else words).extend(self._with_roles(gap_words))
        return RecognisedPrompt(
            study=self.study,
            instrument=self.instrument,
            stereotype=self.stereotype,
            variation=self.variation,
            kind=TEXT,
            words=tuple(words),
            listed=tuple(listed),
            columns=self.columns,
            followup=self.followup,
        )

    def _with_roles(self, words: Sequence[str]) -> list[Word]:
        return [(word, self.roles[word]) for word in words]

    def _groups_in(self, text: str) -> list[Word]:
        """Return the group words in an answer that is quoted, in its order."""
        groups = [word for word, role in self.roles.items() if role in GROUPS]
        places = sorted((text.find(word), word) for word in groups if word in text)
        return self._with_roles([word for _, word in places])


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
        extra_studies = list(studies)
        self._extra_studies = extra_studies
        names = {study.name for study in extra_studies}
        shipped = [load_study(name) for name in shipped_studies() if name not in names]
        self._studies = [*extra_studies, *shipped]
        # An audit names its studies to the model that it simulates: most are shipped.
        self._is_shipped = [_is_shipped(study) for study in self._studies]
        # First part of a group word → the words; a word → the stereotypes that have it.
        self._group_words: dict[str, set[str]] = {}
        self._stereotypes: dict[str, set[tuple[int, str]]] = {}
        for place, study in enumerate(self._studies):
            for key in study.stereotypes:
                for word in _group_words(study, key):
                    self._group_words.setdefault(_PART.findall(word)[0], set()).add(word)
                    self._stereotypes.setdefault(word, set()).add((place, key))
        # What was learned: questions, and sentences that are left open.
        self._learned: dict[bool, set[tuple[int, str]]] = {False: set(), True: set()}
        self._recognisers: list[Recogniser] = []
        for study in self._studies:
            for instrument in INSTRUMENTS.values():
                if instrument.recognise is not None:
                    self._recognisers.append(instrument.recognise(study))
        # Beginning of a text → text → a word in its first gap → what asks with this word.
        self._texts: dict[str, dict[SharedText, dict[str, list[TextOrigin]]]] = {}

    @cached_property
    def people(self) -> KnownPeople:
        """People whom prompts of no study may name."""
        return KnownPeople(self._extra_studies) if self._extra_studies else shipped_people()

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
        text = messages[0].strip()
        followup = len(messages) > 1
        self._learn(text, sentences=ends is not None)
        question = self._find_text(text, followup, ends) or self._find_item(text)
        return replace(question, followup=True) if question and followup else question

    def _find_text(
        self, prompt: str, followed: bool, ends: Sequence[str] | None = None
    ) -> RecognisedPrompt | None:
        """Return the prompt of the first study and instrument that have its text.

        Stereotypes of a study may share it: then all are named, in the order of the study.
        """
        matches = self._matches(prompt, ends)
        if followed:
            matches = [match for match in matches if match[0].columns.get("followup")]
        if not matches:
            return None
        matches.sort(key=lambda match: match[0].place)
        first, question = matches[0]
        alike = (origin for origin, _ in matches if origin.place[:2] == first.place[:2])
        # A dict, not a set: in the order of the study.
        stereotypes = tuple(dict.fromkeys(origin.stereotype for origin in alike))
        return replace(question, labels=_labels(prompt, question), stereotypes=stereotypes)

    def _matches(
        self, prompt: str, ends: Sequence[str] | None
    ) -> list[tuple[TextOrigin, RecognisedPrompt]]:
        """Return every question that a prompt may put, with the origin of its text."""
        matches: list[tuple[TextOrigin, RecognisedPrompt]] = []
        texts = {**self._texts.get(prompt[:START], {}), **self._texts.get("", {})}
        for text, origins in texts.items():
            # The end is compared first, which is faster than the pattern.
            if prompt.endswith(text.literal[-1]) and (match := text.pattern.fullmatch(prompt)):
                for origin in origins.get(text.word(match.groups()), ()):
                    question = origin.question(text.gaps, match.groups(), ends)
                    if question is not None and question.groups:
                        matches.append((origin, question))
        return matches

    def _find_item(self, text: str) -> RecognisedPrompt | None:
        """Return the question of an instrument that recognises its prompts itself."""
        for recognise in self._recognisers:
            if (question := recognise(text)) is not None:
                return question
        return None

    def _learn(self, prompt: str, *, sentences: bool) -> None:
        """Learn every stereotype of which a group is mentioned, as it is asked about."""
        stereotypes: set[tuple[int, str]] = set()
        for part in self._group_words.keys() & set(_PART.findall(prompt)):
            for word in self._group_words[part]:
                if word in prompt:
                    stereotypes |= self._stereotypes[word]
        learned = self._learned[sentences]
        for place, key in sorted(stereotypes - learned):
            learned.add((place, key))
            study = self._studies[place]
            texts = (
                _learn_shipped(study.name, key, sentences, tuple(INSTRUMENTS.values()))
                if self._is_shipped[place]
                else learn(study, key, sentences=sentences)
            )
            for text, origin in texts:
                self._add(text, replace(origin, place=(place, *origin.place)))

    def _add(self, text: SharedText, origin: TextOrigin) -> None:
        start = text.opening[:START]
        # A beginning that is too short to sort by is looked through for every prompt.
        texts = self._texts.setdefault(start if len(start) == START else "", {})
        origins = texts.setdefault(text, {})
        if "⟦" in text.gaps:
            for word in origin.roles:
                origins.setdefault(word, []).append(origin)
        elif all(origin.place != earlier.place for earlier in origins.get("", ())):
            # What holds no word but those of a quoted answer is one question for a stereotype.
            origins.setdefault("", []).append(origin)


def _is_shipped(study: Study) -> bool:
    return study.name in shipped_studies() and study == load_study(study.name)


def shipped_recognition() -> Recognition:
    """Return what finds the questions of shipped studies: a process learns their texts once."""
    return _recognition_with(tuple(INSTRUMENTS.values()))


@lru_cache(maxsize=1)
def _recognition_with(_: tuple[Instrument, ...]) -> Recognition:
    """Return what finds the questions of these instruments, which plug-ins add to."""
    return Recognition()


def _labels(text: str, question: RecognisedPrompt) -> dict[str, str]:
    """Return the labels of options, such as ``A. old``, and the group words they stand for."""
    words = {word for word, _ in question.groups}
    return {label: word for label, word in _LABEL.findall(text) if word in words}


def _group_words(study: Study, key: str) -> set[str]:
    """Return all group words of a stereotype, of its wordings and decisions too."""
    stereotype = study.stereotypes[key]
    words: set[str] = set()
    for lists in (
        stereotype,
        *stereotype.variations.values(),
        *stereotype.decisions.words.values(),
    ):
        for side in GROUPS:
            words.update(getattr(lists, side) or ())
    return words


@lru_cache(maxsize=1000)
def _learn_shipped(
    name: str, key: str, sentences: bool, _: tuple[Instrument, ...]
) -> Sequence[tuple[SharedText, TextOrigin]]:
    """Return what is learned of a shipped study with these instruments: a process does so once."""
    return [*learn(load_study(name), key, sentences=sentences)]


def learn(study: Study, key: str, *, sentences: bool) -> Iterator[tuple[SharedText, TextOrigin]]:
    """Yield the texts of all prompts about a stereotype.

    `sentences`: whether of sentences that are left open, or of all other prompts.
    """
    marked = mark_words(study, key)
    stereotype = [*study.stereotypes].index(key)
    for number, instrument in enumerate(INSTRUMENTS.values()):
        if instrument.recognise is not None or instrument.simulate is None:
            continue
        place = (number, stereotype)
        variations = instrument.variations(study)
        for design in _designs(instrument, sentences):
            # A mode asks sentences, or all but these.
            fitting = instrument.variations_in(design.mode, study, variations)
            with suppress(ClinometerError):  # of recorded answers, or of others
                for cell in instrument.draw(marked, design, [key], fitting):
                    yield from _texts_of(study, instrument, cell, place)


def _designs(instrument: Instrument, sentences: bool) -> Iterator[Design]:
    for mode in instrument.modes:
        if MODES[mode].sentences != sentences:
            continue
        yield Design(mode=mode, iterations=SAMPLED_TRIALS)
        if "options" in instrument.options and MODES[mode].per_attribute:
            yield Design(mode=mode, iterations=SAMPLED_TRIALS, options="labels")
        elif "word_list" in instrument.options and not sentences:
            yield Design(mode=mode, iterations=SAMPLED_TRIALS, word_list="as_released")


def _texts_of(
    study: Study, instrument: Instrument, cell: Cell, place: tuple[int, int]
) -> Iterator[tuple[SharedText, TextOrigin]]:
    """Yield the texts of a cell, each once; its trials show marked words."""
    roles = _roles(study, instrument, cell)
    yielded = set[SharedText]()
    for trial in islice(cell.trials, SAMPLED_TRIALS):
        followup = trial.get("followup") or ""
        prompts = [trial["prompt"]]
        if OPTION in trial["prompt"]:
            prompts = Texts.from_trial(trial).beginnings[:1]
        elif "{response1}" in followup:
            prompts.append(followup)
        for prompt in prompts:
            text = SharedText.from_prompt(prompt)
            if text in yielded:
                continue
            yielded.add(text)
            origin = TextOrigin(
                study,
                instrument.name,
                cell.stereotype,
                cell.variation,
                trial,
                roles,
                place,
                followup=prompt is followup,
            )
            yield text, origin


def _roles(study: Study, instrument: Instrument, cell: Cell) -> dict[str, str]:
    """Return the role of each word that a cell may show."""
    key = cell.stereotype
    dimension = cell.dimension
    roles = dict.fromkeys(study.objects, "object")
    # Later ones win: the words of the instrument over those of the stereotype.
    for words in (
        study.words(key, "", dimension),
        instrument.words(study, key, cell.variation, dimension),
    ):
        for role in ROLES:
            roles |= dict.fromkeys(getattr(words, role), role)
    return roles
