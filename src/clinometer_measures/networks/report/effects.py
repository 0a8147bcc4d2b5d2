"""Effects in networks, of primes on the targets tied to them.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 3 to 7.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from clinometer.numbers import bracketed, count, interval, number, p_value
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import intervals, range_text
from clinometer.pieces.prose import cut, interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import Render, TableColumn, TableSpec, head
from clinometer.reference import load_published
from clinometer.texts import visible
from clinometer_measures.networks.report.activations import heat_maps
from clinometer_measures.networks.report.results import (
    LONGEST_WORD,
    NETWORK,
    PAGE_COLUMNS,
    PUBLISHED,
    Networks,
    dot,
    group_rows,
    render,
)

__all__ = [
    "PLACEBOS",
    "SCALE",
    "grey_bars",
    "list_effects",
    "list_effects_by_network",
    "remarks",
    "stereotype_section",
    "support_rule",
]

SCALE = (
    "Range −1 to 1, neutral 0. If all of many pairs lean the same way the effect is ±0.87; larger "
    "ones need very few pairs."
)
_STEREOTYPES = (
    "The two primes of a pair differ in their category and in little else. For every target the "
    "normalised activation by one prime is compared with that by the other. The effect is "
    "Wilcoxon’s z / √n over all pairs of primes and all targets of a set. It measures how "
    "consistently activation leans, not by how much."
)
_DEPENDENCE = (
    "The published p treats all pairs as independent observations, which they are not: {pairs}. "
    "It is labelled naive. The interval is a bootstrap over targets, with the primes fixed. p "
    "(primes swapped) is a permutation test: the two categories are swapped within pairs of "
    "primes, with the targets fixed.{least}"
)
_UNPLACED = (
    "An effect is supported if its interval excludes 0 and p (primes swapped) is at most .05."
)
_PLACEBOS = (
    "Where there is nothing to find the effect need not be 0: primes of one category may activate "
    "all words more, and related targets lean together after any primes. So each effect is "
    "compared with two kinds of placebos: {many:,} times the primes were replaced by arbitrary "
    "words of like degree and strength, and as often the targets. p (placebo): rank of the "
    "effect’s distance from the median of its placebos, two-sided. An effect is supported if both "
    "are at most .05, adjusted for the sets of targets (Holm). Its size is its distance from the "
    "mean of the placebos."
)


def stereotype_section(networks: Networks) -> Section | None:
    """Show how strongly primes of a category activate the targets that are tied to it.

    None where no stereotype was measured.
    """
    parts = networks.by_identity("network_effects", "stereotypes")
    if not parts:
        return None
    rows = pl.concat(parts)
    tables = [("", render(_EFFECTS, group_rows(part, "targets"))) for part in parts]
    if networks.replicates:
        published = _PUBLISHED.render(load_published(PUBLISHED, "network_effects"))
        tables.append(("Table of published effects", published))
    maps, note = heat_maps(networks)
    dependence = _DEPENDENCE.format(pairs=_pair_counts(rows), least=_least_p(rows))
    text = tuple(filter(None, (_STEREOTYPES, dependence, support_rule(rows), note)))
    effect_figures = name_figures(
        "network-stereotypes", (_stereotype_figure(part, networks) for part in parts)
    )
    notes = remarks(rows, lambda r: f"{r['label']}, {r['targets']} targets, {r['network']}")
    figures = (*effect_figures, *maps)
    return Section("network-stereotypes", "Stereotypes", text, figures, tuple(tables), notes)


def support_rule(frame: pl.DataFrame) -> str:
    """State when an effect is supported."""
    many = frame["n_resamples_placebo"].drop_nulls()
    return _PLACEBOS.format(many=many.max()) if len(many) else _UNPLACED


def _pair_counts(frame: pl.DataFrame) -> str:
    """Say how many pairs rest on how many targets, where every row has the same of each."""
    tested = frame.filter(pl.col("n") > 0, pl.col("n_clusters") > 0)
    sizes = tested.select("n", "n_clusters").unique()
    if sizes.height != 1:
        return "the pairs of a set share their targets and their primes"
    pairs, targets = sizes.row(0)
    return (
        f"the {pairs} pairs of a set share {targets} targets and {pairs // targets} pairs of primes"
    )


def _least_p(frame: pl.DataFrame) -> str:
    """State the least p that swapping can give, where every row has the same."""
    permuted = frame.filter(pl.col("n_resamples_permutation") > 0).drop_nulls("p_permutation")
    sizes = permuted["n_resamples_permutation"].unique()
    if len(sizes) != 1 or set(permuted["alternative"]) - {"greater", "less"}:
        return ""
    least = f"1/{sizes[0]} = {p_value(1 / sizes[0])}"
    return f" With {sizes[0]} arrangements the smallest possible p is {least}."


def _stereotype_figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw the effects: a column per set of targets, a line per network."""
    if part["estimate"].count() == 0:
        return None
    label = part["label"][0]
    marks = networks.marks
    rows = []
    for row in part.iter_rows(named=True):
        position = (marks[row["network"]], f"{row['targets']} targets", "")
        rows.append(dot(row, position, row["targets"], "p_permutation"))
    caption = (
        f"Effect of primes on sets of targets, per network: {label}. {SCALE} Right of the dotted "
        "line: stereotype-consistent, targets are activated more by the primes they are tied to. "
        f"Dot: effect; line: {interval_title(part)} (bootstrap over targets, primes fixed)."
        f"{grey_bars(part)}"
    )
    axis = Axis("Effect, stereotype-consistent positive", -1, 1, 0)
    return Figure("", caption, range_text(rows), intervals(rows, axis))


