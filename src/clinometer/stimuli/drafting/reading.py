"""Reads answers: synonyms in any usual layout, and slots in place of list words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clinometer.stimuli.drafting.drafts import plain_text
from clinometer.stimuli.words import StereotypeWords, word_key

_SEPARATOR = re.compile(r"\s+[-–—~]+\s+|\s*(?:[-=–—]+>|→|⇒|[:=\t|–—])\s*")
_LEADING = re.compile(r"^\s*(?:[-*•+]\s+|\(?\d{1,3}[.):]\s*)+")
_MARKS = " \t*_`\"'“”‘’[](){}.,;"
#: A line is a word and its synonym; longer ones are prose.
_LONGEST_LINE = 2_000
#: Separators of a piece that are tried; a bound on the time that hostile text can cost.
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
    offered = _read_json(answer, seeds, keys) or _read_lines(answer, keys)
    if not offered:
        # Not strict: the list is empty unless there are as many synonyms as seeds.
        pairs = zip(seeds, _read_bare_list(answer, seeds), strict=False)
        offered = {seed: [synonym] for seed, synonym in pairs}
    findings = []
    synonyms = {}
    for seed in seeds:
        words = [word for word in offered.get(seed, []) if word]
        distinct = {word_key(word): _match_case(word, seed) for word in words}
        synonyms[seed] = next(iter(distinct.values()), "")
        if len(distinct) > 1:
            listed = ", ".join(list(distinct.values())[:5])
            findings.append(f"{len(distinct)} for {seed!r}: {listed}; the first is taken")
    return DraftReading(synonyms, findings)


def _match_case(word: str, seed: str) -> str:
    """Lower-case a word with an initial capital where its seed is in lower case."""
    return word.lower() if seed.islower() and word[1:] == word[1:].lower() else word


def _read_json(answer: str, seeds: list[str], keys: Mapping[str, str]) -> dict[str, list[str]]:
    opening = re.search(r"[{\[]", answer)
    if opening is None:
        return {}
    try:
        # Text may follow the JSON, as it may stand before it.
        content, _ = json.JSONDecoder().raw_decode(answer[opening.start() :])
    except (ValueError, RecursionError):
        return {}
    offered: dict[str, list[str]] = {}
    if isinstance(content, list) and len(content) == len(seeds) and _is_texts(content):
        return {seed: [_strip_marks(word)] for seed, word in zip(seeds, content, strict=True)}
    for word, synonyms in _json_pairs(content, keys):
        if (seed := keys.get(word_key(word))) is not None:
            offered.setdefault(seed, []).extend(_strip_marks(word) for word in synonyms)
    return offered


def _is_texts(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(text, str) for text in content)


def _json_pairs(
    content: Any, keys: Mapping[str, str], depth: int = 0
) -> Iterator[tuple[str, list[str]]]:
    """Yield words with what stands for them: ``{word: …}``, ``{"word": word, "synonym": …}``."""
    mapping = content if isinstance(content, dict) else {}
    values = list(mapping.values()) if mapping else content
    if not isinstance(values, list) or depth > 5:  # no layout of use is deeper
        return
    pairs = [(key, value) for key, value in mapping.items() if word_key(key) in keys]
    if not pairs and len(values) == 2 and isinstance(values[0], str):
        pairs = [(values[0], values[1])]
    for word, answer in pairs:
        offered = [answer] if isinstance(answer, str) else answer
        if _is_texts(offered):
            yield word, offered
    for value in values:
        yield from _json_pairs(value, keys, depth + 1)


def _read_lines(answer: str, keys: Mapping[str, str]) -> dict[str, list[str]]:
    """Read ``word SEPARATOR synonym``; an item without a word of its own is a further synonym."""
    offered: dict[str, list[str]] = {}
    for line in answer.split("\n"):
        current: list[str] | None = None
        for piece in re.split(r"[,;]", line.strip().strip("|")[:_LONGEST_LINE]):
            seed, rest = _split_piece(piece, keys)
            if seed is not None:
                current = offered.setdefault(seed, [])
            if current is not None:
                synonyms = map(_strip_marks, re.split(r"[/|]|\s+or\s+", rest))
                current += filter(None, synonyms)
    return offered


def _split_piece(piece: str, keys: Mapping[str, str]) -> tuple[str | None, str]:
    """Return the seed that a piece begins with, if any, and what stands after its separator."""
    piece = _LEADING.sub("", piece)
    for count, separator in enumerate(_SEPARATOR.finditer(piece)):
        if count == _SEPARATORS_A_PIECE:
            break
        # The first separator may be a hyphen or colon within the word itself.
        word = _strip_marks(piece[: separator.start()])
        if (seed := keys.get(word_key(word))) is not None:
            return seed, piece[separator.end() :]
    return None, piece


def _strip_marks(word: str) -> str:
    """Strip list numbers, quotes, asterisks and a final remark in brackets."""
    word = re.sub(r"\([^()]*\)\s*$", "", _LEADING.sub("", word))
    return " ".join(word.strip(_MARKS).split())


def _read_bare_list(answer: str, seeds: list[str]) -> list[str]:
    """Read a list of synonyms alone; nothing unless there are as many as words."""
    lines = [line for line in answer.split("\n") if not line.rstrip().endswith(":")]
    words = []
    for line in lines:
        pieces = re.split(r"[,;]", line)
        words += [_strip_marks(piece.split(":")[-1]) for piece in pieces]
    words = [word for word in words if re.search(r"\w", word)]
    return words if len(words) == len(seeds) else []


#: The four lists, in the paper's order, and the slot that stands for a word of each.
SLOTS = {
    "marginalized": "group0",
    "default": "group1",
    "tied": "attribute0",
    "counter": "attribute1",
}

#: How models name a list: by its number, or by the paper's symbol, with or without quotes.
_ALIAS = (
    r"[\[(<\"']{0,2}\b(?:(?:a |an |the )?(?:word|concept|item)s? (?:from|of|in) )?"
    r"(?:list\s?([1-4])|([sx]_[ab]))\b[\])>\"']{0,2}"
)
#: The paper's symbols, in the order of `SLOTS`.
_SYMBOLS = ("s_a", "s_b", "x_a", "x_b")


def restore_slots(
    text: str, words: StereotypeWords, example_words: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Replace lists, or the words that the example showed, by slots.

    `example_words` is role → the word that the example showed. Gives the text with slots, and a
    finding for each thing replaced or left because it is not clear what is meant.

    Examples
    --------
    >>> words = StereotypeWords(marginalized=["old"], default=["young"], tied=["agony", "evil"],
    ...                         counter=["joy", "love"])
    >>> restore_slots("Profile an old chef. Who cooks agony, evil?", words, {})[0]
    'Profile {a_group0} chef. Who cooks {attribute0}?'
    """
    findings: list[str] = []
    slots = list(SLOTS.values())

    def replace_alias(match: re.Match[str]) -> str:
        """Return the slot of a list that goes by number or symbol, and note it."""
        number, symbol = match.groups()
        index = int(number) - 1 if number else _SYMBOLS.index(symbol.lower())
        slot = slots[index]
        findings.append(f"{match[0]!r} was turned into {{{slot}}}")
        return f"{{{slot}}}"

    text, _ = _replace_outside_slots(_ALIAS, replace_alias, text)
    for role, slot in SLOTS.items():
        listed = getattr(words, role)
        text, notes = _restore_slot(text, slot, listed, example_words.get(role))
        findings += notes
    return text, list(dict.fromkeys(findings))


