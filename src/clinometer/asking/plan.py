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
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import BaseModel, Field, ValidationError, field_validator

from clinometer.asking.claim import Claimant
from clinometer.asking.shards import ModelQuestions
from clinometer.asking.stages import Stage, iterations_at
from clinometer.contracts.catalogue import INSTRUMENTS, instrument
from clinometer.contracts.cells import ROWS, by_draw
from clinometer.contracts.design import Design
from clinometer.errors import InputError, PlanError, unknown
from clinometer.models.opening import Connection, Generation
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.results import TRIALS
from clinometer.results.records import (
    plan_key,
    read_plan,
    refuse_shared_folders,
    text_hash,
    write_plan,
)
from clinometer.stimuli import Study, load_study, study_hash

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

    def fitting_modes(self, modes: Sequence[str]) -> list[str]:
        """Return those of the plan's modes in which the instrument can be asked."""
        asks = INSTRUMENTS[self.instrument]
        able = [mode for mode in modes if mode in asks.modes]
        if not self.variations:
            return able
        return [mode for mode in able if asks.variations_in(mode, self.study, self.variations)]

    def refuse_unasked(self, modes: Sequence[str]) -> None:
        """Raise InputError if the plan asks nothing of this part."""
        if self.fitting_modes(modes):
            return
        asks = instrument(self.instrument)
        if able := [mode for mode in modes if mode in asks.modes]:
            raise InputError(asks.no_variation_message(self.study, able[0], self.variations))
        allowed = ", ".join(self.fitting_modes(asks.modes))
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
    looks: Sequence[float] = ()
    """Shares of the trials after which results are looked at, and what is decided ends; empty: all
    are asked."""
    stage: Stage = field(default_factory=Stage)
    """How far a plan with looks has been asked."""

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
        if (n := self._count_trials()) > MOST_TRIALS:
            raise InputError(
                f"iterations {self.iterations}: {n:,} trials; a plan has at most {MOST_TRIALS:,}"
            )
        studies: dict[str, Study] = {}
        for selection in self.selections:
            study = selection.study
            if studies.setdefault(study.name, study) != study:
                raise InputError(f"studies: two are named {study.name!r}; rename one of them")
            selection.refuse_unasked(self.modes)

    def _count_trials(self) -> int:
        """Return about how many trials there are, without drawing them."""
        trials = 0
        for selection in self.selections:
            cells = len(selection.stereotypes) * len(selection.variations)
            trials += cells * (selection.iterations or self.iterations)
        return trials * len(self.modes) * len(self._conditions())

    def _conditions(self) -> list[tuple[str, str | None, str | None]]:
        """Return what the same trials are asked under: values of `results.CONDITIONS`."""
        temperatures: list[str | None] = [f"{temperature:g}" for temperature in self.temperatures]
        return [*product(self.interventions, self.efforts, temperatures or [None])]

    def _design(
        self, mode: str, n: int, intervention: str, effort: str | None, temperature: str | None
    ) -> Design:
        return Design(
            mode=mode,
            iterations=n,
            order=self.order,
            word_list=self.word_list,
            options=self.options,
            seed=self.seed,
            intervention=intervention,
            system=self.interventions.get(intervention),
            reasoning_effort=effort,
            temperature=temperature,
        )

    def parts(self) -> Iterator[Selection]:
        """Yield what is asked: the selections, and of a plan with looks as far as its stage."""
        if not self.looks:
            yield from self.selections
            return
        ended = {end.part: end for end in self.stage.ended}
        share = self.looks[self.stage.look]
        for selection in self.selections:
            now = iterations_at(share, selection.iterations or self.iterations)
            by_iterations: dict[int, list[str]] = {}
            for key in selection.stereotypes:
                end = ended.get((selection.study.name, selection.instrument, key))
                by_iterations.setdefault(end.iterations if end else now, []).append(key)
            for iterations, keys in by_iterations.items():
                yield replace(selection, stereotypes=keys, iterations=iterations)

    @property
    def ended(self) -> bool:
        """Whether nothing more is asked than what its stage has; without looks this is so."""
        return not self.looks or len(self.stage.ended) == self.n_parts

    @property
    def n_parts(self) -> int:
        """Number of stereotypes, those of each instrument apart."""
        return sum(len(selection.stereotypes) for selection in self.selections)

    def without_looks(self) -> Plan:
        """Return the plan that asks all trials, however soon they are decided."""
        return replace(self, looks=(), stage=Stage())

    def trials(self) -> pl.DataFrame:
        """Every trial of the plan (`results.TRIALS`), the same for every model.

        Of a plan with looks, those of its stage.

        Ordered by draw, so that a run that stops early has asked about every stereotype in both
        orders; the trials of a pair follow each other and modes are apart, as the embedded model
        computes what is alike once.
        """
        return pl.concat([pl.DataFrame(schema=TRIALS), *self.pieces()])

    def pieces(self, rows: int = ROWS) -> Iterator[pl.DataFrame]:
        """Yield `trials` as tables of up to `rows` rows, each drawn when it is asked for."""
        parts = []
        for mode in self.modes:
            for selection in self.parts():
                if mode not in selection.fitting_modes(self.modes):
                    continue
                n = selection.iterations or self.iterations
                designs = [self._design(mode, n, *condition) for condition in self._conditions()]
                part = INSTRUMENTS[selection.instrument].cells(
                    selection.study,
                    designs,
                    stereotypes=selection.stereotypes,
                    variations=selection.variations,
                )
                parts.append(part)
        return by_draw(parts, rows)

    def identity(self) -> dict[str, Any]:
        """Return the settings that must be equal for a run to continue another."""
        planted = self._planted_hashes()
        return {
            "studies": [selection.identity(self.iterations) for selection in self.selections],
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
            **({"simulated": planted} if planted else {}),
            **({"looks": list(self.looks)} if self.looks else {}),
        }

    def _planted_hashes(self) -> dict[str, str]:
        """Return the hash of what is planted in each simulated model."""
        simulated = [model for model in self.models if find_provider(model).simulated]
        if not simulated:
            return {}
        from clinometer.simulated.truth import load_truth  # needed by few plans

        return {model: load_truth(model.partition("/")[2]).sha256 for model in simulated}

    def connection_of(self, model: str, connection: Connection) -> Connection:
        """Return how a model is reached; a simulated one has to know the studies."""
        if not find_provider(model).simulated or "studies" in connection.model_args:
            return connection
        arguments = {**connection.model_args, "studies": list(self._studies().values())}
        return replace(connection, model_args=arguments)

    def questions(self, model: str, directory: Path, choices: int | None) -> ModelQuestions:
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
        studies = self._studies()
        files = {f"studies/{name}.yaml": _study_text(study) for name, study in studies.items()}
        return files if self.policy is None else {**files, "policy.yaml": self.policy}

    def _studies(self) -> dict[str, Study]:
        """Return the studies by name; several selections may be of one."""
        return {selection.study.name: selection.study for selection in self.selections}

    def _prices(self) -> dict[str, dict[str, float]]:
        """Return the dollars per million tokens of models that have a price, by the list."""
        from clinometer.asking.budget import price

        rates = {model: price(model) for model in self.models}
        return {
            model: dict(zip(("input", "output"), pair, strict=True))
            for model, pair in rates.items()
            if pair and any(pair)
        }

    def describe(self) -> dict[str, Any]:
        """Return further facts for readers of the results.

        `instruments` say what a number is and how it was asked for (`Instrument.measure_rows`), so
        that whoever reads the results need not know the instrument.
        """
        main = self.selections[0].study
        instruments = dict.fromkeys(selection.instrument for selection in self.selections)
        variations = chain.from_iterable(selection.variations for selection in self.selections)
        notes = chain.from_iterable(selection.study.deviations for selection in self.selections)
        rows: list[dict[str, Any]] = []
        for name in instruments:
            rows += INSTRUMENTS[name].measure_rows()
        return {
            "size": self.size,
            "study": main.name,
            "study_title": main.title,
            "study_hash": study_hash(main.own()),
            "variations": list(dict.fromkeys(variations)),
            "prices": self._prices(),
            "sources": {name: _source(study) for name, study in self._studies().items()},
            "margin": self.margin,
            "compliance_floor": self.compliance_floor,
            "versions": _versions(),
            "instruments": rows,
            "stereotypes": _describe_stereotypes(self.selections),
            "notes": list(dict.fromkeys(notes)),
        }


