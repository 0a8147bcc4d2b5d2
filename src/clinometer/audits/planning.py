"""What an audit can tell, before a model is asked, and how to spend a number of calls.

`power` predicts from the trials of a plan, `allocate` compares designs with the same number of
calls; `statistics.planning` has the method. Components of variance are those of a pilot, else the
shipped ones (`reference.components`); see `audits.nearest`. `planned_from` says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from clinometer.asking.budget import estimate_costs
from clinometer.asking.plan import Plan
from clinometer.audits.nearest import RUN, nearest_components
from clinometer.audits.sizes import PlanOptions, build_plan, sized_plan
from clinometer.contracts.catalogue import INSTRUMENTS, MEASURES
from clinometer.errors import InputError, as_names
from clinometer.models.providers import find_provider
from clinometer.results import CONDITIONS, SCORES, Measure, check
from clinometer.results.schemas import ALLOCATION, COMPONENTS, POWER, TRIALS_NEEDED
from clinometer.results.tables import as_frame, read_table
from clinometer.statistics.estimates import Inference
from clinometer.statistics.planned_means import Key, PlannedRuns, exact_errors
from clinometer.statistics.planning import Counting, plan_power, uncounted
from clinometer.statistics.sources import components, read_sources
from clinometer.statistics.summaries import NEVER_POOLED, summarise

__all__ = [
    "Pilot",
    "allocate",
    "allocate_plan",
    "errors_of_plan",
    "median_effect",
    "planned_scores",
    "power",
    "power_of_plan",
    "read_pilot",
    "trials_for",
]

#: Drawn estimates of each error while designs are searched.
SEARCHED = 16

Pilot = pl.DataFrame | Path | str

#: Pilot, inference and chance, as of `power_of_plan`.
_PowerSettings = tuple[pl.DataFrame | None, Inference | None, float]


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
        in the range of `range`. `smallest_effect` and `half_width` are in the unit of the scores.

    Raises
    ------
    InputError
        If an option, the pilot or `chance` means nothing.
    StudyError
        If there is no such study, stereotype or wording.

    Examples
    --------
    >>> options = PlanOptions(instruments=["word_association"], studies=["bai2025"])
    >>> table = power("openai/gpt-4o", size="quick", options=options)
    >>> model, stereotypes = table.filter(level="model"), table.filter(level="stereotype")
    >>> model["half_width"].item() < stereotypes["half_width"].min()
    True
    """
    plan = _plan(as_names("models", models), size, options or PlanOptions())
    variances = None if pilot is None else read_pilot(pilot)
    return power_of_plan(plan, variances, inference, chance)


#: Trials per wording among which is chosen; what needs more is not looked for.
TRIED = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)

#: Those at which effects are predicted; between and beyond them they follow (`_between`).
_PREDICTED = (2, 6, 24, 96)


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
        for mode in selection.fitting_modes(plan.modes):
            part = replace(plan, selections=[selection], modes=[mode], size=None)
            rows += _find_trials(part, effect, (pilot, inference, chance), prices)
    if not rows:
        raise InputError("effect: nothing is planned but controls")
    return check(pl.DataFrame(rows, infer_schema_length=None), TRIALS_NEEDED, "trials")


