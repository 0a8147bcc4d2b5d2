"""What a results directory holds about association networks, its texts fit to be shown.

A table that is absent leaves its section out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.directory.results import read_family
from clinometer.errors import InputError
from clinometer.numbers import interval
from clinometer.pieces.drawing.charts import Row, measured
from clinometer.pieces.facts import Facts, read_facts, spaced
from clinometer.pieces.frames import add_columns, place, with_shown_texts
from clinometer.pieces.prose import cut, display_names, interval_title
from clinometer.pieces.tables import ReportTable, TableSpec, head
from clinometer.results import join_methods
from clinometer.results.columns import Meaning, typed_columns
from clinometer.texts import visible
from clinometer_measures.networks.family import FAMILY
from clinometer_measures.networks.tables import COLUMNS

__all__ = [
    "APPROACHES",
    "LONGEST_WORD",
    "NETWORK",
    "PAGE_COLUMNS",
    "PUBLISHED",
    "Networks",
    "dot",
    "group_rows",
    "read_networks",
    "render",
]

#: The study whose published values are shown.
PUBLISHED = "abramski2025"

#: In the order of the page.
APPROACHES = ("stereotypes", "valence", "emotions")
#: In the order of Plutchik (1980); others come after.
EMOTIONS = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")

#: Characters shown of a word, and of a network's name in a drawing.
LONGEST_WORD, _MARK = 60, 26
_NAMES = ("network", "network_a", "network_b", "candidate", "baseline")
#: Shown in full.
_LONG = ("note", "study", "identity")
#: Null here says something: a test of all primes, an effect without a stereotypical direction.
_MAY_BE_NULL = ("prime", "direction", "note")
_STREAMS = ("network_stream_nodes", "network_stream_edges")

#: The column of a table that names the network of a row.
NETWORK = head("network", "Network")

#: What only pages about networks show, or what they call otherwise than others.
PAGE_COLUMNS = {
    **COLUMNS,
    **typed_columns(
        pl.Float64(),
        turned="the effect, positive as stereotype-consistent",
        p=Meaning(
            "p of the published test, which takes all pairs as independent", "p (naive)", "p"
        ),
        p_permutation=Meaning("p of swapping categories in pairs", "p (primes swapped)", "p"),
        p_robust=Meaning("p of the sandwich estimator", "p (robust)", "p"),
        correlation="Spearman's correlation of activations, or with reaction times",
        effect_p=Meaning("p of the effect of related primes", "p (effect)", "p"),
    ),
}


@dataclass(frozen=True)
class Networks:
    """The tables about networks, fit to be shown.

    `facts`: ``networks.json``; empty where there is none.
    `names`: the networks, in the order they were given.
    `tables`: name → rows: the detail tables, and the estimates as `_estimate_frames` sets them
        out. `label` has the label of an identity.
    """

    facts: Facts
    names: tuple[str, ...]
    tables: Mapping[str, pl.DataFrame]

    @property
    def marks(self) -> dict[str, str]:
        """Give each network a label short enough for a drawing, its middle left out."""
        labels = []
        for name in self.names:
            labels.append(name if len(name) <= _MARK else f"{name[: _MARK - 12]}…{name[-11:]}")
        marks = {}
        for number, (name, label) in enumerate(zip(self.names, labels, strict=True), 1):
            # Names that differ only in their middle are numbered.
            unique = labels.count(label) == 1
            marks[name] = label if unique else f"{label[: _MARK - 5]}… {number}"
        return marks

    @property
    def study(self) -> Facts:
        """Give what the facts say of the study."""
        return self.facts.part("study")

    @property
    def replicates(self) -> bool:
        """Whether the study is the one whose published values are shown."""
        studies = [set(frame["study"]) for frame in self.tables.values() if "study" in frame]
        return PUBLISHED in {self.study.text("name")}.union(*studies)

    def by_identity(self, table: str, approach: str | None = None) -> list[pl.DataFrame]:
        """Give the rows of each identity, or of those of an approach, the networks in order."""
        frame = self.tables[table]
        if approach is not None:
            frame = frame.filter(approach=approach)
        parts = [self.in_order(p) for p in frame.partition_by("identity", maintain_order=True)]
        if approach != "emotions":
            return parts
        order = place(pl.col("targets").str.to_lowercase(), EMOTIONS)
        return [part.sort(order, maintain_order=True) for part in parts]

    def in_order(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sort by network, in the order they were given."""
        order = [place(name, self.names) for name in _NAMES if name in frame.columns]
        return frame.sort(order, maintain_order=True)

    def cross(
        self, frame: pl.DataFrame, down: Sequence[str], across: Sequence[str] = ("network",)
    ) -> pl.DataFrame:
        """Give a row for each line and column of a drawing, with nulls where there was none.

        `down`, `across`: the columns of the frame that lines and columns are told apart by.
        """
        lines = frame.select(down).unique(maintain_order=True)
        columns = frame.select(across).unique(maintain_order=True)
        pairs = lines.join(self.in_order(columns), how="cross")
        return pairs.join(frame, on=[*down, *across], how="left", maintain_order="left")

    def dots(self, frame: pl.DataFrame, color: str, p: str, n: str = "n") -> list[Row]:
        """Give dots, as `dot` does: a line for each set of targets, a column for each network."""
        marks = self.marks
        dots = []
        for row in self.cross(frame, ["label", "targets"]).iter_rows(named=True):
            dots.append(dot(row, (row["targets"], marks[row["network"]], ""), color, p, n))
        return dots


