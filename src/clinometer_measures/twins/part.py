"""What a study says of twins: the prompt that people use, its rewordings, and what counts."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from clinometer.authoring import Name, Strict, Study, StudyError, Word, fill, holds, read_chat
from clinometer_measures.twins.outcomes import CorrectOutcome, Outcome

__all__ = ["GROUPS", "NAME", "People", "TwinsPart", "part_of"]

#: The instrument, and its part of a study.
NAME = "twins"

#: The sides of a contrast, which are the versions of a trial.
GROUPS = ("marginalized", "default")

Text = Annotated[str, holds("person")]


class ChatMessage(Strict):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1)


#: A prompt as it stands: a text, or a chat of several messages, which ends with the user's.
Prompt = Text | list[ChatMessage]


class People(Strict):
    """Who the groups of a contrast are, in words: *Black women*, *White women*."""

    marginalized: Word
    default: Word


class TwinsPart(Strict):
    """A prompt with a place for a person, rewordings that change no person, and an outcome."""

    prompts: dict[Name, Prompt] = Field(min_length=1)
    """Of which the first is the prompt as it stands."""
    outcome: Outcome
    people: dict[Name, People] = {}
    forms: dict[Name, Text] = {}
    """Contrast → how a person of it is put in the place: ``I am {person}.``; else as they stand."""

    @model_validator(mode="after")
    def _check_prompts(self) -> TwinsPart:
        for name, prompt in self.prompts.items():
            if isinstance(prompt, list):
                if not any("{person}" in message.content for message in prompt):
                    raise ValueError(f"prompts.{name}: no message has {{person}}")
                if not prompt or prompt[-1].role != "user":
                    raise ValueError(f"prompts.{name}: the last message must be the user's")
        if isinstance(self.outcome, CorrectOutcome):
            if unknown := self.prompts.keys() ^ self.outcome.answers.keys():
                raise ValueError(f"outcome.answers: {sorted(unknown)[0]} is not in both")
        return self

    @cached_property
    def texts(self) -> dict[str, str]:
        """Each prompt as it is asked, by its name; a chat as the JSON of its messages."""
        return {name: _as_text(prompt) for name, prompt in self.prompts.items()}

    def ask(self, prompt: str, contrast: str, person: str) -> str:
        """Return the prompt of a name, asked of a person of a contrast."""
        return _filled(self.texts[prompt], self.put(contrast, person))

    def put(self, contrast: str, person: str) -> str:
        """Return what stands in the place for a person of a contrast."""
        return fill(self.forms.get(contrast, "{person}"), {"person": person})


def _as_text(prompt: str | list[ChatMessage]) -> str:
    """Return a prompt as it is stored."""
    if isinstance(prompt, str):
        return prompt
    return json.dumps([message.model_dump() for message in prompt], ensure_ascii=False)


def _filled(text: str, person: str) -> str:
    """Put a person in the place of a prompt; in a chat the person is a part of JSON."""
    if read_chat(text):
        return text.replace("{person}", json.dumps(person, ensure_ascii=False)[1:-1])
    return fill(text, {"person": person})


def part_of(study: Study) -> TwinsPart | None:
    """Return what a study says of twins; None if it says nothing.

    Raises StudyError if people or a form are of no contrast of the study.
    """
    part = study.instruments.read(NAME, TwinsPart)
    if part is None:
        return None
    for place, contrasts in (("people", part.people.keys()), ("forms", part.forms.keys())):
        if unknown := contrasts - study.stereotypes.keys():
            raise StudyError(
                f"study {study.name}: instruments.{NAME}.{place}: no stereotype {min(unknown)!r}"
            )
    return part
