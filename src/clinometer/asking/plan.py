"""The plan of a run: everything that decides which prompts are asked, and how.

It is stored in the results directory as ``plan.json``.
"""

from __future__ import annotations

import importlib.metadata
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import BaseModel, Field, ValidationError, field_validator

from clinometer.asking.claim import Claimant
from clinometer.asking.shards import Questions
from clinometer.errors import InputError, PlanError, unknown
from clinometer.instruments.catalogue import INSTRUMENTS, instrument
from clinometer.instruments.cells import ROWS, by_draw
from clinometer.instruments.design import Design
from clinometer.models.opening import Connection, Generation
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.results import TRIALS
from clinometer.results.records import read_plan, refuse_shared_folders, text_hash, write_plan
from clinometer.stimuli import Study, load_study, study_hash

__all__ = ["Plan", "Selection", "load_plan", "read_sizes", "record_sizes"]

PACKAGES = (
    "clinometer",
    "inspect-ai",
    "polars",
    "numpy",
    "scipy",
    "statsmodels",
    "torch",
    "transformers",
    "vaderSentiment",
)


#: More trials than a plan can have.
MOST_TRIALS = 20_000_000


@dataclass(frozen=True)
class Selection:
    """A study, an instrument, and the part of it that is asked."""

    study: Study
    stereotypes: Sequence[str]
    variations: Sequence[str]
    iterations: int | None = None
    """Trials per stereotype and variation, where not the plan's."""
    instrument: str = next(iter(INSTRUMENTS))

    def asked_in(self, modes: Sequence[str]) -> list[str]:
        """Return those of the plan's modes in which the instrument can be asked."""
        one = INSTRUMENTS[self.instrument]
        able = [mode for mode in modes if mode in one.modes]
        if not self.variations:
            return able
        return [mode for mode in able if one.asked_in(mode, self.study, self.variations)]

    def refuse_unasked(self, modes: Sequence[str]) -> None:
        """Raise InputError if the plan asks nothing of this part."""
        if self.asked_in(modes):
            return
        one = instrument(self.instrument)
        if able := [mode for mode in modes if mode in one.modes]:
            raise InputError(one.unasked(self.study, able[0], self.variations))
        allowed = ", ".join(self.asked_in(one.modes))
        raise InputError(f"{self.instrument}: mode {', '.join(modes)}; allowed are {allowed}")

    def identity(self, iterations: int) -> dict[str, Any]:
        """Return the settings of this part that must be equal for a run to continue another."""
        return {
            "study": self.study.name,
            "instrument": self.instrument,
            "study_hash": study_hash(self.study),
            "stereotypes": list(self.stereotypes),
            "variations": list(self.variations),
            "iterations": self.iterations or iterations,
        }


