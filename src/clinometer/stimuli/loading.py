"""Read study files: YAML text in, a checked study out, every error with file, line and field."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from clinometer.errors import InputError, StudyError, unknown
from clinometer.families import families
from clinometer.stimuli.study import FamilyStudy, Study
from clinometer.stimuli.wording import Instruments, RawPart
from clinometer.stimuli.yaml_text import parse_yaml, validate
from clinometer.texts import read_text

__all__ = [
    "find_intervention",
    "known_name",
    "load_study",
    "open_study",
    "parse_mapping",
    "parse_study",
    "read_study",
    "shipped_studies",
    "study_hash",
]

MAX_BYTES = 4_000_000
SUFFIXES = (".yaml", ".yml")


def shipped_studies() -> list[str]:
    """Names of the studies that come with Clinometer, in alphabetical order."""
    return _names("studies")


def _names(folder: str) -> list[str]:
    files = (resources.files("clinometer.stimuli") / folder).iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".yaml"))


def _shipped_text(file: str) -> str:
    return (resources.files("clinometer.stimuli") / file).read_text(encoding="utf-8")


@lru_cache(maxsize=32)
def _shipped(name: str) -> Study:
    return parse_study(_shipped_text(f"studies/{name}.yaml"), f"{name}.yaml")


def load_study(study: str | Path | Study) -> Study:
    """Load a study by its shipped name or the path of a YAML file.

    Parameters
    ----------
    study
        ``"bai2025"``, or a path ending in ``.yaml`` or ``.yml``. A `Study` is returned as it is.

    Returns
    -------
    Study

    Raises
    ------
    StudyError
        If the name is not known, or the file is missing or malformed; the text names file,
        line and field.
    """
    if isinstance(study, Study):
        return study
    if str(study).endswith(SUFFIXES):
        return _parsed_study(read_study(study), str(study))
    for family in families().values():
        if str(study) in family.shipped_studies():
            command = next(iter(family.commands))
            raise StudyError(
                f"study {study!r} is one of {family.name}; see clinometer {command} --help"
            )
    return _shipped(known_name("study", str(study), shipped_studies()))


def known_name(kind: str, name: str, names: Sequence[str]) -> str:
    """Return a shipped name; StudyError if it is none."""
    if name not in names:
        raise StudyError(f"{unknown(kind, name, names)} (or give a file ending in .yaml)")
    return name


def open_study(study: str | Path) -> Study | FamilyStudy:
    """Load a study of answers or of another family, as `load_study` does."""
    for family in families().values():
        if (opened := family.open_study(study)) is not None:
            return opened
    return load_study(study)


def read_study(path: str | Path) -> str:
    """Read the text of a study file; StudyError if it is missing, over 4 MB, or not UTF-8."""
    return read_text(Path(path), MAX_BYTES, StudyError)


@lru_cache(maxsize=8)
def _parsed_study(text: str, source: str) -> Study:
    return parse_study(text, source)


def parse_study(text: str, source: str) -> Study:
    """Check the YAML text of a study file; errors call it `source`, usually its path.

    Raises
    ------
    StudyError
        One line per problem, each with file, line and field.
    """
    content, root = parse_mapping(text, source, "stereotypes")
    given = content.setdefault("instruments", {})
    if isinstance(given, dict):
        for name in given.keys() - Instruments.model_fields.keys():
            if not isinstance(given[name], dict):
                raise StudyError(f"{source}: instruments.{name}: expected a mapping")
            given[name] = RawPart(given[name])
            given[name].source, given[name].root = source, root
        shared, sentences = _wordings()
        content["instruments"] = {**shared, **given}
        for name in shared.keys() & given.keys():
            if isinstance(own := given[name], dict) and own.keys() == {"sentences"}:
                content["instruments"][name] = {**shared[name], **own}
        if content.get("language", "en") == "en":
            _add_sentences(content, sentences)
    return validate(Study, content, root, source)


def parse_mapping(text: str, source: str, part: str) -> tuple[dict[str, Any], yaml.Node | None]:
    """Parse the YAML text of a study; StudyError if it is no mapping, which has `part`."""
    content, root = parse_yaml(text, source)
    if not isinstance(content, dict):
        raise StudyError(f"{source}:1: expected a mapping with name and {part}")
    return content, root


def _add_sentences(content: dict[str, Any], sentences: Mapping[str, Any]) -> None:
    """Give a study the sentences that it does not bring, but for names that it uses otherwise."""
    used = _names_of_decisions(content)
    shared = {
        instrument: {name: text for name, text in of.items() if name not in used}
        for instrument, of in sentences["decisions"].items()
    }
    content.setdefault("decision_sentences", shared)
    instruments = content["instruments"]
    for name in instruments.keys() & sentences.keys():
        if isinstance(own := instruments[name], dict):
            known = own.get("variations") or {}
            free = {key: text for key, text in sentences[name].items() if key not in known}
            instruments[name] = {"sentences": free, **own}


def _names_of_decisions(content: Mapping[str, Any]) -> set[str]:
    """Return the names of all decisions of a study, as far as its content is well formed."""
    stereotypes = content.get("stereotypes")
    names = set[str]()
    for one in stereotypes.values() if isinstance(stereotypes, dict) else ():
        decisions = one.get("decisions") if isinstance(one, dict) else None
        for of in decisions.values() if isinstance(decisions, dict) else ():
            names.update(of if isinstance(of, dict) else ())
    return names


@lru_cache(maxsize=1)
def _wordings() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the default wordings and, apart from them, sentences in English."""
    wordings: dict[str, Any] = parse_yaml(_shipped_text("wordings.yaml"), "wordings.yaml")[0]
    return wordings, wordings.pop("sentences")


