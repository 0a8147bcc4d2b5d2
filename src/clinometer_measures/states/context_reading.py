"""Sentences that use a word, written by a model without gendered words and names, and checked.

Schuster, Dinisor, Ghatiwala & Groh (2024), "Profiling Bias in LLMs: Stereotype Dimensions in
Contextual Word Embeddings", arXiv:2411.16527, section 3.2, had Llama-3-8B-Instruct write five
sentences for each sense of their dictionary, given its definition, without names and gendered
pronouns. Deviations: their wording is not in the paper; ours differs. Every sentence is checked: it
contains the term as a separate word; it has no gendered word and no name; it has 4 to 60 words; it
is a complete sentence; it is new. Rejected sentences are counted by reason. The sense of the term
and grammar are not checked. Many of the paper's sentences are cut off after some 20 words, so the
check `finished` is optional.

Answers may be any text: nothing raises, and time is linear in their length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from clinometer.reading.plaintext import json_values
from clinometer.reading.refusals import is_refusal

__all__ = ["REASONS", "Checks", "context_messages", "find_fault", "read_contexts", "wording"]

#: Reasons for rejecting a sentence; the first that applies is given. The last two concern whole
#: answers.
REASONS = tuple("no_term gendered name length unfinished repeated refused empty".split())

#: Minimum and maximum words of a sentence.
SHORTEST = 4
LONGEST = 60

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
EXCLUSION = "Write others than these:\n{known}"

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


# Closed lists of English words, in lower case.
_PRONOUNS = "he him himself his she her hers herself s/he he/she him/her his/her"

_PERSONS = (
    "man men woman women boy boys girl girls male males female females lady ladies gentleman "
    "gentlemen guy guys dude dudes lad lads lass lasses gal gals bloke blokes chap chaps maiden "
    "maidens mr mrs ms mister missus sir madam maam mademoiselle senor senora"
)

_KIN = (
    "mother mothers father fathers mom moms mum mums mommy mummy mama dad dads daddy papa son "
    "sons daughter daughters brother brothers sister sisters husband husbands wife wives uncle "
    "uncles aunt aunts auntie nephew nephews niece nieces grandmother grandmothers grandfather "
    "grandfathers grandma grandpa granny grandson grandsons granddaughter granddaughters "
    "stepmother stepfather stepson stepdaughter stepbrother stepsister godmother godfather "
    "motherhood fatherhood sisterhood brotherhood motherly fatherly maternal paternal girlfriend "
    "girlfriends boyfriend boyfriends fiance fiancee bride brides bridegroom groom grooms widow "
    "widows widower widowers bachelor bachelors bachelorette spinster"
)

_ROLES = (
    "king kings queen queens prince princes princess princesses duke dukes duchess duchesses "
    "baron baroness countess emperor empress goddess goddesses heroine heroines heiress actress "
    "actresses waitress waitresses waiter waiters hostess hostesses stewardess stewardesses "
    "landlord landlords landlady mistress mistresses nun nuns monk monks priestess headmaster "
    "headmistress schoolboy schoolboys schoolgirl schoolgirls cowboy cowboys cowgirl ballerina "
    "housewife housewives midwife midwives seamstress tomboy manly womanly masculine feminine "
    "masculinity femininity manhood womanhood boyhood girlhood boyish girlish"
)

#: Stems that take one of the endings; "human" and "German" are not gendered.
_ENDINGS = ("man", "men", "woman", "women")
_TRADES = (
    "business chair congress council country craft crafts camera clergy door fire fisher fore "
    "front handy hench hit horse lay mail middle milk noble police post repair sales sea serve "
    "service show sports spokes states stunt trades watch weather work yes anchor assembly"
)

#: Follows common use: "guys" and "dude" are gendered, "nurse" and "soldier" are not.
GENDERED = frozenset(" ".join((_PRONOUNS, _PERSONS, _KIN, _ROLES)).split()) | frozenset(
    f"{trade}{ending}" for trade in _TRADES.split() for ending in _ENDINGS
)

#: Capitalised words that are not names: days, months, feasts, peoples, faiths and parties.
#: Countries and towns count as names.
CAPITALISED = frozenset(
    (
        "i monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
        "thursdays fridays saturdays sundays january february march april may june july august "
        "september october november december christmas easter thanksgiving halloween ramadan "
        "diwali eid hanukkah passover lent advent sabbath earth internet web english french "
        "german spanish italian portuguese dutch swedish norwegian danish finnish polish russian "
        "ukrainian greek turkish arabic arab hebrew persian iranian indian hindi urdu chinese "
        "japanese korean vietnamese thai african american asian european australian canadian "
        "mexican brazilian british scottish irish welsh roman latin western eastern northern "
        "southern victorian medieval renaissance christian christians christianity catholic "
        "catholics catholicism protestant protestants protestantism orthodox jewish jew jews "
        "judaism muslim muslims islam islamic islamist hindu hindus hinduism buddhist buddhists "
        "buddhism sikh sikhs taoism taoist mormon mormons methodist baptist lutheran anglican "
        "presbyterian evangelical bible bibles biblical gospel scripture scriptures torah quran "
        "koran talmud god gods church democrat democrats democratic republican republicans "
        "republicanism conservative conservatives liberal liberals labour tory tories green "
        "greens marxist marxism socialist communist capitalist fascist nazi libertarian senate "
        "congress parliament constitution"
    ).split()
)

#: Those first words of sentences that WordNet (nouns, verbs, adjectives, adverbs) lacks.
STARTING = frozenset(
    (
        "the this that these those my your our their whose which what whom we you they them "
        "everyone everybody everything something anyone anybody anything and nor for if unless "
        "until whereas when whenever where because since although than whether during without "
        "with among amongst amid from into of onto to toward towards upon via beside against how "
        "could should would shall others themselves ourselves yourself yourselves myself itself "
        "oneself doesn didn aren wasn weren hasn hadn couldn wouldn shouldn"
    ).split()
)


@dataclass(frozen=True)
class Checks:
    """The lists and options that sentences are checked with."""

    names: frozenset[str] = frozenset()
    """Given names; case is ignored."""
    is_word: Callable[[str], bool] | None = None
    """Tells whether a lower-cased word is one of the language: a first word that is none is taken
    for a name. Without it a name at the beginning is found only if it is in `names`."""
    finished: bool = True
    """Whether a sentence must be complete."""

    def __post_init__(self) -> None:
        """Fold the case of the names."""
        object.__setattr__(self, "names", frozenset(map(str.casefold, self.names)))


class ContextReading(NamedTuple):
    """The sentences of an answer that pass, and the number rejected by reason."""

    sentences: tuple[str, ...]
    rejected: Counter[str]


def context_messages(
    term: str, definition: str | None, count: int, earlier: Iterable[str] = ()
) -> list[dict[str, str]]:
    """Write the request for sentences with a term in a defined sense, other than earlier ones."""
    counted = "1 English sentence" if count == 1 else f"{count} English sentences"
    parts = [REQUEST.format(count=counted, term=term)]
    if definition:
        parts.append(SENSE.format(term=term, definition=definition.strip(" .;")))
    if earlier_lines := "\n".join(f"- {sentence}" for sentence in earlier):
        parts.append(EXCLUSION.format(known=earlier_lines))
    by_role = {"system": INSTRUCTION, "user": "\n".join(parts)}
    return [{"role": role, "content": content} for role, content in by_role.items()]


def wording() -> str:
    """Return the wording that all requests share."""
    return "\n\n".join([INSTRUCTION, REQUEST, SENSE, EXCLUSION])


def read_contexts(
    answer: str, term: str, checks: Checks, earlier: Iterable[str] = ()
) -> ContextReading:
    r"""Read the sentences from an answer and check each; a refusal counts once.

    The answer may be a numbered list, lines, a paragraph or JSON. Each sentence must contain the
    term; `earlier` sentences count as repeated.

    Examples
    --------
    >>> answer = "Sure:\n1. The kind neighbor shared soup.\n2. He was kind to all.\n3. Kind words"
    >>> contexts = read_contexts(answer, "kind", Checks())
    >>> contexts.sentences, dict(contexts.rejected)
    (('The kind neighbor shared soup.',), {'gendered': 1, 'length': 1})
    """
    text = _INVISIBLE.sub("", answer[:_SPAN])
    folded_earlier = {_fold_words(sentence) for sentence in earlier}
    passed: list[str] = []
    rejected: Counter[str] = Counter()
    for sentence in _split_sentences(text):
        folded = _fold_words(sentence)
        if reason := find_fault(sentence, term, checks) or (
            "repeated" if folded in folded_earlier else None
        ):
            rejected[reason] += 1
        else:
            passed.append(sentence)
            folded_earlier.add(folded)
    # A refusal is a sentence too, rejected as one; it counts once and as what it is.
    if not passed and is_refusal(text):
        rejected = Counter(refused=1)
    elif not passed and not rejected:
        rejected = Counter(empty=1)
    return ContextReading(tuple(passed), rejected)


def find_fault(sentence: str, term: str, checks: Checks) -> str | None:
    """Return which of `REASONS` rejects a sentence; None if it passes.

    It must contain the term as a separate word, not as part of a hyphenated word. One occurrence is
    exempt from the other checks, so a term may be a gendered word or a name.

    Examples
    --------
    >>> find_fault("The teacher thanked Mary for being kind.", "kind", Checks())
    'name'
    """
    match = _term_pattern(term).search(sentence)
    if match is None:
        return "no_term"
    # Underscores, which no pattern takes for letters, keep the places of the other words.
    rest = f"{sentence[: match.start()]}{'_' * len(match[0])}{sentence[match.end() :]}"
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
def _term_pattern(term: str) -> re.Pattern[str]:
    """Make the pattern of a term as separate words; cached, as many sentences hold one term."""
    spaced = r"\s+".join(map(re.escape, term.split()))
    inside = r"\w\u0300-\u036f\u2010\u2011-"  # letters, marks over them, hyphens
    return re.compile(rf"(?<![{inside}]){spaced}(?![{inside}])", re.IGNORECASE)


def _names_someone(sentence: str, checks: Checks) -> bool:
    """Return whether a word is a given name, or capitalised not just because of its position."""
    for number, match in enumerate(_WORD.finditer(sentence)):
        word = match[0]
        folded = word.casefold()
        if not word[0].isupper() or folded in CAPITALISED:
            continue
        if folded in checks.names:
            return True
        if len(word) > 1 and word.isupper():  # an acronym, or a word in capitals
            continue
        if number:
            return True
        if folded not in STARTING and checks.is_word and not checks.is_word(folded):
            return True
    return False


def _fold_words(sentence: str) -> str:
    """Reduce a sentence to its words in lower case, to tell it from others."""
    return " ".join(_WORD.findall(sentence.casefold()))


def _split_sentences(text: str) -> Iterator[str]:
    """Split an answer into sentences; text that only introduces them is dropped."""
    values = json_values(text.strip().removeprefix("```json").strip("`").strip())
    if values is None:
        lines = _LINES.split(text)
    else:
        lines = [value for value in values if isinstance(value, str)]
    for line in lines:
        point = _unquote(" ".join(_POINT.sub("", _MARKS.sub("", line)).split()))
        for piece in _BETWEEN.split(point):
            sentence = _unquote(piece.strip())
            introduces = sentence.endswith((":", "：")) or _PREFACE.search(sentence)
            if any(map(str.isalnum, sentence)) and not introduces:
                yield sentence


def _unquote(text: str) -> str:
    """Strip quotation marks around the whole, and an unclosed one."""
    if not (closing := _QUOTES.get(text[:1])):
        return text
    inner = text[1:].removesuffix(closing)
    parted = text[0] in inner or closing in inner and closing != "’"
    never_closed = closing == "’" and not text.endswith(closing)
    return text if parted or never_closed else inner.strip()
