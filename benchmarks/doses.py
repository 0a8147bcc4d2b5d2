"""Known doses in simulated models: what every instrument finds in each of its modes.

Question
    A lean is planted in one category of a simulated model. Does the estimate rise with it, is it
    the lean, does the interval contain it, how large must it be to be found, and does the estimate
    of another category move? What do a preference for the first option, other forms of answers and
    refusals change?
Peer
    The planted lean; the nominal level of intervals, .95, and of verdicts, .05.
How
    Every instrument of the catalogue that simulated models answer is asked the trials of its
    smallest size of audit, in each of its modes, about the study that is its default. Leans are
    those of the first category of the study, on the scale −1 to 1; all others are 0. Wordings and
    group words depart from them with sd `SPREAD`. `SEEDS` models a dose, `FEW` where many trials
    are asked; the doses share their seeds. *Found*: the page says of the category that it leans as
    the stereotype says, if only for the one wording that a study has. *False*: it says so of
    another category, or the reverse, without such a restriction.
    Measures that no lean is planted in (`UNPLANTED`) are left out. Studies whose items users bring
    are asked where these are (``clinometer items NAME``). Two processes.
    ``python -m benchmarks.doses quick`` does 3 seeds and saves nothing; further words name
    instruments.
Beside
    Doses in real weights: ``python -m benchmarks planted_weights``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import inf, isfinite
from multiprocessing import get_context
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Result, Value

if TYPE_CHECKING:
    import polars as pl

SEEDS, FEW = 6, 3
#: Of instruments that ask more trials, `FEW` seeds.
MANY_TRIALS = 600
DOSES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
SPREAD = 0.05
#: The share of models in which a dose is found.
CHANCE = 0.8

#: What is planted beside the lean, and the lean beside which it is planted.
DISTURBED = 0.4
DISTURBANCES: Mapping[str, Mapping[str, Any]] = {
    "first preferred": {"order": 0.4},
    "forms": {"format": ["lines", "table", "prose", "json", "reasoning"]},
    "a fifth refused": {"refusals": {"rate": 0.2}},
    "consistent refused": {"refusals": {"rate": 0.4, "where": "consistent"}},
}

#: Refusals are planted by their rate alone, whatever the lean; what lies beyond an agent is less
#: than the lean by what the agent has.
UNPLANTED = ("reasoning_refusals", "emergent_excess")

#: Words for nobody's group: simulated models have no lean about them.
WITHOUT_LEAN = ("people",)

#: Instruments and modes in which departures of words do not reach what a simulated model says.
WORDS_ASIDE = (("framings", "likelihood"),)

#: The largest lean that can be planted in choices: half of what a group differs from people in
#: general, who have none.
MOST = {"group_traits": 0.5}

Row = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """What is planted: a lean, and what disturbs it."""

    dose: float
    disturbance: str = ""


CONDITIONS = (
    *(Condition(dose) for dose in DOSES),
    *(Condition(DISTURBED, name) for name in DISTURBANCES),
)


def run() -> Result:
    return measure(SEEDS, workers=2)


def measure(seeds: int, workers: int, names: Sequence[str] = ()) -> Result:
    """Do all instruments, or those named, and set out what was found, the worst first."""
    from clinometer.contracts.catalogue import INSTRUMENTS

    # Read by the processes when they start; each is to keep to one core.
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    asked = [
        (name, mode)
        for name, instrument in INSTRUMENTS.items()
        if instrument.simulate is not None and (not names or name in names)
        for mode in instrument.modes
    ]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        done = []
        for part in pool.map(do, *zip(*asked, strict=True), [seeds] * len(asked)):
            print(part, file=sys.stderr, flush=True)
            done.append(part)
    return set_out([row for part in done for row in part], seeds)


def set_out(rows: Sequence[Row], seeds: int) -> Result:
    """Set out what was found in each instrument and mode, the worst first."""
    rows = sorted(rows, key=_badness)
    return Result(
        f"Doses planted in simulated models, {seeds} seeds",
        COLUMNS,
        [[_shown(row.get(column)) for column in COLUMNS] for row in rows],
        _claims([row for row in rows if "trials" in row]),
        NOTES,
    )


COLUMNS = (
    *("instrument, mode", "trials", "smallest found", "page says", "bias", "in s.e.", "slope"),
    *("steps down", "covered", "false", "another moves", *DISTURBANCES),
)
NOTES = [
    "worst first: the largest smallest dose, then the largest bias; –: not found, or nothing "
    "changes",
    "trials: of the whole study, of which the leaning category has a part; where they are more "
    f"than {MANY_TRIALS}, {FEW} seeds",
    f"smallest found: least of the doses {', '.join(f'{dose:g}' for dose in DOSES[1:])} that is "
    f"found in {CHANCE} of the models, as are all larger ones; page says: what the page of the "
    "neutral models says is found with this probability (median)",
    "bias: the largest mean error of a dose, and in its standard errors; slope: of the estimates "
    "on the doses, 1 if right; steps down: of the steps from dose to dose, those in which the "
    "mean falls",
    "covered: of all categories and doses; false: verdicts of a lean in the other categories; "
    "another moves: the largest change of the mean of another category from the first dose to the "
    "last",
    f"{', '.join(DISTURBANCES)}: change of the mean at dose {DISTURBED} where the first group or "
    "option is preferred by .4, answers are in five forms, a fifth of the answers is refused, and "
    "40% of the stereotype-consistent ones",
]


def _shown(value: Any) -> Value:
    return round(value, 3) if isinstance(value, float) else value


def _badness(row: Row) -> tuple[float, float]:
    smallest = row.get("smallest found")
    return (-(2.0 if smallest is None else smallest), -abs(row.get("bias") or 0.0))


def _claims(rows: Sequence[Row]) -> Mapping[str, bool | None]:
    if not rows:
        return {}
    covered = [row["covered"] for row in rows]
    return {
        "every instrument and mode finds the largest dose": all(
            row["smallest found"] is not None for row in rows
        ),
        "the slope is within .1 of 1": all(abs(row["slope"] - 1) <= 0.1 for row in rows),
        "no bias of more than .02 that is beyond 3.5 standard errors": all(
            abs(row["bias"]) <= 0.02 or row["in s.e."] <= 3.5 for row in rows
        ),
        ".93 of the intervals contain what is planted, over all": sum(covered) / len(covered)
        >= 0.93,
        "and .9 in every instrument and mode": min(covered) >= 0.9,
        "at most .06 false verdicts in every instrument and mode": all(
            (row["false"] or 0.0) <= 0.06
            for row in rows  # None: there is no other category
        ),
        "no other category moves": all(abs(row["another moves"] or 0) < 0.005 for row in rows),
    }


def do(name: str, mode: str, seeds: int) -> list[Row]:
    """Plant all doses in an instrument and mode; return a row for each of its measures."""
    from clinometer.contracts.catalogue import INSTRUMENTS
    from clinometer.contracts.design import Design
    from clinometer.errors import StudyError
    from clinometer.stimuli import load_study

    instrument = INSTRUMENTS[name]
    study = load_study(instrument.study)
    size = next(size for size in instrument.sizes.values() if size is not None)
    try:
        trials = instrument.trials(study, Design(mode, size.iterations))
    except StudyError as error:  # items that users bring
        return [{"instrument, mode": f"{name}, {mode}: {str(error).partition(':')[0]}"}]
    seeds = min(seeds, FEW) if len(trials) > MANY_TRIALS else seeds
    estimated = _estimated(study, trials, seeds)
    rows = []
    for measure in instrument.measures:
        if measure.name not in UNPLANTED:
            label = f"{measure.name}, {mode}"
            found = _found(estimated, study, measure, mode)
            rows.append({"instrument, mode": label, "trials": len(trials), **found})
    return rows


def _estimated(study: Any, trials: pl.DataFrame, seeds: int) -> pl.DataFrame:
    """Answer the trials as a model for each condition and seed, and estimate.

    Returns estimates of categories with the columns `condition` (a number), `seed` and `held`, the
    departures of what a category has one of.
    """
    import polars as pl

    import clinometer
    from clinometer.scoring import score
    from clinometer.simulated.tables import answer_trials
    from clinometer.simulated.truth import Simulation, Truth

    leaning = next(iter(_categories(study)))
    scores, models = [], []
    for number, condition in enumerate(CONDITIONS):
        for seed in range(1, seeds + 1):
            planted = {
                "lean": {"category": {leaning: condition.dose}},
                "spread": {"wording": SPREAD, "group": SPREAD},
                "seed": seed,
                **DISTURBANCES.get(condition.disturbance, {}),
            }
            simulation = Simulation(f"{number}/{seed}", Truth.model_validate(planted), "")
            answers = answer_trials(trials, simulation, _recognition(study.name))
            scores.append(score(answers, study).scores)
            for category, held in _held(simulation, trials, study).items():
                models.append((f"simulated/{number}/{seed}", number, seed, category, held))
    columns = ["model", "condition", "seed", "category", "held"]
    facts = pl.DataFrame(models, columns, orient="row")
    rows = clinometer.estimate(pl.concat(scores)).filter(
        pl.col("factor").is_null(),
        pl.col("control").is_null(),
        level="category",
        method="clustered",
        range="other_prompts",
    )
    return rows.join(facts, on=["model", "category"])


def _held(simulation: Any, trials: pl.DataFrame, study: Any) -> dict[str, float]:
    """Return the departures of what each category has one of, which its interval holds fixed.

    The one wording of a study. The one word of a group, of a category with one stereotype, or where
    no stereotype has several words, so that none lends their variance.
    """
    import polars as pl

    wordings = trials["variation"].unique()
    wording = simulation._departure("wording", wordings[0]) if len(wordings) == 1 else 0.0
    held = dict.fromkeys(_categories(study), wording)
    if trials.select("instrument", "mode").row(0) in WORDS_ASIDE:
        return held
    for side in ("marginalized", "default"):
        words = dict(trials.group_by("stereotype").agg(pl.col(side).unique()).iter_rows())
        lent = any(len(of_stereotype) > 1 for of_stereotype in words.values())
        for category in held:
            own = [words[key] for key in words if study.stereotypes[key].category == category]
            if len(own) == 1 or not lent:
                single = [w[0] for w in own if len(w) == 1 and w[0] not in WITHOUT_LEAN]
                departures = [simulation._departure("group", word) for word in single]
                held[category] += sum(departures) / len(own)
    return held


def _categories(study: Any) -> dict[str, None]:
    """Return the categories of a study without those of controls."""
    return {
        stereotype.category: None
        for key, stereotype in study.stereotypes.items()
        if study.control_of(key) is None
    }


@cache
def _recognition(study: str) -> Any:
    """Return what recognises the prompts of a study; one that was seen is looked up.

    All models are asked the same, and recognising takes as long as all else.
    """
    from clinometer.simulated.recognising import Recognition
    from clinometer.stimuli import load_study

    class Remembering(Recognition):
        @lru_cache(maxsize=100_000)  # noqa: B019 - it lives as long as the process
        def _seen(self, messages: tuple[str, ...], ends: tuple[str, ...] | None) -> Any:
            return super().find(messages, ends)

        def find(self, messages: Sequence[str], ends: Sequence[str] | None = None) -> Any:
            return self._seen((*messages,), None if ends is None else (*ends,))

    return Remembering([load_study(study)])


def _found(estimated: pl.DataFrame, study: Any, measure: Any, mode: str) -> Row:
    """Compare the estimates of a measure with what was planted."""
    import polars as pl

    half, middle = (measure.high - measure.low) / 2, (measure.high + measure.low) / 2
    leaning = next(iter(_categories(study)))
    names = ("estimate", "pointwise_low", "pointwise_high")
    doses = [condition.dose for condition in CONDITIONS]
    dose = pl.col("condition").replace_strict(dict(enumerate(doses)), return_dtype=pl.Float64)
    planted = pl.when(category=leaning).then(dose).otherwise(0.0)
    leans = pl.col("verdict").str.contains("^(consistent|reversed)")
    # One that is restricted to the one wording of a study is about what this wording adds, too.
    unrestricted = ~pl.col("verdict").str.contains(", for th", literal=True)
    rows = estimated.filter(measure=measure.name).select(
        *("condition", "seed", "category"),
        *((pl.col(name) - middle) / half for name in names),
        dose=dose,
        planted=planted,
        truth=(planted + pl.col("held")).clip(-1.0, 1.0),
        false=leans & unrestricted,
        consistent=pl.col("verdict").str.starts_with("consistent"),
    )
    most = 1.0 if mode == "likelihood" else MOST.get(measure.name, 1.0)
    rows = rows.filter(pl.col("dose") <= most)
    plain = rows.filter(pl.col("condition") < len(DOSES))
    own, others = plain.filter(category=leaning), plain.filter(pl.col("category") != leaning)
    covered = plain.select(pl.col("truth").is_between("pointwise_low", "pointwise_high").mean())
    return {
        "smallest found": _smallest(own),
        "page says": _page_says(estimated.filter(measure=measure.name, condition=0), measure),
        **_errors(own),
        "covered": covered.item(),
        "false": others["false"].mean() if len(others) else None,
        "another moves": _moves(others),
        **_disturbed(rows.filter(category=leaning)),
    }


def _page_says(neutral: pl.DataFrame, measure: Any) -> float | None:
    """Return what the tests of neutral models find, as a part of half the scale: the median.

    A report says it of the mean over all; here it is that of categories.
    """
    from clinometer.statistics.planning import smallest_effects

    effects = smallest_effects(neutral, measure)
    middle = median(inf if effect is None else effect for effect in effects)
    return middle * 2 / (measure.high - measure.low) if isfinite(middle) else None


def _smallest(own: pl.DataFrame) -> float | None:
    """Return the least dose that is found often enough, as are all larger ones."""
    import polars as pl

    shares = dict(own.group_by("dose").agg(pl.col("consistent").mean()).iter_rows())
    smallest = None
    for dose in sorted(shares.keys() - {0.0}, reverse=True):
        if shares[dose] < CHANCE:
            break
        smallest = dose
    return smallest


def _errors(own: pl.DataFrame) -> Row:
    """Return bias, slope and falls of the estimates of the leaning category."""
    import numpy as np
    import polars as pl

    # Of an instrument with several dimensions each model has several estimates.
    by_model = own.group_by("dose", "seed").agg(pl.col("estimate", "truth").mean())
    errors = by_model.with_columns(error=pl.col("estimate") - pl.col("truth"))
    by_dose = errors.group_by("dose").agg(
        pl.col("estimate").mean(),
        pl.col("error").mean(),
        se=pl.col("error").std() / pl.len().sqrt(),
    ).sort("dose")  # fmt: skip
    worst = by_dose.sort(pl.col("error").abs(), descending=True).row(0, named=True)
    slope = np.polyfit(by_model["dose"], by_model["estimate"], 1)[0]
    falls = sum(later <= earlier for earlier, later in pairwise(by_dose["estimate"]))
    return {
        "bias": worst["error"],
        "in s.e.": abs(worst["error"]) / worst["se"] if worst["se"] else None,
        "slope": float(slope),
        "steps down": falls,
    }


def _moves(others: pl.DataFrame) -> float | None:
    """Return the largest change of the mean of another category, first dose to last."""
    import polars as pl

    ends = {"first": DOSES[0], "last": others["dose"].max()}
    means = others.group_by("category").agg(
        pl.col("estimate").filter(dose=dose).mean().alias(name) for name, dose in ends.items()
    )
    changes = means.select(pl.col("last") - pl.col("first")).to_series()
    return max(changes, key=abs) if len(changes) else None


def _disturbed(own: pl.DataFrame) -> Row:
    """Return how far each disturbance moves the mean; None where it changes no estimate."""
    import polars as pl

    undisturbed = CONDITIONS.index(Condition(DISTURBED))
    changes: Row = {}
    means = own.group_by("condition", "seed").agg(pl.col("estimate").mean())
    before = means.filter(condition=undisturbed).select("seed", before="estimate")
    for name in DISTURBANCES:
        after = means.filter(condition=CONDITIONS.index(Condition(DISTURBED, name)))
        change = after.join(before, on="seed").select(pl.col("estimate") - pl.col("before"))
        moved = change.to_series()
        changes[name] = moved.mean() if (moved != 0).any() else None
    return changes


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    words = [word for word in sys.argv[1:] if word != "quick"]
    show(measure(FEW if "quick" in sys.argv else SEEDS, 2, words), Console(width=220))