def dot(
    row: Mapping[str, Any], position: tuple[str, str, str], color: str, p: str, n: str = "n"
) -> Row:
    """Give the dot of an estimate, with positive as stereotype-consistent, and its interval.

    `position`: its line, column and block.
    `color`: what shares a colour.
    `p`, `n`: the columns that its tooltip shows.
    """
    names = {"estimate": "turned", "ci_low": "turned_low", "ci_high": "turned_high", "p": p}
    words = row.get("prime") or row.get("targets")
    size = row[n]
    placebo_ends = (row.get("turned_placebo_low"), row.get("turned_placebo_high"))
    return {
        **measured({key: row[name] for key, name in names.items()}),
        "placebo_low": placebo_ends[0],
        "placebo_high": placebo_ends[1],
        "placebo": None if None in placebo_ends else interval(*placebo_ends),
        **dict(zip(("label", "panel", "block"), position, strict=True)),
        "category": color,
        "network": row.get("network") or f"{row['candidate']} − {row['baseline']}",
        "about": f"{row['label']}: {words}" if words else row["label"],
        "n": "n/a" if size is None else f"{size:,}",
    }


def render(spec: TableSpec, part: pl.DataFrame, **values: Any) -> ReportTable:
    """Set out the rows of an identity; captions and titles may name its label and categories."""
    names = {name: part[name][0] for name in ("label", "first", "second")}
    return spec.render(part, interval=interval_title(part), **names, **values)


