"""Framings: components and main effects are recovered, and nothing is found where nothing is.

Question
    Do intervals of main effects and of components contain what was simulated, at the sizes that
    audits ask? Does one more framing fall where it is predicted? How often does a page claim a
    lean, or an effect of a framing, where there is none, and how often is one found? On how much do
    GPT-4o's released answers depend on their wording?
Peer
    The nominal level .95; what was planted; .06 of the pages.
How
    Scores: 5 stereotypes in the fraction of 30 framings of the study `framings`; 2 or 4 draws of
    words (sizes quick, standard), each of 4 answers of −1 or 1, or probabilities (mode forced). The
    expected score adds up stereotypes (sd .16), forms (sd .10), marks of a test (−.1 for one of
    them), forms by stereotype (sd .06), framings (sd .08), framings by stereotype (sd .08) and
    words (sd .10); or nothing; or the same with interactions of form and system prompt, and of two
    marks (sd .08), in place of framings, to which a main effect is aliased. With *refused* a tenth
    of the answers is missing.
    Pages: simulated models without a lean, or with one of .4 that the three marks of a test
    together lower by .3, asked in mode structured at size quick. A false page has a verdict of a
    lean, or an effect whose simultaneous interval excludes 0.
    GPT-4o: 2,100 released answers to word associations, 21 stereotypes in two wordings.
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

from benchmarks.answers import RECORDED
from benchmarks.measuring import Result, Value

Array = NDArray[np.float64]

RUNS, PAGES = 200, 100

STEREOTYPES = np.array([0.1, 0.3, 0.5, 0.2, 0.1])
FORMS = np.array([-0.1, 0.0, 0.15, 0.05, -0.1])
MARK = -0.1

#: Standard deviations of what is drawn in every run.
BY_FORM, FRAMING, CROSSED, WORDS, ALIASED, CHANCE = 0.06, 0.08, 0.08, 0.10, 0.08, 0.1

#: Scenario → what it is scaled by, whether interactions of factors take the place of framings,
#: draws, whether answers are probabilities, the share missing.
SCENARIOS: dict[str, tuple[float, bool, int, bool, float]] = {
    "nothing, 2 draws": (0.0, False, 2, False, 0.0),
    "nothing, probabilities": (0.0, False, 2, True, 0.0),
    "all sources, 2 draws": (1.0, False, 2, False, 0.0),
    "all sources, 4 draws": (1.0, False, 4, False, 0.0),
    "all sources, probabilities": (1.0, False, 2, True, 0.0),
    "all sources, 4 draws, refused": (1.0, False, 4, False, 0.1),
    "aliased, 4 draws": (1.0, True, 4, False, 0.0),
    "aliased, probabilities": (1.0, True, 2, True, 0.0),
}

LEAN, SHRINKS = 0.4, 0.1

#: Pairs of words that framings show in turns.
PAIRS = 8

COLUMNS = ("scenario", "effects covered", "all at once", "components", "one more framing",
           "mark found", "forms, sd", "× forms, sd", "framings, sd")  # fmt: skip


def run() -> Result:
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        covered = [*pool.map(_cover, SCENARIOS)]
        seeds = range(1, PAGES + 1)
        neutral = [*pool.map(_page, [0.0] * PAGES, seeds, chunksize=PAGES // 2)]
        leaning = [*pool.map(_page, [LEAN] * (PAGES // 4), seeds, chunksize=PAGES // 8)]
    return _set_out(covered, neutral, leaning)


@cache
def _fraction() -> tuple[NDArray[np.int64], tuple[int, ...], list[str]]:
    """Return the levels of the framings of the study in mode free, with the names of factors."""
    from clinometer.stimuli import load_study
    from clinometer_measures.framings.part import factors_of, framings_of, part_of

    part = part_of(load_study("framings"))
    assert part is not None
    factors = factors_of(part, "free")
    rows = [[factors[name].index(f.levels[name]) for name in factors]
            for f in framings_of(part, "free").values()]  # fmt: skip
    return np.array(rows), tuple(map(len, factors.values())), [*factors]


def _truth(rng: np.random.Generator, scale: float, *, is_aliased: bool) -> dict[str, Any]:
    """Draw a truth: what every framing of the full factorial does is a function of it."""
    _, n_levels, _ = _fraction()
    by_form = rng.normal(0, BY_FORM, (len(FORMS), len(STEREOTYPES)))
    by_form -= by_form.mean(axis=0) + by_form.mean(axis=1, keepdims=True) - by_form.mean()
    system, pair = rng.normal(0, ALIASED, (n_levels[0], n_levels[1])), rng.normal(0, ALIASED)
    system -= system.mean(axis=0) + system.mean(axis=1, keepdims=True) - system.mean()
    return {"scale": scale, "by_form": by_form, "system": system * is_aliased,
            "pair": pair * is_aliased, "framing": FRAMING * (not is_aliased)}  # fmt: skip


def _expected(rng: np.random.Generator, truth: dict[str, Any], levels: NDArray[np.int64]) -> Array:
    """Return the expected scores of framings: (framings, stereotypes)."""
    form, system, names, occasion = levels[:, 0], levels[:, 1], levels[:, 2], levels[:, 3]
    of_framing = FORMS[form] + MARK * (occasion - 0.5) + truth["system"][form, system]
    of_framing = of_framing + truth["pair"] * (2 * names - 1) * (2 * occasion - 1)
    of_framing = of_framing + rng.normal(0, 1, len(levels)) * truth["framing"]
    crossed = truth["by_form"][form] + rng.normal(0, CROSSED, (len(levels), len(STEREOTYPES)))
    return np.asarray(truth["scale"] * (STEREOTYPES + of_framing[:, None] + crossed))


def _scores(rng: np.random.Generator, truth: dict[str, Any], scenario: str) -> tuple[Any, Array]:
    """Return scores of every draw, and what the words drawn add to each stereotype."""
    from clinometer_measures.framings.components import FramedScores

    scale, _, n_draws, is_probability, missing = SCENARIOS[scenario]
    levels, n_levels, _ = _fraction()
    means = _expected(rng, truth, levels)
    words = rng.normal(0, scale * WORDS, (len(STEREOTYPES), PAIRS))
    expected = np.clip(means[:, :, None] + words, -1, 1)
    if is_probability:
        values = expected + rng.normal(0, CHANCE, expected.shape)
    else:
        answers = 2.0 * (rng.random((4, *expected.shape)) < (1 + expected) / 2) - 1
        answers[rng.random(answers.shape) < missing] = np.nan
        # As in the analysis: a draw counts where both sides of it have an answer.
        values = (_mean(answers[:2]) + _mean(answers[2:])) / 2
    # Framings show the pairs of words in turns.
    shown = (np.arange(PAIRS) - np.arange(len(levels))[:, None]) % PAIRS < n_draws
    values[np.broadcast_to(~shown[:, None], values.shape)] = np.nan
    return FramedScores(values, levels, n_levels), words.mean(axis=1)


def _mean(answers: Array) -> Array:
    """Return the mean of the answers there are; nan where there is none."""
    counts = np.isfinite(answers).sum(axis=0)
    return np.asarray(np.nansum(answers, axis=0) / np.where(counts > 0, counts, np.nan))


def _cover(scenario: str) -> dict[str, Any]:
    """Return how often intervals contain the truth, and what components are estimated as."""
    from clinometer_measures.framings.components import components, contrasts, level_weights

    rng = np.random.default_rng(1)
    scale, is_aliased, _, _, _ = SCENARIOS[scenario]
    _, n_levels, names = _fraction()
    weights = {(k, level): level_weights(n_levels, k, level)
               for k, n in enumerate(n_levels) for level in range(1, n)}  # fmt: skip
    effects = {key: 0.0 for key in weights}
    effects |= {(0, level): scale * (FORMS[level] - FORMS[0]) for level in range(1, len(FORMS))}
    effects[names.index("occasion"), 1] = scale * MARK
    kinds = ("effects", "at_once", "components", "more", "mark", "sds")
    tally: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for _ in range(RUNS):
        truth = _truth(rng, scale, is_aliased=is_aliased)
        scores, words = _scores(rng, truth, scenario)
        found = contrasts(scores, weights)
        tally["effects"] += [c.pointwise_low <= effects[key] <= c.pointwise_high
                             for key, c in found.items()]  # fmt: skip
        tally["at_once"].append(all(c.low <= effects[key] <= c.high for key, c in found.items()))
        mark = found[names.index("occasion"), 1]
        tally["mark"].append(not mark.low <= 0 <= mark.high)
        parts = components(scores, names)
        for name, variance in _variances(truth, is_aliased=is_aliased).items():
            tally["components"].append(parts[name].low <= variance <= parts[name].high)
        wanted = ("form", "stereotype × form", "framing")
        tally["sds"].append([parts[name].variance for name in wanted])
        tally["more"] += _one_more(rng, truth, scores, words)
    rates = {name: float(np.mean(values)) for name, values in tally.items() if name != "sds"}
    return {"label": scenario, **rates, "sds": np.sqrt(np.mean(tally["sds"], axis=0))}


def _variances(truth: dict[str, Any], *, is_aliased: bool) -> dict[str, float]:
    """Return the true components that are the same in every fraction."""
    scale = truth["scale"]
    variances = {
        "form": scale**2 * FORMS.var(),
        "occasion": scale**2 * MARK**2 / 4,
        "thinking": 0.0,
        "stereotype × form": scale**2 * float((truth["by_form"] ** 2).mean()),
    }
    return variances if is_aliased else {**variances, "framing": scale**2 * FRAMING**2}


def _one_more(
    rng: np.random.Generator, truth: dict[str, Any], scores: Any, words: Array
) -> list[bool]:
    """Return whether the mean of each stereotype in one more framing is where it is predicted."""
    from clinometer_measures.framings.components import holding

    _, n_levels, _ = _fraction()
    levels = np.array([[rng.integers(n) for n in n_levels]])
    more = np.clip(_expected(rng, truth, levels)[0] + words, -1, 1)
    table, _ = scores.complete
    inside = []
    for s in range(len(STEREOTYPES)):
        held = holding(table[:, s], scores.noise_of_cell, scores.noise[1])
        inside.append(bool(held.new_low <= more[s] <= held.new_high))
    return inside


@cache
def _asked() -> tuple[Any, Any, Any]:
    """Return the study, its trials at size quick, and what recognises them."""
    from benchmarks.doses import _recognition
    from clinometer.contracts.design import Design
    from clinometer.stimuli import load_study
    from clinometer_measures.framings import INSTRUMENT

    study, size = load_study("framings"), INSTRUMENT.sizes["quick"]
    assert size is not None
    trials = INSTRUMENT.trials(study, Design("structured", size.iterations))
    return study, trials, _recognition("framings")


def _page(lean: float, seed: int) -> dict[str, Any]:
    """Answer as one model; return what its page says: leans, effects, controls."""
    import polars as pl

    from clinometer.audits.tabulating import estimate_scores
    from clinometer.scoring import score
    from clinometer.simulated.tables import answer_trials
    from clinometer.simulated.truth import Simulation, Truth
    from clinometer_measures.framings.part import framings_of, part_of

    study, trials, recognition = _asked()
    part = part_of(study)
    assert part is not None
    marked = {"placeholder", "test", "graded"}
    framings = framings_of(part, "structured").values()
    wording = {f.name: -SHRINKS * len(marked & {*f.levels.values()}) for f in framings}
    planted = {
        "lean": {"default": lean, "stereotype": {"insects": 0.8, "nonsense": 0.0},
                 "wording": wording if lean else {}},
        "seed": seed,
    }  # fmt: skip
    answers = answer_trials(
        trials, Simulation(f"{seed}", Truth.model_validate(planted), ""), recognition
    )
    rows = estimate_scores(score(answers, study).scores.lazy(), studies={"framings": study})
    estimates = rows.estimates
    means = estimates.filter(
        pl.col("factor").is_null(),
        pl.col("control").is_null(),
        method="clustered",
        range="other_prompts",
    )
    effects = estimates.filter(measure="framing_effect")
    is_shown = (effects["ci_low"] > 0) | (effects["ci_high"] < 0)
    controls = estimates.filter(
        pl.col("control").is_not_null(), method="clustered", level="stereotype"
    )
    marks = effects.filter(factor="all_marks")
    return {
        "lean": bool(means["verdict"].str.contains("^(consistent|reversed)").any()),
        "effect": bool(is_shown.any()),
        "valid": bool((controls.filter(control="positive")["verdict"] == "passed").all()),
        "placebo": bool((controls.filter(control="negative")["verdict"] == "failed").any()),
        "marks": marks["estimate"].item(),
        "found": bool((marks["ci_high"] < 0).item()),
    }


def _recorded() -> str:
    """Say how much GPT-4o's released answers depend on their wording."""
    import polars as pl

    from clinometer.scoring import score
    from clinometer.stimuli import load_study
    from clinometer_measures.framings.components import FramedScores, components

    if not RECORDED.is_file():
        return f"GPT-4o: not run: no {RECORDED.name}"
    answers = pl.read_csv(RECORDED, infer_schema_length=0, null_values=[])
    answers = answers.rename({"llm": "model"}).drop("domain")
    scores = score(answers, load_study("bai2025"), instrument="word_association").scores
    keys = ["variation", "stereotype"]
    scored = scores.drop_nulls("score").with_columns(number=pl.int_range(pl.len()).over(keys))
    wide = scored.pivot(on="number", index=keys, values="score", sort_columns=True).sort(keys)
    n_wordings = wide["variation"].n_unique()
    values = wide.drop(keys).to_numpy().reshape(n_wordings, -1, wide.width - len(keys))
    levels = np.empty((n_wordings, 0), dtype=np.int64)
    # Answers have no number that wordings share: what is called words is chance, and 0.
    parts = components(FramedScores(values, levels, ()), [])
    shares = "; ".join(
        f"{title} {part.share:.0%} ({part.share_low:.0%} to {part.share_high:.0%})"
        for part, title in (
            (parts["stereotype"], "stereotypes"),
            (parts["framing"], "wordings"),
            (parts["stereotype × framing"], "wordings by stereotype"),
        )
    )
    return (
        f"GPT-4o, {scored.height:,} answers in {n_wordings} wordings: of the variance but the "
        f"noise, {shares}; standard deviation of one answer "
        f"{np.sqrt(parts['noise'].variance):.2f}. Two wordings of one form say little of "
        "wordings, and nothing of forms, systems or marks"
    )


