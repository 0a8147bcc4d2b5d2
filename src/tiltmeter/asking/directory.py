"""A results directory belongs to one plan, and says so in ``plan.json``.

`Plan.identity` is compared before anything is asked or written; a directory with another identity
is refused with the differences named.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from tiltmeter.asking.plan import Plan, Selection
from tiltmeter.errors import InputError, PlanError
from tiltmeter.models.opening import Generation
from tiltmeter.stimuli import Study, load_study, study_hash

__all__ = ["claim", "held_plan", "read_plan", "read_sizes", "record_sizes"]

#: The plan while it is being written.
PART = "plan.json.part"

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
