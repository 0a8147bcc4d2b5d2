"""Robustness of effects: what rewired networks give, and what other settings change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.families.networks.report.effects import listed_by_network
from clinometer.families.networks.report.results import APPROACHES, NETWORK, Networks, dot, together
from clinometer.report.drawing.charts import Axis
from clinometer.report.drawing.figures import Figure
from clinometer.report.drawing.intervals import around, intervals
from clinometer.report.prose import ALPHA, interval, interval_title, number, p_value, percent
from clinometer.report.sections import Section, named
from clinometer.report.tables import Column, Render, Table, alike, count, render_table

__all__ = ["beyond_chance", "chance_section", "sensitivity_section"]

#: Least reach of the axis of slopes.
LEAST = 0.1

_AXES = {
    "stereotypes": "Effect, stereotype-consistent positive",
    "valence": "Slope of valence",
    "emotions": "Effect",
}
_TURNED = "Turned: positive is stereotype-consistent; the other columns are as published. "

_SIDES = {
    "beyond chance": pl.col("p") <= ALPHA,
    "not shown to be beyond chance": pl.col("p") > ALPHA,
}

_REWIRED = (
    "Degree-preserving rewiring: two edges a–b and c–d become a–d and c–b, many times over. Every "
    "word keeps its number of edges; with which words they join it is random. {many:,} such "
    "networks were made of each network, and all effects were measured in each. An effect that "
    "they show as well needs no meaning: numbers of edges and chance explain it. p (chance): how "
    "often a rewired network gives an effect at least as large, the network itself included{least}."
)
_ALARMS = (
    "False alarms: rewired networks in which the published (naive) p is at most .05. A valid test "
    "has 5%; here they are {alarms}."
)


def chance_section(networks: Networks) -> Section | None:
    """Show effects beside those of rewired networks; None where no network was rewired."""
    parts = [part for one in APPROACHES for part in networks.of("network_chance", one)]
    if not parts:
        return None
    every = pl.concat(parts)
    counts = every["n_resamples"].drop_nulls().unique()
    many = max(counts, default=0)
    least = f"; its smallest value is 1/{many + 1}, twice that where it is two-sided"
    text = _REWIRED.format(many=many, least=least if len(counts) == 1 else "")
    figures = named("network-chance", (_chance_figure(part, networks) for part in parts))
    tables = ((f"Table of chance: {part['label'][0]}", _chance_table(part)) for part in parts)
    texts = (text, _ALARMS.format(alarms=_alarms(every)))
    key, title = "network-chance", "Beyond chance"
    return Section(key, title, texts, figures, tuple(tables), short="Chance")


def beyond_chance(part: pl.DataFrame) -> str:
    """Say which effects are beyond what rewired networks give; of valence, whether the test is.

    `part`: effects of an identity in one network, beside those of rewired networks.
    """
    whole = (pl.col("approach") != "valence") | (pl.col("targets") == "")
    known = part.filter(whole).drop_nulls("p").select("targets", "p").rows()
    within = [(targets, p) for targets, p in known if p > ALPHA]
    if not known:
        return ""
    if not within:
        return f"Beyond what rewired networks give (largest p {p_value(max(p for _, p in known))})."
    if len(within) == len(known):
        least = p_value(min(p for _, p in known))
        return f"Not shown to be beyond what rewired networks give (smallest p {least})."
    names = ", ".join(targets for targets, _ in within)
    return f"Not shown to be beyond what rewired networks give: {names}."


def _alarms(every: pl.DataFrame) -> str:
    """Say how many false alarms there are, by approach."""
    parts = []
    for approach in APPROACHES:
        shares = every.filter(approach=approach)["false_alarms"].drop_nulls().sort()
        if len(shares):
            ends = dict.fromkeys(percent(share) for share in (shares[0], shares[-1]))
            parts.append(f"{' to '.join(ends)} ({approach})")
    return ", ".join(parts) or "unknown"


def _chance_figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw what chance gives as a line and the effect as a dot, a column per network."""
    label, marks, approach = part["label"][0], networks.marks, part["approach"][0]
    shown = part.drop_nulls("estimate").filter(pl.col("targets") != "")
    if shown.is_empty():
        return None
    rows = [
        dot(row, (row["targets"], marks[row["network"]], ""), "chance", "p", "n_resamples")
        for row in networks.crossed(shown, ["label", "targets"]).iter_rows(named=True)
    ]
    title = _AXES[approach]
    axis = around(title, rows, LEAST) if approach == "valence" else Axis(title, -1, 1, 0)
    columns = ", one column per network" if shown["network"].n_unique() > 1 else ""
    caption = (
        f"{label}: effects and those of rewired networks{columns}. Dot: effect; line: "
        f"{interval_title(part)} of the effects of the same network, rewired."
    )
    summary = listed_by_network(shown, _SIDES)
    return Figure("", caption, summary, intervals(rows, axis))


