"""What a simulated model says of candidates: it recognises a prompt, and answers it.

A lean is planted for each contrast of groups, for the better résumé (how much it is preferred) and
for the placebo. What is said of one candidate adds them up: a member of a marginalized group has
its lean taken off, and the best and the lowest résumé have that of the better résumé.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

from clinometer.authoring import (
    LIKELIHOODS,
    LOGITS,
    TEXT,
    USUAL,
    YES_NO,
    PlantedLean,
    RecognisedPrompt,
    Recogniser,
    SimulatedAnswer,
    Study,
    answer_either,
    answer_scale,
    fill,
    log_odds,
    unfill,
)
from clinometer_measures.hiring.part import (
    CALLBACK,
    CHOICE,
    DIGITS,
    GROUPS,
    LONGER,
    LOWEST,
    NAME,
    POINTS,
    SCORE,
    STEPS,
    HiringPart,
    HiringWording,
    Resume,
    all_resumes,
    part_of,
    resume_text,
    sentence_text,
    wording_texts,
)

__all__ = ["recogniser", "simulate"]

#: Kind of résumé → how far the better résumé's lean moves a callback.
STRENGTHS = {LONGER: 1.0, LOWEST: -1.0}


def recogniser(study: Study) -> Recogniser:
    """Find the candidates of a prompt, their résumés, and the stereotypes they belong to."""
    part = part_of(study)
    if part is None:
        return lambda prompt: None

    @cache
    def resumes() -> Mapping[str, Resume]:
        """Return every résumé by its text."""
        return {resume_text(part, resume): resume for resume in all_resumes(part)}

    @cache
    def sides() -> Mapping[str, Mapping[str, str]]:
        """Return the group of each name in each stereotype."""
        return _sides(study)

    def recognise(prompt: str) -> RecognisedPrompt | None:
        """Return the question of a prompt; None if it is of something else."""
        for dimension, name, texts in _matches(part, prompt.strip()):
            candidates = [
                (who, resumes()[text])
                for who, text in texts
                if who in sides() and text in resumes()
            ]
            if len(candidates) == len(texts):
                columns = {"dimension": dimension}
                question = RecognisedPrompt(study, NAME, "", name, TEXT, columns=columns)
                return _question(question, part, sides(), candidates)
        return None

    return recognise


def _sides(study: Study) -> dict[str, dict[str, str]]:
    """Return name → stereotype → the group it stands in."""
    sides: dict[str, dict[str, str]] = {}
    for key, stereotype in study.stereotypes.items():
        for side in GROUPS:
            for name in getattr(stereotype, side):
                sides.setdefault(name, {})[key] = side
    return sides


def _matches(part: HiringPart, prompt: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield question and wording that a prompt may be of, with names and texts of candidates."""
    for name, wording in part.variations.items():
        for job in part.occupations:
            # The ends of the scale stay open: it depends on the mode.
            values = {**wording_texts(part, job), "lowest": "{lowest}", "highest": "{highest}"}
            if values["occupation"] not in prompt:
                continue
            open_places = {f: "{" + f + "}" for f in _PLACES}
            fields = unfill(fill(wording.choice, {**open_places, **values}), prompt)
            if fields is not None:
                ends = ("first", "second")
                yield CHOICE, name, [(fields[place], fields[f"{place}_resume"]) for place in ends]
            for dimension, template in _single(wording):
                fields = unfill(fill(template, {**open_places, **values}), prompt)
                if fields is not None:
                    yield dimension, name, [(fields["name"], fields["resume"])]
    for dimension, sentences in ((CALLBACK, part.sentences), (SCORE, part.score_sentences)):
        for name, job in product(sentences, part.occupations):
            beginning = sentence_text(part, name, job, dimension).removesuffix(" {decision}")
            fields = unfill(beginning, prompt)
            if fields is not None:
                who, _, text = fields["candidate"].partition(". ")
                yield dimension, name, [(who, text)]


def _single(wording: HiringWording) -> Iterator[tuple[str, str]]:
    """Yield the questions about one candidate."""
    yield CALLBACK, wording.callback
    if wording.score:
        yield SCORE, wording.score


_PLACES = ("first", "first_resume", "second", "second_resume", "name", "resume", "lowest",
           "highest")  # fmt: skip


