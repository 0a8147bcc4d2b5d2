"""The plan of a run: everything that decides which prompts are asked, and how.

A results directory belongs to one plan. `identity` is compared before anything is asked or
written; a directory with another identity is refused with the differences named.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter import __version__
from tiltmeter.errors import InputError, PlanError
from tiltmeter.instruments.catalogue import INSTRUMENTS, instrument
from tiltmeter.instruments.design import Design
from tiltmeter.stimuli import Study, load_study, study_hash

__all__ = [
    "Generation",
    "Plan",
    "Selection",
    "claim",
    "held_plan",
    "read_plan",
    "read_sizes",
    "record_sizes",
]

#: The plan while it is being written.
PART = "plan.json.part"

PACKAGES = (
    "tiltmeter",
    "inspect-ai",
    "polars",
    "numpy",
    "scipy",
    "statsmodels",
    "torch",
    "transformers",
)


@dataclass(frozen=True)
class Generation:
    """How answers are sampled; None leaves a setting to the provider."""

    temperature: float | None = 1.0
    top_p: float | None = 1.0
    max_tokens: int | None = 1024

    def __post_init__(self) -> None:
        """Refuse values no provider takes."""
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(f"temperature {self.temperature}: allowed is 0 to 2")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise InputError(f"top_p {self.top_p}: allowed is above 0, up to 1")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InputError(f"max_tokens {self.max_tokens}: at least 1")


@dataclass(frozen=True)
class Selection:
    """A study, an instrument, and the part of it that is asked."""

    study: Study
    stereotypes: Sequence[str]
    variations: Sequence[str]
    iterations: int | None = None
    """Trials per stereotype and variation, where not the plan's."""
    instrument: str = "word_association"


