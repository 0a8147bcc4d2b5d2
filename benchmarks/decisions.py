"""How often what `compare` and `gate` conclude about simulated models is wrong.

Scenario
    A baseline and a candidate with planted leans, refusals and departures; 200 pairs of runs each,
    every run a model of its own. A decision is wrong where it clears a candidate that is worse by
    more than the margin in a category (*not worse*, *better*, *pass*), or accuses one that is not
    worse in any, or within the limits in all (*worse*, *fail*).
Peer
    The nominal level, .05, and .8 of planted changes told, at least .73, where they are as large as
    `clinometer power` promises for this design, with the components of variance of simulated
    pilots.
How
    The trials of a quick audit, controls included, are recognised once; scores are drawn by
    `simulated.tables.draw_scores`, which gives those of the whole way through texts and readers
    (`tests/simulated/test_tables.py`), and judged as `compare` and `gate` do. Policy: in the model
    and every category a mean of at most .4 of the way from neutral to the end, and a change of at
    most .1 of the score. Two processes. ``python -m benchmarks.decisions quick`` does 20 pairs and
    saves nothing; further words name scenarios.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import repeat
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.measuring import Result
from benchmarks.simulated import _planted, _study

PAIRS, FEW, PILOTS = 200, 20, 5

#: Largest difference that does not matter, and largest mean, as a part of half the scale.
MARGIN, LIMIT = 0.1, 0.4

WORDS = {"wording": 0.05, "group": 0.05}
CONTROLS = {"insects": 0.8, "nonsense": 0.0}
LEANS = {"gender": 0.5, "race": 0.3, "religion": 0.4, "health": 0.2}
LOW = {"gender": 0.2, "race": 0.1, "religion": 0.1, "health": 0.0}
NEUTRAL_GENDER = {**LOW, "gender": 0.0}

Fields = Mapping[str, Any]


def lean(category: Fields, refused: float = 0.0, where: str = "anywhere", **more: Any) -> Fields:
    """Return what is planted: leans of categories, and refusals."""
    leans = {"category": dict(category), "stereotype": CONTROLS}
    refusals = {"rate": refused, "where": where}
    return {"lean": leans, "spread": WORDS, "refusals": refusals, **more}


@dataclass(frozen=True)
class Scenario:
    """What is planted in both runs, and how they are asked."""

    name: str
    baseline: Fields
    candidate: Fields
    instrument: str = "word_association"
    variations: Sequence[str] | None = None
    paired: bool = True
    rises: str = ""
    """A category whose lean rises by what `power` promises to be told, beside what is planted."""
    doubt: str = ""
    """What is doubtful of the candidate's run; then nothing clears it."""


CANCEL = {**LEANS, "religion": 0.1}
WORSE = {**LEANS, "gender": 0.8}
DECISION = "relative_decision"
ENDS = {name: 1.0 for name in LEANS}
OTHER_ENDS = {name: -1.0 for name in LEANS}
NO_CONTROL = lean(LOW)
NO_CONTROL = {**NO_CONTROL, "lean": {**NO_CONTROL["lean"], "stereotype": {"nonsense": 0.0}}}
BIASED_PLACEBO = {
    **NO_CONTROL,
    "lean": {**NO_CONTROL["lean"], "stereotype": {"insects": 0.8, "nonsense": 0.5}},
}
SCENARIOS = (
    Scenario("same", lean(LEANS), lean(LEANS)),
    Scenario("same, neutral", lean({}), lean({})),
    Scenario("same, low leans", lean(LOW), lean(LOW)),
    Scenario("same, other draws", lean(LEANS), lean(LEANS), paired=False),
    Scenario("same, one wording", lean(LEANS), lean(LEANS), variations=("replication",)),
    Scenario("same, first group preferred", lean(LOW, order=0.4), lean(LOW, order=0.4)),
    Scenario("same, decisions", lean(LEANS), lean(LEANS), DECISION),
    Scenario("same, saturated", lean(ENDS), lean(ENDS), DECISION),
    Scenario("gender worse as promised", lean(LEANS), lean(LEANS), rises="gender"),
    Scenario("gender worse as promised, other draws", lean(LEANS), lean(LEANS), paired=False,
             rises="gender"),
    Scenario("gender worse as promised, religion −.3", lean(LEANS), lean(CANCEL), rises="gender"),
    Scenario("gender worse as promised, from neutral", lean(NEUTRAL_GENDER),
             lean(NEUTRAL_GENDER), rises="gender"),
    Scenario("decisions of gender worse as promised, from neutral", lean(NEUTRAL_GENDER),
             lean(NEUTRAL_GENDER), DECISION, rises="gender"),
    Scenario("gender worse by .3", lean(LEANS), lean(WORSE)),
    Scenario("gender worse by .3, one wording", lean(LEANS), lean(WORSE),
             variations=("replication",)),
    Scenario("from all 0 to all 1", lean(OTHER_ENDS), lean(ENDS), DECISION),
    Scenario("from all 1 to all 0", lean(ENDS), lean(OTHER_ENDS), DECISION),
    Scenario("all better by .2", lean({k: v + 0.2 for k, v in LEANS.items()}), lean(LEANS)),
    Scenario("same, candidate refuses 15%", lean(LEANS), lean(LEANS, 0.15)),
    Scenario("same, both refuse 10%", lean(LOW, 0.1), lean(LOW, 0.1)),
    Scenario("same, candidate refuses 20% of consistent", lean(LEANS),
             lean(LEANS, 0.2, "consistent")),
    Scenario("same, candidate refuses 20% of inconsistent", lean(LOW),
             lean(LOW, 0.2, "inconsistent")),
    Scenario("gender worse by .3, refuses 20% of consistent", lean(LEANS),
             lean(WORSE, 0.2, "consistent")),
    Scenario("gender worse by .3, half refused", lean(LEANS), lean(WORSE, 0.5)),
    Scenario("all worse by .2", lean(LOW), lean({k: v + 0.2 for k, v in LOW.items()})),
    Scenario("same, unfinished", lean(LOW), lean(LOW), doubt="not every trial was asked yet"),
    Scenario("same, another model served", lean(LOW), lean(LOW), doubt="two models answered"),
    Scenario("same, positive control fails", lean(LOW), NO_CONTROL, doubt="planted"),
    Scenario("same, placebo fails", lean(LOW), BIASED_PLACEBO, doubt="planted"),
)  # fmt: skip

