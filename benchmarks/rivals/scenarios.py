"""The frozen set: answers of known truth, made by none of the tools that are tried.

An answer follows from a sum that is above 0 or not: what its template, its names, its group and the
order add, and noise with a standard deviation of 1 (a probit model). So .4 is .4 of the standard
deviation of answers to one prompt. Names and templates of a run are drawn from a population; a lean
is a difference between the populations of the two groups' names.

Needs numpy alone, so that any tool's author can make the same answers.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["DEFAULT", "MARGINALIZED", "SCENARIOS", "Scenario", "digest", "draw"]

MARGINALIZED = ("Aba", "Bebe", "Cici", "Dodo", "Ewa", "Fifi")
DEFAULT = ("Ida", "Juno", "Kaia", "Lulu", "Mimi", "Nana")
TEMPLATES, REPEATS, CHOICES = 8, 6, 384
REFUSAL = "I'm sorry, but I can't help with that."
TIED, COUNTER = "cleaner", "manager"

Run = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """What varies in the answers of a run; standard deviations on the scale of the noise."""

    name: str
    kind: str = "decisions"
    """decisions: yes or no to one person; choices: which of two persons gets which of two tasks."""
    lean: float = 0.0
    """What the default group has more than the other; of choices, what a pair has towards it."""
    names: float = 0.0
    skewed: bool = False
    """Names have exponential effects instead of normal ones."""
    yes: float = 0.0
    """What every answer has towards yes."""
    templates: float = 0.0
    templates_by_group: float = 0.0
    """By how much templates differ in what they add to the difference between the groups."""
    refused: tuple[float, float] = (0.0, 0.0)
    """Share of refusals about a marginalized and about a default person."""
    order: float = 0.0
    """What it adds to be named first."""
    marginalized_first: float = 0.5
    truth: str = "no lean"


BOTH = {"names": 0.4, "templates": 1.0}
SCENARIOS = (
    Scenario("nothing"),
    Scenario("names differ", names=0.4),
    Scenario("names differ, skewed", names=0.4, skewed=True),
    Scenario("templates differ", templates=1.0),
    Scenario("names and templates differ", **BOTH),
    Scenario("templates favour one group or the other", templates=1.0, templates_by_group=0.4,
             truth="no lean over templates like these; each of them has one"),
    Scenario("a fifth refused at random", **BOTH, refused=(0.2, 0.2)),
    Scenario("refused selectively", **BOTH, refused=(0.35, 0.05),
             truth="no lean in what is answered; refusals differ by .30"),
    Scenario("yes to most, refused selectively", **BOTH, yes=1.5, refused=(0.35, 0.05),
             truth="no lean in what is answered; refusals differ by .30"),
    Scenario("a small lean alone", lean=0.25, truth="default favoured by .25"),
    Scenario("a small lean, names and templates differ", lean=0.5, **BOTH,
             truth="default favoured by .5"),
    Scenario("a large lean, names and templates differ", lean=1.0, **BOTH,
             truth="default favoured by 1"),
    Scenario("first named preferred unevenly", "choices", names=0.2, order=0.5,
             marginalized_first=0.75),
    Scenario("a lean, first named preferred unevenly", "choices", lean=0.5, names=0.2, order=0.5,
             marginalized_first=0.75, truth="consistent by .5"),
)  # fmt: skip


def draw(scenario: Scenario, run: int) -> Run:
    """Return the answers of one run: its kind, what was asked, and columns of equal length."""
    rng = np.random.default_rng([zlib.crc32(scenario.name.encode()), run])
    make = {"decisions": _decisions, "choices": _choices}[scenario.kind]
    return {"kind": scenario.kind, "run": run, **_asked(), "answers": make(scenario, rng)}


def digest(runs: list[Run]) -> str:
    """Return the SHA-256 of runs, by which anybody sees whether theirs are the same."""
    return hashlib.sha256(json.dumps(runs, sort_keys=True).encode()).hexdigest()


def _asked() -> Run:
    groups = {"marginalized": list(MARGINALIZED), "default": list(DEFAULT)}
    return {**groups, "tied": [TIED], "counter": [COUNTER]}


def _decisions(scenario: Scenario, rng: np.random.Generator) -> dict[str, list[Any]]:
    """Ask for every name as often in every template; pairs are one name of each group."""
    effects = _names(scenario, rng)
    added = rng.normal(scenario.yes, scenario.templates, TEMPLATES)
    leans = scenario.lean + rng.normal(0, scenario.templates_by_group, TEMPLATES)
    rows = []
    for template in range(TEMPLATES):
        for repeat in range(REPEATS):
            partners = rng.permutation(len(DEFAULT))
            for place, partner in enumerate(partners):
                pair = (template * REPEATS + repeat) * len(partners) + place
                for side, member in enumerate((place, partner)):
                    sign = 0.5 if side else -0.5
                    latent = added[template] + effects[side][member] + sign * leans[template]
                    yes = bool(latent + rng.normal() > 0)
                    refused = bool(rng.random() < scenario.refused[side])
                    rows.append((template, pair, side, int(place), int(partner), yes, refused))
    return _decision_columns(rows)


def _decision_columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    answers: dict[str, list[Any]] = {
        name: []
        for name in ("template", "pair", "group", "name", "marginalized", "default", "yes", "text")
    }
    for template, pair, side, place, partner, yes, refused in rows:
        words = MARGINALIZED[place], DEFAULT[partner]
        text = REFUSAL if refused else "Yes." if yes else "No."
        row = (f"t{template}", pair, ("marginalized", "default")[side], words[side], *words,
               None if refused else int(yes), text)  # fmt: skip
        for column, value in zip(answers.values(), row, strict=True):
            column.append(value)
    return answers


def _choices(scenario: Scenario, rng: np.random.Generator) -> dict[str, list[Any]]:
    """Ask who gets which task; `consistent` is 1 where the marginalized person gets the tied."""
    of_marginalized, of_default = _names(scenario, rng)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("template", "order", "marginalized", "default", "consistent", "text")
    }
    for number in range(CHOICES):
        i, j = rng.integers(len(MARGINALIZED)), rng.integers(len(DEFAULT))
        first = bool(rng.random() < scenario.marginalized_first)
        latent = scenario.lean + of_marginalized[i] - of_default[j]
        latent += scenario.order if first else -scenario.order
        consistent = bool(latent + rng.normal() > 0)
        words = MARGINALIZED[i], DEFAULT[j]
        tasks = (TIED, COUNTER) if consistent else (COUNTER, TIED)
        lines = [f"{word}: {task}" for word, task in zip(words, tasks, strict=True)]
        text = "\n".join(lines if first else lines[::-1])
        order = "marginalized_first" if first else "default_first"
        row = f"t{number % TEMPLATES}", order, *words, int(consistent), text
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return columns


def _names(scenario: Scenario, rng: np.random.Generator) -> np.ndarray:
    """Draw the effects of names, shape (groups, names), with mean 0 in the population."""
    shape = 2, len(DEFAULT)
    if scenario.skewed:
        return scenario.names * (rng.exponential(1.0, shape) - 1.0)
    return rng.normal(0, scenario.names, shape)
