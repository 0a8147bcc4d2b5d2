"""What a reader is told of one mean: made once, from its row of the table of estimates.

The screen of a terminal, the strongest leans of a page, the JSON of commands and the list of a
dossier render a `Finding`, and make no number and no sentence of their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import polars as pl

from clinometer.numbers import interval, number
from clinometer.pieces.plan import WORD_ROLES, StereotypeFacts
from clinometer.pieces.prose import (
    LEANS,
    OPEN_WORDS,
    category_title,
    headline_kind,
    mean_text,
    verdict,
)
from clinometer.pieces.validity import CLEARING, PRINTED_VALIDITY, Run
from clinometer.pieces.views import InstrumentResults
from clinometer.results import CONDITIONS, Measure
from clinometer.results.group_rates import compare_groups
from clinometer.results.verdicts import CONSISTENT, INCONCLUSIVE
from clinometer.statistics.undecided import trials_to_decide

__all__ = ["ALL", "FACTORS", "Finding", "find", "run_text"]

#: The factors of a mean, and the columns of estimates that hold them.
FACTORS = {
    **{name: name for name in ("model", "study", "instrument", *CONDITIONS, "dimension")},
    **{"mode": "plain_mode", "word_list": "word_list", "scoring": "scoring"},
    **{name: name for name in ("category", "stereotype")},
}

#: What a mean over all stereotypes is about.
ALL = "All stereotypes"

#: Words that are named of a list: one of a group, or two attributes.
MOST_WORDS = {"marginalized": 1, "default": 1, "tied": 2, "counter": 2}

#: Where the words of a role stand in what an instrument says of a direction.
_SLOT = re.compile(rf"\{{({'|'.join(WORD_ROLES)})\}}")


@dataclass(frozen=True)
class Finding:
    """What is told of one mean: who, what was measured, in which direction, how large, how sure."""

    # Names of fields are keys of the JSON that commands print.
    about: Mapping[str, str | None]
    """Model, study, mode and so on: keys of `FACTORS`, which tell it from all others."""
    level: str
    """``model``, ``category`` or ``stereotype``."""
    instrument: str
    """Its name in running text, with the study where two studies have it."""
    subject: str
    """The label of the stereotype or category, or `ALL`."""
    verdict: str
    """In other prompts, as headlines count; see `prose.headline_kind`."""
    verdict_text: str
    """The same in words, with its sign."""
    direction: str
    """Which way it leans, in words of the instrument, in people where it can say so; empty where
    that is not told."""
    in_people: str
    """How both groups fare by these answers, whatever the verdict; empty where that is not known.
    """
    mean: float
    neutral: float
    low: float | None
    """The ends of the interval in other prompts."""
    high: float | None
    low_in_prompts: float | None
    high_in_prompts: float | None
    confidence: float | None
    """One less the share of errors that both intervals allow for, among all that is told."""
    trials: int
    """How many were asked."""
    scored: int
    """Of how many of them the mean is."""
    compliance: float | None
    """Share of the answers that have a score."""
    per_hundred: float | None
    """Of 100 of what the instrument counts; None on scales that are no rate."""
    counts: str
    """What it counts: ``decisions``."""
    lean: str
    """Whether it leans in these prompts and in others, in words."""
    shown: str
    """The mean with its intervals."""
    spread: str
    """From where to where the means of its stereotypes reach; empty of one."""
    strength: float
    """Share of the way from neutral to the end of the scale; positive: as the stereotype says."""
    explicit: bool
    """Whether the questions show what they are about; see `Measure`."""
    works: str
    """What the controls say of the instrument on this model in this mode: `PRINTED_VALIDITY`."""
    valid: bool
    """Whether no control of the instrument failed on this model in this mode."""
    would_decide: str = ""
    """What would decide it, where it is unclear: trials of these prompts, and what they cost."""
    run_name: str = ""
    """Model and mode, where there are several."""

    @property
    def differs(self) -> bool:
        """Whether the mean differs from neutral in other prompts: what is told of the model."""
        return self.verdict in LEANS

    @property
    def told(self) -> bool:
        """Whether it is a lean of the model by an instrument that works there."""
        return self.differs and self.valid

    @property
    def run(self) -> dict[str, str | None]:
        """What it shares with the other means of its run: all factors but what is about groups."""
        own = ("category", "stereotype")
        return {name: value for name, value in self.about.items() if name not in own}

    @property
    def size(self) -> str:
        """The mean in its unit and, where it is a rate, as so many of 100."""
        rate = f", {number(self.per_hundred, 0)} of 100 {self.counts}" if self.counts else ""
        return f"{number(self.mean)}{rate}"

    @property
    def conclusion(self) -> str:
        """Which way it leans, in words of the instrument where it has them.

        Of an instrument that does not work on the model, that alone.
        """
        return (self.direction or self.lean) if self.valid else f"{self.instrument} {self.works}"

    @property
    def headline(self) -> str:
        """What leans, how much in other prompts, and which way."""
        return f"{self._name} {self.size} [{interval(self.low, self.high)}]: {self.conclusion}"

    def __str__(self) -> str:
        """Say the same at length, with both intervals and what would decide it."""
        scale = "; ".join(filter(None, (f"neutral is {self.neutral:g}", self.spread)))
        texts = "; ".join(filter(None, (self.lean, self.direction, self.would_decide)))
        return f"{self._name}: {self.shown} ({scale}): {texts}"

    @property
    def run_details(self) -> str:
        """What tells its run from others of the instrument: dimension, model and mode."""
        dimension = self.about["dimension"] or ""
        if dimension.lower() in self.run_name.lower():
            dimension = ""
        return ", ".join(filter(None, (dimension, self.run_name)))

    @property
    def _name(self) -> str:
        where = ", ".join(filter(None, (self.instrument, self.run_details)))
        return f"{self.subject} ({where})"


def find(name: str, results: InstrumentResults, level: str = "stereotype") -> Iterator[Finding]:
    """Yield what is told of each mean of an instrument at one level.

    `name`: of the instrument, in running text.
    `level`: ``stereotype`` yields those that headlines count, ``category`` and ``model`` all.
    """
    rows = results.headline if level == "stereotype" else results.levels[level]
    measure = results.measure
    rates = _group_rates(results)
    prices = _prices_of_trials(results)
    for row in rows.drop_nulls("estimate").iter_rows(named=True):
        run = row["model"], row["control_mode"]
        validity = results.validities.get(run)
        kind = headline_kind(row)
        in_people = rates.get(_factors(row), "")
        yield Finding(
            about=dict(zip(FACTORS, _factors(row), strict=True)),
            level=level,
            instrument=name,
            subject=_subject(row, level),
            verdict=kind,
            verdict_text=_verdict_text(row, kind, measure),
            direction=(in_people or _direction(row, results)) if kind in LEANS else "",
            in_people=in_people,
            mean=row["estimate"],
            neutral=measure.neutral,
            low=row["ci_low"],
            high=row["ci_high"],
            low_in_prompts=row["ci_low_bounded"],
            high_in_prompts=row["ci_high_bounded"],
            confidence=row["confidence"],
            trials=row["n"] or 0,
            scored=row["n_scored"] or 0,
            compliance=row["compliance"],
            per_hundred=100.0 * row["estimate"] if measure.counts else None,
            counts=measure.counts,
            lean=row["lean"],
            shown=mean_text(row),
            spread=row.get("spread") or "",
            strength=row["share"] or 0.0,
            explicit=bool(row["explicit"]),
            works=PRINTED_VALIDITY[validity.verdict if validity else "not tested"],
            valid=results.works(run),
            would_decide=_would_decide(row, results, prices) if kind == INCONCLUSIVE else "",
            run_name=run_text(results, row),
        )


def _would_decide(
    row: Mapping[str, Any], results: InstrumentResults, prices: Mapping[Run, float]
) -> str:
    """Say how many trials would decide an open mean; nothing where the instrument does not work.

    Of a single stereotype, and where the error of wordings and words alone is too large, that is a
    lower bound; see `statistics.undecided`.
    """
    run = row["model"], row["control_mode"]
    if row["se"] is None or not results.works(run):
        return ""
    clears = run in results.validities and results.validities[run].verdict in CLEARING
    least = trials_to_decide(row, row["se"], clears=clears)
    if least is None:
        return "to decide it takes other wordings or words, not more trials"
    trials = trials_to_decide(row, row["se_bounded"] or row["se"], clears=clears)
    is_pooled = (row["n_stereotypes"] or 1) > 1
    bound = "about" if trials and is_pooled else "at least"
    usd = prices.get((row["model"], row["plain_mode"]))
    cents = math.ceil(100.0 * (trials or least) * (usd or 0.0))
    price = f", {bound} ${cents / 100.0:,.2f}" if cents else ""
    others = "" if trials else ", or other wordings or words"
    count = _two_digits(trials or least)
    return f"to decide it takes {bound} {count} trials in place of {row['n']:,}{price}{others}"


def _two_digits(count: int) -> str:
    """Write a number of things, rounded up to two digits.

    >>> _two_digits(87), _two_digits(1234)
    ('87', '1,300')
    """
    unit = 10 ** max(len(str(count)) - 2, 0)
    return f"{-(-count // unit) * unit:,}"


def _prices_of_trials(results: InstrumentResults) -> dict[Run, float]:
    """Return the dollars of a trial, by model and mode, where the model has a price.

    By the tokens of the answers so far, and the list of prices when the plan was made.
    """
    prices, responses = results.plan.prices, results.tables.responses
    if not prices or responses is None:
        return {}
    of_instrument = responses.filter(study=results.study, instrument=results.instrument)
    tokens = of_instrument.group_by("model", "mode").agg(
        pl.col("input_tokens", "output_tokens").mean()
    )
    usd: dict[Run, float] = {}
    for model, mode, *counts in tokens.collect().iter_rows():
        if model in prices and None not in counts:
            usd[model, mode] = sum(map(mul, counts, prices[model])) / 1e6
    return usd


def _verdict_text(row: Mapping[str, Any], kind: str, measure: Measure) -> str:
    """Write a kind of verdict as headlines count it, and whether stereotypes lean beside it.

    Of a mean without a verdict it says why.
    """
    if row.get("mixed"):
        return "◆ near neutral, parts lean"
    if kind == OPEN_WORDS:
        return "△ leans, other words open"
    code = row["verdict"] if kind == "no verdict" else kind
    return verdict(code or kind, directed=measure.directed)


def _subject(row: Mapping[str, Any], level: str) -> str:
    if level == "stereotype":
        return str(row["about"])
    return ALL if level == "model" else category_title(row["category"])


def run_text(results: InstrumentResults, row: Mapping[str, Any]) -> str:
    """Name the model and the mode of a row, each where there are several; conditions are modes."""
    runs = results.by_stereotype
    return ", ".join(row[name] for name in ("model", "mode") if runs[name].n_unique() > 1)


def _factors(row: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Return the values of `FACTORS`."""
    return tuple(row[column] for column in FACTORS.values())


