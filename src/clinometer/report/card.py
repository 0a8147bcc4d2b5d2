"""The audit card: what was asked with each instrument and what came out; and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clinometer.report.answers.analysis import largest_effect
from clinometer.report.answers.results import (
    InstrumentResults,
    instrument_results,
    read_results,
    trials_text,
)
from clinometer.report.answers.validity import judged
from clinometer.report.document import rendered
from clinometer.report.prose import counted, mean_leans, percent, verdict_counts
from clinometer.report.sections import Term
from clinometer.report.tables import ReportTable, TableColumn, render_table

__all__ = ["card_page", "instrument_cards"]

#: What the auditor states → how the page calls it.
_STATED = {
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
    return [_card(asked) for asked in instrument_results(read_results(directory))]


def _card(asked: InstrumentResults) -> dict[str, Any]:
    stereotypes = asked.each["stereotype"].unique(maintain_order=True)
    return {
        "instrument": asked.instrument,
        "title": asked.measure.title,
        "study": asked.study,
        "explicit": bool(asked.whole["explicit"].any()),
        "asked": {
            "for": asked.measure.asks,
            "how": asked.measure.how,
            "trial": asked.facts.trial,
            "modes": asked.each["plain_mode"].unique(maintain_order=True).to_list(),
            "wordings": asked.levels["cell"]["variation"].unique(maintain_order=True).to_list(),
            "stereotypes": stereotypes.to_list(),
            "trials_per_stereotype": trials_text(asked),
        },
        "effect": largest_effect(asked),
        "runs": list(_runs(asked)),
    }


def _runs(asked: InstrumentResults) -> Iterator[dict[str, Any]]:
    """Yield controls, share scored and outcome of each model and mode."""
    controls = judged(asked)
    for row in asked.whole.iter_rows(named=True):
        each = asked.each.filter(model=row["model"], mode=row["mode"])
        counts = verdict_counts(each["verdict"])
        of = counted(each.height, "stereotype")
        known = controls.get((row["model"], row["control_mode"]))
        yield {
            "model": row["model"],
            "mode": row["mode"],
            "plain_mode": row["plain_mode"],
            "controls": list(known.outcomes) if known else [],
            "scored": row["compliance"],
            **{name: row[name] for name in ("estimate", "ci_low", "ci_high", "verdict")},
            "outcome": f"{mean_leans(row, asked.measure)}; of {of}: {counts}",
        }


def card_page(card: Mapping[str, Any]) -> str:
    """Print a card, as `instrument_cards` and its auditor state it, as one self-contained page."""
    method = card["method"]
    about = {
        "title": "Audit card",
        "card": card,
        "terms": [
            Term("Models", ", ".join(card["models"])),
            *(Term(title, card[name]) for name, title in _STATED.items()),
            Term("Gate", card["gate"]),
            Term("Departures from the plan", str(card["deviations"])),
            *(Term(f"Version, {name}", text) for name, text in _clinometer(method["versions"])),
        ],
        "parts": [(one, _facts(one), _table(one["runs"])) for one in card["instruments"]],
    }
    return rendered("card.html.j2", {}, about)


def _clinometer(versions: Mapping[str, str]) -> list[tuple[str, str]]:
    return [one for one in versions.items() if one[0] == "clinometer"]


def _facts(one: Mapping[str, Any]) -> list[Term]:
    """Say what was asked."""
    asked = one["asked"]
    terms = (
        ("Asked for", asked["for"]),
        ("A trial", asked["trial"]),
        ("Study", one["study"]),
        ("Stereotypes", str(len(asked["stereotypes"]))),
        ("Trials per stereotype and mode", asked["trials_per_stereotype"]),
        ("Wordings", ", ".join(asked["wordings"])),
        ("Published analysis", one["effect"]),
    )
    return [Term(name, text) for name, text in terms if text]


def _table(runs: Sequence[Mapping[str, Any]]) -> ReportTable:
    columns = [
        TableColumn("Model", lambda r: r["model"] or "all models", "head", fold=True),
        TableColumn("Mode", lambda r: r["mode"] or "", "head", fold=True),
        TableColumn("Controls", lambda r: ", ".join(r["controls"]) or "none asked", "text"),
        TableColumn("Scored", lambda r: percent(r["scored"])),
        TableColumn("Outcome", lambda r: r["outcome"], "text"),
        TableColumn("Gate", lambda r: r["gate"], "text"),
    ]
    return render_table(runs, "Controls, share of answers scored, outcome and gate.", columns)
