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
from clinometer.families import FamilyStudy, families
from clinometer.stimuli.borrowing import borrow
from clinometer.stimuli.folders import shipped_studies, user_studies
from clinometer.stimuli.norms import inline_norms
from clinometer.stimuli.study import Study
from clinometer.stimuli.wording import Instruments, RawPart
from clinometer.stimuli.yaml_text import parse_yaml, validate
from clinometer.texts import read_text

#: A larger study file is refused before it is read.
MAX_BYTES = 4_000_000
#: Endings that tell a path from the name of a study.
SUFFIXES = (".yaml", ".yml")


@lru_cache(maxsize=32)
def _shipped_study(name: str) -> Study:
    path = shipped_studies()[name]
    return parse_study(path.read_text(encoding="utf-8"), path.name, path.parent)


def _find_shipped(name: str) -> Study:
    """Load a shipped study; StudyError if there is none of the name."""
    if name not in (names := shipped_studies()):
        raise StudyError(unknown("shipped study", name, names))
    return _shipped_study(name)


def load_study(study: str | Path | Study) -> Study:
    """Load a study by its name or the path of a YAML file.

    Parameters
    ----------
    study
        ``"bai2025"``, the name of one of `user_studies`, or a path ending in ``.yaml`` or ``.yml``.
        A `Study` is returned as it is.

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
        text = read_study(study)
        # The table of norms may change where the text that names it stays.
        return (parse_study if "norms" in text else _parse_cached)(text, str(study))
    for family in families().values():
        if str(study) in family.shipped_studies():
            command = next(iter(family.commands))
            raise StudyError(
                f"study {study!r} is one of {family.name}; see clinometer {command} --help"
            )
    if str(study) in shipped_studies():
        return _shipped_study(str(study))
    # Looked for last: it reads what every installed package says of itself.
    studies = user_studies()
    return load_study(studies[check_name("study", str(study), [*shipped_studies(), *studies])])


def check_name(kind: str, name: str, names: Sequence[str]) -> str:
    """Return a name if it is one of `names`; StudyError with similar ones if not."""
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
def _parse_cached(text: str, source: str) -> Study:
    return parse_study(text, source)


def parse_study(text: str, source: str, norms: Path | None = None) -> Study:
    """Check the YAML text of a study file; errors call it `source`, usually its path.

    `norms` is the folder of its table of norms; by default that of `source`.

    Raises
    ------
    StudyError
        One line per problem, each with file, line and field; or what is wrong with the norms.
    """
    content, root = parse_mapping(text, source, "stereotypes")
    # A results directory keeps studies without norms with an empty text; what is no text is
    # refused by `validate`.
    if isinstance(content.get("norms"), str) and content["norms"]:
        content["norms"] = inline_norms(content["norms"], norms or Path(source).parent)
    borrow(content, _find_shipped, root, source)
    parts = content.setdefault("instruments", {})
    if isinstance(parts, dict):  # anything else is refused by `validate`, with its line
        for name in parts.keys() - Instruments.model_fields.keys():
            if not isinstance(parts[name], dict):
                raise StudyError(f"{source}: instruments.{name}: expected a mapping")
            raw = RawPart(parts[name])
            raw.source = source
            raw.root = root
            parts[name] = raw
        shared, sentences = _default_wordings()
        content["instruments"] = {**shared, **parts}
        for name in shared.keys() & parts.keys():
            part = parts[name]
            # Sentences alone stand beside the shared wordings, not in their place.
            if isinstance(part, dict) and part.keys() == {"sentences"}:
                content["instruments"][name] = {**shared[name], **part}
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
    used = _decision_names(content)
    shared = {}
    for instrument, texts in sentences["decisions"].items():
        shared[instrument] = {name: text for name, text in texts.items() if name not in used}
    content.setdefault("decision_sentences", shared)
    instruments = content["instruments"]
    for name in instruments.keys() & sentences.keys():
        part = instruments[name]
        if isinstance(part, dict):
            variations = part.get("variations") or {}
            texts = sentences[name]
            unused = {key: text for key, text in texts.items() if key not in variations}
            instruments[name] = {"sentences": unused, **part}  # its own sentences go before


def _decision_names(content: Mapping[str, Any]) -> set[str]:
    """Return the names of all decisions of a study, as far as its content is well formed."""
    stereotypes = content.get("stereotypes")
    names = set[str]()
    # Nothing was validated yet: wherever a mapping is expected, anything may stand.
    for stereotype in stereotypes.values() if isinstance(stereotypes, dict) else ():
        decisions = stereotype.get("decisions") if isinstance(stereotype, dict) else None
        for variations in decisions.values() if isinstance(decisions, dict) else ():
            names.update(variations if isinstance(variations, dict) else ())
    return names


@lru_cache(maxsize=1)
def _default_wordings() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the default wordings and, apart from them, sentences in English."""
    file = resources.files("clinometer.stimuli") / "wordings.yaml"
    wordings: dict[str, Any] = parse_yaml(file.read_text(encoding="utf-8"), file.name)[0]
    return wordings, wordings.pop("sentences")


