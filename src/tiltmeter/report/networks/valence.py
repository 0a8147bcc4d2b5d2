"""Valence in networks: slopes per prime, and how much the primes of an identity differ.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 10 and 11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.report.drawing.charts import Axis, Row
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import around, bars, intervals, mark, range_text
from tiltmeter.report.networks.results import Networks, remarks
from tiltmeter.report.prose import interval, interval_title, number, p_value
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, render_table

__all__ = ["APPROACH", "SCALE", "valence_section"]

APPROACH = "valence"

SCALE = (
    "Slope: log odds of valence per unit of normalised activation; neutral 0, no bounds; positive: "
    "seen more positively than the other primes of the identity."
)
_METHOD = (
    "Each prime is activated, and the valence of all rated words (0 to 1) is regressed on how "
    "strongly the prime activates them, one binomial model per prime. Activations are normalised "
    "over the primes of an identity, so that slopes are relative: primes are compared with each "
    "other, not with an absolute neutral."
)
_CAUTION = (
    "Intervals are those of the sandwich estimator. Both they and p take words for independent, "
    "which neighbours in a network are not: they are too narrow. The paper gives its values as "
    "figures only (10 and 11), so none stand beside these."
)


def valence_section(networks: Networks) -> Section | None:
    """Show whether primes activate pleasant or unpleasant words.

    None where no valence was measured.
    """
    parts = networks.of("network_coefficients", APPROACH)
    if not parts:
        return None
    every = pl.concat([part for _, part in parts])
    slopes, joint = every.drop_nulls("prime"), every.filter(pl.col("prime").is_null())
    tables = (
        ("", _joint_table(joint, networks)),
        ("Table of slopes per prime", _slope_table(slopes, networks)),
    )
    return Section(
        key="network-valence",
        title="Valence",
        short="Valence",
        text=(_METHOD, _CAUTION, *_on_size(joint)),
        figures=(*_slopes(slopes, networks), *_joint(joint, networks)),
        tables=tuple(table for table in tables if table[1].rows),
        notes=remarks(_once(every), lambda r: f"{_about(r, networks)}, {r['network']}"),
    )


def _once(every: pl.DataFrame) -> pl.DataFrame:
    """Leave missing words to the joint test, which has those of all primes."""
    none = pl.lit(None, pl.List(pl.String))
    return every.with_columns(
        missing=pl.when(pl.col("prime").is_null()).then("missing").otherwise(none)
    )


def _about(row: Mapping[str, Any], networks: Networks) -> str:
    prime = f", {row['prime']}" if row["prime"] else ""
    return f"{networks.label(row['identity'])}{prime}"


def _on_size(joint: pl.DataFrame) -> tuple[str, ...]:
    """Say why χ² is no measure to compare networks by."""
    sizes = joint["n"].drop_nulls().unique().sort()
    if sizes.is_empty():
        return ()
    here = f"here {sizes[0]:,}" if len(sizes) == 1 else f"here {sizes[0]:,} to {sizes[-1]:,}"
    return (
        "Whether the primes of an identity differ at all is asked by one model with all of them "
        "and a Wald test that their slopes are equal. Its χ², which the paper calls the effect "
        f"size, grows with the number of rated words ({here}): with the same slopes a larger "
        "network has a larger χ², so χ² must not be compared between networks of different size. "
        "√(χ² / n), Cohen’s w, leaves the size out.",
    )


def _slopes(slopes: pl.DataFrame, networks: Networks) -> list[Figure]:
    """Draw the slopes: a column per network, a block per identity, a line per prime."""
    if slopes["estimate"].drop_nulls().is_empty():
        return []
    shown = [name for name in networks.names if name in set(slopes["network"])]
    by_prime = {(r["identity"], r["prime"], r["network"]): r for r in slopes.iter_rows(named=True)}
    marks = networks.marks
    lines = list(dict.fromkeys((identity, prime) for identity, prime, _ in by_prime))
    rows = []
    for identity, prime in lines:
        for network in shown:
            row = by_prime.get((identity, prime, network)) or {}
            label = networks.label(identity)
            details = {"network": network, "about": f"{label}: {prime}", "p": row.get("p_robust"),
                    "n": row.get("n")}  # fmt: skip
            ends = (row.get("ci_low"), row.get("ci_high"))
            rows.append(mark((prime, marks[network], label), row.get("estimate"), ends, details))
    axis = around("Slope of valence", rows, 0.5)
    caption = (
        f"Valence of what each prime activates, a column per network. {SCALE} Dot: slope; line: "
        f"{interval_title(slopes)} by the sandwich; dotted line: neutral. Compare primes within "
        "an identity and a column."
    )
    return [
        Figure(
            "network-valence",
            caption,
            _summary(rows),
            intervals(rows, axis, [marks[name] for name in shown]),
        )
    ]


def _summary(rows: Sequence[Row]) -> str:
    """Say in words, for each identity and network, the lowest and the highest slope."""
    parts = []
    for block in dict.fromkeys(row["block"] for row in rows):
        values = range_text([row for row in rows if row["block"] == block])
        parts.append(f"{block}. {values}")
    return " ".join(parts)


def _joint(joint: pl.DataFrame, networks: Networks) -> list[Figure]:
    """Draw √(χ² / n): a column per identity, a bar per network."""
    known = joint.drop_nulls("estimate")
    if known.is_empty():
        return []
    rows = []
    for row in known.iter_rows(named=True):
        label = networks.label(row["identity"])
        details = {"network": row["network"], "about": label, "p": row["p_robust"], "n": row["n"]}
        place = (networks.marks[row["network"]], label, "")
        rows.append(
            mark(place, row["estimate"], (None, None), {**details, "color": row["identity"]})
        )
    top = max(row["mean"] for row in rows)
    reach = next((end for end in (0.1, 0.2, 0.3, 0.5, 1.0) if top <= end), top)
    axis = Axis("√(χ² / n)", 0, reach, None)
    caption = (
        "How much the primes of an identity differ in valence: √(χ² / n) of the joint Wald test. "
        "From 0, all slopes alike, upwards; chance alone lifts it above 0, and p says whether "
        "there is more than chance. By convention .1 is small, .3 medium. Bars have no interval."
    )
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    drawing = bars(rows, axis, panels)
    return [Figure("network-valence-effects", caption, range_text(rows), drawing)]


def _joint_table(joint: pl.DataFrame, networks: Networks) -> Table:
    return render_table(
        joint,
        "Do the primes of an identity differ in valence? Joint Wald test of equal slopes. p "
        "(published): of the binomial model; p (robust): by the sandwich. Rated: words with a "
        "rating of all nodes.",
        [
            Column("Identity", lambda r: networks.label(r["identity"]), "head"),
            Column("Network", lambda r: r["network"], "head"),
            Column("√(χ² / n)", lambda r: number(r["estimate"], 3)),
            Column("χ²", lambda r: number(r["statistic"], 1)),
            Column("df", lambda r: number(r["df"], 0)),
            Column("p (published)", lambda r: p_value(r["p"])),
            Column("p (robust)", lambda r: p_value(r["p_robust"])),
            Column("Rated", lambda r: _of_all(r["n"], r["n_nodes"])),
        ],
    )


def _of_all(n: int | None, nodes: int | None) -> str:
    return "n/a" if n is None or nodes is None else f"{n:,} / {nodes:,}"


def _slope_table(slopes: pl.DataFrame, networks: Networks) -> Table:
    lines = slopes.select("identity", "prime").unique(maintain_order=True).with_row_index("line")
    slopes = slopes.join(lines, on=["identity", "prime"], maintain_order="left")
    slopes = slopes.sort("line", maintain_order=True)
    return render_table(
        slopes,
        f"Slopes of valence per prime. {SCALE}",
        [
            Column("Identity", lambda r: networks.label(r["identity"]), "head"),
            Column("Prime", lambda r: r["prime"], "head"),
            Column("Network", lambda r: r["network"], "head"),
            Column("Slope", lambda r: number(r["estimate"])),
            Column(interval_title(slopes), lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("SE (published)", lambda r: number(r["se"], 3)),
            Column("p (published)", lambda r: p_value(r["p"])),
            Column("p (robust)", lambda r: p_value(r["p_robust"])),
        ],
    )
