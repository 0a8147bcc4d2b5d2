"""The plan of a run, read with suspicion: what decides which prompts were asked.

Every text in it is untrusted and every key may be absent: what is missing or of the wrong type
is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from clinometer.errors import InputError
from clinometer.results import Measure, records

__all__ = [
    "InstrumentFacts",
    "PlanFacts",
    "StereotypeFacts",
    "Stimuli",
    "read_facts",
    "read_plan",
    "spaced",
]

Item = TypeVar("Item")


@dataclass(frozen=True)
class StereotypeFacts:
    """One contrast as the plan describes it."""

    key: str
    label: str
    category: str
    defects: tuple[str, ...]
    dimensions: Mapping[str, str] = field(default_factory=dict)  # key → label


@dataclass(frozen=True)
class Stimuli:
    """What one study asks about."""

    stereotypes: Mapping[str, StereotypeFacts]
    dimensions: Mapping[str, str]  # key → label


@dataclass(frozen=True)
class InstrumentFacts:
    """How a number was asked for, as the plan says it; what it means is a `Measure`."""

    name: str = ""  # of the instrument
    trial: str = ""  # what one trial asks
    versions: Mapping[str, str] = field(default_factory=dict)  # version → what it means
    groups: Mapping[str, str] = field(default_factory=dict)  # version → the one group it is about
    ordered: str = ""  # what is named in two orders: groups or options
    effect: str = ""  # the analysed measure that stands beside the mean
    analysed: Mapping[str, Measure] = field(default_factory=dict)  # of its published analysis


@dataclass(frozen=True)
class PlanFacts:
    """``plan.json``: the texts and lists the report uses, and the raw mapping.

    Two studies may use a key for different things: narrow a plan with `of` before looking up
    labels or an order. As read, a plan has those of all studies, the first of a key.
    """

    raw: Mapping[str, Any] = field(default_factory=dict)
    instruments: Mapping[str, Measure] = field(default_factory=dict)
    facts: Mapping[str, InstrumentFacts] = field(default_factory=dict)  # by measure
    stereotypes: Mapping[str, StereotypeFacts] = field(default_factory=dict)
    interval: str = "95% interval"
    dimensions: Mapping[str, str] = field(default_factory=dict)  # key → label
    studies: Mapping[str, Stimuli] = field(default_factory=dict)

    def of(self, study: str | None) -> PlanFacts:
        """Give the same plan with the stereotypes and dimensions of one study."""
        own = self.studies.get(study or "", Stimuli({}, {}))
        return replace(self, stereotypes=own.stereotypes, dimensions=own.dimensions)

    def text(self, key: str) -> str:
        """Give a scalar of the plan as text; empty where there is none."""
        return _text(self.raw.get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Give a list of the plan as texts; empty where there is none."""
        return _texts(self.raw.get(key))

    def number(self, key: str) -> float | None:
        """Give a number of the plan; None where there is none."""
        return _number(self.raw.get(key))

    def numbers(self, key: str) -> dict[str, float]:
        """Give a flat mapping of the plan to numbers; what is no number is left out."""
        value = self.raw.get(key)
        numbers = {str(k): _number(v) for k, v in value.items()} if _is_map(value) else {}
        return {name: number for name, number in numbers.items() if number is not None}

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Give a flat mapping of the plan as pairs of texts."""
        value = self.raw.get(key)
        return tuple((str(k), _text(v)) for k, v in value.items()) if _is_map(value) else ()

    def part(self, key: str) -> PlanFacts:
        """Give a mapping of the plan as a plan of its own; an empty one where there is none."""
        return _bare(self.raw.get(key))

    def parts(self, key: str) -> tuple[PlanFacts, ...]:
        """Give each mapping of a list of the plan as a plan of its own."""
        return tuple(_bare(item) for item in _list(self.raw.get(key)) if _is_map(item))

    def label(self, stereotype: str) -> str:
        """Give the label of a stereotype; its key where two share a label or none is given."""
        return _distinct_label(stereotype, {k: s.label for k, s in self.stereotypes.items()})

    def labels(self, keys: Sequence[tuple[str | None, str]]) -> list[str]:
        """Give the labels of stereotypes by study and key; with the study where two share one."""
        labels = [self.of(study).label(key) for study, key in keys]
        return [
            f"{label} ({study})" if labels.count(label) > 1 and study else label
            for label, (study, _) in zip(labels, keys, strict=True)
        ]

    def dimension(self, key: str) -> str:
        """Give the label of a dimension; its key where two share a label or none is given."""
        return _distinct_label(key, self.dimensions)

    def sources(self) -> tuple[Mapping[str, str], ...]:
        """Give name, title, citation, hash and language of each study that is no control."""
        rows = [
            {"name": name, **row} for name, row in _items(self.raw.get("sources")) if _is_map(row)
        ]
        own = [row for row in rows if not row.get("control")] or rows
        return tuple(
            {key: _text(row.get(key)) for key in ("name", "title", *_CITED)} for row in own
        )

    def languages(self) -> tuple[str, ...]:
        """Give the languages of the studies that are no controls, as their files name them."""
        own = filter(None, (one["language"] for one in self.sources()))
        return tuple(dict.fromkeys(own))

    def measure(self, instrument: str) -> Measure:
        """Give what an instrument's number means, as far as the plan says so."""
        unknown = Measure(instrument, spaced(instrument), -1, 1, 0, "", "")
        return self.instruments.get(instrument) or unknown


