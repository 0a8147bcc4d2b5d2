"""Adds accepted candidates to a new study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from clinometer.errors import InputError, StudyError, unknown
from clinometer.stimuli.drafting.decisions import check_decision
from clinometer.stimuli.drafting.drafts import Draft, SynonymCandidate, SynonymDraft
from clinometer.stimuli.drafting.synonyms import check_synonyms, seed_variation, seed_words
from clinometer.stimuli.loading import study_hash
from clinometer.stimuli.study import Study
from clinometer.stimuli.words import StereotypeWords

__all__ = ["Grown", "accept"]


@dataclass(frozen=True)
class Grown:
    """A study with the accepted candidates in it."""

    study: Study
    added: list[str]
    """A line for each accepted candidate: what it became."""
    notes: list[str]
    """Findings of the checks in accepted candidates."""


def accept(
    study: Study, drafts: Mapping[str, Draft], name: str, *, other_version: bool = False
) -> Grown:
    """Add the accepted candidates of drafts to a new study.

    Parameters
    ----------
    study
        That the drafts were made from; it is not changed.
    drafts
        By what to call them in errors, usually their paths.
    name
        Of the new study.
    other_version
        Take drafts that were made from another study, or another version of it, too.

    Returns
    -------
    Grown
        Synonyms are a variation of the word association that is asked by default, and, where the
        seed decision shows the same words, of the relative decision. Decisions are variations of
        the relative decision. The second accepted candidate of a stereotype has a 2 after its
        name.

    Raises
    ------
    InputError
        If nothing is accepted, a draft is of another study, a variation of its name is there
        already, or a candidate breaks the rules of study files.

    Examples
    --------
    >>> from clinometer.stimuli import load_study
    >>> accept(load_study("bai2025"), {}, "mine")
    Traceback (most recent call last):
    clinometer.errors.InputError: no candidate is accepted; set 'accepted: true' on those that may \
enter
    """
    grown, added, notes = study, [], []
    for source, draft in drafts.items():
        if (draft.study, draft.study_hash) != (study.name, study_hash(study)) and not other_version:
            raise InputError(
                f"{source}: drafted from {draft.study} {draft.study_hash}, not from {study.name} "
                f"{study_hash(study)}; give that study, or --other-version to use it all the same"
            )
        grown, lines, remarks = _with(grown, source, draft)
        added += lines
        notes += remarks
    if not added:
        where = f"{', '.join(drafts)}: " if drafts else ""
        raise InputError(
            f"{where}no candidate is accepted; set 'accepted: true' on those that may enter"
        )
    named = {**grown.model_dump(exclude_defaults=True), "name": name}
    return Grown(_checked(named, name), added, notes)


def _with(study: Study, source: str, draft: Draft) -> tuple[Study, list[str], list[str]]:
    """Add one draft's accepted candidates; also what they became, and what the checks find."""
    content = study.model_dump(exclude_defaults=True)
    added, notes = [], []
    times: dict[str, int] = {}
    for number, candidate in enumerate(draft.candidates):
        if not candidate.accepted:
            continue
        key = candidate.stereotype
        where = f"{source}: candidates.{number} ({key})"
        if key not in study.stereotypes:
            raise InputError(f"{where}: {unknown('stereotype', key, study.stereotypes)}")
        times[key] = times.get(key, 0) + 1
        name = _name(draft, times[key])
        _refuse_twice(study, where, name)
        put = _put_synonyms if isinstance(candidate, SynonymCandidate) else _put_decision
        try:
            line, findings = put(study, content, name, draft, candidate)
        except (StudyError, ValueError) as error:
            raise InputError(f"{where}: {_one_line(error)}") from None
        added.append(f"{key}: {line}")
        notes += [f"{where}: {finding}" for finding in findings]
    if added:
        content.setdefault("deviations", []).append(_origin(draft))
    return _checked(content, source), added, notes


def _checked(content: dict[str, Any], where: str) -> Study:
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{where}: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return error.errors()[0]["msg"].removeprefix("Value error, ")
    return str(error)