@dataclass(frozen=True)
class Plan:
    """Which models are asked what."""

    selections: Sequence[Selection]
    models: Sequence[str]
    modes: Sequence[str] = ("free",)
    iterations: int = 50
    order: str = "mirrored"
    word_list: str = "plain"
    options: str = "words"
    seed: int = 0
    generation: Generation = field(default_factory=Generation)
    interventions: Mapping[str, str | None] = field(default_factory=lambda: {"none": None})
    """System prompts by name; ``none`` has none."""
    margin: float = 0.1
    compliance_floor: float = 0.8

    def __post_init__(self) -> None:
        """Refuse an empty plan and designs that mean nothing."""
        if not self.models:
            raise InputError("models: name at least one, such as tiltmeter/smollm2")
        if not self.interventions:
            raise InputError("interventions: name at least one, such as none")
        for mode in self.modes:
            self._design(mode, self.iterations, "none")
        studies: dict[str, Study] = {}
        for s in self.selections:
            if studies.setdefault(s.study.name, s.study) != s.study:
                raise InputError(f"studies: two are named {s.study.name!r}; rename one of them")
            able = instrument(s.instrument).modes
            if not set(able) & set(self.modes):
                raise InputError(
                    f"{s.instrument}: mode {', '.join(self.modes)}; allowed are {', '.join(able)}"
                )

    def _design(self, mode: str, n: int, intervention: str) -> Design:
        return Design(
            *(mode, n, self.order, self.word_list, self.options, self.seed),
            *(intervention, self.interventions.get(intervention)),
        )

    def trials(self) -> pl.DataFrame:
        """Every trial of the plan, the same for every model, whole pairs before later ones.

        Returns
        -------
        polars.DataFrame
            Columns of `frames.TRIALS`, ordered by draw, so that a run that stops early has
            asked about every stereotype, and mode by mode: the embedded model is at its best when
            what it works on at a time is alike.
        """
        drawn = [
            INSTRUMENTS[s.instrument].trials(
                s.study,
                self._design(mode, s.iterations or self.iterations, intervention),
                stereotypes=s.stereotypes,
                variations=s.variations,
            )
            for mode in self.modes
            for s in self.selections
            for intervention in self.interventions
            if mode in INSTRUMENTS[s.instrument].modes
        ]
        return pl.concat(drawn).sort("iteration", maintain_order=True)

    def identity(self) -> dict[str, Any]:
        """Return what must be equal for two runs to share a directory."""
        return {
            "studies": [
                {
                    "study": s.study.name,
                    "instrument": s.instrument,
                    "study_hash": study_hash(s.study),
                    "stereotypes": list(s.stereotypes),
                    "variations": list(s.variations),
                    "iterations": s.iterations or self.iterations,
                }
                for s in self.selections
            ],
            "models": list(self.models),
            "modes": list(self.modes),
            "interventions": dict(self.interventions),
            "iterations": self.iterations,
            "order": self.order,
            "word_list": self.word_list,
            "options": self.options,
            "seed": self.seed,
            "generation": asdict(self.generation),
        }

    def describe(self, command: str, created: str) -> dict[str, Any]:
        """Everything a reader of the results needs to know, for ``plan.json``."""
        main = self.selections[0].study
        return {
            "tiltmeter": __version__,
            "created": created,
            "command": command,
            **self.identity(),
            "study": main.name,
            "study_title": main.title,
            "study_hash": study_hash(main),
            "variations": list(dict.fromkeys(v for s in self.selections for v in s.variations)),
            "citation": main.citation.text,
            "bibtex": main.citation.bibtex,
            "margin": self.margin,
            "compliance_floor": self.compliance_floor,
            "versions": _versions(),
            "instruments": [
                asdict(measure)
                for name in dict.fromkeys(s.instrument for s in self.selections)
                for measure in INSTRUMENTS[name].measures
            ],
            "stereotypes": _stereotypes(self.selections),
            "notes": list(
                dict.fromkeys(note for s in self.selections for note in s.study.deviations)
            ),
            "controls": {s.study.name: s.study.control for s in self.selections if s.study.control},
        }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _stereotypes(selections: Sequence[Selection]) -> dict[str, Any]:
    described: dict[str, Any] = {}
    for selection in selections:
        for key in selection.stereotypes:
            stereotype = selection.study.stereotypes[key]
            defects = {_defect(selection, key, v) for v in selection.variations}
            one = described.setdefault(
                key,
                {
                    "study": selection.study.name,
                    "label": stereotype.label or key,
                    "category": stereotype.category,
                    "marginalized": stereotype.marginalized,
                    "default": stereotype.default,
                    "tied": stereotype.tied,
                    "counter": stereotype.counter,
                    "defects": [],
                },
            )
            one["defects"] = sorted({*one["defects"], *(d for d in defects if d)})
    return described


def _defect(selection: Selection, key: str, variation: str) -> str | None:
    """Return the defect of the source that a wording keeps, if any."""
    stereotype = selection.study.stereotypes[key]
    if selection.instrument in selection.study.instruments:
        return stereotype.defect(variation)
    decision = stereotype.decision(selection.instrument, variation)
    return decision.source_defect if decision is not None else None


#: What plans of version 0.1.0 do not say.
_BEFORE_DECISIONS = {"interventions": {"none": None}}


def read_plan(directory: Path) -> dict[str, Any]:
    """Read ``plan.json`` of a results directory.

    Raises
    ------
    PlanError
        If there is none, or it is not a plan.
    """
    path = directory / "plan.json"
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PlanError(f"{directory}: no plan.json; not a results directory") from None
    except (ValueError, OSError) as error:
        raise PlanError(f"{path}: not readable as a plan: {error}") from None
    if not isinstance(plan, dict):
        raise PlanError(f"{path}: not a plan")
    return {**_BEFORE_DECISIONS, **plan}


def record_sizes(directory: Path, sizes: Path) -> None:
    """Keep the models' sizes with a plan, for reports; they change nothing that is asked.

    Parameters
    ----------
    directory
        A results directory.
    sizes
        A YAML file of ``model: billions of parameters``.

    Raises
    ------
    InputError
        If the file is missing or malformed, or a size is not above 0.
    """
    _write_plan(directory, {**read_plan(directory), "sizes": read_sizes(sizes)})


