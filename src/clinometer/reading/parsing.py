"""Read which group a model paired with each word.

The prompt asks for ``word - group`` lines; models also answer with tables, headings, JSON,
numbered lists, several pairs in a line, explanations, an echo of the prompt, or a refusal.

Method: the answer is normalised (case, Unicode, dashes, markup). Each line becomes a row of
*mentions*, words (``a``) and groups (``g``) of the prompt, with the *gaps* between them. Rules
convert rows to pairs. Any other word in a gap ends the row, so prose gives no pair. Model text is
matched, never evaluated.

Deviations from Bai et al. 2025 (PNAS 122(8), ``analysis/clean.ipynb``), which splits lines at ``-``
and discards a response with one unknown word: other formats are read, a word with two different
groups is dropped, and `Pairing.unknown` has the lines that were not understood.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from clinometer.reading.mentions import (
    LETTERS,
    Lexicon,
    Line,
    Pair,
    find_mentions,
    index,
    read_line,
    spellings,
)
from clinometer.reading.near import near_forms, respelled
from clinometer.reading.pieces import read_pieces
from clinometer.reading.plaintext import normalise
from clinometer.reading.refusals import why_unread
from clinometer.reading.rows import read_blocks
from clinometer.reading.versions import settled_pairs, without_slips


class Pairing(NamedTuple):
    """The pairs of words and groups in an answer."""

    pairs: dict[str, str]
    """From a word to a group, both spelled as in the prompt."""
    reason: str | None
    """None if the answer can be scored, else ``refused``, ``unparsed``, ``truncated`` or
    ``low_coverage``."""
    coverage: float
    """Words paired / words asked, 0…1."""
    unknown: tuple[str, ...]
    """Lines, in plain form, that look like pairs but gave none: their word or group is not in
    the prompt, or the line is undecided (``home - both``)."""


_SEPARATOR = re.compile(r"\s-+>?\s|-+>|=+>?|[|:→⇒\t]")
#: Parts of group words that name nobody.
_UNNAMED = frozenset(
    "and are for from has have having not off the their them they who with without person persons "
    "people individual individuals man men woman women boy boys girl girls "
    "first second former latter".split()  # which was named first, rather than its name
)
_TAGGED = re.compile(r"<([^<>/\s][^<>/\n]{0,40})>\s{0,3}([^<>\n]{1,80}?)\s{0,3}</\1>")
_TABLE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_BREAK = re.compile(r"<br ?/?>")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def read_pairs(  # noqa: PLR0913 - what a recorded answer and a study in another language may need
    text: str,
    groups: tuple[str, str],
    attributes: Sequence[str],
    *,
    optional: Sequence[str] = (),
    asked: int | None = None,
    refusals: Sequence[str] = (),
    aliases: Mapping[str, Sequence[str]] = MappingProxyType({}),
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
        Further words that were shown; they may be paired but do not count for coverage.
    asked
        Number of words shown, for recorded answers whose words are not known; `attributes` then
        lists all possible words.
    refusals
        Further phrases that decline, in the language of the study.
    aliases
        Other names of words and groups, by the word.
    stop_reason
        Why the model stopped: ``stop``, ``max_tokens``, ``content_filter`` or None.
    floor
        The smallest coverage that is scored.

    Returns
    -------
    Pairing
        The pairs and, if they are too few, the reason. A word paired with both groups has no pair.
        A refusal counts only if nothing was paired.

    Notes
    -----
    Only whole words match; differences in case, Unicode form, apostrophes, hyphens and spaces are
    ignored. Of a group word of several parts (``jay baker``) one part is enough if the other group
    lacks it and it is none of the words. A word that is also a group is read as the group. Never
    raises for any text; time is linear in its length.

    Examples
    --------
    >>> read_pairs("Home - Julia\nsalary: Ben", ("julia", "ben"), ["home", "salary"]).pairs
    {'home': 'julia', 'salary': 'ben'}
    """
    required = frozenset(attributes)
    words = required.union(optional)
    spelled_otherwise = []
    for term in (*groups, *sorted(words)):
        spelled_otherwise += [(alias, term) for alias in aliases.get(term, ())]
    lexicon = _lexicon((groups[0], groups[1]), words, tuple(spelled_otherwise))
    lines, inline, blocks = _read_lines(text, lexicon)
    pairs = settled_pairs(lines, inline, blocks)
    count = len(required) if asked is None else asked
    coverage = min(1.0, len(required & pairs.keys()) / count) if count > 0 else 0.0
    unknown = []
    for line, pairs_inline, pairs_above in zip(lines, inline, blocks, strict=True):
        if not pairs_inline and not pairs_above and _looks_like_pair(line):
            unknown.append(line.text.strip())
    reason = None
    if not pairs:
        reason = why_unread(text, stop_reason, refusals)
    elif coverage < floor and stop_reason == "content_filter":
        reason = "refused"
    elif coverage < floor:
        cut = stop_reason == "max_tokens" or _trails_off(lines, inline, groups, words)
        reason = "truncated" if cut else "low_coverage"
    return Pairing(pairs, reason, coverage, tuple(unknown))


