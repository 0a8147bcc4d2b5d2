"""The audit card: what was asked with each instrument and what came out; and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clinometer.numbers import percent
from clinometer.pieces.findings import ALL, FACTORS, find
from clinometer.pieces.prose import counted, verdict_counts
from clinometer.pieces.sections import Term
from clinometer.pieces.tables import TableColumn, TableSpec, head
from clinometer.pieces.views import InstrumentResults, trials_text
from clinometer.report.answers.analysis import largest_effect
from clinometer.report.answers.reading import read_results
from clinometer.report.answers.summary import instruments_by_name
from clinometer.report.document import render_page
from clinometer.results.origins import origin_name

#: What the auditor states → how the page calls it.
_STATEMENTS = {
    "auditor": "Auditor",
    "scope": "Scope",
    "access": "Access",
    "created": "Asked on",
    "expires": "Expires",
}


def instrument_cards(directory: Path) -> list[dict[str, Any]]:
    """Say of each study and instrument what was asked, and of each run what came out.

    `directory`: may hold ``plan.json`` and ``estimates.parquet``; without a plan nothing was asked.
    Raises InputError if a table is malformed, PlanError if the plan is.
    """
    if not (directory / "plan.json").is_file():
        return []
    instruments = instruments_by_name(read_results(directory).instruments)
    return [_card(name, results) for name, results in instruments.items()]


def _card(name: str, results: InstrumentResults) -> dict[str, Any]:
    """Make the card of one instrument; its keys are those of the card's JSON."""
    stereotypes = results.by_stereotype["stereotype"].unique(maintain_order=True)
    wordings = results.levels["cell"]["variation"].unique(maintain_order=True)
    return {
        "instrument": results.instrument,
        "title": results.measure.title,
        "study": results.study,
        "explicit": results.is_explicit,
        "asked": {
            "for": results.measure.asks,
            "how": results.measure.how,
            "trial": results.facts.trial,
            "modes": results.by_stereotype["plain_mode"].unique(maintain_order=True).to_list(),
            "wordings": wordings.to_list(),
            "stereotypes": stereotypes.to_list(),
            "trials_per_stereotype": trials_text(results),
        },
        "effect": largest_effect(results),
        "runs": list(_runs(name, results)),
    }


def _runs(name: str, results: InstrumentResults) -> Iterator[dict[str, Any]]:
    """Yield controls, share scored and what was found of each model and mode."""
    findings = {tuple(mean.about.values()): mean for mean in find(name, results, "model")}
    for row in results.by_model.iter_rows(named=True):
        stereotypes = results.headline.filter(model=row["model"], mode=row["mode"])
        counts = verdict_counts(stereotypes.iter_rows(named=True), results.measure)
        total = f"{counted(stereotypes.height, 'stereotype')} in other prompts"
        validity = results.validities.get((row["model"], row["control_mode"]))
        finding = findings.get(tuple(row[column] for column in FACTORS.values()))
        outcome = f"{ALL}: {row['lean']}" if finding is None else str(finding)
        yield {
            "model": row["model"],
            "mode": row["mode"],
            "plain_mode": row["plain_mode"],
            "controls": list(validity.outcomes) if validity else [],
            "scored": row["compliance"],
            "finding": finding and asdict(finding),
            "outcome": f"{outcome}; of {total}: {counts}",
        }


def card_page(card: Mapping[str, Any]) -> str:
    """Print a card, as `instrument_cards` and its auditor state it, as one self-contained page."""
    terms = [
        Term("Models", ", ".join(card["models"])),
        *(Term(title, card[name]) for name, title in _STATEMENTS.items()),
        Term("Marked by", origin_name(card["marked_by"])),
        *(Term("From elsewhere", text) for text in card["from_elsewhere"]),
        Term("Gate", card["gate"]),
        Term("Departures from the plan", str(card["deviations"])),
    ]
    versions = card["method"]["versions"]
    if "clinometer" in versions:
        terms.append(Term("Version, clinometer", versions["clinometer"]))
    parts = [
        (instrument, _facts(instrument), _RUNS.render(instrument["runs"]))
        for instrument in card["instruments"]
    ]
    context = {"title": "Audit card", "card": card, "terms": terms, "parts": parts}
    return render_page("card.html.j2", {}, context)


def _facts(instrument: Mapping[str, Any]) -> list[Term]:
    """Say what was asked with an instrument."""
    trials = instrument["asked"]
    terms = (
        ("Asked for", trials["for"]),
        ("A trial", trials["trial"]),
        ("Study", instrument["study"]),
        ("Stereotypes", str(len(trials["stereotypes"]))),
        ("Trials per stereotype and mode", trials["trials_per_stereotype"]),
        ("Wordings", ", ".join(trials["wordings"])),
        ("Published analysis", instrument["effect"]),
    )
    return [Term(name, text) for name, text in terms if text]


_RUNS = TableSpec(
    "Controls, share of answers scored, outcome and gate.",
    (
        head("model", missing="all models", same="in caption"),
        head("mode", same="in caption"),
        TableColumn(
            "Controls", "controls", lambda controls: ", ".join(controls) or "none asked", "text"
        ),
        TableColumn("Scored", "scored", percent),
        "outcome",
        TableColumn("Gate", "gate"),
    ),
)