def _study_text(study: Study) -> str:
    """Write a study as the YAML text that `load_study` reads."""
    import yaml  # needed by few commands

    content = study.model_dump(exclude_none=True)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # libyaml, where PyYAML has it
    text: str = yaml.dump(content, Dumper=dumper, allow_unicode=True, sort_keys=False)
    return text


def _source(study: Study) -> dict[str, str]:
    return {
        "title": study.title,
        "citation": study.citation.text,
        "bibtex": study.citation.bibtex,
        "study_hash": study_hash(study.own()),
        "control": study.control,
        "word_study": study.word_study,
        "language": study.language,
    }


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # an extra that is not installed
            continue
    return versions


def _describe_stereotypes(selections: Sequence[Selection]) -> dict[str, Any]:
    """Describe the stereotypes: study → key → description."""
    described: dict[str, Any] = {}
    for selection in selections:
        study = selection.study
        study_descriptions = described.setdefault(study.name, {})
        find_defect = INSTRUMENTS[selection.instrument].defect
        for key in selection.stereotypes:
            # Several instruments may ask about a stereotype; each adds the defects it finds.
            description = study_descriptions.setdefault(key, _describe_stereotype(study, key))
            defects = {find_defect(study, key, variation) for variation in selection.variations}
            description["defects"] = sorted({*description["defects"], *filter(None, defects)})
    return described


