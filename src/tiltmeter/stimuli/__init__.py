"""Studies: stimuli and wordings as files, and their one loader."""

from tiltmeter.stimuli.loading import load_study, parse_study, shipped_studies, study_hash
from tiltmeter.stimuli.study import (
    DECISIONS,
    Citation,
    Instrument,
    Stereotype,
    Study,
    Variation,
    Words,
    word_key,
)
from tiltmeter.stimuli.wording import fill

__all__ = [
    "DECISIONS",
    "Citation",
    "Instrument",
    "Stereotype",
    "Study",
    "Variation",
    "Words",
    "fill",
    "load_study",
    "parse_study",
    "shipped_studies",
    "study_hash",
    "word_key",
]
