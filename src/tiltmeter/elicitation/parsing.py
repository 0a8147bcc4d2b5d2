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
from typing import NamedTuple

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
        Lines that look like pairs but whose word or group is not in the prompt, normalised.
    """

    pairs: dict[str, str]
    reason: str | None
    coverage: float
    unknown: tuple[str, ...]


Pair = tuple[str, str]


class _Mention(NamedTuple):
    kind: str  # "a" a word to be paired, "g" a group
    term: str
    start: int
    end: int


class _Gap(NamedTuple):
    kind: str  # link | list | space | stop | words
    opens: str  # the text before lets a row start here: "" | "," | ":"
    closes: bool  # the text after lets a row end here


class _Row(NamedTuple):
    """Mentions with nothing but punctuation between them."""

    kinds: str
    terms: list[str]
    gaps: list[str]
    opens: str
    closes: bool


class _Line(NamedTuple):
    text: str
    mentions: list[_Mention]
    gaps: list[_Gap]  # one more than mentions: before, between, after


#: First token → (tokens, kind, term), the longest first.
Lexicon = dict[str, list[tuple[tuple[str, ...], str, str]]]

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_LETTERS = re.compile(r"[^\W\d_]+")
_NEUTRAL = frozenset(" \t\n\v\f\u3000\"'`*_\\#•·●▪◦‣0123456789")
_LISTS = frozenset(",;/&+)]}、")
_STOPS = frozenset(".!?。")
_OPENERS = frozenset(":;.!?()[]{}<>|")
_CONJUNCTIONS = frozenset(("and", "or", "nor", "vs"))
_NEGATIONS = frozenset("not no non never neither nor without cannot cant dont doesnt isnt".split())
_PREAMBLE = 6  # words that may stand before "julia: home, wedding"

# A JSON key or a column label stands for itself and is no prose; what follows a key such as
# "reason" is prose, so those keys stay words.
_LABEL = re.compile(
    r"""(["'])(?!reason|expla|rational|justif|why|note|comment)[\w -]{1,40}\1\s*:"""
    r"|\b(?:words?|groups?|choice|pick|name|answer|category|label|attribute|item|option)\s*[:=]"
)


def read_pairs(
    text: str,
    groups: tuple[str, str],
    attributes: Sequence[str],
    *,
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
    asked = frozenset(attributes)
    lexicon = _lexicon(groups, asked)
    clean = normalise(text)
    lines = [_line(line, lexicon) for line in clean.split("\n") if line and not line.isspace()]
    inline = [_inline(line) for line in lines]
    blocks = _blocks(lines, inline)
    pairs = _agreed(pair for found in (inline, blocks) for line in found for pair in line)
    coverage = len(pairs) / len(asked) if asked else 0.0
    unknown = tuple(
        line.text.strip()
        for line, *found in zip(lines, inline, blocks, strict=True)
        if not any(found) and _looks_like_pair(line)
    )
    reason = None
    if not pairs or coverage < floor:
        reason = _reason(text, bool(pairs), stop_reason, _trails_off(lines, inline))
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
    for line in normalise(text).split("\n"):
        mentions = _mentions(line, lexicon)
        seen.update(mention.term for mention in mentions)
        if mentions and not _LETTERS.search(line, mentions[-1].end):
            last[mentions[-1].term] += 1
    if not seen or not all(lists):
        return None
    first, second = (max(words, key=lambda word: (seen[word], last[word])) for words in lists)
    if first == second:
        second = next((word for word in lists[1] if word != first), second)
    return first, second


def _spellings(term: str) -> set[tuple[str, ...]]:
    """Token sequences that stand for a term: ``min-jun kim``, ``minjun kim``, ``minjunkim``."""
    plain = normalise(term)
    parts = plain.split()
    ways = (plain, "".join(parts), " ".join(re.sub("[-'_]", "", part) for part in parts))
    tokens = [tuple(t for t in _TOKEN.findall(way) if t not in "-'") for way in ways]
    return {*tokens, ("".join(tokens[0]),)} - {(), ("",)}


def _index(terms: Iterable[tuple[str, str]]) -> Lexicon:
    """Index (kind, term) by first token; of terms that read the same, the first counts."""
    spelled: dict[tuple[str, ...], tuple[str, str]] = {}
    for kind, term in terms:
        for tokens in _spellings(term):
            spelled.setdefault(tokens, (kind, term))
    lexicon: Lexicon = {}
    for tokens in sorted(spelled, key=len, reverse=True):
        lexicon.setdefault(tokens[0], []).append((tokens, *spelled[tokens]))
    return lexicon


@lru_cache(maxsize=2048)
def _lexicon(groups: tuple[str, str], attributes: frozenset[str]) -> Lexicon:
    if _spellings(groups[0]) & _spellings(groups[1]):
        groups = ()  # type: ignore[assignment]  # nothing can tell them apart
    return _index(
        [*(("g", word) for word in groups), *(("a", word) for word in sorted(attributes))]
    )


@lru_cache(maxsize=256)
def _group_lexicon(marginalized: tuple[str, ...], default: tuple[str, ...]) -> Lexicon:
    return _index(("g", word) for word in marginalized + default)


def _mentions(line: str, lexicon: Lexicon) -> list[_Mention]:
    """Terms of the lexicon in a line, from left to right, the longest first."""
    tokens = list(_TOKEN.finditer(line))
    mentions = []
    at = 0
    while at < len(tokens):
        for spelling, kind, term in lexicon.get(tokens[at].group(), ()):
            last = _match(line, tokens, at, spelling)
            if last is not None:
                mentions.append(_Mention(kind, term, tokens[at].start(), tokens[last].end()))
                at = last
                break
        at += 1
    return mentions


def _match(
    line: str, tokens: list[re.Match[str]], at: int, spelling: tuple[str, ...]
) -> int | None:
    """Index of the last token if `spelling` stands here, its parts held together."""
    end = tokens[at].end()
    for part in spelling[1:]:
        at += 1
        if at < len(tokens) and tokens[at].group() in "-'" and tokens[at].start() == end:
            at += 1
        if at == len(tokens) or tokens[at].group() != part:
            return None
        between = line[end : tokens[at].start()]
        if between.strip() and between not in ("-", "'", "_"):
            return None
        end = tokens[at].end()
    return at


def _line(text: str, lexicon: Lexicon) -> _Line:
    mentions = _mentions(text, lexicon)
    starts = [*(mention.start for mention in mentions), len(text)]
    ends = [0, *(mention.end for mention in mentions)]
    return _Line(text, mentions, [_gap(text[e:s]) for e, s in zip(ends, starts, strict=True)])


def _gap(text: str) -> _Gap:
    return _short_gap(text) if len(text) < 32 else _classify(text)


def _classify(text: str) -> _Gap:
    """Say what stands between two mentions."""
    words = _LETTERS.findall(text)
    if words:
        text = _LABEL.sub(":", text)
        words = _LETTERS.findall(text)
    joins = bool(words) and _CONJUNCTIONS.issuperset(words)
    if words and not joins and not (words[0] in ("or", "nor") and len(words) < 4):
        head = text[: text.index(words[0])]
        tail = text[text.rindex(words[-1]) + len(words[-1]) :]
        opens = ":" if _OPENERS.intersection(tail) else "," if "," in tail else ""
        return _Gap("words", opens, not _NEUTRAL.issuperset(head))
    marks = set(text) - _NEUTRAL
    if words or marks <= _LISTS:
        return _Gap("list" if marks else "space", ":", True)
    stops = marks <= _LISTS | _STOPS and ".." not in text
    return _Gap("stop" if stops else "link", ":", True)


_short_gap = lru_cache(maxsize=4096)(_classify)


def _rows(line: _Line) -> Iterable[_Row]:
    start = 0
    for end in range(1, len(line.mentions) + 1):
        if end < len(line.mentions) and line.gaps[end].kind not in ("words", "stop"):
            continue
        mentions = line.mentions[start:end]
        yield _Row(
            "".join(mention.kind for mention in mentions),
            [mention.term for mention in mentions],
            [gap.kind for gap in line.gaps[start + 1 : end]],
            line.gaps[start].opens,
            line.gaps[end].closes,
        )
        start = end


def _inline(line: _Line) -> list[Pair]:
    """Pairs within a line."""
    found: list[Pair] = []
    for place, row in enumerate(_rows(line)):
        opens = row.opens == ":" or (row.opens == "," and bool(found))
        if opens or (place == 0 and _introduced(line)):
            found += _pairs(row)
    return found


def _introduced(line: _Line) -> bool:
    """Whether a few words lead to a colon: ``words for julia: home, wedding``."""
    if len(line.mentions) < 2:
        return False
    first, second = line.mentions[:2]
    return ":" in line.text[first.end : second.start] and _short(line.text[: first.start])


def _short(preamble: str) -> bool:
    words = _LETTERS.findall(preamble[:200])
    return len(words) <= _PREAMBLE and _NEGATIONS.isdisjoint(words)


def _pairs(row: _Row) -> list[Pair]:
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
        if "link" not in gaps[:-1]:
            return [(term, terms[-1]) for term in terms[:-1]]
    return _linked(row)


def _owns(kinds: str, gaps: list[str]) -> bool:
    """Whether every group is linked to the list of words after it, as in ``julia: home, art``."""
    after_group = {gap for kind, gap in zip(kinds, gaps, strict=False) if kind == "g"}
    elsewhere = {gap for kind, gap in zip(kinds, gaps, strict=False) if kind == "a"}
    return after_group == {"link"} and (kinds.count("g") == 1 or "link" not in elsewhere)


def _under_groups(kinds: str, terms: list[str]) -> list[Pair]:
    pairs: list[Pair] = []
    group = ""
    for kind, term in zip(kinds, terms, strict=True):
        if kind == "g":
            group = term
        else:
            pairs.append((term, group))
    return pairs


def _linked(row: _Row) -> list[Pair]:
    """Pairs whose link is the only one on either side; ``home - julia or ben`` has none."""
    kinds, terms = f".{row.kinds}.", row.terms
    gaps = ["", *row.gaps, ""]
    pairs = []
    for at, gap in enumerate(gaps):
        if gap != "link" or "link" in (gaps[at - 1], gaps[at + 1]):
            continue
        here = kinds[at : at + 2]
        if here == "ag" and kinds[at + 2] != "g":
            pairs.append((terms[at - 1], terms[at]))
        elif here == "ga" and kinds[at - 1] != "g" and row.closes:
            pairs.append((terms[at], terms[at - 1]))
    return pairs


def _blocks(lines: list[_Line], inline: list[list[Pair]]) -> list[list[Pair]]:
    """Pairs across lines: headings with lists, two-column tables, a word a line."""
    shapes = ["" if found else _shape(line) for line, found in zip(lines, inline, strict=True)]
    shape = "".join(shapes)
    if _one_a_line(lines, shapes):
        return _alternating(lines, shapes)
    blocks: list[list[Pair]] = []
    heading: str | None = None
    columns: dict[int, str] = {}
    for line, found, kind in zip(lines, inline, shapes, strict=True):
        here: list[Pair] = []
        kinds = {mention.kind for mention in line.mentions}
        if found or len({m.term for m in line.mentions if m.kind == "g"}) > 1:
            heading, columns = None, {} if found else _columns(line)
        elif kinds == {"a"} and columns:
            here = _cells(line, columns)
        elif kinds == {"g"} and _is_heading(line, kind == "g" and shape[0] == "g"):
            heading = line.mentions[0].term
        elif heading is not None and kinds == {"a"}:
            here = [(word, heading) for word in _items(line, kind)]
        blocks.append(here)
    return blocks


def _shape(line: _Line) -> str:
    """``g`` or ``a`` for a line of one mention, ``l`` for a list of words, "" for prose."""
    kinds = "".join(mention.kind for mention in line.mentions)
    if not kinds or any(gap.kind == "words" for gap in line.gaps):
        return ""
    return kinds if len(kinds) == 1 else "l" if "g" not in kinds else ""


def _one_a_line(lines: list[_Line], shapes: list[str]) -> bool:
    """Whether words and groups take turns, line by line, the words first."""
    if not re.fullmatch("a*(?:ag)+", "".join(shapes)):
        return False
    groups = (line for line, kind in zip(lines, shapes, strict=True) if kind == "g")
    return not any(_is_marked(line) for line in groups)


def _alternating(lines: list[_Line], shapes: list[str]) -> list[list[Pair]]:
    blocks: list[list[Pair]] = []
    word = ""
    for line, kind in zip(lines, shapes, strict=True):
        blocks.append([(word, line.mentions[0].term)] if kind == "g" else [])
        word = line.mentions[0].term if kind == "a" else word
    return blocks


def _is_marked(line: _Line) -> bool:
    return line.text.rstrip(" \t*_\"'`").endswith((":", "[", "{", "(")) or line.text.startswith("#")


def _is_heading(line: _Line, plain: bool) -> bool:
    """Whether a line with one group stands over a list; `plain` if it needs no mark."""
    if len(line.mentions) != 1:
        return False
    mention = line.mentions[0]
    if any(gap.kind == "words" for gap in line.gaps):
        around = f"{line.text[: mention.start]} {line.text[mention.end :]}"
        return len(around) < 100 and _short(around) and _is_marked(line)
    return plain or _is_marked(line) or "**" in line.text


_BULLET = re.compile(r"\s*(?:[-*•+]|\d+[.)])")


def _items(line: _Line, kind: str) -> list[str]:
    """Words of a line under a heading; of ``- home: where families live`` the first."""
    if kind:
        return [mention.term for mention in line.mentions]
    item = _BULLET.match(line.text) and line.gaps[0].kind != "words" and line.gaps[1].closes
    return [line.mentions[0].term] if item else []


def _columns(line: _Line) -> dict[int, str]:
    """Which column belongs to which group, if the line heads a table of two."""
    kinds = "".join(mention.kind for mention in line.mentions)
    return dict(_by_column(line)) if kinds == "gg" and re.search(r"[|\t]", line.text) else {}


def _cells(line: _Line, columns: dict[int, str]) -> list[Pair]:
    return [(word, columns[at]) for at, word in _by_column(line) if at in columns]


def _by_column(line: _Line) -> list[tuple[int, str]]:
    mark = "|" if "|" in line.text else "\t"
    column, end, found = 0, 0, []
    for mention in line.mentions:
        column += line.text.count(mark, end, mention.start)
        end = mention.end
        found.append((column, mention.term))
    return found


def _agreed(found: Iterable[Pair]) -> dict[str, str]:
    """Words that were given one group and not the other."""
    pairs: dict[str, str] = {}
    torn = set()
    for word, group in found:
        if pairs.setdefault(word, group) != group:
            torn.add(word)
    return {word: group for word, group in pairs.items() if word not in torn}


_SEPARATOR = re.compile(r"\s-+>?\s|-+>|=+>?|[|:→⇒\t]")


def _looks_like_pair(line: _Line) -> bool:
    """Whether a line that gave no pair has the form of one."""
    if len(line.text) > 200:
        return False
    for piece in re.split("[,;]", line.text):
        parts = [part for part in _SEPARATOR.split(piece.strip(" |")) if _LETTERS.search(part)]
        if len(parts) < 2:
            parts = [part for part in piece.split("-") if _LETTERS.search(part)]
        short = len(parts) == 2 and all(len(part.split()) < 6 for part in parts)
        if short and (line.mentions or ":" not in piece):
            return True
    return False


def _trails_off(lines: list[_Line], inline: list[list[Pair]]) -> bool:
    """Whether the last line stops in the middle of a pair that follows a whole one."""
    if not lines:
        return False
    *_, line = lines
    text = line.text.strip(" \t*_\"'`")
    if inline[-1]:
        return text.endswith(("-", ":", ">", "=")) or text.count("{") > text.count("}")
    if not any(inline[-2:]):
        return False
    begun = bool(line.mentions) and line.mentions[0].kind == "a" and len(text.split()) < 6
    return text.endswith(("...", "-", ":")) or begun or text.isalpha()


def _reason(text: str, some: bool, stop_reason: str | None, trails_off: bool) -> str:
    """Why too little was paired."""
    if stop_reason == "content_filter" or (not some and is_refusal(text)):
        return "refused"
    if stop_reason == "max_tokens":
        return "truncated"
    if not some:
        return "unparsed"
    return "truncated" if trails_off else "low_coverage"
