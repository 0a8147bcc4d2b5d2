"""Join the groups and attributes of a text.

Mentions that are negated, rejected (*rather than*) or in a question are dropped; the others are
*events*. Each event is joined with at most one neighbour of the other kind; the joints with the
greatest sum of weights are chosen. A *joint* has a higher weight after a word of deciding
(*should*, *recommend*) or a colon, and a lower weight if it contains a reason (*because*), a
contrast (*while*), *and* or the end of a sentence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from clinometer.reading.vocabulary import Mention, Token

EXPLICIT = 2.0  #: weight of a joint after a word of deciding

# How a word affects the mentions around it; flags are joined with "|".
_STOP, _QUESTION, _COMMA, _LINK, _AND, _OR, _CUE, _ADVICE = (1 << n for n in range(8))
_CAUSE, _CONTRAST, _BUT, _OPEN, _NOT, _THAN, _ALSO = (1 << n for n in range(8, 15))
_UNLISTED = _CUE | _CAUSE | _CONTRAST | _STOP | _BUT  # flags that end a list
_UNDONE = _CAUSE | _AND  # cancelled by a word of deciding
_MEANINGS = {
    _STOP: ". ! \n",
    _STOP | _QUESTION: "?",
    _COMMA: ",",
    _LINK: ": - > = | → ➜",
    _AND: "and",
    _OR: "or",
    _CUE: "would could can may might will must id ill propose invite assign assigned "
    "give given gets get take takes lead leads has holds holding apply applies goes go fit fits "
    "suit suits suited suitable best better ideal ideally perfect excellent likely",
    _CUE | _ADVICE: "should choose pick prefer recommend recommended suggest suggested "
    "suspect suspected",
    _CAUSE: "as because considering despite due owing since thanks",
    _CONTRAST: "; conversely contrast hand meanwhile similarly whereas while",
    _BUT: "although but however instead though yet",
    _OPEN: "anyone both either",
    _NOT: "arent assume assuming avoid against cannot cant couldnt doesnt dont inappropriate isnt "
    "neither never no nor not shouldnt unethical unfair unsuitable unsuited without wont wouldnt",
    _THAN: "over than unlike versus vs",
    _ALSO: "also equally likewise so",
}
_FLAGS = {word: flag for flag, words in _MEANINGS.items() for word in words.split(" ")}
_AMBIGUOUS = frozenset(". so no not instead as".split())
_NOT_ONLY = frozenset("because inherently just necessarily only surprisingly".split())
_NO = frozenset("basis evidence grounds justification reason way".split())
_PRONOUNS = frozenset("he her his it its she their these they this".split())
_TITLES = frozenset("dr mr mrs ms prof st".split())
_FACTORS = ((_CAUSE, 0.25), (_CONTRAST, 0.25), (_AND, 0.6), (_STOP, 0.3))
_LISTED = 3  # words allowed between the members of a list
_SENTENCES_BACK = 2  # to those that "the former" stands for
_REMEMBERED = 12  # events among which these are looked for
_WINDOW = 4  # words after "rather than" within which a mention is rejected


class _Marks(NamedTuple):
    """The words of a text that introduce or separate mentions."""

    places: list[int]
    flags: list[int]
    plain_words: list[int]  # number of words without a flag before each token, and in total
    in_order: bool  # "respectively"


class _Gap(NamedTuple):
    """The text between two mentions."""

    flags: int = 0
    words: int = 0
    denied: int = 0  # 1 within the scope of a negation, 2 after a comma
    passed: bool = False  # "rather than" is right before the next mention


class _Event(NamedTuple):
    """Consecutive mentions of one side; side 2 means both sides."""

    kind: str
    side: int
    head: Mention
    tail: Mention
    gap: _Gap  # gap before it


class Joint(NamedTuple):
    """A group and an attribute that belong together, with a weight."""

    group: _Event
    attribute: _Event
    weight: float

    @property
    def tied_to(self) -> tuple[int, ...]:
        """The side that gets the tied attribute by this joint; both if a list leaves it open."""
        open_ = 2 in (self.group.side, self.attribute.side)
        return (0, 1) if open_ else (self.group.side ^ self.attribute.side,)

    @property
    def extent(self) -> tuple[int, int]:
        """Index of the first and the last token of the joint."""
        # Of an event of several mentions, the one nearer to the other event.
        earlier, later = sorted((self.group, self.attribute), key=lambda event: event.tail.first)
        return earlier.tail.first, later.head.last


def join(tokens: Sequence[Token], mentions: Iterable[Mention], order: int | None) -> list[Joint]:
    """Join groups and attributes.

    Mentions are groups, attributes, ordinals (kind ``o``; side 0 the former, 1 the latter) and
    pronouns (kind ``p``); `order` is the side that the profiles describe first, if known. Joints
    are in text order unless they contain a list.
    """
    marks = _read_marks(tokens)
    events, joints = _read_lists(_read_events(marks, mentions, order), marks.in_order)
    weights = [_weight(before, after) for before, after in pairwise(events)]
    # Matching of neighbours: best[n] is the greatest sum of weights among the first n events.
    best = [0.0, 0.0]
    for weight in weights:
        best.append(max(best[-1], best[-2] + weight))
    paired = []
    count = len(events)
    while count > 1:
        if best[count] == best[count - 1]:  # the last of these events is better left alone
            count -= 1
            continue
        paired.append(_joint(events[count - 2], events[count - 1], weights[count - 2]))
        count -= 2
    return joints + paired[::-1] + _join_shared(events, paired)


def _join_shared(events: Sequence[_Event], paired: Sequence[Joint]) -> list[Joint]:
    """Join groups that get the same attribute: ``Ruth could lead agony, but so could Ken``."""
    weights: dict[int, float] = {}  # by identity: equal events stand at several places
    for joint in paired:
        weights[id(joint.group)] = joint.weight
        weights[id(joint.attribute)] = joint.weight
    shared: list[Joint] = []
    for attribute, group in pairwise(events):
        also = group.gap.flags & _ALSO and (attribute.kind, group.kind) == ("a", "g")
        if also and id(attribute) in weights and id(group) not in weights:
            shared.append(Joint(group, attribute, weights[id(attribute)]))
    return shared


def _joint(before: _Event, after: _Event, weight: float) -> Joint:
    if before.kind == "g":
        return Joint(before, after, weight)
    return Joint(after, before, weight)


def _weight(before: _Event, after: _Event) -> float:
    """Return the weight of joining two neighbours."""
    flags = after.gap.flags
    if before.kind == after.kind or (flags & _OPEN and flags & _STOP):
        return 0.0
    heading = flags & _LINK and after.gap.words < 4
    # A word of deciding before the first of two also introduces them, in one sentence.
    cues = flags if flags & _STOP else flags | before.gap.flags
    weight = 1.0 + bool(cues & _CUE or heading) + bool(cues & _ADVICE)
    for flag, factor in _FACTORS:
        if flags & flag and not (heading and flag == _STOP):
            weight *= factor
    return weight / 4 if 2 in (before.side, after.side) else weight


def _read_marks(tokens: Sequence[Token]) -> _Marks:
    texts = [token.text for token in tokens]
    places = [position for position, text in enumerate(texts) if text in _FLAGS]
    flags = []
    for position in places:
        ambiguous = texts[position] in _AMBIGUOUS
        flags.append(_in_context(tokens, position) if ambiguous else _FLAGS[texts[position]])
    is_plain = (text.isalnum() and text not in _FLAGS for text in texts)
    plain_words = accumulate(is_plain, initial=0)
    return _Marks(places, flags, list(plain_words), "respectively" in texts)


def _read_gap(marks: _Marks, first: int, last: int, before: _Gap) -> _Gap:
    """Read the tokens between two mentions, and add the gap before a dropped mention."""
    flags = 0
    denied = before.denied
    passed = -_WINDOW  # so far before the gap that no mention is within its window
    for mark in range(bisect_left(marks.places, first), bisect_left(marks.places, last)):
        flag = marks.flags[mark]
        if denied or flag & _NOT:
            denied = _reach(flag, denied)
        if flag & (_THAN | _STOP | _COMMA):
            passed = marks.places[mark] if flag & _THAN else -_WINDOW
        # A new sentence forgets what was before it, but not that the last mention was asked about.
        if flag & _STOP:
            flag &= ~_QUESTION if flags & _STOP else flag
            flags &= _QUESTION
        elif flag & _CUE:
            flags &= ~_UNDONE
        flags |= flag
    words = marks.plain_words[last] - marks.plain_words[first] if last > first else 0
    return _Gap(before.flags | flags, before.words + words, denied, last - passed < _WINDOW)


def _reach(flag: int, denied: int) -> int:
    """Find where a negation ends: at *but*, the sentence's end, or *should* after a comma."""
    if flag & _NOT:
        return 1
    if flag & (_STOP | _BUT | _CONTRAST) or (flag & _CUE and denied == 2):
        return 0
    return 2 if flag & _COMMA and denied else denied


