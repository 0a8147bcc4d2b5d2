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
    grown = study
    added: list[str] = []
    notes: list[str] = []
    for source, draft in drafts.items():
        if (draft.study, draft.study_hash) != (study.name, study_hash(study)) and not other_version:
            raise InputError(
                f"{source}: drafted from {draft.study} {draft.study_hash}, not from {study.name} "
                f"{study_hash(study)}; give that study, or --other-version to use it all the same"
            )
        grown, lines, remarks = _add_accepted(grown, source, draft)
        added += lines
        notes += remarks
    if not added:
        where = f"{', '.join(drafts)}: " if drafts else ""
        raise InputError(
            f"{where}no candidate is accepted; set 'accepted: true' on those that may enter"
        )
    content = {**grown.model_dump(exclude_defaults=True), "name": name}
    return Grown(_check_study(content, name), added, notes)


def _add_accepted(study: Study, source: str, draft: Draft) -> tuple[Study, list[str], list[str]]:
    """Add one draft's accepted candidates; also what they became, and what the checks find."""
    content = study.model_dump(exclude_defaults=True)
    added: list[str] = []
    notes: list[str] = []
    times: dict[str, int] = {}  # stereotype → its accepted candidates so far
    for number, candidate in enumerate(draft.candidates):
        if not candidate.accepted:
            continue
        key = candidate.stereotype
        where = f"{source}: candidates.{number} ({key})"
        if key not in study.stereotypes:
            raise InputError(f"{where}: {unknown('stereotype', key, study.stereotypes)}")
        times[key] = times.get(key, 0) + 1
        name = _variation_name(draft, times[key])
        _refuse_known_name(study, where, name)
        # Each puts its variation into `content`; the study itself is frozen.
        put = _put_synonyms if isinstance(candidate, SynonymCandidate) else _put_decision
        try:
            line, findings = put(study, content, name, draft, candidate)
        except (StudyError, ValueError) as error:
            raise InputError(f"{where}: {_error_line(error)}") from None
        added.append(f"{key}: {line}")
        notes += [f"{where}: {finding}" for finding in findings]
    if added:
        content.setdefault("deviations", []).append(_origin_text(draft))
    return _check_study(content, source), added, notes


def _check_study(content: dict[str, Any], where: str) -> Study:
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{where}: {_error_line(error)}") from None


def _error_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return error.errors()[0]["msg"].removeprefix("Value error, ")
    return str(error)


def _variation_name(draft: Draft, time: int) -> str:
    what = draft.draft.removesuffix("s")
    return f"{what}_{draft.name}{time if time > 1 else ''}"


def _refuse_known_name(study: Study, where: str, name: str) -> None:
    names = {*study.instruments.word_association.variations}
    for stereotype in study.stereotypes.values():
        names.update(stereotype.decisions.words, stereotype.decisions.relative_decision)
    if name in names:
        raise InputError(
            f"{where}: the study has a variation {name!r} already; change 'name' in the draft"
        )


def _origin_text(draft: Draft) -> str:
    proposals = "synonyms" if isinstance(draft, SynonymDraft) else "decisions"
    return (
        f"The variations {_variation_name(draft, 1)}… hold {proposals} that {draft.model} "
        f"proposed on {draft.date} and a person accepted; they are not of the source."
    )


def _note_text(draft: Draft) -> str:
    return f"Proposed by {draft.model} on {draft.date}, accepted by a person."


def _put_synonyms(
    study: Study, content: dict[str, Any], name: str, draft: Any, candidate: Any
) -> tuple[str, list[str]]:
    """Add a variation with own words, to the instrument and to the stereotype."""
    stereotype = study.stereotypes[candidate.stereotype]
    seeds = seed_words(study, candidate.stereotype, draft.instrument)
    lists = {role: candidate.synonyms(role) for role in ("tied", "counter")}
    words = StereotypeWords.model_validate({**seeds.model_dump(), **lists})
    entry = content["stereotypes"][candidate.stereotype]
    seed = seed_variation(stereotype)
    # A seed decision without a list of its own shows the words of the association.
    decisions = stereotype.decisions.relative_decision
    same_words = seed is not None and decisions[seed].words_of is None
    instruments = []
    if draft.instrument == "word_association":
        entry.setdefault("variations", {})[name] = lists
        _add_wording(study, content, name, _note_text(draft))
        instruments.append("word_association")
    else:
        word_lists = entry["decisions"].setdefault("words", {})
        # An override has no `aligned`; the extra words of the seeds are not asked for.
        word_lists[name] = words.model_dump(exclude={"extra", "aligned"})
    if seed and (same_words or draft.instrument == "relative_decision"):
        entry["decisions"]["relative_decision"][name] = {
            "wording_of": seed, "words_of": name, "note": _note_text(draft)
        }  # fmt: skip
        instruments.append("relative_decision")
    sizes = f"{len(words.tied)} tied, {len(words.counter)} counter"
    findings = check_synonyms(candidate.tied, candidate.counter, seeds)
    for role in ("tied", "counter"):
        for word in getattr(candidate, role):
            if word not in getattr(seeds, role):
                findings.append(f"{word!r} is not a {role} word of the study")
    if len(words.tied) != len(words.counter):
        findings.append(f"sets of different size: {sizes}")
    return f"{' and '.join(instruments)} {name} ({sizes})", findings


def _add_wording(study: Study, content: dict[str, Any], name: str, note: str) -> None:
    """Ask the new words in the first wording that every stereotype shares."""
    shared = study.instruments.word_association
    defaults = shared.default_variations
    seeds = [variation for variation in defaults if not shared.variations[variation].own_words]
    variation = shared.variations[(seeds or defaults)[0]]
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
    decision = {"wording": candidate.text.strip(), "note": _note_text(draft)}
    word_source = stereotype.decisions.relative_decision[seed].words_of
    if word_source is not None:
        decision["words_of"] = word_source
    decisions = content["stereotypes"][candidate.stereotype]["decisions"]["relative_decision"]
    decisions[name] = decision
    return f"relative_decision {name}", check_decision(candidate.text, stereotype)