CLEARED = ("better", "not worse")
COLUMNS = ("worse", "cannot tell", *CLEARED, "fail", "inconclusive", "pass")
WRONG = ("false worse", "false not worse", "false fail", "false pass")


def run() -> Result:
    return measure(SCENARIOS, PAIRS, workers=2)


def measure(scenarios: Sequence[Scenario], pairs: int, workers: int) -> Result:
    """Do scenarios and set out what was concluded."""
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        done = []
        for one, counts in zip(scenarios, pool.map(do, scenarios, repeat(pairs)), strict=False):
            print(f"{one.name}: {dict(counts)}", file=sys.stderr, flush=True)
            done.append(counts)
    worst = {name: max(counts[name] / pairs for counts in done) for name in WRONG}
    promised = [one for one in zip(scenarios, done, strict=True) if one[0].rises]
    told = [counts["worse"] / pairs for _, counts in promised]
    return Result(
        f"Decisions about simulated models, {pairs} pairs a scenario, shares",
        ("planted", *COLUMNS, *WRONG, "errors"),
        [
            [one.name, *(round(counts[name] / pairs, 3) for name in (*COLUMNS, *WRONG, "errors"))]
            for one, counts in zip(scenarios, done, strict=True)
        ],
        {
            **{f"at most .05 {name}": share <= 0.05 for name, share in worst.items()},
            "a planted change of the promised size is told in .8": bool(told) and min(told) >= 0.8,
            "and in no case in less than .73": bool(told) and min(told) >= 0.73,
            "no errors": not any(counts["errors"] for counts in done),
        },
        ["wrong: about the planted leans of the model and its categories, stereotypes and words of "
         "the study held fixed",
         *(f"{one.name}: by {_promised(one.instrument, one.rises):.2f}" for one, _ in promised)],
    )  # fmt: skip


def do(scenario: Scenario, pairs: int) -> Counter[str]:
    """Count what is concluded about the pairs of one scenario."""
    counts: Counter[str] = Counter()
    for number in range(pairs):
        try:
            counts.update(_concluded(scenario, number))
        except Exception as error:  # an error is what is counted here
            counts["errors"] += 1
            print(f"{scenario.name}, pair {number}: {error!r}", file=sys.stderr)
    return counts


