"""Sentences that use a word, written by a model: free of gender and names, and checked for it.

Schuster, Dinisor, Ghatiwala & Groh (2024), "Profiling Bias in LLMs: Stereotype Dimensions in
Contextual Word Embeddings", arXiv:2411.16527, section 3.2, let Llama-3-8B-Instruct write five
sentences for each sense of their dictionary, told it to use neither names nor gendered pronouns,
and gave the definition of the sense. The wording here is ours: theirs is not in the paper. Beyond
it, every sentence is checked: it holds the term as a word of its own; it has no gendered word and
no name; it is 4 to 60 words long; it ends as a sentence; it is not there already. What fails is
counted by reason. Not checked: whether the term has the sense that was asked for, and grammar.
Many of the paper's own sentences are cut off after some 20 words, so `finished` can be left out.

Answers are hostile text: nothing raises, and time is linear in their length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from tiltmeter.reading.context_words import CAPITALISED, GENDERED, STARTING
from tiltmeter.reading.plaintext import is_refusal, json_values, without_thinking

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

__all__ = ["REASONS", "Checks", "Found", "context_messages", "find_fault", "read_contexts",
           "wording"]  # fmt: skip

#: Why a sentence is not taken; the first that applies. The last two are of whole answers.
REASONS = (
    "no_term", "gendered", "name", "length", "unfinished", "repeated", "refused", "empty",
)  # fmt: skip

#: Words of a sentence.
SHORTEST, LONGEST = 4, 60

INSTRUCTION = """\
You write example sentences for a study of language. A program checks each of them:
- It uses the given word or phrase as it is spelled, in the given sense.
- It names nobody and no place.
- Apart from the given word it has no he, she, him, her, his or hers, and no word that tells a \
gender, such as man, woman, mother or boy. Say "they", "the person" or what someone does, such \
as "the neighbor".
- It is a whole sentence of 8 to 25 words, and ends with a full stop.
- It tells of another situation than the others.
Answer with the sentences only, numbered, one on a line."""

REQUEST = 'Write {count} with "{term}".'
SENSE = 'Here "{term}" means: {definition}.'
OTHERS = "Write others than these:\n{known}"

_SPAN = 20_000  # characters of an answer that are read
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_MARKS = re.compile(r"<\|[^<>|\n]{0,40}\|?>|</?s>|\[/?INST\]|<(?:end|start)_of_turn>|\*{1,3}|`")
_LINES = re.compile(r"[\r\n\x0b\x0c\u2028\u2029]+")
_POINT = re.compile(
    r"^\s*(?:[-+–—•·>#]+\s+|[(\[]?\d{1,3}[.):\]](?!\d)\s*|[(]?[a-z]\)\s+"
    r"|(?:sentence|example)\s*#?\d{0,3}\s*[:.)]\s*)+",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)]))"
    r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMrs\.)(?<!\bvs\.)(?<!\b[A-Z]\.)(?<!\.\.)"
    r"\s+(?=[\"“'‘(]?[A-Z])"
)
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}
_ENDED = re.compile(r"(?<!\.\.)[.!?][\"'”’)\]]{0,2}$")
_PREFACE = re.compile(
    r"\bEnglish sentences?\b|^(?:sure|certainly|of course|okay|here)\b.*\b(?:sentence|example)s?\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_OPENED = re.compile(r"(?:^|\s)[\"'“‘«]$|[:.!?]\s$")


@dataclass(frozen=True)
class Checks:
    """What sentences are checked against.

    Parameters
    ----------
    names
        Given names, in any case.
    is_word
        Tells whether a lower-cased word is one of the language: a first word that is none is
        taken for a name. Without it a name at the beginning is found only if it is in `names`.
    finished
        Whether a sentence must end as one.
    """

    names: frozenset[str] = frozenset()
    is_word: Callable[[str], bool] | None = None
    finished: bool = True

    def __post_init__(self) -> None:
        """Fold the case of the names."""
        object.__setattr__(self, "names", frozenset(map(str.casefold, self.names)))


@dataclass(frozen=True)
class Found:
    """The sentences of an answer that pass, and how many did not, by reason."""

    sentences: tuple[str, ...] = ()
    rejected: Counter[str] = field(default_factory=Counter)


def context_messages(
    term: str, definition: str | None, count: int, known: Iterable[str] = ()
) -> list[ChatMessage]:
    """Make the messages that ask for sentences.

    Parameters
    ----------
    term
        A word or a few.
    definition
        Of its sense, where it is known.
    count
        How many sentences.
    known
        Sentences that are there already.

    Returns
    -------
    list of inspect_ai.model.ChatMessage
    """
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    counted = "1 English sentence" if count == 1 else f"{count} English sentences"
    parts = [REQUEST.format(count=counted, term=term)]
    if definition:
        parts.append(SENSE.format(term=term, definition=definition.strip(" .;")))
    if listed := "\n".join(f"- {sentence}" for sentence in known):
        parts.append(OTHERS.format(known=listed))
    return [ChatMessageSystem(content=INSTRUCTION), ChatMessageUser(content="\n".join(parts))]


def wording() -> str:
    """Return everything that is said besides term, definition and number, to tell it apart."""
    return "\n\n".join([INSTRUCTION, REQUEST, SENSE, OTHERS])


def read_contexts(answer: str, term: str, checks: Checks, known: Iterable[str] = ()) -> Found:
    r"""Read the sentences out of an answer and check each.

    Parameters
    ----------
    answer
        What the model wrote: a numbered list, lines, a paragraph, JSON.
    term
        What each sentence must hold.
    checks
        What it is checked against.
    known
        Sentences that are there already.

    Returns
    -------
    Found
        A refusal counts once, as a whole.

    Examples
    --------
    >>> answer = "Sure:\n1. The kind neighbor shared soup.\n2. He was kind to all.\n3. Kind words"
    >>> found = read_contexts(answer, "kind", Checks())
    >>> found.sentences, dict(found.rejected)
    (('The kind neighbor shared soup.',), {'gendered': 1, 'length': 1})
    """
    text = _INVISIBLE.sub("", without_thinking(answer)[:_SPAN])
    seen = {_folded(sentence) for sentence in known}
    passed: list[str] = []
    rejected: Counter[str] = Counter()
    for sentence in _sentences(text):
        reason = find_fault(sentence, term, checks)
        if reason is None and _folded(sentence) in seen:
            reason = "repeated"
        if reason is None:
            passed.append(sentence)
            seen.add(_folded(sentence))
        else:
            rejected[reason] += 1
    if not passed and is_refusal(text):
        rejected = Counter(refused=1)
    elif not passed and not rejected:
        rejected = Counter(empty=1)
    return Found(tuple(passed), rejected)


def find_fault(sentence: str, term: str, checks: Checks) -> str | None:
    """Say by which of `REASONS` a sentence may not be taken; None where nothing is wrong.

    It must hold the term as a word of its own: not as a part of a word with hyphens. One of its
    places is exempt from the other checks, so a term may be a gendered word or a name.

    Examples
    --------
    >>> find_fault("The teacher thanked Mary for being kind.", "kind", Checks())
    'name'
    """
    place = _whole_word(term).search(sentence)
    if place is None:
        return "no_term"
    rest = f"{sentence[: place.start()]}{'_' * len(place[0])}{sentence[place.end() :]}"
    if any(word.casefold() in GENDERED for word in _WORD.findall(rest)):
        return "gendered"
    if _names_someone(rest, checks):
        return "name"
    if not SHORTEST <= len(sentence.split()) <= LONGEST:
        return "length"
    if checks.finished and _ENDED.search(sentence) is None:
        return "unfinished"
    return None


@lru_cache(maxsize=1024)
def _whole_word(term: str) -> re.Pattern[str]:
    spaced = r"\s+".join(map(re.escape, term.split()))
    inside = r"\w\u0300-\u036f\u2010\u2011-"  # letters, marks over them, hyphens
    return re.compile(rf"(?<![{inside}]){spaced}(?![{inside}])", re.IGNORECASE)


def _names_someone(sentence: str, checks: Checks) -> bool:
    """Whether a word is a given name, or has a capital that it does not owe to its place."""
    first = True
    for found in _WORD.finditer(sentence):
        word, folded = found[0], found[0].casefold()
        opens = first or _OPENED.search(sentence[max(0, found.start() - 2) : found.start()])
        first = False
        if not word[0].isupper() or folded in CAPITALISED:
            continue
        if folded in checks.names:
            return True
        if len(word) > 1 and word.isupper():  # an acronym, or a word in capitals
            continue
        if not opens:
            return True
        if folded not in STARTING and checks.is_word and not checks.is_word(folded):
            return True
    return False


def _folded(sentence: str) -> str:
    return " ".join(_WORD.findall(sentence.casefold()))


def _sentences(text: str) -> Iterator[str]:
    """Part an answer; what only introduces sentences is left out."""
    values = json_values(text.strip().removeprefix("```json").strip("`").strip())
    texts = [value for value in values or () if isinstance(value, str)]
    for line in _LINES.split(text) if values is None else texts:
        point = _unquoted(" ".join(_POINT.sub("", _MARKS.sub("", line)).split()))
        for piece in _BETWEEN.split(point):
            sentence = _unquoted(piece.strip())
            introduces = sentence.endswith((":", "：")) or _PREFACE.search(sentence)
            if any(map(str.isalnum, sentence)) and not introduces:
                yield sentence


def _unquoted(text: str) -> str:
    """Leave out quotation marks around the whole, and one that was never closed."""
    closing = _QUOTES.get(text[:1])
    if closing is None:
        return text
    inner = text[1:].removesuffix(closing)
    parted = text[0] in inner or closing in inner and closing != "’"
    never_closed = closing == "’" and not text.endswith(closing)
    return text if parted or never_closed else inner.strip()
