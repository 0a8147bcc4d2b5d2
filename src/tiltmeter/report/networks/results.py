"""What a results directory holds about association networks, read with suspicion.

Every text in it is untrusted: names and words are shown with their invisible characters visible
and cut to a length that a page can hold. A table that is absent leaves its section out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.report.plan import Plan, read_facts, spaced
from tiltmeter.report.prose import cut, shown_names, visible
from tiltmeter.report.tables import Render
from tiltmeter.results import ESTIMATES, beside
from tiltmeter.results.directory import TABLES, read_detail, read_estimates

__all__ = ["ALPHA", "APPROACHES", "FACTS", "PUBLISHED", "Networks", "read_networks", "remarks"]

#: The file that says what was compared, beside the tables.
FACTS = "networks.json"
#: The study whose published values are held.
PUBLISHED = "abramski2025"

#: In the order of the page.
APPROACHES = ("stereotypes", "valence", "emotions")
#: Above this, p does not show anything.
ALPHA = 0.05

#: Characters shown of a word.
_LONGEST_WORD = 60
#: Characters of a network's name in a drawing.
_MARK = 26
_NAMES = ("network", "network_a", "network_b", "candidate", "baseline")
_WORDS = ("targets", "target", "first", "second", "prime", "group", "of", "norm", "varied")
_KEYS = (*_NAMES, "study", "identity", "targets", "target", "group", "first", "second", "of",
         "varied", "norm")  # fmt: skip
_STREAMS = ("network_stream_nodes", "network_stream_edges")
_UNNAMED = "unnamed network"

_DETAILS = tuple(name for name, table in TABLES.items() if table.family == "networks")


@dataclass(frozen=True)
class Networks:
    """The tables about networks, fit to be shown.

    `directory`: where they stand.
    `facts`: ``networks.json``; empty where there is none.
    `names`: the networks, in the order they were given.
    `tables`: name → rows, names and words fit to be shown: the detail tables, and the
        estimates as `_estimate_frames` sets them out.
    """

    directory: Path
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
        twice = {label for label in short.values() if list(short.values()).count(label) > 1}
        places = {name: place for place, name in enumerate(self.names, 1)}
        return {
            name: f"{label[: _MARK - 5]}… {places[name]}" if label in twice else label
            for name, label in short.items()
        }

    @property
    def study(self) -> Plan:
        """Give what the facts say of the study."""
        return self.facts.part("study")

    @property
    def replicates(self) -> bool:
        """Whether the study is the one whose published values are held."""
        named = {self.study.text("name")}
        studies = [set(frame["study"]) for frame in self.tables.values() if "study" in frame]
        return PUBLISHED in named.union(*studies)

    def label(self, identity: str) -> str:
        """Give the label of an identity."""
        label = self.study.part("identities").part(identity).text("label")
        return cut(visible(label or spaced(identity)), _LONGEST_WORD)

    def of(self, table: str, approach: str | None = None) -> list[tuple[str, pl.DataFrame]]:
        """Give the rows of each identity, or of those of an approach, the networks in order."""
        frame = self.tables[table]
        if approach is not None:
            frame = frame.filter(approach=approach)
        return [
            (str(key), self.in_order(part))
            for (key,), part in frame.group_by("identity", maintain_order=True)
        ]

    def in_order(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sort by network, in the order they were given."""
        columns = [name for name in _NAMES if name in frame.columns]
        places = {name: place for place, name in enumerate(self.names)}
        by = [pl.col(c).replace_strict(places, return_dtype=pl.Int64) for c in columns]
        return frame.sort(by, maintain_order=True)


def read_networks(directory: str | Path) -> Networks | None:
    """Read the tables about networks of a results directory; None where there is no such table.

    `directory`: may hold estimates and detail tables of networks, and ``networks.json``.
    Raises InputError if a table or ``networks.json`` is malformed.
    """
    path = Path(directory)
    estimates = pl.DataFrame(schema=ESTIMATES)
    if (path / "estimates.parquet").is_file():
        estimates = read_estimates(path).filter(family="networks")
    details = {name: read_detail(path, name) for name in _DETAILS}
    if not any((path / f"{name}.parquet").is_file() for name in _DETAILS) and estimates.is_empty():
        return None
    facts = read_facts(path / FACTS)
    read = {**details, **_estimate_frames(estimates, details)}
    _check_counts(read, path)
    shown = shown_names([*facts.texts("networks"), *_named(read.values())], _UNNAMED)
    return Networks(
        directory=path,
        facts=facts,
        names=tuple(dict.fromkeys(shown.values())),
        tables={name: _shown(frame, shown, name) for name, frame in read.items()},
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
            cut(visible(word), _LONGEST_WORD) for word in row["missing"] or [] if word
        )
        notes = [row["note"] or "", f"not in the network: {absent}" if absent else ""]
        if any(notes):
            lines.append(f"{about(row)}: {'; '.join(filter(None, notes))}.")
    return "Missing words and notes", tuple(lines)


def _named(frames: Iterable[pl.DataFrame]) -> Iterator[str]:
    for frame in frames:
        for column in (name for name in _NAMES if name in frame.columns):
            yield from frame[column].fill_null("").unique(maintain_order=True)


