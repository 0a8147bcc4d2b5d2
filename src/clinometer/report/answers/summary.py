"""Finds what a reader asks first, in this order.

Is the instrument valid on this model; what leans; how sure is that; the strongest leans, each with
an answer; what changed since the last audit; what this does not show; what to do next.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from clinometer.directory.results import Results
from clinometer.numbers import number
from clinometer.pieces.findings import FACTORS, Finding, find
from clinometer.pieces.markdown import as_line
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import (
    LEANS,
    capital,
    counted,
    cut,
    first_few,
    headline_kind,
    lower_first,
    verdict_kind,
)
from clinometer.pieces.validity import PRINTED_VALIDITY
from clinometer.pieces.views import AnswerResults, InstrumentResults
from clinometer.report.answers.analysis import largest_effect
from clinometer.report.answers.brief import MOST_NAMES, STRONGEST, InBrief, Strongest
from clinometer.report.answers.earlier import EarlierAudit, read_earlier
from clinometer.report.answers.means import mean_lines, page_table
from clinometer.report.answers.overview import overview_figure
from clinometer.report.answers.people import WORD_FORMS
from clinometer.report.answers.reading import read_results
from clinometer.results.logprobs import in_words, readable_prompt
from clinometer.results.places import anywhere
from clinometer.results.progress import elsewhere_sentences, ended_text
from clinometer.results.ranges import AS_ARBITRARY
from clinometer.results.subjects import say_simulated
from clinometer.results.verdicts import POSITIVE_CONTROL

__all__ = ["findings", "in_brief", "in_lines", "instruments_by_name", "sum_up"]

#: Characters shown of a prompt and of an answer.
MOST_CHARACTERS = 150

#: Means that are set beside those of an earlier audit.
MOST_MOVES = 2

_LIMITS = (
    "A score describes answers: no intent, no decision in use, no other language. “Unclear” does "
    "not mean “unbiased”. A lean in these prompts alone is no lean of the model."
)


def in_brief(directory: Path) -> InBrief | None:
    """Sum up a results directory; None where nothing was asked, or nothing could be estimated.

    Raises InputError if a table is malformed, PlanError if the plan is.
    """
    if not (directory / "plan.json").is_file():
        return None
    answers = read_results(directory)
    return sum_up(answers, read_earlier(directory, answers.plan))


def sum_up(answers: AnswerResults, earlier: EarlierAudit | None = None) -> InBrief | None:
    """Sum up the tables of a results directory; None where nothing could be estimated.

    `earlier`: the audit whose means those of now are set beside.
    """
    instruments = instruments_by_name(answers.instruments)
    if not instruments:
        return None
    plan = answers.plan
    validity, failed = _validity(instruments)
    over_all, means = _over_all_and_single(instruments)
    remarks = [_remark(name, results, means) for name, results in instruments.items()]
    return InBrief(
        title=_title(plan, answers),
        simulated=say_simulated(sorted(set(answers.estimates["model"].drop_nulls()))),
        incomplete=tuple(f"{model}: {text}" for model, text in answers.unfinished.items()),
        elsewhere=(*plan.elsewhere, *elsewhere_sentences(answers.progress)),
        validity=validity,
        in_people=tuple(_in_people(over_all)),
        remarks=tuple(filter(None, remarks)),
        for_public=tuple(
            sentence for name in instruments for sentence in _for_public(over_all, name)
        ),
        certainty=". ".join(filter(None, (_looks(plan), _certainty(instruments)))),
        strongest=tuple(
            _with_answer(finding, answers)
            for finding in [finding for finding in means if finding.valid][:STRONGEST]
        ),
        means=means,
        over_all=over_all,
        changes=tuple(_changes(answers.argument, earlier, instruments)) if earlier else (),
        limits=_LIMITS,
        next=tuple(_next(answers, means, failed=bool(failed))),
        figure=overview_figure(instruments),
        table=page_table(over_all, means),
    )


@anywhere(directory=True)
def findings(directory: str | Path | Results) -> tuple[Finding, ...]:
    """Say what a run found, as terminal and page do: an object a mean.

    Parameters
    ----------
    directory
        A directory that `audit` or ``clinometer audit`` has written, or what `audit` returned.

    Returns
    -------
    tuple of Finding
        The mean over all stereotypes of each instrument, model and mode, and those of categories;
        then single stereotypes, the strongest lean first. Empty where nothing was estimated.

    Raises
    ------
    InputError
        If a table is malformed.
    PlanError
        If the plan is malformed or has another layout.

    Examples
    --------
    >>> for finding in findings("results/clinometer-smollm2-quick"):  # doctest: +SKIP
    ...     print(finding.headline)
    """
    path = directory.directory if isinstance(directory, Results) else Path(directory)
    if not (path / "plan.json").is_file():
        return ()
    instruments = instruments_by_name(read_results(path).instruments)
    over_all, means = _over_all_and_single(instruments)
    return *over_all, *means


def in_lines(directory: Path) -> tuple[str, ...]:
    """Say what a results directory shows over all, in a few lines; raises as `in_brief`."""
    if not (directory / "plan.json").is_file():
        return ()
    instruments = instruments_by_name(read_results(directory).instruments)
    return mean_lines([*_find_all(instruments, "model")])


def _over_all_and_single(
    instruments: Mapping[str, InstrumentResults],
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the means over all and of categories; and of stereotypes, the strongest first."""
    means = sorted(
        _find_all(instruments, "stereotype"),
        # Means that differ from neutral first, of them those of valid instruments.
        key=lambda finding: (not finding.differs, not finding.valid, -abs(finding.strength)),
    )
    return tuple(_find_all(instruments, "model", "category")), tuple(means)