def _group_rates(results: InstrumentResults) -> dict[tuple[str | None, ...], str]:
    """Say of each mean how both groups fare, by its factors; nothing of other instruments."""
    rates = results.tables.details.get("group_rates")
    rows = [] if rates is None else rates.rows(named=True)
    return {_factors(row): compare_groups(row) for row in rows}


def _direction(row: Mapping[str, Any], results: InstrumentResults) -> str:
    """Say which way a stereotype leans, with its words; empty where it has none."""
    facts = results.plan.stereotypes.get(row["stereotype"] or "")
    return "" if facts is None else _in_words(results.measure, facts, headline_kind(row))


def _in_words(measure: Measure, facts: StereotypeFacts, kind: str) -> str:
    """Fill what an instrument says of a direction with the words of a stereotype.

    >>> facts = StereotypeFacts("age", "Age", "health", (), words={"tied": ("slow", "ill", "sad")})
    >>> measure = Measure("m", "M", -1, 1, 0, "", "", toward="old people with {tied}")
    >>> _in_words(measure, facts, "consistent")
    'old people with slow, ill, …'
    """
    sentence = measure.toward if kind == CONSISTENT else measure.against
    lists = {role: facts.words.get(role, ()) for role in _SLOT.findall(sentence)}
    if not all(lists.values()):
        return ""
    return _SLOT.sub(lambda slot: _first_words(lists[slot[1]], MOST_WORDS[slot[1]]), sentence)


def _first_words(words: Sequence[str], most: int) -> str:
    """List the first words, and say by an ellipsis that there are more."""
    return ", ".join([*words[:most], *(["…"] if len(words) > most else [])])
