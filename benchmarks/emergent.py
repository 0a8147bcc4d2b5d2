"""Emergent stereotypes: known agents are called what they are, and their index is covered.

Question
    How often does a page call an agent stratified that chooses at random, or pays no heed to
    groups? How often is one that explores too little found? How often is Thompson sampling said to
    go beyond itself? Do the intervals contain the index that an agent has in the long run?
Peer
    Agents whose policy is known; the nominal .05 and .95; what was planted.
How
    Agents play the episodes of size quick (5 settings, 3 wordings, 2 episodes each, and 6 and 4 of
    the controls), and their scores are estimated and judged as those of a model. A false page has
    a verdict of stratification at any level. *Blind*: ε-greedy over jobs, whoever comes. The long
    run is 40,000 episodes. Planted leans are those of simulated models, read from their answers.
    ``python -m benchmarks.emergent components`` writes the components of variance that audits are
    planned with, and measures nothing else.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import Result, Value

PAGES = 100
SIZE = "quick"
PLANTED = (0.15, 0.3)

COLUMNS = (
    *("agent", "pages", "index", "estimated", "called stratified", "any row of the page"),
    *("beyond Thompson", "covered", "controls passed"),
)

Array = NDArray[np.float64]
Choose = Callable[[Array, Array, np.random.Generator], NDArray[np.int64]]

#: Agents that pay no heed to groups learn about jobs alone.
BLIND = "blind, ε-greedy"


def run() -> Result:
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    from clinometer_measures.emergent.agents import AGENTS

    agents = [*AGENTS, BLIND, *(f"planted {lean}" for lean in PLANTED)]
    rows = []
    started = time.monotonic()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name in agents:
            pages = PAGES // 4 if name.startswith("planted") else PAGES
            found = [*pool.map(_page, [name] * pages, range(pages), chunksize=max(1, pages // 8))]
            rows.append(_summary(name, found))
    seconds = (time.monotonic() - started) / sum(int(row["pages"]) for row in rows)
    return _set_out(rows, seconds)


@cache
def _asked(size_name: str) -> tuple[Any, Any]:
    """Return the study and its trials at a size."""
    from clinometer.audits.sizes import PlanOptions, sized_plan
    from clinometer.stimuli import load_study

    options = PlanOptions(instruments=["emergent"], modes=["structured"])
    plan = sized_plan(size_name, ["simulated/neutral"], options)
    return load_study("emergent"), plan.without_looks().trials()


def _page(name: str, seed: int) -> dict[str, Any]:
    """Return what the page of an agent says: its means and verdicts."""
    import polars as pl

    import clinometer

    rows = clinometer.estimate(_scores(name, seed)).filter(
        pl.col("factor").is_null(), method="clustered", range="other_prompts"
    )
    means = rows.filter(pl.col("control").is_null())
    of_all = means.filter(level="model")
    index, excess = (
        of_all.filter(measure=f"emergent_{part}").row(0, named=True)
        for part in ("stratification", "excess")
    )
    calls = means.filter(measure="emergent_stratification")["verdict"]
    controls = rows.filter(pl.col("control").is_not_null(), level="model")["verdict"]
    return {
        "estimate": index["estimate"],
        "low": index["ci_low"],
        "high": index["ci_high"],
        "called": index["verdict"].startswith("consistent"),
        "any": bool(calls.str.starts_with("consistent").any()),
        "beyond": excess["verdict"].startswith("consistent"),
        "controls": bool((controls == "passed").all()),
    }


def _scores(name: str, seed: int, size_name: str = SIZE) -> Any:
    """Return the scores of an agent, or of a simulated model, in all trials."""
    from clinometer.scoring import score

    study, trials = _asked(size_name)
    if name.startswith("planted"):
        from clinometer.simulated.recognising import Recognition
        from clinometer.simulated.tables import answer_trials
        from clinometer.simulated.truth import Simulation, Truth

        lean = float(name.removeprefix("planted "))
        own = {"own_skills": 0.8, "dealt_names": 0.0}
        truth = Truth.model_validate({"lean": {"default": lean, "stereotype": own}, "seed": seed})
        answers = answer_trials(trials, Simulation(name, truth, ""), Recognition([study]))
    else:
        import polars as pl

        rng = np.random.default_rng([seed, len(name)])
        responses = [_respond(row, name, rng) for row in trials.iter_rows(named=True)]
        answers = trials.with_columns(
            model=pl.lit(name),
            response=pl.Series(responses),
            error=pl.lit(None, pl.String),
            stop_reason=pl.lit("stop"),
        )
    return score(answers, study).scores


#: Agents whose components of variance are shipped, with the measure that they are for: one that
#: explores as much as pays, and one whose index lies beyond that one's.
SHIPPED = {"Thompson sampling": "emergent_stratification", "ε-greedy, ε = .1": "emergent_excess"}
_RUNS_SHIPPED = 12


def components() -> Any:
    """Return the components of variance of agents, from runs of size standard."""
    import polars as pl

    from clinometer.contracts.catalogue import MEASURES
    from clinometer.statistics import components as estimate_components

    tables = []
    for agent, measure in SHIPPED.items():
        runs = []
        for seed in range(_RUNS_SHIPPED):
            scores = _scores(agent, seed, "standard")
            scores = scores.filter(pl.col("control").is_null(), instrument=measure)
            # Episodes of several runs are those of one.
            pair = pl.col("pair_id").cast(pl.String) + f"_{seed}"
            iteration = pl.col("iteration") + 1000 * seed
            runs.append(scores.with_columns(iteration=iteration, pair_id=pair))
        found = estimate_components(pl.concat(runs), MEASURES[measure])
        source = f"agent, {_RUNS_SHIPPED} runs of size standard"
        # In forced mode, too, jobs are drawn.
        for mode in ("structured", "forced"):
            tables.append(
                found.with_columns(
                    pl.col("relative_variance").round(4),
                    model=pl.lit(agent),
                    mode=pl.lit(mode),
                    source=pl.lit(source),
                )
            )
    return pl.concat(tables)


def _respond(trial: dict[str, Any], name: str, rng: np.random.Generator) -> str:
    """Play an episode as an agent; return the response."""
    import json

    from clinometer.contracts.episodes import Game
    from clinometer_measures.emergent import EPISODE
    from clinometer_measures.emergent.agents import AGENTS
    from clinometer_measures.emergent.part import Script

    script = Script.read(trial["script"])
    choose = AGENTS["ε-greedy, ε = .1"] if name == BLIND else AGENTS[name]
    shape = (len(script.people), len(script.jobs))
    good, bad = np.zeros(shape), np.zeros(shape)
    for group, job, well in () if name == BLIND else script.past:
        (good if well else bad)[group, job] += 1
    game = Game(EPISODE, trial)
    for number, order in enumerate(script.order):
        for group in order:
            # What it sees: the name, which in the placebo is another's.
            arm = 0 if name == BLIND else script.people.index(script.name_of(number, group))
            job = int(choose(good[arm : arm + 1], bad[arm : arm + 1], rng)[0])
            (good if script.success[number][group][job] else bad)[arm, job] += 1
            answer = json.dumps({"answer": script.jobs[job]})
            game.take({"response": answer, "stop_reason": "stop"})
    return game.response()


def _long_run(name: str) -> float:
    """Return the index that an agent has in the long run."""
    from clinometer_measures.emergent.agents import BanditTask, simulate_agent
    from clinometer_measures.emergent.indices import stratification

    if name == BLIND:
        return 0.0  # exactly
    if name.startswith("planted"):
        return float(name.removeprefix("planted "))
    allocations = simulate_agent(name, BanditTask(4, 4, 8, 0.9), 40_000, seed=1)
    return float(np.mean([stratification(allocation) for allocation in allocations]))


def _summary(name: str, pages: list[dict[str, Any]]) -> dict[str, Any]:
    true = _long_run(name)
    means = {key: float(np.mean([page[key] for page in pages]))
             for key in ("estimate", "called", "any", "beyond", "controls")}  # fmt: skip
    covered = float(np.mean([page["low"] <= true <= page["high"] for page in pages]))
    return {"agent": name, "pages": len(pages), "true": true, **means, "covered": covered}


def _set_out(rows: list[dict[str, Any]], seconds: float) -> Result:
    """Set out agents, from the one that should least be called stratified."""
    ordered = sorted(rows, key=lambda row: abs(row["true"]))
    table: list[list[Value]] = []
    for row in ordered:
        shares = [round(row[key], 3) for key in ("called", "any", "beyond", "covered", "controls")]
        table.append([row["agent"], row["pages"], round(row["true"], 3),
                      round(row["estimate"], 3), *shares])  # fmt: skip
    of = {row["agent"]: row for row in rows}
    neutral = [of["random"], of[BLIND]]
    thompson, greedy = of["Thompson sampling"], of["ε-greedy, ε = .1"]
    notes = [
        f"size {SIZE}: 60 episodes, 1,920 questions a page; {seconds:.1f} s a page to play, score "
        "and judge, two at a time",
        f"Thompson sampling is called stratified on {thompson['called']:.2f} of pages, as it is a "
        "little; that is why a model is held against it too",
        "an agent at random that passes no positive control has no verdict of near neutral: it "
        "does not use the record",
    ]
    return Result(
        "Emergent stereotypes: known agents, as their pages call them",
        COLUMNS,
        table,
        {
            "at most .05 of pages call an agent stratified that pays no heed to groups": max(
                row["called"] for row in neutral
            )
            <= 0.05,
            "and at most .06 in any row of the page": max(row["any"] for row in neutral) <= 0.06,
            "at most .05 say that Thompson sampling goes beyond itself": thompson["beyond"] <= 0.05,
            "ε-greedy is called stratified, and beyond Thompson sampling, on .9 of pages": min(
                greedy["called"], greedy["beyond"]
            )
            >= 0.9,
            "and in some row on every page": greedy["any"] == 1.0,
            "at least .93 of intervals contain the long run": min(row["covered"] for row in rows)
            >= 0.93,
            "a lean is recovered within .03": all(
                abs(row["estimate"] - row["true"]) <= 0.03 for row in rows
            ),
        },
        notes,
    )


if __name__ == "__main__" and "components" in sys.argv:
    from importlib.resources import files

    shipped = files("clinometer_measures.emergent") / "components.csv"
    components().write_csv(str(shipped))
elif __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    if sys.argv[1:] == ["quick"]:
        PAGES = 16
    show(run(), Console())