def find_pairs(text: str, lexicon: Lexicon) -> dict[str, str]:
    """Return the pairs of an answer as `read_pairs` does; a group may have several spellings.

    The lexicon has words (``a``) and groups (``g``), as `mentions.index` makes it.

    Examples
    --------
    >>> from clinometer.reading.mentions import index
    >>> find_pairs("Sheet: Funny.", index([("sheet", "a", "sheet"), ("funny", "g", "comedy")]))
    {'sheet': 'comedy'}
    """
    return settled_pairs(*_read_lines(text, lexicon))


def _read_lines(
    text: str, lexicon: Lexicon
) -> tuple[list[Line], list[list[Pair]], list[list[Pair]]]:
    """Read the lines of an answer, with their pairs within the line and with lines above."""

    def open_tag(tag: re.Match[str]) -> str:
        """Write a pair for a tag whose name is a term: ``<home>julia</home>``."""
        is_term = find_mentions(tag[1].casefold(), lexicon)
        return f"{tag[1]} - {tag[2]}\n" if is_term else tag[0]

    if "<br" in text:  # a cell of a table may list words
        text = _TABLE_ROW.sub(lambda row: _BREAK.sub(", ", row[0]), text)
    if "</" in text:  # tags that are named by the words
        text = _TAGGED.sub(open_tag, text)
    texts = _unpack_objects(normalise(text)).split("\n")
    lines = [read_line(line, lexicon) for line in texts if line and not line.isspace()]
    if near := near_forms(lines, lexicon):
        lines = [read_line(respelled(line.text, near), lexicon) for line in lines]
    lines = [without_slips(line, lexicon) for line in lines]
    inline = [read_pieces(line, lexicon) for line in lines]
    return lines, inline, read_blocks(lines, inline)


def infer_groups(
    text: str, marginalized: Sequence[str], default: Sequence[str]
) -> tuple[str, str] | None:
    """Infer which two group words an answer used, if its prompt was not recorded.

    From each list it is the most frequent word; with equal counts, the most frequent at the end of
    a line. If the answer uses only one group, the first word of the other list is taken. None if
    there is no group word.
    """
    lists = (tuple(marginalized), tuple(default))
    lexicon = _group_lexicon(lists[0], lists[1])
    counts = Counter[str]()
    line_end_counts = Counter[str]()
    for line in _unpack_objects(normalise(text)).split("\n"):
        mentions = find_mentions(line, lexicon)
        counts.update(mention.term for mention in mentions)
        if mentions and not LETTERS.search(line, mentions[-1].end):
            line_end_counts[mentions[-1].term] += 1
    if not counts or not all(lists):
        return None
    first, second = (
        max(words, key=lambda word: (counts[word], line_end_counts[word])) for words in lists
    )
    if first == second:  # a word that stands in both lists
        second = next((word for word in lists[1] if word != first), second)
    return first, second


def _unpack_objects(text: str) -> str:
    """Decode JSON and put each object on a line."""
    if "\\u" in text:
        text = _ESCAPE.sub(lambda match: normalise(chr(int(match[1], 16))), text)
    return text.replace("},", "},\n")


@lru_cache(maxsize=2048)
def _lexicon(
    groups: tuple[str, str], attributes: frozenset[str], aliases: tuple[tuple[str, str], ...]
) -> Lexicon:
    if spellings(groups[0]) & spellings(groups[1]):
        distinct: tuple[str, ...] = ()  # groups with equal spellings cannot be distinguished
    else:
        distinct = groups
    # Groups first: of equal spellings `index` takes the first.
    terms = [*((word, "g") for word in distinct), *((word, "a") for word in sorted(attributes))]
    kinds = dict(terms)
    meanings = [(word, kind, word) for word, kind in terms]
    meanings += [(alias, kinds[term], term) for alias, term in aliases if term in kinds]
    meanings += [(part, "g", group) for part, group in _distinctive_parts(distinct)]
    return index(meanings)


def _distinctive_parts(groups: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the parts of group words, such as a first name, that only one of them has."""
    split = {group: normalise(group).split() for group in groups}
    # A list may have a group twice; its parts are those of one group all the same.
    uses = Counter(chain.from_iterable(set(parts) for parts in split.values()))
    for group, parts in split.items():
        if len(parts) < 2:
            continue
        for part in parts:
            if len(part) > 2 and uses[part] == 1 and part not in _UNNAMED:
                yield part, group


@lru_cache(maxsize=256)
def _group_lexicon(marginalized: tuple[str, ...], default: tuple[str, ...]) -> Lexicon:
    groups = marginalized + default
    words = [(group, "g", group) for group in groups]
    return index([*words, *((part, "g", group) for part, group in _distinctive_parts(groups))])


def _looks_like_pair(line: Line) -> bool:
    """Return whether a line that gave no pair has the form of one."""
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
    """Return whether the answer stops within a pair, or with dots, after complete pairs."""
    if not any(inline[-2:]):
        return False
    line = lines[-1]
    text = line.text.strip(" \t*_\"'`")
    if text.endswith(("-", ":", ">", "=", "...")) or text.count("{") > text.count("}"):
        return True
    rest = " ".join(LETTERS.findall(line.text[line.mentions[-1].end :] if line.mentions else text))
    begun = line.kinds == "a" and line.gaps[0].kind != "words"
    expected = groups if begun else words  # what the rest may be the beginning of
    return (begun or rest != "") and any(normalise(word).startswith(rest) for word in expected)