def _chance_table(part: pl.DataFrame) -> Table:
    return render_table(
        together(part, "targets"),
        f"{part['label'][0]}: effects in the network, and in the same network rewired. "
        f"{_TURNED if part['direction'].count() else ''}p (naive) and false alarms: of the "
        "published test.",
        [
            Column("Targets", lambda r: r["targets"] or "all primes equal", "head"),
            NETWORK,
            Column("Effect", lambda r: number(r["estimate"])),
            Column("Turned", lambda r: number(r["turned"]) if r["direction"] else ""),
            Column("Rewired, mean", lambda r: number(r["placebo_mean"])),
            Column(
                f"Rewired, {interval_title(part)}",
                lambda r: interval(r["placebo_low"], r["placebo_high"]),
            ),
            *alike(p_value, {"p (chance)": "p", "p (naive)": "p_published"}),
            Column("False alarms", lambda r: percent(r["false_alarms"])),
            Column("Rewired", lambda r: count(r["n_resamples"])),
        ],
    )


#: Above this many columns each network has a table of its own.
MOST_COLUMNS = 8
#: Changes listed of an identity; the tables mark all.
MOST_LISTED = 6

_SIGN, _LOST = "†", "°"

_METHOD = (
    "The paper reports one setting of the spreading. Here one setting is changed at a time: the "
    "number of time steps, the share of activation that a word retains at each step, whether edges "
    "are weighted, and the norm that activations are divided by. An effect whose sign depends on "
    "such a choice is not robust. Signs are compared with those of the default. "
    f"{_SIGN}: the sign changes; {_LOST}: the published (naive) p is above .05 and by default is "
    "not. Slopes of valence have no bounds, and their unit depends on the setting: only their "
    "signs can be compared."
)


def sensitivity_section(networks: Networks) -> Section | None:
    """Show effects under other settings; None where no setting was varied."""
    parts = [
        _settings(part)
        for approach in APPROACHES
        for part in networks.of("network_sensitivity", approach)
    ]
    if not parts:
        return None
    text = (_METHOD, *(_sentence(part, networks) for part in parts))
    tables = tuple(table for part in parts for table in _setting_tables(part, networks))
    key, title = "network-sensitivity", "Sensitivity to the setting"
    return Section(key, title, text, tables=tables, short="Sensitivity")


def _settings(part: pl.DataFrame) -> pl.DataFrame:
    """Name each setting, in the same words for all networks, and mark what it changes."""
    keys = ["network", "targets"]
    default = (
        part.filter(varied="nothing")
        .select(*keys, steps="time_steps", usual="norm", usual_p="p", usually="estimate")
        .unique(keys, keep="first", maintain_order=True)
    )
    settings = part.join(default, on=keys, how="left", maintain_order="left")
    ratio = (4 * pl.col("time_steps") / pl.col("steps")).round() / 4
    steps = pl.format("Time steps × {}", ratio.map_elements(lambda x: f"{x:g}", pl.String))
    retained = pl.col("retention").map_elements(lambda x: f"{x:g}", pl.String)
    normed = pl.format("Norm {}", pl.col("norm").str.to_uppercase())
    norm = pl.when(norm="none").then(pl.lit("No norm")).otherwise(normed)
    weights = pl.when("weighted").then(pl.lit("Edges with weights"))
    setting = (
        pl.when(varied="nothing").then(pl.lit("Default"))
        .when(varied="time_steps").then(steps)
        .when(varied="retention").then(pl.format("Retention {}", retained))
        .when(varied="weights").then(weights.otherwise(pl.lit("Edges without weights")))
        .when(varied="norm").then(norm)
        .otherwise("varied")
    )  # fmt: skip
    same = (pl.col("varied") == "norm") & (pl.col("norm") == pl.col("usual"))
    lost = (pl.col("p") > ALPHA) & (pl.col("usual_p") <= ALPHA)
    named = settings.filter(~same.fill_null(False)).with_columns(
        setting=setting.fill_null(pl.col("varied")),
        reversed=(pl.col("estimate") * pl.col("usually") < 0).fill_null(False),
        lost=lost.fill_null(False),
    )
    return named.unique([*keys, "setting"], keep="first", maintain_order=True)