def study_hash(study: Study, parts: Collection[str] | None = None) -> str:
    """SHA-256, 12 hex digits, over the name and all that reaches a prompt or a score.

    Layout, comments, labels, notes and citations do not count: mending one keeps the draws. With
    `parts`, those an instrument needs, only these count beside the stereotypes: adding a decision
    keeps the draws of the words. What a study does not use does not count either, so that a field
    of a later version keeps the draws of an earlier one.
    """
    content = study.model_dump(include={"name", "stereotypes"})
    content["instruments"] = _asked_wordings(study, parts)
    if study.dimensions and (parts is None or "dimensions" in parts):
        content["dimensions"] = {
            name: {"tied": pole.tied, "counter": pole.counter}
            for name, pole in study.dimensions.items()
        }
    if study.objects and (parts is None or "objects" in parts):
        content["objects"] = study.objects
    clauses = any(one.decisions.clause for one in study.stereotypes.values())
    if parts is None and clauses:
        content["decision_sentences"] = study.decision_sentences.model_dump()
    answers = study.answers.model_dump(exclude=None if study.answers.aliases else {"aliases"})
    if parts is None and any(answers.values()):
        content["answers"] = answers
    for stereotype in content["stereotypes"].values():
        _forget_notes(stereotype, parts)
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


#: Fields of wordings as they are where a study makes no use of them.
_UNUSED = {
    "shared_draws": False,
    "pair_format": "",
    "words_per_set": None,
    "label_format": "Answer with A or B.",
}


def _asked_wordings(study: Study, parts: Collection[str] | None) -> dict[str, Any]:
    """Return the wordings of `parts` that the study makes use of."""
    names = {
        name
        for name, part in study.instruments.parts().items()
        if (parts is None or name in parts)
        and (not (needed := getattr(part, "needs", "")) or getattr(study, needed))
    }
    content = study.instruments.model_dump(include=names)
    for shared in content.values():
        shared.pop("unnamed", None)  # how answers are pooled, not what is asked
    for name in names & Instruments.model_fields.keys():
        shared = content[name]
        if parts is not None or not shared["sentences"]:
            del shared["sentences"]  # a sentence more keeps the draws
        for variation in shared["variations"].values():
            del variation["note"]
        for field, unused in _UNUSED.items():
            if shared.get(field, unused) == unused:
                shared.pop(field, None)
    return content


def _forget_notes(stereotype: dict[str, Any], parts: Collection[str] | None) -> None:
    """Drop fields that no prompt and no score of `parts` depends on."""
    del stereotype["label"], stereotype["source_defect"], stereotype["also"], stereotype["control"]
    if not stereotype["aligned"]:  # as before there was the field
        del stereotype["aligned"]
    for override in stereotype["variations"].values():
        del override["source_defect"]
    decisions = stereotype.pop("decisions")
    words, clause = decisions.pop("words"), decisions.pop("clause")
    asked = [name for name in decisions if decisions[name] and (parts is None or name in parts)]
    if asked:
        stereotype["decisions"] = {"words": words}
    if clause and parts is None:
        stereotype.setdefault("decisions", {})["clause"] = clause
    for name in asked:
        stereotype["decisions"][name] = {
            variation: {key: decision[key] for key in decision if key not in _NOTES}
            for variation, decision in decisions[name].items()
        }


#: Fields of a decision that do not reach a prompt or a score.
_NOTES = ("source_defect", "note", "by_default")


def find_intervention(studies: Iterable[Study], named: str) -> tuple[str, str | None]:
    """Return the name and the system prompt of an intervention.

    Parameters
    ----------
    studies
        May bring interventions of their own, the first one's going before; ``bai2025`` has the
        paper's, ``egalitarian``, which every study may use.
    named
        ``"none"``, a name, or ``NAME=TEXT`` for a prompt of one's own.

    Returns
    -------
    name : str
    system : str or None
        None for ``"none"``.

    Raises
    ------
    InputError
        If the name is not known, or the text is empty.
    """
    name, own, text = named.partition("=")
    if own:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,63}", name) or name == "none" or not text.strip():
            raise InputError(
                f"intervention {named[:80]!r}: expected NAME=TEXT, the name in lower-case letters, "
                "digits and '_', and not 'none'"
            )
        return name, text.strip()
    if name == "none":
        return name, None
    all_studies = [load_study("bai2025"), *reversed([*studies])]
    known = {key: prompt for study in all_studies for key, prompt in study.interventions.items()}
    if name not in known:
        raise InputError(f"{unknown('intervention', name, known)} (or give NAME=TEXT)")
    return name, known[name]
