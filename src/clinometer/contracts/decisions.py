"""Decisions about people of two groups and tasks: wordings, words and draws of a study.

What instruments of decisions have in common, whatever they ask: relative, absolute, chained.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from clinometer.contracts.assignments import ROLES
from clinometer.contracts.cells import Cell
from clinometer.contracts.design import Design, Groups, in_rounds, pairs
from clinometer.contracts.instrument import Wording
from clinometer.errors import StudyError
from clinometer.modes import MODES
from clinometer.stimuli import (
    DecisionWording,
    Stereotype,
    StereotypeWords,
    Study,
    study_hash,
    word_key,
)

#: The parts of a study that word lists are made of: a prompt may begin with one.
_LIST_PARTS = ("word_association", "dimensions")

#: What decisions made of word lists cannot show.
DECISION_LIMITS = (
    "The decision tasks are built from the same word lists as the association test, so that the "
    "two can be compared. They are hypothetical and few. They do not represent the decisions a "
    "model takes part in elsewhere, and they are no audit of hiring or of any other practice.",
)
RULE_LIMIT = (
    "Decisions are read from free text by a rule. The README of Clinometer reports its agreement "
    "with labels that the authors gave by hand. The marked passages under “Prompts and answers” "
    "let readers check it."
)


def decision_fields(instrument: str) -> dict[str, Any]:
    """Return the fields of an `Instrument` that follow from a study's decisions."""
    return {
        "parts": (*_LIST_PARTS, instrument),
        "wordings": lambda study: _wordings(study, instrument),
        "words": lambda study, key, variation, _: _words(study, instrument, key, variation),
        "defect": lambda study, key, variation: _defect(study, instrument, key, variation),
        "control_variations": partial(_control_variations, instrument),
        "prose": 400,  # profiles of about 100 words each and a decision with its reasons
    }


def _wordings(study: Study, instrument: str) -> dict[str, Wording]:
    """Return the variations of stereotypes, and whether any stereotype makes them a default."""
    wordings: dict[str, Wording] = {}
    for stereotype in study.stereotypes.values():
        for name, decision in stereotype.decisions.by_instrument()[instrument].items():
            wording = wordings.get(name, Wording(False))
            wordings[name] = Wording(wording.by_default or decision.by_default)
    if any(stereotype.decisions.clause for stereotype in study.stereotypes.values()):
        wordings |= Wording.of_sentences(sentences_of(study, instrument))
    return wordings


def _control_variations(
    instrument: str, study: Study, variations: Sequence[str], control: Study
) -> list[str]:
    """Return the sentences among the variations and the scenes of a control that has a clause.

    Scenes are written for their groups: without sentences, the control is not asked in the study.
    """
    sentences = [name for name in variations if name in sentences_of(study, instrument)]
    decisions = [stereotype.decisions for stereotype in control.stereotypes.values()]
    if not sentences or not all(decision.clause for decision in decisions):
        return []
    scenes = dict.fromkeys(
        name for decision in decisions for name in decision.by_instrument()[instrument]
    )
    return [*sentences, *scenes]


def sentences_of(study: Study, instrument: str) -> dict[str, str]:
    """Return the sentences that stand around the clause of a decision; none of some instruments."""
    return dict(getattr(study.decision_sentences, instrument, {}))


def _words(study: Study, instrument: str, stereotype: str, variation: str) -> StereotypeWords:
    """Return the groups and tasks of a decision; for recorded answers, of all decisions."""
    if variation == "recorded":
        return any_words(study, stereotype)
    content = study.stereotypes[stereotype]
    if variation in sentences_of(study, instrument):
        return _words_of_clause(content)
    return content.decision_words(instrument, variation)


def _words_of_clause(stereotype: Stereotype) -> StereotypeWords:
    """Return the groups and tasks of the clause: those of the first relative decision."""
    first = next(iter(stereotype.decisions.relative_decision), "")
    return stereotype.decision_words("relative_decision", first)


def any_words(study: Study, stereotype: str) -> StereotypeWords:
    """Return all words that decisions about a stereotype may use.

    A word that is on different sides in different lists is ambiguous and left out.
    """
    content = study.stereotypes[stereotype]
    lists = [content.words("")]
    for instrument, decisions in content.decisions.by_instrument().items():
        lists += [content.decision_words(instrument, variation) for variation in decisions]
    # Role → key of a word → the word, as the last list has it.
    sides: dict[str, dict[str, str]] = {role: {} for role in ROLES}
    for role, words_of_role in sides.items():
        for words in lists:
            words_of_role.update((word_key(word), word) for word in getattr(words, role))
    n_sides = Counter(chain.from_iterable(sides.values()))
    unambiguous: dict[str, Any] = {}
    for role, words_of_role in sides.items():
        unambiguous_words = [word for key, word in words_of_role.items() if n_sides[key] == 1]
        unambiguous[role] = unambiguous_words or getattr(lists[0], role)
    # Not validated again: joined lists may exceed the maximum length of one.
    return StereotypeWords.model_construct(**unambiguous, extra=[])


def _defect(study: Study, instrument: str, stereotype: str, variation: str) -> str | None:
    """Return the defect of the source wording that is kept, if any."""
    decision = study.stereotypes[stereotype].decision(instrument, variation)
    return decision.source_defect if decision is not None else None


