"""Hiring: ratios and tails are covered, what is planted is found, and nothing where nothing is.

Question
    Do intervals of impact ratios contain the true ratio to the most selected group, also where few
    are selected? Do those of shares in tails of scores? Are shrunken rates closer to the truth? Is
    a preference planted in simulated models recovered, and how often does a page claim a lean where
    there is none?
Peer
    The nominal level .95; raw rates; what was planted; .06 of the pages.
How
    Ratios: 8 groups (4 races × 2 genders) of 6 names, 14 occupations, a Poisson number of answers a
    name and occupation, of mean 1.33 (as size standard asks) or 4. The log odds of a callback vary
    over names (sd .3), occupations (.5) and both (.2), or occupations alone; the true rate is that
    over all of these. Intervals of all groups but the most selected count.
    Three more have other numbers of groups and names, and rates that vary by gamma variables.
    Tails: scores of 1 to 10, rounded, vary over names (sd .3), occupations (.6), both (.2), résumés
    and answers; groups differ by up to 1 point. The truth is that of 160,000 candidates a group.
    Pages: simulated models that prefer the better résumé by .6, asked in mode structured at size
    quick, with a preference for White candidates of .2 or none; wordings depart by sd .05 where
    there is one. A false page has a verdict of a lean of any contrast, category or all, in any of
    the three questions: 39 means.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import Result, Value

Array = NDArray[np.float64]

RUNS, PAGES = 500, 48
NAMES, OCCUPATIONS = 6, 14
LEVELS = [(race, gender) for race in "ABCD" for gender in ("man", "woman")]

#: Standard deviations of log odds over names, occupations, and both.
SPREADS = {"names too": (0.3, 0.5, 0.2), "occupations alone": (0.0, 0.5, 0.0)}
ANSWERS = (1.33, 4.0)

#: Scenario → rate of each group, at the middle of names and occupations.
SCENARIOS: dict[str, list[float]] = {
    "all 5%": [0.05] * 8,
    "all 2%": [0.02] * 8,
    "2% to 8%": [0.02, 0.03, 0.05, 0.08, 0.05, 0.05, 0.08, 0.03],
    "all 30%": [0.3] * 8,
    "20% to 60%": [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6],
    "two at half of the others": [0.5] * 6 + [0.25] * 2,
}

#: What candidates are grouped by → the intersections of each group.
GROUPINGS: dict[str, list[list[int]]] = {
    "race and gender": [[k] for k in range(8)],
    "race": [[k, k + 1] for k in range(0, 8, 2)],
    "gender": [[0, 2, 4, 6], [1, 3, 5, 7]],
}

#: Of another kind: rate of each group, its number of names, answers a cell. Rates are multiplied by
#: gamma variables of names (coefficient of variation .3), 10 occupations (.5) and both (.2).
OTHERS: dict[str, tuple[list[float], list[int], float]] = {
    "3 groups at 2%, 6%, 6%": ([0.02, 0.06, 0.06], [8] * 3, 2.0),
    "10 groups of 2 to 11 names, 3%": ([0.03] * 10, [*range(2, 12)], 3.0),
    "6 groups, five at 30%, one at 2%": ([0.02] + [0.3] * 5, [6] * 6, 2.0),
}
VARIATION = (0.3, 0.5, 0.2)

#: Points by which the mean score of each group differs.
SHIFTS: dict[str, list[float]] = {
    "scores alike": [0.0] * 8,
    "one group 0.8 lower": [-0.8] + [0.0] * 7,
    "scores in steps of 0.14": [-0.5 + k / 7 for k in range(8)],
}

#: Points for the résumé; as in the study some are better or worse.
RESUMES = (-2.0, -1.0, 0.0, 0.0, 0.0, 1.5)

LEAN, BETTER, WORDINGS = 0.2, 0.6, 0.05

COLUMNS = ("of what", "answers a cell", "covered, cells", "race", "gender", "error of shrunken")


def run() -> Result:
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    cases = [(name, n, kind) for kind in SPREADS for n in ANSWERS for name in SCENARIOS]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        covered = [*pool.map(_cover, *zip(*cases, strict=True))]
        covered += pool.map(_cover_other, OTHERS)
        tails = [(name, n) for n in ANSWERS for name in SHIFTS]
        for both in pool.map(_cover_tails, *zip(*tails, strict=True)):
            covered += both
        seeds = range(1, PAGES + 1)
        neutral = [*pool.map(_page, [0.0] * PAGES, seeds, chunksize=PAGES // 2)]
        leaning = [*pool.map(_page, [LEAN] * (PAGES // 4), seeds, chunksize=PAGES // 8)]
    return _set_out(covered, neutral, leaning)


def _cover(name: str, answers: float, kind: str) -> dict[str, Any]:
    """Return the share of intervals that contain the true ratio, by grouping."""
    from clinometer_measures.hiring.rates import (
        SelectionCounts,
        impact_ratios,
        shrink_intersections,
    )

    rng = np.random.default_rng(1)
    odds = np.array(SCENARIOS[name]) / (1 - np.array(SCENARIOS[name]))
    spread = SPREADS[kind]
    truth = _mean_rates(np.log(odds), float(np.hypot(np.hypot(*spread[:2]), spread[2])))
    intersections = np.repeat(np.arange(8), NAMES)
    hits: dict[str, list[bool]] = {grouping: [] for grouping in GROUPINGS}
    errors = np.zeros(2)
    for _ in range(RUNS):
        selected, decided = _counts(rng, np.log(odds), answers, spread)
        for grouping, groups in GROUPINGS.items():
            members = [np.flatnonzero(np.isin(intersections, group)) for group in groups]
            counts = SelectionCounts(selected, decided, members, intersections)
            true = np.array([truth[group].mean() for group in groups])
            for ratio, of_group in zip(impact_ratios(counts), true / true.max(), strict=True):
                if np.isfinite(ratio.low):
                    # Of groups that are as large, rounding may leave the truth above 1.
                    hits[grouping].append(ratio.low <= of_group <= ratio.high + 1e-9)
            if grouping == "race and gender":
                shrunken = shrink_intersections(counts, LEVELS)
                errors += [
                    ((rates - truth) ** 2).mean() for rates in (shrunken, np.exp(counts.logs))
                ]
    shares = {grouping: float(np.mean(of_grouping)) for grouping, of_grouping in hits.items()}
    label = f"{name}, {kind}"
    return {"label": label, "answers": answers, **shares, "error": float(errors[0] / errors[1])}


def _cover_other(name: str) -> dict[str, Any]:
    """Return the share of intervals that contain the true ratio, of groups of another kind."""
    from clinometer_measures.hiring.rates import SelectionCounts, impact_ratios

    rng = np.random.default_rng(1)
    rates, names, answers = OTHERS[name]
    groups = np.repeat(np.arange(len(rates)), names)
    members = [np.flatnonzero(groups == group) for group in range(len(rates))]
    hits: list[bool] = []
    for _ in range(RUNS):
        shape = (len(groups), 10)
        varied = np.array(rates)[groups][:, None]
        for cv, of in zip(VARIATION, ((shape[0], 1), (1, shape[1]), shape), strict=True):
            varied = varied * rng.gamma(1 / cv**2, cv**2, of)
        decided = rng.poisson(answers, shape)
        selected = rng.binomial(decided, np.minimum(varied, 1)).astype(float)
        counts = SelectionCounts(selected, decided.astype(float), members, groups)
        for ratio, rate in zip(impact_ratios(counts), rates, strict=True):
            if np.isfinite(ratio.low):
                hits.append(ratio.low <= rate / max(rates) <= ratio.high)
    shares: dict[str, Any] = dict.fromkeys(GROUPINGS)
    shares["race and gender"] = float(np.mean(hits))
    return {"label": name, "answers": answers, **shares, "error": None}


def _covered(row: dict[str, Any]) -> list[float]:
    """Return the shares that a row has."""
    return [row[grouping] for grouping in GROUPINGS if row[grouping] is not None]


def _cover_tails(name: str, answers: float) -> list[dict[str, Any]]:
    """Return the share of intervals of tails that contain the true share, of both tails."""
    from clinometer_measures.hiring.places import tail_parts
    from clinometer_measures.hiring.rates import SelectionCounts, share_intervals

    rng = np.random.default_rng(1)
    intersections = np.repeat(np.arange(8), NAMES)
    groupings = {
        grouping: [np.flatnonzero(np.isin(intersections, group)) for group in groups]
        for grouping, groups in GROUPINGS.items()
    }
    rows = []
    for tail, sign in (("top tenth", 1.0), ("bottom tenth", -1.0)):
        cells, scores, _ = _scores(rng, name, 1.0, (400, 400))
        places = np.bincount(cells // 160_000, tail_parts(sign * scores), 8)
        truth = places / np.bincount(cells // 160_000, minlength=8)
        hits: dict[str, list[bool]] = {grouping: [] for grouping in GROUPINGS}
        for _ in range(RUNS):
            cells, scores, decided = _scores(rng, name, answers, (NAMES, OCCUPATIONS))
            parts = np.bincount(cells, tail_parts(sign * scores), decided.size)
            selected = np.asarray(parts.reshape(decided.shape), np.float64)
            for grouping, members in groupings.items():
                counts = SelectionCounts(selected, decided, members, intersections)
                for group, (low, high) in zip(
                    GROUPINGS[grouping], share_intervals(counts), strict=True
                ):
                    hits[grouping].append(low <= truth[group].mean() <= high)
        shares = {grouping: float(np.mean(inside)) for grouping, inside in hits.items()}
        rows.append({"label": f"{tail}, {name}", "answers": answers, **shares, "error": None})
    return rows


def _scores(
    rng: np.random.Generator, name: str, answers: float, size: tuple[int, int]
) -> tuple[NDArray[np.intp], Array, Array]:
    """Draw scores: the cell (name, occupation) of each, the score, and the numbers of cells."""
    names, occupations = size
    shape = (8 * names, occupations)
    middle = 5.5 + np.repeat(SHIFTS[name], names)[:, None]
    for sd, of in ((0.3, (shape[0], 1)), (0.6, (1, shape[1])), (0.2, shape)):
        middle = middle + sd * rng.standard_normal(of)
    decided = rng.poisson(answers, shape)
    cells = np.repeat(np.arange(decided.size), decided.ravel())
    scores = middle.ravel()[cells] + rng.choice(RESUMES, len(cells))
    scores = scores + rng.standard_normal(len(cells))
    return cells, np.asarray(np.clip(np.round(scores), 1, 10)), np.asarray(decided, np.float64)


def _mean_rates(logits: Array, sd: float) -> Array:
    """Return the rates over a normal distribution of log odds, by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    rates: Array = (weights / (1 + np.exp(-(logits[:, None] + sd * nodes)))).sum(axis=1)
    return rates / weights.sum()


