"""Reads answers: synonyms in any usual layout, and slots in place of list words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clinometer.stimuli.drafting.drafts import plain_text
from clinometer.stimuli.words import StereotypeWords, word_key

__all__ = ["DraftReading", "SLOTS", "listed_words", "read_synonyms", "restore_slots"]

_SEPARATOR = re.compile(r"\s+[-–—~]+\s+|\s*(?:[-=–—]+>|→|⇒|[:=\t|–—])\s*")
_LEADING = re.compile(r"^\s*(?:[-*•+]\s+|\(?\d{1,3}[.):]\s*)+")
_WRAPPED = " \t*_`\"'“”‘’[](){}.,;"
#: A line is a word and its synonym; longer ones are prose.
_LONGEST_LINE = 2_000
_SEPARATORS_A_PIECE = 6


@dataclass(frozen=True)
class DraftReading:
    """One synonym per word, empty where the answer has none, and findings."""

    synonyms: Mapping[str, str]
    findings: list[str]


def read_synonyms(answer: str, seeds: list[str]) -> DraftReading:
    r"""Read synonyms of `seeds`, the words asked about, from an answer in any usual shape.

    JSON, a table, lines or a comma list of ``word - synonym``, or synonyms alone in the order of
    `seeds`. Never raises on what a model wrote; what is not understood is no synonym.

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
        distinct = {word_key(word): _cased(word, seed) for word in offered.get(seed, []) if word}
        synonyms[seed] = next(iter(distinct.values()), "")
        if len(distinct) > 1:
            listed = ", ".join(list(distinct.values())[:5])
            findings.append(f"{len(distinct)} for {seed!r}: {listed}; the first is taken")
    return DraftReading(synonyms, findings)


def _cased(word: str, seed: str) -> str:
    """Lower-case a word with an initial capital where its seed is in lower case."""
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
    """Read ``word SEPARATOR synonym``; an item without a word of its own is a further synonym."""
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
    """Strip list numbers, quotes, asterisks and a final remark in brackets."""
    word = re.sub(r"\([^()]*\)\s*$", "", _LEADING.sub("", word))
    return " ".join(word.strip(_WRAPPED).split())


def _in_order(answer: str, seeds: list[str]) -> list[str]:
    """Read a list of synonyms alone; nothing unless there are as many as words."""
    lines = [line for line in answer.split("\n") if not line.rstrip().endswith(":")]
    items = [_bare(item.split(":")[-1]) for line in lines for item in re.split(r"[,;]", line)]
    words = [item for item in items if re.search(r"\w", item)]
    return words if len(words) == len(seeds) else []


#: The four lists, in the paper's order, and the slot that stands for a word of each.
SLOTS = {
    "marginalized": "group0",
    "default": "group1",
    "tied": "attribute0",
    "counter": "attribute1",
}

#: How models name a list: by its number, or by the paper's symbol.
_ALIAS = (
    r"[\[(<\"']{0,2}\b(?:(?:a |an |the )?(?:word|concept|item)s? (?:from|of|in) )?"
    r"(?:list\s?([1-4])|([sx]_[ab]))\b[\])>\"']{0,2}"
)
_SYMBOLS = ("s_a", "s_b", "x_a", "x_b")


def restore_slots(
    text: str, words: StereotypeWords, shown: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Replace lists, or the words that the example showed, by slots.

    `shown` is role → the word that the example showed. Gives the text with slots, and a finding for
    each thing replaced or left because it is not clear what is meant.

    Examples
    --------
    >>> words = StereotypeWords(marginalized=["old"], default=["young"], tied=["agony", "evil"],
    ...                         counter=["joy", "love"])
    >>> restore_slots("Profile an old chef. Who cooks agony, evil?", words, {})[0]
    'Profile {a_group0} chef. Who cooks {attribute0}?'
    """
    findings: list[str] = []
    slots = list(SLOTS.values())

    def alias(match: re.Match[str]) -> str:
        slot = slots[int(match[1]) - 1 if match[1] else _SYMBOLS.index(match[2].lower())]
        findings.append(f"{match[0]!r} was turned into {{{slot}}}")
        return f"{{{slot}}}"

    text, _ = _outside(_ALIAS, alias, text)
    for role, slot in SLOTS.items():
        text, notes = _restored(text, slot, getattr(words, role), shown.get(role))
        findings += notes
    return text, list(dict.fromkeys(findings))


def _restored(text: str, slot: str, listed: list[str], shown: str | None) -> tuple[str, list[str]]:
    findings = []
    if len(listed) > 1:
        word = _any_of(listed)
        joint = r"(?:\s*,\s*(?:and |or )?|\s+(?:and|or)\s+|\s*/\s*)"
        run = rf"[\[(\"']{{0,2}}{word}(?:[\"']?{joint}[\"']?{word})+[\])\"']{{0,2}}"
        text, count = _outside(run, lambda match: f"{{{slot}}}", text)
        findings += [f"a list was turned into {{{slot}}} ({count}×)"] if count else []
    present = {word.lower() for word in listed_words(text, listed)}
    meant = {shown.lower()} & present if shown else set()
    meant = meant or (present if len(present) == 1 else set())
    if meant:
        word = meant.pop()
        article = r"(?:(?<!\w)(?-i:(an?))\s+)?" if slot.startswith("group") else "()"
        one = rf"{article}[\"“]?{_any_of([word])}[\"”]?"
        text, count = _outside(one, lambda m: f"{{{'a_' if m[1] else ''}{slot}}}", text)
        findings.append(f"{word!r} was turned into {{{slot}}} ({count}×)")
    elif present:
        unclear = ", ".join(sorted(present)[:5])
        findings.append(f"which word {{{slot}}} should stand for is not clear: {unclear}")
    return text, findings


def _any_of(words: Iterable[str], endings: str = "") -> str:
    """Match any of the words, the longest first, as whole words."""
    longest_first = sorted(words, key=len, reverse=True)
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))}){endings}(?!\w)"


def _outside(pattern: str, put: Callable[[re.Match[str]], str], text: str) -> tuple[str, int]:
    """Replace what stands outside of slots; how often that was."""
    parts = re.split(r"(\{[^{}]*\})", text)
    replaced = [re.subn(pattern, put, part, flags=re.IGNORECASE) for part in parts[::2]]
    parts[::2] = [part for part, _ in replaced]
    return "".join(parts), sum(count for _, count in replaced)


def listed_words(text: str, words: Iterable[str], endings: str = "") -> list[str]:
    """Find which of the words stand outside of slots, as the text writes them."""
    bare = re.sub(r"\{[^{}]*\}", "\n", text)
    return list(dict.fromkeys(re.findall(_any_of(words, endings), bare, re.IGNORECASE)))
