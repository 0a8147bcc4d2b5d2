"""Drafting stimuli: a model proposes candidates, checks flag problems, a person accepts."""

from tiltmeter.stimuli.drafting.accepting import Grown, accept
from tiltmeter.stimuli.drafting.decisions import (
    Question,
    check_decision,
    decision_candidates,
    decision_question,
    read_decisions,
)
from tiltmeter.stimuli.drafting.drafts import (
    DecisionCandidate,
    DecisionDraft,
    Draft,
    SynonymCandidate,
    SynonymDraft,
    parse_draft,
    read_draft,
    to_yaml,
)
from tiltmeter.stimuli.drafting.reading import Reading, read_synonyms, restore_slots
from tiltmeter.stimuli.drafting.synonyms import (
    check_synonyms,
    seed_variation,
    seed_words,
    synonym_candidate,
    synonym_prompt,
)
from tiltmeter.stimuli.drafting.valence import Lexicon, check_valence, read_lexicon

__all__ = [
    "DecisionCandidate",
    "DecisionDraft",
    "Draft",
    "Grown",
    "Lexicon",
    "Question",
    "Reading",
    "SynonymCandidate",
    "SynonymDraft",
    "accept",
    "check_decision",
    "check_synonyms",
    "check_valence",
    "decision_candidates",
    "decision_question",
    "parse_draft",
    "read_decisions",
    "read_draft",
    "read_lexicon",
    "read_synonyms",
    "restore_slots",
    "seed_variation",
    "seed_words",
    "synonym_candidate",
    "synonym_prompt",
    "to_yaml",
]