def read_sizes(sizes: Path) -> dict[str, float]:
    """Read the models' sizes; see `record_sizes`."""
    import yaml

    try:
        content = yaml.safe_load(sizes.read_text(encoding="utf-8"))
        table = {str(model): float(size) for model, size in content.items()}
    except FileNotFoundError:
        raise InputError(f"{sizes}: no such file") from None
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, ValueError, AttributeError):
        raise InputError(f"{sizes}: expected lines of 'model: billions of parameters'") from None
    for model, size in table.items():
        if not 0 < size < math.inf:
            raise InputError(f"{sizes}: {model}: {size}; a size is a number above 0, in billions")
    return table


def _write_plan(directory: Path, described: Mapping[str, Any]) -> None:
    text = json.dumps(described, indent=1, ensure_ascii=False)
    (directory / PART).write_text(text, encoding="utf-8")
    (directory / PART).replace(directory / "plan.json")


def claim(directory: Path, plan: Plan, command: str, created: str) -> dict[str, Any]:
    """Make `directory` this plan's, or confirm that it already is.

    Parameters
    ----------
    directory
        The results directory; made if absent.
    plan
        What is to be asked.
    command, created
        For the record: the command line and the time.

    Returns
    -------
    dict
        The content of ``plan.json``.

    Raises
    ------
    PlanError
        If the directory holds another plan, or other files; nothing is written then.
    """
    if (directory / "plan.json").exists():
        held = read_plan(directory)
        differing = [
            f"{key} is {_short(held.get(key))} there, {_short(value)} here"
            for key, value in plan.identity().items()
            if held.get(key) != json.loads(json.dumps(value))
        ]
        if differing:
            raise PlanError(
                f"{directory} holds another plan: {'; '.join(differing)}. "
                "Repeat its command to continue it, or name another directory with --out"
            )
        return held
    if directory.exists() and (not directory.is_dir() or _foreign(directory)):
        raise PlanError(f"{directory}: not empty and no results directory; name another with --out")
    described = plan.describe(command, created)
    try:
        (directory / "studies").mkdir(parents=True, exist_ok=True)
        for name, study in {s.study.name: s.study for s in plan.selections}.items():
            path = directory / "studies" / f"{name}.yaml"
            path.write_text(_study_text(study), encoding="utf-8")
        _write_plan(directory, described)
    except OSError as error:
        raise InputError(f"{directory}: {error.strerror}") from None
    return described


def _foreign(directory: Path) -> bool:
    """Whether there is more than a claim that was broken off leaves behind."""
    return any(path.name not in ("studies", PART) for path in directory.iterdir())


def _study_text(study: Study) -> str:
    """Write a study so that `load_study` reads the same content back."""
    import yaml

    content = study.model_dump(exclude_none=True)
    text: str = yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
    return text


def held_plan(directory: Path) -> Plan:
    """Rebuild the plan of a results directory from its ``plan.json`` and study files.

    Raises
    ------
    PlanError
        If there is no plan, or a study file is not the one the plan was made with.
    """
    held = read_plan(directory)
    selections = []
    study_of = cache(partial(_held_study, directory / "studies"))
    try:
        for part in held["studies"]:
            study = study_of(part["study"], part["study_hash"])
            chosen = {name: part[name] for name in ("stereotypes", "variations", "iterations")}
            asked = part.get("instrument", "word_association")
            selections.append(Selection(study, **chosen, instrument=asked))
        names = (
            *("models", "modes", "interventions", "iterations", "order", "word_list"),
            *("options", "seed"),
        )
        return Plan(
            selections,
            **{name: held[name] for name in names},
            generation=Generation(**held["generation"]),
            margin=held["margin"],
            compliance_floor=held["compliance_floor"],
        )
    except (KeyError, TypeError) as error:
        raise PlanError(f"{directory / 'plan.json'}: not a plan: {error}") from None


def _held_study(folder: Path, name: str, held_hash: str) -> Study:
    """Load a study as the plan was made with it."""
    path = folder / f"{name}.yaml"
    study = load_study(path)
    if study_hash(study) != held_hash:
        raise PlanError(f"{path}: changed since the plan was made; restore it")
    return study


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}…"
