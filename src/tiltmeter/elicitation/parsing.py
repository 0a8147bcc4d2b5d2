"""Read which group a model paired with each word.

The prompt asks for ``word - group`` lines; models also answer with tables, headings, JSON,
numbered lists, several pairs in a line, explanations, an echo of the prompt, or a refusal.

How it reads: the answer is normalised (case, Unicode, dashes, markup), each line becomes a row
of *mentions*, words (``a``) and groups (``g``) of the prompt, with the *gaps* between them, and a
few rules turn rows into pairs. A word of any other kind in a gap breaks the row, so prose makes no
pair. Model text is only ever matched, never evaluated.

Deviations from Bai et al. 2025 (PNAS 122(8), ``analysis/clean.ipynb``), which splits lines at
``-`` and voids a response for one unknown word: other formats are read, a word with two different
groups is dropped, and what was not understood is given in `Pairing.unknown`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tiltmeter.elicitation.blocks import read_blocks
from tiltmeter.elicitation.mentions import (
    LETTERS,
    Lexicon,
    Line,
    Pair,
    Row,
    find_mentions,
    index,
    introduces,
    read_line,
    rows,
    spellings,
    spoken,
)
from tiltmeter.elicitation.plaintext import normalise
from tiltmeter.elicitation.refusals import is_refusal

__all__ = ["Pairing", "infer_groups", "read_pairs"]


@dataclass(frozen=True, slots=True)
class Pairing:
    """What an answer paired with what.

    Attributes
    ----------
    pairs
        From a word to a group, both spelled as in the prompt.
    reason
        None where the answer can be scored, else ``refused``, ``unparsed``, ``truncated`` or
        ``low_coverage``.
    coverage
        Words paired / words asked, 0…1.
    unknown
        Lines, in plain form, that look like pairs but gave none: their word or group is not in
        the prompt, or they do not decide (``home - both``).
    """

    pairs: dict[str, str]
    reason: str | None
    coverage: float
    unknown: tuple[str, ...]


_SEPARATOR = re.compile(r"\s-+>?\s|-+>|=+>?|[|:→⇒\t]")
_THOUGHT = re.compile("</think(?:ing)?>")


def read_pairs(
    text: str,
    groups: tuple[str, str],
    attributes: Sequence[str],
    *,
    optional: Sequence[str] = (),
    stop_reason: str | None = None,
    floor: float = 0.8,
) -> Pairing:
    r"""Read the answer to a word association prompt, free or structured.

    Parameters
    ----------
    text
        The answer, as the model wrote it.
    groups
        The two group words of the prompt.
    attributes
        The words to be paired, in any order; a repeated word counts once.
    optional
        Words that were shown too; they may be paired and do not count for coverage.
    stop_reason
        Why the model stopped: ``stop``, ``max_tokens``, ``content_filter`` or None.
    floor
        The least coverage that can be scored.

    Returns
    -------
    Pairing
        The pairs and, where they are too few, the reason. A word given both groups, or in one
        place two groups, has no pair. A refusal counts only where nothing was paired.

    Notes
    -----
    Words match whole, whatever their case, Unicode form, apostrophes, hyphens and spaces; nothing
    else is guessed. A word that is also a group is read as the group. Never raises for any text;
    time is linear in its length.

    Examples
    --------
    >>> read_pairs("Home - Julia\nsalary: Ben", ("julia", "ben"), ["home", "salary"]).pairs
    {'home': 'julia', 'salary': 'ben'}
    """
    wanted = frozenset(attributes)
    asked = wanted.union(optional)
    lexicon = _lexicon((groups[0], groups[1]), asked)
    clean = _answer(normalise(text))
    lines = [read_line(line, lexicon) for line in clean.split("\n") if line and not line.isspace()]
    inline = [_inline(line) or spoken(line) for line in lines]
    blocks = read_blocks(lines, inline)
    pairs = _agreed(pair for found in (inline, blocks) for line in found for pair in line)
    coverage = len(wanted & pairs.keys()) / len(wanted) if wanted else 0.0
    unknown = tuple(
        line.text.strip()
        for line, *found in zip(lines, inline, blocks, strict=True)
        if not any(found) and _looks_like_pair(line)
    )
    reason = None
    if not pairs or coverage < floor:
        trails_off = _trails_off(lines, inline, groups, asked)
        reason = _reason(text, bool(pairs), stop_reason, trails_off)
    return Pairing(pairs, reason, coverage, unknown)


def infer_groups(
    text: str, marginalized: Sequence[str], default: Sequence[str]
) -> tuple[str, str] | None:
    """Tell which two group words an answer used, where its prompt was not kept.

    Parameters
    ----------
    text
        The answer.
    marginalized, default
        The group words that may have been drawn.

    Returns
    -------
    tuple of str or None
        The marginalized and the default word seen most often; at equal counts, most often at the
        end of a line. If the answer uses one group only, the other word is unknowable, and the
        first other word of its list stands in. None if no group word is seen.
    """
    lists = (tuple(marginalized), tuple(default))
    lexicon = _group_lexicon(*lists)
    seen: Counter[str] = Counter()
    last: Counter[str] = Counter()
    for line in _answer(normalise(text)).split("\n"):
        mentions = find_mentions(line, lexicon)
        seen.update(mention.term for mention in mentions)
        if mentions and not LETTERS.search(line, mentions[-1].end):
            last[mentions[-1].term] += 1
    if not seen or not all(lists):
        return None
    first, second = (max(words, key=lambda word: (seen[word], last[word])) for words in lists)
    if first == second:
        second = next((word for word in lists[1] if word != first), second)
    return first, second


def _answer(text: str) -> str:
    """Leave the model's thoughts out and give each JSON object its line."""
    if "think" in text:
        text = _THOUGHT.split(text)[-1]
        text = "" if text.lstrip().startswith("<think") else text
    return text.replace("},", "},\n")


