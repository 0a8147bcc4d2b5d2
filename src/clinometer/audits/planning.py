"""What an audit can tell, before a model is asked, and how to spend a number of calls.

`power` predicts from the trials of a plan, `allocate` compares designs with the same number of
calls; `statistics.planning` has the method. Components of variance are those of a pilot, else the
shipped ones (`reference.components`). A run without components of its own uses the nearest: the
same kind of mode (sampled or not) first, then the measure, the pilot, the kind of model (embedded
or not), mode, study and dimension; of several the largest. `planned_from` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.asking.budget import estimate_costs
from clinometer.asking.plan import Plan
from clinometer.audits.sizes import PlanOptions, build_plan, sized_plan
from clinometer.errors import InputError, as_names
from clinometer.instruments.catalogue import INSTRUMENTS, MEASURES
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.reference.components import load_components
from clinometer.results import CONDITIONS, SCORES, Measure, check
from clinometer.results.schemas import ALLOCATION, COMPONENTS, POWER, TRIALS_NEEDED
from clinometer.results.tables import as_frame, read_table
from clinometer.statistics.estimates import Inference
from clinometer.statistics.planning import RUNS, PlannedRuns, plan_power
from clinometer.statistics.sources import components, read_sources
from clinometer.statistics.summaries import NEVER_POOLED, summarise

__all__ = [
    "allocate",
    "allocate_plan",
    "median_effect",
    "power",
    "power_of_plan",
    "read_pilot",
    "trials_for",
]

#: Drawn estimates of each error while designs are searched.
SEARCHED = 100

_RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "dimension")

Pilot = pl.DataFrame | Path | str


def power(  # noqa: PLR0913 - the options of an audit
    models: str | Sequence[str],
    *,
    size: str | None = "quick",
    options: PlanOptions | None = None,
    pilot: Pilot | None = None,
    inference: Inference | None = None,
    chance: float = 0.8,
) -> pl.DataFrame:
    """Predict what an audit can tell; nothing is asked.

    Parameters
    ----------
    models
        Inspect names. The first decides which shipped components are the nearest.
    size
        ``"quick"``, ``"standard"`` or ``"paper"``; None: a run of the options alone.
    options
        Studies, instruments, modes and other parts of a plan; the size sets the rest.
    pilot
        A results directory, scores (columns of `results.SCORES`) or components
        (`clinometer.statistics.components`), as a path or a frame; None: the shipped components.
    inference
        Margin of equivalence and confidence.
    chance
        Probability with which the smallest effect is to be found, between 0 and 1.

    Returns
    -------
    polars.DataFrame
        Columns of `results.schemas.POWER`: a row per run and mean (stereotype, category, model),
        for the target *these*. `smallest_effect` and `half_width` are in the unit of the scores.

    Raises
    ------
    InputError
        If an option, the pilot or `chance` means nothing.
    StudyError
        If there is no such study, stereotype or wording.

    Examples
    --------
    >>> one = PlanOptions(instruments=["word_association"], studies=["bai2025"])
    >>> told = power("openai/gpt-4o", size="quick", options=one)
    >>> model, stereotypes = told.filter(level="model"), told.filter(level="stereotype")
    >>> model["half_width"].item() < stereotypes["half_width"].min()
    True
    """
    plan = _plan(as_names("models", models), size, options or PlanOptions())
    known = None if pilot is None else read_pilot(pilot)
    return power_of_plan(plan, known, inference, chance)


#: Trials per wording that are tried; what needs more is not looked for.
TRIED = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)


def trials_for(
    plan: Plan,
    effect: float,
    pilot: pl.DataFrame | None = None,
    inference: Inference | None = None,
    chance: float = 0.8,
    prices: Path | None = None,
) -> pl.DataFrame:
    """Return the trials, calls and price of finding an effect.

    Parameters
    ----------
    plan
        What is asked; controls are left out, and trials per wording are what is looked for.
    effect
        Distance of a mean from neutral, in the unit of the scores.
    pilot, inference, chance
        As of `power_of_plan`.
    prices
        See `asking.budget.price`.

    Returns
    -------
    polars.DataFrame
        Columns of `results.schemas.TRIALS_NEEDED`: a row per study, instrument, mode and level,
        with the least of `TRIED` as `n_iterations` (trials per wording) at which half of the means
        of the level find the effect, and the trials, calls and dollars of that; null where none
        does.

    Raises
    ------
    InputError
        If the effect is not above 0, or none is planned.
    """
    if not effect > 0:
        raise InputError(f"effect {effect}: a distance from neutral, above 0")
    rows: list[dict[str, Any]] = []
    for selection in plan.selections:
        if all(selection.study.control_of(key) for key in selection.stereotypes):
            continue
        for mode in selection.asked_in(plan.modes):
            one = replace(plan, selections=[selection], modes=[mode], size=None)
            rows += _needed(one, effect, (pilot, inference, chance), prices)
    if not rows:
        raise InputError("effect: nothing is planned but controls")
    return check(pl.DataFrame(rows, infer_schema_length=None), TRIALS_NEEDED, "trials")


def _needed(
    plan: Plan, effect: float, how: tuple[Any, ...], prices: Path | None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each level of a plan of one study, instrument and mode."""
    told: dict[int, dict[str, float | None]] = {}

    def found(level: str, iterations: int) -> bool:
        if iterations not in told:
            table = power_of_plan(_of_size(plan, iterations), *how, runs=SEARCHED, controls=False)
            of_levels = table.group_by("level", maintain_order=True)
            told[iterations] = {
                str(level): median_effect(rows["smallest_effect"]) for (level,), rows in of_levels
            }
        smallest = told[iterations].get(level)
        return smallest is not None and smallest <= effect

    for level in ("model", "category", "stereotype"):
        enough = _least(partial(found, level))
        if level not in told[TRIED[0]]:
            continue
        stated: dict[str, Any] = {
            "study": plan.selections[0].study.name,
            "instrument": plan.selections[0].instrument,
            "mode": plan.modes[0],
            "level": level,
            "effect": effect,
            "n_iterations": enough,
        }
        if enough is not None:
            pieces = _of_size(plan, enough).pieces()
            (cost,) = estimate_costs(pieces, plan.models[:1], prices)
            stated |= {"n_trials": cost.trials, "n_calls": cost.calls, "usd": cost.usd}
        yield {"n_trials": None, "n_calls": None, "usd": None, **stated}


