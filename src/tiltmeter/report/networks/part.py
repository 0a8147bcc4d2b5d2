"""What a report shows of association networks: its sentences, sections, limits and sources.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488.
"""

from __future__ import annotations

from pathlib import Path

from tiltmeter.report.networks.chance import chance_section
from tiltmeter.report.networks.differences import difference_section
from tiltmeter.report.networks.emotions import emotion_section
from tiltmeter.report.networks.findings import findings
from tiltmeter.report.networks.results import Networks, read_networks
from tiltmeter.report.networks.sensitivity import sensitivity_section
from tiltmeter.report.networks.stereotypes import SCALE, stereotype_section
from tiltmeter.report.networks.structure import stream_section, structure_section
from tiltmeter.report.networks.valence import SCALE as SLOPE
from tiltmeter.report.networks.valence import valence_section
from tiltmeter.report.prose import first_few
from tiltmeter.report.sections import Part, Passage, Source, Term, findings_or_table, made_with

__all__ = ["LIMITS", "network_part"]

_MEASURED = (
    "A network of free associations has a word at each node; two words are joined where one was "
    "given as an answer to the other, and the edge weighs how often. A prime is activated, "
    "activation spreads along the edges in proportion to their weights for a number of steps, and "
    "what arrives at other words is read: how strongly the prime brings them to mind. Networks of "
    "people’s and of models’ answers are measured alike. Nobody was asked about a group."
)
_APPROACHES = {
    "stereotypes": Term(
        "Stereotypes",
        "Do primes of a category (woman) activate the words tied to it (gentle) more than primes "
        f"of the other do? {SCALE} Positive: stereotype-consistent.",
    ),
    "valence": Term("Valence", f"Are the words that a prime activates pleasant? {SLOPE}"),
    "emotions": Term(
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


def network_part(directory: Path) -> Part | None:
    """Make the part of a report about networks; None where there is no table about networks.

    `directory`: a results directory; a section whose table is absent is left out.
    """
    networks = read_networks(directory)
    if networks is None:
        return None
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
    study, title = networks.study, "Implicit bias in association networks"
    approaches = tuple(term for key, term in _APPROACHES.items() if key in seen)
    named = study.text("title") or study.text("name")
    facts = (("Networks", ", ".join(networks.names)), ("Study", named))
    return Part(
        key="networks",
        title="Association networks",
        headline=f"{title}: {first_few(networks.names)}" if networks.names else title,
        plan=networks.facts,
        names=networks.names,
        facts=tuple(Term(name, text) for name, text in facts if text),
        measured=(Passage("Association networks", (_MEASURED,), approaches),),
        **findings_or_table(
            findings(networks),
            ("Identity", "Network"),
            "What was found, per identity and network. Effects have their interval in brackets.",
            "There are no effects in these results.",
        ),
        sections=tuple(section for section in made if section),
        limits=LIMITS,
        notes=(Passage("Where this differs from the study", points=study.texts("notes")),),
        sources=(Source(study.text("citation"), study.text("bibtex")),)
        * bool(study.text("citation")),
        setting=_setting(networks),
    )


_DEFAULTS = {
    "time_steps": "twice the diameter of each network",
    "norm": "as the study says of each identity",
}
_YES_NO = {"True": "yes", "False": "no"}


def _setting(networks: Networks) -> tuple[Term, ...]:
    """Give files and the setting of the spreading, and what stands where nothing was set."""
    facts, study = networks.facts, networks.study.text("name")
    terms = [
        Term(
            one.text("of") or "File",
            f"{one.text('file') or 'not named'}, SHA-256 {one.text('sha256') or 'not known'}",
            "code",
        )
        for one in facts.parts("files")
    ]
    terms += [Term("Study", study, "code")] if study else []
    terms += [
        Term(
            key.replace("_", " ").capitalize(),
            _YES_NO.get(value, value) or _DEFAULTS.get(key, "not set"),
        )
        for key, value in facts.pairs("setting")
    ]
    return (*terms, *made_with(facts))