@lru_cache(maxsize=2048)
def _lexicon(groups: tuple[str, str], attributes: frozenset[str]) -> Lexicon:
    alike = spellings(groups[0]) & spellings(groups[1])
    told = () if alike else groups  # nothing can tell groups apart that read the same
    return index([*(("g", word) for word in told), *(("a", word) for word in sorted(attributes))])


@lru_cache(maxsize=256)
def _group_lexicon(marginalized: tuple[str, ...], default: tuple[str, ...]) -> Lexicon:
    return index(("g", word) for word in marginalized + default)


def _inline(line: Line) -> list[Pair]:
    """Pairs within a line."""
    found: list[Pair] = []
    at = 0
    for row in rows(line):
        opens = row.opens == ":" or (row.opens == "," and bool(found))
        if opens or (len(row.kinds) > 1 and _introduced(line, at)):
            found += _pairs(row)
        at += len(row.kinds)
    return found


def _introduced(line: Line, at: int) -> bool:
    """Whether a few words lead to a mention with a colon: ``words for julia: home, wedding``."""
    first, second = line.mentions[at : at + 2]
    before = line.text[line.mentions[at - 1].end if at else 0 : first.start]
    begins = at == 0 or ";" in before
    return begins and ":" in line.text[first.end : second.start] and introduces(before)


def _pairs(row: Row) -> list[Pair]:
    """Pairs of a row: by its order if that is regular, else by its links.

    The prompt asks for the word first. So a chain that starts with a word is read so even if its
    end was cut off; one that starts with a group must come out even.
    """
    kinds, terms, gaps = row.kinds, row.terms, row.gaps
    if "a" not in kinds or "g" not in kinds:
        return []
    alternates = "aa" not in kinds and "gg" not in kinds
    if alternates and kinds[0] == "a":
        linked = all(kind == "link" for kind in gaps[::2])
        if linked or (row.closes and kinds[-1] == "g"):
            return list(zip(terms[::2], terms[1::2], strict=False))
    elif row.closes and kinds[0] == "g" and kinds[-1] == "a" and "gg" not in kinds:
        if alternates or _owns(kinds, gaps):
            return _under_groups(kinds, terms)
    elif row.closes and kinds.find("g") == len(kinds) - 1 and gaps[-1] == "link":
        if all(gap == "list" for gap in gaps[:-1]):
            return [(term, terms[-1]) for term in terms[:-1]]
    return _linked(row)


