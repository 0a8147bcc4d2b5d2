"""The plan of a run, read with suspicion: what decides which prompts were asked.

Every text in it is untrusted and every key may be absent: what is missing or of the wrong type
is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from clinometer.report.facts import (
    Facts,
    as_items,
    as_list,
    as_number,
    as_text,
    as_texts,
    is_map,
    spaced,
)
from clinometer.results import Measure, records

__all__ = [
    "InstrumentFacts",
    "PlanFacts",
    "SourceFacts",
    "StereotypeFacts",
    "Stimuli",
    "read_plan",
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


class SourceFacts(NamedTuple):
    """Where a study that was asked comes from."""

    name: str
    title: str
    citation: str
    bibtex: str
    study_hash: str
    language: str


@dataclass(frozen=True)
class PlanFacts:
    """``plan.json``, as far as it can be understood: a text is empty and a list short where not.

    Two studies may use a key for different things: narrow a plan with `of` before looking up
    labels or an order. As read, a plan has those of all studies, the first of a key.
    """

    instruments: Mapping[str, Measure] = field(default_factory=dict)
    facts: Mapping[str, InstrumentFacts] = field(default_factory=dict)  # by measure
    stereotypes: Mapping[str, StereotypeFacts] = field(default_factory=dict)
    interval: str = "95% interval"
    dimensions: Mapping[str, str] = field(default_factory=dict)  # key → label
    studies: Mapping[str, Stimuli] = field(default_factory=dict)
    sources: tuple[SourceFacts, ...] = ()  # of the studies that are no controls
    models: tuple[str, ...] = ()
    sizes: Mapping[str, float] = field(default_factory=dict)  # model → billions of parameters
    modes: tuple[str, ...] = ()
    variations: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    temperatures: tuple[str, ...] = ()
    interventions: tuple[tuple[str, str], ...] = ()  # name and system prompt
    study: str = ""  # the one that the plan is named after
    size: str = ""
    margin: float | None = None
    compliance_floor: float | None = None
    planned: tuple[str, ...] = ()  # instrument, study and number of trials, as text
    looks: int = 0  # at the answers, if what was decided ended
    ended: tuple[str, ...] = ()  # why each stereotype was asked no more
    notes: tuple[str, ...] = ()
    recorded_file: str = ""  # of answers that were recorded elsewhere
    recorded_answers: str = ""  # their hash
    command: str = ""
    seed: str = ""
    order: str = ""
    word_list: str = ""
    generation: tuple[tuple[str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()  # of libraries
    version: str = ""  # of Clinometer
    created: str = ""

    def of(self, study: str | None) -> PlanFacts:
        """Return the same plan with the stereotypes and dimensions of one study."""
        stimuli = self.studies.get(study or "", Stimuli({}, {}))
        return replace(self, stereotypes=stimuli.stereotypes, dimensions=stimuli.dimensions)

    def label(self, stereotype: str) -> str:
        """Return the label of a stereotype; its key where two share a label or none is given."""
        return _distinct_label(stereotype, {k: s.label for k, s in self.stereotypes.items()})

    def labels(self, keys: Sequence[tuple[str | None, str]]) -> list[str]:
        """Return the labels of stereotypes by study and key; with the study where two share one."""
        labels = [self.of(study).label(key) for study, key in keys]
        distinct = []
        for label, (study, _) in zip(labels, keys, strict=True):
            is_shared = labels.count(label) > 1
            distinct.append(f"{label} ({study})" if is_shared and study else label)
        return distinct

    def dimension(self, key: str) -> str:
        """Return the label of a dimension; its key where two share a label or none is given."""
        return _distinct_label(key, self.dimensions)

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the studies that are no controls, as their files name them."""
        languages = filter(None, (source.language for source in self.sources))
        return tuple(dict.fromkeys(languages))

    def measure(self, instrument: str) -> Measure:
        """Return what an instrument's number means, as far as the plan says so."""
        unknown = Measure(instrument, spaced(instrument), -1, 1, 0, "", "")
        return self.instruments.get(instrument) or unknown


def read_plan(path: Path) -> PlanFacts:
    """Read what can be understood of ``plan.json``.

    Raises PlanError if there is no such file, it is no plan, or it is of another layout.
    """
    raw = records.read_plan(path)
    plan, recorded = Facts(raw), Facts(raw).part("recorded")
    rows = [row for row in as_list(raw.get("instruments")) if is_map(row)]
    studies = _studies(raw)
    looks = len(as_list(raw.get("looks")))
    return PlanFacts(
        instruments={as_text(row.get("name")): _measure(row) for row in rows},
        facts={as_text(row.get("name")): _facts(row) for row in rows},
        stereotypes=_merge(stimuli.stereotypes for stimuli in studies.values()),
        dimensions=_merge(stimuli.dimensions for stimuli in studies.values()),
        studies=studies,
        sources=_sources(raw),
        models=plan.texts("models"),
        sizes=plan.numbers("sizes"),
        modes=plan.texts("modes"),
        variations=plan.texts("variations"),
        efforts=plan.texts("efforts"),
        temperatures=plan.texts("temperatures"),
        interventions=plan.pairs("interventions"),
        study=plan.text("study"),
        size=plan.text("size"),
        margin=plan.number("margin"),
        compliance_floor=plan.number("compliance_floor"),
        planned=tuple(_planned(part, looks) for part in plan.parts("studies")),
        looks=looks,
        ended=tuple(end.text("why") for end in plan.part("stage").parts("ended")),
        notes=plan.texts("notes"),
        recorded_file=recorded.text("file"),
        recorded_answers=recorded.text("answers"),
        command=plan.text("command"),
        seed=plan.text("seed"),
        order=plan.text("order"),
        word_list=plan.text("word_list"),
        generation=plan.pairs("generation"),
        versions=plan.pairs("versions"),
        version=plan.text("clinometer"),
        created=plan.text("created"),
    )


