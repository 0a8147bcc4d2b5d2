"""Words that stand for somebody named before: ``she``, ``the former``, ``the second person``.

Whom an ordinal stands for is told by the mentions before it, see `joints`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinometer.reading.people import LABELS
from clinometer.reading.vocabulary import Mention, Token

_PRONOUNS = frozenset(("he", "she"))
_MODALS = frozenset("can could might may should would will".split())
_ORDINALS = {"former": 0, "latter": 1}
#: "The latter half" and "the former teacher" are nobody named before.
_NOUNS = frozenset(
    "case chapter day days half part point reason scenario situation soldier student teacher time "
    "year years".split()
)
_COUNTED = {"first": 0, "second": 1}
#: After "the first" and "the second", of which more things than people are counted.
_HUMAN_CUES = _MODALS | LABELS | frozenset("and for gets leads takes to while . , ; \n".split(" "))


def find_referents(tokens: Sequence[Token], mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield pronouns (kind ``p``) and ordinals (kind ``o``; side 0 the former, 1 the latter).

    `mentions` are the groups and attributes of the text.
    """
    texts = [token.text for token in tokens]
    attributes = {mention.first for mention in mentions if mention.kind == "a"}
    counts = False  # whether "the first" was somebody
    for position, text in enumerate(texts):
        after = texts[position + 1] if position + 1 < len(texts) else "."
        if text in _PRONOUNS and after in _MODALS:
            yield Mention("p", 0, text, position, position)
        elif position == 0 or texts[position - 1] != "the":
            continue
        elif text in _ORDINALS and after not in _NOUNS:
            yield Mention("o", _ORDINALS[text], text, position, position)
        elif text in _COUNTED and (after in _HUMAN_CUES or (counts and position + 1 in attributes)):
            counts = True
            yield Mention("o", _COUNTED[text], text, position, position)