def _describe_stereotype(study: Study, key: str) -> dict[str, Any]:
    stereotype = study.stereotypes[key]
    dimensions = {}
    for name in study.dimensions_of(key):
        if name is not None:  # of a stereotype without dimensions, the only one is None
            dimensions[name] = study.dimensions[name].model_dump(
                include={"label", "tied", "counter"}
            )
    return {
        "label": stereotype.label or key,
        "category": stereotype.category,
        "control_for": stereotype.control_for,
        "marginalized": stereotype.marginalized,
        "default": stereotype.default,
        "tied": stereotype.tied,
        "counter": stereotype.counter,
        "dimensions": dimensions,
        "defects": [],
    }


def record_sizes(directory: Path, sizes: Path) -> None:
    """Store the models' sizes in the plan for the report; they are not part of its identity.

    Raises InputError where the file is missing or malformed, or a size is not above 0.
    """
    path = directory / "plan.json"
    write_plan(path, {**read_plan(path), "sizes": read_sizes(sizes)}, plan_key(path))


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


class _StoredSelection(BaseModel):
    """A part of a plan in its file: one study, asked with one instrument."""

    #: Fields of `Selection`; the others tell which study it is.
    SELECTION_FIELDS: ClassVar = {"stereotypes", "variations", "iterations", "instrument"}

    study: str
    study_hash: str
    stereotypes: list[str]
    variations: list[str]
    iterations: int
    instrument: str

    @field_validator("instrument")
    @classmethod
    def _refuse_unknown(cls, name: str) -> str:
        if name not in INSTRUMENTS:
            raise ValueError(unknown("instrument", name, INSTRUMENTS))
        return name


class _StoredLooks(BaseModel):
    """When the results of a plan are looked at, and how far it has been asked."""

    looks: list[float] = []
    stage: Stage = Stage()


class _StoredPlan(_StoredLooks):
    """What a plan file says of a `Plan`; other facts in it are for readers."""

    studies: list[_StoredSelection]
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
        stored = _StoredPlan.model_validate(read_plan(path))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise PlanError(f"{path}: not a plan: {field}: {first['msg']}") from None
    # Several parts may be of one study, whose file is read once.
    load_once = cache(partial(_load_study, directory / "studies"))
    selections = []
    for part in stored.studies:
        study = load_once(part.study, part.study_hash)
        selections.append(Selection(study, **part.model_dump(include=part.SELECTION_FIELDS)))
    settings = stored.model_dump(exclude={"studies", "generation", "stage"})
    plan = Plan(selections, **settings, generation=stored.generation, stage=stored.stage)
    if plan.looks and not 0 <= plan.stage.look < len(plan.looks):
        raise PlanError(f"{path}: not a plan: look {plan.stage.look} of {len(plan.looks)}")
    return plan


def read_stage(plan: Mapping[str, Any]) -> tuple[list[float], Stage]:
    """Return the looks of a plan and its stage, from the content of ``plan.json``.

    Raises PlanError where they are malformed.
    """
    try:
        stored = _StoredLooks.model_validate(dict(plan))
    except ValidationError as error:
        raise PlanError(f"plan.json: not a plan: {error.errors()[0]['msg']}") from None
    return stored.looks, stored.stage


def record_stage(directory: Path, stage: Stage) -> None:
    """Store the stage of a plan with looks; it is not part of the plan's identity."""
    path = directory / "plan.json"
    write_plan(path, {**read_plan(path), "stage": asdict(stage)}, plan_key(path))


def _load_study(folder: Path, name: str, expected: str) -> Study:
    """Load a study as the plan was made with it."""
    path = folder / f"{name}.yaml"
    study = load_study(path)
    if study_hash(study) != expected:
        raise PlanError(f"{path}: changed since the plan was made; restore it")
    return study
