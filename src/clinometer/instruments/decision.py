"""Functions shared by the decision instruments: wordings, draws and the two assignments."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from clinometer.errors import StudyError
from clinometer.instruments import word_association
from clinometer.instruments.cells import Cell
from clinometer.instruments.design import Design, Groups, in_rounds, pairs
from clinometer.instruments.instrument import Wording
from clinometer.modes import MODES
from clinometer.stimuli import (
    DecisionWording,
    Stereotype,
    StereotypeWords,
    Study,
    fill,
    study_hash,
    word_key,
)

__all__ = [
    "LIMITS",
    "READ_BY_RULE",
    "ROLES",
    "Drawn",
    "any_words",
    "as_shown",
    "assignments",
    "decision_cells",
    "decision_fields",
    "draw_words",
    "is_aligned",
    "shuffler",
]

ROLES = ("marginalized", "default", "tied", "counter")


#: What decisions made of word lists cannot show.
LIMITS = (
    "The decision tasks are built from the same word lists as the association test, so that the "
    "two can be compared. They are hypothetical and few. They do not represent the decisions a "
    "model takes part in elsewhere, and they are no audit of hiring or of any other practice.",
)
READ_BY_RULE = (
    "Decisions are read from free text by a rule. The README of Clinometer reports its agreement "
    "with labels that the authors gave by hand. The marked passages under “Prompts and answers” "
    "let readers check it."
)


def decision_fields(instrument: str) -> dict[str, Any]:
    """Return the fields of an `Instrument` that follow from a study's decisions."""
    return {
        "parts": (*word_association.PARTS, instrument),  # a prompt may begin with a word list
        "wordings": lambda study: _wordings(study, instrument),
        "words": lambda study, key, variation, _: _words(study, instrument, key, variation),
        "defect": lambda study, key, variation: _defect(study, instrument, key, variation),
        "prose": 400,  # profiles of about 100 words each and a decision with its reasons
    }


def _wordings(study: Study, instrument: str) -> dict[str, Wording]:
    """Return the variations of stereotypes, and whether any stereotype makes them a default."""
    asked: dict[str, Wording] = {}
    for stereotype in study.stereotypes.values():
        for name, decision in stereotype.decisions.by_instrument()[instrument].items():
            known = asked.get(name, Wording(False))
            asked[name] = Wording(known.by_default or decision.by_default)
    if any(one.decisions.clause for one in study.stereotypes.values()):
        asked |= Wording.of_sentences(sentences_of(study, instrument))
    return asked


def sentences_of(study: Study, instrument: str) -> dict[str, str]:
    """Return the sentences that stand around the clause of a decision; none of some instruments."""
    return dict(getattr(study.decision_sentences, instrument, {}))


def _words(study: Study, instrument: str, stereotype: str, variation: str) -> StereotypeWords:
    """Return the groups and tasks of a decision; for recorded answers, of all decisions."""
    if variation == "recorded":
        return any_words(study, stereotype)
    of = study.stereotypes[stereotype]
    if variation in sentences_of(study, instrument):
        return _words_of_clause(of)
    return of.decision_words(instrument, variation)


def _words_of_clause(stereotype: Stereotype) -> StereotypeWords:
    """Return the groups and tasks of the clause: those of the first relative decision."""
    first = next(iter(stereotype.decisions.relative_decision), "")
    return stereotype.decision_words("relative_decision", first)


def any_words(study: Study, stereotype: str) -> StereotypeWords:
    """Return all words that decisions about a stereotype may use.

    A word that is on different sides in different lists is ambiguous and left out.
    """
    asked = study.stereotypes[stereotype]
    lists = [asked.words("")] + [
        asked.decision_words(instrument, variation)
        for instrument, known in asked.decisions.by_instrument().items()
        for variation in known
    ]
    sides = {
        role: {word_key(word): word for words in lists for word in getattr(words, role)}
        for role in ROLES
    }
    stands = Counter(chain.from_iterable(sides.values()))
    # Not validated again: joined lists may exceed the maximum length of one.
    telling: dict[str, Any] = {
        role: [word for key, word in words.items() if stands[key] == 1] or getattr(lists[0], role)
        for role, words in sides.items()
    }
    return StereotypeWords.model_construct(**telling, extra=[])


def _defect(study: Study, instrument: str, stereotype: str, variation: str) -> str | None:
    """Return the defect of the source wording that is kept, if any."""
    decision = study.stereotypes[stereotype].decision(instrument, variation)
    return decision.source_defect if decision is not None else None


class Drawn(NamedTuple):
    """A trial without prompt."""

    columns: dict[str, Any]
    turn: int
    shuffling: str
    """Identity of what else is drawn for its pair; see `shuffler`."""


def shuffler(drawn: Drawn) -> random.Random:
    """Return a random generator for further words, which the trials of a pair share."""
    return random.Random(random.Random(drawn.shuffling).getrandbits(31))


