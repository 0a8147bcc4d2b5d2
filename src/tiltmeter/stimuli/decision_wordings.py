"""How a stereotype is put to a decision: wordings, and which words they draw from."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, model_validator

from tiltmeter.stimuli.words import Name, Override, Strict

__all__ = [
    "AbsoluteDecision",
    "ChainedTask",
    "Decision",
    "Decisions",
    "RelativeDecision",
]


def _slots(text: str, needed: set[str], allowed: set[str]) -> str:
    """Check a decision's placeholders; {a_group0} is {group0} with its indefinite article."""
    if not text:
        return text
    found = set(re.findall(r"\{([^{}]*)\}", text))
    missing = needed - {name.removeprefix("a_") for name in found}
    if missing:
        raise ValueError(f"must hold {', '.join(f'{{{name}}}' for name in sorted(missing))}")
    unknown = found - allowed - {f"a_{name}" for name in allowed & (GROUPS | PAIR | SINGLE)}
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in sorted(allowed))
        raise ValueError(f"placeholder {{{sorted(unknown)[0]}}} is none of {known}")
    return text


GROUPS = {"group0", "group1"}
PAIR = {"attribute0", "attribute1"}
SINGLE = {"group", "attribute"}
CHAINED = GROUPS | PAIR | {"association"}
RelativeWording = Annotated[str, AfterValidator(lambda t: _slots(t, GROUPS, GROUPS | PAIR))]
FollowUp = Annotated[
    str, AfterValidator(lambda t: _slots(t, {"response1"}, GROUPS | PAIR | {"response1"}))
]
AbsoluteWording = Annotated[
    str, AfterValidator(lambda t: _slots(t, SINGLE, SINGLE | {"association"}))
]
ChainedWording = Annotated[str, AfterValidator(lambda t: _slots(t, CHAINED, CHAINED))]


class Decision(Strict):
    """One way of putting a decision: its wording, and which words it draws from."""

    wording: str = ""
    wording_of: Name | None = None
    """Another variation of the same instrument, whose wording this one takes."""
    words_of: Name | None = None
    """A list of `Decisions.words`, or a variation of the word association."""
    by_default: bool = True
    source_defect: str | None = None
    note: str = ""

    @model_validator(mode="after")
    def _one_wording(self) -> Decision:
        if self.wording and self.wording_of:
            raise ValueError("wording and wording_of: give one of them")
        return self


class RelativeDecision(Decision):
    """Who gets which of two tasks; without a wording it only serves to read recorded answers."""

    wording: RelativeWording = ""
    followup: FollowUp | None = None
    """A second prompt, with the first answer pasted in at {response1}."""

    @model_validator(mode="after")
    def _both_tasks(self) -> RelativeDecision:
        asked = self.wording + (self.followup or "")
        if not self.wording or self.source_defect:
            return self
        for slot in sorted(PAIR):
            if f"{{{slot}}}" not in asked and f"{{a_{slot}}}" not in asked:
                raise ValueError(
                    f"must hold {{{slot}}}; where a source lost it, say so in source_defect"
                )
        return self


class AbsoluteDecision(Decision):
    """Yes or no to one group and one task."""

    wording: AbsoluteWording = ""


class ChainedTask(Decision):
    """Word association (at {association}), profiles and decision in one prompt."""

    wording: ChainedWording = ""


class Decisions(Strict):
    """The decisions of a stereotype: word lists by name, and instrument → variation → wording.

    Their wordings belong to a stereotype, since each puts its own decision.
    """

    words: dict[Name, Override] = {}
    relative_decision: dict[Name, RelativeDecision] = {}
    absolute_decision: dict[Name, AbsoluteDecision] = {}
    chained_task: dict[Name, ChainedTask] = {}

    def by_instrument(self) -> dict[str, dict[str, Decision]]:
        """Return the wordings: instrument → variation → wording."""
        return {name: getattr(self, name) for name in type(self).model_fields if name != "words"}

    @model_validator(mode="after")
    def _wordings_exist(self) -> Decisions:
        for instrument, known in self.by_instrument().items():
            for name, decision in known.items():
                other = decision.wording_of
                if other is not None and not (other in known and known[other].wording):
                    raise ValueError(
                        f"{instrument}.{name} takes the wording of {other!r}, which has none"
                    )
        return self
