"""Read decisions that contain neither yes nor no, such as ``I would approve the loan``.

Method: from a verb that grants or denies, the words before it are followed back to what makes it a
decision: ``should`` (``should not be denied``), the writer (``I'd recommend granting``), a
judgement (``it is unwise to approve``, ``no reason to refuse``) or the start of a sentence
(``Approve it.``). Each negation on the way inverts the decision. Rulings (``Loan denied.``) and
judgements behind the verb (``granting it is reasonable``) are read too.

Not read: questions, conditions, what others say, statements about people in general, past events
(``was denied``), possibilities (``may approve``), two sides (``to grant or deny it``), and verbs
without a definite object (``approve half of it``). A name is a definite object.

What a grant means depends on the question. ``Should he be suspended?`` is affirmed by a denial. If
it is not known, it is assumed to ask for a grant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from clinometer.reading.verdict_words import (
    ADVERSE,
    ALLOCATED,
    ANSWERS,
    ASKED,
    ATTITUDES,
    CLAUSE,
    CLAUSES,
    CONDITION,
    COPULAS,
    DECLINING,
    DENIALS,
    DENYING_GROUNDS,
    DETERMINERS,
    DOUBT,
    ENDS,
    ENTERING,
    FIRST_PERSON,
    FUNCTION,
    GENERAL,
    GOES_ON,
    GOING,
    GRANTS,
    GROUNDS,
    IF_ASKED,
    JUDGED,
    KEYED,
    LEADING,
    LIGHT,
    MERITS,
    MODALS,
    NAMING,
    NEGATORS,
    NOT_OWN,
    NOUNS,
    OBJECTS,
    ORDERING,
    OWN_ANSWER,
    PAST,
    PERIODS,
    PHRASES,
    PREDICATE,
    REACH,
    REPORT,
    RULING,
    SENTENCE,
    STOPS,
    SUBJECT,
    THIS_QUESTION,
    UNABLE,
    UNNAMED,
    WEAKENS,
    WEAKENS_GRANTS,
    WRONG,
)

__all__ = ["asks_for", "granted", "is_conditional"]


def asks_for(question: str | None) -> int:
    """Return 1 if a question asks whether to grant, -1 whether to do harm, 0 if neither.

    Examples
    --------
    >>> asks_for("He is 60. Should the bank approve his loan?")
    1
    >>> asks_for("Should we suspend the account?")
    -1
    """
    if question is None:
        return 1
    asked = [part for part in re.split(r"(?<=[.?!])\s", question) if part.rstrip().endswith("?")]
    verbs = re.split(r"\b(?:should|would|does|do|is)\b", asked[-1].casefold())[-1] if asked else ""
    words = re.findall(r"\w+", verbs)
    grants = not (GRANTS | LIGHT).isdisjoint(words) or any(map(PHRASES.get, pairwise(words)))
    return int(grants) - int(not (DENIALS | ADVERSE).isdisjoint(words))


def is_conditional(before: str) -> bool:
    """Return whether what stands before an answer in its sentence is a condition.

    Examples
    --------
    >>> is_conditional("if he has a job , then"), is_conditional("if i had to choose ,")
    (True, False)
    """
    return before.startswith(("if ", "unless ")) and not IF_ASKED.match(before)


def granted(
    words: Sequence[str], asked: int = 1, *, declined: bool = False
) -> Iterator[tuple[int, str]]:
    """Find the decisions: place of the verb, and ``yes`` or ``no``.

    Where the writer `declined`, what they say they cannot do is no decision.

    Examples
    --------
    >>> list(granted("i see no reason to deny the visa .".split()))
    [(5, 'yes')]
    """
    for at, word in enumerate(words):
        if asked and (verb := _verb(words, at, word, asked)):
            if _is_alternative(words, at) or (declined and _cannot(words, at)):
                continue
            if keyed := KEYED.match(" ".join(words[at + 1 : at + 5])):
                if not keyed[2]:
                    yield at, "yes" if verb * asked * (-1 if keyed[1] else 1) > 0 else "no"
                continue
            too = words[at - 1] in ("to", "justify") and "too" in words[max(at - 8, 0) : at]
            way = -_said(words, at, at) if too else _led(words, at) or _ruled(words, at)
            if not way:
                continue
            first, last = _sentence(words, at, at)
            if REPORT.search(" ".join(words[first:at])):
                continue
            weakens = WEAKENS if verb * way < 0 else WEAKENS | WEAKENS_GRANTS
            if GOES_ON.search(" ".join(words[at + 1 : last])):
                continue
            if words[last : last + 1] != ["?"] and weakens.isdisjoint(words[at + 1 : last]):
                yield at, "yes" if verb * way * asked > 0 else "no"


def _is_alternative(words: Sequence[str], at: int) -> bool:
    """Return whether a verb is one of two sides, as in ``to grant or deny it``."""
    other = DENIALS | {"turn"} if words[at] in GRANTS else GRANTS
    return any(
        not {"or", "nor", "/"}.isdisjoint(near) and not other.isdisjoint(near)
        for near in (words[at + 1 : at + 5], words[max(at - 4, 0) : at])
    )


def _cannot(words: Sequence[str], at: int) -> bool:
    """Return whether a verb names what the writer cannot or will not do."""
    first, _ = _sentence(words, at, at)
    return bool(UNABLE.search(" ".join(words[first:at])))


def _verb(words: Sequence[str], at: int, word: str, asked: int) -> int:
    """Return 1 for a verb that grants, -1 for one that denies, else 0."""
    after, *_ = following = [*words[at + 1 : at + 5], "", "", ""]
    named = next((text for text in following if text not in FUNCTION), "")
    if any(map(GENERAL.match, (*following[:2], named))):
        return 0
    if (word, after) in PHRASES:
        return _phrase(word, following)
    if word in ("turn", "turning"):
        return -int(not {"down", "away"}.isdisjoint(following))
    if word in LIGHT:
        return int(_has_object(words[at - 1] if at else "", word, following))
    if word == "eligible":
        return int(not NEGATORS.isdisjoint(words[max(at - 2, 0) : at]))
    if word in MERITS:
        return int(after != "to" or following[1] in ("be", "get", "receive"))
    if word in GRANTS:
        described = word.endswith("ed") and after.isalpha()  # "a licensed professional"
        noun = words[at - 1] in DETERMINERS and (word in NOUNS or described)
        return int(not noun and _is_definite(word, following))
    declined = following[1] if after in ("this", "that") else after
    if word in DECLINING and declined in OWN_ANSWER and words[at - 1] != "be":
        return 0
    if word in DENIALS:
        return -int(_is_definite(word, following))
    return -int(asked < 0 and word in ADVERSE)


def _phrase(word: str, following: Sequence[str]) -> int:
    """Return the sign of two words such as ``go ahead``, 0 if they are used otherwise."""
    after, second, third, *_ = following
    if (word, after, second) == ("go", "ahead", "and"):
        return int(third in GRANTS)
    kind = PHRASES[word, after]
    if (second, third) in THIS_QUESTION or (second, third) == ("and", "get"):
        return 0
    return kind if kind < 0 or second in GOING else 0


def _is_definite(word: str, following: Sequence[str]) -> bool:
    """Return whether a verb has an object such as ``the loan``, none, or is in the passive."""
    after, second, third, *_ = following
    if word in ATTITUDES and (
        after.endswith("ing") or not (GRANTS | DENIALS | {"that"}).isdisjoint(following[:3])
    ):
        return False
    if word in ALLOCATED:
        named = second if after == "to" else after
        return named in OBJECTS and "with" not in following
    if word == "proceed":
        return after in GOING and (after != "with" or second in OBJECTS)
    if word.endswith(("ed", "ing", "al", "ion", "ance", "en")) or word in ("withheld", "release"):
        return True
    if (
        (second in COPULAS and after in OBJECTS)
        or (after == "that" and second in CLAUSES)
        or "by" in following
    ):
        return False
    if after in ("a", "an"):
        return word in ("issue", "offer", "grant", "award")
    if after in ("to", "of"):
        return second in OBJECTS
    if word == "interview" and after in ENDS:
        return False
    if word in NAMING and after not in UNNAMED | OBJECTS and after.isalpha():
        return second in ENDS or third in ENDS or "'" in following[1:3] or second in ("", "to")
    return after in OBJECTS or after in ENDS or after in ("", "and", "for", "at", "now", "because")


def _has_object(before: str, word: str, following: Sequence[str]) -> bool:
    """Return whether a verb such as ``give`` says what is given, or who is let in."""
    if word in ("let", "letting"):
        return following[0] not in ("me", "us") and not ENTERING.isdisjoint(following)
    if not ANSWERS.isdisjoint(following):
        return False
    if word == "given":
        if before not in ("be", "being", "get"):
            return False
        if following[0] in ENDS:
            return True
    if following[0] in ("a", "an"):
        return word not in ("have", "having") and "to" not in following[2:3]
    if following[0] == "it" and word.startswith("giv"):
        return following[1] in ENDS or following[1] == "to"
    return following[0] in OBJECTS


def _led(words: Sequence[str], at: int) -> int:
    """Return 1 if the words before a verb make it a decision, -1 if negated, 0 if none."""
    sign, judged, ordered, nouns = 1, False, True, 0
    for back in range(at - 1, max(at - REACH, -1) - 1, -1):
        word = words[back] if back >= 0 else "."
        nearby = words[max(back - 2, 0) : back]
        if back >= 0 and _is_general(word, words[back + 1], nearby):
            return 0
        can = word == "can" and words[back + 1] == "go" and back == at - 1
        if can or word in MODALS or word in FIRST_PERSON:
            return sign * MODALS.get(word, 1) * _said(words, back, at)
        if word in STOPS or (word == "," and ordered):
            decides = judged or (ordered and _orders(words, at))
            return sign * _said(words, back, at) if decides else 0
        if word in NEGATORS or word in WRONG:
            sign = -sign
        elif word not in LEADING and word not in JUDGED:
            nouns += 1
            if nouns > 2 or DETERMINERS.isdisjoint(nearby):
                own = judged and nouns < 3 and NEGATORS.isdisjoint(nearby)
                return sign * _said(words, back, at) if own else 0
        judged = judged or word in JUDGED or word in WRONG
        ordered = ordered and word in ORDERING
    return 0


def _is_general(word: str, after: str, before: Sequence[str]) -> bool:
    """Return whether a word decides nothing: ``a decision to``, ``the one to``, ``must admit``."""
    if word in MODALS:
        return after in ("say", "note", "admit")
    if word in ("decision", "choice"):
        return before[1:] == ["a"]
    ungrounded = word in GROUNDS and DENYING_GROUNDS.isdisjoint(before)
    return ungrounded or (word, after) == ("one", "to")


def _orders(words: Sequence[str], at: int) -> bool:
    """Return whether a verb that opens a sentence is an order or a ruling."""
    after = words[at + 1] if at + 1 < len(words) else "."
    return not words[at].endswith(("ed", "ing")) or after in ENDS


def _said(words: Sequence[str], head: int, at: int) -> int:
    """Return 1 if the sentence of a decision is the writer's own, -1 if negated, 0 if not."""
    first, _ = _sentence(words, head, at)
    before = IF_ASKED.sub("", " ".join(words[first:head])).rpartition(", but ")[2]
    clause = before[max((end.end() for end in CLAUSE.finditer(before)), default=0) :]
    if CONDITION.search(before):
        return 0
    if ASKED.search(clause):
        return 0
    if DOUBT.search(clause):
        return -1
    return int(not NOT_OWN.search(clause))


