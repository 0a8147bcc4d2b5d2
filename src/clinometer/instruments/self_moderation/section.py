"""Self-moderation: which of its own answers a model calls biased.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), SI section B and Table S4.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from clinometer.errors import InputError
from clinometer.reference import load_published
from clinometer.report.answers.results import InstrumentResults
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import interval, number
from clinometer.report.sections import Section, in_order
from clinometer.report.tables import FROM, NOTE, ReportTable, TableColumn, render_table
from clinometer.results import DECISIONS

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
    f"{before}{condition}{after}": (condition, name)
    for condition in ("blind", "told")
    for name, (before, after) in (
        ("share", ("flagged_", "")),
        ("biased", ("flagged_", "_consistent")),
        ("auc", ("flag_auc_", "")),
    )
}

#: What a row of a table holds.
_STATISTICS = ("share", "biased", "auc")


def moderation_section(asked: InstrumentResults) -> Section | None:
    """Set out how many answers were flagged, and whether flags follow the scores."""
    plan = asked.plan
    flags = asked.tables.rows.filter(pl.col("measure").is_in(list(FLAGS)))
    if flags.is_empty():
        return None
    published = _published(asked)
    whole, each = (_by_condition(flags.filter(level=level)) for level in ("model", "stereotype"))
    tables = [("", _table(whole, plan, "Shares of answers called biased, over all stereotypes."))]
    if not each.is_empty():
        caption = "Shares of answers called biased, per stereotype."
        rows = in_order(each, plan).with_columns(
            published=pl.col("stereotype")
            .map_elements(plan.label, pl.String)
            .replace_strict(published, default=None, return_dtype=pl.Float64)
        )
        tables.append(("Each stereotype", _table(rows, plan, caption)))
    return Section(
        key="moderation",
        title="What the model says of its answers",
        short="Self-moderation",
        text=(_READING, *([_PUBLISHED] if published else [])),
        tables=tuple(tables),
    )


def _published(asked: InstrumentResults) -> dict[str, float]:
    """Return the published share of flagged answers of each label; empty if there are none."""
    try:
        table = load_published(asked.study, "self_moderation")
    except InputError:
        return {}
    column = "decision_flagged" if asked.measure.asks == DECISIONS else "implicit_flagged"
    return dict(table.select("stereotype", column).iter_rows())


def _by_condition(flags: pl.DataFrame) -> pl.DataFrame:
    """Give a row per model, mode, stereotype and condition, with its three statistics."""
    keys = ("model", "mode", "category", "stereotype")
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in flags.iter_rows(named=True):
        condition, name = FLAGS[row["measure"]]
        of = tuple(row[key] for key in keys)
        start = {**dict(zip(keys, of, strict=True)), "condition": condition}
        own = wide.setdefault((*of, condition), start)
        own |= {f"{name}_{c}": row[c] for c in ("estimate", "ci_low", "ci_high", "n", "n_scored")}
        own["note"] = row["note"] or own.get("note")
    columns = [f"{n}_{c}" for n in _STATISTICS for c in ("estimate", "ci_low", "ci_high")]
    schema = {**dict.fromkeys((*keys, "condition", "note"), pl.String()),
              **dict.fromkeys(columns, pl.Float64()),
              **dict.fromkeys((f"share_{c}" for c in ("n", "n_scored")), pl.Int64())}  # fmt: skip
    rows = [{name: row.get(name) for name in schema} for row in wide.values()]
    return pl.DataFrame(rows, schema=schema)


def _table(rows: pl.DataFrame, plan: PlanFacts, caption: str) -> ReportTable:
    def value(title: str, name: str) -> TableColumn:
        return TableColumn(title, lambda r: number(r[f"{name}_estimate"]))

    def ends(name: str) -> TableColumn:
        return TableColumn(
            plan.interval, lambda r: interval(r[f"{name}_ci_low"], r[f"{name}_ci_high"])
        )

    columns = [
        *FROM,
        TableColumn("Judged", lambda r: r["condition"], "text"),
        value("Flagged", "share"),
        ends("share"),
        value("Of stereotype-consistent", "biased"),
    ]
    if rows["stereotype"].drop_nulls().is_empty():
        columns += [value("AUC", "auc"), ends("auc")]
    else:
        columns.insert(0, TableColumn("Stereotype", lambda r: plan.label(r["stereotype"]), "head"))
    if "published" in rows.columns and rows["published"].count():
        columns.append(TableColumn("Published", lambda r: number(r["published"], 3)))
    columns += [
        TableColumn("Judged / scored", lambda r: f"{r['share_n_scored']} / {r['share_n']}"),
        NOTE,
    ]
    return render_table(rows, caption, columns)
