"""Candidate synonyms: the paper's prompt, reading the answer, checks.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, SI section E: GPT-4 was
    asked for synonyms of the attribute words.

Deviations from the paper
    The words of both sets are asked for in one list, tied ones first; the paper does not report
    this. The authors' inspection by eye is replaced by automatic checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import TypeAdapter, ValidationError

from clinometer.errors import StudyError
from clinometer.stimuli.drafting.drafts import SynonymCandidate, plain_text
from clinometer.stimuli.drafting.reading import read_synonyms
from clinometer.stimuli.drafting.valence import Lexicon, check_valence
from clinometer.stimuli.study import Stereotype, Study
from clinometer.stimuli.words import StereotypeWords, Word, word_key

#: Bai et al. (2025), SI section E, word for word.
PROMPT = "Generate one synonym for each word in the following list: {words}"

#: Words of a synonym; a longer one is a description.
LONGEST_PHRASE = 4

#: Endings that are stripped, longer ones before those that they end in.
_SUFFIXES = ("fulness", "ness", "ment", "ingly", "edly", "fully", "ing", "est", "ful", "ies",
             "ied", "ers", "ed", "es", "er", "ly", "al", "s", "e", "y")  # fmt: skip


def seed_variation(stereotype: Stereotype) -> str | None:
    """Name the decision that drafts start from: `replication`, else the first in one prompt."""
    decisions = stereotype.decisions.relative_decision
    for name in ("replication", *decisions):
        decision = decisions.get(name)
        if decision is not None and decision.wording and not decision.followup:
            return name
    return None


def seed_words(study: Study, key: str, instrument: str = "word_association") -> StereotypeWords:
    """Return the words that synonyms are asked for.

    Parameters
    ----------
    study, key
        A study and the key of a stereotype in it.
    instrument
        ``"word_association"``, or ``"relative_decision"`` for the words of the seed decision.

    Returns
    -------
    StereotypeWords

    Raises
    ------
    StudyError
        If the stereotype has no decision to start from.
    """
    stereotype = study.stereotypes[key]
    if instrument == "word_association":
        return stereotype.words("")
    name = seed_variation(stereotype)
    if name is None:
        raise StudyError(
            f"stereotype {key!r} has no relative_decision in one prompt to start "
            "from; add one, or name others with --stereotypes"
        )
    return stereotype.decision_words(instrument, name)


def synonym_prompt(words: StereotypeWords) -> str:
    """Write the paper's prompt for the words of both sets."""
    return PROMPT.replace("{words}", ", ".join(words.tied + words.counter))


def check_synonyms(
    tied: Mapping[str, str], counter: Mapping[str, str], words: StereotypeWords
) -> list[str]:
    """List the problems of synonyms (seed → synonym; empty where there is none).

    Examples
    --------
    >>> words = StereotypeWords(marginalized=["old"], default=["young"], tied=["agony"],
    ...                         counter=["joy"])
    >>> check_synonyms({"agony": "torment"}, {"joy": "joys"}, words)
    ["'joys' for 'joy': only another form of the word"]
    """
    findings = []
    missing = [seed for seed, synonym in (*tied.items(), *counter.items()) if not synonym]
    if missing:
        findings.append(f"no synonym for: {', '.join(missing)}")
    roles = {}
    for role in _ROLES:
        roles.update({word_key(word): role for word in getattr(words, role)})
    for set_role, synonyms in (("tied", tied), ("counter", counter)):
        for seed, synonym in synonyms.items():
            problems = _find_problems(seed, synonym, set_role, roles) if synonym else ()
            findings += [f"{synonym!r} for {seed!r}: {problem}" for problem in problems]
    return findings + _find_duplicates(tied, counter)


_ROLES = {
    "marginalized": "a group word",
    "default": "a group word",
    "tied": "a word of the tied list",
    "counter": "a word of the counter list",
    "extra": "shown already, as an extra word",
}


def _find_problems(
    seed: str, synonym: str, set_role: str, roles: Mapping[str, str]
) -> Iterator[str]:
    """Yield what is wrong with a synonym of one set; `roles` are those of the study's words."""
    role = roles.get(word_key(synonym))
    if word_key(synonym) == word_key(seed):
        yield "the same word"
    elif _stem(synonym) == _stem(seed):
        yield "only another form of the word"
    elif role is not None:
        yield "another word of its own list" if role == set_role else _ROLES[role]
    if len(synonym.split()) > LONGEST_PHRASE:
        yield f"more than {LONGEST_PHRASE} words"
    try:
        _WORD.validate_python(synonym)
    except ValidationError as error:
        yield error.errors()[0]["msg"].removeprefix("Value error, ")


_WORD: TypeAdapter[str] = TypeAdapter(Word)


def _find_duplicates(tied: Mapping[str, str], counter: Mapping[str, str]) -> list[str]:
    """List the synonyms that stand for more than one seed."""
    findings = []
    seeds: dict[str, list[tuple[str, str]]] = {}
    for role, synonyms in (("tied", tied), ("counter", counter)):
        for seed, synonym in synonyms.items():
            if synonym:
                seeds.setdefault(word_key(synonym), []).append((role, seed))
    for key, places in seeds.items():
        if len(places) > 1:
            in_both_sets = len({role for role, _ in places}) > 1
            where = "in both sets" if in_both_sets else "twice in the list"
            findings.append(f"{key!r} {where}: for {', '.join(seed for _, seed in places)}")
    return findings


def _stem(word: str) -> str:
    """Strip the endings of each word of a phrase; approximate, because a person reviews."""
    return " ".join(_strip_ending(part) for part in word_key(word).split())


def _strip_ending(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word.removesuffix(suffix)
            break
    # "stopped" → "stopp" → "stop"; "happiness" → "happi" → "happ".
    return re.sub(r"(.)\1$", r"\1", word).removesuffix("i")


def synonym_candidate(
    key: str, words: StereotypeWords, prompt: str, answer: str, lexicon: Lexicon | None = None
) -> SynonymCandidate:
    """Make a candidate of an answer.

    Parameters
    ----------
    key
        The stereotype's.
    words
        From `seed_words`.
    prompt, answer
        What was asked and answered; kept as they are.
    lexicon
        To compare valences; None if there is none.

    Returns
    -------
    SynonymCandidate
        Not accepted; never raises on what a model wrote.
    """
    reading = read_synonyms(answer, words.tied + words.counter)
    tied = {seed: reading.synonyms[seed] for seed in words.tied}
    counter = {seed: reading.synonyms[seed] for seed in words.counter}
    valence, drifted = check_valence(tied, counter, lexicon)
    checks = reading.findings + check_synonyms(tied, counter, words) + drifted
    return SynonymCandidate(
        stereotype=key, checks=checks, valence=valence, tied=tied, counter=counter, prompt=prompt,
        answer=plain_text(answer),
    )  # fmt: skip