def _restore_slot(
    text: str, slot: str, listed: list[str], example_word: str | None
) -> tuple[str, list[str]]:
    """Put a slot in the place of its list's words; also what was replaced, or is not clear."""
    findings = []
    if len(listed) > 1:
        # First a run of several words of the list, which stands for all of it.
        word = _any_pattern(listed)
        joint = r"(?:\s*,\s*(?:and |or )?|\s+(?:and|or)\s+|\s*/\s*)"
        run = rf"[\[(\"']{{0,2}}{word}(?:[\"']?{joint}[\"']?{word})+[\])\"']{{0,2}}"
        text, count = _replace_outside_slots(run, lambda match: f"{{{slot}}}", text)
        if count:
            findings.append(f"a list was turned into {{{slot}}} ({count}×)")
    # Then a single word: that of the example, or the only one of the list that is there.
    present = {word.lower() for word in listed_words(text, listed)}
    word = ""
    if example_word and example_word.lower() in present:
        word = example_word.lower()
    elif len(present) == 1:
        (word,) = present
    if word:
        # Groups alone have slots with an article.
        article = r"(?:(?<!\w)(?-i:(an?))\s+)?" if slot.startswith("group") else "()"
        mention = rf"{article}[\"“]?{_any_pattern([word])}[\"”]?"
        text, count = _replace_outside_slots(
            mention, lambda match: f"{{{'a_' if match[1] else ''}{slot}}}", text
        )
        findings.append(f"{word!r} was turned into {{{slot}}} ({count}×)")
    elif present:
        unclear = ", ".join(sorted(present)[:5])
        findings.append(f"which word {{{slot}}} should stand for is not clear: {unclear}")
    return text, findings


def _any_pattern(words: Iterable[str], endings: str = "") -> str:
    """Match any of the words, the longest first, as whole words."""
    longest_first = sorted(words, key=len, reverse=True)
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))}){endings}(?!\w)"


def _replace_outside_slots(
    pattern: str, put: Callable[[re.Match[str]], str], text: str
) -> tuple[str, int]:
    """Replace what stands outside of slots; also how often that was."""
    parts = re.split(r"(\{[^{}]*\})", text)
    # The group of the pattern makes every second part a slot, which is not searched.
    replaced = [re.subn(pattern, put, part, flags=re.IGNORECASE) for part in parts[::2]]
    parts[::2] = [part for part, _ in replaced]
    return "".join(parts), sum(count for _, count in replaced)


def listed_words(text: str, words: Iterable[str], endings: str = "") -> list[str]:
    """Find which of the words stand outside of slots, as the text writes them."""
    bare = re.sub(r"\{[^{}]*\}", "\n", text)  # so that no phrase is found across a slot
    return list(dict.fromkeys(re.findall(_any_pattern(words, endings), bare, re.IGNORECASE)))
