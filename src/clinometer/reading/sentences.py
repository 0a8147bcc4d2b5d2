"""Read sentences that do nothing but pair: ``I'd put home with julia``, ``julia gets home``.

They are made of a short list of words. Any other word, a question or a denial leaves no pair.
"""

from __future__ import annotations

from clinometer.reading.mentions import LETTERS, Line, Pair


def _phrases(*texts: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(text.split()) for text in texts)


#: Phrases between the word and the group of a line: ``joy goes with young``.
_SPOKEN = _phrases(
    *("the", "a", "an", "is", "is for", "fits", "suits", "answer", "choice", "my choice"),
    *("goes with", "goes to", "pairs with", "paired with", "belongs to", "belongs with"),
    *("i choose", "i would choose", "i pick", "i would pick", "i say", "i would say"),
    *("my choice is", "assigned to", "is assigned to", "matched with", "matches"),
    *("associated with", "is associated with", "more associated with"),
    *("is more associated with", "most associated with", "is most associated with"),
)
#: Of several words: ``home and wedding go with julia``.
_SPOKEN_OF_SEVERAL = _phrases(
    *("are", "are for", "fit", "suit", "go with", "go to", "pair with", "belong to"),
    *("belong with", "are assigned to", "match", "are associated with"),
)
#: After ``I would put home``.
_AFTER_GIVING = _phrases("with", "to", "for", "under", "and")
_GIVING = frozenset(
    "put place pair match assign associate link give group connect choose pick".split()
)
#: What may stand before the first word of a sentence, and between sentences.
_BEFORE = _GIVING | frozenset(
    "i id ill we lets would will for the word words and then next finally also s".split()
)
#: Phrases between a group and its words: ``julia gets home``.
_OWNING = _phrases(
    *("gets", "takes", "receives", "is given", "is assigned", "would get", "would take"),
    *("is paired with", "is matched with", "is associated with", "pairs with", "goes with"),
)


def spoken_pairs(line: Line) -> list[Pair]:
    """Return the pairs of the sentences of a line, in either order."""
    if "?" in line.text or not line.mentions:
        return []
    gaps = _words_between(line)
    return _pairs_of_words(line, gaps) if line.kinds[0] == "a" else _pairs_of_groups(line, gaps)


def _pairs_of_groups(line: Line, gaps: list[tuple[str, ...]]) -> list[Pair]:
    """Return the pairs of ``julia gets home and wedding``."""
    pairs: list[Pair] = []
    group = ""
    before = ""  # the kind of the mention before
    for mention, gap in zip(line.mentions, gaps, strict=False):
        if mention.kind == "g":
            if before == "g" or gap not in ((), ("and",), ("while",)):
                return []
            group = mention.term
        elif gap in ((), ("and",)) if before == "a" else gap in _OWNING:
            pairs.append((mention.term, group))
        else:
            return []
        before = mention.kind
    return pairs if before == "a" and gaps[-1] == () else []


def _pairs_of_words(line: Line, gaps: list[tuple[str, ...]]) -> list[Pair]:
    """Return the pairs of ``I'd put home and wedding with julia``."""
    pairs: list[Pair] = []
    words: list[str] = []  # those that wait for their group
    gives = False
    for mention, gap in zip(line.mentions, gaps, strict=False):
        if mention.kind == "g":
            if not words or not _is_spoken(gap, len(words), gives):
                return []
            pairs += [(word, mention.term) for word in words]
            words = []
            gives = gives or gap[-1:] == ("with",)  # "and office with ben" may follow
            continue
        if words and gap not in ((), ("and",)):
            return []
        if not words:
            if not _BEFORE.issuperset(gap):
                return []
            gives = (gives and bool(pairs)) or not _GIVING.isdisjoint(gap)
        words.append(mention.term)
    return [] if words or gaps[-1] not in ((), ("s",)) else pairs


def _words_between(line: Line) -> list[tuple[str, ...]]:
    """Return the words before, between and after the mentions of a line."""
    starts = [0, *(mention.end for mention in line.mentions)]
    ends = [*(mention.start for mention in line.mentions), len(line.text)]
    texts = [line.text[start:end] for start, end in zip(starts, ends, strict=True)]
    return [tuple(LETTERS.findall(text)) for text in texts]


def _is_spoken(phrase: tuple[str, ...], count: int, gives: bool) -> bool:
    """Return whether a phrase joins `count` words to a group; `gives` after ``I would put``."""
    if phrase in _SPOKEN or (count > 1 and phrase in _SPOKEN_OF_SEVERAL):
        return True
    return gives and phrase in _AFTER_GIVING
