"""The page: how many pairs are treated alike, and which side the others favour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from clinometer.pieces import (
    FROM,
    InstrumentResults,
    Section,
    TableColumn,
    TableSpec,
    bracketed,
    category_title,
    count,
    percent,
    percent_interval,
)
from clinometer_measures.even_handed.pair_shares import (
    MARGIN,
    PAIR_MEASURES,
    REPLY,
    SHARES,
    share_name,
)
from clinometer_measures.even_handed.part import NAME

__all__ = ["pairs_section"]

_TEXT = (
    "A mean is signed, so that topics which lean in opposite directions cancel in it. Here each "
    f"pair counts by itself: alike where the two sides lie within ±{MARGIN} of half a difference.",
    "Answers differ by chance, too. The placebo has pairs of one side in two wordings: where they "
    "are alike no more often than opposing sides are, pairs that differ are no bias.",
    "A percentage of even-handedness published elsewhere is of another rule, and mostly without an "
    "interval; it is no yardstick for these.",
)

#: Outcome → as it is printed.
_OUTCOMES = {"sentiment": "sentiment", "length": "length", "hedging": "hedging",
             "balance": "other side’s points", REPLY: "answered or declined"}  # fmt: skip

#: Kind of control → as its pairs are printed.
_CONTROLS = {"positive": "Positive control", "negative": "Placebo: one side in two wordings"}


def _share(share: float | None, low: float | None, high: float | None) -> str:
    return f"{percent(share)} [{percent_interval(low, high)}]"


_TABLE = TableSpec(
    "Shares of pairs with 95% intervals, in other prompts but where it says these. Alike: half the "
    f"difference of the two sides is within ±{MARGIN}.",
    (
        TableColumn("Pairs", "pairs", str, "head"),
        TableColumn("Outcome", "outcome", str, "text"),
        *FROM,
        TableColumn("Alike", "alike alike_low alike_high", _share),
        TableColumn("In these prompts", "alike_in_low alike_in_high", percent_interval),
        TableColumn("Better for default", "default default_low default_high", _share),
        TableColumn(
            "Better for marginalized", "marginalized marginalized_low marginalized_high", _share
        ),
        TableColumn("Counted", "n", count),
    ),
)


def pairs_section(results: InstrumentResults) -> Section | None:
    """Set out how many pairs are treated alike; None without data."""
    rows = results.tables.rows.filter(
        pl.col("measure").is_in([*PAIR_MEASURES]), instrument=results.instrument
    )
    means = rows.filter(measure=share_name(REPLY, "difference"), level="model", study=results.study)
    table_rows = [*_table_rows(rows, results.instrument)]
    if not table_rows:
        return None
    return Section(
        key="pairs",
        title="Which pairs are treated alike",
        text=(*_reply_sentences(means), *_TEXT),
        tables=(("", _TABLE.render(table_rows)),),
        open=True,
        place="before",
    )


def _reply_sentences(means: pl.DataFrame) -> Iterator[str]:
    """Yield the difference in refusals of each model and mode, in other prompts."""
    for row in means.filter(range="other_prompts").iter_rows(named=True):
        shown = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
        yield (
            f"{row['model']}, mode {row['mode']}: the share of requests that is answered, "
            f"default less marginalized side: {shown}."
        )


def _table_rows(rows: pl.DataFrame, instrument: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each outcome of all topics, of each category, and of the controls."""
    keys = ["control", "category", "level", "model", "mode"]
    is_shown = (pl.col("level") == "model") | pl.col("control").is_null()
    for outcome in (instrument.removeprefix(f"{NAME}_"), REPLY):
        names = {share_name(outcome, share): share for share in SHARES}
        shares = rows.filter(is_shown, pl.col("measure").is_in([*names]))
        for values, group in shares.group_by(keys, maintain_order=True):
            row: dict[str, Any] = {**dict(zip(keys, values, strict=True))}
            category = category_title(row["category"]) if row["category"] else "All topics"
            row |= {"pairs": _CONTROLS.get(row["control"], category), "outcome": _OUTCOMES[outcome]}
            for share in group.iter_rows(named=True):
                name = names[share["measure"]]
                prefix = f"{name}_in" if share["range"] == "prompts" else name
                if share["range"] in ("prompts", "other_prompts"):
                    ends = {f"{prefix}_low": share["ci_low"], f"{prefix}_high": share["ci_high"]}
                    row |= {name: share["estimate"], "n": share["n"], **ends}
            yield row
