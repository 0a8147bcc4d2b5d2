"""Robustness of effects: what rewired networks give, and what other settings change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.numbers import count, interval, number, p_value, percent
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import around, intervals
from clinometer.pieces.prose import ALPHA, interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import ROW, Render, ReportTable, TableColumn, TableSpec, head
from clinometer_measures.networks.report.effects import list_effects_by_network
from clinometer_measures.networks.report.results import (
    APPROACHES,
    NETWORK,
    Networks,
    group_rows,
    render,
)

__all__ = ["chance_finding", "chance_section", "sensitivity_section"]

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
    parts = []
    for approach in APPROACHES:
        parts += networks.by_identity("network_chance", approach)
    if not parts:
        return None
    rows = pl.concat(parts)
    counts = rows["n_resamples"].drop_nulls().unique()
    many = max(counts, default=0)
    least = f"; its smallest value is 1/{many + 1}, twice that where it is two-sided"
    text = _REWIRED.format(many=many, least=least if len(counts) == 1 else "")
    figures = name_figures("network-chance", (_chance_figure(part, networks) for part in parts))
    tables = []
    for part in parts:
        turned = _TURNED if part["direction"].count() else ""
        table = render(_CHANCE, group_rows(part, "targets"), turned=turned)
        tables.append((f"Table of chance: {part['label'][0]}", table))
    texts = (text, _ALARMS.format(alarms=_alarms_text(rows)))
    key = "network-chance"
    title = "Beyond chance"
    return Section(key, title, texts, figures, tuple(tables), short="Chance")


def chance_finding(part: pl.DataFrame) -> str:
    """Say which effects are beyond what rewired networks give; of valence, whether the test is.

    `part`: effects of an identity in one network, beside those of rewired networks.
    """
    # The joint test of valence has neither targets nor prime.
    is_finding = (pl.col("approach") != "valence") | (pl.col("targets") == "")
    tested = part.filter(is_finding).drop_nulls("p").select("targets", "p").rows()
    not_beyond = [(targets, p) for targets, p in tested if p > ALPHA]
    if not tested:
        return ""
    if not not_beyond:
        return (
            f"Beyond what rewired networks give (largest p {p_value(max(p for _, p in tested))})."
        )
    if len(not_beyond) == len(tested):
        least = p_value(min(p for _, p in tested))
        return f"Not shown to be beyond what rewired networks give (smallest p {least})."
    names = ", ".join(targets for targets, _ in not_beyond)
    return f"Not shown to be beyond what rewired networks give: {names}."


def _alarms_text(rows: pl.DataFrame) -> str:
    """Say how many false alarms there are, by approach."""
    parts = []
    for approach in APPROACHES:
        shares = rows.filter(approach=approach)["false_alarms"].drop_nulls().sort()
        if len(shares):
            ends = dict.fromkeys(percent(share) for share in (shares[0], shares[-1]))
            parts.append(f"{' to '.join(ends)} ({approach})")
    return ", ".join(parts) or "unknown"


def _chance_figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw what chance gives as a line and the effect as a dot, a column per network."""
    label = part["label"][0]
    approach = part["approach"][0]
    effects = part.drop_nulls("estimate").filter(pl.col("targets") != "")
    if effects.is_empty():
        return None
    dots = networks.dots(effects, "chance", "p", "n_resamples")
    title = _AXES[approach]
    axis = around(title, dots, LEAST) if approach == "valence" else Axis(title, -1, 1, 0)
    columns = ", one column per network" if effects["network"].n_unique() > 1 else ""
    caption = (
        f"{label}: effects and those of rewired networks{columns}. Dot: effect; line: "
        f"{interval_title(part)} of the effects of the same network, rewired."
    )
    summary = list_effects_by_network(effects, _SIDES)
    return Figure("", caption, summary, intervals(dots, axis))


