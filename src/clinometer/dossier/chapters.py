"""The chapters of a dossier, from its content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinometer.numbers import bracketed, percent
from clinometer.pieces.prose import full_stop
from clinometer.pieces.sections import Exchange, Quote, Term
from clinometer.pieces.tables import ReportTable, TableCell
from clinometer.results.controls import KINDS
from clinometer.sharing.law_page import LAW_TABLE, law_rows, law_terms

#: Means that a dossier shows; its JSON has all.
MOST_MEANS = 30


@dataclass(frozen=True)
class Chapter:
    """A chapter: text, terms, points, tables, then prompts with their answers."""

    key: str
    title: str
    text: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    points: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    exchanges: tuple[Exchange, ...] = ()


def chapters(content: Mapping[str, Any]) -> list[Chapter]:
    """Return the chapters of a dossier, in the order in which a reader asks.

    `content`: of `content.dossier_content`.
    """
    listed = [
        _profile_chapter(content),
        findings_chapter(content),
        _policy_chapter(content),
        _controls_chapter(content),
        law_chapter(content),
        _not_tested_chapter(content),
        _samples_chapter(content),
        _run_chapter(content),
        _evidence_chapter(content),
        *_checklist_chapters(content),
    ]
    return [chapter for chapter in listed if chapter is not None]


def _profile_chapter(content: Mapping[str, Any]) -> Chapter:
    profile = content["profile"]
    system, following = profile["system"], profile["next_test"]
    groups = [
        [group["name"], ", ".join(group["measured_by"]) or "not measured", group["not_measured"]]
        for group in profile["groups"]
    ]
    limits = [
        [limit["rule"], limit["measure"], f"{limit['at_most']:g}", limit["reason"]]
        for limit in content["policy"]["limits"]
    ]
    return Chapter(
        "profile",
        "Bias profile",
        terms=(
            Term("System", f"{system['name']}, version {system['version']}"),
            Term("Model", system["model"], "code"),
            Term("Use", profile["use"]),
            Term("Hazard", profile["hazard"]),
            Term("Owner", profile["owner"]),
            Term("Response to findings", profile["response"]),
            Term("Next test", f"{following['date']}, or earlier: {following['trigger']}"),
            Term("Retention", profile["retention"]),
        ),
        tables=(
            _texts_table("Affected groups.", ("Group", "Measured by", "Why not"), groups),
            _texts_table(
                "Limits, as distances from neutral in the unit of the score, and their reasons.",
                ("Limit", "Measure", "At most", "Reason"),
                limits,
            ),
        ),
    )


def findings_chapter(content: Mapping[str, Any], most: int = MOST_MEANS) -> Chapter:
    """Return what was found: validity first, then leans, marks, and means, the largest first."""
    findings = content["findings"]
    tables = []
    if findings["marks"]:
        marks = findings["marks"]
        tables.append(_texts_table(marks["caption"], marks["columns"], marks["rows"]))
    told = [mean for mean in findings["means"] if mean["valid"]]
    if most:
        means = [
            [
                mean["subject"],
                ", ".join(filter(None, (mean["instrument"], mean["about"]["dimension"])))
                + (f" ({mean['run_name']})" if mean["run_name"] else ""),
                bracketed(mean["mean"], mean["low"], mean["high"]),
                mean["lean"],
            ]
            for mean in told[:most]
        ]
        rest = len(told) - len(means)
        caption = "Means of single stereotypes, those that lean first."
        caption += f" {rest} more are in dossier.json." if rest else ""
        heads = ("Stereotype", "Measure", "Mean and interval", "Verdict")
        tables.append(_texts_table(caption, heads, means))
    keys = ("validity", "in_people", "over_all", "remarks", "further")
    text = [full_stop(sentence) for key in keys for sentence in findings[key]]
    return Chapter("findings", "Findings", tuple(text), tables=tuple(tables))


def _policy_chapter(content: Mapping[str, Any]) -> Chapter:
    policy = content["policy"]
    checks = [[check["outcome"], check["name"], check["reason"]] for check in policy["checks"]]
    declared = f", on {policy['declared'][:10]}" if policy["declared"] else ""
    heads = ("Outcome", "Check", "What was found")
    return Chapter(
        "policy",
        "Policy and gate",
        (
            "Each limit is judged on intervals. A pass says that what was measured lies within "
            "the limits, and not that the model is free of bias.",
        ),
        (
            Term("Policy", policy["name"]),
            Term("Outcome", policy["outcome"]),
            Term("Declared", f"{policy['declaration']}{declared}"),
            *((Term("Baseline", policy["baseline"]),) if policy["baseline"] else ()),
        ),
        tables=(_texts_table("Every check of the gate.", heads, checks),),
    )


def _controls_chapter(content: Mapping[str, Any]) -> Chapter:
    rows = [
        [
            row["instrument"],
            row["study"],
            f"{row['model']}, {row['mode']}",
            ", ".join(row["controls"]) or "none asked",
            percent(row["scored"]),
        ]
        for row in content["controls"]
    ]
    kinds = " and ".join(KINDS)
    return Chapter(
        "controls",
        "Controls and sensitivity",
        (
            f"Controls are {kinds}: a lean that is known, and one that cannot be. Where they do "
            "not pass, an instrument is not shown to work on this model.",
            *map(full_stop, content["sensitivity"]),
        ),
        tables=(
            _texts_table(
                "Controls, and the share of answers that were scored.",
                ("Instrument", "Study", "Model and mode", "Controls", "Scored"),
                rows,
            ),
        ),
    )


def law_chapter(content: Mapping[str, Any]) -> Chapter | None:
    """Return the tables of Local Law 144; None where no instrument selects candidates."""
    law = content["law_tables"]
    if law is None:
        return None
    return Chapter(
        "law",
        "Selection rates and impact ratios",
        tuple(law["not_evidence_for"]),
        law_terms(law),
        tables=tuple(LAW_TABLE.render(rows, grouping=name) for name, rows in law_rows(law).items()),
    )


def _not_tested_chapter(content: Mapping[str, Any]) -> Chapter:
    points = (*content["not_tested"], *content["limits"])
    return Chapter("not-tested", "What was not tested", points=points)


def _samples_chapter(content: Mapping[str, Any]) -> Chapter:
    exchanges = tuple(
        Exchange(
            sample["about"],
            tuple(Quote.from_text(quote["label"], quote["text"]) for quote in sample["quotes"]),
            tuple(sample["readings"]),
            sample["note"],
        )
        for sample in content["samples"]
    )
    text = (
        "Words of the model, shown as they came and not acted on. The words of prompts are stimuli "
        "of a study, and no statements of this tool."
    )
    return Chapter("samples", "Sample answers", (text,), exchanges=exchanges)


def _run_chapter(content: Mapping[str, Any]) -> Chapter:
    run, departures = content["run"], content["deviations"]
    terms = [
        Term("Model", ", ".join(run["models"])),
        *(Term("Also asked in this run", name) for name in run["other_models"]),
        Term("Asked on", run["created"]),
        *(Term(f"Answered, {model}", _answered(dates)) for model, dates in run["answered"].items()),
        Term("Answers", f"{run['answers']:,}" if run["answers"] else "not counted"),
        Term("Studies", ", ".join(run["studies"])),
        Term("Modes", ", ".join(run["modes"])),
        Term("Seed", str(run["seed"])),
        *(Term(f"Version, {name}", str(text)) for name, text in run["versions"].items()),
        Term("Deviations from the plan", str(departures["count"])),
    ]
    rows = [
        [row["kind"], row["model"], f"{row['instrument']}, {row['mode']}", f"{row['trials']:,}"]
        for row in departures["rows"]
    ]
    heads = ("Deviation", "Model", "Instrument and mode", "Trials")
    tables = (_texts_table("Trials without an answer.", heads, rows),) if rows else ()
    return Chapter("run", "Run and deviations", terms=tuple(terms), tables=tables)


def _answered(dates: Mapping[str, Any]) -> str:
    """Say from when to when a model answered, and under which names."""
    served = f"; served as {', '.join(dates['served_as'])}" if dates["served_as"] else ""
    if not dates["first"]:
        return f"not known{served}"
    return f"{dates['first'][:19]} to {dates['last'][:19]}{served}"


def _evidence_chapter(content: Mapping[str, Any]) -> Chapter:
    verified, signature = content["verified"], content["signature"]
    return Chapter(
        "evidence",
        "Evidence and signature",
        (
            "The numbers were made again from the answers before this was written, and are the "
            "same. That the model gave these answers rests on who made the run.",
        ),
        (
            Term("Seal", verified["seal"] or "none: made from a results directory", "code"),
            Term("Signature", verified["signature"] if signature else "none: nobody signed it"),
            Term("Made again", ", ".join(verified["recomputed"])),
            Term("Known by hash alone", ", ".join(verified["by_hash_only"]) or "nothing"),
        ),
    )


def _checklist_chapters(content: Mapping[str, Any]) -> Iterator[Chapter]:
    """Yield how complete the dossier is, then the clauses of laws and standards."""
    for key, title in (("completeness", "Completeness"), ("clauses", "Laws and standards")):
        lists = content[key]
        yield Chapter(
            key,
            title,
            (content["claims"],) if key == "clauses" else (),
            points=tuple(map(_count, lists)),
            tables=tuple(map(_checklist_table, lists)),
        )


def _count(checklist: Mapping[str, Any]) -> str:
    """Say how many entries of a checklist are answered."""
    applicable, total = checklist["applicable"], checklist["entries"]
    rest = "" if applicable == total else f" ({total - applicable} of {total} not applicable)"
    return f"{checklist['title']}: {checklist['answered']} of {applicable} answered{rest}"


def _checklist_table(checklist: Mapping[str, Any]) -> ReportTable:
    rows = [
        [row["id"].replace("_", " "), row["text"], row["status"], row["reason"]]
        for row in checklist["rows"]
    ]
    caption = (
        f"{checklist['title']}. Source: {checklist['source']}; retrieved {checklist['retrieved']}. "
        f"Wording: {checklist['certainty']}."
    )
    return _texts_table(caption, ("Entry", "Asks for", "Status", "By what, or why"), rows)


def _texts_table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str | None]]
) -> ReportTable:
    """Make a table of texts whose first column heads the rows."""
    cells = (
        tuple(TableCell(text or "", head=place == 0) for place, text in enumerate(row))
        for row in rows
    )
    return ReportTable(caption, tuple(map(TableCell, heads)), tuple(cells))