def _least(enough: Callable[[int], bool]) -> int | None:
    """Return the least of `TRIED` that is enough, as every larger one is; None where none is.

    Steps grow until one is enough, so that large plans, which take long, are seldom drawn.
    """
    low, high = -1, 0  # places: the last that is not enough, and the next that is asked
    steps = count(1)
    while not enough(TRIED[high]):
        if high == len(TRIED) - 1:
            return None
        low, high = high, min(high + next(steps), len(TRIED) - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(TRIED[middle]) else (middle, high)
    return TRIED[high]


def _of_size(plan: Plan, iterations: int) -> Plan:
    """Return the plan with so many trials per wording."""
    parts = [replace(part, iterations=iterations) for part in plan.selections]
    return replace(plan, selections=parts, iterations=iterations)


#: Study and stereotype → the kind of control that it is.
_Controls = Mapping[tuple[str, str], str | None]


def _plan(models: Sequence[str], size: str | None, options: PlanOptions) -> Plan:
    return build_plan(models, options) if size is None else sized_plan(size, models, options)


def power_of_plan(
    plan: Plan,
    pilot: pl.DataFrame | None = None,
    inference: Inference | None = None,
    chance: float = 0.8,
    *,
    runs: int = RUNS,
    controls: bool = True,
) -> pl.DataFrame:
    """Predict what the trials of a plan can tell; see `power`.

    `pilot` is of `read_pilot`; `runs` is the number of drawn estimates of each error. Without
    `controls`, of the other studies alone.
    """
    inference = inference or Inference(plan.margin, compliance_floor=plan.compliance_floor)
    of_stereotype = {
        (s.study.name, key): s.study.control_of(key)
        for s in plan.selections
        for key in s.stereotypes
    }
    embedded = find_provider(plan.models[0]).embedded
    asked, sources = [], []
    for scores in _asked_alike(plan.trials(), of_stereotype):
        near = {
            run: _nearest(dict(zip(NEVER_POOLED, run, strict=True)), pilot, embedded)
            for run in scores.select(NEVER_POOLED).unique(maintain_order=True).rows()
        }
        known = {run: read_sources(table) for run, (table, _) in near.items()}
        asked.append(PlannedRuns(summarise(scores), known, MEASURES[scores["instrument"][0]]))
        sources += [(*run, source) for run, (_, source) in near.items()]
    told = plan_power(asked, inference, chance, runs)
    keys = [*_RUN[1:], "control"]
    schema = dict.fromkeys((*NEVER_POOLED, "planned_from"), pl.String)
    named = pl.DataFrame(sources, schema, orient="row").unique(keys).select(*keys, "planned_from")
    told = check(told.join(named, on=keys, nulls_equal=True, maintain_order="left"), POWER, "power")
    return told if controls else told.filter(pl.col("control").is_null())


def _asked_alike(trials: pl.DataFrame, controls: _Controls) -> Iterator[pl.DataFrame]:
    """Yield the trials of runs whose variances are moderated together, as neutral scores."""
    for _, of_one in trials.group_by("instrument", maintain_order=True):
        for measure in INSTRUMENTS[of_one["instrument"][0]].measures:
            scores = _as_scores(of_one, measure, controls)
            alike = scores.group_by("mode", *CONDITIONS, "word_list", maintain_order=True)
            for _, together in alike:
                yield together


def _as_scores(trials: pl.DataFrame, measure: Measure, controls: _Controls) -> pl.DataFrame:
    """Give trials the columns of scores, all neutral."""
    filled = trials.with_columns(
        control=pl.Series(
            [controls[key] for key in trials.select("study", "stereotype").rows()], dtype=pl.String
        ),
        instrument=pl.lit(measure.name),
        score=pl.lit(measure.neutral),
        model=pl.lit("planned"),
        scoring=pl.lit("exact"),
    )
    absent = [c for c in SCORES if c not in filled.columns]
    return check(filled.with_columns(pl.lit(None).alias(c) for c in absent), SCORES, "trials")


def _nearest(
    run: dict[str, Any], pilot: pl.DataFrame | None, embedded: bool
) -> tuple[pl.DataFrame, str]:
    """Return the components that are nearest to a run, and whose they are."""
    tables = {"shipped": load_components(), **({} if pilot is None else {"pilot": pilot})}
    candidates = [
        (key, origin, table)
        for origin, of_origin in tables.items()
        for key, table in of_origin.group_by(_RUN, maintain_order=True)
    ]
    key, origin, table = max(candidates, key=lambda one: _likeness(one, run, embedded))
    known = dict(zip(_RUN, key, strict=True))
    alike = all(known[c] == run[c] for c in ("study", "instrument", "mode", "dimension"))
    named = ", ".join(str(value) for c, value in known.items() if value and c not in CONDITIONS)
    return table, f"{origin}{'' if alike else ', nearest'}: {named}"


def _likeness(
    candidate: tuple[tuple[Any, ...], str, pl.DataFrame], run: dict[str, Any], embedded: bool
) -> tuple[float, ...]:
    """Return how near components are to a run, the most important first."""
    key, origin, table = candidate
    known = dict(zip(_RUN, key, strict=True))
    sampled = [MODES[mode].sampled for mode in (known["mode"], run["mode"])]
    return (
        sampled[0] == sampled[1],
        known["instrument"] == run["instrument"],
        origin == "pilot",
        find_provider(known["model"]).embedded == embedded,
        known["mode"] == run["mode"],
        known["study"] == run["study"],
        known["dimension"] == run["dimension"],
        all(known[c] == run[c] for c in CONDITIONS),
        float(table["relative_variance"].sum()),
    )


def read_pilot(pilot: Pilot) -> pl.DataFrame:
    """Return the components of a pilot: a results directory, scores, or components.

    Columns of `results.schemas.COMPONENTS`. Raises InputError where it is none of these, or no run
    has components.
    """
    if isinstance(pilot, (str, Path)):
        path = Path(pilot)
        frame = read_table(path / "scores.parquet" if path.is_dir() else path)
    else:
        frame = as_frame(pilot, "pilot")
    if "error_source" in frame.columns:
        return check(frame, COMPONENTS, "pilot")
    scores = check(frame, SCORES, "pilot").filter(pl.col("control").is_null())
    if scores.is_empty():
        raise InputError("pilot: no scores but those of controls")
    unknown = set(scores["instrument"].unique()) - MEASURES.keys()
    if unknown:
        raise InputError(f"pilot: instrument {', '.join(sorted(map(str, unknown)))} is not known")
    found = [_known(part) for _, part in scores.group_by("instrument", maintain_order=True)]
    if all(isinstance(one, InputError) for one in found):
        raise found[0]  # type: ignore[misc]
    return pl.concat(one for one in found if isinstance(one, pl.DataFrame))


def _known(scores: pl.DataFrame) -> pl.DataFrame | InputError:
    try:
        return components(scores, MEASURES[scores["instrument"][0]])
    except InputError as error:
        return error


def allocate(
    models: str | Sequence[str],
    calls: int,
    *,
    options: PlanOptions | None = None,
    pilot: Pilot | None = None,
) -> pl.DataFrame:
    """Compare the designs of one run that a number of calls can pay, best first.

    Parameters
    ----------
    models
        Inspect names.
    calls
        Calls of one model.
    options
        Study, instrument and mode (one of each), stereotypes; `variations` are the wordings that
        may be asked, by default those of the study. Group words are spread over draws as always:
        every draw shows new ones until all have been shown.
    pilot
        As of `power`.

    Returns
    -------
    polars.DataFrame
        Columns of `results.schemas.ALLOCATION`: a row per number of wordings, with the trials per
        wording that the calls pay; the smallest median effect of a stereotype first.

    Raises
    ------
    InputError
        If the calls do not pay a mirrored pair of each stereotype, or the options name several
        studies, instruments or modes.

    Examples
    --------
    >>> ageism = PlanOptions(stereotypes=["age"])
    >>> best = allocate("openai/gpt-4o", 40, options=ageism).row(0, named=True)
    >>> best["n_calls"] <= 40
    True
    """
    names, known = as_names("models", models), None if pilot is None else read_pilot(pilot)
    return allocate_plan(build_plan(names, options or PlanOptions()), calls, known)


def allocate_plan(
    plan: Plan, calls: int, pilot: pl.DataFrame | None = None, runs: int = RUNS
) -> pl.DataFrame:
    """Compare designs of a plan with one selection and one mode; see `allocate`."""
    if len(plan.selections) > 1 or len(plan.selections[0].asked_in(plan.modes)) > 1:
        raise InputError("allocate: name one study, one instrument and one mode")
    if calls < 1:
        raise InputError(f"calls {calls}: at least 1")
    selection = plan.selections[0]
    designs = [
        design
        for number in range(1, len(selection.variations) + 1)
        if (design := _design(plan, number, calls, pilot, runs)) is not None
    ]
    if not designs:
        raise InputError(
            f"calls {calls}: fewer than a mirrored pair of each stereotype of "
            f"{selection.study.name} needs"
        )
    return check(pl.DataFrame(designs, infer_schema_length=None), ALLOCATION, "allocation").sort(
        "smallest_effect", "smallest_effect_model", nulls_last=True, maintain_order=True
    )


def _design(
    plan: Plan, number: int, calls: int, pilot: pl.DataFrame | None, runs: int
) -> dict[str, Any] | None:
    """Return the design with a number of wordings; None if the calls do not pay for it."""
    selection = plan.selections[0]

    def asked(iterations: int) -> Plan:
        chosen = selection.variations[:number]
        one = replace(selection, variations=chosen, iterations=iterations)
        return replace(plan, selections=[one], modes=selection.asked_in(plan.modes))

    of_pair = estimate_costs(asked(2).pieces(), plan.models[:1])[0].calls
    iterations = 2 * (calls // of_pair)
    if not iterations:
        return None
    design = asked(iterations)
    trials, told = design.trials(), power_of_plan(design, pilot, runs=runs)
    by_level = {
        level: of_level["smallest_effect"]
        for (level,), of_level in told.group_by("level", maintain_order=True)
    }
    by_stereotype = trials.group_by("stereotype", "dimension")
    pairs = by_stereotype.agg(n=pl.struct("marginalized", "default").n_unique())
    return {
        **told.select("study", "instrument", "mode", "planned_from").row(0, named=True),
        "n_variations": number,
        "n_iterations": iterations,
        "n_group_pairs": pairs["n"].min(),
        "n_pairs": by_stereotype.agg(n=pl.col("pair_id").n_unique())["n"].max(),
        "n_calls": estimate_costs([trials], plan.models[:1])[0].calls,
        "smallest_effect": median_effect(by_level["stereotype"]),
        "smallest_effect_model": median_effect(by_level["model"]),
    }


def median_effect(effects: pl.Series) -> float | None:
    """Return the median; null where half of the effects are beyond the scale."""
    ordered = effects.fill_null(float("inf")).sort()
    middle = ordered[(len(ordered) - 1) // 2] if len(ordered) else None
    return None if middle is None or middle == float("inf") else float(middle)
