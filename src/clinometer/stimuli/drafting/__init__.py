"""Drafting stimuli: a model proposes candidates, checks flag problems, a person accepts."""

from clinometer.stimuli.drafting.accepting import accept
from clinometer.stimuli.drafting.decisions import decision_candidates, decision_question
from clinometer.stimuli.drafting.drafts import (
    DecisionDraft,
    Draft,
    SynonymDraft,
    read_draft,
    to_yaml,
)
from clinometer.stimuli.drafting.synonyms import seed_words, synonym_candidate, synonym_prompt
from clinometer.stimuli.drafting.valence import Lexicon

__all__ = [
    "DecisionDraft",
    "Draft",
    "Lexicon",
    "SynonymDraft",
    "accept",
    "decision_candidates",
    "decision_question",
    "read_draft",
    "seed_words",
    "synonym_candidate",
    "synonym_prompt",
    "to_yaml",
]
