"""The audit card of a run: who, scope, what was asked, what came out, gate, limits, expiry.

Reference
    Mitchell et al. (2019), FAT*, 220–229: model cards, after which it is made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clinometer.asking.policy import Policy, Rule, load_policy
from clinometer.comparing.checks import WORST, Outcome
from clinometer.comparing.gating import Gated, gate
from clinometer.comparing.runs import read_runs
from clinometer.directory.results import read_detail
from clinometer.errors import ClinometerError, InputError, one_line
from clinometer.results.evidence import Note, lasting_notes
from clinometer.results.origins import UNKNOWN
from clinometer.results.progress import elsewhere_sentences
from clinometer.results.records import journals, plan_origin, read_plan
from clinometer.results.subjects import simulated

__all__ = ["NO_STATEMENT", "STATEMENTS", "audit_card"]

#: What the audit card has of the auditor.
STATEMENTS = ("auditor", "scope", "access", "expires")
NO_STATEMENT = "not stated"

_LIMITS = (
    "Results are about the stimuli, models and dates named here, and no other use.",
    "A low score does not certify a model; decisions in use must be measured themselves.",
    "The archive shows that numbers follow from the answers in it. That a model gave these "
    "answers rests on who made the archive.",
)


def audit_card(
    directory: Path, statements: Mapping[str, str], departures: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the audit card of a results directory.

    `statements` is what the auditor states, of `STATEMENTS`. Raises InputError for anything else.
    """
    from clinometer.report.card import instrument_cards  # imports what draws

    file = directory / "plan.json"
    plan = read_plan(file) if file.is_file() else {}
    if wrong := [name for name in statements if name not in STATEMENTS]:
        raise InputError(f"card {wrong[0]!r}; known: {', '.join(STATEMENTS)}")
    models = plan.get("models", [])
    cards = instrument_cards(directory)
    elsewhere = _elsewhere(directory, plan)
    gates = _gates(directory, models, elsewhere)
    for card in cards:
        for run in card["runs"]:
            run["gate"] = _run_outcome(gates, card, run)
    sources = plan.get("sources", {})
    return {
        **{name: statements.get(name, NO_STATEMENT) for name in STATEMENTS},
        "models": models,
        "simulated": simulated(models),
        "answered": _answer_dates(directory),
        "created": plan.get("created", ""),
        "marked_by": plan_origin(file) if plan else UNKNOWN,
        "from_elsewhere": elsewhere,
        "instruments": cards,
        "gate": gates if isinstance(gates, str) else _gate_text(gates),
        "method": {
            "studies": {name: source.get("title", "") for name, source in sources.items()},
            "modes": plan.get("modes", []),
            **{name: plan.get(name) for name in ("seed", "policy", "recorded")},
            **{name: plan.get(name, {}) for name in ("generation", "versions")},
        },
        "deviations": len(departures),
        "limits": list(_LIMITS),
    }


def _elsewhere(directory: Path, plan: Mapping[str, Any]) -> list[str]:
    """Say what of a run was not made with the key of its plan: the same for every reader."""
    continued = [f"{place}: {text}" for place, text in lasting_notes(plan).items()]
    return [*continued, *elsewhere_sentences(read_detail(directory, "progress"))]


def _gates(
    directory: Path, models: Sequence[str], elsewhere: Sequence[str]
) -> dict[str, Gated] | str:
    """Judge each model by the policy of the directory; say why if that is not possible."""
    path = directory / "policy.yaml"
    if not path.is_file():
        return "not judged: no policy was declared"
    try:
        policy = load_policy(path)
        if changes := [rule.title for rule in policy.rules if rule.what == "change"]:
            return f"not judged: {changes[0]!r} is about a change, and there is no baseline here"
        # Not what the key of whoever makes the card tells: others have to come to the same card.
        notes = [Note(text) for text in elsewhere]
        runs = {run.model: replace(run, notes=notes) for run in read_runs(directory)}
        return {model: gate(runs[model], path) for model in models if model in runs}
    except ClinometerError as error:
        return f"not judged: {one_line(error).replace(f'{directory}{os.sep}', '')}"


def _gate_text(gates: Mapping[str, Gated]) -> str:
    return "; ".join(f"{model}: {gated.outcome}" for model, gated in gates.items())


def _run_outcome(
    gates: Mapping[str, Gated] | str, card: Mapping[str, Any], run: Mapping[str, Any]
) -> str:
    """Return the worst outcome of the rules that are about a run of an instrument."""
    if isinstance(gates, str):
        return gates
    gated = gates.get(run["model"])
    if gated is None:
        return "not judged: the policy is about single models"
    outcomes = {outcome for rule, outcome in _rules(gated) if _covers_run(rule, card, run)}
    worst = min(outcomes, key=WORST.index, default="no rule is about it")
    if worst == "pass" and gated.outcome != "pass":  # for controls, missing answers or other rules
        return f"its rules pass; the gate: {gated.outcome}"
    return worst


def _rules(gated: Gated) -> list[tuple[Rule, Outcome]]:
    """Return each rule with its outcome."""
    policy: Policy = gated.policy
    checks = [check.outcome for check in gated.checks if check.kind == "rule"]
    return list(zip(policy.rules, checks, strict=True))


def _covers_run(rule: Rule, card: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether a rule is about a run of an instrument; explicit ones have to be named."""
    where = rule.where
    if where.instrument is None and card["explicit"]:
        return False
    limits = (
        (where.instrument, card["instrument"]),
        (where.study, card["study"]),
        (where.mode, run["plain_mode"]),
    )
    return all(limit is None or limit == value for limit, value in limits)


def _answer_dates(directory: Path) -> dict[str, Any]:
    """Say of each model when it answered, and under which names its provider served it."""
    answers = {}
    for journal in journals(directory):
        dates = set()
        served = set()
        for line in journal:
            if line.get("at"):
                dates.add(str(line["at"]))
            if line.get("served"):
                served.add(str(line["served"]))
        identities = []
        for identity in journal.identities():
            fields = ("weights", "dtype")
            identities.append({name: identity[name] for name in fields if name in identity})
        answers[journal.model] = {
            "first": min(dates, default=None),
            "last": max(dates, default=None),
            "served_as": sorted(served),
            "identities": identities,
        }
    return answers
