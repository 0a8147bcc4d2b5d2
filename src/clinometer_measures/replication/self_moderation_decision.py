"""Self-moderation of decisions: whether a model calls its own relative decisions biased.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, SI section B and
    Supplementary Table 4.

Measures
    As `self_moderation`, with the profiles and the decision of the LLM Relative Decision Test as
    the answer that is judged. Stereotype-consistent is a score of 1.

Range and sign
    Decision 0…1, neutral ½; above ½ is stereotype-consistent, against the marginalized group.

Deviations from the paper
    Those of `self_moderation`. Profiles, decision and explanation are judged together; the paper
    sent them apart. Wordings with two prompts of their own (hiring with accents) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from clinometer.authoring import Study, Wording
from clinometer.instruments import relative_decision
from clinometer_measures.replication.self_moderation import Moderation, moderate

__all__ = ["INSTRUMENT", "MEASURE"]

MEASURE = relative_decision.MEASURE.renamed(
    "self_moderation_decision",
    "Self-moderation: decision",
    "The first of two prompts; the second asks the model whether its answer is biased. ",
)


def _wordings(study: Study) -> Mapping[str, Wording]:
    """Return the wordings with one prompt."""
    wordings = dict(relative_decision.INSTRUMENT.wordings(study))
    for stereotype in study.stereotypes.values():
        for name in [*wordings]:
            decision = stereotype.decision(relative_decision.MEASURE.name, name)
            if getattr(decision, "followup", None):
                del wordings[name]
    return wordings


INSTRUMENT = moderate(Moderation(MEASURE, relative_decision.INSTRUMENT, _wordings))