def _planned(part: Facts, looks: int) -> str:
    """Say how many trials were planned with an instrument and a study."""
    most = "up to " if looks else ""
    return f"{part.text('instrument')}, {part.text('study')}: {most}{part.text('iterations')}"


def _sources(raw: Mapping[str, Any]) -> tuple[SourceFacts, ...]:
    """Read where each study comes from that is no control; of controls alone, where they do."""
    rows = [{"name": name, **row} for name, row in as_items(raw.get("sources")) if is_map(row)]
    measured = [row for row in rows if not row.get("control")] or rows
    return tuple(map(_source, measured))


def _source(row: Mapping[str, Any]) -> SourceFacts:
    texts = {name: as_text(row.get(name)) for name in SourceFacts._fields}
    return SourceFacts(**texts)


def _studies(raw: Mapping[str, Any]) -> dict[str, Stimuli]:
    """Read stereotypes by study."""
    by_study = {study: _stereotypes(rows) for study, rows in as_items(raw.get("stereotypes"))}
    dimensions = {study: _labels(labels) for study, labels in as_items(raw.get("dimensions"))}
    studies = {}
    for study in dict.fromkeys([*by_study, *dimensions]):
        stereotypes = by_study.get(study, {})
        # A plan that does not list the dimensions of a study has them with its stereotypes.
        of_stereotypes = (stereotype.dimensions for stereotype in stereotypes.values())
        studies[study] = Stimuli(stereotypes, dimensions.get(study) or _merge(of_stereotypes))
    return studies


def _stereotypes(rows: object) -> dict[str, StereotypeFacts]:
    return {key: _stereotype(key, row) for key, row in as_items(rows) if is_map(row)}


def _merge(mappings: Iterable[Mapping[str, Item]]) -> dict[str, Item]:
    """Merge mappings; the first of a key stays."""
    merged: dict[str, Item] = {}
    for mapping in mappings:
        for key, value in mapping.items():
            merged.setdefault(key, value)
    return merged


def _labels(labels: object) -> dict[str, str]:
    """Read labels, each a text or a mapping with one."""
    by_key = {}
    for key, value in as_items(labels):
        label = value.get("label") if is_map(value) else value
        by_key[key] = as_text(label) or key
    return by_key


def _measure(row: Mapping[str, Any]) -> Measure:
    """Read what a number means; where its scale is not given, it reaches from −1 to 1."""
    name = as_text(row.get("name"))
    low, high, neutral = (as_number(row.get(key)) for key in ("low", "high", "neutral"))
    return Measure(
        name=name,
        title=as_text(row.get("title")) or spaced(name),
        low=-1.0 if low is None else low,
        high=1.0 if high is None else high,
        neutral=0.0 if neutral is None else neutral,
        direction=as_text(row.get("direction")),
        reference=as_text(row.get("reference")),
        how=as_text(row.get("how")),
        asks=as_text(row.get("asks")),
        limits=as_texts(row.get("limits")),
    )


def _facts(row: Mapping[str, Any]) -> InstrumentFacts:
    versions = {name: meaning for name, meaning in as_items(row.get("versions")) if is_map(meaning)}
    groups = {name: as_text(meaning.get("group")) for name, meaning in versions.items()}
    measures = [_unbounded(measure) for measure in as_list(row.get("analysed")) if is_map(measure)]
    return InstrumentFacts(
        name=as_text(row.get("instrument")),
        trial=as_text(row.get("trial")),
        versions={name: as_text(meaning.get("text")) for name, meaning in versions.items()},
        groups={name: group for name, group in groups.items() if group},
        ordered=as_text(row.get("ordered")),
        effect=as_text(row.get("effect")),
        analysed={measure.name: measure for measure in measures},
    )


def _unbounded(row: Mapping[str, Any]) -> Measure:
    """Read a measure whose ends are infinite, and whose neutral value is none, if not given."""
    low, high, neutral = (as_number(row.get(key)) for key in ("low", "high", "neutral"))
    return replace(
        _measure(row),
        low=-math.inf if low is None else low,
        high=math.inf if high is None else high,
        neutral=math.nan if neutral is None else neutral,
    )


def _stereotype(key: str, row: Mapping[str, Any]) -> StereotypeFacts:
    return StereotypeFacts(
        key=key,
        label=as_text(row.get("label")) or key,
        category=as_text(row.get("category")),
        defects=as_texts(row.get("defects")),
        dimensions=_labels(row.get("dimensions")),
    )


def _distinct_label(key: str, labels: Mapping[str, str]) -> str:
    label = labels.get(key, key)
    of_rest = (text for name, text in labels.items() if name != key)
    return f"{label} ({key})" if label in of_rest else label