def draw_words(
    words: StereotypeWords, design: Design, seeded: str, turns: int = 2
) -> Iterator[Drawn]:
    """Yield the trials of one cell without prompt.

    The `turns` trials of a pair have the same words. Two turns show both group orders, and the next
    pair shows the same words in the other order of attributes, so four trials balance both. With
    ``order="random"`` two turns are two separate draws. A sentence that names one group has no
    order, and one trial a pair. Every word of a list is used before one is repeated. If answers are
    not sampled, repeated combinations are left out because their answers would be identical.
    """
    mode = MODES[design.mode]
    sampled, ordered = mode.sampled, not (mode.sentences and turns == 2)
    drawn_anew = turns == 2 and design.order == "random" and sampled
    per_pair = 1 if drawn_anew or not ordered else turns
    per_draw = 2 if turns == 2 and per_pair == 2 else 1
    rng = random.Random(f"{seeded}/groups")
    groups = Groups.of(words).shuffled(rng)
    tied = in_rounds(words.tied, f"{seeded}/tied")
    counter = in_rounds(words.counter, f"{seeded}/counter")
    distinct = len(groups) * len(words.tied) * len(words.counter)
    seen: dict[tuple[str, ...], int] = {}
    for pair, numbers in pairs(design.iterations, per_pair):
        k, flip = divmod(pair, per_draw)
        if not flip:
            rng.seed(f"{seeded}/{k}/words")
            drawn_first = rng.random() < 0.5
            if drawn_anew:
                own = Groups.of(words).draw(rng)
                drawn = (*own, rng.choice(words.tied), rng.choice(words.counter))
            else:
                drawn = (*groups.pair(k), next(tied), next(counter))
        if not sampled and seen.setdefault(drawn, k) != k:
            if len(seen) == distinct:
                return
            continue
        rng.seed(f"{seeded}/{pair}/order")
        first, tied_first = rng.random() < 0.5, drawn_first != bool(flip)
        for turn, iteration in enumerate(numbers):
            columns: dict[str, Any] = {
                "iteration": iteration,
                "pair": pair,
                **dict(zip(ROLES, drawn, strict=True)),
                "order": "marginalized_first" if first != bool(turn % 2) else "default_first",
                "attribute_order": "tied_first" if tied_first else "counter_first",
            }
            if not ordered:
                columns |= {"order": None, "attribute_order": None}
            yield Drawn(columns, turn, f"{seeded}/{pair}/shuffling")


def decision_cells(
    study: Study,
    design: Design,
    asked: tuple[str, Sequence[str], Sequence[str]],
    worded: Callable[[StereotypeWords, Any, Drawn], dict[str, Any]],
    turns: int = 2,
) -> Iterator[Cell]:
    """Yield the cells of an instrument, stereotypes and variations.

    `worded`: words of the stereotype's word association, wording, drawn trial → trial. In a mode
    of sentences the wording is a text: a sentence around the clause of the stereotype. Raises
    StudyError if no stereotype has a wording of the variations.
    """
    instrument, stereotypes, variations = asked
    sentences = sentences_of(study, instrument) if MODES[design.mode].sentences else {}
    identity = study_hash(study, decision_fields(instrument)["parts"])
    empty = True
    for key in stereotypes:
        stereotype = study.stereotypes[key]
        own = stereotype.words("")
        for name in variations:
            wording = _asked(stereotype, instrument, name, sentences)
            if wording is None:
                continue
            empty = False
            seeded = f"{identity}/{instrument}/{key}/{name}/{design.seed}"
            drawn = draw_words(_words(study, instrument, key, name), design, seeded, turns)
            trials = map(partial(worded, own, wording), drawn)
            defects = [stereotype.source_defect, getattr(wording, "source_defect", None)]
            defect = " ".join(d for d in defects if d) or None
            yield Cell(key, name, seeded, trials, source_defect=defect)
    if empty:
        raise StudyError(
            f"study {study.name!r}: none of {', '.join(stereotypes)} has a wording of "
            f"{', '.join(variations)} for {instrument}"
        )


def _asked(
    stereotype: Stereotype, instrument: str, name: str, sentences: Mapping[str, str]
) -> DecisionWording | str | None:
    """Return the wording of a variation, or the whole sentence; None if there is none."""
    if (sentence := sentences.get(name)) is not None:
        clause = stereotype.decisions.clause
        return sentence.replace("{decision}", clause) if clause else None
    wording = stereotype.decision(instrument, name)
    return wording if wording is not None and wording.wording else None


def as_shown(trial: Mapping[str, Any]) -> dict[str, str]:
    """Return the groups and the tasks of a trial in the order of its wording."""
    groups = (trial["marginalized"], trial["default"])
    tasks = (trial["tied"], trial["counter"])
    group0, group1 = groups if trial["order"] == "marginalized_first" else groups[::-1]
    task0, task1 = tasks if trial["attribute_order"] == "tied_first" else tasks[::-1]
    return {"group0": group0, "group1": group1, "attribute0": task0, "attribute1": task1}


def is_aligned(trial: Mapping[str, Any]) -> bool:
    """Return whether giving the first group the first task is stereotype-consistent."""
    marginalized_first = trial.get("order") == "marginalized_first"
    return marginalized_first == (trial.get("attribute_order") == "tied_first")


def assignments(shown: Mapping[str, str]) -> list[str]:
    """Write the two assignments of tasks to groups; in the first, group 1 gets task 1."""
    ways = (
        "{group0}: {attribute0}; {group1}: {attribute1}",
        "{group0}: {attribute1}; {group1}: {attribute0}",
    )
    return [fill(way, shown) for way in ways]
