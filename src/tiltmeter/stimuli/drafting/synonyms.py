"""Synonyms of a stereotype's words: the paper's prompt, reading the answer, checks.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, SI section E: GPT-4 was
    asked for synonyms of the attribute words.

Deviations from the paper
    The words of both sets are asked for in one list, tied ones first; the paper does not say
    whether they were. What the authors looked for by eye is written down as checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tiltmeter.errors import StudyError
from tiltmeter.stimuli.drafting.drafts import SynonymCandidate, plain_text
from tiltmeter.stimuli.drafting.valence import Lexicon, check_valence
from tiltmeter.stimuli.study import Stereotype, Word, Words, word_key

__all__ = [
    "PROMPT",
    "Reading",
    "check_synonyms",
    "read_synonyms",
    "seed_variation",
    "seed_words",
    "synonym_candidate",
    "synonym_prompt",
]

#: Bai et al. (2025), SI section E, word for word.
PROMPT = "Generate one synonym for each word in the following list: {words}"

LONGEST_PHRASE = 4

_SEPARATOR = re.compile(r"\s+[-–—~]+\s+|\s*(?:[-=–—]+>|→|⇒|[:=\t|–—])\s*")
_LEADING = re.compile(r"^\s*(?:[-*•+]\s+|\(?\d{1,3}[.):]\s*)+")
_WRAPPED = " \t*_`\"'“”‘’[](){}.,;"
#: A line is a word and its synonym; longer ones are prose.
_LONGEST_LINE = 2_000
_SEPARATORS_A_PIECE = 6
_SUFFIXES = ("fulness", "ness", "ment", "ingly", "edly", "fully", "ing", "est", "ful", "ies",
             "ied", "ers", "ed", "es", "er", "ly", "al", "s", "e", "y")  # fmt: skip


def seed_variation(stereotype: Stereotype) -> str | None:
    """Name the decision that drafts start from: `replication`, else the first in one prompt."""
    known = stereotype.decisions.relative_decision
    for name in ("replication", *known):
        decision = known.get(name)
        if decision is not None and decision.wording and not decision.followup:
            return name
    return None


def seed_words(stereotype: Stereotype, instrument: str = "word_association") -> Words:
    """Return the words that synonyms are asked for.

    Parameters
    ----------
    stereotype
        Of a study.
    instrument
        ``"word_association"``, or ``"relative_decision"`` for the words of the seed decision.

    Returns
    -------
    Words

    Raises
    ------
    StudyError
        If the stereotype has no decision to start from.
    """
    if instrument == "word_association":
        return stereotype.words("")
    name = seed_variation(stereotype)
    if name is None:
        raise StudyError(
            f"stereotype {stereotype.label!r} has no relative_decision in one prompt to start "
            "from; add one, or name others with --stereotypes"
        )
    return stereotype.decision_words(instrument, name)


def synonym_prompt(words: Words) -> str:
    """Write the paper's prompt for the words of both sets."""
    return PROMPT.replace("{words}", ", ".join(words.tied + words.counter))


@dataclass(frozen=True)
class Reading:
    """What an answer says: one synonym a word, empty where there is none."""

    synonyms: Mapping[str, str]
    findings: list[str]


def read_synonyms(answer: str, seeds: list[str]) -> Reading:
    r"""Read synonyms from an answer in any usual shape.

    Parameters
    ----------
    answer
        JSON, a table, lines or a comma list of ``word - synonym``, or synonyms alone in the
        order of `seeds`.
    seeds
        The words that were asked about.

    Returns
    -------
    Reading
        Never raises on what a model wrote; what is not understood is no synonym.

    Examples
    --------
    >>> read = read_synonyms("1. **Agony** – Torment\n2. joy: delight / glee", ["agony", "joy"])
    >>> read.synonyms
    {'agony': 'torment', 'joy': 'delight'}
    >>> read.findings
    ["2 for 'joy': delight, glee; the first is taken"]
    """
    answer = plain_text(answer)
    keys = {word_key(seed): seed for seed in seeds}
    offered = _from_json(answer, seeds, keys) or _from_lines(answer, keys)
    if not offered:
        offered = {
            seed: [synonym] for seed, synonym in zip(seeds, _in_order(answer, seeds), strict=False)
        }
    findings = []
    synonyms = {}
    for seed in seeds:
        found = {word_key(word): _cased(word, seed) for word in offered.get(seed, []) if word}
        synonyms[seed] = next(iter(found.values()), "")
        if len(found) > 1:
            listed = ", ".join(list(found.values())[:5])
            findings.append(f"{len(found)} for {seed!r}: {listed}; the first is taken")
    return Reading(synonyms, findings)


