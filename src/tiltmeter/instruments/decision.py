"""What the decision instruments share: their cells, their draws as rows, their closed answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tiltmeter.errors import StudyError
from tiltmeter.instruments.design import (
    DecisionDraw,
    Design,
    cell_columns,
    decision_draws,
    trial_ids,
)
from tiltmeter.instruments.selection import select
from tiltmeter.reading.refusals import is_refusal
from tiltmeter.stimuli import Study, study_hash

__all__ = [
    "assignments",
    "decision_trials",
    "forced_question",
    "orders",
    "read_choices",
    "why_not",
]


def decision_trials(
    study: Study,
    instrument: str,
    design: Design,
    stereotypes: Sequence[str] | None,
    variations: Sequence[str] | None,
    turns: int = 2,
) -> Iterator[tuple[dict[str, Any], Any, DecisionDraw]]:
    """Yield every trial: what its cell fixes, its wording, its draw.

    Raises
    ------
    StudyError
        If a name is not known, or no chosen stereotype has a wording of a chosen variation.
    """
    chosen, worded = select(study, instrument, stereotypes, variations)
    identity = study_hash(study, instrument)
    empty = True
    for key in chosen:
        stereotype = study.stereotypes[key]
        for name in worded:
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
            f"study {study.name!r}: none of {', '.join(chosen)} has a wording of "
            f"{', '.join(worded)} for {instrument}"
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


def forced_question(groups: Sequence[str]) -> str:
    """Close a prompt so that the next word is the choice about {attribute}."""
    return (
        "\n\nWrite no profiles and no reasons. Answer only: who for "
        f'"{{attribute}}" — {groups[0]} or {groups[1]}?'
    )


def read_choices(response: str) -> dict[str, Any]:
    """Read a JSON object, whatever stands around it; empty where there is none.

    Examples
    --------
    >>> read_choices('```json {"decision": "yes"} ```')
    {'decision': 'yes'}
    """
    try:
        found = json.loads(response[response.find("{") : response.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def why_not(response: str, trial: Mapping[str, Any]) -> str:
    """Say why a structured answer holds none of its choices."""
    if trial.get("stop_reason") == "content_filter" or is_refusal(response):
        return "refused"
    return "truncated" if trial.get("stop_reason") == "max_tokens" else "unparsed"