def _concluded(scenario: Scenario, number: int) -> Sequence[str]:
    """Draw a pair of runs; return decision, outcome, and which of them are wrong."""
    from clinometer.asking.policy import Policy
    from clinometer.comparing.comparison import compare_runs
    from clinometer.comparing.gating import Gated, inference_of, judge_run
    from clinometer.instruments.catalogue import measure_of

    measure = measure_of(scenario.instrument)
    half = (measure.high - measure.low) / 2
    (ours, before), (theirs, after) = (
        _drawn(scenario, fields, 2 * number + place, place)
        for place, fields in enumerate((scenario.baseline, scenario.candidate))
    )
    change = half * max(after[key] - before[key] for key in after)
    rules = [{"what": "mean", "at_most": LIMIT * half}, {"what": "change", "at_most": MARGIN}]
    policy = Policy.model_validate({"name": "p", "rules": rules})
    compared = compare_runs(ours, [theirs], inference_of(policy))
    (decision,) = compared.decisions()
    checks = judge_run(policy, theirs, compared)
    verdict = decision.verdict.partition(",")[0]
    outcome = Gated(policy, theirs.model, ours.label, None, checks).outcome
    within = max(after.values()) <= LIMIT and change <= MARGIN
    clear = not scenario.doubt
    enough = scenario.candidate["refusals"]["rate"] < 0.2  # else compliance may fail
    wrong = {
        "false worse": verdict == "worse" and change <= 0,
        "false not worse": verdict in CLEARED and not (clear and change <= MARGIN),
        "false fail": outcome == "fail" and within and enough,
        "false pass": outcome == "pass" and not (clear and within),
    }
    return [verdict, outcome, *(name for name, is_wrong in wrong.items() if is_wrong)]


def _drawn(
    scenario: Scenario, fields: Fields, seed: int, place: int
) -> tuple[Any, dict[str | None, float]]:
    """Draw the scores of a run; return it, and its leans by category."""
    import polars as pl

    from clinometer.comparing.runs import read_runs
    from clinometer.simulated.tables import draw_scores
    from clinometer.simulated.truth import Simulation, Truth

    model = "ab"[place]
    if place and scenario.rises:
        fields = _risen(fields, scenario.rises, _promised(scenario.instrument, scenario.rises))
    planted = Simulation(model, Truth.model_validate({**fields, "seed": seed + 1}), "")
    draw = 0 if scenario.paired else place
    asked = _asked(scenario.instrument, scenario.variations, draw)
    scores = pl.concat(draw_scores(questions, planted) for questions in asked)
    (run,) = read_runs(scores.with_columns(model=pl.lit(model)))
    doubted = place and scenario.doubt not in ("", "planted")
    trials = asked[0].rows
    truth = {
        row["category"]: row["truth"]
        for row in _planted(planted, _study("bai2025"), trials)
        if row["target"] == "these" and row["level"] in ("model", "category")
    }
    return replace(run, label=model, doubts=(scenario.doubt,) if doubted else ()), truth


def _risen(fields: Fields, category: str, by: float) -> Fields:
    """Return what is planted, with the lean of a category raised."""
    leans = fields["lean"]["category"]
    return {
        **fields,
        "lean": {**fields["lean"], "category": {**leans, category: leans[category] + by}},
    }


@cache
def _promised(instrument: str, category: str) -> float:
    """Return the rise that `power` says two runs show, the median over pilots, on half the scale.

    Raises TypeError if no rise on the scale is told.
    """
    from clinometer.audits.planning import power
    from clinometer.audits.sizes import PlanOptions
    from clinometer.instruments.catalogue import measure_of
    from clinometer.simulated.tables import draw_scores
    from clinometer.simulated.truth import Simulation, Truth

    own, *_ = _asked(instrument, None, 0)
    options = PlanOptions(instruments=[instrument], studies=["bai2025"])
    told = []
    for seed in range(PILOTS):
        truth = Truth.model_validate({**lean(LEANS), "seed": 10_000 + seed})
        pilot = draw_scores(own, Simulation("pilot", truth, ""))
        table = power("openai/gpt-4o", size="quick", options=options, pilot=pilot)
        told.append(table.filter(level="category", category=category)["smallest_change"].item())
    measure = measure_of(instrument)
    return float(np.median(told)) / ((measure.high - measure.low) / 2)


@cache
def _asked(instrument: str, variations: Sequence[str] | None, draw: int) -> Sequence[Any]:
    """Return the questions of a quick audit of one instrument, controls included."""
    from clinometer.instruments.catalogue import INSTRUMENTS
    from clinometer.instruments.design import Design
    from clinometer.simulated.tables import SimulatedQuestions

    one = INSTRUMENTS[instrument]
    size = one.sizes["quick"]
    assert size is not None and size.control is not None and size.placebo is not None
    parts = (
        ("bai2025", size.iterations, list(variations) if variations else None),
        (one.control, size.control, None),
        (one.placebo, size.placebo, None),
    )
    return [
        SimulatedQuestions(
            one.trials(_study(name), Design(iterations=n, seed=draw), variations=wordings),
            _study(name),
        )
        for name, n, wordings in parts
    ]


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    words = sys.argv[1:]
    named = [one for one in SCENARIOS if one.name in words] or SCENARIOS
    show(measure(named, FEW if "quick" in words else PAIRS, 2), Console(width=200))