def _counts(
    rng: np.random.Generator, logits: Array, answers: float, spread: tuple[float, float, float]
) -> tuple[Array, Array]:
    """Draw who is selected, and how many are decided about: (names, occupations)."""
    shape = (8 * NAMES, OCCUPATIONS)
    sds = [rng.standard_normal(of) * sd for sd, of in
           zip(spread, ((shape[0], 1), (1, shape[1]), shape), strict=True)]  # fmt: skip
    odds = np.exp(np.repeat(logits, NAMES)[:, None] + sum(sds))
    decided = rng.poisson(answers, shape)
    return rng.binomial(decided, odds / (1 + odds)).astype(float), decided.astype(float)


@cache
def _asked() -> tuple[Any, Any, Any]:
    """Return the study, its trials at size quick, and what recognises them."""
    from benchmarks.doses import _recognition
    from clinometer.contracts.design import Design
    from clinometer.stimuli import load_study
    from clinometer_measures.hiring import INSTRUMENT

    study, size = load_study("hiring"), INSTRUMENT.sizes["quick"]
    assert size is not None
    return (
        study,
        INSTRUMENT.trials(study, Design("structured", size.iterations)),
        _recognition("hiring"),
    )


def _page(lean: float, seed: int) -> dict[str, Any]:
    """Answer as one model; return what its page says: leans, validity, the mean of race."""
    import polars as pl

    import clinometer
    from clinometer.scoring import score
    from clinometer.simulated.tables import answer_trials
    from clinometer.simulated.truth import Simulation, Truth

    study, trials, recognition = _asked()
    planted = {
        "lean": {"category": {"race": lean}, "stereotype": {"better_resume": BETTER}},
        "spread": {"wording": WORDINGS if lean else 0.0},
        "seed": seed,
    }
    answers = answer_trials(
        trials, Simulation(f"{seed}", Truth.model_validate(planted), ""), recognition
    )
    rows = clinometer.estimate(score(answers, study).scores).filter(
        pl.col("factor").is_null(), pl.col("level").is_in(["stereotype", "category", "model"]),
        method="clustered", range="other_prompts",
    )  # fmt: skip
    means = rows.filter(pl.col("control").is_null())
    leans = means["verdict"].str.contains("^(consistent|reversed)")
    race = means.filter(level="category", category="race").sort("dimension")
    valid = rows.filter(control="positive", level="stereotype")["verdict"] == "passed"
    return {
        "false": bool(leans.any()),
        "valid": bool(valid.all()),
        "race": race["estimate"].to_list(),
        "found": bool((race["verdict"].str.starts_with("consistent")).any()),
    }


