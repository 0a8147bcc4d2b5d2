"""What changes when one thing of the setting is changed: signs that turn, p that grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.report.networks.emotions import in_plutchiks_order
from tiltmeter.report.networks.results import ALPHA, APPROACHES, Networks
from tiltmeter.report.prose import number
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Render, Table, render_table

__all__ = ["sensitivity_section"]

#: Above this many columns each network has a table of its own.
MOST_COLUMNS = 8
#: Changes listed of an identity; the tables mark all.
MOST_LISTED = 6

_TURNED, _LOST = "†", "°"

_METHOD = (
    "The paper reports one setting of the spreading. Here one thing of it is changed at a time: "
    "how many steps activation spreads, what share a word retains at each step, whether edges "
    "have weights, and by which norm activations are divided. A lean that changes its sign with "
    "such a choice is a result of the choice as much as of the network. Signs are compared with "
    f"the default’s; {_TURNED}: the sign turned; {_LOST}: the published (naive) p is above .05 "
    "where by default it is not. Slopes of valence have no bounds and are in other units under "
    "another setting: of them only the sign can be compared."
)


def sensitivity_section(networks: Networks) -> Section | None:
    """Show effects under other settings; None where no setting was varied."""
    tables: list[tuple[str, Table]] = []
    sentences: list[str] = []
    for approach in APPROACHES:
        for identity, part in networks.of("network_sensitivity", approach):
            settings = _settings(in_plutchiks_order(part))
            sentences.append(_sentence(settings, networks, identity))
            tables += _tables(settings, networks, identity)
    if not tables:
        return None
    return Section(
        key="network-sensitivity",
        title="Sensitivity to the setting",
        short="Sensitivity",
        text=(_METHOD, *sentences),
        tables=tuple(tables),
    )


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
        turned=(pl.col("estimate") * pl.col("usually") < 0).fill_null(False),
        lost=lost.fill_null(False),
        shown=pl.when(direction="below").then(-pl.col("estimate")).otherwise("estimate"),
    )
    return named.unique([*keys, "setting"], keep="first", maintain_order=True)


def _sentence(settings: pl.DataFrame, networks: Networks, identity: str) -> str:
    """Say how many effects turn their sign or lose their significance, and name those."""
    changed = settings.filter(pl.col("varied") != "nothing").drop_nulls("estimate")
    if changed.is_empty():
        return f"{networks.label(identity)}: no other setting gave an effect."
    sure = pl.col("usual_p") <= ALPHA
    turned = changed.filter("turned")
    clear, lost = turned.filter(sure), changed.filter(pl.col("lost") & ~pl.col("turned"))
    parts = []
    for these, one, many in (
        (clear, "significant by default turns its sign", "significant by default turn their sign"),
        (turned.filter(~sure), "other does so", "others do so"),
        (lost, "keeps it but is no longer significant", "keep it but are no longer significant"),
    ):
        if these.height:
            listed = _listed(these, networks) if "other" not in one else ""
            parts.append(f"{these.height} {one if these.height == 1 else many}{listed}")
    changes = "; ".join(parts) or "none turns its sign or is no longer significant"
    label = networks.label(identity)
    return f"{label}: of {changed.height} effects under a changed setting, {changes}."


def _listed(rows: pl.DataFrame, networks: Networks) -> str:
    """Name a few changes; of many, count them per network and name the setting of most."""
    if rows.height <= MOST_LISTED:
        names = (
            f"{row['network'] + ', ' if networks.names[1:] else ''}{row['targets']}: "
            f"{_lower(row['setting'])}"
            for row in rows.iter_rows(named=True)
        )
        return f" ({'; '.join(names)})"
    counts = networks.in_order(rows).group_by("network", maintain_order=True).len()
    shares = ", ".join(f"{n} in {network}" for network, n in counts.iter_rows())
    most = rows.group_by("setting", maintain_order=True).len().sort("len", descending=True)
    return f" ({shares}; most often with {_lower(most['setting'][0])})"


def _lower(setting: str) -> str:
    return setting[:1].lower() + setting[1:]


def _tables(settings: pl.DataFrame, networks: Networks, identity: str) -> list[tuple[str, Table]]:
    """Set out the settings, a column per network and set of targets."""
    label = networks.label(identity)
    columns = settings.select("network", "targets").unique(maintain_order=True).rows()
    if len(columns) <= MOST_COLUMNS:
        return [(f"Table of settings: {label}", _table(settings, columns, label))]
    tables = []
    for name in networks.names:
        own = [column for column in columns if column[0] == name]
        if own:
            table = _table(settings.filter(network=name), own, f"{label}, {name}")
            tables.append((f"Table of settings: {label}, {name}", table))
    return tables


def _table(settings: pl.DataFrame, columns: Sequence[tuple[str, str]], label: str) -> Table:
    cells = {
        (row["setting"], row["network"], row["targets"]): row
        for row in settings.iter_rows(named=True)
    }
    several = len({network for network, _ in columns}) > 1

    def cell(network: str, targets: str) -> Render:
        return lambda r: _cell(cells.get((r["setting"], network, targets)))

    default = settings.filter(varied="nothing").unique("network", maintain_order=True)
    steps = ", ".join(
        f"{row['network']} {row['time_steps']}" for row in default.iter_rows(named=True)
    )
    shown = next(default.iter_rows(named=True), None)
    usual = (
        f" Default: retention {shown['retention']:g}, norm {shown['norm'].upper()}, time steps "
        f"{steps}."
        if shown is not None and shown["retention"] is not None
        else ""
    )
    stereotype = settings["direction"].count() > 0
    what = "stereotype-consistent positive" if stereotype else "as in the section above"
    return render_table(
        settings.select("setting").unique(maintain_order=True),
        f"{label}: effects under other settings, {what}. {_TURNED} sign turned; {_LOST} naive p "
        f"above .05 where by default it is not.{usual}",
        [
            Column("Setting", lambda r: r["setting"], "head"),
            *(
                Column(f"{network}: {targets}" if several else targets, cell(network, targets))
                for network, targets in columns
            ),
        ],
    )


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["shown"] is None:
        return "–"
    digits = 2 if abs(row["shown"]) >= 0.01 else 4
    return number(row["shown"], digits) + _TURNED * bool(row["turned"]) + _LOST * bool(row["lost"])