def grey_bars(part: pl.DataFrame) -> str:
    """Explain the grey bars of a figure, where there are any."""
    if part["turned_placebo_low"].count() == 0:
        return ""
    return f" Grey bar: {interval_title(part)} of the values of arbitrary primes (placebos)."


#: The placebos of each kind, where there are any: slopes of valence have no arbitrary targets.
PLACEBOS = (
    TableColumn(
        "Arbitrary primes",
        "turned_placebo_mean turned_placebo_low turned_placebo_high",
        bracketed,
        missing="",
        needs="p_placebo",
    ),
    TableColumn("p (placebo primes)", "p_placebo", p_value, needs="p_placebo"),
    TableColumn(
        "Arbitrary targets",
        "turned_placebo_mean_targets turned_placebo_low_targets turned_placebo_high_targets",
        bracketed,
        missing="",
        needs="p_placebo_targets",
    ),
    TableColumn("p (placebo targets)", "p_placebo_targets", p_value, needs="p_placebo_targets"),
)


_EFFECTS = TableSpec(
    "{label}: effects. {first} − {second}: as published, positive: {first} primes activate more. "
    "Turned: with positive as stereotype-consistent; the {interval} is of this value. Arbitrary "
    "primes, arbitrary targets: mean of the placebos, turned alike, and their interval. "
    "Arrangements: of the primes, for p (primes swapped). p (naive): one-sided, as published. p "
    "(Holm): p (naive) adjusted for all sets of targets of a network.",
    (
        head("targets"),
        NETWORK,
        TableColumn("{first} − {second}", "estimate", number),
        "turned",
        TableColumn("{interval}", "turned_low turned_high", interval),
        *PLACEBOS,
        "p_permutation",
        TableColumn("Arrangements", "n_resamples_permutation", count),
        "p",
        "p_holm",
        TableColumn("Pairs", "n", count),
        TableColumn("Words", "n_clusters", count),
    ),
    PAGE_COLUMNS,
)


_PUBLISHED = TableSpec(
    "Published effects (Abramski et al. 2025, figure 3, values of the released tables): gender, "
    "125 pairs each. For context, not as a benchmark: their networks have three answers per cue, "
    "from earlier models.",
    (
        head("targets"),
        NETWORK,
        TableColumn("female − male", "effect", number),
        TableColumn("Turned", "stereotype", number),
        "p",
    ),
    PAGE_COLUMNS,
)


def list_effects(part: pl.DataFrame, sides: Mapping[str, pl.Expr]) -> str:
    """List the effects on each side of a distinction."""
    texts = []
    for side, condition in sides.items():
        effects = part.filter(condition).select("targets", "turned")
        values = [f"{targets} {number(value)}" for targets, value in effects.iter_rows()]
        if values:
            texts.append(f"{side}: {', '.join(values)}")
    return "; ".join(texts)


def list_effects_by_network(part: pl.DataFrame, sides: Mapping[str, pl.Expr]) -> str:
    """List the effects of each network, for the summary of a figure."""
    sentences = []
    for rows in part.partition_by("network", maintain_order=True):
        effects = list_effects(rows, sides) or "no effects"
        sentences.append(f"{rows['network'][0]}: {effects}.")
    return " ".join(sentences)


def remarks(frame: pl.DataFrame, row_label: Render) -> tuple[str, tuple[str, ...]]:
    """List what rows note and which words their networks lack, for a section.

    `frame`: with ``missing`` and ``note``.
    `row_label`: names a row.
    Result: as `Section.notes`.
    """
    lines = []
    for row in frame.iter_rows(named=True):
        words = [cut(visible(word), LONGEST_WORD) for word in row["missing"] or [] if word]
        absent = ", ".join(words)
        notes = [row["note"] or "", f"not in the network: {absent}" if absent else ""]
        if any(notes):
            lines.append(f"{row_label(row)}: {'; '.join(filter(None, notes))}.")
    return "Missing words and notes", tuple(lines)
