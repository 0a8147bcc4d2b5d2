"""What a simulated model says of the traits of groups: it recognises a prompt, and answers it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations, product

from clinometer.authoring import (
    LIKELIHOODS,
    TEXT,
    PlantedLean,
    RecognisedPrompt,
    Recogniser,
    SimulatedAnswer,
    Study,
    answer_either,
    fill,
    jittered,
    log_odds,
)
from clinometer_measures.group_traits.part import (
    NAME,
    GroupTraitsPart,
    TraitPair,
    groups_of,
    part_of,
    people_lean,
    traits_of,
)

__all__ = ["GROUPS", "recogniser", "simulate"]

GROUPS = ("marginalized", "default")


def recogniser(study: Study) -> Recogniser:
    """Find the group of a prompt, and the two traits where it names them."""
    part = part_of(study)

    @cache
    def prompts() -> Mapping[str, RecognisedPrompt]:
        """Return the question of every prompt and beginning of a sentence."""
        return _prompts(study, part) if part else {}

    return lambda prompt: prompts().get(prompt.strip())


def _prompts(study: Study, part: GroupTraitsPart) -> dict[str, RecognisedPrompt]:
    """Return the questions; what is asked of people in general is one for all groups."""
    prompts: dict[str, RecognisedPrompt] = {}
    leans = people_lean(study)
    for key in study.stereotypes:
        groups = groups_of(study, part, key)
        by_dimension = traits_of(study, part, leans, key)
        traits = [trait for dimension_traits in by_dimension.values() for trait in dimension_traits]
        question = RecognisedPrompt(study, NAME, key, "", TEXT)
        for side in GROUPS:
            for group in getattr(groups, side):
                group_question = replace(question, words=((group, side),))
                for prompt, recognised in _group_prompts(part, group_question, traits):
                    first = prompts.setdefault(prompt, recognised)
                    prompts[prompt] = replace(first, stereotypes=(*first.stereotypes, key))
    return prompts


def _group_prompts(
    part: GroupTraitsPart, group_question: RecognisedPrompt, traits: Sequence[TraitPair]
) -> Iterator[tuple[str, RecognisedPrompt]]:
    """Yield the prompts about one group, in every wording."""
    ((group, _),) = group_question.words
    ends = [(trait.tied, trait.counter) for trait in traits]
    for name, sentence in part.sentences.items():
        beginning = sentence.replace("{group}", group).removesuffix(" {trait}")
        yield beginning, replace(group_question, variation=name, columns={"ends": ends})
    for (name, wording), trait in product(part.variations.items(), traits):
        words = (*group_question.words, (trait.tied, "tied"), (trait.counter, "counter"))
        question = replace(group_question, variation=name, words=words)
        for first, second in permutations((trait.tied, trait.counter)):
            values = {"group": group, "first": first, "second": second}
            yield fill(wording, values), replace(question, columns={"first": first})


def simulate(question: RecognisedPrompt, lean: PlantedLean) -> SimulatedAnswer:
    """Lean toward the tied trait, by twice the lean for a group and not at all for people."""
    ((_, side),) = question.groups
    is_group = side == "marginalized"
    if question.kind == LIKELIHOODS:
        return SimulatedAnswer(0.0, shares=_ends(question, lean, is_group=is_group))
    planted = replace(lean, score=max(-1.0, min(1.0, 2 * lean.score)) if is_group else 0.0)
    tied, counter = (word for word, _ in question.attributes)
    order = 1.0 if question.columns["first"] == tied else -1.0
    answer = answer_either(question, planted, (tied, counter), 1.0, order)
    return replace(answer, lean=answer.lean * is_group)


def _ends(question: RecognisedPrompt, lean: PlantedLean, *, is_group: bool) -> dict[str, float]:
    """Return the probability of every trait.

    That of a tied one is as much likelier as the lean has it, and how often each is used, is the
    same after all groups.
    """
    shares: dict[str, float] = {}
    for tied, counter in question.columns["ends"]:
        seed = f"{lean.seed}/{question.variation}/{tied}/{counter}"
        group_rng = random.Random(f"{seed}/{question.stereotype}")
        chance = jittered(lean.chance(1.0), group_rng) if is_group else 0.5
        # The odds of the two are those of the chance, half from each.
        half = log_odds(chance) / 2
        for trait, odds in ((tied, half), (counter, -half)):
            shares[trait] = lean.word_share(question.variation, trait, odds)
    return shares