def _shown(frame: pl.DataFrame, names: Mapping[str, str], table: str) -> pl.DataFrame:
    """Make texts fit to be shown; one that rows are grouped by is never null.

    The words of streams stay: their drawing tells them apart, and shows them with care itself.
    """
    changed = []
    for column in (name for name, kind in frame.schema.items() if kind == pl.String):
        texts = frame[column]
        if column in _NAMES:
            each = {text: names[text] for text in texts.fill_null("").unique()}
        elif table in _STREAMS:
            continue
        else:
            each = {text: _text(text, column) for text in texts.unique().drop_nulls()}
        if column in _KEYS:
            texts = texts.fill_null("")
            each.setdefault("", "")
        changed.append(texts.replace_strict(each, default=None, return_dtype=pl.String))
    return frame.with_columns(changed)


def _text(text: str, column: str) -> str:
    return cut(visible(text), _LONGEST_WORD) if column in _WORDS else visible(text)


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
#: What tells the absent words of one estimate from those of another.
_ABOUT = ("network", "study", "identity", "targets")


def _estimate_frames(
    estimates: pl.DataFrame, details: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Set out the estimates of networks.

    Parameters
    ----------
    estimates
        Columns of `results.ESTIMATES`, of networks.
    details
        The detail tables of networks, by name.

    Returns
    -------
    dict
        Name → frame. `network` is the subject, `approach` what the measure belongs to, `missing`
        the absent words, `ci_low` and `ci_high` those of the method that gives an interval. Of
        other methods columns are named as ``p_permutation``.
    """
    named = estimates.with_columns(
        approach=pl.col("measure").replace_strict(
            _APPROACH_OF, default=None, return_dtype=pl.String
        ),
        network="subject",
    )
    own = named.filter(pl.col("factor").is_null(), pl.col("varied").is_null())
    missing = details["network_absences"].rename({"absent": "missing"})
    nodes = details["networks"].select("network", n_nodes="nodes")
    of_networks = {
        "network_effects": _effects(own, missing),
        "network_coefficients": _coefficients(own, missing).join(
            nodes.unique("network"), on="network", how="left", maintain_order="left"
        ),
        "network_chance": _rewired(own),
        "network_sensitivity": _varied(named, own),
        "network_priming": _priming(own, missing),
    }
    return {
        **{name: frame.drop("baseline", "candidate") for name, frame in of_networks.items()},
        "network_differences": _differences(named),
    }


def _effects(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    drawn = beside(
        own.filter(pl.col("measure").is_in(_EFFECTS)),
        "published",
        {"permutation": ["p", "n_resamples", "note"], "bootstrap": [*_INTERVAL, "n_clusters"]},
    ).with_columns(
        *(pl.col(f"{name}_bootstrap").alias(name) for name in (*_INTERVAL, "n_clusters")),
        note=pl.coalesce("note", "note_permutation"),
    )
    # absent primes of emotions stand once, under no set of targets
    of_set = pl.when(approach="stereotypes").then("targets").alias("set")
    return (
        drawn.with_columns(of_set)
        .join(missing.rename({"targets": "set"}), on=["network", "study", "identity", "set"],
              how="left", nulls_equal=True, maintain_order="left")
        .drop("set")
    )  # fmt: skip


def _coefficients(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    fitted = beside(
        own.filter(approach="valence"), "published", {"robust": ["p", *_INTERVAL]}
    ).with_columns(pl.col(f"{name}_robust").alias(name) for name in _INTERVAL)
    return fitted.join(
        missing, on=list(_ABOUT), how="left", nulls_equal=True, maintain_order="left"
    )


def _differences(named: pl.DataFrame) -> pl.DataFrame:
    """Set out differences between networks, and the correlation of their activations."""
    of_networks = named.filter(factor="subject").drop("network")
    keys = ["study", "identity", "targets", "baseline", "candidate"]
    correlations = of_networks.filter(measure="rank_correlation").select(
        *keys, correlation="estimate"
    )
    return of_networks.filter(pl.col("measure").is_in(_EFFECTS)).join(
        correlations, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )


def _rewired(own: pl.DataFrame) -> pl.DataFrame:
    """Set estimates beside those of rewired networks; of valence, `targets` has the prime."""
    keys = ["network", "study", "identity", "targets", "prime"]
    alarms = own.filter(measure="false_alarm_rate").select(*keys, false_alarms="estimate")
    rewired = beside(own.drop_nulls("approach"), "rewired", {"published": ["p"]})
    return rewired.join(
        alarms, on=keys, how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(targets=pl.coalesce("targets", "prime"))


def _varied(named: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """List the estimates by default and, where there are any, under other settings."""
    varied = named.drop_nulls("varied")
    keys = ["network", "study", "identity", "measure", "targets", "prime"]
    default = own.filter(method="published").join(varied, on=keys, how="semi", nulls_equal=True)
    every = pl.concat([default.with_columns(varied=pl.lit("nothing")), varied])
    return every.with_columns(targets=pl.coalesce("targets", "prime"))


def _priming(own: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    """Set out the priming check, a row per network."""
    effect = own.filter(measure="priming_effect").select("network", effect="estimate", effect_p="p")
    return (
        own.filter(measure="priming_correlation")
        .join(effect, on="network", how="left", maintain_order="left")
        .join(missing.filter(pl.col("identity").is_null()).select("network", "missing"),
              on="network", how="left", maintain_order="left")
        .rename({"estimate": "correlation"})
    )  # fmt: skip
