"""Predicted and simulated power.

Question
    Is a mean found as often as `clinometer power` says, and a neutral one shown to be so?
Peer
    Scores of known components on the trials of an audit (`simulated_scores`), inferred as those of
    a model: the share of runs in which the test at α / m is significant.
How
    Each design is asked about two true means: one that the prediction finds in .8 of runs (or the
    nearest within .5 of the scale, as farther out simulated scores are cut), and a neutral one.
    Effects have the same part of (mean − low)(high − mean) at each mean. The prediction knows the
    components. Eight stereotypes of a study, so that many runs can be simulated: a difference of a
    simulated and a predicted share has a standard error of up to .02. Deterministic.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.measuring import Result

#: Simulated runs, and drawn estimates behind a prediction; more than `planning.RUNS`, so that
#: differences are not those of draws.
RUNS = 1200
STEREOTYPES = 8
TARGET = 0.8
MOST_DISTANT = 0.5
MOST, MOST_SKEWED = 0.05, 0.07
MARGIN = {"stereotype": 0.3, "model": 0.2}
EFFECTS = ("wording", "stereotype_wording", "marginalized", "default", "draw", "noise")
LEVEL = 0.05


@dataclass(frozen=True)
class Case:
    """Scores on the trials of one size."""

    size: str
    study: str
    instrument: str
    mode: str
    condition: str
    mirrored: bool = False
    """Whether skewed effects have their long end below neutral."""

    @property
    def name(self) -> str:
        """Of the row."""
        condition = f"{self.condition}, mirrored" if self.mirrored else self.condition
        return " ".join((self.study, self.instrument, self.mode, condition, self.size))


CASES = (
    Case("quick", "bai2025", "word_association", "free", "all effects"),
    Case("quick", "bai2025", "word_association", "free", "wordings"),
    Case("standard", "mist2025", "word_association", "free", "all effects"),
    Case("quick", "bai2025", "relative_decision", "forced", "all effects"),
    Case("standard", "bai2025", "word_association", "free", "skewed"),
    Case("standard", "bai2025", "word_association", "free", "skewed", mirrored=True),
)


def run() -> Result:
    """Predict and simulate every case."""
    rows = [row for case in CASES for row in compare(case)]
    skewed, normal = (
        max(abs(p - s) for row in rows for p, s in row[2:] if ("skewed" in row[0]) == of)
        for of in (True, False)
    )
    return Result(
        "Power as predicted and as simulated",
        ("scores, level", "found: predicted, simulated", "equivalent: predicted, simulated"),
        [(f"{name}, {level}", *map(_shown, pairs)) for name, level, *pairs in rows],
        {
            f"predicted and simulated power differ by at most {MOST}": normal <= MOST,
            f"and by at most {MOST_SKEWED} where effects are skewed": skewed <= MOST_SKEWED,
        },
        [
            f"largest difference: {normal:.3f}, of skewed effects {skewed:.3f}",
            f"level of the page: {LEVEL}; margins: {MARGIN}",
        ],
    )


def _shown(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.2f}, {pair[1]:.2f}"


def compare(case: Case) -> Iterator[tuple[Any, ...]]:
    """Yield name, level, and predicted and simulated power: to find a mean, and equivalence."""
    import numpy as np
    import polars as pl

    from benchmarks.simulated_scores import CONDITIONS, Simulation
    from clinometer.audits.sizes import PlanOptions, sized_plan
    from clinometer.statistics.planning import foresee
    from clinometer.statistics.summaries import NEVER_POOLED, summarise
    from clinometer.stimuli import load_study

    names = list(load_study(case.study).stereotypes)
    chosen = ",".join(names[:: len(names) // STEREOTYPES][:STEREOTYPES])
    one = PlanOptions([case.study], [case.instrument], chosen, modes=[case.mode])
    trials = sized_plan(case.size, ["openai/gpt-4o"], one).trials()
    if trials["dimension"].n_unique() > 1:
        trials = trials.filter(dimension=trials["dimension"][0])
    simulation, rng = Simulation(trials), np.random.default_rng(zlib.crc32(case.name.encode()))
    measure = simulation.measure
    half = (measure.high - measure.low) / 2
    condition = CONDITIONS[case.condition]
    units = summarise(simulation.frame.with_columns(score=measure.neutral))
    known = {units.select(NEVER_POOLED).row(0): known_sources(condition)}
    means = foresee(units, known, measure, RUNS)
    drawn = _drawn(simulation, condition, rng)
    if case.mirrored:
        mirrored = 2 * measure.neutral - pl.col("score")
        drawn = drawn.with_columns(score=mirrored, of_words=-pl.col("of_words"))
    grid = measure.neutral + half * np.linspace(0, MOST_DISTANT, 400)
    for level in MARGIN:
        of_level = [mean for (own, *_), mean in means.items() if own == level]
        alpha = LEVEL / len(of_level)
        chances = np.mean([mean.chance_to_find(grid, alpha) for mean in of_level], axis=0)
        at = int(np.argmin(abs(chances - TARGET)))
        moved = _simulated(drawn, simulation, grid[at], level)[level]
        found = [one.p_above(measure.neutral) for one in moved]
        margin = MARGIN[level] * half
        near = np.mean([mean.equivalent(margin, alpha) for mean in of_level])
        neutral = _simulated(drawn, simulation, measure.neutral, level)[level]
        tests = [one.tost(margin, measure.neutral) for one in neutral]
        power = float(chances[at]), _share(found, alpha / 2)
        yield case.name, level, power, (float(near), _share(tests, alpha / 2))


def _share(p: list[Any], level: float) -> float:
    return sum(one is not None and one < level for one in p) / len(p)


def known_sources(condition: Any) -> Any:
    """Return the components of a condition; the response is the mean of a mirrored pair.

    Wordings share no draws, so that these cannot be told from responses.
    """
    import numpy as np

    from clinometer.statistics.sources import Sources

    wording = condition.wording**2 + condition.stereotype_wording**2
    words = condition.marginalized**2, condition.default**2
    response = condition.noise**2 / 2 + condition.draw**2
    components = np.array([wording, *words, 0.0, 0.0, response])
    return Sources(components, np.zeros(6), condition.wording**2, 2.0)


def _simulated(drawn: Any, simulation: Any, true: float, *levels: str) -> dict[str, list[Any]]:
    """Return the means of some levels that are `true`, of all runs.

    At the level of the model all stereotypes are moved from neutral, else every seventh, so that
    the others tell how scores vary where they are neutral. A stereotype with one word is told of
    for this word, whose effect is therefore taken out.
    """
    import polars as pl

    from clinometer.statistics.summaries import summarise
    from clinometer.statistics.targets import means

    measure, low, high = simulation.measure, simulation.measure.low, simulation.measure.high
    shrink = (
        (true - low) * (high - true) / (measure.neutral - low) / (high - measure.neutral)
    ) ** 0.5
    place = pl.struct("category", "stereotype").rank("dense") + pl.col("run")
    if "model" not in levels:
        drawn = drawn.with_columns(pl.col("score") - pl.col("of_words"))
    moved = true + shrink * (pl.col("score") - measure.neutral)
    chosen = drawn.with_columns(moved=(place % 7 == 0) | ("model" in levels)).with_columns(
        score=pl.when("moved").then(moved).otherwise("score").clip(low, high)
    )
    units = summarise(chosen.drop("run", "moved", "of_words"))
    found = means(units, (low, high), levels=levels, neutral=measure.neutral)
    keys = {*chosen.filter("moved").select("model", "stereotype").unique().rows()}
    of_level: dict[str, list[Any]] = {level: [] for level in levels}
    for key, targets in found.items():
        if key[0] == "model" or (key[1], key[-1]) in keys:
            of_level[key[0]].append(targets.these)
    return of_level


def _drawn(simulation: Any, condition: Any, rng: Any) -> Any:
    """Draw neutral scores; effects are parts of the scale.

    `of_words` is what the only word of a stereotype on a side adds, 0 where there are several.
    """
    import polars as pl

    measure = simulation.measure
    unit = ((measure.neutral - measure.low) * (measure.high - measure.neutral)) ** 0.5
    effects = {name: unit * getattr(condition, name) for name in EFFECTS}
    scaled = replace(condition, **effects, habit=0.0, attribute=0.0, page="neutral")
    keys, of_words = ["stereotype", "dimension"], pl.col("truth") - measure.neutral
    runs = []
    for k in range(RUNS):
        scores, truths = simulation.draw(scaled, rng)
        own = truths.filter(level="stereotype", target="these").select(*keys, of_words=of_words)
        named = scores.join(own, on=keys, nulls_equal=True, maintain_order="left")
        runs.append(named.with_columns(model=pl.lit(f"run {k}"), run=pl.lit(k)))
    return pl.concat(runs)
