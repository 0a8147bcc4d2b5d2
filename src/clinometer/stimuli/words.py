"""Words of a study, and the rules they must follow."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

_JOINERS = "\u200c\u200d"
_WITHOUT_JOINERS = str.maketrans(dict.fromkeys(_JOINERS))
_JOINING = re.compile(f"(.?)([{_JOINERS}])(?=(.?))", re.DOTALL)
#: Blocks of Arabic to N'Ko, of the Indic scripts, of Myanmar, and of Khmer and Mongolian.
_JOINING_SCRIPTS = ((0x0600, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF), (0xFB50, 0xFDFF))
_VIRAMA = 9  # the combining class of the signs that take a vowel away


@lru_cache(4096)
def word_key(word: str) -> str:
    """Normalise case, width, joiners and runs of spaces, so that equal words compare equal."""
    plain = unicodedata.normalize("NFKC", word).translate(_WITHOUT_JOINERS)
    return " ".join(plain.casefold().split())


def has_control(word: str) -> bool:
    """Return whether a word holds a character that is no part of its spelling.

    These are the categories C…: control, format, surrogate, private and unassigned characters. Of
    them U+200C and U+200D spell words of some scripts, and U+200D emoji (Unicode TR31, 2.3; UTS51).

    Examples
    --------
    >>> has_control("خانه\u200cدار"), has_control("ho\u200cme"), has_control("ho\u202eme")
    (False, True, True)
    """
    if word.isascii():  # most words, of which many are checked at each start
        return not word.isprintable()
    spelled = _JOINING.sub(lambda match: match[1] if _is_spelling(*match.groups()) else "\0", word)
    return any(unicodedata.category(character).startswith("C") for character in spelled)


def _is_spelling(before: str, joiner: str, after: str) -> bool:
    """Return whether a joiner stands between letters of a joining script, or in an emoji."""
    if _joins_letters(before) and _joins_letters(after):
        return True
    if joiner == "\u200c" or not before:
        return False
    # Old spellings of Malayalam and Bengali end in a virama and U+200D.
    return unicodedata.combining(before) == _VIRAMA or (_is_emoji(before) and _is_emoji(after))


def _joins_letters(character: str) -> bool:
    """Return whether a character is a letter or mark of a script that is written joined."""
    if not character or unicodedata.category(character)[0] not in "LM":
        return False
    return any(first <= ord(character) <= last for first, last in _JOINING_SCRIPTS)


def _is_emoji(character: str) -> bool:
    """Return whether a character is a pictograph, a tone of skin or U+FE0F."""
    if character == "\ufe0f":
        return True
    return character >= "\u2190" and unicodedata.category(character) in ("So", "Sm", "Sk")


def _check_word(word: str) -> str:
    if not word.strip():
        raise ValueError("empty word")
    if len(word) > 80:
        raise ValueError(f"word of {len(word)} characters; at most 80 are allowed")
    if has_control(word):
        raise ValueError(
            f"word {word!r} holds a control character; U+200C and U+200D are allowed only between "
            "letters that they join, and U+200D between emoji"
        )
    return word.strip()


def _check_distinct(words: list[str]) -> list[str]:
    keys: set[str] = set()
    for word in words:
        if word_key(word) in keys:
            raise ValueError(f"word {word!r} stands twice")
        keys.add(word_key(word))
    return words


def _check_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,63}", name):
        raise ValueError(
            f"name {name!r}: use lower-case letters, digits and '_', with a letter or digit first"
        )
    return name


def _check_prompt(text: str) -> str:
    if not text.strip():
        raise ValueError("empty; a system prompt needs some text")
    return text


Word = Annotated[str, AfterValidator(_check_word)]
WordList = Annotated[
    list[Word], Field(min_length=1, max_length=500), AfterValidator(_check_distinct)
]
MaybeWords = Annotated[list[Word], Field(max_length=500), AfterValidator(_check_distinct)]
Name = Annotated[str, AfterValidator(_check_name)]
Prompt = Annotated[str, AfterValidator(_check_prompt)]


class Strict(BaseModel):
    """A part of a study file: no unknown fields, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StereotypeWords(Strict):
    """The word lists of a stereotype, under one variation and dimension."""

    marginalized: WordList
    default: WordList
    tied: MaybeWords = []
    """Empty, like `counter`, where groups are not paired with words of their own."""
    counter: MaybeWords = []
    extra: list[Word] = []
    """Words shown in the prompt that belong to neither set and are never scored."""
    aligned: bool = False
    """Whether each marginalized word meets only the default word at its place, else every one."""

    @model_validator(mode="after")
    def _check_partners(self) -> StereotypeWords:
        if self.aligned and len(self.marginalized) != len(self.default):
            raise ValueError(
                f"aligned, but {len(self.marginalized)} marginalized and {len(self.default)} "
                "default words; give each word its partner at the same place"
            )
        return self

    @model_validator(mode="after")
    def _check_sets(self) -> StereotypeWords:
        if bool(self.tied) != bool(self.counter):
            empty = "counter" if self.tied else "tied"
            raise ValueError(f"{empty} has no words; give words to both sets or to neither")
        return self

    @model_validator(mode="after")
    def _check_roles(self) -> StereotypeWords:
        roles = ("marginalized", "default", "tied", "counter", "extra")
        role_of_word: dict[str, str] = {}
        for role in roles:
            for word in getattr(self, role):
                # A word may stand twice among the extra ones, but never in two roles.
                first_role = role_of_word.setdefault(word_key(word), role)
                if first_role != role:
                    raise ValueError(f"word {word!r} stands in both {first_role} and {role}")
        return self


class Phrases(Strict):
    """Phrases that stand in place of both words of a stereotype, partners at the same place."""

    marginalized: WordList
    default: WordList

    @model_validator(mode="after")
    def _check_partners(self) -> Phrases:
        marginalized, default = len(self.marginalized), len(self.default)
        if marginalized != default:
            raise ValueError(
                f"{marginalized} marginalized and {default} default phrases; give each phrase its "
                "partner at the same place"
            )
        if marginalized < 2:
            raise ValueError("1 phrase a side; give at least two")
        return self


class Override(Strict):
    """What a variation changes in a stereotype's words, and which defects it keeps."""

    marginalized: WordList | None = None
    default: WordList | None = None
    tied: WordList | None = None
    counter: WordList | None = None
    extra: list[Word] | None = None
    source_defect: str | None = None
