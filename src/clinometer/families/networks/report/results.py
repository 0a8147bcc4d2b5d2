"""What a results directory holds about association networks, its texts fit to be shown.

A table that is absent leaves its section out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.errors import InputError
from clinometer.families.networks.family import FAMILY
from clinometer.report.drawing.charts import Row, measured
from clinometer.report.plan import Plan, read_facts, spaced
from clinometer.report.prose import cut, interval, place, shown_names
from clinometer.report.sections import joined, read_family, with_shown_texts
from clinometer.report.tables import Column
from clinometer.results import beside
from clinometer.texts import visible

__all__ = ["APPROACHES", "LONGEST_WORD", "NETWORK", "PUBLISHED", "Networks", "dot",
           "read_networks", "together"]  # fmt: skip

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
#: Null there says something: a test of all primes, an effect without a stereotypical direction.
_MAY_BE_NULL = ("prime", "direction", "note")
_STREAMS = ("network_stream_nodes", "network_stream_edges")

#: The column of a table that names the network of a row.
NETWORK = Column("Network", lambda r: r["network"], "head")


@dataclass(frozen=True)
class Networks:
    """The tables about networks, fit to be shown.

    `facts`: ``networks.json``; empty where there is none.
    `names`: the networks, in the order they were given.
    `tables`: name → rows: the detail tables, and the estimates as `_estimate_frames` sets them
        out. `label` has the label of an identity.
    """

    facts: Plan
    names: tuple[str, ...]
    tables: Mapping[str, pl.DataFrame]

    @property
    def marks(self) -> dict[str, str]:
        """Give each network a label short enough for a drawing, its middle left out."""
        short = {
            name: name if len(name) <= _MARK else f"{name[: _MARK - 12]}…{name[-11:]}"
            for name in self.names
        }
        labels = list(short.values())
        return {
            name: f"{label[: _MARK - 5]}… {place}" if labels.count(label) > 1 else label
            for place, (name, label) in enumerate(short.items(), 1)
        }

    @property
    def study(self) -> Plan:
        """Give what the facts say of the study."""
        return self.facts.part("study")

    @property
    def replicates(self) -> bool:
        """Whether the study is the one whose published values are shown."""
        studies = [set(frame["study"]) for frame in self.tables.values() if "study" in frame]
        return PUBLISHED in {self.study.text("name")}.union(*studies)

    def of(self, table: str, approach: str | None = None) -> list[pl.DataFrame]:
        """Give the rows of each identity, or of those of an approach, the networks in order."""
        frame = self.tables[table]
        if approach is not None:
            frame = frame.filter(approach=approach)
        parts = [
            self.in_order(part) for part in frame.partition_by("identity", maintain_order=True)
        ]
        if approach != "emotions":
            return parts
        by = place(pl.col("targets").str.to_lowercase(), EMOTIONS)
        return [part.sort(by, maintain_order=True) for part in parts]

    def in_order(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sort by network, in the order they were given."""
        by = [place(name, self.names) for name in _NAMES if name in frame.columns]
        return frame.sort(by, maintain_order=True)

    def crossed(
        self, frame: pl.DataFrame, down: Sequence[str], across: Sequence[str] = ("network",)
    ) -> pl.DataFrame:
        """Give a row for each line and column of a drawing, with nulls where there was none.

        `down`, `across`: the columns of the frame that lines and columns are told apart by.
        """
        lines, columns = (frame.select(c).unique(maintain_order=True) for c in (down, across))
        pairs = lines.join(self.in_order(columns), how="cross")
        return pairs.join(frame, on=[*down, *across], how="left", maintain_order="left")


def dot(row: Mapping[str, Any], at: tuple[str, str, str], color: str, p: str, n: str = "n") -> Row:
    """Give the dot of an estimate, with positive as stereotype-consistent, and its interval.

    `at`: its line, column and block.
    `color`: what shares a colour.
    `p`, `n`: the columns that its tooltip shows.
    """
    names = {"estimate": "turned", "ci_low": "turned_low", "ci_high": "turned_high", "p": p}
    of, size = row.get("prime") or row.get("targets"), row[n]
    ends = (row.get("turned_placebo_low"), row.get("turned_placebo_high"))
    return {
        **measured({key: row[name] for key, name in names.items()}),
        "placebo_low": ends[0],
        "placebo_high": ends[1],
        "placebo": None if None in ends else interval(*ends),
        **dict(zip(("label", "panel", "block"), at, strict=True)),
        "category": color,
        "network": row.get("network") or f"{row['candidate']} − {row['baseline']}",
        "about": f"{row['label']}: {of}" if of else row["label"],
        "n": "n/a" if size is None else f"{size:,}",
    }