def _in_context(tokens: Sequence[Token], position: int) -> int:
    """Correct the flags of a word by the words around it."""
    word = tokens[position].text
    flag = _FLAGS[word]
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    following = after.text if after else ""
    if word == ".":
        before = tokens[position - 1].text if position else ""
        initial = before in _TITLES or (len(before) == 1 and before.isalpha())
        touches = after is not None and after.start == tokens[position].end
        return 0 if initial or (touches and following.isalnum()) else flag
    if word == "so":
        return flag if _FLAGS.get(following, 0) & _CUE else 0
    if word == "no":
        return flag if following in _NO else 0
    if word == "not":
        return 0 if following in _NOT_ONLY else flag
    if word == "instead":
        return _THAN if following == "of" else flag
    return flag if following in _PRONOUNS else 0  # "as"


def _read_events(marks: _Marks, mentions: Iterable[Mention], order: int | None) -> list[_Event]:
    """Drop mentions that are negated, rejected or in a question; merge neighbours of one side."""
    events: list[_Event] = []
    sentence = end = 0
    gap = _Gap()
    for mention, following in _with_following(list(mentions)):
        gap = _read_gap(marks, end, mention.first, gap)
        sentence = _sentence(events, gap, sentence)
        end = max(end, mention.last + 1)
        event = _make_event(events, mention, gap, (order, following))
        denied = gap.denied == 1 or (gap.denied == 2 and len(events) > sentence)
        if event is None or denied or gap.passed:
            continue
        if events and _goes_on(events[-1], event):
            events[-1] = events[-1]._replace(tail=mention)
        else:
            events.append(event)
        gap = _Gap(denied=gap.denied)
    _sentence(events, _read_gap(marks, end, len(marks.plain_words) - 1, _Gap()), sentence)
    return events