_CITED = ("citation", "bibtex", "study_hash", "language")


def _bare(value: object) -> PlanFacts:
    return PlanFacts(value if _is_map(value) else {})


def read_facts(path: Path) -> PlanFacts:
    """Read a JSON file of facts; empty where there is no such file.

    Raises InputError if it is not a JSON object.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return PlanFacts()
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not _is_map(raw):
        raise InputError(f"{path}: a JSON object is expected, not {type(raw).__name__}")
    return PlanFacts(raw)


def read_plan(path: Path) -> PlanFacts:
    """Read what can be understood of ``plan.json``.

    Raises PlanError if there is no such file, it is no plan, or it is of another layout.
    """
    raw = records.read_plan(path)
    rows = [row for row in _list(raw.get("instruments")) if _is_map(row)]
    studies = _studies(raw)
    return PlanFacts(
        raw=raw,
        instruments={_text(row.get("name")): _measure(row) for row in rows},
        facts={_text(row.get("name")): _facts(row) for row in rows},
        stereotypes=_joined(one.stereotypes for one in studies.values()),
        dimensions=_joined(one.dimensions for one in studies.values()),
        studies=studies,
    )


def _studies(raw: Mapping[str, Any]) -> dict[str, Stimuli]:
    """Read stereotypes by study."""
    by_study = {
        study: {key: _stereotype(key, row) for key, row in _items(rows) if _is_map(row)}
        for study, rows in _items(raw.get("stereotypes"))
    }
    named = {study: _labels(labels) for study, labels in _items(raw.get("dimensions"))}
    return {
        study: Stimuli(
            by_study.get(study, {}),
            named.get(study) or _joined(s.dimensions for s in by_study.get(study, {}).values()),
        )
        for study in dict.fromkeys([*by_study, *named])
    }


def _joined(each: Iterable[Mapping[str, Item]]) -> dict[str, Item]:
    """Join mappings; the first of a key stays."""
    joined: dict[str, Item] = {}
    for one in each:
        joined |= {key: item for key, item in one.items() if key not in joined}
    return joined


def _labels(labels: object) -> dict[str, str]:
    """Read labels, each a text or a mapping with one."""
    return {
        key: _text(value.get("label") if _is_map(value) else value) or key
        for key, value in _items(labels)
    }


def _measure(row: Mapping[str, Any]) -> Measure:
    name = _text(row.get("name"))
    ends = (("low", -1.0), ("high", 1.0), ("neutral", 0.0))
    given = [(_number(row.get(key)), fallback) for key, fallback in ends]
    low, high, neutral = (fallback if value is None else value for value, fallback in given)
    title = _text(row.get("title")) or spaced(name)
    return Measure(
        *(name, title, low, high, neutral, _text(row.get("direction"))),
        *(_text(row.get("reference")), _text(row.get("how"))),
        asks=_text(row.get("asks")),
        limits=_texts(row.get("limits")),
    )


def _facts(row: Mapping[str, Any]) -> InstrumentFacts:
    versions = {name: one for name, one in _items(row.get("versions")) if _is_map(one)}
    groups = {name: _text(one.get("group")) for name, one in versions.items()}
    analysed = [_unbounded(one) for one in _list(row.get("analysed")) if _is_map(one)]
    return InstrumentFacts(
        name=_text(row.get("instrument")),
        trial=_text(row.get("trial")),
        versions={name: _text(one.get("text")) for name, one in versions.items()},
        groups={name: group for name, group in groups.items() if group},
        ordered=_text(row.get("ordered")),
        effect=_text(row.get("effect")),
        analysed={one.name: one for one in analysed},
    )


def _unbounded(row: Mapping[str, Any]) -> Measure:
    """Read a measure whose ends are infinite, and whose neutral value is none, if not given."""
    low, high, neutral = (_number(row.get(key)) for key in ("low", "high", "neutral"))
    return replace(
        _measure(row),
        low=-math.inf if low is None else low,
        high=math.inf if high is None else high,
        neutral=math.nan if neutral is None else neutral,
    )


def _stereotype(key: str, row: Mapping[str, Any]) -> StereotypeFacts:
    return StereotypeFacts(
        key=key,
        label=_text(row.get("label")) or key,
        category=_text(row.get("category")),
        defects=_texts(row.get("defects")),
        dimensions=_labels(row.get("dimensions")),
    )


def _distinct_label(key: str, labels: Mapping[str, str]) -> str:
    label = labels.get(key, key)
    shared = any(other == label for name, other in labels.items() if name != key)
    return f"{label} ({key})" if shared else label


def spaced(key: str) -> str:
    """Write a key as a title."""
    return key.replace("_", " ").capitalize()


def _number(value: object) -> float | None:
    """Give a finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _is_map(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _items(value: object) -> list[tuple[str, Any]]:
    return [(str(key), item) for key, item in value.items()] if _is_map(value) else []


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(_text(item) for item in _list(value) if _text(item))