def _name(draft: Draft, time: int) -> str:
    what = draft.draft.removesuffix("s")
    return f"{what}_{draft.name}{time if time > 1 else ''}"


def _refuse_twice(study: Study, where: str, name: str) -> None:
    words = {name for s in study.stereotypes.values() for name in s.decisions.words}
    decided = [s.decisions.relative_decision for s in study.stereotypes.values()]
    known = {*study.instruments.word_association.variations, *words}.union(*decided)
    if name in known:
        raise InputError(
            f"{where}: the study has a variation {name!r} already; change 'name' in the draft"
        )


def _origin(draft: Draft) -> str:
    asked = "synonyms" if isinstance(draft, SynonymDraft) else "decisions"
    return (
        f"The variations {_name(draft, 1)}… hold {asked} that {draft.model} proposed on "
        f"{draft.date} and a person accepted; they are not of the source."
    )


def _note(draft: Draft) -> str:
    return f"Proposed by {draft.model} on {draft.date}, accepted by a person."


def _put_synonyms(
    study: Study, content: dict[str, Any], name: str, draft: Any, candidate: Any
) -> tuple[str, list[str]]:
    """Add a variation with own words, to the instrument and to the stereotype."""
    stereotype = study.stereotypes[candidate.stereotype]
    seeds = seed_words(study, candidate.stereotype, draft.instrument)
    lists = {role: candidate.synonyms(role) for role in ("tied", "counter")}
    words = StereotypeWords.model_validate({**seeds.model_dump(), **lists})
    own = content["stereotypes"][candidate.stereotype]
    seed = seed_variation(stereotype)
    shared = stereotype.decisions.relative_decision[seed].words_of is None if seed else False
    became = []
    if draft.instrument == "word_association":
        own.setdefault("variations", {})[name] = lists
        _add_wording(study, content, name, _note(draft))
        became.append("word_association")
    else:
        decisions = own["decisions"].setdefault("words", {})
        decisions[name] = words.model_dump(exclude={"extra", "aligned"})
    if seed and (shared or draft.instrument == "relative_decision"):
        own["decisions"]["relative_decision"][name] = {
            "wording_of": seed, "words_of": name, "note": _note(draft)
        }  # fmt: skip
        became.append("relative_decision")
    sizes = f"{len(words.tied)} tied, {len(words.counter)} counter"
    findings = check_synonyms(candidate.tied, candidate.counter, seeds)
    for role in ("tied", "counter"):
        strange = [word for word in getattr(candidate, role) if word not in getattr(seeds, role)]
        findings += [f"{word!r} is not a {role} word of the study" for word in strange]
    if len(words.tied) != len(words.counter):
        findings.append(f"sets of different size: {sizes}")
    return f"{' and '.join(became)} {name} ({sizes})", findings


def _add_wording(study: Study, content: dict[str, Any], name: str, note: str) -> None:
    """Ask the new words in the first wording that every stereotype shares."""
    shared = study.instruments.word_association
    seed = next((v for v in shared.default_variations if not shared.variations[v].own_words), None)
    variation = shared.variations[seed or shared.default_variations[0]]
    new = {**variation.model_dump(exclude_defaults=True), "own_words": True, "note": note}
    instrument = content["instruments"]["word_association"]
    instrument["variations"][name] = new
    if name not in instrument["default_variations"]:
        instrument["default_variations"].append(name)


def _put_decision(
    study: Study, content: dict[str, Any], name: str, draft: Any, candidate: Any
) -> tuple[str, list[str]]:
    """Add a variation of the relative decision, over the words of the seed decision."""
    stereotype = study.stereotypes[candidate.stereotype]
    seed = seed_variation(stereotype)
    if seed is None:
        raise StudyError("the stereotype has no relative_decision to take the words from")
    decision = {"wording": candidate.text.strip(), "note": _note(draft)}
    words_of = stereotype.decisions.relative_decision[seed].words_of
    if words_of is not None:
        decision["words_of"] = words_of
    own = content["stereotypes"][candidate.stereotype]["decisions"]["relative_decision"]
    own[name] = decision
    return f"relative_decision {name}", check_decision(candidate.text, stereotype)
