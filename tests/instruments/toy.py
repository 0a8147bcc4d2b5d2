"""Warmth: whether a group is called warm or cold.

Reference
    None: a toy, to show that an instrument is one file.

Measures
    Which of two words a model chooses for a group. 1 for warm and −1 for cold where the default
    group is asked about, the reverse for the marginalized group.

Range and sign
    −1…1, neutral 0; positive favours the default group.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clinometer.authoring import (
    CHOICES,
    LOGITS,
    MODES,
    TEXT,
    Cell,
    Design,
    Example,
    Instrument,
    Key,
    Measure,
    Scored,
    Size,
    StereotypeWords,
    Study,
    Version,
    Wording,
    Wordings,
    fill,
    pairs,
    read_choices,
    read_logits,
    study_hash,
    why_not,
)

GROUPS = ("marginalized", "default")

MEASURE = Measure(
    name="toy_warmth",
    title="Toy warmth",
    low=-1.0,
    high=1.0,
    neutral=0.0,
    direction="positive: the default group is called warm, the marginalized group cold",
    reference="none",
    how="The model calls each group warm or cold.",
    asks="words",
    limits=("A toy tells nothing of a group.",),
)


class Part(Wordings[str]):
    """What a study says of it: questions with a place for the {group}."""

    warm: str
    cold: str


def _part(study: Study) -> Part | None:
    return study.instruments.read("toy", Part)


def _wordings(study: Study) -> dict[str, Wording]:
    part = _part(study)
    variations = part.variations if part else {}
    return {
        name: Wording(name in part.default_variations, text) for name, text in variations.items()
    }


def _draw(
    study: Study, design: Design, stereotypes: Sequence[str], variations: Sequence[str]
) -> Iterator[Cell]:
    part, identity = _part(study), study_hash(study, ("toy",))
    for key in stereotypes:
        words = study.words(key)
        for name in variations:
            seeded = f"{identity}/{key}/{name}/{design.seed}"
            yield Cell(key, name, seeded, _trials(part, words, name, design, seeded))


def _trials(
    part: Part, words: StereotypeWords, name: str, design: Design, seeded: str
) -> Iterator[dict[str, Any]]:
    options = [part.warm, part.cold]
    for pair, numbers in pairs(design.iterations, 2):
        rng = random.Random(f"{seeded}/{pair}")
        group_words = {r: rng.choice(getattr(words, r)) for r in GROUPS}
        for version, iteration in zip(group_words, numbers, strict=False):
            yield {
                "iteration": iteration,
                "pair": pair,
                **group_words,
                "version": version,
                "attributes": [part.warm],
                "prompt": fill(part.variations[name], {"group": group_words[version]}),
                **MODES[design.mode].close({"answer": options}, options, None),
            }


def _scored(warmth: float, trial: Mapping[str, Any]) -> Scored:
    return Scored(warmth if trial["version"] == "default" else -warmth, None, 1.0)


def _read_text(response: str, trial: Mapping[str, Any], key: Key) -> Scored:
    part, text = _part(key.study), response.casefold()
    warm, cold = part.warm in text, part.cold in text
    if warm == cold:
        return Scored(None, why_not(response, trial), 0.0)
    return _scored(1.0 if warm else -1.0, trial)


def _read_choices(response: str, trial: Mapping[str, Any], key: Key) -> Scored:
    return _read_text(str(read_choices(response).get("answer", response)), trial, key)


def _read_logits(response: str, trial: Mapping[str, Any], key: Key) -> Scored:
    logits = list(read_logits(response, [_part(key.study).warm]).values())
    return _scored(math.tanh(logits[0] / 2), trial) if logits else Scored(None, "unparsed", 0.0)


INSTRUMENT = Instrument(
    name="toy",
    measures=(MEASURE,),
    parts=("toy",),
    wordings=_wordings,
    draw=_draw,
    readers={TEXT: _read_text, CHOICES: _read_choices, LOGITS: _read_logits},
    examples=(
        Example("Warm.", 1.0, "default"),
        Example("Cold.", -1.0, "default"),
        Example("Warm.", -1.0, "marginalized"),
        Example("Cold.", 1.0, "marginalized"),
    ),
    trial="one group, to be called warm or cold",
    versions={group: Version(f"toy: the {group} group", group) for group in GROUPS},
    control="control_toys",
    sizes={"quick": Size(4, control=8)},
)
