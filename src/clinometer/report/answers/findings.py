"""What was found, in sentences: how far a run came, validity, verdicts, and what changed.

Where there are many models and modes, a table of verdicts takes the place of sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clinometer.numbers import interval, number, percent
from clinometer.pieces.findings import FACTORS, Finding, find
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import (
    ALPHA,
    LEANS,
    OPEN_WORDS,
    SCORE_VERDICTS,
    counted,
    headline_kind,
    lean_verb,
    splits_text,
    verdict,
    verdict_count,
    verdict_kind,
)
from clinometer.pieces.sections import Statement
from clinometer.pieces.tables import (
    MEAN,
    ROW,
    Render,
    ReportTable,
    TableColumn,
    TableSpec,
    head,
)
from clinometer.pieces.validity import PRINTED_VALIDITY
from clinometer.pieces.views import AnswerResults, InstrumentResults, who
from clinometer.results import Measure
from clinometer.results.verdicts import FAILED

__all__ = [
    "MOST_ANSWERS",
    "answer",
    "answer_findings",
    "brief_findings",
    "control_warnings",
    "validity",
    "verdict_table",
]

#: Above this many models and modes the summary is a table.
MOST_ANSWERS = 4

#: What follows where a control fails, by its kind.
_FAILS = {
    "positive": "the known association was not detected. Results of this mode{} are not "
    "interpretable and do not show that there is no bias.",
    "negative": "an association was detected where there is none. Results of this size are not "
    "interpretable.",
    "words": "arbitrary words differ as groups might. Leans of single words are not interpretable.",
}

_UNFINISHED = "The numbers are about these; repeat the command of the run to ask the others."


def brief_findings(
    answers: AnswerResults, change_findings: Sequence[Sequence[Statement]]
) -> tuple[Statement, ...]:
    """Say in brief what was found: warnings beside a table, answers without one, and changes.

    `change_findings`: of each instrument, what is said here of its changes.
    """
    findings = [
        Statement(model, "", f"{text}. {_UNFINISHED}") for model, text in answers.unfinished.items()
    ]
    failures = answers.details["failures"]
    for name, failure in (
        failures.select("instrument", "failure").unique(maintain_order=True).rows()
    ):
        findings.append(Statement(name, "", f"an analysis is missing: {failure}"))
    instruments = answers.instruments
    if not instruments:
        return (*findings, Statement("", "There are no estimates in these results."))
    if instruments[1:]:
        for results in instruments:
            if line := validity(results):
                findings.append(line._replace(subject=f"{line.subject}, {results.name}"))
        # All warnings stand above all changes.
        findings += _name_instruments(instruments, map(control_warnings, instruments))
        findings += _name_instruments(instruments, change_findings)
    else:
        (results,) = instruments
        findings += filter(None, [validity(results)])
        findings += answer_findings(results) or control_warnings(results)
        findings += change_findings[0]
    if all(results.by_stereotype.is_empty() for results in instruments):
        findings.append(Statement("", "There are no estimates per stereotype in these results."))
    return tuple(findings)


def _name_instruments(
    instruments: Sequence[InstrumentResults], findings: Iterable[Sequence[Statement]]
) -> Iterator[Statement]:
    """Yield the findings of each instrument, with its name in their subjects."""
    for results, instrument_findings in zip(instruments, findings, strict=True):
        for finding in instrument_findings:
            yield finding._replace(subject=f"{results.name}; {finding.subject}")


def validity(results: InstrumentResults) -> Statement | None:
    """Say in one line whether the instrument is valid on each model, per mode; see `judge_runs`.

    None where there are no estimates.
    """
    validities = results.validities
    if not validities:
        return None
    if len(validities) > MOST_ANSWERS:
        counts = Counter(PRINTED_VALIDITY[found.verdict] for found in validities.values())
        shares = [f"{verdict} in {n} of {len(validities)}" for verdict, n in counts.items()]
        return Statement("Validity", f"Models and modes: {', '.join(shares)}.")
    texts = []
    for (model, mode), validity in validities.items():
        reasons = ", ".join([*validity.outcomes, validity.reliability])
        texts.append(f"{model}, mode {mode}: {PRINTED_VALIDITY[validity.verdict]} ({reasons})")
    return Statement("Validity", f"{'; '.join(texts)}.")


def answer_findings(results: InstrumentResults) -> tuple[Statement, ...]:
    """Say what each model did in each mode; nothing where there are many."""
    rows = _summaries(results)
    if len(rows) > MOST_ANSWERS:
        return ()
    findings = []
    for row in rows:
        text = answer(
            results.plan, results.measure, row["mean"], row["stereotypes"], row["finding"]
        )
        findings.append(Statement(row["subject"], text, row["warning"]))
    return tuple(findings)


def control_warnings(results: InstrumentResults) -> list[Statement]:
    """Warn of each model and mode that fails a control."""
    rows = _summaries(results)
    return [Statement(row["subject"], "", row["warning"]) for row in rows if row["warning"]]


_VERDICTS = (
    "Number of stereotypes with each verdict in other prompts, and the mean over all of them."
    "{scale}"
)


def verdict_table(instruments: Sequence[InstrumentResults]) -> ReportTable | None:
    """Count the verdicts per measure, model and mode; None where sentences say it."""
    rows = [row for results in instruments for row in _summaries(results)]
    if not rows or not (instruments[1:] or len(rows) > MOST_ANSWERS):
        return None
    columns_of_mean = ("estimate", "ci_low", "ci_high", "ci_low_bounded", "ci_high_bounded")
    no_mean = dict.fromkeys((*columns_of_mean, "compliance"))
    # The summary comes last: its mode and model stand, not those of the mean.
    wide = [{**(row["mean"] or no_mean), **row} for row in rows]

    def count_of(kind: str) -> Render:
        """Count the verdicts of a kind."""
        return lambda r: str(r["kinds"][kind])

    directed = any(results.measure.directed for results in instruments)
    titles = {kind: verdict(kind, directed=directed) for kind in SCORE_VERDICTS}
    if any(row["kinds"][OPEN_WORDS] for row in rows):
        titles[OPEN_WORDS] = "Leans, other words open"
    columns = (
        head("measure", same="in caption"),
        head("model", same="in caption" if len(rows) > 1 else "shown"),
        head("mode", same="in caption"),
        *(TableColumn(title, ROW, count_of(kind)) for kind, title in titles.items()),
        TableColumn("Neutral", "neutral", "{:g}".format),
        *MEAN,
        TableColumn("Scored", "compliance", percent),
    )
    return TableSpec(_VERDICTS, columns).render(
        wide,
        interval=instruments[0].plan.interval,
        scale="" if instruments[1:] else f" {instruments[0].scale}",
    )


def _summaries(results: InstrumentResults) -> list[dict[str, Any]]:
    """Return the verdicts, the mean over all and the failed controls of each model and mode."""
    means = {(row["model"], row["mode"]): row for row in results.by_model.iter_rows(named=True)}
    findings = {
        tuple(mean.about.values()): mean for mean in find(results.in_text, results, "model")
    }
    failures = _control_failures(results)
    summaries = []
    for (model, mode), part in results.by_stereotype.group_by("model", "mode", maintain_order=True):
        counted_rows = part.filter("in_headline").rows(named=True)
        mean = means.get((model, mode))  # none where no mean over all was estimated
        summary = {
            "measure": results.name,
            "neutral": results.measure.neutral,
            "model": model,
            "mode": mode,
            "subject": who(part),
            "warning": failures.get((model, part["control_mode"][0]), ""),
            "mean": mean,
            "finding": mean and findings.get(tuple(mean[name] for name in FACTORS.values())),
            "stereotypes": counted_rows,
            "kinds": Counter(map(headline_kind, counted_rows)),
        }
        summaries.append(summary)
    return summaries


def _control_failures(results: InstrumentResults) -> dict[tuple[Any, str], str]:
    """Say of each model and mode which controls failed."""
    failures: dict[tuple[Any, str], list[str]] = {}
    for row in results.controls.filter(verdict=FAILED).iter_rows(named=True):
        text = _failure_text(row, results.plan)
        failures.setdefault((row["model"], row["control_mode"]), []).append(text)
    return {run: " ".join(texts) for run, texts in failures.items()}


def _failure_text(row: Mapping[str, Any], plan: PlanFacts) -> str:
    value = f"{number(row['estimate'])} ({plan.interval} {interval(row['ci_low'], row['ci_high'])})"
    construct = row["construct"]
    construct_text = f" about {construct}" if construct else ""
    reason = _FAILS[row["control"]].format(construct_text)
    return f"The {row['control']} control failed ({row['about']}: {value}): {reason}"


def answer(
    plan: PlanFacts,
    measure: Measure,
    mean: Mapping[str, Any] | None,
    rows: Sequence[Mapping[str, Any]],
    finding: Finding | None = None,
) -> str:
    """Say in one paragraph what one model did in one mode.

    `mean`: the estimate over all stereotypes, if there is one; `finding`: what is told of it.
    `rows`: the estimates per stereotype, controls left out.
    """
    text = _consistent_text(plan, measure, rows) + _splits_sentence(rows)
    if finding is not None:
        ends = f"{number(measure.low, 0)} to {number(measure.high, 0)}"
        text += f" {finding}; the scale is from {ends}."
    if mean is not None and mean["p_placebo"] is not None:
        text += f" Random splits of the group words: {splits_text(mean)}."
    if finding is not None:
        text += f" {percent(finding.compliance)} of the answers could be scored."
    return text


def _consistent_text(plan: PlanFacts, measure: Measure, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how many means are stereotype-consistent in other prompts, and what the others are."""
    counts = Counter(map(headline_kind, rows))
    margin = plan.margin
    leans = [row for row in rows if headline_kind(row) == "consistent"]
    slight = sum(row["verdict"].startswith("consistent, within") for row in leans)
    remaining_kinds = ("reversed", OPEN_WORDS, "equivalent", "inconclusive", "no verdict")
    rest = [verdict_count(kind, counts[kind], measure) for kind in remaining_kinds if counts[kind]]
    total = counted(len(rows), "stereotype")
    lean = lean_verb("consistent", measure, several=counts["consistent"] != 1)
    text = f"In other prompts {counts['consistent']} of {total} {lean}."
    if slight and margin:
        text += f" ({slight} of them by less than the margin of ±{margin:g}.)"
    text += f" The others: {', '.join(rest)}." if rest else ""
    return text + (f" (No lean: within ±{margin:g}.)" if counts["equivalent"] and margin else "")


def _splits_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say which means that differ from neutral are no larger than those of random splits."""
    if all(row["placebo_low_placebo"] is None for row in rows):
        return ""
    leans = [row for row in rows if verdict_kind(row["verdict"]) in LEANS]
    tested = [row for row in leans if row["p_placebo"] is not None]
    within = [row["about"] for row in tested if row["p_placebo"] > ALPHA]
    parts = (
        (len(tested) - len(within), "beyond them (p (placebo) at most .05)"),
        (len(within), f"no larger ({', '.join(within)})"),
        (len(leans) - len(tested), "not tested (group words too few to split, or not all known)"),
    )
    text = "; ".join(f"{count} {outcome}" for count, outcome in parts if count)
    if not text:
        return ""
    return f" Means that lean beside those of random splits of their group words: {text}."
