"""Effects in networks: of primes on the targets tied to them, and on the words of emotions.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 3 to 7, 12 and 13.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tiltmeter.reference import load_published
from tiltmeter.report.drawing.charts import Axis
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import intervals, range_text
from tiltmeter.report.networks.activations import heat_maps
from tiltmeter.report.networks.results import (
    LONGEST_WORD,
    NETWORK,
    PUBLISHED,
    Networks,
    dot,
    together,
)
from tiltmeter.report.prose import (
    ALPHA,
    bracketed,
    cut,
    interval,
    interval_title,
    number,
    p_value,
)
from tiltmeter.report.sections import Section, named
from tiltmeter.report.tables import Column, Render, Table, alike, count, render_table
from tiltmeter.texts import visible

__all__ = ["SCALE", "SHOWN", "emotion_section", "emotion_sides", "grey_bars", "listed",
           "listed_by_network", "placebo_columns", "remarks", "stereotype_section"]  # fmt: skip

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
_EMOTIONS = (
    "Both primes of an identity are activated. For every word that a lexicon ties to an emotion "
    "the normalised activation by one prime is compared with that by the other. The effect is "
    "Wilcoxon’s z / √n over the words of the emotion. No direction is stereotype-consistent."
)
_NORM = (
    "Results depend on the norm. Here activations were divided by the {norms} norm. With the L2 "
    "norm the paper found that all emotions of a network lean the same way, joy as well as sadness "
    "(figure 13). It chose the L1 norm because its results were closer to what a theory of "
    "emotions expects. A norm that is chosen by its results gives no independent finding; the "
    "section on sensitivity has both. Neighbouring words share activation, so intervals are too "
    "narrow and p values too small. With one pair of primes there is no permutation test. Many "
    "words belong to several emotions."
)


def stereotype_section(networks: Networks) -> Section | None:
    """Show how strongly primes of a category activate the targets that are tied to it.

    None where no stereotype was measured.
    """
    parts = networks.of("network_effects", "stereotypes")
    if not parts:
        return None
    every = pl.concat(parts)
    tables = [("", _stereotype_table(part)) for part in parts]
    if networks.replicates:
        tables.append(("Table of published effects", _published()))
    maps, note = heat_maps(networks)
    dependence = _DEPENDENCE.format(pairs=_pair_counts(every), least=_least_p(every))
    text = tuple(filter(None, (_STEREOTYPES, dependence, _rule(every), note)))
    drawn = named("network-stereotypes", (_stereotype_figure(part, networks) for part in parts))
    notes = remarks(every, lambda r: f"{r['label']}, {r['targets']} targets, {r['network']}")
    figures = (*drawn, *maps)
    return Section("network-stereotypes", "Stereotypes", text, figures, tuple(tables), notes)


def _rule(frame: pl.DataFrame) -> str:
    """State when an effect is supported."""
    many = frame["n_resamples_placebo"].drop_nulls()
    return _PLACEBOS.format(many=many.max()) if len(many) else _UNPLACED


def _pair_counts(frame: pl.DataFrame) -> str:
    """Say how many pairs rest on how many targets, where every row has the same of each."""
    known = frame.filter(pl.col("n") > 0, pl.col("n_clusters") > 0)
    sizes = known.select("n", "n_clusters").unique()
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
    label, marks = part["label"][0], networks.marks
    rows = [
        dot(row, (marks[row["network"]], f"{row['targets']} targets", ""), row["targets"],
            "p_permutation")
        for row in part.iter_rows(named=True)
    ]  # fmt: skip
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


def placebo_columns(part: pl.DataFrame) -> list[Column]:
    """Give the columns of the placebos, where there are any."""
    if part["p_placebo"].count() == 0:
        return []
    named = {"primes": "", "targets": "_targets"}
    return [
        column
        for what, ending in named.items()
        if f"p_placebo{ending}" in part.columns
        for column in (
            Column(f"Arbitrary {what}", _placebo_cell(ending)),
            *alike(p_value, {f"p (placebo {what})": f"p_placebo{ending}"}),
        )
    ]


def _placebo_cell(ending: str) -> Render:
    names = [f"turned_placebo_{end}{ending}" for end in ("mean", "low", "high")]
    return lambda r: "" if r[names[0]] is None else bracketed(*(r[name] for name in names))


def _stereotype_table(part: pl.DataFrame) -> Table:
    first, second, title = part["first"][0], part["second"][0], interval_title(part)
    return render_table(
        together(part, "targets"),
        f"{part['label'][0]}: effects. {first} − {second}: as published, positive: {first} primes "
        "activate more. Turned: with positive as stereotype-consistent; the "
        f"{title} is of this value. Arbitrary primes, arbitrary targets: mean of the placebos, "
        "turned alike, and their interval. Arrangements: of the primes, for p (primes swapped). p "
        "(naive): one-sided, as published. p (Holm): p (naive) adjusted for all sets of targets of "
        "a network.",
        [
            Column("Targets", lambda r: r["targets"], "head"),
            NETWORK,
            *alike(number, {f"{first} − {second}": "estimate", "Turned": "turned"}),
            Column(title, lambda r: interval(r["turned_low"], r["turned_high"])),
            *placebo_columns(part),
            Column("p (primes swapped)", lambda r: p_value(r["p_permutation"])),
            Column("Arrangements", lambda r: count(r["n_resamples_permutation"])),
            *alike(p_value, {"p (naive)": "p", "p (Holm)": "p_holm"}),
            *alike(count, {"Pairs": "n", "Words": "n_clusters"}),
        ],
    )


def _published() -> Table:
    return render_table(
        load_published(PUBLISHED, "network_effects"),
        "Published effects (Abramski et al. 2025, figure 3, values of the released tables): "
        "gender, 125 pairs each. For context, not as a benchmark: their networks have three "
        "answers per cue, from earlier models.",
        [
            Column("Targets", lambda r: r["targets"], "head"),
            NETWORK,
            *alike(number, {"female − male": "effect", "Turned": "stereotype"}),
            Column("p (naive)", lambda r: p_value(r["p"])),
        ],
    )


def emotion_section(networks: Networks) -> Section | None:
    """Show which prime activates which emotions more; None where no emotions were measured."""
    parts = networks.of("network_effects", "emotions")
    if not parts:
        return None
    every = pl.concat(parts)
    norms = " and ".join(sorted({norm.upper() for norm in every["norm"] if norm})) or "given"
    tables = [
        ("Table of emotions" + (f": {part['label'][0]}" if parts[1:] else ""), _emotion_table(part))
        for part in parts
    ]
    placed = every["p_placebo"].count() > 0
    text = (_EMOTIONS, _NORM.format(norms=norms), *([_rule(every)] if placed else []))
    figures = named("network-emotions", (_emotion_figure(part, networks) for part in parts))
    # the text says of all that there is one pair of primes; the same note stands once
    note = pl.when(~pl.col("note").str.starts_with("one pair of primes")).then("note")
    noted = every.with_columns(note=note).unique(
        ["identity", "network", "missing", "note"], maintain_order=True
    )
    notes = remarks(noted, lambda r: f"{r['label']}, {r['network']}")
    return Section("network-emotions", "Emotions", text, figures, tuple(tables), notes)


#: An emotion that one prime activates more: beyond the placebos; without them, the interval
#: excludes 0 and p (Holm) is small.
SHOWN = (
    pl.when(pl.col("p_claim").is_not_null())
    .then(pl.col("p_claim") <= ALPHA)
    .otherwise((pl.col("ci_low") * pl.col("ci_high") > 0) & (pl.col("p_holm") <= ALPHA))
)


#: Of an effect without direction from its placebos, or from 0.
_DISTANCE = pl.col("estimate") - pl.col("turned_placebo_mean").fill_null(0)


def emotion_sides(part: pl.DataFrame) -> dict[str, pl.Expr]:
    """Tell apart the emotions that each prime activates more."""
    shown, first = SHOWN.fill_null(False), _DISTANCE > 0
    return {
        f"activated more by {part['first'][0]}": shown & first,
        f"activated more by {part['second'][0]}": shown & ~first,
        "no difference shown": ~shown & pl.col("estimate").is_not_null(),
    }


def _emotion_figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw the effects: a column per network, a line per emotion."""
    known = part.filter(pl.col("estimate").count().over("network") > 0)
    if known.is_empty():
        return None
    label, first, second = part["label"][0], part["first"][0], part["second"][0]
    marks = networks.marks
    rows = [
        dot(row, (row["targets"], marks[row["network"]], ""), "gender", "p_holm")
        for row in networks.crossed(known, ["label", "targets"]).iter_rows(named=True)
    ]
    caption = (
        f"Effect per emotion, one column per network: {label}. {SCALE} Right of the dotted line: "
        f"activated more by {first}; left: more by {second}. Dot: effect; line: "
        f"{interval_title(part)} (bootstrap over words).{grey_bars(part)}"
    )
    axis = Axis(f"Activated more by {second} (−) or {first} (+)", -1, 1, 0)
    summary = listed_by_network(part, emotion_sides(part))
    return Figure("", caption, summary, intervals(rows, axis))


