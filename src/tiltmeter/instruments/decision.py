"""What the decision instruments share: their wordings, their draws, their two assignments."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tiltmeter.errors import StudyError
from tiltmeter.instruments import word_association
from tiltmeter.instruments.design import Design, balanced, cell_columns, in_rounds, trial_ids
from tiltmeter.instruments.instrument import Wording
from tiltmeter.modes import MODES
from tiltmeter.stimuli import Study, Words, study_hash, word_key

__all__ = [
    "ROLES",
    "DecisionDraw",
    "any_words",
    "assignments",
    "decision_draws",
    "decision_trials",
    "defect_of",
    "orders",
    "parts_of",
    "words_of",
    "wordings_of",
]

ROLES = ("marginalized", "default", "tied", "counter")


def parts_of(instrument: str) -> tuple[str, ...]:
    """Return what of a study reaches the prompts of a decision: it may begin with a word list."""
    return (*word_association.PARTS, instrument)


def wordings_of(study: Study, instrument: str) -> dict[str, Wording]:
    """Return the variations that stereotypes have; asked by default where one of them says so."""
    asked: dict[str, Wording] = {}
    for stereotype in study.stereotypes.values():
        for name, decision in stereotype.decisions.by_instrument()[instrument].items():
            known = asked.get(name, Wording(False))
            asked[name] = Wording(known.by_default or decision.by_default)
    return asked


def words_of(study: Study, instrument: str, stereotype: str, variation: str) -> Words:
    """Return the groups and tasks of a decision; of one recorded elsewhere, of all decisions."""
    asked = study.stereotypes[stereotype]
    if variation == "recorded":
        return any_words(study, stereotype)
    return asked.decision_words(instrument, variation)


def any_words(study: Study, stereotype: str) -> Words:
    """Return every word a decision about a stereotype may have been put with.

    A word that stands on two sides, in different lists, tells nothing and is left out.
    """
    asked = study.stereotypes[stereotype]
    lists = [asked.words("")] + [
        asked.decision_words(instrument, variation)
        for instrument, known in asked.decisions.by_instrument().items()
        for variation in known
    ]
    sides: dict[str, dict[str, str]] = {role: {} for role in ROLES}
    for words in lists:
        for role in ROLES:
            sides[role].update({word_key(word): word for word in getattr(words, role)})
    telling = {
        role: [
            word
            for key, word in sides[role].items()
            if not any(key in sides[other] for other in ROLES if other != role)
        ]
        for role in ROLES
    }
    # Not checked again: together, lists may be longer than one may be.
    shown: dict[str, Any] = {role: telling[role] or getattr(lists[0], role) for role in ROLES}
    return Words.model_construct(**shown, extra=[])


def defect_of(study: Study, instrument: str, stereotype: str, variation: str) -> str | None:
    """Return the defect of the source that the wording of a decision keeps, if any."""
    decision = study.stereotypes[stereotype].decision(instrument, variation)
    return decision.source_defect if decision is not None else None


@dataclass(frozen=True)
class DecisionDraw:
    """The words and orders of one decision."""

    iteration: int
    pair: int
    turn: int
    marginalized_first: bool
    tied_first: bool
    marginalized: str
    default: str
    tied: str
    counter: str
    seed: int
    shuffling: int

    def groups(self) -> tuple[str, str]:
        """Return the group words in the order shown."""
        pair = (self.marginalized, self.default)
        return pair if self.marginalized_first else pair[::-1]

    def tasks(self) -> tuple[str, str]:
        """Return the two tasks in the order shown."""
        pair = (self.tied, self.counter)
        return pair if self.tied_first else pair[::-1]


def decision_draws(
    words: Words, design: Design, identity: str, turns: int = 2
) -> Iterator[DecisionDraw]:
    """Yield the draws of one cell, `turns` a pair; the words of a pair are the same.

    Two turns show both group orders, and the next pair shows the same words in the other order
    of attributes, so that four trials balance both. With ``order="random"`` two turns are two
    draws of their own. Every word of a list is used before one is used again. Where answers are
    not sampled, words that were drawn together before are left out: they would be answered alike.
    """
    sampled = MODES[design.mode].sampled
    per_pair = 1 if turns == 2 and design.order == "random" and sampled else turns
    rng = random.Random(f"{identity}/{design.seed}/groups")
    marginalized = rng.sample(words.marginalized, k=len(words.marginalized))
    default = rng.sample(words.default, k=len(words.default))
    pairs = len(marginalized) * len(default) * len(words.tied) * len(words.counter)
    seen: dict[tuple[str, ...], int] = {}
    for iteration in range(design.iterations):
        pair, turn = divmod(iteration, per_pair)
        k, flip = divmod(pair, 2) if turns == 2 and per_pair == 2 else (pair, 0)
        of_words = random.Random(f"{identity}/{design.seed}/{k}/words")
        tied_first = of_words.random() < 0.5
        if per_pair == 1:
            groups = of_words.choice(words.marginalized), of_words.choice(words.default)
            tasks = of_words.choice(words.tied), of_words.choice(words.counter)
        else:
            groups = balanced(marginalized, default, k)
            tasks = (
                in_rounds(words.tied, k, f"{identity}/{design.seed}/tied"),
                in_rounds(words.counter, k, f"{identity}/{design.seed}/counter"),
            )
        if not sampled and seen.setdefault((*groups, *tasks), k) != k:
            if len(seen) == pairs:
                return
            continue
        first = random.Random(f"{identity}/{design.seed}/{pair}/order").random() < 0.5
        sampling = random.Random(f"{identity}/{design.seed}/{iteration}/sampling").getrandbits(31)
        yield DecisionDraw(
            iteration=iteration,
            pair=pair,
            turn=turn,
            marginalized_first=first != bool(turn % 2),
            tied_first=tied_first != bool(flip),
            marginalized=groups[0],
            default=groups[1],
            tied=tasks[0],
            counter=tasks[1],
            seed=sampling,
            shuffling=random.Random(f"{identity}/{design.seed}/{pair}/shuffling").getrandbits(31),
        )


def decision_trials(
    study: Study,
    instrument: str,
    design: Design,
    stereotypes: Sequence[str],
    variations: Sequence[str],
    turns: int = 2,
) -> Iterator[tuple[dict[str, Any], Any, DecisionDraw]]:
    """Yield every trial: what its cell fixes, its wording, its draw."""
    identity = study_hash(study, parts_of(instrument))
    empty = True
    for key in stereotypes:
        stereotype = study.stereotypes[key]
        for name in variations:
            wording = stereotype.decision(instrument, name)
            if wording is None or not wording.wording:
                continue
            empty = False
            cell = f"{study.name}.{instrument}.{key}.{name}"
            defects = [stereotype.source_defect, wording.source_defect]
            fixed = {
                **cell_columns(study, instrument, design, key, name),
                "source_defect": " ".join(d for d in defects if d) or None,
            }
            words = stereotype.decision_words(instrument, name)
            seeded = f"{identity}/{instrument}/{key}/{name}"
            for draw in decision_draws(words, design, seeded, turns):
                yield {**fixed, **trial_ids(cell, design, draw.iteration, draw.pair)}, wording, draw
    if empty:
        raise StudyError(
            f"study {study.name!r}: none of {', '.join(stereotypes)} has a wording of "
            f"{', '.join(variations)} for {instrument}"
        )


def orders(draw: DecisionDraw) -> dict[str, Any]:
    """Return the columns of a trial that a draw decides."""
    return {
        "iteration": draw.iteration,
        "order": "marginalized_first" if draw.marginalized_first else "default_first",
        "attribute_order": "tied_first" if draw.tied_first else "counter_first",
        "marginalized": draw.marginalized,
        "default": draw.default,
        "tied": draw.tied,
        "counter": draw.counter,
        "seed": draw.seed,
    }


def assignments(groups: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """Write the two ways of giving each group one task; the first gives first to first.

    Examples
    --------
    >>> assignments(("old", "young"), ("agony", "joy"))
    ['old: agony; young: joy', 'old: joy; young: agony']
    """
    return [
        f"{groups[0]}: {first}; {groups[1]}: {second}" for first, second in (tasks, tasks[::-1])
    ]