def together(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Put rows of the same keys one after the other, in the order in which they first occur."""
    return pl.concat([frame.clear(), *frame.partition_by(keys, maintain_order=True)])


def read_networks(directory: str | Path) -> Networks | None:
    """Read the tables about networks of a results directory; None where there is no such table.

    `directory`: may hold estimates and detail tables of networks, and ``networks.json``.
    Raises InputError if a table or ``networks.json`` is malformed.
    """
    path = Path(directory)
    tables = read_family(path, "networks")
    if tables is None:
        return None
    estimates, details = tables
    facts = read_facts(path / FAMILY.record)
    read = {**details, **_estimate_frames(estimates, details)}
    _check_counts(details, path)
    named = [
        name
        for frame in read.values()
        for column in _NAMES
        if column in frame.columns
        for name in frame[column].fill_null("").unique(maintain_order=True)
    ]
    names = shown_names([*facts.texts("networks"), *named], "unnamed network")
    return Networks(
        facts=facts,
        names=tuple(dict.fromkeys(names.values())),
        tables={name: _labelled(_shown(frame, names, name), facts) for name, frame in read.items()},
    )


def _shown(frame: pl.DataFrame, names: Mapping[str, str], table: str) -> pl.DataFrame:
    """Make texts fit to be shown.

    The words of streams stay: their drawing tells them apart, and shows them with care itself.
    """

    def shown(column: str, text: str) -> str:
        if column in _NAMES:
            return names[text]
        if table in _STREAMS:
            return text
        return visible(text) if column in _LONG else cut(visible(text), LONGEST_WORD)

    return with_shown_texts(frame, shown, _MAY_BE_NULL)


def _labelled(frame: pl.DataFrame, facts: Plan) -> pl.DataFrame:
    """Add the label of each row's identity."""
    if "identity" not in frame.columns:
        return frame
    identities = facts.part("study").part("identities")
    labels = {key: identities.part(key).text("label") or spaced(key) for key in frame["identity"]}
    shown = {key: cut(visible(label), LONGEST_WORD) for key, label in labels.items()}
    label = pl.col("identity").replace_strict(shown, default=None, return_dtype=pl.String)
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
_APPROACH_OF = {
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
    approach = pl.col("measure").replace_strict(_APPROACH_OF, default=None, return_dtype=pl.String)
    named = estimates.with_columns(approach=approach, network="subject")
    own = named.filter(pl.col("factor").is_null(), pl.col("varied").is_null())
    missing = details["network_absences"].rename({"absent": "missing"})
    nodes = details["networks"].select("network", n_nodes="nodes").unique("network")
    of_networks = {
        "network_effects": _with_placebos(_turned(_effects(own, missing), "ci"), *_PLACEBOS),
        "network_coefficients": _with_placebos(
            _turned(joined(_coefficients(own, missing), nodes, "network"), "ci"), _PLACEBOS[0]
        ),
        "network_chance": _turned(_rewired(own), "placebo"),
        "network_sensitivity": _turned(_varied(named, own), "ci"),
        "network_priming": _priming(own, missing),
        "network_path_lengths": _paths(own),
    }
    return {
        **{name: frame.drop("baseline", "candidate") for name, frame in of_networks.items()},
        "network_differences": _turned(_differences(named), "ci"),
    }


def _turned(frame: pl.DataFrame, ends: str) -> pl.DataFrame:
    below = pl.col("direction").eq_missing("below")
    low, high = pl.col(f"{ends}_low"), pl.col(f"{ends}_high")
    return frame.with_columns(
        turned=pl.when(below).then(-pl.col("estimate")).otherwise("estimate"),
        turned_low=pl.when(below).then(-high).otherwise(low),
        turned_high=pl.when(below).then(-low).otherwise(high),
    )


def _effects(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    drawn = beside(
        own.filter(pl.col("measure").is_in(_EFFECTS)),
        "published",
        {
            "permutation": ["p", "n_resamples", "note"],
            "bootstrap": [*_INTERVAL, "n_clusters"],
            **dict.fromkeys(_PLACEBOS, _PLACED),
        },
    ).with_columns(
        *(pl.col(f"{name}_bootstrap").alias(name) for name in (*_INTERVAL, "n_clusters")),
        note=pl.coalesce("note", "note_permutation"),
        # absent primes of emotions stand once, under no set of targets
        set=pl.when(approach="stereotypes").then("targets"),
    )
    absent = missing.rename({"targets": "set"})
    return joined(drawn, absent, "network", "study", "identity", "set").drop("set")


def _with_placebos(effects: pl.DataFrame, *methods: str) -> pl.DataFrame:
    """Turn the placebos of effects as the effects are; see `_estimate_frames`."""
    below, ends = pl.col("direction").eq_missing("below"), dict[str, pl.Expr]()
    for method in methods:
        mean, low, high = (pl.when(below).then(-pl.col(f"{name}_{method}")) for name in _PLACEBO)
        ending = method.removeprefix("placebo")
        ends |= {
            f"turned_{name}{ending}": pl.coalesce(value, f"{name}_{method}")
            for name, value in zip(_PLACEBO, (mean, high, low), strict=True)
        }
    adjusted = [pl.coalesce(f"p_holm_{method}", f"p_{method}") for method in methods]
    every = pl.all_horizontal(p.is_not_null() for p in adjusted)
    return effects.with_columns(p_claim=pl.when(every).then(pl.max_horizontal(adjusted)), **ends)


def _coefficients(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    fitted = beside(
        own.filter(approach="valence"),
        "published",
        {"robust": ["p", *_INTERVAL], _PLACEBOS[0]: _PLACED},
    ).with_columns(pl.col(f"{name}_robust").alias(name) for name in _INTERVAL)
    return joined(fitted, missing, "network", "study", "identity", "targets")


def _differences(named: pl.DataFrame) -> pl.DataFrame:
    """Set out differences between networks, and the correlation of their activations."""
    of_networks = named.filter(factor="subject").drop("network")
    keys = ("study", "identity", "targets", "baseline", "candidate")
    correlations = of_networks.filter(measure="rank_correlation")
    effects = of_networks.filter(pl.col("measure").is_in(_EFFECTS))
    return joined(effects, correlations.select(*keys, correlation="estimate"), *keys)


def _rewired(own: pl.DataFrame) -> pl.DataFrame:
    """Set estimates beside those of rewired networks; of valence, `targets` has the prime."""
    keys = ("network", "study", "identity", "targets", "prime")
    alarms = own.filter(measure="false_alarm_rate").select(*keys, false_alarms="estimate")
    rewired = beside(own.drop_nulls("approach"), "rewired", {"published": ["p"]})
    return joined(rewired, alarms, *keys).with_columns(targets=pl.coalesce("targets", "prime"))


def _varied(named: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """List the estimates by default and, where there are any, under other settings."""
    varied = named.drop_nulls("varied")
    keys = ["network", "study", "identity", "measure", "targets", "prime"]
    default = own.filter(method="published").join(varied, on=keys, how="semi", nulls_equal=True)
    every = pl.concat([default.with_columns(varied=pl.lit("nothing")), varied])
    return every.with_columns(targets=pl.coalesce("targets", "prime"))


def _paths(own: pl.DataFrame) -> pl.DataFrame:
    """Set out the differences in path length between inconsistent and consistent pairs."""
    rows = beside(
        own.filter(measure="path_difference"),
        "permutation",
        {"bootstrap": [*_INTERVAL, "n_clusters"], **dict.fromkeys(_PLACEBOS, _PLACED)},
    ).with_columns(pl.col(f"{name}_bootstrap").alias(name) for name in _INTERVAL)
    return _with_placebos(_turned(rows, "ci"), *_PLACEBOS)


def _priming(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    """Set out the priming check, a row per network."""
    effect = own.filter(measure="priming_effect").select("network", effect="estimate", effect_p="p")
    absent = missing.filter(pl.col("identity").is_null()).select("network", "missing")
    primed = own.filter(measure="priming_correlation").rename({"estimate": "correlation"})
    return joined(joined(primed, effect, "network"), absent, "network")
