"""What a report shows of association networks: its sentences, sections, limits and sources.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.numbers import bracketed, interval, number, p_value
from clinometer.pieces.facts import spaced
from clinometer.pieces.prose import ALPHA, first_few, interval_title
from clinometer.pieces.sections import (
    Passage,
    ReportPart,
    Section,
    Source,
    Term,
    findings_or_table,
    version_terms,
)
from clinometer_measures.networks.report.differences import difference_section
from clinometer_measures.networks.report.effects import SCALE, list_effects, stereotype_section
from clinometer_measures.networks.report.emotions import SUPPORTED, emotion_section, emotion_sides
from clinometer_measures.networks.report.paths import path_finding, path_section
from clinometer_measures.networks.report.results import Networks, read_networks
from clinometer_measures.networks.report.robustness import (
    chance_finding,
    chance_section,
    sensitivity_section,
)
from clinometer_measures.networks.report.structure import stream_section, structure_section
from clinometer_measures.networks.report.valence import SCALE as SLOPE
from clinometer_measures.networks.report.valence import valence_section

__all__ = ["findings", "network_part"]

_MEASURED = (
    "In a network of free associations each word is a node. An edge joins two words if one was "
    "given as an answer to the other; its weight is how often. A prime is activated, activation "
    "spreads along the edges in proportion to their weights for a number of steps, and the "
    "activation of other words is read: how strongly the prime brings them to mind. Networks of "
    "people’s and of models’ answers are measured alike. Nobody was asked about a group."
)
_APPROACHES = {
    "stereotypes": Term(
        "Stereotypes",
        "Do primes of a category (woman) activate the words tied to it (gentle) more than primes "
        f"of the other category do? {SCALE} Positive: stereotype-consistent.",
    ),
    "valence": Term("Valence", f"Does a prime activate pleasant or unpleasant words? {SLOPE}"),
    "emotions": Term(
        "Emotions",
        "Which of two primes activates the words of an emotion more? Measured as stereotypes are; "
        "positive: more by the prime named first. No direction is stereotype-consistent.",
    ),
}

#: What these numbers cannot show.
LIMITS = (
    "A word with several senses is one node: straight is a line and a person, black a colour and a "
    "group. Its activation does not tell them apart.",
    "The pairs behind an effect share a few primes and targets: in the published study 125 pairs "
    "come from five pairs of primes and 25 targets. Another list of words could give another "
    "effect.",
    "Networks of people rest on the answers of many people, most of them English speakers in the "
    "United States and the United Kingdom. They are a reference, not a norm, and do not represent "
    "everybody.",
    "No person is measured, and no single answer is judged. An effect in a network shows no "
    "intent, belief or inner state, of people or of a model.",
    "Gender is a contrast of two categories here, which leaves out everyone else. The same holds "
    "for every other list of categories.",
    "Associations are not decisions. Whether they affect what a model decides must be measured "
    "there.",
    "Ratings of valence and emotion come from people and carry their biases. Words that the "
    "lexicons lack are not counted.",
    "Effects depend on settings of the spreading that no theory fixes; see the section on "
    "sensitivity, where there is one.",
    "A small effect does not clear a model: it says nothing about words and identities that were "
    "not measured.",
)


def network_part(directory: Path) -> ReportPart | None:
    """Make the part of a report about networks; None where there is no table about networks.

    `directory`: a results directory; a section whose table is absent is left out.
    """
    networks = read_networks(directory)
    if networks is None:
        return None
    study = networks.study
    title = "Implicit bias in association networks"
    study_title = study.text("title") or study.text("name")
    facts = (("Networks", ", ".join(networks.names)), ("Study", study_title))
    cited = Source(study.text("citation"), study.text("bibtex"))
    return ReportPart(
        key="networks",
        title="Association networks",
        headline=f"{title}: {first_few(networks.names)}" if networks.names else title,
        version=networks.facts.text("clinometer"),
        created=networks.facts.text("created"),
        names=networks.names,
        facts=tuple(Term(name, text) for name, text in facts if text),
        measured=(Passage("Association networks", (_MEASURED,), _approach_terms(networks)),),
        **findings_or_table(
            findings(networks),
            ("Identity", "Network"),
            "Findings per identity and network. Brackets: intervals.",
            "No effect was measured.",
        ),
        sections=_sections(networks),
        limits=LIMITS,
        notes=(Passage("Deviations from the published study", points=study.texts("notes")),),
        sources=(cited,) if cited.citation else (),
        setting=_setting(networks),
    )


def _sections(networks: Networks) -> tuple[Section, ...]:
    """Make the sections whose tables are there, in the order of the page."""
    sections = (
        structure_section(networks),
        stereotype_section(networks),
        valence_section(networks),
        emotion_section(networks),
        chance_section(networks),
        difference_section(networks),
        path_section(networks),
        stream_section(networks),
        sensitivity_section(networks),
    )
    return tuple(section for section in sections if section)


def _approach_terms(networks: Networks) -> tuple[Term, ...]:
    """Explain the approaches by which bias was measured."""
    measured: set[str] = set()
    for name in ("network_effects", "network_coefficients"):
        measured.update(networks.tables[name]["approach"])
    return tuple(term for approach, term in _APPROACHES.items() if approach in measured)


_DEFAULTS = {
    "time_steps": "twice the diameter of each network",
    "norm": "as the study states for each identity",
}
_YES_NO = {"True": "yes", "False": "no"}


def _setting(networks: Networks) -> tuple[Term, ...]:
    """Give files and the setting of the spreading, and the default where nothing was set."""
    facts = networks.facts
    study = networks.study.text("name")
    files = []
    for file in facts.parts("files"):
        name = file.text("file") or "not named"
        sha256 = file.text("sha256") or "not known"
        files.append(Term(file.text("of") or "File", f"{name}, SHA-256 {sha256}", "code"))
    setting = []
    for key, value in facts.pairs("setting"):
        text = _YES_NO.get(value, value) or _DEFAULTS.get(key, "not set")
        setting.append(Term(spaced(key), text))
    study_terms = [Term("Study", study, "code")] if study else []
    version = version_terms(facts.text("clinometer"), facts.text("created"))
    return (*files, *study_terms, *setting, *version)


def findings(networks: Networks) -> list[tuple[str, str, str]]:
    """Say what was found.

    Result: label of the identity, network, text; the networks of an identity one after the other.
    """
    rows_of_findings = []
    for table, approach, write_sentences in (
        ("network_effects", "stereotypes", _stereotypes),
        ("network_coefficients", "valence", _valence),
        ("network_effects", "emotions", _emotions),
    ):
        chance_tables = networks.by_identity("network_chance", approach)
        chance = {part["identity"][0]: part for part in chance_tables}
        for part in networks.by_identity(table, approach):
            identity = part["identity"][0]
            rewired = chance.get(identity, networks.tables["network_chance"].clear())
            for rows in part.partition_by("network", maintain_order=True):
                network = rows["network"][0]
                sentences = [write_sentences(rows), chance_finding(rewired.filter(network=network))]
                if approach == "stereotypes":
                    paths = networks.tables["network_path_lengths"]
                    sentences.append(path_finding(paths.filter(identity=identity, network=network)))
                text = " ".join(filter(None, sentences))
                rows_of_findings.append((rows["label"][0], network, text))
    return rows_of_findings


def _stereotypes(part: pl.DataFrame) -> str:
    """Say which primes activate each set of targets more, and whether that is shown."""
    title = interval_title(part)
    return " ".join(_stereotype(row, title) for row in part.iter_rows(named=True))


def _stereotype(row: Mapping[str, Any], title: str) -> str:
    targets = f"{row['targets'][:1].upper()}{row['targets'][1:]} targets"
    value, low, high = (row[key] for key in ("estimate", "ci_low", "ci_high"))
    if value is None:
        return f"{targets}: no effect could be measured; see the notes."
    if value < 0 and None not in (low, high):
        low, high = -high, -low  # of the size, which is given without its sign
    side = f"{row['first'] if value > 0 else row['second']} primes" if value else "neither"
    interval_text = "" if None in (low, high) else f"{title} {interval(low, high)}; "
    comparison = _swap_verdict if row["p_claim"] is None else _placebo_verdict
    return f"{targets}: {number(abs(value))} towards {side} ({interval_text}{comparison(row)}."


def _swap_verdict(row: Mapping[str, Any]) -> str:
    """Say the p of swapped primes, and close the bracket with the verdict it gives."""
    low, high, p = (row[key] for key in ("ci_low", "ci_high", "p_permutation"))
    if None not in (low, high) and low <= 0 <= high:
        verdict = "not shown, the interval includes 0"
    elif p is None or p > ALPHA:
        verdict = "not shown, p is above .05" if p else "not tested by swapping primes"
    else:
        verdict = _consistency(row, row["turned"])
    return f"p (primes swapped) {p_value(p)}): {verdict}"


def _placebo_verdict(row: Mapping[str, Any]) -> str:
    """Say what the placebos give, and close the bracket with the verdict on the difference."""
    # Turned so that the effect itself is positive, as its size is given.
    sign = -1 if row["turned"] < 0 else 1
    texts = []
    not_beyond = []
    for what, ending in (("primes", ""), ("targets", "_targets")):
        low, high = sorted(sign * row[f"turned_placebo_{end}{ending}"] for end in ("low", "high"))
        mean = sign * row[f"turned_placebo_mean{ending}"]
        p = row[f"p_holm_placebo{ending}"]
        texts.append(f"arbitrary {what} {bracketed(mean, low, high)}, p (Holm) {p_value(p)}")
        if p > ALPHA:
            not_beyond.append(f"arbitrary {what}")
    if not_beyond:
        verdict = f"not shown to be beyond {' and '.join(not_beyond)}"
    else:
        verdict = _consistency(row, row["turned"] - row["turned_placebo_mean"])
    return f"{'; '.join(texts)}): {verdict}"


def _consistency(row: Mapping[str, Any], distance: float) -> str:
    """Say on which side a distance lies, positive as stereotype-consistent."""
    if not row["direction"]:
        return "shown"
    return "stereotype-consistent" if distance > 0 else "against the stereotype"


def _valence(part: pl.DataFrame) -> str:
    """Say whether the primes differ, and which stand out."""
    joint = part.filter(pl.col("prime").is_null()).drop_nulls("estimate")
    slopes = part.drop_nulls(["prime", "estimate"]).sort("estimate", descending=True)
    text = "There is no joint test of the primes."
    differ = True
    if joint.height:
        row = joint.row(0, named=True)
        verdict = _joint_verdict if row["p_claim"] is None else _joint_placebo_verdict
        text, differ = verdict(row)
    if differ and slopes.height > 1:
        highest, lowest = (_slope_text(slopes.row(index, named=True)) for index in (0, -1))
        text += f" Most positive: {highest}; most negative: {lowest} ({interval_title(part)})."
    supported_primes = slopes.filter(pl.col("p_claim") <= ALPHA)["prime"]
    if len(supported_primes):
        text += f" Slopes beyond arbitrary primes: {', '.join(supported_primes)}."
    return text


def _slope_text(row: Mapping[str, Any]) -> str:
    return f"{row['prime']} {bracketed(row['estimate'], row['ci_low'], row['ci_high'])}"


def _joint_verdict(row: Mapping[str, Any]) -> tuple[str, bool]:
    """Say what the tests of equal slopes give, and whether the primes differ by one of them."""
    p_values = [p for p in (row["p"], row["p_robust"]) if p is not None]
    differ = bool(p_values) and min(p_values) <= ALPHA
    if not differ:
        verdict = "No difference in valence is shown between the primes"
    elif max(p_values) <= ALPHA:
        verdict = "The primes differ in valence"
    else:
        verdict = "The two tests disagree on whether the primes differ in valence"
    size = f"√(χ² / n) {number(row['estimate'])}"
    return f"{verdict} ({size}; {_tests(row)}).", differ


def _joint_placebo_verdict(row: Mapping[str, Any]) -> tuple[str, bool]:
    """Say whether the primes differ by more than arbitrary primes do."""
    value = row["estimate"]
    p = row["p_claim"]
    beyond = p <= ALPHA and value > row["turned_placebo_mean"]
    verdict = "The primes are not shown to differ in valence by more than arbitrary primes do"
    if beyond:
        verdict = "The primes differ in valence by more than arbitrary primes do"
    mean, low, high = (row[f"turned_placebo_{end}"] for end in ("mean", "low", "high"))
    arbitrary = bracketed(mean, low, high)
    placebo_text = f"arbitrary primes {arbitrary}, p {p_value(p)}"
    size = f"√(χ² / n) {number(value)}"
    return f"{verdict} ({size}; {placebo_text}; equal slopes: {_tests(row)}).", beyond


def _tests(row: Mapping[str, Any]) -> str:
    """Write the p of both tests of equal slopes."""
    return f"p {p_value(row['p'])} as published, {p_value(row['p_robust'])} robust"


def _emotions(part: pl.DataFrame) -> str:
    """Say which emotions each prime activates more."""
    measured = part.drop_nulls("estimate")
    supported = part.filter(SUPPORTED)
    if measured.is_empty():
        return "No effect could be measured; see the notes."
    text = list_effects(part, emotion_sides(part))
    has_placebos = part["p_claim"].count() > 0
    criterion = f"{interval_title(part)} and p (Holm)"
    if has_placebos:
        criterion = "distance from the placebos"
    text = f"{text[0].upper()}{text[1:]} (by {criterion})."
    # All of one sign looks like a finding, and may be none.
    if measured.height == supported.height > 1 and supported["estimate"].sign().n_unique() == 1:
        prime = part["first" if supported["estimate"][0] > 0 else "second"][0]
        text += f" All emotions, pleasant or not, lean towards {prime}; the norm can cause this."
    return text
