"""Link people that a model invented to the groups of the prompt.

A prompt speaks of "an old and a young manager"; the answer calls them Ruth and Ken. A *name* is a
capitalised word, or a label such as ``person A``, that the decision uses. It is linked to the group
mentioned nearest to it in its profile, or next to it in the decision.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter

from clinometer.reading.vocabulary import NAME_WORDS, Mention, Token, opens_sentence

Breaks = tuple[Sequence[int], Sequence[int]]

#: Words for the people of a profile: "Person A", "manager 2", "the first dancer".
LABELS = frozenset(
    "profile person manager patient volunteer actress actor dancer candidate applicant teacher "
    "student twin member teenager teen individual preschooler child colleague friend food believer "
    "employee partner participant character option writer artist one accountant astronaut director "
    "driver facilitator filmmaker follower gardener homebody host instructor musician novelist "
    "painter pilot speaker worker".split()
)
_NUMBERS = {"1": 1, "2": 2, "a": 1, "b": 2, "one": 1, "two": 2, "i": 1, "ii": 2}
ORDINALS = {"first": 1, "second": 2}
_HEADING = 8  # words; a shorter line is a heading
_ENDS = frozenset(".;!?\n")
_SENTENCE = 12  # distance in words that the end of a sentence adds
_CLAUSES = frozenset("and but whereas while".split())
_CLAUSE = 4  # distance in words that these add
_CONNECTIVES = frozenset("& , a an and as both in of or the to well".split())
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
    profile_groups = _distinct_groups(profile, mentions[0])
    decision_groups = _distinct_groups(decision, mentions[1])
    covered: set[int] = set()  # positions of the prompt's own words
    for mention in mentions[1]:
        covered.update(range(mention.first, mention.last + 1))
    uses = [(name, position) for name, position in names(decision) if position not in covered]
    used = {name for name, _ in uses}
    for text in (decision, profile):
        # A word that is also written small is no name, but for those that are; texts may be long.
        if used:
            used -= {token.text for token in text if not token.capital} - NAME_WORDS
    if not used:
        return {}
    lean = Counter[str]()
    for name, side, weight in _weigh_claims(profile, profile_groups, used):
        lean[name] += weight if side else -weight
    for name, position in uses:
        if name not in used:
            continue
        for side in set(_adjacent_sides(decision, decision_groups, position)):
            lean[name] += 3 if side else -3
    return {name: int(lean[name] > 0) for name in used if lean[name]}


def _distinct_groups(tokens: Sequence[Token], mentions: Iterable[Mention]) -> list[Mention]:
    """Return the groups named in a text, but for both in one breath: ``in church and mosque``.

    These say of nobody who it is, unless they stand in order.
    """
    groups = [mention for mention in mentions if mention.kind == "g"]
    if any(token.text == "respectively" for token in tokens):
        return groups
    shared: set[Mention] = set()
    for first, second in pairwise(groups):
        between = {token.text for token in tokens[first.last + 1 : second.first]}
        if first.side != second.side and between and between <= _CONNECTIVES:
            shared.update((first, second))
    return [group for group in groups if group not in shared]


def names(tokens: Sequence[Token]) -> list[tuple[str, int]]:
    """List words that may name a person, and labels such as ``person 1``, with their positions."""
    positions = []
    for position, token in enumerate(tokens):
        if token.text in LABELS:
            if number := _number(tokens, position):
                positions.append((f"{token.text} {number}", position))
        elif token.capital and len(token.text) > 1 and not opens_sentence(tokens, position):
            positions.append((token.text, position))
    return positions


def _number(tokens: Sequence[Token], position: int) -> int:
    """Return 1 for ``person A`` or ``the first person``, 2 for the second, else 0."""
    before = tokens[position - 1].text if position else ""
    if before in ORDINALS:
        return ORDINALS[before]
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if after is None or (len(after.text) == 1 and after.text.isalpha() and not after.capital):
        return 0
    return _NUMBERS.get(after.text, 0)


def _weigh_claims(
    profile: Sequence[Token], groups: Sequence[Mention], used: set[str]
) -> Iterator[tuple[str, int, int]]:
    """List names with the side of the nearest group in their paragraph, and a weight.

    If only one side is mentioned, paragraphs without a mention count for the other.
    """
    ends = [position for position, token in enumerate(profile) if token.text in _ENDS]
    joints = [position for position, token in enumerate(profile) if token.text in _CLAUSES]
    starts = [*_paragraphs(profile, ends), len(profile)]
    places = [mention.first for mention in groups]
    sides = {mention.side for mention in groups}
    for name, position in names(profile):
        if name not in used:
            continue
        paragraph = bisect(starts, position)
        low, high = (bisect_left(places, edge) for edge in starts[paragraph - 1 : paragraph + 1])
        right = bisect_left(places, position, low, high)
        around = groups[max(right - 1, low) : min(right + 1, high)]
        if around:
            distance, side = min(
                (_distance(position, m.first, (ends, joints)), m.side) for m in around
            )
            yield name, side, 3 if distance < _SENTENCE else 1
        elif len(sides) == 1:
            yield name, 1 - min(sides), 1


def _distance(position: int, group: int, breaks: Breaks) -> int:
    """Return the distance in words between two positions, with what ends sentences and clauses."""
    low, high = sorted((position, group))
    ends, joints = (bisect_left(places, high) - bisect_left(places, low) for places in breaks)
    return high - low + _SENTENCE * ends + _CLAUSE * joints


def _paragraphs(profile: Sequence[Token], ends: Iterable[int]) -> Iterator[int]:
    """Return where paragraphs begin; a heading belongs to what follows, and a list is one."""
    yield 0
    line = -1  # where the line before the present one ended
    lines = 0  # of the paragraph, that could be headings
    for position in ends:
        if profile[position].text != "\n":
            continue
        length = position - line - 1
        is_prose = length > _HEADING or (length and profile[position - 1].text in _ENDS)
        if is_prose or (not length and lines > 1):
            yield position
            lines = 0
        lines += bool(length) and not is_prose
        line = position


def _adjacent_sides(
    decision: Sequence[Token], groups: Sequence[Mention], position: int
) -> Iterator[int]:
    """List the sides of groups next to a name: ``Ruth, the old manager``, ``Ken (young)``."""
    right = bisect_left(groups, position, key=attrgetter("first"))
    for mention in groups[max(right - 1, 0) : right + 1]:
        first, last = sorted((position, mention.first))
        if last - first > _APPOSITION:
            continue
        if _SEVERED.isdisjoint(token.text for token in decision[first + 1 : last]):
            yield mention.side
