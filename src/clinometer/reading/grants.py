"""Read decisions that contain neither yes nor no, such as ``I would approve the loan``.

Method: a verb that grants or denies decides where it is led by the writer (``I'd``), by what ought
to be (``should``), by a judgement (``no reason to``) or by nothing (``Approve it.``, ``Loan
denied.``). Each negation between inverts the decision. Nothing is decided by questions, conditions,
others' views, the past, possibilities, two sides (``to grant or deny it``) and verbs without a
definite object (``approve half of it``). What these rules do not read is left to a judge.

What a grant means depends on the question. ``Should he be suspended?`` is affirmed by a denial. If
it is not known, it is assumed to ask for a grant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def _any_form(bases: str) -> frozenset[str]:
    """Return verbs as such, and their forms in -ed and -ing."""
    forms: set[str] = set()
    for base in bases.split():
        stem = base.removesuffix("e")
        forms |= {base, f"{stem}ed", f"{stem}ing"}
    return frozenset(forms)


_GRANTS = _any_form(
    "accept admit allow approve authorize authorise award extend fund grant greenlight hire invite "
    "issue lend license offer permit prioritize proceed promote publish reinstate release renew "
    "rent select ship support"
) | {"admitted", "chosen", "permitted"}
_DENIALS = _any_form("decline deny disqualify refuse reject withhold") | frozenset(
    "denied disqualified withheld".split()
)
_ADVERSE = _any_form(
    "arrest ban block cancel close deport detain evict exclude expel fine fire punish remove "
    "report revoke suspend terminate"
) | {"banned", "expelled"}
#: Verbs that grant only with an object: what is given, or to whom.
_LIGHT = frozenset("get give given giving let receive".split())
_TWO_WORDS = {
    **dict.fromkeys([("go", "ahead"), ("going", "ahead"), ("go", "through")], 1),
    **dict.fromkeys([("turn", "down"), ("turned", "down"), ("turning", "down")], -1),
    ("turned", "away"): -1,
}
_OBJECTS = frozenset("the this that it him her his their them".split())
_ENDS = frozenset((*'.!;\n,"})', "", "-", ":"))
_CONTINUATIONS = frozenset("and as at because for given here in now since with".split())
#: What is given by who answers, or tells that nothing is decided yet.
_ANSWERS = frozenset(
    "advice answer apply appeal explain information opinion provide respond speak submit".split()
)
_LEADS = frozenset(
    "i id ill we it there nothing should shouldnt must ought recommend recommendation".split()
)
_NEGATIONS = frozenset(
    "against cannot cant dont isnt mistake never no not nothing objection shouldnt too unfair "
    "unwise wouldnt wrong wont".split()
)
_CLAUSES = frozenset(", but so and - ( yet : therefore".split())
#: A clause whose verb decides nothing, or not as the writer does.
_UNDECIDED = re.compile(
    r"\b(?:whether|until|was|were|had|could|may|might|either|some|many|others?|one|people|"
    r"everyone|anyone|who|how|what|only|decision to|says?|said|argu\w+|law|polic\w+|"
    r"(?:her|his|their|s) (?:\w+ )?(?:recommend\w*|decision|view)|follow|say|"
    r"power|authority)\b"
)
_SUPPOSED = re.compile(r"\bif\b|^unless\b|\bin case\b|\baccording to\b")
_OPEN_END = frozenset("if unless until once otherwise".split())
_CONDITION = re.compile(r"(?:if|unless) ")
_IF_FORCED = re.compile(
    r"\bif (?:i (?:had|have|must|am|were)|forced|pressed|pushed|asked|required|you|we|so|"
    r"(?:the|this|all|these) [a-z ]{1,30}?(?:accurate|correct|true))\b"
)
#: The writer's own refusal: "I cannot approve this loan, as I am an AI".
_UNABLE = re.compile(r"\b(?:i|we|im) (?:\w+ ){0,2}?(?:cannot|cant|wont|will not|unable|not able)\b")
_SENTENCES = re.compile(r"(?<=[.?!])(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bMrs\.)\s")
_REACH = 40  # words, of a sentence


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
    questions = [part for part in _SENTENCES.split(question) if part.rstrip().endswith("?")]
    verbs = (
        re.split(r"\b(?:should|would|does|do|is)\b", questions[-1].casefold())[-1]
        if questions
        else ""
    )
    words = re.findall(r"\w+", verbs)
    grants = not (_GRANTS | _LIGHT | {"recommend"}).isdisjoint(words)
    return int(grants) - int(not (_DENIALS | _ADVERSE).isdisjoint(words))


def is_conditional(before: str) -> bool:
    """Return whether what stands before an answer in its sentence is a condition.

    Examples
    --------
    >>> is_conditional("if he has a job , then"), is_conditional("if i had to choose ,")
    (True, False)
    """
    return bool(_CONDITION.match(before)) and not _IF_FORCED.match(before)


def find_verdicts(
    words: Sequence[str], question: int = 1, *, declined: bool = False
) -> Iterator[tuple[int, str]]:
    """Find the decisions: place of the verb, and ``yes`` or ``no``.

    `question` is what is asked for, see `asks_for`. Where the writer `declined`, what they say they
    cannot do is no decision.

    Examples
    --------
    >>> list(find_verdicts("i see no reason to deny the visa .".split()))
    [(5, 'yes')]
    """
    if not question:
        return
    stops = [place for place, word in enumerate(words) if word in ".!?;\n"]
    first = 0
    for last in [*stops, len(words)]:
        # A question decides nothing.
        sentence = words[first:last] if "?" not in words[last : last + 1] else ()
        for position in range(len(sentence)):
            if sign := _verdict(sentence, position, question, declined):
                yield first + position, "yes" if sign > 0 else "no"
        first = last + 1


def _verdict(sentence: Sequence[str], position: int, question: int, declined: bool) -> int:
    """Return 1 if a word affirms the question, -1 if it denies it, 0 if neither."""
    if not (sign := question * _verb_sign(sentence, position, question)):
        return 0
    before = sentence[max(position - _REACH, 0) : position]
    after = sentence[position + 1 : position + _REACH]
    if after[:2] == ['"', ":"]:  # {"approve": false}
        return {"true": sign, "false": -sign}.get("".join(after[2:3]), 0)
    head = " ".join(before)
    if not _OPEN_END.isdisjoint(after) or (declined and _UNABLE.search(head)):
        return 0
    if _SUPPOSED.search(_IF_FORCED.sub("", head)):
        return 0
    lead = max((place for place, word in enumerate(before) if word in _LEADS), default=len(before))
    breaks = [place for place, word in enumerate(before[:lead]) if word in _CLAUSES]
    clause = before[breaks[-1] + 1 if breaks else 0 :]
    plain_words = [word for word in clause if word.isalnum()]
    if lead == len(before) and not _is_ruling(plain_words, sentence[position], "".join(after[:1])):
        return 0
    if clause[:1] == ["should"] or _UNDECIDED.search(" ".join(clause)):
        return 0
    # Each negation turns the decision round; two restore it.
    return -sign if sum(word in _NEGATIONS for word in clause) % 2 else sign


def _is_ruling(before: Sequence[str], verb: str, after: str) -> bool:
    """Return whether a clause without a lead is an order or a ruling: ``Loan not approved``."""
    if verb.endswith("ed"):
        return len(before) < 4 and after in _ENDS
    return not verb.endswith("ing") and (_NEGATIONS | {"please", "then"}).issuperset(before)


def _verb_sign(sentence: Sequence[str], position: int, question: int) -> int:
    """Return 1 for a verb that grants something definite, -1 for one that denies, else 0."""
    word = sentence[position]
    after, second, third = [*sentence[position + 1 : position + 4], "", "", ""][:3]
    if not _ANSWERS.isdisjoint(sentence[position + 1 : position + 5]):
        return 0
    if pair := _TWO_WORDS.get((word, after), 0):
        aimless = second == "and" and third not in _GRANTS
        return pair if second in _ENDS | _OBJECTS | _CONTINUATIONS and not aimless else 0
    if word in _LIGHT:
        return int(after in _OBJECTS or word == "given" and after in _ENDS)
    # Harm counts as a denial only of a question that asks for it.
    denials = _DENIALS | _ADVERSE if question < 0 else _DENIALS
    sign = int(word in _GRANTS) or -int(word in denials)
    if not sign or "or" in (after, second, third, *sentence[max(position - 2, 0) : position]):
        return 0
    if word.endswith(("ed", "en", "withheld")):
        return sign * (sentence[position - 1] == "be" or (after in _ENDS and position < 4))
    if word.startswith(("declin", "refus")) or word.endswith("ing"):
        return sign * (after in _OBJECTS)
    if after in ("a", "an"):
        return sign * (word in ("award", "grant", "issue"))
    definite = after in _OBJECTS | _ENDS | _CONTINUATIONS
    return sign * (definite and after != "that" and second not in ("is", "was", "s"))
