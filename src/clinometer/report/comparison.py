"""The page of a comparison: the verdict, the differences, what changed, and answers behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.errors import InputError
from clinometer.reference import load_published
from clinometer.report.drawing.charts import Axis
from clinometer.report.drawing.figures import Figure, drawn
from clinometer.report.drawing.intervals import forest
from clinometer.report.facts import Facts, read_facts
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import (
    bracketed,
    capital,
    category_title,
    cut,
    interval,
    number,
    p_value,
    verdict,
    verdict_class,
)
from clinometer.report.sections import (
    Exchange,
    Finding,
    Passage,
    Quote,
    ReportPart,
    Section,
    Summary,
    Term,
    made_with,
    read_family,
)
from clinometer.report.tables import VERDICT, ReportTable, TableCell, TableColumn, render_table
from clinometer.results import CONDITIONS
from clinometer.results.verdicts import (
    BETTER,
    VERDICTS,
    WORSE,
    explained,
    restriction_of,
    verdict_kind,
)

__all__ = ["FACTS", "comparison_part"]

FACTS = "comparison.json"

#: Characters of a prompt or answer that are shown.
LONGEST = 1500

#: Changes that the first screen names.
MOST_CHANGED = 5

#: Width of the labels and of what is drawn on the first screen, in pixels: half a page.
_LABELS, _WIDTH = 110, 400

_NO_CHANGE = "No category or stereotype is worse or better."

_LIMITS = (
    "“Not worse” holds for what both were asked, and for the margin. It does not say that either "
    "is free of bias.",
    "A difference in word associations or in chosen decisions does not predict harm in use; "
    "measure that with the task itself.",
    "Intervals generalise to other wordings, group words, draws and answers, for these stereotypes "
    "and attribute words.",
)
_MEASURED = (
    "Each difference is candidate minus baseline. Positive differences of scores are more "
    "stereotype-consistent: worse. Trials that are the same in both runs are compared in pairs, so "
    "that what they have in common (wording, words, order) cancels; others are compared by "
    "stereotype."
)


def comparison_part(directory: Path) -> ReportPart | None:
    """Make the page of a comparison; None where the directory holds none.

    Raises InputError or PlanError if a file is malformed, or the comparison was not finished.
    """
    if not (directory / FACTS).is_file():
        return None
    facts = read_facts(directory / FACTS)
    if facts.raw.get("complete") is not True:
        raise InputError(f"{directory}: the comparison was not finished; repeat its command")
    found = read_family(directory, "comparison")
    if found is None:
        raise InputError(f"{directory}: no estimates; repeat the command of the comparison")
    estimates, details = found
    differences = estimates.filter(factor="model", method="clustered").drop_nulls("verdict")
    own = estimates.filter(pl.col("factor").is_null())
    runs = (facts.part("baseline"), *facts.parts("candidates"))
    names = tuple(one.text("label") for one in runs)
    sections = (
        _difference_section(differences, facts),
        _change_section(differences, own, names),
        _other_section(estimates),
        _answer_section(details["answer_pairs"]),
        _published_section(differences),
    )
    decisions = facts.parts("decisions")
    return ReportPart(
        key="comparison",
        title="Comparison",
        headline=f"{', '.join(names[1:])} against {names[0]}",
        version=facts.text("clinometer"),
        created=facts.text("created"),
        names=names,
        facts=_terms(facts, names),
        measured=(
            Passage("Differences", (_MEASURED,)),
            Passage("Verdicts", (), terms=_verdicts(differences)),  # folded, as all but the first
        ),
        findings=tuple(_finding(one) for one in decisions),
        summary=_summary(differences, facts, names),
        sections=tuple(filter(None, sections)),
        limits=_LIMITS,
        setting=tuple(
            Term(one.text("candidate"), "; ".join(one.texts("matched"))) for one in decisions
        ),
    )


def _terms(facts: Facts, names: Sequence[str]) -> tuple[Term, ...]:
    """Say what was compared, by which version and when."""
    margin = number(facts.number("margin"))
    compared = (("Baseline", names[0]), ("Candidates", ", ".join(names[1:])), ("Margin", margin))
    made = made_with(facts.text("clinometer"), facts.text("created"))
    return (
        *made,
        *(Term(*term) for term in compared),
    )


def _summary(differences: pl.DataFrame, facts: Facts, names: Sequence[str]) -> Summary:
    """Say what is decided, what changed, and what that rests on, for the head of the page."""
    decisions, several = facts.parts("decisions"), len(names) > 2
    own = pl.col("control").is_null() & pl.col("explicit").fill_null(False).not_()
    shown = differences.filter(own, pl.col("level").is_in(["model", "category"]))
    if several:
        shown = shown.filter(level="model")
    changed = [(one.text("candidate"), text) for one in decisions for text in one.texts("changed")]
    lines = [f"{name}: {text}" if several else text for name, text in changed]
    if left := len(lines) - MOST_CHANGED:
        lines[MOST_CHANGED:] = [f"And {left} more, below."] if left > 0 else []
    figure = None
    if not shown.is_empty():
        figure = _figure(shown, "all instruments", facts, 0, _short_names(shown))
    return Summary(
        title=f"{', '.join(names[1:])} (candidate) against {names[0]} (baseline) · margin "
        f"{number(facts.number('margin'))}",
        decided=tuple(
            f"{one.subject}: {one.text}" if several else capital(one.text)
            for one in map(_finding, decisions)
        ),
        found=(),
        sure=(("What changed", tuple(map(_arrows, lines)) or (_NO_CHANGE,)),),
        then=(("Not shown", _LIMITS[:1]),),
        strongest=(),
        figure=figure,
        table=None if shown.is_empty() else _overview(shown, names[1:]),
    )


def _short_names(rows: pl.DataFrame) -> dict[str, str]:
    """Name each instrument by what tells it apart: what `_where` says → name."""
    columns = ("study", "dimension", "mode")
    telling = [name for name in columns if rows[name].n_unique() > 1]
    found = {}
    for where, part in _by_instrument(rows):
        row = part.row(0, named=True)
        name = capital(row["instrument"].replace("_", " "))
        found[where] = ", ".join([name, *(row[one] for one in telling if row[one])])
    return found


def _overview(rows: pl.DataFrame, candidates: Sequence[str]) -> ReportTable:
    """Set out the differences, an instrument a column, a category or a candidate a row."""
    several, parts = len(candidates) > 1, _by_instrument(rows)
    each = [list(part.iter_rows(named=True)) for _, part in parts]
    by = (lambda row: row["candidate"] or "") if several else _name
    lines = sorted({by(row): row["level"] != "model" for part in each for row in part}.items(),
                   key=lambda one: one[1])  # fmt: skip
    cells = [{by(row): row for row in part} for part in each]
    body = [
        (TableCell(cut(name, 40), head=True), *(_mark(found.get(name)) for found in cells))
        for name, _ in lines
    ]
    heads = ["Candidate" if several else "Category", *_short_names(rows).values()]
    caption = (
        "Candidate − baseline. ▲ worse: leans more as the stereotype says; ▼ better; ■ not worse "
        "by more than the margin; ○ open."
    )
    return ReportTable(caption, tuple(map(TableCell, heads)), tuple(body))


def _mark(row: Mapping[str, Any] | None) -> TableCell:
    if row is None:
        return TableCell("")
    style = f"verdict {verdict_class(row['verdict'])}".strip()
    difference = number(row["estimate"], signed=True)
    return TableCell(f"{difference} {verdict(row['verdict'])}", style)


def _arrows(text: str) -> str:
    return text.replace(" -> ", " → ")


def _finding(decision: Facts) -> Finding:
    """Say the verdict of a candidate; what changed stands open below."""
    return Finding(decision.text("candidate"), f"{_arrows(decision.text('text'))}.")


def _verdicts(differences: pl.DataFrame) -> tuple[Term, ...]:
    """Explain the verdicts that were given."""
    given, order = differences["verdict"].drop_nulls().unique(maintain_order=True), [*VERDICTS]
    known = [one for one in given if explained(one)]
    known.sort(key=lambda one: order.index(one.removesuffix(restriction_of(one))))
    return tuple(Term(one, explained(one)) for one in known)


def _where(row: Mapping[str, Any]) -> str:
    """Name the instrument, study, mode and dimension of a row."""
    names = (row[name] for name in ("instrument", "study", "dimension", "mode"))
    return ", ".join(name for name in names if name)


def _name(row: Mapping[str, Any]) -> str:
    """Name what a row is about."""
    if row["stereotype"]:
        return str(row["stereotype"]).replace("_", " ")
    return category_title(row["category"]) if row["category"] else "All"


def _difference_section(differences: pl.DataFrame, facts: Facts) -> Section | None:
    """Show the differences of the model and of each category, with the margin."""
    shown = differences.filter(
        pl.col("level").is_in(["model", "category"]), pl.col("control").is_null()
    )
    if shown.is_empty():
        return None
    figures = tuple(
        _figure(part, where, facts, place)
        for place, (where, part) in enumerate(_by_instrument(shown), 1)
    )
    return Section(
        key="differences",
        title="Differences",
        text=(
            "Right of the dotted line the candidate is more stereotype-consistent than the "
            "baseline. It is worse where a thin line lies right of 0, better where one lies left "
            "of it. Where a broad line ends left of the band’s right edge, it is not worse by more "
            "than the margin.",
        ),
        figures=figures,
        tables=(("Table of differences", _difference_table(shown)),),
        open=True,
    )


def _by_instrument(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    keys = ["instrument", "study", "mode", "dimension"]
    parts = rows.group_by(keys, maintain_order=True)
    return [(_where(part.row(0, named=True)), part) for _, part in parts]


def _figure(
    rows: pl.DataFrame,
    where: str,
    facts: Facts,
    place: int,
    names: Mapping[str, str] | None = None,
) -> Figure:
    """Draw differences; with `names`, those of several instruments in a narrow figure."""
    margin = facts.number("margin")
    ends = rows.select(pl.max_horizontal(pl.col("estimate", "ci_low", "ci_high").abs())).max()
    span = max(float(ends.item() or 0.0), 2.0 * (margin or 0.0))
    reach = next(end for end in (0.1, 0.2, 0.3, 0.5, 1.0, 2.0) if span <= end or end == 2.0)
    axis = Axis("Candidate − baseline", -reach, reach, 0.0, margin)
    order = pl.col("level").replace_strict({"model": 0, "category": 1}, return_dtype=pl.Int64)
    dots = [
        {
            **drawn({**row, "label": _name(row)}, PlanFacts(), row["candidate"]),
            "alone_low": row["pointwise_low"],
            "alone_high": row["pointwise_high"],
            "block": (names or {}).get(_where(row), ""),
        }
        for row in rows.sort(order, maintain_order=True).iter_rows(named=True)
    ]
    caption = (
        f"Differences in {where}: dot, mean; thin line, interval of all rows together, for worse "
        "and better; broad line, interval of each row alone, for the margin, which is the band."
    )
    summary = " ".join(
        f"{_name(row)}, {row['candidate']}: "
        f"{bracketed(row['estimate'], row['ci_low'], row['ci_high'])}."
        for row in rows.filter(level="model").iter_rows(named=True)
    )
    if names:
        drawing = forest(dots, axis, labels=_LABELS, width=_WIDTH)
    else:
        drawing = forest(dots, axis)
    return Figure(f"difference-{place}", caption, summary, drawing)


def _difference_table(rows: pl.DataFrame) -> ReportTable:
    columns = [
        TableColumn("About", _name, "head"),
        TableColumn("Candidate", lambda r: r["candidate"] or "", "text", fold=True),
        TableColumn("Measured with", _where, "text", fold=True),
        TableColumn("Baseline", lambda r: number(r["baseline_estimate"])),
        TableColumn("Candidate's", lambda r: number(r["candidate_estimate"])),
        TableColumn("Difference", lambda r: number(r["estimate"], signed=True)),
        TableColumn("95% interval, of all", lambda r: interval(r["ci_low"], r["ci_high"])),
        TableColumn("Of the row", lambda r: interval(r["pointwise_low"], r["pointwise_high"])),
        TableColumn("p (Bonferroni)", lambda r: p_value(r["p_bonferroni"])),
        VERDICT,
    ]
    return render_table(rows, "Difference of the means, candidate − baseline.", columns)


def _change_section(
    differences: pl.DataFrame, own: pl.DataFrame, names: Sequence[str]
) -> Section | None:
    """Show each stereotype with the verdict of each run by itself, those that changed first."""
    keys = ["study", "instrument", "mode", *CONDITIONS, "word_list", "scoring", "dimension"]
    keys += ["level", "category", "stereotype"]
    each = differences.filter(level="stereotype")
    if each.is_empty():
        return None
    for side, on in (("baseline", "baseline"), ("candidate", "candidate")):
        verdicts = own.select(*keys, pl.col("model").alias(on), pl.col("verdict").alias(f"{side}_"))
        each = each.join(verdicts, on=[*keys, on], how="left", nulls_equal=True)
    told = verdict_kind(pl.col("verdict")).is_in([WORSE, BETTER])
    flipped = pl.col("baseline_").ne_missing(pl.col("candidate_"))
    rows = each.sort(~told, ~flipped, pl.col("estimate") * -1.0, maintain_order=True)
    columns = [
        TableColumn("Stereotype", _name, "head"),
        TableColumn("Candidate", lambda r: r["candidate"] or "", "text", fold=True),
        TableColumn("Measured with", _where, "text", fold=True),
        TableColumn("Baseline by itself", lambda r: verdict(r["baseline_"]), "text"),
        TableColumn("Candidate by itself", lambda r: verdict(r["candidate_"]), "text"),
        TableColumn("Difference", lambda r: number(r["estimate"], signed=True)),
        TableColumn("95% interval, of all", lambda r: interval(r["ci_low"], r["ci_high"])),
        TableColumn("Of the row", lambda r: interval(r["pointwise_low"], r["pointwise_high"])),
        VERDICT,
    ]
    changed = rows.filter(told | flipped)
    caption = "Stereotypes that are worse or better, or whose own verdict is another."
    tables = [("Every stereotype", render_table(rows, "Differences per stereotype.", columns))]
    if not changed.is_empty():
        tables.insert(0, ("", render_table(changed, caption, columns)))
    text = (
        "Two runs can have different verdicts by themselves although no difference between them "
        "can be told: one lies just below a limit, the other just above. The difference decides.",
    )
    return Section("changed", "What changed", text=text, tables=tuple(tables), open=True)


def _other_section(estimates: pl.DataFrame) -> Section | None:
    """List differences of networks and hidden states, the largest first."""
    rows = estimates.filter(matched_by="estimate").drop_nulls("p").sort("p", maintain_order=True)
    if rows.is_empty():
        return None

    def about(row: Mapping[str, Any]) -> str:
        names = ("stereotype", "identity", "targets", "words", "dimension", "first", "second")
        return ", ".join(dict.fromkeys(str(row[name]) for name in names if row[name]))

    columns = [
        TableColumn("Measure", lambda r: str(r["measure"]).replace("_", " "), "head"),
        TableColumn("About", about, "text"),
        TableColumn("Layer", lambda r: r["layer"] or "", "text"),
        TableColumn("Candidate", lambda r: r["candidate"] or "", "text", fold=True),
        TableColumn("Difference", lambda r: number(r["estimate"], signed=True)),
        TableColumn("95% interval", lambda r: interval(r["ci_low"], r["ci_high"])),
        TableColumn("p", lambda r: p_value(r["p"])),
    ]
    table = render_table(rows.head(40), "The 40 with the smallest p, unadjusted.", columns)
    text = (
        f"{rows.height:,} estimates that both have. The runs are taken as independent, which is "
        "conservative where they share words; p is not adjusted.",
    )
    return Section("others", "Networks and hidden states", text=text, tables=(("Table", table),))


def _answer_section(pairs: pl.DataFrame) -> Section | None:
    """Show answers to the same trial, of stereotypes that changed."""
    if pairs.is_empty():
        return None
    groups = pairs.group_by("candidate", "stereotype", "instrument", maintain_order=True)
    examples = []
    for (candidate, stereotype, instrument), part in groups:
        shown = tuple(_exchange(row) for row in part.iter_rows(named=True))
        examples.append((f"{stereotype} ({instrument}), {candidate}", shown))
    return Section(
        key="answers",
        title="Answers behind the changes",
        text=("Of each stereotype that changed, the trials whose answers moved most.",),
        examples=tuple(examples),
    )


def _exchange(row: Mapping[str, Any]) -> Exchange:
    def quote(label: str, text: str | None) -> Quote:
        return Quote.whole(label, (text or "")[:LONGEST])

    quotes = (
        quote("Prompt", row["prompt"]),
        quote(f"{row['baseline']}: {number(row['baseline_score'])}", row["baseline_response"]),
        quote(f"{row['candidate']}: {number(row['candidate_score'])}", row["candidate_response"]),
    )
    words = " / ".join(row[name] for name in ("marginalized", "default") if row[name])
    return Exchange(f"{row['variation']}, {words}, {row['trial_id']}", quotes)


def _published_section(differences: pl.DataFrame) -> Section | None:
    """Set the means of both runs beside those of the papers' models."""
    rows = differences.filter(
        level="model", study="bai2025", instrument="word_association", intervention="none"
    )
    if rows.is_empty():
        return None
    source = load_published("bai2025").filter(table="S6", level="model")
    published = source.select(name="model", mean="mean", whose=pl.lit("Bai et al. (2025)"))
    row = rows.row(0, named=True)
    ours = [{"name": row["baseline"], "mean": row["baseline_estimate"], "whose": "baseline"}]
    ours += [
        {"name": r["candidate"], "mean": r["candidate_estimate"], "whose": "candidate"}
        for r in rows.iter_rows(named=True)
    ]
    columns = [
        TableColumn("Model", lambda r: r["name"], "head"),
        TableColumn("Source", lambda r: r["whose"], "text"),
        TableColumn("Mean score", lambda r: number(r["mean"])),
    ]
    whole = pl.concat([pl.DataFrame(ours, schema=published.schema), published]).sort(
        "mean", descending=True
    )
    table = render_table(whole, "Word association, mean over all stereotypes.", columns)
    text = (
        "Means of eight models as published (replication, SI Table S6), from free text in spring "
        "2024: context, not a yardstick.",
    )
    return Section("published", "Beside the papers' models", text=text, tables=(("", table),))