def group_rows(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Put rows of the same keys one after the other, in the order in which they first occur."""
    return pl.concat([frame.clear(), *frame.partition_by(keys, maintain_order=True)])


def read_networks(directory: str | Path) -> Networks | None:
    """Read the tables about networks of a results directory; None where there is no such table.

    `directory`: may hold estimates and detail tables of networks, and ``networks.json``.
    Raises InputError if a table or ``networks.json`` is malformed.
    """
    path = Path(directory)
    family_tables = read_family(path, "networks")
    if family_tables is None:
        return None
    estimates, details = family_tables
    facts = read_facts(path / FAMILY.record)
    frames = {**details, **_estimate_frames(estimates, details)}
    _check_counts(details, path)
    # Those of the facts first, in the order in which they were given.
    raw_names = list(facts.texts("networks"))
    for frame in frames.values():
        for column in _NAMES:
            if column in frame.columns:
                raw_names.extend(frame[column].fill_null("").unique(maintain_order=True))
    names = display_names(raw_names, "unnamed network")
    tables = {}
    for name, frame in frames.items():
        tables[name] = _add_labels(_show_texts(frame, names, name), facts)
    return Networks(facts=facts, names=tuple(dict.fromkeys(names.values())), tables=tables)


def _show_texts(frame: pl.DataFrame, names: Mapping[str, str], table: str) -> pl.DataFrame:
    """Make texts fit to be shown.

    The words of streams stay: their drawing tells them apart, and shows them with care itself.
    """

    def show(column: str, text: str) -> str:
        """Make a text of a column fit to be shown."""
        if column in _NAMES:
            return names[text]
        if table in _STREAMS:
            return text
        return visible(text) if column in _LONG else cut(visible(text), LONGEST_WORD)

    return with_shown_texts(frame, show, _MAY_BE_NULL)


def _add_labels(frame: pl.DataFrame, facts: Facts) -> pl.DataFrame:
    """Add the label of each row's identity."""
    if "identity" not in frame.columns:
        return frame
    identities = facts.part("study").part("identities")
    labels = {key: identities.part(key).text("label") or spaced(key) for key in frame["identity"]}
    texts = {key: cut(visible(label), LONGEST_WORD) for key, label in labels.items()}
    label = pl.col("identity").replace_strict(texts, default=None, return_dtype=pl.String)
    return frame.with_columns(label=label)


def _check_counts(tables: Mapping[str, pl.DataFrame], path: Path) -> None:
    """Refuse numbers of paths that are none: they are text, being of any size."""
    for name in _STREAMS:
        wrong = tables[name].filter(~pl.col("paths").str.contains(r"^[0-9]+$").fill_null(False))
        if not wrong.is_empty():
            raise InputError(
                f"{path / name}.parquet: paths {str(wrong['paths'][0])[:40]!r}; a whole number is "
                "expected"
            )


#: Measure → the approach to bias that it belongs to.
_APPROACH_BY_MEASURE = {
    "activation_effect": "stereotypes",
    "valence_slope": "valence",
    "valence_joint": "valence",
    "emotion_effect": "emotions",
}
_EFFECTS = ("activation_effect", "emotion_effect")
_INTERVAL = ("ci_low", "ci_high", "confidence")
#: Methods that compare an effect with placebos: arbitrary primes, and arbitrary targets.
_PLACEBOS = ("placebo", "placebo_targets")
_PLACEBO = ("placebo_mean", "placebo_low", "placebo_high")
_PLACED = ("p", "p_holm", "n_resamples", *_PLACEBO)


def _estimate_frames(
    estimates: pl.DataFrame, details: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Set out the estimates of networks.

    `network` is the subject, `approach` what the measure belongs to, `missing` the absent words,
    `ci_low` and `ci_high` those of the method that gives an interval. Of other methods columns
    are named as ``p_permutation``. `turned`, `turned_low` and `turned_high` are the estimate and
    its interval, or that of rewired networks, with positive as stereotype-consistent. In
    `network_effects` and `network_coefficients` `p_claim` is the p that a claim rests on, null
    where there are no placebos, `turned_placebo_mean`, `turned_placebo_low` and
    `turned_placebo_high` are of arbitrary primes, and with the ending ``_targets`` of arbitrary
    targets.
    """
    approach = pl.col("measure").replace_strict(
        _APPROACH_BY_MEASURE, default=None, return_dtype=pl.String
    )
    estimates = estimates.with_columns(approach=approach, network="subject")
    # Neither differences between networks nor estimates under other settings.
    observed = estimates.filter(pl.col("factor").is_null(), pl.col("varied").is_null())
    missing = details["network_absences"].rename({"absent": "missing"})
    nodes = details["networks"].select("network", n_nodes="nodes").unique("network")
    effects = _add_turned(_effect_frame(observed, missing), "ci")
    coefficients = add_columns(_coefficient_frame(observed, missing), nodes, "network")
    coefficients = _add_turned(coefficients, "ci")
    frames = {
        "network_effects": _add_placebos(effects, *_PLACEBOS),
        "network_coefficients": _add_placebos(coefficients, _PLACEBOS[0]),
        "network_chance": _add_turned(_chance_frame(observed), "placebo"),
        "network_sensitivity": _add_turned(_sensitivity_frame(estimates, observed), "ci"),
        "network_priming": _priming_frame(observed, missing),
        "network_path_lengths": _path_frame(observed),
    }
    frames = {name: frame.drop("baseline", "candidate") for name, frame in frames.items()}
    frames["network_differences"] = _add_turned(_difference_frame(estimates), "ci")
    return frames


def _turn(name: str, other_end: str | None = None) -> pl.Expr:
    """Turn a column with positive as stereotype-consistent; the ends of an interval swap."""
    is_below = pl.col("direction").eq_missing("below")
    return pl.when(is_below).then(-pl.col(other_end or name)).otherwise(name)


def _add_turned(frame: pl.DataFrame, prefix: str) -> pl.DataFrame:
    """Add the estimate and its ends, turned."""
    low, high = f"{prefix}_low", f"{prefix}_high"
    return frame.with_columns(
        turned=_turn("estimate"), turned_low=_turn(low, high), turned_high=_turn(high, low)
    )


def _effect_frame(estimates: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    effects = join_methods(
        estimates.filter(pl.col("measure").is_in(_EFFECTS)),
        "published",
        {
            "permutation": ["p", "n_resamples", "note"],
            "bootstrap": [*_INTERVAL, "n_clusters"],
            **dict.fromkeys(_PLACEBOS, _PLACED),
        },
    ).with_columns(
        *(pl.col(f"{name}_bootstrap").alias(name) for name in (*_INTERVAL, "n_clusters")),
        note=pl.coalesce("note", "note_permutation"),
        # Absent primes of emotions stand once, under no set of targets.
        set=pl.when(approach="stereotypes").then("targets"),
    )
    absences = missing.rename({"targets": "set"})
    return add_columns(effects, absences, "network", "study", "identity", "set").drop("set")


def _add_placebos(effects: pl.DataFrame, *methods: str) -> pl.DataFrame:
    """Turn the placebos of effects as the effects are; see `_estimate_frames`."""
    turned = dict[str, pl.Expr]()
    for method in methods:
        ending = method.removeprefix("placebo")
        mean, low, high = (f"{name}_{method}" for name in _PLACEBO)
        turned[f"turned_placebo_mean{ending}"] = _turn(mean)
        turned[f"turned_placebo_low{ending}"] = _turn(low, high)
        turned[f"turned_placebo_high{ending}"] = _turn(high, low)
    # A claim needs all kinds of placebos, and rests on the largest p.
    adjusted = [pl.coalesce(f"p_holm_{method}", f"p_{method}") for method in methods]
    all_tested = pl.all_horizontal(p.is_not_null() for p in adjusted)
    return effects.with_columns(
        p_claim=pl.when(all_tested).then(pl.max_horizontal(adjusted)), **turned
    )


def _coefficient_frame(estimates: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    coefficients = join_methods(
        estimates.filter(approach="valence"),
        "published",
        {"robust": ["p", *_INTERVAL], _PLACEBOS[0]: _PLACED},
    ).with_columns(pl.col(f"{name}_robust").alias(name) for name in _INTERVAL)
    return add_columns(coefficients, missing, "network", "study", "identity", "targets")


def _difference_frame(estimates: pl.DataFrame) -> pl.DataFrame:
    """Set out differences between networks, and the correlation of their activations."""
    between_networks = estimates.filter(factor="subject").drop("network")
    keys = ("study", "identity", "targets", "baseline", "candidate")
    correlations = between_networks.filter(measure="rank_correlation")
    effects = between_networks.filter(pl.col("measure").is_in(_EFFECTS))
    return add_columns(effects, correlations.select(*keys, correlation="estimate"), *keys)


def _chance_frame(estimates: pl.DataFrame) -> pl.DataFrame:
    """Set estimates beside those of rewired networks; of valence, `targets` has the prime."""
    keys = ("network", "study", "identity", "targets", "prime")
    alarms = estimates.filter(measure="false_alarm_rate").select(*keys, false_alarms="estimate")
    rewired = join_methods(estimates.drop_nulls("approach"), "rewired", {"published": ["p"]})
    return add_columns(rewired, alarms, *keys).with_columns(targets=pl.coalesce("targets", "prime"))


def _sensitivity_frame(estimates: pl.DataFrame, observed: pl.DataFrame) -> pl.DataFrame:
    """List the estimates by default and, where there are any, under other settings."""
    varied = estimates.drop_nulls("varied")
    keys = ["network", "study", "identity", "measure", "targets", "prime"]
    default = observed.filter(method="published").join(
        varied, on=keys, how="semi", nulls_equal=True
    )
    rows = pl.concat([default.with_columns(varied=pl.lit("nothing")), varied])
    return rows.with_columns(targets=pl.coalesce("targets", "prime"))


def _path_frame(estimates: pl.DataFrame) -> pl.DataFrame:
    """Set out the differences in path length between inconsistent and consistent pairs."""
    rows = join_methods(
        estimates.filter(measure="path_difference"),
        "permutation",
        {"bootstrap": [*_INTERVAL, "n_clusters"], **dict.fromkeys(_PLACEBOS, _PLACED)},
    ).with_columns(pl.col(f"{name}_bootstrap").alias(name) for name in _INTERVAL)
    return _add_placebos(_add_turned(rows, "ci"), *_PLACEBOS)


def _priming_frame(estimates: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    """Set out the priming check, a row per network."""
    effect = estimates.filter(measure="priming_effect").select(
        "network", effect="estimate", effect_p="p"
    )
    absences = missing.filter(pl.col("identity").is_null()).select("network", "missing")
    correlations = estimates.filter(measure="priming_correlation").rename(
        {"estimate": "correlation"}
    )
    return add_columns(add_columns(correlations, effect, "network"), absences, "network")
