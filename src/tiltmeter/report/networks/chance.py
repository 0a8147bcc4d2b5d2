"""What the same networks give when their edges are rewired at random."""

from __future__ import annotations

import polars as pl

from tiltmeter.report.drawing.charts import Axis
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import around, intervals, mark
from tiltmeter.report.networks.emotions import in_plutchiks_order
from tiltmeter.report.networks.results import ALPHA, APPROACHES, Networks
from tiltmeter.report.networks.stereotypes import in_first_order, turned
from tiltmeter.report.prose import interval, interval_title, number, numbered, p_value, percent
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["beyond_chance", "chance_section"]

#: Columns between which lies what chance gives.
ENDS = ("placebo_low", "placebo_high")
#: Least reach of the axis of slopes.
LEAST = 0.1

_AXES = {
    "stereotypes": "Effect, stereotype-consistent positive",
    "valence": "Slope of valence",
    "emotions": "Effect",
}
_TURNED = "Turned: positive is stereotype-consistent; the other columns are as published. "
_JOINT = "all primes equal"

_METHOD = (
    "Two edges a–b and c–d of a network become a–d and c–b, over and over, until every word has as "
    "many edges as before but chance decides with which words. {many}, and everything was measured "
    "in each. An effect that they show as well needs no meaning: numbers of edges, and chance, "
    "bring it about. p (chance): how often a rewired network gives an effect as large, "
    "the network itself counted in{least}."
)
_WORTH = (
    "False alarms are rewired networks in which the published (naive) p is at most .05. Were it "
    "right, they would be one in twenty; here they are {alarms}."
)


def chance_section(networks: Networks) -> Section | None:
    """Show effects beside those of rewired networks; None where no network was rewired."""
    drawable = [
        (identity, in_plutchiks_order(part))
        for approach in APPROACHES
        for identity, part in networks.of("network_chance", approach)
    ]
    if not drawable:
        return None
    every = pl.concat([part for _, part in drawable])
    names = numbered("network-chance", len(drawable))
    return Section(
        key="network-chance",
        title="Beyond chance",
        short="Chance",
        text=(
            _METHOD.format(many=_many(every), least=_least(every)),
            _WORTH.format(alarms=_alarms(every)),
        ),
        figures=tuple(
            figure
            for (identity, part), name in zip(drawable, names, strict=True)
            for figure in _figures(part, networks, identity, name)
        ),
        tables=tuple(
            (f"Table of chance: {networks.label(identity)}", _table(part, networks, identity))
            for identity, part in drawable
        ),
    )


def beyond_chance(networks: Networks, identity: str, approach: str, network: str) -> str:
    """Say which effects of a network are beyond what it gives when rewired; of valence, the test.

    Empty where no network was rewired.
    """
    mine = networks.tables["network_chance"].filter(
        identity=identity, approach=approach, network=network
    )
    rows = list(in_plutchiks_order(mine).drop_nulls("p").iter_rows(named=True))
    if approach == "valence":
        rows = [row for row in rows if not row["targets"]]
    within = [row for row in rows if row["p"] > ALPHA]
    if not rows:
        return ""
    given = "what the network gives when rewired at random"
    if not within:
        most = p_value(max(row["p"] for row in rows))
        return f"This is beyond {given} (p at most {most})."
    if len(within) == len(rows):
        least = p_value(min(row["p"] for row in rows))
        return f"None of this is shown to be beyond {given} (p at least {least})."
    names = ", ".join(row["targets"] for row in within)
    return f"Not shown to be beyond {given}: {names}."


def _many(every: pl.DataFrame) -> str:
    most = every.select(pl.col("n_resamples").max().fill_null(0)).item()
    return f"{most:,} such networks were made of each"


def _least(every: pl.DataFrame) -> str:
    counts = every["n_resamples"].drop_nulls().unique()
    if len(counts) != 1:
        return ""
    return f", so that the least is 1/{counts[0] + 1}, and twice that where either side counts"