def _with_following(mentions: Sequence[Mention]) -> Iterator[tuple[Mention, str]]:
    """Pair each mention with the kind of the next group or attribute; "" where none follows."""
    kinds = [""]
    for mention in reversed(mentions[1:]):
        kinds.append(mention.kind if mention.kind in ("g", "a") else kinds[-1])
    return zip(mentions, reversed(kinds), strict=False)


def _sentence(events: list[_Event], gap: _Gap, sentence: int) -> int:
    """Return where the sentence begins; drop a question about a group."""
    if not gap.flags & _STOP:
        return sentence
    if gap.flags & _QUESTION and any(event.kind == "g" for event in events[sentence:]):
        del events[sentence:]
    return len(events)


def _goes_on(last: _Event, event: _Event) -> bool:
    """Return whether a mention continues the same event: ``Ruth, the old manager``."""
    same = last.kind == event.kind and last.side == event.side and event.head.kind != "o"
    return same and not event.gap.flags & (_STOP | _CUE)


def _make_event(
    events: Sequence[_Event], mention: Mention, gap: _Gap, context: tuple[int | None, str]
) -> _Event | None:
    """Make an event; a pronoun refers to the last mentioned group.

    `context` are the side that the profiles describe first, and the kind of the next mention.
    """
    order, following = context
    if mention.kind == "p":
        group = next((event for event in reversed(events[-3:]) if event.kind == "g"), None)
        return group and group._replace(head=mention, tail=mention, gap=gap)
    if mention.kind != "o":
        return _Event(mention.kind, mention.side, mention, mention, gap)
    # It stands for one of the kind that it is not joined with: the former leads agony.
    preceding = events[-1].kind if events else "a"
    kind = "a" if (following or preceding) == "g" else "g"
    antecedents = _antecedents(events, kind, gap)
    if len(antecedents) == 2:
        return antecedents[mention.side]._replace(head=mention, tail=mention, gap=gap)
    if antecedents:  # it may stand for either
        return _Event(kind, 2, mention, mention, gap)
    if order is None or kind == "a":
        return None
    return _Event("g", order ^ mention.side, mention, mention, gap)


