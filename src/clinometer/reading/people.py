"""Link people that a model invented to the groups of the prompt.

A prompt speaks of "an old and a young manager"; the answer calls them Ruth and Ken. A *name* is a
capitalised word, or a label such as ``person A``, that the decision uses. It is linked to the group
mentioned nearest to it in its profile, or next to it in the decision.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from clinometer.reading.vocabulary import Mention, Token

__all__ = ["link_people", "names"]

#: Words for the people of a profile: "Person A", "manager 2", "the first dancer".
_LABELS = frozenset(
    "profile person manager patient volunteer actress actor dancer candidate applicant teacher "
    "student twin member teenager teen individual preschooler child colleague friend food believer "
    "employee partner participant character option writer artist one".split()
)
_NUMBERS = {"1": 1, "2": 2, "a": 1, "b": 2, "one": 1, "two": 2, "i": 1, "ii": 2}
_ORDINALS = {"first": 1, "second": 2}
_HEADING = 8  # words; a shorter line is a heading
_ENDS = frozenset(".;!?\n")
_SENTENCE = 12  # distance in words that the end of a sentence adds
_APPOSITION = 5  # words between a name and its group: "Ruth, who is the old manager"
_SEVERED = frozenset(
    (*".;:\n", *"and but can could for or over should than to whereas while would".split())
)


def link_people(
    profile: Sequence[Token],
    decision: Sequence[Token],
    mentions: tuple[Sequence[Mention], Sequence[Mention]],
) -> dict[str, int]:
    """Link the names that a decision uses to the side of their profile.

    `mentions` are those in the profile and in the decision, which may also introduce people.
    Returns name in plain form (``ruth``, ``manager 1``) → side; a name with equal evidence for both
    is left out.
    """
    in_profile, in_decision = ([m for m in found if m.kind == "g"] for found in mentions)
    covered = {at for found in mentions[1] for at in range(found.first, found.last + 1)}
    named = [(name, at) for name, at in names(decision) if at not in covered]
    used = {name for name, _ in named}
    for text in (decision, profile):
        if used:
            used -= {token.text for token in text if not token.capital}
    if not used:
        return {}
    lean = Counter[str]()
    for name, side, weight in _claims(profile, in_profile, used):
        lean[name] += weight if side else -weight
    for name, at in named:
        for side in set(_beside(decision, in_decision, at)) if name in used else ():
            lean[name] += 3 if side else -3
    return {name: int(lean[name] > 0) for name in used if lean[name]}


def names(tokens: Sequence[Token]) -> list[tuple[str, int]]:
    """List words that may name a person, and labels such as ``person 1``, with their positions."""
    named = []
    for at, token in enumerate(tokens):
        if token.text in _LABELS:
            if number := _number(tokens, at):
                named.append((f"{token.text} {number}", at))
        elif token.capital and len(token.text) > 1:
            named.append((token.text, at))
    return named


def _number(tokens: Sequence[Token], at: int) -> int:
    """Return 1 for ``person A`` or ``the first person``, 2 for the second, else 0."""
    before = tokens[at - 1].text if at else ""
    if before in _ORDINALS:
        return _ORDINALS[before]
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or (len(after.text) == 1 and after.text.isalpha() and not after.capital):
        return 0
    return _NUMBERS.get(after.text, 0)


def _claims(
    profile: Sequence[Token], groups: Sequence[Mention], used: set[str]
) -> Iterator[tuple[str, int, int]]:
    """List names with the side of the nearest group in their paragraph, and a weight.

    If only one side is mentioned, paragraphs without a mention count for the other.
    """
    ends = [at for at, token in enumerate(profile) if token.text in _ENDS]
    starts = [*_paragraphs(profile, ends), len(profile)]
    places = [mention.first for mention in groups]
    sides = {mention.side for mention in groups}
    for name, at in names(profile):
        if name not in used:
            continue
        paragraph = bisect(starts, at)
        low, high = (bisect_left(places, edge) for edge in starts[paragraph - 1 : paragraph + 1])
        right = bisect_left(places, at, low, high)
        around = groups[max(right - 1, low) : min(right + 1, high)]
        if around:
            distance, side = min((_distance(at, m.first, ends), m.side) for m in around)
            yield name, side, 3 if distance < _SENTENCE else 1
        elif len(sides) == 1:
            yield name, 1 - min(sides), 1


def _distance(one: int, other: int, ends: Sequence[int]) -> int:
    """Return the distance in words between two positions, with the ends of sentences added."""
    between = bisect_left(ends, one) - bisect_left(ends, other)
    return abs(one - other + _SENTENCE * between)


def _paragraphs(profile: Sequence[Token], ends: Iterable[int]) -> Iterator[int]:
    """Return where paragraphs begin; a heading belongs to the next paragraph."""
    start = 0
    yield start
    for at in ends:
        if profile[at].text != "\n":
            continue
        if at - start > _HEADING or profile[at - 1].text in _ENDS - {"\n"}:
            start = at
            yield start


def _beside(decision: Sequence[Token], groups: Sequence[Mention], at: int) -> Iterator[int]:
    """List the sides of groups next to a name: ``Ruth, the old manager``, ``Ken (young)``."""
    right = bisect_left(groups, at, key=attrgetter("first"))
    for mention in groups[max(right - 1, 0) : right + 1]:
        first, last = sorted((at, mention.first))
        if last - first > _APPOSITION:
            continue
        if _SEVERED.isdisjoint(token.text for token in decision[first + 1 : last]):
            yield mention.side