def _sentence(words: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Return start and end of the sentence around some words, within reach."""
    start, end = first, last
    while start > max(first - SENTENCE, 0) and words[start - 1] not in PERIODS:
        start -= 1
    while end < min(last + SENTENCE, len(words)) and words[end] not in PERIODS:
        end += 1
    return start, end


def _ruled(words: Sequence[str], at: int) -> int:
    """Return 1 or -1 for a ruling or a judged grant, ``Granting it is unwise``, else 0."""
    first, last = _sentence(words, at, at)
    sentence = " ".join(words[first:last])
    head, tail = "".join(f"{word} " for word in words[first:at]), " ".join(words[at + 1 : last])
    if CONDITION.search(sentence):
        return 0
    if words[at] in MERITS:
        negated = not NEGATORS.isdisjoint(words[max(at - 2, first) : at])
        return (-1 if negated else 1) * _said(words, at, at)
    if words[at].endswith("ed") and words[at] != "proceed" and (ruling := RULING.search(head)):
        if PAST.search(ruling[0]):
            return 0
        ends = at + 1 >= len(words) or words[at + 1] in ENDS
        return (-1 if re.search(r"not |cant ", ruling[0]) else 1) if ends else 0
    if not words[at].endswith(("ing", "al", "tion", "ance")) or not SUBJECT.search(head):
        return 0
    if not (judged := PREDICATE.search(tail)):
        return 0
    return (1 if judged["good"] else -1) * (-1 if bool(judged["not"]) != bool(judged["nt"]) else 1)
