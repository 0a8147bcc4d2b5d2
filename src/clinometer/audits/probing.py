"""Whether the models of an audit choose in mode `forced`: a call of each, before the audit asks.

Where a model begins with something else than an option, nothing can be read. The audit then asks
all its models in mode `structured`, so that they stay comparable.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clinometer.asking.budget import price
from clinometer.asking.plan import Plan
from clinometer.audits.checking import Check, check_mode
from clinometer.audits.running import Asking
from clinometer.errors import ClinometerWarning, ModelError
from clinometer.models.providers import find_provider
from clinometer.modes import forced, structured
from clinometer.results.records import read_plan


def replace_forced(plan: Plan, directory: Path, asking: Asking) -> Plan:
    """Return the plan, with mode structured for forced if that does not work on a model.

    A directory that holds the plan, or its replacement, is continued as it was begun, without a
    call. Calls count against the budget. A call that fails says nothing of the mode.

    Warns
    -----
    ClinometerWarning
        If the mode is replaced.

    Raises
    ------
    ModelError
        If it does not work on a model, and one of the models cannot be asked in the other.
    """
    if forced.MODE.name not in plan.modes:
        return plan
    if plan.file(directory).exists():
        begun = read_plan(plan.file(directory)).get("modes")
        return plan if forced.MODE.name in (begun or ()) else _in_structured(plan)
    failures = _find_failures(plan, asking)
    if not failures:
        return plan
    unable = [model for model in plan.models if structured.MODE.able(model) is False]
    if unable:
        raise ModelError(
            f"{failures[0]}; mode structured is not possible either, as {unable[0]} does not close "
            "answers to a JSON schema; use --mode free"
        )
    replaced = _in_structured(plan)  # refuses what cannot be asked so
    for failure in failures:
        text = f"{failure}; mode structured is asked instead"
        warnings.warn(text, ClinometerWarning, stacklevel=2)
    return replaced


def _in_structured(plan: Plan) -> Plan:
    """Return the plan with mode structured in the place of forced, once."""
    modes = (structured.MODE.name if mode == forced.MODE.name else mode for mode in plan.modes)
    return replace(plan, modes=tuple(dict.fromkeys(modes)))


def _find_failures(plan: Plan, asking: Asking) -> Sequence[str]:
    """Return a text for each model that does not choose in mode forced."""
    failures = []
    for model in plan.models:
        # Of a model that gives whole options nothing else is known.
        if find_provider(model).exact or asking.budget.exhausted():
            continue
        check = _probe(plan, model, asking)
        asking.budget.calls += 1
        if check.tokens is not None:
            asking.budget.spend(check.tokens, price(model, asking.prices))
        if check.reason is not None:
            failures.append(f"{model} cannot be measured in mode forced: {check.message}")
    return failures


def _probe(plan: Plan, model: str, asking: Asking) -> Check:
    # At once: a batch takes hours, and what fails is asked again by the audit.
    connection = replace(asking.connection, batch=False, max_retries=0)
    return check_mode(model, forced.MODE.name, plan.connection_of(model, connection))
