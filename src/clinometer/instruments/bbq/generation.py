"""Items of BBQ made of its templates, where the released ones are not at hand.

Reference
    Parrish et al. (2022), github.com/nyu-mll/BBQ: who may fill a template, and how many do, is that
    of ``generate_from_template_all_categories.py`` and, for intersections with race,
    ``generate_from_template_intersectional_cats.py``.

Deviations from the release
    The release drew names, words and the order of options without a seed: here they are drawn anew.
    A draw takes the options with the smallest SHA-256 of seed, place and option. So it is the same
    on every machine, and depends on no other draw. Whom a stereotype is about follows the text
    (`Template.is_target`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count, permutations, product
from typing import NamedTuple, TypeVar

from clinometer.authoring import BenchmarkItems, Strict, read_items
from clinometer.instruments.bbq.items import AMBIGUOUS, CONTEXTS, Item
from clinometer.instruments.bbq.templates import (
    Person,
    Template,
    fill_template,
    group_key,
    read_templates,
)

__all__ = ["Generated", "generate_items"]

#: Options that say that a question cannot be answered.
UNKNOWN = (
    *("Unknown", "Cannot be determined", "Can't be determined", "Not answerable", "Not known"),
    *("Not enough info", "Not enough information", "Cannot answer", "Can't answer", "Undetermined"),
)

#: How many persons are drawn for a place; where any name will do, one more.
_PERSONS = 5

#: Categories, and a subcategory, whose words change places. Proper names always do.
_MIRRORED = {"Race_ethnicity", "Religion", "Nationality", "Sexual_orientation", "Occupation"}

#: Whose words stand on the first axis of an intersection, and on the second where none are named.
_RACE, _SES = "Race_ethnicity", "SES"

Pair = tuple[Person, Person]
T = TypeVar("T")


class Generated(Strict):
    """What a study says of items that are made of templates."""

    templates: BenchmarkItems
    words: BenchmarkItems
    """Words for groups, and proper names."""
    seed: int


class Word(NamedTuple):
    """A word for a group, or a part of a name: a row of the table of words."""

    list: str
    """``word``, ``first`` and ``last`` names of an ethnicity, ``first_only``: names of none."""
    category: str
    subcategory: str
    name: str
    group: str
    """What stereotypes call it: of an occupation its status, of a name its ethnicity or gender."""
    gender: str

    def __str__(self) -> str:
        return self.name


class Draws(NamedTuple):
    """What is drawn for one template, by the hash of a place: the same wherever it is drawn."""

    seed: str
    words: Sequence[Word]

    def shuffle(self, options: Sequence[T], *place: str) -> list[T]:
        """Bring options into the order of their hashes."""
        return sorted(options, key=lambda option: self._hash(*place, str(option)))

    def choose(self, options: Sequence[T], *place: str) -> T:
        """Choose one of some options."""
        return options[int.from_bytes(self._hash(*place)) % len(options)]

    def _hash(self, *place: str) -> bytes:
        return hashlib.sha256("/".join((self.seed, *place)).encode()).digest()

    def select(self, category: str, subcategory: str = "") -> list[Word]:
        """Return the words of a category; of a subcategory, if one is named."""
        return [
            word
            for word in self.words
            if word.category == category and subcategory in ("", word.subcategory)
        ]

    def first_names(self) -> list[Word]:
        """Return the first names that tell an ethnicity."""
        return [word for word in self.words if word.list == "first"]

    def sample_gender(self, names: Sequence[Word], gender: str, name: Word) -> list[Word]:
        """Draw names of a gender, to stand beside a name."""
        pool = [word for word in names if word.gender == gender]
        return self.shuffle(pool, name.name, gender)[:_PERSONS]

    def full_name(self, first: Word) -> str:
        """Return a first name with a last name of its group."""
        last = [word for word in self.words if word.list == "last" and word.group == first.group]
        return f"{first.name} {self.choose(last, first.name, 'last name').name}"


def generate_items(generated: Generated, category: str, study: str) -> Iterator[Item]:
    """Generate the items of a category; `study` is the path of the study file.

    Yields
    ------
    Item
        Named by category, ``g`` and a number, so that none has the name of a released one. Numbers
        are as many as in the release; where two persons are both stereotyped, or neither, there is
        no target, and the item is left out, as published (16 of gender).
    """
    words = _read_words(generated.words, study)
    numbers = count()
    for template in read_templates(generated.templates, study).get(category, ()):
        draws = Draws(f"{generated.seed}/{category}/{template.key}", words)
        for draw, pairs in enumerate(_draw_pairs(template, draws)):
            # Other words are the same for all pairs of a draw.
            fillers = [
                draws.choose(options, f"{draw}/word {place}") if options else ""
                for place, options in enumerate(template.words)
            ]
            for turn, pair in enumerate(pairs):
                is_target = [template.is_target(*placed) for placed in enumerate(pair)]
                for item in _make_items(template, pair, fillers, draws, f"{draw}/{turn}"):
                    number = next(numbers)
                    if is_target[0] != is_target[1]:
                        yield item._replace(name=f"{category} g{number}")


def _make_items(
    template: Template, pair: Pair, fillers: Sequence[str], draws: Draws, place: str
) -> Iterator[Item]:
    """Yield the four items about two persons: both questions in both contexts."""
    texts = fill_template(template, pair, fillers)
    unknown = draws.choose(UNKNOWN, f"{place}/unknown")
    answers = (texts["neg_answer"], texts["nonneg_answer"], unknown)
    first, second, third = options = draws.shuffle(answers, f"{place}/options")
    # An answer names the person of one place.
    negative = int("2}}" in template.texts["neg_answer"])
    descriptions = (pair[negative].description, pair[1 - negative].description, unknown)
    described = dict(zip(answers, descriptions, strict=True))
    for polarity, context_kind in product(("neg", "nonneg"), CONTEXTS.values()):
        is_ambiguous = context_kind == AMBIGUOUS
        context = texts["ambiguous"].strip()
        # The stereotyped person is the target of the negative question alone.
        is_answer = template.is_target(negative, pair[negative]) == (polarity == "neg")
        yield Item(
            name="",
            category=template.category,
            template=template.question,
            polarity=polarity,
            context_kind=context_kind,
            context=context if is_ambiguous else f"{context} {texts['disambiguating']}".strip(),
            question=texts[polarity].strip(),
            options=(first, second, third),
            descriptions=(described[first], described[second], described[third]),
            label=options.index(unknown if is_ambiguous else texts[f"{polarity}_answer"]),
            target=options.index(texts["neg_answer" if is_answer else "nonneg_answer"]),
            unknown=options.index(unknown),
        )


def _draw_pairs(template: Template, draws: Draws) -> Iterator[list[Pair]]:
    """Yield who fills the first place and the second: the pairs of a draw, of the same persons."""
    if len(template.targets) > 1:
        draw = _draw_names_of_two_axes if template.is_named else _draw_words_of_two_axes
        for target, *three in draw(template, draws):
            yield [(target, person) for person in three] + [(person, target) for person in three]
        return
    mirrored = template.is_named or {template.category, template.subcategory} & _MIRRORED
    draw_persons = _draw_names if template.is_named else _draw_words
    for first, second in _list_persons(template) or draw_persons(template, draws):
        yield [(first, second), (second, first)] if mirrored else [(first, second)]


def _list_persons(template: Template) -> list[Pair]:
    """Return all pairs of the persons that a template lists; none if it lists none."""
    firsts, seconds = ([Person(name, (name,)) for name in names] for names in template.names)
    return [*product(firsts, seconds)]


def _draw_words(template: Template, draws: Draws) -> Iterator[Pair]:
    """Yield two words of different groups; of some categories the first is stereotyped."""
    words = draws.select(template.category, template.subcategory)
    is_split = template.category in _MIRRORED
    firsts, seconds = _split(words, template) if is_split else (words, words)
    for first in draws.shuffle(firsts)[:_PERSONS]:
        contrasts = [second for second in seconds if second.group != first.group]
        if is_split:
            contrasts = draws.shuffle(contrasts, first.name)[:_PERSONS]
        for second in contrasts:
            yield Person(first.name, (first.group,)), Person(second.name, (second.group,))


def _draw_names(template: Template, draws: Draws) -> Iterator[Pair]:
    """Yield two proper names: of two ethnicities, of two genders, or any."""
    if template.category == _RACE:
        targets, nontargets = _split(
            [word for word in draws.words if word.list == "first"], template
        )
        for name in draws.shuffle(targets)[:_PERSONS]:
            first = Person(draws.full_name(name), (name.group,))
            for second in draws.sample_gender(nontargets, name.gender, name):
                yield first, Person(draws.full_name(second), (second.group,))
        return
    names = draws.shuffle([word for word in draws.words if word.list == "first_only"])
    if template.category == "Gender_identity":
        women = [name for name in names if name.gender == "F"][:_PERSONS]
        pairs = [(name, man) for name in women for man in draws.sample_gender(names, "M", name)]
    else:
        names = names[: _PERSONS + 1]
        pairs = [*permutations(names, 2)]
    for first_name, second_name in pairs:
        yield (
            Person(first_name.name, (first_name.group,)),
            Person(second_name.name, (second_name.group,)),
        )


def _draw_words_of_two_axes(template: Template, draws: Draws) -> Iterator[list[Person]]:
    """Yield a person that the stereotype is about, and three who differ on one axis or both."""
    targets, nontargets = _split(draws.select(_RACE), template)
    for word in draws.shuffle(targets)[:_PERSONS]:
        for second in draws.shuffle(nontargets, word.name)[:_PERSONS]:
            same, different = _draw_kinds(template, draws, f"{word}/{second}")
            yield [
                Person(race.name, (race.group, group), kind)
                for race in (word, second)
                for group, kind in (same, different)
            ]


def _draw_names_of_two_axes(template: Template, draws: Draws) -> Iterator[list[Person]]:
    """Yield a name that the stereotype is about, and three who differ on one axis or both."""
    targets, nontargets = _split(draws.first_names(), template)
    candidates = [name for name in targets if template.gender in ("", name.gender)]
    for name in draws.shuffle(candidates)[:_PERSONS]:
        same_race = [word for word in targets if word.group == name.group and word != name]
        if template.category == "Race_x_gender":
            opposite = "M" if name.gender == "F" else "F"
            for three in zip(
                draws.sample_gender(same_race, opposite, name),
                draws.sample_gender(nontargets, name.gender, name),
                draws.sample_gender(nontargets, opposite, name),
                strict=True,
            ):
                names = (name, *three)
                yield [Person(draws.full_name(word), (word.group, word.gender)) for word in names]
            continue
        for near, far in zip(
            draws.sample_gender(same_race, name.gender, name),
            draws.sample_gender(nontargets, name.gender, name),
            strict=True,
        ):
            kinds = _draw_kinds(template, draws, f"{name}/{far}")
            yield [
                Person(draws.full_name(word), (word.group, group), kind)
                for word, (group, kind) in zip((name, near, far, far), kinds * 2, strict=True)
            ]


def _draw_kinds(template: Template, draws: Draws, place: str) -> list[tuple[str, str]]:
    """Return group and text of the second axis: those of the stereotype, and others."""
    kinds: dict[str, list[str]] = {group: [*texts] for group, texts in template.kinds.items()}
    for word in () if kinds else draws.select(_SES):
        kinds.setdefault(word.group, []).append(word.name)
    groups = sorted(kinds, key=lambda group: group_key(group) not in template.targets[1])
    return [(group, draws.choose(kinds[group], place, group)) for group in groups]


def _split(words: Sequence[Word], template: Template) -> tuple[list[Word], list[Word]]:
    """Return the words of groups that the stereotype is about, on the first axis, and the rest."""
    targets: list[Word] = []
    nontargets: list[Word] = []
    for word in words:
        is_target = group_key(word.group) in template.targets[0]
        (targets if is_target else nontargets).append(word)
    return targets, nontargets


@lru_cache(maxsize=4)
def _read_words(items: BenchmarkItems, study: str) -> Sequence[Word]:
    """Read the table of words."""
    table = read_items(items, study, Word._fields)
    return [Word(*row) for row in table.select(Word._fields).iter_rows()]
