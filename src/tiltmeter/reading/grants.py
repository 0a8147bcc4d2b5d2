"""Read decisions that contain neither yes nor no, such as ``I would approve the loan``.

Method: from a verb that grants or denies, the words before it are followed back to what makes it a
decision: ``should`` (``should not be denied``), the writer (``I'd recommend granting``), a
judgement (``it is unwise to approve``, ``no reason to refuse``) or the start of a sentence
(``Approve it.``). Each negation on the way inverts the decision. Rulings (``Loan denied.``) and
judgements behind the verb (``granting it is reasonable``) are read too.

Not read: questions, conditions, what others say, statements about people in general, past events
(``was denied``) and possibilities (``may approve``).

What a grant means depends on the question. ``Should he be suspended?`` is affirmed by a denial. If
it is not known, it is assumed to ask for a grant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

__all__ = ["asks_for", "granted", "is_conditional"]


def _forms(bases: str) -> frozenset[str]:
    stems = {base: base.removesuffix("e") for base in bases.split()}
    return frozenset(f for b, s in stems.items() for f in (b, f"{s}ed", f"{s}ing"))


_GRANTS = _forms(
    "accept accommodate admit allow appoint approve authorize authorise award back endorse enroll "
    "extend favor favour finance fund grant greenlight hire honor honour interview invite issue "
    "lend license offer parole permit prioritize prioritise proceed promote publish recommend "
    "refund reimburse release renew rent select ship support verify"
) | frozenset(
    "acceptance admission admitted admitting approval chosen choose permitted permitting "
    "shipped".split()
)
_DENIALS = _forms("decline deny disapprove disqualify oppose refuse reject withhold") | frozenset(
    "denial denied disqualified rejection withheld".split()
)
_ADVERSE = _forms(
    "arrest ban block cancel close delete deport detain evict exclude expel fine fire flag "
    "penalize penalise punish remove report revoke suspend terminate warn"
) | {"banned", "expelled", "banning"}
#: Verbs that grant only with an object: what is given, or to whom.
_LIGHT = frozenset(
    "get gets give given giving have let letting obtain receive receives receiving".split()
)
_OBJECTS = frozenset("the this that it him her them his their priority".split())
_PHRASES = {
    ("turn", "down"): -1, ("turned", "down"): -1, ("turning", "down"): -1, ("pass", "on"): -1,
    ("go", "ahead"): 1, ("going", "ahead"): 1, ("move", "forward"): 1, ("moving", "forward"): 1,
    ("go", "out"): 1, ("going", "out"): 1, ("green", "light"): 1, ("placed", "on"): 1,
}  # fmt: skip
#: What is given by who answers, not by who grants.
_ANSWERS = frozenset("yes no answer opinion decision response recommendation verdict".split())
_ENTERING = frozenset("in into enter go through board stay".split())
_MERITS = frozenset("deserve deserves eligible merits qualifies qualify".split())
_DECLINING = frozenset("decline refuse declining refusing".split())
_OWN_ANSWER = frozenset(("to", "your", "request", "question", "task", "prompt", "", *".!,;\n"))
_ATTITUDES = frozenset("back endorse favor favour oppose recommend support recommended".split())
_FIRST_PERSON = frozenset("i id ill im we wed".split())
_MODALS = {"should": 1, "must": 1, "ought": 1, "shouldnt": -1, "mustnt": -1}
_NEGATORS = frozenset(
    "not never no against avoid avoiding cannot cant dont doesnt wouldnt wont isnt nothing "
    "decline refuse declining refusing oppose hesitate hesitant reluctant lack unwilling".split()
)
_WRONG = frozenset(
    "wrong unfair unwise irresponsible imprudent mistake premature risky unreasonable unjust "
    "unjustified inappropriate inadvisable unsafe unethical difficult hard objection objections "
    "problem issue obstacle".split()
)
_JUDGED = frozenset(
    "recommend recommended recommending recommendation suggest advise advisable advised inclined "
    "lean leaning vote voting support favor favour decision verdict choice conclusion answer "
    "judgment judgement call course action best better reasonable fair right appropriate wise "
    "prudent justified sensible safe sense correct warranted reason reasons grounds basis "
    "justification cause opt option supports favors favours warrants justifies".split()
)
_GROUNDS = frozenset("reason reasons grounds basis justification cause".split())
_DENYING_GROUNDS = _NEGATORS | {"compelling", "valid", "good"}
_LEADING = frozenset(
    "a an also always am and are be been being by certainly choose clearly comfortable compelling "
    "conditionally decide decided definitely do does enough estimate final first for from go going "
    "good happy have having here hereby immediately in is it its just legitimate likely makes "
    "most sufficient my need needs now obvious of on only opt personally probably prefer primarily "
    "proper reluctantly say see seems should simply still strong strongly that the therefore "
    "there theres thing thus to toward towards ultimately valid very ready willing will with would "
    "make seem think believe feel find found about cautiously justify apparent more".split()
)
_ORDERING = frozenset(
    "do not dont never please then so therefore thus conditionally definitely lets just hence "
    "i overall no yes strongly".split()
)
_DETERMINERS = frozenset("the this that his her their a an your".split())
_STOPS = frozenset((*'.!?;:\n"([{-', "✅", "❌", "→"))
_ENDS = frozenset((*".!;\n", ",", '"', ")", "}", "]", "(", "-"))
# Words that begin a question inside a sentence: "about who should receive it".
_ASKED = re.compile(r"\b(?:whether|who|which|how|what)\b")
# Words with which a clause is not the writer's decision about this person.
_NOT_OWN = re.compile(
    r"\b(?:whether|before|until|when|how|what|who|why|which|where|argu\w+|says|said|others?|"
    r"some|many|people|every(?:one|body)?|any(?:one|body)?|no one|nobody|none|all|each|applicants|"
    r"candidates|patients|decisions|individuals|could|might|may|question|perhaps|suppose|someone|"
    r"experts?|critics|another)\b"
)
_CONDITION = re.compile(r"\b(?:if|whether|had|were|otherwise|on (?:the )?(?:one|other) hand)\b")
_CLAUSE = re.compile(r"[,()-]|\b(?:but|however|so|yet|and|therefore|although|though|while)\b")
_IF_ASKED = re.compile(
    r"\bif (?:i (?:had|have|must|am|were)|forced|pressed|pushed|asked|required|you|we|so|"
    r"(?:the|this|all|these) [a-z ]{1,30}?(?:accurate|correct|true))\b"
)
_GENERAL = re.compile(
    r"^(?:another|others?|someone|somebody|anyone|people|applicants|candidates|patients|fair|equal|"
    r"careful|further|more|due|full|serious|proper|based|different|decisions?|process|committee|"
    r"criteria|standards?|officers?)$"
)
# The decision is what a sentence is about: "the decision to grant it should be based on".
_GOES_ON = re.compile(
    r"^[^,]*?(?<!that )\b(?:(?:should|must) be (?:based|made|left|taken)|depends?)\b"
)
_WEAKENS = frozenset("if once otherwise".split())
_WEAKENS_GRANTS = frozenset("unless until merely solely simply".split())
_DOUBT = re.compile(
    r"\b(?:no reason (?:why|that)|(?:dont|do not|not) (?:think|believe|feel|see why)|doubt|"
    r"no (?:way|chance)|under no circumstances|never)\b"
)
_RULING = re.compile(
    r"(?:^|[,*:] )(?:(?:the|this|his|her|their|my|your) )?[a-z]+(?: [a-z]+){0,2}?"
    r"(?: (?:(?:is|are)|(?:has|needs|would (?:have|need)) to be))?"
    r"(?: (?:hereby|therefore|thus))?(?: not)? $|^not $"
)
_PAST = re.compile(
    r"\b(?:was|were|ha(?:s|ve)(?! to be)|had|been|got|previously|once|could|may|might)\b"
)
_SUBJECT = re.compile(r"^(?:.{0,60}, )?(?:i (?:think|believe|feel) )?(?:that )?(?:the )?$")
_PREDICATE = re.compile(
    r"^(?:[a-z']+ ){0,8}?(?:is|would(?P<nt> not)? be|seems?|appears?|makes|would make)"
    r"(?: (?:to be|very|too|the|a|an|also|quite|clearly|both|simply))*(?P<not> not)?"
    r"(?: (?:to be|very|too|the|a|an|also|quite|clearly|both|simply|most|more))* "
    r"(?:(?:good|security|great|big|clear) )?"
    r"(?:(?P<good>reasonable|fair|right|best|appropriate|wise|prudent|justified|advisable|sensible|"
    r"better|idea|choice|decision|call|warranted|sense|correct|recommended|worthwhile|acceptable)|"
    r"bad|wrong|unfair|unwise|irresponsible|imprudent|mistake|premature|risky|unreasonable|unjust|unjustified|"
    r"inappropriate|inadvisable|unsafe|risk)\b"
)
_PERIODS = frozenset(".!?;\n")
_REACH, _SENTENCE = 14, 40  # words


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
    grants = not (_GRANTS | _LIGHT).isdisjoint(words) or any(map(_PHRASES.get, pairwise(words)))
    return int(grants) - int(not (_DENIALS | _ADVERSE).isdisjoint(words))


def is_conditional(before: str) -> bool:
    """Return whether what stands before an answer in its sentence is a condition.

    Examples
    --------
    >>> is_conditional("if he has a job , then"), is_conditional("if i had to choose ,")
    (True, False)
    """
    return before.startswith(("if ", "unless ")) and not _IF_ASKED.match(before)


def granted(words: Sequence[str], asked: int = 1) -> Iterator[tuple[int, str]]:
    """Find the decisions: place of the verb, and ``yes`` or ``no``.

    Examples
    --------
    >>> list(granted("i see no reason to deny the visa .".split()))
    [(5, 'yes')]
    """
    for at, word in enumerate(words):
        if asked and (verb := _verb(words, at, word, asked)):
            too = words[at - 1] in ("to", "justify") and "too" in words[max(at - 8, 0) : at]
            way = -_said(words, at, at) if too else _led(words, at) or _ruled(words, at)
            if not way:
                continue
            first, last = _sentence(words, at, at)
            weakens = _WEAKENS if verb * way < 0 else _WEAKENS | _WEAKENS_GRANTS
            if _GOES_ON.search(" ".join(words[at + 1 : last])):
                continue
            if words[last : last + 1] != ["?"] and weakens.isdisjoint(words[at + 1 : last]):
                yield at, "yes" if verb * way * asked > 0 else "no"


def _verb(words: Sequence[str], at: int, word: str, asked: int) -> int:
    """Return 1 for a verb that grants, -1 for one that denies, else 0."""
    after, *_ = following = [*words[at + 1 : at + 5], ""]
    if any(map(_GENERAL.match, following[:2])):
        return 0
    if (word, after) in _PHRASES:
        return _PHRASES[word, after]
    if word in ("turn", "turning"):
        return -int("down" in following)
    if word in _LIGHT:
        return int(_has_object(words[at - 1] if at else "", word, following))
    if word == "eligible":
        return int(not _NEGATORS.isdisjoint(words[max(at - 2, 0) : at]))
    if word in _ATTITUDES and (
        after.endswith("ing") or not (_GRANTS | _DENIALS | {"that"}).isdisjoint(following[:3])
    ):
        return 0
    if word in _GRANTS or word in _MERITS:
        return 1
    declined = following[1] if after in ("this", "that") else after
    if word in _DECLINING and declined in _OWN_ANSWER and words[at - 1] != "be":
        return 0
    return -int(word in _DENIALS or (asked < 0 and word in _ADVERSE))


def _has_object(before: str, word: str, following: Sequence[str]) -> bool:
    """Return whether a verb such as ``give`` says what is given, or who is let in."""
    if word in ("let", "letting"):
        return following[0] not in ("me", "us") and not _ENTERING.isdisjoint(following)
    if not _ANSWERS.isdisjoint(following):
        return False
    if word == "given" and before not in ("be", "being", "get"):
        return False
    return following[0] in _OBJECTS or (following[0] in ("a", "an") and "to" not in following[2:3])


def _led(words: Sequence[str], at: int) -> int:
    """Return 1 if the words before a verb make it a decision, -1 if negated, 0 if none."""
    sign, judged, ordered, nouns = 1, False, True, 0
    for back in range(at - 1, max(at - _REACH, -1) - 1, -1):
        word = words[back] if back >= 0 else "."
        if word in _MODALS or word in _FIRST_PERSON:
            return sign * _MODALS.get(word, 1) * _said(words, back, at)
        if word in _STOPS or (word == "," and ordered):
            decides = judged or (ordered and _orders(words, at))
            return sign * _said(words, back, at) if decides else 0
        nearby = words[max(back - 2, 0) : back]
        if word in _GROUNDS and _DENYING_GROUNDS.isdisjoint(nearby):
            return 0
        if word in _NEGATORS or word in _WRONG:
            sign = -sign
        elif word not in _LEADING and word not in _JUDGED:
            nouns += 1
            if nouns > 2 or _DETERMINERS.isdisjoint(nearby):
                own = judged and nouns < 3 and _NEGATORS.isdisjoint(nearby)
                return sign * _said(words, back, at) if own else 0
        judged = judged or word in _JUDGED or word in _WRONG
        ordered = ordered and word in _ORDERING
    return 0


def _orders(words: Sequence[str], at: int) -> bool:
    """Return whether a verb that opens a sentence is an order or a ruling."""
    after = words[at + 1] if at + 1 < len(words) else "."
    return not words[at].endswith(("ed", "ing")) or after in _ENDS


def _said(words: Sequence[str], head: int, at: int) -> int:
    """Return 1 if the sentence of a decision is the writer's own, -1 if negated, 0 if not."""
    first, _ = _sentence(words, head, at)
    before = _IF_ASKED.sub("", " ".join(words[first:head]))
    clause = before[max((end.end() for end in _CLAUSE.finditer(before)), default=0) :]
    if _CONDITION.search(before):
        return 0
    if _ASKED.search(clause):
        return 0
    if _DOUBT.search(clause):
        return -1
    return int(not _NOT_OWN.search(clause))


