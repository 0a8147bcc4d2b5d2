"""Studies: files of stimuli and wordings, and their loader."""

from clinometer.stimuli.items import Items, bring_items, find_items, read_items
from clinometer.stimuli.loading import (
    find_intervention,
    load_study,
    open_study,
    parse_study,
    shipped_studies,
    study_hash,
)
from clinometer.stimuli.remarks import remarks
from clinometer.stimuli.study import Answers, Citation, Stereotype, Study
from clinometer.stimuli.wording import (
    AbsoluteDecision,
    AffectiveAttribution,
    AttributionVariation,
    ChainedTask,
    Decision,
    RelativeDecision,
    Variation,
    WordAssociation,
    Wordings,
    fill,
    holds,
    unfill,
)
from clinometer.stimuli.words import Strict, Words, word_key

__all__ = [
    "AbsoluteDecision",
    "Decision",
    "AffectiveAttribution",
    "Answers",
    "AttributionVariation",
    "ChainedTask",
    "Citation",
    "Items",
    "RelativeDecision",
    "Stereotype",
    "Strict",
    "Study",
    "Variation",
    "WordAssociation",
    "Wordings",
    "Words",
    "bring_items",
    "fill",
    "find_items",
    "find_intervention",
    "holds",
    "load_study",
    "open_study",
    "parse_study",
    "read_items",
    "remarks",
    "shipped_studies",
    "study_hash",
    "unfill",
    "word_key",
]