def _sentence(settings: pl.DataFrame, networks: Networks) -> str:
    """Say how many effects change their sign or lose their significance, and name those."""
    label = settings["label"][0]
    changed = settings.filter(pl.col("varied") != "nothing").drop_nulls("estimate")
    if changed.is_empty():
        return f"{label}: no effect could be measured under another setting."
    sure = pl.col("usual_p") <= ALPHA
    clear, others = changed.filter("reversed", sure), changed.filter("reversed", ~sure)
    lost = changed.filter("lost", ~pl.col("reversed"))
    return (
        f"{label}: {changed.height} effects under a changed setting. Sign changed: {clear.height} "
        f"significant by default{_listed(clear, networks)}, {others.height} others. Same sign, no "
        f"longer significant: {lost.height}{_listed(lost, networks)}."
    )


def _listed(rows: pl.DataFrame, networks: Networks) -> str:
    """Name a few changes; of many, count them per network and name the setting of most."""
    if rows.is_empty():
        return ""
    rows = rows.with_columns(
        setting=pl.col("setting").str.head(1).str.to_lowercase() + pl.col("setting").str.slice(1)
    )
    if rows.height <= MOST_LISTED:
        alone = rows.select(pl.format("{}: {}", "targets", "setting"))
        several = rows.select(pl.format("{}, {}: {}", "network", "targets", "setting"))
        return f" ({'; '.join((several if networks.names[1:] else alone).to_series())})"
    counts = networks.in_order(rows).group_by("network", maintain_order=True).len()
    shares = ", ".join(f"{n} in {network}" for network, n in counts.iter_rows())
    most = rows.group_by("setting", maintain_order=True).len().sort("len", descending=True)
    return f" ({shares}; most often with {most['setting'][0]})"


def _setting_tables(settings: pl.DataFrame, networks: Networks) -> list[tuple[str, Table]]:
    """Set out the settings, a column per network and set of targets."""
    label = settings["label"][0]
    if settings.select("network", "targets").n_unique() <= MOST_COLUMNS:
        parts = {label: settings}
    else:
        own = {name: settings.filter(network=name) for name in networks.names}
        parts = {f"{label}, {name}": part for name, part in own.items() if part.height}
    return [
        (f"Table of settings: {about}", _setting_table(part, about))
        for about, part in parts.items()
    ]


def _setting_table(settings: pl.DataFrame, about: str) -> Table:
    columns = settings.select("network", "targets").unique(maintain_order=True).rows()
    keys = ("setting", "network", "targets")
    cells = {tuple(row[key] for key in keys): row for row in settings.iter_rows(named=True)}
    several = len({network for network, _ in columns}) > 1

    def cell(network: str, targets: str) -> Render:
        return lambda r: _cell(cells.get((r["setting"], network, targets)))

    default = settings.filter(varied="nothing").unique("network", maintain_order=True)
    steps = ", ".join(f"{name} {n}" for name, n in default.select("network", "time_steps").rows())
    usual = "".join(
        f" Default: retention {row['retention']:g}, norm {row['norm'].upper()}, time steps {steps}."
        for row in default.head(1).drop_nulls("retention").iter_rows(named=True)
    )
    stereotype = settings["direction"].count() > 0
    what = "stereotype-consistent positive" if stereotype else "as in the section above"
    return render_table(
        settings.select("setting").unique(maintain_order=True),
        f"{about}: effects under other settings, {what}. {_SIGN}: the sign changes; {_LOST}: naive "
        f"p above .05, by default not.{usual}",
        [
            Column("Setting", lambda r: r["setting"], "head"),
            *(
                Column(f"{network}: {targets}" if several else targets, cell(network, targets))
                for network, targets in columns
            ),
        ],
    )


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["turned"] is None:
        return "–"
    digits = 2 if abs(row["turned"]) >= 0.01 else 4
    return number(row["turned"], digits) + _SIGN * bool(row["reversed"]) + _LOST * bool(row["lost"])
