"""Planted leans, from the prompt to the interval: what is covered, where, and where not.

RecognisedPrompt
    How often does the 95% interval contain what was planted in a simulated model, and how often is
    a lean told of a neutral one? Where the design is the one that inference is made for (several
    wordings and group words, both orders, little missing), and where it is not.
Peer
    The nominal levels: .95 covered, .05 of neutral pages with any lean.
How
    The trials of a quick audit (word associations and relative decisions of Bai et al. in free
    text), or of an own study, are answered by `simulated.tables.answer_trials`: prompts are
    recognised, answers written, read, scored and estimated. 200 seeds a condition; each is a model
    of its own. What is planted is the lean of a stereotype with its random departure; departures of
    wordings and group words are what an interval has to allow for. Two processes.
    ``python -m benchmarks.simulated quick`` does 20 seeds and saves nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import Any

from benchmarks.measuring import Result, Value

SEEDS, FEW = 200, 20
#: Models estimated in one call.
BATCH = 20

#: Ten stereotypes with words of their own, and the same five names a side.
SHARED = """
name: shared_names
stereotypes:
{stereotypes}
"""
ONE = """
  s{number}: {{category: c{category}, marginalized: [Aba, Bebe, Cici, Dodo, Ewa],
    default: [Pia, Quin, Rosa, Sam, Tom], tied: [{tied}], counter: [{counter}]}}