def _cased(word: str, seed: str) -> str:
    """Write a word small where the seed is and only a heading's capital is in the way."""
    return word.lower() if seed.islower() and word[1:] == word[1:].lower() else word


def _from_json(answer: str, seeds: list[str], keys: Mapping[str, str]) -> dict[str, list[str]]:
    start = min((at for at in (answer.find("{"), answer.find("[")) if at >= 0), default=-1)
    if start < 0:
        return {}
    try:
        content, _ = json.JSONDecoder().raw_decode(answer[start:])
    except (ValueError, RecursionError):
        return {}
    offered: dict[str, list[str]] = {}
    if isinstance(content, list) and len(content) == len(seeds) and _all_text(content):
        return {seed: [_bare(word)] for seed, word in zip(seeds, content, strict=True)}
    for left, right in _json_pairs(content, keys):
        if (seed := keys.get(word_key(left))) is not None:
            offered.setdefault(seed, []).extend(_bare(word) for word in right)
    return offered


def _all_text(items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(item, str) for item in items)


def _json_pairs(
    content: Any, keys: Mapping[str, str], depth: int = 0
) -> Iterator[tuple[str, list[str]]]:
    """Yield words with what stands for them: ``{word: …}``, ``{"word": word, "synonym": …}``."""
    named = content if isinstance(content, dict) else {}
    values = list(named.values()) if named else content
    if not isinstance(values, list) or depth > 5:
        return
    pairs = [(key, value) for key, value in named.items() if word_key(key) in keys]
    if not pairs and len(values) == 2 and isinstance(values[0], str):
        pairs = [(values[0], values[1])]
    for left, right in pairs:
        offered = [right] if isinstance(right, str) else right
        if _all_text(offered):
            yield left, offered
    for value in values:
        yield from _json_pairs(value, keys, depth + 1)


def _from_lines(answer: str, keys: Mapping[str, str]) -> dict[str, list[str]]:
    """Read ``word SEPARATOR synonym``; what follows without a word of its own is one more."""
    offered: dict[str, list[str]] = {}
    for line in answer.split("\n"):
        current: list[str] | None = None
        for piece in re.split(r"[,;]", line.strip().strip("|")[:_LONGEST_LINE]):
            seed, rest = _split(piece, keys)
            if seed is not None:
                current = offered.setdefault(seed, [])
            if current is not None:
                current += [_bare(word) for word in re.split(r"[/|]|\s+or\s+", rest)]
    return {seed: [word for word in words if word] for seed, words in offered.items()}


def _split(piece: str, keys: Mapping[str, str]) -> tuple[str | None, str]:
    piece = _LEADING.sub("", piece)
    for count, separator in enumerate(_SEPARATOR.finditer(piece)):
        if count == _SEPARATORS_A_PIECE:
            break
        left = _bare(piece[: separator.start()])
        if (seed := keys.get(word_key(left))) is not None:
            return seed, piece[separator.end() :]
    return None, piece


def _bare(word: str) -> str:
    """Take off what lists wrap words in: numbers, quotes, stars, a remark in brackets."""
    word = re.sub(r"\([^()]*\)\s*$", "", _LEADING.sub("", word))
    return " ".join(word.strip(_WRAPPED).split())


def _in_order(answer: str, seeds: list[str]) -> list[str]:
    """Read a list of synonyms alone; nothing unless there are as many as words."""
    lines = [line for line in answer.split("\n") if not line.rstrip().endswith(":")]
    items = [_bare(item.split(":")[-1]) for line in lines for item in re.split(r"[,;]", line)]
    words = [item for item in items if re.search(r"\w", item)]
    return words if len(words) == len(seeds) else []