def _alarms(every: pl.DataFrame) -> str:
    """Say how many false alarms there are, by approach."""
    parts = []
    for approach in APPROACHES:
        shares = every.filter(approach=approach)["false_alarms"].drop_nulls().sort()
        if len(shares):
            ends = dict.fromkeys(percent(share) for share in (shares[0], shares[-1]))
            parts.append(f"{' to '.join(ends)} ({approach})")
    return ", ".join(parts) or "unknown"


def _figures(part: pl.DataFrame, networks: Networks, identity: str, name: str) -> list[Figure]:
    """Draw what chance gives as a line and the effect as a dot, a column per network."""
    label, marks, approach = networks.label(identity), networks.marks, part["approach"][0]
    shown = part.drop_nulls("estimate").filter(pl.col("targets") != "")
    if shown.is_empty():
        return []
    known = [network for network in networks.names if network in set(shown["network"])]
    by_target = {(row["targets"], row["network"]): row for row in shown.iter_rows(named=True)}
    rows = []
    for targets in dict.fromkeys(shown["targets"]):
        for network in known:
            row = by_target.get((targets, network)) or {}
            value, low, high = turned(row, ENDS) if row else (None, None, None)
            details = {"network": network, "about": f"{label}: {targets}", "p": row.get("p"),
                    "n": row.get("n_resamples"), "color": "chance"}  # fmt: skip
            rows.append(mark((targets, marks[network], ""), value, (low, high), details))
    title, slopes = _AXES[approach], approach == "valence"
    axis = around(title, rows, LEAST) if slopes else Axis(title, -1, 1, 0)
    columns = ", a column per network" if known[1:] else ""
    caption = (
        f"{label}: effects and what chance gives{columns}. Dot: effect; line: "
        f"{interval_title(part)} of the effects of the same network, rewired at random."
    )
    drawing = intervals(rows, axis, [marks[network] for network in known])
    return [Figure(name, caption, _summary(shown), drawing)]


def _summary(shown: pl.DataFrame) -> str:
    """Say in words which effects lie outside of what chance gives."""
    sentences = []
    for (network,), mine in shown.group_by("network", maintain_order=True):
        sides: dict[str, list[str]] = {"beyond chance": [], "not shown to be beyond it": []}
        for row in mine.drop_nulls("p").iter_rows(named=True):
            side = "not shown to be beyond it" if row["p"] > ALPHA else "beyond chance"
            sides[side].append(f"{row['targets']} {number(turned(row, ENDS)[0])}")
        parts = [f"{side}: {', '.join(those)}" for side, those in sides.items() if those]
        sentences.append(f"{network}: {'; '.join(parts) or 'not known'}.")
    return " ".join(sentences)


def _table(part: pl.DataFrame, networks: Networks, identity: str) -> Table:
    return render_table(
        part.sort(in_first_order(part, "targets"), maintain_order=True),
        f"{networks.label(identity)}: effects, and those of the same network rewired at random. "
        f"{_TURNED if part['direction'].count() else ''}p (naive) and false alarms: of the "
        "published test.",
        [
            Column("Targets", lambda r: r["targets"] or _JOINT, "head"),
            Column("Network", lambda r: r["network"], "head"),
            Column("Effect", lambda r: number(r["estimate"])),
            Column("Turned", lambda r: number(turned(r, ENDS)[0]) if r["direction"] else ""),
            Column("Rewired, mean", lambda r: number(r["placebo_mean"])),
            Column(
                f"Rewired, {interval_title(part)}", lambda r: interval(*(r[end] for end in ENDS))
            ),
            Column("p (chance)", lambda r: p_value(r["p"])),
            Column("p (naive)", lambda r: p_value(r["p_published"])),
            Column("False alarms", lambda r: percent(r["false_alarms"])),
            Column("Rewired", lambda r: count(r["n_resamples"])),
        ],
    )
