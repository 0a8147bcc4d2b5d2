"""The plan of a run, read with suspicion: what decides which prompts were asked.

Every text in it is untrusted and every key may be absent: what is missing or of the wrong type
is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from clinometer.pieces.facts import Facts, spaced
from clinometer.results import Measure, records

Item = TypeVar("Item")

#: What the words of a stereotype are.
WORD_ROLES = ("marginalized", "default", "tied", "counter")


class Labels(dict[str, str]):
    """Key → label; a key without a label is its own."""

    def __missing__(self, key: str) -> str:
        """Return the key."""
        return key


@dataclass(frozen=True)
class StereotypeFacts:
    """One contrast as the plan describes it."""

    key: str
    label: str
    category: str
    defects: tuple[str, ...]
    control_for: str = ""  # the stereotype that arbitrary words or things are asked for
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # role → words
    dimensions: Mapping[str, str] = field(default_factory=dict)  # key → label


@dataclass(frozen=True)
class Stimuli:
    """What one study asks about; a plan has the same of all."""

    stereotypes: Mapping[str, StereotypeFacts] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)  # no two share one
    dimensions: Labels = field(default_factory=Labels)  # no two share one


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
    word_study: str = ""  # of groups named as people: the study that names them with one word


class Prices(NamedTuple):
    """Dollars per million tokens of a model."""

    input: float
    output: float


@dataclass(frozen=True)
class PlanFacts:
    """``plan.json``, as far as it can be understood: a text is empty and a list short where not.

    Two studies may use a key for different things: narrow a plan with `for_study` before looking up
    labels or an order. As read, a plan has those of all studies, the first of a key.
    """

    instruments: Mapping[str, Measure] = field(default_factory=dict)
    facts: Mapping[str, InstrumentFacts] = field(default_factory=dict)  # by measure
    stereotypes: Mapping[str, StereotypeFacts] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)  # of stereotypes
    full_labels: Mapping[tuple[str, str], str] = field(default_factory=dict)  # study and key → same
    interval: str = "95% interval"
    dimensions: Labels = field(default_factory=Labels)
    studies: Mapping[str, Stimuli] = field(default_factory=dict)
    sources: tuple[SourceFacts, ...] = ()  # of the studies that are no controls
    models: tuple[str, ...] = ()
    sizes: Mapping[str, float] = field(default_factory=dict)  # model → billions of parameters
    prices: Mapping[str, Prices] = field(default_factory=dict)  # of models that have one
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
    elsewhere: tuple[str, ...] = ()  # what was not made here when the run was continued

    def for_study(self, study: str | None) -> PlanFacts:
        """Return the same plan with the stereotypes and dimensions of one study."""
        return replace(self, **vars(self.studies.get(study or "", Stimuli())))

    @property
    def word_studies(self) -> Mapping[str, str]:
        """The studies that name groups with one word, by those that name the same as people."""
        return {source.name: source.word_study for source in self.sources if source.word_study}

    def content(self) -> tuple[tuple[str, ...], dict[str, set[str]]]:
        """Return which models were asked, and about which stereotypes of each study."""
        stereotypes = {name: set(study.stereotypes) for name, study in self.studies.items()}
        return self.models, stereotypes

    def measure(self, instrument: str) -> Measure:
        """Return what an instrument's number means, as far as the plan says so."""
        unknown = Measure(instrument, spaced(instrument), -1, 1, 0, "", "")
        return self.instruments.get(instrument) or unknown


def read_plan(path: Path) -> PlanFacts:
    """Read what can be understood of ``plan.json``.

    Raises PlanError if there is no such file, it is no plan, or it is of another layout.
    """
    plan = Facts(records.read_plan(path))
    recorded, instruments = plan.part("recorded"), plan.parts("instruments")
    studies = _studies(plan)
    stereotypes = _merge(stimuli.stereotypes for stimuli in studies.values())
    looks = len(plan.texts("looks"))
    return PlanFacts(
        instruments={row.text("name"): _measure(row) for row in instruments},
        facts={row.text("name"): _facts(row) for row in instruments},
        stereotypes=stereotypes,
        labels=_labels(stereotypes),
        full_labels=_full_labels(studies),
        dimensions=Labels(_merge(stimuli.dimensions for stimuli in studies.values())),
        studies=studies,
        sources=_sources(plan),
        models=plan.texts("models"),
        sizes=plan.numbers("sizes"),
        prices={name: _prices(row) for name, row in plan.parts_by_name("prices").items()},
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
        elsewhere=tuple(": ".join(pair) for pair in plan.pairs("elsewhere")),
    )


def _planned(part: Facts, looks: int) -> str:
    """Say how many trials were planned with an instrument and a study."""
    most = "up to " if looks else ""
    return f"{part.text('instrument')}, {part.text('study')}: {most}{part.text('iterations')}"