def _question(
    question: RecognisedPrompt,
    part: HiringPart,
    sides: Mapping[str, Mapping[str, str]],
    candidates: Sequence[tuple[str, Resume]],
) -> RecognisedPrompt | None:
    """Say which stereotypes a prompt is of; None where two names belong to none together."""
    (name, resume), *rivals = candidates
    if not rivals:
        keys = _sides_with_cue(part, sides[name], resume)
        words = ((name, next(iter(keys.values()))),)
        columns = {**question.columns, "sides": keys, "kind": resume.kind}
        return replace(
            question, stereotype=[*keys][0], stereotypes=(*keys,), words=words, columns=columns
        )
    ((rival, rival_resume),) = rivals
    shared = [
        key
        for key, side in sides[name].items()
        if sides[rival].get(key, side) != side
        and key not in part.cues
        and (key in part.superiority) == (resume.kind != rival_resume.kind)
    ]
    if not shared:
        return None
    pair_words = tuple((who, sides[who][shared[0]]) for who in (name, rival))
    return replace(question, stereotype=shared[0], words=pair_words)


def _sides_with_cue(part: HiringPart, sides: Mapping[str, str], resume: Resume) -> dict[str, str]:
    """Return the groups of a name, by stereotype; of those that are stated what the résumé says."""
    matching_sides = {}
    for key, side in sides.items():
        cue = part.cues.get(key)
        if cue is None or getattr(cue, side) == resume.cue:
            matching_sides[key] = side
    return matching_sides


def simulate(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Pick one of two candidates, or say of one whether to invite."""
    if len(question.groups) == 2:
        return _pick(question, lean)
    part = part_of(question.study)
    assert part is not None  # else no prompt of it is recognised
    weights = _weights(question, part)
    if question.kind == LIKELIHOODS:
        return SimulatedAnswer(0.0, shares=_ends(question, lean, part, weights))
    favour = 0.0
    for key, weight in weights.items():
        favour += weight * lean.of_stereotype(key)
    bounded = replace(lean, score=max(-1.0, min(1.0, favour)))
    if question.columns["dimension"] == SCORE:
        answer = answer_scale(question, bounded, DIGITS if question.kind == LOGITS else POINTS, 1.0)
    else:
        answer = answer_either(question, bounded, YES_NO, 1.0)
    is_marginalized = question.groups[0][1] == "marginalized"
    return replace(answer, lean=-answer.lean) if is_marginalized else answer


def _pick(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Pick the candidate of the default group as often as the lean has it."""
    options = {side: name for name, side in question.groups}
    if question.kind == LOGITS:
        options = {side: "AB"[place] for place, (_, side) in enumerate(question.groups)}
    order = -1.0 if question.marginalized_first else 1.0
    return answer_either(question, lean, (options["default"], options["marginalized"]), 1.0, order)


def _weights(question: RecognisedPrompt, part: HiringPart) -> dict[str, float]:
    """Return what each stereotype's lean adds to the favour of a candidate.

    The marginalized candidate of a stereotype has twice its lean less than the default one, which
    is the difference of their callbacks. The mean lean of a category is added for everybody, so
    that favours lie around 0.
    """
    by_category: dict[str, list[str]] = {}
    for key, stereotype in question.study.stereotypes.items():
        if key in part.cues and key not in question.columns["sides"]:
            continue  # nothing is said of it
        if key not in part.superiority:
            by_category.setdefault(stereotype.category, []).append(key)
    weights: dict[str, float] = {}
    for keys in by_category.values():
        for key in keys:
            is_marginalized = question.columns["sides"].get(key) == "marginalized"
            weights[key] = 1 / len(keys) - 2.0 * is_marginalized
    strength = STRENGTHS.get(question.columns["kind"], 0.0)
    return weights | dict.fromkeys(part.superiority, strength)


def _ends(
    question: RecognisedPrompt, lean: PlantedLean, part: HiringPart, weights: Mapping[str, float]
) -> dict[str, float]:
    """Return the probability of each end; its log odds add up what the leans give them.

    Of scores the steps are distributed as the number of successes, as in `answer_scale`.
    """
    if question.columns["dimension"] == SCORE:
        favour = sum(weight * lean.of_stereotype(key) for key, weight in weights.items())
        p = min(1 - 1e-4, max(1e-4, (1 + favour) / 2))
        masses = [math.comb(STEPS, k) * p**k * (1 - p) ** (STEPS - k) for k in range(STEPS + 1)]
        usual = math.exp(random.Random(f"{lean.seed}/{question.variation}").uniform(*USUAL))
        return {digit: usual * mass for digit, mass in zip(DIGITS, masses, strict=True)}
    odds = 0.0
    for key, weight in weights.items():
        odds += weight * log_odds((1 + lean.of_stereotype(key)) / 2) / 2
    invited, rejected = part.decisions
    return {
        invited: lean.word_share(question.variation, invited, odds / 2),
        rejected: lean.word_share(question.variation, rejected, -odds / 2),
    }
