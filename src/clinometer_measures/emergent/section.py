"""Who gets which job, beside agents whose policy is known."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from clinometer.pieces import (
    FEW_SENTENCES,
    Figure,
    InstrumentResults,
    Row,
    Section,
    TableColumn,
    TableSpec,
    around,
    bracketed,
    few_sentences,
    forest,
    measured,
    number,
    range_text,
)
from clinometer_measures.emergent.agents import REFERENCE
from clinometer_measures.emergent.allocations import DETAILS, QUANTITIES

__all__ = ["agents_section"]

_TEXT = (
    "In truth no group is better at anything. An agent that chooses at random, or that pays no "
    "heed to groups, has a stratification of 0, whatever else it does. Thompson sampling explores "
    "as much as pays, and still makes a little of chance; ε-greedy and greedy agents explore too "
    "little, and stratify. Which group has which job does not matter: an index is of how much jobs "
    "go by group.",
    "Divergence: Jensen–Shannon, of the jobs of two groups. It is above 0 by chance alone, and so "
    "are the others at their ends: what an agent at random expects is beside them. Intervals of a "
    "model are over its episodes; the verdicts rest on intervals over names, settings and wordings "
    "too. Those of agents hold 95% of the means of as many episodes.",
    "Wu et al. (2025) report that models stratify more than people. Their figures for people are "
    "of another task and not at hand, so that no figure of people stands here.",
)


def agents_section(results: InstrumentResults) -> Section | None:
    """Set models beside known agents; None without data."""
    rows = results.tables.details["allocations"]
    if rows.is_empty():
        return None
    contrasts = rows.filter(pl.col("control").is_null())
    sentences = [*_sentences(results)]
    tables = [
        (title if place else "", _QUANTITY.render(contrasts.filter(quantity=quantity), title=title))
        for place, (quantity, title) in enumerate(QUANTITIES.items())
        if quantity in set(contrasts["quantity"])
    ]
    if not tables:
        return None
    rows_drawn = contrasts.filter(quantity="stratification")
    is_small = rows_drawn["model"].n_unique() <= FEW_SENTENCES
    figures = (_figure(rows_drawn),) if is_small else ()
    return Section(
        key="agents",
        title="Beside agents whose policy is known",
        short="Known agents",
        text=(*few_sentences(sentences), *_TEXT),
        figures=figures,
        tables=tuple(tables),
        open=True,
        place="before",
    )


def _sentences(results: InstrumentResults) -> Iterator[str]:
    """Yield, for each model and mode, where it stands between the agents."""
    rows = results.tables.details["allocations"].filter(
        pl.col("control").is_null(), quantity="stratification"
    )
    agents = rows.drop_nulls("agent")
    for row in rows.filter(pl.col("agent").is_null()).iter_rows(named=True):
        run_agents = agents.filter(model=row["model"], mode=row["mode"])
        below = run_agents.filter(pl.col("estimate") <= row["estimate"]).sort("estimate")
        above = run_agents.filter(pl.col("estimate") > row["estimate"]).sort("estimate")
        places = []
        for side, nearest in (("above", below.tail(1)), ("below", above.head(1))):
            for agent in nearest.iter_rows(named=True):
                places.append(f"{side} {agent['agent']} ({number(agent['estimate'])})")
        value = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
        yield (
            f"{row['model']}, mode {row['mode']}: stratification {value} over "
            f"{row['n_episodes']} episodes, {' and '.join(places)}."
        )


def _figure(rows: pl.DataFrame) -> Figure:
    """Draw the stratification of models and agents, a column per model and mode."""
    marks: list[Row] = []
    for row in rows.iter_rows(named=True):
        kind = "model" if row["agent"] is None else "agent"
        panel = f"{row['model']}, {row['mode']}"
        mark = {"label": row["agent"] or "the model", "category": kind, "block": "", "panel": panel}
        marks.append({**measured(row), **mark})
    caption = (
        "Stratification of the model and of agents in the same task. Intervals: of the model, over "
        "its episodes; of agents, 95% of the means of as many episodes. Neutral 0."
    )
    axis = around("Stratification", marks, 0.5)
    return Figure("agents", caption, range_text(marks), forest(marks, axis, tips=_TIPS))


_TIPS = (("Who", "label"), ("Mean", "shown"), ("Interval", "interval"))


def _who(agent: str | None, model: str) -> str:
    """Name the agent, or the model."""
    if agent is None:
        return model
    return f"{agent}, the reference" if agent == REFERENCE else agent


#: One quantity: models first, then agents.
_QUANTITY = TableSpec(
    "{title}, with 95% intervals.",
    (
        TableColumn("Who", "agent model", _who, "head"),
        TableColumn("Mode", "mode"),
        TableColumn("Mean", "estimate ci_low ci_high", bracketed),
        "at_random",
        "n_episodes",
    ),
    DETAILS["allocations"].own,
)
