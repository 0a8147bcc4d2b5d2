"""Drafting stimuli: a model proposes candidates, checks flag problems, a person accepts."""

from tiltmeter.stimuli.drafting.accepting import accept
from tiltmeter.stimuli.drafting.decisions import decision_candidates, decision_question
from tiltmeter.stimuli.drafting.drafts import (
    DecisionDraft,
    Draft,
    SynonymDraft,
    read_draft,
    to_yaml,
)
from tiltmeter.stimuli.drafting.synonyms import seed_words, synonym_candidate, synonym_prompt
from tiltmeter.stimuli.drafting.valence import Lexicon

__all__ = ["DecisionDraft", "Draft", "Lexicon", "SynonymDraft", "accept", "decision_candidates",
           "decision_question", "read_draft", "seed_words", "synonym_candidate", "synonym_prompt",
           "to_yaml"]  # fmt: skip
