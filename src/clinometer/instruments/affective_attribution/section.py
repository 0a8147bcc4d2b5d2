"""Comedy or tragedy: what a model calls its description of a thing after thinking of a group.

Reference: Li et al. 2025, MIST, arXiv:2506.14161, equations 2 and 3, Table 2, figures 5 and 9.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import polars as pl

from clinometer.authoring import Published, load_published
from clinometer.instruments.affective_attribution.attributions import DETAILS, FAR_UAR, SHARES
from clinometer.pieces import (
    FROM,
    STEREOTYPE,
    WORST,
    Axis,
    Figure,
    InstrumentResults,
    Match,
    PlanFacts,
    ReportTable,
    Row,
    Section,
    TableColumn,
    TableSpec,
    around_zero,
    bars,
    clustered,
    compare_published,
    forest,
    head,
    in_order,
    number,
    out_of,
    per_mode,
    percent,
    share_summary,
)

__all__ = ["attribution_section", "published_shares"]

#: The two groups of a stereotype stand one under the other.
GROUPS = ("marginalized", "default")
_OUTCOMES = ("comedy", "tragedy", "neutral")
#: Which of the shares in Table 2 of MIST are rates.
_RATES = {("comedy_share", "default"): " (FAR)", ("tragedy_share", "marginalized"): " (UAR)"}
_PUBLISHED = {
    "mist2025": Published(
        "mist2025",
        "2",
        "Table 2",
        "Li et al. (2025) tested eight models.",
        "They come from free text at another time and name comedy first throughout. The source "
        "gives no number of answers, no intervals and no test of the difference between the "
        "groups.",
    )
}

#: Above this many models and modes there is only the table.
MOST_SENTENCES = 4
#: What became of all answers asked for; the last two have no outcome.
_PARTS = (
    ("comedy", "var(--comedy)"),
    ("neutral", "var(--undecided)"),
    ("tragedy", "var(--tragedy)"),
    ("refused", "var(--refused)"),
    ("not read", "var(--unparsed)"),
)
#: The block of what pools stereotypes.
_POOLED = "Per category and over all"

_LEVELS = (
    "FAR, the share of comedy for the default groups, and UAR, the share of tragedy for the "
    "marginalized groups, are levels and no biases: a model that calls everything a tragedy has a "
    "UAR of 1 and treats both groups alike. A bias is a difference between the groups: compare the "
    "two bars of a stereotype, and see the differences below them. Shares are of the answers "
    "read; refused and unread answers are counted beside them."
)
_ASYMMETRY = (
    "Is FAR higher than UAR? Li et al. (2025), section 4.4, distinguish models that favour the "
    "default groups from models that disfavour the marginalized ones by this. FAR − UAR is no "
    "difference between the groups: where no answer is neutral, it is the share of comedy less "
    "that of tragedy over both groups, and FAR + UAR − 1 is the difference in comedy between them. "
    "A model without bias that calls most descriptions a comedy has a high FAR − UAR."
)
_ON_DIFFERENCES = {
    "paired": "Differences compare descriptions of the same object in the same wording after "
    "thinking of either group.",
    "afterwards": "The groups were drawn at random, so answers have no natural partner. Answers in "
    "the same wording were paired afterwards, in the order of the objects; the two answers of a "
    "pair need not be about the same object.",
    "unpaired": "There are no pairs in these results: no object was described after both groups. "
    "The difference of the shares therefore has no paired test here.",
    "no comedy": "Nothing was called comedy, so its share has no difference to draw.",
}


def attribution_section(results: InstrumentResults) -> Section | None:
    """Show what descriptions were called, and how the groups differ."""
    plan = results.plan
    contrasts = clustered(results.tables.rows.filter(factor="version"))
    # A version that is neither group is null, and left out.
    group = pl.col("version").cast(pl.Enum(GROUPS), strict=False)
    attributions = results.tables.details["attributions"].filter(group.is_not_null())
    frame = in_order(attributions.sort(group, maintain_order=True), plan)
    if frame.is_empty():
        return None
    model_rows = frame.filter(level="model")
    parts = frame.filter(pl.col("level") != "model")
    comedy = contrasts.filter(measure=SHARES["comedy"].name)
    comedy_parts = comedy.filter(pl.col("level").is_in(["stereotype", "category"]))
    separate = [SHARES["comedy"].name, FAR_UAR.name]
    tragedy_and_neutral = contrasts.filter(~pl.col("measure").is_in(separate), level="model")
    asymmetry = contrasts.filter(measure=FAR_UAR.name)
    by_level = asymmetry.sort("level", maintain_order=True)
    tables = (
        ("", _SHARES.render(_with_parts(model_rows), scope=", over all stereotypes")),
        ("", _difference_table(comedy.filter(level="model"), plan)),
        ("Table of shares per stereotype and category",
         _SHARES.render(_with_parts(parts), scope="")),
        ("Table of differences per stereotype and category", _difference_table(comedy_parts, plan)),
        ("Table of differences in tragedy and neutral",
         _difference_table(tragedy_and_neutral, plan)),
        ("FAR against UAR", _RATES_COMPARED.render(by_level, interval=plan.interval)),
    )  # fmt: skip
    shares = _share_figures(frame.filter(level="stereotype"))
    return Section(
        key="attributions",
        title="Affective attributions",
        short="Attributions",
        place="before",
        text=(_LEVELS, *_level_sentences(model_rows), _ON_DIFFERENCES[_pairing(contrasts)]),
        figures=(*shares, *_difference_figures(comedy, results)),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _pairing(contrasts: pl.DataFrame) -> str:
    """Return which of `_ON_DIFFERENCES` holds of the differences."""
    if contrasts.is_empty():
        return "unpaired"
    if SHARES["comedy"].name not in contrasts["measure"]:
        return "no comedy"
    return "paired" if contrasts["note"].is_null().all() else "afterwards"


def _level_sentences(model_rows: pl.DataFrame) -> list[str]:
    """State the levels of a few models and modes, and how often the first option was chosen."""
    parts = model_rows.partition_by("model", "mode", maintain_order=True)
    return [_level_sentence(part) for part in parts] if len(parts) <= MOST_SENTENCES else []


def _level_sentence(part: pl.DataFrame) -> str:
    """State the levels of one model and mode; `part` has a row per group."""
    by_group = {row["version"]: row for row in part.iter_rows(named=True)}
    far = percent(by_group.get("default", {}).get("far"))
    uar = percent(by_group.get("marginalized", {}).get("uar"))
    neutral = "; ".join(
        f"{percent(by_group[group]['neutral_share'])} {group}"
        for group in GROUPS
        if group in by_group
    )
    weight = pl.col("n_comedy") + pl.col("n_tragedy")
    ordered = part.drop_nulls("first_share").filter(weight > 0)
    first = ordered.select((pl.col("first_share") * weight).sum() / weight.sum()).item()
    return (
        f"{part['model'][0]}, mode {part['mode'][0]}: FAR {far}, UAR {uar}; neither comedy nor "
        f"tragedy: {neutral}. Of the answers comedy and tragedy, "
        f"{percent(None if ordered.is_empty() else first)} chose the one named first (50% if the "
        "order has no effect)."
    )


def _share_figures(frame: pl.DataFrame) -> tuple[Figure, ...]:
    """Draw what all answers became, a bar per stereotype and group."""
    outcomes = (pl.col("n_comedy"), pl.col("n_neutral"), pl.col("n_tragedy"), pl.col("n_refused"))
    unread = pl.col("n") - pl.col("n_read") - pl.col("n_refused")
    counts = pl.concat_list(part.cast(pl.Float64) for part in (*outcomes, unread))
    caption = (
        "What descriptions were called, per stereotype and group thought of. Shares of all answers "
        "asked for. Not read: without an outcome for another reason than refusal."
    )

    def draw(rows: list[Row]) -> Row:
        """Draw the bars of one mode."""
        labelled = [{**row, "label": f"{row['label']} · {row['variation']}"} for row in rows]
        return bars(labelled, _PARTS)

    return per_mode(
        "attributions",
        caption,
        frame.with_columns(counts=counts, variation="version", n_scored="n_read"),
        draw,
        partial(share_summary, parts=_PARTS),
    )


def _difference_figures(comedy: pl.DataFrame, results: InstrumentResults) -> tuple[Figure, ...]:
    """Draw the differences in the share of comedy, a figure per mode."""
    differences = comedy.filter(pl.col("level").is_in(["stereotype", "category", "model"]))
    share = replace(results.measure, low=0.0, high=1.0)  # its difference is from −1 to 1
    axis = around_zero("Share of comedy, default − marginalized", differences, share)
    caption = (
        "Difference in the share of comedy, default − marginalized group, in pairs of answers. "
        f"Dot: mean difference; thick line: clustered {results.plan.interval}; thin line: "
        f"{WORST}. Range −1 to 1, neutral 0; positive: "
        "descriptions are called comedy more often after the default group."
    )

    def draw(rows: list[Row]) -> Row:
        """Draw the differences of one mode; what pools stereotypes comes last."""
        blocks = [{**row, "block": row["block"] or _POOLED} for row in rows]
        return forest(sorted(blocks, key=lambda r: r["block"] == _POOLED), axis)

    return per_mode("differences", caption, differences, draw)


def _rate(rate: float | None, group: str, rated_group: str) -> str:
    """Write a rate in the rows of its group."""
    return number(rate) if group == rated_group else "–"


#: What rows are about, where not all are over all stereotypes.
_ABOUT = TableColumn(STEREOTYPE.title, "about_part", align="head", needs="about_part")
_DECLARED = DETAILS["attributions"].own
_SHARES = TableSpec(
    "What descriptions were called{scope}. Shares are of the answers read; FAR is the share of "
    "comedy for the default group, UAR that of tragedy for the marginalized group. First named: "
    "share of the option named first among comedy and tragedy; .50 without an effect of order.",
    (
        _ABOUT,
        head("version", "Group"),
        *FROM,
        *(f"{name}_share" for name in _OUTCOMES),
        TableColumn("FAR", "far version", partial(_rate, rated_group="default")),
        TableColumn("UAR", "uar version", partial(_rate, rated_group="marginalized")),
        "n_refused",
        TableColumn("Read / asked", "n_read n", out_of),
        TableColumn("First named", "first_share", number),
    ),
    _DECLARED,
)
_PAIRS = TableColumn("Pairs read / asked", "n_scored n", out_of)
_DIFFERENCES = TableSpec(
    "Difference in the share of {shares}{scope}, default − marginalized: range −1 to 1, neutral 0. "
    "In pairs of answers; p (Bonferroni) is adjusted for the number of rows of a level, t and p "
    "(naive) treat pairs as independent.",
    (
        _ABOUT,
        head("share", "Share"),
        *FROM,
        TableColumn("Default", "candidate_estimate", number),
        TableColumn("Marginalized", "baseline_estimate", number),
        TableColumn("Difference", "estimate", number),
        "interval",
        "p_bonferroni",
        "statistic_published",
        "p_published",
        "bounds",
        _PAIRS,
    ),
)


def _difference_table(frame: pl.DataFrame, plan: PlanFacts) -> ReportTable:
    """Set out differences in one share, or in two."""
    rows = _with_parts(frame.with_columns(share=pl.col("measure").str.strip_suffix("_share")))
    shares = " and ".join(rows["share"].unique(maintain_order=True))
    scope = "" if rows["about_part"].count() else " over all stereotypes"
    return _DIFFERENCES.render(rows, interval=plan.interval, shares=shares, scope=scope)


def _with_parts(frame: pl.DataFrame) -> pl.DataFrame:
    """Name what rows are about, unless all are over all stereotypes."""
    is_pooled = set(frame["level"]) <= {"model"}
    return frame.with_columns(about_part=pl.lit(None, pl.String) if is_pooled else "about")


_RATES_COMPARED = TableSpec(
    _ASYMMETRY,
    (
        STEREOTYPE,
        *FROM,
        TableColumn("FAR", "candidate_estimate", number),
        TableColumn("UAR", "baseline_estimate", number),
        TableColumn("FAR − UAR", "estimate", number),
        "interval",
        "p_bonferroni",
        _PAIRS,
    ),
)


def published_shares(results: InstrumentResults) -> Section | None:
    """Set the published shares of either group beside these; None for another study."""
    source = _PUBLISHED.get(results.study)
    if source is None:
        return None
    printed = load_published(source.study, results.instrument).filter(table=source.table)
    model_rows = results.tables.details["attributions"].filter(level="model")
    match = Match(
        _share_rows(model_rows.with_columns(n_scored="n_read"), "estimate"),
        _share_rows(printed.with_columns(version="group"), "mean"),
        "{model}, {group} groups: {note}.",
        axis=Axis("Share of the answers read", 0, 1, None),
        scale="Shares of the answers read, 0 to 1; there is no neutral value.",
    )
    return compare_published(match, source, results)


def _share_rows(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a row per share and group, labelled, with the share in the column `name`."""
    rows = []
    for measure in SHARES.values():
        share = measure.name
        for group in reversed(GROUPS):
            title = f"{share.removesuffix('_share').capitalize()}, {group}"
            label = pl.lit(title + _RATES.get((share, group), ""))
            group_rows = frame.filter(version=group)
            rows.append(group_rows.with_columns(pl.col(share).alias(name), label=label))
    return pl.concat(rows)
