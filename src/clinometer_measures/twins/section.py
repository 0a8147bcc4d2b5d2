"""The page: how both groups fare, and whether they lie further apart than rewording makes them."""

from __future__ import annotations

from clinometer.pieces import (
    FROM,
    STEREOTYPE,
    InstrumentResults,
    Section,
    TableColumn,
    TableSpec,
    number,
)
from clinometer_measures.twins.differences import DETAILS

__all__ = ["differences_section"]

_TEXT = (
    "How far two answers lie apart on average, whatever the direction: two answers to the same "
    "prompt, to two wordings about the same person, about two people of one group, and about two "
    "people of two groups. Where the last is no larger than the others, single answers change with "
    "the group no more often than with the wording or the name; the groups may still differ on "
    "average, which the means above tell.",
)

#: What two answers differ in → as it is printed.
_DIFFER_IN = {
    "again": "nothing",
    "wording": "the wording",
    "person": "the person, of one group",
    "group": "the group",
}


def _who(group: str, rate: float) -> str:
    return f"{group}: {number(rate, 1)}"


_FARE = TableSpec(
    "How both groups fare.",
    (
        STEREOTYPE,
        *FROM,
        TableColumn("What happens", "event", str, "text"),
        TableColumn("Default group", "default_group default_rate", _who),
        TableColumn("Marginalized group", "marginalized_group marginalized_rate", _who),
        TableColumn("Counted in", "counted_in", str, "text"),
    ),
    DETAILS["group_rates"].own,
)

_APART = TableSpec(
    "Mean distance of two answers.",
    (
        STEREOTYPE,
        *FROM,
        TableColumn("They differ in", "differs_in", _DIFFER_IN.__getitem__, "head"),
        "distance",
        TableColumn("Counted in", "distance_in", str, "text"),
        "n_compared",
    ),
    DETAILS["twin_differences"].own,
)


def differences_section(results: InstrumentResults) -> Section | None:
    """Set out how both groups fare and how far answers lie apart; None without answers."""
    tables = results.tables.details
    apart = tables["twin_differences"].filter(study=results.study)
    if apart.is_empty():
        return None
    rates = tables["group_rates"].filter(study=results.study, instrument=results.instrument)
    drawn = [("", _FARE.render(rates))] if not rates.is_empty() else []
    return Section(
        key="twins",
        title="What changes when only the person does",
        text=_TEXT,
        tables=(*drawn, ("", _APART.render(apart))),
        open=True,
        place="before",
    )
