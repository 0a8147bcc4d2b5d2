"""The content of a dossier: what its pages show, and machines read.

Every number comes from the tables of the run by the readers that report, gate and bundle use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from clinometer import __version__
from clinometer.asking.policy import Rule
from clinometer.comparing.bundling import deviations
from clinometer.comparing.card import audit_card
from clinometer.comparing.gating import Gated
from clinometer.comparing.verifying import Verified
from clinometer.contracts.catalogue import MEASURES
from clinometer.directory.results import read_estimates
from clinometer.dossier.checklists import answers, checklists
from clinometer.dossier.profile import BiasProfile
from clinometer.errors import InputError
from clinometer.pieces.prose import name_in_text
from clinometer.pieces.sections import Exchange
from clinometer.pieces.tables import ReportTable
from clinometer.pieces.views import AnswerResults, InstrumentResults
from clinometer.report.answers.examples import examples
from clinometer.report.answers.reading import read_results
from clinometer.report.answers.sensitivity import sensitivity
from clinometer.report.answers.summary import sum_up
from clinometer.report.document import family_lines
from clinometer.results.parquet import read_parquet
from clinometer.results.subjects import say_simulated
from clinometer.sharing.counts import SELECTIONS, read_counts
from clinometer.sharing.ll144 import law_rates, summary

#: What stands on every page of a dossier.
CLAIMS_NOTHING = (
    "A dossier says which questions of a law, a standard or a checklist it answers, and by what. "
    "It claims conformity with none of them: whether an answer suffices is for others to decide."
)

#: What no run tests.
NEVER_TESTED = (
    "Decisions in use, with the people, documents and settings of that use",
    "Other languages, versions and dates than those named here",
)

#: Answers that are shown.
MOST_SAMPLES = 6


@dataclass(frozen=True)
class Evidence:
    """A run that was verified, and what it is judged by."""

    directory: Path
    profile: BiasProfile
    gated: Gated
    policy_text: str
    verified: Verified
    is_bundle: bool
    """Whether the run came as a bundle, which has a seal that others can compare."""


def measured_groups(directory: Path, model: str) -> set[str]:
    """Return what groups of people a run is about: categories, stereotypes, groups of candidates.

    Raises InputError if a table is malformed.
    """
    rows = read_estimates(directory).filter(pl.col("control").is_null(), model=model)
    frames = [rows.select("category", "stereotype")]
    selections = directory / f"{SELECTIONS}.parquet"
    if selections.is_file():
        frames.append(read_parquet(selections).select("race", "gender"))
    return {str(name) for frame in frames for column in frame for name in column.drop_nulls()}


def dossier_content(evidence: Evidence, today: date) -> dict[str, Any]:
    """Return the content of a dossier, as its JSON has it.

    Raises InputError if a table is malformed or nothing was estimated, PlanError if the plan is.
    """
    directory, profile = evidence.directory, evidence.profile
    model = profile.system.model
    tables = read_results(directory, model)
    brief = sum_up(tables)
    if brief is None:
        raise InputError(f"{directory}: nothing was estimated; finish the run first")
    departures = [row for row in deviations(directory) if row["model"] == model]
    card = _card_of_model(directory, profile, departures)
    content: dict[str, Any] = {
        "format": "clinometer dossier 1",
        "clinometer": __version__,
        "made": today.isoformat(),
        "claims": CLAIMS_NOTHING,
        "profile": profile.model_dump(mode="json"),
        "run": _run(card, tables, model),
        "findings": {
            "validity": list(brief.validity),
            "in_people": list(brief.in_people),
            "over_all": [
                str(mean) for mean in brief.over_all if mean.level == "model" and mean.valid
            ],
            "remarks": list(brief.remarks),
            "for_public": list(brief.for_public),
            "marks": None if brief.table is None else _table(brief.table),
            "further": family_lines(directory),
            "means": [asdict(lean) for lean in brief.means],
        },
        "controls": _controls(card),
        "sensitivity": [brief.certainty, *filter(None, map(sensitivity, tables.instruments))],
        "law_tables": _law_tables(directory, model),
        "not_tested": _not_tested(profile, card, tables.instruments),
        "samples": _samples(tables),
        "deviations": {"count": len(departures), "rows": departures},
        "policy": _policy(evidence, card),
        "signature": _signature(evidence),
        "verified": _verified(evidence),
        "limits": [brief.limits, *card["limits"]],
        "card": card,
    }
    return content | _checklists(content, profile)


def _card_of_model(
    directory: Path, profile: BiasProfile, departures: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the audit card, with the runs of the profile's model alone."""
    card = audit_card(directory, _card_statements(profile), departures)
    for instrument in card["instruments"]:
        runs = instrument["runs"]
        instrument["runs"] = [run for run in runs if run["model"] == profile.system.model]
    return card


def _card_statements(profile: BiasProfile) -> dict[str, str]:
    """Return what the audit card has of the auditor."""
    statements = {
        name: profile.statements.get(name, "not stated") for name in ("auditor", "access")
    }
    return {**statements, "scope": profile.use, "expires": profile.next_test.date}


def _run(card: Mapping[str, Any], tables: AnswerResults, model: str) -> dict[str, Any]:
    """Say what was asked of whom, when and how."""
    return {
        "models": [model],
        "other_models": [name for name in card["models"] if name != model],
        "created": card["created"],
        "answered": {name: dates for name, dates in card["answered"].items() if name == model},
        "simulated": say_simulated([model]),
        **{name: card["method"][name] for name in ("studies", "modes", "seed", "generation")},
        "versions": card["method"]["versions"],
        "recorded": card["method"]["recorded"],
        "answers": int(tables.progress["n_answered"].sum()) or None,
    }


