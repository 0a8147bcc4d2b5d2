"""The chained task: association, profiles and decision in one prompt.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, "Word Association Bias
    vs. Relative Decision Bias" and SI section K.

Measures
    Two scores for one response: equation 1 on the words it paired, and the decision it made.
    They belong to the same "individual", so that one can be regressed on the other; see
    `statistics.logistic`.

Range and sign
    Association −1…1, neutral 0; decision 0…1, neutral ½; positive, or above ½, is
    stereotype-consistent, against the marginalized group.

Deviations from the paper
    Group order and order of the tasks are balanced. A part that cannot be read has no score and
    a reason, the other part keeps its own. There is no `forced` mode: parts would not be one
    answer. `structured` mode asks for the pairs and one of the two assignments, and no profiles.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.instruments import relative_decision, word_association
from tiltmeter.instruments.decision import assignments, decision_trials, orders, read_choices
from tiltmeter.instruments.design import Design
from tiltmeter.instruments.scored import Scored
from tiltmeter.reading.tasks_text import split_tasks
from tiltmeter.results import TRIALS
from tiltmeter.stimuli import Study, Words, fill, word_key

__all__ = ["ASSOCIATION", "DECISION", "association_task", "score", "trials"]

_FIRST = "The first task of a chained prompt: "
_LAST = "The last task of a chained prompt, after an association task and profiles: "

ASSOCIATION = word_association.MEASURE.renamed(
    "chained_association", "Chained task: association", _FIRST
)
DECISION = relative_decision.MEASURE.renamed("chained_decision", "Chained task: decision", _LAST)


def trials(
    study: Study,
    design: Design,
    *,
    stereotypes: Sequence[str] | None = None,
    variations: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Draw the trials of a study.

    Parameters
    ----------
    study
        The stimuli.
    design
        Mode (``free`` or ``structured``), iterations, order, seed.
    stereotypes, variations
        Which of them, by name; None for all, and for the variations asked by default.

    Returns
    -------
    polars.DataFrame
        Columns of `frames.TRIALS`; `attributes` are the words of the association task.

    Raises
    ------
    InputError
        If the mode is ``forced``.
    StudyError
        If the study has no such stereotype or variation, or none that can be asked.
    """
    if design.mode == "forced":
        raise InputError("chained_task: mode 'forced' does not ask its parts as one answer")
    rows = []
    for fixed, wording, draw in decision_trials(
        study, "chained_task", design, stereotypes, variations
    ):
        words = study.stereotypes[fixed["stereotype"]].words("")
        groups, tasks = draw.groups(), draw.tasks()
        shuffling = random.Random(draw.shuffling)
        asked, attributes = association_task(study, design, words, groups, shuffling)
        names = ("group0", "group1", "attribute0", "attribute1", "association")
        values = dict(zip(names, (*groups, *tasks, asked), strict=True))
        properties = {word: groups for word in attributes} | {
            _place(words): assignments(groups, tasks)
        }
        structured = design.mode == "structured"
        rows.append(
            {
                **fixed,
                **orders(draw),
                "attributes": attributes,
                "prompt": fill(wording.wording, values),
                "schema": word_association.choices(properties) if structured else None,
            }
        )
    return pl.DataFrame(rows, schema=TRIALS)


def association_task(
    study: Study, design: Design, words: Words, groups: Sequence[str], rng: random.Random
) -> tuple[str, list[str]]:
    """Word the association task of a longer prompt; its words in the order shown."""
    shared = study.instruments.word_association
    wording = shared.variations[shared.default_variations[0]].wording
    attributes = rng.sample(words.tied + words.counter, k=len(words.tied + words.counter))
    shown = repr(attributes) if design.word_list == "as_released" else ", ".join(attributes)
    values = {"group0": groups[0], "group1": groups[1], "attributes": shown}
    return fill(f"{wording} {shared.answer_format}".strip(), values), attributes


def _place(words: Words) -> str:
    """Name the decision in a structured answer, beside the words that are paired there."""
    taken = any(word_key(word) == "assignment" for word in words.tied + words.counter)
    return "who gets which" if taken else "assignment"


def score(
    response: str, trial: Mapping[str, Any], words: Words, association: Words
) -> dict[str, Scored]:
    """Score the parts of one response.

    Parameters
    ----------
    response
        The whole answer.
    trial
        As `relative_decision.score`; `association`, the text of that part where it is recorded
        apart.
    words
        Groups and tasks of the decision.
    association
        Groups and attributes of the association.

    Returns
    -------
    dict
        `Scored` by instrument, ``chained_association`` and ``chained_decision``.
    """
    if trial["mode"] == "structured":
        place = _place(association)
        decision = relative_decision.read_assignment(response, trial, place)
        # The assignment names words and groups too, and is not a pair of the association.
        chosen = {k: v for k, v in read_choices(response).items() if isinstance(v, str)}
        chosen.pop(place, None)
        first = "\n".join(f"{word} - {group}" for word, group in chosen.items()) or response
    else:
        decision = relative_decision.score(response, trial, words)
        parts = split_tasks(response)
        first = trial.get("iat") or (response[slice(*parts[1])] if 1 in parts else response)
    paired = word_association.score(first, trial, association)
    return {ASSOCIATION.name: paired, DECISION.name: decision}