def _set_out(
    covered: list[dict[str, Any]], neutral: list[dict[str, Any]], leaning: list[dict[str, Any]]
) -> Result:
    """Set out coverage, the worst first, then pages and recorded answers."""
    rates = ("effects", "at_once", "components", "more")
    rows: list[list[Value]] = []
    for row in sorted(covered, key=lambda row: row["effects"]):
        sds = [round(float(sd), 3) for sd in row["sds"]]
        rows.append(
            [row["label"], *(round(row[name], 3) for name in rates), round(row["mark"], 3), *sds]
        )

    def share(pages: list[dict[str, Any]], name: str) -> float:
        """Return the share of pages that have something."""
        return float(np.mean([page[name] for page in pages]))

    planted = -3 * SHRINKS
    marks = float(np.mean([page["marks"] for page in leaning]))
    notes = [
        f"{RUNS} runs a row; effects, components, one more framing: share of intervals with what "
        "was simulated, nominal .95; all at once: runs in which all simultaneous ones have it; "
        f"mark found: an effect of {MARK:+.1f} (or none) whose simultaneous interval excludes 0; "
        f"standard deviations: planted {FORMS.std():.3f}, {_sd_by_form():.3f} and {FRAMING}",
        f"pages: of {len(neutral)} neutral models, {share(neutral, 'lean'):.3f} have a false lean, "
        f"{share(neutral, 'effect'):.3f} a false effect, {share(neutral, 'placebo'):.3f} a placebo "
        f"that leans; {share([*neutral, *leaning], 'valid'):.3f} of all pass the positive control; "
        f"marks that lower a lean of {LEAN} by {-planted:.1f} are estimated as {marks:+.3f} in "
        f"{len(leaning)} models, and found in {share(leaning, 'found'):.2f} of them",
        _recorded(),
    ]
    full = [row for row in covered if row["label"].startswith("all sources")]
    return Result(
        "Framings: components and effects recovered",
        COLUMNS,
        rows,
        {
            "at least .93 of the intervals of effects have the truth": min(
                row["effects"] for row in covered
            )
            >= 0.93,
            "and at most .97, but where interactions of factors count as chance": max(
                row["effects"] for row in covered if not row["label"].startswith("aliased")
            )
            <= 0.97,
            "at least .93 of the intervals of components": min(r["components"] for r in covered)
            >= 0.93,
            "at least .93 of new framings are where they are predicted": min(
                row["more"] for row in covered
            )
            >= 0.93,
            "forms are recovered within 15%, with 4 draws or probabilities": all(
                abs(float(row["sds"][0]) / float(FORMS.std()) - 1) <= 0.15 for row in full[1:]
            ),
            "at most .06 of neutral pages have a false lean, or a false effect": max(
                share(neutral, "lean"), share(neutral, "effect")
            )
            <= 0.06,
            "the effect of all marks is recovered within .03": abs(marks - planted) <= 0.03,
        },
        notes,
    )


def _sd_by_form() -> float:
    """Return the expected standard deviation of forms by stereotype, once centred."""
    parts = [(n - 1) / n for n in (len(FORMS), len(STEREOTYPES))]
    return float(BY_FORM * np.sqrt(parts[0] * parts[1]))


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    if sys.argv[1:] == ["quick"]:
        RUNS, PAGES = 50, 12
    show(run(), Console())