@dataclass(frozen=True)
class Plan(Claimant):
    """Which models are asked what."""

    selections: Sequence[Selection]
    models: Sequence[str]
    modes: Sequence[str] = tuple(MODES)[:1]
    iterations: int = 50
    order: str = "mirrored"
    word_list: str = "plain"
    options: str = "words"
    seed: int = 0
    generation: Generation = field(default_factory=Generation)
    interventions: Mapping[str, str | None] = field(default_factory=lambda: {"none": None})
    """System prompts by name; ``none`` has none."""
    efforts: Sequence[str | None] = (None,)
    """Reasoning efforts (see `Design`); the same trials are asked at each."""
    temperatures: Sequence[float] = ()
    """Sampling temperatures that the same trials are asked at; empty: that of `generation`."""
    margin: float = 0.1
    compliance_floor: float = 0.8
    policy: str | None = None
    """Text of the policy that the run is declared to be judged by."""
    size: str | None = None
    """Size of the audit that chose what the user left open."""

    def __post_init__(self) -> None:
        """Refuse an empty plan and invalid designs."""
        if not self.models:
            raise InputError("models: name at least one, such as clinometer/smollm2")
        refuse_shared_folders(self.models)
        if not self.interventions:
            raise InputError("interventions: name at least one, such as none")
        for mode in self.modes:
            for condition in self._conditions():
                self._design(mode, self.iterations, *condition)
        for temperature in self.temperatures:
            replace(self.generation, temperature=temperature)
        if (n := self._most()) > MOST_TRIALS:
            raise InputError(
                f"iterations {self.iterations}: {n:,} trials; a plan has at most {MOST_TRIALS:,}"
            )
        studies: dict[str, Study] = {}
        for s in self.selections:
            if studies.setdefault(s.study.name, s.study) != s.study:
                raise InputError(f"studies: two are named {s.study.name!r}; rename one of them")
            s.refuse_unasked(self.modes)

    def _most(self) -> int:
        """Return about how many trials there are, without drawing them."""
        cells = (
            len(s.stereotypes) * len(s.variations) * (s.iterations or self.iterations)
            for s in self.selections
        )
        return sum(cells) * len(self.modes) * len(self._conditions())

    def _conditions(self) -> list[tuple[str, str | None, str | None]]:
        """Return what the same trials are asked under: values of `results.CONDITIONS`."""
        temperatures: list[str | None] = [f"{temperature:g}" for temperature in self.temperatures]
        return [*product(self.interventions, self.efforts, temperatures or [None])]

    def _design(
        self, mode: str, n: int, intervention: str, effort: str | None, temperature: str | None
    ) -> Design:
        return Design(
            *(mode, n, self.order, self.word_list, self.options, self.seed),
            *(intervention, self.interventions.get(intervention), effort, temperature),
        )

    def trials(self) -> pl.DataFrame:
        """Every trial of the plan (`results.TRIALS`), the same for every model.

        Ordered by draw, so that a run that stops early has asked about every stereotype in both
        orders; the trials of a pair follow each other and modes are apart, as the embedded model
        computes what is alike once.
        """
        return pl.concat([pl.DataFrame(schema=TRIALS), *self.pieces()])

    def pieces(self, rows: int = ROWS) -> Iterator[pl.DataFrame]:
        """Yield `trials` as tables of up to `rows` rows, each drawn when it is asked for."""
        parts = [
            INSTRUMENTS[s.instrument].ask(
                s.study,
                [
                    self._design(mode, s.iterations or self.iterations, *condition)
                    for condition in self._conditions()
                ],
                stereotypes=s.stereotypes,
                variations=s.variations,
            )
            for mode in self.modes
            for s in self.selections
            if mode in s.asked_in(self.modes)
        ]
        return by_draw(parts, rows)

    def identity(self) -> dict[str, Any]:
        """Return the settings that must be equal for a run to continue another."""
        return {
            "studies": [s.identity(self.iterations) for s in self.selections],
            "models": list(self.models),
            "modes": list(self.modes),
            "interventions": dict(self.interventions),
            "efforts": list(self.efforts),
            "temperatures": list(self.temperatures),
            "iterations": self.iterations,
            "order": self.order,
            "word_list": self.word_list,
            "options": self.options,
            "seed": self.seed,
            "generation": asdict(self.generation),
            "policy": None if self.policy is None else text_hash(self.policy),
            **({"simulated": planted} if (planted := self._planted()) else {}),
        }

    def _planted(self) -> dict[str, str]:
        """Return the hash of what is planted in each simulated model."""
        named = [model for model in self.models if find_provider(model).simulated]
        if not named:
            return {}
        from clinometer.simulated.truth import load_truth  # needed by few plans

        return {model: load_truth(model.partition("/")[2]).sha256 for model in named}

    def connection_of(self, model: str, connection: Connection) -> Connection:
        """Return how a model is reached; a simulated one has to know the studies."""
        if not find_provider(model).simulated or "studies" in connection.model_args:
            return connection
        studies = {s.study.name: s.study for s in self.selections}
        arguments = {**connection.model_args, "studies": list(studies.values())}
        return replace(connection, model_args=arguments)

    def questions(self, model: str, directory: Path, choices: int | None) -> Questions:
        """Return the trials that are left to ask a model, as requests; a call has one answer."""
        from clinometer.asking.questions import TrialQuestions

        return TrialQuestions(self, model, directory)

    def tokens_of_answer(self, model: str, choices: int | None) -> float:
        """Estimate the tokens of an answer, from the first trials."""
        from clinometer.asking.budget import estimate_costs

        (cost,) = estimate_costs([next(self.pieces())], [model])
        return cost.output_tokens / max(cost.calls, 1)

    def file(self, out: Path) -> Path:
        """Return where a results directory keeps the plan."""
        return out / "plan.json"

    def attachments(self) -> dict[str, str]:
        """Return the policy, and the study files, which `load_study` reads back."""
        studies = {s.study.name: s.study for s in self.selections}
        files = {f"studies/{name}.yaml": _study_text(one) for name, one in studies.items()}
        return files if self.policy is None else {**files, "policy.yaml": self.policy}

    def describe(self) -> dict[str, Any]:
        """Return further facts for readers of the results.

        `instruments` say what a number is and how it was asked for (`Instrument.described`), so
        that whoever reads the results need not know the instrument.
        """
        main = self.selections[0].study
        return {
            "size": self.size,
            "study": main.name,
            "study_title": main.title,
            "study_hash": study_hash(main),
            "variations": list(dict.fromkeys(v for s in self.selections for v in s.variations)),
            "sources": {s.study.name: _source(s.study) for s in self.selections},
            "margin": self.margin,
            "compliance_floor": self.compliance_floor,
            "versions": _versions(),
            "instruments": [
                row
                for name in dict.fromkeys(s.instrument for s in self.selections)
                for row in INSTRUMENTS[name].described()
            ],
            "stereotypes": _stereotypes(self.selections),
            "notes": list(
                dict.fromkeys(note for s in self.selections for note in s.study.deviations)
            ),
        }