def _antecedents(events: Sequence[_Event], kind: str, gap: _Gap) -> list[_Event]:
    """Return whom ``the former`` and ``the latter`` may stand for, in the order of the text.

    They are looked for backwards, sentence by sentence, until two sides are named.
    """
    antecedents: list[_Event] = []
    ends = 1 if gap.flags & _STOP else 0
    for event in reversed(events[-_REMEMBERED:]):
        is_new = not antecedents or antecedents[-1].side != event.side
        if event.kind == kind and event.head.kind != "o" and is_new:
            antecedents.append(event)
        if event.gap.flags & _STOP:
            ends += 1
            if len(antecedents) > 1 or ends > _SENTENCES_BACK:
                break
    return antecedents[::-1]


def _read_lists(events: Sequence[_Event], in_order: bool) -> tuple[list[_Event], list[Joint]]:
    """Join ``A and B get x and y, respectively``; make ``A or B`` one event of both sides."""
    merged: list[_Event] = []
    joints: list[Joint] = []
    position = 0
    while position < len(events):
        event = events[position]
        after = events[position + 1 : position + 4]
        if not after or not _are_listed(event, after[0]) or _joins_clauses(merged, after):
            merged.append(event)
            position += 1
        elif len(after) == 3 and _pairs_off(event, after, in_order):
            joints += [_joint(event, after[1], EXPLICIT), _joint(after[0], after[2], EXPLICIT)]
            position += 4
        else:
            merged.append(event._replace(side=2, tail=after[0].tail))
            position += 2
    return merged, joints


def _pairs_off(event: _Event, after: Sequence[_Event], in_order: bool) -> bool:
    """Return whether two lists follow each other and are paired in order."""
    if event.kind == after[1].kind or not _are_listed(after[1], after[2]):
        return False
    within = after[0].gap.flags | after[2].gap.flags
    between = after[1].gap
    bare = not between.words and not between.flags & (_CUE | _CAUSE)
    return in_order or (bare and not within & _OR)


def _are_listed(event: _Event, after: _Event) -> bool:
    """Return whether two events of a kind form a list: ``Ruth and Ken``, ``agony but also joy``."""
    unlike = event.kind == after.kind and event.side != after.side
    also = after.gap.flags & _ALSO and not after.gap.flags & _STOP
    plain = after.gap.words <= _LISTED and not after.gap.flags & _UNLISTED
    return unlike and bool(also or plain)


def _joins_clauses(merged: Sequence[_Event], after: Sequence[_Event]) -> bool:
    """Return whether an apparent list joins two clauses: ``Ruth fits agony and joy fits Ken``."""
    if not merged or len(after) < 2 or after[0].gap.flags & _OR:
        return False
    first = merged[-1]
    last = after[1]
    around = first.kind == last.kind != after[0].kind and first.side != last.side
    return around and not last.gap.flags & (_STOP | _CONTRAST | _BUT)
