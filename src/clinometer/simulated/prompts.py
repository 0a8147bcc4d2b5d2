"""What a prompt of no study shows: who is in it, its wording, and what kind of answer it wants.

Nothing is understood. People are the group words of known studies, found as they stand; a wording
is what remains without them; an answer is one of two words if a sentence about answers has "… or
…", a number if the prompt says so, else a text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from clinometer.errors import ModelError, unknown
from clinometer.stimuli import Study, load_study, shipped_studies

#: Shipped studies whose group words are people: names, and what is stated of a person.
PEOPLE = ("hiring", "refunds")

CHOICE, NUMBER, PROSE = "choice", "number", "prose"

YES_NO = ("yes", "no")

#: Answers that are good for people, and that are bad; of other pairs the first is the good one.
GOOD = frozenset("yes accept admit agree allow approve grant hire invite recommend".split())
BAD = frozenset("no decline deny disagree refuse reject".split())

_OPENING = 3  # words

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.?!\n]+")
_ABOUT_ANSWERS = re.compile(r"\b(?:answer|reply|respond|response|decide|word)\b", re.IGNORECASE)
_PAIR = re.compile(r"""["'“]?\b(\w+)["'”]?,? or ["'“]?(\w+)\b""", re.IGNORECASE)
_ABOUT_NUMBERS = re.compile(
    r"\b(?:number|how (?:many|much)|percent(?:age)?|rate|rating|scale|score)\b", re.IGNORECASE
)
_ENDS = re.compile(r"\b(?:from|between) (\d+(?:\.\d+)?) (?:to|and) (\d+(?:\.\d+)?)", re.IGNORECASE)


@dataclass(frozen=True)
class AnyPrompt:
    """A prompt of no study, as far as its text shows."""

    people: tuple[str, ...]
    """Known people, each once, in the order of the prompt."""
    sides: Mapping[str, str]
    """Contrast → the side of the first person who stands on one."""
    wording: str
    """The same for prompts that differ in nothing but known people."""
    opening: str
    """The first words, which prompts of a family share."""
    n_words: int
    kind: str
    """`CHOICE`, `NUMBER` or `PROSE`."""
    options: tuple[str, str] = YES_NO
    """The good answer and the bad one."""
    good_first: bool = True
    """Whether the prompt names the good answer first."""
    ends: tuple[float, float] | None = None
    """The lowest and the highest number, if the prompt says them."""


class KnownPeople:
    """The group words of studies, with the sides of their contrasts.

    Parameters
    ----------
    studies
        Studies of one's own, besides those of `PEOPLE`. Of contrasts with one name, and of sides
        that disagree, the first counts.
    """

    def __init__(self, studies: Iterable[Study] = ()) -> None:
        listed = [*studies, *(load_study(name) for name in PEOPLE if name in shipped_studies())]
        self.contrasts: dict[str, None] = {}
        self._sides: dict[str, dict[str, str]] = {}
        for study in listed:
            for contrast, stereotype in study.stereotypes.items():
                self.contrasts[contrast] = None
                for side in ("marginalized", "default"):
                    for person in getattr(stereotype, side) or ():
                        self._sides.setdefault(person.lower(), {}).setdefault(contrast, side)
        # The longest first: "a customer with one arm" before "a customer".
        people = sorted(map(re.escape, self._sides), key=len, reverse=True)
        self._pattern = re.compile(rf"\b(?:{'|'.join(people)})\b", re.IGNORECASE)

    def check(self, *contrasts: str) -> None:
        """Raise ModelError if there is no such contrast."""
        for contrast in contrasts:
            if contrast not in self.contrasts:
                raise ModelError(unknown("contrast", contrast, list(self.contrasts)))

    def find(self, text: str) -> tuple[tuple[str, ...], dict[str, str], str]:
        """Return the people in a text, contrast → side, and the text without its people."""
        people = tuple(dict.fromkeys(match[0].lower() for match in self._pattern.finditer(text)))
        sides: dict[str, str] = {}
        for person in people:
            sides = {**self._sides[person], **sides}
        return people, sides, self._pattern.sub("{}", text)


@lru_cache(maxsize=1)
def shipped_people() -> KnownPeople:
    """Return the people of shipped studies."""
    return KnownPeople()


@lru_cache(maxsize=4096)
def read_prompt(text: str, known: KnownPeople) -> AnyPrompt:
    """Read who is in a prompt, its wording, and what kind of answer it wants."""
    people, sides, rest = known.find(text)
    words = _WORD.findall(rest.lower())
    prompt = AnyPrompt(
        people,
        sides,
        wording=hashlib.sha256(" ".join(words).encode("utf-8", "replace")).hexdigest(),
        opening=" ".join(words[:_OPENING]),
        n_words=len(words),
        kind=PROSE,
    )
    if (named := find_options(rest)) is not None:
        options, good_first = named
        return replace(prompt, kind=CHOICE, options=options, good_first=good_first)
    if _ABOUT_NUMBERS.search(rest):
        pairs = [(float(low), float(high)) for low, high in _ENDS.findall(rest)]
        rising = [pair for pair in pairs if pair[0] < pair[1]]
        return replace(prompt, kind=NUMBER, ends=rising[-1] if rising else None)
    return prompt


def find_options(text: str) -> tuple[tuple[str, str], bool] | None:
    """Return the good and the bad of two answers that a text offers, and whether good is first.

    >>> find_options("Ann wants a loan. Answer with one word: deny or approve.")
    (('approve', 'deny'), False)
    """
    pairs: list[tuple[str, str]] = []
    for sentence in _SENTENCE.findall(text):
        if _ABOUT_ANSWERS.search(sentence):
            pairs += _PAIR.findall(sentence)
    return sort_options(*pairs[-1]) if pairs else None


def sort_options(first: str, second: str) -> tuple[tuple[str, str], bool]:
    """Return the good and the bad of two answers, and whether the good one is the first."""
    good_first = not (second.lower() in GOOD or first.lower() in BAD)
    return ((first, second) if good_first else (second, first)), good_first
