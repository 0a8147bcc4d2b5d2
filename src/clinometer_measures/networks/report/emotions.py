"""Effects in networks on the words of emotions.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 12 and 13.
"""

from __future__ import annotations

import polars as pl

from clinometer.numbers import count, number
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import intervals, range_text
from clinometer.pieces.prose import ALPHA, interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import TableColumn, TableSpec, head
from clinometer_measures.networks.report.effects import (
    PLACEBOS,
    SCALE,
    grey_bars,
    list_effects_by_network,
    remarks,
    support_rule,
)
from clinometer_measures.networks.report.results import NETWORK, PAGE_COLUMNS, Networks, render

__all__ = ["SUPPORTED", "emotion_section", "emotion_sides"]

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


def emotion_section(networks: Networks) -> Section | None:
    """Show which prime activates which emotions more; None where no emotions were measured."""
    parts = networks.by_identity("network_effects", "emotions")
    if not parts:
        return None
    rows = pl.concat(parts)
    norms = " and ".join(sorted({norm.upper() for norm in rows["norm"] if norm})) or "given"
    tables = []
    for part in parts:
        label = f": {part['label'][0]}" if len(parts) > 1 else ""
        tables.append((f"Table of emotions{label}", render(_EFFECTS_ON_EMOTIONS, part)))
    placed = rows["p_placebo"].count() > 0
    text = (_EMOTIONS, _NORM.format(norms=norms), *([support_rule(rows)] if placed else []))
    effect_figures = (_emotion_figure(part, networks) for part in parts)
    norm_figures = (_norm_figure(part, networks) for part in _effects_by_other_norm(networks))
    figures = (
        *name_figures("network-emotions", effect_figures),
        *name_figures("network-emotions-norm", norm_figures),
    )
    # The text says of all that there is one pair of primes; the same note stands once.
    note = pl.when(~pl.col("note").str.starts_with("one pair of primes")).then("note")
    distinct = rows.with_columns(note=note).unique(
        ["identity", "network", "missing", "note"], maintain_order=True
    )
    notes = remarks(distinct, lambda r: f"{r['label']}, {r['network']}")
    return Section("network-emotions", "Emotions", text, figures, tuple(tables), notes)


#: An emotion that one prime activates more: beyond the placebos; without them, the interval
#: excludes 0 and p (Holm) is small.
SUPPORTED = (
    pl.when(pl.col("p_claim").is_not_null())
    .then(pl.col("p_claim") <= ALPHA)
    .otherwise((pl.col("ci_low") * pl.col("ci_high") > 0) & (pl.col("p_holm") <= ALPHA))
)


#: Of an effect without direction from its placebos, or from 0.
_DISTANCE = pl.col("estimate") - pl.col("turned_placebo_mean").fill_null(0)


def emotion_sides(part: pl.DataFrame) -> dict[str, pl.Expr]:
    """Tell apart the emotions that each prime activates more."""
    supported = SUPPORTED.fill_null(False)
    first = _DISTANCE > 0
    return {
        f"activated more by {part['first'][0]}": supported & first,
        f"activated more by {part['second'][0]}": supported & ~first,
        "no difference shown": ~supported & pl.col("estimate").is_not_null(),
    }


def _emotion_figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw the effects: a column per network, a line per emotion."""
    measured = part.filter(pl.col("estimate").count().over("network") > 0)
    if measured.is_empty():
        return None
    label = part["label"][0]
    first = part["first"][0]
    second = part["second"][0]
    # One colour for all: emotions have none of their own.
    dots = networks.dots(measured, "gender", "p_holm")
    caption = (
        f"Effect per emotion, one column per network: {label}. {SCALE} Right of the dotted line: "
        f"activated more by {first}; left: more by {second}. Dot: effect; line: "
        f"{interval_title(part)} (bootstrap over words).{grey_bars(part)}"
    )
    axis = Axis(f"Activated more by {second} (−) or {first} (+)", -1, 1, 0)
    summary = list_effects_by_network(part, emotion_sides(part))
    return Figure("", caption, summary, intervals(dots, axis))


def _effects_by_other_norm(networks: Networks) -> list[pl.DataFrame]:
    """Give the effects of each identity under norms other than its own."""
    varied = (pl.col("varied") == "norm") & (pl.col("norm") != "none")
    parts = networks.by_identity("network_sensitivity", "emotions")
    by_norm = []
    for part in parts:
        default = part.filter(varied="nothing")["norm"].unique().implode()
        by_norm += part.filter(varied, ~pl.col("norm").is_in(default)).partition_by("norm")
    return by_norm


def _norm_figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw the effects under one other norm: a column per network, a line per emotion."""
    if part["estimate"].count() == 0:
        return None
    norm = part["norm"][0].upper()
    dots = networks.dots(part, "gender", "p")
    caption = (
        f"The same effects under the {norm} norm: {part['label'][0]} (in the paper, figure 12 is "
        "under the L1 norm and figure 13 under L2). Intervals and placebos are of the norm above."
    )
    axis = Axis(f"Activated more by {part['second'][0]} (−) or {part['first'][0]} (+)", -1, 1, 0)
    return Figure("", caption, range_text(dots), intervals(dots, axis))


_EFFECTS_ON_EMOTIONS = TableSpec(
    "{label}: effects per emotion, {first} − {second}. p (naive): two-sided, treats words as "
    "independent; p (Holm): p (naive) adjusted for the emotions of a network.",
    (
        head("targets", "Emotion"),
        NETWORK,
        TableColumn("{first} − {second}", "estimate", number),
        "interval",
        *PLACEBOS,
        "p",
        "p_holm",
        TableColumn("Words", "n_clusters", count),
        TableColumn("Norm", "norm", str.upper),
    ),
    PAGE_COLUMNS,
)
