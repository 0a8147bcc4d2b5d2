"""What a report shows of association networks: its sentences, sections, limits and sources.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.report.networks.chance import beyond_chance, chance_section
from tiltmeter.report.networks.differences import difference_section
from tiltmeter.report.networks.emotions import away, emotion_section, in_plutchiks_order
from tiltmeter.report.networks.results import ALPHA, Networks, read_networks
from tiltmeter.report.networks.sensitivity import sensitivity_section
from tiltmeter.report.networks.stereotypes import SCALE, stereotype_section, turned
from tiltmeter.report.networks.structure import stream_section, structure_section
from tiltmeter.report.networks.valence import SCALE as SLOPE
from tiltmeter.report.networks.valence import valence_section
from tiltmeter.report.prose import first_few, interval, interval_title, number, p_value
from tiltmeter.report.sections import Part, Passage, Source, Term, findings_or_table, made_with

__all__ = ["LIMITS", "findings", "network_part"]

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


def findings(networks: Networks) -> list[tuple[str, str, str]]:
    """Say what was found.

    Result: label of the identity, network, text; the networks of an identity one after the other.
    """
    rows = []
    for table, approach, say in (
        ("network_effects", "stereotypes", _stereotypes),
        ("network_coefficients", "valence", _valence),
        ("network_effects", "emotions", _emotions),
    ):
        for identity, part in networks.of(table, approach):
            label, title = networks.label(identity), interval_title(part)
            for (network,), mine in part.group_by("network", maintain_order=True):
                sentences = [
                    say(mine, title),
                    beyond_chance(networks, identity, approach, str(network)),
                ]
                rows.append((label, str(network), " ".join(filter(None, sentences))))
    return rows


def _bracketed(value: float, ends: tuple[float | None, float | None]) -> str:
    known = None not in ends
    return f"{number(value)} [{interval(*ends)}]" if known else number(value)


def _stereotypes(part: pl.DataFrame, title: str) -> str:
    """Say which primes activate each set of targets more, and how sure that is."""
    rows = list(part.iter_rows(named=True))
    known = [row for row in rows if row["estimate"] is not None]
    if not known:
        return "No effect could be measured; see the notes in the table."
    leans = ", ".join(_towards(row) for row in known)
    parts = [f"{leans[0].upper()}{leans[1:]} ({title})."]
    wide = [row["targets"] for row in known if _includes_zero(row)]
    leaning = [row for row in known if row["targets"] not in wide]
    parts += [verdict] if (verdict := _consistent(leaning)) else []
    if wide:
        parts.append(f"No lean is shown for {_and(wide)} targets: the interval includes 0.")
    chance = [row for row in known if (row["p_permutation"] or 0) > ALPHA]
    if chance:
        ps = _and(
            [f"{p_value(row['p_permutation'])} for {row['targets']} targets" for row in chance]
        )
        parts.append(
            f"With the primes swapped p is {ps}, above .05: the lean may rest on a few of the "
            "primes."
        )
    untested = [row["targets"] for row in known if row["p_permutation"] is None]
    parts += (
        [f"There is no test by swapping primes of {_and(untested)} targets."] if untested else []
    )
    if len(known) < len(rows):
        absent = [row["targets"] for row in rows if row["estimate"] is None]
        parts.append(f"No effect of {_and(absent)} targets.")
    return " ".join(parts)


def _towards(row: Mapping[str, Any]) -> str:
    value, ends = row["estimate"], (row["ci_low"], row["ci_high"])
    if value == 0:
        return f"{row['targets']} targets {_bracketed(value, ends)} towards neither"
    if value < 0:
        ends = (None, None) if None in ends else (-ends[1], -ends[0])
    side = row["first"] if value > 0 else row["second"]
    return f"{row['targets']} targets {_bracketed(abs(value), ends)} towards {side} primes"


def _consistent(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say which sets lean the stereotypical way; empty where no way is stated."""
    stated = [row for row in rows if row["direction"]]
    if not stated:
        return ""
    with_it = [row["targets"] for row in stated if (turned(row)[0] or 0) > 0]
    against = [row["targets"] for row in stated if (turned(row)[0] or 0) < 0]
    if not against and len(with_it) == len(stated):
        return f"{_all(len(stated))} stereotype-consistent."
    if not with_it and len(against) == len(stated):
        return f"{_all(len(stated))} against the stereotype."
    consistent = f"{_and(with_it)} targets stereotype-consistent" if with_it else ""
    other = f"{_and(against)} targets against the stereotype" if against else ""
    sentence = ", ".join(filter(None, (consistent, other)))
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _all(count: int) -> str:
    return {1: "The lean is", 2: "Both leans are"}.get(count, "All leans are")


def _includes_zero(row: Mapping[str, Any]) -> bool:
    _, low, high = turned(row)
    return low is not None and high is not None and low <= 0 <= high


def _valence(part: pl.DataFrame, title: str) -> str:
    """Say whether the primes differ, and which stand out."""
    joint = next(part.filter(pl.col("prime").is_null()).iter_rows(named=True), None)
    slopes = part.drop_nulls(["prime", "estimate"]).sort("estimate", descending=True)
    parts, shown = [], True
    if joint is None or joint["estimate"] is None:
        parts.append("There is no joint test of the primes.")
    else:
        ps = [p for p in (joint["p"], joint["p_robust"]) if p is not None]
        shown = bool(ps) and min(ps) <= ALPHA
        differ = (
            "No difference in valence is shown"
            if not shown
            else "The primes differ in valence"
            if max(ps) <= ALPHA
            else "The two tests disagree on whether the primes differ in valence"
        )
        parts.append(
            f"{differ} (√(χ² / n) {number(joint['estimate'])}; p {p_value(joint['p'])} as "
            f"published, {p_value(joint['p_robust'])} by the sandwich)."
        )
    if shown and slopes.height > 1:
        high, low = slopes.row(0, named=True), slopes.row(-1, named=True)
        ends = [_bracketed(r["estimate"], (r["ci_low"], r["ci_high"])) for r in (high, low)]
        parts.append(
            f"Most positive {high['prime']} {ends[0]}, most negative {low['prime']} {ends[1]} "
            f"({title})."
        )
    return " ".join(parts)


def _emotions(part: pl.DataFrame, title: str) -> str:
    """Say which emotions are felt more for which prime."""
    rows = list(in_plutchiks_order(part).drop_nulls("estimate").iter_rows(named=True))
    if not rows:
        return "No effect could be measured; see the notes in the table."
    sides = [
        (side, [row for row in rows if away(row) and (row["estimate"] > 0) == positive])
        for side, positive in ((rows[0]["first"], True), (rows[0]["second"], False))
    ]
    clauses = [
        f"more for {side}: "
        + ", ".join(f"{row['targets']} {number(abs(row['estimate']))}" for row in felt)
        for side, felt in sides
        if felt
    ]
    unsure = [row["targets"] for row in rows if not away(row)]
    clauses += [f"not shown to differ: {', '.join(unsure)}"] if unsure else []
    text = "; ".join(clauses)
    one = next((side for side, felt in sides if len(felt) == len(rows) > 1), "")
    odd = (
        f" All emotions, whatever their kind, go to {one}, which a norm can bring about."
        if one
        else ""
    )
    return f"{text[0].upper()}{text[1:]} (by {title} and p (Holm)).{odd}"


def _and(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