def _table(table: ReportTable) -> dict[str, Any]:
    """Return a table of the report as texts."""
    return {
        "caption": table.caption,
        "columns": [cell.text for cell in table.columns],
        "rows": [[cell.text for cell in row] for row in table.rows],
    }


def _controls(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the controls of each instrument, model and mode; the card counts them."""
    rows = []
    for instrument in card["instruments"]:
        for run in instrument["runs"]:
            where = {"instrument": instrument["instrument"], "study": instrument["study"]}
            rows.append(
                {**where, **{name: run[name] for name in ("model", "mode", "controls", "scored")}}
            )
    return rows


def _not_tested(
    profile: BiasProfile, card: Mapping[str, Any], instruments: Sequence[InstrumentResults]
) -> list[str]:
    """Say what this run leaves open: groups, instruments, controls, modes."""
    lines = [
        f"{group.name}: {group.not_measured}" for group in profile.groups if group.not_measured
    ]
    lines += list(NEVER_TESTED)
    measured = {results.instrument for results in instruments}
    unasked = [measure.title for name, measure in MEASURES.items() if name not in measured]
    if unasked:
        lines.append(f"Not asked with: {', '.join(dict.fromkeys(unasked))}")
    for row in _controls(card):
        lacking = [text for text in row["controls"] if text.startswith("no ")]
        if lacking:
            lines.append(f"{row['instrument']}, {row['mode']}: {', '.join(lacking)}")
    return lines


def _samples(tables: AnswerResults) -> list[dict[str, Any]]:
    """Return a few prompts and answers, from the first to the last stereotype of the plan."""
    picks = examples(tables)
    step = max(1, len(picks) // MOST_SAMPLES)
    return [_exchange(pick.exchange) for pick in picks[::step][:MOST_SAMPLES]]


def _exchange(exchange: Exchange) -> dict[str, Any]:
    quotes = []
    for quote in exchange.quotes:
        parts = [f"[{p.text}]" if p.kind == "gap" else p.text for p in quote.pieces]
        quotes.append({"label": quote.label, "text": "".join(parts)})
    readings = list(exchange.readings)
    return {"about": exchange.about, "quotes": quotes, "readings": readings, "note": exchange.note}


def _policy(evidence: Evidence, card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy, when it was declared, the reason of each limit, and the outcome."""
    gated = evidence.gated
    reasons = {limit.rule: limit.reason for limit in evidence.profile.limits}
    return {
        "name": gated.policy.name,
        "outcome": gated.outcome,
        "baseline": gated.baseline,
        "confidence": gated.policy.confidence,
        "declaration": gated.declaration,
        "declared": card["created"] if gated.declared else None,
        "limits": [_limit(rule, reasons[rule.title]) for rule in gated.policy.rules],
        "checks": [vars(check) for check in gated.checks],
        "text": evidence.policy_text,
    }


#: What of a limit counts, in words.
_DIRECTIONS = {
    "either": "in both directions",
    "consistent": "as the stereotype says",
    "reversed": "against the stereotype",
}


def _limit(rule: Rule, reason: str) -> dict[str, Any]:
    """Return a rule: what is measured, its limit, and the reason of the limit."""
    name = rule.where.instrument
    measure = name_in_text(name, MEASURES[name].title) if name else "every implicit measure"
    return {
        "rule": rule.title,
        "measure": f"{rule.what} of {measure}, {_DIRECTIONS[rule.worse]}",
        "levels": list(rule.levels),
        "at_most": rule.at_most,
        "worse": rule.worse,
        "because": rule.because,
        "reason": reason,
    }


def _signature(evidence: Evidence) -> dict[str, str] | None:
    """Return who signed the bundle; None where nobody did."""
    signature = evidence.verified.signature
    if signature.status not in ("fits", "known"):
        return None
    return {"text": signature.text, "key": signature.key, "seal": evidence.verified.seal}


def _verified(evidence: Evidence) -> dict[str, Any]:
    """Return what of the run was made again, and is the same.

    The seal is None where there is no bundle that anybody could compare with it.
    """
    verified = evidence.verified
    return {
        "seal": verified.seal if evidence.is_bundle else None,
        "files": verified.files,
        "recomputed": list(verified.tables),
        "by_hash_only": list(verified.as_stored),
        "signature": verified.signature.text,
    }


def _law_tables(directory: Path, model: str) -> dict[str, Any] | None:
    """Return the tables of Local Law 144; None where no instrument selects candidates."""
    if not (directory / f"{SELECTIONS}.parquet").is_file():
        return None
    counts = read_counts(directory)
    counts = counts._replace(table=counts.table.filter(model=model))
    return summary(law_rates(counts), counts)


def _checklists(content: Mapping[str, Any], profile: BiasProfile) -> dict[str, Any]:
    """Return the checklists, each with how many of its entries are answered."""
    parts: dict[str, Any] = {"completeness": [], "clauses": []}
    for checklist in checklists():
        rows = []
        for answer in answers(checklist, content, profile.not_applicable):
            certainty = answer.entry.certainty or checklist.certainty
            fields = {"id": answer.entry.id, "text": answer.entry.text, "certainty": certainty}
            rows.append({**fields, "status": answer.status, "reason": answer.reason})
        statuses = [row["status"] for row in rows]
        part = "completeness" if checklist.kind == "completeness" else "clauses"
        parts[part].append(
            {
                **checklist.model_dump(exclude={"entries"}),
                "answered": statuses.count("answered"),
                "applicable": len(rows) - statuses.count("not applicable"),
                "entries": len(rows),
                "rows": rows,
            }
        )
    return parts