def _find_all(instruments: Mapping[str, InstrumentResults], *levels: str) -> Iterator[Finding]:
    """Yield what is told of the means of each instrument, a level after the other."""
    for name, results in instruments.items():
        for level in levels:
            yield from find(name, results, level)


def instruments_by_name(
    all_instruments: Sequence[InstrumentResults],
) -> dict[str, InstrumentResults]:
    """Return the results of each instrument that has estimates, by its name in running text."""
    instruments = [results for results in all_instruments if results.by_stereotype.height]
    names = [results.in_text for results in instruments]
    return {
        # Where two studies have one, the study tells them apart.
        name if names.count(name) == 1 else f"{name} ({results.study})": results
        for name, results in zip(names, instruments, strict=True)
    }


def _title(plan: PlanFacts, answers: AnswerResults) -> str:
    """Say who was asked how, in a line."""
    n = answers.progress["n_answered"].sum()
    modes = ", ".join(plan.modes)
    parts = (first_few(plan.models, MOST_NAMES), modes, plan.size, f"{n:,} answers" if n else "")
    return " · ".join(filter(None, parts))


def _validity(instruments: Mapping[str, InstrumentResults]) -> tuple[tuple[str, ...], set[str]]:
    """Say which instruments are valid on which models; name those that fail a control on one."""
    runs_by_verdict: dict[str, list[str]] = {}
    failed = set()
    for name, results in instruments.items():
        models = results.short_names
        several_runs = len(results.validities) > 1
        for (model, mode), validity in results.validities.items():
            run = f"{name} on {models[model or '']} ({mode})" if several_runs else name
            reasons = validity.failed or "controls passed"
            verdict = f"{capital(PRINTED_VALIDITY[validity.verdict])} ({reasons})"
            runs_by_verdict.setdefault(verdict, []).append(run)
            if not results.works((model, mode)):
                failed.add(name)
    count = sum(map(len, runs_by_verdict.values()))
    lines = []
    for verdict, runs in runs_by_verdict.items():
        many = f"{len(runs)} of {count} instruments, models and modes"
        lines.append(
            f"{verdict}: {first_few(runs, MOST_NAMES) if len(runs) <= MOST_NAMES else many}"
        )
    return tuple(lines), failed


def _remark(name: str, results: InstrumentResults, means: Sequence[Finding]) -> str:
    """Say of one instrument what its means do not show; empty where they show all."""
    if not results.by_stereotype["estimate"].count():
        return f"{capital(name)}: no answer has a score."
    if not results.works_somewhere:
        return ""
    keys = {"study": results.study, "instrument": results.instrument}
    instrument_means = [mean for mean in means if keys.items() <= mean.about.items()]
    sentences = (
        largest_effect(results),
        _count_word_leans(results),
        _count_as_people(results),
        _compare_placebos(results, instrument_means),
    )
    text = ". ".join(filter(None, sentences))
    return f"{capital(name)}: {lower_first(text)}." if text else ""


def _in_people(over_all: Sequence[Finding]) -> Iterator[str]:
    """Say how both groups of a category that leans fare, the largest lean first."""
    several_runs = len({(lean.about["model"], lean.about["mode"]) for lean in over_all}) > 1
    leans = _one_of_a_category(lean for lean in over_all if lean.told)
    for lean in sorted(leans, key=lambda lean: -abs(lean.strength)):
        run = f"{lean.run_name}: " if several_runs else ""
        yield f"{run}{lean.in_people if run else capital(lean.in_people)}"


