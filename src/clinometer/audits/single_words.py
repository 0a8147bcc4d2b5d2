"""Stereotypes that name a group with one word: what else their attributes are asked of.

A bare word is not a group: *dark* and *light* are said of rooms. Beside controls, the same
attributes are asked of people (a study of its own), of things that the word is also said of, and
of arbitrary words, in the wordings in which the study asks its controls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from clinometer.asking.plan import Selection
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.stimuli import ARBITRARY_WORDS, Study, arbitrary_name, load_study, things_name

#: The fewest trials of all placebos of arbitrary words in a study and instrument, and the most
#: words a side of each.
_FEWEST_OF_WORDS, _MOST_WORDS = 48, 12

#: Construct of the control that is asked beside stereotypes that state none.
_USUAL_CONSTRUCT = "pleasantness"


def ask_single_words_again(
    parts: Sequence[Selection], instruments: Collection[str], iterations: int
) -> list[Selection]:
    """Ask stereotypes that name a group with one word of people, of things and of arbitrary words.

    In these instruments, where their wordings take a control. `iterations`: of parts that have no
    number of their own.
    """
    words = load_study(ARBITRARY_WORDS)
    lending = [
        (part, keys)
        for part in parts
        if part.instrument in instruments and (keys := _with_one_word(part, words))
    ]
    people = _name_people(parts, lending)
    # What is added last has the study with all that it was lent.
    study_parts = _add_arbitrary_words(_add_things(parts, lending), lending, words, iterations)
    return [*study_parts, *people]


def _name_people(
    parts: Sequence[Selection], lending: Sequence[tuple[Selection, list[str]]]
) -> list[Selection]:
    """Return parts that ask of people, as often as of the word, with the controls of the study.

    `lending`: parts with their stereotypes that name a group with one word.
    """
    keys_by_part: dict[tuple[str, str], list[str]] = {}
    for part, keys in lending:
        with_people = [key for key in keys if part.study.stereotypes[key].people]
        keys_by_part.setdefault((part.study.name, part.instrument), []).extend(with_people)
    added = []
    for part in parts:
        keys = keys_by_part.get((part.study.name, part.instrument), [])
        if not keys:
            continue
        people = part.study.with_people()
        controls = controls_needed(people, [replace(part, study=people, stereotypes=keys)])
        people_keys = {*keys, *(key for key in controls if people.control_of(key))}
        if stereotypes := [key for key in part.stereotypes if key in people_keys]:
            added.append(replace(part, study=people, stereotypes=stereotypes))
    return added


def _add_things(
    parts: Sequence[Selection], lending: Sequence[tuple[Selection, list[str]]]
) -> list[Selection]:
    """Ask stereotypes once more of things that their words are said of; see `_name_people`."""
    studies = {part.study.name: part.study for part in parts}
    added = []
    for part, keys in lending:
        if with_things := [key for key in keys if part.study.stereotypes[key].things]:
            studies[part.study.name] = studies[part.study.name].with_things(with_things)
            added.append(replace(part, stereotypes=list(map(things_name, with_things))))
    return [replace(part, study=studies[part.study.name]) for part in (*parts, *added)]


def _add_arbitrary_words(
    parts: Sequence[Selection],
    lending: Sequence[tuple[Selection, list[str]]],
    words: Study,
    iterations: int,
) -> list[Selection]:
    """Ask stereotypes once more of arbitrary words; see `ask_single_words_again`."""
    studies = {part.study.name: part.study for part in parts}
    added = []
    for name in dict.fromkeys(part.study.name for part, _ in lending):
        lenders = [(part, keys) for part, keys in lending if part.study.name == name]
        repeated_keys = dict.fromkeys(key for _, keys in lenders for key in keys)
        # So that each word comes twice: what words vary by is told from what answers do.
        fewest = min(len(part.variations) * (part.iterations or iterations) for part, _ in lenders)
        per_stereotype = max(fewest, _FEWEST_OF_WORDS // len(repeated_keys))
        number = min(max(per_stereotype // 4, 2), _MOST_WORDS)
        studies[name] = studies[name].with_arbitrary_words([*repeated_keys], words, number)
        for part, keys in lenders:
            pairs = -(-per_stereotype // (2 * len(part.variations)))  # each in both orders
            number = max(part.iterations or iterations, 2 * pairs)
            placebos = list(map(arbitrary_name, keys))
            added.append(replace(part, stereotypes=placebos, iterations=number))
    return [replace(part, study=studies[part.study.name]) for part in (*parts, *added)]


def _with_one_word(part: Selection, words: Study) -> list[str]:
    """Return the stereotypes of a part that name a group with one word, if it takes a control."""
    study = part.study
    if not control_variations(part, words):
        return []
    measured = [key for key in part.stereotypes if not study.control_of(key)]
    return [key for key in measured if study.stereotypes[key].has_one_word(part.variations)]


def controls_needed(control: Study, parts: Iterable[Selection]) -> list[str]:
    """Return the controls of constructs that stereotypes of some parts differ in, and of none."""
    constructs = {
        part.study.construct_of(key, dimension) or _USUAL_CONSTRUCT
        for part in parts
        for key in part.stereotypes
        for dimension in part.study.dimensions_of(key) or [None]
    }
    return [
        key
        for key in control.stereotypes
        if (construct := control.construct_of(key)) is None or construct in constructs
    ]


def control_variations(part: Selection, control: Study) -> Sequence[str]:
    """Return the variations in which a control is asked as a part of this study, if it can be."""
    if part.study.language != control.language:
        return ()
    return INSTRUMENTS[part.instrument].control_variations(part.study, part.variations, control)
