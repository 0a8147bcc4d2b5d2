"""What a report shows of association networks: its sentences, sections, limits and sources.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.networks.chance import chance_section
from tiltmeter.report.networks.differences import difference_section
from tiltmeter.report.networks.emotions import emotion_section
from tiltmeter.report.networks.findings import MOST_SENTENCES, finding_table, findings
from tiltmeter.report.networks.results import Networks
from tiltmeter.report.networks.sensitivity import sensitivity_section
from tiltmeter.report.networks.stereotypes import SCALE, stereotype_section
from tiltmeter.report.networks.streams import stream_section
from tiltmeter.report.networks.structure import structure_section
from tiltmeter.report.networks.valence import SCALE as SLOPE
from tiltmeter.report.networks.valence import valence_section
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import visible
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Table

__all__ = ["LIMITS", "NetworkPart", "network_part", "network_title"]

#: Networks named in a title.
_TITLED = 3

_MEASURED = (
    "A network of free associations has a word at each node; two words are joined where one was "
    "given as an answer to the other, and the edge weighs how often. A prime is activated, "
    "activation spreads along the edges in proportion to their weights for a number of steps, and "
    "what arrives at other words is read: how strongly the prime brings them to mind. Networks of "
    "people’s and of models’ answers are measured alike. Nobody was asked about a group."
)
_APPROACHES = {
    "stereotypes": (
        "Stereotypes",
        "Do primes of a category (woman) activate the words tied to it (gentle) more than primes "
        f"of the other do? {SCALE} Positive: stereotype-consistent.",
    ),
    "valence": ("Valence", f"Are the words that a prime activates pleasant? {SLOPE}"),
    "emotions": (
        "Emotions",
        "Which of two primes activates the words of an emotion more? The same measure as of "
        "stereotypes; positive: more for the prime named first. No direction is stereotypical.",
    ),
}

#: What these numbers cannot show.
LIMITS = (
    "A word with several senses is one node: straight is a line and a person, black a colour and a "
    "group. Activation takes all senses together.",
    "The pairs behind an effect share a few primes and targets, 125 pairs five pairs of primes and "
    "25 targets in the published study. Another list of words could give another effect.",
    "Networks of people rest on the answers of many, most of them English speakers in the United "
    "States and the United Kingdom. They are a point of reference, not a norm, and not everybody.",
    "No person is measured, and no single answer is judged. A lean of a network shows no intent, "
    "belief or inner state, of people or of a model.",
    "Gender is a contrast of two categories here, which leaves out everyone else. The same holds "
    "for every other list of categories.",
    "Associations are not decisions. Whether a lean shows in what a model does must be measured "
    "there.",
    "Ratings of valence and emotion come from people, with biases of their own; words the lexicons "
    "lack do not count.",
    "Effects depend on settings of the spreading that no theory fixes; see the section on "
    "sensitivity where there is one.",
    "A small effect is no all-clear: it says nothing about words and identities not measured.",
)


@dataclass(frozen=True)
class NetworkPart:
    """The part of a report about networks; what is not known is empty."""

    names: tuple[str, ...]
    facts: Plan
    study: Plan
    findings: tuple[tuple[str, str, str], ...]  # identity, network, text
    table: Table | None  # of findings, where there are many
    measured: tuple[str, ...]
    approaches: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    limits: tuple[str, ...]
    setting: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]  # names of the files

    def figures(self) -> Iterator[Figure]:
        """Give every figure, in the order of the page."""
        for section in self.sections:
            yield from section.figures


def network_part(networks: Networks) -> NetworkPart:
    """Make the part of a report about networks.

    Parameters
    ----------
    networks
        A results directory.

    Returns
    -------
    NetworkPart
        A section whose table is absent is left out.
    """
    found = tuple(findings(networks))
    made = (
        structure_section(networks),
        stereotype_section(networks),
        valence_section(networks),
        emotion_section(networks),
        chance_section(networks),
        difference_section(networks),
        stream_section(networks),
        sensitivity_section(networks),
    )
    seen = {
        approach
        for name in ("network_effects", "network_coefficients")
        for approach in networks.tables[name]["approach"]
    }
    return NetworkPart(
        names=networks.names,
        facts=networks.facts,
        study=networks.study,
        findings=found,
        table=finding_table(found) if len(found) > MOST_SENTENCES else None,
        measured=(_MEASURED,),
        approaches=tuple(told for key, told in _APPROACHES.items() if key in seen),
        sections=tuple(section for section in made if section),
        limits=LIMITS,
        setting=_setting(networks.facts),
        tables=tuple(networks.written),
    )


def network_title(names: tuple[str, ...]) -> str:
    """Title a report about networks alone."""
    more = f" and {len(names) - _TITLED} more" if len(names) > _TITLED else ""
    shown = ", ".join(names[:_TITLED]) + more
    told = "Implicit bias in association networks"
    return f"{told}: {shown}" if shown else told


_DEFAULTS = {
    "time_steps": "twice the diameter of each network",
    "norm": "as the study says of each identity",
}
_SAID = {"True": "yes", "False": "no"}


def _setting(facts: Plan) -> tuple[tuple[str, str], ...]:
    """Give the setting of the spreading, and what stands where nothing was set."""
    return tuple(
        (
            visible(key.replace("_", " ")).capitalize(),
            visible(_SAID.get(value, value) or _DEFAULTS.get(key, "not set")),
        )
        for key, value in facts.pairs("setting")
    )