def study_hash(study: Study, parts: Collection[str] | None = None) -> str:
    """SHA-256, 12 hex digits, over the name and all that reaches a prompt or a score.

    Layout, comments, labels, notes and citations do not count: mending one keeps the draws. With
    `parts`, those an instrument needs, only these count beside the stereotypes: adding a decision
    keeps the draws of the words, and so does a control that is taken from another study. What a
    study does not use does not count either, so that a field of a later version keeps the draws of
    an earlier one.
    """
    study = study if parts is None else study.own()
    content = study.model_dump(include={"name", "stereotypes"})
    content["instruments"] = _wordings_in_use(study, parts)
    if study.dimensions and (parts is None or "dimensions" in parts):
        content["dimensions"] = {}
        for name, pole in study.dimensions.items():  # but for their labels
            content["dimensions"][name] = {"tied": pole.tied, "counter": pole.counter}
    if study.norms and (parts is None or "norms" in parts):
        content["norms"] = study.norms
    if study.objects and (parts is None or "objects" in parts):
        content["objects"] = study.objects
    decisions = [stereotype.decisions for stereotype in study.stereotypes.values()]
    # Sentences are asked of clauses only.
    if parts is None and any(decision.clause for decision in decisions):
        content["decision_sentences"] = study.decision_sentences.model_dump()
    # Aliases came later than the rest: a study without them keeps its hash.
    answers = study.answers.model_dump(exclude=None if study.answers.aliases else {"aliases"})
    if parts is None and any(answers.values()):
        content["answers"] = answers
    for stereotype in content["stereotypes"].values():
        _drop_notes(stereotype, parts)
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


#: Fields of wordings as they are where a study makes no use of them.
_UNUSED = {
    "draws": "own",
    "pair_format": "",
    "words_per_set": None,
    "label_format": "Answer with A or B.",
}


def _wordings_in_use(study: Study, parts: Collection[str] | None) -> dict[str, Any]:
    """Return the wordings of `parts` that the study makes use of."""
    names = set()
    for name, part in study.instruments.parts().items():
        needed = getattr(part, "needs", "")
        if (parts is None or name in parts) and (not needed or getattr(study, needed)):
            names.add(name)
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


def _drop_notes(stereotype: dict[str, Any], parts: Collection[str] | None) -> None:
    """Drop fields that no prompt and no score of `parts` depends on."""
    for field in _NOTES_OF_STEREOTYPES:
        del stereotype[field]
    if not stereotype["aligned"]:  # as before there was the field
        del stereotype["aligned"]
    for override in stereotype["variations"].values():
        del override["source_defect"]
    decisions = stereotype.pop("decisions")
    words = decisions.pop("words")
    clause = decisions.pop("clause")
    instruments = [name for name in decisions if decisions[name]]
    if parts is not None:
        instruments = [name for name in instruments if name in parts]
    if instruments:
        stereotype["decisions"] = {"words": words}
    if clause and parts is None:
        stereotype.setdefault("decisions", {})["clause"] = clause
    for name in instruments:
        for decision in decisions[name].values():
            for field in _NOTES:
                del decision[field]
        stereotype["decisions"][name] = decisions[name]


#: Fields of a stereotype that do not reach its prompts or scores. What is asked of `people` and
#: `things` has them as its groups.
_NOTES_OF_STEREOTYPES = (
    "label",
    "source_defect",
    "also",
    "differs_in",
    "control",
    "taken_from",
    "control_for",
    "people",
    "things",
)

#: Fields of a decision that do not reach a prompt or a score.
_NOTES = ("source_defect", "note", "by_default")


def find_intervention(studies: Iterable[Study], intervention: str) -> tuple[str, str | None]:
    """Return the name and the system prompt of an intervention.

    Parameters
    ----------
    studies
        May bring interventions of their own, the first one's going before; ``bai2025`` has the
        paper's, ``egalitarian``, which every study may use.
    intervention
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
    name, equals, text = intervention.partition("=")
    if equals:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,63}", name) or name == "none" or not text.strip():
            raise InputError(
                f"intervention {intervention[:80]!r}: expected NAME=TEXT, the name in "
                "lower-case letters, digits and '_', and not 'none'"
            )
        return name, text.strip()
    if name == "none":
        return name, None
    # Backwards, because later prompts of a name replace earlier ones: the first study's wins.
    all_studies = [load_study("bai2025"), *reversed([*studies])]
    prompts = {key: prompt for study in all_studies for key, prompt in study.interventions.items()}
    if name not in prompts:
        raise InputError(f"{unknown('intervention', name, prompts)} (or give NAME=TEXT)")
    return name, prompts[name]