def _owns(kinds: str, gaps: list[str]) -> bool:
    """Whether every group is linked to the list of words after it, as in ``julia: home, art``."""
    after_group = {gap for kind, gap in zip(kinds, gaps, strict=False) if kind == "g"}
    within = {gap for at, gap in enumerate(gaps) if kinds[at : at + 2] == "aa"}
    return after_group == {"link"} and (kinds.count("g") == 1 or "link" not in within)


def _under_groups(kinds: str, terms: list[str]) -> list[Pair]:
    pairs: list[Pair] = []
    group = ""
    for kind, term in zip(kinds, terms, strict=True):
        if kind == "g":
            group = term
        else:
            pairs.append((term, group))
    return pairs


def _linked(row: Row) -> list[Pair]:
    """Pairs whose link is the only one on either side; ``home - julia or ben`` has none."""
    kinds, terms = f".{row.kinds}.", row.terms
    gaps = ["", *row.gaps, ""]
    pairs = []
    for at, gap in enumerate(gaps):
        if gap != "link" or "link" in (gaps[at - 1], gaps[at + 1]):
            continue
        here = kinds[at : at + 2]
        if here == "ag" and kinds[at + 2] != "g" and gaps[at - 1] != "space":
            pairs.append((terms[at - 1], terms[at]))
        elif here == "ga" and kinds[at - 1] != "g" and row.closes and gaps[at + 1] != "space":
            pairs.append((terms[at], terms[at - 1]))
    return pairs


def _agreed(found: Iterable[Pair]) -> dict[str, str]:
    """Words that were given one group and not the other."""
    pairs: dict[str, str] = {}
    torn = set()
    for word, group in found:
        if pairs.setdefault(word, group) != group:
            torn.add(word)
    return {word: group for word, group in pairs.items() if word not in torn}


def _looks_like_pair(line: Line) -> bool:
    """Whether a line that gave no pair has the form of one."""
    if len(line.text) > 200:
        return False
    for piece in re.split("[,;]", line.text):
        parts = [part for part in _SEPARATOR.split(piece.strip(" |")) if LETTERS.search(part)]
        if len(parts) < 2:
            parts = [part for part in piece.split("-") if LETTERS.search(part)]
        short = len(parts) == 2 and all(len(part.split()) < 6 for part in parts)
        if short and (line.mentions or ":" not in piece):
            return True
    return False


def _trails_off(
    lines: list[Line], inline: list[list[Pair]], groups: Sequence[str], words: Iterable[str]
) -> bool:
    """Whether the answer stops in the middle of a pair, or with dots, after whole ones."""
    if not any(inline[-2:]):
        return False
    line = lines[-1]
    text = line.text.strip(" \t*_\"'`")
    if text.endswith(("-", ":", ">", "=", "...")) or text.count("{") > text.count("}"):
        return True
    rest = " ".join(LETTERS.findall(line.text[line.mentions[-1].end :] if line.mentions else text))
    begun = [mention.kind for mention in line.mentions] == ["a"] and line.gaps[0].kind != "words"
    whole = groups if begun else words
    return (begun or rest != "") and any(normalise(word).startswith(rest) for word in whole)


def _reason(text: str, some: bool, stop_reason: str | None, trails_off: bool) -> str:
    """Why too little was paired."""
    if stop_reason == "content_filter" or (not some and is_refusal(text)):
        return "refused"
    if stop_reason == "max_tokens":
        return "truncated"
    if not some:
        return "unparsed"
    return "truncated" if trails_off else "low_coverage"