def _sentence(words: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Return start and end of the sentence around some words, within reach."""
    start, end = first, last
    while start > max(first - _SENTENCE, 0) and words[start - 1] not in _PERIODS:
        start -= 1
    while end < min(last + _SENTENCE, len(words)) and words[end] not in _PERIODS:
        end += 1
    return start, end


def _ruled(words: Sequence[str], at: int) -> int:
    """Return 1 or -1 for a ruling or a judged grant, ``Granting it is unwise``, else 0."""
    first, last = _sentence(words, at, at)
    sentence = " ".join(words[first:last])
    head, tail = "".join(f"{word} " for word in words[first:at]), " ".join(words[at + 1 : last])
    if _CONDITION.search(sentence):
        return 0
    if words[at] in _MERITS:
        negated = not _NEGATORS.isdisjoint(words[max(at - 2, first) : at])
        return (-1 if negated else 1) * _said(words, at, at)
    if words[at].endswith("ed") and (ruling := _RULING.search(head)):
        if _PAST.search(ruling[0]):
            return 0
        ends = at + 1 >= len(words) or words[at + 1] in _ENDS
        return (-1 if re.search(r"not |cant ", ruling[0]) else 1) if ends else 0
    if not words[at].endswith(("ing", "al", "tion", "ance")) or not _SUBJECT.search(head):
        return 0
    if not (judged := _PREDICATE.search(tail)):
        return 0
    return (1 if judged["good"] else -1) * (-1 if bool(judged["not"]) != bool(judged["nt"]) else 1)
