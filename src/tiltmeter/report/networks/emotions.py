"""Emotions in networks: which of two primes activates the words of each emotion more.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 12 and 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.report.drawing.charts import Axis
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import intervals, mark
from tiltmeter.report.networks.results import ALPHA, Networks, remarks
from tiltmeter.report.networks.stereotypes import SCALE
from tiltmeter.report.prose import interval, interval_title, number, numbered, p_value
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["APPROACH", "EMOTIONS", "away", "emotion_section", "in_plutchiks_order"]

APPROACH = "emotions"

#: In the order of Plutchik (1980); others come after.
EMOTIONS = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")

_METHOD = (
    "Both primes of an identity are activated, and for every word that a lexicon ties to an "
    "emotion the normalised activation by one is set against that by the other; the effect is "
    "Wilcoxon’s z / √n over the words of the emotion. There is no stereotype-consistent direction."
)
_NORM = (
    "Results depend on the norm. Activations were divided by the {norms} norm. With the L2 norm "
    "the paper found all emotions of a network leaning the same way, joy as well as sadness "
    "(figure 13), and chose the L1 norm because its results were closer to what a theory of "
    "emotions expects. A norm that is chosen by its results is no independent finding: the "
    "section on sensitivity has both. Neighbouring words share activation, so that p and interval "
    "are too narrow; with one pair of primes there is no permutation test. Many words belong to "
    "several emotions."
)


def emotion_section(networks: Networks) -> Section | None:
    """Show which emotions are felt more for which prime; None where no emotions were measured."""
    parts = [
        (identity, in_plutchiks_order(part))
        for identity, part in networks.of("network_effects", APPROACH)
    ]
    if not parts:
        return None
    names = numbered("network-emotions", len(parts))
    norms = {norm.upper() for _, part in parts for norm in part["norm"] if norm}
    return Section(
        key="network-emotions",
        title="Emotions",
        short="Emotions",
        text=(_METHOD, _NORM.format(norms=" and ".join(sorted(norms)) or "given")),
        figures=tuple(
            figure
            for (identity, part), name in zip(parts, names, strict=True)
            for figure in _figures(part, networks, identity, name)
        ),
        tables=tuple(
            (
                "Table of emotions" + (f": {networks.label(identity)}" if parts[1:] else ""),
                _table(part, networks, identity),
            )
            for identity, part in parts
        ),
        notes=remarks(_noted(parts), lambda r: f"{networks.label(r['identity'])}, {r['network']}"),
    )


def _noted(parts: Sequence[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Leave out what the text says of all emotions, and say once what is the same for each."""
    every = pl.concat([part for _, part in parts])
    note = pl.col("note")
    noted = every.with_columns(note=pl.when(~note.str.starts_with("one pair of primes")).then(note))
    return noted.unique(["identity", "network", "missing", "note"], maintain_order=True)


def in_plutchiks_order(part: pl.DataFrame) -> pl.DataFrame:
    """Sort by emotion, Plutchik's first; within one the order stays."""
    places = {name: place for place, name in enumerate(EMOTIONS)}
    place = pl.col("targets").str.to_lowercase()
    by = place.replace_strict(places, default=len(EMOTIONS), return_dtype=pl.Int64)
    return part.sort(by, maintain_order=True)


def away(row: Mapping[str, Any]) -> bool:
    """Whether an interval leaves 0 out and p, over all sets, is at most .05."""
    ends, p = (row["ci_low"], row["ci_high"]), row["p_holm"]
    return None not in (*ends, p) and (ends[0] > 0 or ends[1] < 0) and p <= ALPHA


def _figures(part: pl.DataFrame, networks: Networks, identity: str, name: str) -> list[Figure]:
    """Draw the effects: a column per network, a line per emotion."""
    if part["estimate"].drop_nulls().is_empty():
        return []
    label = networks.label(identity)
    first, second = part.row(0, named=True)["first"], part.row(0, named=True)["second"]
    measured = set(part.drop_nulls("estimate")["network"])
    shown = [network for network in networks.names if network in measured]
    marks = networks.marks
    by_emotion = {(row["targets"], row["network"]): row for row in part.iter_rows(named=True)}
    rows = []
    for emotion in dict.fromkeys(part["targets"]):
        for network in shown:
            row = by_emotion.get((emotion, network)) or {}
            details = {"network": network, "about": f"{label}: {emotion}", "p": row.get("p_holm"),
                    "n": row.get("n"), "color": "gender"}  # fmt: skip
            ends = (row.get("ci_low"), row.get("ci_high"))
            rows.append(mark((emotion, marks[network], ""), row.get("estimate"), ends, details))
    caption = (
        f"Emotions for {first} and {second}, a column per network: {label}. {SCALE} Right of the "
        f"dotted line: felt more for {first}, left of it: more for {second}. Dot: effect; line: "
        f"{interval_title(part)}, the words drawn anew (bootstrap)."
    )
    axis = Axis(f"More for {second} (−) or {first} (+)", -1, 1, 0)
    drawing = intervals(rows, axis, [marks[name] for name in shown])
    return [Figure(name, caption, _summary(part, first, second), drawing)]


def _summary(part: pl.DataFrame, first: str, second: str) -> str:
    """Say in words what is felt more for which, in each network."""
    sentences = []
    for (network,), mine in part.group_by("network", maintain_order=True):
        rows = list(mine.drop_nulls("estimate").iter_rows(named=True))
        parts = []
        for side, positive in ((first, True), (second, False)):
            felt = [row for row in rows if away(row) and (row["estimate"] > 0) == positive]
            values = ", ".join(f"{row['targets']} {number(row['estimate'])}" for row in felt)
            parts += [f"more for {side}: {values}"] if felt else []
        unsure = [row["targets"] for row in rows if not away(row)]
        parts += [f"not shown to differ: {', '.join(unsure)}"] if unsure else []
        sentences.append(f"{network}: {'; '.join(parts) or 'no effects'}.")
    return " ".join(sentences)


def _table(part: pl.DataFrame, networks: Networks, identity: str) -> Table:
    first, second = part.row(0, named=True)["first"], part.row(0, named=True)["second"]
    return render_table(
        part,
        f"{networks.label(identity)}: effects per emotion, {first} − {second}. p: two-sided, takes "
        "words for independent (naive); p (Holm): adjusted for the emotions of a network.",
        [
            Column("Emotion", lambda r: r["targets"], "head"),
            Column("Network", lambda r: r["network"], "head"),
            Column(f"{first} − {second}", lambda r: number(r["estimate"])),
            Column(interval_title(part), lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("p (naive)", lambda r: p_value(r["p"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("Words", lambda r: count(r["n_clusters"])),
            Column("Norm", lambda r: r["norm"].upper()),
        ],
    )
