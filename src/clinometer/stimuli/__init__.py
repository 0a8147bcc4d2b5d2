"""Studies: files of stimuli and wordings, and their loader."""

from clinometer.stimuli.folders import shipped_studies, user_studies
from clinometer.stimuli.items import (
    BenchmarkItems,
    ReleasedFile,
    bring_items,
    bring_released,
    find_items,
    read_items,
    read_released,
)
from clinometer.stimuli.loading import (
    find_intervention,
    load_study,
    open_study,
    parse_study,
    study_hash,
)
from clinometer.stimuli.remarks import remarks
from clinometer.stimuli.study import (
    ARBITRARY_WORDS,
    AnswerVocabulary,
    Citation,
    Stereotype,
    Study,
    arbitrary_name,
    things_name,
)
from clinometer.stimuli.wording import (
    AbsoluteDecision,
    AffectiveAttribution,
    AttributionVariation,
    ChainedTask,
    DecisionWording,
    RelativeDecision,
    Variation,
    WordAssociation,
    Wordings,
    fill,
    holds,
    unfill,
)
from clinometer.stimuli.words import StereotypeWords, Strict, word_key

__all__ = [
    "ARBITRARY_WORDS",
    "AbsoluteDecision",
    "AffectiveAttribution",
    "AnswerVocabulary",
    "AttributionVariation",
    "BenchmarkItems",
    "ChainedTask",
    "Citation",
    "DecisionWording",
    "RelativeDecision",
    "ReleasedFile",
    "Stereotype",
    "StereotypeWords",
    "Strict",
    "Study",
    "Variation",
    "WordAssociation",
    "Wordings",
    "arbitrary_name",
    "bring_items",
    "bring_released",
    "fill",
    "find_intervention",
    "find_items",
    "holds",
    "load_study",
    "open_study",
    "parse_study",
    "read_items",
    "read_released",
    "remarks",
    "shipped_studies",
    "study_hash",
    "things_name",
    "unfill",
    "user_studies",
    "word_key",
]