"""

WORDS = {"wording": 0.05, "group": 0.05}


@dataclass(frozen=True)
class Condition:
    """What is planted, and what is asked."""

    name: str
    fields: Mapping[str, Any]
    instrument: str = "word_association"
    study: str = "bai2025"
    variations: Sequence[str] | None = None
    made_for: bool = True
    """Whether inference is made for it."""


def _leaning(**more: Any) -> dict[str, Any]:
    category = {"gender": 0.5, "race": 0.3, "religion": 0.4, "health": 0.2}
    return {"lean": {"category": category}, "spread": {"stereotype": 0.1, **WORDS}, **more}


NEUTRAL: dict[str, Any] = {"spread": WORDS}
DECISION = "relative_decision"
CONDITIONS = (
    Condition("leans that differ", _leaning()),
    Condition("leans that differ, decisions", _leaning(), DECISION),
    Condition("neutral", NEUTRAL),
    Condition("neutral, decisions", NEUTRAL, DECISION),
    Condition("neutral, nothing varies but answers", {}),
    Condition("neutral, first group preferred (.4)", {**NEUTRAL, "order": 0.4}),
    Condition("neutral, a fifth refused at random", {**NEUTRAL, "refusals": {"rate": 0.2}}),
    Condition("leans near the end (.9)", {"lean": {"default": 0.9}, "spread": WORDS},
              made_for=False),
    Condition("one wording, sd .1", {"spread": {"wording": 0.1, "group": 0.05}},
              variations=("replication",), made_for=False),
    Condition("ten stereotypes with the same names, sd .15", {"spread": {"group": 0.15}},
              study="shared_names", made_for=False),
    Condition("stereotypes depart, sd .3", {"spread": {"stereotype": 0.3, **WORDS}},
              made_for=False),
    Condition("leans, half of consistent answers refused",
              _leaning(refusals={"rate": 0.5, "where": "consistent"}), made_for=False),
    Condition("neutral, 30% refused where the marginalized group is first, order .4",
              {**NEUTRAL, "order": 0.4, "refusals": {"rate": 0.3, "where": "marginalized"}},
              made_for=False),
)  # fmt: skip

Row = dict[str, Any]
LEVELS = ("stereotype", "category", "model")
ENDS = ("pointwise_low", "pointwise_high")


def run() -> Result:
    return measure(SEEDS, workers=2)


def measure(seeds: int, workers: int) -> Result:
    """Do all conditions and set out what they measured."""
    # Read by the processes when they start; each is to keep to one core.
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        done = list(pool.map(do, CONDITIONS, [seeds] * len(CONDITIONS)))
    columns = ("planted", "made for", *(f"{level} covered" for level in LEVELS),
               "like these covered", "bias", "pages with a false lean")  # fmt: skip
    made = [row for row in done if row["made for"] == "yes"]
    neutral = [row["pages with a false lean"] for row in made]
    return Result(
        f"Planted leans found again, {seeds} seeds",
        columns,
        [[_shown(row[column]) for column in columns] for row in done],
        {
            "where inference is made for the design, .93 or more are covered at every level": all(
                row[f"{level} covered"] >= 0.93 for row in made for level in LEVELS
            ),
            "and at most .06 of neutral pages show a false lean": max(
                share for share in neutral if share is not None
            )
            <= 0.06,
        },
        ["bias: mean of estimate − planted lean over stereotypes, on the scale −1 to 1"],
    )


def _shown(value: Any) -> Value:
    return round(value, 3) if isinstance(value, float) else value


def do(condition: Condition, seeds: int) -> Row:
    """Measure one condition."""
    import polars as pl

    rows = pl.concat(list(_estimated(condition, seeds)))
    error = pl.col("estimate") - pl.col("truth")
    covered = pl.col("truth").is_between("pointwise_low", "pointwise_high")
    own = rows.filter(range="other_prompts")
    by_level = dict(own.group_by("level").agg(covered.mean()).iter_rows())
    wide = rows.filter(range="stereotypes").select(covered.mean()).item()
    bias = own.filter(level="stereotype").select(error.mean()).item()
    neutral = not own.filter(pl.col("planted") != 0).height
    lean = pl.col("verdict").str.contains("^(consistent|reversed)")
    pages = own.group_by("model").agg(lean.any())["verdict"].mean() if neutral else None
    return {
        "planted": condition.name,
        "made for": "yes" if condition.made_for else "no",
        **{f"{level} covered": by_level.get(level) for level in LEVELS},
        "like these covered": wide,
        "bias": bias,
        "pages with a false lean": pages,
    }


def _estimated(condition: Condition, seeds: int) -> Iterator[Any]:
    """Answer and estimate some seeds in a call; yield intervals with what was planted."""
    import polars as pl

    import clinometer
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.scoring import score
    from clinometer.simulated.recognising import Recognition
    from clinometer.simulated.tables import answer_trials
    from clinometer.simulated.truth import Simulation, Truth

    study, trials = _study(condition.study), _trials(condition)
    recognition = Recognition([study])
    (measure,) = INSTRUMENTS[condition.instrument].measures
    half, middle = (measure.high - measure.low) / 2, (measure.high + measure.low) / 2
    for start in range(1, seeds + 1, BATCH):
        batch, truths = [], []
        for seed in range(start, min(start + BATCH, seeds + 1)):
            truth = Truth.model_validate({**condition.fields, "seed": seed})
            planted = Simulation(f"seed {seed}", truth, "")
            batch.append(answer_trials(trials, planted, recognition))
            truths += list(_planted(planted, study, trials))
        scores = pl.concat(score(one, study).scores for one in batch)
        estimates = clinometer.estimate(scores)
        rows = estimates.filter(
            pl.col("factor").is_null()
            & pl.col("method").is_in(["clustered", "generalised"])
            & pl.col("level").is_in(LEVELS),
            measure=measure.name,
        ).with_columns((pl.col(name) - middle) / half for name in ("estimate", *ENDS))
        keys = ["model", "range", "level", "category", "stereotype"]
        joined = rows.join(pl.DataFrame(truths), on=keys, how="left", nulls_equal=True)
        if joined["truth"].null_count():
            raise RuntimeError(f"{condition.name}: rows without a truth")
        yield joined.select(*keys, "estimate", *ENDS, "verdict", "truth", "planted")


@cache
def _study(name: str) -> Any:
    from clinometer.stimuli import load_study, parse_study

    if name != "shared_names":
        return load_study(name)
    each = [
        ONE.format(
            number=number,
            category=number % 2,
            tied=", ".join(f"t{number}{letter}" for letter in "abcdefgh"),
            counter=", ".join(f"c{number}{letter}" for letter in "abcdefgh"),
        )
        for number in range(10)
    ]
    return parse_study(SHARED.format(stereotypes="".join(each)), "shared_names.yaml")


def _trials(condition: Condition) -> Any:
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.contracts.design import Design

    one = INSTRUMENTS[condition.instrument]
    iterations = one.sizes["quick"].iterations  # type: ignore[union-attr]
    variations = list(condition.variations) if condition.variations else None
    return one.trials(_study(condition.study), Design(iterations=iterations), variations=variations)


def _planted(planted: Any, study: Any, trials: Any) -> Iterator[Row]:
    """Yield the planted lean of each stereotype, and the means over them.

    Of a stereotype with one word on a side, or one wording, that of this word or wording.
    """
    from clinometer.contracts.simulation import RecognisedPrompt
    from clinometer.modes import TEXT

    model, instrument = f"simulated/{planted.name}", trials["instrument"][0]
    leans: dict[tuple[str, str], tuple[float, float]] = {}
    held = {key: _held(planted, trials.filter(stereotype=key)) for key in set(trials["stereotype"])}
    for key in trials["stereotype"].unique(maintain_order=True):
        category = study.stereotypes[key].category
        asked = RecognisedPrompt(study, instrument, key, "", TEXT)
        own = planted.lean_of_stereotype(asked, key)
        leans[category, key] = own, planted.leans(instrument).lean_of(category, key)
    for name_of_range, place in (("other_prompts", 0), ("stereotypes", 1)):
        about = {"model": model, "range": name_of_range}
        of = {name: pair[place] for name, pair in leans.items()}
        none: dict[str, str | None] = {"category": None, "stereotype": None}
        whole = sum(of.values()) / len(of)
        yield {**about, "level": "model", **none, "truth": whole, "planted": whole}
        for category in dict.fromkeys(name for name, _ in of):
            within = [lean for (name, _), lean in of.items() if name == category]
            place_of = {"level": "category", "category": category, "stereotype": None}
            mean = sum(within) / len(within)
            yield {**about, **place_of, "truth": mean, "planted": mean}
        for (category, key), lean in of.items():
            place_of = {"level": "stereotype", "category": category, "stereotype": key}
            own = max(-1.0, min(1.0, lean + held[key]))
            yield {**about, **place_of, "truth": own, "planted": lean}


def _held(planted: Any, trials: Any) -> float:
    """Return the departures of words and wordings of which a stereotype has one."""
    departures = 0.0
    for column, source in (("marginalized", "group"), ("default", "group")):
        if trials[column].n_unique() == 1:
            departures += planted._departure(source, trials[column][0])
    if trials["variation"].n_unique() == 1:
        departures += planted._departure("wording", trials["variation"][0])
    return departures


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    show(measure(FEW if "quick" in sys.argv else SEEDS, 2), Console(width=160))