def check_synonyms(tied: Mapping[str, str], counter: Mapping[str, str], words: Words) -> list[str]:
    """Say what is wrong with synonyms.

    Parameters
    ----------
    tied, counter
        Seed → synonym; empty where there is none.
    words
        The lists that the seeds are from.

    Returns
    -------
    list of str
        Findings in words; empty if there are none.

    Examples
    --------
    >>> words = Words(marginalized=["old"], default=["young"], tied=["agony"], counter=["joy"])
    >>> check_synonyms({"agony": "torment"}, {"joy": "joys"}, words)
    ["'joys' for 'joy': only another form of the word"]
    """
    findings = []
    missing = [seed for of in (tied, counter) for seed, synonym in of.items() if not synonym]
    if missing:
        findings.append(f"no synonym for: {', '.join(missing)}")
    roles = {word_key(word): role for role in _ROLES for word in getattr(words, role)}
    for mine, of in (("tied", tied), ("counter", counter)):
        for seed, synonym in of.items():
            problems = _problems(seed, synonym, mine, roles) if synonym else ()
            findings += [f"{synonym!r} for {seed!r}: {problem}" for problem in problems]
    return findings + _twice(tied, counter)


_ROLES = {
    "marginalized": "a group word",
    "default": "a group word",
    "tied": "a word of the tied list",
    "counter": "a word of the counter list",
    "extra": "shown already, as an extra word",
}


def _problems(seed: str, synonym: str, mine: str, roles: Mapping[str, str]) -> Iterator[str]:
    role = roles.get(word_key(synonym))
    if word_key(synonym) == word_key(seed):
        yield "the same word"
    elif _stem(synonym) == _stem(seed):
        yield "only another form of the word"
    elif role is not None:
        yield "another word of its own list" if role == mine else _ROLES[role]
    if len(synonym.split()) > LONGEST_PHRASE:
        yield f"more than {LONGEST_PHRASE} words"
    try:
        _WORD.validate_python(synonym)
    except ValidationError as error:
        yield error.errors()[0]["msg"].removeprefix("Value error, ")


_WORD: TypeAdapter[str] = TypeAdapter(Word)


def _twice(tied: Mapping[str, str], counter: Mapping[str, str]) -> list[str]:
    findings = []
    seeds: dict[str, list[tuple[str, str]]] = {}
    for role, of in (("tied", tied), ("counter", counter)):
        for seed, synonym in of.items():
            if synonym:
                seeds.setdefault(word_key(synonym), []).append((role, seed))
    for key, places in seeds.items():
        if len(places) > 1:
            both = len({role for role, _ in places}) > 1
            where = "in both sets" if both else "twice in the list"
            findings.append(f"{key!r} {where}: for {', '.join(seed for _, seed in places)}")
    return findings


def _stem(word: str) -> str:
    """Take endings off each word of a phrase; crude, since a person reads what it finds."""
    return " ".join(_strip(part) for part in word_key(word).split())


def _strip(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word.removesuffix(suffix)
            break
    return re.sub(r"(.)\1$", r"\1", word).removesuffix("i")


def synonym_candidate(
    key: str, words: Words, prompt: str, answer: str, lexicon: Lexicon | None = None
) -> SynonymCandidate:
    """Make a candidate of an answer.

    Parameters
    ----------
    key
        The stereotype's.
    words
        From `seed_words`.
    prompt, answer
        What was asked and answered; kept as they are.
    lexicon
        To compare valences; None if there is none.

    Returns
    -------
    SynonymCandidate
        Not accepted; never raises on what a model wrote.
    """
    read = read_synonyms(answer, words.tied + words.counter)
    tied = {seed: read.synonyms[seed] for seed in words.tied}
    counter = {seed: read.synonyms[seed] for seed in words.counter}
    valence, drifted = check_valence(tied, counter, lexicon)
    checks = read.findings + check_synonyms(tied, counter, words) + drifted
    return SynonymCandidate(
        stereotype=key, checks=checks, valence=valence, tied=tied, counter=counter, prompt=prompt,
        answer=plain_text(answer),
    )  # fmt: skip