def _find_trials(
    plan: Plan, effect: float, settings: _PowerSettings, prices: Path | None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each level of a plan of one study, instrument and mode."""
    predicted = {n: _effects_by_level(_with_iterations(plan, n), settings) for n in _PREDICTED}
    for level in ("model", "category", "stereotype"):
        if level not in predicted[TRIED[0]]:
            continue
        effects = {n: by_level.get(level) for n, by_level in predicted.items()}
        iterations = next((n for n in TRIED if _between(effects, n) <= effect), None)
        row: dict[str, Any] = {
            "n_trials": None,
            "n_calls": None,
            "usd": None,
            "study": plan.selections[0].study.name,
            "instrument": plan.selections[0].instrument,
            "mode": plan.modes[0],
            "level": level,
            "effect": effect,
            "n_iterations": iterations,
        }
        if iterations is not None:
            pieces = _with_iterations(plan, iterations).pieces()
            (cost,) = estimate_costs(pieces, plan.models[:1], prices)
            row |= {"n_trials": cost.trials, "n_calls": cost.calls, "usd": cost.usd}
        yield row


def _effects_by_level(plan: Plan, settings: _PowerSettings) -> dict[str, float | None]:
    """Return the median smallest effect of each level of a plan."""
    table = power_of_plan(plan, *settings, runs=SEARCHED).filter(pl.col("control").is_null())
    effects = {}
    for (level,), rows in table.group_by("level", maintain_order=True):
        effects[str(level)] = median_effect(rows["smallest_effect"])
    return effects


def _between(effects: Mapping[int, float | None], iterations: int) -> float:
    """Return the smallest effect with so many trials per wording; infinite where there is none.

    The square of an effect goes with the variance: a part stays, and one falls with the trials.
    Between two numbers of trials the parts are those of these, beyond the last those of the last.
    """
    numbers = [n for n, effect in effects.items() if effect is not None]
    if not numbers or iterations < numbers[0]:
        return float("inf")
    if len(numbers) == 1:
        return float(effects[numbers[0]] or 0.0)
    last = int(np.searchsorted(numbers, iterations).clip(1, len(numbers) - 1))
    few, many = numbers[last - 1], numbers[last]
    squares = [float(effects[n] or 0.0) ** 2 for n in (few, many)]
    falling = (squares[0] - squares[1]) / (1.0 / few - 1.0 / many)
    staying = squares[1] - falling / many
    return float(max(staying + falling / iterations, 0.0) ** 0.5)


def _with_iterations(plan: Plan, iterations: int) -> Plan:
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
    runs: int | None = None,
    counting: Counting = uncounted,
) -> pl.DataFrame:
    """Predict what the trials of a plan can tell; see `power`.

    `pilot` is of `read_pilot`; `runs` and `counting` are those of `plan_power`.
    """
    inference = inference or Inference(plan.margin, compliance_floor=plan.compliance_floor)
    planned_runs, sources = _plan_runs(plan, pilot)
    table = plan_power(planned_runs, inference, chance, runs, counting)
    keys = [*RUN[1:], "control"]  # without the model: all are asked the same
    schema = dict.fromkeys((*NEVER_POOLED, "planned_from"), pl.String)
    plan_sources = pl.DataFrame(sources, schema, orient="row").unique(keys)
    plan_sources = plan_sources.select(*keys, "planned_from")
    # Nulls are equal: dimension, conditions and control are null in most runs.
    table = table.join(plan_sources, on=keys, nulls_equal=True, maintain_order="left")
    return check(table, POWER, "power")


def errors_of_plan(plan: Plan, pilot: pl.DataFrame | None = None) -> Mapping[Key, float]:
    """Return the exact errors of the neutral means of a plan, by level, run and keys."""
    errors: dict[Key, float] = {}
    for planned in _plan_runs(plan, pilot)[0]:
        errors |= exact_errors(planned)
    return errors


#: A run of `NEVER_POOLED`, and whose components it uses.
_Source = tuple[Any, ...]


def _plan_runs(plan: Plan, pilot: pl.DataFrame | None) -> tuple[list[PlannedRuns], list[_Source]]:
    """Return the runs of a plan with their components, and whose these are."""
    embedded = find_provider(plan.models[0]).embedded
    planned_runs: list[PlannedRuns] = []
    sources: list[_Source] = []
    for scores in planned_scores(plan):
        nearest = nearest_components(scores, pilot, embedded)
        variances = {run: read_sources(table) for run, (table, _) in nearest.items()}
        measure = MEASURES[scores["instrument"][0]]
        planned_runs.append(PlannedRuns(summarise(scores), variances, measure))
        sources += [(*run, source) for run, (_, source) in nearest.items()]
    return planned_runs, sources


def planned_scores(plan: Plan) -> Iterator[pl.DataFrame]:
    """Yield the trials of runs whose variances are moderated together, as neutral scores."""
    controls = {}
    for selection in plan.selections:
        for key in selection.stereotypes:
            controls[selection.study.name, key] = selection.study.control_of(key)
    for _, instrument_trials in plan.trials().group_by("instrument", maintain_order=True):
        for measure in INSTRUMENTS[instrument_trials["instrument"][0]].measures:
            scores = _as_scores(instrument_trials, measure, controls)
            runs = scores.group_by("mode", *CONDITIONS, "word_list", maintain_order=True)
            for _, run_scores in runs:
                yield run_scores


def _as_scores(trials: pl.DataFrame, measure: Measure, controls: _Controls) -> pl.DataFrame:
    """Give trials the columns of scores, all neutral."""
    kinds = [controls[key] for key in trials.select("study", "stereotype").rows()]
    filled = trials.with_columns(
        control=pl.Series(kinds, dtype=pl.String),
        instrument=pl.lit(measure.name),
        score=pl.lit(measure.neutral),
        model=pl.lit("planned"),
        scoring=pl.lit("exact"),
    )
    absent = [name for name in SCORES if name not in filled.columns]
    nulls = (pl.lit(None).alias(name) for name in absent)
    return check(filled.with_columns(nulls), SCORES, "trials")


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
    tables, errors = [], []
    for _, part in scores.group_by("instrument", maintain_order=True):
        try:
            tables.append(components(part, MEASURES[part["instrument"][0]]))
        except InputError as error:  # another instrument may have components
            errors.append(error)
    if not tables:
        raise errors[0]
    return pl.concat(tables)


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
    names = as_names("models", models)
    variances = None if pilot is None else read_pilot(pilot)
    return allocate_plan(build_plan(names, options or PlanOptions()), calls, variances)


def allocate_plan(
    plan: Plan, calls: int, pilot: pl.DataFrame | None = None, runs: int = SEARCHED
) -> pl.DataFrame:
    """Compare designs of a plan with one selection and one mode; see `allocate`."""
    if len(plan.selections) > 1 or len(plan.selections[0].fitting_modes(plan.modes)) > 1:
        raise InputError("allocate: name one study, one instrument and one mode")
    if calls < 1:
        raise InputError(f"calls {calls}: at least 1")
    selection = plan.selections[0]
    designs = []
    # With one wording nothing is told of others, and such a design would look best.
    for number in range(min(2, len(selection.variations)), len(selection.variations) + 1):
        design = _design(plan, number, calls, pilot, runs)
        if design is not None:
            designs.append(design)
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
    # The least that can be asked: a mirrored pair, which is two trials, per wording.
    least = _with_wordings(plan, number, 2)
    calls_of_pair = estimate_costs(least.pieces(), plan.models[:1])[0].calls
    iterations = 2 * (calls // calls_of_pair)
    if not iterations:
        return None
    design = _with_wordings(plan, number, iterations)
    trials = design.trials()
    table = power_of_plan(design, pilot, runs=runs)
    by_stereotype = trials.group_by("stereotype", "dimension")
    group_pairs = by_stereotype.agg(n=pl.struct("marginalized", "default").n_unique())
    return {
        **table.select("study", "instrument", "mode", "planned_from").row(0, named=True),
        "n_variations": number,
        "n_iterations": iterations,
        "n_group_pairs": group_pairs["n"].min(),
        "n_pairs": by_stereotype.agg(n=pl.col("pair_id").n_unique())["n"].max(),
        "n_calls": estimate_costs([trials], plan.models[:1])[0].calls,
        "smallest_effect": median_effect(table.filter(level="stereotype")["smallest_effect"]),
        "smallest_effect_model": median_effect(table.filter(level="model")["smallest_effect"]),
    }


def _with_wordings(plan: Plan, number: int, iterations: int) -> Plan:
    """Return a plan of one selection with its first `number` wordings."""
    selection = plan.selections[0]
    variations = selection.variations[:number]
    part = replace(selection, variations=variations, iterations=iterations)
    return replace(plan, selections=[part], modes=selection.fitting_modes(plan.modes))


def median_effect(effects: pl.Series) -> float | None:
    """Return the median; null where half of the effects are beyond the scale."""
    # No interpolation: between a number and infinity there is no median. The lower of two.
    ordered = effects.fill_null(float("inf")).sort()
    middle = ordered[(len(ordered) - 1) // 2] if len(ordered) else None
    return None if middle is None or middle == float("inf") else float(middle)
