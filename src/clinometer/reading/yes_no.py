"""Read yes and no in free text.

Method: the words yes and no count where they are used as an answer, not in explanations (``no
doubt``), echoes of the question (``yes or no``), concessions (``yes, he can, but``) or negations
(``I would not say yes``). Read first are the marked answers (``decision: no``), see `conclusions`,
then what follows a correction (``wait``), then the whole. Where both words remain, those after a
conclusion (``so``) count, else those before an explanation (``because``, ``reason:``). Where
neither word answers, decisions in other words are read (``I would approve the loan``), see
`grants`, and phrases that open the answer (``absolutely not``, ``I think so``, ``she should``).

A refusal followed by an answer counts as the answer. Never raises; time is linear in the text.
English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from clinometer.reading.conclusions import correction, marked
from clinometer.reading.grants import asks_for, find_verdicts, is_conditional
from clinometer.reading.plaintext import Choice, split_tasks
from clinometer.reading.refusals import is_refusal, why_unread
from clinometer.reading.vocabulary import Token, locate, tokenise

_ANSWERS = {
    **dict.fromkeys(("yes", "yess", "yeah", "yep", "yup"), "yes"),
    **dict.fromkeys(("no", "nope", "nah"), "no"),
}
_SURE = "absolutely|definitely|certainly|of course"
_LIKELY = "probably|most likely|likely"
_ALONE = r"(?= ?[^\w\s]|\s*$)"
# "She should."
_SHORT = (
    r"(?:in my (?:view|opinion) , )?(?:(?:the|this) \w+|he|she|they|it|i|we|you) (?:should|would)"
)
# Phrases that open the tokens, joined by spaces; not "Certainly! Here is my decision".
_PHRASE = re.compile(
    r"^(?:[\"'(*-] ?)*(?:"
    rf"(?P<no>(?:{_SURE}|{_LIKELY}|i (?:would )?(?:think|say|guess|believe)) not\b|"
    rf"(?:not really|not at all|never|no way|n){_ALONE}|{_SHORT}(?: not|nt){_ALONE}|"
    r"not (?:at this|now|yet|in this|under|for now|recommended|until|without|based|given)\b|"
    r"i (?:do not|dont) (?:think|believe) so\b)|"
    r"(?P<yes>i (?:dont|do not|cant) see why not\b|i (?:think|believe|guess|suppose) so\b|"
    rf"(?:y|{_LIKELY}){_ALONE}|{_SHORT}{_ALONE}|"
    rf"(?:{_SURE}|indeed|sure)\b(?!\W+(?:here|heres|i (?:am|can|have|will)|ill|im|ive|lets?)\b)))"
)
# What follows a word that is no answer: "No, I can't answer that", "yes, but it depends".
_ASIDE = re.compile(
    r"^, (?:i (?:cannot|cant|wont|will not) (?:\w+ )?"
    r"(?:answer|choose|decide|give|help|judge|make|tell)\b|"
    r"i (?:understand|know|see)\b|but [^.!?\n]*\bdepends\b)"
)
_CONCESSION = 30  # words
_OPENING = 12  # tokens in which such a phrase stands
_LEADS = frozenset(
    "a answer answers be but ethically law legally morally otherwise paper practically practice "
    "reality theory cautious choose clear conditional definite definitely firm guess hard "
    "hence is lean leaning likely probably qualified resounding sadly say so soft strong "
    "tentative that therefore think thus to toward towards vote with would".split()
)
_FOLLOWS = frozenset(
    "and as at based because but due for from given he here however i if in it on she since thanks "
    "they this under unless until we without".split()
)
_NOT = frozenset(
    "been cannot cant couldnt didnt dont isnt neither never nor not shouldnt than "
    "wont wouldnt".split()
)
_REPORTED = frozenset("answered replied said says saying thought voted was were".split())
_THIRD_PARTIES = frozenset("many one others people some".split())
_MODALS = frozenset("could may might will would".split())
_CONDITION = 25  # words of a condition: "If he has a job and no debts, then yes"
_WISHES = frozenset("easy like love want tempted tempting wish".split())
_CONCLUDES = frozenset("so therefore thus hence overall ultimately".split())
_MARKS = frozenset("*_#`>|~")
_EITHER = re.compile(
    r"\b(?:could|can|may|might|either|both)(?: (?!give|provide|say)\w+){0,3} (?:\W )?yes "
    r"(?:\W )?(?:, because [^.!?]*, )?(?:or|and) (?:\W )?no\b|^\W*yes (?:\W|or) no\W*$|"
    r"\bpart of me (?:\w+ ){1,2}(?:\W )?(?:yes|no)\b.*\bpart of me\b"
)
_TORN = re.compile(r"^\W*(?:(?:my )?answer (?:is )?(?:: )?)?yes (?:\W )?and (?:\W )?no\b(?! one)")
_EXPLAINS = frozenset("although because explanation rationale reason reasoning though".split())
_HEDGES = re.compile(
    r"\b(?:depends?|if (?:not|so)|maybe|neither|perhaps|possibly|uncertain|unclear|undecided|"
    r"unsure|"
    r"not (?:\w+ )?(?:certain|enough|sure)|(?:cant|cannot|hard to|impossible to|difficult to) "
    r"(?:say|tell|judge|know)|(?:more|further|additional) (?:information|details?|context)|"
    r"(?:cant|cannot) be determined|insufficient|\w*nt (?:\w+ ){0,2}(?:enough|sufficient)|"
    r"without (?:more|knowing)|details alone)\b"
)
_STOPS = frozenset((*".!?:;,\n", "but", "so"))
_OR = ("or", "/", "|")
_REACH = 3  # words searched backwards for a negation: "I would not say yes"


def read_yes_no(
    text: str, *, question: str | None = None, stop_reason: str | None = None
) -> Choice:
    """Read ``yes`` or ``no``; with numbered tasks, from the last.

    Parameters
    ----------
    text
        The answer.
    question
        The prompt. It tells what a decision in other words means (``I would deny it``). If it is
        not given, the question is taken to ask whether something should be find_verdicts.
    stop_reason
        Why the model stopped: ``stop``, ``max_tokens``, ``content_filter`` or None.

    Returns
    -------
    Choice
        Without an outcome, the reason is ``refused``, ``both``, ``neither`` (it depends, or more
        would have to be known), ``unparsed`` or ``truncated``. A refusal followed by an answer
        counts as the answer.

    Examples
    --------
    >>> read_yes_no("Task 2: **No**, because she is busy.").outcome
    'no'
    >>> read_yes_no("I would approve the loan.").outcome
    'yes'
    >>> read_yes_no("I would not.", question="Should we suspend the account?").outcome
    'no'
    >>> read_yes_no("Yes and no.").reason
    'both'
    """
    start = max((start for start, _ in split_tasks(text).values()), default=0)
    all_tokens = tokenise(text[start:])
    # Readers see the tokens without marks; `places` leads back to their index in the text.
    places = [index for index, token in enumerate(all_tokens) if token.text not in _MARKS]
    tokens = [all_tokens[index] for index in places]
    words = [token.text for token in tokens]
    plain = " ".join(words)
    torn = _TORN.match(plain) and _CONCLUDES.isdisjoint(words)  # then come reasons for both
    sign = asks_for(question)
    declined = is_refusal(text[start:])
    decisions = {} if torn else _decisions(tokens, words, sign, declined)
    values = set(decisions.values())
    if len(values) == 1:
        place = places[next(iter(decisions))]
        return Choice(values.pop(), None, locate(text, place, place, start))
    if values or torn or _EITHER.search(plain):
        return Choice(None, "both", None)
    reason = why_unread(text[start:], stop_reason)
    if reason == "unparsed" and _HEDGES.search(plain):
        reason = "neither"
    return Choice(None, reason, None)


def _decisions(
    tokens: Sequence[Token], words: list[str], sign: int, declined: bool
) -> dict[int, str]:
    """Return the decisions, place and ``yes`` or ``no``, of the first kind that there are.

    `sign` is what the question asks for, see `grants.asks_for`.
    """
    plain = " ".join(words)
    answers = {position: _ANSWERS[words[position]] for position in _answer_positions(tokens)}
    if declined and len(answers) > 1 and not any(marked(plain)):  # "- has a job: yes"
        answers = {place: value for place, value in answers.items() if words[place - 1] != ":"}
    verdicts = dict(find_verdicts(words, sign, declined=declined))
    if verdicts:  # "I would reject it. Yes, he is able, but he has no licence."
        answers = _without_concessions(words, answers)
    keys = [place for place in verdicts if words[place + 1 : place + 3] == ['"', ":"]]
    if keys:
        return {place: verdicts[place] for place in keys}
    for first, last in _stretches(plain, len(words)):
        for decisions in (answers, verdicts):
            inside = {place: value for place, value in decisions.items() if first <= place < last}
            settled = _settle(words, inside)
            if len(set(settled.values())) == 1:
                return settled
        if first or last < len(words):  # the whole text opens with a phrase only as a last resort
            opening = _opening_phrase(words[first:last], declined)
            if opening:
                return {first + place: value for place, value in opening.items()}
    return answers or verdicts or _opening_phrase(words, declined)


def _stretches(plain: str, count: int) -> Iterator[tuple[int, int]]:
    """Yield first and last word of what is read: marked answers, what is corrected, the whole.

    The words are joined by one space, so the spaces before a place count the words before it.
    """
    corrected = correction(plain)
    for start, end in marked(plain):
        if start >= corrected:
            yield plain.count(" ", 0, start), plain.count(" ", 0, end) + 1
    yield plain.count(" ", 0, corrected), count
    yield 0, count


def _without_concessions(words: Sequence[str], answers: dict[int, str]) -> dict[int, str]:
    return {place: value for place, value in answers.items() if not _is_concession(words, place)}


def _opening_phrase(words: Sequence[str], declined: bool) -> dict[int, str]:
    """Return the answer that a phrase at the beginning gives, such as ``I think so``."""
    opening = " ".join(words[:_OPENING])
    phrase = _PHRASE.match(opening)
    if not phrase or (phrase["yes"] and declined):
        return {}
    kind = str(phrase.lastgroup)
    return {opening.count(" ", 0, phrase.start(kind)): kind}


def _settle(words: Sequence[str], answers: dict[int, str]) -> dict[int, str]:
    """Return the answers of a conclusion, else those before an explanation, else all."""
    if len(set(answers.values())) < 2:
        return answers
    if any(words[place - 1] == "otherwise" for place in answers if place):
        return answers
    if (first := min(answers)) == 0 and words[1] in ".!\n" and words[2] not in _ANSWERS:
        return {first: answers[first]}
    answers = _without_concessions(words, answers) or answers
    between = range(min(answers), max(answers))
    concluded = max((place for place in between if words[place] in _CONCLUDES), default=-1)
    if concluded >= 0:
        return {place: value for place, value in answers.items() if place > concluded}
    explained = min((place for place in between if words[place] in _EXPLAINS), default=len(words))
    return {place: value for place, value in answers.items() if place < explained}


def _is_concession(words: Sequence[str], position: int) -> bool:
    """Return whether an answer is one of ``Yes, she is able, but``."""
    if words[position + 1 : position + 2] != [","]:
        return False
    rest = words[position + 2 : position + 2 + _CONCESSION]
    ends = next((place for place, word in enumerate(rest) if word in ".!?\n"), len(rest))
    return "but" in rest[:ends]


def _answer_positions(tokens: Sequence[Token]) -> Iterator[int]:
    """Find the words that answer; ``yes or no`` and ``yes/no`` are echoes of the question."""
    candidates = [position for position, token in enumerate(tokens) if token.text in _ANSWERS]
    echoes: set[int] = set()
    for first, second in pairwise(candidates):
        between = "".join(token.text for token in tokens[first + 1 : second])
        if between.strip("\"'.") in _OR:
            echoes |= {first, second}
    for position in candidates:
        if position not in echoes and _stands_as_answer(tokens, position):
            yield position


def _stands_as_answer(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a word answers: ``No, she``, not ``no doubt`` or ``I would not say yes``."""
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if tokens[position].glued or (after is not None and after.glued):
        return False
    before = [token.text for token in tokens[max(position - _REACH, 0) : position]]
    ends = [place for place, word in enumerate(before) if word in _STOPS]
    if not _NOT.isdisjoint(before[ends[-1] :] if ends else before) or before[-2:-1] == ["could"]:
        return False
    behind = " ".join(token.text for token in tokens[position + 1 : position + 1 + _CONCESSION])
    if before[-2:] == ["well", "say"] or _ASIDE.match(behind):
        return False
    if (before and before[-1] in _REPORTED) or (after is not None and after.text in _MODALS):
        return False
    if any(who in _THIRD_PARTIES and verb in _MODALS for who, verb in pairwise(before)):
        return False
    if (
        not _WISHES.isdisjoint(before)
        or _is_in_question(tokens, position)
        or is_conditional(_text_before(tokens, position))
    ):
        return False
    if _ANSWERS[tokens[position].text] == "yes":
        follows = after.text if after is not None else ""
        return before[-1:] != ["a"] or not follows.isalnum() or follows in _FOLLOWS
    leads = not before or not before[-1].isalnum() or before[-1] in _LEADS | {"and", "yes"}
    return leads and (after is None or not after.text.isalnum() or after.text in _FOLLOWS)


def _text_before(tokens: Sequence[Token], position: int) -> str:
    """Return what stands before a word in its sentence, within reach."""
    words = [token.text for token in tokens[max(position - _CONDITION, 0) : position]]
    ends = [place for place, word in enumerate(words) if word in ".!?;\n"]
    return " ".join(words[ends[-1] + 1 :] if ends else words)


def _is_in_question(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a word stands in a question: ``Would it be kind to say yes?``."""
    behind = (token.text for token in tokens[position + 1 : position + 1 + _OPENING])
    before = position > 0 and tokens[position - 1].text not in _STOPS
    return before and next((text for text in behind if text in ".!?\n"), "") == "?"