def _one_of_a_category(findings: Iterable[Finding]) -> list[Finding]:
    """Return of each category the first question (dimension) that says how its groups fare."""
    first_of: dict[tuple[str | None, ...], Finding] = {}
    for finding in findings:
        if finding.level == "category" and finding.in_people:
            factors = {name: value for name, value in finding.about.items() if name != "dimension"}
            first_of.setdefault(tuple(factors.values()), finding)
    return [*first_of.values()]


def _for_public(over_all: Sequence[Finding], name: str) -> Iterator[str]:
    """Say what an instrument found in people, whether it leans or not; else by its scores."""
    findings = [finding for finding in over_all if finding.instrument == name and finding.valid]
    in_people = _one_of_a_category(findings)
    for finding in in_people:
        yield f"{capital(finding.in_people)}: {finding.lean}"
    if not in_people:
        yield from (str(finding) for finding in findings if finding.level == "model")


def _count_word_leans(results: InstrumentResults) -> str:
    """Say of people how many lean as their words, and as things, do; empty of other studies."""
    texts = []
    for (control,), rows in results.words.group_by("control", maintain_order=True):
        lean = sum(headline_kind(row) in LEANS for row in rows.iter_rows(named=True))
        texts.append(f"{lean} of {rows.height} with {WORD_FORMS[control]}")
    return f"The same attributes lean in {', '.join(texts)}" if texts else ""


def _count_as_people(results: InstrumentResults) -> str:
    """Say how many stereotypes are counted where their groups are people; empty where none is."""
    number_as_people = results.by_stereotype.filter(~pl.col("in_headline"))["stereotype"].n_unique()
    if not number_as_people:
        return ""
    return f"{counted(number_as_people, 'stereotype')} named with one word: counted as people"


def _compare_placebos(results: InstrumentResults, means: Sequence[Finding]) -> str:
    """Say how many leans are no larger than placebos may have; empty where none is."""
    placebos = results.controls.filter(control="negative").drop_nulls("ci_low")
    leaning = [lean for lean in means if lean.differs]
    if placebos.is_empty() or not leaning or results.several_runs:
        return ""
    neutral = results.measure.neutral
    reach = max(abs(end - neutral) for end in (*placebos["ci_low"], *placebos["ci_high"]))
    smaller = sum(abs(lean.mean - neutral) <= reach for lean in leaning)
    if not smaller:
        return ""
    return (
        f"No larger than placebos may have (up to {number(reach)} from neutral): {smaller} of "
        f"these {len(leaning)}"
    )


def _looks(plan: PlanFacts) -> str:
    """Say what ended where it was decided; empty where all trials were asked."""
    if not plan.looks:
        return ""
    if not plan.ended:
        return "Asked in parts until it is decided; the first part was not looked at yet"
    return (
        f"Asked until it is decided: {ended_text(plan.ended)}. Intervals hold at all {plan.looks} "
        "looks at once"
    )


def _certainty(instruments: Mapping[str, InstrumentResults]) -> str:
    """Say how far intervals reach, and how much could not be told."""
    widths, words, withheld = [], [], []
    working = {name: results for name, results in instruments.items() if results.works_somewhere}
    if not working:
        return ""
    for name, results in working.items():
        verdicts = pl.concat([frame["verdict"] for frame in results.levels.values()])
        if (verdicts == POSITIVE_CONTROL).any():
            withheld.append(name)
        rows = results.by_stereotype.drop_nulls(["ci_low", "ci_high"])
        as_arbitrary = rows.filter(pl.col("conditional_on").str.contains(AS_ARBITRARY))
        if 0 < as_arbitrary.height < rows.height:
            words.append(f"±{number(_half_width(as_arbitrary))} ({name})")
        rows = rows.filter("in_headline")
        if rows.is_empty():
            continue
        half = _half_width(rows)
        kinds = [verdict_kind(code) for code in results.headline["verdict"]]
        untold = kinds.count("inconclusive") + kinds.count("no verdict")
        widths.append(f"±{number(half)} ({name}; {untold} of {len(kinds)} unclear)")
    if not widths:
        return "No intervals could be computed"
    text = (
        f"In other prompts single stereotypes are known to about {', '.join(widths)}; smaller "
        "leans do not show. Of the leans that are told, at most 5% are expected to be wrong"
    )
    if words:
        beyond = ", ".join(words)
        text += f". Leans of single words must exceed what arbitrary words vary by: {beyond}"
    if not withheld:
        return text
    return (
        f"{text}. No mean of {', '.join(withheld)} is said to have no lean, as the positive "
        "control does not lie beyond the margin"
    )