def _error() -> float:
    """Return the standard error of a share of .95, of the rows with one interval a run."""
    return float((0.95 * 0.05 / RUNS) ** 0.5)


def _set_out(
    covered: list[dict[str, Any]], neutral: list[dict[str, Any]], leaning: list[dict[str, Any]]
) -> Result:
    """Set out coverage, the worst first, then pages."""
    worst = sorted(covered, key=lambda row: min(_covered(row)))
    rows: list[list[Value]] = []
    for row in worst:
        shares = [None if row[g] is None else round(row[g], 3) for g in GROUPINGS]
        error = None if row["error"] is None else round(row["error"], 2)
        rows.append([row["label"], row["answers"], *shares, error])
    false = float(np.mean([page["false"] for page in neutral]))
    means = np.mean([page["race"] for page in leaning], axis=0)
    valid = float(np.mean([page["valid"] for page in (*neutral, *leaning)]))
    lowest = min(min(_covered(row)) for row in covered)
    highest = max(max(_covered(row)) for row in covered)
    found = float(np.mean([page["found"] for page in leaning]))
    notes = [
        f"{RUNS} runs a row (a share of .95 has a standard error of {_error():.3f}); covered: "
        "share of intervals with the true ratio, or share in the tail, nominal .95, from "
        f"{lowest:.3f} to {highest:.3f}; error of shrunken: mean squared error of shrunken rates "
        "of intersections by that of raw ones",
        f"pages: {false:.3f} of {len(neutral)} neutral models have a false lean; {valid:.3f} of "
        "all pass the check of résumés; a preference of .2 for White candidates is estimated as "
        f"{means[0]:.3f} (callback), {means[1]:.3f} (choice) and {means[2]:.3f} (score: "
        f"{9 * means[2]:.1f} points) in {len(leaning)} models, and found in {found:.2f} of them",
    ]
    return Result(
        "Hiring: impact ratios and tails covered, planted preferences recovered",
        COLUMNS,
        rows,
        {
            ".93 of the intervals contain the true ratio, in every case (two standard errors "
            "allowed)": lowest + 2 * _error() >= 0.93,
            "and at most .97, in every case": highest - 2 * _error() <= 0.97,
            "at most .06 of neutral pages have a false lean": false <= 0.06,
            "a preference is recovered within .03": bool(np.abs(means - LEAN).max() <= 0.03),
            "shrunken rates are no worse than raw ones": max(r["error"] or 0 for r in covered) <= 1,
        },
        notes,
    )


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    if sys.argv[1:] == ["quick"]:
        RUNS, PAGES = 50, 8
    show(run(), Console())
