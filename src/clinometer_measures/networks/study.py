"""Studies of association networks: who is primed, and what may be activated.

A study names social identities; each is measured by one of three approaches (Abramski, Rossetti &
Stella 2025, arXiv:2510.24488, Table 2):

- *stereotypes*: two categories with matched pairs of primes, and targets tied to each category;
- *valence*: two or more primes, compared by how positive the words are that they activate;
- *emotions*: two primes, compared by the emotions of the words that they activate.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from clinometer.stimuli.loading import SUFFIXES, check_name, parse_mapping, read_study
from clinometer.stimuli.study import Citation
from clinometer.stimuli.words import Name, Strict, Word, WordList, word_key
from clinometer.stimuli.yaml_text import parse_yaml, validate

__all__ = [
    "APPROACHES",
    "Emotions",
    "Identity",
    "NetworkStudy",
    "Stereotypes",
    "Valence",
    "load_network_study",
    "open_network_study",
    "parse_network_study",
    "shipped_network_studies",
]

APPROACHES = ("stereotypes", "valence", "emotions")


class Stereotypes(Strict):
    """Two categories, matched pairs of primes, and the targets tied to each category."""

    approach: Literal["stereotypes"]
    label: str = ""
    pairs: Annotated[list[dict[Name, Word]], Field(min_length=1, max_length=100)]
    """Each: category → prime, the same two categories in every pair."""
    targets: dict[Name, WordList]
    """Category → words stereotypically tied to it."""

    @property
    def categories(self) -> tuple[str, ...]:
        """The two categories; a positive effect is activation by the first."""
        return tuple(self.pairs[0])

    @property
    def primes(self) -> dict[str, str]:
        """Prime → its category, pair by pair."""
        return {word: category for pair in self.pairs for category, word in pair.items()}

    @model_validator(mode="after")
    def _pairs_match(self) -> Stereotypes:
        categories = list(self.pairs[0])
        for pair in self.pairs:
            # The first pair is compared with itself, which checks that it names two.
            if len(pair) != 2 or sorted(pair) != sorted(categories):
                raise ValueError(
                    f"pair of {', '.join(pair)}: every pair names the same two categories"
                )
        if sorted(self.targets) != sorted(categories):
            raise ValueError(
                f"targets of {', '.join(self.targets)}: give targets of {', '.join(categories)}"
            )
        _check_distinct([word for pair in self.pairs for word in pair.values()], "prime")
        _check_distinct([word for words in self.targets.values() for word in words], "target")
        return self


class Valence(Strict):
    """Two or more primes, compared by the valence of the words they activate."""

    approach: Literal["valence"]
    label: str = ""
    primes: Annotated[WordList, Field(min_length=2)]


class Emotions(Strict):
    """Two primes, compared by the emotions of the words they activate."""

    approach: Literal["emotions"]
    label: str = ""
    primes: Annotated[WordList, Field(min_length=2, max_length=2)]
    norm: Literal["l1", "l2"] = "l1"
    """By which norm activations are divided; the paper prefers l1 here and shows both."""


Identity = Annotated[Stereotypes | Valence | Emotions, Field(discriminator="approach")]


class NetworkStudy(Strict):
    """A published or a user's own set of identities to measure in association networks."""

    name: Name
    title: str = ""
    language: str = "en"
    citation: Citation = Citation()
    licence: str = ""
    deviations: list[str] = []
    identities: dict[Name, Identity] = Field(min_length=1)

    def summary(self) -> str:
        """Say what the study holds, in a line."""
        return f"study of networks {self.name}: {', '.join(self.identities)}"

    def lines(self) -> list[str]:
        """List the primes and targets of each identity."""
        lines = []
        for key, identity in self.identities.items():
            lines.append(f"{key} ({identity.approach})")
            if not isinstance(identity, Stereotypes):
                lines.append(f"  primes  {', '.join(identity.primes)}")
                continue
            pairs = ", ".join(" – ".join(pair.values()) for pair in identity.pairs)
            lines.append(f"  pairs of primes ({' – '.join(identity.categories)}): {pairs}")
            for category, words in identity.targets.items():
                lines.append(f"  targets of {category}: {', '.join(words)}")
        return lines

    def identities_of(self, approach: str) -> dict[str, Stereotypes | Valence | Emotions]:
        """Return the identities measured by an approach."""
        identities = self.identities.items()
        return {key: identity for key, identity in identities if identity.approach == approach}


def _check_distinct(words: list[str], what: str) -> None:
    keys: set[str] = set()
    for word in words:
        if word_key(word) in keys:
            raise ValueError(f"{what} {word!r} stands twice")
        keys.add(word_key(word))


def shipped_network_studies() -> list[str]:
    """Names of the studies of networks that come with Clinometer, in alphabetical order."""
    files = (resources.files("clinometer_measures.networks") / "studies").iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".yaml"))


@lru_cache(maxsize=8)
def _shipped_study(name: str) -> NetworkStudy:
    file = resources.files("clinometer_measures.networks") / "studies" / f"{name}.yaml"
    return parse_network_study(file.read_text(encoding="utf-8"), f"{name}.yaml")


def load_network_study(study: str | Path | NetworkStudy) -> NetworkStudy:
    """Load a study of networks by its shipped name or the path of a YAML file.

    Parameters
    ----------
    study
        ``"abramski2025"``, or a path ending in ``.yaml`` or ``.yml``. A `NetworkStudy` is returned
        as it is.

    Returns
    -------
    NetworkStudy

    Raises
    ------
    StudyError
        As of `load_study`.

    Examples
    --------
    >>> load_network_study("abramski2025").identities["political_party"].primes
    ['democrat', 'republican']
    """
    if isinstance(study, NetworkStudy):
        return study
    if str(study).endswith(SUFFIXES):
        return parse_network_study(read_study(study), str(study))
    return _shipped_study(check_name("study of networks", str(study), shipped_network_studies()))


def open_network_study(study: str | Path) -> NetworkStudy | None:
    """Load a study as `load_network_study` does; None if it is not one of networks.

    A file is one of networks if it has `identities`.
    """
    if str(study) in shipped_network_studies():
        return load_network_study(study)
    if str(study).endswith(SUFFIXES):
        content, _ = parse_yaml(read_study(study), str(study))
        if isinstance(content, dict) and "identities" in content:
            return load_network_study(study)
    return None


def parse_network_study(text: str, source: str) -> NetworkStudy:
    """Check the YAML text of a study of networks, as `parse_study` does."""
    content, root = parse_mapping(text, source, "identities")
    return validate(NetworkStudy, content, root, source)
