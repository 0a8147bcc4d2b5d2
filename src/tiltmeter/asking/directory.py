"""A results directory belongs to one plan, and says so in ``plan.json``."""

from __future__ import annotations

import math
from functools import cache, partial
from pathlib import Path

from tiltmeter.asking.plan import Plan, Selection
from tiltmeter.errors import InputError, PlanError
from tiltmeter.models.opening import Generation
from tiltmeter.results.records import read_plan, write_plan
from tiltmeter.stimuli import Study, load_study, study_hash

__all__ = ["load_plan", "read_sizes", "record_sizes"]


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
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, ValueError, AttributeError):
        raise InputError(f"{sizes}: expected lines of 'model: billions of parameters'") from None
    for model, size in table.items():
        if not 0 < size < math.inf:
            raise InputError(f"{sizes}: {model}: {size}; a size is a number above 0, in billions")
    return table


def load_plan(directory: Path) -> Plan:
    """Rebuild the plan of a results directory from its ``plan.json`` and study files.

    Raises
    ------
    PlanError
        If there is no plan, it was written in another layout, or a study file is not the one
        the plan was made with.
    """
    path = directory / "plan.json"
    kept = read_plan(path)
    selections = []
    study_of = cache(partial(_load_study, directory / "studies"))
    try:
        for part in kept["studies"]:
            study = study_of(part["study"], part["study_hash"])
            chosen = ("stereotypes", "variations", "iterations", "instrument")
            selections.append(Selection(study, **{name: part[name] for name in chosen}))
        names = (
            *("models", "modes", "interventions", "iterations", "order", "word_list"),
            *("options", "seed", "margin", "compliance_floor"),
        )
        return Plan(
            selections,
            **{name: kept[name] for name in names},
            generation=Generation(**kept["generation"]),
        )
    except (KeyError, TypeError) as error:
        raise PlanError(f"{path}: not a plan: {error}") from None


def _load_study(folder: Path, name: str, expected: str) -> Study:
    """Load a study as the plan was made with it."""
    path = folder / f"{name}.yaml"
    study = load_study(path)
    if study_hash(study) != expected:
        raise PlanError(f"{path}: changed since the plan was made; restore it")
    return study
