"""What is planted in a simulated model: a YAML file, one of those shipped or one's own.

Leans are on one scale for all instruments: −1 always against the stereotype, 0 neutral, 1 always
with it. The expected score of a measure is ``neutral + lean · (high − low) / 2``.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.simulation import RecognisedPrompt
from clinometer.errors import ModelError, StudyError, unknown
from clinometer.modes import LIKELIHOODS
from clinometer.results.controls import NULLS
from clinometer.simulated.anything import Anything
from clinometer.stimuli import Strict
from clinometer.stimuli.yaml_text import parse_yaml, validate
from clinometer.texts import read_text

FORMATS = ("lines", "table", "prose", "json", "reasoning")
SUFFIXES = (".yaml", ".yml")
MAX_BYTES = 1_000_000

#: Kind of a control → its lean where none is planted: simulated models know what everybody knows.
CONTROLS = {"positive": 0.8, "negative": 0.0, "words": 0.0, "things": 0.0}

Unit = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Format = Literal["lines", "table", "prose", "json", "reasoning"]
Where = Literal["anywhere", "consistent", "inconsistent", "marginalized", "default"]


def _none(value: Any) -> Any:
    """Read what YAML calls null; files are read as text, since words may be called so."""
    return None if value in ("null", "~", "") else value


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class Leans(Strict):
    """Expected leans; the narrower one wins, those of wordings and group words add."""

    default: Unit = 0.0
    category: dict[str, Unit] = {}
    stereotype: dict[str, Unit] = {}
    wording: dict[str, Unit] = {}
    group: dict[str, Unit] = {}

    def lean_of(self, category: str, stereotype: str) -> float:
        """Return the lean of a stereotype, wordings and group words aside."""
        return self.stereotype.get(stereotype, self.category.get(category, self.default))


class Spread(Strict):
    """Standard deviations of random departures from the leans, drawn once per seed."""

    stereotype: Share = 0.0
    wording: Share = 0.0
    group: Share = 0.0


class Refusals(Strict):
    """Which answers are refused, and how often."""

    rate: Share = 0.0
    """Of the answers that `where` names."""
    where: Where = "anywhere"
    """Answers with, or against, the stereotype; or questions whose first, or only, group word is of
    that group."""
    texts: list[str] = []
    """What a refusal says; one is drawn. Empty: real forms that come with Clinometer."""


class Truth(Strict):
    """What is planted."""

    lean: Leans = Leans()
    explicit: Annotated[Leans | None, BeforeValidator(_none)] = None
    """Leans of what the model says about itself and of open tests, where they differ."""
    spread: Spread = Spread()
    order: Unit = 0.0
    """Lean towards the group that is named first."""
    refusals: Refusals = Refusals()
    format: Annotated[list[Format], BeforeValidator(_as_list), Field(min_length=1)] = ["lines"]
    """How answers in free text are written; one of them is drawn."""
    served_as: Annotated[str | None, BeforeValidator(_none)] = None
    """Name of a model in the replies, if not its own."""
    anything: Anything | None = None
    """What is planted in answers to any prompt. Then no prompt is one of a study, and of the other
    fields `refusals.texts`, `served_as` and `seed` count alone."""
    seed: int = 1


@dataclass(frozen=True)
class Simulation:
    """A simulated model: its name, and what is planted in it."""

    name: str
    truth: Truth
    sha256: str
    """Of the file."""

    @property
    def served_as(self) -> str:
        """The name of the model in its replies."""
        return self.truth.served_as or f"simulated/{self.name}"

    def lean_of(self, question: RecognisedPrompt) -> float:
        """Return the expected lean of answers to a question, −1…1."""
        keys = question.stereotypes or (question.stereotype,)
        lean = sum(self.lean_in_wording(question, key) for key in keys) / len(keys)
        # A sentence names one group. That of the default group, which stereotypes may share, has
        # no lean but its own.
        if question.kind == LIKELIHOODS and question.listed and question.groups[0][1] == "default":
            lean = 0.0
        added = self.leans(question.instrument).group
        for word, _ in question.groups:
            lean += added.get(word, 0.0) + self._departure("group", word)
        return max(-1.0, min(1.0, lean))

    def lean_in_wording(self, question: RecognisedPrompt, key: str) -> float:
        """Return the lean of a stereotype in the wording of a question, group words aside."""
        added = self.leans(question.instrument).wording.get(question.variation, 0.0)
        departure = self._departure("wording", question.variation)
        return self.lean_of_stereotype(question, key) + added + departure

    def leans(self, instrument: str) -> Leans:
        """Return the leans that hold in an instrument."""
        explicit = any(measure.explicit for measure in INSTRUMENTS[instrument].measures)
        explicit_leans = self.truth.explicit if explicit else None
        return explicit_leans if explicit_leans is not None else self.truth.lean

    def lean_of_stereotype(self, question: RecognisedPrompt, key: str) -> float:
        """Return the lean of a stereotype in an instrument, with its random departure.

        A control has that of `CONTROLS`, unless one is planted for it or its category.
        """
        stereotype, leans = question.study.stereotypes[key], self.leans(question.instrument)
        control = question.study.control_of(key)
        if control is not None:
            leans = leans.model_copy(update={"default": CONTROLS[control]})
        departure = 0.0 if control in NULLS else self._departure("stereotype", key)
        return leans.lean_of(stereotype.category, key) + departure

    def _departure(self, source: Literal["stereotype", "wording", "group"], name: str) -> float:
        """Draw the departure of a stereotype, a wording or a word; the same for a seed."""
        sd: float = getattr(self.truth.spread, source)
        return sd * _normal(f"{self.truth.seed}/{source}/{name}") if sd else 0.0


@lru_cache(maxsize=4096)
def _normal(seed: str) -> float:
    return random.Random(seed).gauss(0.0, 1.0)


def shipped() -> list[str]:
    """Names of the simulated models that come with Clinometer."""
    folder = resources.files("clinometer.simulated") / "models"
    return sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".yaml"))


def load_truth(model: str, plants: Sequence[str] = ()) -> Simulation:
    """Read what is planted in a simulated model.

    Parameters
    ----------
    model
        ``neutral``, another name of `shipped`, or the path of a file ending in ``.yaml``.
    plants
        Fields in place of those of the file, as ``anything.effect.black_women=1.4``.

    Returns
    -------
    Simulation

    Raises
    ------
    ModelError
        If there is no such name, or the file is missing or malformed; the text names file, line
        and field.
    """
    try:
        if model.endswith(SUFFIXES):
            text = read_text(Path(model), MAX_BYTES, StudyError)
        elif model in shipped():
            folder = resources.files("clinometer.simulated") / "models"
            text = (folder / f"{model}.yaml").read_text(encoding="utf-8")
        else:
            hint = "(or give a file ending in .yaml)"
            raise ModelError(f"{unknown('simulated model', model, shipped())} {hint}")
        content, root = parse_yaml(text, model)
        planted = _plant(content or {}, plants)
        truth = validate(Truth, planted, root, model)
    except StudyError as error:
        raise ModelError(str(error).replace(": study: ", ": ")) from None
    identity = "\n".join([text, *plants])
    return Simulation(model, truth, hashlib.sha256(identity.encode()).hexdigest())


def _plant(content: Any, plants: Sequence[str]) -> Any:
    """Set fields of a file by their names with dots; raises ModelError if one is malformed."""
    for plant in plants:
        place, equals, value = plant.partition("=")
        *parts, name = place.split(".")
        fields = content
        for part in parts:
            fields = fields.setdefault(part, {}) if isinstance(fields, dict) else None
        if not equals or not isinstance(fields, dict):
            raise ModelError(f"plant {plant!r}: needs FIELD=VALUE, as names=0.4")
        fields[name] = value
    return content