def _emotion_table(part: pl.DataFrame) -> Table:
    sides = f"{part['first'][0]} − {part['second'][0]}"
    return render_table(
        part,
        f"{part['label'][0]}: effects per emotion, {sides}. p (naive): two-sided, treats words as "
        "independent; p (Holm): p (naive) adjusted for the emotions of a network.",
        [
            Column("Emotion", lambda r: r["targets"], "head"),
            NETWORK,
            Column(sides, lambda r: number(r["estimate"])),
            Column(interval_title(part), lambda r: interval(r["ci_low"], r["ci_high"])),
            *placebo_columns(part),
            *alike(p_value, {"p (naive)": "p", "p (Holm)": "p_holm"}),
            Column("Words", lambda r: count(r["n_clusters"])),
            Column("Norm", lambda r: r["norm"].upper()),
        ],
    )


def listed(part: pl.DataFrame, sides: Mapping[str, pl.Expr]) -> str:
    """List the effects on each side of a distinction."""
    effects = {
        side: part.filter(which).select("targets", "turned") for side, which in sides.items()
    }
    return "; ".join(
        f"{side}: {', '.join(f'{targets} {number(value)}' for targets, value in rows.iter_rows())}"
        for side, rows in effects.items()
        if rows.height
    )


def listed_by_network(part: pl.DataFrame, sides: Mapping[str, pl.Expr]) -> str:
    """List the effects of each network, for the summary of a figure."""
    return " ".join(
        f"{mine['network'][0]}: {listed(mine, sides) or 'no effects'}."
        for mine in part.partition_by("network", maintain_order=True)
    )


def remarks(frame: pl.DataFrame, about: Render) -> tuple[str, tuple[str, ...]]:
    """List what rows note and which words their networks lack, for a section.

    `frame`: with ``missing`` and ``note``.
    `about`: names a row.
    Result: as `Section.notes`.
    """
    lines = []
    for row in frame.iter_rows(named=True):
        absent = ", ".join(
            cut(visible(word), LONGEST_WORD) for word in row["missing"] or [] if word
        )
        notes = [row["note"] or "", f"not in the network: {absent}" if absent else ""]
        if any(notes):
            lines.append(f"{about(row)}: {'; '.join(filter(None, notes))}.")
    return "Missing words and notes", tuple(lines)
