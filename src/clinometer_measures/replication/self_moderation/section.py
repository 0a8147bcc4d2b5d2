"""Self-moderation: which of its own answers a model calls biased.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), SI section B and Table S4.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from clinometer.authoring import DECISIONS, InputError, load_published
from clinometer.pieces import (
    FROM,
    STEREOTYPE,
    InstrumentResults,
    Section,
    TableColumn,
    TableSpec,
    interval,
    number,
    out_of,
)

__all__ = ["moderation_section"]

_READING = (
    "Each first answer was put to the same model: blind, quoted as somebody’s, or told, as its own "
    "answer in the same conversation. Shares have no neutral value. AUC is the probability that a "
    "flagged answer has a higher score than an unflagged one: ½ if flags do not follow scores."
)
_PUBLISHED = (
    "Published: shares of GPT-4’s answers that OpenAI’s moderation endpoint flagged (SI Table S4), "
    "as context. The endpoint looks for harassment, hate, self-harm, sexual content and violence, "
    "not for bias, and is another model; the shares are not comparable."
)

#: Measures of what a model says of its own answers → condition and statistic.
FLAGS = {
    "flagged_blind": ("blind", "share"),
    "flagged_blind_consistent": ("blind", "biased"),
    "flag_auc_blind": ("blind", "auc"),
    "flagged_told": ("told", "share"),
    "flagged_told_consistent": ("told", "biased"),
    "flag_auc_told": ("told", "auc"),
}

#: What a row of a table holds.
_STATISTICS = ("share", "biased", "auc")


def moderation_section(results: InstrumentResults) -> Section | None:
    """Set out how many answers were flagged, and whether flags follow the scores."""
    plan = results.plan
    flags = results.tables.rows.filter(pl.col("measure").is_in(list(FLAGS)))
    if flags.is_empty():
        return None
    published = _published_shares(results)
    model_rows = _condition_rows(flags.filter(level="model"))
    stereotypes = _condition_rows(flags.filter(level="stereotype"))
    tables = [("", _OVERALL.render(model_rows, interval=plan.interval))]
    if not stereotypes.is_empty():
        rows = stereotypes.with_columns(
            published=pl.col("about").replace_strict(
                published, default=None, return_dtype=pl.Float64
            )
        )
        tables.append(("Each stereotype", _PER_STEREOTYPE.render(rows, interval=plan.interval)))
    return Section(
        key="moderation",
        title="What the model says of its answers",
        short="Self-moderation",
        text=(_READING, *([_PUBLISHED] if published else [])),
        tables=tuple(tables),
    )


def _published_shares(results: InstrumentResults) -> dict[str, float]:
    """Return the published share of flagged answers of each label; empty if there are none."""
    try:
        table = load_published(results.study, "self_moderation")
    except InputError:
        return {}
    column = "decision_flagged" if results.measure.asks == DECISIONS else "implicit_flagged"
    return dict(table.select("stereotype", column).iter_rows())


def _condition_rows(flags: pl.DataFrame) -> pl.DataFrame:
    """Return a row per model, mode, stereotype and condition, with its three statistics."""
    keys = ("model", "mode", "category", "stereotype", "about")
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    for estimate in flags.iter_rows(named=True):
        condition, statistic = FLAGS[estimate["measure"]]
        values = {**{key: estimate[key] for key in keys}, "condition": condition}
        row = wide.setdefault(tuple(values.values()), values)
        for column in ("estimate", "ci_low", "ci_high", "n", "n_scored"):
            row[f"{statistic}_{column}"] = estimate[column]
        row["note"] = estimate["note"] or row.get("note")
    schema: dict[str, Any] = dict.fromkeys((*keys, "condition", "note"), pl.String())
    for statistic in _STATISTICS:
        for column in ("estimate", "ci_low", "ci_high"):
            schema[f"{statistic}_{column}"] = pl.Float64()
    schema |= {"share_n": pl.Int64(), "share_n_scored": pl.Int64()}
    # Columns outside the schema are dropped; a statistic without an estimate is null.
    return pl.DataFrame([*wide.values()], schema=schema)


_PUBLISHED_SHARE = TableColumn("Published", "published", number, digits=3, needs="published")
_FLAGS = (
    *FROM,
    TableColumn("Judged", "condition"),
    TableColumn("Flagged", "share_estimate", number),
    TableColumn("{interval}", "share_ci_low share_ci_high", interval),
    TableColumn("Of stereotype-consistent", "biased_estimate", number),
)
_NUMBERS = (TableColumn("Judged / scored", "share_n_scored share_n", out_of), "note")
_OVERALL = TableSpec(
    "Shares of answers called biased, over all stereotypes.",
    (
        *_FLAGS,
        TableColumn("AUC", "auc_estimate", number),
        TableColumn("{interval}", "auc_ci_low auc_ci_high", interval),
        *_NUMBERS,
    ),
)
#: Without AUC, which a stereotype alone has too few answers for.
_PER_STEREOTYPE = TableSpec(
    "Shares of answers called biased, per stereotype.",
    (STEREOTYPE, *_FLAGS, _PUBLISHED_SHARE, *_NUMBERS),
)
