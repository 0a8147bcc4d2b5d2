"""The words of the four lists, and the slots that stand for them in a decision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from tiltmeter.stimuli.words import Words

__all__ = ["SLOTS", "listed_words", "restore_slots"]

#: The four lists, in the paper's order, and the slot that stands for a word of each.
SLOTS = {
    "marginalized": "group0",
    "default": "group1",
    "tied": "attribute0",
    "counter": "attribute1",
}

#: How models name a list: by its number, or by the paper's symbol.
_ALIAS = (
    r"[\[(<\"']{0,2}\b(?:(?:a |an |the )?(?:word|concept|item)s? (?:from|of|in) )?"
    r"(?:list\s?([1-4])|([sx]_[ab]))\b[\])>\"']{0,2}"
)
_SYMBOLS = ("s_a", "s_b", "x_a", "x_b")


def restore_slots(text: str, words: Words, shown: Mapping[str, str]) -> tuple[str, list[str]]:
    """Put slots where an answer has the lists, or the words of its example.

    Parameters
    ----------
    text
        A decision.
    words
        The four lists.
    shown
        Role → the word that the example showed.

    Returns
    -------
    tuple
        The text with slots, and a finding for each thing replaced or left because it is not
        clear what is meant.

    Examples
    --------
    >>> words = Words(marginalized=["old"], default=["young"], tied=["agony", "evil"],
    ...               counter=["joy", "love"])
    >>> restore_slots("Profile an old chef. Who cooks agony, evil?", words, {})[0]
    'Profile {a_group0} chef. Who cooks {attribute0}?'
    """
    findings: list[str] = []
    slots = list(SLOTS.values())

    def alias(match: re.Match[str]) -> str:
        slot = slots[int(match[1]) - 1 if match[1] else _SYMBOLS.index(match[2].lower())]
        findings.append(f"{match[0]!r} was turned into {{{slot}}}")
        return f"{{{slot}}}"

    text, _ = _outside(_ALIAS, alias, text)
    for role, slot in SLOTS.items():
        text, found = _restored(text, slot, getattr(words, role), shown.get(role))
        findings += found
    return text, list(dict.fromkeys(findings))


def _restored(text: str, slot: str, listed: list[str], shown: str | None) -> tuple[str, list[str]]:
    findings = []
    if len(listed) > 1:
        word = _any_of(listed)
        joint = r"(?:\s*,\s*(?:and |or )?|\s+(?:and|or)\s+|\s*/\s*)"
        run = rf"[\[(\"']{{0,2}}{word}(?:[\"']?{joint}[\"']?{word})+[\])\"']{{0,2}}"
        text, count = _outside(run, lambda match: f"{{{slot}}}", text)
        findings += [f"a list was turned into {{{slot}}} ({count}×)"] if count else []
    present = {word.lower() for word in listed_words(text, listed)}
    meant = {shown.lower()} & present if shown else set()
    meant = meant or (present if len(present) == 1 else set())
    if meant:
        word = meant.pop()
        article = r"(?:(?<!\w)(?-i:(an?))\s+)?" if slot.startswith("group") else "()"
        one = rf"{article}[\"“]?{_any_of([word])}[\"”]?"
        text, count = _outside(one, lambda m: f"{{{'a_' if m[1] else ''}{slot}}}", text)
        findings.append(f"{word!r} was turned into {{{slot}}} ({count}×)")
    elif present:
        unclear = ", ".join(sorted(present)[:5])
        findings.append(f"which word {{{slot}}} should stand for is not clear: {unclear}")
    return text, findings


def _any_of(words: Iterable[str], endings: str = "") -> str:
    """Match any of the words, the longest first, as whole words."""
    longest_first = sorted(words, key=len, reverse=True)
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))}){endings}(?!\w)"


def _outside(pattern: str, put: Callable[[re.Match[str]], str], text: str) -> tuple[str, int]:
    """Replace what stands outside of slots; how often that was."""
    parts = re.split(r"(\{[^{}]*\})", text)
    replaced = [re.subn(pattern, put, part, flags=re.IGNORECASE) for part in parts[::2]]
    parts[::2] = [part for part, _ in replaced]
    return "".join(parts), sum(count for _, count in replaced)


def listed_words(text: str, words: Iterable[str], endings: str = "") -> list[str]:
    """Find which of the words stand outside of slots, as the text writes them."""
    bare = re.sub(r"\{[^{}]*\}", "\n", text)
    return list(dict.fromkeys(re.findall(_any_of(words, endings), bare, re.IGNORECASE)))
