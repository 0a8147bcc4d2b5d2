"""What a report shows of association networks: its sentences, sections, limits and sources.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.families.networks.report.differences import difference_section
from clinometer.families.networks.report.effects import SCALE, listed, stereotype_section
from clinometer.families.networks.report.emotions import SHOWN, emotion_section, emotion_sides
from clinometer.families.networks.report.paths import path_finding, path_section
from clinometer.families.networks.report.results import Networks, read_networks
from clinometer.families.networks.report.robustness import (
    beyond_chance,
    chance_section,
    sensitivity_section,
)
from clinometer.families.networks.report.structure import stream_section, structure_section
from clinometer.families.networks.report.valence import SCALE as SLOPE
from clinometer.families.networks.report.valence import valence_section
from clinometer.report.plan import spaced
from clinometer.report.prose import (
    ALPHA,
    bracketed,
    first_few,
    interval,
    interval_title,
    number,
    p_value,
)
from clinometer.report.sections import Part, Passage, Source, Term, findings_or_table, made_with

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


def network_part(directory: Path) -> Part | None:
    """Make the part of a report about networks; None where there is no table about networks.

    `directory`: a results directory; a section whose table is absent is left out.
    """
    networks = read_networks(directory)
    if networks is None:
        return None
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
    study, title = networks.study, "Implicit bias in association networks"
    tables = (networks.tables[name] for name in ("network_effects", "network_coefficients"))
    measured = {approach for table in tables for approach in table["approach"]}
    approaches = tuple(term for key, term in _APPROACHES.items() if key in measured)
    named = study.text("title") or study.text("name")
    facts = (("Networks", ", ".join(networks.names)), ("Study", named))
    cited = Source(study.text("citation"), study.text("bibtex"))
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
            "Findings per identity and network. Brackets: intervals.",
            "No effect was measured.",
        ),
        sections=tuple(section for section in sections if section),
        limits=LIMITS,
        notes=(Passage("Deviations from the published study", points=study.texts("notes")),),
        sources=(cited,) if cited.citation else (),
        setting=_setting(networks),
    )


_DEFAULTS = {
    "time_steps": "twice the diameter of each network",
    "norm": "as the study states for each identity",
}
_YES_NO = {"True": "yes", "False": "no"}


def _setting(networks: Networks) -> tuple[Term, ...]:
    """Give files and the setting of the spreading, and the default where nothing was set."""
    facts, study = networks.facts, networks.study.text("name")
    files = [
        Term(
            one.text("of") or "File",
            f"{one.text('file') or 'not named'}, SHA-256 {one.text('sha256') or 'not known'}",
            "code",
        )
        for one in facts.parts("files")
    ]
    setting = [
        Term(spaced(key), _YES_NO.get(value, value) or _DEFAULTS.get(key, "not set"))
        for key, value in facts.pairs("setting")
    ]
    named = [Term("Study", study, "code")] if study else []
    return (*files, *named, *setting, *made_with(facts))


def findings(networks: Networks) -> list[tuple[str, str, str]]:
    """Say what was found.

    Result: label of the identity, network, text; the networks of an identity one after the other.
    """
    rows = []
    for table, approach, sentences in (
        ("network_effects", "stereotypes", _stereotypes),
        ("network_coefficients", "valence", _valence),
        ("network_effects", "emotions", _emotions),
    ):
        chance = {part["identity"][0]: part for part in networks.of("network_chance", approach)}
        for part in networks.of(table, approach):
            rewired = chance.get(part["identity"][0], networks.tables["network_chance"].clear())
            for mine in part.partition_by("network", maintain_order=True):
                network = mine["network"][0]
                of = {"identity": part["identity"][0], "network": network}
                paths = networks.tables["network_path_lengths"].filter(**of)
                shorter = path_finding(paths) if approach == "stereotypes" else ""
                texts = (sentences(mine), beyond_chance(rewired.filter(network=network)), shorter)
                rows.append((mine["label"][0], network, " ".join(filter(None, texts))))
    return rows


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
        low, high = -high, -low
    side = f"{row['first'] if value > 0 else row['second']} primes" if value else "neither"
    ends = "" if None in (low, high) else f"{title} {interval(low, high)}; "
    compared = _beside_swapped if row["p_claim"] is None else _beside_placebos
    return f"{targets}: {number(abs(value))} towards {side} ({ends}{compared(row)}."


def _beside_swapped(row: Mapping[str, Any]) -> str:
    """Say the p of swapped primes, and close the bracket with the verdict it gives."""
    low, high, p = (row[key] for key in ("ci_low", "ci_high", "p_permutation"))
    if None not in (low, high) and low <= 0 <= high:
        verdict = "not shown, the interval includes 0"
    elif p is None or p > ALPHA:
        verdict = "not shown, p is above .05" if p else "not tested by swapping primes"
    else:
        verdict = _consistency(row, row["turned"])
    return f"p (primes swapped) {p_value(p)}): {verdict}"


def _beside_placebos(row: Mapping[str, Any]) -> str:
    """Say what the placebos give, and close the bracket with the verdict on the difference."""
    sign, texts, within = -1 if row["turned"] < 0 else 1, [], []
    for what, ending in (("primes", ""), ("targets", "_targets")):
        ends = sorted(sign * row[f"turned_placebo_{end}{ending}"] for end in ("low", "high"))
        mean, p = sign * row[f"turned_placebo_mean{ending}"], row[f"p_holm_placebo{ending}"]
        texts.append(f"arbitrary {what} {bracketed(mean, *ends)}, p (Holm) {p_value(p)}")
        within += [f"arbitrary {what}"] if p > ALPHA else []
    if within:
        verdict = f"not shown to be beyond {' and '.join(within)}"
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
    text, differ = "There is no joint test of the primes.", True
    if joint.height:
        row = joint.row(0, named=True)
        text, differ = (_jointly if row["p_claim"] is None else _beside_primes)(row)
    if differ and slopes.height > 1:
        rows = slopes.select("prime", "estimate", "ci_low", "ci_high").rows()
        high, low = (f"{prime} {bracketed(*ends)}" for prime, *ends in (rows[0], rows[-1]))
        text += f" Most positive: {high}; most negative: {low} ({interval_title(part)})."
    alone = slopes.filter(pl.col("p_claim") <= ALPHA)["prime"]
    return text + (f" Slopes beyond arbitrary primes: {', '.join(alone)}." if len(alone) else "")


def _jointly(row: Mapping[str, Any]) -> tuple[str, bool]:
    """Say what the tests of equal slopes give, and whether the primes differ by one of them."""
    p, robust = row["p"], row["p_robust"]
    ps = [one for one in (p, robust) if one is not None]
    differ = bool(ps) and min(ps) <= ALPHA
    verdict = (
        "No difference in valence is shown between the primes"
        if not differ
        else "The primes differ in valence"
        if max(ps) <= ALPHA
        else "The two tests disagree on whether the primes differ in valence"
    )
    size = f"√(χ² / n) {number(row['estimate'])}"
    return f"{verdict} ({size}; {_tests(row)}).", differ


def _beside_primes(row: Mapping[str, Any]) -> tuple[str, bool]:
    """Say whether the primes differ by more than arbitrary primes do."""
    value, p = row["estimate"], row["p_claim"]
    beyond = p <= ALPHA and value > row["turned_placebo_mean"]
    verdict = (
        "The primes differ in valence by more than arbitrary primes do"
        if beyond
        else "The primes are not shown to differ in valence by more than arbitrary primes do"
    )
    arbitrary = bracketed(*(row[f"turned_placebo_{end}"] for end in ("mean", "low", "high")))
    placed = f"arbitrary primes {arbitrary}, p {p_value(p)}"
    return f"{verdict} (√(χ² / n) {number(value)}; {placed}; equal slopes: {_tests(row)}).", beyond


def _tests(row: Mapping[str, Any]) -> str:
    """Write the p of both tests of equal slopes."""
    return f"p {p_value(row['p'])} as published, {p_value(row['p_robust'])} robust"


def _emotions(part: pl.DataFrame) -> str:
    """Say which emotions each prime activates more."""
    known, shown = part.drop_nulls("estimate"), part.filter(SHOWN)
    if known.is_empty():
        return "No effect could be measured; see the notes."
    text = listed(part, emotion_sides(part))
    placed = part["p_claim"].count() > 0
    by = "distance from the placebos" if placed else f"{interval_title(part)} and p (Holm)"
    text = f"{text[0].upper()}{text[1:]} (by {by})."
    if known.height == shown.height > 1 and shown["estimate"].sign().n_unique() == 1:
        prime = part["first" if shown["estimate"][0] > 0 else "second"][0]
        text += f" All emotions, pleasant or not, lean towards {prime}; the norm can cause this."
    return text