class TrialDraw(NamedTuple):
    """A trial without prompt."""

    columns: dict[str, Any]
    turn: int
    shuffling: str
    """Identity of what else is drawn for its pair; see `shuffler`."""


def shuffler(draw: TrialDraw) -> random.Random:
    """Return a random generator for further words, which the trials of a pair share."""
    # In two steps, as trials were always drawn: one step would change every shuffled list.
    return random.Random(random.Random(draw.shuffling).getrandbits(31))


def draw_words(
    words: StereotypeWords, design: Design, seeded: str, turns: int = 2
) -> Iterator[TrialDraw]:
    """Yield the trials of one cell without prompt.

    The `turns` trials of a pair have the same words. Two turns show both group orders, and the next
    pair shows the same words in the other order of attributes, so four trials balance both. With
    ``order="random"`` two turns are two separate draws. A sentence that names one group has no
    order, and one trial a pair. Every word of a list is used before one is repeated. If answers are
    not sampled, repeated combinations are left out because their answers would be identical.
    """
    mode = MODES[design.mode]
    ordered = not (mode.sentences and turns == 2)
    is_redrawn = turns == 2 and design.order == "random" and mode.sampled
    per_pair = 1 if is_redrawn or not ordered else turns
    # Pairs that show the same words, in either order of the attributes.
    per_draw = 2 if turns == 2 and per_pair == 2 else 1
    rng = random.Random(f"{seeded}/groups")
    groups = Groups.of(words).shuffled(rng)
    tied = in_rounds(words.tied, f"{seeded}/tied")
    counter = in_rounds(words.counter, f"{seeded}/counter")
    distinct = len(groups) * len(words.tied) * len(words.counter)
    first_draws: dict[tuple[str, ...], int] = {}  # words → the first draw that has them
    for pair, numbers in pairs(design.iterations, per_pair):
        k, flip = divmod(pair, per_draw)
        if not flip:
            rng.seed(f"{seeded}/{k}/words")
            begins_tied = rng.random() < 0.5
            if is_redrawn:
                random_pair = Groups.of(words).draw(rng)
                combination = (*random_pair, rng.choice(words.tied), rng.choice(words.counter))
            else:
                combination = (*groups.pair(k), next(tied), next(counter))
        if not mode.sampled and first_draws.setdefault(combination, k) != k:
            if len(first_draws) == distinct:
                return  # every later draw would repeat one
            continue
        rng.seed(f"{seeded}/{pair}/order")
        first = rng.random() < 0.5
        tied_first = begins_tied != bool(flip)
        for turn, iteration in enumerate(numbers):
            columns: dict[str, Any] = {
                "iteration": iteration,
                "pair": pair,
                **dict(zip(ROLES, combination, strict=True)),
                "order": "marginalized_first" if first != bool(turn % 2) else "default_first",
                "attribute_order": "tied_first" if tied_first else "counter_first",
            }
            if not ordered:
                columns |= {"order": None, "attribute_order": None}
            yield TrialDraw(columns, turn, f"{seeded}/{pair}/shuffling")


def decision_cells(
    study: Study,
    design: Design,
    selection: tuple[str, Sequence[str], Sequence[str]],
    write_trial: Callable[[StereotypeWords, Any, TrialDraw], dict[str, Any]],
    turns: int = 2,
) -> Iterator[Cell]:
    """Yield the cells of a selection: instrument, stereotypes and variations.

    `write_trial`: words of the stereotype's word association, wording, draw → trial. In a mode
    of sentences the wording is a text: a sentence around the clause of the stereotype. Raises
    StudyError if no stereotype has a wording of the variations.
    """
    instrument, stereotypes, variations = selection
    sentences = sentences_of(study, instrument) if MODES[design.mode].sentences else {}
    identity = study_hash(study, decision_fields(instrument)["parts"])
    empty = True
    for key in stereotypes:
        stereotype = study.stereotypes[key]
        association = stereotype.words("")
        for name in variations:
            wording = _find_wording(stereotype, instrument, name, sentences)
            if wording is None:
                continue
            empty = False
            seeded = f"{identity}/{instrument}/{key}/{name}/{design.seed}"
            draws = draw_words(_words(study, instrument, key, name), design, seeded, turns)
            trials = map(partial(write_trial, association, wording), draws)
            defects = [stereotype.source_defect, getattr(wording, "source_defect", None)]
            defect = " ".join(d for d in defects if d) or None
            yield Cell(key, name, seeded, trials, source_defect=defect)
    if empty:
        raise StudyError(
            f"study {study.name!r}: none of {', '.join(stereotypes)} has a wording of "
            f"{', '.join(variations)} for {instrument}"
        )


def _find_wording(
    stereotype: Stereotype, instrument: str, name: str, sentences: Mapping[str, str]
) -> DecisionWording | str | None:
    """Return the wording of a variation, or the whole sentence; None if there is none."""
    if (sentence := sentences.get(name)) is not None:
        clause = stereotype.decisions.clause
        return sentence.replace("{decision}", clause) if clause else None
    wording = stereotype.decision(instrument, name)
    return wording if wording is not None and wording.wording else None