def _study_text(study: Study) -> str:
    import yaml

    content = study.model_dump(exclude_none=True)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # libyaml, where PyYAML has it
    text: str = yaml.dump(content, Dumper=dumper, allow_unicode=True, sort_keys=False)
    return text


def _source(study: Study) -> dict[str, str]:
    return {
        "title": study.title,
        "citation": study.citation.text,
        "bibtex": study.citation.bibtex,
        "study_hash": study_hash(study),
        "control": study.control,
        "language": study.language,
    }


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _stereotypes(selections: Sequence[Selection]) -> dict[str, Any]:
    """Describe the stereotypes: study → key → description."""
    described: dict[str, Any] = {}
    for selection in selections:
        of_study = described.setdefault(selection.study.name, {})
        for key in selection.stereotypes:
            one = of_study.setdefault(key, _stereotype(selection.study, key))
            defect = INSTRUMENTS[selection.instrument].defect
            defects = {defect(selection.study, key, v) for v in selection.variations}
            one["defects"] = sorted({*one["defects"], *(d for d in defects if d)})
    return described


def _stereotype(study: Study, key: str) -> dict[str, Any]:
    stereotype = study.stereotypes[key]
    dimensions = [name for name in study.dimensions_of(key) if name is not None]
    return {
        "label": stereotype.label or key,
        "category": stereotype.category,
        "marginalized": stereotype.marginalized,
        "default": stereotype.default,
        "tied": stereotype.tied,
        "counter": stereotype.counter,
        "dimensions": {
            name: study.dimensions[name].model_dump(include={"label", "tied", "counter"})
            for name in dimensions
        },
        "defects": [],
    }


def record_sizes(directory: Path, sizes: Path) -> None:
    """Store the models' sizes in the plan for the report; they are not part of its identity.

    Raises InputError where the file is missing or malformed, or a size is not above 0.
    """
    path = directory / "plan.json"
    write_plan(path, {**read_plan(path), "sizes": read_sizes(sizes)})


def read_sizes(sizes: Path) -> dict[str, float]:
    """Read the models' sizes; see `record_sizes`."""
    import yaml

    try:
        content = yaml.safe_load(sizes.read_text(encoding="utf-8"))
        table = {str(model): float(size) for model, size in content.items()}
    except FileNotFoundError:
        raise InputError(f"{sizes}: no such file") from None
    except (yaml.YAMLError, TypeError, ValueError, AttributeError, RecursionError):
        raise InputError(f"{sizes}: expected lines of 'model: billions of parameters'") from None
    for model, size in table.items():
        if not 0 < size < math.inf:
            raise InputError(f"{sizes}: {model}: {size}; a size is a number above 0, in billions")
    return table


class _Part(BaseModel):
    """A part of a plan as it is kept: one study, asked with one instrument."""

    CHOSEN: ClassVar = {"stereotypes", "variations", "iterations", "instrument"}

    study: str
    study_hash: str
    stereotypes: list[str]
    variations: list[str]
    iterations: int
    instrument: str

    @field_validator("instrument")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in INSTRUMENTS:
            raise ValueError(unknown("instrument", name, INSTRUMENTS))
        return name


class _Kept(BaseModel):
    """What a plan file says of a `Plan`; other facts in it are for readers."""

    studies: list[_Part]
    models: list[str]
    modes: list[str]
    interventions: dict[str, str | None]
    efforts: list[str | None] = [None]
    temperatures: list[float] = []
    iterations: int
    order: str
    word_list: str
    options: str
    seed: int
    margin: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    compliance_floor: Annotated[float, Field(ge=0, le=1)]
    generation: Generation


def load_plan(directory: Path) -> Plan:
    """Rebuild the plan of a results directory from its ``plan.json`` and study files.

    Raises
    ------
    PlanError
        If there is no plan, it was written in another layout, or a study file is not the one
        the plan was made with.
    """
    path = directory / "plan.json"
    try:
        kept = _Kept.model_validate(read_plan(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise PlanError(f"{path}: not a plan: {where}: {first['msg']}") from None
    study_of = cache(partial(_load_study, directory / "studies"))
    selections = [
        Selection(study_of(part.study, part.study_hash), **part.model_dump(include=_Part.CHOSEN))
        for part in kept.studies
    ]
    named = kept.model_dump(exclude={"studies", "generation"})
    return Plan(selections, **named, generation=kept.generation)


def _load_study(folder: Path, name: str, expected: str) -> Study:
    """Load a study as the plan was made with it."""
    path = folder / f"{name}.yaml"
    study = load_study(path)
    if study_hash(study) != expected:
        raise PlanError(f"{path}: changed since the plan was made; restore it")
    return study
