"""Predicted and simulated power.

Question
    Is a mean found as often as `tiltmeter power` says, and a neutral one shown to be so?
Peer
    Scores of known components on the trials of an audit (`simulated_scores`), inferred as those of
    a model: the share of runs in which the test at α / m is significant.
How
    Each design is asked about two true means, those that the prediction finds in .5 and in .8 of
    runs (or the nearest within .9 of the scale), and about a neutral one. Effects have the same
    part of (mean − low)(high − mean) at each mean. The prediction knows the components.
    Deterministic.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.measuring import Result

#: Simulated runs: of stereotypes every run tells several times.
RUNS = 200
FORESEEN = 400
TARGETS = (0.5, 0.8)
MOST = 0.05
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
    runs: int = RUNS

    @property
    def name(self) -> str:
        """Of the row."""
        return " ".join((self.study, self.instrument, self.mode, self.condition, self.size))


CASES = (
    Case("quick", "bai2025", "word_association", "free", "all effects"),
    Case("standard", "bai2025", "word_association", "free", "all effects", RUNS // 2),
    Case("quick", "bai2025", "word_association", "free", "wordings"),
    Case("quick", "bai2025", "word_association", "free", "group words"),
    Case("standard", "mist2025", "word_association", "free", "all effects", RUNS // 2),
    Case("quick", "bai2025", "relative_decision", "forced", "all effects"),
)


def run() -> Result:
    """Predict and simulate every case."""
    rows = [row for case in CASES for row in compare(case)]
    worst = max(abs(p - s) for row in rows for p, s in row[2:])
    return Result(
        "Power as predicted and as simulated",
        ("scores, level", *(f"predicted {t}, simulated" for t in TARGETS), "equivalent"),
        [(f"{name}, {level}", *map(_shown, pairs)) for name, level, *pairs in rows],
        {f"predicted and simulated power differ by at most {MOST}": worst <= MOST},
        [f"largest difference: {worst:.3f}", f"level of the page: {LEVEL}; margins: {MARGIN}"],
    )


def _shown(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.2f}, {pair[1]:.2f}"


def compare(case: Case) -> Iterator[tuple[Any, ...]]:
    """Yield name, level, and pairs of predicted and simulated power: of two means, of neutral."""
    import numpy as np

    from benchmarks.simulated_scores import CONDITIONS, Simulation
    from tiltmeter.audits.sizes import PlanOptions, sized_plan
    from tiltmeter.statistics.planning import foresee
    from tiltmeter.statistics.summaries import NEVER_POOLED, summarise

    one = PlanOptions(studies=[case.study], instruments=[case.instrument], modes=[case.mode])
    trials = sized_plan(case.size, ["openai/gpt-4o"], one).trials()
    if trials["dimension"].n_unique() > 1:
        trials = trials.filter(dimension=trials["dimension"][0])
    simulation, rng = Simulation(trials), np.random.default_rng(zlib.crc32(case.name.encode()))
    measure = simulation.measure
    half = (measure.high - measure.low) / 2
    condition = CONDITIONS[case.condition]
    units = summarise(simulation.frame.with_columns(score=measure.neutral))
    known = {units.select(NEVER_POOLED).row(0): known_sources(condition)}
    means = foresee(units, known, measure, FORESEEN)
    drawn = _drawn(simulation, condition, case.runs, rng)
    grid = measure.neutral + half * np.linspace(0, 0.9, 400)
    for level in MARGIN:
        of_level = [mean for (own, *_), mean in means.items() if own == level]
        alpha = LEVEL / len(of_level)
        pairs = []
        for target in TARGETS:
            chances = np.mean([mean.found(grid, alpha) for mean in of_level], axis=0)
            at = int(np.argmin(abs(chances - target)))
            found = [one.p_above(measure.neutral) for one in
                     _simulated(drawn, simulation, grid[at], level)]  # fmt: skip
            pairs.append((float(chances[at]), _share(found, alpha / 2)))
        margin = MARGIN[level] * half
        near = np.mean([mean.equivalent(margin, alpha) for mean in of_level])
        tests = [one.tost(margin, measure.neutral) for one in
                 _simulated(drawn, simulation, measure.neutral, level)]  # fmt: skip
        yield case.name, level, *pairs, (float(near), _share(tests, alpha))


def _share(p: list[Any], level: float) -> float:
    return sum(one is not None and one < level for one in p) / len(p)


def known_sources(condition: Any) -> Any:
    """Return the components of a condition; the response is the mean of a mirrored pair.

    Wordings share no draws, so that these cannot be told from responses.
    """
    import numpy as np

    from tiltmeter.statistics.sources import Sources

    wording = condition.wording**2 + condition.stereotype_wording**2
    words = condition.marginalized**2, condition.default**2
    response = condition.noise**2 / 2 + condition.draw**2
    components = np.array([wording, *words, 0.0, 0.0, response])
    return Sources(components, np.zeros(6), condition.wording**2, 2.0)


def _simulated(drawn: Any, simulation: Any, true: float, level: str) -> list[Any]:
    """Return the means of a level that are `true`, of all runs.

    At the level of the model all stereotypes are moved from neutral, else every seventh, so that
    the others tell how scores vary where they are neutral.
    """
    import polars as pl

    from tiltmeter.statistics.summaries import NEVER_POOLED, summarise
    from tiltmeter.statistics.targets import means

    measure, low, high = simulation.measure, simulation.measure.low, simulation.measure.high
    shrink = (
        (true - low) * (high - true) / (measure.neutral - low) / (high - measure.neutral)
    ) ** 0.5
    place = pl.struct("category", "stereotype").rank("dense") + pl.col("run")
    moved = true + shrink * (pl.col("score") - measure.neutral)
    chosen = drawn.with_columns(moved=(place % 7 == 0) | (level == "model")).with_columns(
        score=pl.when("moved").then(moved).otherwise("score").clip(low, high)
    )
    found = means(summarise(chosen.drop("run", "moved")), (low, high), levels=[level])
    if level == "model":
        return [targets.these for targets in found.values()]
    keys = {*chosen.filter("moved").select("model", "stereotype").unique().rows()}
    return [targets.these for key, targets in found.items() if (key[1], key[-1]) in keys]


def _drawn(simulation: Any, condition: Any, runs: int, rng: Any) -> Any:
    """Draw neutral scores; effects are parts of the scale."""
    import polars as pl

    measure = simulation.measure
    unit = ((measure.neutral - measure.low) * (measure.high - measure.neutral)) ** 0.5
    effects = {name: unit * getattr(condition, name) for name in EFFECTS}
    scaled = replace(condition, **effects, habit=0.0, attribute=0.0, page="neutral")
    return pl.concat(
        simulation.draw(scaled, rng)[0].with_columns(model=pl.lit(f"run {k}"), run=pl.lit(k))
        for k in range(runs)
    )
