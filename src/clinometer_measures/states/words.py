"""Words whose profiles are compared: groups of names or terms, and words that stand alone.

Shipped are two sets of Schuster et al. 2024, section 3.3: `names`, the 100 most frequent given
names of girls and of boys in the United States over a century (Social Security Administration),
and `terms`, nine gendered terms each (WEAT 7 and 8 of Caliskan et al. 2017). A third, `genders`,
has the same terms and five words that stand alone, for nonbinary and transgender people, as the
paper's figure 4. The paper names its five only in that drawing, and its released code and data
lack them: these five are Clinometer's.

A file is JSON::

    {"groups": {"women": ["mother", "she"], "men": ["father", "he"]},
     "individuals": ["nonbinary person"], "article": "the"}

or only the groups, ``{"women": […], "men": […]}``. `article` is what templates set before the
words (see `contexts.in_templates`); left out, it goes by the word.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from clinometer.errors import InputError, unknown
from clinometer.stimuli.words import has_control, word_key
from clinometer.texts import read_text

__all__ = ["DEFAULT", "SHIPPED", "Words", "read_json", "read_words"]

#: Names of the sets that come with Clinometer.
SHIPPED = ("names", "terms", "genders")
#: Those that are measured where none is named.
DEFAULT = ("names", "terms")


@dataclass(frozen=True)
class Words:
    """Groups of words that are compared.

    Parameters
    ----------
    name
        Of the set, as tables call it.
    groups
        Words of each group, at least 2; one group only where there are individuals.
    individuals
        Words that stand for themselves, measured in the groups' units.
    article
        What templates set before the words; None where it goes by the word.
    """

    name: str
    groups: dict[str, tuple[str, ...]]
    individuals: tuple[str, ...] = ()
    article: str | None = None

    def __post_init__(self) -> None:
        """Refuse too few words, and one word in two places."""
        if len(self.groups) < (1 if self.individuals else 2):
            raise InputError(
                f"{self.name}: {len(self.groups)} groups; at least 2 are needed to compare, or 1 "
                "and individuals"
            )
        places: dict[str, str] = {}
        for place, words in (*self.groups.items(), ("individuals", self.individuals)):
            for word in words:
                self._check(word, place, places.get(word_key(word)))
                places[word_key(word)] = place
        for group, words in self.groups.items():
            if len(words) < 2:
                raise InputError(
                    f"{self.name}: group {group!r} has {len(words)} words; at least 2 are needed"
                )

    def _check(self, word: str, place: str, earlier: str | None) -> None:
        """Refuse a word that cannot be read, or that stands in an `earlier` place, too."""
        if not word or "|" in word or has_control(word):
            raise InputError(
                f"{self.name}: {place}: word {word!r}; some text without '|' and control "
                "characters is needed"
            )
        if earlier == place:
            raise InputError(f"{self.name}: {place}: word {word!r} stands twice")
        if earlier is not None:
            raise InputError(f"{self.name}: word {word!r} stands in both {earlier!r} and {place!r}")

    @property
    def compared(self) -> tuple[str, ...]:
        """The words of all groups, one group after another."""
        return tuple(word for words in self.groups.values() for word in words)

    @property
    def all(self) -> tuple[str, ...]:
        """The words of all groups, then the individuals."""
        return self.compared + self.individuals


def read_words(named: str | Path) -> Words:
    """Read a set of words.

    Parameters
    ----------
    named
        "names", "terms", "genders", or the path of a JSON file.

    Returns
    -------
    Words

    Raises
    ------
    InputError
        If there is no such set or file, it is malformed, a word stands in two places, or a group
        has fewer than 2 words.

    Examples
    --------
    >>> {group: len(words) for group, words in read_words("terms").groups.items()}
    {'Female Terms': 9, 'Male Terms': 9}
    """
    if str(named) in SHIPPED:
        with resources.as_file(
            resources.files("clinometer_measures.states") / "words.json"
        ) as shipped:
            return _parse_words(read_json(shipped)[str(named)], str(named), str(named))
    path = Path(named)
    if not path.is_file() and path.suffix != ".json":
        raise InputError(f"{unknown('words', str(named), SHIPPED)} (or give a .json file)")
    return _parse_words(read_json(path), path.stem, str(path))


def _parse_words(content: Any, name: str, source: str) -> Words:
    """Make a set from the content of a file; `source` is its name in error messages."""
    if not isinstance(content, dict):
        raise InputError(f"{source}: expected groups and their words, as {{group: [word, …]}}")
    # The short form of a file is the groups themselves.
    if not isinstance(content.get("groups"), dict):
        content = {"groups": content}
    if extra := sorted(content.keys() - {"groups", "individuals", "article", "source"}):
        raise InputError(
            f"{source}: field {extra[0]!r}; allowed are groups, individuals, article and source"
        )
    article = content.get("article")
    if not isinstance(article, str | None):
        raise InputError(f'{source}: article {article!r}; a word is expected, or "" for none')
    groups = {group: _word_list(words, group, source) for group, words in content["groups"].items()}
    individuals = _word_list(content.get("individuals", []), "individuals", source)
    try:
        return Words(name, groups, individuals, article)
    except InputError as error:
        # `Words` names the set; a user looks for the file.
        message = str(error).removeprefix(f"{name}: ")
        raise InputError(f"{source}: {message}") from None


def _word_list(words: Any, place: str, source: str) -> tuple[str, ...]:
    """Read the list of words at one place of a file."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{source}: {place}: expected a list of words in quotes")
    return tuple(map(str.strip, words))


def read_json(path: Path) -> Any:
    """Read a JSON file in UTF-8, with or without a byte order mark.

    Raises InputError if the file is missing or malformed, or a field stands twice.
    """
    text = read_text(path)
    try:
        # By default json keeps the last of two equal fields without a word.
        return json.loads(text, object_pairs_hook=lambda pairs: _unique_fields(pairs, path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: malformed JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{path}: malformed JSON: nested too deeply") from None


def _unique_fields(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    """Make a dictionary of fields and values; refuse a field that stands twice."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise InputError(f"{path}: {name!r} stands twice; give it once")
        fields[name] = value
    return fields
