"""Read synonyms from what a model answered, in whatever shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tiltmeter.stimuli.drafting.drafts import plain_text
from tiltmeter.stimuli.words import word_key

__all__ = ["Reading", "read_synonyms"]

_SEPARATOR = re.compile(r"\s+[-–—~]+\s+|\s*(?:[-=–—]+>|→|⇒|[:=\t|–—])\s*")
_LEADING = re.compile(r"^\s*(?:[-*•+]\s+|\(?\d{1,3}[.):]\s*)+")
_WRAPPED = " \t*_`\"'“”‘’[](){}.,;"
#: A line is a word and its synonym; longer ones are prose.
_LONGEST_LINE = 2_000
_SEPARATORS_A_PIECE = 6


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