def _half_width(rows: pl.DataFrame) -> float:
    """Return the median of half the widths of intervals."""
    return float(median(((rows["ci_high"] - rows["ci_low"]) / 2.0).to_list()))


def _with_answer(finding: Finding, answers: AnswerResults) -> Strongest:
    """Add the answer whose score is nearest to the mean."""
    if answers.scores is None or answers.responses is None:
        return Strongest(finding)
    is_same = (
        pl.col(factor).eq_missing(pl.lit(value, pl.String))
        for factor, value in finding.about.items()
    )
    # Rounded, so that of scores that are equally near the first trial by id is taken.
    distance = (pl.col("score") - finding.mean).abs().round(6)
    nearest = (
        answers.scores.filter(pl.col("score").is_not_null(), *is_same)
        .select("trial_id", "model", distance=distance)
        .sort("distance", "trial_id")
        .head(1)
    )
    trials = (
        answers.responses.select("trial_id", "model", "prompt", "response", "options")
        .join(nearest, on=["trial_id", "model"], how="semi")
        .collect(engine="streaming")
    )
    if trials.is_empty():
        return Strongest(finding)
    row = trials.row(0, named=True)
    return Strongest(
        finding,
        prompt=_line(readable_prompt(row["prompt"] or "", row["options"])),
        answer=cut(
            as_line(_closed(in_words(row["response"] or "", row["options"]))), MOST_CHARACTERS
        ),
    )


def _closed(answer: str) -> str:
    """Return the fields of a closed answer in words; any other text as it is."""
    try:
        fields = json.loads(answer)
    except (ValueError, RecursionError):
        return answer
    if not isinstance(fields, dict) or any(isinstance(v, dict | list) for v in fields.values()):
        return answer
    return "; ".join(f"{name}: {value}" for name, value in fields.items())


def _line(text: str) -> str:
    """Put a text on a line, cut."""
    return cut(" ".join(text.split()), MOST_CHARACTERS)


def _changes(
    argument: str, earlier: EarlierAudit, instruments: Mapping[str, InstrumentResults]
) -> Iterator[str]:
    """Say how means over all stereotypes moved since an earlier audit."""
    moves = []
    implicit = {name: results for name, results in instruments.items() if not results.is_explicit}
    for name, results in (implicit or instruments).items():
        for row in results.by_model.drop_nulls("estimate").iter_rows(named=True):
            if not results.works((row["model"], row["control_mode"])):
                continue
            before = earlier.means.filter(_is_same_mean(row))["estimate"].drop_nulls()
            if before.len() == 1:
                moves.append(f"{name} {number(before[0])} to {number(row['estimate'])}")
    if moves:
        yield (
            f"Since {earlier.created[:10]} ({earlier.name}): {', '.join(moves[:MOST_MOVES])}. "
            f"A change? clinometer compare {earlier.argument} {argument}"
        )


def _is_same_mean(row: Mapping[str, Any]) -> list[pl.Expr]:
    """Match the rows of another audit that are about the same as a mean over all stereotypes."""
    # Null matches null: a mean without a dimension is the same as another without one.
    same_factors = [
        pl.col(factor).eq_missing(pl.lit(row[column], pl.String))
        for factor, column in FACTORS.items()
        if factor not in ("category", "stereotype")
    ]
    return [*same_factors, pl.col("measure") == row["measure"]]


def _next(answers: AnswerResults, means: Sequence[Finding], *, failed: bool) -> Iterator[str]:
    """Say what to do next."""
    name, plan = answers.argument, answers.plan
    leans = [lean for lean in means if lean.told]
    if "unpaid" in plan.ended:
        yield "To decide what was not paid for: the same command with a larger limit"
    larger = {"quick": "standard", "standard": "paper"}.get(plan.size)
    if failed:
        yield "Where controls fail, ask in another mode (--mode)"
    if leans:
        yield f"The answers: clinometer show {name} {leans[0].about['stereotype']}"
    if larger and len(leans) < len(means):
        yield f"For smaller leans add --size {larger} --out OTHER"
    yield f"Before another version replaces it: clinometer compare {name} OTHER"