def _prices(row: Facts) -> Prices:
    return Prices(row.number("input") or 0.0, row.number("output") or 0.0)


def _sources(plan: Facts) -> tuple[SourceFacts, ...]:
    """Read where each study comes from that is no control; of controls alone, where they do."""
    sources = plan.parts_by_name("sources")
    measured = {name: row for name, row in sources.items() if not row.raw.get("control")}
    return tuple(_source(name, row) for name, row in (measured or sources).items())


def _source(name: str, row: Facts) -> SourceFacts:
    texts = {key: row.text(key) for key in SourceFacts._fields}
    return SourceFacts(**texts)._replace(name=row.text("name") or name)


def _studies(plan: Facts) -> dict[str, Stimuli]:
    """Read stereotypes by study."""
    names = [*plan.part("stereotypes").raw, *plan.part("dimensions").raw]
    studies = {}
    for study in dict.fromkeys(map(str, names)):
        rows = plan.part("stereotypes").parts_by_name(study)
        stereotypes = {key: _stereotype(key, row) for key, row in rows.items()}
        # A plan that does not list the dimensions of a study has them with its stereotypes.
        stereotype_dimensions = (stereotype.dimensions for stereotype in stereotypes.values())
        dimensions = plan.part("dimensions").labels(study) or _merge(stereotype_dimensions)
        studies[study] = Stimuli(stereotypes, _labels(stereotypes), _distinct(dimensions))
    return studies


def _merge(mappings: Iterable[Mapping[str, Item]]) -> dict[str, Item]:
    """Merge mappings; the first of a key stays."""
    merged: dict[str, Item] = {}
    for mapping in mappings:
        for key, value in mapping.items():
            merged.setdefault(key, value)
    return merged


def _measure(row: Facts) -> Measure:
    """Read what a number means; where its scale is not given, it reaches from −1 to 1."""
    name = row.text("name")
    low, high, neutral = map(row.number, ("low", "high", "neutral"))
    return Measure(
        name=name,
        title=row.text("title") or spaced(name),
        low=-1.0 if low is None else low,
        high=1.0 if high is None else high,
        neutral=0.0 if neutral is None else neutral,
        direction=row.text("direction"),
        reference=row.text("reference"),
        how=row.text("how"),
        asks=row.text("asks"),
        limits=row.texts("limits"),
        directed=not row.is_false("directed"),
        toward=row.text("toward"),
        against=row.text("against"),
        counts=row.text("counts"),
    )


def _facts(row: Facts) -> InstrumentFacts:
    versions = row.parts_by_name("versions")
    groups = {name: version.text("group") for name, version in versions.items()}
    return InstrumentFacts(
        name=row.text("instrument"),
        trial=row.text("trial"),
        versions={name: version.text("text") for name, version in versions.items()},
        groups={name: group for name, group in groups.items() if group},
        ordered=row.text("ordered"),
        effect=row.text("effect"),
        analysed={
            analysed.text("name"): _unbounded(analysed) for analysed in row.parts("analysed")
        },
    )


def _unbounded(row: Facts) -> Measure:
    """Read a measure whose ends are infinite, and whose neutral value is none, if not given."""
    low, high, neutral = map(row.number, ("low", "high", "neutral"))
    return replace(
        _measure(row),
        low=-math.inf if low is None else low,
        high=math.inf if high is None else high,
        neutral=math.nan if neutral is None else neutral,
    )


def _stereotype(key: str, row: Facts) -> StereotypeFacts:
    return StereotypeFacts(
        key=key,
        label=row.text("label") or key,
        category=row.text("category"),
        control_for=row.text("control_for"),
        defects=row.texts("defects"),
        words={role: row.texts(role) for role in WORD_ROLES},
        dimensions=row.labels("dimensions"),
    )


def _distinct(labels: Mapping[str, str]) -> Labels:
    """Return each label, followed by its key where another has the same."""
    counts = Counter(labels.values())
    return Labels(
        (key, f"{text} ({key})" if counts[text] > 1 else text) for key, text in labels.items()
    )


def _labels(stereotypes: Mapping[str, StereotypeFacts]) -> Labels:
    """Return the labels of the stereotypes of a study, or of all."""
    return _distinct({key: stereotype.label for key, stereotype in stereotypes.items()})


def _full_labels(studies: Mapping[str, Stimuli]) -> dict[tuple[str, str], str]:
    """Return the labels of all studies, each followed by its study where another has the same."""
    labels = {
        (name, key): label for name, study in studies.items() for key, label in study.labels.items()
    }
    counts = Counter(labels.values())
    return {
        (study, key): f"{label} ({study})" if counts[label] > 1 else label
        for (study, key), label in labels.items()
    }
