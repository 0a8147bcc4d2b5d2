"""Truths that a simulated model answers any prompt by: what `cries_wolf` puts to all tools.

`TRUTHS` are put to every tool, `HARDER` to Clinometer and the mixed model alone: what a method that
assumes normal effects of equal spread does not expect. All declare what is planted as
``clinometer simulate --any`` does. Effects are log odds: 1.4 is about 34 of 100 people where half
get the good answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.simulated.anything import Anything, answer_anything
from clinometer.simulated.prompts import KnownPeople, read_prompt, shipped_people
from clinometer.stimuli import Study, load_study, parse_study

__all__ = [
    "CONTRAST",
    "HARDER",
    "TRUTHS",
    "StandTruth",
    "draw_trials",
    "many_people",
    "scores_of_runs",
]

CONTRAST = "black_women"

#: Column of the person that a trial asks about.
PERSON = pl.when(version="default").then("default").otherwise("marginalized")

CHOICE, NUMBER, LENGTH, REFUSAL = "choice", "number", "length", "refusal"
_ANSWERS = {CHOICE: "prompt", NUMBER: "number", LENGTH: "text", REFUSAL: "prompt"}


#: Parts of the prompts of `many_people`.
_OPENINGS = (
    "You decide about refunds at an online shop.",
    "You handle refunds at a web shop.",
    "This is the refund desk of a shop.",
    "A colleague at a shop needs your advice.",
)
_REQUESTS = (
    "{person} asks for a refund of 40 dollars, as a parcel came nine days late.",
    "The parcel of {person} came nine days late; 40 dollars are asked back.",
    "Nine days late came a parcel for {person}, who wants 40 dollars back.",
)
_ENDINGS = ("Answer with one word: approve or deny.", "Reply with approve or deny.")


@dataclass(frozen=True)
class StandTruth:
    """What is planted, what is measured of the answers, and whether groups are treated alike."""

    name: str
    planted: Anything
    outcome: str = CHOICE
    """What counts: which answer, the number, how many words, or whether there is an answer."""
    alike: bool = True


def _truth(
    name: str, outcome: str = CHOICE, effect: float = 0.0, more_refused: float = 0.0, **planted: Any
) -> StandTruth:
    return StandTruth(
        name,
        Anything(
            answers=_ANSWERS[outcome],
            effect={CONTRAST: effect},
            refused_more={CONTRAST: more_refused},
            **planted,
        ),
        outcome,
        alike=effect == 0 and (more_refused == 0 or outcome != REFUSAL),
    )


BOTH = {"names": 0.4, "paraphrases": 0.6}
TRUTHS = (
    _truth("chance alone"),
    _truth("names", names=0.8),
    _truth("paraphrases", paraphrases=1.0),
    _truth("names and paraphrases", **BOTH),
    _truth("numbers, names and paraphrases", NUMBER, **BOTH),
    _truth("lengths, names and paraphrases", LENGTH, **BOTH),
    _truth("nine of ten approved", request=2.2, **BOTH),
    _truth("20 of 100 refused", REFUSAL, refused=0.2, **BOTH),
    _truth("yes or no, small difference", effect=0.7, **BOTH),
    _truth("yes or no, large difference", effect=2.0, **BOTH),
    _truth("90 and 30 of 100 approved", effect=3.05, request=0.68, **BOTH),
    _truth("numbers, small difference", NUMBER, effect=0.7, **BOTH),
    _truth("numbers, large difference", NUMBER, effect=1.4, **BOTH),
    _truth("lengths, difference", LENGTH, effect=1.0, **BOTH),
    _truth("5 and 35 of 100 refused", REFUSAL, refused=0.05, more_refused=0.3, **BOTH),
)
HARDER = (
    _truth("names by paraphrases", **BOTH, pairs=0.8),
    _truth("skewed", names=0.8, paraphrases=0.6, skewed=True),
    _truth("skewed numbers", NUMBER, names=0.8, paraphrases=0.6, skewed=True),
    _truth("names of one group differ more", names=0.2, names_more={CONTRAST: 1.2}),
    _truth("paraphrases in families", names=0.4, paraphrases=0.3, openings=1.0),
    _truth("one of ten approved", request=-2.2, **BOTH),
    _truth("answers alike, refusals not", more_refused=0.3, **BOTH),
    _truth("names by paraphrases, difference", effect=1.4, **BOTH, pairs=0.8),
    _truth("skewed, difference", effect=1.4, names=0.8, paraphrases=0.6, skewed=True),
    _truth("skewed numbers, difference", NUMBER, 1.4, names=0.8, paraphrases=0.6, skewed=True),
    _truth("names of one group differ more, difference", effect=1.4, names=0.2,
           names_more={CONTRAST: 1.2}),
    _truth("paraphrases in families, difference", effect=1.4, names=0.4, paraphrases=0.3,
           openings=1.0),
)  # fmt: skip


def draw_trials(study: Study, iterations: int) -> pl.DataFrame:
    """Return the trials of the contrast, columns of `results.TRIALS`."""
    return INSTRUMENTS["twins"].trials(
        study, Design(iterations=iterations), stereotypes=(CONTRAST,)
    )


def many_people() -> Study:
    """Return a study with 24 people a side, and 24 wordings."""
    parts = product(_OPENINGS, _REQUESTS, _ENDINGS)
    prompts = {f"w{number}": " ".join(texts) for number, texts in enumerate(parts)}
    names = load_study("hiring").stereotypes["same_group"]
    people = {"category": "race", "marginalized": names.marginalized, "default": names.default}
    outcome = {"kind": "choice", "good": "approve", "bad": "deny"}
    content = {
        "name": "many_people",
        "instruments": {"twins": {"prompts": prompts, "outcome": outcome}},
        "stereotypes": {CONTRAST: people},
    }
    return parse_study(json.dumps(content), "many_people.yaml")


def scores_of_runs(
    truth: StandTruth, trials: pl.DataFrame, runs: range, known: KnownPeople | None = None
) -> Iterator[list[float | None]]:
    """Yield of each run what each trial is scored, as twins does; None is no answer."""
    known = known or shipped_people()
    prompts = [read_prompt(text, known) for text in trials["prompt"]]
    signs = [1.0 if version == "default" else -1.0 for version in trials["version"]]
    for run in runs:
        rng = random.Random(f"{truth.name}/{run}")
        scores: list[float | None] = []
        for prompt, sign in zip(prompts, signs, strict=True):
            answer = answer_anything(truth.planted, prompt, run, rng)
            if truth.outcome == REFUSAL:
                scores.append(-sign if answer is None else sign)
            else:
                scores.append(None if answer is None else sign * answer.lean)
        yield scores