_CHANCE = TableSpec(
    "{label}: effects in the network, and in the same network rewired. {turned}p (naive) and false "
    "alarms: of the published test.",
    (
        TableColumn("Targets", "targets", lambda targets: targets or "all primes equal", "head"),
        NETWORK,
        TableColumn("Effect", "estimate", number),
        TableColumn(
            "Turned",
            "turned direction",
            lambda turned, direction: number(turned) if direction else "",
        ),
        TableColumn("Rewired, mean", "placebo_mean", number),
        TableColumn("Rewired, {interval}", "placebo_low placebo_high", interval),
        TableColumn("p (chance)", "p", p_value),
        "p_published",
        TableColumn("False alarms", "false_alarms", percent),
        TableColumn("Rewired", "n_resamples", count),
    ),
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
    parts: list[pl.DataFrame] = []
    for approach in APPROACHES:
        parts += map(_mark_changes, networks.by_identity("network_sensitivity", approach))
    if not parts:
        return None
    text = [_METHOD]
    tables: list[tuple[str, ReportTable]] = []
    for part in parts:
        text.append(_sentence(part, networks))
        tables += _setting_tables(part, networks)
    key = "network-sensitivity"
    title = "Sensitivity to the setting"
    return Section(key, title, tuple(text), tables=tuple(tables), short="Sensitivity")


def _mark_changes(part: pl.DataFrame) -> pl.DataFrame:
    """Name each setting, in the same words for all networks, and mark what it changes."""
    keys = ["network", "targets"]
    default = (
        part.filter(varied="nothing")
        .select(*keys, steps="time_steps", usual="norm", usual_p="p", usually="estimate")
        .unique(keys, keep="first", maintain_order=True)
    )
    settings = part.join(default, on=keys, how="left", maintain_order="left")
    # In quarters of the default, since a number of steps means something else in each network.
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
    # The norm that is the default is one of those that are varied.
    same_norm = (pl.col("varied") == "norm") & (pl.col("norm") == pl.col("usual"))
    lost = (pl.col("p") > ALPHA) & (pl.col("usual_p") <= ALPHA)
    changes = settings.filter(~same_norm.fill_null(False)).with_columns(
        setting=setting.fill_null(pl.col("varied")),
        reversed=(pl.col("estimate") * pl.col("usually") < 0).fill_null(False),
        lost=lost.fill_null(False),
    )
    return changes.unique([*keys, "setting"], keep="first", maintain_order=True)


def _sentence(settings: pl.DataFrame, networks: Networks) -> str:
    """Say how many effects change their sign or lose their significance, and name those."""
    label = settings["label"][0]
    changed = settings.filter(pl.col("varied") != "nothing").drop_nulls("estimate")
    if changed.is_empty():
        return f"{label}: no effect could be measured under another setting."
    sure = pl.col("usual_p") <= ALPHA
    clear, uncertain = changed.filter("reversed", sure), changed.filter("reversed", ~sure)
    lost = changed.filter("lost", ~pl.col("reversed"))
    return (
        f"{label}: {changed.height} effects under a changed setting. Sign changed: {clear.height} "
        f"significant by default{_list_changes(clear, networks)}, {uncertain.height} others. "
        f"Same sign, no longer significant: {lost.height}{_list_changes(lost, networks)}."
    )


def _list_changes(rows: pl.DataFrame, networks: Networks) -> str:
    """Name a few changes; of many, count them per network and name the setting of most."""
    if rows.is_empty():
        return ""
    rows = rows.with_columns(
        setting=pl.col("setting").str.head(1).str.to_lowercase() + pl.col("setting").str.slice(1)
    )
    if rows.height <= MOST_LISTED:
        change = pl.format("{}: {}", "targets", "setting")
        if len(networks.names) > 1:
            change = pl.format("{}, {}: {}", "network", "targets", "setting")
        return f" ({'; '.join(rows.select(change).to_series())})"
    counts = networks.in_order(rows).group_by("network", maintain_order=True).len()
    shares = ", ".join(f"{n} in {network}" for network, n in counts.iter_rows())
    most = rows.group_by("setting", maintain_order=True).len().sort("len", descending=True)
    return f" ({shares}; most often with {most['setting'][0]})"


def _setting_tables(settings: pl.DataFrame, networks: Networks) -> list[tuple[str, ReportTable]]:
    """Set out the settings, a column per network and set of targets."""
    label = settings["label"][0]
    if settings.select("network", "targets").n_unique() <= MOST_COLUMNS:
        return [(f"Table of settings: {label}", _setting_table(settings, label))]
    tables = []
    for name in networks.names:
        part = settings.filter(network=name)
        if part.height:
            title = f"{label}, {name}"
            tables.append((f"Table of settings: {title}", _setting_table(part, title)))
    return tables


def _setting_table(settings: pl.DataFrame, label: str) -> ReportTable:
    columns = settings.select("network", "targets").unique(maintain_order=True).rows()
    cells = {}
    for row in settings.iter_rows(named=True):
        cells[row["setting"], row["network"], row["targets"]] = row
    several = len({network for network, _ in columns}) > 1

    def cell(network: str, targets: str) -> Render:
        """Give what writes the cells of a column: the effect under the setting of a row."""
        return lambda r: _cell(cells.get((r["setting"], network, targets)))

    default = settings.filter(varied="nothing").unique("network", maintain_order=True)
    steps = ", ".join(f"{name} {n}" for name, n in default.select("network", "time_steps").rows())
    default_text = ""
    # Without a retention where each node has one of its own.
    for row in default.head(1).drop_nulls("retention").iter_rows(named=True):
        default_text = (
            f" Default: retention {row['retention']:g}, norm {row['norm'].upper()}, "
            f"time steps {steps}."
        )
    stereotype = settings["direction"].count() > 0
    what = "stereotype-consistent positive" if stereotype else "as in the section above"
    setting_columns = []
    for network, targets in columns:
        heading = f"{network}: {targets}" if several else targets
        setting_columns.append(TableColumn(heading, ROW, cell(network, targets)))
    spec = TableSpec(_SETTINGS, (head("setting", "Setting"), *setting_columns))
    rows = settings.select("setting").unique(maintain_order=True)
    return spec.render(rows, label=label, what=what, default=default_text)


_SETTINGS = (
    f"{{label}}: effects under other settings, {{what}}. {_SIGN}: the sign changes; {_LOST}: naive "
    "p above .05, by default not.{default}"
)


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["turned"] is None:
        return "–"
    digits = 2 if abs(row["turned"]) >= 0.01 else 4
    return number(row["turned"], digits) + _SIGN * bool(row["reversed"]) + _LOST * bool(row["lost"])
